//! The alert that a verdict opens or closes, and the event for the notifiers in the format
//! of webhooks. Ids are derived from their content, so that a verdict that is written twice
//! notifies once, and the end of an outage finds its alert without a stored id.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::alerting::alert::{Alert, AlertKind};
use wakeful_core::certificate::{ExpiryKind, ExpiryWarning};
use wakeful_core::evidence::{EvidenceContent, EvidenceOf, EvidenceRecord, MAX_EXCERPT_LENGTH};
use wakeful_core::health::{Degradation, HealthChange, HealthChangeKind};
use wakeful_core::heartbeat::{Heartbeat, Phases, RegionBeat};
use wakeful_core::id::{AlertId, EventId, EvidenceId, MonitorId};
use wakeful_core::monitors::Monitor;
use wakeful_core::notifications::event::{self, EventEvidence, EventPhases};
use wakeful_core::one_line::one_line;
use wakeful_core::reason::Reason;
use wakeful_core::severity::Severity;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_core::verdict::{Change, Health, State, Status, Step};
use wakeful_store::{DueAlert, NewEvent, Record, StoredMonitor};

use crate::scheduler::NewEvidence;

/// The record of a verdict that changes nothing.
pub(crate) fn routine_record(
    monitor: MonitorId,
    seq: i64,
    step: &Step,
    evidence: &[NewEvidence],
) -> Record {
    // Evidence of a failure that was not confirmed belongs to no alert.
    let alert = step.change.as_ref().and_then(|change| change.outage.as_ref());
    let alert = alert.map(|outage| alert_id(monitor, "outage", outage.started));
    let degraded = step.health_change.as_ref();
    let degraded = degraded.map(|change| degraded_alert_id(monitor, &change.degradation));
    let changed = step.changed.as_ref().map(|_| change_alert_id(monitor, step.heartbeat.at));
    Record {
        evidence: evidence
            .iter()
            .map(|new| {
                let alert = match new.of {
                    EvidenceOf::Degraded => degraded,
                    EvidenceOf::Change => changed,
                    _ => alert,
                };
                evidence_record(monitor, alert, new)
            })
            .collect(),
        monitor,
        seq,
        heartbeat: step.heartbeat.clone(),
        state: step.state.clone(),
        opens: Vec::new(),
        closes: None,
        events: Vec::new(),
        certificate: None,
        grant: None,
        state_only: false,
    }
}

/// The record of a verdict. `monitor` is as currently stored, so that an event contains the
/// name that users see.
pub(crate) fn verdict_record(
    monitor: &Monitor,
    seq: i64,
    step: &Step,
    payload: Option<&Value>,
    evidence: &[NewEvidence],
) -> Record {
    let mut record = routine_record(monitor.id, seq, step, evidence);
    if let Some(change) = &step.change {
        add_change_event(&mut record, monitor, change, payload);
    }
    if let Some(change) = &step.health_change {
        add_health_event(&mut record, monitor, change);
    }
    if let Some(warning) = &step.warning {
        add_warning_event(&mut record, monitor, warning);
    }
    if let Some(changed) = &step.changed {
        add_new_value_event(&mut record, monitor, changed);
    }
    record
}

fn evidence_record(
    monitor: MonitorId,
    alert: Option<AlertId>,
    new: &NewEvidence,
) -> EvidenceRecord {
    let text = format!("evidence {monitor} {} {}", new.of.as_str(), new.at.0);
    EvidenceRecord {
        id: EvidenceId::new(new.at, deterministic_bytes(&text)),
        monitor,
        alert: alert.filter(|_| new.of != EvidenceOf::Blip),
        of: new.of,
        at: new.at,
        content: (*new.content).clone(),
    }
}

fn add_change_event(
    record: &mut Record,
    monitor: &Monitor,
    change: &Change,
    payload: Option<&Value>,
) {
    let Some(outage) = change.outage.as_ref().filter(|_| change.notifies()) else { return };
    let alert = alert_id(monitor.id, "outage", outage.started);
    record.opens.extend(Alert::of_change(alert, monitor, change));
    let Heartbeat { at, message, .. } = &record.heartbeat;
    if change.closes_alert() {
        record.closes = Some((alert, (*at).max(outage.started)));
    }
    let status = change.status.as_str();
    let kind = if change.status == Status::Down { event::DOWN } else { event::UP };
    let text = format!("[{}] {status}: {message}", monitor.name);
    let data = EventData {
        severity: Some(monitor.severity),
        previous: change.previous,
        message,
        down_since: Some(outage.started),
        down_seconds: Some(at.since(outage.started).as_secs()),
        payload: payload.filter(|payload| event::is_passed_on(payload)),
        reason: outage.reason,
        evidence: shown_evidence(&record.evidence, alert),
        ..EventData::of_verdict(record)
    };
    let event = event(monitor, kind, alert, &record.seq.to_string(), &text, &data);
    record.events.push(event);
}

/// The alert that a degraded monitor opens or closes. While it is down, the outage is reported.
fn add_health_event(record: &mut Record, monitor: &Monitor, change: &HealthChange) {
    let HealthChange { kind, degradation, notify } = change;
    let alert = degraded_alert_id(monitor.id, degradation);
    let at = record.heartbeat.at;
    match kind {
        HealthChangeKind::Degraded => {
            record.opens.push(Alert::of_degradation(alert, monitor, degradation));
        }
        HealthChangeKind::Restored => record.closes = Some((alert, at.max(degradation.since))),
        HealthChangeKind::WentDown => {
            let outage = record.state.failing.as_ref().map_or(at, |failing| failing.started);
            record.closes = Some((alert, outage.max(degradation.since)));
        }
    }
    if !notify {
        return;
    }
    let is_degraded = *kind == HealthChangeKind::Degraded;
    let (kind, word, health) = match kind {
        HealthChangeKind::Degraded => (event::DEGRADED, "degraded", Health::Degraded),
        HealthChangeKind::Restored => (event::RESTORED, "restored", Health::Up),
        // Only for services that would keep an incident open.
        HealthChangeKind::WentDown => (event::RESTORED, "down", Health::Down),
    };
    let message = if is_degraded { &degradation.cause } else { &record.heartbeat.message };
    let text = format!("[{}] {word}: {message}", monitor.name);
    let data = EventData {
        severity: Some(Severity::Warning),
        message,
        reason: Some(degradation.reason),
        health: Some(health),
        degraded_since: Some(degradation.since),
        evidence: shown_evidence(&record.evidence, alert).filter(|_| is_degraded),
        ..EventData::of_verdict(record)
    };
    let event = event(monitor, kind, alert, &record.seq.to_string(), &text, &data);
    record.events.push(event);
}

fn degraded_alert_id(monitor: MonitorId, degradation: &Degradation) -> AlertId {
    alert_id(monitor, "degraded", degradation.since)
}

fn change_alert_id(monitor: MonitorId, at: Millis) -> AlertId {
    alert_id(monitor, "change", at)
}

fn add_warning_event(record: &mut Record, monitor: &Monitor, warning: &ExpiryWarning) {
    let now = record.heartbeat.at;
    let (kind, subject) = match warning.of {
        ExpiryKind::Certificate | ExpiryKind::ClientCertificate => {
            (event::CERTIFICATE, "certificate")
        }
        ExpiryKind::Domain => (event::DOMAIN, "domain"),
    };
    let alert = alert_id(monitor.id, subject, now);
    record.opens.push(Alert::of_warning(alert, monitor, warning, now));
    let text = format!("[{}] {}", monitor.name, warning.message);
    let severity = warning.severity(monitor.severity);
    let data = EventData {
        severity: Some(severity),
        message: &warning.message,
        reason: Some(warning.reason()),
        ..EventData::of_verdict(record)
    };
    let number = record.seq.to_string();
    let event = event(monitor, kind, alert, &number, &text, &data);
    record.events.push(event);
}

fn add_new_value_event(record: &mut Record, monitor: &Monitor, changed: &str) {
    let now = record.heartbeat.at;
    let alert = change_alert_id(monitor.id, now);
    record.opens.push(Alert::of_new_value(alert, monitor, changed, now));
    let text = format!("[{}] {changed}", monitor.name);
    let data = EventData {
        severity: Some(Severity::Warning),
        message: changed,
        reason: Some(Reason::Changed),
        health: Some(record.state.health()),
        evidence: shown_evidence(&record.evidence, alert),
        ..EventData::of_verdict(record)
    };
    let event = event(monitor, event::CHANGED, alert, &record.seq.to_string(), &text, &data);
    record.events.push(event);
}

/// The event that reminds of an ongoing outage. `due` distinguishes it from other reminders.
pub(crate) fn reminder(
    stored: &StoredMonitor,
    alert: &DueAlert,
    due: Millis,
    now: Millis,
) -> NewEvent {
    let StoredMonitor { monitor, state, .. } = stored;
    let lasted = now.since(alert.facts.started);
    let text = format!(
        "[{}] still down after {}: {}",
        monitor.name,
        event::format_duration(lasted),
        state.last_message
    );
    let data = EventData {
        severity: Some(alert.facts.severity(&alert.state)),
        ..EventData::of_outage(stored, alert, now)
    };
    event(monitor, event::REMINDER, alert.id, &due.0.to_string(), &text, &data)
}

/// What distinguishes an escalation step of an alert from others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepNumber {
    pub(crate) round: u32,
    /// `None`: to every member, because no step has reached anybody.
    pub(crate) step: Option<u32>,
    /// How often the escalation has begun again.
    pub(crate) restarts: u32,
}

/// The event that an outage or flapping is escalated, for recipients that know of it already.
pub(crate) fn escalated(
    stored: &StoredMonitor,
    alert: &DueAlert,
    number: &StepNumber,
    now: Millis,
) -> NewEvent {
    let StoredMonitor { monitor, state, .. } = stored;
    let StepNumber { round, step, restarts } = *number;
    let lasted = event::format_duration(now.since(alert.facts.started));
    let part = match step {
        Some(step) => format!("step {}", step + 1),
        None => "no step has reached anybody".to_owned(),
    };
    let (status, data) = match alert.facts.kind {
        AlertKind::Flapping => {
            ("flapping", EventData { message: &alert.cause, ..EventData::of_state(state, now) })
        }
        _ => ("down", EventData::of_outage(stored, alert, now)),
    };
    let text =
        format!("[{}] still {status} after {lasted}, {part}: {}", monitor.name, data.message);
    let data = EventData {
        severity: Some(alert.facts.severity(&alert.state)),
        step: step.map(|step| step + 1),
        id_time: Some(alert.facts.started),
        ..data
    };
    let place = step.map_or("all".to_owned(), |step| step.to_string());
    let number = format!("{} {restarts} {round} {place}", alert.id);
    event(monitor, event::ESCALATED, alert.id, &number, &text, &data)
}

/// The event that somebody has responded to an alert: `done` says what was done and by which user.
pub(crate) fn response(
    stored: &StoredMonitor,
    alert: &DueAlert,
    kind: &'static str,
    done: &str,
    now: Millis,
) -> NewEvent {
    let StoredMonitor { monitor, state, .. } = stored;
    let text = format!("[{}] {done}: {}", monitor.name, state.last_message);
    let data = EventData {
        severity: Some(alert.facts.severity(&alert.state)),
        ..EventData::of_outage(stored, alert, now)
    };
    let number = format!("{} {}", alert.id, alert.revision);
    event(monitor, kind, alert.id, &number, &text, &data)
}

/// The event that somebody has commented on an alert, which may be over.
pub(crate) fn comment(
    stored: &StoredMonitor,
    alert: &DueAlert,
    by: &str,
    comment: &str,
    now: Millis,
) -> NewEvent {
    let StoredMonitor { monitor, state, .. } = stored;
    let text = format!("[{}] comment by {by}: {}", monitor.name, one_line(comment, usize::MAX));
    let is_outage = alert.facts.kind == AlertKind::Outage && alert.facts.ended.is_none();
    let data = EventData {
        severity: Some(alert.facts.severity(&alert.state)),
        message: comment,
        commented_by: Some(by),
        ..if is_outage {
            EventData::of_outage(stored, alert, now)
        } else {
            EventData::of_state(state, now)
        }
    };
    let number = format!("{} {}", alert.id, alert.revision);
    event(monitor, event::COMMENTED, alert.id, &number, &text, &data)
}

/// The event that a monitor flaps.
pub(crate) fn flapping(stored: &StoredMonitor, alert: &Alert, now: Millis) -> NewEvent {
    let StoredMonitor { monitor, state, .. } = stored;
    let text = format!("[{}] flapping: {}", monitor.name, alert.cause);
    let data = EventData {
        severity: Some(alert.severity),
        message: &alert.cause,
        ..EventData::of_state(state, now)
    };
    event(monitor, event::FLAPPING, alert.id, &alert.id.to_string(), &text, &data)
}

/// The event that a monitor no longer flaps.
pub(crate) fn steady(stored: &StoredMonitor, alert: &DueAlert, now: Millis) -> NewEvent {
    let StoredMonitor { monitor, state, .. } = stored;
    let text =
        format!("[{}] steady: {}, {}", monitor.name, state.status.as_str(), state.last_message);
    let data = EventData {
        severity: Some(alert.facts.severity(&alert.state)),
        ..EventData::of_state(state, now)
    };
    event(monitor, event::STEADY, alert.id, &alert.id.to_string(), &text, &data)
}

/// The id of the alert about flapping in place of the outage that began then.
pub(crate) fn flapping_alert_id(monitor: MonitorId, started: Millis) -> AlertId {
    alert_id(monitor, "flapping", started)
}

struct EventData<'a> {
    severity: Option<Severity>,
    /// The author of a comment.
    commented_by: Option<&'a str>,
    /// The number of an escalation step, from 1.
    step: Option<u32>,
    /// The time in its id, if that is not its own: an id that does not depend on when it is
    /// decided about.
    id_time: Option<Millis>,
    at: Millis,
    status: Status,
    previous: Status,
    message: &'a str,
    load_time: Option<Duration>,
    down_since: Option<Millis>,
    down_seconds: Option<u64>,
    payload: Option<&'a Value>,
    regions: &'a [RegionBeat],
    reason: Option<Reason>,
    health: Option<Health>,
    degraded_since: Option<Millis>,
    evidence: Option<EventEvidence>,
}

impl<'a> EventData<'a> {
    /// The data of the verdict itself.
    fn of_verdict(record: &'a Record) -> Self {
        Self {
            severity: None,
            commented_by: None,
            step: None,
            id_time: None,
            at: record.heartbeat.at,
            status: record.state.status,
            previous: record.state.status,
            message: &record.heartbeat.message,
            load_time: record.heartbeat.load_time,
            down_since: None,
            down_seconds: None,
            payload: None,
            regions: &record.heartbeat.regions,
            reason: None,
            health: None,
            degraded_since: None,
            evidence: None,
        }
    }

    /// The data of a monitor as it is now.
    fn of_state(state: &'a State, now: Millis) -> Self {
        Self {
            severity: None,
            commented_by: None,
            step: None,
            id_time: None,
            at: now,
            status: state.status,
            previous: state.status,
            message: &state.last_message,
            load_time: state.load_time,
            down_since: None,
            down_seconds: None,
            payload: None,
            regions: &[],
            reason: None,
            health: None,
            degraded_since: None,
            evidence: None,
        }
    }

    /// The data of an ongoing outage.
    fn of_outage(stored: &'a StoredMonitor, alert: &DueAlert, now: Millis) -> Self {
        let (state, started) = (&stored.state, alert.facts.started);
        Self {
            severity: None,
            commented_by: None,
            step: None,
            id_time: None,
            at: now,
            status: Status::Down,
            previous: Status::Down,
            message: &state.last_message,
            load_time: state.load_time,
            down_since: Some(started),
            down_seconds: Some(now.since(started).as_secs()),
            payload: None,
            regions: &[],
            reason: state.failing.as_ref().and_then(|failing| failing.reason),
            health: None,
            degraded_since: None,
            evidence: None,
        }
    }
}

/// `number` distinguishes it from other events of this kind and monitor.
fn event(
    monitor: &Monitor,
    kind: &'static str,
    alert: AlertId,
    number: &str,
    text: &str,
    data: &EventData<'_>,
) -> NewEvent {
    let id = event_id(monitor.id, kind, number, data.id_time.unwrap_or(data.at));
    let mut body = json!({
        "type": kind,
        "timestamp": data.at,
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
            "status": data.status.as_str(),
            "previous_status": data.previous.as_str(),
            "message": data.message,
            "load_time": data.load_time.map(|span| span.as_micros() as f64 / 1_000.0),
            "down_since": data.down_since,
            "down_seconds": data.down_seconds,
            "payload": data.payload,
        },
    });
    if let Some(severity) = data.severity {
        body["data"]["severity"] = json!(severity.as_str());
    }
    if let Some(by) = data.commented_by {
        body["data"]["commented_by"] = json!(by);
    }
    if let Some(step) = data.step {
        body["data"]["step"] = json!(step);
    }
    if let Some(reason) = data.reason {
        body["data"]["reason"] = json!(reason.as_str());
    }
    if let Some(health) = data.health {
        body["data"]["health"] = json!(health.as_str());
    }
    if let Some(since) = data.degraded_since {
        body["data"]["degraded_since"] = json!(since);
    }
    if let Some(evidence) = &data.evidence {
        body["data"]["evidence"] = json!(evidence);
    }
    if !data.regions.is_empty() {
        body["data"]["regions"] = data.regions.iter().map(region).collect();
    }
    NewEvent { id, kind, alert, body: body.to_string() }
}

/// The most telling evidence for a notification: that of the check that decided.
fn shown_evidence(evidence: &[EvidenceRecord], alert: AlertId) -> Option<EventEvidence> {
    let last = evidence.iter().rfind(|record| record.alert == Some(alert))?;
    let EvidenceContent { reason, evidence, .. } = &last.content;
    let response = evidence.response.as_ref();
    let millis = |span: Option<Duration>| span.map(|span| span.as_micros() as f64 / 1_000.0);
    let Phases { resolve, connect, tls, first_byte, transfer } = evidence.phases;
    Some(EventEvidence {
        url: evidence.request.as_ref().map(|request| request.url.clone()),
        reason: *reason,
        status_code: response.map(|response| response.status),
        address: evidence.connection.as_ref().and_then(|one| one.address.clone()),
        phases: EventPhases {
            resolve: millis(resolve),
            connect: millis(connect),
            tls: millis(tls),
            first_byte: millis(first_byte),
            transfer: millis(transfer),
        },
        excerpt: response
            .map(|response| one_line(&response.body, MAX_EXCERPT_LENGTH))
            .filter(|excerpt| !excerpt.is_empty()),
    })
}

fn region(beat: &RegionBeat) -> Value {
    let status = beat.status.plain().as_str();
    json!({"region": beat.region, "status": status, "message": beat.message})
}

/// The id of an event of this kind that is sent again because of what a user has done.
pub(crate) fn repeated_id(alert: &DueAlert, kind: &str, now: Millis) -> EventId {
    event_id(alert.facts.monitor, kind, &format!("{} {}", alert.id, alert.revision), now)
}

fn event_id(monitor: MonitorId, kind: &str, number: &str, at: Millis) -> EventId {
    EventId::new(at, deterministic_bytes(&format!("event {monitor} {number} {kind}")))
}

fn alert_id(monitor: MonitorId, kind: &str, started: Millis) -> AlertId {
    AlertId::new(started, deterministic_bytes(&format!("alert {monitor} {kind} {}", started.0)))
}

fn deterministic_bytes(text: &str) -> [u8; 10] {
    let Digest(hash) = Digest::of(text);
    let mut bytes = [0; 10];
    bytes.copy_from_slice(&hash[..10]);
    bytes
}
