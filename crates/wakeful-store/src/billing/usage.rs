//! A team's usage of its plan, and the enforcement of the plan's limits.

use uuid::Uuid;
use wakeful_core::billing::{PendingReduction, Retention};
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::time::Millis;

use crate::deletion::deleted_teams;
use crate::dialect::{from_row, read, within, write};
use crate::history::Grain;
use crate::{Mail, Result, Store, TeamStore, mail};

/// A team's usage of its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    pub active_monitors: i64,
    /// Active monitors with an interval below the plan's.
    pub too_often: i64,
    pub users: i64,
}

struct RetentionRow {
    days: Option<i64>,
    pending_days: Option<i64>,
    pending_at: Option<i64>,
}

from_row!(RetentionRow, |row| Self {
    days: row.try_get("history_days")?,
    pending_days: row.try_get("history_fall_days")?,
    pending_at: row.try_get("history_fall_at")?,
});

impl RetentionRow {
    fn retention(self) -> Retention {
        let days = |days: i64| u32::try_from(days).unwrap_or(u32::MAX);
        let pending = self.pending_days.zip(self.pending_at);
        Retention {
            days: self.days.map(days),
            pending: pending
                .map(|(count, at)| PendingReduction { days: days(count), at: Millis(at) }),
        }
    }
}

impl TeamStore<'_> {
    /// The team's usage, given the shortest interval of its plan.
    pub async fn usage(&self, shortest_interval: u32) -> Result<Usage> {
        let (active_monitors, too_often, users): (i64, i64, i64) = read!(self.store, |db| {
            sqlx::query_as(
                "select (select count(*) from monitors where team_id = $1 and isactive),
                        (select count(*) from monitors
                         where team_id = $1 and isactive and heartbeat_interval < $2),
                        (select count(*) from members m join users u on u.id = m.user_id
                         where m.team_id = $1 and u.kind = 'person')",
            )
            .bind(self.team.uuid())
            .bind(i64::from(shortest_interval))
            .fetch_one(db)
            .await
        })?;
        Ok(Usage { active_monitors, too_often, users })
    }

    /// Since when the team has been over its limits; `None` when it is within them.
    pub async fn over_limit_since(&self) -> Result<Option<Millis>> {
        let since: Option<Option<i64>> = read!(self.store, |db| {
            sqlx::query_scalar("select over_since from teams where id = $1")
                .bind(self.team.uuid())
                .fetch_optional(db)
                .await
        })?;
        Ok(since.flatten().map(Millis))
    }

    /// Marks the team as over its limits, together with the mails that notify it;
    /// false when it was marked already.
    pub async fn mark_over_limit(&self, now: Millis, mails: &[Mail]) -> Result<bool> {
        let mails: Vec<_> =
            mails.iter().map(|mail| mail::sealed(&self.store.keyring, mail)).collect();
        let mut tx = self.begin().await?;
        let noted = within!(tx, |db| {
            sqlx::query("update teams set over_since = $2 where id = $1 and over_since is null")
                .bind(self.team.uuid())
                .bind(now.0)
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?;
        if noted {
            for mail in &mails {
                mail::insert(&mut tx, mail, now).await?;
            }
        }
        tx.commit().await?;
        Ok(noted)
    }

    /// Marks the team as within its limits again.
    pub async fn clear_over_limit(&self) -> Result<()> {
        write!(self.store, |db| {
            sqlx::query("update teams set over_since = null where id = $1")
                .bind(self.team.uuid())
                .execute(db)
                .await
                .map(|_| ())
        })?;
        Ok(())
    }

    /// The retention period last set for the team's history.
    pub async fn history_retention(&self) -> Result<Retention> {
        let row: Option<RetentionRow> = read!(self.store, |db| {
            sqlx::query_as(
                "select history_days, history_fall_days, history_fall_at
                 from teams
                 where id = $1",
            )
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        Ok(row.map(RetentionRow::retention).unwrap_or_default())
    }

    /// Sets the retention period of the team's history, together with the mails
    /// that announce it; false when another caller changed it in the meantime.
    pub async fn set_history_retention(
        &self,
        before: Retention,
        after: Retention,
        mails: &[Mail],
        now: Millis,
    ) -> Result<bool> {
        let mails: Vec<_> =
            mails.iter().map(|mail| mail::sealed(&self.store.keyring, mail)).collect();
        let mut tx = self.begin().await?;
        let changed = within!(tx, |db| {
            sqlx::query(
                "update teams
                 set history_days = $2, history_fall_days = $3, history_fall_at = $4
                 where id = $1 and coalesce(history_days, -1) = $5
                 and coalesce(history_fall_at, -1) = $6",
            )
            .bind(self.team.uuid())
            .bind(after.days.map(i64::from))
            .bind(after.pending.map(|pending| i64::from(pending.days)))
            .bind(after.pending.map(|pending| pending.at.0))
            .bind(before.days.map_or(-1, i64::from))
            .bind(before.pending.map_or(-1, |pending| pending.at.0))
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if changed {
            for mail in &mails {
                mail::insert(&mut tx, mail, now).await?;
            }
        }
        tx.commit().await?;
        Ok(changed)
    }

    /// The oldest day in the history of any of the team's monitors.
    pub async fn oldest_day(&self) -> Result<Option<Millis>> {
        let oldest: Option<i64> = read!(self.store, |db| {
            // One subquery for each monitor, which the index answers.
            sqlx::query_scalar(
                "select min(oldest)
                 from (select (select min(at) from rollups
                               where monitor_id = monitors.id and grain = $2) as oldest
                       from monitors
                       where team_id = $1) of_each",
            )
            .bind(self.team.uuid())
            .bind(Grain::Days as i64)
            .fetch_one(db)
            .await
        })?;
        Ok(oldest.map(Millis))
    }

    /// Deactivates the monitors over the limits: all but the `limit` oldest, and
    /// those with too short an interval. Returns their ids.
    pub async fn deactivate_over_limit(
        &self,
        limit: u32,
        shortest_interval: u32,
        now: Millis,
    ) -> Result<Vec<MonitorId>> {
        let ids: Vec<Uuid> = write!(self.store, |db| {
            sqlx::query_scalar(
                "update monitors
                 set isactive = false, revision = revision + 1, modified = $3
                 where team_id = $1 and isactive and (
                     heartbeat_interval < $4
                     or id not in (
                         select id from monitors
                         where team_id = $1 and isactive and heartbeat_interval >= $4
                         order by id
                         limit $2))
                 returning id",
            )
            .bind(self.team.uuid())
            .bind(i64::from(limit))
            .bind(now.0)
            .bind(i64::from(shortest_interval))
            .fetch_all(db)
            .await
        })?;
        Ok(ids.into_iter().map(Into::into).collect())
    }
}

impl Store {
    /// Clears the retention periods set by plans. Without limits the history
    /// grows again, and limits that are set later are new to every team.
    pub async fn clear_history_retention(&self) -> Result<u64> {
        Ok(write!(self, |db| {
            sqlx::query(
                "update teams
                 set history_days = null, history_fall_days = null, history_fall_at = null
                 where history_days is not null or history_fall_at is not null",
            )
            .execute(db)
            .await
            .map(|done| done.rows_affected())
        })?)
    }

    /// Teams after `after` that may be over their limits, with or without a
    /// membership: those with more active monitors or shorter intervals than the
    /// smallest plan allows, and those already marked.
    pub async fn teams_possibly_over_limit(
        &self,
        after: TeamId,
        monitors: u32,
        shortest_interval: u32,
        limit: u32,
    ) -> Result<Vec<TeamId>> {
        let teams: Vec<Uuid> = read!(self, |db| {
            sqlx::query_scalar(concat!(
                "select team_id from monitors
                 where team_id > $1 and isactive and team_id not in ",
                deleted_teams!(),
                " group by team_id
                 having count(*) > $2 or min(heartbeat_interval) < $3
                 union
                 select id from teams where id > $1 and over_since is not null
                 order by 1
                 limit $4"
            ))
            .bind(after.uuid())
            .bind(i64::from(monitors))
            .bind(i64::from(shortest_interval))
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?;
        Ok(teams.into_iter().map(Into::into).collect())
    }
}
