//! A monitor as the watch holds it in memory: what its checks need and what
//! they have come to, and no more, because there may be a million of them.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher as _};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::monitor::spec::Host;
use wakeful_core::monitor::{Interval, Monitor, Spec};
use wakeful_core::observation::Certificate;
use wakeful_core::schedule::{self, Rhythm};
use wakeful_core::time::Millis;
use wakeful_core::verdict::{Policy, Seen, State, Step, step};
use wakeful_store::StoredMonitor;

use crate::probe::Place;

/// Never due.
pub(super) const NEVER: u64 = u64::MAX;

/// Milliseconds that a monitor which is taken up again has at least, so that what
/// was reported while nobody held it comes before the verdict on its silence.
const TAKEN_FIRST: u64 = 2_000;

pub(super) struct Entry {
    pub(super) id: MonitorId,
    pub(super) team: TeamId,
    pub(super) spec: Arc<Spec>,
    /// Nothing: only its owner looks.
    pub(super) place: Option<Arc<Place>>,
    pub(super) state: State,
    pub(super) seq: i64,
    pub(super) revision: i64,
    /// When it is checked next, or has missed its heartbeat.
    pub(super) due: u64,
    /// When the wheel brings it up: `due` or earlier.
    pub(super) armed: u64,
    /// Which of its places in the wheel counts.
    pub(super) stamp: u32,
    /// Another when results of checks under way no longer count.
    pub(super) target: u32,
    pub(super) host: u64,
    /// A hash of the certificate that was shown last; 0: none that we know of.
    certificate: u64,
    interval: Interval,
    timeout: Millis32,
    retry_interval: Millis32,
    grace: Millis32,
    retries: u16,
    pub(super) upside_down: bool,
    certificate_warnings: bool,
    pub(super) active: bool,
    /// A check waits or runs.
    pub(super) busy: bool,
    /// It came by loading, and has been neither saved nor judged since.
    pub(super) resumed: bool,
}

/// A span of up to 49 days in half the space.
#[derive(Clone, Copy)]
struct Millis32(u32);

impl From<Duration> for Millis32 {
    fn from(span: Duration) -> Self {
        Self(u32::try_from(span.as_millis()).unwrap_or(u32::MAX))
    }
}

impl From<Millis32> for Duration {
    fn from(span: Millis32) -> Self {
        Duration::from_millis(span.0.into())
    }
}

impl Entry {
    /// A monitor that was not watched so far. It is not due yet.
    pub(super) fn new(stored: StoredMonitor, target: u32) -> Self {
        let StoredMonitor { monitor, state, seq, revision } = stored;
        Self {
            id: monitor.id,
            team: monitor.team,
            host: host(&monitor.spec),
            certificate: 0,
            interval: monitor.heartbeat_interval,
            timeout: monitor.timeout().into(),
            retry_interval: monitor.retry_interval().into(),
            grace: monitor.grace().into(),
            retries: monitor.retries,
            upside_down: monitor.upside_down_mode,
            certificate_warnings: Policy::of(&monitor).certificate_warnings,
            active: monitor.isactive,
            place: Place::of(&monitor.regions, monitor.quorum),
            spec: Arc::new(monitor.spec),
            state: state.renewed(),
            seq,
            revision,
            due: NEVER,
            armed: NEVER,
            stamp: 0,
            target,
            busy: false,
            resumed: false,
        }
    }

    /// Takes over what a person has set. What the checks have come to stays.
    pub(super) fn set(&mut self, monitor: Monitor, revision: i64, target: u32, now: u64) {
        let place = Place::of(&monitor.regions, monitor.quorum);
        let looks_elsewhere = *self.spec != monitor.spec
            || self.upside_down != monitor.upside_down_mode
            || self.place != place;
        let begins = monitor.isactive && (!self.active || looks_elsewhere);
        let paced_anew = self.interval != monitor.heartbeat_interval;
        if looks_elsewhere || self.active != monitor.isactive {
            self.target = target;
            self.busy = false;
            self.state = std::mem::take(&mut self.state).renewed();
        }
        self.revision = revision;
        self.place = place;
        self.resumed = false;
        self.host = host(&monitor.spec);
        self.interval = monitor.heartbeat_interval;
        self.timeout = monitor.timeout().into();
        self.retry_interval = monitor.retry_interval().into();
        self.grace = monitor.grace().into();
        self.retries = monitor.retries;
        self.upside_down = monitor.upside_down_mode;
        self.certificate_warnings = Policy::of(&monitor).certificate_warnings;
        self.active = monitor.isactive;
        if looks_elsewhere {
            self.spec = Arc::new(monitor.spec);
            self.certificate = 0;
        }
        self.due = match () {
            () if !self.active => NEVER,
            () if begins => self.first(now),
            () if paced_anew && self.listens() => self.first(now),
            () if paced_anew => self.rhythm().next(now, now),
            () => self.due,
        };
    }

    /// Takes over what the checks of another node have come to.
    pub(super) fn catch_up(&mut self, state: State, seq: i64) {
        self.state = state.renewed();
        self.seq = seq;
    }

    /// When a new, activated or changed monitor is due.
    pub(super) fn first(&self, now: u64) -> u64 {
        match self.listens() {
            true => self.deadline(None, now),
            false => self.rhythm().first(now),
        }
    }

    /// When a monitor is due that was watched before, one of so many, was checked
    /// last at that time, and nobody listened since then.
    pub(super) fn resumed(
        &self,
        last: Option<u64>,
        now: u64,
        monitors: u64,
        deaf_since: u64,
    ) -> u64 {
        match (self.listens(), last) {
            (false, last) => self.rhythm().resume(last, now, monitors),
            (true, None) => self.first(now),
            (true, Some(last)) => {
                let (interval, grace) = (self.interval, self.grace.into());
                let due =
                    schedule::resumed_deadline(last.min(now), deaf_since, now, interval, grace);
                // A report that waits for whoever holds the monitor is taken first.
                due.max(now.saturating_add(TAKEN_FIRST))
            }
        }
    }

    /// When a monitor that listens is due, after nobody could since then. Its due
    /// time tells when it was heard last, by the clock that counts.
    pub(super) fn heard_again(&self, now: u64, deaf_since: u64) -> u64 {
        let silence = u64::try_from(self.silence().as_millis()).unwrap_or(u64::MAX);
        let last = self.due.saturating_sub(silence);
        let (interval, grace) = (self.interval, self.grace.into());
        schedule::resumed_deadline(last, deaf_since, now, interval, grace)
    }

    /// When a monitor that listens is due, which should have been before we were
    /// held up.
    pub(super) fn held_up(&self, now: u64) -> u64 {
        schedule::held_up_deadline(self.due, now, self.interval, self.grace.into())
    }

    /// When the check after this one is due.
    pub(super) fn next(&self, now: u64) -> u64 {
        match self.listens() {
            true => schedule::next_deadline(self.due, self.interval, now),
            false => self.rhythm().next(self.due, now),
        }
    }

    /// One verdict: the state moves on and the next check is settled.
    pub(super) fn judge(&mut self, seen: Seen, now: u64, wall: Millis) -> Step {
        let heard = matches!(seen, Seen::Report(_));
        let step = step(&self.state, seen, &self.policy(), wall);
        self.state = step.state.clone();
        self.seq += 1;
        self.resumed = false;
        if heard && self.listens() {
            self.due = self.deadline(Some(now), 0);
        }
        if let Some(wait) = step.recheck_after
            && !self.listens()
        {
            let recheck = now.saturating_add(u64::try_from(wait.as_millis()).unwrap_or(NEVER));
            self.due = self.due.min(recheck);
        }
        step
    }

    /// The certificate that was seen, when it is another than the last one.
    pub(super) fn new_certificate(&mut self, seen: &Seen) -> Option<Box<Certificate>> {
        let Seen::Observation(seen) = seen else { return None };
        let shown = seen.certificate.as_ref()?;
        let hash = hashed(shown).max(1);
        let is_new = std::mem::replace(&mut self.certificate, hash) != hash;
        is_new.then(|| shown.clone())
    }

    /// Whether its target reports by itself and is never called.
    pub(super) fn listens(&self) -> bool {
        matches!(*self.spec, Spec::Api(_))
    }

    /// How long an api monitor may hear nothing.
    pub(super) fn silence(&self) -> Duration {
        self.interval.duration() + Duration::from(self.grace)
    }

    pub(super) fn timeout(&self) -> Duration {
        self.timeout.into()
    }

    pub(super) fn interval(&self) -> Duration {
        self.interval.duration()
    }

    fn rhythm(&self) -> Rhythm {
        Rhythm::new(self.id, self.interval)
    }

    fn policy(&self) -> Policy {
        Policy {
            retries: self.retries,
            retry_interval: self.retry_interval.into(),
            upside_down: self.upside_down,
            certificate_warnings: self.certificate_warnings,
        }
    }

    fn deadline(&self, last_report: Option<u64>, listening_since: u64) -> u64 {
        schedule::deadline(last_report, listening_since, self.interval, self.grace.into())
    }
}

/// Where a check goes: the host without its port, and the port.
pub(super) fn place(spec: &Spec) -> Option<(String, u16)> {
    match spec {
        Spec::Api(_) => None,
        Spec::Dns(dns) => {
            let server = dns.server();
            Some((server.ip().to_string(), server.port()))
        }
        Spec::Http(http) | Spec::HttpKeyword(http) => {
            let url = http.url.url();
            Some((url.host_str()?.to_owned(), url.port_or_known_default()?))
        }
        Spec::Ping(ping) => Some((name(ping.hostname.host()), 0)),
        Spec::Tcp(tcp) => Some((name(tcp.hostname.host()), tcp.port)),
    }
}

/// Whether a target is on this machine, so that its answers prove no network.
pub(super) fn is_local(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
}

fn name(host: &Host) -> String {
    match host {
        Host::Name(name) => name.clone(),
        Host::Address(ip) => ip.to_string(),
    }
}

fn host(spec: &Spec) -> u64 {
    hashed(&place(spec))
}

fn hashed(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
