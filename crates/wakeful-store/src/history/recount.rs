//! Heartbeats that were compacted before their maintenance was recorded: because Wakeful was
//! not running, or because the window lies in the past. Their blocks are unpacked, they
//! count as maintenance, and the roll-ups of their hours, days and fortnights are computed
//! again, one day at a time.

use std::collections::BTreeSet;
use uuid::Uuid;
use wakeful_core::history::{DAY, Entry, Exclusions, HistoryStatus, start_of};
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;

use super::blocks::{NewBlock, packed};
use super::compaction::CompactionPlan;
use super::{Block, run_blocking};
use crate::dialect::{from_row, read, write};
use crate::{Result, Store};

/// How often a day is planned again because the monitor was compacted meanwhile.
const MAX_ATTEMPTS: u32 = 5;

/// An exclusion that was recorded late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateExclusion {
    id: Uuid,
    pub monitor: MonitorId,
    from: Millis,
    to: Option<Millis>,
}

from_row!(LateExclusion, |row| Self {
    id: row.try_get("id")?,
    monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
    from: Millis(row.try_get("from_at")?),
    to: row.try_get::<Option<i64>, _>("to_at")?.map(Millis),
});

impl Store {
    /// Exclusions whose heartbeats have to be counted again.
    pub async fn late_exclusions(&self, limit: u32) -> Result<Vec<LateExclusion>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select id, monitor_id, from_at, to_at from exclusions where recount limit $1",
            )
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?)
    }

    /// Counts the compacted heartbeats of an exclusion again.
    pub async fn recount(&self, late: &LateExclusion) -> Result<()> {
        let exclusions = self.exclusions(late.monitor).await?;
        if let Some(until) = self.compaction_state(late.monitor).await?.until {
            let end = late.to.unwrap_or(until).min(Millis(until.0.saturating_add(1)));
            let mut day = start_of(DAY, late.from);
            while day < end {
                let (from, to) = (day.max(late.from), day.after(DAY).min(end));
                if !self.recount_span(late.monitor, &exclusions, from, to).await? {
                    // The monitor is being compacted: later.
                    return Ok(());
                }
                day = day.after(DAY);
            }
        }
        write!(self, |db| {
            sqlx::query("update exclusions set recount = false where id = $1")
                .bind(late.id)
                .execute(db)
                .await
                .map(|_| ())
        })?;
        Ok(())
    }

    /// False if the history changed during every attempt.
    async fn recount_span(
        &self,
        monitor: MonitorId,
        exclusions: &Exclusions,
        from: Millis,
        to: Millis,
    ) -> Result<bool> {
        for _ in 0..MAX_ATTEMPTS {
            let state = self.compaction_state(monitor).await?;
            let mut plan = CompactionPlan::default();
            let (mut days, mut written) = (BTreeSet::new(), Vec::new());
            for block in self.blocks(monitor, from, to).await? {
                let exclusions = exclusions.clone();
                let start = block.from;
                let work = move || recounted(&block, monitor, &exclusions);
                let Some(recounted) = run_blocking(work).await else { continue };
                plan.replaced.push(start);
                plan.blocks.extend(recounted.blocks);
                days.extend(recounted.days);
                written.extend(recounted.entries);
            }
            if plan.replaced.is_empty() {
                return Ok(true);
            }
            self.roll_up_again(monitor, days, &written, &mut plan).await?;
            let last = state.until.unwrap_or(to);
            plan.fortnights = self.fortnights(monitor, &state, last, &plan.days).await?;
            if self.commit_recount(monitor, &state, &plan).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A block whose heartbeats count in another way.
struct Recounted {
    blocks: Vec<NewBlock>,
    entries: Vec<Entry>,
    /// The days with changed heartbeats.
    days: BTreeSet<Millis>,
}

/// `None` if nothing changes, or if the block is damaged.
fn recounted(block: &Block, monitor: MonitorId, exclusions: &Exclusions) -> Option<Recounted> {
    let mut entries = block.unpack(monitor).ok()?;
    let mut days = BTreeSet::new();
    for entry in &mut entries {
        let at = entry.heartbeat.at;
        if exclusions.is_maintenance(at) && entry.standing != HistoryStatus::Maintenance {
            entry.standing = HistoryStatus::Maintenance;
            days.insert(start_of(DAY, at));
        }
    }
    if days.is_empty() {
        return None;
    }
    let (blocks, entries) = packed(entries);
    Some(Recounted { blocks, entries, days })
}
