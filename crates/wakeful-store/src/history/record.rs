//! Writing the results of checks: many verdicts in one transaction, each with its
//! heartbeat, the resulting state and, if the status changes, the alert with the
//! event that reports it: the alert processor turns it into deliveries. Writing a
//! record twice, as after a commit whose confirmation was lost, does no harm:
//! heartbeats, alerts and events have ids of their own, and a state is only replaced
//! by one with a higher number, in whatever order records are written. Monitors that
//! were deleted in the meantime are skipped.

use serde::Serialize;
use sqlx::Error;
use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;
use wakeful_core::alerting::alert::Alert;
use wakeful_core::alerting::state::AlertState;
use wakeful_core::cluster::slot::Grant;
use wakeful_core::evidence::EvidenceRecord;
use wakeful_core::heartbeat::Heartbeat;
use wakeful_core::id::{AlertId, EventId, MonitorId};
use wakeful_core::notifications::event;
use wakeful_core::observation::Certificate;
use wakeful_core::reason::Reason;
use wakeful_core::time::Millis;
use wakeful_core::verdict::State;

use crate::alerting::evidence::write_evidence;
use crate::dialect::{Pool, Tx, either, within};
use crate::monitors::json;
use crate::{
    NewAlert, Result, Store, StoreError, StoredEvent, history::bulk, monitors::certificates,
};

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
    /// What its check saw, and earlier ones of the same outage.
    pub evidence: Vec<EvidenceRecord>,
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
            && self.evidence.is_empty()
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
    /// Alerts to decide about now.
    pub due: Vec<AlertId>,
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

/// The events that one transaction writes for several results: others wait for it.
const MAX_EVENT_BYTES: usize = 8 << 20;

#[derive(Serialize)]
struct AlertRow<'a> {
    id: SimpleUuid,
    monitor: SimpleUuid,
    kind: &'static str,
    severity: &'static str,
    status: &'static str,
    cause: &'a str,
    reason: Option<&'static str>,
    started: i64,
    ended: Option<i64>,
    due: Option<i64>,
    opened: Option<String>,
}

#[derive(Serialize)]
struct CloseRow {
    id: SimpleUuid,
    ended: i64,
    due: Option<i64>,
    closed: Option<String>,
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
        Ok(RecordOutcome { heartbeats: count(heartbeats), ..RecordOutcome::default() })
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
        Ok(RecordOutcome { heartbeats, stale, due: due_alerts(records) })
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
        let (opens, closes, has_certificates) = (
            records.iter().any(|record| !record.opens.is_empty()),
            records.iter().any(|record| record.closes.is_some()),
            records.iter().any(|record| record.certificate.is_some()),
        );
        let event_bytes: usize =
            records.iter().flat_map(|record| &record.events).map(|event| event.body.len()).sum();
        if event_bytes > MAX_EVENT_BYTES && records.len() > 1 {
            return Err(StoreError::TooLarge);
        }
        if opens || has_certificates {
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
        if records.iter().any(|record| !record.evidence.is_empty()) {
            write_evidence(&self.keyring, &mut tx, records).await?;
        }
        tx.commit().await?;
        Ok(count(written))
    }

    pub(crate) fn insert_alerts(&self) -> &'static str {
        either!(
            self,
            sqlite: "insert into alerts
                 (id, team_id, monitor_id, kind, severity, status, cause, started, ended, due,
                  opened_event, reason)
                 select unhex(r.value ->> 'id'), m.team_id, m.id, r.value ->> 'kind',
                        r.value ->> 'severity', r.value ->> 'status', r.value ->> 'cause',
                        r.value ->> 'started', r.value ->> 'ended', r.value ->> 'due',
                        r.value ->> 'opened', r.value ->> 'reason'
                 from json_each($1) r
                 join monitors m on m.id = unhex(r.value ->> 'monitor')
                 where true
                 on conflict do nothing",
            postgres: "insert into alerts
                 (id, team_id, monitor_id, kind, severity, status, cause, started, ended, due,
                  opened_event, reason)
                 select r.id, m.team_id, m.id, r.kind, r.severity, r.status, r.cause, r.started,
                        r.ended, r.due, r.opened, r.reason
                 from json_to_recordset(cast($1 as json))
                      as r(id uuid, monitor uuid, kind text, severity text, status text,
                           cause text, started bigint, ended bigint, due bigint, opened text,
                           reason text)
                 join monitors m on m.id = r.monitor
                 on conflict do nothing"
        )
    }

    fn close_alerts(&self) -> &'static str {
        either!(
            self,
            sqlite: "update alerts
                 set ended = r.ended, status = 'over', due = r.due, closed_event = r.closed,
                     remind_at = null, revision = revision + 1
                 from (select unhex(value ->> 'id') as id, value ->> 'ended' as ended,
                              value ->> 'due' as due, value ->> 'closed' as closed
                       from json_each($1)) r
                 where alerts.id = r.id and alerts.ended is null",
            postgres: "update alerts
                 set ended = r.ended, status = 'over', due = r.due, closed_event = r.closed,
                     remind_at = null, revision = revision + 1
                 from json_to_recordset(cast($1 as json))
                      as r(id uuid, ended bigint, due bigint, closed text)
                 where alerts.id = r.id and alerts.ended is null"
        )
    }
}

fn count(rows: u64) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}

/// The alerts that these records open, with the events that report them. They are due now.
fn opened_alerts(records: &[Record]) -> String {
    let rows: Vec<AlertRow<'_>> = records
        .iter()
        .flat_map(|record| record.opens.iter().map(move |alert| (record, alert)))
        .map(|(record, alert)| {
            let opened = event_of(record, alert.id, |kind| !event::CLOSING_TYPES.contains(&kind));
            AlertRow::of(alert, opened, record.heartbeat.at)
        })
        .collect();
    json(&rows)
}

/// The alerts that the alert processor opens. They are due now.
pub(crate) fn new_alert_rows(alerts: &[&NewAlert]) -> String {
    let rows: Vec<AlertRow<'_>> = alerts
        .iter()
        .map(|new| {
            let event = json(&StoredEvent::of(&new.event, new.seq, new.at));
            AlertRow::of(&new.alert, Some(event), new.at)
        })
        .collect();
    json(&rows)
}

impl<'a> AlertRow<'a> {
    /// Due at `at`, if this version reports it.
    fn of(alert: &'a Alert, opened: Option<String>, at: Millis) -> Self {
        Self {
            id: alert.id.uuid().into(),
            monitor: alert.monitor.uuid().into(),
            kind: alert.kind.as_str(),
            severity: alert.severity.as_str(),
            status: AlertState::default().status(alert.ended.is_some()).as_str(),
            cause: &alert.cause,
            reason: alert.reason.map(Reason::as_str),
            started: alert.started.0,
            ended: alert.ended.map(|at| at.0),
            due: opened.is_some().then_some(at.0),
            opened,
        }
    }
}

fn closed_alerts(records: &[Record]) -> String {
    let rows: Vec<CloseRow> = records
        .iter()
        .filter_map(|record| Some((record, record.closes?)))
        .map(|(record, (id, ended))| {
            let closed = event_of(record, id, |kind| event::CLOSING_TYPES.contains(&kind));
            let due = closed.is_some().then_some(record.heartbeat.at.0);
            CloseRow { id: id.uuid().into(), ended: ended.0, due, closed }
        })
        .collect();
    json(&rows)
}

/// The event of a record about this alert, as it is stored with the alert.
fn event_of(record: &Record, alert: AlertId, is_kind: impl Fn(&str) -> bool) -> Option<String> {
    let found = record.events.iter().find(|event| event.alert == alert && is_kind(event.kind));
    found.map(|event| json(&StoredEvent::of(event, record.seq, record.heartbeat.at)))
}

/// The alerts that are due with these records.
fn due_alerts(records: &[Record]) -> Vec<AlertId> {
    let mut ids: Vec<AlertId> =
        records.iter().flat_map(|record| &record.events).map(|event| event.alert).collect();
    ids.dedup();
    ids
}
