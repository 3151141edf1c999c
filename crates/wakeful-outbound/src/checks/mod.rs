//! One check of a target: one file per type of monitor. A check ends by its
//! deadline with an observation, or with the fault that prevented it. Assertions
//! are judged here, once for all types, on the facts that the check has found.

mod authenticate;
mod cookies;
mod digest;
mod dns;
mod domain;
mod evidence;
mod facts;
mod families;
pub(crate) mod http;
mod keyword;
mod ntlm;
pub(crate) mod ping;
mod tcp;
mod tls;

use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::assert::{Assertion, Judged, Path, Source};
use wakeful_core::certificate::{Expiry, ExpiryKind};
use wakeful_core::domain::Registration;
use wakeful_core::evidence::EvidenceLevel;
use wakeful_core::heartbeat::Readings;
use wakeful_core::id::TeamId;
use wakeful_core::monitors::spec::{IpFamily, Spec};
use wakeful_core::observation::{Contact, Fault, FaultKind, Observation};
use wakeful_core::reason::Reason;

use crate::net::buffered::MAX_BODY_BYTES;
use crate::net::dial::DialOptions;
use crate::net::error::ProbeError;
use crate::net::{Deadline, Net, Trace};
use dns::DnsFacts;
use facts::CheckFacts;
use ping::PingFacts;

/// How much of a body is read for keywords: more than other checks do.
const MAX_KEYWORD_BODY: usize = 10 << 20;

const MAX_MESSAGE_LENGTH: usize = 500;

/// A check to be run.
#[derive(Clone, Copy, Debug)]
pub struct CheckRequest<'a> {
    pub team: TeamId,
    pub spec: &'a Spec,
    pub assertions: &'a [Assertion],
    pub evidence: EvidenceLevel,
    /// Whether evidence is collected even if the target is healthy.
    pub always: bool,
    /// A check that takes longer is not healthy.
    pub slow: Option<Duration>,
    /// Whether the target is healthy when it is down.
    pub upside_down: bool,
}

impl<'a> CheckRequest<'a> {
    pub fn new(team: TeamId, spec: &'a Spec) -> Self {
        Self {
            team,
            spec,
            assertions: &[],
            evidence: EvidenceLevel::Full,
            always: false,
            slow: None,
            upside_down: false,
        }
    }

    /// Whether evidence is collected of a target that is up, or down.
    fn collects(&self, up: bool) -> bool {
        self.always || up == self.upside_down
    }

    /// Whether a response that is accepted may become evidence.
    fn may_collect_accepted(&self) -> bool {
        self.evidence == EvidenceLevel::Full && (self.upside_down || !self.assertions.is_empty())
    }

    /// Whether an assertion is about one of these.
    fn asserts(&self, sources: &[Source]) -> bool {
        self.assertions.iter().any(|one| sources.contains(&one.source))
    }

    /// Whether the body must be decoded and buffered.
    fn needs_body(&self) -> bool {
        self.asserts(&[Source::Json, Source::BodySize])
            || (self.assertions.iter()).any(|one| one.source == Source::Body && !one.is_searched())
    }

    /// The texts that a body is searched for while it arrives.
    fn searched(&self) -> impl Iterator<Item = &'a str> {
        let searched = self.assertions.iter().filter(|one| one.is_searched());
        searched.map(|one| one.target.as_str())
    }

    /// Whether a document must be parsed into a tree.
    fn needs_tree(&self) -> bool {
        let mut paths = self.assertions.iter().filter(|one| one.source == Source::Json);
        paths.any(|one| Path::parse(&one.property).is_ok_and(|path| path.needs_tree()))
    }
}

/// Runs one check. The future may be dropped at any time.
pub async fn check(
    net: &Net,
    request: &CheckRequest<'_>,
    deadline: Deadline,
) -> Result<Observation, Fault> {
    let family = request.spec.connect().map(|connect| connect.ip_family).unwrap_or_default();
    match family {
        IpFamily::Both => Box::pin(families::check_both(net, request, deadline)).await,
        family => check_over(net, request, family, deadline).await,
    }
}

/// Runs one check over one address family, or any.
async fn check_over(
    net: &Net,
    request: &CheckRequest<'_>,
    family: IpFamily,
    deadline: Deadline,
) -> Result<Observation, Fault> {
    // Only keywords and assertions search in decoded content.
    let decodes = matches!(request.spec, Spec::HttpKeyword(_))
        || request.needs_body()
        || request.searched().next().is_some();
    let share = decodes.then(|| net.decode_share(request.team));
    let dial = DialOptions::of(net, request.spec, family);
    let mut trace = Trace { decode_share: share.clone(), dial, ..Trace::default() };
    let began = Instant::now();
    let work = dispatch(net, request, deadline, &mut trace);
    let checked = match &share {
        Some(share) => share.limit(deadline, work).await,
        None => deadline.limit(work).await,
    };
    let waited = share.as_ref().map_or(Duration::ZERO, |share| share.waited());
    let took = began.elapsed().saturating_sub(waited + trace.aside);
    let mut answer = match checked.unwrap_or_else(|| Err(trace.timed_out(deadline))) {
        Ok(answer) => answer,
        Err(ProbeError::Down(contact, reason, message)) => {
            TargetAnswer { contact, measured: false, ..TargetAnswer::down(reason, message) }
        }
        Err(ProbeError::Fault(fault)) => {
            return Err(Fault::new(fault.kind, shortened(&fault.message)));
        }
    };
    let load_time = answer.load_time.unwrap_or(took);
    let judged = if request.assertions.is_empty() || !answer.measured {
        Judged::default()
    } else {
        let facts = CheckFacts::new(net, &answer, &trace, load_time);
        // Boxed: most checks have no assertions.
        let judging = Box::pin(facts.judge(request, &mut trace));
        // As before, the time that it waits for its turn does not count.
        let judged = match &share {
            Some(share) => share.limit(deadline, judging).await,
            None => deadline.limit(judging).await,
        };
        match judged {
            Some(Ok(judged)) => judged,
            Some(Err(fault)) => return Err(fault),
            None => {
                let message = "the response was not judged in time: Wakeful is busy with others";
                return Err(Fault::new(FaultKind::Resources, message));
            }
        }
    };
    count_failed(request.assertions, &judged);
    answer.apply(&judged);
    Ok(answer.observe(net, request, load_time, trace, judged))
}

fn count_failed(assertions: &[Assertion], judged: &Judged) {
    let failed = judged.results.iter().filter(|result| !result.passed);
    for assertion in failed.filter_map(|result| assertions.get(result.index)) {
        let source = assertion.source.as_str();
        metrics::counter!("wakeful_assertions_failed_total", "source" => source).increment(1);
    }
}

/// Boxed, because otherwise each check would take the space of the largest one.
fn dispatch<'a>(
    net: &'a Net,
    request: &'a CheckRequest<'_>,
    deadline: Deadline,
    trace: &'a mut Trace,
) -> BoxFuture<'a, Result<TargetAnswer, ProbeError>> {
    match request.spec {
        Spec::Http(http) => {
            Box::pin(http::check(net, http, request, MAX_BODY_BYTES, deadline, trace))
        }
        Spec::HttpKeyword(http) => {
            Box::pin(http::check(net, http, request, MAX_KEYWORD_BODY, deadline, trace))
        }
        Spec::Dns(dns) => Box::pin(dns::check(net, dns, request, deadline, trace)),
        Spec::Domain(domain) => Box::pin(domain::check(net, domain, request.team, deadline, trace)),
        Spec::Ping(ping) => Box::pin(ping::check(net, ping, deadline, trace)),
        Spec::Tcp(tcp) => Box::pin(tcp::check(net, tcp, deadline, trace)),
        Spec::Tls(tls) => Box::pin(tls::check(net, tls, deadline, trace)),
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
    /// Why it is down, if it is.
    reason: Option<Reason>,
    contact: Contact,
    message: String,
    /// Set when the check has a better measure than its whole duration.
    load_time: Option<Duration>,
    /// Whether there was a response at all.
    measured: bool,
    dns: Option<Box<DnsFacts>>,
    ping: Option<Box<PingFacts>>,
    domain: Option<Arc<Registration>>,
}

impl TargetAnswer {
    fn up(message: impl Into<String>) -> Self {
        Self {
            reason: None,
            contact: Contact::Answered,
            message: message.into(),
            load_time: None,
            measured: true,
            dns: None,
            ping: None,
            domain: None,
        }
    }

    fn down(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason: Some(reason), ..Self::up(message) }
    }

    /// What expires besides the certificate of the target.
    fn expiry(&self, spec: &Spec) -> Option<Box<Expiry>> {
        if let (Spec::Domain(domain), Some(registration)) = (spec, &self.domain) {
            let (of, name) = (ExpiryKind::Domain, domain.hostname.to_string());
            return registration.expires.map(|not_after| Box::new(Expiry { of, name, not_after }));
        }
        let own = spec.client_certificate()?;
        let (of, name) = (ExpiryKind::ClientCertificate, own.subject.clone());
        Some(Box::new(Expiry { of, name, not_after: own.not_after }))
    }

    /// Takes over what the assertions say, unless the target is down already.
    fn apply(&mut self, judged: &Judged) {
        if self.reason.is_some() {
            return;
        }
        if let Some((reason, message)) = judged.failure() {
            self.reason = Some(reason);
            self.message = message;
        }
    }

    fn observe(
        self,
        net: &Net,
        request: &CheckRequest<'_>,
        load_time: Duration,
        mut trace: Trace,
        judged: Judged,
    ) -> Observation {
        let message = shortened(&self.message);
        let mut observed = match self.reason {
            None => Observation::up(load_time, message),
            Some(reason) if self.measured => {
                Observation::down(self.contact, reason, message).with_load_time(load_time)
            }
            Some(reason) => Observation::down(self.contact, reason, message),
        };
        if observed.up {
            observed.warnings = judged.warnings();
            observed.fingerprints = judged.fingerprints();
        }
        observed.expiry = self.expiry(request.spec);
        observed.readings = judged.readings();
        // What is charted is not found if no echo returned.
        let charts_other =
            request.assertions.iter().any(|one| one.chart && one.source != Source::Loss);
        if let Some(ping) = self.ping.filter(|_| observed.readings.is_empty() && !charts_other) {
            observed.readings = Readings::of([Some(ping.loss), ping.jitter()]);
        }
        let is_slow = request.slow.is_some_and(|limit| load_time > limit);
        let is_unhealthy = !observed.warnings.is_empty() || is_slow;
        if (is_unhealthy || request.collects(observed.up))
            && request.evidence != EvidenceLevel::None
        {
            let dns = self.dns.as_deref();
            observed.evidence = evidence::collect(net, request, &mut trace, dns, judged);
        }
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
