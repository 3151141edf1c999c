//! What subscribers are notified of. An event is written in the transaction of its update, one
//! for each page; a node then writes its deliveries in parts, and records how far it is in the
//! transaction of each part.

use serde_json::json;
use uuid::Uuid;
use wakeful_core::id::{
    EventId, IncidentId, IncidentUpdateId, NodeId, StatuspageId, SubscriberId, TeamId,
};
use wakeful_core::statuspages::incident::{Incident, Update};
use wakeful_core::statuspages::subscriber::{
    EventType, SubscriberKind, SubscriberSettings, announced, announces_postmortem, event_id,
};
use wakeful_core::time::Millis;

use crate::claims::{count_claim, crashes_before, undo_claim};
use crate::dialect::{Tx, either, from_row, read, within, write, write_lazily};
use crate::{Result, Store};

/// An event whose deliveries are not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenEvent {
    pub id: EventId,
    pub team: TeamId,
}

from_row!(OpenEvent, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
});

/// An event whose deliveries only this caller writes until the lease ends.
#[derive(Clone, Debug)]
pub struct ClaimedEvent {
    pub id: EventId,
    pub page: StatuspageId,
    pub team: TeamId,
    pub incident: IncidentId,
    pub update: IncidentUpdateId,
    /// The last subscriber that was considered.
    pub progress: Option<SubscriberId>,
    pub lease: Millis,
    /// The number of other processes that claimed it and ended before they wrote any deliveries.
    pub crashes: u32,
    sequence: i64,
}

from_row!(ClaimedEvent, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    page: row.try_get::<Uuid, _>("page_id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    incident: row.try_get::<Uuid, _>("incident_id")?.into(),
    update: row.try_get::<Uuid, _>("update_id")?.into(),
    progress: row.try_get::<Option<Uuid>, _>("progress")?.map(SubscriberId::from),
    lease: Millis(row.try_get("lease_until")?),
    crashes: crashes_before(row.try_get("claims")?),
    sequence: row.try_get("sequence")?,
});

/// An active subscriber of a page, as far as choosing the recipients needs it.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub id: SubscriberId,
    pub kind: SubscriberKind,
    pub settings: SubscriberSettings,
    pub last_delivery: Option<Millis>,
}

from_row!(Candidate, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    kind: SubscriberKind::parse(row.try_get("kind")?)
        .map_err(|error| sqlx::Error::Decode(error.into()))?,
    settings: serde_json::from_str(row.try_get("settings")?)
        .map_err(|error| sqlx::Error::Decode(error.into()))?,
    last_delivery: row.try_get::<Option<i64>, _>("last_delivery")?.map(Millis),
});

/// The queue of a delivery: what goes to servers of others never waits with the service's mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageQueue {
    /// The service's own mail.
    Mail,
    /// Webhooks, chats, and mail through a team's own server.
    Remote,
}

impl PageQueue {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Mail => "mail",
            Self::Remote => "remote",
        }
    }
}

/// A delivery to write.
#[derive(Clone, Copy, Debug)]
pub struct NewPageDelivery {
    pub subscriber: SubscriberId,
    pub queue: PageQueue,
    pub next_try: Millis,
}

/// Writes the events of a change of an incident. `sequence` increases with each change.
pub(super) async fn announce(
    tx: &mut Tx,
    before: Option<&Incident>,
    incident: &Incident,
    sequence: i64,
) -> Result<()> {
    let mut events: Vec<(EventType, &Update, u32)> = announced(before, incident)
        .into_iter()
        .map(|update| (EventType::of(incident, update), update, 0))
        .collect();
    events.extend(reminder(before, incident));
    if announces_postmortem(before, incident)
        && let Some(newest) = incident.updates.first()
    {
        let at = (incident.modified.0 / 1_000) as u32;
        events.push((EventType::Postmortem, newest, at));
    }
    if events.is_empty() {
        return Ok(());
    }
    for page in incident.all_pages() {
        for (kind, update, reminder) in &events {
            let id = event_id(page, update.id, *kind, *reminder, incident.modified);
            within!(*tx, |db| {
                sqlx::query(
                    "insert into statuspage_events
                     (id, page_id, incident_id, update_id, type, sequence, created)
                     select $1, p.id, $3, $4, $5, $6, $7 from statuspages p
                     where p.id = $2 and p.published
                     and exists (select 1 from subscribers s
                                 where s.page_id = p.id and s.state = 'active')
                     on conflict (id) do nothing",
                )
                .bind(id.uuid())
                .bind(page.uuid())
                .bind(incident.id.uuid())
                .bind(update.id.uuid())
                .bind(kind.as_str())
                .bind(sequence)
                .bind(incident.modified.0)
                .execute(db)
                .await?;
            });
        }
    }
    Ok(())
}

/// The reminder that a step of the maintenance clock has decided. One that is late by more than
/// its lead time is left out.
fn reminder<'a>(
    before: Option<&Incident>,
    incident: &'a Incident,
) -> Option<(EventType, &'a Update, u32)> {
    let (at, start) = (incident.settings.reminded?, incident.settings.scheduled_for?);
    let is_new = before.is_some_and(|before| before.settings.reminded != Some(at));
    let newest = incident.updates.first().filter(|update| update.settings.notify)?;
    (is_new && at < start && incident.is_published()).then_some((
        EventType::MaintenanceReminder,
        newest,
        (at.0 / 1_000) as u32,
    ))
}

impl Store {
    /// The oldest event of each team whose deliveries may be written now, the oldest of all first.
    pub async fn open_statuspage_events(&self, now: Millis) -> Result<Vec<OpenEvent>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select w.id, w.team_id
                 from (select e.id, p.team_id,
                              row_number() over (partition by p.team_id order by e.id) as place
                       from statuspage_events e
                       join statuspages p on p.id = e.page_id
                       where e.completed is null and e.lease_until <= $1
                       and not exists (
                           select 1 from statuspage_events o
                           where o.incident_id = e.incident_id and o.page_id = e.page_id
                           and o.completed is null and o.sequence < e.sequence)) w
                 where w.place = 1
                 order by w.id",
            )
            .bind(now.0)
            .fetch_all(db)
            .await
        })?)
    }

    /// Claims an event whose deliveries are not written, in the order of its incident.
    pub async fn claim_statuspage_event(
        &self,
        event: EventId,
        now: Millis,
        lease: Millis,
    ) -> Result<Option<ClaimedEvent>> {
        Ok(write!(self, |db| {
            sqlx::query_as(concat!(
                "update statuspage_events
                 set lease_until = $2, ",
                count_claim!("$3"),
                " where id = $4 and lease_until <= $1 and completed is null
                 and not exists (
                     select 1 from statuspage_events o
                     where o.incident_id = statuspage_events.incident_id
                     and o.page_id = statuspage_events.page_id
                     and o.completed is null and o.sequence < statuspage_events.sequence)
                 returning id, page_id, incident_id, update_id, progress, lease_until, sequence,
                     claims,
                     (select p.team_id from statuspages p
                      where p.id = statuspage_events.page_id) as team_id",
            ))
            .bind(now.0)
            .bind(lease.0)
            .bind(self.node.map(NodeId::uuid))
            .bind(event.uuid())
            .fetch_optional(db)
            .await
        })?)
    }

    /// Ends the claim of an event of which a part is written, so that other teams have their turn
    /// before the rest is.
    pub async fn release_statuspage_event(&self, event: &ClaimedEvent) -> Result<()> {
        write!(self, |db| {
            sqlx::query(concat!(
                "update statuspage_events set ",
                undo_claim!(),
                " where id = $1 and lease_until = $2 and completed is null"
            ))
            .bind(event.id.uuid())
            .bind(event.lease.0)
            .execute(db)
            .await
            .map(drop)
        })?;
        Ok(())
    }

    /// How many active subscribers published pages have, each page on its own.
    pub async fn count_active_subscribers(&self, pages: &[StatuspageId]) -> Result<i64> {
        let sql = either!(
            self,
            sqlite: "select count(*) from statuspages p
                     join subscribers s on s.page_id = p.id
                     where p.published and s.state = 'active'
                     and p.id in (select unhex(value) from json_each($1))",
            postgres: "select count(*) from statuspages p
                     join subscribers s on s.page_id = p.id
                     where p.published and s.state = 'active'
                     and p.id in (
                         select cast(value as uuid)
                         from json_array_elements_text(cast($1 as json)))"
        );
        let pages: Vec<String> =
            pages.iter().map(|page| page.uuid().simple().to_string()).collect();
        Ok(read!(self, |db| {
            sqlx::query_scalar(sql).bind(crate::monitors::json(&pages)).fetch_one(db).await
        })?)
    }

    /// The next active subscribers of a page.
    pub async fn candidates(
        &self,
        page: StatuspageId,
        after: Option<SubscriberId>,
        limit: u32,
    ) -> Result<Vec<Candidate>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select id, kind, settings, last_delivery from subscribers
                 where page_id = $1 and id > $2 and state = 'active'
                 order by id
                 limit $3",
            )
            .bind(page.uuid())
            .bind(after.map_or(Uuid::nil(), SubscriberId::uuid))
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?)
    }

    /// Writes deliveries of an event, and how far it is: up to `progress`, or all of it. False if
    /// the claim was lost. After that, only the claim of this node counts.
    pub async fn add_page_deliveries(
        &self,
        event: &ClaimedEvent,
        deliveries: &[NewPageDelivery],
        progress: Option<SubscriberId>,
        now: Millis,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        let is_claimed = within!(tx, |db| {
            sqlx::query(
                "update statuspage_events
                 set progress = coalesce($3, progress), completed = $4, claims = 1
                 where id = $1 and lease_until = $2 and completed is null",
            )
            .bind(event.id.uuid())
            .bind(event.lease.0)
            .bind(progress.map(SubscriberId::uuid))
            .bind(progress.is_none().then_some(now.0))
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !is_claimed {
            return Ok(false);
        }
        let sql = either!(
            self,
            sqlite: "insert into statuspage_deliveries
                 (event_id, subscriber_id, incident_id, sequence, page_id, queue, state, next_try,
                  created)
                 select $1, s.id, $2, $3, s.page_id, j.value ->> 'queue', 'waiting',
                        j.value ->> 'next_try', $4
                 from json_each($5) j
                 join subscribers s on s.id = unhex(j.value ->> 'id')
                 where s.state = 'active'
                 on conflict (subscriber_id, event_id) do nothing",
            postgres: "insert into statuspage_deliveries
                 (event_id, subscriber_id, incident_id, sequence, page_id, queue, state, next_try,
                  created)
                 select $1, s.id, $2, $3, s.page_id, j.value ->> 'queue', 'waiting',
                        cast(j.value ->> 'next_try' as bigint), $4
                 from json_array_elements(cast($5 as json)) j
                 join subscribers s on s.id = cast(j.value ->> 'id' as uuid)
                 where s.state = 'active'
                 on conflict (subscriber_id, event_id) do nothing"
        );
        let rows: Vec<serde_json::Value> = deliveries
            .iter()
            .map(|one| {
                json!({
                    "id": one.subscriber.uuid().simple().to_string(),
                    "queue": one.queue.as_str(),
                    "next_try": one.next_try.0,
                })
            })
            .collect();
        within!(tx, |db| {
            sqlx::query(sql)
                .bind(event.id.uuid())
                .bind(event.incident.uuid())
                .bind(event.sequence)
                .bind(now.0)
                .bind(crate::monitors::json(&rows))
                .execute(db)
                .await?;
        });
        tx.commit().await?;
        Ok(true)
    }

    /// Deletes events from before `oldest`, first their deliveries, in parts; true when there are
    /// more.
    pub async fn prune_statuspage_events(&self, oldest: Millis) -> Result<bool> {
        const DELIVERIES: i64 = 500;
        const EVENTS: i64 = 100;
        let oldest = EventId::new(oldest, [0; 10]).uuid();
        let deliveries = write_lazily!(self, |db| {
            sqlx::query(
                "delete from statuspage_deliveries where (subscriber_id, event_id) in (
                     select d.subscriber_id, d.event_id
                     from (select id from statuspage_events
                           where id < $1 and completed is not null
                           order by id
                           limit $2) e
                     cross join statuspage_deliveries d
                     where d.event_id = e.id
                     limit $3)",
            )
            .bind(oldest)
            .bind(EVENTS)
            .bind(DELIVERIES)
            .execute(db)
            .await
            .map(|done| done.rows_affected())
        })?;
        if deliveries >= DELIVERIES.cast_unsigned() {
            return Ok(true);
        }
        Ok(write_lazily!(self, |db| {
            sqlx::query(
                "delete from statuspage_events where id in (
                     select id from statuspage_events
                     where id < $1 and completed is not null
                     order by id
                     limit $2)",
            )
            .bind(oldest)
            .bind(EVENTS)
            .execute(db)
            .await
            .map(|done| done.rows_affected() >= EVENTS.cast_unsigned())
        })?)
    }
}
