//! A homeserver of Matrix.

use serde_json::{Value, json};

use super::{Response, Room, SENTINEL, Trouble, fields, has_json, respond, text};
use crate::receiver::Hook;

pub(super) fn settings(url: &str) -> Value {
    json!({"homeserver": url, "access_token": format!("syt_{SENTINEL}"),
        "room_id": "!abc:example.org"})
}

fn error(status: u16, code: &str) -> Response {
    respond(status, &json!({"errcode": code, "error": "refused"}))
}

pub(super) fn trouble(trouble: Trouble) -> Response {
    match trouble {
        Trouble::Limited => {
            respond(429, &json!({"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 65_500}))
        }
        Trouble::TokenRejected => error(401, "M_UNKNOWN_TOKEN"),
        Trouble::Gone => error(403, "M_FORBIDDEN"),
        Trouble::ResponseLost => unreachable!("handled before"),
    }
}

pub(super) fn answer(room: &mut Room, request: &Hook) -> Response {
    let base = "/_matrix/client/v3/rooms/!abc:example.org/send/m.room.message/";
    let (method, path) = (request.method.as_str(), request.path.replace("%3A", ":"));
    let Some(transaction) = path.strip_prefix(base).filter(|_| method == "PUT") else {
        return error(404, "M_UNRECOGNIZED");
    };
    if request.header("authorization") != format!("Bearer syt_{SENTINEL}") {
        return error(401, "M_UNKNOWN_TOKEN");
    }
    match send(room, transaction, request) {
        Ok(id) => respond(200, &json!({"event_id": id})),
        Err(why) => respond(400, &json!({"errcode": "M_BAD_JSON", "error": why})),
    }
}

fn send(room: &mut Room, transaction: &str, request: &Hook) -> Result<String, String> {
    has_json(request)?;
    if request.body.len() > 65_000 {
        return Err("M_TOO_LARGE".to_owned());
    }
    let body = request.json();
    let optional = ["format", "formatted_body", "m.relates_to", "m.new_content"];
    fields(&body, &["msgtype", "body"], &optional)?;
    if room.plain_only && body.get("formatted_body").is_some() {
        return Err("markup is refused".to_owned());
    }
    if let Some(known) = room.with_key(transaction) {
        return Ok(known.id.clone());
    }
    let shown = text(&body["body"], 20_000)?;
    let relation = &body["m.relates_to"];
    let id = format!("${}", room.next_id());
    let about = relation["event_id"].as_str().map(str::to_owned);
    match relation["rel_type"].as_str() {
        Some("m.replace") => {
            fields(&body["m.new_content"], &["msgtype", "body"], &["format", "formatted_body"])?;
            // An edit of a message that was deleted is accepted, and shown nowhere.
            if let Some(message) = room.with_id(&about.unwrap_or_default()) {
                message.edit(shown);
            }
        }
        Some("m.thread") => room.add(&id, shown, transaction, about.as_deref()),
        None => room.add(&id, shown, transaction, None),
        Some(other) => return Err(format!("relation {other}")),
    }
    Ok(id)
}
