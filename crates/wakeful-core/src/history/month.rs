//! A calendar month in UTC, written `2026-10`.

use std::fmt;

use crate::Invalid;
use crate::billing::months_after;
use crate::time::Millis;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Month {
    pub from: Millis,
    /// The first moment of the next month.
    pub to: Millis,
}

impl Month {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_month = text.len() == 7 && text.is_ascii();
        let from = Some(text)
            .filter(|_| is_month)
            .and_then(|text| Millis::parse(&format!("{text}-01T00:00:00Z")));
        let from = from.ok_or_else(|| Invalid::new("must be a month such as 2026-10"))?;
        Ok(Self { from, to: months_after(from, 1) })
    }

    /// The month that contains a time.
    pub fn of(at: Millis) -> Self {
        let text = at.to_string();
        Self::parse(&text[..7]).expect("every time has a month")
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.from.to_string()[..7])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_ends_where_the_next_begins() {
        for (text, days) in [("2026-10", 31), ("2026-12", 31), ("2027-02", 28), ("2028-02", 29)] {
            let month = Month::parse(text).expect("a month");
            assert_eq!((month.to.0 - month.from.0) / 86_400_000, days, "{text}");
            assert_eq!(month.to_string(), text);
            assert_eq!(Month::of(Millis(month.to.0 - 1)), month);
        }
        for text in ["", "2026", "2026-13", "2026-1", "10-2026", "2026-é1"] {
            assert!(Month::parse(text).is_err(), "{text}");
        }
    }
}
