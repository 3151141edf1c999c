//! PagerDuty: events with the alert's id as their key. An incident there is acknowledged and
//! resolved with the alert; reminders and escalation are up to PagerDuty.

use http::StatusCode;
use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::notifications::notifier::ServiceSpec;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::super::call::{Call, Calls, Reading, Role};
use super::super::exchange::Reply;
use super::super::scene::{Level, Phase, Scene, shorten};
use super::{address, delivered, failure, json as parse, limited};

const MAX_SUMMARY: usize = 1_024;
/// The shortest wait that its documentation asks for.
const MINUTE: Duration = Duration::from_secs(60);

pub(super) fn calls(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    _thread: Option<&Thread>,
    _now: Millis,
) -> Calls {
    let url = address(spec, "api_url", &["v2", "enqueue"])?;
    let key = scene.alert();
    let event = |action: &str| json!({"routing_key": spec.get("routing_key"), "event_action": action, "dedup_key": key});
    Ok(match scene.phase {
        Phase::Opens | Phase::Test => {
            vec![Call::post(url, Role::First, trigger(event("trigger"), scene))]
        }
        Phase::Acknowledged => vec![Call::post(url, Role::Edit, event("acknowledge"))],
        Phase::Ends | Phase::Resolved | Phase::TestEnds => {
            vec![Call::post(url, Role::Close, event("resolve"))]
        }
        Phase::Repeats | Phase::Assigned | Phase::News => Vec::new(),
    })
}

fn trigger(mut event: Value, scene: &Scene<'_>) -> Value {
    let monitor = scene.event.data.monitor.as_ref();
    let severity = match scene.level() {
        Level::Critical => "critical",
        Level::Warning if scene.phase != Phase::Test => "warning",
        _ => "info",
    };
    let source = scene.target().unwrap_or_else(|| scene.event.name().to_owned());
    let mut payload = json!({"summary": shorten(&scene.event.text, MAX_SUMMARY),
        "source": source, "severity": severity, "timestamp": scene.event.timestamp,
        "component": scene.event.name(), "class": scene.event.kind,
        "custom_details": details(scene)});
    if let Some(tag) = monitor.and_then(|monitor| monitor.tags.first()) {
        payload["group"] = json!(tag);
    }
    event["client"] = json!("Wakeful");
    event["client_url"] = json!(scene.link);
    event["links"] = json!([{"href": scene.link, "text": "Open in Wakeful"}]);
    event["payload"] = payload;
    event
}

/// The fields of the event, without a payload of the target that is too large.
fn details(scene: &Scene<'_>) -> Value {
    let mut event: Value = serde_json::from_str(&scene.event.body()).unwrap_or_default();
    event["data"].take()
}

pub(super) fn read(_call: &Call, reply: &Reply) -> Reading {
    let outcome = match reply.status {
        status if status.is_success() && parse(reply)["status"] == "success" => delivered(reply),
        StatusCode::TOO_MANY_REQUESTS => {
            limited(reply, Some(reply.retry_after().unwrap_or(MINUTE).max(MINUTE)))
        }
        _ => failure(reply),
    };
    outcome.into()
}
