//! Telegram: `sendMessage` and `editMessageText` of a bot.

use http::StatusCode;
use serde_json::{Value, json};
use std::time::Duration;
use url::{Host, Url};
use wakeful_core::notifications::notifier::ServiceSpec;
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::super::call::{Call, Calls, Reading, Role};
use super::super::exchange::Reply;
use super::super::scene::{Scene, append, entities, shorten};
use super::{OnRecovery, address, check_token, delivered, failure, json as parse, limited};

/// Of 4,096, because the limit applies after the markup is read, and the rest may be long.
const MAX_TEXT: usize = 3_500;
const MAX_TITLE: usize = 300;

pub(super) fn calls(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    thread: Option<&Thread>,
    _now: Millis,
) -> Calls {
    let first = || send(spec, scene, Role::First, None);
    let Some(id) = thread.and_then(|thread| thread.0["message_id"].as_i64()) else {
        return Ok(vec![first()?]);
    };
    let reply = send(spec, scene, Role::Reply, Some(id))?;
    let mode = OnRecovery::of(spec);
    if !scene.phase.changes_first_message() || !mode.updates() {
        return Ok(vec![reply]);
    }
    let mut body = json!({"chat_id": chat(spec), "message_id": id, "text": html(scene),
        "parse_mode": "HTML"});
    with_buttons(&mut body, scene);
    let edit = Call::post(method(spec, "editMessageText")?, Role::Edit, body);
    Ok(if mode.replies() { vec![edit.optional(), reply] } else { vec![edit.or(first()?)] })
}

fn method(spec: &ServiceSpec, name: &str) -> Result<Url, String> {
    address(spec, "api_url", &[&format!("bot{}", spec.get("token")), name])
}

/// A number, or a name.
fn chat(spec: &ServiceSpec) -> Value {
    let text = spec.get("chat_id");
    text.parse::<i64>().map_or_else(|_| json!(text), |number| json!(number))
}

fn send(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    role: Role,
    to: Option<i64>,
) -> Result<Call, String> {
    let mut body = json!({"chat_id": chat(spec), "text": html(scene), "parse_mode": "HTML",
        "link_preview_options": {"is_disabled": true},
        "disable_notification": scene.is_silent()});
    if let Ok(topic) = spec.get("thread_id").parse::<i64>() {
        body["message_thread_id"] = json!(topic);
    }
    if let Some(id) = to {
        body["reply_parameters"] = json!({"message_id": id, "allow_sending_without_reply": true});
    }
    with_buttons(&mut body, scene);
    let mut plain = body.clone();
    plain["text"] = json!(format!(
        "{} {}\n{}",
        scene.emoji(),
        shorten(&scene.title(), MAX_TITLE),
        scene.plain(MAX_TEXT - MAX_TITLE)
    ));
    if let Value::Object(plain) = &mut plain {
        plain.remove("parse_mode");
        plain.remove("reply_markup");
    }
    Ok(Call::post(method(spec, "sendMessage")?, role, body).or_plain(plain))
}

/// Telegram refuses buttons with an address that is not on the internet.
fn with_buttons(body: &mut Value, scene: &Scene<'_>) {
    if is_public(scene.link) {
        let open = json!({"text": "Open", "url": scene.link});
        let page = scene.action_page();
        let acknowledge = page.map(|page| json!({"text": "Acknowledge", "url": page}));
        let row: Vec<Value> = acknowledge.into_iter().chain([open]).collect();
        body["reply_markup"] = json!({"inline_keyboard": [row]});
    }
}

fn is_public(link: &str) -> bool {
    let url = Url::parse(link).ok();
    url.is_some_and(|url| matches!(url.host(), Some(Host::Domain(name)) if name.contains('.')))
}

fn html(scene: &Scene<'_>) -> String {
    let mut links = String::new();
    if !is_public(scene.link) {
        let pages = scene.action_page().map(|page| ("Acknowledge", page));
        for (name, page) in pages.into_iter().chain([("Open", scene.link)]) {
            append(&mut links, &format!("\n{name}: {page}"), usize::MAX, entities);
        }
    }
    let room = MAX_TEXT.saturating_sub(links.chars().count());
    let mut text = format!("{} <b>", scene.emoji());
    append(&mut text, &scene.title(), MAX_TITLE, entities);
    text.push_str("</b>\n");
    let mut facts = String::new();
    for (name, value) in scene.facts() {
        append(&mut facts, &format!("\n{name}: {value}"), MAX_TEXT / 2, entities);
    }
    let facts_length = facts.chars().count();
    append(&mut text, scene.cause(), room.saturating_sub(facts_length), entities);
    text + &facts + &links
}

pub(super) fn read(call: &Call, reply: &Reply) -> Reading {
    let body = parse(reply);
    if body["ok"] == true {
        let id = body["result"]["message_id"].as_i64();
        let thread = id.map(|id| Thread(json!({"message_id": id})));
        let thread = thread.filter(|_| call.role == Role::First);
        return Reading { thread, ..delivered(reply).into() };
    }
    let what = body["description"].as_str().unwrap_or_default().to_lowercase();
    let parameters = &body["parameters"];
    if let Some(chat) = parameters["migrate_to_chat_id"].as_i64() {
        let moved = Some(("chat_id", chat.to_string()));
        return Reading { moved, ..Outcome::failed(reply.answer()).into() };
    }
    let outcome = match reply.status {
        StatusCode::TOO_MANY_REQUESTS => {
            limited(reply, parameters["retry_after"].as_u64().map(Duration::from_secs))
        }
        StatusCode::BAD_REQUEST if what.contains("message is not modified") => delivered(reply),
        StatusCode::BAD_REQUEST if what.contains("chat not found") => Outcome::Gone(reply.answer()),
        StatusCode::FORBIDDEN => Outcome::Gone(reply.answer()),
        // A token that was never valid is not found.
        StatusCode::NOT_FOUND => check_token(reply),
        _ => failure(reply),
    };
    outcome.into()
}
