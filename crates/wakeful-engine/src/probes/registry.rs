//! The connected probes, which have said hello recently, and the revoked ones. A hello that
//! is sealed wrongly, old, or from a revoked probe is ignored.

use futures_util::StreamExt as _;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::region::{ProbeName, Region};
use wakeful_core::seal::Key;
use wakeful_core::time::Millis;

use super::protocol::{self, Hello, MAX_HELLO_AGE, ProbeKey};
use super::{ProbeView, Probes, RegionView};
use crate::Engine;
use crate::bus::nats::Subscriber;

/// A probe without a hello for this long is disconnected.
const PRESENCE_TIMEOUT: Duration = Duration::from_secs(15);
const REFRESH_INTERVAL: Duration = Duration::from_secs(5);
/// A hello is accepted for `MAX_HELLO_AGE` on either side of the node's time, so after
/// this time it is too old to be replayed.
const REPLAY_WINDOW: Duration = Duration::from_secs(2 * MAX_HELLO_AGE.as_secs() + 1);

#[derive(Default)]
pub(super) struct ProbeRegistry {
    present: Mutex<HashMap<Region, Vec<ProbeEntry>>>,
    /// The last hello of each probe, even after it has left, so that a replayed hello
    /// cannot bring it back.
    last_hellos: Mutex<HashMap<(Region, ProbeName), LastHello>>,
    revoked: Mutex<HashSet<ProbeName>>,
    next_index: AtomicUsize,
}

struct ProbeEntry {
    name: ProbeName,
    key: ProbeKey,
    hello: Hello,
    last_hello: Instant,
    /// It has not replied to a request, and has not been heard from since.
    silent: bool,
}

impl ProbeEntry {
    fn supports(&self, needs: &[&str]) -> bool {
        needs.iter().all(|need| self.hello.features.iter().any(|feature| feature == need))
    }
}

struct LastHello {
    /// The probe's time, in milliseconds.
    at: i64,
    received: Instant,
}

/// A probe to send a check to.
#[derive(Clone)]
pub(super) struct SelectedProbe {
    pub(super) region: Region,
    pub(super) name: ProbeName,
    pub(super) key: ProbeKey,
}

impl ProbeRegistry {
    /// A probe of the region, in turn; a silent one only if there is no other.
    pub(super) fn select(
        &self,
        region: &Region,
        except: Option<&ProbeName>,
        needs: &[&str],
    ) -> Option<SelectedProbe> {
        let present = self.lock();
        let probes = present.get(region)?.iter().map(|probe| (region, probe));
        let probes = probes.filter(|(_, probe)| probe.supports(needs));
        let live = self.trusted(probes.filter(|(_, probe)| Some(&probe.name) != except));
        let responsive: Vec<_> = live.iter().copied().filter(|(_, probe)| !probe.silent).collect();
        self.pick(if responsive.is_empty() { &live } else { &responsive })
    }

    /// A probe of any other region, in turn. A silent one is not worth the wait, because
    /// there is a result already.
    pub(super) fn select_in_other_region(
        &self,
        region: &Region,
        needs: &[&str],
    ) -> Option<SelectedProbe> {
        let present = self.lock();
        let others = present.iter().filter(|(other, _)| *other != region);
        let probes = others.flat_map(|(other, probes)| probes.iter().map(move |one| (other, one)));
        let able = probes.filter(|(_, probe)| !probe.silent && probe.supports(needs));
        self.pick(&self.trusted(able))
    }

    /// The first of these that no probe of the region supports, although there is a probe.
    pub(super) fn missing_feature<'f>(
        &self,
        region: &Region,
        needs: &[&'f str],
    ) -> Option<&'f str> {
        let present = self.lock();
        let live = self.trusted(present.get(region)?.iter().map(|probe| (region, probe)));
        let is_missing =
            |feature: &&&str| !live.iter().any(|(_, probe)| probe.supports(&[feature]));
        needs.iter().find(is_missing).filter(|_| !live.is_empty()).copied()
    }

    /// Those of the probes that are live and not revoked.
    fn trusted<'a>(
        &self,
        probes: impl Iterator<Item = (&'a Region, &'a ProbeEntry)>,
    ) -> Vec<(&'a Region, &'a ProbeEntry)> {
        let revoked = self.revoked();
        probes
            .filter(|(_, probe)| {
                probe.last_hello.elapsed() < PRESENCE_TIMEOUT && !revoked.contains(&probe.name)
            })
            .collect()
    }

    fn pick(&self, among: &[(&Region, &ProbeEntry)]) -> Option<SelectedProbe> {
        let next_index = self.next_index.fetch_add(1, Ordering::Relaxed);
        let (region, probe) = among.get(next_index.checked_rem(among.len())?)?;
        let (name, key) = (probe.name.clone(), probe.key.clone());
        Some(SelectedProbe { region: (*region).clone(), name, key })
    }

    /// Records a hello; false if it is ignored.
    pub(super) fn record_hello(
        &self,
        cluster: &[Key],
        subject: &str,
        message: &[u8],
        now: Millis,
    ) -> bool {
        let Some((region, name)) = protocol::parse_hello_subject(subject) else { return false };
        let key = ProbeKey::of_cluster(cluster, &region, &name);
        let Some(hello) = key.open_hello(message) else {
            metrics::counter!("wakeful_probe_refused_total", "why" => "seal").increment(1);
            return false;
        };
        if Duration::from_millis(now.0.abs_diff(hello.at)) > MAX_HELLO_AGE {
            metrics::counter!("wakeful_probe_refused_total", "why" => "clock").increment(1);
            tracing::warn!(probe = %name, "ignored a hello from probe {name}: it is old, or its clock differs by more than {} s", MAX_HELLO_AGE.as_secs());
            return false;
        }
        if !self.is_newest(&region, &name, hello.at) {
            metrics::counter!("wakeful_probe_refused_total", "why" => "repeated").increment(1);
            return false;
        }
        if self.revoked().contains(&name) {
            metrics::counter!("wakeful_probe_refused_total", "why" => "revoked").increment(1);
            return false;
        }
        self.update(&region, name, key, hello.sanitized());
        true
    }

    /// Whether this hello is newer than all before it; if so, it is recorded as the last.
    fn is_newest(&self, region: &Region, name: &ProbeName, at: i64) -> bool {
        let mut last_hellos = self.last_hellos.lock().unwrap_or_else(PoisonError::into_inner);
        last_hellos.retain(|_, last| last.received.elapsed() < REPLAY_WINDOW);
        let probe = (region.clone(), name.clone());
        if last_hellos.get(&probe).is_some_and(|last| last.at >= at) {
            return false;
        }
        last_hellos.insert(probe, LastHello { at, received: Instant::now() });
        true
    }

    fn update(&self, region: &Region, name: ProbeName, key: ProbeKey, hello: Hello) {
        let mut present = self.lock();
        let probes = present.entry(region.clone()).or_default();
        let known = probes.iter().position(|probe| probe.name == name);
        if let Some(at) = known {
            probes.remove(at);
        }
        if hello.leaves {
            tracing::info!(probe = %name, "probe {name} of region {region} disconnected");
            return;
        }
        if known.is_none() {
            tracing::info!(probe = %name, "probe {name} of region {region} connected ({})", hello.version);
        }
        probes.push(ProbeEntry { name, key, hello, last_hello: Instant::now(), silent: false });
        probes.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// Removes a probe that is no longer subscribed to its subject.
    pub(super) fn remove(&self, region: &Region, name: &ProbeName) {
        let mut present = self.lock();
        if let Some(probes) = present.get_mut(region) {
            probes.retain(|probe| probe.name != *name);
        }
    }

    /// Notes whether a probe left a request without a reply: others are then preferred.
    pub(super) fn set_silent(&self, region: &Region, name: &ProbeName, silent: bool) {
        let mut present = self.lock();
        let probes = present.get_mut(region).into_iter().flatten();
        for probe in probes.filter(|probe| probe.name == *name) {
            probe.silent = silent;
        }
    }

    fn revoke(&self, names: HashSet<ProbeName>) {
        for probes in self.lock().values_mut() {
            probes.retain(|probe| !names.contains(&probe.name));
        }
        *self.revoked() = names;
    }

    pub(super) fn is_revoked(&self, name: &ProbeName) -> bool {
        self.revoked().contains(name)
    }

    /// The live probes, by region.
    pub(super) fn views(&self) -> Vec<RegionView> {
        let present = self.lock();
        let regions = present.iter().map(|(region, probes)| {
            let live = probes.iter().filter(|probe| probe.last_hello.elapsed() < PRESENCE_TIMEOUT);
            (region, live.map(view).collect::<Vec<ProbeView>>())
        });
        regions
            .filter(|(_, probes)| !probes.is_empty())
            .map(|(region, probes)| RegionView {
                region: region.clone(),
                probes,
                monitors: 0,
                problem: None,
            })
            .collect()
    }

    /// Updates the metrics of every region that has been seen.
    fn publish_metrics(&self) {
        for (region, probes) in self.lock().iter_mut() {
            probes.retain(|probe| probe.last_hello.elapsed() < PRESENCE_TIMEOUT * 2);
            let live = probes.iter().filter(|probe| probe.last_hello.elapsed() < PRESENCE_TIMEOUT);
            let lag = live.clone().map(|probe| probe.hello.lag).max().unwrap_or(0);
            let labels = [("region", region.to_string())];
            metrics::gauge!("wakeful_region_probes", &labels).set(live.count() as f64);
            metrics::gauge!("wakeful_region_lag_seconds", &labels).set(lag as f64 / 1_000.0);
        }
    }

    /// Adds a region that monitors use, so that the metrics include it without a probe.
    pub(super) fn add_region(&self, region: &Region) {
        self.lock().entry(region.clone()).or_default();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Region, Vec<ProbeEntry>>> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn revoked(&self) -> MutexGuard<'_, HashSet<ProbeName>> {
        self.revoked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn view(probe: &ProbeEntry) -> ProbeView {
    ProbeView {
        name: probe.name.to_string(),
        version: probe.hello.version.clone(),
        since: Millis(probe.hello.since),
        last_seen: Millis(probe.hello.at),
        lag: probe.hello.lag,
    }
}

/// Maintains the registry and receives replies until shutdown.
pub async fn run(engine: Engine, shutdown: CancellationToken) {
    let Some(probes) = engine.probes() else { return shutdown.cancelled().await };
    tokio::select! {
        () = receive_hellos(&engine, probes) => {}
        () = receive_replies(probes) => {}
        () = maintain(&engine, probes) => {}
        () = shutdown.cancelled() => {}
    }
}

/// Receives hellos, and asks for them whenever the bus is connected again.
async fn receive_hellos(engine: &Engine, probes: &Probes) {
    let mut hellos = subscribe(probes, protocol::HELLO_SUBJECTS).await;
    let mut connection = probes.nats().connection();
    let mut has_asked = false;
    loop {
        if !has_asked && probes.is_connected() {
            // All probes say hello at once, without waiting for their interval.
            has_asked =
                probes.nats().publish(protocol::DISCOVERY_SUBJECT.to_owned(), Vec::new()).await;
        }
        tokio::select! {
            Some(hello) = hellos.next() => {
                probes.registry().record_hello(probes.cluster(), &hello.subject, &hello.payload, engine.now());
            }
            changed = connection.changed() => match changed {
                Ok(()) => has_asked = false,
                Err(_) => return,
            },
        }
    }
}

async fn receive_replies(probes: &Probes) {
    let mut answers = subscribe(probes, &format!("{}.*", probes.inbox())).await;
    while let Some(answer) = answers.next().await {
        probes.receive(&answer);
    }
}

async fn maintain(engine: &Engine, probes: &Probes) {
    let mut tick = interval(REFRESH_INTERVAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        refresh_revoked(engine, probes).await;
        probes.cancel_abandoned().await;
        probes.drop_expired();
        probes.registry().publish_metrics();
    }
}

async fn subscribe(probes: &Probes, subject: &str) -> Subscriber {
    loop {
        match probes.nats().subscribe(subject).await {
            Some(messages) => return messages,
            None => sleep(REFRESH_INTERVAL).await,
        }
    }
}

/// Reads the revoked probes. If that fails, the known ones stay revoked.
async fn refresh_revoked(engine: &Engine, probes: &Probes) {
    match engine.store().revoked_probes().await {
        Ok(names) => probes.registry().revoke(names.into_iter().collect()),
        Err(error) => {
            tracing::warn!(error = %ErrorChain(&error), "reading the revoked probes failed, retrying in {} s", REFRESH_INTERVAL.as_secs());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTER: u8 = 1;

    fn region() -> Region {
        Region::parse("eu").expect("a region")
    }

    fn name(text: &str) -> ProbeName {
        ProbeName::parse(text).expect("a name")
    }

    fn hello(at: i64) -> Hello {
        Hello { version: "1".into(), at, since: 0, lag: 3, leaves: false, features: Vec::new() }
    }

    fn send_hello(registry: &ProbeRegistry, cluster: u8, probe: &str, hello: &Hello) -> bool {
        send_hello_from(registry, &region(), cluster, probe, hello)
    }

    fn send_hello_from(
        registry: &ProbeRegistry,
        region: &Region,
        cluster: u8,
        probe: &str,
        hello: &Hello,
    ) -> bool {
        let key = ProbeKey::of_cluster(&[Key::new([cluster; 32])], region, &name(probe));
        let subject = protocol::hello_subject(region, &name(probe));
        registry.record_hello(
            &[Key::new([CLUSTER; 32])],
            &subject,
            &key.seal_hello(hello),
            Millis(100_000),
        )
    }

    fn selected(registry: &ProbeRegistry, except: Option<&str>) -> Option<String> {
        registry
            .select(&region(), except.map(name).as_ref(), &[])
            .map(|probe| probe.name.to_string())
    }

    #[tokio::test]
    async fn a_probe_is_selected_once_it_has_said_hello() {
        let registry = ProbeRegistry::default();
        assert_eq!(selected(&registry, None), None);
        assert!(send_hello(&registry, CLUSTER, "one", &hello(100_000)));
        assert_eq!(selected(&registry, None).as_deref(), Some("one"));
        assert_eq!(selected(&registry, Some("one")), None);
        assert!(send_hello(&registry, CLUSTER, "one", &Hello { leaves: true, ..hello(100_001) }));
        assert_eq!(selected(&registry, None), None);
    }

    #[tokio::test]
    async fn a_hello_that_is_wrongly_sealed_old_or_repeated_is_ignored() {
        let registry = ProbeRegistry::default();
        assert!(!send_hello(&registry, 2, "one", &hello(100_000)));
        assert!(!send_hello(&registry, CLUSTER, "one", &hello(100_000 - 15_001)));
        assert!(!send_hello(&registry, CLUSTER, "one", &hello(100_000 + 15_001)));
        assert!(send_hello(&registry, CLUSTER, "one", &hello(100_000)));
        assert!(!send_hello(&registry, CLUSTER, "one", &hello(100_000)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_recorded_hello_does_not_bring_back_a_probe_that_left_or_is_gone() {
        for leaves in [true, false] {
            let registry = ProbeRegistry::default();
            assert!(send_hello(&registry, CLUSTER, "one", &hello(99_000)));
            assert!(send_hello(&registry, CLUSTER, "one", &hello(100_000)));
            if leaves {
                assert!(send_hello(&registry, CLUSTER, "one", &Hello { leaves, ..hello(100_001) }));
            } else {
                registry.remove(&region(), &name("one"));
            }
            assert_eq!(selected(&registry, None), None);
            for recorded in [99_000, 100_000] {
                assert!(!send_hello(&registry, CLUSTER, "one", &hello(recorded)), "{recorded}");
            }
            tokio::time::advance(PRESENCE_TIMEOUT * 2).await;
            registry.publish_metrics();
            assert!(
                !send_hello(&registry, CLUSTER, "one", &hello(100_000)),
                "after it was removed"
            );
            assert_eq!(selected(&registry, None), None);
            assert!(send_hello(&registry, CLUSTER, "one", &hello(101_000)), "a new one counts");
            assert_eq!(selected(&registry, None).as_deref(), Some("one"));
        }
    }

    #[tokio::test]
    async fn a_probes_hello_is_bounded() {
        let registry = ProbeRegistry::default();
        let version = format!("1\u{1b}[31m{}", "x".repeat(10_000));
        let odd = Hello { version, since: i64::MAX, lag: u64::MAX, ..hello(100_000) };
        assert!(send_hello(&registry, CLUSTER, "one", &odd));
        let probe = &registry.views()[0].probes[0];
        assert_eq!(probe.version.chars().count(), 64);
        assert!(!probe.version.contains(char::is_control), "{:?}", probe.version);
        assert_eq!((probe.since, probe.lag), (Millis(100_000), 3_600_000));
    }

    #[tokio::test]
    async fn a_revoked_probe_gets_no_work_and_its_hellos_are_ignored() {
        let registry = ProbeRegistry::default();
        assert!(send_hello(&registry, CLUSTER, "one", &hello(100_000)));
        registry.revoke([name("one")].into());
        assert_eq!(selected(&registry, None), None);
        assert!(!send_hello(&registry, CLUSTER, "one", &hello(100_001)));
        registry.revoke(HashSet::new());
        assert!(send_hello(&registry, CLUSTER, "one", &hello(100_002)));
    }

    #[tokio::test]
    async fn a_silent_probe_is_selected_when_there_is_no_other() {
        let registry = ProbeRegistry::default();
        for probe in ["one", "two"] {
            assert!(send_hello(&registry, CLUSTER, probe, &hello(100_000)));
        }
        registry.set_silent(&region(), &name("one"), true);
        for _ in 0..4 {
            assert_eq!(selected(&registry, None).as_deref(), Some("two"));
        }
        assert_eq!(selected(&registry, Some("two")).as_deref(), Some("one"));
        assert!(send_hello(&registry, CLUSTER, "one", &hello(100_001)), "it is responsive again");
        let both: HashSet<_> = (0..4).filter_map(|_| selected(&registry, None)).collect();
        assert_eq!(both.len(), 2);
    }

    #[tokio::test]
    async fn elsewhere_is_any_other_region_with_a_probe_that_answers() {
        let registry = ProbeRegistry::default();
        let elsewhere = || {
            let chosen = (0..6).filter_map(|_| registry.select_in_other_region(&region(), &[]));
            chosen.map(|probe| format!("{} {}", probe.region, probe.name)).collect::<HashSet<_>>()
        };
        let [us, ap] = ["us", "ap"].map(|name| Region::parse(name).expect("a region"));
        assert!(send_hello(&registry, CLUSTER, "one", &hello(100_000)));
        assert!(elsewhere().is_empty(), "only its own region has a probe");
        assert!(send_hello_from(&registry, &us, CLUSTER, "two", &hello(100_000)));
        assert!(send_hello_from(&registry, &ap, CLUSTER, "three", &hello(100_000)));
        assert_eq!(elsewhere(), ["us two".to_owned(), "ap three".to_owned()].into());
        registry.set_silent(&us, &name("two"), true);
        assert_eq!(elsewhere(), ["ap three".to_owned()].into());
        registry.revoke([name("three")].into());
        assert!(elsewhere().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_probe_without_a_recent_hello_is_gone() {
        let registry = ProbeRegistry::default();
        assert!(send_hello(&registry, CLUSTER, "one", &hello(100_000)));
        tokio::time::advance(PRESENCE_TIMEOUT).await;
        assert_eq!(selected(&registry, None), None);
        assert!(registry.views().is_empty());
    }

    #[test]
    fn a_probe_of_an_earlier_version_gets_no_check_that_it_cannot_run() {
        let registry = ProbeRegistry::default();
        let needs = &[protocol::ASSERTIONS];
        let selected = || {
            let probe = registry.select(&region(), None, needs);
            probe.map(|probe| probe.name.to_string())
        };
        assert_eq!(registry.missing_feature(&region(), needs), None, "there is no probe at all");
        assert!(send_hello(&registry, CLUSTER, "old", &hello(100_000)));
        assert_eq!(selected(), None);
        assert_eq!(registry.missing_feature(&region(), needs), Some("assertions"));
        assert!(registry.select(&region(), None, &[]).is_some(), "it still runs other checks");
        let features = protocol::FEATURES.iter().map(|&feature| feature.to_owned()).collect();
        let new = Hello { features, ..hello(100_000) };
        assert!(send_hello(&registry, CLUSTER, "new", &new));
        assert_eq!(selected().as_deref(), Some("new"));
        assert_eq!(registry.missing_feature(&region(), needs), None);
        // A hello of an earlier version has no list.
        let old = r#"{"version": "0.1.0", "at": 1, "since": 0, "lag": 0, "leaves": false}"#;
        assert!(serde_json::from_str::<Hello>(old).expect("reads").features.is_empty());
    }
}
