//! Reading the heartbeats of a monitor, newest first, and deleting those of
//! deleted monitors.

use std::cmp::Reverse;
use uuid::Uuid;
use wakeful_core::heartbeat::{Beat, Heartbeat, Phases, Readings};
use wakeful_core::history::Entry;
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;

use crate::dialect::{from_row, read, write};
use crate::history::{HistoryReader, run_blocking};
use crate::monitors::visible::is_visible;
use crate::{Result, Store, StoreError, TeamStore};

/// Small enough that a deletion does not delay other writers.
const DELETE_BATCH: i64 = 1_000;

/// The position of a heartbeat in its monitor's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeartbeatKey {
    pub at: Millis,
    pub seq: i64,
}

/// The heartbeats to read: `from` inclusive, `to` exclusive.
#[derive(Clone, Copy, Debug)]
pub struct HeartbeatRange {
    pub from: Millis,
    pub to: Millis,
    pub limit: Option<u32>,
    /// Only those older than this one.
    pub before: Option<HeartbeatKey>,
}

struct Row {
    at: i64,
    seq: i64,
    status: String,
    message: String,
    load_time: Option<i64>,
    phases: Option<String>,
    regions: Option<String>,
    readings: Option<String>,
}

from_row!(Row, |row| Self {
    at: row.try_get("at")?,
    seq: row.try_get("seq")?,
    status: row.try_get("status")?,
    message: row.try_get("message")?,
    load_time: row.try_get("load_time")?,
    phases: row.try_get("phases")?,
    regions: row.try_get("regions")?,
    readings: row.try_get("readings")?,
});

impl Row {
    fn read(self) -> Result<(HeartbeatKey, Heartbeat)> {
        let damaged = || StoreError::Damaged("heartbeats");
        let phases = match &self.phases {
            Some(text) => serde_json::from_str(text).map_err(|_| damaged())?,
            None => Phases::default(),
        };
        let regions = match &self.regions {
            Some(text) => serde_json::from_str(text).map_err(|_| damaged())?,
            None => Vec::new(),
        };
        let readings = match &self.readings {
            Some(text) => serde_json::from_str(text).map_err(|_| damaged())?,
            None => Readings::default(),
        };
        let at = Millis(self.at);
        let heartbeat = Heartbeat {
            at,
            status: Beat::parse(&self.status).ok_or_else(damaged)?,
            message: self.message,
            load_time: self
                .load_time
                .map(|span| std::time::Duration::from_micros(span.max(0).cast_unsigned())),
            phases,
            regions,
            readings,
        };
        Ok((HeartbeatKey { at, seq: self.seq }, heartbeat))
    }
}

impl TeamStore<'_> {
    /// Heartbeats of a range, newest first; `None` when the team has no such monitor.
    pub async fn heartbeats(
        &self,
        monitor: MonitorId,
        span: &HeartbeatRange,
    ) -> Result<Option<Vec<(HeartbeatKey, Heartbeat)>>> {
        let Some(past) = self.history(monitor).await? else { return Ok(None) };
        let entries = past.newest(span).await?;
        Ok(Some(entries.into_iter().map(|entry| (key_of(&entry), entry.heartbeat)).collect()))
    }

    /// Whether the team has this monitor, and the caller can see it.
    pub async fn has_monitor(&self, monitor: MonitorId) -> Result<bool> {
        let found: Option<i64> = read!(self.store, |db| {
            sqlx::query_scalar(concat!(
                "select m.created from monitors m where m.id = $1 and m.team_id = $2 and ",
                is_visible!("3")
            ))
            .bind(monitor.uuid())
            .bind(self.team.uuid())
            .bind(self.filter)
            .fetch_optional(db)
            .await
        })?;
        Ok(found.is_some())
    }
}

impl HistoryReader<'_> {
    /// Heartbeats of a range, newest first.
    pub async fn newest(&self, span: &HeartbeatRange) -> Result<Vec<Entry>> {
        let (store, monitor) = (self.store(), self.monitor());
        let recent = store.recent(monitor, span).await?;
        let is_full = span.limit.is_some_and(|limit| recent.len() >= limit as usize);
        // Where the recent ones suffice, older blocks need not be read.
        let from = recent.last().filter(|_| is_full).map_or(span.from, |(oldest, _)| oldest.at);
        let entry = |(key, heartbeat)| self.entry(key, heartbeat);
        let mut found: Vec<Entry> = recent.into_iter().map(entry).collect();
        found.extend(store.compacted(monitor, &HeartbeatRange { from, ..*span }).await?);
        found.sort_by_key(|entry| Reverse(key_of(entry)));
        // A heartbeat that was written twice may be recent and compacted for a while.
        found.dedup_by_key(|entry| key_of(entry));
        found.truncate(span.limit.map_or(usize::MAX, |limit| limit as usize));
        Ok(found)
    }
}

/// The position of a heartbeat.
fn key_of(entry: &Entry) -> HeartbeatKey {
    HeartbeatKey { at: entry.heartbeat.at, seq: entry.seq }
}

impl Store {
    /// Recent heartbeats of a range, newest first. All reads of recent heartbeats
    /// use this function or the next.
    pub(crate) async fn recent(
        &self,
        monitor: MonitorId,
        span: &HeartbeatRange,
    ) -> Result<Vec<(HeartbeatKey, Heartbeat)>> {
        let before = span.before.unwrap_or(HeartbeatKey { at: Millis(i64::MAX), seq: i64::MAX });
        let rows: Vec<Row> = read!(self, |db| {
            sqlx::query_as(
                "select at, seq, status, message, load_time, phases, regions, readings
                 from heartbeats
                 where monitor_id = $1
                 and at >= $2 and at < $3
                 and (at, seq) < ($4, $5)
                 order by at desc, seq desc
                 limit $6",
            )
            .bind(monitor.uuid())
            .bind(span.from.0)
            .bind(span.to.0)
            .bind(before.at.0)
            .bind(before.seq)
            .bind(span.limit.map_or(i64::MAX, i64::from))
            .fetch_all(db)
            .await
        })?;
        rows.into_iter().map(Row::read).collect()
    }

    /// The oldest recent heartbeats that are no newer than `until`, in order.
    pub(crate) async fn oldest_recent(
        &self,
        monitor: MonitorId,
        until: Millis,
        limit: u32,
    ) -> Result<Vec<(HeartbeatKey, Heartbeat)>> {
        let rows: Vec<Row> = read!(self, |db| {
            sqlx::query_as(
                "select at, seq, status, message, load_time, phases, regions, readings
                 from heartbeats
                 where monitor_id = $1 and at <= $2
                 order by at, seq
                 limit $3",
            )
            .bind(monitor.uuid())
            .bind(until.0)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?;
        rows.into_iter().map(Row::read).collect()
    }

    /// Packed heartbeats of a range, newest first. Blocks may be joined between
    /// two reads: heartbeats that were read before are skipped.
    async fn compacted(&self, monitor: MonitorId, span: &HeartbeatRange) -> Result<Vec<Entry>> {
        let HeartbeatRange { from, to, .. } = *span;
        let limit = span.limit.map_or(usize::MAX, |limit| limit as usize);
        let mut found: Vec<Entry> = Vec::new();
        let before = span.before.unwrap_or(HeartbeatKey { at: Millis(i64::MAX), seq: i64::MAX });
        let mut upper = to.min(Millis(before.at.0.saturating_add(1)));
        while found.len() < limit {
            let missing = limit - found.len();
            let blocks = self.newest_blocks(monitor, from, upper, missing).await?;
            let Some(oldest) = blocks.first() else { break };
            upper = Millis(oldest.from);
            let last = found.last().map_or(before, key_of);
            let older = run_blocking(move || {
                let entries = blocks.iter().flat_map(|block| block.unpack(monitor)).flatten();
                let is_wanted = |entry: &Entry| {
                    let key = key_of(entry);
                    from <= key.at && key.at < to && key < last
                };
                let mut found: Vec<Entry> = entries.filter(is_wanted).collect();
                found.reverse();
                found
            });
            found.extend(older.await);
        }
        Ok(found)
    }

    /// Deletes up to `batches` small batches of heartbeats of deleted monitors;
    /// true when none are left.
    pub async fn delete_orphaned_heartbeats(&self, batches: u32) -> Result<bool> {
        for _ in 0..batches {
            let orphan: Option<Uuid> = read!(self, |db| {
                sqlx::query_scalar("select monitor_id from graves limit 1").fetch_optional(db).await
            })?;
            let Some(orphan) = orphan else { return Ok(true) };
            if self.delete_heartbeats(orphan).await? < DELETE_BATCH.cast_unsigned()
                && self.delete_history(orphan).await?
            {
                write!(self, |db| {
                    sqlx::query("delete from graves where monitor_id = $1")
                        .bind(orphan)
                        .execute(db)
                        .await
                        .map(|_| ())
                })?;
            }
        }
        Ok(false)
    }

    async fn delete_heartbeats(&self, monitor: Uuid) -> Result<u64> {
        Ok(write!(self, |db| {
            sqlx::query(
                "delete from heartbeats
                 where monitor_id = $1
                 and (at, seq) in (
                     select at, seq from heartbeats where monitor_id = $1 order by at limit $2)",
            )
            .bind(monitor)
            .bind(DELETE_BATCH)
            .execute(db)
            .await
            .map(|done| done.rows_affected())
        })?)
    }
}
