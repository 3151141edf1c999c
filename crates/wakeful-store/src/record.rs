//! Writing down what checks have come to: many verdicts in one transaction,
//! each with its heartbeat, the state it leaves and, where it is a change, the
//! alert and one delivery for each notifier. A record may be written twice, as
//! after a commit whose answer was lost: heartbeats, alerts and events have ids
//! of their own, and a state is only replaced by one with a higher number. So
//! the order of two records does not matter to the state, and a monitor that
//! was deleted meanwhile is passed over.

use serde::Serialize;
use sqlx::Error;
use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;
use wakeful_core::alert::Alert;
use wakeful_core::id::{AlertId, DeliveryId, EventId, MonitorId, NotifierId};
use wakeful_core::observation::Certificate;
use wakeful_core::slot::Grant;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_core::verdict::{Heartbeat, State};

use crate::dialect::{Pool, Tx, either, from_row, within};
use crate::monitors::json;
use crate::{DueDelivery, Result, Store, StoreError, bulk, certificates};

/// Longer than the database itself lets all the statements of a batch take.
const WITHIN: Duration = Duration::from_secs(20);

/// Verdicts that SQLite writes together when none of them is a change: whoever
/// has a change, or something else to write, waits for a millisecond or two.
const PIECE: usize = 128;
/// The same when so many have come together that the store is behind: then fewer
/// transactions count for more.
const LARGE_PIECE: usize = 1_024;

/// One verdict.
#[derive(Clone, Debug)]
pub struct Record {
    pub monitor: MonitorId,
    /// The number of the verdict among those of its monitor.
    pub seq: i64,
    pub heartbeat: Heartbeat,
    pub state: State,
    pub opens: Vec<Alert>,
    pub closes: Option<(AlertId, Millis)>,
    pub events: Vec<NewEvent>,
    /// The certificate that the target showed, when it is another than before.
    pub certificate: Option<Box<Certificate>>,
    /// What it was found out under; nothing where a node is alone.
    pub grant: Option<Grant>,
}

impl Record {
    /// Whether it is a heartbeat and a state, and nothing else.
    fn is_plain(&self) -> bool {
        self.opens.is_empty()
            && self.closes.is_none()
            && self.events.is_empty()
            && self.certificate.is_none()
            && self.grant.is_none()
    }
}

/// What came of writing records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// How many left a new heartbeat.
    pub heartbeats: usize,
    /// Grants that are over: nothing was written under them.
    pub stale: Vec<Grant>,
}

/// What the notifiers of a monitor are to be told.
#[derive(Clone, Debug)]
pub struct NewEvent {
    pub id: EventId,
    pub kind: &'static str,
    pub alert: AlertId,
    /// JSON.
    pub body: String,
}

#[derive(Serialize)]
struct AlertRow<'a> {
    id: Simple,
    told: i64,
    monitor: Simple,
    kind: &'static str,
    cause: &'a str,
    started: i64,
    ended: Option<i64>,
}

#[derive(Serialize)]
struct CloseRow {
    id: Simple,
    ended: i64,
}

#[derive(Serialize)]
struct DeliveryRow<'a> {
    id: Simple,
    event: Simple,
    monitor: Simple,
    notifier: Simple,
    alert: Simple,
    sequence: i64,
    kind: &'static str,
    body: &'a str,
    created: i64,
}

/// An id as both engines read it out of JSON.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Simple(String);

impl From<Uuid> for Simple {
    fn from(id: Uuid) -> Self {
        Self(id.simple().to_string())
    }
}

pub(crate) struct Link {
    monitor: MonitorId,
    notifier: NotifierId,
}

from_row!(Link, |row| Self {
    monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
    notifier: row.try_get::<Uuid, _>("notifier_id")?.into(),
});

impl Store {
    /// Writes these records, all or none; those of monitors that were deleted
    /// meanwhile, and those under a grant that is over, are passed over.
    pub async fn record(&self, records: &[Record]) -> Result<Written> {
        if records.is_empty() {
            return Ok(Written::default());
        }
        // A server that went silent without hanging up must not hold this up for
        // as long as TCP waits for it.
        let writing = async {
            match self.pool {
                Pool::Sqlite { .. } if records.iter().all(Record::is_plain) => {
                    self.record_in_pieces(records).await
                }
                _ => self.record_fenced(records).await,
            }
        };
        match tokio::time::timeout(WITHIN, writing).await {
            Ok(written) => written,
            Err(_) => Err(StoreError::Unavailable(Error::PoolTimedOut)),
        }
    }

    /// Writes verdicts that change nothing. The last piece waits for the disk,
    /// and with it for all that was written before.
    async fn record_in_pieces(&self, records: &[Record]) -> Result<Written> {
        let records = bulk::in_order(records);
        let piece = if records.len() > 2 * LARGE_PIECE { LARGE_PIECE } else { PIECE };
        let mut pieces = records.chunks(piece).peekable();
        let mut heartbeats = 0;
        while let Some(piece) = pieces.next() {
            let (_turn, mut tx) = match pieces.peek() {
                Some(_) => self.begin_lazily().await?,
                None => (None, self.begin().await?),
            };
            heartbeats += bulk::write(&mut tx, piece).await?;
            tx.commit().await?;
        }
        Ok(Written { heartbeats: count(heartbeats), stale: Vec::new() })
    }

    async fn record_fenced(&self, records: &[Record]) -> Result<Written> {
        let mut tx = self.begin().await?;
        let stale = self.fence(&mut tx, records).await?;
        let kept: Vec<Record>;
        let records = match stale.is_empty() {
            true => records,
            false => {
                let is_good =
                    |record: &&Record| record.grant.is_none_or(|grant| !stale.contains(&grant));
                kept = records.iter().filter(is_good).cloned().collect();
                &kept
            }
        };
        let heartbeats = self.record_within(tx, records).await?;
        Ok(Written { heartbeats, stale })
    }

    /// Holds the slots that these records were found out under until the end of
    /// the transaction, in the order of their numbers; gives the grants that are
    /// over. Nobody is granted a slot while a result is being written under it.
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
        let (opens, closes, tells, shows) = (
            records.iter().any(|record| !record.opens.is_empty()),
            records.iter().any(|record| record.closes.is_some()),
            records.iter().any(|record| !record.events.is_empty()),
            records.iter().any(|record| record.certificate.is_some()),
        );
        if opens || tells || shows {
            bulk::hold_monitors(&mut tx, records).await?;
        }
        let written = bulk::write(&mut tx, &bulk::in_order(records)).await?;
        within!(tx, |db| {
            if opens {
                sqlx::query(self.insert_alerts()).bind(opened(records)).execute(&mut *db).await?;
            }
            if closes {
                sqlx::query(self.close_alerts()).bind(closed(records)).execute(&mut *db).await?;
                sqlx::query(self.overtake_reminders())
                    .bind(closed(records))
                    .bind(Self::overtaken())
                    .execute(&mut *db)
                    .await?;
            }
            if shows {
                sqlx::query(self.keep_certificates())
                    .bind(certificates::shown(records))
                    .execute(&mut *db)
                    .await?;
            }
            Ok::<_, Error>(())
        })?;
        let mut new: Vec<DueDelivery> = Vec::new();
        if tells {
            within!(tx, |db| {
                let mut links: Vec<Link> = sqlx::query_as(self.select_links())
                    .bind(told(records))
                    .fetch_all(&mut *db)
                    .await?;
                if closes {
                    // Whoever was told of an outage is told of its end, linked or not.
                    let listeners: Vec<Link> = sqlx::query_as(self.select_listeners())
                        .bind(closed(records))
                        .fetch_all(&mut *db)
                        .await?;
                    links.extend(listeners);
                }
                if !links.is_empty() {
                    new = sqlx::query_as(self.insert_deliveries())
                        .bind(deliveries(records, &links))
                        .fetch_all(&mut *db)
                        .await?;
                }
                Ok::<_, Error>(())
            })?;
        }
        tx.commit().await?;
        if !new.is_empty() {
            self.outbox.ring_for(new);
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
                             then (r.value ->> 'told') + m.resend_interval * 1000 end
                 from json_each($1) r
                 join monitors m on m.id = unhex(r.value ->> 'monitor')
                 where true
                 on conflict do nothing",
            postgres: "insert into alerts
                 (id, team_id, monitor_id, kind, cause, started, ended, remind_at)
                 select r.id, m.team_id, m.id, r.kind, r.cause, r.started, r.ended,
                        case when r.ended is null and m.resend_interval > 0
                             then r.told + m.resend_interval * 1000 end
                 from json_to_recordset(cast($1 as json))
                      as r(id uuid, monitor uuid, kind text, cause text, started bigint,
                           ended bigint, told bigint)
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

fn opened(records: &[Record]) -> String {
    let rows: Vec<AlertRow<'_>> = records
        .iter()
        .flat_map(|record| record.opens.iter().map(|alert| (record.heartbeat.at, alert)))
        .map(|(told, alert)| AlertRow {
            id: alert.id.uuid().into(),
            told: told.0,
            monitor: alert.monitor.uuid().into(),
            kind: alert.kind.as_str(),
            cause: &alert.cause,
            started: alert.started.0,
            ended: alert.ended.map(|at| at.0),
        })
        .collect();
    json(&rows)
}

fn closed(records: &[Record]) -> String {
    let rows: Vec<CloseRow> = records
        .iter()
        .filter_map(|record| record.closes)
        .map(|(id, ended)| CloseRow { id: id.uuid().into(), ended: ended.0 })
        .collect();
    json(&rows)
}

/// The monitors that have something to tell.
fn told(records: &[Record]) -> String {
    let mut ids: Vec<String> = records
        .iter()
        .filter(|record| !record.events.is_empty())
        .map(|record| record.monitor.uuid().simple().to_string())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    json(&ids)
}

fn deliveries(records: &[Record], links: &[Link]) -> String {
    let events = records.iter().flat_map(|record| {
        let at = record.heartbeat.at;
        record.events.iter().map(move |event| (record.monitor, record.seq, at, event))
    });
    told_to(events, links)
}

/// A row for each of these events and each notifier of its monitor. An event
/// comes with its monitor, its place among the monitor's, and its time.
pub(crate) fn told_to<'a>(
    events: impl Iterator<Item = (MonitorId, i64, Millis, &'a NewEvent)>,
    links: &[Link],
) -> String {
    let mut notifiers: HashMap<MonitorId, Vec<NotifierId>> = HashMap::new();
    for link in links {
        notifiers.entry(link.monitor).or_default().push(link.notifier);
    }
    let mut rows = Vec::new();
    for (monitor, sequence, created, event) in events {
        let linked = notifiers.get(&monitor).map_or(&[][..], Vec::as_slice);
        rows.extend(linked.iter().map(|notifier| DeliveryRow {
            id: delivery_id(event, *notifier, created).uuid().into(),
            event: event.id.uuid().into(),
            monitor: monitor.uuid().into(),
            notifier: notifier.uuid().into(),
            alert: event.alert.uuid().into(),
            sequence,
            kind: event.kind,
            body: &event.body,
            created: created.0,
        }));
    }
    json(&rows)
}

/// The same event for the same notifier has the same id, written twice or not.
fn delivery_id(event: &NewEvent, notifier: NotifierId, created: Millis) -> DeliveryId {
    let Digest(hash) = Digest::of(&format!("delivery {} {notifier}", event.id));
    let mut unlike = [0; 10];
    unlike.copy_from_slice(&hash[..10]);
    DeliveryId::new(created, unlike)
}
