//! The calendar: when something that happens once or repeatedly at local times
//! begins and ends. Durations are elapsed time: 90 minutes are 90 minutes on the
//! night of a clock change, too. Everything here jumps to the time of interest;
//! nothing is computed from the first occurrence on.

pub mod cron;
pub mod hours;
mod occurrence;
pub mod oncalendar;
pub mod rrule;
pub mod zone;

use jiff::civil::{DateTime, date};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::time::Duration;

use crate::Invalid;
use crate::time::Millis;
use cron::Cron;
use rrule::Rrule;
use zone::{Zone, date_of, day_number, local_millis, utc_date};

pub use jiff::civil::Date;

/// Nothing is computed before or after these dates.
const EARLIEST: Date = date(1970, 1, 1);
const LATEST: Date = date(2299, 12, 31);
/// The years in which a schedule may start.
const START_YEARS: std::ops::RangeInclusive<i16> = 2000..=2199;

const MIN_LENGTH: Duration = Duration::from_secs(60);
const MAX_RECURRING_LENGTH: Duration = Duration::from_secs(7 * 86_400);
const MAX_SINGLE_LENGTH: Duration = Duration::from_secs(366 * 86_400);
const MAX_EXCEPTIONS: usize = 366;
/// Each beginning and end is recorded for every monitor of a window.
const MAX_STARTS_PER_DAY: u32 = 48;

const DAY: Duration = Duration::from_secs(86_400);
/// A rule must have an occurrence within this time.
const MUST_HAPPEN_WITHIN: Duration = Duration::from_secs(5 * 366 * 86_400);
/// How far the next occurrence is searched for.
const HORIZON: Duration = Duration::from_secs(50 * 366 * 86_400);
/// Occurrences that follow each other without a gap are one, up to this length.
const MAX_MERGED: Duration = Duration::from_secs(32 * 86_400);

/// The end of a span that has none yet.
pub const FOREVER: Millis = Millis(i64::MAX);

/// A span of time, `from` inclusive, `to` exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub from: Millis,
    /// `FOREVER` when it has no end yet.
    pub to: Millis,
}

impl Span {
    pub fn contains(&self, at: Millis) -> bool {
        self.from <= at && at < self.to
    }

    /// Its end; `None` when it has none yet.
    pub fn end(&self) -> Option<Millis> {
        (self.to != FOREVER).then_some(self.to)
    }
}

/// When something happens: once, or by a rule, each time for the same duration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Stored", try_from = "Stored")]
pub struct Schedule {
    starts: Start,
    zone: Zone,
    /// `None`: until it is ended.
    length: Option<Duration>,
    rule: Rule,
    /// Local dates on which it does not happen, in order.
    except: Vec<Date>,
}

/// The first start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Local(DateTime),
    Instant(Millis),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    Once,
    Rrule(Rrule),
    Cron(Cron),
}

/// The field of a schedule that is invalid, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSchedule {
    pub field: &'static str,
    pub reason: Invalid,
}

impl InvalidSchedule {
    fn new(field: &'static str, reason: impl Into<String>) -> Self {
        Self { field, reason: Invalid::new(reason) }
    }
}

impl Start {
    /// `2026-03-29T02:30`, a local time, or `2026-03-29T00:30:00Z`, an instant.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let invalid =
            || Invalid::new("must be a time such as 2026-03-29T02:30, or one with an offset or Z");
        if let Some(at) = Millis::parse(text) {
            return Ok(Self::Instant(at));
        }
        // A time without a zone; a text with one that is not a valid instant is not.
        let is_plain = text.len() <= 19 && !text.contains(['Z', 'z', '+', '[']);
        let local = text.parse::<DateTime>().ok().filter(|_| is_plain && text.contains('T'));
        local.map(Self::Local).ok_or_else(invalid)
    }

    pub fn instant(self, zone: &Zone) -> Millis {
        match self {
            Self::Local(local) => zone.instant(local),
            Self::Instant(at) => at,
        }
    }

    pub fn local(self, zone: &Zone) -> DateTime {
        match self {
            Self::Local(local) => local,
            Self::Instant(at) => zone.local(at),
        }
    }
}

impl Schedule {
    pub fn new(
        starts: Start,
        zone: Zone,
        length: Option<Duration>,
        rule: Rule,
        mut except: Vec<Date>,
    ) -> Result<Self, InvalidSchedule> {
        let local = starts.local(&zone);
        if !START_YEARS.contains(&local.year()) {
            return Err(InvalidSchedule::new(
                "starts",
                format!("must be in the years {} to {}", START_YEARS.start(), START_YEARS.end()),
            ));
        }
        let is_recurring = rule != Rule::Once;
        let longest = if is_recurring { MAX_RECURRING_LENGTH } else { MAX_SINGLE_LENGTH };
        match length {
            None if is_recurring => {
                return Err(InvalidSchedule::new("duration", "is required with a rule"));
            }
            Some(length) if !(MIN_LENGTH..=longest).contains(&length) => {
                return Err(InvalidSchedule::new(
                    "duration",
                    format!(
                        "must be from {} to {} seconds",
                        MIN_LENGTH.as_secs(),
                        longest.as_secs()
                    ),
                ));
            }
            _ => {}
        }
        if except.len() > MAX_EXCEPTIONS {
            return Err(InvalidSchedule::new(
                "except",
                format!("must be at most {MAX_EXCEPTIONS} dates"),
            ));
        }
        except.sort_unstable();
        except.dedup();
        // A rule repeats a local time.
        let starts = if is_recurring { Start::Local(local) } else { starts };
        let rule = match rule {
            Rule::Rrule(rrule) => Rule::Rrule(rrule.with_count_as_end(local)),
            Rule::Cron(cron) if cron.starts_per_day() > MAX_STARTS_PER_DAY => {
                return Err(InvalidSchedule::new(
                    "cron",
                    format!("must start at most {MAX_STARTS_PER_DAY} times a day"),
                ));
            }
            other => other,
        };
        Ok(Self { starts, zone, length, rule, except })
    }

    /// Rejects a rule that does not happen in the next five years.
    pub fn must_happen(&self, now: Millis) -> Result<(), InvalidSchedule> {
        let field = match self.rule {
            Rule::Once => return Ok(()),
            Rule::Rrule(_) => "rrule",
            Rule::Cron(_) => "cron",
        };
        let until = now.after(MUST_HAPPEN_WITHIN);
        if self.at(now).is_some() || self.next_start_until(now, until).is_some() {
            return Ok(());
        }
        Err(InvalidSchedule::new(field, "never happens in the next five years"))
    }

    pub fn starts(&self) -> Start {
        self.starts
    }

    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    pub fn length(&self) -> Option<Duration> {
        self.length
    }

    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    pub fn except(&self) -> &[Date] {
        &self.except
    }

    /// The occurrences that overlap a range, in order. Those that overlap or follow
    /// each other without a gap are one; the first and last one then may be longer
    /// than shown.
    pub fn occurrences(&self, from: Millis, to: Millis) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for start in self.starts_between(self.back(from), to) {
            let span = self.span(start);
            match spans.last_mut() {
                Some(last) if span.from <= last.to => last.to = last.to.max(span.to),
                _ => spans.push(span),
            }
        }
        spans.retain(|span| span.to > from);
        spans
    }

    /// The occurrence at a time. Those that follow without a gap belong to it, up to
    /// a month ahead.
    pub fn at(&self, now: Millis) -> Option<Span> {
        let after_now = Millis(now.0.saturating_add(1));
        let starts = self.starts_between(self.back(now), after_now);
        let mut span = Span { from: *starts.first()?, to: self.span(*starts.last()?).to };
        if self.rule == Rule::Once {
            return Some(span);
        }
        let limit = now.after(MAX_MERGED);
        while span.to < limit {
            let after_end = Millis(span.to.0.saturating_add(1));
            let following = self.starts_between(self.back(span.to), after_end);
            match following.last().map(|start| self.span(*start).to) {
                Some(to) if to > span.to => span.to = to,
                _ => break,
            }
        }
        Some(Span { to: span.to.min(limit), ..span })
    }

    /// The first start after a time.
    pub fn next_start(&self, after: Millis) -> Option<Millis> {
        let first = self.starts.instant(&self.zone);
        self.next_start_until(after, after.max(first).after(HORIZON))
    }

    /// When it begins or ends next. At an end that is reported, another occurrence
    /// may follow without a gap.
    pub fn next_change(&self, now: Millis) -> Option<Millis> {
        match self.at(now) {
            Some(span) => span.end(),
            None => self.next_start(now),
        }
    }

    /// The next occurrences, including the one at that time.
    pub fn upcoming(&self, now: Millis, count: usize) -> Vec<Span> {
        let mut found: Vec<Span> = Vec::new();
        let mut next = self.at(now).or_else(|| self.at(self.next_start(now)?));
        while let Some(span) = next.filter(|_| found.len() < count) {
            found.push(span);
            // If another one follows without a gap even a month later, it never ends.
            let end = span.end().filter(|end| self.at(*end).is_none());
            next = end.and_then(|end| self.at(self.next_start(end)?));
        }
        found
    }

    /// How long before a time an occurrence that contains it may have started,
    /// exclusive.
    fn back(&self, at: Millis) -> Millis {
        match self.length {
            Some(length) => Millis(at.before(length).0.saturating_add(1)),
            None => Millis(i64::MIN),
        }
    }

    fn span(&self, start: Millis) -> Span {
        Span { from: start, to: self.length.map_or(FOREVER, |length| start.after(length)) }
    }

    fn next_start_until(&self, after: Millis, until: Millis) -> Option<Millis> {
        let next = Millis(after.0.saturating_add(1));
        if self.rule == Rule::Once {
            return self.starts_between(next, until).first().copied();
        }
        // Nothing happens before the first start; a gap may move one by a day.
        let first = next.max(self.starts.instant(&self.zone).before(2 * DAY));
        let (mut from, mut step) = (first, 8 * DAY);
        while from < until {
            let to = from.after(step).min(until);
            if let Some(start) = self.starts_between(from, to).first() {
                return Some(*start);
            }
            if self.is_over(to) {
                return None;
            }
            (from, step) = (to, (step * 4).min(366 * DAY));
        }
        None
    }

    /// Whether no occurrence starts after a time.
    fn is_over(&self, at: Millis) -> bool {
        let date = utc_date(at.before(2 * DAY));
        match &self.rule {
            Rule::Once => at > self.starts.instant(&self.zone),
            Rule::Rrule(rrule) => {
                date >= LATEST || rrule.last_date(&self.zone).is_some_and(|last| date > last)
            }
            Rule::Cron(_) => date >= LATEST,
        }
    }

    /// The starts in a range, `from` inclusive and `to` exclusive, in order.
    fn starts_between(&self, from: Millis, to: Millis) -> Vec<Millis> {
        let is_within = |at: &Millis| from <= *at && *at < to;
        let mut starts: Vec<Millis> = Vec::new();
        if self.rule == Rule::Once {
            let date = self.starts.local(&self.zone).date();
            let start = Some(self.starts.instant(&self.zone));
            let is_exception = self.except.binary_search(&date).is_ok();
            starts.extend(start.filter(is_within).filter(|_| !is_exception));
            return starts;
        }
        // Local dates differ from those in UTC by up to a day, and a skipped day by
        // another.
        let first = date_of(day_number(utc_date(from)) - 2);
        let last = date_of(day_number(utc_date(to)) + 2);
        let local = self.starts.local(&self.zone);
        match &self.rule {
            Rule::Once => {}
            Rule::Rrule(rrule) => rrule.visit(local, first, last, |date| {
                if self.except.binary_search(&date).is_err() {
                    let start = date.to_datetime(local.time());
                    let at = self.zone.instant(start);
                    if is_within(&at) && rrule.includes(start, at) {
                        starts.push(at);
                    }
                }
                ControlFlow::Continue(())
            }),
            Rule::Cron(cron) => {
                let first = first.max(local.date());
                for date in (day_number(first)..=day_number(last)).map(date_of) {
                    if cron.is_on(date) && self.except.binary_search(&date).is_err() {
                        let of_day = cron_starts(cron, date, local, &self.zone);
                        starts.extend(of_day.filter(is_within));
                    }
                }
            }
        }
        // A start in a gap is moved behind later ones, or onto another.
        starts.sort_unstable();
        starts.dedup();
        starts
    }
}

/// The starts of a day, not before the first one.
fn cron_starts<'a>(
    cron: &'a Cron,
    date: Date,
    first: DateTime,
    zone: &'a Zone,
) -> impl Iterator<Item = Millis> + 'a {
    let offset = zone.offset_of_day(date);
    let starts = cron.times().map(move |(hour, minute)| date.at(hour, minute, 0, 0));
    starts.filter(move |start| *start >= first).map(move |start| match offset {
        Some(offset) => Millis(local_millis(start) - offset),
        None => zone.instant(start),
    })
}

/// A local date such as `2026-12-27`.
pub fn parse_date(text: &str) -> Result<Date, Invalid> {
    let date = text.parse().ok().filter(|_| text.len() == 10);
    date.ok_or_else(|| Invalid::new("must be dates such as 2026-12-27"))
}

/// A schedule as it is stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// Local, unless `at` is given.
    starts: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
    time_zone: String,
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    duration: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rrule: Option<Rrule>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cron: Option<Cron>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    except: Vec<String>,
}

impl From<Schedule> for Stored {
    fn from(schedule: Schedule) -> Self {
        let Schedule { starts, zone, length, rule, except } = schedule;
        let (rrule, cron) = match rule {
            Rule::Once => (None, None),
            Rule::Rrule(rrule) => (Some(rrule), None),
            Rule::Cron(cron) => (None, Some(cron)),
        };
        Self {
            starts: starts.local(&zone).to_string(),
            at: match starts {
                Start::Local(_) => None,
                Start::Instant(at) => Some(at.0),
            },
            time_zone: zone.name().to_owned(),
            duration: length.map(|length| length.as_secs()),
            rrule,
            cron,
            except: except.iter().map(Date::to_string).collect(),
        }
    }
}

impl TryFrom<Stored> for Schedule {
    type Error = Invalid;

    fn try_from(stored: Stored) -> Result<Self, Invalid> {
        let rule = match (stored.rrule, stored.cron) {
            (Some(rrule), _) => Rule::Rrule(rrule),
            (None, Some(cron)) => Rule::Cron(cron),
            (None, None) => Rule::Once,
        };
        let starts = match stored.at {
            Some(at) => Start::Instant(Millis(at)),
            None => Start::parse(&stored.starts)?,
        };
        let except: Result<_, _> = stored.except.iter().map(|text| parse_date(text)).collect();
        let length = stored.duration.map(Duration::from_secs);
        Self::new(starts, Zone::stored(&stored.time_zone), length, rule, except?)
            .map_err(|invalid| invalid.reason)
    }
}

#[cfg(test)]
mod tests;
