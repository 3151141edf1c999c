//! Retention: deletes expired history, a few rows of one monitor at a time. A query
//! for its oldest rows shows whether anything has expired.

use uuid::Uuid;
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::time::Millis;

use super::Grain;
use crate::dialect::{Pool, from_row, read, write};
use crate::{Result, Store};

/// Small enough that a deletion does not delay other writers.
const DELETE_BATCH: i64 = 50;

/// Data older than these times is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionLimits {
    pub heartbeats: Millis,
    pub phases: Millis,
    pub hours: Millis,
    pub days: Millis,
}

/// The time of the oldest row of each kind; for blocks, of their last heartbeat.
struct Oldest {
    block: Option<i64>,
    phases: Option<i64>,
    hours: Option<i64>,
    day: Option<i64>,
    fortnight: Option<i64>,
    exclusion: Option<i64>,
}

from_row!(Oldest, |row| Self {
    block: row.try_get("block")?,
    phases: row.try_get("phases")?,
    hours: row.try_get("hours")?,
    day: row.try_get("day")?,
    fortnight: row.try_get("fortnight")?,
    exclusion: row.try_get("exclusion")?,
});

impl Store {
    /// The monitors after `after` with their teams.
    pub async fn monitors_after(
        &self,
        after: Option<MonitorId>,
        limit: u32,
    ) -> Result<Vec<(MonitorId, TeamId)>> {
        let rows: Vec<(Uuid, Uuid)> = read!(self, |db| {
            sqlx::query_as("select id, team_id from monitors where id > $1 order by id limit $2")
                .bind(after.map_or(Uuid::nil(), MonitorId::uuid))
                .bind(i64::from(limit))
                .fetch_all(db)
                .await
        })?;
        Ok(rows.into_iter().map(|(id, team)| (id.into(), team.into())).collect())
    }

    /// Deletes a few rows of a monitor that are older than the limits; returns
    /// the number of rows.
    pub async fn delete_expired(
        &self,
        monitor: MonitorId,
        limits: &RetentionLimits,
    ) -> Result<u64> {
        let oldest = self.oldest(monitor).await?;
        let mut deleted = 0;
        for (oldest, limit, sql) in [
            (
                oldest.block,
                limits.heartbeats,
                "delete from blocks
                 where monitor_id = $1
                 and from_at in (select from_at from blocks
                                 where monitor_id = $1 and to_at < $2
                                 order by from_at limit $3)",
            ),
            (
                oldest.phases,
                limits.phases,
                "update blocks set phases = null
                 where monitor_id = $1
                 and from_at in (select from_at from blocks
                                 where monitor_id = $1 and to_at < $2 and phases is not null
                                 order by from_at limit $3)",
            ),
            // One that lasts is deleted with its monitor only, which has no limit.
            (
                oldest.exclusion,
                limits.days,
                "delete from exclusions
                 where id in (select id from exclusions
                              where monitor_id = $1 and from_at < $2
                              and coalesce(to_at, 9223372036854775806) < $2
                              order by from_at limit $3)",
            ),
        ] {
            if oldest.is_some_and(|oldest| oldest < limit.0) {
                deleted += write!(self, |db| {
                    sqlx::query(sql)
                        .bind(monitor.uuid())
                        .bind(limit.0)
                        .bind(DELETE_BATCH)
                        .execute(db)
                        .await
                        .map(|done| done.rows_affected())
                })?;
            }
        }
        // A fortnight is deleted before its days, so it never covers a deleted day.
        for (oldest, limit, grain) in [
            (oldest.hours, limits.hours, Grain::Hours),
            (oldest.fortnight, limits.days, Grain::Fortnights),
            (oldest.day, limits.days, Grain::Days),
        ] {
            if oldest.is_some_and(|oldest| oldest < limit.0) {
                deleted += self.delete_expired_rollups(monitor, grain, limit).await?;
            }
        }
        Ok(deleted)
    }

    async fn oldest(&self, monitor: MonitorId) -> Result<Oldest> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select (select to_at from blocks
                         where monitor_id = $1
                         order by from_at limit 1) as block,
                        (select to_at from blocks
                         where monitor_id = $1 and phases is not null
                         order by from_at limit 1) as phases,
                        (select min(at) from rollups
                         where monitor_id = $1 and grain = $2) as hours,
                        (select min(at) from rollups
                         where monitor_id = $1 and grain = $3) as day,
                        (select min(at) from rollups
                         where monitor_id = $1 and grain = $4) as fortnight,
                        (select min(from_at) from exclusions
                         where monitor_id = $1) as exclusion",
            )
            .bind(monitor.uuid())
            .bind(Grain::Hours as i64)
            .bind(Grain::Days as i64)
            .bind(Grain::Fortnights as i64)
            .fetch_one(db)
            .await
        })?)
    }

    async fn delete_expired_rollups(
        &self,
        monitor: MonitorId,
        grain: Grain,
        limit: Millis,
    ) -> Result<u64> {
        Ok(write!(self, |db| {
            sqlx::query(
                "delete from rollups
                 where monitor_id = $1 and grain = $2
                 and at in (select at from rollups
                            where monitor_id = $1 and grain = $2 and at < $3
                            order by at limit $4)",
            )
            .bind(monitor.uuid())
            .bind(grain as i64)
            .bind(limit.0)
            .bind(DELETE_BATCH)
            .execute(db)
            .await
            .map(|done| done.rows_affected())
        })?)
    }

    /// Deletes part of the compacted history of a deleted monitor; true when
    /// nothing is left.
    pub(crate) async fn delete_history(&self, monitor: Uuid) -> Result<bool> {
        let all = RetentionLimits {
            heartbeats: Millis(i64::MAX),
            phases: Millis(i64::MIN),
            hours: Millis(i64::MAX),
            days: Millis(i64::MAX),
        };
        if self.delete_expired(monitor.into(), &all).await? > 0 {
            return Ok(false);
        }
        write!(self, |db| {
            sqlx::query("delete from folds where monitor_id = $1")
                .bind(monitor)
                .execute(db)
                .await
                .map(|_| ())
        })?;
        Ok(true)
    }

    /// Returns up to `pages` empty pages of the file to the file system; the result
    /// is the number of empty pages left. PostgreSQL reuses its space automatically.
    pub async fn shrink(&self, pages: u32) -> Result<i64> {
        let Pool::Sqlite { writer, .. } = &self.pool else { return Ok(0) };
        let vacuum = sqlx::AssertSqlSafe(format!("pragma incremental_vacuum({pages})"));
        sqlx::query(vacuum).execute(writer).await?;
        self.empty_pages().await
    }

    /// The number of empty pages in the file.
    pub async fn empty_pages(&self) -> Result<i64> {
        let Pool::Sqlite { readers, .. } = &self.pool else { return Ok(0) };
        Ok(sqlx::query_scalar("pragma freelist_count").fetch_one(readers).await?)
    }
}
