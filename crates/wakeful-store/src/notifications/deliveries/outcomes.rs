//! The outcomes of sending: a delivery succeeded, waits for its next attempt, or
//! is given up.

use uuid::Uuid;
use wakeful_core::id::{AlertId, DeliveryId, EventId, NotifierId};
use wakeful_core::notifications::recipients::Recipients;
use wakeful_core::notifications::retry::FAILURE_STREAK_GAP;
use wakeful_core::time::Millis;

use crate::dialect::{either, read, within, write, write_lazily};
use crate::monitors::json;
use crate::{DeliveryClaim, Result, Store};

impl Store {
    /// Records how the mail server responded to the recipients of these deliveries.
    /// Recorded before the outcome: if the process ends in between, the mail is sent
    /// again, and this is repeated.
    pub async fn record_recipients(
        &self,
        ids: &[DeliveryId],
        recipients: &Recipients,
    ) -> Result<()> {
        let sql = either!(
            self,
            sqlite: "update deliveries set recipients = $2
                 where id in (select unhex(value) from json_each($1))",
            postgres: "update deliveries set recipients = $2
                 where id = any(cast(string_to_array($1, ',') as uuid[]))"
        );
        write_lazily!(self, |db| {
            let query = sqlx::query(sql).bind(self.id_list(ids)).bind(json(recipients));
            query.execute(db).await.map(|_| ())
        })?;
        Ok(())
    }

    /// Marks deliveries as delivered, even if another worker has claimed them in
    /// the meantime.
    pub(crate) fn succeeded_sql(&self) -> &'static str {
        either!(
            self,
            sqlite: "update deliveries
                 set state = 'delivered', next_try = null, lease_until = 0, last_answer = $2,
                     finished = $3, left_to = null, claims = 0
                 where id in (select unhex(value) from json_each($1))",
            postgres: "update deliveries
                 set state = 'delivered', next_try = null, lease_until = 0, last_answer = $2,
                     finished = $3, left_to = null, claims = 0
                 where id = any(cast(string_to_array($1, ',') as uuid[]))"
        )
    }

    /// Marks deliveries as delivered. If a power failure loses this write, they are sent again
    /// with the same ids.
    pub async fn deliveries_succeeded(
        &self,
        notifier: NotifierId,
        ids: &[DeliveryId],
        answer: &str,
        now: Millis,
    ) -> Result<()> {
        let sql = self.succeeded_sql();
        write_lazily!(self, |db| {
            sqlx::query(sql)
                .bind(self.id_list(ids))
                .bind(answer)
                .bind(now.0)
                .execute(db)
                .await
                .map(|_| ())
        })?;
        // A separate write: if it is lost, the next success repeats it.
        self.record_notifier_success(notifier, now).await
    }

    /// Marks deliveries as delivered to some recipients, and schedules `next_try`
    /// for the others. Leases of other workers are not affected.
    pub async fn deliveries_partially_succeeded(
        &self,
        notifier: NotifierId,
        claim: DeliveryClaim<'_>,
        answer: &str,
        left: &[String],
        next_try: Millis,
        now: Millis,
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
                .bind(self.id_list(claim.ids))
                .bind(claim.lease.0)
                .bind(next_try.0)
                .bind(answer)
                .bind(json(left))
                .execute(db)
                .await
                .map(|_| ())
        })?;
        // Later rows of the queue no longer have to wait.
        self.outbox.notify_any();
        self.record_notifier_success(notifier, now).await
    }

    /// Ends the failure streak of a notifier after a success. A notifier that is
    /// healthy already is not written.
    pub async fn record_notifier_success(&self, notifier: NotifierId, now: Millis) -> Result<()> {
        write_lazily!(self, |db| {
            sqlx::query(
                "update notifiers
                 set failing_since = null, healthy_since = $2, last_error = ''
                 where id = $1 and (failing_since is not null or healthy_since is null)",
            )
            .bind(notifier.uuid())
            .bind(now.0)
            .execute(db)
            .await
            .map(|_| ())
        })?;
        Ok(())
    }

    /// Schedules `next_try` for failed deliveries, or gives them up when it is
    /// `None`; a mail that has reached some recipients then counts as delivered.
    /// Returns the start of the notifier's failure streak: only failures, without
    /// a long gap. Leases of other workers are not affected.
    pub async fn deliveries_failed(
        &self,
        notifier: NotifierId,
        claim: DeliveryClaim<'_>,
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
                .bind(self.id_list(claim.ids))
                .bind(claim.lease.0)
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
                     failed_at = $2, healthy_since = null, last_error = $4
                 where id = $1
                 returning failing_since",
            )
            .bind(notifier.uuid())
            .bind(now.0)
            .bind(now.before(FAILURE_STREAK_GAP).0)
            .bind(answer)
            .fetch_optional(&mut *db)
            .await
        })?;
        tx.commit().await?;
        Ok(since.map(Millis))
    }

    /// Gives deliveries up without counting a failure of the notifier; a mail that
    /// has reached some recipients then counts as delivered. Leases of other workers
    /// are not affected.
    pub async fn give_up_deliveries(
        &self,
        claim: DeliveryClaim<'_>,
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
                .bind(self.id_list(claim.ids))
                .bind(claim.lease.0)
                .bind(answer)
                .bind(now.0)
                .execute(db)
                .await
                .map(|_| ())
        })?;
        // Later rows of the queues no longer have to wait.
        self.outbox.notify_any();
        Ok(())
    }

    /// The event that reported the outage to this notifier, so that a later mail can
    /// reply to it.
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
