//! A monitor in the scheduler's memory: the settings of its checks and its state, and no
//! more, because there may be a million of them.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher as _};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use wakeful_core::assert::{Assertions, Fingerprint};
use wakeful_core::evidence::EvidenceLevel;
use wakeful_core::health::{Degraded, Usual, limit};
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::monitors::{Interval, Monitor, Spec};
use wakeful_core::observation::Certificate;
use wakeful_core::schedule::CheckSchedule;
use wakeful_core::time::Millis;
use wakeful_core::verdict::{Input, Policy, State, Step, step};
use wakeful_store::StoredMonitor;

use crate::probes::RegionQuorum;

/// Never due.
pub(super) const NEVER: u64 = u64::MAX;

/// The shortest time, in milliseconds, before a resumed monitor is due, so that reports that
/// arrived while no node owned it are processed before its silence is judged.
const REPORT_GRACE_MS: u64 = 2_000;

pub(super) struct Entry {
    pub(super) id: MonitorId,
    pub(super) team: TeamId,
    pub(super) spec: Arc<Spec>,
    /// `None` for most monitors.
    pub(super) assertions: Option<Arc<Assertions>>,
    /// `None`: only its own node checks it.
    pub(super) region_quorum: Option<Arc<RegionQuorum>>,
    /// `None` for most monitors.
    health: Option<Box<HealthSettings>>,
    pub(super) state: State,
    pub(super) seq: i64,
    pub(super) revision: i64,
    /// When it is checked next, or its report is overdue.
    pub(super) due: u64,
    /// For push monitors: when its report is overdue; a run may be before that.
    pub(super) report_due: u64,
    /// When the wheel returns it: `due` or earlier.
    pub(super) armed: u64,
    /// Which of its items in the wheel is valid.
    pub(super) generation: u32,
    /// Changes when results of running checks no longer count.
    pub(super) target_version: u32,
    pub(super) host: u64,
    /// A hash of the last certificate seen; 0: none yet.
    certificate: u64,
    pub(super) interval: Interval,
    timeout: Millis32,
    retry_interval: Millis32,
    /// In milliseconds; that of a push monitor may be a year.
    grace: u64,
    retries: u16,
    pub(super) upside_down: bool,
    pub(super) evidence: EvidenceLevel,
    certificate_warnings: bool,
    pub(super) active: bool,
    /// A check is queued or running.
    pub(super) busy: bool,
    /// It was loaded, and has been neither saved nor judged since.
    pub(super) resumed: bool,
}

/// When a monitor counts as degraded.
struct HealthSettings {
    degraded: Degraded,
    usual: Option<Usual>,
}

impl HealthSettings {
    fn of(degraded: Option<Box<Degraded>>, usual: Option<Usual>) -> Option<Box<Self>> {
        degraded.map(|degraded| Box::new(Self { degraded: *degraded, usual }))
    }
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
    /// A monitor that was not in memory. It is not due yet.
    pub(super) fn new(stored: StoredMonitor, target_version: u32) -> Self {
        let StoredMonitor { mut monitor, state, usual, seq, revision, .. } = stored;
        Self {
            id: monitor.id,
            team: monitor.team,
            host: host_hash(&monitor),
            certificate: 0,
            interval: monitor.heartbeat_interval,
            timeout: monitor.timeout().into(),
            retry_interval: monitor.retry_interval().into(),
            grace: to_millis(monitor.grace()),
            retries: Policy::of(&monitor).retries,
            upside_down: monitor.upside_down_mode,
            certificate_warnings: Policy::of(&monitor).certificate_warnings,
            active: monitor.isactive,
            region_quorum: RegionQuorum::of(&monitor),
            health: HealthSettings::of(monitor.degraded.take(), usual),
            spec: Arc::new(monitor.spec),
            assertions: shared(monitor.assertions),
            evidence: monitor.evidence,
            state: state.without_unconfirmed_failures(),
            seq,
            revision,
            due: NEVER,
            report_due: NEVER,
            armed: NEVER,
            generation: 0,
            target_version,
            busy: false,
            resumed: false,
        }
    }

    /// Takes over new settings. The state remains.
    pub(super) fn set(
        &mut self,
        mut monitor: Monitor,
        revision: i64,
        target_version: u32,
        now: u64,
    ) {
        let region_quorum = RegionQuorum::of(&monitor);
        let usual = self.health.take().and_then(|health| health.usual);
        self.health = HealthSettings::of(monitor.degraded.take(), usual);
        let assertions = shared(std::mem::take(&mut monitor.assertions));
        let target_changed = *self.spec != monitor.spec
            || self.assertions != assertions
            || self.upside_down != monitor.upside_down_mode
            || self.region_quorum != region_quorum;
        let starts = monitor.isactive && (!self.active || target_changed);
        let interval_changed = self.interval != monitor.heartbeat_interval;
        if target_changed || self.active != monitor.isactive {
            self.interrupt(target_version);
        }
        if self.active != monitor.isactive {
            // While it is not active, the ends of its runs are ignored.
            self.drop_runs();
        }
        self.revision = revision;
        self.region_quorum = region_quorum;
        self.resumed = false;
        self.host = host_hash(&monitor);
        self.interval = monitor.heartbeat_interval;
        self.timeout = monitor.timeout().into();
        self.retry_interval = monitor.retry_interval().into();
        self.grace = to_millis(monitor.grace());
        self.retries = Policy::of(&monitor).retries;
        self.upside_down = monitor.upside_down_mode;
        self.certificate_warnings = Policy::of(&monitor).certificate_warnings;
        self.active = monitor.isactive;
        self.evidence = monitor.evidence;
        self.assertions = assertions;
        if target_changed {
            self.spec = Arc::new(monitor.spec);
            self.certificate = 0;
        }
        self.set_due(match () {
            () if !self.active => NEVER,
            () if starts => self.first_due(now),
            () if interval_changed && self.is_push() => self.first_due(now),
            () if interval_changed => self.schedule().next(now, now),
            () => self.own_due(),
        });
    }

    /// Takes over what is usual for it.
    pub(super) fn set_usual(&mut self, usual: Option<Usual>) {
        if let Some(health) = &mut self.health {
            health.usual = usual;
        }
    }

    /// Results of running checks no longer count, nor do failures that are not confirmed.
    pub(super) fn interrupt(&mut self, target_version: u32) {
        self.target_version = target_version;
        self.busy = false;
        self.state = std::mem::take(&mut self.state).without_unconfirmed_failures();
    }

    /// Takes over the state that another node has recorded.
    pub(super) fn catch_up(&mut self, state: State, seq: i64) {
        self.state = state.without_unconfirmed_failures();
        self.seq = seq;
    }

    /// When a new, activated or changed monitor is due.
    pub(super) fn first_due(&self, now: u64) -> u64 {
        if self.is_push() { self.deadline_since(now) } else { self.schedule().first(now) }
    }

    /// Has it checked right away.
    pub(super) fn check_soon(&mut self, now: u64) {
        self.due = self.due.min(self.first_due(now));
    }

    /// When a monitor that was active before is due: it is one of `monitors`, was last checked
    /// at `last`, and no reports were accepted since `not_listening_since`.
    pub(super) fn due_after_resume(
        &self,
        last: Option<u64>,
        now: u64,
        monitors: u64,
        not_listening_since: u64,
    ) -> u64 {
        match (self.is_push(), last) {
            (false, last) => self.schedule().resume(last, now, monitors),
            (true, None) => self.first_due(now),
            (true, Some(last)) => {
                let due = self.resumed_deadline(last.min(now), now, not_listening_since);
                // Reports that wait for an owner are processed first.
                due.max(now.saturating_add(REPORT_GRACE_MS))
            }
        }
    }

    /// When the check after this one is due.
    pub(super) fn next_due(&self, now: u64) -> u64 {
        if self.is_push() { self.next_deadline(now) } else { self.schedule().next(self.due, now) }
    }

    /// Judges an input: updates the state and the time of the next check.
    pub(super) fn judge(&mut self, seen: Input, now: u64, wall: Millis) -> Step {
        let is_report = matches!(seen, Input::Report(_));
        let step = step(&self.state, seen, &self.policy(), wall);
        self.state.copy_from(&step.state);
        self.seq += 1;
        self.resumed = false;
        self.count_differing(&step.differing);
        if is_report && self.is_push() {
            self.set_due(self.deadline_after_report(now, wall));
        }
        if let Some(wait) = step.recheck_after
            && !self.is_push()
        {
            let recheck = now.saturating_add(u64::try_from(wait.as_millis()).unwrap_or(NEVER));
            self.due = self.due.min(recheck);
        }
        step
    }

    /// Counts failed assertions that the check itself could not judge.
    fn count_differing(&self, differing: &[Fingerprint]) {
        let assertions = self.assertions.as_deref().map_or(&[][..], Vec::as_slice);
        for assertion in differing.iter().filter_map(|value| assertions.get(value.index?)) {
            let source = assertion.source.as_str();
            metrics::counter!("wakeful_assertions_failed_total", "source" => source).increment(1);
        }
    }

    /// The certificate of an observation, if it differs from the last one.
    pub(super) fn new_certificate(&mut self, seen: &Input) -> Option<Box<Certificate>> {
        let Input::Observation(seen) = seen else { return None };
        let shown = seen.certificate.as_ref()?;
        let hash = hash_of(shown).max(1);
        let is_new = std::mem::replace(&mut self.certificate, hash) != hash;
        is_new.then(|| shown.clone())
    }

    /// Whether it is a push monitor: its job reports to it, and it is never checked from here.
    pub(super) fn is_push(&self) -> bool {
        matches!(*self.spec, Spec::Api(_))
    }

    /// How long a push monitor may be without a report.
    pub(super) fn max_silence(&self) -> Duration {
        self.interval.duration() + self.grace()
    }

    pub(super) fn grace(&self) -> Duration {
        Duration::from_millis(self.grace)
    }

    pub(super) fn timeout(&self) -> Duration {
        self.timeout.into()
    }

    pub(super) fn interval(&self) -> Duration {
        self.interval.duration()
    }

    /// From when on a check is slow.
    pub(super) fn slow_limit(&self) -> Option<Duration> {
        let HealthSettings { degraded, usual } = self.health.as_deref()?;
        limit(degraded, *usual).filter(|_| !self.upside_down).map(|limit| limit.above)
    }

    fn schedule(&self) -> CheckSchedule {
        CheckSchedule::new(self.id, self.interval)
    }

    fn policy(&self) -> Policy {
        Policy {
            retries: self.retries,
            retry_interval: self.retry_interval.into(),
            upside_down: self.upside_down,
            certificate_warnings: self.certificate_warnings,
            degraded: self.health.as_ref().map(|health| health.degraded.watch(health.usual)),
        }
    }
}

fn to_millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(NEVER)
}

/// Assertions in the memory of the scheduler; none takes none.
fn shared(assertions: Assertions) -> Option<Arc<Assertions>> {
    (!assertions.is_empty()).then(|| Arc::new(assertions))
}

/// Whether a target is on this machine, so that its responses prove nothing about the network.
pub(super) fn is_local(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
}

/// Groups connect to no host, and registries have turns of their own, so they do not wait for
/// each other.
fn host_hash(monitor: &Monitor) -> u64 {
    match monitor.spec {
        Spec::Group(_) | Spec::Domain(_) => hash_of(&monitor.id),
        _ => hash_of(&monitor.spec.endpoint()),
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
