//! How much of its plan a team uses, and what becomes of what is too much.

use uuid::Uuid;
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::time::Millis;

use crate::dialect::{read, write};
use crate::{Result, Store, TeamStore};

/// How much of its plan a team uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    pub active_monitors: i64,
    /// Active monitors with an interval below the plan's.
    pub too_often: i64,
    pub users: i64,
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

    /// Notes since when the team uses too much; nothing when it no longer does.
    pub async fn set_over_since(&self, since: Option<Millis>) -> Result<()> {
        write!(self.store, |db| {
            sqlx::query("update teams set over_since = $2 where id = $1")
                .bind(self.team.uuid())
                .bind(since.map(|at| at.0))
                .execute(db)
                .await
                .map(|_| ())
        })?;
        Ok(())
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
