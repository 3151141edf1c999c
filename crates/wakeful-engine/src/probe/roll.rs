//! Who is there: the probes that have said hello lately, and those that are
//! believed no longer. A hello that is sealed wrongly, old, or from a revoked
//! probe counts for nothing.

use futures_util::StreamExt as _;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;
use wakeful_core::chain::Chain;
use wakeful_core::region::{ProbeName, Region};
use wakeful_core::seal::Key;
use wakeful_core::time::Millis;

use super::protocol::{self, Hello, MAX_HELLO_AGE, ProbeKey};
use super::{ProbeView, Probes, RegionView};
use crate::Engine;
use crate::bus::nats::Subscriber;

/// Without a sign of life for so long, a probe is gone.
const GONE: Duration = Duration::from_secs(15);
const TICK: Duration = Duration::from_secs(5);
/// A hello is fresh for `MAX_HELLO_AGE` on either side of the node's time, so it is too
/// old to be repeated by then.
const REPLAY_WINDOW: Duration = Duration::from_secs(2 * MAX_HELLO_AGE.as_secs() + 1);

#[derive(Default)]
pub(super) struct Roll {
    present: Mutex<HashMap<Region, Vec<Present>>>,
    /// The last hello of each probe, also of one that has left or is gone: whoever
    /// recorded it cannot bring the probe back.
    last_hellos: Mutex<HashMap<(Region, ProbeName), LastHello>>,
    revoked: Mutex<HashSet<ProbeName>>,
    turn: AtomicUsize,
}

struct Present {
    name: ProbeName,
    key: ProbeKey,
    hello: Hello,
    heard: Instant,
    /// It has left an ask without an answer, and said nothing since.
    silent: bool,
}

struct LastHello {
    /// The probe's time, in milliseconds.
    at: i64,
    received: Instant,
}

/// A probe to be asked.
#[derive(Clone)]
pub(super) struct Chosen {
    pub(super) region: Region,
    pub(super) name: ProbeName,
    pub(super) key: ProbeKey,
}

impl Roll {
    /// A probe of the region, another each time; one that is silent only when
    /// there is no other.
    pub(super) fn choose(&self, region: &Region, but: Option<&ProbeName>) -> Option<Chosen> {
        let present = self.lock();
        let probes = present.get(region)?.iter().map(|probe| (region, probe));
        let there = self.believed(probes.filter(|(_, probe)| Some(&probe.name) != but));
        let lively: Vec<_> = there.iter().copied().filter(|(_, probe)| !probe.silent).collect();
        self.one_of(if lively.is_empty() { &there } else { &lively })
    }

    /// A probe of any other region, another each time. A silent one is not worth
    /// the wait: somebody has looked already.
    pub(super) fn choose_elsewhere(&self, region: &Region) -> Option<Chosen> {
        let present = self.lock();
        let others = present.iter().filter(|(other, _)| *other != region);
        let probes = others.flat_map(|(other, probes)| probes.iter().map(move |one| (other, one)));
        self.one_of(&self.believed(probes.filter(|(_, probe)| !probe.silent)))
    }

    /// Of these, the ones that were heard of lately and are not revoked.
    fn believed<'a>(
        &self,
        probes: impl Iterator<Item = (&'a Region, &'a Present)>,
    ) -> Vec<(&'a Region, &'a Present)> {
        let revoked = self.revoked();
        probes
            .filter(|(_, probe)| probe.heard.elapsed() < GONE && !revoked.contains(&probe.name))
            .collect()
    }

    fn one_of(&self, among: &[(&Region, &Present)]) -> Option<Chosen> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let (region, probe) = among.get(turn.checked_rem(among.len())?)?;
        let (name, key) = (probe.name.clone(), probe.key.clone());
        Some(Chosen { region: (*region).clone(), name, key })
    }

    /// Takes note of a hello; false when it counts for nothing.
    pub(super) fn note(&self, cluster: &[Key], subject: &str, message: &[u8], now: Millis) -> bool {
        let Some((region, name)) = protocol::who(subject) else { return false };
        let key = ProbeKey::of_cluster(cluster, &region, &name);
        let Some(hello) = key.open_hello(message) else {
            metrics::counter!("wakeful_probe_refused_total", "why" => "seal").increment(1);
            return false;
        };
        if Duration::from_millis(now.0.abs_diff(hello.at)) > MAX_HELLO_AGE {
            metrics::counter!("wakeful_probe_refused_total", "why" => "clock").increment(1);
            tracing::warn!(probe = %name, "ignored a hello of probe {name}: it is repeated, or the clock of the probe differs by more than {} s", MAX_HELLO_AGE.as_secs());
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
        self.keep(&region, name, key, hello.sanitized());
        true
    }

    /// Whether this hello is newer than every one before it, which it then is the last of.
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

    fn keep(&self, region: &Region, name: ProbeName, key: ProbeKey, hello: Hello) {
        let mut present = self.lock();
        let probes = present.entry(region.clone()).or_default();
        let known = probes.iter().position(|probe| probe.name == name);
        if let Some(at) = known {
            probes.remove(at);
        }
        if hello.leaves {
            tracing::info!(probe = %name, "probe {name} of region {region} leaves");
            return;
        }
        if known.is_none() {
            tracing::info!(probe = %name, "probe {name} of region {region} is there ({})", hello.version);
        }
        probes.push(Present { name, key, hello, heard: Instant::now(), silent: false });
        probes.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// Nobody listens at its subject: it is gone.
    pub(super) fn gone(&self, region: &Region, name: &ProbeName) {
        let mut present = self.lock();
        if let Some(probes) = present.get_mut(region) {
            probes.retain(|probe| probe.name != *name);
        }
    }

    /// It left an ask without an answer: others are asked first from now on.
    pub(super) fn silent(&self, region: &Region, name: &ProbeName, silent: bool) {
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

    /// Those that are there, region by region.
    pub(super) fn views(&self) -> Vec<RegionView> {
        let present = self.lock();
        let regions = present.iter().map(|(region, probes)| {
            let live = probes.iter().filter(|probe| probe.heard.elapsed() < GONE);
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

    /// Counts the probes of every region that was ever there, for the metrics.
    fn measure(&self) {
        for (region, probes) in self.lock().iter_mut() {
            probes.retain(|probe| probe.heard.elapsed() < GONE * 2);
            let live = probes.iter().filter(|probe| probe.heard.elapsed() < GONE);
            let lag = live.clone().map(|probe| probe.hello.lag).max().unwrap_or(0);
            let labels = [("region", region.to_string())];
            metrics::gauge!("wakeful_region_probes", &labels).set(live.count() as f64);
            metrics::gauge!("wakeful_region_lag_seconds", &labels).set(lag as f64 / 1_000.0);
        }
    }

    /// A region that monitors name, so that the metrics tell of it when nobody is there.
    pub(super) fn missed(&self, region: &Region) {
        self.lock().entry(region.clone()).or_default();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Region, Vec<Present>>> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn revoked(&self) -> MutexGuard<'_, HashSet<ProbeName>> {
        self.revoked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn view(probe: &Present) -> ProbeView {
    ProbeView {
        name: probe.name.to_string(),
        version: probe.hello.version.clone(),
        since: Millis(probe.hello.since),
        last_seen: Millis(probe.hello.at),
        lag: probe.hello.lag,
    }
}

/// Keeps the roll and takes in the answers until told to stop.
pub async fn run(engine: Engine, shutdown: CancellationToken) {
    let Some(probes) = engine.probes() else { return };
    tokio::select! {
        () = hear(&engine, probes) => {}
        () = take_answers(probes) => {}
        () = look_after(&engine, probes) => {}
        () = shutdown.cancelled() => {}
    }
}

/// Hears who is there, and calls for them whenever the bus comes back.
async fn hear(engine: &Engine, probes: &Probes) {
    let mut hellos = subscribed(probes, protocol::HELLOS).await;
    let mut connection = probes.nats().connection();
    let mut called = false;
    loop {
        if !called && probes.is_connected() {
            // Who is there says so at once, and need not be waited for.
            called = probes.nats().publish(protocol::ROLLCALL.to_owned(), Vec::new()).await;
        }
        tokio::select! {
            Some(hello) = hellos.next() => {
                probes.roll().note(probes.cluster(), &hello.subject, &hello.payload, engine.now());
            }
            changed = connection.changed() => match changed {
                Ok(()) => called = false,
                Err(_) => return,
            },
        }
    }
}

async fn take_answers(probes: &Probes) {
    let mut answers = subscribed(probes, &format!("{}.*", probes.inbox())).await;
    while let Some(answer) = answers.next().await {
        probes.take(&answer);
    }
}

async fn look_after(engine: &Engine, probes: &Probes) {
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        refresh(engine, probes).await;
        probes.sweep();
        probes.roll().measure();
    }
}

async fn subscribed(probes: &Probes, subject: &str) -> Subscriber {
    loop {
        match probes.nats().subscribe(subject).await {
            Some(messages) => return messages,
            None => sleep(TICK).await,
        }
    }
}

/// Reads who is believed no longer. When the store is away, those known stay so.
async fn refresh(engine: &Engine, probes: &Probes) {
    match engine.store().revoked_probes().await {
        Ok(names) => probes.roll().revoke(names.into_iter().collect()),
        Err(error) => {
            tracing::warn!(error = %Chain(&error), "the revoked probes cannot be read");
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
        Hello { version: "1".into(), at, since: 0, lag: 3, leaves: false }
    }

    fn say(roll: &Roll, cluster: u8, probe: &str, hello: &Hello) -> bool {
        say_in(roll, &region(), cluster, probe, hello)
    }

    fn say_in(roll: &Roll, region: &Region, cluster: u8, probe: &str, hello: &Hello) -> bool {
        let key = ProbeKey::of_cluster(&[Key::new([cluster; 32])], region, &name(probe));
        let subject = protocol::hello_subject(region, &name(probe));
        roll.note(&[Key::new([CLUSTER; 32])], &subject, &key.seal_hello(hello), Millis(100_000))
    }

    fn chosen(roll: &Roll, but: Option<&str>) -> Option<String> {
        roll.choose(&region(), but.map(name).as_ref()).map(|probe| probe.name.to_string())
    }

    #[tokio::test]
    async fn a_probe_is_asked_once_it_has_said_hello() {
        let roll = Roll::default();
        assert_eq!(chosen(&roll, None), None);
        assert!(say(&roll, CLUSTER, "one", &hello(100_000)));
        assert_eq!(chosen(&roll, None).as_deref(), Some("one"));
        assert_eq!(chosen(&roll, Some("one")), None);
        assert!(say(&roll, CLUSTER, "one", &Hello { leaves: true, ..hello(100_001) }));
        assert_eq!(chosen(&roll, None), None);
    }

    #[tokio::test]
    async fn a_hello_that_is_not_sealed_right_old_or_repeated_counts_for_nothing() {
        let roll = Roll::default();
        assert!(!say(&roll, 2, "one", &hello(100_000)));
        assert!(!say(&roll, CLUSTER, "one", &hello(100_000 - 15_001)));
        assert!(!say(&roll, CLUSTER, "one", &hello(100_000 + 15_001)));
        assert!(say(&roll, CLUSTER, "one", &hello(100_000)));
        assert!(!say(&roll, CLUSTER, "one", &hello(100_000)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_recorded_hello_does_not_bring_back_a_probe_that_left_or_is_gone() {
        for leaves in [true, false] {
            let roll = Roll::default();
            assert!(say(&roll, CLUSTER, "one", &hello(99_000)));
            assert!(say(&roll, CLUSTER, "one", &hello(100_000)));
            match leaves {
                true => assert!(say(&roll, CLUSTER, "one", &Hello { leaves, ..hello(100_001) })),
                false => roll.gone(&region(), &name("one")),
            }
            assert_eq!(chosen(&roll, None), None);
            for recorded in [99_000, 100_000] {
                assert!(!say(&roll, CLUSTER, "one", &hello(recorded)), "{recorded}");
            }
            tokio::time::advance(GONE * 2).await;
            roll.measure();
            assert!(!say(&roll, CLUSTER, "one", &hello(100_000)), "after it was removed");
            assert_eq!(chosen(&roll, None), None);
            assert!(say(&roll, CLUSTER, "one", &hello(101_000)), "a new one counts");
            assert_eq!(chosen(&roll, None).as_deref(), Some("one"));
        }
    }

    #[tokio::test]
    async fn what_a_probe_says_of_itself_is_bounded() {
        let roll = Roll::default();
        let version = format!("1\u{1b}[31m{}", "x".repeat(10_000));
        let odd = Hello { version, since: i64::MAX, lag: u64::MAX, ..hello(100_000) };
        assert!(say(&roll, CLUSTER, "one", &odd));
        let probe = &roll.views()[0].probes[0];
        assert_eq!(probe.version.chars().count(), 64);
        assert!(!probe.version.contains(char::is_control), "{:?}", probe.version);
        assert_eq!((probe.since, probe.lag), (Millis(100_000), 3_600_000));
    }

    #[tokio::test]
    async fn a_revoked_probe_gets_nothing_and_is_not_heard() {
        let roll = Roll::default();
        assert!(say(&roll, CLUSTER, "one", &hello(100_000)));
        roll.revoke([name("one")].into());
        assert_eq!(chosen(&roll, None), None);
        assert!(!say(&roll, CLUSTER, "one", &hello(100_001)));
        roll.revoke(HashSet::new());
        assert!(say(&roll, CLUSTER, "one", &hello(100_002)));
    }

    #[tokio::test]
    async fn a_silent_probe_is_asked_when_there_is_no_other() {
        let roll = Roll::default();
        for probe in ["one", "two"] {
            assert!(say(&roll, CLUSTER, probe, &hello(100_000)));
        }
        roll.silent(&region(), &name("one"), true);
        for _ in 0..4 {
            assert_eq!(chosen(&roll, None).as_deref(), Some("two"));
        }
        assert_eq!(chosen(&roll, Some("two")).as_deref(), Some("one"));
        assert!(say(&roll, CLUSTER, "one", &hello(100_001)), "it lives after all");
        let both: HashSet<_> = (0..4).filter_map(|_| chosen(&roll, None)).collect();
        assert_eq!(both.len(), 2);
    }

    #[tokio::test]
    async fn elsewhere_is_any_other_region_with_a_probe_that_answers() {
        let roll = Roll::default();
        let elsewhere = || {
            let chosen = (0..6).filter_map(|_| roll.choose_elsewhere(&region()));
            chosen.map(|probe| format!("{} {}", probe.region, probe.name)).collect::<HashSet<_>>()
        };
        let [us, ap] = ["us", "ap"].map(|name| Region::parse(name).expect("a region"));
        assert!(say(&roll, CLUSTER, "one", &hello(100_000)));
        assert!(elsewhere().is_empty(), "only its own region has a probe");
        assert!(say_in(&roll, &us, CLUSTER, "two", &hello(100_000)));
        assert!(say_in(&roll, &ap, CLUSTER, "three", &hello(100_000)));
        assert_eq!(elsewhere(), ["us two".to_owned(), "ap three".to_owned()].into());
        roll.silent(&us, &name("two"), true);
        assert_eq!(elsewhere(), ["ap three".to_owned()].into());
        roll.revoke([name("three")].into());
        assert!(elsewhere().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_probe_that_is_no_longer_heard_is_gone() {
        let roll = Roll::default();
        assert!(say(&roll, CLUSTER, "one", &hello(100_000)));
        tokio::time::advance(GONE).await;
        assert_eq!(chosen(&roll, None), None);
        assert!(roll.views().is_empty());
    }
}
