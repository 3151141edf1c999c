//! The period of a report in UTC: a calendar month, or whole days.

use std::fmt;

use super::DAY;
use super::month::Month;
use crate::Invalid;
use crate::time::Millis;

/// The most days of a report: two years.
const MAX_DAYS: u32 = 731;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    pub from: Millis,
    /// The first moment after it.
    pub to: Millis,
    is_month: bool,
}

impl Period {
    /// The days from `first` to `last`, which are their first moments, inclusive.
    pub fn of_days(first: Millis, last: Millis) -> Result<Self, Invalid> {
        let period = Self { from: first, to: last.after(DAY), is_month: false };
        if last < first {
            return Err(Invalid::new("must not be before from"));
        }
        if period.to.since(first) > DAY * MAX_DAYS {
            return Err(Invalid::new(format!("must be at most {MAX_DAYS} days after from")));
        }
        Ok(period)
    }

    /// The month, if it is one.
    pub fn month(&self) -> Option<Month> {
        self.is_month.then(|| Month::of(self.from))
    }

    /// The first moment of its last day.
    pub fn last_day(&self) -> Millis {
        self.to.before(DAY)
    }
}

impl From<Month> for Period {
    fn from(month: Month) -> Self {
        Self { from: month.from, to: month.to, is_month: true }
    }
}

/// The first moment of a day such as `2026-10-31`.
pub fn parse_day(text: &str) -> Result<Millis, Invalid> {
    let is_day = text.len() == 10 && text.is_ascii();
    let day =
        Some(text).filter(|_| is_day).and_then(|day| Millis::parse(&format!("{day}T00:00:00Z")));
    day.ok_or_else(|| Invalid::new("must be a day such as 2026-10-31"))
}

/// `2026-10`, or `2026-10-01_2026-10-31`.
impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.month() {
            Some(month) => month.fmt(f),
            None => {
                let (first, last) = (self.from.to_string(), self.last_day().to_string());
                write!(f, "{}_{}", &first[..10], &last[..10])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(first: &str, last: &str) -> Result<Period, Invalid> {
        Period::of_days(parse_day(first)?, parse_day(last)?)
    }

    #[test]
    fn a_period_includes_its_last_day() {
        let day = days("2026-10-31", "2026-10-31").expect("a day");
        assert_eq!(day.to.since(day.from), DAY);
        assert_eq!(day.last_day(), day.from);
        assert_eq!(day.to_string(), "2026-10-31_2026-10-31");
        let month = Period::from(Month::parse("2026-10").expect("a month"));
        assert_eq!((month.to_string().as_str(), month.last_day()), ("2026-10", day.from));
    }

    #[test]
    fn a_period_is_bounded_and_not_reversed() {
        assert!(days("2026-01-01", "2028-01-01").is_ok());
        assert!(days("2026-01-01", "2028-01-02").is_err());
        assert!(days("2026-01-02", "2026-01-01").is_err());
        for text in ["", "2026-10", "2026-02-30", "26-10-2026", "2026-10-31T00:00", "2026-1é-1"] {
            assert!(parse_day(text).is_err(), "{text}");
        }
    }
}
