//! What owners and probes say to each other. Every message is one version byte
//! and a sealed JSON text. A probe has a key of its own, made from the cluster
//! key, its region and its name: it opens nothing that was meant for another,
//! and whoever carries the messages opens none. An answer is bound to the batch
//! it answers; an ask to its moment and, at the probe, to being the first.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use uuid::Uuid;
use wakeful_core::id::MonitorId;
use wakeful_core::monitor::Spec;
use wakeful_core::observation::{Fault, Observation};
use wakeful_core::region::{ProbeName, Region};
use wakeful_core::seal::Key;
use wakeful_core::secret::Secret;
use zeroize::Zeroizing;

use crate::random;

const VERSION: u8 = 1;
/// How long an ask is good for, by the probe's clock.
pub(super) const CLOCKS: Duration = Duration::from_secs(60);
/// How far the time of a hello may be from the node's. A recorded hello is worth
/// nothing afterwards, so this is no longer than a probe may be silent.
pub(super) const MAX_HELLO_AGE: Duration = Duration::from_secs(15);
/// An hour, in milliseconds.
const MAX_LAG: u64 = 3_600_000;
/// The version that a probe reports is cut to so many characters.
const MAX_VERSION_CHARS: usize = 64;
/// Between two signs of life.
pub(super) const HELLO: Duration = Duration::from_secs(5);

/// Where a node calls all probes to say hello.
pub(super) const ROLLCALL: &str = "wakeful.rollcall";
/// Every hello of every probe.
pub(super) const HELLOS: &str = "wakeful.hello.*.*";

pub(super) fn ask_subject(region: &Region, name: &ProbeName) -> String {
    format!("wakeful.ask.{region}.{name}")
}

pub(super) fn hello_subject(region: &Region, name: &ProbeName) -> String {
    format!("wakeful.hello.{region}.{name}")
}

/// Who says hello, read from the subject.
pub(super) fn who(subject: &str) -> Option<(Region, ProbeName)> {
    let mut parts = subject.strip_prefix("wakeful.hello.")?.split('.');
    let (region, name) =
        (Region::parse(parts.next()?).ok()?, ProbeName::parse(parts.next()?).ok()?);
    parts.next().is_none().then_some((region, name))
}

/// The keys of one probe: the first seals, all open.
#[derive(Clone, Debug)]
pub struct ProbeKey {
    who: String,
    keys: Vec<Key>,
}

/// The key that a probe of this name and region has under a cluster key.
pub fn probe_key(cluster: &Key, region: &Region, name: &ProbeName) -> Key {
    cluster.derive(&format!("wakeful probe {region} {name}"))
}

impl ProbeKey {
    /// The keys of a probe, from those of the cluster.
    pub fn of_cluster(cluster: &[Key], region: &Region, name: &ProbeName) -> Self {
        let keys = cluster.iter().map(|key| probe_key(key, region, name)).collect();
        Self::given(keys, region, name)
    }

    /// Keys that were made for this probe and no other.
    pub fn given(keys: Vec<Key>, region: &Region, name: &ProbeName) -> Self {
        Self { who: format!("{region} {name}"), keys }
    }

    pub(super) fn seal_batch(&self, batch: &Batch) -> Vec<u8> {
        self.seal(&format!("ask {}", self.who), batch)
    }

    pub(super) fn open_batch(&self, message: &[u8]) -> Option<Batch> {
        self.open(&format!("ask {}", self.who), message)
    }

    pub(super) fn seal_reply(&self, batch: Uuid, reply: &Reply) -> Vec<u8> {
        self.seal(&format!("answer {} {batch}", self.who), reply)
    }

    pub(super) fn open_reply(&self, batch: Uuid, message: &[u8]) -> Option<Reply> {
        self.open(&format!("answer {} {batch}", self.who), message)
    }

    pub(super) fn seal_hello(&self, hello: &Hello) -> Vec<u8> {
        self.seal(&format!("hello {}", self.who), hello)
    }

    pub(super) fn open_hello(&self, message: &[u8]) -> Option<Hello> {
        self.open(&format!("hello {}", self.who), message)
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

/// Checks to be made at once.
#[derive(Serialize, Deserialize)]
pub(super) struct Batch {
    pub(super) id: Uuid,
    /// The node's time, in milliseconds.
    pub(super) at: i64,
    pub(super) asks: Vec<Ask>,
}

/// One check.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Ask {
    pub(super) monitor: MonitorId,
    /// Milliseconds, as the next one.
    pub(super) timeout: u64,
    pub(super) interval: u64,
    spec: Spec,
    /// What a spec leaves out when it is written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<Zeroizing<String>>,
}

impl Ask {
    pub(super) fn new(
        monitor: MonitorId,
        spec: &Spec,
        timeout: Duration,
        interval: Duration,
    ) -> Self {
        let secret = spec.secret().map(|secret| Zeroizing::new(secret.expose().to_owned()));
        let spec = spec.clone();
        Self { monitor, timeout: millis(timeout), interval: millis(interval), spec, secret }
    }

    /// What is to be looked at, its secret included.
    pub(super) fn spec(&self) -> Spec {
        let mut spec = self.spec.clone();
        if let Some(secret) = &self.secret {
            spec.put_secret(Secret::new(secret.as_str()));
        }
        spec
    }

    /// About how many bytes it takes on the bus.
    pub(super) fn weight(&self) -> usize {
        512 + self.spec.http().map_or(0, |http| {
            http.body.len() * 2 + http.headers.to_string().len() * 2 + http.url.to_string().len()
        })
    }
}

/// What came of some of a batch: each by its place in it.
#[derive(Serialize, Deserialize)]
pub(super) struct Reply {
    pub(super) answers: Vec<(usize, Result<Observation, Fault>)>,
}

/// A sign of life.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Hello {
    pub(super) version: String,
    /// The probe's time, in milliseconds, as is the next one.
    pub(super) at: i64,
    pub(super) since: i64,
    /// How long asks waited for their turn lately, at most, in milliseconds.
    pub(super) lag: u64,
    /// It goes: nothing more should be asked of it.
    pub(super) leaves: bool,
}

impl Hello {
    /// The probe's report, bounded: the version is shown and logged, and a probe does
    /// not run since the future.
    pub(super) fn sanitized(self) -> Self {
        let version = self.version.chars().take(MAX_VERSION_CHARS);
        Self {
            version: version.map(|c| if c.is_control() { ' ' } else { c }).collect(),
            since: self.since.clamp(0, self.at.max(0)),
            lag: self.lag.min(MAX_LAG),
            ..self
        }
    }
}

pub(super) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeful_core::monitor::spec::{HttpSpec, HttpUrl};
    use wakeful_core::time::Millis;

    fn names(region: &str, name: &str) -> (Region, ProbeName) {
        (Region::parse(region).expect("a region"), ProbeName::parse(name).expect("a name"))
    }

    fn keys(cluster: u8, region: &str, name: &str) -> ProbeKey {
        let (region, name) = names(region, name);
        ProbeKey::of_cluster(&[Key::new([cluster; 32])], &region, &name)
    }

    fn batch() -> Batch {
        let mut http = HttpSpec::new(HttpUrl::parse("http://a.example/").expect("an address"));
        http.password = Secret::new("hunter2-in-the-bus");
        let monitor = MonitorId::new(Millis(0), [1; 10]);
        let second = Duration::from_secs(1);
        let ask = Ask::new(monitor, &Spec::Http(http), second, second);
        Batch { id: Uuid::from_u128(7), at: 0, asks: vec![ask] }
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
    fn nobody_else_opens_what_is_meant_for_one_probe() {
        let sealed = keys(1, "eu", "one").seal_batch(&batch());
        for other in [keys(2, "eu", "one"), keys(1, "us", "one"), keys(1, "eu", "two")] {
            assert!(other.open_batch(&sealed).is_none());
        }
    }

    #[test]
    fn a_clear_or_unknown_message_is_refused() {
        let clear = serde_json::to_vec(&batch()).expect("serialises");
        let versioned = [&[VERSION], &clear[..]].concat();
        let mut newer = keys(1, "eu", "one").seal_batch(&batch());
        newer[0] += 1;
        for message in [clear, versioned, newer, Vec::new(), vec![VERSION]] {
            assert!(keys(1, "eu", "one").open_batch(&message).is_none());
        }
    }

    #[test]
    fn an_answer_fits_the_batch_it_answers_and_no_other() {
        let key = keys(1, "eu", "one");
        let reply = Reply { answers: Vec::new() };
        let sealed = key.seal_reply(Uuid::from_u128(7), &reply);
        assert!(key.open_reply(Uuid::from_u128(7), &sealed).is_some());
        assert!(key.open_reply(Uuid::from_u128(8), &sealed).is_none());
        assert!(key.open_batch(&sealed).is_none());
        assert!(key.open_hello(&sealed).is_none());
    }

    #[test]
    fn a_new_cluster_key_in_front_opens_what_the_old_one_sealed() {
        let (region, name) = names("eu", "one");
        let (old, new) = (Key::new([1; 32]), Key::new([2; 32]));
        let both = ProbeKey::of_cluster(&[new, old], &region, &name);
        assert!(both.open_batch(&keys(1, "eu", "one").seal_batch(&batch())).is_some());
        assert!(keys(2, "eu", "one").open_batch(&both.seal_batch(&batch())).is_some());
    }

    #[test]
    fn the_subject_says_who_it_is() {
        let (region, name) = names("eu-west", "a_1");
        assert_eq!(who(&hello_subject(&region, &name)), Some((region, name)));
        for subject in ["wakeful.hello.eu", "wakeful.hello.eu.a.b", "wakeful.ask.eu.a", "x"] {
            assert_eq!(who(subject), None, "{subject}");
        }
    }
}
