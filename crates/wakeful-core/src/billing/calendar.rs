//! Whole months in UTC. The day of the month is the anchor's: a membership that
//! began on 31 January is due on 28 February and then on 31 March.

use jiff::tz::Offset;
use jiff::{Span, Timestamp};
use std::time::Duration;

use crate::time::Millis;

/// The moment `months` after the anchor; the last day of the month where it is
/// shorter.
pub fn months_after(anchor: Millis, months: u32) -> Millis {
    try_months_after(anchor, months).unwrap_or_else(|| {
        // Only for times that the calendar cannot represent.
        anchor.after(Duration::from_secs(u64::from(months) * 30 * 24 * 3600))
    })
}

/// The first end of a month, counted from the anchor, that is after `from`.
pub fn next_period_end(anchor: Millis, from: Millis) -> Millis {
    let longest = Duration::from_secs(31 * 24 * 3600);
    let passed = from.since(anchor).as_millis() / longest.as_millis();
    let passed = u32::try_from(passed).unwrap_or(u32::MAX - 2);
    let ends = (passed..).map(|months| months_after(anchor, months.max(1)));
    ends.into_iter().find(|end| *end > from).expect("months grow without end")
}

fn try_months_after(anchor: Millis, months: u32) -> Option<Millis> {
    let at = Timestamp::from_millisecond(anchor.0).ok()?;
    let later = Offset::UTC
        .to_datetime(at)
        .checked_add(Span::new().try_months(i64::from(months)).ok()?)
        .ok()?;
    let later = Offset::UTC.to_timestamp(later).ok()?;
    Some(Millis(later.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Millis {
        Millis::parse(text).expect("a time")
    }

    #[test]
    fn the_anchors_day_returns_after_a_short_month() {
        let mut end = at("2027-01-31T10:00:00Z");
        let anchor = end;
        for expected in ["2027-02-28", "2027-03-31", "2027-04-30", "2027-05-31"] {
            end = next_period_end(anchor, end);
            assert_eq!(end, at(&format!("{expected}T10:00:00Z")));
        }
        assert_eq!(
            next_period_end(at("2028-01-31T00:00:00Z"), at("2028-01-31T00:00:00Z")),
            at("2028-02-29T00:00:00Z")
        );
    }

    #[test]
    fn a_year_is_twelve_months_from_any_day() {
        for day in 1..=31 {
            let anchor = at(&format!("2026-12-{day:02}T09:30:00.123Z"));
            let mut end = anchor;
            for _ in 0..12 {
                end = next_period_end(anchor, end);
            }
            assert_eq!(end, at(&format!("2027-12-{day:02}T09:30:00.123Z")));
        }
    }

    #[test]
    fn a_period_end_is_after_the_given_moment() {
        let anchor = at("2026-01-31T00:00:00Z");
        assert_eq!(next_period_end(anchor, at("2026-02-27T23:59:59Z")), at("2026-02-28T00:00:00Z"));
        assert_eq!(next_period_end(anchor, at("2026-02-28T00:00:00Z")), at("2026-03-31T00:00:00Z"));
        assert_eq!(next_period_end(anchor, at("2025-01-01T00:00:00Z")), at("2026-02-28T00:00:00Z"));
        assert!(next_period_end(Millis(i64::MAX / 2), Millis(i64::MAX / 2)) > Millis(i64::MAX / 2));
    }
}
