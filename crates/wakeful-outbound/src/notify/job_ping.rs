//! The pings of `wakeful run`: a POST with the end of what a job has printed.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method};
use url::Url;
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::time::Millis;

use super::exchange::{USER_AGENT_VALUE, exchange};
use crate::net::Net;
use crate::net::http::Request;
use crate::net::tls::Trust;

const MAX_ANSWER_BYTES: usize = 1_024;

/// Sends one ping. An error never contains the URL, which is a secret.
pub async fn send_job_ping(net: &Net, url: Url, body: Vec<u8>, now: Millis) -> Result<(), String> {
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, HeaderValue::from_static(USER_AGENT_VALUE));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    let (method, body) = (Method::POST, Bytes::from(body));
    let request = Request { method, url, headers, body, trust: Trust::Required };
    match exchange(net, &request, MAX_ANSWER_BYTES, now).await {
        Ok(reply) if reply.status.is_success() => Ok(()),
        Ok(reply) => Err(format!("the server responded with {}", reply.status)),
        Err(Outcome::Failed(failure)) => Err(failure.answer),
        Err(_) => Err("the server could not be reached".to_owned()),
    }
}
