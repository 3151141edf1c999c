//! Roll-ups and heartbeats put together to the figures of a span: every
//! heartbeat speaks from its time until the next one, for at most two
//! intervals, and only within the span.

use super::rollup::{Last, Rollup, Times};
use super::{Outage, Shares};
use crate::time::Millis;
use std::time::Duration;

/// The figures of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    pub from: Millis,
    pub to: Millis,
    pub checks: Shares,
    pub millis: Shares,
    pub times: Times,
    /// What still speaks, and from when on it was not counted yet.
    last: Option<Last>,
    counted: Millis,
}

impl Tally {
    /// A span from `from` until `to`, and the last heartbeat before it.
    pub fn new(from: Millis, to: Millis, before: Option<Last>) -> Self {
        Self {
            from,
            to,
            checks: Shares::default(),
            millis: Shares::default(),
            times: Times::default(),
            last: before,
            counted: from,
        }
    }

    /// Adds what came next. It must lie within the span, behind all before.
    pub fn add(&mut self, next: &Rollup) {
        self.speak(next.first);
        self.checks.add(&next.checks);
        self.millis.add(&next.millis);
        self.times.merge(&next.times);
        self.last = Some(next.last);
        self.counted = next.last.at;
    }

    /// Counts what the last heartbeat still says until the span ends.
    #[must_use]
    pub fn finish(mut self) -> Self {
        self.speak(self.to);
        self
    }

    /// The last heartbeat so far: the one before the next span.
    pub fn last(&self) -> Option<Last> {
        self.last
    }

    /// The milliseconds that nothing is known of.
    pub fn no_data(&self) -> u64 {
        let length = self.to.0.saturating_sub(self.from.0).max(0).cast_unsigned();
        length.saturating_sub(self.millis.total())
    }

    fn speak(&mut self, until: Millis) {
        if let Some(last) = self.last {
            self.millis[last.standing] += last.speaks(self.counted, until);
        }
        self.counted = self.counted.max(until);
    }
}

/// The figures of equal steps of a span, without the steps that no heartbeat
/// fell into. No piece may lie in two steps, and they must be in order.
pub fn steps(
    pieces: &[Rollup],
    before: Option<Last>,
    (from, to): (Millis, Millis),
    step: Duration,
) -> Vec<Tally> {
    let length = i64::try_from(step.as_millis()).unwrap_or(i64::MAX).max(1);
    let begin = |at: Millis| Millis(from.0 + (at.0 - from.0).div_euclid(length) * length);
    let mut last = before;
    pieces
        .chunk_by(|one, two| begin(one.first) == begin(two.first))
        .map(|pieces| {
            let start = begin(pieces[0].first);
            let mut tally = Tally::new(start, start.after(step).min(to), last);
            pieces.iter().for_each(|piece| tally.add(piece));
            last = tally.last();
            tally.finish()
        })
        .collect()
}

/// What the outages of a span come to, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outages {
    /// Those that touch the span.
    pub count: u64,
    /// The part of the longest one that lies within the span.
    pub longest: Option<u64>,
    /// Of those that ended within the span, from their beginning.
    pub mean_time_to_recover: Option<u64>,
}

impl Outages {
    pub fn within(outages: &[Outage], from: Millis, to: Millis) -> Self {
        let (mut told, mut recovered, mut took) = (Self::default(), 0_u64, 0_u64);
        let length = |from: Millis, to: Millis| to.0.saturating_sub(from.0).max(0).cast_unsigned();
        for outage in outages {
            let end = outage.ended.unwrap_or(to);
            if outage.started >= to || end < from || (end == from && outage.ended.is_some()) {
                continue;
            }
            told.count += 1;
            let part = length(outage.started.max(from), end.min(to));
            told.longest = told.longest.max(Some(part));
            if outage.ended.is_some() && end <= to {
                recovered += 1;
                took += length(outage.started, end);
            }
        }
        told.mean_time_to_recover = took.checked_div(recovered);
        told
    }
}

#[cfg(test)]
mod tests;
