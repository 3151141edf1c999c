//! A workflow of Microsoft Teams.

use serde_json::{Value, json};

use super::{Response, Room, SENTINEL, Trouble, fields, has_json, link, respond, text};
use crate::receiver::Hook;

const MAX_BYTES: usize = 25_000;

pub(super) fn settings(url: &str) -> Value {
    json!({"url": format!("{url}/workflows/7/triggers/manual?sig={SENTINEL}")})
}

fn error(code: &str) -> Value {
    json!({"error": {"code": code, "message": "The request failed."}})
}

pub(super) fn trouble(trouble: Trouble) -> Response {
    match trouble {
        Trouble::Limited => {
            (429, "retry-after: 75\r\n".to_owned(), error("TooManyRequests").to_string())
        }
        Trouble::TokenRejected => respond(401, &error("DirectApiAuthorizationRequired")),
        Trouble::Gone => respond(404, &error("WorkflowNotFound")),
        Trouble::ResponseLost => unreachable!("handled before"),
    }
}

pub(super) fn answer(room: &mut Room, request: &Hook) -> Response {
    if request.method != "POST" || !request.path.starts_with("/workflows/7/") {
        return respond(404, &error("WorkflowNotFound"));
    }
    if !request.path.ends_with(&format!("sig={SENTINEL}")) {
        return respond(401, &error("DirectApiAuthorizationRequired"));
    }
    match shown(room, request) {
        Ok(shown) => {
            let id = room.next_id().to_string();
            room.add(&id, shown, "", None);
            (202, String::new(), String::new())
        }
        Err(why) => respond(400, &error(&why)),
    }
}

fn shown(room: &Room, request: &Hook) -> Result<String, String> {
    has_json(request)?;
    if request.body.len() > MAX_BYTES {
        return Err("RequestEntityTooLarge".to_owned());
    }
    let body = request.json();
    fields(&body, &["type", "attachments"], &[])?;
    let card = &body["attachments"][0]["content"];
    fields(card, &["$schema", "type", "version", "msteams", "body", "actions"], &[])?;
    if card["msteams"] != json!({"width": "Full"}) || card["type"] != "AdaptiveCard" {
        return Err("not a card".to_owned());
    }
    let mut lines = Vec::new();
    for part in card["body"].as_array().into_iter().flatten() {
        match part["type"].as_str() {
            Some("TextBlock") => lines.push(text(&part["text"], 10_000)?),
            Some("FactSet") if room.plain_only => return Err("InvalidCard".to_owned()),
            Some("FactSet") => {
                for fact in part["facts"].as_array().into_iter().flatten() {
                    fields(fact, &["title", "value"], &[])?;
                    lines.push(format!("{}: {}", text(&fact["title"], 100)?, fact["value"]));
                }
            }
            other => return Err(format!("InvalidElement {other:?}")),
        }
    }
    for action in card["actions"].as_array().into_iter().flatten() {
        fields(action, &["type", "title", "url"], &[])?;
        link(&action["url"])?;
        lines.push(format!("[{}]", text(&action["title"], 100)?));
    }
    Ok(lines.join("\n"))
}
