//! Listing the deliveries of a notifier and sending them again.

use uuid::Uuid;
use wakeful_core::id::{AlertId, DeliveryId, EventId, MonitorId, NotifierId, UserId};
use wakeful_core::notifications::delivery_state::DeliveryState;
use wakeful_core::notifications::recipients::Recipients;
use wakeful_core::time::Millis;

use super::optional_json;
use crate::dialect::{from_row, read, write};
use crate::monitors::visible::is_visible;
use crate::{Result, TeamStore};

/// A delivery as listed for its notifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedDelivery {
    pub id: DeliveryId,
    pub event: EventId,
    pub alert: Option<AlertId>,
    /// With its name; `None` for an announcement.
    pub monitor: Option<(MonitorId, String)>,
    pub kind: String,
    pub state: DeliveryState,
    pub attempts: i64,
    pub last_answer: String,
    /// For a mail, once its server has responded to the recipients.
    pub recipients: Option<Recipients>,
    pub created: Millis,
    pub next_try: Option<Millis>,
    pub finished: Option<Millis>,
}

from_row!(ListedDelivery, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    event: row.try_get::<Uuid, _>("eventid")?.into(),
    alert: row.try_get::<Option<Uuid>, _>("alert_id")?.map(AlertId::from),
    monitor: match (row.try_get::<Option<Uuid>, _>("monitor_id")?, row.try_get("name")?) {
        (Some(id), Some(name)) => Some((id.into(), name)),
        _ => None,
    },
    kind: row.try_get("kind")?,
    state: DeliveryState::parse(row.try_get("state")?)
        .ok_or_else(|| sqlx::Error::Decode("not a state of a delivery".into()))?,
    attempts: row.try_get("attempts")?,
    last_answer: row.try_get("last_answer")?,
    recipients: optional_json(row.try_get("recipients")?)?,
    created: Millis(row.try_get("created")?),
    next_try: row.try_get::<Option<i64>, _>("next_try")?.map(Millis),
    finished: row.try_get::<Option<i64>, _>("finished")?.map(Millis),
});

/// The outcome of sending a delivery again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResendOutcome {
    Queued,
    /// The team has no such delivery.
    Missing,
    NotifierDisabled,
}

impl TeamStore<'_> {
    /// The deliveries of a notifier, newest first; `None` when the team has no
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
            sqlx::query_as(concat!(
                "select d.id, d.eventid, d.alert_id, d.monitor_id, m.name, d.kind, d.state,
                        d.attempts, d.last_answer, d.recipients, d.created, d.next_try,
                        d.finished
                 from deliveries d
                 left join monitors m on m.id = d.monitor_id and m.team_id = d.team_id
                 where d.notifier_id = $1 and d.id < $2
                 and (d.monitor_id is null or m.id is not null) and ",
                is_visible!("4"),
                " order by d.id desc
                 limit $3"
            ))
            .bind(notifier.uuid())
            .bind(before.map_or(Uuid::max(), DeliveryId::uuid))
            .bind(limit.map_or(i64::MAX, i64::from))
            .bind(self.filter)
            .fetch_all(db)
            .await
        })?;
        Ok(Some(rows))
    }

    /// Queues a delivery again, starting with the first retry step. An attempt
    /// that is in progress continues. Those of a personal notifier only its user can send.
    pub async fn resend_delivery(
        &self,
        id: DeliveryId,
        user: UserId,
        now: Millis,
    ) -> Result<ResendOutcome> {
        let done = write!(self.store, |db| {
            sqlx::query(concat!(
                "update deliveries
                 set state = 'waiting', next_try = $3, attempts = 0, finished = null, claims = 0,
                     digest = null,
                     recipients = case when left_to is null then null else recipients end
                 where id = $1 and team_id = $2
                 and notifier_id in (
                     select n.id from notifiers n
                     where n.team_id = $2 and n.disabled_at is null
                     and (n.owner_id is null or n.owner_id = $5))
                 and (($4 is null and monitor_id is null)
                      or exists (select 1 from monitors m
                                 where m.id = monitor_id and m.team_id = $2 and ",
                is_visible!("4"),
                "))"
            ))
            .bind(id.uuid())
            .bind(self.team.uuid())
            .bind(now.0)
            .bind(self.filter)
            .bind(user.uuid())
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if done {
            self.store.outbox.notify_any();
            return Ok(ResendOutcome::Queued);
        }
        let found: Option<i64> = read!(self.store, |db| {
            sqlx::query_scalar(concat!(
                "select d.created
                 from deliveries d
                 join notifiers n on n.id = d.notifier_id and n.team_id = d.team_id
                 left join monitors m on m.id = d.monitor_id and m.team_id = d.team_id
                 where d.id = $1 and d.team_id = $2
                 and (n.owner_id is null or n.owner_id = $4)
                 and (d.monitor_id is null or m.id is not null) and ",
                is_visible!("3")
            ))
            .bind(id.uuid())
            .bind(self.team.uuid())
            .bind(self.filter)
            .bind(user.uuid())
            .fetch_optional(db)
            .await
        })?;
        Ok(found.map_or(ResendOutcome::Missing, |_| ResendOutcome::NotifierDisabled))
    }
}
