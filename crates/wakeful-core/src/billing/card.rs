//! A card on its way to the processor. Number and code are secrets: they are
//! never stored, shown or logged, and are wiped when the card is dropped.

use jiff::tz::Offset;

use crate::Invalid;
use crate::secret::Secret;
use crate::time::Millis;

/// The source of a payment method: a card as entered here, or the processor's
/// token for a card that was entered at the processor.
pub enum CardSource {
    Card(Card),
    Token(Secret),
}

pub struct Card {
    pub name: String,
    pub number: CardNumber,
    pub expiry: Expiry,
    pub cvc: Cvc,
    pub zip: String,
}

pub struct CardNumber(Secret);

impl CardNumber {
    /// The digits of a number that may contain spaces and dashes.
    pub fn parse(text: &Secret) -> Result<Self, Invalid> {
        // Allocated up front: growing would leave copies in memory.
        let mut digits = String::with_capacity(text.expose().len());
        digits.extend(text.expose().chars().filter(|c| !matches!(c, ' ' | '-')));
        let digits = Secret::new(digits);
        let plain = digits.expose();
        if plain.is_empty() || !plain.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Invalid::new("must be the digits of a card number"));
        }
        if !(12..=19).contains(&plain.len()) || !luhn(plain.as_bytes()) {
            return Err(Invalid::new("is not a card number: check for a mistyped digit"));
        }
        Ok(Self(digits))
    }

    pub fn last4(&self) -> &str {
        let digits = self.0.expose();
        &digits[digits.len() - 4..]
    }

    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

/// Whether ASCII digits end with the check digit of a card number (ISO/IEC
/// 7812-1).
pub fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit.wrapping_sub(b'0'));
            match place % 2 {
                0 => digit,
                _ => digit * 2 / 10 + digit * 2 % 10,
            }
        })
        .sum();
    sum.is_multiple_of(10)
}

pub struct Cvc(Secret);

impl Cvc {
    pub fn parse(text: Secret) -> Result<Self, Invalid> {
        let plain = text.expose();
        if !matches!(plain.len(), 3 | 4) || !plain.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Invalid::new("must be the 3 or 4 digits of the card's code"));
        }
        Ok(Self(text))
    }

    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

/// The last month in which a card is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Expiry {
    year: u16,
    month: u8,
}

impl Expiry {
    pub fn month(number: u64) -> Result<u8, Invalid> {
        u8::try_from(number)
            .ok()
            .filter(|month| (1..=12).contains(month))
            .ok_or_else(|| Invalid::new("must be a month from 1 to 12"))
    }

    pub fn year(number: u64) -> Result<u16, Invalid> {
        u16::try_from(number)
            .ok()
            .filter(|year| (1_000..=9_999).contains(year))
            .ok_or_else(|| Invalid::new("must be a year of four digits"))
    }

    pub fn new(month: u8, year: u16) -> Self {
        Self { year, month }
    }

    /// Whether the card is still valid: through the last day of its month, UTC.
    pub fn is_valid_at(self, now: Millis) -> bool {
        let now = jiff::Timestamp::from_millisecond(now.0).unwrap_or_default();
        let today = Offset::UTC.to_datetime(now);
        let (year, month) = (i32::from(self.year), i16::from(self.month));
        (year, month) >= (i32::from(today.year()), i16::from(today.month()))
    }

    pub fn parts(self) -> (u8, u16) {
        (self.month, self.year)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Result<CardNumber, Invalid> {
        CardNumber::parse(&Secret::new(text))
    }

    #[test]
    fn a_number_may_contain_spaces_and_dashes() {
        for text in ["4242424242424242", "4242 4242-4242 4242", "378282246310005"] {
            assert!(number(text).is_ok(), "{text}");
        }
        assert_eq!(
            number("4242 4242 4242 4242").map(|card| card.last4().to_owned()),
            Ok("4242".to_owned())
        );
    }

    #[test]
    fn an_invalid_number_is_refused_without_repeating_it() {
        for text in ["", "4242424242424241", "4242", "42424242424242424242", "4242x", "４２４２"]
        {
            let Err(why) = number(text) else { panic!("{text}") };
            assert!(text.is_empty() || !why.0.contains(text), "{why}");
        }
    }

    #[test]
    fn a_code_has_three_or_four_digits() {
        for text in ["123", "0123"] {
            assert!(Cvc::parse(Secret::new(text)).is_ok(), "{text}");
        }
        for text in ["", "12", "12345", "12a", "-12"] {
            assert!(Cvc::parse(Secret::new(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn a_card_is_valid_through_the_last_day_of_its_month() {
        let good = |month, year, now| {
            Expiry::new(month, year).is_valid_at(Millis::parse(now).expect("a time"))
        };
        assert!(good(2, 2028, "2028-02-29T23:59:59.999Z"));
        assert!(!good(2, 2028, "2028-03-01T00:00:00Z"));
        assert!(good(12, 2027, "2027-12-31T23:59:59Z"));
        assert!(!good(12, 2027, "2028-01-01T00:00:00Z"));
        assert!(good(1, 2029, "2028-12-01T00:00:00Z"));
        assert!(Expiry::month(0).is_err() && Expiry::month(13).is_err());
        assert!(Expiry::year(26).is_err() && Expiry::year(2026).is_ok());
    }
}
