//! Monitors of all teams, for those who check them. A row that cannot be read
//! is left out and told to the operator: one damaged monitor must not keep all
//! the others from being watched.

use futures_util::TryStreamExt as _;
use uuid::Uuid;
use wakeful_core::chain::Chain;
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::slot::Slot;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use super::row::{Row, columns, tables};
use super::{StoredMonitor, json};
use crate::dialect::{either, read};
use crate::{Keyring, Result, Store};

impl Store {
    /// The last of the next `size` active monitors behind `after`, so that they
    /// can be read a page at a time; nothing when there are no more than that.
    pub async fn page_of_active(
        &self,
        after: Option<MonitorId>,
        size: u32,
    ) -> Result<Option<MonitorId>> {
        let last: Option<Uuid> = read!(self, |db| {
            sqlx::query_scalar(
                "select id from monitors
                 where isactive and id > $1
                 order by id
                 limit 1 offset $2",
            )
            .bind(after.map_or(Uuid::nil(), MonitorId::uuid))
            .bind(i64::from(size.max(1)) - 1)
            .fetch_optional(db)
            .await
        })?;
        Ok(last.map(MonitorId::from))
    }

    /// The active ones behind `after`, up to and with `last`.
    pub async fn active_monitors(
        &self,
        after: Option<MonitorId>,
        last: Option<MonitorId>,
    ) -> Result<Vec<StoredMonitor>> {
        let mut found = Vec::new();
        read!(self, |db| {
            let mut rows = sqlx::query_as::<_, Row>(concat!(
                "select ",
                columns!(),
                " from ",
                tables!(),
                " where m.isactive and m.id > $1 and m.id <= $2 and s.monitor_id = m.id"
            ))
            .bind(after.map_or(Uuid::nil(), MonitorId::uuid))
            .bind(last.map_or(Uuid::max(), MonitorId::uuid))
            .fetch(db);
            while let Some(row) = rows.try_next().await? {
                found.extend(readable(&row, &self.keyring));
            }
        });
        Ok(found)
    }

    /// The active monitors of some slots.
    pub async fn active_in(&self, slots: &[Slot]) -> Result<Vec<StoredMonitor>> {
        let slots: Vec<String> = slots.iter().map(|slot| slot.number().to_string()).collect();
        let sql = either!(
            self,
            sqlite: concat!("select ", columns!(), " from ", tables!(), "
                 where m.isactive and s.monitor_id = m.id
                 and m.slot in (select value from json_each('[' || $1 || ']'))"),
            postgres: concat!("select ", columns!(), " from ", tables!(), "
                 where m.isactive and s.monitor_id = m.id
                 and m.slot = any(cast(string_to_array($1, ',') as bigint[]))")
        );
        let rows: Vec<Row> =
            read!(self, |db| sqlx::query_as(sql).bind(slots.join(",")).fetch_all(db).await)?;
        Ok(rows.iter().filter_map(|row| readable(row, &self.keyring)).collect())
    }

    /// Monitors that a person has saved since then, each with its revision.
    pub async fn edited_since(&self, since: Millis) -> Result<Vec<(TeamId, MonitorId, i64)>> {
        let rows: Vec<(Uuid, Uuid, i64)> = read!(self, |db| {
            sqlx::query_as("select team_id, id, revision from monitors where modified >= $1")
                .bind(since.0)
                .fetch_all(db)
                .await
        })?;
        Ok(rows
            .into_iter()
            .map(|(team, id, revision)| (team.into(), id.into(), revision))
            .collect())
    }

    /// These monitors, as far as there are any, for those who check them.
    pub async fn monitors_by_id(&self, ids: &[MonitorId]) -> Result<Vec<StoredMonitor>> {
        let rows: Vec<Row> = self.rows_by_id(ids).await?;
        Ok(rows.iter().filter_map(|row| readable(row, &self.keyring)).collect())
    }

    async fn rows_by_id(&self, ids: &[MonitorId]) -> Result<Vec<Row>> {
        let sql = either!(
            self,
            sqlite: concat!("select ", columns!(), " from ", tables!(),
                " where m.id in (select unhex(value) from json_each($1))
                 and s.monitor_id = m.id"),
            postgres: concat!("select ", columns!(), " from ", tables!(),
                " where m.id in (
                     select cast(value as uuid) from json_array_elements_text(cast($1 as json)))
                 and s.monitor_id = m.id")
        );
        let ids: Vec<String> = ids.iter().map(|id| id.uuid().simple().to_string()).collect();
        Ok(read!(self, |db| sqlx::query_as(sql).bind(json(&ids)).fetch_all(db).await)?)
    }

    /// The monitor that a push address stands for, and its team.
    pub async fn monitor_by_push(&self, digest: Digest) -> Result<Option<(TeamId, MonitorId)>> {
        let row: Option<(Uuid, Uuid)> = read!(self, |db| {
            sqlx::query_as("select team_id, id from monitors where push_digest = $1")
                .bind(&digest.0[..])
                .fetch_optional(db)
                .await
        })?;
        Ok(row.map(|(team, id)| (team.into(), id.into())))
    }
}

fn readable(row: &Row, keyring: &Keyring) -> Option<StoredMonitor> {
    let id = row.id;
    row.bare(keyring)
        .inspect_err(|error| {
            tracing::error!(monitor.id = %id, error = %Chain(error), "monitor {id} cannot be read and is not watched");
        })
        .ok()
}
