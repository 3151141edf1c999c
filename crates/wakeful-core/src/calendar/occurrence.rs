//! Finds the next time of a rule that is made of days and of times of the day, across changes of
//! the clock.

use jiff::civil::Date;

use super::zone::{LocalTime, Zone, date_of, day_number, utc_date};
use crate::time::Millis;

/// A rule that does not happen for so long never does.
const HORIZON_DAYS: i64 = 50 * 366;
const DAY_SECONDS: u32 = 86_400;
/// No change of the clock is longer. On its day, times are not in order.
const MAX_CHANGE_SECONDS: u32 = 3 * 3_600;

/// Times of the day: one bit for each hour, minute and second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) hours: u64,
    pub(super) minutes: u64,
    pub(super) seconds: u64,
}

/// What happens at local times that a change of the clock skips or repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClockChange {
    /// A skipped time is that of the change; a repeated one counts once.
    MoveAndOnce,
    /// A skipped time does not occur; a repeated one counts twice.
    SkipAndTwice,
    /// A skipped time does not occur; a repeated one counts once.
    SkipAndOnce,
}

impl Times {
    /// The first of them that is `from` or later, in seconds of the day.
    fn first_from(&self, from: u32) -> Option<u32> {
        if from >= DAY_SECONDS {
            return None;
        }
        let (mut hour, mut minute, mut second) = (from / 3_600, from / 60 % 60, from % 60);
        loop {
            let next = next_bit(self.hours, hour)?;
            if next > hour {
                (minute, second) = (0, 0);
            }
            hour = next;
            while let Some(next) = next_bit(self.minutes, minute) {
                if next > minute {
                    second = 0;
                }
                minute = next;
                if let Some(second) = next_bit(self.seconds, second) {
                    return Some(hour * 3_600 + minute * 60 + second);
                }
                (minute, second) = (minute + 1, 0);
            }
            (hour, minute, second) = (hour + 1, 0, 0);
        }
    }
}

/// The lowest bit of a set that is `from` or higher.
fn next_bit(set: u64, from: u32) -> Option<u32> {
    let rest = set.checked_shr(from).filter(|rest| *rest != 0)?;
    Some(from + rest.trailing_zeros())
}

/// The first time after `after`; `None` if there is none within 50 years.
pub(super) fn next(
    zone: &Zone,
    after: Millis,
    times: &Times,
    change: ClockChange,
    is_on: impl Fn(Date) -> bool,
) -> Option<Millis> {
    // The local date may be another one, and a skipped time may move to the next day.
    let first = day_number(utc_date(after)) - 2;
    (first..first + HORIZON_DAYS)
        .map(date_of)
        .filter(|date| is_on(*date))
        .find_map(|date| next_of_day(zone, after, times, change, date))
}

fn next_of_day(
    zone: &Zone,
    after: Millis,
    times: &Times,
    change: ClockChange,
    date: Date,
) -> Option<Millis> {
    let Some(offset) = zone.offset_of_day(date) else {
        return next_of_changed_day(zone, after, times, change, date);
    };
    let midnight = day_number(date) * i64::from(DAY_SECONDS) * 1_000 - offset;
    let passed = after.0 - midnight;
    let from = if passed < 0 { 0 } else { passed / 1_000 + 1 };
    let second = times.first_from(u32::try_from(from).ok()?)?;
    Some(Millis(midnight + i64::from(second) * 1_000))
}

/// The same on a day on which the clock changes.
fn next_of_changed_day(
    zone: &Zone,
    after: Millis,
    times: &Times,
    change: ClockChange,
    date: Date,
) -> Option<Millis> {
    let mut found: Option<(Millis, u32)> = None;
    let mut from = 0;
    while let Some(second) = times.first_from(from) {
        from = second + 1;
        if found.is_some_and(|(_, of)| second > of + MAX_CHANGE_SECONDS) {
            break;
        }
        let part = |value: u32| i8::try_from(value).unwrap_or(0);
        let local = date.at(part(second / 3_600), part(second / 60 % 60), part(second % 60), 0);
        let instants = match (zone.local_time(local), change) {
            (LocalTime::Once(at), _) => [Some(at), None],
            (LocalTime::Skipped { end }, ClockChange::MoveAndOnce) => [Some(end), None],
            (LocalTime::Skipped { .. }, _) => [None, None],
            (LocalTime::Twice(first, second), ClockChange::SkipAndTwice) => {
                [Some(first), Some(second)]
            }
            (LocalTime::Twice(first, _), _) => [Some(first), None],
        };
        let later = instants.into_iter().flatten().filter(|at| *at > after).min();
        if let Some(at) = later.filter(|at| found.is_none_or(|(best, _)| *at < best)) {
            found = Some((at, second));
        }
    }
    found.map(|(at, _)| at)
}
