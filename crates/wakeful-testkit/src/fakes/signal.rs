//! A server that runs signal-cli-rest-api.

use serde_json::{Value, json};

use super::{Response, Room, Trouble, fields, has_json, respond, text};
use crate::receiver::Hook;

pub(super) fn settings(url: &str) -> Value {
    json!({"server": url, "number": "+4915112345678", "recipients": "+4915187654321,group.ZmFrZQ=="})
}

pub(super) fn trouble(trouble: Trouble) -> Response {
    match trouble {
        Trouble::Limited => respond(
            400,
            &json!({"error": "CAPTCHA proof required for sending: Rate Limit",
                "challenge_tokens": ["c8e0"]}),
        ),
        Trouble::TokenRejected => respond(401, &json!({"error": "Unauthorized"})),
        Trouble::Gone => respond(400, &json!({"error": "User +4915187654321 is not registered."})),
        Trouble::ResponseLost => unreachable!("handled before"),
    }
}

pub(super) fn answer(room: &mut Room, request: &Hook) -> Response {
    if (request.method.as_str(), request.path.as_str()) != ("POST", "/v2/send") {
        return respond(404, &json!({"error": "not found"}));
    }
    match send(room, request) {
        Ok(timestamp) => respond(201, &json!({"timestamp": timestamp})),
        Err(error) => respond(400, &json!({"error": error})),
    }
}

fn send(room: &mut Room, request: &Hook) -> Result<String, String> {
    has_json(request)?;
    let body = request.json();
    let quote = ["quote_timestamp", "quote_author", "quote_message"];
    fields(&body, &["number", "recipients", "message", "text_mode"], &quote)?;
    if body["text_mode"] != "styled" || body["number"] != "+4915112345678" {
        return Err("text_mode or number".to_owned());
    }
    if body["recipients"] != json!(["+4915187654321", "group.ZmFrZQ=="]) {
        return Err("recipients".to_owned());
    }
    let message = text(&body["message"], 5_000)?;
    let quoted = match &body["quote_timestamp"] {
        Value::Null => None,
        timestamp => {
            text(&body["quote_message"], 1_000)?;
            if body["quote_author"] != body["number"] {
                return Err("quote_author".to_owned());
            }
            Some(timestamp.as_u64().ok_or("quote_timestamp")?.to_string())
        }
    };
    let timestamp = (1_712_000_000_000 + room.next_id()).to_string();
    // A quote of a message that was deleted shows its text all the same.
    room.add(&timestamp, message, &timestamp, quoted.as_deref());
    Ok(timestamp)
}
