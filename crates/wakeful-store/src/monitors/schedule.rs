//! Monitors of all teams, for the scheduler. A row that cannot be read is skipped
//! and logged: one damaged monitor must not stop the checks of all others.

use futures_util::TryStreamExt as _;
use uuid::Uuid;
use wakeful_core::cluster::slot::Slot;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use super::row::{Row, columns, tables};
use super::{StoredMonitor, id_array};
use crate::deletion::deleted_teams;
use crate::dialect::{either, read};
use crate::{Keyring, Result, Store};

impl Store {
    /// The last of the next `size` active monitors after `after`, so that they can
    /// be read page by page; `None` when fewer than `size` are left.
    pub async fn active_page_end(
        &self,
        after: Option<MonitorId>,
        size: u32,
    ) -> Result<Option<MonitorId>> {
        let last: Option<Uuid> = read!(self, |db| {
            sqlx::query_scalar(concat!(
                "select id from monitors
                 where isactive and id > $1 and team_id not in ",
                deleted_teams!(),
                " order by id
                 limit 1 offset $2"
            ))
            .bind(after.map_or(Uuid::nil(), MonitorId::uuid))
            .bind(i64::from(size.max(1)) - 1)
            .fetch_optional(db)
            .await
        })?;
        Ok(last.map(MonitorId::from))
    }

    /// The active monitors after `after`, up to and including `last`.
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
                " where m.isactive and m.id > $1 and m.id <= $2 and s.monitor_id = m.id
                  and m.team_id not in ",
                deleted_teams!()
            ))
            .bind(after.map_or(Uuid::nil(), MonitorId::uuid))
            .bind(last.map_or(Uuid::max(), MonitorId::uuid))
            .fetch(db);
            while let Some(mut row) = rows.try_next().await? {
                found.extend(readable(&mut row, &self.keyring));
            }
        });
        Ok(found)
    }

    /// The active monitors of these slots.
    pub async fn active_in_slots(&self, slots: &[Slot]) -> Result<Vec<StoredMonitor>> {
        let slots: Vec<String> = slots.iter().map(|slot| slot.number().to_string()).collect();
        let sql = either!(
            self,
            sqlite: concat!("select ", columns!(), " from ", tables!(), "
                 where m.isactive and s.monitor_id = m.id
                 and m.slot in (select value from json_each('[' || $1 || ']'))
                 and m.team_id not in ", deleted_teams!()),
            postgres: concat!("select ", columns!(), " from ", tables!(), "
                 where m.isactive and s.monitor_id = m.id
                 and m.slot = any(cast(string_to_array($1, ',') as bigint[]))
                 and m.team_id not in ", deleted_teams!())
        );
        let mut rows: Vec<Row> =
            read!(self, |db| sqlx::query_as(sql).bind(slots.join(",")).fetch_all(db).await)?;
        Ok(rows.iter_mut().filter_map(|row| readable(row, &self.keyring)).collect())
    }

    /// The monitors whose settings were saved since then, each with its revision.
    pub async fn saved_since(&self, since: Millis) -> Result<Vec<(TeamId, MonitorId, i64)>> {
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

    /// Those of these monitors that exist, for the scheduler.
    pub async fn monitors_by_id(&self, ids: &[MonitorId]) -> Result<Vec<StoredMonitor>> {
        let mut rows: Vec<Row> = self.rows_by_id(ids).await?;
        Ok(rows.iter_mut().filter_map(|row| readable(row, &self.keyring)).collect())
    }

    async fn rows_by_id(&self, ids: &[MonitorId]) -> Result<Vec<Row>> {
        let sql = either!(
            self,
            sqlite: concat!("select ", columns!(), " from ", tables!(),
                " where m.id in (select unhex(value) from json_each($1))
                 and s.monitor_id = m.id and m.team_id not in ", deleted_teams!()),
            postgres: concat!("select ", columns!(), " from ", tables!(),
                " where m.id in (
                     select cast(value as uuid) from json_array_elements_text(cast($1 as json)))
                 and s.monitor_id = m.id and m.team_id not in ", deleted_teams!())
        );
        Ok(read!(self, |db| sqlx::query_as(sql).bind(id_array(ids)).fetch_all(db).await)?)
    }

    /// The monitor that a push URL belongs to, and its team.
    pub async fn monitor_by_push_token(
        &self,
        digest: Digest,
    ) -> Result<Option<(TeamId, MonitorId)>> {
        let row: Option<(Uuid, Uuid)> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select team_id, id from monitors where push_digest = $1 and team_id not in ",
                deleted_teams!()
            ))
            .bind(&digest.0[..])
            .fetch_optional(db)
            .await
        })?;
        Ok(row.map(|(team, id)| (team.into(), id.into())))
    }
}

fn readable(row: &mut Row, keyring: &Keyring) -> Option<StoredMonitor> {
    let id = row.id;
    row.without_links(keyring)
        .inspect_err(|error| {
            tracing::error!(monitor.id = %id, error = %ErrorChain(error), "reading monitor {id} failed, it is not checked");
        })
        .ok()
}
