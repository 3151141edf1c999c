//! One request to a receiver and its response, bounded in time and size. Redirects are not
//! followed: a URL that has moved is reported to the user.

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use std::time::Duration;
use wakeful_core::monitors::spec::HttpVersion;
use wakeful_core::notifications::retry::{Failure, Outcome};
use wakeful_core::time::Millis;

use super::hidden::Hidden;
use super::sanitize;
use crate::net::decode::Encoding;
use crate::net::error::ProbeError;
use crate::net::http::{ConnectionMode, Request, Session};
use crate::net::{Deadline, Net, Trace};

/// From name resolution to a connection that is ready to use.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// From name resolution to the end of the response.
pub const TIMEOUT: Duration = Duration::from_secs(15);
pub(super) const USER_AGENT_VALUE: &str = concat!("Wakeful/", env!("CARGO_PKG_VERSION"));

/// A receiver's response.
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The beginning, up to the limit of the caller.
    pub body: Vec<u8>,
    /// When it arrived.
    pub now: Millis,
    /// What it must not be shown with.
    pub hidden: Hidden,
}

/// Sends a request; without a response, the outcome is a failure that is retried.
pub(super) async fn exchange(
    net: &Net,
    request: &Request,
    hidden: Hidden,
    max_bytes: usize,
    now: Millis,
) -> Result<Reply, Outcome> {
    let (connect, total) = (Deadline::within(CONNECT_TIMEOUT), Deadline::within(TIMEOUT));
    let (mut trace, keep) = (Trace::default(), ConnectionMode::Close);
    let session = connect
        .limit(Session::open(net, request, keep, HttpVersion::Auto, connect, &mut trace))
        .await;
    let mut session = match session {
        Some(Ok(session)) => session,
        Some(Err(failure)) => return Err(Outcome::failed(sanitize(failure.message()))),
        None => return Err(timed_out_outcome(&trace.timed_out(connect))),
    };
    let work = async {
        let head = session.send(request, &mut trace).await?;
        let mut body = Vec::new();
        let encoding = Encoding::of(&head.headers);
        // The status decides; an incomplete body changes nothing.
        let _ = session.read(head.body, encoding, max_bytes, &mut body, &mut trace).await;
        Ok::<_, ProbeError>(Reply { status: head.status, headers: head.headers, body, now, hidden })
    };
    match total.limit(work).await {
        Some(Ok(reply)) => Ok(reply),
        Some(Err(failure)) => Err(Outcome::failed(sanitize(failure.message()))),
        None => Err(timed_out_outcome(&trace.timed_out(total))),
    }
}

fn timed_out_outcome(failure: &ProbeError) -> Outcome {
    let answer = sanitize(failure.message());
    Outcome::Failed(Failure { answer, overloaded: true, ..Failure::default() })
}

impl Reply {
    /// The body without what is hidden.
    pub fn text(&self) -> String {
        self.hidden.hide(&String::from_utf8_lossy(&self.body))
    }

    /// The status and the beginning of the text, to be shown.
    pub fn answer(&self) -> String {
        let text = sanitize(&self.text());
        let answer = if text.is_empty() {
            self.status.to_string()
        } else {
            sanitize(&format!("{}: {text}", self.status))
        };
        if self.status.is_redirection() {
            format!("{answer} (redirects are not followed)")
        } else {
            answer
        }
    }

    /// RFC 9110, section 10.2.3: seconds, or a date.
    pub fn retry_after(&self) -> Option<Duration> {
        let text = self.header(RETRY_AFTER.as_str())?;
        if let Ok(seconds) = text.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let date = jiff::fmt::rfc2822::parse(text).ok()?;
        Some(Millis(date.timestamp().as_millisecond()).since(self.now))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok().map(str::trim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::HeaderValue;

    #[test]
    fn retry_after_is_parsed_as_seconds_or_as_a_date() {
        let after = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(text));
            let now = Millis(1_794_735_000_000);
            let (body, hidden) = (Vec::new(), Hidden::default());
            let reply = Reply { status: StatusCode::OK, headers, body, now, hidden };
            reply.retry_after().map(|span| span.as_secs())
        };
        assert_eq!(after("120"), Some(120));
        assert_eq!(after("Sun, 15 Nov 2026 09:32:00 GMT"), Some(120));
        assert_eq!(after("Sun, 15 Nov 2026 09:00:00 GMT"), Some(0));
        assert_eq!(after("soon"), None);
        assert_eq!(after("-1"), None);
    }
}
