//! Matrix: messages in a room, with threads and edits. The transaction id is that of the event,
//! so that a retry is not shown twice.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::notifications::notifier::ServiceSpec;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::super::call::{Call, Calls, Reading, Role};
use super::super::exchange::Reply;
use super::super::scene::{Phase, Scene, append, entities, shorten};
use super::{OnRecovery, address, check_token, delivered, failure, json as parse, limited};

const MAX_TITLE: usize = 300;
/// An event may have 65,536 bytes, and an edit contains the message twice.
const MAX_TEXT: usize = 4_000;

pub(super) fn calls(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    thread: Option<&Thread>,
    _now: Millis,
) -> Calls {
    let same = |body: Value| body;
    let first = || send(spec, scene, Role::First, "", &same);
    let Some(root) = thread.and_then(|thread| thread.text("event_id")) else {
        return Ok(vec![first()?]);
    };
    let in_thread = |mut body: Value| {
        body["m.relates_to"] = json!({"rel_type": "m.thread", "event_id": root,
            "is_falling_back": true, "m.in_reply_to": {"event_id": root}});
        body
    };
    let reply = send(spec, scene, Role::Reply, "", &in_thread)?;
    let mode = OnRecovery::of(spec);
    if !scene.phase.changes_first_message() || !mode.updates() {
        return Ok(vec![reply]);
    }
    let edited = |body: Value| {
        let mut edit = body.clone();
        edit["m.new_content"] = body;
        edit["m.relates_to"] = json!({"rel_type": "m.replace", "event_id": root});
        edit
    };
    let edit = send(spec, scene, Role::Edit, "-edit", &edited)?;
    Ok(if mode.replies() { vec![edit.optional(), reply] } else { vec![edit.or(first()?)] })
}

/// A message, and the same without markup. They are two transactions: a server that has seen an
/// id does not look at the message again.
fn send(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    role: Role,
    suffix: &str,
    complete: &dyn Fn(Value) -> Value,
) -> Result<Call, String> {
    let closing = if scene.phase == Phase::TestEnds { "-end" } else { "" };
    let call = |kind: &str, body: Value| {
        let transaction = format!("{}{closing}{suffix}{kind}", scene.event.data.eventid);
        let room = spec.get("room_id");
        let path = ["_matrix", "client", "v3", "rooms", room, "send", "m.room.message"];
        let url = address(spec, "homeserver", &[&path[..], &[transaction.as_str()]].concat())?;
        let call = Call { method: Method::PUT, ..Call::post(url, role, complete(body)) };
        Ok::<_, String>(call.bearer(spec.get("access_token")))
    };
    let plain = json!({"msgtype": "m.text", "body": text(scene)});
    let mut rich = plain.clone();
    rich["format"] = json!("org.matrix.custom.html");
    rich["formatted_body"] = json!(html(scene));
    Ok(call("", rich)?.or(call("-plain", plain)?))
}

fn text(scene: &Scene<'_>) -> String {
    let title = shorten(&scene.title(), MAX_TITLE);
    format!("{} {title}\n{}", scene.emoji(), scene.plain(MAX_TEXT))
}

fn html(scene: &Scene<'_>) -> String {
    let escaped = |text: &str, max: usize| {
        let mut escaped = String::new();
        append(&mut escaped, text, max, |c, to| match c {
            '\n' => to.push_str("<br>"),
            other => entities(other, to),
        });
        escaped
    };
    let facts: Vec<String> = scene
        .facts()
        .iter()
        .map(|(name, value)| format!("<br>{name}: {}", escaped(value, MAX_TEXT)))
        .collect();
    let pages = scene.action_page().map(|page| ("Acknowledge", page));
    let links: Vec<String> = pages
        .into_iter()
        .chain([("Open", scene.link)])
        .map(|(name, page)| format!("<a href=\"{}\">{name}</a>", escaped(page, usize::MAX)))
        .collect();
    format!(
        "{} <strong>{}</strong><br>{}{}<br>{}",
        scene.emoji(),
        escaped(&scene.title(), MAX_TITLE),
        escaped(scene.cause(), MAX_TEXT),
        facts.concat(),
        links.join(" · ")
    )
}

pub(super) fn read(call: &Call, reply: &Reply) -> Reading {
    let body = parse(reply);
    if reply.status.is_success()
        && let Some(id) = body["event_id"].as_str()
    {
        let thread = (call.role == Role::First).then(|| Thread(json!({"event_id": id})));
        return Reading { thread, ..delivered(reply).into() };
    }
    let outcome = match (reply.status, body["errcode"].as_str()) {
        (StatusCode::TOO_MANY_REQUESTS, _) => {
            let wait = body["retry_after_ms"].as_u64().map(Duration::from_millis);
            limited(reply, reply.retry_after().or(wait))
        }
        (_, Some("M_UNKNOWN_TOKEN" | "M_FORBIDDEN")) => check_token(reply),
        _ => failure(reply),
    };
    outcome.into()
}
