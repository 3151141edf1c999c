//! The Events API v2 of PagerDuty.

use serde_json::{Value, json};

use super::{Response, Room, Trouble, fields, has_json, link, respond, text};
use crate::receiver::Hook;

/// Keys have 32 characters.
const KEY: &str = "s3nt1nels3nt1nels3nt1nel12345678";

pub(super) fn settings(url: &str) -> Value {
    json!({"routing_key": KEY, "api_url": url})
}

pub(super) fn trouble(trouble: Trouble) -> Response {
    match trouble {
        Trouble::Limited => (429, String::new(), String::new()),
        Trouble::TokenRejected => respond(403, &json!({"status": "forbidden"})),
        Trouble::Gone => invalid("Invalid routing key"),
        Trouble::ResponseLost => unreachable!("handled before"),
    }
}

fn invalid(why: &str) -> Response {
    respond(
        400,
        &json!({"status": "invalid event", "message": "Event object is invalid",
        "errors": [why]}),
    )
}

pub(super) fn answer(room: &mut Room, request: &Hook) -> Response {
    if (request.method.as_str(), request.path.as_str()) != ("POST", "/v2/enqueue") {
        return respond(404, &json!({"status": "not found"}));
    }
    match enqueue(room, request) {
        Ok(key) => {
            let body = json!({"status": "success", "message": "Event processed", "dedup_key": key});
            respond(202, &body)
        }
        Err(why) => invalid(&why),
    }
}

fn enqueue(room: &mut Room, request: &Hook) -> Result<String, String> {
    has_json(request)?;
    let body = request.json();
    if request.body.len() > 512_000 {
        return Err("too large".to_owned());
    }
    if body["routing_key"] != KEY {
        return Err("Invalid routing key".to_owned());
    }
    let key = text(&body["dedup_key"], 255)?;
    let required = ["routing_key", "event_action", "dedup_key"];
    match body["event_action"].as_str() {
        Some("trigger") => {
            fields(
                &body,
                &[&required[..], &["payload"]].concat(),
                &["client", "client_url", "links"],
            )?;
            link(&body["client_url"])?;
            let payload = &body["payload"];
            let optional = ["timestamp", "component", "group", "class", "custom_details"];
            fields(payload, &["summary", "source", "severity"], &optional)?;
            if !["critical", "error", "warning", "info"]
                .contains(&payload["severity"].as_str().unwrap_or_default())
            {
                return Err("severity".to_owned());
            }
            text(&payload["source"], 1_024)?;
            let summary = text(&payload["summary"], 1_024)?;
            // One that is open, acknowledged or not, takes another trigger as it is.
            let is_open = room.with_key(&key).is_some_and(|incident| incident.state != "resolved");
            if room.with_key(&key).is_none() {
                let id = room.next_id().to_string();
                room.add(&id, summary, &key, None);
            }
            if !is_open {
                set_state(room, &key, "triggered");
            }
        }
        Some("acknowledge") => {
            fields(&body, &required, &[])?;
            set_state(room, &key, "acknowledged");
        }
        Some("resolve") => {
            fields(&body, &required, &[])?;
            set_state(room, &key, "resolved");
        }
        _ => return Err("event_action".to_owned()),
    }
    Ok(key)
}

fn set_state(room: &mut Room, key: &str, state: &str) {
    if let Some(incident) = room.with_key(key) {
        incident.state = state.to_owned();
    }
}
