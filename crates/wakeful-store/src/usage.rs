//! How much of its plan a team uses, and what becomes of what is too much.

use sqlx::Error;
use uuid::Uuid;
use wakeful_core::billing::{Fall, Kept};
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::time::Millis;

use crate::dialect::{from_row, read, within, write};
use crate::history::Grain;
use crate::{Mail, Result, Store, TeamStore, mails};

/// How much of its plan a team uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    pub active_monitors: i64,
    /// Active monitors with an interval below the plan's.
    pub too_often: i64,
    pub users: i64,
}

struct KeptRow {
    days: Option<i64>,
    fall_days: Option<i64>,
    fall_at: Option<i64>,
}

from_row!(KeptRow, |row| Self {
    days: row.try_get("history_days")?,
    fall_days: row.try_get("history_fall_days")?,
    fall_at: row.try_get("history_fall_at")?,
});

impl KeptRow {
    fn kept(self) -> Kept {
        let days = |days: i64| u32::try_from(days).unwrap_or(u32::MAX);
        let fall = self.fall_days.zip(self.fall_at);
        Kept {
            days: self.days.map(days),
            fall: fall.map(|(kept, at)| Fall { days: days(kept), at: Millis(at) }),
        }
    }
}

impl TeamStore<'_> {
    /// How much the team uses, given the shortest interval of its plan.
    pub async fn usage(&self, shortest_interval: u32) -> Result<Use> {
        let (active_monitors, too_often, users): (i64, i64, i64) = read!(self.store, |db| {
            sqlx::query_as(
                "select (select count(*) from monitors where team_id = $1 and isactive),
                        (select count(*) from monitors
                         where team_id = $1 and isactive and heartbeat_interval < $2),
                        (select count(*) from users where team_id = $1)",
            )
            .bind(self.team.uuid())
            .bind(i64::from(shortest_interval))
            .fetch_one(db)
            .await
        })?;
        Ok(Use { active_monitors, too_often, users })
    }

    /// Since when the team uses too much; nothing when it does not.
    pub async fn over_since(&self) -> Result<Option<Millis>> {
        let since: Option<Option<i64>> = read!(self.store, |db| {
            sqlx::query_scalar("select over_since from teams where id = $1")
                .bind(self.team.uuid())
                .fetch_optional(db)
                .await
        })?;
        Ok(since.flatten().map(Millis))
    }

    /// Notes that the team uses too much from now on, together with what it is
    /// told; false when that was noted before.
    pub async fn over_from(&self, now: Millis, told: &[Mail]) -> Result<bool> {
        let told: Vec<_> =
            told.iter().map(|mail| mails::sealed(&self.store.keyring, mail)).collect();
        let mut tx = self.store.begin().await?;
        let noted = within!(tx, |db| {
            let done = sqlx::query(
                "update teams set over_since = $2 where id = $1 and over_since is null",
            )
            .bind(self.team.uuid())
            .bind(now.0)
            .execute(&mut *db)
            .await?;
            let noted = done.rows_affected() == 1;
            if noted {
                for mail in &told {
                    mails::insert!(db, mail, now)?;
                }
            }
            Ok::<_, Error>(noted)
        })?;
        tx.commit().await?;
        Ok(noted)
    }

    /// Notes that the team no longer uses too much.
    pub async fn over_no_more(&self) -> Result<()> {
        write!(self.store, |db| {
            sqlx::query("update teams set over_since = null where id = $1")
                .bind(self.team.uuid())
                .execute(db)
                .await
                .map(|_| ())
        })?;
        Ok(())
    }

    /// What was decided last about how much of its history the team keeps.
    pub async fn kept_history(&self) -> Result<Kept> {
        let row: Option<KeptRow> = read!(self.store, |db| {
            sqlx::query_as(
                "select history_days, history_fall_days, history_fall_at
                 from teams
                 where id = $1",
            )
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        Ok(row.map(KeptRow::kept).unwrap_or_default())
    }

    /// Notes how much of its history the team keeps from now on, together with
    /// what it is told; false when another caller changed it meanwhile.
    pub async fn keep_history(
        &self,
        before: Kept,
        after: Kept,
        told: &[Mail],
        now: Millis,
    ) -> Result<bool> {
        let told: Vec<_> =
            told.iter().map(|mail| mails::sealed(&self.store.keyring, mail)).collect();
        let mut tx = self.store.begin().await?;
        let changed = within!(tx, |db| {
            let done = sqlx::query(
                "update teams
                 set history_days = $2, history_fall_days = $3, history_fall_at = $4
                 where id = $1 and coalesce(history_days, -1) = $5
                 and coalesce(history_fall_at, -1) = $6",
            )
            .bind(self.team.uuid())
            .bind(after.days.map(i64::from))
            .bind(after.fall.map(|fall| i64::from(fall.days)))
            .bind(after.fall.map(|fall| fall.at.0))
            .bind(before.days.map_or(-1, i64::from))
            .bind(before.fall.map_or(-1, |fall| fall.at.0))
            .execute(&mut *db)
            .await?;
            let changed = done.rows_affected() == 1;
            if changed {
                for mail in &told {
                    mails::insert!(db, mail, now)?;
                }
            }
            Ok::<_, Error>(changed)
        })?;
        tx.commit().await?;
        Ok(changed)
    }

    /// The oldest day that is known of any of the team's monitors.
    pub async fn oldest_day(&self) -> Result<Option<Millis>> {
        let oldest: Option<i64> = read!(self.store, |db| {
            // Asked of each monitor by itself, which its index answers.
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

    /// Sets inactive what is over the limits: the newest monitors, all but the
    /// `most` oldest, and those with too short an interval. Answers which.
    pub async fn rest_newest(
        &self,
        most: u32,
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
            .bind(i64::from(most))
            .bind(now.0)
            .bind(i64::from(shortest_interval))
            .fetch_all(db)
            .await
        })?;
        Ok(ids.into_iter().map(Into::into).collect())
    }
}

impl Store {
    /// Forgets what plans allowed of the past: without limits it grows again,
    /// and limits that come back are new to every team.
    pub async fn forget_kept_history(&self) -> Result<u64> {
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

    /// Teams behind `after` that may use too much, with a membership or without:
    /// those with more active monitors or shorter intervals than the smallest
    /// plan has, and those that were told so.
    pub async fn teams_to_watch(
        &self,
        after: TeamId,
        monitors: u32,
        shortest_interval: u32,
        most: u32,
    ) -> Result<Vec<TeamId>> {
        let teams: Vec<Uuid> = read!(self, |db| {
            sqlx::query_scalar(
                "select team_id from monitors
                 where team_id > $1 and isactive
                 group by team_id
                 having count(*) > $2 or min(heartbeat_interval) < $3
                 union
                 select id from teams where id > $1 and over_since is not null
                 order by 1
                 limit $4",
            )
            .bind(after.uuid())
            .bind(i64::from(monitors))
            .bind(i64::from(shortest_interval))
            .bind(i64::from(most))
            .fetch_all(db)
            .await
        })?;
        Ok(teams.into_iter().map(Into::into).collect())
    }
}
