//! Slack's `chat.postMessage` and `chat.update`.

use serde_json::{Value, json};

use super::{Response, Room, SENTINEL, Trouble, fields, has_json, link, respond, text};
use crate::receiver::Hook;

const CHANNEL: &str = "C024BE91L";

pub(super) fn settings(url: &str) -> Value {
    json!({"token": format!("xoxb-{SENTINEL}"), "channel": CHANNEL, "mention": "here",
        "api_url": url})
}

pub(super) fn trouble(trouble: Trouble) -> Response {
    let error = |error: &str| json!({"ok": false, "error": error});
    match trouble {
        Trouble::Limited => {
            (429, "retry-after: 90\r\n".to_owned(), error("ratelimited").to_string())
        }
        Trouble::TokenRejected => respond(200, &error("invalid_auth")),
        Trouble::Gone => respond(200, &error("is_archived")),
        Trouble::ResponseLost => unreachable!("handled before"),
    }
}

pub(super) fn answer(room: &mut Room, request: &Hook) -> Response {
    let result = match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/chat.postMessage") => post(room, request),
        ("POST", "/chat.update") => update(room, request),
        _ => return respond(404, &json!({"ok": false, "error": "unknown_method"})),
    };
    match result {
        Ok(body) => respond(200, &body),
        Err(error) => respond(200, &json!({"ok": false, "error": error})),
    }
}

fn authorized(request: &Hook) -> Result<(), String> {
    has_json(request)?;
    if !request.header("content-type").contains("charset=utf-8") {
        return Err("missing_charset".to_owned());
    }
    if request.header("authorization") == format!("Bearer xoxb-{SENTINEL}") {
        Ok(())
    } else {
        Err("invalid_auth".to_owned())
    }
}

fn post(room: &mut Room, request: &Hook) -> Result<Value, String> {
    authorized(request)?;
    let body = request.json();
    let optional = ["attachments", "unfurl_links", "unfurl_media", "thread_ts"];
    fields(&body, &["channel", "text"], &optional)?;
    if body["channel"] != CHANNEL {
        return Err("channel_not_found".to_owned());
    }
    let shown = shown(room, &body)?;
    let root = body["thread_ts"].as_str();
    if root.is_some_and(|root| room.with_id(root).is_none()) {
        return Err("thread_not_found".to_owned());
    }
    let ts = format!("1712000000.{:06}", room.next_id());
    room.add(&ts, shown, "", root);
    Ok(json!({"ok": true, "channel": CHANNEL, "ts": ts, "message": {"text": body["text"]}}))
}

fn update(room: &mut Room, request: &Hook) -> Result<Value, String> {
    authorized(request)?;
    let body = request.json();
    fields(&body, &["channel", "ts", "text"], &["attachments"])?;
    if body["channel"] != CHANNEL {
        return Err("channel_not_found".to_owned());
    }
    let shown = shown(room, &body)?;
    let ts = text(&body["ts"], 30)?;
    let Some(message) = room.with_id(&ts) else { return Err("message_not_found".to_owned()) };
    message.edit(shown);
    Ok(json!({"ok": true, "channel": CHANNEL, "ts": ts, "text": body["text"]}))
}

fn shown(room: &Room, body: &Value) -> Result<String, String> {
    let mut lines = vec![mrkdwn(&body["text"], 4_000)?];
    for attachment in body["attachments"].as_array().into_iter().flatten() {
        if room.plain_only {
            return Err("invalid_blocks".to_owned());
        }
        fields(attachment, &["color", "blocks"], &[])?;
        for block in attachment["blocks"].as_array().into_iter().flatten() {
            lines.push(read_block(block).map_err(|why| format!("invalid_blocks: {why}"))?);
        }
    }
    Ok(lines.join("\n"))
}

fn read_block(block: &Value) -> Result<String, String> {
    match block["type"].as_str() {
        Some("header") => {
            fields(block, &["type", "text"], &[])?;
            fields(&block["text"], &["type", "text"], &[])?;
            text(&block["text"]["text"], 150)
        }
        Some("section") => {
            fields(block, &["type", "text"], &[])?;
            mrkdwn(&block["text"]["text"], 3_000)
        }
        Some("context") => {
            fields(block, &["type", "elements"], &[])?;
            mrkdwn(&block["elements"][0]["text"], 3_000)
        }
        other => Err(format!("type {other:?}")),
    }
}

/// Every bracket must be a link or a mention of ours.
fn mrkdwn(value: &Value, max: usize) -> Result<String, String> {
    let text = text(value, max)?;
    for part in text.split('<').skip(1) {
        let (inside, _) = part.split_once('>').ok_or("an open bracket")?;
        match inside.split_once('|') {
            Some((url, _)) => link(&json!(url))?,
            None if inside == "!here" => {}
            None => return Err(format!("markup of others: {inside}")),
        }
    }
    Ok(text)
}
