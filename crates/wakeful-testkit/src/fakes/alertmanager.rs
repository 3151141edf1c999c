//! An Alertmanager. Alerts with the same labels are the same alert.

use serde_json::{Value, json};
use wakeful_core::time::Millis;

use super::{Response, Room, SENTINEL, Trouble, fields, has_json, link, respond, text};
use crate::receiver::Hook;

pub(super) fn settings(url: &str) -> Value {
    json!({"url": url, "headers": format!("Authorization: Bearer {SENTINEL}-token")})
}

pub(super) fn trouble(trouble: Trouble) -> Response {
    match trouble {
        Trouble::Limited => (429, "retry-after: 95\r\n".to_owned(), String::new()),
        Trouble::TokenRejected => (401, String::new(), "Unauthorized".to_owned()),
        Trouble::Gone => (404, String::new(), "not found".to_owned()),
        Trouble::ResponseLost => unreachable!("handled before"),
    }
}

pub(super) fn answer(room: &mut Room, request: &Hook) -> Response {
    if request.header("authorization") != format!("Bearer {SENTINEL}-token") {
        return (401, String::new(), "Unauthorized".to_owned());
    }
    if (request.method.as_str(), request.path.as_str()) != ("POST", "/api/v2/alerts") {
        return (404, String::new(), "not found".to_owned());
    }
    let body = request.json();
    let Some(alerts) = body.as_array().filter(|alerts| !alerts.is_empty()) else {
        return respond(400, &json!("no alerts"));
    };
    let taken = has_json(request).and_then(|()| alerts.iter().try_for_each(|one| take(room, one)));
    match taken {
        Ok(()) => (200, String::new(), String::new()),
        Err(why) => respond(400, &json!(why)),
    }
}

fn take(room: &mut Room, alert: &Value) -> Result<(), String> {
    let required = ["labels", "annotations", "startsAt", "endsAt", "generatorURL"];
    fields(alert, &required, &[])?;
    link(&alert["generatorURL"])?;
    let labels = alert["labels"].as_object().ok_or("labels")?;
    if !labels.contains_key("alertname") {
        return Err("alertname is missing".to_owned());
    }
    for (name, value) in labels {
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name || value.as_str().is_none_or(str::is_empty) {
            return Err(format!("invalid label set: {name}"));
        }
    }
    fields(&alert["annotations"], &["summary", "description"], &[])?;
    let summary = text(&alert["annotations"]["summary"], 1_000)?;
    let description = text(&alert["annotations"]["description"], 10_000)?;
    let time = |name: &str| {
        let text = alert[name].as_str().unwrap_or_default();
        Millis::parse(text).ok_or_else(|| format!("{name} is no time"))
    };
    let (starts, ends) = (time("startsAt")?, time("endsAt")?);
    if ends < starts {
        return Err("start time must be before end time".to_owned());
    }
    let key = alert["labels"].to_string();
    let shown = format!("{summary}\n{description}");
    match room.with_key(&key) {
        Some(known) => known.edit(shown),
        None => {
            let id = room.next_id().to_string();
            room.add(&id, shown, &key, None);
        }
    }
    if let Some(known) = room.with_key(&key) {
        known.state = ends.to_string();
    }
    Ok(())
}
