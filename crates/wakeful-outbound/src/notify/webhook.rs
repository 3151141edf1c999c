//! Telling by webhook: one POST, signed as Standard Webhooks has it, bounded in
//! time and answer. Redirects are not followed: an address that moved is told
//! to whoever set it, not chased.

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
use wakeful_core::notice::Notice;
use wakeful_core::notice::retry::{Failure, Outcome};
use wakeful_core::notifier::{Ready, SigningSecret, Template, WebhookSpec};
use wakeful_core::time::Millis;

use super::template::{self, Scene};
use super::tidy;
use crate::net::decode::Encoding;
use crate::net::http::{Keep, Request, Session};
use crate::net::tls::Trust;
use crate::net::trouble::Trouble;
use crate::net::{Deadline, Net, Trace};

/// From the name to a connection that is ready to be spoken on.
const CONNECT: Duration = Duration::from_secs(5);
/// From the name to the end of the answer.
pub const TOTAL: Duration = Duration::from_secs(15);
/// Bytes of an answer that are read.
const READ: usize = 4_096;

/// Sends a notice to its receiver. `link` is the page of the monitor.
pub fn deliver<'a>(
    net: &'a Net,
    hook: &'a WebhookSpec,
    notice: &'a Notice,
    link: &'a str,
    now: Millis,
) -> BoxFuture<'a, Outcome> {
    Box::pin(async move {
        let request = match composed(net, hook, notice, link, now).await {
            Ok(request) => request,
            Err(why) => return Outcome::Refused(why),
        };
        let (connect, total) = (Deadline::within(CONNECT), Deadline::within(TOTAL));
        let mut trace = Trace::default();
        let session =
            connect.limit(Session::open(net, &request, Keep::Close, connect, &mut trace)).await;
        let mut session = match session {
            Some(Ok(session)) => session,
            Some(Err(trouble)) => return Outcome::failed(tidy(trouble.message())),
            None => return silent(&trace.timed_out(connect)),
        };
        match total.limit(exchange(&mut session, &request, &mut trace)).await {
            Some(Ok(reply)) => reply.outcome(now),
            Some(Err(trouble)) => Outcome::failed(tidy(trouble.message())),
            None => silent(&trace.timed_out(total)),
        }
    })
}

fn silent(trouble: &Trouble) -> Outcome {
    let answer = tidy(trouble.message());
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
) -> Result<Reply, Trouble> {
    let head = session.send(request, trace).await?;
    let mut body = Vec::new();
    let encoding = Encoding::of(&head.headers);
    // What was said is said by the status; a body that breaks off changes nothing.
    let _ = session.read(head.body, encoding, READ, &mut body, trace).await;
    let text = tidy(&String::from_utf8_lossy(&body));
    Ok(Reply { status: head.status, headers: head.headers, text })
}

impl Reply {
    fn outcome(self, now: Millis) -> Outcome {
        if self.status.is_success() {
            return Outcome::Delivered(match self.text.is_empty() {
                true => self.status.to_string(),
                false => self.text,
            });
        }
        let told = match self.text.is_empty() {
            true => self.status.to_string(),
            false => tidy(&format!("{}: {}", self.status, self.text)),
        };
        if self.status == StatusCode::GONE {
            return Outcome::Gone(told);
        }
        Outcome::Failed(Failure {
            answer: match self.status.is_redirection() {
                true => format!("{told} (redirects are not followed)"),
                false => told,
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

/// The request, with a template of the user's own rendered aside: that may take a
/// while, and others wait on this thread.
async fn composed(
    net: &Net,
    hook: &WebhookSpec,
    notice: &Notice,
    link: &str,
    now: Millis,
) -> Result<Request, String> {
    if !matches!(hook.template, Template::Own(_)) {
        return request(hook, notice, link, now);
    }
    let (hook, notice, link) = (hook.clone(), notice.clone(), link.to_owned());
    let composing = net.renderers().for_delivery(move || request(&hook, &notice, &link, now));
    composing.await.unwrap_or_else(|| Err("the message could not be composed".to_owned()))
}

fn request(
    hook: &WebhookSpec,
    notice: &Notice,
    link: &str,
    now: Millis,
) -> Result<Request, String> {
    let url = target(hook);
    let body = body(hook, notice, link);
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
    let id = notice.data.eventid.to_string();
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

/// Where it goes: the address as set, but that ntfy takes JSON at its root.
fn target(hook: &WebhookSpec) -> Url {
    let mut url = hook.url.url().clone();
    if hook.template == Template::Ready(Ready::Ntfy) {
        url.set_path("/");
    }
    url
}

/// The shape the receiver wants. When its template fails on this notice it is
/// tried without what the target reported of itself, which may be too much. When
/// that fails, too, the news goes out in our own shape: better an odd message
/// than none.
fn body(hook: &WebhookSpec, notice: &Notice, link: &str) -> String {
    let shaped = |notice: &Notice| shaped(&hook.template, notice, link, Some(hook.url.url()));
    let tried = shaped(notice).or_else(|why| match notice.data.payload {
        None => Err(why),
        Some(_) => shaped(&notice.without_payload()),
    });
    tried.unwrap_or_else(|why| {
        let id = notice.data.eventid;
        tracing::warn!(event.id = %id, "the template for event {id} failed, it goes out in the standard shape: {why}");
        notice.body()
    })
}

/// The notice in the shape of a template.
pub(super) fn shaped(
    template: &Template,
    notice: &Notice,
    link: &str,
    url: Option<&Url>,
) -> Result<String, Invalid> {
    let scene = || Scene::of(notice, link, url);
    match template {
        Template::Standard => Ok(notice.body()),
        Template::Ready(ready) => template::ready(*ready, &scene()),
        Template::Own(own) => template::render(own, &scene()),
    }
}

pub(super) fn content_type(body: &str) -> &'static str {
    match body.trim_start().starts_with(['{', '[']) {
        true => "application/json",
        false => "text/plain; charset=utf-8",
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
    fn a_signature_is_that_of_standard_webhooks() {
        let secret = SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("one");
        let signed =
            sign(&secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, "{\"test\": 2432232314}");
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_receiver_says_in_seconds_or_by_a_date_when_to_come_back() {
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
