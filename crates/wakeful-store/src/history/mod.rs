//! The past of monitors: fresh heartbeats and packed ones read as one, what
//! hours, days and fortnights came to, folding the first into the second, and letting go
//! of what is old enough. A block or roll-up that the disk damaged is told,
//! left out and left alone; the others are read as ever.

mod blocks;
mod fold;
mod fortnights;
mod past;
mod retention;

pub use fold::{Foldable, Folded};
pub use past::{Extent, Past};
pub use retention::Limits;

use wakeful_core::history::rollup::Damaged;
use wakeful_core::history::{Entry, pack};
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;

use crate::dialect::{from_row, read};
use crate::{Result, Store};

pub(crate) struct Block {
    pub(crate) from: i64,
    pub(crate) data: Vec<u8>,
    pub(crate) phases: Option<Vec<u8>>,
    pub(crate) regions: Option<Vec<u8>>,
}

from_row!(Block, |row| Self {
    from: row.try_get("from_at")?,
    data: row.try_get("data")?,
    phases: row.try_get("phases")?,
    regions: row.try_get("regions")?,
});

/// So many blocks are read at once at most.
const MOST_BLOCKS: i64 = 32;

/// Runs what takes milliseconds of computing where nobody waits behind it.
pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.expect("packing neither panics nor is aborted")
}

impl Block {
    /// The heartbeats of this block; told to the operator when it is damaged.
    pub(crate) async fn entries(
        self,
        monitor: MonitorId,
    ) -> std::result::Result<Vec<Entry>, Damaged> {
        aside(move || self.unpack(monitor)).await
    }

    pub(crate) fn unpack(&self, monitor: MonitorId) -> std::result::Result<Vec<Entry>, Damaged> {
        let from = Millis(self.from);
        let mut entries = pack::unpack(&self.data).inspect_err(|_| {
            tracing::error!(monitor.id = %monitor, "the heartbeats of monitor {monitor} from {from} on are damaged and left out");
        })?;
        let phases = self.phases.as_deref().unwrap_or_default();
        if pack::unpack_phases(phases, &mut entries).is_err() {
            tracing::error!(monitor.id = %monitor, "the phases of monitor {monitor} from {from} on are damaged and left out");
        }
        let regions = self.regions.as_deref().unwrap_or_default();
        if pack::unpack_regions(regions, &mut entries).is_err() {
            tracing::error!(monitor.id = %monitor, "the regions of monitor {monitor} from {from} on are damaged and left out");
        }
        Ok(entries)
    }
}

impl Store {
    /// The blocks that touch a span, `from` included and `to` not, in order.
    pub(crate) async fn blocks(
        &self,
        monitor: MonitorId,
        from: Millis,
        to: Millis,
    ) -> Result<Vec<Block>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select from_at, data, phases, regions
                 from blocks
                 where monitor_id = $1 and from_at > $4 and from_at < $3 and to_at >= $2
                 order by from_at",
            )
            .bind(monitor.uuid())
            .bind(from.0)
            .bind(to.0)
            .bind(from.0.saturating_sub(blocks::LONGEST))
            .fetch_all(db)
            .await
        })?)
    }

    /// The newest blocks that touch a span, in order: about as many as hold so
    /// many heartbeats, and never none when there are any.
    pub(crate) async fn newest_blocks(
        &self,
        monitor: MonitorId,
        (from, to): (Millis, Millis),
        heartbeats: usize,
    ) -> Result<Vec<Block>> {
        let held: Vec<(i64, i64)> = read!(self, |db| {
            sqlx::query_as(
                "select from_at, count
                 from blocks
                 where monitor_id = $1 and from_at > $4 and from_at < $3 and to_at >= $2
                 order by from_at desc
                 limit $5",
            )
            .bind(monitor.uuid())
            .bind(from.0)
            .bind(to.0)
            .bind(from.0.saturating_sub(blocks::LONGEST))
            .bind(MOST_BLOCKS)
            .fetch_all(db)
            .await
        })?;
        let mut missing = i64::try_from(heartbeats).unwrap_or(i64::MAX);
        let needed = held.iter().take_while(|(_, count)| {
            let is_needed = missing > 0;
            missing = missing.saturating_sub(*count);
            is_needed
        });
        match needed.last() {
            // What became one block meanwhile touches that time, too.
            Some((first, _)) => self.blocks(monitor, Millis(*first), to).await,
            None => Ok(Vec::new()),
        }
    }

    /// The newest block that begins before a time.
    pub(crate) async fn block_before(
        &self,
        monitor: MonitorId,
        before: i64,
    ) -> Result<Option<Block>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select from_at, data, phases, regions
                 from blocks
                 where monitor_id = $1 and from_at < $2
                 order by from_at desc
                 limit 1",
            )
            .bind(monitor.uuid())
            .bind(before)
            .fetch_optional(db)
            .await
        })?)
    }

    /// Roll-ups from one time until before another, in order.
    pub(crate) async fn rolled(
        &self,
        grain: Grain,
        monitor: MonitorId,
        from: Millis,
        to: Millis,
    ) -> Result<Vec<(i64, Vec<u8>)>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select at, data
                 from rollups
                 where monitor_id = $1 and grain = $2 and at >= $3 and at < $4
                 order by at",
            )
            .bind(monitor.uuid())
            .bind(grain as i64)
            .bind(from.0)
            .bind(to.0)
            .fetch_all(db)
            .await
        })?)
    }
}

/// What a row of roll-ups is of, by its number in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grain {
    /// The hours of a day, together.
    Hours = 1,
    Days = 2,
    /// Only those that are over; made of the days, which stay.
    Fortnights = 3,
}
