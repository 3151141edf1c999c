//! A signed POST: Standard Webhooks, bounded in time and response size. Redirects are not
//! followed: a URL that has moved is reported to the user.

use bytes::Bytes;
use data_encoding::BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, Method, StatusCode};
use sha2::Sha256;
use std::time::Duration;
use url::Url;
use wakeful_core::monitors::spec::Headers;
use wakeful_core::notifications::notifier::SigningSecret;
use wakeful_core::notifications::retry::{Failure, Outcome};
use wakeful_core::time::Millis;

use super::sanitize;
use crate::net::decode::Encoding;
use crate::net::error::ProbeError;
use crate::net::http::{ConnectionMode, Request, Session};
use crate::net::tls::Trust;
use crate::net::{Deadline, Net, Trace};

/// From name resolution to a connection that is ready to use.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// From name resolution to the end of the response.
pub const TIMEOUT: Duration = Duration::from_secs(15);
/// Bytes of a response that are read.
const MAX_ANSWER_BYTES: usize = 4_096;

/// A message to a webhook.
pub struct SignedPost<'a> {
    pub url: Url,
    /// The user's own headers.
    pub headers: &'a Headers,
    /// The same for each attempt to send this message.
    pub id: String,
    pub body: String,
    /// Each of them signs.
    pub secrets: Vec<&'a SigningSecret>,
}

/// A message that is ready to be sent.
pub struct PreparedPost(Request);

impl SignedPost<'_> {
    /// Fails if a header cannot be sent.
    pub fn prepare(self, now: Millis) -> Result<PreparedPost, String> {
        let Self { url, headers: own, id, body, secrets } = self;
        let mut headers = HeaderMap::new();
        let agent = concat!("Wakeful/", env!("CARGO_PKG_VERSION"));
        headers.insert(USER_AGENT, HeaderValue::from_static(agent));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(&body)));
        let wrong = |name: &str| format!("the header {name} cannot be sent");
        for (name, value) in own.iter() {
            let header = HeaderName::try_from(name).map_err(|_| wrong(name))?;
            headers.insert(header, HeaderValue::try_from(value).map_err(|_| wrong(name))?);
        }
        let seconds = now.0.div_euclid(1_000);
        let signatures: Vec<String> =
            secrets.into_iter().map(|key| sign(key, &id, seconds, &body)).collect();
        for (name, value) in [
            ("webhook-id", id),
            ("webhook-timestamp", seconds.to_string()),
            ("webhook-signature", signatures.join(" ")),
        ] {
            let value = HeaderValue::try_from(value).map_err(|_| wrong(name))?;
            headers.insert(HeaderName::from_static(name), value);
        }
        let body = Bytes::from(body);
        let method = Method::POST;
        Ok(PreparedPost(Request { method, url, headers, body, trust: Trust::Required }))
    }
}

impl PreparedPost {
    pub async fn send(self, net: &Net, now: Millis) -> Outcome {
        let Self(request) = self;
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
    }
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

pub(super) fn content_type(body: &str) -> &'static str {
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
