//! The protocol between nodes and probes. Every message is one version byte and a sealed
//! JSON text. A probe has its own key, derived from the cluster key, its region and its
//! name: it cannot open messages for another probe, and the NATS server can open none. A
//! reply is bound to the batch it answers. A batch expires, and a probe accepts it once.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
use uuid::Uuid;
use wakeful_core::assert::{Assertion, Comparison};
use wakeful_core::evidence::EvidenceLevel;
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::monitors::spec::{Echoes, HttpSpec};
use wakeful_core::monitors::{Kind, Spec};
use wakeful_core::observation::{Fault, Observation};
use wakeful_core::one_line::one_line;
use wakeful_core::region::{ProbeName, Region};
use wakeful_core::seal::Key;
use wakeful_core::secret::Secret;
use wakeful_core::token::Digest;
use wakeful_outbound::checks;
use zeroize::Zeroizing;

use crate::random;

const VERSION: u8 = 1;
/// How old a batch may be, by the probe's clock.
pub(super) const MAX_CLOCK_SKEW: Duration = Duration::from_secs(60);
/// How far the time of a hello may differ from the node's. A recorded hello is useless
/// afterwards, so this is no longer than a probe may be silent.
pub(super) const MAX_HELLO_AGE: Duration = Duration::from_secs(15);
/// An hour, in milliseconds.
const MAX_LAG: u64 = 3_600_000;
/// A probe's reported version is cut to this many characters.
const MAX_VERSION_CHARS: usize = 64;
const MAX_FEATURES: usize = 64;
/// A probe judges assertions. An older one would ignore them and report a target as up.
pub(super) const ASSERTIONS: &str = "assertions";
/// A probe sends several echoes in one check. An older one would send one, and lose nothing.
pub(super) const ECHOES: &str = "echoes";
/// A probe knows how to authenticate, present certificates and use proxies. An older one would
/// send the request without them.
pub(super) const REQUEST_OPTIONS: &str = "request options";
/// A probe connects over one address family, with a resolver, or to another address.
pub(super) const CONNECT_OPTIONS: &str = "connection options";
/// A probe knows these types. An older one would reject all checks of a batch.
pub(super) const KIND_TLS: &str = "kind:tls";
pub(super) const KIND_DOMAIN: &str = "kind:domain";
/// A probe reports values that must not change. An older one would not read such an assertion.
pub(super) const UNCHANGED: &str = "unchanged";
/// What this version can do.
pub(super) const FEATURES: &[&str] =
    &[ASSERTIONS, ECHOES, REQUEST_OPTIONS, CONNECT_OPTIONS, KIND_TLS, KIND_DOMAIN, UNCHANGED];
/// How often a probe says hello.
pub(super) const HELLO_INTERVAL: Duration = Duration::from_secs(5);

/// The subject on which a node asks all probes to say hello.
pub(super) const DISCOVERY_SUBJECT: &str = "wakeful.rollcall";
/// Every hello of every probe.
pub(super) const HELLO_SUBJECTS: &str = "wakeful.hello.*.*";

pub(super) fn request_subject(region: &Region, name: &ProbeName) -> String {
    format!("wakeful.ask.{region}.{name}")
}

pub(super) fn hello_subject(region: &Region, name: &ProbeName) -> String {
    format!("wakeful.hello.{region}.{name}")
}

/// The probe that says hello, from the subject.
pub(super) fn parse_hello_subject(subject: &str) -> Option<(Region, ProbeName)> {
    let mut parts = subject.strip_prefix("wakeful.hello.")?.split('.');
    let (region, name) =
        (Region::parse(parts.next()?).ok()?, ProbeName::parse(parts.next()?).ok()?);
    parts.next().is_none().then_some((region, name))
}

/// The keys of one probe: the first one seals, all of them open.
#[derive(Clone, Debug)]
pub struct ProbeKey {
    identity: String,
    keys: Vec<Key>,
}

/// The key of a probe, derived from a cluster key.
pub fn probe_key(cluster: &Key, region: &Region, name: &ProbeName) -> Key {
    cluster.derive(&format!("wakeful probe {region} {name}"))
}

impl ProbeKey {
    /// The keys of a probe, from those of the cluster.
    pub fn of_cluster(cluster: &[Key], region: &Region, name: &ProbeName) -> Self {
        let keys = cluster.iter().map(|key| probe_key(key, region, name)).collect();
        Self::from_keys(keys, region, name)
    }

    /// Keys that were derived for this probe.
    pub fn from_keys(keys: Vec<Key>, region: &Region, name: &ProbeName) -> Self {
        Self { identity: format!("{region} {name}"), keys }
    }

    pub(super) fn seal_batch(&self, batch: &Batch) -> Vec<u8> {
        self.seal(&format!("ask {}", self.identity), batch)
    }

    pub(super) fn open_batch(&self, message: &[u8]) -> Option<Batch> {
        self.open(&format!("ask {}", self.identity), message)
    }

    pub(super) fn seal_cancellation(&self, cancellation: &Cancellation) -> Vec<u8> {
        self.seal(&format!("cancel {}", self.identity), cancellation)
    }

    pub(super) fn open_cancellation(&self, message: &[u8]) -> Option<Cancellation> {
        self.open(&format!("cancel {}", self.identity), message)
    }

    pub(super) fn seal_reply(&self, batch: Uuid, reply: &Reply) -> Vec<u8> {
        self.seal(&format!("answer {} {batch}", self.identity), reply)
    }

    pub(super) fn open_reply(&self, batch: Uuid, message: &[u8]) -> Option<Reply> {
        self.open(&format!("answer {} {batch}", self.identity), message)
    }

    pub(super) fn seal_hello(&self, hello: &Hello) -> Vec<u8> {
        self.seal(&format!("hello {}", self.identity), hello)
    }

    pub(super) fn open_hello(&self, message: &[u8]) -> Option<Hello> {
        self.open(&format!("hello {}", self.identity), message)
    }

    fn seal(&self, context: &str, message: &impl Serialize) -> Vec<u8> {
        let plain = Zeroizing::new(serde_json::to_vec(message).unwrap_or_default());
        let mut sealed = vec![VERSION];
        if let Some(key) = self.keys.first() {
            sealed.extend(key.seal(random::bytes(), context, &plain));
        }
        sealed
    }

    fn open<T: DeserializeOwned>(&self, context: &str, message: &[u8]) -> Option<T> {
        let (&[VERSION], sealed) = message.split_first_chunk::<1>()? else { return None };
        let plain = self.keys.iter().find_map(|key| key.open(context, sealed))?;
        serde_json::from_slice(&plain).ok()
    }
}

/// Checks to be run concurrently.
#[derive(Serialize, Deserialize)]
pub(super) struct Batch {
    pub(super) id: Uuid,
    /// The node's time, in milliseconds.
    pub(super) at: i64,
    pub(super) asks: Vec<CheckRequest>,
}

/// One check.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct CheckRequest {
    pub(super) monitor: MonitorId,
    /// The same for all monitors of a team, so that teams take turns on the probe; what the
    /// team is remains unknown to it. Nodes of earlier versions leave it out: all their checks
    /// are one group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<Uuid>,
    /// In milliseconds, like `interval`.
    pub(super) timeout: u64,
    pub(super) interval: u64,
    spec: Spec,
    /// Left out when the spec is serialized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<Zeroizing<String>>,
    /// The same for its other secrets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    secrets: BTreeMap<String, Zeroizing<String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    assertions: Vec<Assertion>,
    #[serde(default, skip_serializing_if = "is_full")]
    evidence: EvidenceLevel,
    /// Whether evidence is collected even if the target is healthy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    always: bool,
    /// In milliseconds. Probes of earlier versions collect no evidence of slow checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slow: Option<u64>,
    /// Probes of earlier versions collect the evidence of a target that is down.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    upside_down: bool,
}

fn is_full(level: &EvidenceLevel) -> bool {
    *level == EvidenceLevel::Full
}

impl CheckRequest {
    pub(super) fn new(
        monitor: MonitorId,
        check: &checks::CheckRequest<'_>,
        timeout: Duration,
        interval: Duration,
    ) -> Self {
        let checks::CheckRequest { team, spec, assertions, evidence, always, slow, upside_down } =
            *check;
        let secret = spec.secret().map(|secret| Zeroizing::new(secret.expose().to_owned()));
        let secrets = spec.secrets().into_iter();
        let secrets = secrets.map(|(path, secret)| (path, Zeroizing::new(secret))).collect();
        let (spec, group) = (spec.clone(), Some(group_of(team)));
        Self {
            monitor,
            group,
            timeout: millis(timeout),
            interval: millis(interval),
            spec,
            secret,
            secrets,
            assertions: assertions.to_vec(),
            evidence,
            always,
            slow: slow.map(millis),
            upside_down,
        }
    }

    /// Those who take turns on the probe.
    pub(super) fn group(&self) -> TeamId {
        self.group.unwrap_or_default().into()
    }

    /// The spec, secret included.
    pub(super) fn spec(&self) -> Spec {
        let mut spec = self.spec.clone();
        if let Some(secret) = &self.secret {
            spec.set_secret(Secret::new(secret.as_str()));
        }
        if !self.secrets.is_empty() {
            let plain = |secret: &Zeroizing<String>| secret.as_str().to_owned();
            let secrets = self.secrets.iter().map(|(path, secret)| (path.clone(), plain(secret)));
            // A node has validated them.
            let _ = spec.set_secrets(&secrets.collect());
        }
        spec
    }

    /// The check to run with this spec, which has its secret.
    pub(super) fn check<'a>(&'a self, spec: &'a Spec) -> checks::CheckRequest<'a> {
        checks::CheckRequest {
            team: self.group(),
            spec,
            assertions: &self.assertions,
            evidence: self.evidence,
            always: self.always,
            slow: self.slow.map(Duration::from_millis),
            upside_down: self.upside_down,
        }
    }

    /// What a probe must be able to do for this check.
    pub(super) fn needs(&self) -> Vec<&'static str> {
        let spec = &self.spec;
        let has_echoes = matches!(spec, Spec::Ping(ping) if ping.echoes != Echoes::default());
        let has_unchanged =
            self.assertions.iter().any(|one| one.comparison == Comparison::Unchanged);
        let has_options = spec.http().is_some_and(HttpSpec::has_options);
        [
            (ASSERTIONS, !self.assertions.is_empty()),
            (UNCHANGED, has_unchanged),
            (ECHOES, has_echoes),
            (REQUEST_OPTIONS, has_options),
            (CONNECT_OPTIONS, spec.connect().is_some()),
            (KIND_TLS, spec.kind() == Kind::Tls),
            (KIND_DOMAIN, spec.kind() == Kind::Domain),
        ]
        .into_iter()
        .filter_map(|(feature, is_needed)| is_needed.then_some(feature))
        .collect()
    }

    /// The approximate size of the message in bytes.
    pub(super) fn estimated_size(&self) -> usize {
        512 + 2 * self.assertions.iter().map(assertion_size).sum::<usize>()
            + self.spec.http().map_or(0, |http| {
                http.body.len() * 2
                    + http.headers.to_string().len() * 2
                    + http.url.to_string().len()
            })
            + self.secrets.values().map(|secret| secret.len() * 2).sum::<usize>()
            + self.spec.client_certificate().map_or(0, |certificate| certificate.chain.len() * 2)
            + self.spec.http().map_or(0, |http| http.ca().len() * 2)
    }
}

fn assertion_size(assertion: &Assertion) -> usize {
    128 + assertion.property.len() + assertion.target.len()
}

/// Checks of a batch whose results nobody waits for any more. It is sent like a batch, but
/// without a subject for replies: earlier versions ignore such a message.
#[derive(Serialize, Deserialize)]
pub(super) struct Cancellation {
    pub(super) batch: Uuid,
    /// Their positions in the batch.
    pub(super) asks: Vec<usize>,
}

/// Some results of a batch, each with its position in it.
#[derive(Serialize, Deserialize)]
pub(super) struct Reply {
    pub(super) answers: Vec<(usize, Result<Observation, Fault>)>,
}

/// Announces that a probe is online.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Hello {
    pub(super) version: String,
    /// The probe's time, in milliseconds, like `since`.
    pub(super) at: i64,
    pub(super) since: i64,
    /// The longest time a recent check waited for its turn, in milliseconds.
    pub(super) lag: u64,
    /// The probe is shutting down and accepts no more checks.
    pub(super) leaves: bool,
    /// What it can do beyond the first version of this protocol.
    #[serde(default)]
    pub(super) features: Vec<String>,
}

impl Hello {
    /// Bounds what the probe reports: the version is shown and logged, and the start cannot
    /// be in the future.
    pub(super) fn sanitized(self) -> Self {
        Self {
            version: one_line(&self.version, MAX_VERSION_CHARS),
            since: self.since.clamp(0, self.at.max(0)),
            lag: self.lag.min(MAX_LAG),
            features: (self.features.into_iter().take(MAX_FEATURES))
                .map(|feature| one_line(&feature, MAX_VERSION_CHARS))
                .collect(),
            ..self
        }
    }
}

fn group_of(team: TeamId) -> Uuid {
    let Digest(digest) = Digest::of(&format!("probe group\n{team}"));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    Uuid::from_bytes(bytes)
}

pub(super) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeful_core::monitors::spec::{
        ConnectOptions, DomainSpec, Hostname, HttpUrl, IpFamily, Proxy, RequestOptions, TlsSpec,
    };
    use wakeful_core::time::Millis;

    fn region_and_name(region: &str, name: &str) -> (Region, ProbeName) {
        (Region::parse(region).expect("a region"), ProbeName::parse(name).expect("a name"))
    }

    fn keys(cluster: u8, region: &str, name: &str) -> ProbeKey {
        let (region, name) = region_and_name(region, name);
        ProbeKey::of_cluster(&[Key::new([cluster; 32])], &region, &name)
    }

    fn batch() -> Batch {
        let mut http = HttpSpec::new(HttpUrl::parse("http://a.example/").expect("a URL"));
        http.password = Secret::new("hunter2-in-the-bus");
        let monitor = MonitorId::new(Millis(0), [1; 10]);
        let second = Duration::from_secs(1);
        let team = Uuid::from_u128(42).into();
        let request = {
            let spec = Spec::Http(http);
            let check = checks::CheckRequest::new(team, &spec);
            CheckRequest::new(monitor, &check, second, second)
        };
        Batch { id: Uuid::from_u128(7), at: 0, asks: vec![request] }
    }

    #[test]
    fn the_checks_of_a_team_are_a_group_and_those_of_an_older_node_another() {
        let of = |team: u128| {
            let mut batch = batch();
            batch.asks[0].group = Some(group_of(Uuid::from_u128(team).into()));
            let sealed = keys(1, "eu", "one").seal_batch(&batch);
            keys(1, "eu", "one").open_batch(&sealed).expect("opens").asks[0].group()
        };
        assert_eq!(of(42), batch().asks[0].group());
        assert_ne!(of(42), of(43));
        assert_ne!(of(42).uuid(), Uuid::from_u128(42), "it does not name the team");
        let mut older = serde_json::to_value(batch()).expect("serializes");
        assert!(older["asks"][0].as_object_mut().expect("a check").remove("group").is_some());
        let older: Batch = serde_json::from_value(older).expect("it is still accepted");
        assert_eq!(older.asks[0].group().uuid(), Uuid::nil());
    }

    #[test]
    fn a_probe_gets_the_password_and_the_bus_does_not() {
        let sealed = keys(1, "eu", "one").seal_batch(&batch());
        assert!(!sealed.windows(7).any(|part| part == b"hunter2"));
        let opened = keys(1, "eu", "one").open_batch(&sealed).expect("opens");
        let spec = opened.asks[0].spec();
        assert_eq!(spec.secret().expect("a password").expose(), "hunter2-in-the-bus");
    }

    #[test]
    fn a_probe_must_know_what_a_check_uses_and_gets_its_secrets() {
        let host = || Hostname::parse("a.example").expect("a host");
        let http = || HttpSpec::new(HttpUrl::parse("http://a.example/").expect("a URL"));
        let proxy = Proxy::parse("http://ann:sentinel@p.example").expect("a proxy");
        let options = RequestOptions { proxy: Some(proxy), ..RequestOptions::default() };
        let connect = ConnectOptions { ip_family: IpFamily::V6, ..ConnectOptions::default() };
        let second = Duration::from_secs(1);
        for (spec, needs) in [
            (Spec::Http(http()), &[][..]),
            (Spec::Http(HttpSpec { options: options.boxed(), ..http() }), &[REQUEST_OPTIONS]),
            (Spec::Http(HttpSpec { connect: connect.boxed(), ..http() }), &[CONNECT_OPTIONS]),
            (Spec::Tls(TlsSpec::of(host(), 443)), &[KIND_TLS]),
            (Spec::Domain(DomainSpec::of(host())), &[KIND_DOMAIN]),
        ] {
            let check = checks::CheckRequest::new(Uuid::from_u128(42).into(), &spec);
            let monitor = MonitorId::new(Millis(0), [1; 10]);
            let request = CheckRequest::new(monitor, &check, second, second);
            assert_eq!(request.needs(), needs, "{spec:?}");
            assert!(needs.iter().all(|need| FEATURES.contains(need)));
            let text = serde_json::to_string(&request).expect("serializes");
            let read: CheckRequest = serde_json::from_str(&text).expect("reads");
            assert_eq!(read.spec(), spec);
        }
    }

    #[test]
    fn a_probe_knows_upside_down_mode_and_an_earlier_one_sees_nothing_new() {
        let spec = Spec::Http(HttpSpec::new(HttpUrl::parse("http://a.example/").expect("a URL")));
        let second = Duration::from_secs(1);
        for upside_down in [false, true] {
            let check = checks::CheckRequest::new(Uuid::from_u128(42).into(), &spec);
            let check = checks::CheckRequest { upside_down, ..check };
            let monitor = MonitorId::new(Millis(0), [1; 10]);
            let request = CheckRequest::new(monitor, &check, second, second);
            let text = serde_json::to_string(&request).expect("serializes");
            assert_eq!(text.contains("upside_down"), upside_down, "{text}");
            let read: CheckRequest = serde_json::from_str(&text).expect("reads");
            assert_eq!(read.check(&spec).upside_down, upside_down);
        }
    }

    #[test]
    fn no_other_probe_opens_a_message() {
        let sealed = keys(1, "eu", "one").seal_batch(&batch());
        for other in [keys(2, "eu", "one"), keys(1, "us", "one"), keys(1, "eu", "two")] {
            assert!(other.open_batch(&sealed).is_none());
        }
    }

    #[test]
    fn an_unsealed_message_or_unknown_version_is_refused() {
        let clear = serde_json::to_vec(&batch()).expect("serializes");
        let versioned = [&[VERSION], &clear[..]].concat();
        let mut newer = keys(1, "eu", "one").seal_batch(&batch());
        newer[0] += 1;
        for message in [clear, versioned, newer, Vec::new(), vec![VERSION]] {
            assert!(keys(1, "eu", "one").open_batch(&message).is_none());
        }
    }

    #[test]
    fn a_reply_opens_for_its_own_batch_only() {
        let key = keys(1, "eu", "one");
        let reply = Reply { answers: Vec::new() };
        let sealed = key.seal_reply(Uuid::from_u128(7), &reply);
        assert!(key.open_reply(Uuid::from_u128(7), &sealed).is_some());
        assert!(key.open_reply(Uuid::from_u128(8), &sealed).is_none());
        assert!(key.open_batch(&sealed).is_none());
        assert!(key.open_hello(&sealed).is_none());
    }

    #[test]
    fn messages_sealed_with_the_old_cluster_key_open_after_a_rotation() {
        let (region, name) = region_and_name("eu", "one");
        let (old, new) = (Key::new([1; 32]), Key::new([2; 32]));
        let both = ProbeKey::of_cluster(&[new, old], &region, &name);
        assert!(both.open_batch(&keys(1, "eu", "one").seal_batch(&batch())).is_some());
        assert!(keys(2, "eu", "one").open_batch(&both.seal_batch(&batch())).is_some());
    }

    #[test]
    fn a_hello_subject_names_its_probe() {
        let (region, name) = region_and_name("eu-west", "a_1");
        assert_eq!(parse_hello_subject(&hello_subject(&region, &name)), Some((region, name)));
        for subject in ["wakeful.hello.eu", "wakeful.hello.eu.a.b", "wakeful.ask.eu.a", "x"] {
            assert_eq!(parse_hello_subject(subject), None, "{subject}");
        }
    }
}
