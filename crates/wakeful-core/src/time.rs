//! Times of the service: milliseconds since 1970, UTC, written as
//! `2026-11-15T09:30:00.123Z`. The clock itself is provided by the caller.

use serde::{Serialize, Serializer};
use std::fmt;
use std::time::Duration;

/// The length of `2026-11-15T09:30:00.123Z`.
const TEXT_LENGTH: usize = 24;
const MILLIS_PER_DAY: u64 = 86_400_000;
/// `9999-01-01T00:00:00.000Z`.
const YEAR_9999: Millis = Millis(253_370_764_800_000);

/// A point in time. Arithmetic saturates: extreme values never panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub i64);

impl Millis {
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(as_millis(span)))
    }

    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(as_millis(span)))
    }

    /// Without the fraction of the second.
    #[must_use]
    pub fn to_second(self) -> Self {
        Self(self.0.div_euclid(1_000) * 1_000)
    }

    /// How long ago `earlier` was; zero when it is in the future.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0).max(0).cast_unsigned())
    }

    /// As people write it: `15 Nov 2026, 09:30 UTC`.
    pub fn for_people(self) -> String {
        let at = jiff::Timestamp::from_millisecond(self.0).unwrap_or_default();
        at.strftime("%-d %b %Y, %H:%M UTC").to_string()
    }

    /// Parses a text such as `2026-11-15T09:30:00Z`; the offset is required.
    pub fn parse(text: &str) -> Option<Self> {
        let at: jiff::Timestamp = text.parse().ok()?;
        Some(Self(at.as_millisecond()))
    }

    /// Its text, written to `buffer` many times as fast as by `jiff`: a list has four of them per
    /// monitor. `None` before 1970 and after 9998, which no clock shows.
    fn text(self, buffer: &mut [u8; TEXT_LENGTH]) -> Option<&str> {
        if self >= YEAR_9999 {
            return None;
        }
        let millis = u64::try_from(self.0).ok()?;
        let (year, month, day) = date(millis / MILLIS_PER_DAY);
        let of_day = millis % MILLIS_PER_DAY;
        *buffer = *b"0000-00-00T00:00:00.000Z";
        write_number(&mut buffer[0..4], year);
        write_number(&mut buffer[5..7], month);
        write_number(&mut buffer[8..10], day);
        write_number(&mut buffer[11..13], of_day / 3_600_000);
        write_number(&mut buffer[14..16], of_day / 60_000 % 60);
        write_number(&mut buffer[17..19], of_day / 1_000 % 60);
        write_number(&mut buffer[20..23], of_day % 1_000);
        std::str::from_utf8(buffer).ok()
    }
}

/// Writes a number with as many digits as there is room for.
fn write_number(room: &mut [u8], mut number: u64) {
    for digit in room.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// The year, month and day that is so many days after 1970-01-01. Years begin in March here, so
/// that a leap day is the last day of its year, and the lengths of the months before follow a
/// formula. The calendar repeats every 400 years.
fn date(days: u64) -> (u64, u64, u64) {
    const DAYS_FROM_MARCH_OF_YEAR_0: u64 = 719_468;
    const DAYS_IN_400_YEARS: u64 = 146_097;
    let days = days + DAYS_FROM_MARCH_OF_YEAR_0;
    let day = days % DAYS_IN_400_YEARS;
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let months_since_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * months_since_march + 2) / 5 + 1;
    let year = year + days / DAYS_IN_400_YEARS * 400;
    if months_since_march < 10 {
        (year, months_since_march + 3, day_of_month)
    } else {
        (year + 1, months_since_march - 9, day_of_month)
    }
}

fn as_millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = self.text(&mut [0; TEXT_LENGTH]) {
            return f.write_str(text);
        }
        let at = jiff::Timestamp::from_millisecond(self.0).unwrap_or_default();
        write!(f, "{at:.3}")
    }
}

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.text(&mut [0; TEXT_LENGTH]) {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_str(self),
        }
    }
}

/// The source of the current time. The binary has the real one; tests advance
/// theirs.
pub trait Clock: Send + Sync {
    fn now(&self) -> Millis;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_in_utc_with_exactly_three_decimals() {
        assert_eq!(Millis(1_763_199_000_123).to_string(), "2025-11-15T09:30:00.123Z");
        assert_eq!(Millis(1_763_199_000_000).to_string(), "2025-11-15T09:30:00.000Z");
        assert_eq!(Millis(i64::MAX).to_string(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn a_time_is_written_as_jiff_writes_it() {
        let by_jiff = |at: Millis| {
            let at = jiff::Timestamp::from_millisecond(at.0).expect("a time");
            format!("{at:.3}")
        };
        // The calendar repeats after 400 years. The step of about three days also visits all
        // times of the day.
        let days = (0_i64..12_622_780_800_000).step_by(271_545_679);
        let last = [1, 2].map(|number| YEAR_9999.0 - number);
        let others = [-1, -86_400_001, YEAR_9999.0, YEAR_9999.0 + 1];
        for at in days.chain(last).chain(others).map(Millis) {
            assert_eq!(at.to_string(), by_jiff(at));
            let json = serde_json::to_string(&at).expect("serializes");
            assert_eq!(json, format!("\"{at}\""));
        }
        for year in 1970..9999 {
            for date in ["01-01T00:00:00.000Z", "02-28T23:59:59.999Z", "03-01T00:00:00.000Z"] {
                let text = format!("{year}-{date}");
                assert_eq!(Millis::parse(&text).expect("a time").to_string(), text);
            }
        }
    }

    #[test]
    fn a_time_for_people_has_no_seconds() {
        assert_eq!(Millis(1_763_199_000_123).for_people(), "15 Nov 2025, 09:30 UTC");
        assert_eq!(Millis(1_764_622_860_000).for_people(), "1 Dec 2025, 21:01 UTC");
    }

    #[test]
    fn a_time_round_trips() {
        let at = Millis(1_763_199_000_120);
        assert_eq!(Millis::parse(&at.to_string()), Some(at));
        assert_eq!(Millis::parse("yesterday"), None);
    }

    #[test]
    fn a_time_in_the_future_was_zero_ago() {
        assert_eq!(Millis(5).since(Millis(9)), Duration::ZERO);
    }
}
