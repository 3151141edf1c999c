//! Detects whether our own network is down, in which case failures say nothing about the
//! targets. Only local evidence counts. Several monitors on several hosts must time out or
//! be unreachable, nothing outside may have responded meanwhile, and a sentinel must fail:
//! no default route has a link and a router that responds, or most of the addresses that the
//! operator configured do not respond.

use futures_util::future::join_all;
use std::collections::{HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::id::MonitorId;
use wakeful_core::monitors::Spec;
use wakeful_core::observation::{Contact, Fault, FaultKind};
use wakeful_core::verdict::Input;
use wakeful_outbound::net::routes::{Route, v4_routes, v6_routes};
use wakeful_outbound::net::{Deadline, Net};

use super::CheckResult;
use super::entry::is_local;

const MIN_MONITORS: usize = 3;
const MIN_HOSTS: usize = 2;
/// Failures further apart than this are separate events.
const MAX_WINDOW: Duration = Duration::from_secs(300);
/// More failures add no information.
const MAX_FAILURES: usize = 64;
/// How long the result of the sentinels is valid.
const SENTINEL_RESULT_LIFETIME: Duration = Duration::from_secs(10);
const SENTINEL_TIMEOUT: Duration = Duration::from_secs(3);
/// After this time, an error is logged.
const ESCALATE_AFTER: Duration = Duration::from_secs(600);

pub(crate) struct Connectivity {
    sentinels: Vec<(String, u16)>,
    failure_log: Mutex<FailureLog>,
    /// Whether there are failures: spares most checks the lock.
    has_failures: AtomicBool,
    /// When the sentinels were tried and whether they failed. Only one check tries them at
    /// a time; the others wait for its result.
    sentinel_result: tokio::sync::Mutex<Option<(Instant, bool)>>,
}

#[derive(Default)]
struct FailureLog {
    failures: VecDeque<Failure>,
    /// Since when failures have been suspended.
    suspended_since: Option<Instant>,
    escalated: bool,
}

struct Failure {
    at: Instant,
    monitor: MonitorId,
    host: String,
}

impl Connectivity {
    /// `sentinels` are hosts and ports that respond reliably.
    pub(crate) fn new(sentinels: Vec<(String, u16)>) -> Self {
        Self {
            sentinels,
            failure_log: Mutex::default(),
            has_failures: AtomicBool::new(false),
            sentinel_result: tokio::sync::Mutex::new(None),
        }
    }

    /// The observation, or a fault if our own network is the cause.
    pub(crate) async fn judge(
        &self,
        net: &Net,
        monitor: MonitorId,
        spec: &Spec,
        interval: Duration,
        result: CheckResult,
    ) -> Input {
        match result {
            // Without a route, a check is a fault from the first one on.
            Err(fault) if fault.kind == FaultKind::Network => {
                Box::pin(self.own_network_failed(net, monitor, spec, interval)).await;
                Input::Fault(fault)
            }
            Err(fault) => Input::Fault(fault),
            Ok(seen) if seen.contact.proves_network() => {
                self.note_answer(spec);
                Input::Observation(seen)
            }
            // Boxed: few checks need its space.
            Ok(seen) => {
                if Box::pin(self.own_network_failed(net, monitor, spec, interval)).await {
                    Input::Fault(Fault::new(FaultKind::Network, fault_message(seen.contact)))
                } else {
                    Input::Observation(seen)
                }
            }
        }
    }

    /// Records a failure that may be caused by our own network, and returns whether it is.
    async fn own_network_failed(
        &self,
        net: &Net,
        monitor: MonitorId,
        spec: &Spec,
        interval: Duration,
    ) -> bool {
        let Some((host, _)) = spec.endpoint().filter(|(host, _)| !is_local(host)) else {
            return false;
        };
        // A check that takes its whole interval to time out skips the next one.
        let window = (interval * 2).min(MAX_WINDOW);
        if !self.add_failure(Failure { at: Instant::now(), monitor, host }, window) {
            return false;
        }
        let is_down = self.own_network_is_down(net).await;
        if is_down {
            self.suspend();
        } else {
            self.resume("the sentinels respond");
        }
        is_down
    }

    /// Something outside responded: earlier failures no longer count.
    fn note_answer(&self, spec: &Spec) {
        // The common case, without examining the target.
        if !self.has_failures.load(Ordering::Relaxed) {
            return;
        }
        if spec.endpoint().is_some_and(|(host, _)| !is_local(&host)) {
            self.resume("a target responds");
        }
    }

    /// Records a failure; true if there are enough to suspect our own network.
    fn add_failure(&self, failure: Failure, window: Duration) -> bool {
        let mut seen = self.lock();
        self.has_failures.store(true, Ordering::Relaxed);
        let now = failure.at;
        seen.failures.retain(|old| now.duration_since(old.at) <= window);
        if seen.failures.len() >= MAX_FAILURES {
            seen.failures.pop_front();
        }
        seen.failures.push_back(failure);
        let monitors: HashSet<MonitorId> = seen.failures.iter().map(|old| old.monitor).collect();
        let hosts: HashSet<&str> = seen.failures.iter().map(|old| old.host.as_str()).collect();
        monitors.len() >= MIN_MONITORS && hosts.len() >= MIN_HOSTS
    }

    async fn own_network_is_down(&self, net: &Net) -> bool {
        has_no_default_route()
            || (!self.sentinels.is_empty() && self.most_sentinels_fail(net).await)
    }

    /// Whether fewer than two thirds of the sentinels respond.
    async fn most_sentinels_fail(&self, net: &Net) -> bool {
        let mut sentinel_result = self.sentinel_result.lock().await;
        if let Some((_, silent)) =
            sentinel_result.filter(|(at, _)| at.elapsed() < SENTINEL_RESULT_LIFETIME)
        {
            return silent;
        }
        let by = Deadline::within(SENTINEL_TIMEOUT);
        let tries = self.sentinels.iter().map(|(host, port)| net.connect(host, *port, by));
        let answers = join_all(tries).await.iter().filter(|tried| tried.is_ok()).count();
        let silent = answers * 3 < self.sentinels.len() * 2;
        *sentinel_result = Some((Instant::now(), silent));
        silent
    }

    fn suspend(&self) {
        let mut seen = self.lock();
        let since = *seen.suspended_since.get_or_insert_with(|| {
            tracing::warn!(
                "our own network seems to be down, failing checks count as unknown until it is back"
            );
            metrics::gauge!("wakeful_network_held").set(1.0);
            Instant::now()
        });
        if since.elapsed() >= ESCALATE_AFTER && !seen.escalated {
            seen.escalated = true;
            tracing::error!(
                "our own network has been down for {} minutes, the state of remote targets is unknown",
                since.elapsed().as_secs() / 60
            );
        }
    }

    fn resume(&self, why: &str) {
        let mut seen = self.lock();
        seen.failures.clear();
        self.has_failures.store(false, Ordering::Relaxed);
        seen.escalated = false;
        if seen.suspended_since.take().is_some() {
            tracing::info!("our own network is back: {why}");
            metrics::gauge!("wakeful_network_held").set(0.0);
        }
    }

    fn lock(&self) -> MutexGuard<'_, FailureLog> {
        self.failure_log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fault_message(contact: Contact) -> &'static str {
    match contact {
        Contact::Unreachable => "our own network is down: the target cannot be reached from here",
        _ => "our own network is down: no response could arrive",
    }
}

/// Whether this machine has no connection to the outside, IPv4 or IPv6: no default route, or
/// none with a link and a router that responds. False where that cannot be read.
fn has_no_default_route() -> bool {
    let read = |path: &str| std::fs::read_to_string(path);
    let Ok(v4) = read("/proc/net/route") else { return false };
    let v6 = read("/proc/net/ipv6_route").unwrap_or_default();
    let neighbors = read("/proc/net/arp").unwrap_or_default();
    let has_carrier = |iface: &str| {
        !read(&format!("/sys/class/net/{iface}/carrier")).is_ok_and(|carrier| carrier.trim() == "0")
    };
    let mut v4 = v4_routes(&v4).filter(Route::is_default);
    let mut v6 = v6_routes(&v6).filter(|route| route.is_default() && route.iface != "lo");
    !v4.any(|route| has_carrier(route.iface) && !router_is_silent(&route, &neighbors))
        && !v6.any(|route| has_carrier(route.iface))
}

/// Whether the router of a route has not responded to ARP requests.
/// `address type flags hardware mask device`, one neighbor per line.
fn router_is_silent(route: &Route<'_>, neighbors: &str) -> bool {
    neighbors.lines().skip(1).any(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let address = fields.first().and_then(|address| address.parse::<IpAddr>().ok());
        address == Some(route.router)
            && fields.get(2) == Some(&"0x0")
            && fields.get(5) == Some(&route.iface)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeful_core::time::Millis;

    fn failure(monitor: u8, host: &str) -> Failure {
        let monitor = MonitorId::new(Millis(0), [monitor; 10]);
        Failure { at: Instant::now(), monitor, host: host.into() }
    }

    #[test]
    fn a_silent_router_is_found_in_the_neighbor_table() {
        let table = "IP address HW type Flags HW address Mask Device\n\
            10.0.2.1 0x1 0x0 00:00:00:00:00:00 * eth0\n\
            10.0.2.2 0x1 0x2 52:54:00:12:34:56 * eth0\n";
        let is_silent = |gateway: &str, iface: &str| {
            let routes = format!("\n{iface} 00000000 {gateway} 0003 0 0 0 00000000 0 0 0\n");
            let route = v4_routes(&routes).next().expect("a route");
            assert!(route.is_default());
            router_is_silent(&route, table)
        };
        assert!(is_silent("0102000A", "eth0"));
        assert!(!is_silent("0102000A", "eth1"));
        assert!(!is_silent("0202000A", "eth0") && !is_silent("0302000A", "eth0"));
    }

    #[test]
    fn three_monitors_on_two_hosts_raise_a_suspicion() {
        let connectivity = Connectivity::new(Vec::new());
        let minute = Duration::from_secs(60);
        assert!(!connectivity.add_failure(failure(1, "a"), minute));
        assert!(!connectivity.add_failure(failure(1, "b"), minute));
        assert!(!connectivity.add_failure(failure(1, "a"), minute));
        assert!(!connectivity.add_failure(failure(2, "a"), minute));
        assert!(connectivity.add_failure(failure(3, "a"), minute));
    }

    #[test]
    fn failures_of_a_single_host_raise_no_suspicion() {
        let connectivity = Connectivity::new(Vec::new());
        for monitor in 0..50 {
            assert!(!connectivity.add_failure(failure(monitor, "a"), Duration::from_secs(60)));
        }
    }

    #[test]
    fn a_response_from_outside_ends_the_suspension_and_one_from_this_machine_does_not() {
        let connectivity = Connectivity::new(Vec::new());
        let minute = Duration::from_secs(60);
        for (monitor, host) in [(1, "a"), (2, "b"), (3, "c")] {
            connectivity.add_failure(failure(monitor, host), minute);
        }
        connectivity.suspend();
        connectivity.note_answer(&tcp("127.0.0.1"));
        connectivity.note_answer(&tcp("localhost"));
        assert!(connectivity.lock().suspended_since.is_some());
        connectivity.note_answer(&tcp("192.0.2.1"));
        assert!(connectivity.lock().suspended_since.is_none());
        assert!(connectivity.lock().failures.is_empty());
    }

    fn tcp(host: &str) -> Spec {
        use wakeful_core::monitors::spec::{Hostname, TcpSpec};
        Spec::Tcp(TcpSpec::of(Hostname::parse(host).expect("a host"), 80))
    }
}
