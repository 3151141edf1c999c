//! Threads: where the first message about an alert is at an external service. Written together
//! with the outcome of that message, so that neither is there without the other.

use uuid::Uuid;
use wakeful_core::id::{AlertId, DeliveryId, NotifierId};
use wakeful_core::notifications::notifier::Notifier;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use crate::dialect::{read, within, write};
use crate::monitors::json;
use crate::{Result, Store};

/// Where a message was just sent.
#[derive(Clone, Debug)]
pub struct NewThread {
    pub alert: AlertId,
    pub thread: Thread,
    /// When it has to be sent again, if it has to.
    pub keepalive_at: Option<Millis>,
}

impl Store {
    /// Where the first message of a notifier about an alert is.
    pub async fn thread(&self, alert: AlertId, notifier: NotifierId) -> Result<Option<Thread>> {
        let found: Option<String> = read!(self, |db| {
            sqlx::query_scalar("select ref from threads where alert_id = $1 and notifier_id = $2")
                .bind(alert.uuid())
                .bind(notifier.uuid())
                .fetch_optional(db)
                .await
        })?;
        Ok(found.and_then(|text| Thread::stored(&text)))
    }

    /// Like `deliveries_succeeded`, with the place of the message. An alert that was deleted in
    /// the meantime needs none.
    pub async fn deliveries_succeeded_in_thread(
        &self,
        notifier: NotifierId,
        ids: &[DeliveryId],
        answer: &str,
        new: &NewThread,
        now: Millis,
    ) -> Result<()> {
        let mut tx = self.begin().await?;
        within!(tx, |db| {
            sqlx::query(self.succeeded_sql())
                .bind(self.id_list(ids))
                .bind(answer)
                .bind(now.0)
                .execute(&mut *db)
                .await?;
            sqlx::query(
                "insert into threads (alert_id, notifier_id, ref, keepalive_at)
                 select a.id, n.id, $3, $4 from alerts a, notifiers n
                 where a.id = $1 and n.id = $2
                 on conflict (alert_id, notifier_id) do update
                 set ref = excluded.ref, keepalive_at = excluded.keepalive_at, claims = 0",
            )
            .bind(new.alert.uuid())
            .bind(notifier.uuid())
            .bind(json(&new.thread))
            .bind(new.keepalive_at.map(|at| at.0))
            .execute(&mut *db)
            .await?;
            Ok::<_, sqlx::Error>(())
        })?;
        tx.commit().await?;
        self.record_notifier_success(notifier, now).await
    }

    /// Stores settings that the service itself has changed, unless a user has changed the
    /// notifier since it was read.
    pub async fn move_notifier(&self, notifier: &Notifier) -> Result<bool> {
        let id: Uuid = notifier.id.uuid();
        Ok(write!(self, |db| {
            sqlx::query(
                "update notifiers set config = $3, revision = revision + 1
                 where id = $1 and revision = $2",
            )
            .bind(id)
            .bind(notifier.revision)
            .bind(notifier.channel.open_part())
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?)
    }
}
