//! Cron expressions: minute, hour, day of month, month and day of week, with
//! lists, ranges, steps and names, and `L` for the last day of the month. When
//! both day fields are set, either matches; a field that begins with `*` is not
//! set, as in Debian's cron.

use jiff::civil::Date;
use std::fmt;

use super::occurrence::{self, ClockChange, Times};
use super::zone::Zone;
use crate::Invalid;
use crate::stored_as_text::stored_as_text;
use crate::time::Millis;

const MAX_TEXT_LENGTH: usize = 100;

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// A cron expression: one bit for each value of a field.
#[derive(Clone, PartialEq, Eq)]
pub struct Cron {
    text: String,
    minutes: u64,
    hours: u64,
    days: u64,
    has_last_day: bool,
    months: u64,
    /// Sunday is 0.
    weekdays: u64,
    /// Both day fields are set, so a date that matches one of them matches.
    is_either_day: bool,
}

/// A field's name, range and names of values.
struct Field {
    name: &'static str,
    first: u32,
    last: u32,
    names: &'static [&'static str],
    /// The value of the first name.
    names_from: u32,
}

const MINUTE: Field = Field { name: "minute", first: 0, last: 59, names: &[], names_from: 0 };
const HOUR: Field = Field { name: "hour", first: 0, last: 23, names: &[], names_from: 0 };
const DAY: Field = Field { name: "day of month", first: 1, last: 31, names: &[], names_from: 0 };
const MONTH: Field = Field { name: "month", first: 1, last: 12, names: &MONTHS, names_from: 1 };
/// 7 is Sunday, too.
const WEEKDAY: Field =
    Field { name: "day of week", first: 0, last: 7, names: &WEEKDAYS, names_from: 0 };

impl Cron {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.len() > MAX_TEXT_LENGTH {
            return Err(Invalid::new(format!("must have at most {MAX_TEXT_LENGTH} characters")));
        }
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            return Err(Invalid::new(
                "must have five fields: minute, hour, day of month, month, day of week",
            ));
        };
        let (days, has_last_day) = DAY.parse_days(day)?;
        let weekdays = WEEKDAY.parse(weekday)?;
        Ok(Self {
            text: fields.join(" "),
            minutes: MINUTE.parse(minute)?,
            hours: HOUR.parse(hour)?,
            days,
            has_last_day,
            months: MONTH.parse(month)?,
            weekdays: (weekdays | weekdays >> 7) & 0x7F,
            is_either_day: !day.starts_with('*') && !weekday.starts_with('*'),
        })
    }

    pub(super) fn starts_per_day(&self) -> u32 {
        self.minutes.count_ones() * self.hours.count_ones()
    }

    pub(super) fn is_on(&self, date: Date) -> bool {
        let is_last = self.has_last_day && date.day() == date.days_in_month();
        let day = is_last || self.days & (1 << date.day()) != 0;
        let weekday = self.weekdays & (1 << date.weekday().to_sunday_zero_offset()) != 0;
        let is_day = if self.is_either_day { day || weekday } else { day && weekday };
        is_day && self.months & (1 << date.month()) != 0
    }

    /// The first time after `after`, as Debian's cron would run a job. One at fixed times is not
    /// affected by changes of the clock: a time that is skipped is made up for, and one that
    /// occurs twice counts once.
    pub fn next(&self, after: Millis, zone: &Zone) -> Option<Millis> {
        let mut fields = self.text.split(' ');
        let is_fixed = fields.by_ref().take(2).all(|field| !field.starts_with('*'));
        let change = if is_fixed { ClockChange::MoveAndOnce } else { ClockChange::SkipAndTwice };
        let times = Times { hours: self.hours, minutes: self.minutes, seconds: 1 };
        occurrence::next(zone, after, &times, change, |date| self.is_on(date))
    }

    /// The hours and minutes of each day, in order.
    pub(super) fn times(&self) -> impl Iterator<Item = (i8, i8)> + '_ {
        let hours = (0..24_i8).filter(|hour| self.hours & (1 << hour) != 0);
        hours.flat_map(|hour| {
            let minutes = (0..60_i8).filter(|minute| self.minutes & (1 << minute) != 0);
            minutes.map(move |minute| (hour, minute))
        })
    }
}

impl Field {
    fn parse(&self, text: &str) -> Result<u64, Invalid> {
        text.split(',').try_fold(0, |set, part| Ok(set | self.parse_part(part)?))
    }

    /// The days of a month, and whether `L` is one of them.
    fn parse_days(&self, text: &str) -> Result<(u64, bool), Invalid> {
        text.split(',').try_fold((0, false), |(set, has_last), part| {
            if part.eq_ignore_ascii_case("L") {
                return Ok((set, true));
            }
            Ok((set | self.parse_part(part)?, has_last))
        })
    }

    /// `*`, `5`, `1-5`, `*/15`, `10-20/5`, `10/5`.
    fn parse_part(&self, part: &str) -> Result<u64, Invalid> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(self.number(step, 1, 59)?)),
            None => (part, None),
        };
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (self.first, self.last),
            Some((first, last)) => (self.value(first)?, self.value(last)?),
            None if step.is_some() => (self.value(range)?, self.last),
            None => (self.value(range)?, self.value(range)?),
        };
        if first > last {
            return Err(self.invalid(part));
        }
        let step = usize::try_from(step.unwrap_or(1)).unwrap_or(1);
        Ok((first..=last).step_by(step).fold(0, |set, value| set | 1 << value))
    }

    fn value(&self, text: &str) -> Result<u32, Invalid> {
        let named = (self.names_from..).zip(self.names);
        let mut found = named.filter(|(_, name)| name.eq_ignore_ascii_case(text));
        match found.next() {
            Some((value, _)) => Ok(value),
            None => self.number(text, self.first, self.last),
        }
    }

    fn number(&self, text: &str, first: u32, last: u32) -> Result<u32, Invalid> {
        let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let value = text.parse().ok().filter(|_| is_digits);
        value.filter(|value| (first..=last).contains(value)).ok_or_else(|| self.invalid(text))
    }

    fn invalid(&self, part: &str) -> Invalid {
        Invalid::new(format!("has an invalid {}: \"{part}\"", self.name))
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

stored_as_text!(Cron);

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn days_of_2026(text: &str) -> Vec<String> {
        let cron = Cron::parse(text).expect("valid");
        let days = date(2026, 1, 1).series(jiff::Span::new().days(1)).take(365);
        days.filter(|day| cron.is_on(*day)).map(|day| day.strftime("%m-%d").to_string()).collect()
    }

    #[test]
    fn fields_have_lists_ranges_steps_and_names() {
        let times = |text: &str| Cron::parse(text).expect("valid").times().collect::<Vec<_>>();
        assert_eq!(times("30 2 * * *"), [(2, 30)]);
        assert_eq!(times("0,30 1-3/2 * * *"), [(1, 0), (1, 30), (3, 0), (3, 30)]);
        assert_eq!(times("*/30 22/1 * * *"), [(22, 0), (22, 30), (23, 0), (23, 30)]);
        assert_eq!(days_of_2026("0 0 1 jan,MAR *"), ["01-01", "03-01"]);
        assert_eq!(days_of_2026("0 0 * 2 sun"), days_of_2026("0 0 * 2 7"));
        assert_eq!(days_of_2026("0 0 * 2 fri-SAT"), days_of_2026("0 0 * 2 5,6"));
    }

    #[test]
    fn the_last_day_of_the_month_is_l() {
        assert_eq!(days_of_2026("0 0 L 2-4 *"), ["02-28", "03-31", "04-30"]);
        assert_eq!(days_of_2026("0 0 1,L 2 *"), ["02-01", "02-28"]);
    }

    #[test]
    fn when_both_day_fields_are_set_either_matches() {
        assert_eq!(days_of_2026("0 0 13 2 MON"), ["02-02", "02-09", "02-13", "02-16", "02-23"]);
        // A field that begins with `*` is not set: the 1st, 11th, 21st, 31st if a Monday.
        assert_eq!(days_of_2026("0 0 */10 6-9 MON"), ["06-01", "08-31", "09-21"]);
    }

    #[test]
    fn anything_else_is_rejected_and_named() {
        for (text, error) in [
            ("", "must have five fields: minute, hour, day of month, month, day of week"),
            ("@daily", "must have five fields: minute, hour, day of month, month, day of week"),
            (
                "0 0 0 * * *",
                "must have five fields: minute, hour, day of month, month, day of week",
            ),
            ("60 0 * * *", "has an invalid minute: \"60\""),
            ("0 24 * * *", "has an invalid hour: \"24\""),
            ("0 0 0 * *", "has an invalid day of month: \"0\""),
            ("0 0 15W * *", "has an invalid day of month: \"15W\""),
            ("0 0 * 13 *", "has an invalid month: \"13\""),
            ("0 0 * * 5#2", "has an invalid day of week: \"5#2\""),
            ("0 0 * * L", "has an invalid day of week: \"L\""),
            ("0 5-3 * * *", "has an invalid hour: \"5-3\""),
            ("*/0 0 * * *", "has an invalid minute: \"0\""),
            ("+1 0 * * *", "has an invalid minute: \"+1\""),
            (", 0 * * *", "has an invalid minute: \"\""),
        ] {
            assert_eq!(Cron::parse(text).expect_err(text).0, error, "{text}");
        }
        assert!(Cron::parse(&"0 ".repeat(1_000)).is_err());
    }
}
