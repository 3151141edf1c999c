//! Google Chat: a card in the thread of the alert. The key identifies the thread.

use serde_json::{Value, json};
use wakeful_core::notifications::notifier::ServiceSpec;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::super::call::{Call, Calls, Reading, Role};
use super::super::exchange::Reply;
use super::super::scene::{Phase, Scene, append, entities, shorten};
use super::{address, delivered, failure_of_url, json as parse};

const MAX_TEXT: usize = 4_000;
const MAX_TITLE: usize = 200;

pub(super) fn calls(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    _thread: Option<&Thread>,
    _now: Millis,
) -> Calls {
    if scene.phase == Phase::TestEnds {
        return Ok(Vec::new());
    }
    let mut url = address(spec, "url", &[])?;
    url.query_pairs_mut().append_pair("messageReplyOption", "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD");
    let thread = json!({"threadKey": scene.alert()});
    let headline = format!("{} {}", scene.emoji(), shorten(&scene.title(), MAX_TITLE));
    let rich = json!({"text": headline, "cardsV2": [card(scene)], "thread": thread});
    let room = MAX_TEXT - headline.chars().count() - 1;
    let plain = json!({"text": format!("{headline}\n{}", scene.plain(room)), "thread": thread});
    Ok(vec![Call::post(url, Role::First, rich).or_plain(plain)])
}

fn card(scene: &Scene<'_>) -> Value {
    let mut text = String::new();
    append(&mut text, scene.cause(), MAX_TEXT, entities);
    let link =
        |title: &str, url: &str| json!({"text": title, "onClick": {"openLink": {"url": url}}});
    let acknowledge = scene.action_page().map(|page| link("Acknowledge", page));
    let buttons: Vec<Value> = acknowledge.into_iter().chain([link("Open", scene.link)]).collect();
    let subtitle = scene.target().unwrap_or_else(|| scene.event.name().to_owned());
    let mut widgets = Vec::new();
    if !text.trim().is_empty() {
        widgets.push(json!({"textParagraph": {"text": text}}));
    }
    widgets.push(json!({"buttonList": {"buttons": buttons}}));
    json!({"cardId": scene.event.data.eventid.to_string(), "card": {
        "header": {"title": shorten(&scene.title(), MAX_TITLE), "subtitle": subtitle},
        "sections": [{"widgets": widgets}]}})
}

pub(super) fn read(_call: &Call, reply: &Reply) -> Reading {
    let is_done = reply.status.is_success() && parse(reply)["name"].is_string();
    if is_done { delivered(reply) } else { failure_of_url(reply) }.into()
}
