//! An Apprise API server.

use serde_json::Value;
use serde_json::json;

use super::{Response, Room, SENTINEL, Trouble, fields, has_json, respond, text};
use crate::receiver::Hook;

pub(super) fn settings(url: &str) -> Value {
    json!({"server": url, "urls": format!("json://user:{SENTINEL}@example.org")})
}

pub(super) fn trouble(trouble: Trouble) -> Response {
    match trouble {
        Trouble::Limited => respond(429, &json!({"error": "too many"})),
        Trouble::TokenRejected => respond(403, &json!({"error": "forbidden"})),
        Trouble::Gone => respond(424, &json!({"error": "one or more notifications failed"})),
        Trouble::ResponseLost => unreachable!("handled before"),
    }
}

pub(super) fn answer(room: &mut Room, request: &Hook) -> Response {
    if (request.method.as_str(), request.path.as_str()) != ("POST", "/notify/") {
        return respond(404, &json!({"error": "not found"}));
    }
    match notify(room, request) {
        Ok(()) => (200, String::new(), "Notification(s) sent.".to_owned()),
        Err(why) => respond(400, &json!({"error": why})),
    }
}

fn notify(room: &mut Room, request: &Hook) -> Result<(), String> {
    has_json(request)?;
    let body = request.json();
    fields(&body, &["body", "urls"], &["title", "type", "format", "tag"])?;
    if !["info", "success", "warning", "failure"]
        .contains(&body["type"].as_str().unwrap_or_default())
    {
        return Err("type".to_owned());
    }
    if room.plain_only && body["format"] != "text" {
        return Err("format".to_owned());
    }
    let shown = format!("{}\n{}", text(&body["title"], 250)?, text(&body["body"], 32_768)?);
    let id = room.next_id().to_string();
    room.add(&id, shown, "", None);
    Ok(())
}
