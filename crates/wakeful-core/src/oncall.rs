//! On-call schedules: who is on call at a time. Layers take turns at local times; later layers
//! take precedence over earlier ones, and overrides over all layers. `who` and `shifts` are two
//! views of the same function.

mod audited;

use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::Invalid;
use crate::calendar::hours::{self, DailyHours};
use crate::calendar::zone::{Zone, date_of, day_number};
use crate::calendar::{FOREVER, Span};
use crate::id::{NotifierId, OverrideId, ScheduleId, TeamId, UserId};
use crate::named_enum;
use crate::stored_as_text::stored_as_text;
use crate::time::Millis;

/// The most schedules of a team.
pub const MAX_SCHEDULES: usize = 50;
pub const MAX_LAYERS: usize = 10;
/// The most users of a layer.
pub const MAX_USERS: usize = 50;
/// The most turns of a unit that one user takes.
pub const MAX_EVERY: u32 = 52;
/// The most overrides of a schedule that are not over.
pub const MAX_OVERRIDES: usize = 1_000;
/// The longest override, and the longest range of shifts that is shown.
pub const MAX_RANGE: Duration = Duration::from_secs(93 * 86_400);
/// The years in which a layer may start.
const START_YEARS: std::ops::RangeInclusive<i16> = 2000..=2199;
/// How far the next change is searched for.
const HORIZON: Duration = Duration::from_secs(370 * 86_400);
const DAY: Duration = Duration::from_secs(86_400);

/// Who is on call when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnCallSchedule {
    pub id: ScheduleId,
    pub team: TeamId,
    pub name: String,
    pub zone: Zone,
    /// Later ones take precedence.
    pub layers: Vec<Layer>,
    pub announce: Handover,
    pub created: Millis,
    pub modified: Millis,
}

/// Who is notified when somebody else is on call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Handover {
    pub notifiers: Vec<NotifierId>,
    /// The two people themselves.
    pub people: bool,
}

impl Handover {
    pub fn is_empty(&self) -> bool {
        self.notifiers.is_empty() && !self.people
    }
}

/// Users who take turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredLayer", into = "StoredLayer")]
pub struct Layer {
    pub name: String,
    /// In the order of their turns; empty: a gap.
    pub users: Vec<UserId>,
    /// The local time of the first handover, and of all others.
    pub starts: DateTime,
    /// How many units a turn lasts.
    pub every: u32,
    pub unit: Unit,
    /// Limits it to these hours; empty: always.
    pub hours: Vec<DailyHours>,
}

named_enum! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Unit {
        Day = "day",
        #[default]
        Week = "week",
    }
}

impl Unit {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let found = Self::ALL.iter().copied().find(|unit| unit.as_str() == text);
        found.ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|unit| unit.as_str())))
    }

    fn days(self) -> i64 {
        match self {
            Self::Day => 1,
            Self::Week => 7,
        }
    }
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

stored_as_text!(Unit);

/// Somebody who takes over for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    pub id: OverrideId,
    pub user: UserId,
    pub span: Span,
    /// Of two at the same time, the newer one counts.
    pub created: Millis,
}

/// A time in which the same user is on call for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shift {
    pub span: Span,
    /// `None`: nobody is on call.
    pub duty: Option<Duty>,
}

/// The user on call, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duty {
    pub user: UserId,
    pub by: DutySource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DutySource {
    /// The place of the layer.
    Layer(usize),
    Override(OverrideId),
}

impl Shift {
    pub fn user(&self) -> Option<UserId> {
        self.duty.map(|duty| duty.user)
    }
}

impl Layer {
    pub fn new(
        name: String,
        users: Vec<UserId>,
        starts: DateTime,
        every: u32,
        unit: Unit,
        hours: Vec<DailyHours>,
    ) -> Result<Self, (&'static str, Invalid)> {
        if users.len() > MAX_USERS {
            return Err(("users", Invalid::new(format!("must be at most {MAX_USERS} users"))));
        }
        if !START_YEARS.contains(&starts.year()) {
            let (first, last) = (START_YEARS.start(), START_YEARS.end());
            let why = format!("must be in the years {first} to {last}");
            return Err(("starts", Invalid::new(why)));
        }
        if !(1..=MAX_EVERY).contains(&every) {
            return Err(("every", Invalid::new(format!("must be from 1 to {MAX_EVERY}"))));
        }
        if hours.len() > hours::MAX_SPANS {
            let why = format!("must be at most {} spans", hours::MAX_SPANS);
            return Err(("hours", Invalid::new(why)));
        }
        Ok(Self { name, users, starts, every, unit, hours })
    }

    fn days_per_turn(&self) -> i64 {
        self.unit.days() * i64::from(self.every)
    }

    /// The local time at which a turn begins.
    fn handover(&self, turn: i64) -> DateTime {
        let days = day_number(self.starts.date()).saturating_add(turn * self.days_per_turn());
        date_of(days).to_datetime(self.starts.time())
    }

    /// The turn at a time; `None` before the first one.
    fn turn(&self, zone: &Zone, at: Millis) -> Option<i64> {
        let days = day_number(zone.local(at).date()) - day_number(self.starts.date());
        let about = days.div_euclid(self.days_per_turn());
        // A clock change may move a handover to the next day.
        let turns = (about - 2..=about + 1).rev();
        turns.into_iter().find(|turn| *turn >= 0 && zone.instant(self.handover(*turn)) <= at)
    }

    fn user(&self, zone: &Zone, at: Millis) -> Option<UserId> {
        if self.users.is_empty() || !self.is_within_hours(zone, at) {
            return None;
        }
        let count = i64::try_from(self.users.len()).ok()?;
        let place = usize::try_from(self.turn(zone, at)?.rem_euclid(count)).ok()?;
        self.users.get(place).copied()
    }

    fn is_within_hours(&self, zone: &Zone, at: Millis) -> bool {
        self.hours.is_empty() || hours::contains(&self.hours, zone, at)
    }

    /// Its turns and hours in a range.
    fn timeline(&self, zone: &Zone, range: Span) -> Timeline {
        let first = self.turn(zone, range.from).unwrap_or(0);
        let last = self.turn(zone, range.to).filter(|_| !self.users.is_empty());
        let turns = last.map(|last| first..=last).into_iter().flatten();
        let count = i64::try_from(self.users.len()).unwrap_or(1).max(1);
        let turns = turns.filter_map(|turn| {
            let place = usize::try_from(turn.rem_euclid(count)).ok()?;
            Some((zone.instant(self.handover(turn)), *self.users.get(place)?))
        });
        let turns: Vec<_> = turns.collect();
        if turns.is_empty() || self.hours.is_empty() {
            return Timeline { steps: turns.len(), turns, hours: None };
        }
        let days = range.to.since(range.from).as_secs() / DAY.as_secs();
        let steps = turns.len() + self.hours.len() * (days as usize + 4);
        let hours = hours::spans(&self.hours, zone, range.from, range.to);
        Timeline { turns, hours: Some(hours), steps }
    }

    /// The layer without a user: the user on call stays until the next handover, or is the next
    /// in turn if that was the deleted one; then the others continue in their order.
    #[must_use]
    pub fn without_user(&self, user: UserId, zone: &Zone, now: Millis) -> Self {
        if !self.users.contains(&user) {
            return self.clone();
        }
        let count = i64::try_from(self.users.len()).unwrap_or(1).max(1);
        let turn = self.turn(zone, now).unwrap_or(0);
        let place = usize::try_from(turn.rem_euclid(count)).unwrap_or(0);
        let (earlier, later) = self.users.split_at(place);
        let users = later.iter().chain(earlier).copied().filter(|one| *one != user).collect();
        Self { users, starts: self.handover(turn), ..self.clone() }
    }
}

/// The turns of a layer in a range, computed once for many times.
struct Timeline {
    /// When each turn begins.
    turns: Vec<(Millis, UserId)>,
    /// `None`: always.
    hours: Option<Vec<Span>>,
    /// How many turns and hours were computed.
    steps: usize,
}

impl Timeline {
    /// The user at a time in the range, and a later time until which that is so.
    fn user(&self, at: Millis) -> (Option<UserId>, Millis) {
        let begun = self.turns.partition_point(|(from, _)| *from <= at);
        let next = self.turns.get(begun).map_or(FOREVER, |(from, _)| *from);
        let Some((_, user)) = self.turns[..begun].last() else { return (None, next) };
        let Some(hours) = &self.hours else { return (Some(*user), next) };
        let begun = hours.partition_point(|span| span.from <= at);
        match hours[..begun].last().filter(|span| span.contains(at)) {
            Some(span) => (Some(*user), next.min(span.to)),
            None => (None, hours.get(begun).map_or(FOREVER, |span| span.from)),
        }
    }
}

/// The shifts of a range while they are computed: those that take precedence first, and others
/// only in the time that they leave.
struct Sweep {
    shifts: Vec<Shift>,
    /// The time that is left, in order.
    gaps: Vec<Span>,
    /// How much was computed.
    steps: usize,
}

impl Sweep {
    /// Adds the overrides that count, each from its start.
    fn add_overrides(&mut self, overrides: &[Override], range: Span) {
        let overlaps = |one: &&Override| one.span.from < range.to && range.from < one.span.to;
        let mut overrides: Vec<&Override> = overrides.iter().filter(overlaps).collect();
        overrides.sort_unstable_by_key(|one| one.span.from);
        self.steps += overrides.len();
        let mut later = overrides.into_iter().peekable();
        // The newest first.
        let mut begun: BinaryHeap<(Millis, OverrideId, UserId, Millis)> = BinaryHeap::new();
        self.fill(|at| {
            while let Some(one) = later.next_if(|one| one.span.from <= at) {
                begun.push((one.created, one.id, one.user, one.span.to));
            }
            while begun.peek().is_some_and(|(_, _, _, to)| *to <= at) {
                begun.pop();
            }
            let next = later.peek().map_or(FOREVER, |one| one.span.from);
            match begun.peek().copied() {
                Some((_, id, user, to)) => {
                    (Some(Duty { user, by: DutySource::Override(id) }), to.min(next))
                }
                None => (None, next),
            }
        });
    }

    /// Divides the time that is left. `duty` returns who is on call at a time, and a later time
    /// until which that is so.
    fn fill(&mut self, mut duty: impl FnMut(Millis) -> (Option<Duty>, Millis)) {
        for gap in std::mem::take(&mut self.gaps) {
            let mut from = gap.from;
            while from < gap.to {
                self.steps += 1;
                let (duty, until) = duty(from);
                let span = Span { from, to: until.min(gap.to) };
                match duty {
                    Some(_) => self.shifts.push(Shift { span, duty }),
                    None => self.gaps.push(span),
                }
                from = span.to;
            }
        }
    }

    /// All shifts in order, and the number of steps.
    fn finish(self) -> (Vec<Shift>, usize) {
        let Self { mut shifts, gaps, steps } = self;
        shifts.extend(gaps.into_iter().map(|span| Shift { span, duty: None }));
        shifts.sort_unstable_by_key(|shift| shift.span.from);
        shifts.dedup_by(|next, last| {
            let is_same = next.duty == last.duty;
            if is_same {
                last.span.to = next.span.to;
            }
            is_same
        });
        (shifts, steps)
    }
}

/// The override that counts at a time.
fn newest<'a>(overrides: impl Iterator<Item = &'a Override>, at: Millis) -> Option<Duty> {
    let valid = overrides.filter(|one| one.span.contains(at));
    let newest = valid.max_by_key(|one| (one.created, one.id))?;
    Some(Duty { user: newest.user, by: DutySource::Override(newest.id) })
}

impl OnCallSchedule {
    /// The user on call at a time, and why; `None`: nobody is.
    pub fn duty(&self, overrides: &[Override], at: Millis) -> Option<Duty> {
        if let Some(duty) = newest(overrides.iter(), at) {
            return Some(duty);
        }
        let layers = self.layers.iter().enumerate().rev();
        layers.into_iter().find_map(|(place, layer)| {
            let user = layer.user(&self.zone, at)?;
            Some(Duty { user, by: DutySource::Layer(place) })
        })
    }

    /// The user on call at a time.
    pub fn who(&self, overrides: &[Override], at: Millis) -> Option<UserId> {
        self.duty(overrides, at).map(|duty| duty.user)
    }

    /// Who is on call in a range: each instant belongs to one shift, and gaps are shifts without
    /// a user.
    pub fn shifts(&self, overrides: &[Override], from: Millis, to: Millis) -> Vec<Shift> {
        self.shifts_and_steps(overrides, from, to).0
    }

    /// The same, and how many steps it took.
    pub fn shifts_and_steps(
        &self,
        overrides: &[Override],
        from: Millis,
        to: Millis,
    ) -> (Vec<Shift>, usize) {
        let range = Span { from, to };
        let mut sweep = Sweep { shifts: Vec::new(), gaps: vec![range], steps: 0 };
        sweep.add_overrides(overrides, range);
        for (place, layer) in self.layers.iter().enumerate().rev() {
            let (Some(first), Some(last)) = (sweep.gaps.first(), sweep.gaps.last()) else { break };
            let timeline = layer.timeline(&self.zone, Span { from: first.from, to: last.to });
            sweep.steps += timeline.steps;
            sweep.fill(|at| {
                let (user, until) = timeline.user(at);
                (user.map(|user| Duty { user, by: DutySource::Layer(place) }), until)
            });
        }
        sweep.finish()
    }

    /// When another user, or nobody, is on call next.
    pub fn next_handover(&self, overrides: &[Override], now: Millis) -> Option<Millis> {
        self.next_handover_within(overrides, now, HORIZON)
    }

    /// The same, if it is earlier than so long after `now`.
    pub fn next_handover_within(
        &self,
        overrides: &[Override],
        now: Millis,
        within: Duration,
    ) -> Option<Millis> {
        let current = self.who(overrides, now);
        let end = now.after(within);
        let (mut from, mut length) = (now, DAY);
        while from < end {
            let to = from.after(length).min(end);
            let shifts = self.shifts(overrides, from, to);
            if let Some(next) = shifts.iter().find(|shift| shift.user() != current) {
                return Some(next.span.from);
            }
            (from, length) = (to, length * 4);
        }
        None
    }

    /// The schedule without a user who was deleted or has left the team.
    #[must_use]
    pub fn without_user(&self, user: UserId, now: Millis) -> Self {
        let layers =
            self.layers.iter().map(|one| one.without_user(user, &self.zone, now)).collect();
        Self { layers, ..self.clone() }
    }

    pub fn names_user(&self, user: UserId) -> bool {
        self.layers.iter().any(|layer| layer.users.contains(&user))
    }
}

/// A local time such as `2026-01-05T09:00`.
pub fn parse_local(text: &str) -> Result<DateTime, Invalid> {
    let is_plain = text.len() <= 19 && text.contains('T') && !text.contains(['Z', 'z', '+', '[']);
    let local = text.parse::<DateTime>().ok().filter(|_| is_plain);
    local.ok_or_else(|| Invalid::new("must be a local time such as 2026-01-05T09:00"))
}

/// The text of a local time.
pub fn local_text(local: DateTime) -> String {
    let format = if local.second() == 0 { "%Y-%m-%dT%H:%M" } else { "%Y-%m-%dT%H:%M:%S" };
    local.strftime(format).to_string()
}

/// A layer as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredLayer {
    name: String,
    users: Vec<UserId>,
    starts: String,
    every: u32,
    unit: Unit,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hours: Vec<DailyHours>,
}

impl From<Layer> for StoredLayer {
    fn from(layer: Layer) -> Self {
        let Layer { name, users, starts, every, unit, hours } = layer;
        Self { name, users, starts: local_text(starts), every, unit, hours }
    }
}

impl TryFrom<StoredLayer> for Layer {
    type Error = Invalid;

    fn try_from(stored: StoredLayer) -> Result<Self, Invalid> {
        let StoredLayer { name, users, starts, every, unit, hours } = stored;
        Self::new(name, users, parse_local(&starts)?, every, unit, hours).map_err(|(_, why)| why)
    }
}

#[cfg(test)]
mod tests;
