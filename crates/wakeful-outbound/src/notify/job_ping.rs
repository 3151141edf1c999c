//! The pings of `wakeful run`: a POST with the end of what a job has printed.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method, StatusCode};
use url::Url;
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::time::Millis;

use super::exchange::{USER_AGENT_VALUE, exchange};
use super::hidden::Hidden;
use crate::net::Net;
use crate::net::http::Request;
use crate::net::tls::Trust;

const MAX_ANSWER_BYTES: usize = 1_024;

/// Why a ping was not accepted.
#[derive(Debug)]
pub struct FailedPing {
    pub why: String,
    /// Whether another attempt may succeed.
    pub may_retry: bool,
}

/// Sends one ping. An error never contains the URL, which is a secret.
pub async fn send_job_ping(
    net: &Net,
    url: Url,
    body: Vec<u8>,
    now: Millis,
) -> Result<(), FailedPing> {
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, HeaderValue::from_static(USER_AGENT_VALUE));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    let (method, body) = (Method::POST, Bytes::from(body));
    let request = Request { method, url, headers, body, trust: Trust::Required };
    match exchange(net, &request, Hidden::default(), MAX_ANSWER_BYTES, now).await {
        Ok(reply) if reply.status.is_success() => Ok(()),
        Ok(reply) => Err(FailedPing {
            why: format!("the server responded with {}", reply.status),
            may_retry: may_retry(reply.status),
        }),
        Err(Outcome::Failed(failure)) => Err(FailedPing { why: failure.answer, may_retry: true }),
        Err(_) => {
            Err(FailedPing { why: "the server could not be reached".to_owned(), may_retry: true })
        }
    }
}

/// A request that the server rejects is rejected again, unless it was too slow or too early.
fn may_retry(status: StatusCode) -> bool {
    let is_temporary = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS];
    !status.is_client_error() || is_temporary.contains(&status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejected_ping_is_not_repeated() {
        for (status, expected) in
            [(301, true), (400, false), (404, false), (408, true), (429, true), (503, true)]
        {
            let status = StatusCode::from_u16(status).expect("a status");
            assert_eq!(may_retry(status), expected, "{status}");
        }
    }
}
