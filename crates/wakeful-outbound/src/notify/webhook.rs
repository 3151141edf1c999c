//! Notification by webhook: one POST, signed as Standard Webhooks specifies,
//! bounded in time and response size. Redirects are not followed: a URL that
//! has moved is reported to the user.

use bytes::Bytes;
use data_encoding::BASE64;
use futures_util::future::BoxFuture;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, Method, StatusCode};
use sha2::Sha256;
use std::time::Duration;
use url::Url;
use wakeful_core::Invalid;
use wakeful_core::id::TeamId;
use wakeful_core::notifications::event::Event;
use wakeful_core::notifications::notifier::{SigningSecret, Template, WebhookSpec};
use wakeful_core::notifications::retry::{Failure, Outcome};
use wakeful_core::time::Millis;

use super::template::{self, TemplateContext};
use super::{Preview, Validated, sanitize};
use crate::net::decode::Encoding;
use crate::net::error::ProbeError;
use crate::net::guard::Guard;
use crate::net::http::{ConnectionMode, Request, Session};
use crate::net::tls::Trust;
use crate::net::{Deadline, Net, Trace};

/// From name resolution to a connection that is ready to use.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// From name resolution to the end of the response.
pub const TIMEOUT: Duration = Duration::from_secs(15);
/// Bytes of a response that are read.
const MAX_ANSWER_BYTES: usize = 4_096;

/// Sends an event to its receiver. `link` is the page of the monitor.
pub fn deliver<'a>(
    net: &'a Net,
    team: TeamId,
    hook: &'a WebhookSpec,
    event: &'a Event,
    link: &'a str,
    now: Millis,
) -> BoxFuture<'a, Outcome> {
    Box::pin(async move {
        let request = match composed(net, team, hook, event, link, now).await {
            Ok(request) => request,
            Err(why) => return Outcome::Refused(why),
        };
        let (connect, total) = (Deadline::within(CONNECT_TIMEOUT), Deadline::within(TIMEOUT));
        let mut trace = Trace::default();
        let session = connect
            .limit(Session::open(net, &request, ConnectionMode::Close, connect, &mut trace))
            .await;
        let mut session = match session {
            Some(Ok(session)) => session,
            Some(Err(failure)) => return Outcome::failed(sanitize(failure.message())),
            None => return timed_out_outcome(&trace.timed_out(connect)),
        };
        match total.limit(exchange(&mut session, &request, &mut trace)).await {
            Some(Ok(reply)) => reply.outcome(now),
            Some(Err(failure)) => Outcome::failed(sanitize(failure.message())),
            None => timed_out_outcome(&trace.timed_out(total)),
        }
    })
}

pub(super) fn validate(guard: &Guard, hook: &WebhookSpec) -> Validated {
    vec![("webhook.url", guard.validate_url(&hook.url))]
}

/// The body; `url` is its target, if known yet.
pub(super) fn preview(
    template: &Template,
    event: &Event,
    link: &str,
    url: Option<&Url>,
) -> Result<Preview, Invalid> {
    let body = render_body(template, event, link, url)?;
    Ok(Preview { subject: None, content_type: content_type(&body), body, html: None })
}

fn timed_out_outcome(failure: &ProbeError) -> Outcome {
    let answer = sanitize(failure.message());
    Outcome::Failed(Failure { answer, retry_after: None, overloaded: true })
}

struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

async fn exchange(
    session: &mut Session,
    request: &Request,
    trace: &mut Trace,
) -> Result<Reply, ProbeError> {
    let head = session.send(request, trace).await?;
    let mut body = Vec::new();
    let encoding = Encoding::of(&head.headers);
    // The status decides; an incomplete body changes nothing.
    let _ = session.read(head.body, encoding, MAX_ANSWER_BYTES, &mut body, trace).await;
    let text = sanitize(&String::from_utf8_lossy(&body));
    Ok(Reply { status: head.status, headers: head.headers, text })
}

impl Reply {
    fn outcome(self, now: Millis) -> Outcome {
        if self.status.is_success() {
            return Outcome::Delivered(if self.text.is_empty() {
                self.status.to_string()
            } else {
                self.text
            });
        }
        let answer = if self.text.is_empty() {
            self.status.to_string()
        } else {
            sanitize(&format!("{}: {}", self.status, self.text))
        };
        if self.status == StatusCode::GONE {
            return Outcome::Gone(answer);
        }
        Outcome::Failed(Failure {
            answer: if self.status.is_redirection() {
                format!("{answer} (redirects are not followed)")
            } else {
                answer
            },
            retry_after: retry_after(&self.headers, now),
            overloaded: self.status == StatusCode::TOO_MANY_REQUESTS,
        })
    }
}

/// RFC 9110, section 10.2.3: seconds, or a date.
fn retry_after(headers: &HeaderMap, now: Millis) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?;
    Some(Millis(date.timestamp().as_millisecond()).since(now))
}

/// The request, with a custom template rendered on another thread: that may
/// take a while, and others wait on this one.
async fn composed(
    net: &Net,
    team: TeamId,
    hook: &WebhookSpec,
    event: &Event,
    link: &str,
    now: Millis,
) -> Result<Request, String> {
    if !matches!(hook.template, Template::Custom(_)) {
        return request(hook, event, link, now);
    }
    let (hook, event, link) = (hook.clone(), event.clone(), link.to_owned());
    let composing = net.renderers().render(team, move || request(&hook, &event, &link, now));
    composing.await.unwrap_or_else(|| Err("the message could not be composed".to_owned()))
}

fn request(hook: &WebhookSpec, event: &Event, link: &str, now: Millis) -> Result<Request, String> {
    let url = target(hook);
    let body = body(hook, event, link);
    let kind = content_type(&body);
    let mut headers = HeaderMap::new();
    let agent = concat!("Wakeful/", env!("CARGO_PKG_VERSION"));
    headers.insert(USER_AGENT, HeaderValue::from_static(agent));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    let wrong = |name: &str| format!("the header {name} cannot be sent");
    for (name, value) in hook.headers.iter() {
        let header = HeaderName::try_from(name).map_err(|_| wrong(name))?;
        headers.insert(header, HeaderValue::try_from(value).map_err(|_| wrong(name))?);
    }
    let id = event.data.eventid.to_string();
    let seconds = now.0.div_euclid(1_000);
    let signatures: Vec<String> =
        hook.keys.signing(now).map(|key| sign(key, &id, seconds, &body)).collect();
    for (name, value) in [
        ("webhook-id", id),
        ("webhook-timestamp", seconds.to_string()),
        ("webhook-signature", signatures.join(" ")),
    ] {
        let value = HeaderValue::try_from(value).map_err(|_| wrong(name))?;
        headers.insert(HeaderName::from_static(name), value);
    }
    Ok(Request {
        method: Method::POST,
        url,
        headers,
        body: Bytes::from(body),
        trust: Trust::Required,
    })
}

/// The target: the URL as set, unless the receiver expects JSON at its root.
fn target(hook: &WebhookSpec) -> Url {
    let mut url = hook.url.url().clone();
    if let Template::Builtin(builtin) = &hook.template
        && builtin.posts_to_root()
    {
        url.set_path("/");
    }
    url
}

/// The body in the receiver's format. When its template fails for this event,
/// it is tried without the payload of the target, which may be too large. When
/// that fails, too, the event is sent in our own format: better an odd message
/// than none.
fn body(hook: &WebhookSpec, event: &Event, link: &str) -> String {
    let render_body =
        |event: &Event| render_body(&hook.template, event, link, Some(hook.url.url()));
    let tried = render_body(event).or_else(|why| match event.data.payload {
        None => Err(why),
        Some(_) => render_body(&event.without_payload()),
    });
    tried.unwrap_or_else(|why| {
        let id = event.data.eventid;
        tracing::warn!(event.id = %id, "rendering the template for event {id} failed, using the standard format: {why}");
        event.body()
    })
}

/// The event in the format of a template.
fn render_body(
    template: &Template,
    event: &Event,
    link: &str,
    url: Option<&Url>,
) -> Result<String, Invalid> {
    let context = || TemplateContext::of(event, link, url);
    match template {
        Template::Standard => Ok(event.body()),
        Template::Builtin(ready) => template::render_for_receiver(*ready, &context()),
        Template::Custom(own) => template::render(own, &context()),
    }
}

fn content_type(body: &str) -> &'static str {
    if body.trim_start().starts_with(['{', '[']) {
        "application/json"
    } else {
        "text/plain; charset=utf-8"
    }
}

/// One signature of Standard Webhooks 1.0.
fn sign(secret: &SigningSecret, id: &str, seconds: i64, body: &str) -> String {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(&secret.key()).expect("HMAC takes a key of any length");
    mac.update(format!("{id}.{seconds}.{body}").as_bytes());
    format!("v1,{}", BASE64.encode(&mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification's own libraries.
    #[test]
    fn a_signature_conforms_to_standard_webhooks() {
        let secret = SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("one");
        let signed =
            sign(&secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, "{\"test\": 2432232314}");
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn retry_after_is_parsed_as_seconds_or_as_a_date() {
        let after = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(text));
            retry_after(&headers, Millis(1_794_735_000_000)).map(|span| span.as_secs())
        };
        assert_eq!(after("120"), Some(120));
        assert_eq!(after("Sun, 15 Nov 2026 09:32:00 GMT"), Some(120));
        assert_eq!(after("Sun, 15 Nov 2026 09:00:00 GMT"), Some(0));
        assert_eq!(after("soon"), None);
        assert_eq!(after("-1"), None);
    }
}
