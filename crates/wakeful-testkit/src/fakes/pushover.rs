//! The message API of Pushover.

use serde_json::{Value, json};

use super::{Response, Room, Trouble, fields, has_json, link, respond, text};
use crate::receiver::Hook;

/// Tokens have 30 characters.
const TOKEN: &str = "s3nt1nels3nt1nels3nt1nel123456";
const USER: &str = "us3nt1nels3nt1nels3nt1nel12345";

pub(super) fn settings(url: &str) -> Value {
    json!({"token": TOKEN, "user": USER, "emergency": true, "api_url": url})
}

fn error(field: &str, why: &str) -> Value {
    let mut body = json!({"errors": [why], "status": 0, "request": "r"});
    body[field] = json!("invalid");
    body
}

pub(super) fn trouble(trouble: Trouble) -> Response {
    match trouble {
        Trouble::Limited => {
            let body = json!({"status": 0, "errors": ["application is over its quota"]});
            (429, "x-limit-app-reset: 1794738600\r\n".to_owned(), body.to_string())
        }
        Trouble::TokenRejected => respond(400, &error("token", "application token is invalid")),
        Trouble::Gone => respond(400, &error("user", "user identifier is invalid")),
        Trouble::ResponseLost => unreachable!("handled before"),
    }
}

pub(super) fn answer(room: &mut Room, request: &Hook) -> Response {
    let result = match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/1/messages.json") => send(room, request),
        ("POST", path) => match path.strip_prefix("/1/receipts/cancel_by_tag/") {
            Some(file) => cancel(room, file, request),
            None => return respond(404, &error("path", "not found")),
        },
        _ => return respond(404, &error("path", "not found")),
    };
    match result {
        Ok(body) => respond(200, &body),
        Err(why) => respond(400, &json!({"errors": [why], "status": 0, "request": "r"})),
    }
}

fn send(room: &mut Room, request: &Hook) -> Result<Value, String> {
    has_json(request)?;
    let body = request.json();
    let optional = [
        "title",
        "url",
        "url_title",
        "priority",
        "tags",
        "timestamp",
        "retry",
        "expire",
        "callback",
        "device",
        "sound",
    ];
    fields(&body, &["token", "user", "message"], &optional)?;
    if body["token"] != TOKEN || body["user"] != USER {
        return Err("application token is invalid".to_owned());
    }
    if body.get("url").is_some() {
        link(&body["url"])?;
        text(&body["url"], 512)?;
        text(&body["url_title"], 100)?;
    }
    let is_emergency = body["priority"] == 2;
    if is_emergency {
        fields(
            &body,
            &["retry", "expire"],
            &[&optional[..], &["token", "user", "message"]].concat(),
        )?;
        // It is optional, and belongs to one alert.
        if !body["callback"].is_null() {
            link(&body["callback"])?;
        }
    }
    let shown = format!("{}\n{}", text(&body["title"], 250)?, text(&body["message"], 1_024)?);
    let id = room.next_id().to_string();
    let tag = body["tags"].as_str().unwrap_or_default();
    room.add(&id, shown, tag, None);
    if is_emergency {
        room.with_id(&id).unwrap().state = "repeats".to_owned();
        return Ok(json!({"status": 1, "request": "r", "receipt": id}));
    }
    Ok(json!({"status": 1, "request": "r"}))
}

fn cancel(room: &mut Room, file: &str, request: &Hook) -> Result<Value, String> {
    has_json(request)?;
    let body = request.json();
    fields(&body, &["token"], &[])?;
    let tag = file.strip_suffix(".json").ok_or("not a tag")?;
    let found = room.messages.iter_mut().filter(|one| one.key == tag && one.state == "repeats");
    let mut canceled = 0;
    for message in found {
        message.state = "canceled".to_owned();
        canceled += 1;
    }
    Ok(json!({"status": 1, "request": "r", "canceled": canceled}))
}
