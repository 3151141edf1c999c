//! Mattermost and Rocket.Chat: an incoming webhook with an attachment.

use serde_json::{Value, json};
use wakeful_core::notifications::notifier::ServiceSpec;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::super::call::{Call, Calls, Reading, Role};
use super::super::exchange::Reply;
use super::super::scene::{Phase, Scene, append, markdown, shorten};
use super::{address, delivered, failure_of_url};

const MAX_TEXT: usize = 4_000;
const MAX_TITLE: usize = 250;

pub(super) fn calls(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    _thread: Option<&Thread>,
    _now: Millis,
) -> Calls {
    if scene.phase == Phase::TestEnds {
        return Ok(Vec::new());
    }
    let url = address(spec, "url", &[])?;
    let is_rocket = spec.get("flavour") == "rocketchat";
    let mut headline = format!("{} ", scene.emoji());
    append(&mut headline, &scene.title(), MAX_TITLE, markdown);
    let complete = |mut body: Value| {
        for (name, value) in [
            ("channel", spec.get("channel")),
            (if is_rocket { "alias" } else { "username" }, spec.get("username")),
        ] {
            if !value.is_empty() {
                body[name] = json!(value);
            }
        }
        if scene.mentions() && !is_rocket {
            body["priority"] = json!({"priority": "urgent"});
        }
        body
    };
    let rich = complete(json!({"text": headline, "attachments": [attachment(scene)]}));
    let plain = complete(json!({"text": format!("{headline}\n{}", scene.plain(MAX_TEXT))}));
    Ok(vec![Call::post(url, Role::First, rich).or_plain(plain)])
}

fn attachment(scene: &Scene<'_>) -> Value {
    let acknowledge = scene.action_page().map(|page| format!("\n\n[Acknowledge]({page})"));
    let acknowledge = acknowledge.unwrap_or_default();
    let mut text = String::new();
    let room = MAX_TEXT.saturating_sub(acknowledge.chars().count());
    append(&mut text, scene.cause(), room, markdown);
    let fields: Vec<Value> = scene
        .facts()
        .into_iter()
        .map(|(name, value)| {
            let mut escaped = String::new();
            append(&mut escaped, &value, MAX_TEXT, markdown);
            json!({"title": name, "value": escaped, "short": name != "Target"})
        })
        .collect();
    json!({"fallback": shorten(&scene.title(), MAX_TITLE),
        "color": format!("#{:06x}", scene.color()), "title": "Open in Wakeful",
        "title_link": scene.link, "text": text + &acknowledge, "fields": fields})
}

/// Mattermost responds with a text, Rocket.Chat with JSON.
pub(super) fn read(_call: &Call, reply: &Reply) -> Reading {
    if reply.status.is_success() { delivered(reply) } else { failure_of_url(reply) }.into()
}
