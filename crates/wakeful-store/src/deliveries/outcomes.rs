//! What came of sending: a delivery arrived, waits for its next try, or is
//! given up.

use uuid::Uuid;
use wakeful_core::id::{AlertId, DeliveryId, EventId, NotifierId};
use wakeful_core::notice::retry::QUIET;
use wakeful_core::time::Millis;

use crate::dialect::{either, read, within, write, write_lazily};
use crate::monitors::json;
use crate::{Result, Store};

impl Store {
    /// These arrived. Whoever claimed them meanwhile need not send them. When a
    /// power cut takes this note, they are sent once more, with the same ids.
    pub async fn deliveries_arrived(
        &self,
        notifier: NotifierId,
        ids: &[DeliveryId],
        answer: &str,
        now: Millis,
    ) -> Result<()> {
        let sql = either!(
            self,
            sqlite: "update deliveries
                 set state = 'delivered', next_try = null, lease_until = 0, last_answer = $2,
                     finished = $3, left_to = null, claims = 0
                 where id in (select unhex(value) from json_each($1))",
            postgres: "update deliveries
                 set state = 'delivered', next_try = null, lease_until = 0, last_answer = $2,
                     finished = $3, left_to = null, claims = 0
                 where id = any(cast(string_to_array($1, ',') as uuid[]))"
        );
        write_lazily!(self, |db| {
            sqlx::query(sql)
                .bind(self.listed(ids))
                .bind(answer)
                .bind(now.0)
                .execute(db)
                .await
                .map(|_| ())
        })?;
        // Apart from it: when this is lost, the next success does it.
        self.notifier_works(notifier).await
    }

    /// These arrived for some and wait for `next_try` to reach those who are left.
    /// A lease that somebody else has taken meanwhile is left alone.
    pub async fn deliveries_arrived_partly(
        &self,
        notifier: NotifierId,
        (ids, lease): (&[DeliveryId], Millis),
        answer: &str,
        left: &[String],
        next_try: Millis,
    ) -> Result<()> {
        let sql = either!(
            self,
            sqlite: "update deliveries
                 set next_try = $3, lease_until = 0, last_answer = $4, left_to = $5, claims = 0
                 where id in (select unhex(value) from json_each($1))
                 and state = 'waiting' and lease_until = $2",
            postgres: "update deliveries
                 set next_try = $3, lease_until = 0, last_answer = $4, left_to = $5, claims = 0
                 where id = any(cast(string_to_array($1, ',') as uuid[]))
                 and state = 'waiting' and lease_until = $2"
        );
        write!(self, |db| {
            sqlx::query(sql)
                .bind(self.listed(ids))
                .bind(lease.0)
                .bind(next_try.0)
                .bind(answer)
                .bind(json(left))
                .execute(db)
                .await
                .map(|_| ())
        })?;
        // What stands behind it need not wait any more.
        self.outbox.ring();
        self.notifier_works(notifier).await
    }

    /// Something arrived by this notifier: what failed before no longer counts.
    pub async fn notifier_works(&self, notifier: NotifierId) -> Result<()> {
        write_lazily!(self, |db| {
            sqlx::query(
                "update notifiers set failing_since = null
                 where id = $1 and failing_since is not null",
            )
            .bind(notifier.uuid())
            .execute(db)
            .await
            .map(|_| ())
        })?;
        Ok(())
    }

    /// These did not arrive: they wait for `next_try`, or are given up when
    /// there is none; a mail that has reached some has arrived then. Gives since
    /// when the notifier has only failed, again and again without a long silence.
    /// A lease that somebody else has taken meanwhile is left alone.
    pub async fn deliveries_failed(
        &self,
        notifier: NotifierId,
        ids: &[DeliveryId],
        lease: Millis,
        answer: &str,
        next_try: Option<Millis>,
        now: Millis,
    ) -> Result<Option<Millis>> {
        let sql = either!(
            self,
            sqlite: "update deliveries
                 set state = case when $3 = 'failed' and left_to is not null
                                  then 'delivered' else $3 end,
                     next_try = $4, lease_until = 0, last_answer = $5, finished = $6,
                     claims = 0
                 where id in (select unhex(value) from json_each($1))
                 and state = 'waiting' and lease_until = $2",
            postgres: "update deliveries
                 set state = case when $3 = 'failed' and left_to is not null
                                  then 'delivered' else $3 end,
                     next_try = $4, lease_until = 0, last_answer = $5, finished = $6,
                     claims = 0
                 where id = any(cast(string_to_array($1, ',') as uuid[]))
                 and state = 'waiting' and lease_until = $2"
        );
        let mut tx = self.begin().await?;
        let since: Option<i64> = within!(tx, |db| {
            sqlx::query(sql)
                .bind(self.listed(ids))
                .bind(lease.0)
                .bind(if next_try.is_some() { "waiting" } else { "failed" })
                .bind(next_try.map(|at| at.0))
                .bind(answer)
                .bind(next_try.is_none().then_some(now.0))
                .execute(&mut *db)
                .await?;
            sqlx::query_scalar(
                "update notifiers
                 set failing_since = case when failed_at >= $3
                                          then coalesce(failing_since, $2) else $2 end,
                     failed_at = $2
                 where id = $1
                 returning failing_since",
            )
            .bind(notifier.uuid())
            .bind(now.0)
            .bind(now.before(QUIET).0)
            .fetch_optional(&mut *db)
            .await
        })?;
        tx.commit().await?;
        Ok(since.map(Millis))
    }

    /// Gives these up without blaming the receiver; a mail that has reached some has
    /// arrived then. A lease that somebody else has taken meanwhile is left alone.
    pub async fn give_up_deliveries(
        &self,
        ids: &[DeliveryId],
        lease: Millis,
        answer: &str,
        now: Millis,
    ) -> Result<()> {
        let sql = either!(
            self,
            sqlite: "update deliveries
                 set state = case when left_to is null then 'failed' else 'delivered' end,
                     next_try = null, lease_until = 0, last_answer = $3, finished = $4, claims = 0
                 where id in (select unhex(value) from json_each($1))
                 and state = 'waiting' and lease_until = $2",
            postgres: "update deliveries
                 set state = case when left_to is null then 'failed' else 'delivered' end,
                     next_try = null, lease_until = 0, last_answer = $3, finished = $4, claims = 0
                 where id = any(cast(string_to_array($1, ',') as uuid[]))
                 and state = 'waiting' and lease_until = $2"
        );
        write!(self, |db| {
            sqlx::query(sql)
                .bind(self.listed(ids))
                .bind(lease.0)
                .bind(answer)
                .bind(now.0)
                .execute(db)
                .await
                .map(|_| ())
        })?;
        // The rows behind these in their lines need not wait any more.
        self.outbox.ring();
        Ok(())
    }

    /// The event that told this notifier of the outage, for the letter that
    /// answers it.
    pub async fn outage_event(
        &self,
        alert: AlertId,
        notifier: NotifierId,
    ) -> Result<Option<EventId>> {
        let event: Option<Uuid> = read!(self, |db| {
            sqlx::query_scalar(
                "select eventid from deliveries
                 where alert_id = $1 and notifier_id = $2 and kind = 'monitor.down'",
            )
            .bind(alert.uuid())
            .bind(notifier.uuid())
            .fetch_optional(db)
            .await
        })?;
        Ok(event.map(EventId::from))
    }
}
