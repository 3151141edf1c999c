//! What a verdict has to tell: the alert it opens or closes, and the event for
//! the notifiers in the shape that webhooks carry. Ids are made from what they
//! stand for, so that a verdict written twice is told once, and the end of an
//! outage finds its alert without anybody remembering the id.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::alert::Alert;
use wakeful_core::certificate::Warning;
use wakeful_core::id::{AlertId, EventId, MonitorId};
use wakeful_core::monitor::Monitor;
use wakeful_core::notice;
use wakeful_core::region::RegionBeat;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_core::verdict::{Change, Heartbeat, Status, Step};
use wakeful_store::{DueReminder, NewEvent, Record, StoredMonitor};

/// The record of a verdict that changes nothing.
pub(crate) fn plain(monitor: MonitorId, seq: i64, step: &Step) -> Record {
    Record {
        monitor,
        seq,
        heartbeat: step.heartbeat.clone(),
        state: step.state.clone(),
        opens: Vec::new(),
        closes: None,
        events: Vec::new(),
        certificate: None,
        grant: None,
    }
}

/// The record of a verdict. `monitor` is as the store has it now: the name in
/// a notice is the one that people see.
pub(crate) fn record(monitor: &Monitor, seq: i64, step: &Step, payload: Option<&Value>) -> Record {
    let mut record = plain(monitor.id, seq, step);
    if let Some(change) = &step.change {
        tell_change(&mut record, monitor, change, payload);
    }
    if let Some(warning) = &step.warning {
        tell_warning(&mut record, monitor, warning);
    }
    record
}

fn tell_change(record: &mut Record, monitor: &Monitor, change: &Change, payload: Option<&Value>) {
    let Some(outage) = change.outage.as_ref().filter(|_| change.fires()) else { return };
    let alert = alert_id(monitor.id, "outage", outage.started);
    record.opens.extend(Alert::of_change(alert, monitor, change));
    let Heartbeat { at, message, .. } = &record.heartbeat;
    if change.closes() {
        record.closes = Some((alert, *at));
    }
    let word = change.status.as_str();
    let kind = if change.status == Status::Down { notice::DOWN } else { notice::UP };
    let text = format!("[{}] {word}: {message}", monitor.name);
    let told = Told {
        previous: change.previous,
        message,
        down_since: Some(outage.started),
        down_seconds: Some(at.since(outage.started).as_secs()),
        payload,
        ..Told::by(record)
    };
    let event = event(monitor, kind, alert, &record.seq.to_string(), &text, &told);
    record.events.push(event);
}

fn tell_warning(record: &mut Record, monitor: &Monitor, warning: &Warning) {
    let now = record.heartbeat.at;
    let alert = alert_id(monitor.id, "certificate", now);
    record.opens.push(Alert::of_warning(alert, monitor, warning, now));
    let text = format!("[{}] {}", monitor.name, warning.message);
    let told = Told { message: &warning.message, ..Told::by(record) };
    let number = record.seq.to_string();
    let event = event(monitor, notice::CERTIFICATE, alert, &number, &text, &told);
    record.events.push(event);
}

/// What the notifiers are told of an outage that lasts.
pub(crate) fn reminder(stored: &StoredMonitor, of: &DueReminder, now: Millis) -> NewEvent {
    let StoredMonitor { monitor, state, .. } = stored;
    let lasted = now.since(of.started);
    let text = format!(
        "[{}] still down after {}: {}",
        monitor.name,
        notice::words(lasted),
        state.last_message
    );
    let told = Told {
        at: now,
        status: Status::Down,
        previous: Status::Down,
        message: &state.last_message,
        load_time: state.load_time,
        down_since: Some(of.started),
        down_seconds: Some(lasted.as_secs()),
        payload: None,
        regions: &[],
    };
    event(monitor, notice::REMINDER, of.alert, &of.due.0.to_string(), &text, &told)
}

struct Told<'a> {
    at: Millis,
    status: Status,
    previous: Status,
    message: &'a str,
    load_time: Option<Duration>,
    down_since: Option<Millis>,
    down_seconds: Option<u64>,
    payload: Option<&'a Value>,
    regions: &'a [RegionBeat],
}

impl<'a> Told<'a> {
    /// What the verdict says by itself.
    fn by(record: &'a Record) -> Self {
        Self {
            at: record.heartbeat.at,
            status: record.state.status,
            previous: record.state.status,
            message: &record.heartbeat.message,
            load_time: record.heartbeat.load_time,
            down_since: None,
            down_seconds: None,
            payload: None,
            regions: &record.heartbeat.regions,
        }
    }
}

/// `number` tells it from the other events of this kind of the monitor.
fn event(
    monitor: &Monitor,
    kind: &'static str,
    alert: AlertId,
    number: &str,
    text: &str,
    told: &Told<'_>,
) -> NewEvent {
    let id = EventId::new(told.at, unlike(&format!("event {} {number} {kind}", monitor.id)));
    let mut body = json!({
        "type": kind,
        "timestamp": told.at,
        "text": text,
        "data": {
            "eventid": id,
            "alertid": alert,
            "monitor": {
                "monitorid": monitor.id,
                "name": monitor.name,
                "type": monitor.spec.kind().as_str(),
                "target": monitor.spec.target(),
                "tags": monitor.tags,
            },
            "status": told.status.as_str(),
            "previous_status": told.previous.as_str(),
            "message": told.message,
            "load_time": told.load_time.map(|span| span.as_micros() as f64 / 1_000.0),
            "down_since": told.down_since,
            "down_seconds": told.down_seconds,
            "payload": told.payload,
        },
    });
    if !told.regions.is_empty() {
        body["data"]["regions"] = told.regions.iter().map(region).collect();
    }
    NewEvent { id, kind, alert, body: body.to_string() }
}

fn region(beat: &RegionBeat) -> Value {
    json!({"region": beat.region, "status": beat.status.as_str(), "message": beat.message})
}

fn alert_id(monitor: MonitorId, kind: &str, started: Millis) -> AlertId {
    AlertId::new(started, unlike(&format!("alert {monitor} {kind} {}", started.0)))
}

fn unlike(text: &str) -> [u8; 10] {
    let Digest(hash) = Digest::of(text);
    let mut bytes = [0; 10];
    bytes.copy_from_slice(&hash[..10]);
    bytes
}
