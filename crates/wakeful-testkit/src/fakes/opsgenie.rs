//! The alert API of Jira Service Management and Opsgenie.

use serde_json::{Value, json};

use super::{Response, Room, SENTINEL, Trouble, fields, has_json, respond, text};
use crate::receiver::Hook;

pub(super) fn settings(url: &str) -> Value {
    json!({"api_key": format!("{SENTINEL}-key"), "api_url": url})
}

fn error(status: u16, message: &str) -> Response {
    respond(status, &json!({"message": message, "took": 0.001, "requestId": "r"}))
}

pub(super) fn trouble(trouble: Trouble) -> Response {
    match trouble {
        Trouble::Limited => (429, "retry-after: 85\r\n".to_owned(), "{}".to_owned()),
        Trouble::TokenRejected => error(401, "API Key is not valid"),
        Trouble::Gone => error(403, "Plan is expired"),
        Trouble::ResponseLost => unreachable!("handled before"),
    }
}

pub(super) fn answer(room: &mut Room, request: &Hook) -> Response {
    if request.header("authorization") != format!("GenieKey {SENTINEL}-key") {
        return error(401, "API Key is not valid");
    }
    let result = match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/v2/alerts") => create(room, request),
        ("POST", path) => act(room, path, request),
        _ => return error(404, "not found"),
    };
    match result {
        Ok(()) => respond(202, &json!({"result": "Request will be processed", "requestId": "r"})),
        Err(why) => error(422, &why),
    }
}

fn create(room: &mut Room, request: &Hook) -> Result<(), String> {
    has_json(request)?;
    let body = request.json();
    let optional = ["description", "priority", "source", "entity", "tags", "details"];
    fields(&body, &["message", "alias"], &optional)?;
    let (alias, message) = (text(&body["alias"], 512)?, text(&body["message"], 130)?);
    let description = text(&body["description"], 15_000)?;
    text(&body["entity"], 512)?;
    if !["P1", "P2", "P3", "P4", "P5"].contains(&body["priority"].as_str().unwrap_or_default()) {
        return Err("priority".to_owned());
    }
    if room.with_key(&alias).is_none() {
        let id = room.next_id().to_string();
        room.add(&id, format!("{message}\n{description}"), &alias, None);
    }
    set_state(room, &alias, "open");
    Ok(())
}

fn act(room: &mut Room, path: &str, request: &Hook) -> Result<(), String> {
    has_json(request)?;
    let rest = path.strip_prefix("/v2/alerts/").ok_or("path")?;
    let rest = rest.strip_suffix("?identifierType=alias").ok_or("identifierType")?;
    let (alias, action) = rest.split_once('/').ok_or("action")?;
    let body: Value = request.json();
    fields(&body, &["source", "user", "note"], &[])?;
    let state = match action {
        "acknowledge" => "acknowledged",
        "close" => "closed",
        other => return Err(format!("action {other}")),
    };
    set_state(room, alias, state);
    Ok(())
}

fn set_state(room: &mut Room, alias: &str, state: &str) {
    if let Some(alert) = room.with_key(alias) {
        alert.state = state.to_owned();
    }
}
