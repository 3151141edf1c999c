//! The heartbeats of a monitor, newest first, and what is left of those whose
//! monitor was deleted.

use std::cmp::Reverse;
use uuid::Uuid;
use wakeful_core::history::Entry;
use wakeful_core::id::MonitorId;
use wakeful_core::observation::Phases;
use wakeful_core::time::Millis;
use wakeful_core::verdict::{Beat, Heartbeat};

use crate::dialect::{from_row, read, write};
use crate::history::aside;
use crate::{Result, Store, StoreError, TeamStore};

/// So few rows at a time are deleted that nobody waits for it.
const BATCH: i64 = 1_000;

/// Where a heartbeat stands in its monitor's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub at: Millis,
    pub seq: i64,
}

/// Which heartbeats are read: `from` included, `to` not.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub from: Millis,
    pub to: Millis,
    pub limit: Option<u32>,
    /// Only those older than this one.
    pub before: Option<Place>,
}

struct Row {
    at: i64,
    seq: i64,
    status: String,
    message: String,
    load_time: Option<i64>,
    phases: Option<String>,
    regions: Option<String>,
}

from_row!(Row, |row| Self {
    at: row.try_get("at")?,
    seq: row.try_get("seq")?,
    status: row.try_get("status")?,
    message: row.try_get("message")?,
    load_time: row.try_get("load_time")?,
    phases: row.try_get("phases")?,
    regions: row.try_get("regions")?,
});

impl Row {
    fn read(self) -> Result<(Place, Heartbeat)> {
        let damaged = || StoreError::Damaged("heartbeats");
        let phases = match &self.phases {
            Some(text) => serde_json::from_str(text).map_err(|_| damaged())?,
            None => Phases::default(),
        };
        let regions = match &self.regions {
            Some(text) => serde_json::from_str(text).map_err(|_| damaged())?,
            None => Vec::new(),
        };
        let at = Millis(self.at);
        let heartbeat = Heartbeat {
            at,
            status: [Beat::Up, Beat::Down, Beat::Unknown]
                .into_iter()
                .find(|beat| beat.as_str() == self.status)
                .ok_or_else(damaged)?,
            message: self.message,
            load_time: self
                .load_time
                .map(|span| std::time::Duration::from_micros(span.max(0).cast_unsigned())),
            phases,
            regions,
        };
        Ok((Place { at, seq: self.seq }, heartbeat))
    }
}

impl TeamStore<'_> {
    /// Heartbeats of a span, newest first; nothing when the team has no such monitor.
    pub async fn heartbeats(
        &self,
        monitor: MonitorId,
        span: &Span,
    ) -> Result<Option<Vec<(Place, Heartbeat)>>> {
        if !self.has_monitor(monitor).await? {
            return Ok(None);
        }
        let mut found = self.store.fresh(monitor, span).await?;
        let is_full = span.limit.is_some_and(|limit| found.len() >= limit as usize);
        // Where the fresh ones suffice, older blocks need not be opened.
        let from = found.last().filter(|_| is_full).map_or(span.from, |(oldest, _)| oldest.at);
        found.extend(self.store.packed(monitor, &Span { from, ..*span }).await?);
        found.sort_by_key(|(place, _)| Reverse(*place));
        // One that was written twice may be fresh and packed for a while.
        found.dedup_by_key(|(place, _)| *place);
        found.truncate(span.limit.map_or(usize::MAX, |limit| limit as usize));
        Ok(Some(found))
    }

    pub(crate) async fn has_monitor(&self, monitor: MonitorId) -> Result<bool> {
        let found: Option<i64> = read!(self.store, |db| {
            sqlx::query_scalar("select created from monitors where id = $1 and team_id = $2")
                .bind(monitor.uuid())
                .bind(self.team.uuid())
                .fetch_optional(db)
                .await
        })?;
        Ok(found.is_some())
    }
}

impl Store {
    /// Fresh heartbeats of a span, newest first. All who read them do it here
    /// or in the next function.
    pub(crate) async fn fresh(
        &self,
        monitor: MonitorId,
        span: &Span,
    ) -> Result<Vec<(Place, Heartbeat)>> {
        let before = span.before.unwrap_or(Place { at: Millis(i64::MAX), seq: i64::MAX });
        let rows: Vec<Row> = read!(self, |db| {
            sqlx::query_as(
                "select at, seq, status, message, load_time, phases, regions
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

    /// The oldest fresh heartbeats that are no newer than `until`, in order.
    pub(crate) async fn oldest_fresh(
        &self,
        monitor: MonitorId,
        until: Millis,
        most: u32,
    ) -> Result<Vec<(Place, Heartbeat)>> {
        let rows: Vec<Row> = read!(self, |db| {
            sqlx::query_as(
                "select at, seq, status, message, load_time, phases, regions
                 from heartbeats
                 where monitor_id = $1 and at <= $2
                 order by at, seq
                 limit $3",
            )
            .bind(monitor.uuid())
            .bind(until.0)
            .bind(i64::from(most))
            .fetch_all(db)
            .await
        })?;
        rows.into_iter().map(Row::read).collect()
    }

    /// Packed heartbeats of a span, newest first. Blocks may become one between
    /// two looks: what was read before is not taken again.
    async fn packed(&self, monitor: MonitorId, span: &Span) -> Result<Vec<(Place, Heartbeat)>> {
        let Span { from, to, .. } = *span;
        let most = span.limit.map_or(usize::MAX, |limit| limit as usize);
        let mut found: Vec<(Place, Heartbeat)> = Vec::new();
        let before = span.before.unwrap_or(Place { at: Millis(i64::MAX), seq: i64::MAX });
        let mut upper = to.min(Millis(before.at.0.saturating_add(1)));
        while found.len() < most {
            let missing = most - found.len();
            let blocks = self.newest_blocks(monitor, (from, upper), missing).await?;
            let Some(oldest) = blocks.first() else { break };
            upper = Millis(oldest.from);
            let last = found.last().map_or(before, |(place, _)| *place);
            let older = aside(move || {
                let entries = blocks.iter().flat_map(|block| block.unpack(monitor)).flatten();
                let mut found: Vec<(Place, Heartbeat)> = entries
                    .map(|Entry { seq, heartbeat, .. }| {
                        (Place { at: heartbeat.at, seq }, heartbeat)
                    })
                    .filter(|(place, _)| from <= place.at && place.at < to && *place < last)
                    .collect();
                found.reverse();
                found
            });
            found.extend(older.await);
        }
        Ok(found)
    }

    /// Deletes up to `batches` small batches of heartbeats whose monitor is
    /// gone; true when none are left.
    pub async fn sweep_graves(&self, batches: u32) -> Result<bool> {
        for _ in 0..batches {
            let grave: Option<Uuid> = read!(self, |db| {
                sqlx::query_scalar("select monitor_id from graves limit 1").fetch_optional(db).await
            })?;
            let Some(grave) = grave else { return Ok(true) };
            if self.delete_heartbeats(grave).await? < BATCH.cast_unsigned()
                && self.delete_past(grave).await?
            {
                write!(self, |db| {
                    sqlx::query("delete from graves where monitor_id = $1")
                        .bind(grave)
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
            .bind(BATCH)
            .execute(db)
            .await
            .map(|done| done.rows_affected())
        })?)
    }
}
