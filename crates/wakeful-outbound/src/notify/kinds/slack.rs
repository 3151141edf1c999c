//! Slack: `chat.postMessage` and `chat.update` with a token, or an incoming webhook.

use http::header::CONTENT_TYPE;
use serde_json::{Value, json};
use wakeful_core::notifications::notifier::ServiceSpec;
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::super::call::{Call, Calls, Reading, Role};
use super::super::exchange::Reply;
use super::super::scene::{Scene, append, entities, shorten};
use super::{
    OnRecovery, address, check_token, delivered, failure, failure_of_url, json as parse, limited,
};

const MAX_HEADER: usize = 150;
const MAX_SECTION: usize = 3_000;
const UTF8_JSON: &str = "application/json; charset=utf-8";

pub(super) fn calls(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    thread: Option<&Thread>,
    _now: Millis,
) -> Calls {
    if spec.get("token").is_empty() {
        let url = address(spec, "webhook_url", &[])?;
        return Ok(vec![
            Call::post(url, Role::First, message(spec, scene)).or_plain(plain(spec, scene)),
        ]);
    }
    let first = |role| post(spec, scene, role, &[]);
    let found = thread.and_then(|thread| Some((thread.text("channel")?, thread.text("ts")?)));
    let Some((channel, ts)) = found else { return Ok(vec![first(Role::First)?]) };
    // Without its first message, a thread may not exist any more.
    let reply = post(spec, scene, Role::Reply, &[("thread_ts", json!(ts))])?;
    let reply = reply.or(first(Role::First)?);
    if !scene.phase.changes_first_message() {
        return Ok(vec![reply]);
    }
    let mode = OnRecovery::of(spec);
    let edit = if mode.updates() { Some(update(spec, scene, channel, ts)?) } else { None };
    Ok(match edit {
        // The reply says the same, so that a message that cannot be edited does not matter.
        Some(edit) if mode.replies() => vec![edit.optional(), reply],
        Some(edit) => vec![edit.or(first(Role::First)?)],
        None => vec![reply],
    })
}

fn post(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    role: Role,
    more: &[(&str, Value)],
) -> Result<Call, String> {
    let complete = |mut body: Value| {
        body["channel"] = json!(spec.get("channel"));
        for (name, value) in more {
            body[*name] = value.clone();
        }
        body
    };
    let url = address(spec, "api_url", &["chat.postMessage"])?;
    let call = Call::post(url, role, complete(message(spec, scene)));
    let call = call.bearer(spec.get("token")).with(CONTENT_TYPE, UTF8_JSON);
    Ok(call.or_plain(complete(plain(spec, scene))))
}

fn update(spec: &ServiceSpec, scene: &Scene<'_>, channel: &str, ts: &str) -> Result<Call, String> {
    let url = address(spec, "api_url", &["chat.update"])?;
    let Value::Object(mut message) = message(spec, scene) else { return Err(String::new()) };
    let body = json!({"channel": channel, "ts": ts, "text": message.remove("text"),
        "attachments": message.remove("attachments")});
    let call = Call::post(url, Role::Edit, body);
    Ok(call.bearer(spec.get("token")).with(CONTENT_TYPE, UTF8_JSON))
}

fn message(spec: &ServiceSpec, scene: &Scene<'_>) -> Value {
    let title = json!({"type": "plain_text", "text": shorten(&scene.title(), MAX_HEADER)});
    let mut blocks = vec![json!({"type": "header", "text": title})];
    let cause = escaped(scene.cause(), MAX_SECTION);
    if !cause.trim().is_empty() {
        let text = json!({"type": "mrkdwn", "text": cause});
        blocks.push(json!({"type": "section", "text": text}));
    }
    let facts = json!({"type": "mrkdwn", "text": context(scene)});
    blocks.push(json!({"type": "context", "elements": [facts]}));
    json!({"text": headline(spec, scene), "unfurl_links": false, "unfurl_media": false,
        "attachments": [{"color": format!("#{:06x}", scene.color()), "blocks": blocks}]})
}

fn plain(spec: &ServiceSpec, scene: &Scene<'_>) -> Value {
    let text = format!(
        "{}\n{}\n{}",
        headline(spec, scene),
        escaped(scene.cause(), MAX_SECTION),
        context(scene)
    );
    json!({"text": text, "unfurl_links": false, "unfurl_media": false})
}

fn headline(spec: &ServiceSpec, scene: &Scene<'_>) -> String {
    let title = escaped(&scene.title(), MAX_SECTION);
    let mention = match spec.get("mention") {
        "" => String::new(),
        _ if !scene.mentions() => String::new(),
        word @ ("here" | "channel" | "everyone") => format!("<!{word}> "),
        group if group.starts_with('S') => format!("<!subteam^{group}> "),
        user => format!("<@{user}> "),
    };
    format!("{mention}{} {title}", scene.emoji())
}

/// The facts and the links.
fn context(scene: &Scene<'_>) -> String {
    let facts = scene.facts().into_iter().map(|(name, value)| match name {
        "Target" => escaped(&value, MAX_SECTION),
        "Down since" => format!("down since {value}"),
        name => format!("{}: {}", name.to_lowercase(), escaped(&value, MAX_SECTION)),
    });
    let acknowledge = scene.action_page().map(|page| format!("<{page}|Acknowledge>"));
    let open = format!("<{}|Open>", scene.link);
    facts.chain(acknowledge).chain([open]).collect::<Vec<_>>().join(" · ")
}

fn escaped(text: &str, max: usize) -> String {
    let mut escaped = String::new();
    append(&mut escaped, text, max, entities);
    escaped
}

pub(super) fn read(call: &Call, reply: &Reply) -> Reading {
    let body = parse(reply);
    if body["ok"] == true {
        let thread = json!({"channel": body["channel"], "ts": body["ts"]});
        let thread = (call.role == Role::First).then_some(Thread(thread));
        return Reading { thread, ..delivered(reply).into() };
    }
    // An incoming webhook responds with a text.
    let Some(error) = body["error"].as_str() else {
        let is_done = reply.status.is_success() && reply.text().trim() == "ok";
        return if is_done { delivered(reply) } else { failure_of_url(reply) }.into();
    };
    let outcome = match error {
        "ratelimited" => limited(reply, None),
        "is_archived" | "account_inactive" | "token_revoked" => Outcome::Gone(reply.answer()),
        "invalid_auth" | "not_authed" => check_token(reply),
        "invalid_blocks"
        | "invalid_attachments"
        | "invalid_arguments"
        | "msg_too_long"
        | "message_not_found"
        | "cant_update_message"
        | "edit_window_closed"
        | "thread_not_found"
        | "invalid_thread_ts" => Outcome::Refused(reply.answer()),
        _ if reply.status.is_success() => Outcome::failed(reply.answer()),
        _ => failure(reply),
    };
    outcome.into()
}
