//! Alertmanager: an alert is identified by its labels and ends unless it is sent again in time.
//! Its labels are remembered, so that a monitor that is renamed meanwhile does not leave an alert
//! behind.

use http::header::HeaderName;
use serde_json::{Map, Value, json};
use std::time::Duration;
use wakeful_core::notifications::event::{self, Event};
use wakeful_core::notifications::notifier::{ServiceSpec, alertmanager};
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::one_line::one_line;
use wakeful_core::time::Millis;

use super::super::call::{Call, Calls, Reading, Role};
use super::super::exchange::Reply;
use super::super::scene::{Phase, Scene, shorten, shorten_bytes};
use super::{address, failure};

/// An alert that is not sent again ends after this time.
const LASTS: Duration = Duration::from_secs(15 * 60);
/// How often an alert that lasts is sent.
pub const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5 * 60);
/// When the end of an alert is sent a second time: what was sent before may arrive later.
const END_AGAIN: Duration = Duration::from_secs(60);
const MAX_SUMMARY: usize = 500;
const MAX_DESCRIPTION: usize = 4_000;
/// Bytes of a label.
const MAX_LABEL: usize = 200;
/// Bytes of all labels; they are stored with the alert.
const MAX_LABELS: usize = 900;

pub(super) fn calls(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    thread: Option<&Thread>,
    now: Millis,
) -> Calls {
    Ok(match alert(scene, thread, now) {
        None => Vec::new(),
        Some((alert, role)) => vec![post(spec, role, vec![alert])?],
    })
}

/// An alert that was sent before.
pub struct Lasting<'a> {
    /// The event that reported its start or its end.
    pub event: &'a Event,
    pub link: &'a str,
    pub thread: &'a Thread,
}

/// One request that sends these alerts again.
pub fn repeat(spec: &ServiceSpec, alerts: &[Lasting<'_>], now: Millis) -> Result<Call, String> {
    let again = alerts.iter().filter_map(|one| {
        let scene = Scene::of(one.event, one.link);
        alert(&scene, Some(one.thread), now).map(|(alert, _)| alert)
    });
    post(spec, Role::Edit, again.collect())
}

fn post(spec: &ServiceSpec, role: Role, alerts: Vec<Value>) -> Result<Call, String> {
    let url = address(spec, "url", &["api", "v2", "alerts"])?;
    let mut call = Call::post(url, role, Value::Array(alerts));
    // Those of a preview are not shown.
    if let Ok(headers) = alertmanager::headers(spec.get("headers")) {
        for (name, value) in headers.iter() {
            let name = HeaderName::try_from(name).map_err(|_| format!("no header: {name}"))?;
            call = call.with(name, value);
        }
    }
    Ok(call)
}

/// An alert as the service takes it; `None` for what it does on its own.
fn alert(scene: &Scene<'_>, thread: Option<&Thread>, now: Millis) -> Option<(Value, Role)> {
    let time = |text: Option<&str>| text.and_then(Millis::parse);
    let data = &scene.event.data;
    let at = time(Some(&scene.event.timestamp)).unwrap_or(now);
    let starts = time(data.down_since.as_deref()).unwrap_or(at);
    let (ends, role) = match scene.phase {
        Phase::Opens | Phase::Test => (now.after(LASTS), Role::First),
        Phase::Ends | Phase::Resolved => (at, Role::Close),
        Phase::TestEnds => (now, Role::Close),
        // Reminders, responses and silences are its own; an announcement is no alert.
        Phase::Repeats | Phase::Acknowledged | Phase::Assigned | Phase::News => return None,
    };
    let known = thread.and_then(|thread| thread.0.get("labels")).filter(|known| known.is_object());
    let labels = known.cloned().unwrap_or_else(|| labels(scene));
    let annotations = json!({"summary": shorten(&scene.title(), MAX_SUMMARY),
        "description": scene.plain(MAX_DESCRIPTION)});
    let alert = json!({"labels": labels, "annotations": annotations,
        "startsAt": starts.to_string(), "endsAt": ends.max(starts).to_string(),
        "generatorURL": scene.link});
    Some((alert, role))
}

fn labels(scene: &Scene<'_>) -> Value {
    let data = &scene.event.data;
    let name = match scene.event.kind.as_str() {
        event::FLAPPING | event::STEADY => "WakefulMonitorFlapping",
        event::CERTIFICATE => "WakefulCertificateExpiring",
        event::DOMAIN => "WakefulDomainExpiring",
        event::DEGRADED | event::RESTORED => "WakefulMonitorDegraded",
        _ if matches!(scene.phase, Phase::Test | Phase::TestEnds) => "WakefulTest",
        _ => "WakefulMonitorDown",
    };
    let severity = match scene.phase {
        Phase::Test | Phase::TestEnds => "info",
        _ => data.severity.unwrap_or_default().as_str(),
    };
    let mut labels = Map::new();
    labels.insert("alertname".to_owned(), json!(name));
    labels.insert("severity".to_owned(), json!(severity));
    if let Some(monitor) = &data.monitor {
        let name = one_line(&monitor.name, MAX_LABEL);
        labels.insert("monitor".to_owned(), json!(shorten_bytes(&name, MAX_LABEL)));
        labels.insert("monitorid".to_owned(), json!(monitor.monitorid));
        labels.insert("type".to_owned(), json!(monitor.kind));
        for tag in &monitor.tags {
            let mut with_tag = labels.clone();
            with_tag.insert(tag_label(tag), json!("true"));
            if json!(with_tag).to_string().len() <= MAX_LABELS {
                labels = with_tag;
            }
        }
    }
    Value::Object(labels)
}

/// The name of a label has letters, digits and underscores.
fn tag_label(tag: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = tag.chars().take(MAX_LABEL).map(allowed).collect();
    format!("tag_{name}")
}

pub(super) fn read(call: &Call, reply: &Reply) -> Reading {
    if !reply.status.is_success() {
        return failure(reply).into();
    }
    let labels = &call.body[0]["labels"];
    let keepalive = if call.role == Role::Close { END_AGAIN } else { KEEPALIVE_INTERVAL };
    let thread = labels.is_object().then(|| Thread(json!({"labels": labels})));
    // It answers with nothing.
    let outcome = Outcome::Delivered(reply.answer());
    Reading { thread, keepalive: Some(keepalive), ..outcome.into() }
}
