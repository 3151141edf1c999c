//! Signal, through signal-cli-rest-api: messages to numbers and groups. Later messages about an
//! alert quote the first one.

use http::StatusCode;
use serde_json::{Value, json};
use wakeful_core::notifications::notifier::ServiceSpec;
use wakeful_core::notifications::notifier::service::items;
use wakeful_core::notifications::retry::{Failure, Outcome};
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::super::call::{Call, Calls, Reading, Role};
use super::super::exchange::Reply;
use super::super::scene::{Scene, append, shorten};
use super::{address, delivered, failure, json as parse};

const MAX_TITLE: usize = 300;
const MAX_MESSAGE: usize = 4_000;
/// Of the first message, as later ones quote it.
const MAX_QUOTE: usize = 200;

pub(super) fn calls(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    thread: Option<&Thread>,
    _now: Millis,
) -> Calls {
    let url = address(spec, "server", &["v2", "send"])?;
    let recipients: Vec<&str> = items(spec.get("recipients")).collect();
    let number = spec.get("number");
    let mut body = json!({"number": number, "recipients": recipients, "message": message(scene),
        "text_mode": "styled"});
    let quoted = thread.and_then(|thread| {
        Some((thread.0.get("timestamp")?.as_u64()?, thread.text("message")?.to_owned()))
    });
    let role = match quoted {
        None => Role::First,
        Some((timestamp, message)) => {
            body["quote_timestamp"] = json!(timestamp);
            body["quote_author"] = json!(number);
            body["quote_message"] = json!(message);
            Role::Reply
        }
    };
    Ok(vec![Call::post(url, role, body)])
}

fn message(scene: &Scene<'_>) -> String {
    let mut text = format!("{} **", scene.emoji());
    append(&mut text, &scene.title(), MAX_TITLE, styled);
    text.push_str("**\n");
    let acknowledge = scene.action_page().map(|page| format!("\nAcknowledge: {page}"));
    let links = format!("{}\nOpen: {}", acknowledge.unwrap_or_default(), scene.link);
    let mut links_escaped = String::new();
    append(&mut links_escaped, &links, usize::MAX, styled);
    let room = MAX_MESSAGE.saturating_sub(links_escaped.chars().count());
    append(&mut text, scene.cause(), room, styled);
    for (name, value) in scene.facts() {
        append(&mut text, &format!("\n{name}: {value}"), room, styled);
    }
    text + &links_escaped
}

/// The characters that begin a style; a link may contain them, too.
fn styled(c: char, to: &mut String) {
    if "*~|`".contains(c) {
        to.push('\\');
    }
    to.push(c);
}

pub(super) fn read(call: &Call, reply: &Reply) -> Reading {
    let body = parse(reply);
    let timestamp = match &body["timestamp"] {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    };
    if let Some(timestamp) = timestamp.filter(|_: &u64| reply.status.is_success()) {
        let message = call.body["message"].as_str().unwrap_or_default().replace("**", "");
        let quote = json!({"timestamp": timestamp, "message": shorten(&message, MAX_QUOTE)});
        let thread = (call.role == Role::First).then_some(Thread(quote));
        return Reading { thread, ..delivered(reply).into() };
    }
    // The server answers everything that goes wrong in this way, and says what to do.
    let outcome = match reply.status {
        StatusCode::BAD_REQUEST => {
            let is_challenged =
                body["challenge_tokens"].as_array().is_some_and(|all| !all.is_empty());
            let error = body["error"].as_str().unwrap_or_default().to_ascii_lowercase();
            let overloaded = is_challenged || error.contains("rate limit");
            let retry_after = reply.retry_after();
            let answer = reply.answer();
            Outcome::Failed(Failure { answer, retry_after, overloaded, ..Failure::default() })
        }
        _ => failure(reply),
    };
    outcome.into()
}
