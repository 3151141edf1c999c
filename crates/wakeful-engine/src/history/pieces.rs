//! What a span is made of: fortnights, days and hours where they are rolled up,
//! single heartbeats at its ends and where they are fresh. Where single
//! heartbeats are let go already, the span grows to the whole hour or day that
//! is still known, and says so.

use futures_util::future::BoxFuture;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use wakeful_core::history::rollup::{Depth, Last, Rollup, Spread};
use wakeful_core::history::{DAY, Entry, HOUR, start_of};
use wakeful_core::time::Millis;
use wakeful_store::{Extent, Past};

use super::shelf::{Known, Shelf};
use crate::Result;

pub(super) struct Pieces {
    pub(super) from: Millis,
    pub(super) to: Millis,
    /// The last heartbeat before the span.
    pub(super) before: Option<Last>,
    /// In order; none reaches over an end of the span.
    pub(super) rollups: Vec<Rollup>,
    /// How phases were spread on the days that the span touches.
    phases: [Spread; 5],
}

/// One monitor's past, as it is when somebody asks.
pub(super) struct Reader<'a> {
    pub(super) past: &'a Past<'a>,
    now: Millis,
    extent: Extent,
    shelf: Shelf<'a>,
}

/// The fresh heartbeats of a span.
struct Fresh {
    /// Behind everything that is folded, in order.
    new: Vec<Entry>,
    /// The days of those that came late: what they came to is to be counted
    /// from the heartbeats.
    late: BTreeSet<Millis>,
}

/// How often figures are made anew because something was folded meanwhile.
const TRIES: u32 = 3;

/// Figures of a past, which is read in several steps: when heartbeats were
/// folded between two of them, some would count twice, so they are made anew.
/// `depth` is that of the days that spans are made of.
pub(super) async fn figures_of<'a, T>(
    past: &'a Past<'a>,
    now: Millis,
    depth: Depth,
    make: impl for<'r> Fn(&'r mut Reader<'a>) -> BoxFuture<'r, Result<T>>,
) -> Result<T> {
    let mut tries = 1;
    loop {
        let mut reader = Reader::new(past, now, depth).await?;
        let made = make(&mut reader).await?;
        if tries == TRIES || past.folds().await? == reader.extent.folds {
            return Ok(made);
        }
        tries += 1;
    }
}

impl<'a> Reader<'a> {
    async fn new(past: &'a Past<'a>, now: Millis, depth: Depth) -> Result<Self> {
        let extent = past.extent().await?;
        Ok(Self { past, now, extent, shelf: Shelf::new(past, depth) })
    }

    /// The span by fortnights and days, exact at its ends as far as heartbeats
    /// are kept.
    pub(super) async fn by_days(&mut self, from: Millis, to: Millis) -> Result<Pieces> {
        let (to, until) = self.end(to);
        let fresh = self.fresh(from, until).await?;
        let known = self.known(from, until, &fresh.late).await?;
        let new = Rollup::of(&fresh.new);
        let phases = phases(known.iter().map(|piece| &piece.rollup).chain(&new));
        let mut pieces = Pieces { from, to, before: None, rollups: Vec::new(), phases };
        let mut parts: BTreeMap<Millis, Option<Known>> =
            known.into_iter().map(|piece| (piece.start, Some(piece))).collect();
        parts.extend(fresh.late.iter().map(|day| (*day, None)));
        for (start, part) in parts {
            let is_whole = |end: Millis| from <= start && (end <= until || self.is_open(until));
            match part {
                None => {
                    let end = start.after(DAY).min(until);
                    let part = self.folded_beats(start.max(from), end).await?;
                    pieces.rollups.extend(Rollup::of(&part));
                }
                Some(part) if is_whole(part.end) => pieces.rollups.push(part.rollup),
                Some(day) => self.by_hours(day, (from, until), &mut pieces).await?,
            }
        }
        pieces.rollups.extend(new);
        pieces.before = self.shelf.last_before(pieces.from).await?;
        Ok(pieces)
    }

    /// The days and fortnights that a span touches, without fortnights to which
    /// something came late.
    async fn known(
        &mut self,
        from: Millis,
        until: Millis,
        late: &BTreeSet<Millis>,
    ) -> Result<Vec<Known>> {
        let Some(first) = self.extent.first_day(from) else { return Ok(Vec::new()) };
        let refused = |start: Millis, end: Millis| {
            // The first day may be cut, and then speaks for itself.
            start < from || late.range(start..end).next().is_some()
        };
        self.shelf.known(first, until, refused).await
    }

    /// The part of a day that lies within a span.
    async fn by_hours(
        &mut self,
        day: Known,
        (from, until): (Millis, Millis),
        pieces: &mut Pieces,
    ) -> Result<()> {
        let hours = self.shelf.hours(day.start).await?.to_vec();
        if hours.is_empty() {
            pieces.widen(day.start, day.end, self.now);
            pieces.rollups.push(day.rollup);
        }
        for hour in hours {
            let start = start_of(HOUR, hour.first);
            let end = start.after(HOUR);
            if end <= from || start >= until {
                continue;
            }
            if from <= start && (end <= until || self.is_open(until)) {
                pieces.rollups.push(hour);
            } else if self.extent.has_heartbeats(start) {
                let part = self.folded_beats(start.max(from), end.min(until)).await?;
                pieces.rollups.extend(Rollup::of(&part));
            } else {
                pieces.widen(start, end, self.now);
                pieces.rollups.push(hour);
            }
        }
        Ok(())
    }

    /// The span cut into what fits steps of a grain; it must begin with one.
    pub(super) async fn by_grain(
        &mut self,
        grain: Duration,
        from: Millis,
        to: Millis,
    ) -> Result<Pieces> {
        let (to, until) = self.end(to);
        let fresh = self.fresh(from, until).await?;
        let first = start_of(DAY, from);
        let known = match grain {
            HOUR => self.past.hours(first, until).await?,
            _ => self.past.days(first, until, Depth::Means).await?,
        };
        let is_late = |rollup: &Rollup| fresh.late.contains(&start_of(DAY, rollup.first));
        let within = |rollup: &Rollup| from <= rollup.first && rollup.first < until;
        let mut rollups: Vec<Rollup> =
            known.into_iter().filter(|rollup| within(rollup) && !is_late(rollup)).collect();
        for day in &fresh.late {
            let part = self.folded_beats((*day).max(from), day.after(DAY).min(until)).await?;
            rollups.extend(cut(&part, grain));
        }
        rollups.sort_by_key(|rollup| rollup.first);
        rollups.extend(cut(&fresh.new, grain));
        let before = self.shelf.last_before(from).await?;
        Ok(Pieces { from, to, before, rollups, phases: Default::default() })
    }

    /// Single heartbeats, cut into steps.
    pub(super) async fn by_heartbeats(
        &mut self,
        step: Duration,
        from: Millis,
        to: Millis,
    ) -> Result<Pieces> {
        let (to, until) = self.end(to);
        let entries = self.past.heartbeats(from, until).await?;
        let before = self.shelf.last_before(from).await?;
        let rollups = entries.chunk_by(|one, two| {
            let place =
                |entry: &Entry| (entry.heartbeat.at.0 - from.0).div_euclid(step.as_millis() as i64);
            place(one) == place(two)
        });
        let rollups = rollups.filter_map(Rollup::of).collect();
        Ok(Pieces { from, to, before, rollups, phases: Default::default() })
    }

    /// How phases were spread. Hours do not keep that: a span of up to two days
    /// is read heartbeat by heartbeat, a longer one by whole days.
    pub(super) async fn phases(&self, pieces: &Pieces) -> Result<[Spread; 5]> {
        let Pieces { from, to, .. } = *pieces;
        if to.since(from) > DAY * 2 + HOUR || !self.extent.has_heartbeats(from) {
            return Ok(pieces.phases.clone());
        }
        let (_, until) = self.end(to);
        Ok(phases(&Rollup::of(&self.past.heartbeats(from, until).await?)))
    }

    /// Where a span ends, and before when its heartbeats are: one of this very
    /// millisecond counts.
    fn end(&self, to: Millis) -> (Millis, Millis) {
        match to < self.now {
            true => (to, to),
            false => (self.now, Millis(self.now.0 + 1)),
        }
    }

    fn is_open(&self, until: Millis) -> bool {
        until > self.now
    }

    pub(super) fn extent(&self) -> &Extent {
        &self.extent
    }

    async fn fresh(&mut self, from: Millis, to: Millis) -> Result<Fresh> {
        let mut new = self.shelf.fresh(from, to).await?;
        let folded = self.extent.folded.unwrap_or(Millis(i64::MIN));
        let behind = new.partition_point(|entry| entry.heartbeat.at <= folded);
        let late = new.drain(..behind).map(|entry| start_of(DAY, entry.heartbeat.at)).collect();
        Ok(Fresh { new, late })
    }

    /// The heartbeats of a span up to the last folded one, late ones included.
    async fn folded_beats(&self, from: Millis, to: Millis) -> Result<Vec<Entry>> {
        let folded = self.extent.folded.unwrap_or(Millis(i64::MIN));
        let mut entries = self.past.heartbeats(from, to).await?;
        entries.retain(|entry| entry.heartbeat.at <= folded);
        Ok(entries)
    }
}

impl Pieces {
    fn widen(&mut self, from: Millis, to: Millis, now: Millis) {
        self.from = self.from.min(from);
        self.to = self.to.max(to.min(now));
    }
}

fn phases<'a>(rollups: impl IntoIterator<Item = &'a Rollup>) -> [Spread; 5] {
    let mut phases: [Spread; 5] = Default::default();
    for rollup in rollups {
        for (ours, theirs) in phases.iter_mut().zip(&rollup.times.phases) {
            ours.merge(theirs);
        }
    }
    phases
}

/// What the heartbeats of each hour or day come to.
fn cut(entries: &[Entry], grain: Duration) -> impl Iterator<Item = Rollup> {
    let same = move |one: &Entry, two: &Entry| {
        start_of(grain, one.heartbeat.at) == start_of(grain, two.heartbeat.at)
    };
    entries.chunk_by(same).filter_map(Rollup::of)
}
