//! The groups of alerts that an Alertmanager reports as firing for a monitor. Changes of one
//! monitor take turns, so that concurrent reports lose none.

use std::time::Duration;
use uuid::Uuid;
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;

use crate::dialect::{Tx, either, read, within};
use crate::{Result, Store};

/// The most groups of a monitor.
pub const MAX_FIRING_GROUPS: usize = 1_000;
/// How many of them are named.
const MAX_GROUP_NAMES: usize = 5;
/// A group that is not reported for so long was removed from the configuration: an Alertmanager
/// repeats what is firing, every few hours.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(7 * 24 * 3600);

/// A group of alerts that an Alertmanager reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedGroup {
    pub key: String,
    /// Its name, to be shown.
    pub text: String,
    pub is_firing: bool,
}

/// The groups of a monitor that are firing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FiringGroups {
    pub count: usize,
    /// The oldest first, not all of them if there are many.
    pub names: Vec<String>,
}

macro_rules! oldest {
    () => {
        "select text from inbound where monitor_id = $1 order by since, key limit $2"
    };
}

impl Store {
    /// Adds a group that is firing, or removes one that no longer is. `None` if there are too
    /// many.
    pub async fn report_group(
        &self,
        monitor: MonitorId,
        group: &ReportedGroup,
        now: Millis,
    ) -> Result<Option<FiringGroups>> {
        let mut tx = self.begin().await?;
        // SQLite has one writer.
        let turn = either!(self,
            sqlite: "select id from monitors where id = $1",
            postgres: "select id from monitors where id = $1 for no key update");
        within!(tx, |db| {
            let found: Option<Uuid> =
                sqlx::query_scalar(turn).bind(monitor.uuid()).fetch_optional(&mut *db).await?;
            if found.is_some() && group.is_firing {
                sqlx::query(
                    "insert into inbound (monitor_id, key, text, since, seen)
                     values ($1, $2, $3, $4, $4)
                     on conflict (monitor_id, key) do update
                     set text = excluded.text, seen = excluded.seen",
                )
                .bind(monitor.uuid())
                .bind(&group.key)
                .bind(&group.text)
                .bind(now.0)
                .execute(&mut *db)
                .await?;
            }
            sqlx::query(
                "delete from inbound
                 where monitor_id = $1 and (seen < $2 or (key = $3 and not $4))",
            )
            .bind(monitor.uuid())
            .bind(now.before(FORGOTTEN_AFTER).0)
            .bind(&group.key)
            .bind(group.is_firing)
            .execute(&mut *db)
            .await?;
            Ok::<_, sqlx::Error>(())
        })?;
        let groups = read_groups(&mut tx, monitor).await?;
        if groups.count > MAX_FIRING_GROUPS {
            return Ok(None);
        }
        tx.commit().await?;
        Ok(Some(groups))
    }

    /// The groups of a monitor that are firing.
    pub async fn firing_groups(&self, monitor: MonitorId) -> Result<FiringGroups> {
        let (count, names) = read!(self, |db| {
            let count: i64 =
                sqlx::query_scalar("select count(*) from inbound where monitor_id = $1")
                    .bind(monitor.uuid())
                    .fetch_one(db)
                    .await?;
            let names: Vec<String> = sqlx::query_scalar(oldest!())
                .bind(monitor.uuid())
                .bind(MAX_GROUP_NAMES as i64)
                .fetch_all(db)
                .await?;
            (count, names)
        });
        Ok(FiringGroups { count: usize::try_from(count).unwrap_or(0), names })
    }
}

async fn read_groups(tx: &mut Tx, monitor: MonitorId) -> Result<FiringGroups> {
    let (count, names) = within!(*tx, |db| {
        let count: i64 = sqlx::query_scalar("select count(*) from inbound where monitor_id = $1")
            .bind(monitor.uuid())
            .fetch_one(&mut *db)
            .await?;
        let names: Vec<String> = sqlx::query_scalar(oldest!())
            .bind(monitor.uuid())
            .bind(MAX_GROUP_NAMES as i64)
            .fetch_all(&mut *db)
            .await?;
        (count, names)
    });
    Ok(FiringGroups { count: usize::try_from(count).unwrap_or(0), names })
}
