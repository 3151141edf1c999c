//! The outbox of status pages: one row for each event and subscriber. The rows of one subscriber
//! are claimed together with a lease, as `core/statuspages/mailing.rs` decides.

use std::collections::HashMap;
use uuid::Uuid;
use wakeful_core::audit::{Action, Change};
use wakeful_core::id::{
    EventId, IncidentId, IncidentUpdateId, NodeId, StatuspageId, SubscriberId, TeamId,
};
use wakeful_core::statuspages::incident::Incident;
use wakeful_core::statuspages::mailing::{Plan, WaitingMessage, plan};
use wakeful_core::statuspages::subscriber::{
    EventType, MAX_FAILURES, Subscriber, SubscriberKind, SubscriberState,
};
use wakeful_core::time::Millis;

use super::events::PageQueue;
use super::incidents::object as incident_object;
use super::subscriber_rows::{SubscriberRow, subscriber_columns};
use crate::claims::{count_claim, crashes, crashes_before};
use crate::deletion::{deleted_pages, deleted_teams};
use crate::dialect::{Tx, either, from_row, read, within};
use crate::monitors::json;
use crate::{AuditContext, NewEntry, Result, Store, TeamStore};

/// The most messages of a subscriber that are considered at a time.
const MAX_WAITING: i64 = 200;
/// The most failed deliveries of an update that are listed.
const MAX_LISTED_FAILURES: i64 = 100;

/// A page with messages that may be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuePage {
    pub page: StatuspageId,
    pub team: TeamId,
}

from_row!(DuePage, |row| Self {
    page: row.try_get::<Uuid, _>("page_id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
});

/// A subscriber with messages that may be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueSubscriber {
    pub id: SubscriberId,
    pub page: StatuspageId,
    /// The number of other processes that claimed one of them and ended without an outcome.
    pub crashes: u32,
}

from_row!(DueSubscriber, |row| Self {
    id: row.try_get::<Uuid, _>("subscriber_id")?.into(),
    page: row.try_get::<Uuid, _>("page_id")?.into(),
    crashes: u32::try_from(row.try_get::<i64, _>("crashes")?).unwrap_or(0),
});

/// Messages of a subscriber that only this caller may send until the lease ends.
#[derive(Clone, Debug)]
pub struct ClaimedMessages {
    pub subscriber: Subscriber,
    /// In the order they were posted; never empty.
    pub messages: Vec<ClaimedMessage>,
    /// Identifies the email.
    pub id: EventId,
    /// The first email about the same incident.
    pub in_reply_to: Option<EventId>,
    /// Including this attempt.
    pub attempts: u32,
    /// The number of other processes that claimed them and ended without an outcome.
    pub crashes: u32,
    lease: Millis,
}

#[derive(Clone, Copy, Debug)]
pub struct ClaimedMessage {
    pub event: EventId,
    pub kind: EventType,
    pub incident: IncidentId,
    pub update: IncidentUpdateId,
    pub created: Millis,
}

struct WaitingRow {
    message: ClaimedMessage,
    waiting: WaitingMessage,
    attempts: i64,
    lease_until: i64,
}

from_row!(WaitingRow, |row| {
    let event = row.try_get::<Uuid, _>("event_id")?.into();
    let incident = row.try_get::<Uuid, _>("incident_id")?.into();
    Self {
        message: ClaimedMessage {
            event,
            kind: EventType::parse(row.try_get("type")?)
                .map_err(|error| sqlx::Error::Decode(error.into()))?,
            incident,
            update: row.try_get::<Uuid, _>("update_id")?.into(),
            created: Millis(row.try_get("created")?),
        },
        waiting: WaitingMessage {
            event,
            incident,
            next_try: Millis(row.try_get("next_try")?),
            sent_with: row.try_get::<Option<Uuid>, _>("message")?.map(EventId::from),
        },
        attempts: row.try_get("attempts")?,
        lease_until: row.try_get("lease_until")?,
    }
});

/// The deliveries of one update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateDeliveries {
    pub update: IncidentUpdateId,
    pub waiting: i64,
    pub delivered: i64,
    pub failed: i64,
    pub failures: Vec<FailedDelivery>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedDelivery {
    update: IncidentUpdateId,
    pub subscriber: SubscriberId,
    pub kind: SubscriberKind,
    pub last_answer: String,
    pub at: Millis,
}

from_row!(FailedDelivery, |row| Self {
    update: row.try_get::<Uuid, _>("update_id")?.into(),
    subscriber: row.try_get::<Uuid, _>("subscriber_id")?.into(),
    kind: SubscriberKind::parse(row.try_get("kind")?)
        .map_err(|error| sqlx::Error::Decode(error.into()))?,
    last_answer: row.try_get("last_answer")?,
    at: Millis(row.try_get("finished")?),
});

/// A change of the rows of a subscriber for some events.
macro_rules! by_events {
    ($store:expr, $change:literal) => {
        by_events!($store, $change, "")
    };
    ($store:expr, $change:literal, $and:literal) => {
        either!(
            $store,
            sqlite: concat!($change, " where subscriber_id = $1
                 and event_id in (select unhex(value) from json_each($2))", $and),
            postgres: concat!($change, " where subscriber_id = $1
                 and event_id in (
                     select cast(value as uuid) from json_array_elements_text(cast($2 as json)))",
                $and)
        )
    };
}
impl Store {
    /// The pages with messages that are due, the longest waiting first. However many messages
    /// wait, it reads only a few of each page.
    pub async fn pages_with_due_messages(
        &self,
        queue: PageQueue,
        now: Millis,
    ) -> Result<Vec<DuePage>> {
        Ok(read!(self, |db| {
            sqlx::query_as(concat!(
                "with recursive waiting(page_id) as (
                     select (select d.page_id from statuspage_deliveries d
                             where d.queue = $1 and d.next_try is not null
                             order by d.page_id limit 1)
                     union all
                     select (select d.page_id from statuspage_deliveries d
                             where d.queue = $1 and d.next_try is not null
                             and d.page_id > w.page_id
                             order by d.page_id limit 1)
                     from waiting w where w.page_id is not null)
                 select q.page_id, p.team_id
                 from (select w.page_id,
                              (select d.next_try from statuspage_deliveries d
                               where d.queue = $1 and d.page_id = w.page_id
                               and d.next_try <= $2 and d.lease_until <= $2
                               order by d.next_try limit 1) as due
                       from waiting w where w.page_id is not null) q
                 join statuspages p on p.id = q.page_id
                 where q.due is not null and p.team_id not in ",
                deleted_teams!(),
                " order by q.due, q.page_id"
            ))
            .bind(queue.as_str())
            .bind(now.0)
            .fetch_all(db)
            .await
        })?)
    }

    /// Subscribers of a page with messages that are due, the longest waiting first; none of
    /// these. At most `limit` messages are read, of which a subscriber may have several.
    pub async fn due_subscribers(
        &self,
        queue: PageQueue,
        page: StatuspageId,
        without: &[SubscriberId],
        now: Millis,
        limit: u32,
    ) -> Result<Vec<DueSubscriber>> {
        let sql = either!(
            self,
            sqlite: concat!(
                "select d.subscriber_id, d.page_id, ",
                crashes!("$5"),
                " from statuspage_deliveries d
                 where d.queue = $1 and d.page_id = $6
                 and d.next_try <= $2 and d.lease_until <= $2
                 and d.subscriber_id not in (select unhex(value) from json_each($3))
                 order by d.next_try limit $4"
            ),
            postgres: concat!(
                "select d.subscriber_id, d.page_id, ",
                crashes!("$5"),
                " from statuspage_deliveries d
                 where d.queue = $1 and d.page_id = $6
                 and d.next_try <= $2 and d.lease_until <= $2
                 and d.subscriber_id not in (
                     select cast(value as uuid) from json_array_elements_text(cast($3 as json)))
                 order by d.next_try limit $4"
            )
        );
        let without: Vec<String> =
            without.iter().map(|one| one.uuid().simple().to_string()).collect();
        let mut rows: Vec<DueSubscriber> = read!(self, |db| {
            sqlx::query_as(sql)
                .bind(queue.as_str())
                .bind(now.0)
                .bind(json(&without))
                .bind(i64::from(limit))
                .bind(self.node.map(NodeId::uuid))
                .bind(page.uuid())
                .fetch_all(db)
                .await
        })?;
        // Of the rows of a subscriber, the one with the most crashes stands for all.
        let mut crashes: HashMap<SubscriberId, u32> = HashMap::new();
        for row in &rows {
            let most = crashes.entry(row.id).or_default();
            *most = row.crashes.max(*most);
        }
        rows.retain_mut(|row| crashes.remove(&row.id).map(|most| row.crashes = most).is_some());
        Ok(rows)
    }

    /// Claims the messages of a subscriber that are sent next; `None` if there are none, or
    /// another node has claimed some.
    pub async fn claim_messages(
        &self,
        subscriber: SubscriberId,
        now: Millis,
        lease: Millis,
    ) -> Result<Option<ClaimedMessages>> {
        // Lost in a power failure, the claim is made again, with the same id.
        let (_guard, mut tx) = self.begin_lazily().await?;
        let row: Option<SubscriberRow> = within!(tx, |db| {
            sqlx::query_as(concat!(
                "select ",
                subscriber_columns!(),
                " from subscribers s where s.id = $1 and s.page_id not in ",
                deleted_pages!()
            ))
            .bind(subscriber.uuid())
            .fetch_optional(db)
            .await
        })?;
        let Some(row) = row else { return Ok(None) };
        let subscriber = row.unsealed(&self.keyring)?;
        let rows: Vec<WaitingRow> = within!(tx, |db| {
            sqlx::query_as(
                "select d.event_id, d.incident_id, d.message, d.attempts, d.next_try,
                        d.lease_until, e.type, e.update_id, e.created
                 from statuspage_deliveries d
                 join statuspage_events e on e.id = d.event_id
                 where d.subscriber_id = $1 and d.next_try is not null
                 order by e.created, d.sequence, d.event_id
                 limit $2",
            )
            .bind(subscriber.id.uuid())
            .bind(MAX_WAITING)
            .fetch_all(db)
            .await
        })?;
        if rows.iter().any(|row| row.lease_until > now.0) {
            return Ok(None);
        }
        let waiting: Vec<WaitingMessage> = rows.iter().map(|row| row.waiting).collect();
        let events = match plan(subscriber.kind, &waiting, subscriber.last_delivery, now) {
            Plan::Nothing => return Ok(None),
            Plan::Wait(events, until) => {
                let sql = by_events!(self, "update statuspage_deliveries set next_try = $3");
                self.update_events(&mut tx, sql, subscriber.id, &events, until.0).await?;
                tx.commit().await?;
                return Ok(None);
            }
            Plan::Send(events) => events,
        };
        let claimed: Vec<&WaitingRow> =
            rows.iter().filter(|row| events.contains(&row.waiting.event)).collect();
        let Some(first) = claimed.first() else { return Ok(None) };
        let id = first.waiting.sent_with.unwrap_or(first.waiting.event);
        let claims = self.claim_events(&mut tx, subscriber.id, &events, id, now, lease).await?;
        // Another node was first.
        if claims.len() != events.len() {
            return Ok(None);
        }
        let in_reply_to = first_message(&mut tx, subscriber.id, first.message.incident).await?;
        let claimed = ClaimedMessages {
            messages: claimed.iter().map(|row| row.message).collect(),
            id,
            in_reply_to: in_reply_to.filter(|first| *first != id),
            attempts: claimed
                .iter()
                .map(|row| u32::try_from(row.attempts).unwrap_or(u32::MAX).saturating_add(1))
                .max()
                .unwrap_or(1),
            crashes: claims.into_iter().map(crashes_before).max().unwrap_or(0),
            lease,
            subscriber,
        };
        tx.commit().await?;
        Ok(Some(claimed))
    }

    async fn claim_events(
        &self,
        tx: &mut Tx,
        subscriber: SubscriberId,
        events: &[EventId],
        id: EventId,
        now: Millis,
        lease: Millis,
    ) -> Result<Vec<i64>> {
        let sql = either!(
            self,
            sqlite: concat!(
                "update statuspage_deliveries
                 set lease_until = $3, message = $5, attempts = attempts + 1, ",
                count_claim!("$6"),
                " where subscriber_id = $1
                 and event_id in (select unhex(value) from json_each($2))
                 and next_try is not null and lease_until <= $4
                 returning claims"
            ),
            postgres: concat!(
                "update statuspage_deliveries
                 set lease_until = $3, message = $5, attempts = attempts + 1, ",
                count_claim!("$6"),
                " where subscriber_id = $1
                 and event_id in (
                     select cast(value as uuid) from json_array_elements_text(cast($2 as json)))
                 and next_try is not null and lease_until <= $4
                 returning claims"
            )
        );
        Ok(within!(*tx, |db| {
            sqlx::query_scalar(sql)
                .bind(subscriber.uuid())
                .bind(event_list(events))
                .bind(lease.0)
                .bind(now.0)
                .bind(id.uuid())
                .bind(self.node.map(NodeId::uuid))
                .fetch_all(db)
                .await
        })?)
    }

    /// Records that messages were delivered.
    pub async fn messages_delivered(
        &self,
        claimed: &ClaimedMessages,
        answer: &str,
        now: Millis,
    ) -> Result<()> {
        // Lost in a power failure, they are sent again with the same id.
        let (_guard, mut tx) = self.begin_lazily().await?;
        if !self.settle_messages(&mut tx, claimed, "delivered", answer, None, now).await? {
            return Ok(());
        }
        within!(tx, |db| {
            sqlx::query("update subscribers set last_delivery = $2, failures = 0 where id = $1")
                .bind(claimed.subscriber.id.uuid())
                .bind(now.0)
                .execute(db)
                .await?;
        });
        tx.commit().await
    }

    /// Records a failed attempt, and when the next one is; `None`: given up.
    pub async fn messages_failed(
        &self,
        claimed: &ClaimedMessages,
        answer: &str,
        next_try: Option<Millis>,
        now: Millis,
    ) -> Result<()> {
        let (_guard, mut tx) = self.begin_lazily().await?;
        let state = if next_try.is_some() { "waiting" } else { "failed" };
        self.settle_messages(&mut tx, claimed, state, answer, next_try, now).await?;
        tx.commit().await
    }

    /// Records that the recipient has rejected messages permanently. True if that was once too
    /// often: nothing more is sent to it.
    pub async fn messages_rejected(
        &self,
        claimed: &ClaimedMessages,
        answer: &str,
        now: Millis,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        if !self.settle_messages(&mut tx, claimed, "failed", answer, None, now).await? {
            return Ok(false);
        }
        let failures: Option<i64> = within!(tx, |db| {
            sqlx::query_scalar(
                "update subscribers set failures = failures + 1 where id = $1 returning failures",
            )
            .bind(claimed.subscriber.id.uuid())
            .fetch_optional(db)
            .await
        })?;
        let is_bouncing = failures.is_some_and(|failures| failures >= MAX_FAILURES);
        if is_bouncing {
            within!(tx, |db| {
                sqlx::query("update subscribers set state = $2 where id = $1 and state = 'active'")
                    .bind(claimed.subscriber.id.uuid())
                    .bind(SubscriberState::Bouncing.as_str())
                    .execute(&mut *db)
                    .await?;
                sqlx::query(
                    "update statuspage_deliveries
                     set state = 'failed', next_try = null, last_answer = $2, finished = $3
                     where subscriber_id = $1 and next_try is not null",
                )
                .bind(claimed.subscriber.id.uuid())
                .bind(answer)
                .bind(now.0)
                .execute(db)
                .await?;
            });
        }
        tx.commit().await?;
        Ok(is_bouncing)
    }

    /// False if the lease has ended and another node has claimed them.
    async fn settle_messages(
        &self,
        tx: &mut Tx,
        claimed: &ClaimedMessages,
        state: &str,
        answer: &str,
        next_try: Option<Millis>,
        now: Millis,
    ) -> Result<bool> {
        let sql = by_events!(
            self,
            "update statuspage_deliveries
             set state = $4, last_answer = $5, next_try = $6, finished = $7, lease_until = 0,
                 claims = 0",
            " and lease_until = $3"
        );
        let events: Vec<EventId> = claimed.messages.iter().map(|one| one.event).collect();
        let settled = within!(*tx, |db| {
            sqlx::query(sql)
                .bind(claimed.subscriber.id.uuid())
                .bind(event_list(&events))
                .bind(claimed.lease.0)
                .bind(state)
                .bind(answer)
                .bind(next_try.map(|at| at.0))
                .bind(next_try.is_none().then_some(now.0))
                .execute(db)
                .await
                .map(|done| done.rows_affected())
        })?;
        Ok(settled > 0)
    }

    async fn update_events(
        &self,
        tx: &mut Tx,
        sql: &'static str,
        subscriber: SubscriberId,
        events: &[EventId],
        value: i64,
    ) -> Result<()> {
        within!(*tx, |db| {
            sqlx::query(sql)
                .bind(subscriber.uuid())
                .bind(event_list(events))
                .bind(value)
                .execute(db)
                .await?;
        });
        Ok(())
    }

    /// The number of messages to subscribers that are waiting.
    pub async fn count_waiting_messages(&self) -> Result<i64> {
        Ok(read!(self, |db| {
            sqlx::query_scalar(
                "select count(*) from statuspage_deliveries where next_try is not null",
            )
            .fetch_one(db)
            .await
        })?)
    }
}

impl TeamStore<'_> {
    /// The deliveries of the updates of an incident, which has been found in the team.
    pub async fn incident_deliveries(&self, incident: IncidentId) -> Result<Vec<UpdateDeliveries>> {
        let counts: Vec<(Uuid, String, i64)> = read!(self.store, |db| {
            sqlx::query_as(
                "select e.update_id, d.state, count(*)
                 from statuspage_events e
                 join incidents i on i.id = e.incident_id
                 join statuspage_deliveries d on d.event_id = e.id
                 where e.incident_id = $1 and i.team_id = $2
                 group by e.update_id, d.state",
            )
            .bind(incident.uuid())
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?;
        let failures: Vec<FailedDelivery> = read!(self.store, |db| {
            sqlx::query_as(
                "select e.update_id, d.subscriber_id, s.kind, d.last_answer, d.finished
                 from statuspage_events e
                 join incidents i on i.id = e.incident_id
                 join statuspage_deliveries d on d.event_id = e.id and d.state = 'failed'
                 join subscribers s on s.id = d.subscriber_id
                 where e.incident_id = $1 and i.team_id = $2
                 order by d.finished desc
                 limit $3",
            )
            .bind(incident.uuid())
            .bind(self.team.uuid())
            .bind(MAX_LISTED_FAILURES)
            .fetch_all(db)
            .await
        })?;
        let mut found: Vec<UpdateDeliveries> = Vec::new();
        for (update, state, count) in counts {
            let update = IncidentUpdateId::from(update);
            let place = found.iter().position(|one| one.update == update).unwrap_or_else(|| {
                found.push(UpdateDeliveries {
                    update,
                    waiting: 0,
                    delivered: 0,
                    failed: 0,
                    failures: failures.iter().filter(|one| one.update == update).cloned().collect(),
                });
                found.len() - 1
            });
            match state.as_str() {
                "delivered" => found[place].delivered += count,
                "failed" => found[place].failed += count,
                _ => found[place].waiting += count,
            }
        }
        Ok(found)
    }

    /// Makes the failed deliveries of an update due again; returns how many. Those of subscribers
    /// that receive nothing any longer stay as they are.
    pub async fn resend_update(
        &self,
        incident: &Incident,
        update: IncidentUpdateId,
        now: Millis,
        by: &AuditContext,
    ) -> Result<u64> {
        let mut tx = self.begin().await?;
        let resent = within!(tx, |db| {
            sqlx::query(
                "update statuspage_deliveries
                 set state = 'waiting', next_try = $4, attempts = 0, finished = null
                 where state = 'failed'
                 and event_id in (
                     select e.id from statuspage_events e
                     join incidents i on i.id = e.incident_id
                     where e.incident_id = $1 and e.update_id = $2 and i.team_id = $3)
                 and subscriber_id in (select s.id from subscribers s where s.state = 'active')",
            )
            .bind(incident.id.uuid())
            .bind(update.uuid())
            .bind(self.team.uuid())
            .bind(now.0)
            .execute(db)
            .await
            .map(|done| done.rows_affected())
        })?;
        if resent > 0 {
            let change = Change::new("deliveries", None, Some(serde_json::Value::from(resent)));
            let entry =
                NewEntry::new(Action::IncidentResend, incident_object(incident), vec![change]);
            self.store.write_entry(&mut tx, by, &entry).await?;
            tx.commit().await?;
        }
        Ok(resent)
    }
}

/// The id of the first email about an incident that a subscriber got.
async fn first_message(
    tx: &mut Tx,
    subscriber: SubscriberId,
    incident: IncidentId,
) -> Result<Option<EventId>> {
    let first: Option<Uuid> = within!(*tx, |db| {
        sqlx::query_scalar(
            "select message from statuspage_deliveries
             where subscriber_id = $1 and incident_id = $2 and state = 'delivered'
             and message is not null
             order by sequence, event_id
             limit 1",
        )
        .bind(subscriber.uuid())
        .bind(incident.uuid())
        .fetch_optional(db)
        .await
    })?;
    Ok(first.map(EventId::from))
}

fn event_list(events: &[EventId]) -> String {
    json(&events.iter().map(|id| id.uuid().simple().to_string()).collect::<Vec<_>>())
}
