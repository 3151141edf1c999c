//! The part of a monitor's history that one request has read so far. Spans with the same
//! end share most of it: each row is read and decoded once.

use std::collections::BTreeMap;
use wakeful_core::history::rollup::{Detail, LastHeartbeat, Rollup};
use wakeful_core::history::{DAY, Entry, FORTNIGHT, start_of};
use wakeful_core::time::Millis;
use wakeful_store::HistoryReader;

use crate::Result;

pub(super) struct RollupCache<'a> {
    past: &'a HistoryReader<'a>,
    depth: Detail,
    recent: Option<CachedRecent>,
    fortnights: Option<CachedFortnights>,
    /// By their fortnight.
    days: BTreeMap<Millis, Vec<Rollup>>,
    /// By their day.
    hours: BTreeMap<Millis, Vec<Rollup>>,
}

struct CachedRecent {
    from: Millis,
    to: Millis,
    entries: Vec<Entry>,
    before: Option<LastHeartbeat>,
}

struct CachedFortnights {
    from: Millis,
    to: Millis,
    rollups: Vec<Rollup>,
}

/// A day or a fortnight with its roll-up.
pub(super) struct RollupSpan {
    pub(super) start: Millis,
    pub(super) end: Millis,
    pub(super) rollup: Rollup,
}

impl<'a> RollupCache<'a> {
    /// `depth` applies to days and fortnights.
    pub(super) fn new(past: &'a HistoryReader<'a>, depth: Detail) -> Self {
        let (recent, fortnights) = (None, None);
        Self { past, depth, recent, fortnights, days: BTreeMap::new(), hours: BTreeMap::new() }
    }

    /// The heartbeats of a span that are not compacted yet, in order.
    pub(super) async fn recent(&mut self, from: Millis, to: Millis) -> Result<Vec<Entry>> {
        let read = match self.recent.take() {
            Some(read) if read.from <= from && to <= read.to => read,
            _ => {
                let entries = self.past.recent(from, to).await?;
                let before = self.past.last_fresh_before(from).await?;
                CachedRecent { from, to, entries, before }
            }
        };
        let read = self.recent.insert(read);
        let within = |entry: &&Entry| from <= entry.heartbeat.at && entry.heartbeat.at < to;
        Ok(read.entries.iter().filter(within).cloned().collect())
    }

    /// The last heartbeat before a time, as far back as the history reaches.
    pub(super) async fn last_before(&mut self, at: Millis) -> Result<Option<LastHeartbeat>> {
        let recent = match &self.recent {
            Some(read) if read.from <= at && at <= read.to => {
                let entry = read.entries.iter().rev().find(|entry| entry.heartbeat.at < at);
                entry.map(LastHeartbeat::of).or(read.before)
            }
            _ => self.past.last_fresh_before(at).await?,
        };
        let past = self.past;
        let compacted =
            past.last_compacted_before(at, self.hours(start_of(DAY, at)).await?).await?;
        Ok(recent.into_iter().chain(compacted).max_by_key(|last| last.at))
    }

    /// The roll-ups of the hours of a day.
    pub(super) async fn hours(&mut self, day: Millis) -> Result<&[Rollup]> {
        if !self.hours.contains_key(&day) {
            self.hours.insert(day, self.past.hours(day, day.after(DAY)).await?);
        }
        Ok(&self.hours[&day])
    }

    /// The roll-ups of a span that begins with a day: the fortnights within it, except for
    /// the refused ones, and the days around them.
    pub(super) async fn rollups_within(
        &mut self,
        from: Millis,
        to: Millis,
        refused: impl Fn(Millis, Millis) -> bool,
    ) -> Result<Vec<RollupSpan>> {
        let mut known = Vec::new();
        let mut behind = from;
        for fortnight in self.fortnights(from, to).await? {
            if refused(fortnight.start, fortnight.end) {
                continue;
            }
            known.extend(self.days(behind, fortnight.start).await?);
            behind = fortnight.end;
            known.push(fortnight);
        }
        known.extend(self.days(behind, to).await?);
        Ok(known)
    }

    /// The fortnights within a span, as far as they are stored.
    async fn fortnights(&mut self, from: Millis, to: Millis) -> Result<Vec<RollupSpan>> {
        let read = match self.fortnights.take() {
            Some(read) if read.from <= from && to <= read.to => read,
            _ => CachedFortnights {
                from,
                to,
                rollups: self.past.fortnights(from, to, self.depth).await?,
            },
        };
        let read = self.fortnights.insert(read);
        let known = read.rollups.iter().map(|rollup| {
            let start = start_of(FORTNIGHT, rollup.first);
            (start, start.after(FORTNIGHT), rollup)
        });
        let within = known.filter(|(start, end, _)| from <= *start && *end <= to);
        let known = |(start, end, rollup): (_, _, &Rollup)| RollupSpan {
            start,
            end,
            rollup: rollup.clone(),
        };
        Ok(within.map(known).collect())
    }

    /// The days that begin within a span.
    async fn days(&mut self, from: Millis, to: Millis) -> Result<Vec<RollupSpan>> {
        self.read_days(from, to).await?;
        let slots = self.days.range(start_of(FORTNIGHT, from)..to.max(from));
        let days = slots.flat_map(|(_, days)| days).map(|rollup| {
            let start = start_of(DAY, rollup.first);
            (start, rollup)
        });
        let within = days.filter(|(start, _)| from <= *start && *start < to);
        let known = |(start, rollup): (Millis, &Rollup)| RollupSpan {
            start,
            end: start.after(DAY),
            rollup: rollup.clone(),
        };
        Ok(within.map(known).collect())
    }

    /// Reads the days of all fortnights that a span touches and that have not been read
    /// yet; consecutive ones in one query.
    async fn read_days(&mut self, from: Millis, to: Millis) -> Result<()> {
        let mut slot = start_of(FORTNIGHT, from);
        while slot < to {
            let begin = slot;
            while slot < to && !self.days.contains_key(&slot) {
                self.days.insert(slot, Vec::new());
                slot = slot.after(FORTNIGHT);
            }
            if begin < slot {
                for day in self.past.days(begin, slot, self.depth).await? {
                    self.days.entry(start_of(FORTNIGHT, day.first)).or_default().push(day);
                }
            } else {
                slot = slot.after(FORTNIGHT);
            }
        }
        Ok(())
    }
}
