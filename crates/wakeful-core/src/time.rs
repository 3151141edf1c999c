//! Times of the service: milliseconds since 1970, UTC, written as
//! `2026-11-15T09:30:00.123Z`. The clock itself is provided by the caller.

use serde::{Serialize, Serializer};
use std::fmt;
use std::time::Duration;

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
}

fn as_millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = jiff::Timestamp::from_millisecond(self.0).unwrap_or_default();
        write!(f, "{at:.3}")
    }
}

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
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
