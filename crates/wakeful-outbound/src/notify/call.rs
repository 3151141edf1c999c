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
use wakeful_core::notifications::recipients::{Recipients, RefusedRecipient};
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;

use super::exchange::{Reply, USER_AGENT_VALUE, exchange};
use super::hidden::Hidden;
use super::scene::{Phase, Scene};
use super::{Attempt, Message, Preview, PreviewRequest, kinds};
use crate::net::Net;
use crate::net::http::Request;
use crate::net::tls::Trust;

/// How long all requests of an attempt may take.
pub const TIMEOUT: Duration = Duration::from_secs(30);
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// A request to a service.
pub struct Call {
    pub method: Method,
    pub url: Url,
    /// May contain secrets.
    pub headers: Vec<(HeaderName, String)>,
    pub body: Value,
    pub encoding: Encoding,
    pub role: Role,
    /// The only recipient of this request, if the event is sent to each of several separately.
    pub recipient: Option<String>,
    /// Sent if the service refuses this one, such as the same in plain text.
    pub instead: Option<Box<Call>>,
    /// A refusal changes nothing.
    pub optional: bool,
}

/// How the body of a request is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Json,
    /// The fields of an object, as a browser sends a form.
    Form,
}

impl Encoding {
    fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Form => "application/x-www-form-urlencoded",
        }
    }

    fn write(self, body: &Value) -> String {
        match self {
            Self::Json => body.to_string(),
            Self::Form => {
                let fields = body.as_object().into_iter().flatten();
                let texts = fields.filter_map(|(name, value)| Some((name, value.as_str()?)));
                url::form_urlencoded::Serializer::new(String::new()).extend_pairs(texts).finish()
            }
        }
    }
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
    /// When the message has to be sent again.
    pub keepalive: Option<Duration>,
}

impl From<Outcome> for Reading {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, thread: None, moved: None, pause: None, keepalive: None }
    }
}

impl Call {
    pub fn post(url: Url, role: Role, body: Value) -> Self {
        Self {
            method: Method::POST,
            url,
            headers: Vec::new(),
            body,
            encoding: Encoding::Json,
            role,
            recipient: None,
            instead: None,
            optional: false,
        }
    }

    /// A form; the body has its fields.
    #[must_use]
    pub fn form(mut self) -> Self {
        self.encoding = Encoding::Form;
        self
    }

    #[must_use]
    pub fn to(mut self, recipient: impl Into<String>) -> Self {
        self.recipient = Some(recipient.into());
        self
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
            recipient: self.recipient.clone(),
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
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.encoding.content_type()));
        for (name, value) in &self.headers {
            let mut value = HeaderValue::try_from(value.as_str())
                .map_err(|_| format!("the header {name} cannot be sent"))?;
            value.set_sensitive(true);
            headers.insert(name.clone(), value);
        }
        let body = Bytes::from(self.encoding.write(&self.body));
        let (method, url) = (self.method.clone(), self.url.clone());
        Ok(Request { method, url, headers, body, trust: Trust::Required })
    }
}

/// Sends an event to a service.
pub async fn deliver(net: &Net, spec: &ServiceSpec, message: Message<'_>, now: Millis) -> Attempt {
    let Message { event, link, thread, left, .. } = message;
    let scene = Scene::of(event, link);
    let sending = async {
        let attempt = send(net, spec, &scene, thread, left, now).await;
        let is_sent = matches!(attempt.outcome, Outcome::Delivered(_));
        if scene.phase != Phase::Test || !is_sent {
            return attempt;
        }
        let closed = send(net, spec, &scene.closing(), attempt.thread.as_ref(), None, now).await;
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

/// Sends one request that is not about a single event.
pub async fn send_call(net: &Net, spec: &ServiceSpec, call: Call, now: Millis) -> Outcome {
    match tokio::time::timeout(TIMEOUT, run(net, spec, vec![call], now)).await {
        Ok((attempt, _)) => attempt.outcome,
        Err(_) => Outcome::failed("the service did not finish in time"),
    }
}

/// When the service says that a setting has changed, the message is sent again with the new one.
async fn send(
    net: &Net,
    spec: &ServiceSpec,
    scene: &Scene<'_>,
    thread: Option<&Thread>,
    left: Option<&[String]>,
    now: Millis,
) -> Attempt {
    let calls = match kinds::calls(spec, scene, thread, now) {
        Ok(calls) => calls,
        Err(why) => return Outcome::Refused(why).into(),
    };
    if calls.iter().any(|call| call.recipient.is_some()) {
        return send_to_each(net, spec, calls, left, now).await;
    }
    let (first, moved) = run(net, spec, calls, now).await;
    let Some((name, value)) = moved else { return first };
    let spec = spec.clone().with(name, &value);
    let calls = kinds::calls(&spec, scene, None, now).unwrap_or_default();
    let (second, _) = run(net, &spec, calls, now).await;
    Attempt { moved: Some(spec), ..second }
}

/// Sends to each recipient, or to those that have not received it yet, at the same time: one of
/// them does not keep the others waiting, and each is retried on its own.
async fn send_to_each(
    net: &Net,
    spec: &ServiceSpec,
    calls: Vec<Call>,
    left: Option<&[String]>,
    now: Millis,
) -> Attempt {
    let is_left = |call: &Call| {
        let recipient = call.recipient.as_ref();
        left.is_none_or(|left| recipient.is_some_and(|one| left.contains(one)))
    };
    let sending = calls.into_iter().filter(is_left).map(|call| async {
        let recipient = call.recipient.clone().unwrap_or_default();
        let (attempt, _) = run(net, spec, vec![call], now).await;
        (recipient, attempt.outcome)
    });
    let outcomes = futures_util::future::join_all(sending).await;
    if outcomes.is_empty() {
        return Outcome::Delivered(NOTHING_TO_SEND.to_owned()).into();
    }
    combine(outcomes)
}

/// The outcome of requests to several recipients.
fn combine(outcomes: Vec<(String, Outcome)>) -> Attempt {
    let is_delivered = |outcome: &Outcome| matches!(outcome, Outcome::Delivered(_));
    let refused: Vec<RefusedRecipient> = outcomes
        .iter()
        .filter(|(_, outcome)| !is_delivered(outcome))
        .map(|(recipient, outcome)| RefusedRecipient {
            address: recipient.clone(),
            answer: outcome.answer().to_owned(),
        })
        .collect();
    let left: Vec<String> = outcomes
        .iter()
        .filter(|(_, outcome)| matches!(outcome, Outcome::Failed(_)))
        .map(|(recipient, _)| recipient.clone())
        .collect();
    let recipients = Recipients { total: outcomes.len(), refused };
    let answer = summary(&recipients);
    let has_arrived = recipients.accepted() > 0;
    // What can be retried says how; otherwise the answer of the first recipient is as good.
    let mut rest: Vec<Outcome> = outcomes.into_iter().map(|(_, outcome)| outcome).collect();
    let first_failed = rest.iter().position(|one| matches!(one, Outcome::Failed(_)));
    let outcome = match first_failed {
        _ if has_arrived && left.is_empty() => Outcome::Delivered(answer),
        _ if has_arrived => Outcome::Partial { answer, left, retry_after: None },
        Some(at) => rest.swap_remove(at),
        None => rest.swap_remove(0),
    };
    Attempt { recipients: Some(recipients), ..outcome.into() }
}

/// How many recipients were reached, and why others were not.
fn summary(recipients: &Recipients) -> String {
    let Recipients { total, refused } = recipients;
    let mut text = format!("sent to {} of {total}", recipients.accepted());
    for RefusedRecipient { address, answer } in refused {
        text.push_str(&format!("; {address}: {answer}"));
    }
    super::sanitize(&text)
}

async fn run(
    net: &Net,
    spec: &ServiceSpec,
    calls: Vec<Call>,
    now: Millis,
) -> (Attempt, Option<(&'static str, String)>) {
    let mut done = Attempt::from(Outcome::Delivered(NOTHING_TO_SEND.to_owned()));
    for call in calls {
        let mut next = Some(call);
        while let Some(mut call) = next.take() {
            let reading = match exchange_call(net, spec, &call, now).await {
                Ok(reply) => kinds::read(spec.kind(), &call, &reply),
                Err(outcome) => outcome.into(),
            };
            let outcome = reading.outcome;
            match outcome {
                Outcome::Delivered(_) => {
                    done.outcome = outcome;
                    done.thread = reading.thread.or(done.thread);
                    done.pause = reading.pause.or(done.pause);
                    done.keepalive = reading.keepalive.or(done.keepalive);
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

async fn exchange_call(
    net: &Net,
    spec: &ServiceSpec,
    call: &Call,
    now: Millis,
) -> Result<Reply, Outcome> {
    let request = call.request().map_err(Outcome::Refused)?;
    let hidden = Hidden::of_request(&request, spec.confidential());
    exchange(net, &request, hidden, MAX_ANSWER_BYTES, now).await
}

/// The requests for an event, without their secrets.
pub fn preview(
    spec: &ServiceSpec,
    event: &Event,
    link: &str,
    now: Millis,
) -> Result<Preview, String> {
    let calls = kinds::calls(&spec.masked(), &Scene::of(event, link), None, now)?;
    let first = calls.first().map_or(Encoding::Json, |call| call.encoding);
    let content_type = first.content_type();
    let requests: Vec<PreviewRequest> = calls
        .into_iter()
        .map(|call| PreviewRequest {
            method: call.method.to_string(),
            url: call.url.to_string(),
            headers: std::iter::once((CONTENT_TYPE.as_str(), call.encoding.content_type()))
                .chain(call.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            body: match call.encoding {
                Encoding::Json => format!("{:#}", call.body),
                Encoding::Form => call.encoding.write(&call.body),
            },
        })
        .collect();
    let body = requests.first().map(|first| first.body.clone());
    Ok(Preview {
        subject: None,
        content_type,
        body: body.unwrap_or_else(|| NOTHING_TO_SEND.to_owned()),
        html: None,
        requests,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipients_are_retried_one_by_one() {
        let delivered = || Outcome::Delivered("ok".to_owned());
        let refused = || Outcome::Refused("400: opted out".to_owned());
        let failed = || Outcome::failed("503");
        let combined = |outcomes: &[Outcome]| {
            let name = |at: usize| format!("+{at}");
            let named = outcomes.iter().enumerate().map(|(at, one)| (name(at), one.clone()));
            combine(named.collect())
        };
        let left = |attempt: &Attempt| match &attempt.outcome {
            Outcome::Partial { left, .. } => left.clone(),
            other => panic!("{other:?}"),
        };
        assert!(matches!(combined(&[delivered()]).outcome, Outcome::Delivered(_)));
        assert!(matches!(combined(&[refused(), refused()]).outcome, Outcome::Refused(_)));
        assert!(matches!(combined(&[failed(), failed()]).outcome, Outcome::Failed(_)));
        assert_eq!(left(&combined(&[delivered(), failed(), refused()])), ["+1"]);
        assert!(matches!(combined(&[refused(), failed()]).outcome, Outcome::Failed(_)));
        let some = combined(&[delivered(), refused()]);
        let answer = "sent to 1 of 2; +1: 400: opted out";
        assert_eq!(some.outcome, Outcome::Delivered(answer.to_owned()));
        assert_eq!(some.recipients.expect("known").accepted(), 1);
    }
}
