//! What one node asks of another: to take a report about a monitor that the
//! other one holds, or to check it now. The row is the truth; the bus only
//! wakes. When the holder dies, whoever takes its slots finds the row.

use uuid::Uuid;
use wakeful_core::id::{AskId, MonitorId};
use wakeful_core::slot::Slot;
use wakeful_core::time::Millis;

use crate::dialect::{either, from_row, read, write};
use crate::monitors::json;
use crate::{Result, Store};

/// Something to be done about a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    pub id: AskId,
    pub monitor: MonitorId,
    /// JSON.
    pub body: String,
}

from_row!(Ask, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
    body: row.try_get("body")?,
});

impl Store {
    /// Asks. `Gone` when there is no such monitor.
    pub async fn add_ask(&self, ask: &Ask) -> Result<()> {
        let now = self.lease_time().await?;
        write!(self, |db| {
            sqlx::query(
                "insert into asks (id, monitor_id, slot, body, created)
                 values ($1, $2, $3, $4, $5)",
            )
            .bind(ask.id.uuid())
            .bind(ask.monitor.uuid())
            .bind(i64::from(Slot::of(ask.monitor).number()))
            .bind(&ask.body)
            .bind(now.0)
            .execute(db)
            .await
            .map(|_| ())
        })?;
        Ok(())
    }

    /// What is asked of the holder of these slots, oldest first.
    pub async fn open_asks(&self, slots: &[Slot], limit: u32) -> Result<Vec<Ask>> {
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

    /// Writes down what came of it; the first answer stays.
    pub async fn answer_ask(&self, id: AskId, answer: &str) -> Result<()> {
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

    /// The answer, once there is one; `Gone` when the question is, with its monitor.
    pub async fn ask_answer(&self, id: AskId) -> Result<Option<String>> {
        let row: Option<Option<String>> = read!(self, |db| {
            sqlx::query_scalar("select answer from asks where id = $1")
                .bind(id.uuid())
                .fetch_optional(db)
                .await
        })?;
        row.ok_or(crate::StoreError::Gone)
    }

    /// Forgets what was asked before a time of the database's clock.
    pub async fn sweep_asks(&self, before: Millis) -> Result<()> {
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
