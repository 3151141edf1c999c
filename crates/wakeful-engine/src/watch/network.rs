//! Is it them or us: whether our own network is down, so that nothing can be
//! said about anybody's target. Only local evidence counts. Several monitors on
//! several hosts must meet silence or no way at all, nothing outside may have
//! answered meanwhile, and a sentinel must fail: there is no default route whose
//! cable is in and whose router answers, or most of the operator's own addresses
//! are silent.

use futures_util::future::join_all;
use std::collections::{HashSet, VecDeque};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::id::MonitorId;
use wakeful_core::monitor::Spec;
use wakeful_core::observation::{Evidence, Fault, FaultKind, Observation};
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
        match looked {
            Err(fault) => Seen::Fault(fault),
            Ok(seen) if seen.evidence.proves_network() => {
                self.answered(spec);
                Seen::Observation(seen)
            }
            // Boxed: few checks need its space.
            Ok(seen) => Box::pin(self.doubt(net, monitor, spec, interval, seen)).await,
        }
    }

    /// What was seen and may be owed to our own network.
    async fn doubt(
        &self,
        net: &Net,
        monitor: MonitorId,
        spec: &Spec,
        interval: Duration,
        seen: Observation,
    ) -> Seen {
        let Some((host, _)) = place(spec).filter(|(host, _)| !is_local(host)) else {
            return Seen::Observation(seen);
        };
        // A check that waits in vain for its whole interval skips the one behind it.
        let window = (interval * 2).min(LONGEST_WINDOW);
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
        no_way_out() || (!self.sentinels.is_empty() && self.most_are_silent(net).await)
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

/// Whether this machine has no way out, IPv4 or IPv6: no default route, or none
/// whose cable is plugged in and whose router answers. Where that cannot be read,
/// nothing is claimed.
fn no_way_out() -> bool {
    let read = |path: &str| std::fs::read_to_string(path);
    let Ok(v4) = read("/proc/net/route") else { return false };
    let v6 = read("/proc/net/ipv6_route").unwrap_or_default();
    let neighbours = read("/proc/net/arp").unwrap_or_default();
    let plugged_in = |iface: &str| {
        !read(&format!("/sys/class/net/{iface}/carrier")).is_ok_and(|carrier| carrier.trim() == "0")
    };
    let mut v4 = v4_defaults(&v4);
    let mut v6 = v6_defaults(&v6);
    !v4.any(|(iface, router)| plugged_in(iface) && !is_silent(router, iface, &neighbours))
        && !v6.any(plugged_in)
}

const UP: u32 = 0x1;
const REJECT: u32 = 0x200;

/// The ways out, each with its router, unspecified where it needs none.
/// `Iface Destination Gateway Flags … Mask …`, a line a route, in hex.
fn v4_defaults(table: &str) -> impl Iterator<Item = (&str, Ipv4Addr)> {
    table.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let hex = |place: usize| u32::from_str_radix(fields.get(place)?, 16).ok();
        let is_default = (hex(1)?, hex(7)?) == (0, 0) && is_usable(hex(3)?);
        // The kernel writes an address as the number that its bytes are in memory.
        is_default.then_some((*fields.first()?, Ipv4Addr::from(hex(2)?.to_ne_bytes())))
    })
}

/// `destination length source length gateway metric references use flags iface`.
fn v6_defaults(table: &str) -> impl Iterator<Item = &str> {
    table.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let flags = u32::from_str_radix(fields.get(8)?, 16).ok()?;
        let to_all = fields.first()?.bytes().all(|b| b == b'0') && fields.get(1) == Some(&"00");
        let iface = *fields.get(9)?;
        (to_all && is_usable(flags) && iface != "lo").then_some(iface)
    })
}

fn is_usable(flags: u32) -> bool {
    flags & UP != 0 && flags & REJECT == 0
}

/// Whether the kernel asked a router for its hardware address, and in vain.
/// `address type flags hardware mask device`, a line a neighbour.
fn is_silent(router: Ipv4Addr, iface: &str, neighbours: &str) -> bool {
    neighbours.lines().skip(1).any(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        fields.first().and_then(|address| address.parse().ok()) == Some(router)
            && fields.get(2) == Some(&"0x0")
            && fields.get(5) == Some(&iface)
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
        assert!(v4_defaults(&way).eq([("eth0", Ipv4Addr::new(10, 0, 2, 1))]));
        let lan = format!("{HEADER}eth0\t0002000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n");
        assert_eq!(v4_defaults(&lan).count(), 0);
        assert_eq!(v4_defaults(HEADER).count(), 0);
        let zeros = "0".repeat(32);
        let way = format!("{zeros} 00 {zeros} 00 {zeros} 00000400 1 0 00000003 eth0\n");
        assert!(v6_defaults(&way).eq(["eth0"]));
        let unreachable = format!("{zeros} 00 {zeros} 00 {zeros} ffffffff 1 0 00200200 lo\n");
        assert_eq!(v6_defaults(&unreachable).count(), 0);
    }

    #[test]
    fn a_router_that_does_not_answer_is_told_in_the_table_of_neighbours() {
        let table = "IP address HW type Flags HW address Mask Device\n\
            10.0.2.1 0x1 0x0 00:00:00:00:00:00 * eth0\n\
            10.0.2.2 0x1 0x2 52:54:00:12:34:56 * eth0\n";
        let silent = |last, iface| is_silent(Ipv4Addr::new(10, 0, 2, last), iface, table);
        assert!(silent(1, "eth0"));
        assert!(!silent(1, "eth1") && !silent(2, "eth0") && !silent(3, "eth0"));
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
