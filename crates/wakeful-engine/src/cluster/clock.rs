//! The time that nodes share: the database's, kept as a distance from a node's
//! own clock. What one node writes, as a lease, a next try or the time of an edit,
//! another compares with its own now, so all of them must mean the same.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use wakeful_core::time::Millis;

use crate::{Engine, Result};

/// Milliseconds by which the distance may move without being taken note of: a
/// clock that is put right all the time by a little helps nobody.
const STEADY: i64 = 20;

#[derive(Default)]
pub(super) struct SharedClock {
    followed: AtomicBool,
    /// Milliseconds by which the database is ahead.
    ahead: AtomicI64,
}

impl SharedClock {
    fn ahead(&self) -> i64 {
        self.ahead.load(Ordering::Acquire)
    }

    /// Takes note of a look at the database's clock that was begun and ended then.
    /// What may be owed to the way there and back changes nothing.
    fn note(&self, begun: Millis, database: Millis, ended: Millis) {
        let took = ended.0.saturating_sub(begun.0).max(0);
        let ahead = database.0.saturating_sub(begun.0.saturating_add(took / 2));
        if self.followed.load(Ordering::Acquire)
            && ahead.abs_diff(self.ahead()) > took.saturating_add(STEADY).unsigned_abs()
        {
            self.ahead.store(ahead, Ordering::Release);
        }
    }
}

impl super::Cluster {
    /// Milliseconds by which the time that nodes share is ahead of this node's.
    pub(crate) fn ahead(&self) -> i64 {
        self.clock.ahead()
    }
}

impl Engine {
    /// Goes by the database's clock from now on, where nodes share it. Alone, a
    /// node's own is as good.
    pub async fn follow_clock(&self) -> Result<()> {
        if self.cluster().is_alone() {
            return Ok(());
        }
        self.cluster().clock.followed.store(true, Ordering::Release);
        self.look_at_clock().await?;
        Ok(())
    }

    /// By how many milliseconds this node's own clock and the database's differ.
    pub(super) async fn look_at_clock(&self) -> Result<u64> {
        let begun = self.wall();
        let database = self.store().lease_time().await?;
        let ended = self.wall();
        self.cluster().clock.note(begun, database, ended);
        Ok(ended.0.abs_diff(database.0).min(begun.0.abs_diff(database.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_is_kept_unless_the_way_there_explains_the_difference() {
        let clock = SharedClock::default();
        clock.note(Millis(0), Millis(120_000), Millis(0));
        assert_eq!(clock.ahead(), 0, "nobody follows it");
        clock.followed.store(true, Ordering::Release);
        clock.note(Millis(0), Millis(120_000), Millis(10));
        assert_eq!(clock.ahead(), 119_995);
        clock.note(Millis(10_000), Millis(130_015), Millis(10_010));
        assert_eq!(clock.ahead(), 119_995, "a few milliseconds");
        clock.note(Millis(20_000), Millis(144_000), Millis(25_000));
        assert_eq!(clock.ahead(), 119_995, "the answer was long in coming");
        clock.note(Millis(30_000), Millis(30_005), Millis(30_010));
        assert_eq!(clock.ahead(), 0, "somebody has set a clock");
    }
}
