//! One look at a target: one file per type of monitor. A check ends by its
//! deadline with what was seen, or with the fault that kept us from looking.

mod dns;
mod find;
mod http;
mod ntlm;
pub(crate) mod ping;
mod tcp;

use futures_util::future::BoxFuture;
use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::monitor::spec::Spec;
use wakeful_core::observation::{Evidence, Fault, FaultKind, Observation};

use crate::net::trouble::Trouble;
use crate::net::{Deadline, Net, Trace};

/// How much of a body is read: all that a page needs, and for keywords more.
const HTTP_BODY: usize = 1 << 20;
const KEYWORD_BODY: usize = 10 << 20;

const LONGEST_MESSAGE: usize = 500;

/// Looks once. The future may be dropped at any time.
pub async fn look(net: &Net, spec: &Spec, by: Deadline) -> Result<Observation, Fault> {
    let mut trace = Trace::default();
    let began = Instant::now();
    let looked = by.limit(dispatch(net, spec, by, &mut trace)).await;
    match looked.unwrap_or_else(|| Err(trace.timed_out(by))) {
        Ok(seen) => Ok(seen.observe(began.elapsed(), trace)),
        Err(Trouble::Down(evidence, message)) => Ok(Observation::down(evidence, brief(&message))
            .with_phases(trace.phases)
            .with_certificate(trace.certificate)),
        Err(Trouble::Ours(fault)) => Err(Fault::new(fault.kind, brief(&fault.message))),
    }
}

/// Boxed, or each check would take and move the space of the largest of them.
fn dispatch<'a>(
    net: &'a Net,
    spec: &'a Spec,
    by: Deadline,
    trace: &'a mut Trace,
) -> BoxFuture<'a, Result<Seen, Trouble>> {
    match spec {
        Spec::Http(http) => Box::pin(http::look(net, http, HTTP_BODY, by, trace)),
        Spec::HttpKeyword(http) => Box::pin(http::look(net, http, KEYWORD_BODY, by, trace)),
        Spec::Dns(dns) => Box::pin(dns::look(net, dns, by, trace)),
        Spec::Ping(ping) => Box::pin(ping::look(net, ping, by, trace)),
        Spec::Tcp(tcp) => Box::pin(tcp::look(net, tcp, by, trace)),
        Spec::Api(_) => Box::pin(std::future::ready(Err(Trouble::ours(
            FaultKind::Config,
            "an api monitor is never called: its target reports by itself",
        )))),
    }
}

/// What a target answered, right or wrong.
struct Seen {
    up: bool,
    message: String,
    /// When the check has a better measure than its whole duration.
    load_time: Option<Duration>,
}

impl Seen {
    fn up(message: impl Into<String>) -> Self {
        Self { up: true, message: message.into(), load_time: None }
    }

    fn down(message: impl Into<String>) -> Self {
        Self { up: false, message: message.into(), load_time: None }
    }

    fn observe(self, took: Duration, trace: Trace) -> Observation {
        let load_time = self.load_time.unwrap_or(took);
        let message = brief(&self.message);
        let observed = match self.up {
            true => Observation::up(load_time, message),
            false => Observation::down(Evidence::Answered, message).with_load_time(load_time),
        };
        observed.with_phases(trace.phases).with_certificate(trace.certificate)
    }
}

fn brief(message: &str) -> &str {
    match message.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => &message[..end],
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_cut_between_characters() {
        assert_eq!(brief("200 OK"), "200 OK");
        assert_eq!(brief(&"é".repeat(900)).chars().count(), LONGEST_MESSAGE);
    }
}
