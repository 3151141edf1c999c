//! ntfy: JSON to the root of the server. A message with the same `sequence_id` replaces the
//! earlier one on the phone.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::notifications::event;
use wakeful_core::notifications::notifier::ServiceSpec;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::super::call::{Call, Calls, Reading, Role};
use super::super::exchange::Reply;
use super::super::scene::{Level, Phase, Scene, shorten, shorten_bytes};
use super::{address, check_token, delivered, failure, json as parse, limited, quota};

const MAX_TITLE: usize = 250;
/// Bytes; a longer message becomes an attachment.
const MAX_MESSAGE: usize = 4_000;
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);

pub(super) fn calls(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    _thread: Option<&Thread>,
    _now: Millis,
) -> Calls {
    let url = address(spec, "server", &[""])?;
    let mut plain = json!({"topic": spec.get("topic"),
        "title": shorten(&scene.title(), MAX_TITLE), "message": message(scene),
        "priority": priority(scene)});
    let mut rich = plain.clone();
    rich["tags"] = json!([tag(scene)]);
    rich["click"] = json!(scene.link);
    rich["sequence_id"] = json!(scene.alert());
    rich["actions"] = json!(actions(scene));
    let is_urgent = matches!(scene.phase, Phase::Opens | Phase::Repeats);
    for name in ["email", "call"] {
        let value = spec.get(name);
        let is_wanted = is_urgent && (name == "email" || scene.level() == Level::Critical);
        if is_wanted && !value.is_empty() {
            rich[name] = json!(value);
            plain[name] = json!(value);
        }
    }
    let call = Call::post(url, Role::First, rich);
    let call = match (spec.get("token"), spec.get("username")) {
        ("", "") => call,
        ("", username) => call.basic(username, spec.get("password")),
        (token, _) => call.bearer(token),
    };
    Ok(vec![call.or_plain(plain)])
}

fn message(scene: &Scene<'_>) -> String {
    let facts: Vec<String> =
        scene.facts().into_iter().map(|(name, value)| format!("\n{name}: {value}")).collect();
    let facts = facts.concat();
    let room = MAX_MESSAGE.saturating_sub(facts.len());
    shorten_bytes(&shorten(scene.cause(), MAX_MESSAGE), room) + &facts
}

fn priority(scene: &Scene<'_>) -> u8 {
    match scene.level() {
        Level::Critical => 5,
        Level::Warning => 4,
        Level::Recovery => 3,
        Level::Info => 2,
    }
}

fn tag(scene: &Scene<'_>) -> &'static str {
    match scene.phase {
        Phase::Ends | Phase::TestEnds => "white_check_mark",
        Phase::Opens
            if [event::CERTIFICATE, event::DOMAIN, event::DEGRADED]
                .iter()
                .any(|kind| scene.event.is(kind)) =>
        {
            "warning"
        }
        Phase::Opens | Phase::Repeats => "rotating_light",
        _ => "bell",
    }
}

fn actions(scene: &Scene<'_>) -> Vec<Value> {
    let acknowledge = scene.event.data.action_url.as_ref().map(|url| {
        json!({"action": "http", "label": "Acknowledge", "url": url, "method": "POST",
            "headers": {"Content-Type": "application/json"},
            "body": r#"{"action":"acknowledge"}"#, "clear": true})
    });
    let open = json!({"action": "view", "label": "Open", "url": scene.link});
    acknowledge.into_iter().chain([open]).collect()
}

pub(super) fn read(_call: &Call, reply: &Reply) -> Reading {
    let outcome = match parse(reply)["code"].as_u64() {
        _ if reply.status.is_success() => delivered(reply),
        Some(40_101 | 40_301) => check_token(reply),
        Some(42_908) => quota(reply, HOUR),
        Some(42_901) => limited(reply, Some(MINUTE)),
        _ => failure(reply),
    };
    outcome.into()
}
