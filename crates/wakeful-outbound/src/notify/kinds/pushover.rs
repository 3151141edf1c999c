//! Pushover: messages, which are repeated in an emergency, and their end.

use http::StatusCode;
use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::notifications::notifier::ServiceSpec;
use wakeful_core::notifications::retry::{Failure, Outcome};
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::super::call::{Call, Calls, Reading, Role};
use super::super::exchange::Reply;
use super::super::scene::{Level, Phase, Scene, shorten};
use super::{address, delivered, json as parse, quota};

const MAX_TITLE: usize = 250;
const MAX_MESSAGE: usize = 1_024;
const MAX_URL: usize = 512;
/// Seconds: how often, and for how long an emergency is repeated.
const REPEAT_EVERY: u32 = 60;
const REPEAT_FOR: u32 = 10_800;
const EMERGENCY: i8 = 2;
const DAY: Duration = Duration::from_secs(86_400);
/// Pushover asks for at least this long after a failure of its own.
const RETRY_AFTER: Duration = Duration::from_secs(5);

pub(super) fn calls(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    _thread: Option<&Thread>,
    now: Millis,
) -> Calls {
    let is_over = matches!(scene.phase, Phase::Acknowledged | Phase::Resolved | Phase::Ends);
    let mut attended: Vec<String> = scene.attended().iter().map(ToString::to_string).collect();
    if is_over && !scene.is_digest() {
        attended.push(scene.alert());
    }
    let mut calls = Vec::new();
    if spec.flag("emergency") {
        for alert in attended {
            let file = format!("{alert}.json");
            let url = address(spec, "api_url", &["1", "receipts", "cancel_by_tag", &file])?;
            let body = json!({"token": spec.get("token")});
            calls.push(Call::post(url, Role::Close, body).optional());
        }
        if scene.phase == Phase::Acknowledged {
            return Ok(calls);
        }
    }
    if scene.phase != Phase::TestEnds {
        let url = address(spec, "api_url", &["1", "messages.json"])?;
        calls.push(Call::post(url, Role::First, message(spec, scene, now)));
    }
    Ok(calls)
}

fn message(spec: &ServiceSpec, scene: &Scene<'_>, now: Millis) -> Value {
    let facts: Vec<String> =
        scene.facts().into_iter().map(|(name, value)| format!("\n{name}: {value}")).collect();
    let facts = facts.concat();
    let room = MAX_MESSAGE.saturating_sub(facts.chars().count());
    let cause = match scene.cause() {
        "" => scene.title(),
        cause => cause.to_owned(),
    };
    let is_emergency = scene.mentions() && scene.phase == Phase::Opens && spec.flag("emergency");
    let priority = match scene.level() {
        Level::Critical if is_emergency => EMERGENCY,
        Level::Critical => 1,
        Level::Warning => 0,
        Level::Info | Level::Recovery => -1,
    };
    let (url, url_title) = match scene.action_page() {
        Some(page) => (page, "Acknowledge"),
        None => (scene.link, "Open in Wakeful"),
    };
    let mut body = json!({"token": spec.get("token"), "user": spec.get("user"),
        "title": shorten(&scene.title(), MAX_TITLE),
        "message": shorten(&cause, room) + &facts, "priority": priority, "tags": scene.alert(),
        "timestamp": now.0.div_euclid(1_000)});
    if url.len() <= MAX_URL {
        body["url"] = json!(url);
        body["url_title"] = json!(url_title);
    }
    if priority == EMERGENCY {
        body["retry"] = json!(REPEAT_EVERY);
        body["expire"] = json!(REPEAT_FOR);
        if let Some(url) = &scene.event.data.action_url {
            body["callback"] = json!(format!("{url}/pushover"));
        }
    }
    for name in ["device", "sound"] {
        let value = spec.get(name);
        if !value.is_empty() {
            body[name] = json!(value);
        }
    }
    body
}

pub(super) fn read(_call: &Call, reply: &Reply) -> Reading {
    let body = parse(reply);
    let outcome = match reply.status {
        status if status.is_success() && body["status"] == 1 => delivered(reply),
        StatusCode::TOO_MANY_REQUESTS => {
            let reset = reply.header("x-limit-app-reset").and_then(|text| text.parse().ok());
            let wait = reset.map(|at: i64| Millis(at.saturating_mul(1_000)).since(reply.now));
            quota(reply, wait.unwrap_or(DAY))
        }
        status if status.is_client_error() && body["user"] == "invalid" => {
            Outcome::Gone(reply.answer())
        }
        status if status.is_client_error() => Outcome::Refused(reply.answer()),
        _ => Outcome::Failed(Failure {
            answer: reply.answer(),
            retry_after: Some(RETRY_AFTER),
            ..Failure::default()
        }),
    };
    outcome.into()
}
