//! Hours of the week in local time, for quiet hours, shifts and rules. Unlike durations, their
//! ends are local times: a night from 22:00 to 06:00 is seven or nine hours long when the clocks
//! change.

use jiff::civil::{Date, Weekday};
use serde::{Deserialize, Serialize};
use std::fmt;

use super::zone::{Zone, date_of, day_number};
use super::{FOREVER, Span};
use crate::Invalid;
use crate::named_enum;
use crate::stored_as_text::stored_as_text;
use crate::time::Millis;

/// The most spans of a week.
pub const MAX_SPANS: usize = 14;

const MINUTES_PER_DAY: u16 = 24 * 60;
const DAY_MILLIS: i64 = 86_400_000;
/// A week, and a day for clock changes: what lasts longer never ends.
const HORIZON_DAYS: i64 = 9;

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Day {
        Monday = "mon",
        Tuesday = "tue",
        Wednesday = "wed",
        Thursday = "thu",
        Friday = "fri",
        Saturday = "sat",
        Sunday = "sun",
    }
}

impl Day {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let word = text.trim().to_ascii_lowercase();
        let found = Self::ALL.iter().copied().find(|day| day.as_str() == word);
        found.ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|day| day.as_str())))
    }

    fn of(weekday: Weekday) -> Self {
        match weekday {
            Weekday::Monday => Self::Monday,
            Weekday::Tuesday => Self::Tuesday,
            Weekday::Wednesday => Self::Wednesday,
            Weekday::Thursday => Self::Thursday,
            Weekday::Friday => Self::Friday,
            Weekday::Saturday => Self::Saturday,
            Weekday::Sunday => Self::Sunday,
        }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

stored_as_text!(Day);

/// A time of the day, to the minute; `24:00` is the end of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeOfDay(u16);

impl TimeOfDay {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new("must be a time from 00:00 to 24:00");
        let (hour, minute) = text.trim().split_once(':').ok_or_else(invalid)?;
        let number = |digits: &str, max: u16| {
            let is_plain = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u16>().ok().filter(|number| is_plain && *number <= max)
        };
        let (hour, minute) = number(hour, 24).zip(number(minute, 59)).ok_or_else(invalid)?;
        let minutes = hour * 60 + minute;
        if minutes > MINUTES_PER_DAY { Err(invalid()) } else { Ok(Self(minutes)) }
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

stored_as_text!(TimeOfDay);

/// The same hours on some days. If `from` is later than `to`, they cross midnight and belong to
/// the day they begin on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DailyHours {
    /// In order; empty: every day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<Day>,
    pub from: TimeOfDay,
    pub to: TimeOfDay,
}

impl DailyHours {
    pub fn new(mut days: Vec<Day>, from: TimeOfDay, to: TimeOfDay) -> Result<Self, Invalid> {
        if from == to || from.0 == MINUTES_PER_DAY {
            return Err(Invalid::new("must be hours such as 22:00 to 06:00"));
        }
        days.sort_unstable();
        days.dedup();
        Ok(Self { days, from, to })
    }

    /// The span that begins on a local day, if there is one.
    fn on(&self, day: &LocalDay, next: &LocalDay) -> Option<Span> {
        if !self.days.is_empty() && !self.days.contains(&Day::of(day.date.weekday())) {
            return None;
        }
        let instant = |minutes: u16| match minutes.checked_sub(MINUTES_PER_DAY) {
            Some(minutes) => next.instant(minutes),
            None => day.instant(minutes),
        };
        let until = if self.to < self.from { self.to.0 + MINUTES_PER_DAY } else { self.to.0 };
        let span = Span { from: instant(self.from.0), to: instant(until) };
        (span.from < span.to).then_some(span)
    }
}

/// A local day.
struct LocalDay<'a> {
    date: Date,
    zone: &'a Zone,
    /// Its beginning, if the clock does not change on it and that is known.
    midnight: Option<i64>,
}

impl<'a> LocalDay<'a> {
    /// For few times of the day.
    fn new(day: i64, zone: &'a Zone) -> Self {
        Self { date: date_of(day), zone, midnight: None }
    }

    /// For many times of the day.
    fn computed(day: i64, zone: &'a Zone) -> Self {
        let date = date_of(day);
        let offset = zone.offset_of_day(date);
        let midnight = offset.map(|offset| day_number(date) * DAY_MILLIS - offset);
        Self { date, zone, midnight }
    }

    /// The instant so many minutes of local time after its beginning.
    fn instant(&self, minutes: u16) -> Millis {
        if let Some(midnight) = self.midnight {
            return Millis(midnight + i64::from(minutes) * 60_000);
        }
        let part = |number: u16| i8::try_from(number).unwrap_or_default();
        self.zone.instant(self.date.at(part(minutes / 60), part(minutes % 60), 0, 0))
    }
}

/// Whether a time is within these hours.
pub fn contains(hours: &[DailyHours], zone: &Zone, at: Millis) -> bool {
    let day = day_number(zone.local(at).date());
    let days: Vec<LocalDay> = (day - 2..=day + 2).map(|day| LocalDay::new(day, zone)).collect();
    let mut spans =
        hours.iter().flat_map(|one| days.windows(2).filter_map(|pair| one.on(&pair[0], &pair[1])));
    spans.any(|span| span.contains(at))
}

/// The spans that overlap a range, in order; those that overlap or follow each other without a
/// gap are one. The first and the last one may be longer than shown.
pub fn spans(hours: &[DailyHours], zone: &Zone, from: Millis, to: Millis) -> Vec<Span> {
    let first = day_number(zone.local(from).date()) - 2;
    let last = day_number(zone.local(to).date()) + 1;
    let days: Vec<LocalDay> = (first..=last + 1).map(|day| LocalDay::computed(day, zone)).collect();
    let mut spans: Vec<Span> = hours
        .iter()
        .flat_map(|one| days.windows(2).filter_map(|pair| one.on(&pair[0], &pair[1])))
        .filter(|span| span.to > from && span.from < to)
        .collect();
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.from <= last.to => last.to = last.to.max(span.to),
            _ => merged.push(span),
        }
    }
    merged
}

/// When the hours at a time end; `None` outside them. Hours without an end last `FOREVER`.
pub fn end(hours: &[DailyHours], zone: &Zone, at: Millis) -> Option<Millis> {
    let horizon = at.after(std::time::Duration::from_secs(86_400 * HORIZON_DAYS.unsigned_abs()));
    let after = Millis(at.0.saturating_add(1));
    let span =
        spans(hours, zone, at, horizon.max(after)).into_iter().find(|span| span.contains(at))?;
    Some(if span.to >= horizon { FOREVER } else { span.to })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(days: &[Day], from: &str, to: &str) -> DailyHours {
        let time = |text| TimeOfDay::parse(text).expect("a time");
        DailyHours::new(days.to_vec(), time(from), time(to)).expect("valid")
    }

    fn berlin() -> Zone {
        Zone::parse("Europe/Berlin").expect("a zone")
    }

    fn at(text: &str) -> Millis {
        Millis::parse(text).expect("a time")
    }

    #[test]
    fn hours_that_cross_midnight_belong_to_the_day_they_begin_on() {
        let night = [hours(&[Day::Friday], "22:00", "06:00")];
        for (time, inside) in [
            ("2026-06-05T19:59:59Z", false), // Friday, 21:59:59
            ("2026-06-05T20:00:00Z", true),
            ("2026-06-06T03:59:59Z", true), // Saturday, 05:59:59
            ("2026-06-06T04:00:00Z", false),
            ("2026-06-06T20:30:00Z", false), // Saturday night
            ("2026-06-05T01:00:00Z", false), // Thursday night
        ] {
            assert_eq!(contains(&night, &berlin(), at(time)), inside, "{time}");
        }
        let end = end(&night, &berlin(), at("2026-06-05T23:00:00Z"));
        assert_eq!(end, Some(at("2026-06-06T04:00:00Z")));
    }

    #[test]
    fn the_night_of_a_clock_change_ends_at_the_local_time() {
        let night = [hours(&[], "22:00", "06:00")];
        for (evening, morning, length) in [
            ("2026-03-28T21:00:00Z", "2026-03-29T04:00:00Z", 7),
            ("2026-10-24T20:00:00Z", "2026-10-25T05:00:00Z", 9),
        ] {
            assert_eq!(end(&night, &berlin(), at(evening)), Some(at(morning)));
            let span = spans(&night, &berlin(), at(evening), at(morning))[0];
            assert_eq!(span.to.since(span.from).as_secs(), length * 3_600);
        }
    }

    /// `spans` computes the offset of a day once, and `contains` that of each time.
    #[test]
    fn spans_around_clock_changes_are_what_the_hours_contain() {
        let all = [
            hours(&[], "01:30", "02:30"),
            hours(&[Day::Sunday], "00:00", "03:00"),
            hours(&[Day::Friday, Day::Saturday], "22:45", "00:15"),
            hours(&[Day::Thursday], "23:30", "24:00"),
        ];
        // A few days before each change.
        for (zone, from) in [
            ("Europe/Berlin", "2026-03-25T00:00:00Z"),
            ("Europe/Berlin", "2026-10-21T00:00:00Z"),
            ("America/Havana", "2026-03-04T00:00:00Z"),
            ("America/Havana", "2026-10-28T00:00:00Z"),
            ("Australia/Lord_Howe", "2026-04-01T00:00:00Z"),
            ("Australia/Lord_Howe", "2026-09-30T00:00:00Z"),
            ("Pacific/Apia", "2011-12-26T00:00:00Z"),
        ] {
            let (zone, from) = (Zone::parse(zone).expect("a zone"), at(from));
            let spans = spans(&all, &zone, from, Millis(from.0 + 10 * DAY_MILLIS));
            for quarter in 0..10 * 96 {
                let at = Millis(from.0 + quarter * 900_000);
                let inside = spans.iter().any(|span| span.contains(at));
                assert_eq!(inside, contains(&all, &zone, at), "{} at {at}", zone.name());
            }
        }
    }

    #[test]
    fn hours_that_follow_each_other_are_one() {
        let weekend =
            [hours(&[Day::Saturday, Day::Sunday], "00:00", "24:00"), hours(&[], "22:00", "06:00")];
        // Friday 22:00 to Monday 06:00.
        let inside = at("2026-06-06T12:00:00Z");
        assert_eq!(end(&weekend, &berlin(), inside), Some(at("2026-06-08T04:00:00Z")));
        let always = [hours(&[], "00:00", "24:00")];
        assert_eq!(end(&always, &berlin(), inside), Some(FOREVER));
        assert_eq!(end(&[hours(&[Day::Monday], "09:00", "10:00")], &berlin(), inside), None);
    }

    #[test]
    fn invalid_hours_are_rejected() {
        for text in ["", "9:00", "24:01", "25:00", "12:60", "12", "-1:00", "+1:00", "1e:00"] {
            assert!(TimeOfDay::parse(text).is_err(), "{text}");
        }
        let noon = TimeOfDay::parse("12:00").expect("a time");
        assert!(DailyHours::new(Vec::new(), noon, noon).is_err());
        assert!(Day::parse("someday").is_err());
        assert_eq!(Day::parse("Mon"), Ok(Day::Monday));
    }

    #[test]
    fn hours_are_stored_and_read_again() {
        let night = hours(&[Day::Sunday, Day::Monday, Day::Monday], "22:00", "06:30");
        let text = serde_json::to_string(&night).expect("plain data");
        assert_eq!(text, r#"{"days":["mon","sun"],"from":"22:00","to":"06:30"}"#);
        assert_eq!(serde_json::from_str::<DailyHours>(&text).expect("readable"), night);
    }
}
