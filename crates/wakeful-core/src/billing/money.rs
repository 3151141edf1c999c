//! An amount in whole cents of the one currency that prices are in. Shares are
//! rounded down, so that rounding never creates a cent.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::time::Duration;

/// The code that payment processors use.
pub const CURRENCY: &str = "usd";

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Money(i64);

impl Money {
    pub const ZERO: Self = Self(0);

    pub const fn cents(cents: i64) -> Self {
        Self(cents)
    }

    pub const fn as_cents(self) -> i64 {
        self.0
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference to `other`, never less than zero.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0).max(0))
    }

    /// The share that `part` is of `whole`, rounded down to the cent.
    #[must_use]
    pub fn share(self, part: Duration, whole: Duration) -> Self {
        let (part, whole) = (part.as_millis(), whole.as_millis());
        if whole == 0 || self.0 <= 0 {
            return Self::ZERO;
        }
        let share = u128::from(self.0.unsigned_abs()) * part.min(whole) / whole;
        Self(i64::try_from(share).unwrap_or(i64::MAX))
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Self::plus)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02} USD", self.0 / 100, (self.0 % 100).abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_written_with_two_decimals_and_its_currency() {
        assert_eq!(Money::cents(900).to_string(), "9.00 USD");
        assert_eq!(Money::cents(5).to_string(), "0.05 USD");
    }

    #[test]
    fn a_share_is_rounded_down_and_never_more_than_the_whole() {
        let share = |cents, part, whole| {
            Money::cents(cents).share(Duration::from_secs(part), Duration::from_secs(whole))
        };
        assert_eq!(share(100, 1, 3), Money::cents(33));
        assert_eq!(share(100, 3, 3), Money::cents(100));
        assert_eq!(share(100, 9, 3), Money::cents(100));
        assert_eq!(share(100, 1, 0), Money::ZERO);
        assert_eq!(share(0, 1, 3), Money::ZERO);
    }

    #[test]
    fn a_difference_is_never_negative() {
        assert_eq!(Money::cents(5).less(Money::cents(9)), Money::ZERO);
        assert_eq!(Money::cents(9).less(Money::cents(5)), Money::cents(4));
    }
}
