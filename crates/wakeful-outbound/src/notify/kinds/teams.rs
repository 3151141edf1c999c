//! Microsoft Teams: an adaptive card to a workflow.

use http::StatusCode;
use serde_json::{Value, json};
use wakeful_core::notifications::notifier::ServiceSpec;
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::super::call::{Call, Calls, Reading, Role};
use super::super::exchange::Reply;
use super::super::scene::{Level, Phase, Scene, shorten, time};
use super::{address, delivered, failure_of_url};

const MAX_TITLE: usize = 300;
/// A card may have 25 KB, and a character up to four bytes.
const MAX_TEXT: usize = 4_000;

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
    let text = json!([{"type": "TextBlock", "wrap": true, "text": headline(scene)},
        {"type": "TextBlock", "wrap": true, "text": scene.plain(MAX_TEXT)}]);
    let plain = card(&text, &json!([]));
    Ok(vec![Call::post(url, Role::First, rich(scene)).or_plain(plain)])
}

fn headline(scene: &Scene<'_>) -> String {
    format!("{} {}", scene.emoji(), shorten(&scene.title(), MAX_TITLE))
}

fn rich(scene: &Scene<'_>) -> Value {
    let color = match (scene.phase, scene.level()) {
        (Phase::Ends, _) => "Good",
        (_, Level::Critical) => "Attention",
        _ => "Warning",
    };
    let facts = std::iter::once(("Time", time(&scene.event.timestamp))).chain(scene.facts());
    let facts: Vec<Value> =
        facts.map(|(title, value)| json!({"title": title, "value": value})).collect();
    let body = json!([
        {"type": "TextBlock", "size": "Large", "weight": "Bolder", "wrap": true, "color": color,
            "text": headline(scene)},
        {"type": "TextBlock", "wrap": true, "text": shorten(scene.cause(), MAX_TEXT)},
        {"type": "FactSet", "facts": facts}]);
    let link = |title, url| json!({"type": "Action.OpenUrl", "title": title, "url": url});
    let acknowledge = scene.action_page().map(|page| link("Acknowledge", page));
    let open = link("Open in Wakeful", scene.link);
    let actions: Vec<Value> = acknowledge.into_iter().chain([open]).collect();
    card(&body, &json!(actions))
}

fn card(body: &Value, actions: &Value) -> Value {
    json!({"type": "message", "attachments": [{
        "contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": null,
        "content": {"$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "type": "AdaptiveCard", "version": "1.4", "msteams": {"width": "Full"},
            "body": body, "actions": actions}}]})
}

pub(super) fn read(_call: &Call, reply: &Reply) -> Reading {
    let is_paused = reply.text().contains("WorkflowTriggerIsNotEnabled");
    let outcome = match reply.status {
        status if status.is_success() => delivered(reply),
        // The workflow can be turned on again.
        StatusCode::BAD_REQUEST if is_paused => Outcome::failed(reply.answer()),
        _ => failure_of_url(reply),
    };
    outcome.into()
}
