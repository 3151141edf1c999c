//! The outbox: one row for each event and notifier, written together with the
//! change of status it tells of. Whoever delivers claims rows by a lease, so
//! that two never send the same at once, and a row whose worker died is free
//! again when the lease ends. The rows of one monitor and notifier are a line:
//! none goes before an earlier one has arrived or was given up.

mod claims;
mod listed;
mod outbox;
mod outcomes;
mod sent_mails;
mod swept;

pub use claims::{ClaimedDelivery, DueDelivery, DueGroup};
pub(crate) use claims::{count_claim, crashes_before};
pub use listed::{ListedDelivery, Resent};
pub(crate) use outbox::Bell;

use std::time::Duration;
use wakeful_core::id::DeliveryId;
use wakeful_core::time::Millis;

use crate::dialect::{either, read, within};
use crate::monitors::json;
use crate::{Result, Store};

impl Store {
    /// Ids in one text, as each engine reads it best: PostgreSQL finds rows by
    /// an array through the index, whatever it knows of the table.
    pub(crate) fn listed(&self, ids: &[DeliveryId]) -> String {
        let ids: Vec<String> = ids.iter().map(|id| id.uuid().simple().to_string()).collect();
        either!(self, sqlite: json(&ids), postgres: ids.join(","))
    }

    /// Brings all that waits for another try forward by so much: the clock was
    /// set back, and it would wait for the clock to come round again.
    pub async fn bring_tries_forward(&self, by: Duration, now: Millis) -> Result<()> {
        let mut tx = self.begin().await?;
        within!(tx, |db| {
            for sql in [
                "update deliveries set next_try = next_try - $1
                 where next_try > $2 and lease_until <= $2",
                "update mails set next_try = next_try - $1
                 where next_try > $2 and lease_until <= $2",
            ] {
                sqlx::query(sql)
                    .bind(i64::try_from(by.as_millis()).unwrap_or(i64::MAX))
                    .bind(now.0)
                    .execute(&mut *db)
                    .await?;
            }
            Ok::<_, sqlx::Error>(())
        })?;
        tx.commit().await
    }

    /// How many rows wait, for the metrics.
    pub async fn deliveries_waiting(&self) -> Result<i64> {
        Ok(read!(self, |db| {
            sqlx::query_scalar("select count(*) from deliveries where next_try is not null")
                .fetch_one(db)
                .await
        })?)
    }
}
