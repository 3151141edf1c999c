//! What a verdict has to tell: the alert it opens or closes, and the event for
//! the notifiers in the shape that webhooks carry. Ids are made from what they
//! stand for, so that a verdict written twice is told once, and the end of an
//! outage finds its alert without anybody remembering the id.

use serde_json::{Value, json};
use wakeful_core::alert::Alert;
use wakeful_core::certificate::Warning;
use wakeful_core::id::{AlertId, EventId, MonitorId};
use wakeful_core::monitor::Monitor;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_core::verdict::{Change, Heartbeat, Status, Step};
use wakeful_store::{NewEvent, Record};

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
    let kind = if change.status == Status::Down { "monitor.down" } else { "monitor.up" };
    let text = format!("[{}] {word}: {message}", monitor.name);
    let told = Told {
        previous: change.previous,
        message,
        down_since: Some(outage.started),
        down_seconds: Some(at.since(outage.started).as_secs()),
        payload,
    };
    let event = event(record, monitor, kind, alert, &text, &told);
    record.events.push(event);
}

fn tell_warning(record: &mut Record, monitor: &Monitor, warning: &Warning) {
    let now = record.heartbeat.at;
    let alert = alert_id(monitor.id, "certificate", now);
    record.opens.push(Alert::of_warning(alert, monitor, warning, now));
    let text = format!("[{}] {}", monitor.name, warning.message);
    let told = Told {
        previous: record.state.status,
        message: &warning.message,
        down_since: None,
        down_seconds: None,
        payload: None,
    };
    let event = event(record, monitor, "monitor.certificate_expiring", alert, &text, &told);
    record.events.push(event);
}

struct Told<'a> {
    previous: Status,
    message: &'a str,
    down_since: Option<Millis>,
    down_seconds: Option<u64>,
    payload: Option<&'a Value>,
}

fn event(
    record: &Record,
    monitor: &Monitor,
    kind: &'static str,
    alert: AlertId,
    text: &str,
    told: &Told<'_>,
) -> NewEvent {
    let at = record.heartbeat.at;
    let id = EventId::new(at, unlike(&format!("event {} {} {kind}", monitor.id, record.seq)));
    let body = json!({
        "type": kind,
        "timestamp": at,
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
            "status": record.state.status.as_str(),
            "previous_status": told.previous.as_str(),
            "message": told.message,
            "load_time": record.heartbeat.load_time.map(|span| span.as_micros() as f64 / 1_000.0),
            "down_since": told.down_since,
            "down_seconds": told.down_seconds,
            "payload": told.payload,
        },
    });
    NewEvent { id, kind, alert, body: body.to_string() }
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
