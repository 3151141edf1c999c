//! Is it them or us: whether our own network is down, so that nothing can be
//! said about anybody's target. Only local evidence counts. Several monitors on
//! several hosts must meet silence or no way at all, nothing outside may have
//! answered meanwhile, and a sentinel must fail: the default route is gone, or
//! most of the operator's own addresses do not answer.

use futures_util::future::join_all;
use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::id::MonitorId;
use wakeful_core::monitor::Spec;
use wakeful_core::observation::{Evidence, Fault, FaultKind};
use wakeful_core::verdict::Seen;
use wakeful_outbound::net::{Deadline, Net};

use super::Looked;
use super::entry::{is_local, place};

const MONITORS: usize = 3;
const HOSTS: usize = 2;
/// Failures further apart than this are no single event.
const LONGEST_WINDOW: Duration = Duration::from_secs(300);
/// More failures than these say nothing new.
const KEPT: usize = 64;
/// How long a sentinel's word holds.
const ASK_EVERY: Duration = Duration::from_secs(10);
const SENTINEL_TIMEOUT: Duration = Duration::from_secs(3);
/// After this the operator is told once more, louder.
const TOO_LONG: Duration = Duration::from_secs(600);

pub(crate) struct Network {
    sentinels: Vec<(String, u16)>,
    seen: Mutex<Evidences>,
    /// Whether there are failures at all: spares the usual check the lock.
    troubled: AtomicBool,
    /// When the sentinels were asked and whether they were silent. Only one
    /// check asks at a time; the others wait for its answer.
    asked: tokio::sync::Mutex<Option<(Instant, bool)>>,
}

#[derive(Default)]
struct Evidences {
    failures: VecDeque<Failure>,
    /// Since when checks are held back.
    held_since: Option<Instant>,
    told_louder: bool,
}

struct Failure {
    at: Instant,
    monitor: MonitorId,
    host: String,
}

impl Network {
    /// `sentinels` are hosts and ports that the operator knows to answer.
    pub(crate) fn new(sentinels: Vec<(String, u16)>) -> Self {
        Self {
            sentinels,
            seen: Mutex::default(),
            troubled: AtomicBool::new(false),
            asked: tokio::sync::Mutex::new(None),
        }
    }

    /// What was seen, or a fault in its place when our own network is to blame.
    pub(crate) async fn judge(
        &self,
        net: &Net,
        monitor: MonitorId,
        spec: &Spec,
        interval: Duration,
        looked: Looked,
    ) -> Seen {
        let seen = match looked {
            Ok(seen) => seen,
            Err(fault) => return Seen::Fault(fault),
        };
        if seen.evidence.proves_network() {
            self.answered(spec);
            return Seen::Observation(seen);
        }
        let Some((host, _)) = place(spec).filter(|(host, _)| !is_local(host)) else {
            return Seen::Observation(seen);
        };
        let window = interval.min(LONGEST_WINDOW);
        if !self.suspects(Failure { at: Instant::now(), monitor, host }, window) {
            return Seen::Observation(seen);
        }
        match self.sentinels_fail(net).await {
            false => {
                self.release("the sentinels answer");
                Seen::Observation(seen)
            }
            true => {
                self.hold();
                Seen::Fault(Fault::new(FaultKind::Network, held(seen.evidence)))
            }
        }
    }

    /// Something came from outside: nothing that failed before counts.
    fn answered(&self, spec: &Spec) {
        // The common case, without looking at where the target is.
        if !self.troubled.load(Ordering::Relaxed) {
            return;
        }
        if place(spec).is_some_and(|(host, _)| !is_local(&host)) {
            self.release("a target answers");
        }
    }

    /// Notes a failure; true when enough of them speak of one event.
    fn suspects(&self, failure: Failure, window: Duration) -> bool {
        let mut seen = self.lock();
        self.troubled.store(true, Ordering::Relaxed);
        let now = failure.at;
        seen.failures.retain(|old| now.duration_since(old.at) <= window);
        if seen.failures.len() >= KEPT {
            seen.failures.pop_front();
        }
        seen.failures.push_back(failure);
        let monitors: HashSet<MonitorId> = seen.failures.iter().map(|old| old.monitor).collect();
        let hosts: HashSet<&str> = seen.failures.iter().map(|old| old.host.as_str()).collect();
        monitors.len() >= MONITORS && hosts.len() >= HOSTS
    }

    async fn sentinels_fail(&self, net: &Net) -> bool {
        no_default_route() || (!self.sentinels.is_empty() && self.most_are_silent(net).await)
    }

    /// Whether fewer than two in three of the operator's addresses answer.
    async fn most_are_silent(&self, net: &Net) -> bool {
        let mut asked = self.asked.lock().await;
        if let Some((_, silent)) = asked.filter(|(at, _)| at.elapsed() < ASK_EVERY) {
            return silent;
        }
        let by = Deadline::within(SENTINEL_TIMEOUT);
        let tries = self.sentinels.iter().map(|(host, port)| net.connect(host, *port, by));
        let answers = join_all(tries).await.iter().filter(|tried| tried.is_ok()).count();
        let silent = answers * 3 < self.sentinels.len() * 2;
        *asked = Some((Instant::now(), silent));
        silent
    }

    fn hold(&self) {
        let mut seen = self.lock();
        let since = *seen.held_since.get_or_insert_with(|| {
            tracing::warn!(
                "our own network seems to be down: failing checks count as unknown until it is back"
            );
            metrics::gauge!("wakeful_network_held").set(1.0);
            Instant::now()
        });
        if since.elapsed() >= TOO_LONG && !seen.told_louder {
            seen.told_louder = true;
            tracing::error!(
                "our own network has been down for {} minutes: nothing is known of remote targets",
                since.elapsed().as_secs() / 60
            );
        }
    }

    fn release(&self, why: &str) {
        let mut seen = self.lock();
        seen.failures.clear();
        self.troubled.store(false, Ordering::Relaxed);
        seen.told_louder = false;
        if seen.held_since.take().is_some() {
            tracing::info!("our own network is back: {why}");
            metrics::gauge!("wakeful_network_held").set(0.0);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Evidences> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn held(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Unreachable => "our own network is down: the target cannot be reached from here",
        _ => "our own network is down: no answer could arrive",
    }
}

/// Whether this machine knows no way out, IPv4 or IPv6. Where that cannot be
/// read, nothing is claimed.
fn no_default_route() -> bool {
    let v4 = std::fs::read_to_string("/proc/net/route");
    let v6 = std::fs::read_to_string("/proc/net/ipv6_route").unwrap_or_default();
    v4.is_ok_and(|v4| !has_v4_default(&v4) && !has_v6_default(&v6))
}

const UP: u32 = 0x1;
const REJECT: u32 = 0x200;

/// `Iface Destination Gateway Flags … Mask …`, a line a route, in hex.
fn has_v4_default(table: &str) -> bool {
    table.lines().skip(1).any(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let flags = fields.get(3).and_then(|hex| u32::from_str_radix(hex, 16).ok()).unwrap_or(0);
        fields.get(1) == Some(&"00000000")
            && fields.get(7) == Some(&"00000000")
            && flags & UP != 0
            && flags & REJECT == 0
    })
}

/// `destination length source length gateway metric references use flags iface`.
fn has_v6_default(table: &str) -> bool {
    table.lines().any(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let flags = fields.get(8).and_then(|hex| u32::from_str_radix(hex, 16).ok()).unwrap_or(0);
        fields.first().is_some_and(|to| to.bytes().all(|b| b == b'0'))
            && fields.get(1) == Some(&"00")
            && fields.get(9).is_some_and(|iface| *iface != "lo")
            && flags & UP != 0
            && flags & REJECT == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeful_core::time::Millis;

    const HEADER: &str = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\t…\n";

    fn failure(monitor: u8, host: &str) -> Failure {
        let monitor = MonitorId::new(Millis(0), [monitor; 10]);
        Failure { at: Instant::now(), monitor, host: host.into() }
    }

    #[test]
    fn a_default_route_is_found_in_the_kernels_tables() {
        let way = format!("{HEADER}eth0\t00000000\t0102000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n");
        assert!(has_v4_default(&way));
        let lan = format!("{HEADER}eth0\t0002000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n");
        assert!(!has_v4_default(&lan));
        assert!(!has_v4_default(HEADER));
        let zeros = "0".repeat(32);
        let way = format!("{zeros} 00 {zeros} 00 {zeros} 00000400 1 0 00000003 eth0\n");
        assert!(has_v6_default(&way));
        let unreachable = format!("{zeros} 00 {zeros} 00 {zeros} ffffffff 1 0 00200200 lo\n");
        assert!(!has_v6_default(&unreachable));
    }

    #[test]
    fn three_monitors_on_two_hosts_raise_a_suspicion() {
        let network = Network::new(Vec::new());
        let minute = Duration::from_secs(60);
        assert!(!network.suspects(failure(1, "a"), minute));
        assert!(!network.suspects(failure(1, "b"), minute));
        assert!(!network.suspects(failure(1, "a"), minute));
        assert!(!network.suspects(failure(2, "a"), minute));
        assert!(network.suspects(failure(3, "a"), minute));
    }

    #[test]
    fn one_host_alone_is_that_hosts_trouble() {
        let network = Network::new(Vec::new());
        for monitor in 0..50 {
            assert!(!network.suspects(failure(monitor, "a"), Duration::from_secs(60)));
        }
    }

    #[test]
    fn an_answer_from_outside_ends_it_and_one_from_this_machine_does_not() {
        let network = Network::new(Vec::new());
        let minute = Duration::from_secs(60);
        for (monitor, host) in [(1, "a"), (2, "b"), (3, "c")] {
            network.suspects(failure(monitor, host), minute);
        }
        network.hold();
        network.answered(&tcp("127.0.0.1"));
        network.answered(&tcp("localhost"));
        assert!(network.lock().held_since.is_some());
        network.answered(&tcp("192.0.2.1"));
        assert!(network.lock().held_since.is_none());
        assert!(network.lock().failures.is_empty());
    }

    fn tcp(host: &str) -> Spec {
        use wakeful_core::monitor::spec::{Hostname, TcpSpec};
        Spec::Tcp(TcpSpec { hostname: Hostname::parse(host).expect("a host"), port: 80 })
    }
}
