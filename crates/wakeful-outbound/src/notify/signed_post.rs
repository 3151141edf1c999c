//! A signed POST: Standard Webhooks, bounded in time and response size. Redirects are not
//! followed: a URL that has moved is reported to the user.

use bytes::Bytes;
use data_encoding::BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method, StatusCode};
use sha2::Sha256;
use url::Url;
use wakeful_core::monitors::spec::Headers;
use wakeful_core::notifications::notifier::SigningSecret;
use wakeful_core::notifications::retry::{Failure, Outcome};
use wakeful_core::time::Millis;

use super::exchange::{Reply, USER_AGENT_VALUE, exchange};
use super::hidden::Hidden;
use super::sanitize;
use crate::net::Net;
use crate::net::http::Request;
use crate::net::tls::Trust;

pub use super::exchange::TIMEOUT;

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
        headers.insert(USER_AGENT, HeaderValue::from_static(USER_AGENT_VALUE));
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
        // The URL may be a credential, and so may be the user's own headers.
        let hidden = Hidden::of_request(&request, std::iter::once(request.url.as_str()));
        match exchange(net, &request, hidden, MAX_ANSWER_BYTES, now).await {
            Ok(reply) => outcome(&reply),
            Err(failed) => failed,
        }
    }
}

fn outcome(reply: &Reply) -> Outcome {
    let text = sanitize(&reply.text());
    if reply.status.is_success() {
        return Outcome::Delivered(if text.is_empty() { reply.status.to_string() } else { text });
    }
    let answer = reply.answer();
    if reply.status == StatusCode::GONE {
        return Outcome::Gone(answer);
    }
    Outcome::Failed(Failure {
        answer,
        retry_after: reply.retry_after(),
        overloaded: reply.status == StatusCode::TOO_MANY_REQUESTS,
        ..Failure::default()
    })
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
}
