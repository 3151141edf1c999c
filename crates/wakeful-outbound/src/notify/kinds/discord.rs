//! Discord: the webhook of a channel. It cannot reply, but edit what it has sent.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;
use url::Url;
use wakeful_core::notifications::notifier::ServiceSpec;
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::super::call::{Call, Calls, Reading, Role};
use super::super::exchange::Reply;
use super::super::scene::{Phase, Scene, append, markdown, shorten};
use super::{OnRecovery, address, delivered, failure_of_url, json as parse, limited};

const MAX_TITLE: usize = 256;
const MAX_DESCRIPTION: usize = 4_096;
const MAX_FIELD: usize = 1_024;
const MAX_CONTENT: usize = 2_000;
/// The message makes no sound.
const SUPPRESS_NOTIFICATIONS: u32 = 4_096;

pub(super) fn calls(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    thread: Option<&Thread>,
    _now: Millis,
) -> Calls {
    let first = |role| {
        let mut body = message(spec, scene);
        body["embeds"] = json!([embed(scene)]);
        let call = Call::post(target(spec, &[], true)?, role, body);
        Ok::<_, String>(call.or_plain(short(spec, scene, true)))
    };
    let Some(id) = thread.and_then(|thread| thread.text("id")) else {
        return Ok(vec![first(Role::First)?]);
    };
    if !scene.phase.changes_first_message() {
        return Ok(vec![first(Role::Reply)?]);
    }
    let edit = Call {
        method: Method::PATCH,
        ..Call::post(
            target(spec, &["messages", id], false)?,
            Role::Edit,
            json!({"embeds": [embed(scene)], "allowed_mentions": {"parse": []}}),
        )
    };
    let mode = OnRecovery::of(spec);
    // That somebody takes care is shown where the outage is.
    let is_quiet = matches!(scene.phase, Phase::Acknowledged | Phase::TestEnds);
    if !mode.updates() {
        return Ok(vec![first(Role::Reply)?]);
    }
    if is_quiet || !mode.replies() {
        return Ok(vec![edit.or(first(Role::First)?)]);
    }
    let news = Call::post(target(spec, &[], true)?, Role::Reply, short(spec, scene, false));
    Ok(vec![edit.optional(), news])
}

fn target(spec: &ServiceSpec, parts: &[&str], wait: bool) -> Result<Url, String> {
    let mut url = address(spec, "webhook_url", parts)?;
    let thread = spec.get("thread_id");
    url.set_query(None);
    if wait {
        url.query_pairs_mut().append_pair("wait", "true");
    }
    if !thread.is_empty() {
        url.query_pairs_mut().append_pair("thread_id", thread);
    }
    Ok(url)
}

/// What every message has.
fn message(spec: &ServiceSpec, scene: &Scene<'_>) -> Value {
    let role = spec.get("mention");
    let is_mentioned = scene.mentions() && !role.is_empty();
    let mut mentions = json!({"parse": []});
    if is_mentioned {
        mentions["roles"] = json!([role]);
    }
    let content = if is_mentioned { format!("<@&{role}>") } else { String::new() };
    let username = spec.get("username");
    let mut body = json!({"username": if username.is_empty() { "Wakeful" } else { username },
        "content": content, "allowed_mentions": mentions});
    if scene.is_silent() {
        body["flags"] = json!(SUPPRESS_NOTIFICATIONS);
    }
    body
}

/// One line about the event, or the whole message without an embed.
fn short(spec: &ServiceSpec, scene: &Scene<'_>, is_whole: bool) -> Value {
    let mut body = message(spec, scene);
    let mut text = body["content"].as_str().unwrap_or_default().to_owned();
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(scene.emoji());
    text.push(' ');
    append(&mut text, &scene.title(), MAX_TITLE, markdown);
    if is_whole {
        let room = MAX_CONTENT.saturating_sub(text.chars().count() + 1);
        text.push('\n');
        text.push_str(&scene.plain(room));
    }
    body["content"] = json!(text);
    body
}

fn embed(scene: &Scene<'_>) -> Value {
    let mut title = format!("{} ", scene.emoji());
    append(&mut title, &scene.title(), MAX_TITLE, markdown);
    let mut description = String::new();
    append(&mut description, scene.cause(), MAX_DESCRIPTION, markdown);
    let facts = scene.facts().into_iter().map(|(name, value)| {
        json!({"name": name, "value": shorten(&value, MAX_FIELD), "inline": name != "Target"})
    });
    let acknowledge = scene
        .action_page()
        .map(|page| json!({"name": "Action", "value": format!("[Acknowledge]({page})")}));
    let fields: Vec<Value> = facts.chain(acknowledge).collect();
    json!({"title": title, "description": description, "url": scene.link, "color": scene.color(),
        "timestamp": scene.event.timestamp, "fields": fields})
}

pub(super) fn read(call: &Call, reply: &Reply) -> Reading {
    let body = parse(reply);
    let seconds = |text: Option<f64>| text.and_then(|span| Duration::try_from_secs_f64(span).ok());
    if reply.status.is_success() {
        let thread = body["id"].as_str().map(|id| Thread(json!({"id": id})));
        let is_used_up = reply.header("x-ratelimit-remaining") == Some("0");
        let reset = reply.header("x-ratelimit-reset-after").and_then(|text| text.parse().ok());
        return Reading {
            thread: thread.filter(|_| call.role == Role::First),
            pause: seconds(reset).filter(|_| is_used_up),
            ..delivered(reply).into()
        };
    }
    let outcome = match (reply.status, body["code"].as_u64()) {
        (StatusCode::TOO_MANY_REQUESTS, _) => limited(reply, seconds(body["retry_after"].as_f64())),
        (StatusCode::NOT_FOUND, Some(10_008)) => Outcome::Refused(reply.answer()),
        (StatusCode::UNAUTHORIZED, Some(50_027)) => Outcome::Gone(reply.answer()),
        _ => failure_of_url(reply),
    };
    outcome.into()
}
