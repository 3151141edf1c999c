//! Jira Service Management and Opsgenie: alerts with our alert's id as their alias, which are
//! acknowledged and closed with it. Reminders and escalation are up to the service.

use serde_json::{Value, json};
use url::Url;
use wakeful_core::notifications::notifier::ServiceSpec;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::super::call::{Call, Calls, Reading, Role};
use super::super::exchange::Reply;
use super::super::scene::{Level, Phase, Scene, shorten};
use super::{address, delivered, failure, json as parse};

const MAX_MESSAGE: usize = 130;
const MAX_DESCRIPTION: usize = 15_000;
const MAX_ENTITY: usize = 512;
const MAX_TAGS: usize = 20;
const MAX_TAG: usize = 50;
const MAX_NOTE: usize = 1_000;

pub(super) fn calls(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    _thread: Option<&Thread>,
    _now: Millis,
) -> Calls {
    let alias = scene.alert();
    let base = |parts: &[&str]| address(spec, "api_url", &[&["v2", "alerts"][..], parts].concat());
    let action = |name: &str| -> Result<Url, String> {
        let mut url = base(&[&alias, name])?;
        url.query_pairs_mut().append_pair("identifierType", "alias");
        Ok(url)
    };
    let user = scene.event.data.acknowledged_by.as_deref().unwrap_or("Wakeful");
    let note = json!({"source": "Wakeful", "user": shorten(user, 100), "note": shorten(&scene.title(), MAX_NOTE)});
    let call = match scene.phase {
        Phase::Opens | Phase::Test => Call::post(base(&[])?, Role::First, alert(scene, &alias)),
        Phase::Acknowledged => Call::post(action("acknowledge")?, Role::Edit, note),
        Phase::Ends | Phase::Resolved | Phase::TestEnds => {
            Call::post(action("close")?, Role::Close, note)
        }
        Phase::Repeats | Phase::Assigned | Phase::News => return Ok(Vec::new()),
    };
    let key = format!("GenieKey {}", spec.get("api_key"));
    Ok(vec![call.with(http::header::AUTHORIZATION, key)])
}

fn alert(scene: &Scene<'_>, alias: &str) -> Value {
    let priority = match scene.level() {
        Level::Critical => "P1",
        Level::Warning if scene.phase != Phase::Test => "P3",
        _ => "P5",
    };
    let monitor = scene.event.data.monitor.as_ref();
    let tags = monitor.map_or(&[][..], |monitor| monitor.tags.as_slice());
    let tags: Vec<String> = tags.iter().take(MAX_TAGS).map(|tag| shorten(tag, MAX_TAG)).collect();
    json!({"message": shorten(&scene.title(), MAX_MESSAGE), "alias": alias,
        "description": scene.plain(MAX_DESCRIPTION), "priority": priority, "source": "Wakeful",
        "entity": shorten(scene.event.name(), MAX_ENTITY), "tags": tags,
        "details": {"url": scene.link}})
}

pub(super) fn read(_call: &Call, reply: &Reply) -> Reading {
    let is_done = reply.status.is_success() && parse(reply)["requestId"].is_string();
    if is_done { delivered(reply) } else { failure(reply) }.into()
}
