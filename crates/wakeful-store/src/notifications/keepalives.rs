//! Messages that have to be sent again as long as their alert lasts. A node claims those that are
//! due by moving them ahead; after a crash they are due again when the lease ends. Those that were
//! being sent during a crash are then claimed one by one.

use uuid::Uuid;
use wakeful_core::id::{AlertId, NodeId, NotifierId};
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use crate::claims::{count_claim, crashes_before, crashes_of, undo_count};
use crate::deletion::deleted_monitors;
use crate::dialect::{either, from_row, read, write_lazily};
use crate::monitors::json;
use crate::{Result, Store};

/// A message that is due to be sent again.
#[derive(Clone, Debug)]
pub struct Keepalive {
    pub alert: AlertId,
    pub notifier: NotifierId,
    /// The number of other processes that claimed it and ended without an outcome.
    pub crashes: u32,
    /// `None` if it cannot be read.
    pub thread: Option<Thread>,
    /// The alert has ended or was resolved, or its monitor was deleted.
    pub is_over: bool,
    /// The event that last reported the start or the end of the alert to this notifier.
    pub event: Option<String>,
}

from_row!(Keepalive, |row| Self {
    alert: row.try_get::<Uuid, _>("alert_id")?.into(),
    notifier: row.try_get::<Uuid, _>("notifier_id")?.into(),
    crashes: crashes_before(row.try_get("claims")?),
    thread: Thread::stored(row.try_get("ref")?),
    is_over: row.try_get("is_over")?,
    event: row.try_get("event")?,
});

macro_rules! claimed {
    () => {
        concat!(
            "alert_id, notifier_id, ref, claims,
             exists (select 1 from alerts a
                     where a.id = threads.alert_id
                     and (a.ended is not null or a.status = 'resolved'
                          or a.monitor_id in ",
            deleted_monitors!(),
            ")) as is_over,
             (select d.body from deliveries d
              where d.alert_id = threads.alert_id and d.notifier_id = threads.notifier_id
              and d.state = 'delivered'
              and d.kind in ('monitor.down', 'monitor.flapping', 'monitor.up', 'monitor.steady',
                             'alert.resolved')
              order by d.kind in ('monitor.up', 'monitor.steady', 'alert.resolved') desc,
                       d.sequence desc, d.id desc
              limit 1) as event"
        )
    };
}

impl Store {
    /// The notifiers that have something to send again.
    pub async fn notifiers_to_keep_alive(
        &self,
        now: Millis,
        limit: u32,
    ) -> Result<Vec<NotifierId>> {
        let ids: Vec<Uuid> = read!(self, |db| {
            sqlx::query_scalar(
                "select distinct notifier_id from threads where keepalive_at <= $1 limit $2",
            )
            .bind(now.0)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?;
        Ok(ids.into_iter().map(NotifierId::from).collect())
    }

    /// Claims messages of a notifier that are due to be sent again, until `lease`; none that other
    /// processes may have crashed with.
    pub async fn claim_keepalives(
        &self,
        notifier: NotifierId,
        now: Millis,
        lease: Millis,
        limit: u32,
    ) -> Result<Vec<Keepalive>> {
        let sql = either!(
            self,
            sqlite: concat!(
                "update threads set keepalive_at = $3, ", count_claim!("$5"), "
                 where notifier_id = $1 and alert_id in (
                     select d.alert_id from threads d
                     where d.notifier_id = $1 and d.keepalive_at <= $2
                     and ", crashes_of!("$5"), " = 0
                     order by d.keepalive_at
                     limit $4)
                 returning ", claimed!()
            ),
            postgres: concat!(
                "update threads set keepalive_at = $3, ", count_claim!("$5"), "
                 where notifier_id = $1 and keepalive_at <= $2 and alert_id in (
                     select d.alert_id from threads d
                     where d.notifier_id = $1 and d.keepalive_at <= $2
                     and ", crashes_of!("$5"), " = 0
                     order by d.keepalive_at
                     limit $4
                     for update skip locked)
                 returning ", claimed!()
            )
        );
        // A claim that is lost in a power failure is made again.
        Ok(write_lazily!(self, |db| {
            sqlx::query_as(sql)
                .bind(notifier.uuid())
                .bind(now.0)
                .bind(lease.0)
                .bind(i64::from(limit))
                .bind(self.node.map(NodeId::uuid))
                .fetch_all(db)
                .await
        })?)
    }

    /// Claims one message that is due to be sent again and that other processes may have crashed
    /// with, until `lease`.
    pub async fn claim_suspect_keepalive(
        &self,
        now: Millis,
        lease: Millis,
    ) -> Result<Option<Keepalive>> {
        // The time is checked twice, because another node may have been first.
        Ok(write_lazily!(self, |db| {
            sqlx::query_as(concat!(
                "update threads set keepalive_at = $2, ",
                count_claim!("$3"),
                " where keepalive_at <= $1 and (alert_id, notifier_id) = (
                     select d.alert_id, d.notifier_id from threads d
                     where d.keepalive_at <= $1 and d.claims > 0
                     and ",
                crashes_of!("$3"),
                " > 0
                     order by d.keepalive_at
                     limit 1)
                 returning ",
                claimed!()
            ))
            .bind(now.0)
            .bind(lease.0)
            .bind(self.node.map(NodeId::uuid))
            .fetch_optional(db)
            .await
        })?)
    }

    /// Undoes the claims of this node when it shuts down.
    pub async fn release_keepalives(&self) -> Result<()> {
        write_lazily!(self, |db| {
            sqlx::query(concat!(
                "update threads set ",
                undo_count!(),
                " where claimed_by = $1 and claims > 0 and keepalive_at is not null"
            ))
            .bind(self.node.map(NodeId::uuid))
            .execute(db)
            .await
            .map(|_| ())
        })?;
        Ok(())
    }

    /// Sets when these messages of a notifier are sent again; `None`: never. Those that something
    /// else was sent about since the claim have a time of their own.
    pub async fn keepalives_sent(
        &self,
        notifier: NotifierId,
        alerts: &[AlertId],
        lease: Millis,
        next: Option<Millis>,
    ) -> Result<()> {
        if alerts.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = alerts.iter().map(|id| id.uuid().simple().to_string()).collect();
        let sql = either!(
            self,
            sqlite: "update threads set keepalive_at = $4, claims = 0
                 where notifier_id = $1 and keepalive_at = $2
                 and alert_id in (select unhex(value) from json_each($3))",
            postgres: "update threads set keepalive_at = $4, claims = 0
                 where notifier_id = $1 and keepalive_at = $2
                 and alert_id in (select cast(value as uuid)
                                  from json_array_elements_text(cast($3 as json)))"
        );
        write_lazily!(self, |db| {
            sqlx::query(sql)
                .bind(notifier.uuid())
                .bind(lease.0)
                .bind(json(&ids))
                .bind(next.map(|at| at.0))
                .execute(db)
                .await
                .map(|_| ())
        })?;
        Ok(())
    }
}
