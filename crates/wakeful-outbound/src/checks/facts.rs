//! The facts of a check that assertions are judged on: those that every type has, here, and those
//! of its type.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use wakeful_core::assert::{Assertion, Facts, Found, Json, Judged, Pattern, Source, judge};
use wakeful_core::domain::Registration;
use wakeful_core::heartbeat::Phases;
use wakeful_core::monitors::spec::Spec;
use wakeful_core::observation::{Certificate, Fault, FaultKind};
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;

use super::dns::DnsFacts;
use super::http::HttpFacts;
use super::ping::PingFacts;
use super::{CheckRequest, TargetAnswer};
use crate::net::buffered::SMALL_BODY_BYTES;
use crate::net::tls::fingerprint_and_key;
use crate::net::{Net, Stage, Trace};

const DAY_MILLIS: f64 = 86_400_000.0;
/// The work to search for patterns that is done without a turn, in states times bytes: less than a
/// millisecond, or three for the worst of patterns.
const MAX_WORK_HERE: usize = 50_000;
/// The length that values other than bodies rarely have.
const LONG_VALUE: usize = 1_024;

/// What every type has.
struct Common {
    load_time: Duration,
    phases: Phases,
    address: Option<String>,
    certificate: Option<Certificate>,
    fingerprint_and_key: Option<(String, String)>,
    tls: Option<(String, String, Option<String>)>,
    now: Millis,
}

/// The facts of one check, for the sources that its assertions are about.
pub(super) struct CheckFacts<'a> {
    net: &'a Net,
    common: Common,
    dns: Option<&'a DnsFacts>,
    ping: Option<PingFacts>,
    domain: Option<&'a Registration>,
    secrets: Vec<Secret>,
}

impl<'a> CheckFacts<'a> {
    pub(super) fn new(
        net: &'a Net,
        answer: &'a TargetAnswer,
        trace: &Trace,
        load_time: Duration,
    ) -> Self {
        let leaf = trace.tls.as_ref().and_then(|tls| tls.leaf.as_ref());
        let common = Common {
            load_time,
            phases: trace.phases,
            address: trace.address.map(|addr| addr.ip().to_canonical().to_string()),
            certificate: trace.certificate.clone(),
            fingerprint_and_key: leaf.map(fingerprint_and_key),
            tls: trace.tls.as_ref().map(|tls| super::evidence::describe_tls(tls)),
            now: net.clock().now(),
        };
        let ping = answer.ping.as_deref().copied();
        Self {
            net,
            common,
            dns: answer.dns.as_deref(),
            ping,
            domain: answer.domain.as_deref(),
            secrets: trace.secrets.clone(),
        }
    }

    /// Judges the assertions: here, or on another thread if that takes a while, in the turn of
    /// the team.
    pub(super) async fn judge(
        self,
        request: &CheckRequest<'_>,
        trace: &mut Trace,
    ) -> Result<Judged, Fault> {
        let needs_tree = request.needs_tree();
        let length = trace.http.as_ref().map_or(0, |http| http.text().len());
        let patterns = self.patterns(request);
        if length <= SMALL_BODY_BYTES
            && !needs_tree
            && search_work(&patterns, length) <= MAX_WORK_HERE
        {
            let facts = AllFacts {
                common: &self.common,
                spec: request.spec,
                http: trace.http.as_deref(),
                dns: self.dns,
                ping: self.ping,
                domain: self.domain,
                secrets: &self.secrets,
                json: trace.http.as_deref().map(HttpFacts::json),
                patterns: &patterns,
            };
            return Ok(judge(request.assertions, &facts, request.collects(true)));
        }
        trace.stage = Stage::Judging;
        let busy = || Fault::new(FaultKind::Resources, "no memory to judge the response");
        let share = trace.decode_share.clone();
        let share = share.unwrap_or_else(|| self.net.decode_share(request.team));
        let turn = share.turn().await;
        let turn = turn.map_err(|error| Fault::new(FaultKind::Resources, error.message()))?;
        let tree = if needs_tree {
            Some(self.net.buffers().tree(length).await.ok_or_else(busy)?)
        } else {
            None
        };
        let assertions: Vec<Assertion> = request.assertions.to_vec();
        let (http, common, secrets) = (trace.http.take(), self.common, self.secrets);
        let (dns, ping, domain) = (self.dns.cloned(), self.ping, self.domain.cloned());
        let (spec, shows_all) = (request.spec.clone(), request.collects(true));
        let judging = tokio::task::spawn_blocking(move || {
            let facts = AllFacts {
                common: &common,
                spec: &spec,
                http: http.as_deref(),
                dns: dns.as_ref(),
                ping,
                domain: domain.as_ref(),
                secrets: &secrets,
                json: http.as_deref().map(HttpFacts::json),
                patterns: &patterns,
            };
            let judged = judge(&assertions, &facts, shows_all);
            drop(facts);
            drop((turn, tree));
            (judged, http)
        });
        let (judged, http) = judging.await.map_err(|_| busy())?;
        trace.http = http;
        Ok(judged)
    }

    /// The compiled patterns of all assertions.
    fn patterns(&self, request: &CheckRequest<'_>) -> Vec<CompiledPattern> {
        let assertions = request.assertions.iter().filter(|one| one.has_pattern());
        let compiled = assertions.filter_map(|one| {
            let pattern = self.net.patterns().get(&one.target)?;
            Some(CompiledPattern { source: one.source, text: one.target.clone(), pattern })
        });
        compiled.collect()
    }
}

/// A pattern, and the source that is searched for it.
struct CompiledPattern {
    source: Source,
    text: String,
    pattern: Arc<Pattern>,
}

/// How much work it may be to search for these patterns, with a body of this length.
fn search_work(patterns: &[CompiledPattern], length: usize) -> usize {
    let work = |one: &CompiledPattern| {
        let searched = match one.source {
            Source::Body | Source::Json => length,
            _ => LONG_VALUE,
        };
        one.pattern.states().saturating_mul(searched)
    };
    patterns.iter().map(work).fold(0, usize::saturating_add)
}

struct AllFacts<'a> {
    common: &'a Common,
    spec: &'a Spec,
    http: Option<&'a HttpFacts>,
    dns: Option<&'a DnsFacts>,
    ping: Option<PingFacts>,
    domain: Option<&'a Registration>,
    secrets: &'a [Secret],
    json: Option<Json<'a>>,
    patterns: &'a [CompiledPattern],
}

impl Facts for AllFacts<'_> {
    fn find(&self, source: Source, property: &str) -> Found<'_> {
        match source {
            Source::Json => self.json.as_ref().map_or(Found::Missing, Found::Json),
            Source::ResponseTime if matches!(property, "min" | "max") => {
                self.ping(source, property)
            }
            Source::Loss | Source::Jitter => self.ping(source, property),
            Source::ResponseTime => self.common.time(property),
            Source::Address => text(self.common.address.as_deref()),
            Source::Tls => self.common.tls(property),
            Source::Certificate => self.common.certificate(property),
            Source::Status if self.domain.is_some() => self.domain(source),
            Source::DaysLeft => self.domain(source),
            Source::Status
            | Source::Redirects
            | Source::BodySize
            | Source::FinalUrl
            | Source::HttpVersion
            | Source::Header
            | Source::Body => self.http.map_or(Found::Missing, |http| http.find(source, property)),
            Source::Code | Source::Record | Source::Records | Source::Ttl | Source::Dnssec => {
                self.dns.map_or(Found::Missing, |dns| dns.find(source, property, self.common.now))
            }
        }
    }

    fn contains(&self, text: &str) -> Option<bool> {
        self.http?.contains(text)
    }

    fn pattern(&self, text: &str) -> Option<Arc<Pattern>> {
        let mut compiled = self.patterns.iter();
        compiled.find(|one| one.text == text).map(|one| Arc::clone(&one.pattern))
    }

    fn redacted(&self, text: &str) -> String {
        super::evidence::redactor(self.spec, self.secrets).text(text)
    }
}

impl AllFacts<'_> {
    /// One echo has neither losses nor jitter, and is the fastest and the slowest.
    fn ping(&self, source: Source, property: &str) -> Found<'_> {
        match &self.ping {
            Some(ping) => ping.find(source, property),
            None if source == Source::ResponseTime => self.common.time(""),
            None => Found::number(Some(0.0)),
        }
    }

    fn domain(&self, source: Source) -> Found<'_> {
        let Some(domain) = self.domain else { return Found::Missing };
        match source {
            Source::DaysLeft => Found::number(domain.expires.map(|at| self.common.days_until(at))),
            _ => Found::Texts(domain.statuses.iter().map(|one| Cow::Borrowed(&**one)).collect()),
        }
    }
}

impl Common {
    /// Milliseconds.
    fn time(&self, property: &str) -> Found<'_> {
        let Phases { resolve, connect, tls, first_byte, transfer } = self.phases;
        let span = match property {
            "" => Some(self.load_time),
            "resolve" => resolve,
            "connect" => connect,
            "tls" => tls,
            "first_byte" => first_byte,
            _ => transfer,
        };
        Found::number(span.map(|span| span.as_micros() as f64 / 1e3))
    }

    fn tls(&self, property: &str) -> Found<'_> {
        let Some((version, cipher, alpn)) = &self.tls else { return Found::Missing };
        match property {
            "version" => text(Some(version)),
            "cipher" => text(Some(cipher)),
            _ => text(alpn.as_deref()),
        }
    }

    fn days_until(&self, at: Millis) -> f64 {
        ((at.0 - self.now.0) as f64 / DAY_MILLIS * 1e3).floor() / 1e3
    }

    fn certificate(&self, property: &str) -> Found<'_> {
        let Some(certificate) = &self.certificate else { return Found::Missing };
        let days = |at: Millis| self.days_until(at);
        let key = self.fingerprint_and_key.as_ref();
        match property {
            "days_left" => Found::number(Some(days(certificate.not_after))),
            "chain_days_left" => {
                let chain = certificate.chain.iter().map(|issuer| issuer.not_after);
                let first = chain.fold(certificate.not_after, Millis::min);
                Found::number(Some(days(first)))
            }
            "issuer" => text(Some(&certificate.issuer)),
            "subject" => text(Some(&certificate.subject)),
            "name" => {
                Found::Texts(certificate.names.iter().map(|one| Cow::Borrowed(&**one)).collect())
            }
            "fingerprint" => text(key.map(|(fingerprint, _)| fingerprint.as_str())),
            "key" => text(key.map(|(_, key)| key.as_str())),
            _ => text(Some(if certificate.trusted { "true" } else { "false" })),
        }
    }
}

pub(super) fn text(value: Option<&str>) -> Found<'_> {
    value.map_or(Found::Missing, |value| Found::Text(Cow::Borrowed(value)))
}
