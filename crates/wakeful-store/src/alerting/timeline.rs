//! The timeline of an alert: what happened and who did what, without its deliveries.

use std::collections::HashSet;
use uuid::Uuid;
use wakeful_core::id::{AlertId, UserId};
use wakeful_core::time::Millis;

use super::due::id_list;
use crate::dialect::{either, from_row, read};
use crate::{Result, TeamStore};

/// The most entries of a timeline that are shown, the newest ones. With that many, nobody can add
/// to it at will.
const MAX_ENTRIES: i64 = 500;

/// An entry of the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineEntry {
    pub at: Millis,
    pub kind: String,
    pub text: String,
    pub user: Option<UserId>,
    /// The user's name or else the address, or what somebody entered; empty if nobody did it,
    /// or the account was deleted.
    pub name: String,
    /// How: `web`, `api`, `link` or `webhook`.
    pub via: String,
}

struct Row {
    entry: TimelineEntry,
    account: Option<String>,
    data: Option<String>,
}

from_row!(Row, |row| Self {
    entry: TimelineEntry {
        at: Millis(row.try_get("at")?),
        kind: row.try_get("kind")?,
        text: row.try_get("text")?,
        user: row.try_get::<Option<Uuid>, _>("user_id")?.map(UserId::from),
        name: String::new(),
        via: row.try_get("via")?,
    },
    account: row.try_get("name")?,
    data: row.try_get("data")?,
});

impl Row {
    fn named(self) -> TimelineEntry {
        let entered = || {
            let data: serde_json::Value = serde_json::from_str(self.data.as_deref()?).ok()?;
            Some(data.get("name")?.as_str()?.to_owned())
        };
        let name = self.account.clone().or_else(entered).unwrap_or_default();
        TimelineEntry { name, ..self.entry }
    }
}

impl TeamStore<'_> {
    /// The timeline of an alert that `alert` has returned, oldest first.
    pub async fn timeline(&self, alert: AlertId) -> Result<Vec<TimelineEntry>> {
        let rows: Vec<Row> = read!(self.store, |db| {
            sqlx::query_as(
                "select e.at, e.kind, e.text, e.user_id, e.via, e.data,
                        case when u.name = '' then u.email else u.name end as name
                 from alert_events e
                 left join users u on u.id = e.user_id
                 where e.alert_id = $1 and e.team_id = $2
                 order by e.id desc
                 limit $3",
            )
            .bind(alert.uuid())
            .bind(self.team.uuid())
            .bind(MAX_ENTRIES)
            .fetch_all(db)
            .await
        })?;
        Ok(rows.into_iter().rev().map(Row::named).collect())
    }

    /// Those of the alerts whose timelines have as many entries as are shown.
    pub async fn full_timelines(&self, alerts: &[AlertId]) -> Result<HashSet<AlertId>> {
        let sql = either!(
            self.store,
            sqlite: "select alert_id from alert_events
                     where alert_id in (select unhex(value) from json_each($1)) and team_id = $2
                     group by alert_id
                     having count(*) >= $3",
            postgres: "select alert_id from alert_events
                       where alert_id in (
                           select cast(value as uuid)
                           from json_array_elements_text(cast($1 as json)))
                       and team_id = $2
                       group by alert_id
                       having count(*) >= $3"
        );
        let full: Vec<Uuid> = read!(self.store, |db| {
            sqlx::query_scalar(sql)
                .bind(id_list(alerts))
                .bind(self.team.uuid())
                .bind(MAX_ENTRIES)
                .fetch_all(db)
                .await
        })?;
        Ok(full.into_iter().map(AlertId::from).collect())
    }
}
