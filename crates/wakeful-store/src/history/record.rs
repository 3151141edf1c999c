//! Writing the results of checks: many verdicts in one transaction, each with its
//! heartbeat, the resulting state and, if the status changes, the alert and one
//! delivery for each notifier. Writing a record twice, as after a commit whose
//! confirmation was lost, does no harm: heartbeats, alerts and events have ids of
//! their own, and a state is only replaced by one with a higher number, in
//! whatever order records are written. Monitors that were deleted in the meantime
//! are skipped.

use serde::Serialize;
use sqlx::Error;
use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;
use wakeful_core::alerting::alert::Alert;
use wakeful_core::cluster::slot::Grant;
use wakeful_core::heartbeat::Heartbeat;
use wakeful_core::id::{AlertId, DeliveryId, EventId, MonitorId, NotifierId};
use wakeful_core::observation::Certificate;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_core::verdict::State;

use crate::dialect::{Pool, Tx, either, from_row, within};
use crate::monitors::json;
use crate::{DueDelivery, Result, Store, StoreError, history::bulk, monitors::certificates};

/// Longer than the database's own timeouts allow the statements of a batch to take.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);

/// Verdicts that SQLite writes together when none of them is a change. Small
/// enough that other writers wait only a millisecond or two.
const CHUNK_ROWS: usize = 128;
/// The same when the backlog is large: then fewer transactions matter more.
const LARGE_CHUNK_ROWS: usize = 1_024;

/// One verdict.
#[derive(Clone, Debug)]
pub struct Record {
    pub monitor: MonitorId,
    /// The sequence number of the verdict within its monitor.
    pub seq: i64,
    pub heartbeat: Heartbeat,
    pub state: State,
    pub opens: Vec<Alert>,
    pub closes: Option<(AlertId, Millis)>,
    pub events: Vec<NewEvent>,
    /// The certificate that the target presented, if it has changed.
    pub certificate: Option<Box<Certificate>>,
    /// The grant of the slot that the check ran under; `None` on a single node.
    pub grant: Option<Grant>,
}

impl Record {
    /// Whether it contains only a heartbeat and a state.
    fn is_plain(&self) -> bool {
        self.opens.is_empty()
            && self.closes.is_none()
            && self.events.is_empty()
            && self.certificate.is_none()
            && self.grant.is_none()
    }
}

/// The outcome of writing records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordOutcome {
    /// The number of new heartbeats.
    pub heartbeats: usize,
    /// Grants that are no longer valid: nothing was written under them.
    pub stale: Vec<Grant>,
}

/// An event to send to the notifiers of a monitor.
#[derive(Clone, Debug)]
pub struct NewEvent {
    pub id: EventId,
    pub kind: &'static str,
    pub alert: AlertId,
    /// JSON.
    pub body: String,
}

/// An event and its place in the queues of its monitor.
pub(crate) struct EventToDeliver<'a> {
    pub(crate) monitor: MonitorId,
    /// The sequence number of the monitor's last verdict.
    pub(crate) seq: i64,
    pub(crate) at: Millis,
    pub(crate) event: &'a NewEvent,
}

/// The bodies that one statement inserts; a database reads its parameter at once.
const MAX_STATEMENT_BYTES: usize = 1 << 20;

/// The deliveries that one transaction writes for several results: others wait for it.
const MAX_DELIVERY_BYTES: usize = 8 << 20;

#[derive(Serialize)]
struct AlertRow<'a> {
    id: SimpleUuid,
    notified: i64,
    monitor: SimpleUuid,
    kind: &'static str,
    cause: &'a str,
    started: i64,
    ended: Option<i64>,
}

#[derive(Serialize)]
struct CloseRow {
    id: SimpleUuid,
    ended: i64,
}

#[derive(Serialize)]
struct DeliveryRow<'a> {
    id: SimpleUuid,
    event: SimpleUuid,
    monitor: SimpleUuid,
    notifier: SimpleUuid,
    alert: SimpleUuid,
    sequence: i64,
    kind: &'static str,
    body: &'a str,
    created: i64,
}

/// An id in a form that both databases can read from JSON.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct SimpleUuid(String);

impl From<Uuid> for SimpleUuid {
    fn from(id: Uuid) -> Self {
        Self(id.simple().to_string())
    }
}

pub(crate) struct NotifierLink {
    monitor: MonitorId,
    notifier: NotifierId,
}

from_row!(NotifierLink, |row| Self {
    monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
    notifier: row.try_get::<Uuid, _>("notifier_id")?.into(),
});

impl Store {
    /// Writes these records, all or none. Skips those of monitors deleted in the
    /// meantime and those under a grant that is no longer valid.
    pub async fn record(&self, records: &[Record]) -> Result<RecordOutcome> {
        if records.is_empty() {
            return Ok(RecordOutcome::default());
        }
        // A server that stops responding without closing the connection must not
        // block this until TCP times out.
        let writing = async {
            match self.pool {
                Pool::Sqlite { .. } if records.iter().all(Record::is_plain) => {
                    self.record_in_chunks(records).await
                }
                _ => self.record_fenced(records).await,
            }
        };
        match tokio::time::timeout(WRITE_TIMEOUT, writing).await {
            Ok(written) => written,
            Err(_) => Err(StoreError::Unavailable(Error::PoolTimedOut)),
        }
    }

    /// Writes verdicts without changes. The last chunk waits for the disk, which
    /// flushes the earlier ones too.
    async fn record_in_chunks(&self, records: &[Record]) -> Result<RecordOutcome> {
        let records = bulk::in_order(records);
        let chunk =
            if records.len() > 2 * LARGE_CHUNK_ROWS { LARGE_CHUNK_ROWS } else { CHUNK_ROWS };
        let mut chunks = records.chunks(chunk).peekable();
        let mut heartbeats = 0;
        while let Some(chunk) = chunks.next() {
            let (_guard, mut tx) = match chunks.peek() {
                Some(_) => self.begin_lazily().await?,
                None => (None, self.begin().await?),
            };
            heartbeats += bulk::write(&mut tx, chunk).await?;
            tx.commit().await?;
        }
        Ok(RecordOutcome { heartbeats: count(heartbeats), stale: Vec::new() })
    }

    async fn record_fenced(&self, records: &[Record]) -> Result<RecordOutcome> {
        let mut tx = self.begin().await?;
        let stale = self.fence(&mut tx, records).await?;
        let current_records: Vec<Record>;
        let records = if stale.is_empty() {
            records
        } else {
            let is_current =
                |record: &&Record| record.grant.is_none_or(|grant| !stale.contains(&grant));
            current_records = records.iter().filter(is_current).cloned().collect();
            &current_records
        };
        let heartbeats = self.record_within(tx, records).await?;
        Ok(RecordOutcome { heartbeats, stale })
    }

    /// Locks the slots of these records until the end of the transaction, in the
    /// order of their numbers, and returns the grants that are no longer valid. A
    /// slot cannot be granted while a result is being written under it.
    async fn fence(&self, tx: &mut Tx, records: &[Record]) -> Result<Vec<Grant>> {
        let mut grants: Vec<Grant> = records.iter().filter_map(|record| record.grant).collect();
        grants.sort_unstable();
        grants.dedup();
        if grants.is_empty() {
            return Ok(grants);
        }
        let slots: Vec<String> =
            grants.iter().map(|grant| grant.slot.number().to_string()).collect();
        let sql = either!(
            self,
            sqlite: "select slot, epoch from slots
                 where slot in (select value from json_each('[' || $1 || ']'))",
            postgres: "select slot, epoch from slots
                 where slot = any(cast(string_to_array($1, ',') as bigint[]))
                 order by slot
                 for share"
        );
        let rows: Vec<(i64, i64)> = within!(*tx, |db| {
            sqlx::query_as(sql).bind(slots.join(",")).fetch_all(&mut *db).await
        })?;
        let current: HashMap<i64, i64> = rows.into_iter().collect();
        let is_over =
            |grant: &Grant| current.get(&grant.slot.number().into()) != Some(&grant.epoch);
        grants.retain(is_over);
        Ok(grants)
    }

    async fn record_within(&self, mut tx: Tx, records: &[Record]) -> Result<usize> {
        let (opens, closes, has_events, has_certificates) = (
            records.iter().any(|record| !record.opens.is_empty()),
            records.iter().any(|record| record.closes.is_some()),
            records.iter().any(|record| !record.events.is_empty()),
            records.iter().any(|record| record.certificate.is_some()),
        );
        if opens || has_events || has_certificates {
            bulk::lock_monitors(&mut tx, records).await?;
        }
        let written = bulk::write(&mut tx, &bulk::in_order(records)).await?;
        within!(tx, |db| {
            if opens {
                sqlx::query(self.insert_alerts())
                    .bind(opened_alerts(records))
                    .execute(&mut *db)
                    .await?;
            }
            if closes {
                sqlx::query(self.close_alerts())
                    .bind(closed_alerts(records))
                    .execute(&mut *db)
                    .await?;
                sqlx::query(self.cancel_reminders())
                    .bind(closed_alerts(records))
                    .bind(Self::canceled_answer())
                    .execute(&mut *db)
                    .await?;
            }
            if has_certificates {
                sqlx::query(self.upsert_certificates())
                    .bind(certificates::shown_certificates(records))
                    .execute(&mut *db)
                    .await?;
            }
            Ok::<_, Error>(())
        })?;
        let mut new: Vec<DueDelivery> = Vec::new();
        if has_events {
            let links = within!(tx, |db| {
                let mut links: Vec<NotifierLink> = sqlx::query_as(self.select_links())
                    .bind(monitors_with_events(records))
                    .fetch_all(&mut *db)
                    .await?;
                if closes {
                    // Notifiers that reported an outage also report its end, even
                    // if they are no longer linked.
                    let listeners: Vec<NotifierLink> = sqlx::query_as(self.select_listeners())
                        .bind(closed_alerts(records))
                        .fetch_all(&mut *db)
                        .await?;
                    links.extend(listeners);
                }
                Ok::<_, Error>(links)
            })?;
            let rows = deliveries(records, &links);
            let bytes: usize = rows.iter().map(String::len).sum();
            if bytes > MAX_DELIVERY_BYTES && records.len() > 1 {
                return Err(StoreError::TooLarge);
            }
            for rows in rows {
                let added: Vec<DueDelivery> = within!(tx, |db| {
                    sqlx::query_as(self.insert_deliveries()).bind(rows).fetch_all(db).await
                })?;
                new.extend(added);
            }
        }
        tx.commit().await?;
        if !new.is_empty() {
            self.outbox.notify_of(new);
        }
        Ok(count(written))
    }

    fn insert_alerts(&self) -> &'static str {
        either!(
            self,
            sqlite: "insert into alerts
                 (id, team_id, monitor_id, kind, cause, started, ended, remind_at)
                 select unhex(r.value ->> 'id'), m.team_id, m.id, r.value ->> 'kind',
                        r.value ->> 'cause', r.value ->> 'started', r.value ->> 'ended',
                        case when r.value ->> 'ended' is null and m.resend_interval > 0
                             then (r.value ->> 'notified') + m.resend_interval * 1000 end
                 from json_each($1) r
                 join monitors m on m.id = unhex(r.value ->> 'monitor')
                 where true
                 on conflict do nothing",
            postgres: "insert into alerts
                 (id, team_id, monitor_id, kind, cause, started, ended, remind_at)
                 select r.id, m.team_id, m.id, r.kind, r.cause, r.started, r.ended,
                        case when r.ended is null and m.resend_interval > 0
                             then r.notified + m.resend_interval * 1000 end
                 from json_to_recordset(cast($1 as json))
                      as r(id uuid, monitor uuid, kind text, cause text, started bigint,
                           ended bigint, notified bigint)
                 join monitors m on m.id = r.monitor
                 on conflict do nothing"
        )
    }

    fn close_alerts(&self) -> &'static str {
        either!(
            self,
            sqlite: "update alerts
                 set ended = r.ended, remind_at = null
                 from (select unhex(value ->> 'id') as id, value ->> 'ended' as ended
                       from json_each($1)) r
                 where alerts.id = r.id and alerts.ended is null",
            postgres: "update alerts
                 set ended = r.ended, remind_at = null
                 from json_to_recordset(cast($1 as json)) as r(id uuid, ended bigint)
                 where alerts.id = r.id and alerts.ended is null"
        )
    }

    fn select_links(&self) -> &'static str {
        either!(
            self,
            sqlite: "select l.monitor_id, l.notifier_id
                 from json_each($1) r
                 join monitor_notifiers l on l.monitor_id = unhex(r.value)
                 join notifiers n on n.id = l.notifier_id
                 where n.disabled_at is null
                 order by l.monitor_id, l.position",
            postgres: "select l.monitor_id, l.notifier_id
                 from json_array_elements_text(cast($1 as json)) r
                 join monitor_notifiers l on l.monitor_id = cast(r.value as uuid)
                 join notifiers n on n.id = l.notifier_id
                 where n.disabled_at is null
                 order by l.monitor_id, l.position"
        )
    }

    fn select_listeners(&self) -> &'static str {
        either!(
            self,
            sqlite: "select distinct d.monitor_id, d.notifier_id
                 from json_each($1) r
                 join deliveries d on d.alert_id = unhex(r.value ->> 'id')
                 join notifiers n on n.id = d.notifier_id
                 where d.kind in ('monitor.down', 'monitor.reminder') and n.disabled_at is null
                 and not exists (
                     select 1 from monitor_notifiers l
                     where l.monitor_id = d.monitor_id and l.notifier_id = d.notifier_id)",
            postgres: "select distinct d.monitor_id, d.notifier_id
                 from json_to_recordset(cast($1 as json)) as r(id uuid)
                 join deliveries d on d.alert_id = r.id
                 join notifiers n on n.id = d.notifier_id
                 where d.kind in ('monitor.down', 'monitor.reminder') and n.disabled_at is null
                 and not exists (
                     select 1 from monitor_notifiers l
                     where l.monitor_id = d.monitor_id and l.notifier_id = d.notifier_id)"
        )
    }

    pub(crate) fn insert_deliveries(&self) -> &'static str {
        either!(
            self,
            sqlite: "insert into deliveries
                 (id, eventid, team_id, monitor_id, notifier_id, alert_id, sequence, kind, body,
                  created, next_try)
                 select unhex(r.value ->> 'id'), unhex(r.value ->> 'event'), m.team_id, m.id,
                        unhex(r.value ->> 'notifier'), a.id, r.value ->> 'sequence',
                        r.value ->> 'kind', r.value ->> 'body', r.value ->> 'created',
                        r.value ->> 'created'
                 from json_each($1) r
                 join monitors m on m.id = unhex(r.value ->> 'monitor')
                 left join alerts a on a.id = unhex(r.value ->> 'alert')
                 where true
                 on conflict do nothing
                 returning id, team_id, notifier_id, claims as crashes,
                           (select n.kind from notifiers n where n.id = notifier_id) as kind",
            postgres: "insert into deliveries
                 (id, eventid, team_id, monitor_id, notifier_id, alert_id, sequence, kind, body,
                  created, next_try)
                 select r.id, r.event, m.team_id, m.id, r.notifier, a.id, r.sequence, r.kind,
                        r.body, r.created, r.created
                 from json_to_recordset(cast($1 as json))
                      as r(id uuid, event uuid, monitor uuid, notifier uuid, alert uuid,
                           sequence bigint, kind text, body text, created bigint)
                 join monitors m on m.id = r.monitor
                 left join alerts a on a.id = r.alert
                 on conflict do nothing
                 returning id, team_id, notifier_id, claims as crashes,
                           (select n.kind from notifiers n where n.id = notifier_id) as kind"
        )
    }
}

fn count(rows: u64) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}

fn opened_alerts(records: &[Record]) -> String {
    let rows: Vec<AlertRow<'_>> = records
        .iter()
        .flat_map(|record| record.opens.iter().map(|alert| (record.heartbeat.at, alert)))
        .map(|(notified, alert)| AlertRow {
            id: alert.id.uuid().into(),
            notified: notified.0,
            monitor: alert.monitor.uuid().into(),
            kind: alert.kind.as_str(),
            cause: &alert.cause,
            started: alert.started.0,
            ended: alert.ended.map(|at| at.0),
        })
        .collect();
    json(&rows)
}

fn closed_alerts(records: &[Record]) -> String {
    let rows: Vec<CloseRow> = records
        .iter()
        .filter_map(|record| record.closes)
        .map(|(id, ended)| CloseRow { id: id.uuid().into(), ended: ended.0 })
        .collect();
    json(&rows)
}

/// The monitors with events.
fn monitors_with_events(records: &[Record]) -> String {
    let mut ids: Vec<String> = records
        .iter()
        .filter(|record| !record.events.is_empty())
        .map(|record| record.monitor.uuid().simple().to_string())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    json(&ids)
}

fn deliveries(records: &[Record], links: &[NotifierLink]) -> Vec<String> {
    let events = records.iter().flat_map(|record| {
        let at = record.heartbeat.at;
        record.events.iter().map(move |event| EventToDeliver {
            monitor: record.monitor,
            seq: record.seq,
            at,
            event,
        })
    });
    delivery_rows(events, links)
}

/// A row for each of these events and each notifier of its monitor, as the parameters of as
/// many statements as are needed.
pub(crate) fn delivery_rows<'a>(
    events: impl Iterator<Item = EventToDeliver<'a>>,
    links: &[NotifierLink],
) -> Vec<String> {
    let mut notifiers: HashMap<MonitorId, Vec<NotifierId>> = HashMap::new();
    for link in links {
        notifiers.entry(link.monitor).or_default().push(link.notifier);
    }
    let mut rows = Vec::new();
    for EventToDeliver { monitor, seq, at, event } in events {
        let linked = notifiers.get(&monitor).map_or(&[][..], Vec::as_slice);
        rows.extend(linked.iter().map(|notifier| DeliveryRow {
            id: delivery_id(event, *notifier, at).uuid().into(),
            event: event.id.uuid().into(),
            monitor: monitor.uuid().into(),
            notifier: notifier.uuid().into(),
            alert: event.alert.uuid().into(),
            sequence: seq,
            kind: event.kind,
            body: &event.body,
            created: at.0,
        }));
    }
    let mut bytes = 0;
    let fits = |_: &DeliveryRow<'_>, next: &DeliveryRow<'_>| {
        bytes += next.body.len();
        let fits = bytes <= MAX_STATEMENT_BYTES;
        if !fits {
            bytes = next.body.len();
        }
        fits
    };
    rows.chunk_by(fits).map(json).collect()
}

/// Derived from event and notifier, so that writing it twice has no effect.
fn delivery_id(event: &NewEvent, notifier: NotifierId, created: Millis) -> DeliveryId {
    let Digest(hash) = Digest::of(&format!("delivery {} {notifier}", event.id));
    let mut random = [0; 10];
    random.copy_from_slice(&hash[..10]);
    DeliveryId::new(created, random)
}
