//! Roll-ups and heartbeats combined into the statistics of a span: every
//! heartbeat is valid from its time until the next one, for at most two
//! intervals, and only within the span.

use super::rollup::{LastHeartbeat, LoadTimes, Rollup};
use super::{Exclusions, HistoryStatus, Outage, PerStatus};
use crate::time::Millis;
use std::time::Duration;

/// The statistics of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanStats {
    pub from: Millis,
    pub to: Millis,
    pub checks: PerStatus,
    pub millis: PerStatus,
    pub times: LoadTimes,
    /// The last heartbeat, and from when on it has not been counted yet.
    last: Option<LastHeartbeat>,
    counted: Millis,
}

impl SpanStats {
    /// A span from `from` until `to`, and the last heartbeat before it.
    pub fn new(from: Millis, to: Millis, before: Option<LastHeartbeat>) -> Self {
        Self {
            from,
            to,
            checks: PerStatus::default(),
            millis: PerStatus::default(),
            times: LoadTimes::default(),
            last: before,
            counted: from,
        }
    }

    /// Adds the next roll-up, which must be within the span and after all
    /// previous ones.
    pub fn add(&mut self, next: &Rollup) {
        self.cover_until(next.first);
        self.checks.add(&next.checks);
        self.millis.add(&next.millis);
        self.times.merge(&next.times);
        self.last = Some(next.last);
        self.counted = next.last.at;
    }

    /// Counts the last heartbeat until the end of the span.
    #[must_use]
    pub fn finish(mut self) -> Self {
        self.cover_until(self.to);
        self
    }

    /// The last heartbeat so far: the one before the next span.
    pub fn last(&self) -> Option<LastHeartbeat> {
        self.last
    }

    /// The milliseconds without data.
    pub fn no_data(&self) -> u64 {
        let length = self.to.0.saturating_sub(self.from.0).max(0).cast_unsigned();
        length.saturating_sub(self.millis.total())
    }

    /// The share of checks that were fast: those within the limit count fully, those within four
    /// times of it by half, and those that were down not at all. `None` without any.
    pub fn apdex(&self, limit: Duration) -> Option<f64> {
        let limit = super::micros(limit);
        let sketch = &self.times.load.sketch;
        let fast = sketch.count_up_to(limit);
        let tolerable = sketch.count_up_to(limit.saturating_mul(4)) - fast;
        let all = sketch.count() + self.checks[HistoryStatus::Down];
        (all > 0).then(|| (fast as f64 + tolerable as f64 / 2.0) / all as f64)
    }

    fn cover_until(&mut self, until: Millis) {
        if let Some(last) = self.last {
            self.millis[last.standing] += last.covered_millis(self.counted, until);
        }
        self.counted = self.counted.max(until);
    }
}

/// The statistics of equal steps of a span, without steps that have no
/// heartbeat. No roll-up may cross two steps, and they must be in order.
pub fn stats_per_step(
    pieces: &[Rollup],
    before: Option<LastHeartbeat>,
    (from, to): (Millis, Millis),
    step: Duration,
) -> Vec<SpanStats> {
    let length = i64::try_from(step.as_millis()).unwrap_or(i64::MAX).max(1);
    let begin = |at: Millis| Millis(from.0 + (at.0 - from.0).div_euclid(length) * length);
    let mut last = before;
    pieces
        .chunk_by(|one, two| begin(one.first) == begin(two.first))
        .map(|pieces| {
            let start = begin(pieces[0].first);
            let mut stats = SpanStats::new(start, start.after(step).min(to), last);
            pieces.iter().for_each(|piece| stats.add(piece));
            last = stats.last();
            stats.finish()
        })
        .collect()
}

/// Statistics of the outages of a span, in milliseconds. The part of an outage that an
/// exclusion covers does not count; one that is covered completely is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutageStats {
    /// Outages that overlap the span.
    pub count: u64,
    /// The part of the longest one within the span.
    pub longest: Option<u64>,
    /// Of outages that ended within the span, from their start.
    pub mean_time_to_recover: Option<u64>,
}

impl OutageStats {
    pub fn within(outages: &[Outage], exclusions: &Exclusions, from: Millis, to: Millis) -> Self {
        let (mut summary, mut recovered, mut took) = (Self::default(), 0_u64, 0_u64);
        let length = |from: Millis, to: Millis| {
            let length = to.0.saturating_sub(from.0).max(0).cast_unsigned();
            (length, length.saturating_sub(exclusions.covered_millis(from, to)))
        };
        for outage in outages {
            let end = outage.ended.unwrap_or(to);
            if outage.started >= to || end < from || (end == from && outage.ended.is_some()) {
                continue;
            }
            let (whole, part) = length(outage.started.max(from), end.min(to));
            if part == 0 && whole > 0 {
                continue;
            }
            summary.count += 1;
            summary.longest = summary.longest.max(Some(part));
            if outage.ended.is_some() && end <= to {
                recovered += 1;
                took += length(outage.started, end).1;
            }
        }
        summary.mean_time_to_recover = took.checked_div(recovered);
        summary
    }
}

#[cfg(test)]
mod tests;
