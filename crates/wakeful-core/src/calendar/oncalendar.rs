//! Times as systemd's timers write them: `Mon..Fri *-*-* 02:30 Europe/Berlin`, with weekdays,
//! dates (`~` counts from the end of the month), times, lists, ranges, steps and the short names.
//! Fractions of seconds are not supported. A time that a change of the clock skips does not occur.

use jiff::civil::Date;
use std::ops::RangeInclusive;

use super::occurrence::{self, ClockChange, Times};
use super::zone::Zone;
use crate::Invalid;
use crate::time::Millis;

const YEARS: RangeInclusive<i32> = 1970..=2199;
const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const SHORT_NAMES: [(&str, &str); 9] = [
    ("minutely", "*-*-* *:*:00"),
    ("hourly", "*-*-* *:00:00"),
    ("daily", "*-*-* 00:00:00"),
    ("monthly", "*-*-01 00:00:00"),
    ("weekly", "Mon *-*-* 00:00:00"),
    ("yearly", "*-01-01 00:00:00"),
    ("annually", "*-01-01 00:00:00"),
    ("quarterly", "*-01,04,07,10-01 00:00:00"),
    ("semiannually", "*-01,07-01 00:00:00"),
];
/// The last day that `~` can count to.
const MAX_DAY_FROM_END: i32 = 28;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnCalendar {
    /// Monday is 0.
    weekdays: u64,
    years: [u64; 4],
    months: u64,
    days: u64,
    /// 1 is the last day of the month.
    days_from_end: u64,
    times: Times,
    /// The zone at its end, if there is one.
    zone: Option<Zone>,
}

/// A component of an expression.
struct Component {
    name: &'static str,
    range: RangeInclusive<i32>,
}

const YEAR: Component = Component { name: "year", range: YEARS };
const MONTH: Component = Component { name: "month", range: 1..=12 };
const DAY: Component = Component { name: "day", range: 1..=31 };
const HOUR: Component = Component { name: "hour", range: 0..=23 };
const MINUTE: Component = Component { name: "minute", range: 0..=59 };
const SECOND: Component = Component { name: "second", range: 0..=59 };

impl OnCalendar {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let mut parts: Vec<&str> = text.split_ascii_whitespace().collect();
        let zone = match parts[..] {
            [_, .., last] if last.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                Zone::parse(last).ok().filter(|_| !is_weekdays(last))
            }
            _ => None,
        };
        if zone.is_some() {
            parts.pop();
        }
        if let [name] = parts[..] {
            let short = SHORT_NAMES.iter().find(|(short, _)| short.eq_ignore_ascii_case(name));
            if let Some((_, long)) = short {
                parts = long.split(' ').collect();
            }
        }
        let times = match parts.last().filter(|part| part.contains(':')) {
            Some(part) => {
                let times = times(part)?;
                parts.pop();
                times
            }
            None => Times { hours: 1, minutes: 1, seconds: 1 },
        };
        let is_date = |part: &&&str| {
            part.starts_with(|c: char| c.is_ascii_digit() || c == '*') && part.contains(['-', '~'])
        };
        let date = parts.last().filter(is_date).copied();
        if date.is_some() {
            parts.pop();
        }
        let (years, months, (days, days_from_end)) = match date {
            Some(part) => date_components(part)?,
            None => date_components("*-*-*")?,
        };
        let weekdays = match parts[..] {
            [] if date.is_none() && !text.contains(':') => {
                return Err(Invalid::new("has neither a day nor a time"));
            }
            [] => 0x7F,
            [part] => weekdays(part)?,
            _ => return Err(Invalid::new("must have weekdays, a date and a time, in this order")),
        };
        Ok(Self { weekdays, years, months, days, days_from_end, times, zone })
    }

    /// The first time after `after`, in the zone of the expression or else in this one.
    pub fn next(&self, after: Millis, zone: &Zone) -> Option<Millis> {
        let zone = self.zone.as_ref().unwrap_or(zone);
        occurrence::next(zone, after, &self.times, ClockChange::SkipAndOnce, |date| {
            self.is_on(date)
        })
    }

    fn is_on(&self, date: Date) -> bool {
        let year = i32::from(date.year()) - YEARS.start();
        let word = usize::try_from(year / 64).ok().and_then(|word| self.years.get(word));
        let has = |set: u64, value: i8| set & (1 << value) != 0;
        let from_end = date.days_in_month() - date.day() + 1;
        word.is_some_and(|word| word & (1 << (year % 64)) != 0)
            && has(self.months, date.month())
            && has(self.weekdays, date.weekday().to_monday_zero_offset())
            && (has(self.days, date.day()) || has(self.days_from_end, from_end))
    }
}

fn is_weekdays(text: &str) -> bool {
    weekdays(text).is_ok()
}

fn times(text: &str) -> Result<Times, Invalid> {
    let parts: Vec<&str> = text.split(':').collect();
    let (hour, minute, second) = match parts[..] {
        [hour, minute] => (hour, minute, "0"),
        [hour, minute, second] => (hour, minute, second),
        _ => return Err(Invalid::new("has an invalid time")),
    };
    let set = |component: &Component, text| Ok(bits(&component.values(text)?));
    Ok(Times {
        hours: set(&HOUR, hour)?,
        minutes: set(&MINUTE, minute)?,
        seconds: set(&SECOND, second)?,
    })
}

type DateComponents = ([u64; 4], u64, (u64, u64));

fn date_components(text: &str) -> Result<DateComponents, Invalid> {
    let (rest, day, is_from_end) = match text.rsplit_once('~') {
        Some((rest, day)) => (rest, day, true),
        None => {
            let (rest, day) = text.rsplit_once('-').unwrap_or(("", text));
            (rest, day, false)
        }
    };
    let parts: Vec<&str> = rest.split('-').collect();
    let (year, month) = match parts[..] {
        [year, month] => (year, month),
        [month] => ("*", month),
        _ => return Err(Invalid::new("has an invalid date")),
    };
    let mut years = [0; 4];
    for year in YEAR.values(year)? {
        let bit = usize::try_from(year - YEARS.start()).unwrap_or(0);
        years[bit / 64] |= 1 << (bit % 64);
    }
    let days = if is_from_end {
        (0, bits(&DAY.values_from_end(day)?))
    } else {
        (bits(&DAY.values(day)?), 0)
    };
    Ok((years, bits(&MONTH.values(month)?), days))
}

fn weekdays(text: &str) -> Result<u64, Invalid> {
    let invalid = || Invalid::new(format!("has an invalid weekday: \"{text}\""));
    let day = |name: &str| {
        let name = name.to_ascii_lowercase();
        let found = WEEKDAYS.iter().position(|day| *day == name || day[..3] == name);
        found.ok_or_else(invalid)
    };
    let mut set = 0;
    for part in text.strip_suffix(',').unwrap_or(text).split(',') {
        let (first, last) = match part.split_once("..").or_else(|| part.split_once('-')) {
            Some((first, last)) => (day(first)?, day(last)?),
            None => (day(part)?, day(part)?),
        };
        if first > last {
            return Err(invalid());
        }
        set |= (first..=last).fold(0, |set, day| set | 1 << day);
    }
    Ok(set)
}

fn bits(values: &[i32]) -> u64 {
    values.iter().fold(0, |set, value| set | 1 << value)
}

impl Component {
    /// The values of `*`, `5`, `1..5`, `10/5` or `1..20/5`, or a list of them without `*`.
    fn values(&self, text: &str) -> Result<Vec<i32>, Invalid> {
        if text == "*" {
            return Ok(self.range.clone().collect());
        }
        let mut values = Vec::new();
        for part in text.split(',') {
            let (range, step) = self.range_and_step(part)?;
            let (first, last) = match range {
                (first, Some(last)) => (first, last),
                (first, None) if step.is_some() => (first, *self.range.end()),
                (first, None) => (first, first),
            };
            values.extend((first..=last).step_by(step.unwrap_or(1)));
        }
        Ok(values)
    }

    /// The same for days that are counted from the end of the month: steps go toward it.
    fn values_from_end(&self, text: &str) -> Result<Vec<i32>, Invalid> {
        let mut values = Vec::new();
        for part in text.split(',') {
            let (range, step) = self.range_and_step(part)?;
            let (last, first) = match range {
                (last, Some(first)) => (last, first),
                (first, None) if step.is_some() => (1, first),
                (first, None) => (first, first),
            };
            if first > MAX_DAY_FROM_END && first == last {
                return Err(self.invalid(part));
            }
            values.extend((last..=first).rev().step_by(step.unwrap_or(1)));
        }
        Ok(values)
    }

    #[expect(clippy::type_complexity, reason = "a range with an optional end, and a step")]
    fn range_and_step(&self, part: &str) -> Result<((i32, Option<i32>), Option<usize>), Invalid> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => {
                let step = digits(step).and_then(|step| usize::try_from(step).ok());
                let step = step.filter(|step| *step > 0).ok_or_else(|| self.invalid(part))?;
                (range, Some(step))
            }
            None => (part, None),
        };
        match range.split_once("..") {
            Some((first, last)) => {
                let (first, last) = (self.value(first)?, self.value(last)?);
                if first > last {
                    return Err(self.invalid(part));
                }
                Ok(((first, Some(last)), step))
            }
            None => Ok(((self.value(range)?, None), step)),
        }
    }

    fn value(&self, text: &str) -> Result<i32, Invalid> {
        let value = digits(text).map(|value| match value {
            0..70 if self.range == YEARS => value + 2_000,
            70..100 if self.range == YEARS => value + 1_900,
            value => value,
        });
        value.filter(|value| self.range.contains(value)).ok_or_else(|| self.invalid(text))
    }

    fn invalid(&self, part: &str) -> Invalid {
        Invalid::new(format!("has an invalid {}: \"{part}\"", self.name))
    }
}

fn digits(text: &str) -> Option<i32> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn berlin() -> Zone {
        Zone::parse("Europe/Berlin").expect("a zone")
    }

    fn times(text: &str, after: &str, count: usize) -> Vec<String> {
        let calendar = OnCalendar::parse(text).expect(text);
        let mut at = Millis::parse(after).expect("a time");
        let mut found = Vec::new();
        while let Some(next) = calendar.next(at, &berlin()).filter(|_| found.len() < count) {
            found.push(berlin().local(next).strftime("%m-%d %H:%M:%S").to_string());
            at = next;
        }
        found
    }

    #[test]
    fn the_next_times_are_those_of_systemd() {
        let after = "2026-03-28T11:00:00Z";
        for (text, expected) in [
            // 02:30 does not exist on March 29.
            ("*-*-* 02:30", ["03-30 02:30:00", "03-31 02:30:00"]),
            ("*-*~07/1", ["03-29 00:00:00", "03-30 00:00:00"]),
            ("10..20/3:00", ["03-28 13:00:00", "03-28 16:00:00"]),
            ("minutely", ["03-28 12:01:00", "03-28 12:02:00"]),
            ("Mon-Fri", ["03-30 00:00:00", "03-31 00:00:00"]),
            ("*-05~07/1", ["05-25 00:00:00", "05-26 00:00:00"]),
            ("Mon *-05~07/1", ["05-25 00:00:00", "05-31 00:00:00"]),
            ("*-*-31 00:00:00/7", ["03-31 00:00:00", "03-31 00:00:07"]),
            ("Sat 12:5", ["03-28 12:05:00", "04-04 12:05:00"]),
            ("*-*-* 12:05 UTC", ["03-28 13:05:00", "03-29 14:05:00"]),
        ] {
            assert_eq!(times(text, after, 2), expected, "{text}");
        }
        // 02:30 occurs twice on October 25.
        let autumn = times("02:30", "2026-10-24T12:00:00Z", 2);
        assert_eq!(autumn, ["10-25 02:30:00", "10-26 02:30:00"]);
        assert!(times("2030-02-30", after, 1).is_empty());
        assert!(times("2020-01-01", after, 1).is_empty());
    }

    #[test]
    fn anything_else_is_rejected() {
        for text in [
            "",
            "12",
            "Sat..Tue",
            "*/2-*-*",
            "*:*/5",
            "25:00",
            "12:60",
            "*-13-01",
            "1969-01-01",
            "Mon Tue",
            "*-*-* 00:00:00.5",
            "00:00 Mon",
            "*-*~29",
            "1:2:3:4",
            "Europe/Berlin",
            "Mun",
            "*-*-*-* 00:00",
            "00:00/0",
        ] {
            assert!(OnCalendar::parse(text).is_err(), "{text}");
        }
    }
}
