//! Recurrence rules of RFC 5545: the dates of a rule. `FREQ` is DAILY, WEEKLY,
//! MONTHLY or YEARLY, with INTERVAL, BYDAY, BYMONTHDAY, BYMONTH, BYSETPOS, WKST,
//! COUNT and UNTIL. A date that a month does not have is skipped. A rule is
//! evaluated from the period that contains the first date of interest, never from
//! its beginning.

use jiff::civil::{Date, DateTime, Weekday};
use std::fmt;
use std::ops::ControlFlow;

use super::zone::{date_of, day_number};
use super::{LATEST, Zone};
use crate::Invalid;
use crate::stored_as_text::stored_as_text;
use crate::time::Millis;

const MAX_TEXT_LENGTH: usize = 500;
const MAX_INTERVAL: i64 = 999;
const MAX_COUNT: i64 = 10_000;
/// The most values of a part.
const MAX_VALUES: usize = 100;

/// A recurrence rule.
#[derive(Clone, PartialEq, Eq)]
pub struct Rrule {
    frequency: Frequency,
    interval: u16,
    /// A bit for each month, 1 to 12.
    months: u16,
    /// A bit for each day of the month, 1 to 31, from its start.
    month_days: u32,
    /// The same, from its end: 1 is the last day.
    last_days: u32,
    /// A bit for each weekday, Monday 0.
    weekdays: u8,
    /// Such as the second Tuesday, or the last Sunday (-1).
    nth_weekdays: Vec<(i8, Weekday)>,
    positions: Vec<i16>,
    week_start: Weekday,
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Frequency {
    Daily,
    Weekly,
    Monthly,
    Yearly,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Never,
    Count(u16),
    /// The last local start.
    Local(DateTime),
    /// The last start.
    Utc(Millis),
}

const FREQUENCIES: [(&str, Frequency); 4] = [
    ("DAILY", Frequency::Daily),
    ("WEEKLY", Frequency::Weekly),
    ("MONTHLY", Frequency::Monthly),
    ("YEARLY", Frequency::Yearly),
];

const WEEKDAYS: [(&str, Weekday); 7] = [
    ("MO", Weekday::Monday),
    ("TU", Weekday::Tuesday),
    ("WE", Weekday::Wednesday),
    ("TH", Weekday::Thursday),
    ("FR", Weekday::Friday),
    ("SA", Weekday::Saturday),
    ("SU", Weekday::Sunday),
];

impl Rrule {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.len() > MAX_TEXT_LENGTH {
            return Err(Invalid::new(format!("must have at most {MAX_TEXT_LENGTH} characters")));
        }
        let text = text.trim().to_ascii_uppercase();
        let text = text.strip_prefix("RRULE:").unwrap_or(&text);
        let mut parts: Vec<(&str, &str)> = Vec::new();
        for part in text.split(';').filter(|part| !part.is_empty()) {
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| Invalid::new(format!("has \"{part}\", which is not NAME=VALUE")))?;
            if parts.iter().any(|(known, _)| *known == name) {
                return Err(Invalid::new(format!("has {name} twice")));
            }
            parts.push((name, value));
        }
        let value = |name| parts.iter().find(|part| part.0 == name).map(|part| part.1);
        let frequency = value("FREQ").ok_or_else(|| Invalid::new("must have FREQ"))?;
        let frequency = FREQUENCIES.iter().find(|(name, _)| *name == frequency);
        let (_, frequency) = frequency
            .ok_or_else(|| Invalid::new("must have FREQ=DAILY, WEEKLY, MONTHLY or YEARLY"))?;
        let mut rule = Self {
            frequency: *frequency,
            interval: 1,
            months: 0,
            month_days: 0,
            last_days: 0,
            weekdays: 0,
            nth_weekdays: Vec::new(),
            positions: Vec::new(),
            week_start: Weekday::Monday,
            end: End::Never,
        };
        for (name, value) in &parts {
            rule.read_part(name, value)?;
        }
        rule.check()?;
        Ok(rule)
    }

    fn read_part(&mut self, name: &str, text: &str) -> Result<(), Invalid> {
        match name {
            "FREQ" => {}
            "INTERVAL" => self.interval = number(name, text, 1, MAX_INTERVAL)?,
            "COUNT" => self.set_end(End::Count(number(name, text, 1, MAX_COUNT)?))?,
            "UNTIL" => self.set_end(until(text)?)?,
            "WKST" => self.week_start = weekday(text)?,
            "BYMONTH" => {
                for value in values(name, text)? {
                    self.months |= 1 << number::<u8>(name, value, 1, 12)?;
                }
            }
            "BYMONTHDAY" => {
                for value in values(name, text)? {
                    match number::<i8>(name, value, -31, 31)? {
                        0 => return Err(out_of_range(name, value)),
                        day @ 1.. => self.month_days |= 1 << day,
                        day => self.last_days |= 1 << -day,
                    }
                }
            }
            "BYSETPOS" => {
                for value in values(name, text)? {
                    match number::<i16>(name, value, -366, 366)? {
                        0 => return Err(out_of_range(name, value)),
                        position => self.positions.push(position),
                    }
                }
                self.positions.sort_unstable();
                self.positions.dedup();
            }
            "BYDAY" => {
                for value in values(name, text)? {
                    self.read_weekday(value)?;
                }
                self.nth_weekdays.sort_by_key(|(nth, day)| (*nth, day.to_monday_zero_offset()));
                self.nth_weekdays.dedup();
            }
            _ => return Err(Invalid::new(format!("has {name}, which is not supported"))),
        }
        Ok(())
    }

    fn set_end(&mut self, end: End) -> Result<(), Invalid> {
        if self.end != End::Never {
            return Err(Invalid::new("must not have both COUNT and UNTIL"));
        }
        self.end = end;
        Ok(())
    }

    /// `TU` or `2TU` or `-1SU`.
    fn read_weekday(&mut self, text: &str) -> Result<(), Invalid> {
        let split = text.len().checked_sub(2).filter(|at| text.is_char_boundary(*at));
        let (nth, day) = text.split_at(split.ok_or_else(|| out_of_range("BYDAY", text))?);
        let day = weekday(day).map_err(|_| out_of_range("BYDAY", text))?;
        if nth.is_empty() {
            self.weekdays |= 1 << day.to_monday_zero_offset();
            return Ok(());
        }
        let most = match self.frequency {
            Frequency::Monthly => 5,
            Frequency::Yearly => 53,
            Frequency::Daily | Frequency::Weekly => {
                return Err(Invalid::new(format!(
                    "must have FREQ=MONTHLY or YEARLY for BYDAY={text}"
                )));
            }
        };
        match number::<i8>("BYDAY", nth, -most, most)? {
            0 => Err(out_of_range("BYDAY", text)),
            nth => {
                self.nth_weekdays.push((nth, day));
                Ok(())
            }
        }
    }

    fn check(&self) -> Result<(), Invalid> {
        if self.frequency == Frequency::Weekly && self.has_month_days() {
            return Err(Invalid::new("must not have BYMONTHDAY with FREQ=WEEKLY"));
        }
        if !self.positions.is_empty()
            && self.months == 0
            && !self.has_month_days()
            && !self.has_weekdays()
        {
            return Err(Invalid::new("must have BYDAY, BYMONTHDAY or BYMONTH with BYSETPOS"));
        }
        Ok(())
    }

    fn has_month_days(&self) -> bool {
        self.month_days | self.last_days != 0
    }

    fn has_weekdays(&self) -> bool {
        self.weekdays != 0 || !self.nth_weekdays.is_empty()
    }

    /// The same rule with an end instead of COUNT, so that evaluating it never
    /// starts at the first occurrence.
    #[must_use]
    pub(super) fn with_count_as_end(self, starts: DateTime) -> Self {
        let End::Count(count) = self.end else { return self };
        let endless = Self { end: End::Never, ..self };
        let (mut found, mut last) = (0, None);
        endless.visit(starts, starts.date(), LATEST, |date| {
            found += 1;
            last = Some(date);
            if found == count { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match last {
            Some(last) if found == count => {
                Self { end: End::Local(last.to_datetime(starts.time())), ..endless }
            }
            _ => endless,
        }
    }

    /// Calls `visit` for each date of the rule from `from` to `to`, both inclusive,
    /// in order. The first start gives what the rule leaves open.
    pub(super) fn visit(
        &self,
        starts: DateTime,
        from: Date,
        to: Date,
        mut visit: impl FnMut(Date) -> ControlFlow<()>,
    ) {
        let days = self.day_filter(starts.date());
        let from = from.max(starts.date());
        let to = match self.end {
            End::Local(last) => to.min(last.date()),
            _ => to,
        };
        let mut of_period: Vec<Date> = Vec::new();
        for period in self.periods(starts.date(), from) {
            if period.first > to {
                return;
            }
            let all = period.first..=period.last;
            // Positions count from the ends of the period.
            let (first, last) = if self.positions.is_empty() {
                (period.first.max(from), period.last.min(to))
            } else {
                all.into_inner()
            };
            of_period.clear();
            let dates = (day_number(first)..=day_number(last)).map(date_of);
            of_period.extend(dates.filter(|date| days.is_on(*date)));
            let length = of_period.len();
            for (index, date) in of_period.iter().enumerate() {
                let is_wanted = self.is_at_position(index, length) && (from..=to).contains(date);
                if is_wanted && visit(*date).is_break() {
                    return;
                }
            }
        }
    }

    /// Whether a start is not after the end of the rule.
    pub(super) fn includes(&self, local: DateTime, at: Millis) -> bool {
        match self.end {
            End::Never | End::Count(_) => true,
            End::Local(last) => local <= last,
            End::Utc(last) => at <= last,
        }
    }

    /// No start of the rule is after this local date.
    pub(super) fn last_date(&self, zone: &Zone) -> Option<Date> {
        match self.end {
            End::Never | End::Count(_) => None,
            End::Local(last) => Some(last.date()),
            End::Utc(last) => Some(zone.local(last).date()),
        }
    }

    fn is_at_position(&self, index: usize, length: usize) -> bool {
        let position = |number: &i16| match usize::try_from(*number) {
            Ok(number) => index + 1 == number,
            Err(_) => length - index == usize::from(number.unsigned_abs()),
        };
        self.positions.is_empty() || self.positions.iter().any(position)
    }

    /// What a date must satisfy. What the rule leaves open is taken from the first
    /// start (RFC 5545, 3.3.10).
    fn day_filter(&self, starts: Date) -> DayFilter<'_> {
        let mut days = DayFilter {
            months: self.months,
            month_days: self.month_days,
            last_days: self.last_days,
            weekdays: self.weekdays,
            nth_weekdays: &self.nth_weekdays,
            is_nth_of_year: self.frequency == Frequency::Yearly && self.months == 0,
        };
        let is_open = !self.has_month_days() && !self.has_weekdays();
        match self.frequency {
            Frequency::Weekly if is_open => {
                days.weekdays = 1 << starts.weekday().to_monday_zero_offset();
            }
            Frequency::Monthly if is_open => days.month_days = 1 << starts.day(),
            Frequency::Yearly if is_open => {
                days.month_days = 1 << starts.day();
                if self.months == 0 {
                    days.months = 1 << starts.month();
                }
            }
            _ => {}
        }
        days
    }

    /// The periods from the one that contains a date, or the next.
    fn periods(&self, starts: Date, from: Date) -> impl Iterator<Item = Period> {
        let interval = i64::from(self.interval);
        let week_of = |date: Date| {
            let into_week = self.week_start.until(date.weekday());
            day_number(date) - i64::from(into_week)
        };
        let month_of = |date: Date| i64::from(date.year()) * 12 + i64::from(date.month()) - 1;
        // The number of the period that contains a date, counted in periods
        // without an interval.
        let (first, wanted) = match self.frequency {
            Frequency::Daily => (day_number(starts), day_number(from)),
            Frequency::Weekly => (week_of(starts), week_of(from)),
            Frequency::Monthly => (month_of(starts), month_of(from)),
            Frequency::Yearly => (starts.year().into(), from.year().into()),
        };
        let length = if self.frequency == Frequency::Weekly { 7 * interval } else { interval };
        let begin = first + (wanted - first).max(0).div_euclid(length) * length;
        let frequency = self.frequency;
        (0..).map_while(move |step: i64| {
            let number = begin + step * length;
            let period = match frequency {
                Frequency::Daily => Period { first: date_of(number), last: date_of(number) },
                Frequency::Weekly => Period { first: date_of(number), last: date_of(number + 6) },
                Frequency::Monthly => {
                    let year = i16::try_from(number.div_euclid(12)).ok()?;
                    let month = i8::try_from(number.rem_euclid(12) + 1).ok()?;
                    let first = Date::new(year, month, 1).ok()?;
                    Period { first, last: first.last_of_month() }
                }
                Frequency::Yearly => {
                    let first = Date::new(i16::try_from(number).ok()?, 1, 1).ok()?;
                    Period { first, last: first.last_of_year() }
                }
            };
            // `date_of` does not exceed the last date, so it would repeat there.
            (period.first < LATEST).then_some(period)
        })
    }
}

#[derive(Clone, Copy)]
struct Period {
    first: Date,
    last: Date,
}

struct DayFilter<'a> {
    months: u16,
    month_days: u32,
    last_days: u32,
    weekdays: u8,
    nth_weekdays: &'a [(i8, Weekday)],
    is_nth_of_year: bool,
}

impl DayFilter<'_> {
    fn is_on(&self, date: Date) -> bool {
        if self.months != 0 && self.months & (1 << date.month()) == 0 {
            return false;
        }
        if self.month_days | self.last_days != 0 {
            let from_end = date.days_in_month() - date.day() + 1;
            let is_day = self.month_days & (1 << date.day()) != 0;
            if !is_day && self.last_days & (1 << from_end) == 0 {
                return false;
            }
        }
        if self.weekdays == 0 && self.nth_weekdays.is_empty() {
            return true;
        }
        let weekday = date.weekday();
        self.weekdays & (1 << weekday.to_monday_zero_offset()) != 0
            || (self.nth_weekdays.iter())
                .any(|(nth, day)| *day == weekday && self.is_nth(date, i16::from(*nth)))
    }

    fn is_nth(&self, date: Date, nth: i16) -> bool {
        let (day, length) = if self.is_nth_of_year {
            (date.day_of_year(), date.days_in_year())
        } else {
            (i16::from(date.day()), i16::from(date.days_in_month()))
        };
        match nth {
            1.. => (day - 1) / 7 + 1 == nth,
            _ => (length - day) / 7 + 1 == -nth,
        }
    }
}

fn values<'a>(name: &str, text: &'a str) -> Result<Vec<&'a str>, Invalid> {
    let values: Vec<&str> = text.split(',').collect();
    if values.len() > MAX_VALUES {
        return Err(Invalid::new(format!("must have at most {MAX_VALUES} values of {name}")));
    }
    Ok(values)
}

fn number<T: TryFrom<i64>>(name: &str, text: &str, least: i64, most: i64) -> Result<T, Invalid> {
    let value = text.parse::<i64>().ok().filter(|value| (least..=most).contains(value));
    value.and_then(|value| T::try_from(value).ok()).ok_or_else(|| out_of_range(name, text))
}

fn out_of_range(name: &str, value: &str) -> Invalid {
    Invalid::new(format!("has an invalid {name}: \"{value}\""))
}

fn weekday(text: &str) -> Result<Weekday, Invalid> {
    let found = WEEKDAYS.iter().find(|(name, _)| *name == text);
    found.map(|(_, day)| *day).ok_or_else(|| out_of_range("weekday", text))
}

/// `20261231`, `20261231T235959` (local) or `20261231T225959Z`.
fn until(text: &str) -> Result<End, Invalid> {
    let invalid = || out_of_range("UNTIL", text);
    let (text, is_utc) = match text.strip_suffix('Z') {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let (date, time) = text.split_once('T').unwrap_or((text, "235959"));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if date.len() != 8 || time.len() != 6 || !all_digits(date) || !all_digits(time) {
        return Err(invalid());
    }
    let number = |text: &str| text.parse::<i16>().map_err(|_| invalid());
    let part = |text: &str| text.parse::<i8>().map_err(|_| invalid());
    let date = Date::new(number(&date[..4])?, part(&date[4..6])?, part(&date[6..])?);
    let time = jiff::civil::Time::new(part(&time[..2])?, part(&time[2..4])?, part(&time[4..])?, 0);
    let local = date.map_err(|_| invalid())?.to_datetime(time.map_err(|_| invalid())?);
    Ok(if is_utc { End::Utc(Zone::utc().instant(local)) } else { End::Local(local) })
}

impl fmt::Display for Rrule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = FREQUENCIES.iter().find(|(_, frequency)| *frequency == self.frequency);
        write!(f, "FREQ={}", name.map_or("", |(name, _)| name))?;
        if self.interval != 1 {
            write!(f, ";INTERVAL={}", self.interval)?;
        }
        write_list(f, "BYMONTH", (1..=12).filter(|month| self.months & (1 << month) != 0))?;
        let days = (1..=31_i8).filter(|day| self.month_days & (1 << day) != 0);
        let last_days = (1..=31_i8).filter(|day| self.last_days & (1 << day) != 0);
        write_list(f, "BYMONTHDAY", days.chain(last_days.map(|day| -day)))?;
        let plain = WEEKDAYS
            .iter()
            .filter(|(_, day)| self.weekdays & (1 << day.to_monday_zero_offset()) != 0)
            .map(|(name, _)| (*name).to_owned());
        let nth = self.nth_weekdays.iter().map(|(nth, day)| format!("{nth}{}", weekday_name(*day)));
        write_list(f, "BYDAY", plain.chain(nth))?;
        write_list(f, "BYSETPOS", self.positions.iter())?;
        if self.week_start != Weekday::Monday {
            write!(f, ";WKST={}", weekday_name(self.week_start))?;
        }
        match self.end {
            End::Never => Ok(()),
            End::Count(count) => write!(f, ";COUNT={count}"),
            End::Local(last) => write!(f, ";UNTIL={}", last.strftime("%Y%m%dT%H%M%S")),
            End::Utc(last) => {
                write!(f, ";UNTIL={}", Zone::utc().local(last).strftime("%Y%m%dT%H%M%SZ"))
            }
        }
    }
}

fn write_list(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    values: impl Iterator<Item = impl fmt::Display>,
) -> fmt::Result {
    for (index, value) in values.enumerate() {
        match index {
            0 => write!(f, ";{name}={value}")?,
            _ => write!(f, ",{value}")?,
        }
    }
    Ok(())
}

fn weekday_name(day: Weekday) -> &'static str {
    WEEKDAYS[usize::from(day.to_monday_zero_offset().unsigned_abs())].0
}

impl fmt::Debug for Rrule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

stored_as_text!(Rrule);
