//! Retention of deliveries and alerts. Rows are deleted in batches, so that other
//! writers wait for one batch and not for all of them.

use sqlx::{Encode, Postgres, Sqlite, Type};
use uuid::Uuid;
use wakeful_core::id::{AlertId, DeliveryId, MonitorId, NotifierId};
use wakeful_core::time::Millis;

use crate::dialect::{either, write};
use crate::monitors::id_array;
use crate::{Result, Store, TeamStore};

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

impl TeamStore<'_> {
    /// Deletes the finished deliveries of a notifier that no monitor uses, before
    /// the notifier is deleted.
    pub async fn delete_notifier_deliveries(&self, id: NotifierId) -> Result<()> {
        // The plus keeps SQLite from reading all deliveries of the team.
        let batch = either!(
            self.store,
            sqlite: "delete from deliveries where id in (
                 select d.id
                 from deliveries d
                 where d.notifier_id = $1 and +d.team_id = $2 and d.state <> 'waiting'
                 and not exists (select 1 from monitor_notifiers l where l.notifier_id = $1)
                 limit $3)",
            postgres: "delete from deliveries where id in (
                 select d.id
                 from deliveries d
                 where d.notifier_id = $1 and d.team_id = $2 and d.state <> 'waiting'
                 and not exists (select 1 from monitor_notifiers l where l.notifier_id = $1)
                 limit $3)"
        );
        self.delete_in_batches(batch, id.uuid()).await
    }

    /// Deletes the finished deliveries of monitors, before the monitors are deleted.
    pub async fn delete_monitor_deliveries(&self, monitors: &[MonitorId]) -> Result<()> {
        // The plus keeps SQLite from reading all deliveries of the team for each monitor.
        let batch = either!(
            self.store,
            sqlite: "delete from deliveries where id in (
                 select d.id
                 from json_each($1) r
                 cross join deliveries d
                 where d.monitor_id = unhex(r.value) and +d.team_id = $2 and d.state <> 'waiting'
                 limit $3)",
            postgres: "delete from deliveries where id in (
                 select d.id
                 from json_array_elements_text(cast($1 as json)) r
                 join deliveries d on d.monitor_id = cast(r.value as uuid)
                 where d.team_id = $2 and d.state <> 'waiting'
                 limit $3)"
        );
        self.delete_in_batches(batch, id_array(monitors)).await
    }

    /// Deletes all deliveries of a team, before the team is deleted.
    pub async fn delete_deliveries(&self) -> Result<()> {
        let batch = "delete from deliveries where id in (
                 select id from deliveries where team_id = $1 and team_id = $2 limit $3)";
        self.delete_in_batches(batch, self.team.uuid()).await
    }

    /// Repeats a deletion until a batch is not full. Binds `which`, the team and the size
    /// of a batch.
    async fn delete_in_batches<T: Bound>(&self, batch: &'static str, which: T) -> Result<()> {
        loop {
            let more = write!(self.store, |db| {
                sqlx::query(batch)
                    .bind(which.clone())
                    .bind(self.team.uuid())
                    .bind(DELETE_BATCH)
                    .execute(db)
                    .await
                    .map(|done| is_full_batch(done.rows_affected()))
            })?;
            if !more {
                return Ok(());
            }
        }
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
