//! Sends the requests of a kind of service. What to send and what a response means is decided by
//! pure functions in `kinds/`; this is the only place that acts.

use bytes::Bytes;
use data_encoding::BASE64;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method};
use serde_json::Value;
use std::time::Duration;
use url::Url;
use wakeful_core::notifications::event::Event;
use wakeful_core::notifications::notifier::ServiceSpec;
use wakeful_core::notifications::notifier::service::MASK;
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::exchange::{Reply, USER_AGENT_VALUE, exchange};
use super::scene::{Phase, Scene};
use super::{Attempt, Preview, PreviewRequest, kinds};
use crate::net::Net;
use crate::net::http::Request;
use crate::net::tls::Trust;

/// How long all requests of an attempt may take.
pub const TIMEOUT: Duration = Duration::from_secs(30);
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// A shorter secret would be found in too many texts.
const MIN_MASKED: usize = 5;

/// A request to a service.
pub struct Call {
    pub method: Method,
    pub url: Url,
    /// May contain secrets.
    pub headers: Vec<(HeaderName, String)>,
    pub body: Value,
    pub role: Role,
    /// Sent if the service refuses this one, such as the same in plain text.
    pub instead: Option<Box<Call>>,
    /// A refusal changes nothing.
    pub optional: bool,
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends a message that others can refer to.
    First,
    /// Sends another message.
    Reply,
    /// Changes the first message.
    Edit,
    /// Ends something at the service.
    Close,
}

/// The requests for an event, or why there can be none.
pub type Calls = Result<Vec<Call>, String>;

/// What a response means.
pub struct Reading {
    pub outcome: Outcome,
    /// Where the message is.
    pub thread: Option<Thread>,
    /// A setting that the service wants to be changed.
    pub moved: Option<(&'static str, String)>,
    /// How long nothing else may be sent.
    pub pause: Option<Duration>,
}

impl From<Outcome> for Reading {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, thread: None, moved: None, pause: None }
    }
}

impl Call {
    pub fn post(url: Url, role: Role, body: Value) -> Self {
        Self {
            method: Method::POST,
            url,
            headers: Vec::new(),
            body,
            role,
            instead: None,
            optional: false,
        }
    }

    #[must_use]
    pub fn with(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    #[must_use]
    pub fn bearer(self, token: &str) -> Self {
        self.with(AUTHORIZATION, format!("Bearer {token}"))
    }

    #[must_use]
    pub fn basic(self, username: &str, password: &str) -> Self {
        let pair = BASE64.encode(format!("{username}:{password}").as_bytes());
        self.with(AUTHORIZATION, format!("Basic {pair}"))
    }

    /// Another request to send if this one and those before are refused.
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        self.instead = Some(Box::new(match self.instead.take() {
            Some(next) => next.or(other),
            None => other,
        }));
        self
    }

    /// The same request with a body without markup.
    #[must_use]
    pub fn or_plain(self, body: Value) -> Self {
        let plain = Self {
            method: self.method.clone(),
            url: self.url.clone(),
            headers: self.headers.clone(),
            body,
            instead: None,
            ..self
        };
        self.or(plain)
    }

    #[must_use]
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    fn request(&self) -> Result<Request, String> {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, HeaderValue::from_static(USER_AGENT_VALUE));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in &self.headers {
            let mut value = HeaderValue::try_from(value.as_str())
                .map_err(|_| format!("the header {name} cannot be sent"))?;
            value.set_sensitive(true);
            headers.insert(name.clone(), value);
        }
        let body = Bytes::from(self.body.to_string());
        let (method, url) = (self.method.clone(), self.url.clone());
        Ok(Request { method, url, headers, body, trust: Trust::Required })
    }
}

/// Sends an event to a service. `thread` is where the first message about its alert is.
pub async fn deliver(
    net: &Net,
    spec: &ServiceSpec,
    event: &Event,
    link: &str,
    thread: Option<&Thread>,
    now: Millis,
) -> Attempt {
    let scene = Scene::of(event, link);
    let sending = async {
        let attempt = send(net, spec, &scene, thread, now).await;
        let is_sent = matches!(attempt.outcome, Outcome::Delivered(_));
        if scene.phase != Phase::Test || !is_sent {
            return attempt;
        }
        let closed = send(net, spec, &scene.closing(), attempt.thread.as_ref(), now).await;
        match closed.outcome {
            Outcome::Delivered(_) => attempt,
            _ => closed,
        }
    };
    match tokio::time::timeout(TIMEOUT, sending).await {
        Ok(attempt) => attempt,
        Err(_) => Outcome::failed("the service did not finish in time").into(),
    }
}

/// When the service says that a setting has changed, the message is sent again with the new one.
async fn send(
    net: &Net,
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    thread: Option<&Thread>,
    now: Millis,
) -> Attempt {
    let (first, moved) = run(net, spec, scene, thread, now).await;
    let Some((name, value)) = moved else { return first };
    let spec = spec.clone().with(name, &value);
    let (second, _) = run(net, &spec, scene, None, now).await;
    Attempt { moved: Some(spec), ..second }
}

async fn run(
    net: &Net,
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    thread: Option<&Thread>,
    now: Millis,
) -> (Attempt, Option<(&'static str, String)>) {
    let calls = match kinds::calls(spec, scene, thread, now) {
        Ok(calls) => calls,
        Err(why) => return (Outcome::Refused(why).into(), None),
    };
    let mut done = Attempt::from(Outcome::Delivered(NOTHING_TO_SEND.to_owned()));
    for call in calls {
        let mut next = Some(call);
        while let Some(mut call) = next.take() {
            let reading = match exchange_call(net, &call, now).await {
                Ok(reply) => kinds::read(spec.kind(), &call, &reply),
                Err(outcome) => outcome.into(),
            };
            let secrets = spec.secrets().map(|(_, secret)| secret.expose());
            let outcome = without_secrets(reading.outcome, secrets);
            match outcome {
                Outcome::Delivered(_) => {
                    done.outcome = outcome;
                    done.thread = reading.thread.or(done.thread);
                    done.pause = reading.pause.or(done.pause);
                }
                Outcome::Refused(_) if call.instead.is_some() => {
                    next = call.instead.take().map(|other| *other);
                }
                Outcome::Refused(_) if call.optional => {}
                _ => return (outcome.into(), reading.moved),
            }
        }
    }
    (done, None)
}

const NOTHING_TO_SEND: &str = "nothing to send: the service does this on its own";

async fn exchange_call(net: &Net, call: &Call, now: Millis) -> Result<Reply, Outcome> {
    let request = call.request().map_err(Outcome::Refused)?;
    exchange(net, &request, MAX_ANSWER_BYTES, now).await
}

/// A service may repeat what it was sent, and its response is shown and stored.
pub(super) fn without_secrets<'a>(
    outcome: Outcome,
    secrets: impl Iterator<Item = &'a str>,
) -> Outcome {
    let parts = secrets.flat_map(hidden_parts).filter(|part| part.len() >= MIN_MASKED);
    let parts: Vec<String> = parts.collect();
    let hide = |text: String| parts.iter().fold(text, |text, part| text.replace(part, MASK));
    match outcome {
        Outcome::Delivered(text) => Outcome::Delivered(hide(text)),
        Outcome::Refused(text) => Outcome::Refused(hide(text)),
        Outcome::Gone(text) => Outcome::Gone(hide(text)),
        Outcome::Failed(mut failure) => {
            failure.answer = hide(failure.answer);
            Outcome::Failed(failure)
        }
        Outcome::Partial { answer, left, retry_after } => {
            Outcome::Partial { answer: hide(answer), left, retry_after }
        }
    }
}

/// The secret, and for a URL its path, query and last part.
fn hidden_parts(secret: &str) -> Vec<String> {
    let mut parts = vec![secret.to_owned()];
    if let Ok(url) = Url::parse(secret) {
        parts.push(url[url::Position::BeforePath..].to_owned());
        parts.extend(url.query().map(str::to_owned));
        parts.extend(url.path_segments().into_iter().flatten().next_back().map(str::to_owned));
    }
    parts
}

/// The requests for an event, without their secrets.
pub fn preview(
    spec: &ServiceSpec,
    event: &Event,
    link: &str,
    now: Millis,
) -> Result<Preview, String> {
    let calls = kinds::calls(&spec.masked(), &Scene::of(event, link), None, now)?;
    let requests: Vec<PreviewRequest> = calls
        .into_iter()
        .map(|call| PreviewRequest {
            method: call.method.to_string(),
            url: call.url.to_string(),
            headers: std::iter::once((CONTENT_TYPE.as_str(), "application/json"))
                .chain(call.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            body: format!("{:#}", call.body),
        })
        .collect();
    let body = requests.first().map(|first| first.body.clone());
    Ok(Preview {
        subject: None,
        content_type: "application/json",
        body: body.unwrap_or_else(|| NOTHING_TO_SEND.to_owned()),
        html: None,
        requests,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_secret_url_are_secret_too() {
        let parts = hidden_parts("https://hooks.example.com/services/T0/B0/hunter2?key=swordfish");
        assert!(parts.contains(&"/services/T0/B0/hunter2?key=swordfish".to_owned()), "{parts:?}");
        assert!(
            parts.contains(&"hunter2".to_owned()) && parts.contains(&"key=swordfish".to_owned())
        );
    }
}
