//! The time that nodes share: the database's time, as an offset from a node's own clock. One
//! node writes a lease, a retry or the time of an edit, and another compares it with its own
//! time, so all nodes must use the same clock.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use wakeful_core::time::Millis;

use crate::{Engine, Result};

/// Changes of the offset up to this many milliseconds are ignored: constant small corrections
/// are of no use.
const MAX_JITTER_MS: i64 = 20;

#[derive(Default)]
pub(super) struct SharedClock {
    enabled: AtomicBool,
    /// Milliseconds by which the database is ahead.
    offset: AtomicI64,
}

impl SharedClock {
    fn clock_offset(&self) -> i64 {
        self.offset.load(Ordering::Acquire)
    }

    /// Records a reading of the database's clock that started and ended at these times. A
    /// difference that the round trip can explain is ignored.
    fn observe(&self, begun: Millis, database: Millis, ended: Millis) {
        let took = ended.0.saturating_sub(begun.0).max(0);
        let offset = database.0.saturating_sub(begun.0.saturating_add(took / 2));
        if self.enabled.load(Ordering::Acquire)
            && offset.abs_diff(self.clock_offset())
                > took.saturating_add(MAX_JITTER_MS).unsigned_abs()
        {
            self.offset.store(offset, Ordering::Release);
        }
    }
}

impl super::Cluster {
    /// Milliseconds by which the shared time is ahead of this node's.
    pub(crate) fn clock_offset(&self) -> i64 {
        self.clock.clock_offset()
    }
}

impl Engine {
    /// Follows the database's clock from now on. A standalone node uses its own.
    pub async fn follow_shared_clock(&self) -> Result<()> {
        if self.cluster().is_standalone() {
            return Ok(());
        }
        self.cluster().clock.enabled.store(true, Ordering::Release);
        self.check_clock_skew().await?;
        Ok(())
    }

    /// The difference between this node's own clock and the database's, in milliseconds.
    pub(super) async fn check_clock_skew(&self) -> Result<u64> {
        let begun = self.local_time();
        let database = self.store().lease_time().await?;
        let ended = self.local_time();
        self.cluster().clock.observe(begun, database, ended);
        Ok(ended.0.abs_diff(database.0).min(begun.0.abs_diff(database.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_stays_unless_the_round_trip_cannot_explain_the_difference() {
        let clock = SharedClock::default();
        clock.observe(Millis(0), Millis(120_000), Millis(0));
        assert_eq!(clock.clock_offset(), 0, "it is not followed");
        clock.enabled.store(true, Ordering::Release);
        clock.observe(Millis(0), Millis(120_000), Millis(10));
        assert_eq!(clock.clock_offset(), 119_995);
        clock.observe(Millis(10_000), Millis(130_015), Millis(10_010));
        assert_eq!(clock.clock_offset(), 119_995, "a few milliseconds");
        clock.observe(Millis(20_000), Millis(144_000), Millis(25_000));
        assert_eq!(clock.clock_offset(), 119_995, "a slow response");
        clock.observe(Millis(30_000), Millis(30_005), Millis(30_010));
        assert_eq!(clock.clock_offset(), 0, "a clock was set");
    }
}
