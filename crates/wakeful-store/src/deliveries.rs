//! The outbox: one row for each event and notifier, written together with the
//! change of status it tells of. Whoever delivers claims rows by a lease, so
//! that two never send the same at once, and a row whose worker died is free
//! again when the lease ends. The rows of one monitor and notifier are a line:
//! none goes before an earlier one has arrived or was given up.

use sqlx::Error;
use uuid::Uuid;
use wakeful_core::id::{AlertId, DeliveryId, EventId, MonitorId, NodeId, NotifierId, TeamId};
use wakeful_core::notifier::Kind;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use crate::dialect::{either, from_row, read, within, write, write_lazily};
use crate::monitors::json;
use crate::{Result, Store, TeamStore};

/// A row that may be claimed, as far as one can tell without claiming it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueDelivery {
    pub id: DeliveryId,
    pub team: TeamId,
    pub notifier: NotifierId,
    pub kind: Kind,
}

from_row!(DueDelivery, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    notifier: row.try_get::<Uuid, _>("notifier_id")?.into(),
    kind: Kind::parse(row.try_get("kind")?)
        .map_err(|_| sqlx::Error::Decode("not a kind of notifier".into()))?,
});

/// A row that this caller, and no other, may send until the lease ends.
#[derive(Clone, Debug)]
pub struct ClaimedDelivery {
    pub id: DeliveryId,
    pub event: EventId,
    pub team: TeamId,
    pub monitor: MonitorId,
    pub notifier: NotifierId,
    pub alert: Option<AlertId>,
    pub kind: String,
    /// JSON.
    pub body: String,
    /// This attempt counted.
    pub attempts: u32,
    pub created: Millis,
    /// What came of the attempt before; empty when there was none.
    pub last_answer: String,
    pub lease: Millis,
}

from_row!(ClaimedDelivery, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    event: row.try_get::<Uuid, _>("eventid")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
    notifier: row.try_get::<Uuid, _>("notifier_id")?.into(),
    alert: row.try_get::<Option<Uuid>, _>("alert_id")?.map(AlertId::from),
    kind: row.try_get("kind")?,
    body: row.try_get("body")?,
    attempts: u32::try_from(row.try_get::<i64, _>("attempts")?).unwrap_or(u32::MAX),
    created: Millis(row.try_get("created")?),
    last_answer: row.try_get("last_answer")?,
    lease: Millis(row.try_get("lease_until")?),
});

/// A delivery as the page of its notifier lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedDelivery {
    pub id: DeliveryId,
    pub event: EventId,
    pub alert: Option<AlertId>,
    pub monitor: MonitorId,
    pub monitor_name: String,
    pub kind: String,
    pub state: String,
    pub attempts: i64,
    pub last_answer: String,
    pub created: Millis,
    pub next_try: Option<Millis>,
    pub finished: Option<Millis>,
}

from_row!(ListedDelivery, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    event: row.try_get::<Uuid, _>("eventid")?.into(),
    alert: row.try_get::<Option<Uuid>, _>("alert_id")?.map(AlertId::from),
    monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
    monitor_name: row.try_get("name")?,
    kind: row.try_get("kind")?,
    state: row.try_get("state")?,
    attempts: row.try_get("attempts")?,
    last_answer: row.try_get("last_answer")?,
    created: Millis(row.try_get("created")?),
    next_try: row.try_get::<Option<i64>, _>("next_try")?.map(Millis),
    finished: row.try_get::<Option<i64>, _>("finished")?.map(Millis),
});

macro_rules! claimed {
    () => {
        "id, eventid, team_id, monitor_id, notifier_id, alert_id, kind, body, attempts, created,
         last_answer, lease_until"
    };
}

/// Nothing of the same line waits before the row `d`.
macro_rules! first_in_line {
    () => {
        "not exists (
             select 1 from deliveries e
             where e.monitor_id = d.monitor_id and e.notifier_id = d.notifier_id
             and e.state = 'waiting'
             and (e.sequence < d.sequence or (e.sequence = d.sequence and e.id < d.id)))"
    };
}

impl Store {
    /// Rows that are due and first in their lines: of each notifier at most
    /// `each`, and of every notifier the first before the second of any.
    pub async fn due_deliveries(
        &self,
        now: Millis,
        each: u32,
        limit: u32,
    ) -> Result<Vec<DueDelivery>> {
        Ok(read!(self, |db| {
            sqlx::query_as(concat!(
                "select w.id, w.team_id, w.notifier_id, n.kind
                 from (
                     select d.id, d.team_id, d.notifier_id, d.created,
                            row_number() over (
                                partition by d.notifier_id order by d.created, d.id) as place
                     from deliveries d
                     where d.next_try <= $1 and d.lease_until <= $1
                     and ",
                first_in_line!(),
                ") w
                 join notifiers n on n.id = w.notifier_id
                 where w.place <= $2 and n.disabled_at is null
                 order by w.place, w.created
                 limit $3"
            ))
            .bind(now.0)
            .bind(i64::from(each))
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?)
    }

    /// What is due of one notifier and first in its line, oldest first.
    pub async fn due_for(
        &self,
        notifier: NotifierId,
        now: Millis,
        limit: u32,
    ) -> Result<Vec<DeliveryId>> {
        let rows: Vec<Uuid> = read!(self, |db| {
            sqlx::query_scalar(concat!(
                "select d.id
                 from deliveries d
                 where d.notifier_id = $1 and d.next_try <= $2 and d.lease_until <= $2
                 and ",
                first_in_line!(),
                " order by d.created, d.id
                 limit $3"
            ))
            .bind(notifier.uuid())
            .bind(now.0)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?;
        Ok(rows.into_iter().map(DeliveryId::from).collect())
    }

    /// Claims those of these rows that are still due and first in their lines,
    /// oldest first.
    pub async fn claim_deliveries(
        &self,
        ids: &[DeliveryId],
        now: Millis,
        lease: Millis,
    ) -> Result<Vec<ClaimedDelivery>> {
        let sql = either!(
            self,
            sqlite: concat!(
                "update deliveries as d
                 set lease_until = $2, attempts = attempts + 1, claimed_by = $4
                 where d.id in (select unhex(value) from json_each($3))
                 and d.next_try <= $1 and d.lease_until <= $1
                 and ", first_in_line!(), "
                 returning ", claimed!()
            ),
            // Rows that another worker holds are passed over, not waited for; the
            // lease is asked for twice, because it may have changed in between.
            postgres: concat!(
                "update deliveries
                 set lease_until = $2, attempts = attempts + 1, claimed_by = $4
                 where id in (
                     select d.id from deliveries d
                     where d.id = any(cast(string_to_array($3, ',') as uuid[]))
                     and d.next_try <= $1 and d.lease_until <= $1
                     and ", first_in_line!(), "
                     for update skip locked)
                 and next_try <= $1 and lease_until <= $1
                 returning ", claimed!()
            )
        );
        // A claim that is lost is made again.
        let mut rows: Vec<ClaimedDelivery> = write_lazily!(self, |db| {
            sqlx::query_as(sql)
                .bind(now.0)
                .bind(lease.0)
                .bind(self.listed(ids))
                .bind(self.node.map(NodeId::uuid))
                .fetch_all(db)
                .await
        })?;
        rows.sort_by_key(|row| (row.created, row.id));
        Ok(rows)
    }

    /// Claims what waits right behind a claimed row when it is the recovery
    /// from the same outage: the two are told as one.
    pub async fn claim_recovery(&self, of: &ClaimedDelivery) -> Result<Option<ClaimedDelivery>> {
        Ok(write_lazily!(self, |db| {
            sqlx::query_as(concat!(
                "update deliveries
                 set lease_until = $5, attempts = attempts + 1, claimed_by = $6
                 where id = (
                     select id from deliveries
                     where monitor_id = $1 and notifier_id = $2 and state = 'waiting'
                     and (sequence, id) > (select sequence, id from deliveries where id = $3)
                     order by sequence, id
                     limit 1)
                 and alert_id = $4 and kind = 'monitor.up' and state = 'waiting'
                 returning ",
                claimed!()
            ))
            .bind(of.monitor.uuid())
            .bind(of.notifier.uuid())
            .bind(of.id.uuid())
            .bind(of.alert.map(AlertId::uuid))
            .bind(of.lease.0)
            .bind(self.node.map(NodeId::uuid))
            .fetch_optional(db)
            .await
        })?)
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
                     finished = $3
                 where id in (select unhex(value) from json_each($1))",
            postgres: "update deliveries
                 set state = 'delivered', next_try = null, lease_until = 0, last_answer = $2,
                     finished = $3
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
    /// there is none. Gives since when the notifier has only failed. A lease
    /// that somebody else has taken meanwhile is left alone.
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
                 set state = $3, next_try = $4, lease_until = 0, last_answer = $5, finished = $6
                 where id in (select unhex(value) from json_each($1))
                 and state = 'waiting' and lease_until = $2",
            postgres: "update deliveries
                 set state = $3, next_try = $4, lease_until = 0, last_answer = $5, finished = $6
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
                "update notifiers set failing_since = coalesce(failing_since, $2)
                 where id = $1
                 returning failing_since",
            )
            .bind(notifier.uuid())
            .bind(now.0)
            .fetch_optional(&mut *db)
            .await
        })?;
        tx.commit().await?;
        Ok(since.map(Millis))
    }

    /// Lets go of what this node claimed until then and has not sent. What
    /// another has claimed meanwhile is left alone.
    pub async fn give_back_deliveries(&self, ids: &[DeliveryId], lease: Millis) -> Result<()> {
        let sql = either!(
            self,
            sqlite: "update deliveries set lease_until = 0
                 where id in (select unhex(value) from json_each($1))
                 and lease_until = $2 and claimed_by = $3",
            postgres: "update deliveries set lease_until = 0
                 where id = any(cast(string_to_array($1, ',') as uuid[]))
                 and lease_until = $2 and claimed_by = $3"
        );
        write!(self, |db| {
            sqlx::query(sql)
                .bind(self.listed(ids))
                .bind(lease.0)
                .bind(self.node.map(NodeId::uuid))
                .execute(db)
                .await
                .map(|_| ())
        })?;
        Ok(())
    }

    /// Frees what a dead process held. Only for a node that is alone: what it
    /// finds claimed when it starts, nobody is sending.
    pub async fn free_claims(&self) -> Result<u64> {
        let mails = write!(self, |db| {
            sqlx::query("update mails set lease_until = 0 where lease_until > 0")
                .execute(db)
                .await
                .map(|done| done.rows_affected())
        })?;
        let deliveries = write!(self, |db| {
            sqlx::query(
                "update deliveries set lease_until = 0
                 where next_try is not null and lease_until > 0",
            )
            .execute(db)
            .await
            .map(|done| done.rows_affected())
        })?;
        let payments = write!(self, |db| {
            sqlx::query(
                "update payment_attempts set lease_until = 0
                 where state in ('waiting', 'refund') and lease_until > 0",
            )
            .execute(db)
            .await
            .map(|done| done.rows_affected())
        })?;
        Ok(mails + deliveries + payments)
    }

    /// How many rows wait, for the metrics.
    pub async fn deliveries_waiting(&self) -> Result<i64> {
        Ok(read!(self, |db| {
            sqlx::query_scalar("select count(*) from deliveries where next_try is not null")
                .fetch_one(db)
                .await
        })?)
    }

    /// Notes a mail to each of these recipients.
    pub async fn note_mail(&self, recipients: &[Digest], now: Millis) -> Result<()> {
        let mut tx = self.begin().await?;
        within!(tx, |db| {
            for recipient in recipients {
                sqlx::query("insert into sent_mails (recipient, at) values ($1, $2)")
                    .bind(&recipient.0[..])
                    .bind(now.0)
                    .execute(&mut *db)
                    .await?;
            }
            Ok::<_, Error>(())
        })?;
        tx.commit().await
    }

    /// When the mails went that this recipient got after `since`, oldest first.
    pub async fn mails_since(&self, recipient: Digest, since: Millis) -> Result<Vec<Millis>> {
        let rows: Vec<i64> = read!(self, |db| {
            sqlx::query_scalar(
                "select at from sent_mails where recipient = $1 and at > $2 order by at",
            )
            .bind(&recipient.0[..])
            .bind(since.0)
            .fetch_all(db)
            .await
        })?;
        Ok(rows.into_iter().map(Millis).collect())
    }

    /// Forgets whom mails went to before `oldest`.
    pub async fn sweep_sent_mails(&self, oldest: Millis) -> Result<u64> {
        Ok(write!(self, |db| {
            sqlx::query("delete from sent_mails where at < $1")
                .bind(oldest.0)
                .execute(db)
                .await
                .map(|done| done.rows_affected())
        })?)
    }
}

impl TeamStore<'_> {
    /// What was sent by a notifier, newest first; nothing when the team has no
    /// such notifier.
    pub async fn notifier_deliveries(
        &self,
        notifier: NotifierId,
        before: Option<DeliveryId>,
        limit: Option<u32>,
    ) -> Result<Option<Vec<ListedDelivery>>> {
        if !self.has_notifier(notifier).await? {
            return Ok(None);
        }
        let rows = read!(self.store, |db| {
            sqlx::query_as(
                "select d.id, d.eventid, d.alert_id, d.monitor_id, m.name, d.kind, d.state,
                        d.attempts, d.last_answer, d.created, d.next_try, d.finished
                 from deliveries d
                 join monitors m on m.id = d.monitor_id
                 where d.notifier_id = $1 and d.id < $2
                 order by d.id desc
                 limit $3",
            )
            .bind(notifier.uuid())
            .bind(before.map_or(Uuid::max(), DeliveryId::uuid))
            .bind(limit.map_or(i64::MAX, i64::from))
            .fetch_all(db)
            .await
        })?;
        Ok(Some(rows))
    }

    /// Sends a delivery once more, from the first step of the ladder; false
    /// when the team has no such delivery. One that is being sent goes on.
    pub async fn resend_delivery(&self, id: DeliveryId, now: Millis) -> Result<bool> {
        let done = write!(self.store, |db| {
            sqlx::query(
                "update deliveries
                 set state = 'waiting', next_try = $3, attempts = 0, finished = null
                 where id = $1 and team_id = $2",
            )
            .bind(id.uuid())
            .bind(self.team.uuid())
            .bind(now.0)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if done {
            self.store.outbox.notify_one();
        }
        Ok(done)
    }
}

impl Store {
    /// Returns once something was put into the outbox through this store.
    /// Other nodes write there too, and wake nobody here.
    pub async fn outbox_filled(&self) {
        self.outbox.notified().await;
    }

    /// Ids in one text, as each engine reads it best: PostgreSQL finds rows by
    /// an array through the index, whatever it knows of the table.
    pub(crate) fn listed(&self, ids: &[DeliveryId]) -> String {
        let ids: Vec<String> = ids.iter().map(|id| id.uuid().simple().to_string()).collect();
        either!(self, sqlite: json(&ids), postgres: ids.join(","))
    }
}
