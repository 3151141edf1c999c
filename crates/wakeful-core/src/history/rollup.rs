//! Roll-ups: the heartbeats of an hour or a day, aggregated. A roll-up stores, for its
//! own heartbeats only, the count and duration of each status and the distribution of
//! load times. The gap between two roll-ups is attributed on merging, to the status of
//! the earlier one's last heartbeat, for as long as that is valid. A late heartbeat
//! therefore changes only its own hour and day.

mod bins;
mod codec;

pub(super) use codec::greatest_divisor;
pub use codec::{Detail, pack, unpack};

use super::sketch::Sketch;
use super::{Entry, HistoryStatus, PerStatus, micros, phase_durations};
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rollup {
    pub first: Millis,
    pub last: LastHeartbeat,
    pub checks: PerStatus,
    /// Milliseconds between the first and the last heartbeat.
    pub millis: PerStatus,
    pub times: LoadTimes,
}

/// The last heartbeat of a span: valid until the next one, or `valid_until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastHeartbeat {
    pub at: Millis,
    pub standing: HistoryStatus,
    pub valid_until: Millis,
}

impl LastHeartbeat {
    pub fn of(entry: &Entry) -> Self {
        Self { at: entry.heartbeat.at, standing: entry.standing, valid_until: entry.valid_until() }
    }

    /// How long it is valid between two times, in milliseconds.
    pub(super) fn covered_millis(&self, from: Millis, until: Millis) -> u64 {
        let (from, until) = (from.max(self.at), until.min(self.valid_until));
        until.0.saturating_sub(from.0).max(0).cast_unsigned()
    }
}

/// The load times of passing checks, in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadTimes {
    pub load: Distribution,
    pub shortest: u64,
    pub longest: u64,
    /// In the order resolve, connect, TLS, first byte, transfer.
    pub phases: [Distribution; 5],
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    pub count: u64,
    pub sum: u64,
    pub sketch: Sketch,
}

impl Distribution {
    fn add(&mut self, value: u64) {
        self.count += 1;
        self.sum = self.sum.saturating_add(value);
        self.sketch.add(value);
    }

    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.sketch.merge(&other.sketch);
    }

    /// The memory that it takes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.sketch.bytes()
    }

    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.sum as f64) / (self.count as f64))
    }
}

impl LoadTimes {
    fn add(&mut self, entry: &Entry) {
        let heartbeat = &entry.heartbeat;
        let Some(load) = heartbeat.load_time.filter(|_| entry.standing.is_up()) else {
            return;
        };
        let load = micros(load);
        self.shortest = if self.load.count == 0 { load } else { self.shortest.min(load) };
        self.longest = self.longest.max(load);
        self.load.add(load);
        for (spread, span) in self.phases.iter_mut().zip(phase_durations(&heartbeat.phases)) {
            if let Some(span) = span {
                spread.add(micros(span));
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if other.load.count > 0 {
            self.shortest = match self.load.count {
                0 => other.shortest,
                _ => self.shortest.min(other.shortest),
            };
            self.longest = self.longest.max(other.longest);
        }
        self.load.merge(&other.load);
        for (ours, theirs) in self.phases.iter_mut().zip(&other.phases) {
            ours.merge(theirs);
        }
    }

    /// A percentile of the load time; never outside the measured range.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let value = self.load.sketch.quantile(share)?;
        Some(value.clamp(self.shortest as f64, self.longest as f64))
    }
}

impl Rollup {
    fn begin(entry: &Entry) -> Self {
        let mut rollup = Self {
            first: entry.heartbeat.at,
            last: LastHeartbeat::of(entry),
            checks: PerStatus::default(),
            millis: PerStatus::default(),
            times: LoadTimes::default(),
        };
        rollup.checks[entry.standing] = 1;
        rollup.times.add(entry);
        rollup
    }

    /// Aggregates heartbeats, which must be in order.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Option<Self> {
        let mut rollup: Option<Self> = None;
        for entry in entries {
            match &mut rollup {
                None => rollup = Some(Self::begin(entry)),
                Some(rollup) => rollup.add(entry),
            }
        }
        rollup
    }

    /// Appends the next roll-up; the last heartbeat covers the time in between.
    pub fn merge(&mut self, next: &Self) {
        self.millis[self.last.standing] += self.last.covered_millis(self.last.at, next.first);
        self.millis.add(&next.millis);
        self.checks.add(&next.checks);
        self.times.merge(&next.times);
        self.last = next.last;
    }

    fn add(&mut self, entry: &Entry) {
        self.millis[self.last.standing] +=
            self.last.covered_millis(self.last.at, entry.heartbeat.at);
        self.last = LastHeartbeat::of(entry);
        self.checks[entry.standing] += 1;
        self.times.add(entry);
    }
}

/// The stored bytes are corrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored history is damaged")]
pub struct Damaged;

#[cfg(test)]
pub(super) mod tests;
