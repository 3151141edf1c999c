//! Messages and alerts that have had their day. They go a batch at a time, so
//! that whoever writes beside waits for one batch and not for all of them.

use uuid::Uuid;
use wakeful_core::id::{AlertId, DeliveryId, MonitorId, NotifierId};
use wakeful_core::time::Millis;

use crate::dialect::write;
use crate::{Result, Store, TeamStore};

/// How many rows one statement deletes.
const BATCH: i64 = 1_000;

impl Store {
    /// Lets go of messages from before `oldest` that arrived or were given up;
    /// true when there are more. Those of an alert that is open stay: who was
    /// told of it is told of its end.
    pub async fn sweep_deliveries(&self, oldest: Millis) -> Result<bool> {
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
            .bind(BATCH)
            .execute(db)
            .await
            .map(|done| is_batch(done.rows_affected()))
        })?)
    }

    /// Lets go of alerts that ended before `oldest`, with their messages; true
    /// when there are more.
    pub async fn sweep_alerts(&self, oldest: Millis) -> Result<bool> {
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
            .bind(BATCH)
            .execute(db)
            .await
            .map(|done| is_batch(done.rows_affected()))
        })?)
    }
}

impl TeamStore<'_> {
    /// Empties a notifier that no monitor tells by of what it has sent, before
    /// it is deleted.
    pub async fn empty_notifier(&self, id: NotifierId) -> Result<()> {
        self.empty(
            id.uuid(),
            "delete from deliveries where id in (
                 select d.id
                 from deliveries d
                 where d.notifier_id = $1 and d.team_id = $2 and d.state <> 'waiting'
                 and not exists (select 1 from monitor_notifiers l where l.notifier_id = $1)
                 limit $3)",
        )
        .await
    }

    /// Empties a monitor of what was sent about it, before it is deleted.
    pub async fn empty_monitor(&self, id: MonitorId) -> Result<()> {
        self.empty(
            id.uuid(),
            "delete from deliveries where id in (
                 select d.id
                 from deliveries d
                 where d.monitor_id = $1 and d.team_id = $2 and d.state <> 'waiting'
                 limit $3)",
        )
        .await
    }

    async fn empty(&self, id: Uuid, batch: &'static str) -> Result<()> {
        loop {
            let more = write!(self.store, |db| {
                sqlx::query(batch)
                    .bind(id)
                    .bind(self.team.uuid())
                    .bind(BATCH)
                    .execute(db)
                    .await
                    .map(|done| is_batch(done.rows_affected()))
            })?;
            if !more {
                return Ok(());
            }
        }
    }
}

fn is_batch(rows: u64) -> bool {
    rows >= BATCH.cast_unsigned()
}
