//! Retention of deliveries and alerts. Rows are deleted in batches, so that other
//! writers wait for one batch and not for all of them.

use sqlx::{Encode, Postgres, Sqlite, Type};
use uuid::Uuid;
use wakeful_core::id::{AlertId, DeliveryId};
use wakeful_core::time::Millis;

use crate::dialect::write;
use crate::{Result, Store};

/// The number of rows that one statement deletes.
const DELETE_BATCH: i64 = 1_000;

impl Store {
    /// Deletes deliveries from before `oldest` that succeeded or were given up;
    /// true when there are more. Those of an open alert stay, because its end is
    /// sent to the same notifiers.
    pub async fn prune_deliveries(&self, oldest: Millis) -> Result<bool> {
        Ok(write!(self, |db| {
            sqlx::query(
                "delete from deliveries where id in (
                     select d.id
                     from deliveries d
                     left join alerts a on a.id = d.alert_id
                     where d.id < $1 and d.state <> 'waiting'
                     and (a.id is null or a.ended is not null)
                     order by d.id
                     limit $2)",
            )
            .bind(DeliveryId::new(oldest, [0; 10]).uuid())
            .bind(DELETE_BATCH)
            .execute(db)
            .await
            .map(|done| is_full_batch(done.rows_affected()))
        })?)
    }

    /// Deletes alerts that ended before `oldest`, with their deliveries; true when
    /// there are more.
    pub async fn prune_alerts(&self, oldest: Millis) -> Result<bool> {
        Ok(write!(self, |db| {
            sqlx::query(
                "delete from alerts where id in (
                     select id from alerts
                     where id < $1 and ended < $2
                     order by id
                     limit $3)",
            )
            .bind(AlertId::new(oldest, [0; 10]).uuid())
            .bind(oldest.0)
            .bind(DELETE_BATCH)
            .execute(db)
            .await
            .map(|done| is_full_batch(done.rows_affected()))
        })?)
    }
}

/// A value that can be bound on both databases.
pub(crate) trait Bound:
    Clone
    + Send
    + Sync
    + for<'q> Encode<'q, Sqlite>
    + Type<Sqlite>
    + for<'q> Encode<'q, Postgres>
    + Type<Postgres>
    + 'static
{
}

impl Bound for Uuid {}
impl Bound for String {}

fn is_full_batch(rows: u64) -> bool {
    rows >= DELETE_BATCH.cast_unsigned()
}
