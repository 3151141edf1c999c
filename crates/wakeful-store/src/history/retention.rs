//! Letting go of what is old enough: a few rows of one monitor at a time. One
//! look at its oldest rows tells whether anything is to go.

use uuid::Uuid;
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::time::Millis;

use super::Grain;
use crate::dialect::{Pool, from_row, read, write};
use crate::{Result, Store};

/// So few rows at a time are deleted that nobody waits for it.
const BATCH: i64 = 50;

/// What is older goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub heartbeats: Millis,
    pub phases: Millis,
    pub hours: Millis,
    pub days: Millis,
}

/// How old the oldest of each kind is; of blocks, their last heartbeat.
struct Oldest {
    block: Option<i64>,
    phases: Option<i64>,
    hours: Option<i64>,
    day: Option<i64>,
    fortnight: Option<i64>,
}

from_row!(Oldest, |row| Self {
    block: row.try_get("block")?,
    phases: row.try_get("phases")?,
    hours: row.try_get("hours")?,
    day: row.try_get("day")?,
    fortnight: row.try_get("fortnight")?,
});

impl Store {
    /// The monitors behind `after` with their teams.
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

    /// Lets go of a few rows of a monitor that are beyond the limits; how many.
    pub async fn let_go(&self, monitor: MonitorId, limits: &Limits) -> Result<u64> {
        let oldest = self.oldest(monitor).await?;
        let mut gone = 0;
        for (oldest, limit, go) in [
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
        ] {
            if oldest.is_some_and(|oldest| oldest < limit.0) {
                gone += write!(self, |db| {
                    sqlx::query(go)
                        .bind(monitor.uuid())
                        .bind(limit.0)
                        .bind(BATCH)
                        .execute(db)
                        .await
                        .map(|done| done.rows_affected())
                })?;
            }
        }
        // A fortnight goes before its days: it never speaks for one that is gone.
        for (oldest, limit, grain) in [
            (oldest.hours, limits.hours, Grain::Hours),
            (oldest.fortnight, limits.days, Grain::Fortnights),
            (oldest.day, limits.days, Grain::Days),
        ] {
            if oldest.is_some_and(|oldest| oldest < limit.0) {
                gone += self.let_go_rolled(monitor, grain, limit).await?;
            }
        }
        Ok(gone)
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
                         where monitor_id = $1 and grain = $4) as fortnight",
            )
            .bind(monitor.uuid())
            .bind(Grain::Hours as i64)
            .bind(Grain::Days as i64)
            .bind(Grain::Fortnights as i64)
            .fetch_one(db)
            .await
        })?)
    }

    async fn let_go_rolled(&self, monitor: MonitorId, grain: Grain, limit: Millis) -> Result<u64> {
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
            .bind(BATCH)
            .execute(db)
            .await
            .map(|done| done.rows_affected())
        })?)
    }

    /// Deletes some of the folded past of a monitor that is gone; true when
    /// nothing is left.
    pub(crate) async fn delete_past(&self, monitor: Uuid) -> Result<bool> {
        let all = Limits {
            heartbeats: Millis(i64::MAX),
            phases: Millis(i64::MIN),
            hours: Millis(i64::MAX),
            days: Millis(i64::MAX),
        };
        if self.let_go(monitor.into(), &all).await? > 0 {
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

    /// Gives up to `pages` empty pages of the file back to the system; how many
    /// empty ones are left. PostgreSQL reuses its space by itself.
    pub async fn shrink(&self, pages: u32) -> Result<i64> {
        let Pool::Sqlite { writer, .. } = &self.pool else { return Ok(0) };
        let vacuum = sqlx::AssertSqlSafe(format!("pragma incremental_vacuum({pages})"));
        sqlx::query(vacuum).execute(writer).await?;
        self.empty_pages().await
    }

    /// How many pages of the file hold nothing.
    pub async fn empty_pages(&self) -> Result<i64> {
        let Pool::Sqlite { readers, .. } = &self.pool else { return Ok(0) };
        Ok(sqlx::query_scalar("pragma freelist_count").fetch_one(readers).await?)
    }
}
