//! A server of ntfy.

use serde_json::{Value, json};

use super::{Response, Room, SENTINEL, Trouble, fields, has_json, link, respond, text};
use crate::receiver::Hook;

const TOPIC: &str = "alerts";

pub(super) fn settings(url: &str) -> Value {
    json!({"server": url, "topic": TOPIC, "token": format!("tk_{SENTINEL}")})
}

fn error(code: u32, http: u16, error: &str) -> Response {
    respond(http, &json!({"code": code, "http": http, "error": error}))
}

pub(super) fn trouble(trouble: Trouble) -> Response {
    match trouble {
        Trouble::Limited => error(42_901, 429, "limit reached: too many requests"),
        Trouble::TokenRejected => error(40_101, 401, "unauthorized"),
        Trouble::Gone => error(40_301, 403, "forbidden"),
        Trouble::ResponseLost => unreachable!("handled before"),
    }
}

pub(super) fn answer(room: &mut Room, request: &Hook) -> Response {
    if (request.method.as_str(), request.path.as_str()) != ("POST", "/") {
        return error(40_401, 404, "page not found");
    }
    if request.header("authorization") != format!("Bearer tk_{SENTINEL}") {
        return error(40_101, 401, "unauthorized");
    }
    match publish(room, request) {
        Ok(body) => respond(200, &body),
        Err(why) => error(40_024, 400, &format!("invalid request: {why}")),
    }
}

fn publish(room: &mut Room, request: &Hook) -> Result<Value, String> {
    has_json(request)?;
    let body = request.json();
    let optional =
        ["title", "priority", "tags", "click", "sequence_id", "actions", "email", "call"];
    fields(&body, &["topic", "message"], &optional)?;
    if body["topic"] != TOPIC {
        return Err("topic invalid".to_owned());
    }
    if !(1..=5).contains(&body["priority"].as_u64().unwrap_or(3)) {
        return Err("priority invalid".to_owned());
    }
    let message = text(&body["message"], 4_096)?;
    if message.len() > 4_096 {
        return Err("message too large".to_owned());
    }
    for action in body["actions"].as_array().into_iter().flatten() {
        if room.plain_only {
            return Err("actions invalid".to_owned());
        }
        let required: &[&str] = &["action", "label", "url"];
        fields(action, required, &["method", "headers", "body", "clear"])?;
        link(&action["url"])?;
    }
    let shown = format!("{}\n{message}", text(&body["title"], 250)?);
    let id = room.next_id().to_string();
    match body["sequence_id"].as_str() {
        Some(sequence) => match room.with_key(sequence) {
            Some(earlier) => earlier.edit(shown),
            None => room.add(&id, shown, sequence, None),
        },
        None => room.add(&id, shown, "", None),
    }
    Ok(json!({"id": id, "event": "message", "topic": TOPIC}))
}
