//! Requests from one node to another: to accept a report for a monitor that the
//! other node owns, or to check that monitor now. The row is the request; the
//! bus only wakes the owner. When the owner dies, the node that takes over its
//! slots finds the row.

use uuid::Uuid;
use wakeful_core::cluster::slot::Slot;
use wakeful_core::id::{MonitorId, NodeRequestId};
use wakeful_core::time::Millis;

use crate::dialect::{either, from_row, read, write};
use crate::monitors::json;
use crate::{Result, Store};

/// A request concerning one monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRequest {
    pub id: NodeRequestId,
    pub monitor: MonitorId,
    /// JSON.
    pub body: String,
}

from_row!(NodeRequest, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
    body: row.try_get("body")?,
});

impl Store {
    /// Adds a request. Fails with `StoreError::Gone` if there is no such monitor.
    pub async fn add_node_request(&self, request: &NodeRequest) -> Result<()> {
        let now = self.lease_time().await?;
        write!(self, |db| {
            sqlx::query(
                "insert into asks (id, monitor_id, slot, body, created)
                 values ($1, $2, $3, $4, $5)",
            )
            .bind(request.id.uuid())
            .bind(request.monitor.uuid())
            .bind(i64::from(Slot::of(request.monitor).number()))
            .bind(&request.body)
            .bind(now.0)
            .execute(db)
            .await
            .map(|_| ())
        })?;
        Ok(())
    }

    /// The unanswered requests for these slots, oldest first.
    pub async fn pending_node_requests(
        &self,
        slots: &[Slot],
        limit: u32,
    ) -> Result<Vec<NodeRequest>> {
        let slots: Vec<u16> = slots.iter().map(|slot| slot.number()).collect();
        let sql = either!(
            self,
            sqlite: "select id, monitor_id, body from asks
                 where answer is null and slot in (select value from json_each($1))
                 order by id
                 limit $2",
            postgres: "select id, monitor_id, body from asks
                 where answer is null and slot in (
                     select cast(value as bigint)
                     from json_array_elements_text(cast($1 as json)))
                 order by id
                 limit $2"
        );
        Ok(read!(self, |db| {
            sqlx::query_as(sql).bind(json(&slots)).bind(i64::from(limit)).fetch_all(db).await
        })?)
    }

    /// Stores the response to a request; the first one wins.
    pub async fn answer_node_request(&self, id: NodeRequestId, answer: &str) -> Result<()> {
        write!(self, |db| {
            sqlx::query("update asks set answer = $2 where id = $1 and answer is null")
                .bind(id.uuid())
                .bind(answer)
                .execute(db)
                .await
                .map(|_| ())
        })?;
        Ok(())
    }

    /// The response, if there is one yet. Fails with `StoreError::Gone` if the request was
    /// deleted with its monitor.
    pub async fn node_request_answer(&self, id: NodeRequestId) -> Result<Option<String>> {
        let row: Option<Option<String>> = read!(self, |db| {
            sqlx::query_scalar("select answer from asks where id = $1")
                .bind(id.uuid())
                .fetch_optional(db)
                .await
        })?;
        row.ok_or(crate::StoreError::Gone)
    }

    /// Deletes requests created before `before`, by the database's clock.
    pub async fn prune_node_requests(&self, before: Millis) -> Result<()> {
        write!(self, |db| {
            sqlx::query("delete from asks where created < $1")
                .bind(before.0)
                .execute(db)
                .await
                .map(|_| ())
        })?;
        Ok::<_, crate::StoreError>(())
    }
}
