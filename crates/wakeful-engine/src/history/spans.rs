//! The parts of a span: roll-ups of fortnights, days and hours, and single heartbeats at
//! its ends and where they are not compacted yet. Where single heartbeats have been
//! deleted, the span is extended to the whole hour or day that is still stored, and
//! reports its new limits.

use futures_util::future::BoxFuture;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;
use wakeful_core::history::rollup::{Detail, Distribution, LastHeartbeat, Rollup};
use wakeful_core::history::{DAY, Entry, HOUR, start_of};
use wakeful_core::time::Millis;
use wakeful_store::{HistoryExtent, HistoryReader};

use super::cache::{RollupCache, RollupSpan};
use crate::Result;

pub(super) struct SpanParts {
    pub(super) from: Millis,
    pub(super) to: Millis,
    /// The last heartbeat before the span.
    pub(super) before: Option<LastHeartbeat>,
    /// In order; none extends beyond the span.
    pub(super) rollups: Vec<Rollup>,
    /// The distribution of the phases on the days that the span touches.
    phases: [Distribution; 5],
}

/// Reads one monitor's history for one request.
pub(super) struct SpanReader<'a> {
    pub(super) past: &'a HistoryReader<'a>,
    now: Millis,
    extent: HistoryExtent,
    cache: RollupCache<'a>,
}

/// The heartbeats of a span that are not compacted yet.
struct RecentBeats {
    /// After everything that is compacted, in order.
    new: Vec<Entry>,
    /// The days of those that arrived late: their stored roll-ups are incomplete, so the
    /// statistics have to be computed from heartbeats.
    late: BTreeSet<Millis>,
}

/// How often statistics are computed again because heartbeats were compacted meanwhile.
const MAX_ATTEMPTS: u32 = 3;

/// Computes statistics of a history, which is read in several steps. When heartbeats were
/// compacted between two of them, some would count twice, so everything is computed again.
/// `depth` applies to the days that spans consist of.
pub(super) async fn read_consistently<'a, T>(
    past: &'a HistoryReader<'a>,
    now: Millis,
    depth: Detail,
    compute: impl for<'r> Fn(&'r mut SpanReader<'a>) -> BoxFuture<'r, Result<T>>,
) -> Result<T> {
    let mut attempts = 1;
    loop {
        let mut reader = SpanReader::new(past, now, depth).await?;
        let result = compute(&mut reader).await?;
        if attempts == MAX_ATTEMPTS || past.compactions().await? == reader.extent.compactions {
            return Ok(result);
        }
        attempts += 1;
    }
}

impl<'a> SpanReader<'a> {
    async fn new(past: &'a HistoryReader<'a>, now: Millis, depth: Detail) -> Result<Self> {
        let extent = past.extent().await?;
        Ok(Self { past, now, extent, cache: RollupCache::new(past, depth) })
    }

    /// The span by fortnights and days, exact at its ends as far as heartbeats are stored.
    pub(super) async fn by_days(&mut self, from: Millis, to: Millis) -> Result<SpanParts> {
        let (to, until) = self.end(to);
        let recent = self.recent(from, until).await?;
        let known = self.rollups_within(from, until, &recent.late).await?;
        let new = Rollup::of(&recent.new);
        let phases = phases(known.iter().map(|piece| &piece.rollup).chain(&new));
        let mut span_parts = SpanParts { from, to, before: None, rollups: Vec::new(), phases };
        let mut parts: BTreeMap<Millis, Option<RollupSpan>> =
            known.into_iter().map(|piece| (piece.start, Some(piece))).collect();
        parts.extend(recent.late.iter().map(|day| (*day, None)));
        for (start, part) in parts {
            let is_whole = |end: Millis| from <= start && (end <= until || self.is_open(until));
            match part {
                None => {
                    let end = start.after(DAY).min(until);
                    let part = self.compacted_beats(start.max(from), end).await?;
                    span_parts.rollups.extend(Rollup::of(&part));
                }
                Some(part) if is_whole(part.end) => span_parts.rollups.push(part.rollup),
                Some(day) => self.by_hours(day, from..until, &mut span_parts).await?,
            }
        }
        span_parts.rollups.extend(new);
        span_parts.before = self.cache.last_before(span_parts.from).await?;
        Ok(span_parts)
    }

    /// The days and fortnights that a span touches, without fortnights with late
    /// heartbeats.
    async fn rollups_within(
        &mut self,
        from: Millis,
        until: Millis,
        late: &BTreeSet<Millis>,
    ) -> Result<Vec<RollupSpan>> {
        let Some(first) = self.extent.first_day(from) else { return Ok(Vec::new()) };
        let refused = |start: Millis, end: Millis| {
            // The first day may be partly outside the span, and is then needed on its own.
            start < from || late.range(start..end).next().is_some()
        };
        self.cache.rollups_within(first, until, refused).await
    }

    /// The part of a day within a span.
    async fn by_hours(
        &mut self,
        day: RollupSpan,
        span: Range<Millis>,
        span_parts: &mut SpanParts,
    ) -> Result<()> {
        let Range { start: from, end: until } = span;
        let hours = self.cache.hours(day.start).await?.to_vec();
        if hours.is_empty() {
            span_parts.widen(day.start, day.end, self.now);
            span_parts.rollups.push(day.rollup);
        }
        for hour in hours {
            let start = start_of(HOUR, hour.first);
            let end = start.after(HOUR);
            if end <= from || start >= until {
                continue;
            }
            if from <= start && (end <= until || self.is_open(until)) {
                span_parts.rollups.push(hour);
            } else if self.extent.has_heartbeats(start) {
                let part = self.compacted_beats(start.max(from), end.min(until)).await?;
                span_parts.rollups.extend(Rollup::of(&part));
            } else {
                span_parts.widen(start, end, self.now);
                span_parts.rollups.push(hour);
            }
        }
        Ok(())
    }

    /// The span in steps of hours or days; it must begin with a whole one.
    pub(super) async fn by_grain(
        &mut self,
        grain: Duration,
        from: Millis,
        to: Millis,
    ) -> Result<SpanParts> {
        let (to, until) = self.end(to);
        let recent = self.recent(from, until).await?;
        let first = start_of(DAY, from);
        let known = match grain {
            HOUR => self.past.hours(first, until).await?,
            _ => self.past.days(first, until, Detail::Means).await?,
        };
        let is_late = |rollup: &Rollup| recent.late.contains(&start_of(DAY, rollup.first));
        let within = |rollup: &Rollup| from <= rollup.first && rollup.first < until;
        let mut rollups: Vec<Rollup> =
            known.into_iter().filter(|rollup| within(rollup) && !is_late(rollup)).collect();
        for day in &recent.late {
            let part = self.compacted_beats((*day).max(from), day.after(DAY).min(until)).await?;
            rollups.extend(roll_up(&part, grain));
        }
        rollups.sort_by_key(|rollup| rollup.first);
        rollups.extend(roll_up(&recent.new, grain));
        let before = self.cache.last_before(from).await?;
        Ok(SpanParts { from, to, before, rollups, phases: Default::default() })
    }

    /// The span by single heartbeats, grouped into steps.
    pub(super) async fn by_heartbeats(
        &mut self,
        step: Duration,
        from: Millis,
        to: Millis,
    ) -> Result<SpanParts> {
        let (to, until) = self.end(to);
        let entries = self.past.heartbeats(from, until).await?;
        let before = self.cache.last_before(from).await?;
        let rollups = entries.chunk_by(|one, two| {
            let place =
                |entry: &Entry| (entry.heartbeat.at.0 - from.0).div_euclid(step.as_millis() as i64);
            place(one) == place(two)
        });
        let rollups = rollups.filter_map(Rollup::of).collect();
        Ok(SpanParts { from, to, before, rollups, phases: Default::default() })
    }

    /// The distribution of the phases. Hours do not contain it: a span of up to two days is
    /// read by heartbeats, a longer one by whole days.
    pub(super) async fn phases(&self, span_parts: &SpanParts) -> Result<[Distribution; 5]> {
        let SpanParts { from, to, .. } = *span_parts;
        if to.since(from) > DAY * 2 + HOUR || !self.extent.has_heartbeats(from) {
            return Ok(span_parts.phases.clone());
        }
        let (_, until) = self.end(to);
        Ok(phases(&Rollup::of(&self.past.heartbeats(from, until).await?)))
    }

    /// The end of a span, and the exclusive end of its heartbeats: one of the current
    /// millisecond counts.
    fn end(&self, to: Millis) -> (Millis, Millis) {
        if to < self.now { (to, to) } else { (self.now, Millis(self.now.0 + 1)) }
    }

    fn is_open(&self, until: Millis) -> bool {
        until > self.now
    }

    pub(super) fn extent(&self) -> &HistoryExtent {
        &self.extent
    }

    /// The beginning of the last day that was compacted. What is before it stays the same as long
    /// as the extent does; `None` if heartbeats of that time are still to be compacted.
    pub(super) async fn settled_until(&mut self, from: Millis) -> Result<Option<Millis>> {
        let Some(compacted) = self.extent.compacted_until else { return Ok(None) };
        let settled = start_of(DAY, compacted.min(self.now));
        let (_, until) = self.end(self.now);
        let recent = self.cache.recent(from.min(settled), until).await?;
        let is_late = recent.first().is_some_and(|entry| entry.heartbeat.at < settled);
        Ok((!is_late).then_some(settled))
    }

    async fn recent(&mut self, from: Millis, to: Millis) -> Result<RecentBeats> {
        let mut new = self.cache.recent(from, to).await?;
        let compacted = self.extent.compacted_until.unwrap_or(Millis(i64::MIN));
        let behind = new.partition_point(|entry| entry.heartbeat.at <= compacted);
        let late = new.drain(..behind).map(|entry| start_of(DAY, entry.heartbeat.at)).collect();
        Ok(RecentBeats { new, late })
    }

    /// The heartbeats of a span up to the last compacted one, late ones included.
    async fn compacted_beats(&self, from: Millis, to: Millis) -> Result<Vec<Entry>> {
        let compacted = self.extent.compacted_until.unwrap_or(Millis(i64::MIN));
        let mut entries = self.past.heartbeats(from, to).await?;
        entries.retain(|entry| entry.heartbeat.at <= compacted);
        Ok(entries)
    }
}

impl SpanParts {
    fn widen(&mut self, from: Millis, to: Millis, now: Millis) {
        self.from = self.from.min(from);
        self.to = self.to.max(to.min(now));
    }
}

fn phases<'a>(rollups: impl IntoIterator<Item = &'a Rollup>) -> [Distribution; 5] {
    let mut phases: [Distribution; 5] = Default::default();
    for rollup in rollups {
        for (ours, theirs) in phases.iter_mut().zip(&rollup.times.phases) {
            ours.merge(theirs);
        }
    }
    phases
}

/// The roll-ups of the heartbeats of each hour or day.
fn roll_up(entries: &[Entry], grain: Duration) -> impl Iterator<Item = Rollup> {
    let same = move |one: &Entry, two: &Entry| {
        start_of(grain, one.heartbeat.at) == start_of(grain, two.heartbeat.at)
    };
    entries.chunk_by(same).filter_map(Rollup::of)
}
