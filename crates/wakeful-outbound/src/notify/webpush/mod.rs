//! Push messages to the browsers of a user. Each gets its own encrypted copy through the push
//! service of its vendor; the service worker of the web app (`web/src/sw.ts`) shows it. A message
//! with the same `tag` replaces the earlier one.

pub mod ece;
pub mod vapid;

use aws_lc_rs::agreement::{ECDH_P256, PrivateKey};
use bytes::Bytes;
use data_encoding::BASE64URL_NOPAD;
use futures_util::future::join_all;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};
use http::header::{InvalidHeaderValue, USER_AGENT};
use http::{HeaderMap, Method, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::id::PushSubscriptionId;
use wakeful_core::notifications::event::Event;
use wakeful_core::notifications::notifier::{PushReceiver, PushSubscription};
use wakeful_core::notifications::retry::{Failure, Outcome};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use self::vapid::VapidKey;
use super::call::TIMEOUT;
use super::exchange::{Reply, USER_AGENT_VALUE, exchange};
use super::hidden::Hidden;
use super::scene::{Level, Phase, Scene, shorten, shorten_bytes};
use super::{Attempt, Preview};
use crate::net::Net;
use crate::net::http::Request;
use crate::net::tls::Trust;

/// Bytes of a text; push services accept 4,096 bytes after encryption.
const MAX_TEXT: usize = 3_000;
/// Of the text that a push service gets that has refused a longer one.
const MAX_SHORT_TEXT: usize = 1_200;
const MAX_TITLE: usize = 120;
/// How long a push service stores a message for a browser that is not running, in seconds.
const TTL: &str = "86400";
const MAX_ANSWER_BYTES: usize = 4_096;

/// What a user with no browser reads.
pub const NO_BROWSER: &str =
    "no browser receives push messages: turn them on under Settings, My contacts";

/// The browsers that a message is sent to, and how the installation identifies itself.
pub struct Browsers<'a> {
    pub key: &'a VapidKey,
    /// A URI where the operator of a push service reaches ours.
    pub contact: String,
    pub subscriptions: Vec<PushSubscription>,
    /// Whether others have received the message already.
    pub is_retry: bool,
}

/// What push services said about the subscriptions.
#[derive(Clone, Debug, Default)]
pub struct PushReport {
    pub accepted: Vec<PushSubscriptionId>,
    /// The browser no longer receives messages.
    pub gone: Vec<PushSubscriptionId>,
}

/// Sends an event to all browsers at the same time.
pub(super) async fn deliver(
    net: &Net,
    browsers: Option<&Browsers<'_>>,
    event: &Event,
    link: &str,
    now: Millis,
) -> Attempt {
    let Some(browsers) = browsers else {
        return Outcome::failed("the browsers could not be read").into();
    };
    let scene = Scene::of(event, link);
    let sending = browsers.subscriptions.iter().map(|one| async {
        let sending = send(net, browsers, &one.receiver, &scene, now);
        let outcome = tokio::time::timeout(TIMEOUT, sending).await;
        let late = |_| Outcome::failed("the push service did not finish in time");
        (one.id, outcome.unwrap_or_else(late))
    });
    combine(join_all(sending).await, browsers.is_retry)
}

/// The outcome for all browsers: a message that has reached one of them is only retried for those
/// that may receive it later.
fn combine(outcomes: Vec<(PushSubscriptionId, Outcome)>, is_retry: bool) -> Attempt {
    let total = outcomes.len();
    let mut push = PushReport::default();
    let (mut answer, mut refused) = (None, None);
    let mut failed: Vec<(PushSubscriptionId, Failure)> = Vec::new();
    for (id, outcome) in outcomes {
        match outcome {
            Outcome::Delivered(text) | Outcome::Partial { answer: text, .. } => {
                push.accepted.push(id);
                answer = answer.or(Some(text));
            }
            Outcome::Failed(failure) => failed.push((id, failure)),
            Outcome::Refused(why) => refused = refused.or(Some(why)),
            Outcome::Gone(_) => push.gone.push(id),
        }
    }
    let accepted = push.accepted.len();
    let summary = match answer {
        Some(answer) if total == 1 => answer,
        _ => format!("accepted for {accepted} of {total} browsers"),
    };
    let retry_after = failed.iter().filter_map(|(_, failure)| failure.retry_after).max();
    let outcome = if let Some((_, first)) = failed.first() {
        if accepted > 0 || is_retry {
            let answer = format!("{summary}; retrying the others: {}", first.answer);
            let left = failed.iter().map(|(id, _)| id.to_string()).collect();
            Outcome::Partial { answer, left, retry_after }
        } else {
            let overloaded = failed.iter().any(|(_, failure)| failure.overloaded);
            let answer = first.answer.clone();
            Outcome::Failed(Failure { answer, retry_after, overloaded, ..Failure::default() })
        }
    } else if accepted > 0 || is_retry {
        Outcome::Delivered(summary)
    } else {
        Outcome::Refused(refused.unwrap_or_else(|| NO_BROWSER.to_owned()))
    };
    Attempt { push, ..outcome.into() }
}

/// Sends a message to one browser; a shorter one if its push service refuses the first.
async fn send(
    net: &Net,
    browsers: &Browsers<'_>,
    receiver: &PushReceiver,
    scene: &Scene<'_>,
    now: Millis,
) -> Outcome {
    for max in [MAX_TEXT, MAX_SHORT_TEXT] {
        let request = match request(browsers, receiver, scene, max, now) {
            Ok(request) => request,
            Err(why) => return Outcome::Refused(why.to_owned()),
        };
        let hidden = Hidden::of_request(&request, std::iter::once(request.url.as_str()));
        match exchange(net, &request, hidden, MAX_ANSWER_BYTES, now).await {
            Ok(reply) if reply.status == StatusCode::PAYLOAD_TOO_LARGE => {}
            Ok(reply) => return read(&reply),
            Err(outcome) => return outcome,
        }
    }
    Outcome::Refused("the push service refuses the message as too long".to_owned())
}

fn request(
    browsers: &Browsers<'_>,
    receiver: &PushReceiver,
    scene: &Scene<'_>,
    max: usize,
    now: Millis,
) -> Result<Request, &'static str> {
    let url = receiver.endpoint.url().clone();
    let authorization = browsers.key.authorization(&url, &browsers.contact, now);
    let authorization = authorization.ok_or("the message could not be signed")?;
    let text = text(scene, max);
    let body = encrypt(text.as_bytes(), receiver).ok_or("the message could not be encrypted")?;
    let headers = headers(scene, &authorization).map_err(|_| "a header cannot be sent")?;
    Ok(Request { method: Method::POST, url, headers, body, trust: Trust::Required })
}

fn headers(scene: &Scene<'_>, authorization: &str) -> Result<HeaderMap, InvalidHeaderValue> {
    let mut authorization = HeaderValue::try_from(authorization)?;
    authorization.set_sensitive(true);
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, HeaderValue::from_static(USER_AGENT_VALUE));
    headers.insert(AUTHORIZATION, authorization);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("aes128gcm"));
    headers.insert(HeaderName::from_static("ttl"), HeaderValue::from_static(TTL));
    let urgency = HeaderValue::from_static(urgency(scene));
    headers.insert(HeaderName::from_static("urgency"), urgency);
    headers.insert(HeaderName::from_static("topic"), HeaderValue::try_from(topic(scene))?);
    Ok(headers)
}

/// With a key and a salt of its own for each message and browser.
fn encrypt(text: &[u8], receiver: &PushReceiver) -> Option<Bytes> {
    let mut salt = [0; ece::SALT_BYTES];
    getrandom::fill(&mut salt).ok()?;
    let sender = PrivateKey::generate(&ECDH_P256).ok()?;
    ece::encrypt(text, receiver, &sender, salt).ok().map(Bytes::from)
}

fn urgency(scene: &Scene<'_>) -> &'static str {
    match scene.level() {
        Level::Critical => "high",
        Level::Warning | Level::Recovery => "normal",
        Level::Info => "low",
    }
}

/// A push service replaces a message that waits for the browser by a later one on the same topic.
fn topic(scene: &Scene<'_>) -> String {
    let Digest(digest) = Digest::of(&scene.alert());
    BASE64URL_NOPAD.encode(&digest[..24])
}

/// What the service worker gets.
fn message(scene: &Scene<'_>, body: &str) -> Value {
    let mut message = json!({"title": shorten(&scene.title(), MAX_TITLE), "body": body,
        "tag": scene.alert(), "url": scene.link, "silent": scene.is_silent(),
        "urgent": scene.level() == Level::Critical});
    let is_open = matches!(scene.phase, Phase::Opens | Phase::Repeats | Phase::Assigned);
    if let Some(url) = scene.event.data.action_url.as_ref().filter(|_| is_open) {
        message["action"] = json!(url);
    }
    message
}

/// The message as JSON of at most so many bytes.
fn text(scene: &Scene<'_>, max: usize) -> String {
    let facts = scene.facts().into_iter().map(|(name, value)| format!("\n{name}: {value}"));
    let body = shorten(scene.cause(), max) + &facts.collect::<String>();
    let mut room = max.saturating_sub(message(scene, "").to_string().len());
    loop {
        let text = message(scene, &shorten_bytes(&body, room)).to_string();
        // Some characters are twice as long in JSON.
        match text.len().saturating_sub(max) {
            excess if excess > 0 && room > 0 => room = room.saturating_sub(excess.div_ceil(2)),
            _ => return text,
        }
    }
}

fn read(reply: &Reply) -> Outcome {
    let failure = |retry_after: Option<Duration>, overloaded| {
        let answer = reply.answer();
        Outcome::Failed(Failure { answer, retry_after, overloaded, ..Failure::default() })
    };
    match reply.status {
        status if status.is_success() => Outcome::Delivered(status.to_string()),
        StatusCode::NOT_FOUND | StatusCode::GONE => Outcome::Gone(reply.answer()),
        StatusCode::BAD_REQUEST => Outcome::Refused(reply.answer()),
        StatusCode::TOO_MANY_REQUESTS => failure(reply.retry_after(), true),
        _ => failure(reply.retry_after(), false),
    }
}

/// What the service worker of a browser would get.
pub(super) fn preview(event: &Event, link: &str) -> Preview {
    let scene = Scene::of(event, link);
    let text = text(&scene, MAX_TEXT);
    let body = serde_json::from_str(&text).map_or(text, |message: Value| format!("{message:#}"));
    let content_type = "application/json";
    Preview { subject: None, content_type, body, html: None, requests: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeful_core::id::EventId;
    use wakeful_core::notifications::event;

    #[test]
    fn a_text_fits_however_it_is_escaped() {
        let id = EventId::new(Millis(1), [1; 10]);
        let mut event = Event::example(event::DOWN, id, "ops", Millis(1)).expect("an example");
        event.data.cause = Some("\"\\\n\u{7}日本🔥".repeat(2_000));
        for max in [MAX_TEXT, MAX_SHORT_TEXT] {
            let text = text(&Scene::of(&event, "https://wakeful.example/alert/1"), max);
            assert!(text.len() <= max && text.len() > max - 50, "{}", text.len());
            assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_message_is_only_retried_for_browsers_that_may_receive_it_later() {
        let id = |n| PushSubscriptionId::new(Millis(n), [0; 10]);
        let ok = || Outcome::Delivered("201 Created".to_owned());
        let gone = || Outcome::Gone("410 Gone".to_owned());
        let wait = Some(Duration::from_secs(90));
        let limited = || Outcome::Failed(Failure { retry_after: wait, ..Failure::default() });
        let attempt = combine(vec![(id(1), ok()), (id(2), gone()), (id(3), limited())], false);
        let Outcome::Partial { left, retry_after, .. } = attempt.outcome else { panic!() };
        assert_eq!((left, retry_after), (vec![id(3).to_string()], wait));
        assert_eq!((attempt.push.accepted, attempt.push.gone), (vec![id(1)], vec![id(2)]));
        let attempt = combine(vec![(id(2), gone())], false);
        assert_eq!(attempt.outcome, Outcome::Refused(NO_BROWSER.to_owned()));
        // The others have received it.
        let attempt = combine(vec![(id(2), gone())], true);
        assert!(matches!(attempt.outcome, Outcome::Delivered(_)), "{:?}", attempt.outcome);
        let attempt = combine(Vec::new(), true);
        assert!(matches!(attempt.outcome, Outcome::Delivered(_)), "{:?}", attempt.outcome);
    }
}
