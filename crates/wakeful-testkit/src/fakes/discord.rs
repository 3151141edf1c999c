//! A webhook of Discord.

use serde_json::{Value, json};

use super::{Response, Room, SENTINEL, Trouble, fields, has_json, link, respond, text};
use crate::receiver::Hook;

pub(super) fn settings(url: &str) -> Value {
    json!({"webhook_url": format!("{url}/api/webhooks/41/{SENTINEL}"), "mention": "99"})
}

pub(super) fn trouble(trouble: Trouble) -> Response {
    match trouble {
        Trouble::Limited => respond(
            429,
            &json!({"message": "You are being rate limited.", "retry_after": 64.57,
                "global": false}),
        ),
        Trouble::TokenRejected => {
            respond(403, &json!({"message": "Missing Permissions", "code": 50_013}))
        }
        Trouble::Gone => respond(404, &json!({"message": "Unknown Webhook", "code": 10_015})),
        Trouble::ResponseLost => unreachable!("handled before"),
    }
}

pub(super) fn answer(room: &mut Room, request: &Hook) -> Response {
    let base = format!("/api/webhooks/41/{SENTINEL}");
    let Some(rest) = request.path.strip_prefix(&base) else {
        return respond(404, &json!({"message": "Unknown Webhook", "code": 10_015}));
    };
    let result = match (request.method.as_str(), rest) {
        ("POST", "?wait=true") => post(room, request),
        ("PATCH", rest) => match rest.strip_prefix("/messages/") {
            Some(id) if room.with_id(id).is_none() => {
                return respond(404, &json!({"message": "Unknown Message", "code": 10_008}));
            }
            Some(id) => edit(room, id, request),
            None => return respond(405, &json!({"message": "405: Method Not Allowed"})),
        },
        _ => return respond(405, &json!({"message": "405: Method Not Allowed"})),
    };
    match result {
        Ok(body) => {
            let headers = "x-ratelimit-remaining: 4\r\nx-ratelimit-reset-after: 1.5\r\n";
            (200, headers.to_owned(), body.to_string())
        }
        Err(why) => {
            let errors = json!({"embeds": why});
            respond(400, &json!({"message": "Invalid Form Body", "code": 50_035, "errors": errors}))
        }
    }
}

fn post(room: &mut Room, request: &Hook) -> Result<Value, String> {
    has_json(request)?;
    let body = request.json();
    let optional = ["embeds", "flags"];
    fields(&body, &["username", "content", "allowed_mentions"], &optional)?;
    let shown = shown(room, &body)?;
    let id = (1_000 + room.next_id()).to_string();
    room.add(&id, shown, "", None);
    Ok(json!({"id": id, "type": 0, "content": body["content"]}))
}

fn edit(room: &mut Room, id: &str, request: &Hook) -> Result<Value, String> {
    has_json(request)?;
    let body = request.json();
    fields(&body, &["embeds", "allowed_mentions"], &[])?;
    let shown = shown(room, &body)?;
    let message = room.with_id(id).ok_or("unknown")?;
    message.edit(shown);
    Ok(json!({"id": id, "type": 0}))
}

fn shown(room: &Room, body: &Value) -> Result<String, String> {
    let mentions = &body["allowed_mentions"];
    fields(mentions, &["parse"], &["roles"])?;
    if mentions["parse"] != json!([]) {
        return Err("mentions of others are allowed".to_owned());
    }
    if body.get("flags").is_some_and(|flags| *flags != 4_096) {
        return Err("unknown flags".to_owned());
    }
    let content = body["content"].as_str().unwrap_or_default();
    if content.chars().count() > 2_000 {
        return Err("content is longer than 2000".to_owned());
    }
    let (mut lines, mut total) = (vec![content.to_owned()], 0);
    for embed in body["embeds"].as_array().into_iter().flatten() {
        if room.plain_only {
            return Err("embeds are refused".to_owned());
        }
        fields(embed, &["title", "color", "timestamp", "url"], &["description", "fields"])?;
        link(&embed["url"])?;
        let number = embed["color"].as_u64().ok_or("the color is not a number")?;
        if number > 0xff_ff_ff {
            return Err("not a color".to_owned());
        }
        lines.push(text(&embed["title"], 256)?);
        let description = embed["description"].as_str().unwrap_or_default();
        if description.chars().count() > 4_096 {
            return Err("description is longer than 4096".to_owned());
        }
        lines.push(description.to_owned());
        let facts = embed["fields"].as_array().map_or(&[][..], Vec::as_slice);
        if facts.len() > 25 {
            return Err("more than 25 fields".to_owned());
        }
        for fact in facts {
            fields(fact, &["name", "value"], &["inline"])?;
            lines.push(format!("{}: {}", text(&fact["name"], 256)?, text(&fact["value"], 1_024)?));
        }
        total += lines.iter().map(|line| line.chars().count()).sum::<usize>();
    }
    if total > 6_000 {
        return Err("longer than 6000".to_owned());
    }
    if lines.iter().all(String::is_empty) {
        return Err("an empty message".to_owned());
    }
    Ok(lines.join("\n").trim().to_owned())
}
