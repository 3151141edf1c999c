//! The bot API of Telegram.

use serde_json::{Value, json};

use super::{Response, Room, SENTINEL, Trouble, fields, has_json, link, respond, text};
use crate::receiver::Hook;

const CHAT: i64 = -1_001_234;

pub(super) fn settings(url: &str) -> Value {
    json!({"token": format!("123456:{SENTINEL}"), "chat_id": CHAT.to_string(), "api_url": url})
}

fn error(code: u16, description: &str) -> Value {
    json!({"ok": false, "error_code": code, "description": description})
}

pub(super) fn trouble(trouble: Trouble) -> Response {
    match trouble {
        Trouble::Limited => {
            let mut body = error(429, "Too Many Requests: retry after 70");
            body["parameters"] = json!({"retry_after": 70});
            respond(429, &body)
        }
        Trouble::TokenRejected => respond(401, &error(401, "Unauthorized")),
        Trouble::Gone => respond(403, &error(403, "Forbidden: bot was kicked from the group chat")),
        Trouble::ResponseLost => unreachable!("handled before"),
    }
}

pub(super) fn answer(room: &mut Room, request: &Hook) -> Response {
    let base = format!("/bot123456:{SENTINEL}/");
    let result = match (request.method.as_str(), request.path.strip_prefix(&base)) {
        ("POST", Some("sendMessage")) => send(room, request),
        ("POST", Some("editMessageText")) => edit(room, request),
        ("POST", Some(_)) => return respond(404, &error(404, "Not Found")),
        _ => return respond(401, &error(401, "Unauthorized")),
    };
    match result {
        Ok(result) => respond(200, &json!({"ok": true, "result": result})),
        Err(why) => respond(400, &error(400, &format!("Bad Request: {why}"))),
    }
}

fn send(room: &mut Room, request: &Hook) -> Result<Value, String> {
    has_json(request)?;
    let body = request.json();
    let optional = [
        "message_thread_id",
        "parse_mode",
        "link_preview_options",
        "disable_notification",
        "reply_parameters",
        "reply_markup",
    ];
    fields(&body, &["chat_id", "text"], &optional)?;
    let shown = shown(room, &body)?;
    let to = body["reply_parameters"]["message_id"].as_i64().map(|id| id.to_string());
    let to = to.filter(|id| room.with_id(id).is_some());
    let may_be_missing = body["reply_parameters"]["allow_sending_without_reply"] == true;
    if body.get("reply_parameters").is_some() && to.is_none() && !may_be_missing {
        return Err("message to be replied not found".to_owned());
    }
    let id = room.next_id();
    room.add(&id.to_string(), shown, "", to.as_deref());
    Ok(json!({"message_id": id, "chat": {"id": CHAT}, "text": body["text"]}))
}

fn edit(room: &mut Room, request: &Hook) -> Result<Value, String> {
    has_json(request)?;
    let body = request.json();
    let required = ["chat_id", "message_id", "text"];
    fields(&body, &required, &["parse_mode", "reply_markup"])?;
    let shown = shown(room, &body)?;
    let id = body["message_id"].as_i64().ok_or("message identifier is not specified")?;
    let Some(message) = room.with_id(&id.to_string()) else {
        return Err("message to edit not found".to_owned());
    };
    if message.text == shown {
        return Err("message is not modified".to_owned());
    }
    message.edit(shown);
    Ok(json!({"message_id": id}))
}

fn shown(room: &Room, body: &Value) -> Result<String, String> {
    if body["chat_id"] != CHAT {
        return Err("chat not found".to_owned());
    }
    let text = text(&body["text"], 4_096)?;
    if let Some(markup) = body.get("reply_markup") {
        fields(markup, &["inline_keyboard"], &[])?;
        for button in markup["inline_keyboard"][0].as_array().into_iter().flatten() {
            fields(button, &["text", "url"], &[])?;
            link(&button["url"])?;
        }
    }
    match body.get("parse_mode") {
        None => return Ok(text),
        Some(mode) if *mode != "HTML" => return Err("unsupported parse_mode".to_owned()),
        Some(_) if room.plain_only => return Err("can't parse entities: refused".to_owned()),
        Some(_) => {}
    }
    let bare = text.replace("<b>", "").replace("</b>", "");
    if bare.contains('<') || bare.contains('>') {
        return Err("can't parse entities: unsupported start tag".to_owned());
    }
    for part in bare.split('&').skip(1) {
        if !["amp;", "lt;", "gt;"].iter().any(|entity| part.starts_with(entity)) {
            return Err("can't parse entities: unknown entity".to_owned());
        }
    }
    Ok(bare.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}
