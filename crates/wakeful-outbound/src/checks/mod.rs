//! One check of a target: one file per type of monitor. A check ends by its
//! deadline with an observation, or with the fault that prevented it.

mod dns;
mod http;
mod keyword;
mod ntlm;
pub(crate) mod ping;
mod tcp;

use futures_util::future::BoxFuture;
use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::id::TeamId;
use wakeful_core::monitors::spec::Spec;
use wakeful_core::observation::{Evidence, Fault, FaultKind, Observation};

use crate::net::error::ProbeError;
use crate::net::{Deadline, Net, Trace};

/// How much of a body is read: enough for a page, and more for keywords.
const MAX_HTTP_BODY: usize = 1 << 20;
const MAX_KEYWORD_BODY: usize = 10 << 20;

const MAX_MESSAGE_LENGTH: usize = 500;

/// Runs one check for a team. The future may be dropped at any time.
pub async fn check(
    net: &Net,
    team: TeamId,
    spec: &Spec,
    deadline: Deadline,
) -> Result<Observation, Fault> {
    // Only keywords are searched in decoded content.
    let share = matches!(spec, Spec::HttpKeyword(_)).then(|| net.decode_share(team));
    let mut trace = Trace { decode_share: share.clone(), ..Trace::default() };
    let began = Instant::now();
    let work = dispatch(net, spec, deadline, &mut trace);
    let checked = match &share {
        Some(share) => share.limit(deadline, work).await,
        None => deadline.limit(work).await,
    };
    let waited = share.map_or(Duration::ZERO, |share| share.waited());
    match checked.unwrap_or_else(|| Err(trace.timed_out(deadline))) {
        Ok(answer) => Ok(answer.observe(began.elapsed().saturating_sub(waited), trace)),
        Err(ProbeError::Down(evidence, message)) => {
            Ok(Observation::down(evidence, shortened(&message))
                .with_phases(trace.phases)
                .with_certificate(trace.certificate))
        }
        Err(ProbeError::Fault(fault)) => Err(Fault::new(fault.kind, shortened(&fault.message))),
    }
}

/// Boxed, because otherwise each check would take the space of the largest one.
fn dispatch<'a>(
    net: &'a Net,
    spec: &'a Spec,
    deadline: Deadline,
    trace: &'a mut Trace,
) -> BoxFuture<'a, Result<TargetAnswer, ProbeError>> {
    match spec {
        Spec::Http(http) => Box::pin(http::check(net, http, MAX_HTTP_BODY, deadline, trace)),
        Spec::HttpKeyword(http) => {
            Box::pin(http::check(net, http, MAX_KEYWORD_BODY, deadline, trace))
        }
        Spec::Dns(dns) => Box::pin(dns::check(net, dns, deadline, trace)),
        Spec::Ping(ping) => Box::pin(ping::check(net, ping, deadline, trace)),
        Spec::Tcp(tcp) => Box::pin(tcp::check(net, tcp, deadline, trace)),
        Spec::Group(_) => Box::pin(std::future::ready(Err(ProbeError::fault(
            FaultKind::Config,
            "groups are not checked: their status follows from that of their members",
        )))),
        Spec::Api(_) => Box::pin(std::future::ready(Err(ProbeError::fault(
            FaultKind::Config,
            "api monitors are not checked: their target pushes its status",
        )))),
    }
}

/// The response of a target, right or wrong.
struct TargetAnswer {
    up: bool,
    message: String,
    /// Set when the check has a better measure than its whole duration.
    load_time: Option<Duration>,
}

impl TargetAnswer {
    fn up(message: impl Into<String>) -> Self {
        Self { up: true, message: message.into(), load_time: None }
    }

    fn down(message: impl Into<String>) -> Self {
        Self { up: false, message: message.into(), load_time: None }
    }

    fn observe(self, took: Duration, trace: Trace) -> Observation {
        let load_time = self.load_time.unwrap_or(took);
        let message = shortened(&self.message);
        let observed = if self.up {
            Observation::up(load_time, message)
        } else {
            Observation::down(Evidence::Answered, message).with_load_time(load_time)
        };
        observed.with_phases(trace.phases).with_certificate(trace.certificate)
    }
}

fn shortened(message: &str) -> &str {
    match message.char_indices().nth(MAX_MESSAGE_LENGTH) {
        Some((end, _)) => &message[..end],
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_truncated_between_characters() {
        assert_eq!(shortened("200 OK"), "200 OK");
        assert_eq!(shortened(&"é".repeat(900)).chars().count(), MAX_MESSAGE_LENGTH);
    }
}
