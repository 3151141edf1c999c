//! Apprise: a message to an Apprise API server, which passes it on.

use http::StatusCode;
use serde_json::{Value, json};
use wakeful_core::notifications::notifier::ServiceSpec;
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::super::call::{Call, Calls, Reading, Role};
use super::super::exchange::Reply;
use super::super::scene::{Level, Phase, Scene, shorten};
use super::{address, delivered, failure};

const MAX_TITLE: usize = 250;
const MAX_BODY: usize = 4_000;

pub(super) fn calls(
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    _thread: Option<&Thread>,
    _now: Millis,
) -> Calls {
    if scene.phase == Phase::TestEnds {
        return Ok(Vec::new());
    }
    let key = spec.get("key");
    let url = address(spec, "server", &["notify", key])?;
    let kind = match (scene.phase, scene.level()) {
        (Phase::Ends, _) => "success",
        (_, Level::Critical) => "failure",
        (_, Level::Warning) => "warning",
        _ => "info",
    };
    let body = |text: String, format: &str| -> Value {
        let mut body = json!({"title": shorten(&scene.title(), MAX_TITLE), "body": text,
            "type": kind, "format": format});
        for name in ["tag", "urls"] {
            let value = spec.get(name);
            if !value.is_empty() {
                body[name] = json!(value);
            }
        }
        body
    };
    let rich = body(scene.markdown(MAX_BODY), "markdown");
    let plain = body(scene.plain(MAX_BODY), "text");
    Ok(vec![Call::post(url, Role::First, rich).or_plain(plain)])
}

pub(super) fn read(_call: &Call, reply: &Reply) -> Reading {
    let outcome = match reply.status {
        StatusCode::NO_CONTENT => {
            Outcome::failed("204 No Content: nothing is configured under this key")
        }
        status if status.is_success() => delivered(reply),
        _ => failure(reply),
    };
    outcome.into()
}
