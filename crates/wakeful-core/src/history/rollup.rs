//! What the heartbeats of an hour or a day come to. A roll-up knows only its
//! own heartbeats: how many of each standing, for how long from the first to
//! the last, and how load times were spread. What lies between two roll-ups is
//! filled when they are put together, by what the last heartbeat of the first
//! still says. So a late heartbeat changes one hour and one day and no other.

mod bins;
mod form;

pub(super) use form::greatest_divisor;
pub use form::{Depth, pack, unpack};

use super::sketch::Sketch;
use super::{Entry, Shares, Standing, micros, spans};
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rollup {
    pub first: Millis,
    pub last: Last,
    pub checks: Shares,
    /// Milliseconds between the first and the last heartbeat.
    pub millis: Shares,
    pub times: Times,
}

/// The last heartbeat of a span: it speaks until the next one, or `reach`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Last {
    pub at: Millis,
    pub standing: Standing,
    pub reach: Millis,
}

impl Last {
    pub fn of(entry: &Entry) -> Self {
        Self { at: entry.heartbeat.at, standing: entry.standing, reach: entry.reach() }
    }

    /// How long it speaks between two times, in milliseconds.
    pub(super) fn speaks(&self, from: Millis, until: Millis) -> u64 {
        let (from, until) = (from.max(self.at), until.min(self.reach));
        until.0.saturating_sub(from.0).max(0).cast_unsigned()
    }
}

/// How long checks that were up took, all in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    pub load: Spread,
    pub shortest: u64,
    pub longest: u64,
    /// In the order resolve, connect, TLS, first byte, transfer.
    pub phases: [Spread; 5],
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    pub count: u64,
    pub sum: u64,
    pub sketch: Sketch,
}

impl Spread {
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

    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.sum as f64) / (self.count as f64))
    }
}

impl Times {
    fn add(&mut self, entry: &Entry) {
        let heartbeat = &entry.heartbeat;
        let Some(load) = heartbeat.load_time.filter(|_| entry.standing == Standing::Up) else {
            return;
        };
        let load = micros(load);
        self.shortest = if self.load.count == 0 { load } else { self.shortest.min(load) };
        self.longest = self.longest.max(load);
        self.load.add(load);
        for (spread, span) in self.phases.iter_mut().zip(spans(&heartbeat.phases)) {
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

    /// A percentile of the load time; never beyond what was measured.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let value = self.load.sketch.quantile(share)?;
        Some(value.clamp(self.shortest as f64, self.longest as f64))
    }
}

impl Rollup {
    fn begin(entry: &Entry) -> Self {
        let mut rollup = Self {
            first: entry.heartbeat.at,
            last: Last::of(entry),
            checks: Shares::default(),
            millis: Shares::default(),
            times: Times::default(),
        };
        rollup.checks[entry.standing] = 1;
        rollup.times.add(entry);
        rollup
    }

    /// What these heartbeats come to; they must be in their order.
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

    /// Puts what came next behind it; between the two the last one speaks.
    pub fn merge(&mut self, next: &Self) {
        self.millis[self.last.standing] += self.last.speaks(self.last.at, next.first);
        self.millis.add(&next.millis);
        self.checks.add(&next.checks);
        self.times.merge(&next.times);
        self.last = next.last;
    }

    fn add(&mut self, entry: &Entry) {
        self.millis[self.last.standing] += self.last.speaks(self.last.at, entry.heartbeat.at);
        self.last = Last::of(entry);
        self.checks[entry.standing] += 1;
        self.times.add(entry);
    }
}

/// The bytes could not be what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what is kept of the past is damaged")]
pub struct Damaged;

#[cfg(test)]
pub(super) mod tests;
