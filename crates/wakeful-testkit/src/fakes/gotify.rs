//! A server of Gotify.

use serde_json::{Value, json};

use super::{Response, Room, SENTINEL, Trouble, fields, has_json, respond, text};
use crate::receiver::Hook;

pub(super) fn settings(url: &str) -> Value {
    json!({"server": url, "token": SENTINEL})
}

fn error(code: u16, error: &str) -> Response {
    let body = json!({"error": error, "errorCode": code, "errorDescription": "refused"});
    respond(code, &body)
}

pub(super) fn trouble(trouble: Trouble) -> Response {
    match trouble {
        Trouble::Limited => error(429, "Too Many Requests"),
        Trouble::TokenRejected => error(401, "Unauthorized"),
        Trouble::Gone => error(404, "Not Found"),
        Trouble::ResponseLost => unreachable!("handled before"),
    }
}

pub(super) fn answer(room: &mut Room, request: &Hook) -> Response {
    if (request.method.as_str(), request.path.as_str()) != ("POST", "/message") {
        return error(404, "Not Found");
    }
    if request.header("x-gotify-key") != SENTINEL {
        return error(401, "Unauthorized");
    }
    match send(room, request) {
        Ok(id) => respond(200, &json!({"id": id, "appid": 1})),
        Err(why) => error(400, &why),
    }
}

fn send(room: &mut Room, request: &Hook) -> Result<u64, String> {
    has_json(request)?;
    let body: Value = request.json();
    fields(&body, &["message"], &["title", "priority", "extras"])?;
    if let Some(extras) = body.get("extras") {
        fields(extras, &[], &["client::display", "client::notification"])?;
        if room.plain_only {
            return Err("extras are refused".to_owned());
        }
    }
    if !(0..=10).contains(&body["priority"].as_i64().unwrap_or(0)) {
        return Err("priority".to_owned());
    }
    let shown = format!("{}\n{}", text(&body["title"], 1_000)?, text(&body["message"], 10_000)?);
    let id = room.next_id();
    room.add(&id.to_string(), shown, "", None);
    Ok(id)
}
