//! The history of monitors: recent heartbeats, which are rows, and compacted ones, which
//! are in blocks, read as one; roll-ups of
//! hours, days and fortnights, compaction and retention. A block or roll-up that
//! is damaged on disk is logged, skipped and left unchanged; the others can still
//! be read.

mod baseline;
mod blocks;
pub(crate) mod bulk;
mod compaction;
mod fortnights;
pub(crate) mod heartbeats;
mod reader;
pub(crate) mod record;
mod recount;
mod retention;

pub use compaction::{CompactionCandidates, CompactionResult};
pub use reader::{HistoryExtent, HistoryReader};
pub use recount::LateExclusion;
pub use retention::RetentionLimits;

use wakeful_core::history::rollup::Damaged;
use wakeful_core::history::{Entry, block_codec};
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;

use crate::dialect::{from_row, read};
use crate::{Result, Store};

pub(crate) struct Block {
    pub(crate) from: i64,
    pub(crate) data: Vec<u8>,
    pub(crate) phases: Option<Vec<u8>>,
    pub(crate) regions: Option<Vec<u8>>,
    pub(crate) readings: Option<Vec<u8>>,
}

from_row!(Block, |row| Self {
    from: row.try_get("from_at")?,
    data: row.try_get("data")?,
    phases: row.try_get("phases")?,
    regions: row.try_get("regions")?,
    readings: row.try_get("readings")?,
});

/// The most blocks read at once.
const MAX_BLOCKS_PER_READ: i64 = 32;

/// Runs milliseconds of computation on a thread where it does not block other tasks.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    tokio::task::spawn_blocking(work).await.expect("packing neither panics nor is aborted")
}

impl Block {
    /// The heartbeats of this block. Damage is logged.
    pub(crate) async fn entries(
        self,
        monitor: MonitorId,
    ) -> std::result::Result<Vec<Entry>, Damaged> {
        run_blocking(move || self.unpack(monitor)).await
    }

    pub(crate) fn unpack(&self, monitor: MonitorId) -> std::result::Result<Vec<Entry>, Damaged> {
        let from = Millis(self.from);
        let mut entries = block_codec::unpack(&self.data).inspect_err(|_| {
            tracing::error!(monitor.id = %monitor, "the heartbeats of monitor {monitor} from {from} on are damaged, skipping them");
        })?;
        let phases = self.phases.as_deref().unwrap_or_default();
        if block_codec::unpack_phases(phases, &mut entries).is_err() {
            tracing::error!(monitor.id = %monitor, "the phases of monitor {monitor} from {from} on are damaged, skipping them");
        }
        let regions = self.regions.as_deref().unwrap_or_default();
        if block_codec::unpack_regions(regions, &mut entries).is_err() {
            tracing::error!(monitor.id = %monitor, "the regions of monitor {monitor} from {from} on are damaged, skipping them");
        }
        let readings = self.readings.as_deref().unwrap_or_default();
        if block_codec::unpack_readings(readings, &mut entries).is_err() {
            tracing::error!(monitor.id = %monitor, "the readings of monitor {monitor} from {from} on are damaged, skipping them");
        }
        Ok(entries)
    }
}

impl Store {
    /// The blocks that overlap a range, `from` inclusive and `to` exclusive, in order.
    pub(crate) async fn blocks(
        &self,
        monitor: MonitorId,
        from: Millis,
        to: Millis,
    ) -> Result<Vec<Block>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select from_at, data, phases, regions, readings
                 from blocks
                 where monitor_id = $1 and from_at > $4 and from_at < $3 and to_at >= $2
                 order by from_at",
            )
            .bind(monitor.uuid())
            .bind(from.0)
            .bind(to.0)
            .bind(from.0.saturating_sub(blocks::MAX_BLOCK_SPAN))
            .fetch_all(db)
            .await
        })?)
    }

    /// The newest blocks that overlap a range, in order: about as many as contain
    /// this many heartbeats, and at least one if there is any.
    pub(crate) async fn newest_blocks(
        &self,
        monitor: MonitorId,
        from: Millis,
        to: Millis,
        heartbeats: usize,
    ) -> Result<Vec<Block>> {
        let counts: Vec<(i64, i64)> = read!(self, |db| {
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
            .bind(from.0.saturating_sub(blocks::MAX_BLOCK_SPAN))
            .bind(MAX_BLOCKS_PER_READ)
            .fetch_all(db)
            .await
        })?;
        let mut missing = i64::try_from(heartbeats).unwrap_or(i64::MAX);
        let needed = counts.iter().take_while(|(_, count)| {
            let is_needed = missing > 0;
            missing = missing.saturating_sub(*count);
            is_needed
        });
        match needed.last() {
            // Blocks that have been joined in the meantime overlap that time, too.
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
                "select from_at, data, phases, regions, readings
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

    /// Roll-ups of a range, `from` inclusive and `to` exclusive, in order.
    pub(crate) async fn rollup_rows(
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

/// The period that a row of roll-ups covers, by its number in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grain {
    /// The hours of a day, together.
    Hours = 1,
    Days = 2,
    /// Only those that have ended; computed from the days, which remain stored.
    Fortnights = 3,
}
