//! The kinds of services. Each has two pure functions: `calls`, the requests for an event, and
//! `read`, what a response means. They are listed here, and what they share is here too.

pub mod alertmanager;
mod apprise;
mod discord;
mod google_chat;
mod gotify;
mod matrix;
mod mattermost;
mod ntfy;
mod opsgenie;
mod pagerduty;
mod pushover;
mod signal;
mod slack;
mod teams;
mod telegram;
mod twilio;

use http::StatusCode;
use serde_json::Value;
use std::time::Duration;
use url::Url;
use wakeful_core::notifications::notifier::{Kind, ServiceSpec};
use wakeful_core::notifications::retry::{Failure, Outcome};
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::call::{Call, Calls, Reading};
use super::exchange::Reply;
use super::scene::Scene;

/// The two functions of a kind.
struct Functions {
    calls: fn(&ServiceSpec, &Scene<'_>, Option<&Thread>, Millis) -> Calls,
    read: fn(&Call, &Reply) -> Reading,
}

fn functions(kind: Kind) -> Option<Functions> {
    Some(match kind {
        // They are not requests to a known service.
        Kind::Email | Kind::Webhook | Kind::Account | Kind::Webpush => return None,
        Kind::Slack => Functions { calls: slack::calls, read: slack::read },
        Kind::Discord => Functions { calls: discord::calls, read: discord::read },
        Kind::Telegram => Functions { calls: telegram::calls, read: telegram::read },
        Kind::Teams => Functions { calls: teams::calls, read: teams::read },
        Kind::Ntfy => Functions { calls: ntfy::calls, read: ntfy::read },
        Kind::Pushover => Functions { calls: pushover::calls, read: pushover::read },
        Kind::Gotify => Functions { calls: gotify::calls, read: gotify::read },
        Kind::Pagerduty => Functions { calls: pagerduty::calls, read: pagerduty::read },
        Kind::GoogleChat => Functions { calls: google_chat::calls, read: google_chat::read },
        Kind::Mattermost => Functions { calls: mattermost::calls, read: mattermost::read },
        Kind::Matrix => Functions { calls: matrix::calls, read: matrix::read },
        Kind::Opsgenie => Functions { calls: opsgenie::calls, read: opsgenie::read },
        Kind::Apprise => Functions { calls: apprise::calls, read: apprise::read },
        Kind::Twilio => Functions { calls: twilio::calls, read: twilio::read },
        Kind::Signal => Functions { calls: signal::calls, read: signal::read },
        Kind::Alertmanager => Functions { calls: alertmanager::calls, read: alertmanager::read },
    })
}

/// The requests for an event.
pub fn calls(spec: &ServiceSpec, scene: &Scene<'_>, thread: Option<&Thread>, now: Millis) -> Calls {
    let functions = functions(spec.kind()).ok_or("the type of the notifier sends no requests")?;
    (functions.calls)(spec, scene, thread, now)
}

/// What the response to a request means.
pub fn read(kind: Kind, call: &Call, reply: &Reply) -> Reading {
    let mut reading = match functions(kind) {
        Some(functions) => (functions.read)(call, reply),
        None => Outcome::Refused(reply.answer()).into(),
    };
    // It is stored with the alert, and who runs the server decides how long it is.
    reading.thread = reading.thread.filter(Thread::is_short);
    reading
}

/// The address in a field, with these parts appended to its path.
fn address(spec: &ServiceSpec, field: &str, parts: &[&str]) -> Result<Url, String> {
    let wrong = || format!("{field} is not a URL");
    let mut url = Url::parse(spec.get(field)).map_err(|_| wrong())?;
    if !parts.is_empty() {
        url.path_segments_mut().map_err(|()| wrong())?.pop_if_empty().extend(parts);
    }
    Ok(url)
}

/// How a change of an alert is shown where its first message is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnRecovery {
    Reply,
    Update,
    Both,
}

impl OnRecovery {
    fn of(spec: &ServiceSpec) -> Self {
        match spec.get("on_recovery") {
            "reply" => Self::Reply,
            "update" => Self::Update,
            _ => Self::Both,
        }
    }

    fn updates(self) -> bool {
        self != Self::Reply
    }

    fn replies(self) -> bool {
        self != Self::Update
    }
}

/// The body of a response, if it is JSON.
fn json(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).unwrap_or_default()
}

/// A service that does not want so many messages, and when it wants the next.
fn limited(reply: &Reply, wait: Option<Duration>) -> Outcome {
    let retry_after = wait.or_else(|| reply.retry_after());
    Outcome::Failed(Failure {
        answer: reply.answer(),
        retry_after,
        overloaded: true,
        ..Failure::default()
    })
}

/// A quota that is used up.
fn quota(reply: &Reply, wait: Duration) -> Outcome {
    let (answer, retry_after) = (reply.answer(), Some(wait));
    Outcome::Failed(Failure { answer, retry_after, overloaded: true, quota: true })
}

/// A response that is not a success and means the same for most services.
fn failure(reply: &Reply) -> Outcome {
    match reply.status {
        StatusCode::TOO_MANY_REQUESTS => limited(reply, None),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => check_token(reply),
        StatusCode::BAD_REQUEST
        | StatusCode::PAYLOAD_TOO_LARGE
        | StatusCode::UNPROCESSABLE_ENTITY => Outcome::Refused(reply.answer()),
        _ => Outcome::Failed(Failure {
            answer: reply.answer(),
            retry_after: reply.retry_after(),
            ..Failure::default()
        }),
    }
}

/// The credentials can be corrected, so that the message is retried.
fn check_token(reply: &Reply) -> Outcome {
    Outcome::failed(format!("{} (check the token)", reply.answer()))
}

/// The same for a URL that is its own credential: without it, nothing can be sent any more.
fn failure_of_url(reply: &Reply) -> Outcome {
    match reply.status {
        StatusCode::NOT_FOUND | StatusCode::GONE => Outcome::Gone(reply.answer()),
        _ => failure(reply),
    }
}

/// The response to a message that has arrived.
fn delivered(reply: &Reply) -> Outcome {
    let text = super::sanitize(&reply.text());
    Outcome::Delivered(if text.is_empty() { reply.status.to_string() } else { text })
}
