//! Claiming due deliveries. A claim is an exclusive lease.

use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use uuid::Uuid;
use wakeful_core::id::{AlertId, DeliveryId, EventId, NodeId, NotifierId, TeamId};
use wakeful_core::notifications::recipients::Recipients;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use super::sent_mails::sent_sql;
use crate::claims::{count_claim, crashes, crashes_before, undo_claim};
use crate::deletion::deleted_monitors;
use crate::dialect::{either, from_row, read, within, write, write_lazily};
use crate::{Result, Store};

/// Deliveries of one notifier that may be sent as one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueGroup {
    pub ids: Vec<DeliveryId>,
    /// The number of other processes that claimed these and ended without an outcome.
    pub crashes: u32,
    /// The message that they were sent with before, if that was one about many.
    pub digest: Option<DeliveryId>,
    /// Since when the first of those that were not tried is due.
    pub due_since: Option<Millis>,
}

/// How many messages may be sent.
#[derive(Clone, Copy, Debug)]
pub struct MessageLimit {
    /// What is limited.
    pub key: Digest,
    /// Messages from before do not count.
    pub since: Millis,
    pub max: usize,
}

/// The outcome of a claim within a limit.
#[derive(Clone, Debug)]
pub enum LimitedClaim {
    Claimed(Vec<ClaimedDelivery>),
    /// So many messages were sent. The time of the one that must be older for another.
    Spent(Millis),
}

/// A delivery that only this caller may send until the lease ends.
#[derive(Clone, Debug)]
pub struct ClaimedDelivery {
    pub id: DeliveryId,
    pub event: EventId,
    pub team: TeamId,
    pub notifier: NotifierId,
    pub alert: Option<AlertId>,
    pub kind: String,
    /// JSON.
    pub body: String,
    /// Including this attempt.
    pub attempts: u32,
    pub created: Millis,
    /// The response to the previous attempt; empty when there was none.
    pub last_answer: String,
    /// The remaining recipients of a mail that has reached some of them.
    pub left: Option<Vec<String>>,
    /// The recipients of a mail after its previous attempt.
    pub recipients: Option<Recipients>,
    pub lease: Millis,
    /// The number of other processes that claimed it and ended without an outcome.
    pub crashes: u32,
}

from_row!(ClaimedDelivery, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    event: row.try_get::<Uuid, _>("eventid")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    notifier: row.try_get::<Uuid, _>("notifier_id")?.into(),
    alert: row.try_get::<Option<Uuid>, _>("alert_id")?.map(AlertId::from),
    kind: row.try_get("kind")?,
    body: row.try_get("body")?,
    attempts: u32::try_from(row.try_get::<i64, _>("attempts")?).unwrap_or(u32::MAX),
    created: Millis(row.try_get("created")?),
    last_answer: row.try_get("last_answer")?,
    left: optional_json(row.try_get("left_to")?)?,
    recipients: optional_json(row.try_get("recipients")?)?,
    lease: Millis(row.try_get("lease_until")?),
    crashes: crashes_before(row.try_get("claims")?),
});

struct DueRow {
    id: DeliveryId,
    left: Option<String>,
    digest: Option<DeliveryId>,
    attempts: i64,
    next_try: Millis,
    crashes: i64,
}

from_row!(DueRow, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    left: row.try_get("left_to")?,
    digest: row.try_get::<Option<Uuid>, _>("digest")?.map(DeliveryId::from),
    attempts: row.try_get("attempts")?,
    next_try: Millis(row.try_get("next_try")?),
    crashes: row.try_get("crashes")?,
});

/// Deliveries that were claimed together.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryClaim<'a> {
    pub ids: &'a [DeliveryId],
    /// Identifies the claim: a row with another lease has been claimed again.
    pub lease: Millis,
}

/// A value that is stored as JSON, if there is one.
pub(crate) fn optional_json<T: DeserializeOwned>(text: Option<&str>) -> sqlx::Result<Option<T>> {
    let value = text.map(serde_json::from_str).transpose();
    value.map_err(|error| sqlx::Error::Decode(error.into()))
}

macro_rules! claimed {
    () => {
        "id, eventid, team_id, notifier_id, alert_id, kind, body, attempts, created,
         last_answer, left_to, recipients, lease_until, claims"
    };
}

/// No earlier delivery of the same queue waits before the row `d`. Retries for
/// deferred recipients do not hold up the queue, nor does an escalation step that waits for its
/// delay.
macro_rules! first_in_queue {
    () => {
        "not exists (
             select 1 from deliveries e
             where e.team_id = d.team_id and e.notifier_id = d.notifier_id
             and e.line = d.line and e.state = 'waiting' and e.left_to is null
             and (e.sequence < d.sequence or (e.sequence = d.sequence and e.id < d.id))
             and not (e.is_step and e.attempts = 0 and e.next_try > d.next_try))"
    };
}

/// The row `d` may be sent: its notifier is enabled, and its monitor was not deleted. Their
/// waiting deliveries are given up and deleted in parts.
macro_rules! may_be_sent {
    () => {
        concat!(
            "exists (
                 select 1 from notifiers n where n.id = d.notifier_id and n.disabled_at is null)
             and d.monitor_id not in ",
            deleted_monitors!()
        )
    };
}

/// The row after `d` in its queue, if it belongs to the same alert.
macro_rules! next_recovery {
    () => {
        "select u.id
         from deliveries d
         join deliveries u on u.alert_id = d.alert_id and u.id = (
             select e.id from deliveries e
             where e.team_id = d.team_id and e.notifier_id = d.notifier_id
             and e.line = d.line and e.state = 'waiting' and e.left_to is null
             and (e.sequence > d.sequence or (e.sequence = d.sequence and e.id > d.id))
             order by e.sequence, e.id
             limit 1)
         "
    };
}

impl Store {
    /// The due deliveries of one notifier that are first in their queues, oldest
    /// first. Those with the same remaining recipients form a group, apart from
    /// those for all recipients, and so do those that were sent as one message. Deliveries
    /// that may have caused a crash are separate from the others.
    pub async fn due_for_notifier(
        &self,
        notifier: NotifierId,
        now: Millis,
        limit: u32,
    ) -> Result<Vec<DueGroup>> {
        let rows: Vec<DueRow> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select d.id, d.left_to, d.digest, d.attempts, d.next_try, ",
                crashes!("$4"),
                " from deliveries d
                 where d.notifier_id = $1 and d.next_try <= $2 and d.lease_until <= $2
                 and ",
                first_in_queue!(),
                " and ",
                may_be_sent!(),
                " order by d.created, d.id
                 limit $3"
            ))
            .bind(notifier.uuid())
            .bind(now.0)
            .bind(i64::from(limit))
            .bind(self.node.map(NodeId::uuid))
            .fetch_all(db)
            .await
        })?;
        let mut groups: BTreeMap<(i64, Option<String>, Option<DeliveryId>), Vec<DueRow>> =
            BTreeMap::new();
        for row in rows {
            let key = (row.crashes, row.left.clone(), row.digest);
            groups.entry(key).or_default().push(row);
        }
        let group = |((crashes, _, digest), rows): (_, Vec<DueRow>)| DueGroup {
            ids: rows.iter().map(|row| row.id).collect(),
            crashes: u32::try_from(crashes).unwrap_or(0),
            digest,
            due_since: rows.iter().filter(|row| row.attempts == 0).map(|row| row.next_try).min(),
        };
        Ok(groups.into_iter().map(group).collect())
    }

    /// Claims those of these deliveries that are still due and first in their
    /// queues, oldest first.
    pub async fn claim_deliveries(
        &self,
        ids: &[DeliveryId],
        now: Millis,
        lease: Millis,
    ) -> Result<Vec<ClaimedDelivery>> {
        // A claim that is lost in a power failure is made again.
        let mut rows: Vec<ClaimedDelivery> = write_lazily!(self, |db| {
            sqlx::query_as(self.claim_sql())
                .bind(now.0)
                .bind(lease.0)
                .bind(self.id_list(ids))
                .bind(self.node.map(NodeId::uuid))
                .bind(None::<Uuid>)
                .fetch_all(db)
                .await
        })?;
        rows.sort_by_key(|row| (row.created, row.id));
        Ok(rows)
    }

    /// The same for deliveries of one notifier that are sent as one message, which counts against
    /// a limit that all nodes share. With `digest`, it is a message about many.
    pub async fn claim_within_limit(
        &self,
        notifier: NotifierId,
        ids: &[DeliveryId],
        digest: Option<DeliveryId>,
        limit: MessageLimit,
        now: Millis,
        lease: Millis,
    ) -> Result<LimitedClaim> {
        // Other nodes wait here; what refers to the notifier does not.
        let lock = either!(
            self,
            sqlite: "select 1 where $1 is null",
            postgres: "select 1 from notifiers where id = $1 for no key update"
        );
        let (_guard, mut tx) = self.begin_lazily().await?;
        let key = &limit.key.0[..];
        let sent: Vec<i64> = within!(tx, |db| {
            sqlx::query(lock).bind(notifier.uuid()).execute(&mut *db).await?;
            sqlx::query_scalar(sent_sql!())
                .bind(key)
                .bind(limit.since.0)
                .bind(now.0)
                .fetch_all(&mut *db)
                .await
        })?;
        if let Some(at) = sent.len().checked_sub(limit.max).and_then(|at| sent.get(at)) {
            tx.commit().await?;
            return Ok(LimitedClaim::Spent(Millis(*at)));
        }
        let mut rows: Vec<ClaimedDelivery> = within!(tx, |db| {
            sqlx::query_as(self.claim_sql())
                .bind(now.0)
                .bind(lease.0)
                .bind(self.id_list(ids))
                .bind(self.node.map(NodeId::uuid))
                .bind(digest.map(DeliveryId::uuid))
                .fetch_all(&mut *db)
                .await
        })?;
        if !rows.is_empty() {
            within!(tx, |db| {
                sqlx::query("insert into sent_mails (recipient, at) values ($1, $2)")
                    .bind(key)
                    .bind(now.0)
                    .execute(&mut *db)
                    .await?;
            });
        }
        tx.commit().await?;
        rows.sort_by_key(|row| (row.created, row.id));
        Ok(LimitedClaim::Claimed(rows))
    }

    fn claim_sql(&self) -> &'static str {
        either!(
            self,
            sqlite: concat!(
                "update deliveries as d
                 set lease_until = $2, attempts = attempts + 1, digest = coalesce($5, digest), ",
                count_claim!("$4"), "
                 where d.id in (select unhex(value) from json_each($3))
                 and d.next_try <= $1 and d.lease_until <= $1
                 and ", first_in_queue!(), " and ", may_be_sent!(), "
                 returning ", claimed!()
            ),
            // Rows locked by another worker are skipped, not waited for; the lease
            // is checked twice, because it may have changed in between.
            postgres: concat!(
                "update deliveries
                 set lease_until = $2, attempts = attempts + 1, digest = coalesce($5, digest), ",
                count_claim!("$4"), "
                 where id in (
                     select d.id from deliveries d
                     where d.id = any(cast(string_to_array($3, ',') as uuid[]))
                     and d.next_try <= $1 and d.lease_until <= $1
                     and ", first_in_queue!(), " and ", may_be_sent!(), "
                     for update of d skip locked)
                 and next_try <= $1 and lease_until <= $1
                 returning ", claimed!()
            )
        )
    }

    /// Claims the next delivery in the queue of each of these claimed outages if it
    /// is the recovery from the same outage: the two are sent as one message.
    pub async fn claim_recoveries(
        &self,
        outages: &[DeliveryId],
        lease: Millis,
    ) -> Result<Vec<ClaimedDelivery>> {
        let sql = either!(
            self,
            sqlite: concat!(
                "update deliveries
                 set lease_until = $2, attempts = attempts + 1, ", count_claim!("$3"), "
                 where id in (", next_recovery!(),
                "where d.id in (select unhex(value) from json_each($1)))
                 and kind = 'monitor.up' and state = 'waiting'
                 returning ", claimed!()
            ),
            postgres: concat!(
                "update deliveries
                 set lease_until = $2, attempts = attempts + 1, ", count_claim!("$3"), "
                 where id in (", next_recovery!(),
                "where d.id = any(cast(string_to_array($1, ',') as uuid[])))
                 and kind = 'monitor.up' and state = 'waiting'
                 returning ", claimed!()
            )
        );
        Ok(write_lazily!(self, |db| {
            sqlx::query_as(sql)
                .bind(self.id_list(outages))
                .bind(lease.0)
                .bind(self.node.map(NodeId::uuid))
                .fetch_all(db)
                .await
        })?)
    }

    /// Releases deliveries that this node claimed with this lease and has not sent.
    /// Claims of other nodes are not affected.
    pub async fn release_deliveries(&self, claim: DeliveryClaim<'_>) -> Result<()> {
        let sql = either!(
            self,
            sqlite: concat!("update deliveries set ", undo_claim!(), "
                 where id in (select unhex(value) from json_each($1))
                 and lease_until = $2 and claimed_by = $3"),
            postgres: concat!("update deliveries set ", undo_claim!(), "
                 where id = any(cast(string_to_array($1, ',') as uuid[]))
                 and lease_until = $2 and claimed_by = $3")
        );
        write!(self, |db| {
            sqlx::query(sql)
                .bind(self.id_list(claim.ids))
                .bind(claim.lease.0)
                .bind(self.node.map(NodeId::uuid))
                .execute(db)
                .await
                .map(|_| ())
        })?;
        Ok(())
    }
}
