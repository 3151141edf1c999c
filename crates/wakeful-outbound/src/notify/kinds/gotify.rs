//! Gotify: a message in Markdown to an application.

use http::header::HeaderName;
use serde_json::{Value, json};
use wakeful_core::notifications::notifier::ServiceSpec;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::super::call::{Call, Calls, Reading, Role};
use super::super::exchange::Reply;
use super::super::scene::{Level, Phase, Scene, shorten};
use super::{address, delivered, failure, json as parse};

const MAX_TITLE: usize = 250;
const MAX_MESSAGE: usize = 4_000;
const KEY: HeaderName = HeaderName::from_static("x-gotify-key");

pub(super) fn calls(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    _thread: Option<&Thread>,
    _now: Millis,
) -> Calls {
    if scene.phase == Phase::TestEnds {
        return Ok(Vec::new());
    }
    let url = address(spec, "server", &["message"])?;
    let priority = match scene.level() {
        Level::Critical => 8,
        Level::Warning => 5,
        Level::Recovery => 4,
        Level::Info => 2,
    };
    let body = |message: String| -> Value {
        json!({"title": shorten(&scene.title(), MAX_TITLE), "message": message,
            "priority": priority})
    };
    let mut rich = body(scene.markdown(MAX_MESSAGE));
    rich["extras"] = json!({"client::display": {"contentType": "text/markdown"},
        "client::notification": {"click": {"url": scene.link}}});
    let call = Call::post(url, Role::First, rich).with(KEY, spec.get("token"));
    Ok(vec![call.or_plain(body(scene.plain(MAX_MESSAGE)))])
}

pub(super) fn read(_call: &Call, reply: &Reply) -> Reading {
    let is_done = reply.status.is_success() && parse(reply)["id"].is_u64();
    if is_done { delivered(reply) } else { failure(reply) }.into()
}
