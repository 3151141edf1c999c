//! The webhook of a space of Google Chat.

use serde_json::{Value, json};

use super::{Response, Room, SENTINEL, Trouble, fields, has_json, link, respond, text};
use crate::receiver::Hook;

pub(super) fn settings(url: &str) -> Value {
    json!({"url": format!("{url}/v1/spaces/S/messages?key=k&token={SENTINEL}")})
}

fn error(code: u16, status: &str) -> Response {
    respond(code, &json!({"error": {"code": code, "status": status, "message": "refused"}}))
}

pub(super) fn trouble(trouble: Trouble) -> Response {
    match trouble {
        Trouble::Limited => error(429, "RESOURCE_EXHAUSTED"),
        Trouble::TokenRejected => error(401, "UNAUTHENTICATED"),
        Trouble::Gone => error(404, "NOT_FOUND"),
        Trouble::ResponseLost => unreachable!("handled before"),
    }
}

pub(super) fn answer(room: &mut Room, request: &Hook) -> Response {
    let target = format!(
        "/v1/spaces/S/messages?key=k&token={SENTINEL}\
         &messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD"
    );
    if (request.method.as_str(), request.path.as_str()) != ("POST", target.as_str()) {
        return error(404, "NOT_FOUND");
    }
    match post(room, request) {
        Ok(body) => respond(200, &body),
        Err(why) => error(400, &why),
    }
}

fn post(room: &mut Room, request: &Hook) -> Result<Value, String> {
    has_json(request)?;
    let body = request.json();
    fields(&body, &["text", "thread"], &["cardsV2"])?;
    let mut lines = vec![text(&body["text"], 4_096)?];
    for card in body["cardsV2"].as_array().into_iter().flatten() {
        if room.plain_only {
            return Err("cards are refused".to_owned());
        }
        fields(card, &["cardId", "card"], &[])?;
        let card = &card["card"];
        fields(card, &["header", "sections"], &[])?;
        lines.push(text(&card["header"]["title"], 200)?);
        for widget in card["sections"][0]["widgets"].as_array().into_iter().flatten() {
            fields(widget, &[], &["textParagraph", "buttonList"])?;
            if widget.get("textParagraph").is_some() {
                lines.push(text(&widget["textParagraph"]["text"], 4_096)?);
            }
            for button in widget["buttonList"]["buttons"].as_array().into_iter().flatten() {
                link(&button["onClick"]["openLink"]["url"])?;
            }
        }
    }
    let key = text(&body["thread"]["threadKey"], 4_000)?;
    let root = room.with_key(&key).map(|first| first.id.clone());
    let id = format!("spaces/S/messages/{}", room.next_id());
    room.add(&id, lines.join("\n"), &key, root.as_deref());
    Ok(json!({"name": id, "thread": {"name": "spaces/S/threads/1"}}))
}
