//! An incoming webhook of Mattermost.

use serde_json::{Value, json};

use super::{Response, Room, SENTINEL, Trouble, fields, has_json, link, respond, text};
use crate::receiver::Hook;

pub(super) fn settings(url: &str) -> Value {
    json!({"url": format!("{url}/hooks/{SENTINEL}"), "channel": "town-square"})
}

fn error(status: u16, id: &str) -> Response {
    respond(status, &json!({"id": id, "message": "refused", "status_code": status}))
}

pub(super) fn trouble(trouble: Trouble) -> Response {
    match trouble {
        Trouble::Limited => (429, "retry-after: 80\r\n".to_owned(), "limit exceeded".to_owned()),
        Trouble::TokenRejected => error(403, "web.incoming_webhook.permissions.app_error"),
        Trouble::Gone => error(404, "web.incoming_webhook.invalid.app_error"),
        Trouble::ResponseLost => unreachable!("handled before"),
    }
}

pub(super) fn answer(room: &mut Room, request: &Hook) -> Response {
    let target = format!("/hooks/{SENTINEL}");
    if (request.method.as_str(), request.path.as_str()) != ("POST", target.as_str()) {
        return error(404, "web.incoming_webhook.invalid.app_error");
    }
    match post(room, request) {
        Ok(()) => (200, String::new(), "ok".to_owned()),
        Err(why) => error(400, &why),
    }
}

fn post(room: &mut Room, request: &Hook) -> Result<(), String> {
    has_json(request)?;
    let body = request.json();
    fields(&body, &["text"], &["channel", "username", "attachments", "priority"])?;
    let mut lines = vec![text(&body["text"], 16_383)?];
    for attachment in body["attachments"].as_array().into_iter().flatten() {
        if room.plain_only {
            return Err("attachments are refused".to_owned());
        }
        let required = ["fallback", "color", "title", "title_link", "text", "fields"];
        fields(attachment, &required, &[])?;
        link(&attachment["title_link"])?;
        lines.push(text(&attachment["text"], 16_383)?);
        for fact in attachment["fields"].as_array().into_iter().flatten() {
            fields(fact, &["title", "value"], &["short"])?;
            lines.push(text(&fact["value"], 16_383)?);
        }
    }
    let id = room.next_id().to_string();
    room.add(&id, lines.join("\n"), "", None);
    Ok(())
}
