//! The scheduler: all active monitors are in memory, and a timing wheel returns each one
//! when it is due. It is then checked and judged, and the verdict goes to the result
//! writer. The database is read when monitors are loaded or edited, never to find out which
//! are due. `worker` contains the loops; the methods here are called by them and by the API.

mod change_queue;
mod concurrency;
mod connectivity;
mod entry;
mod evidence;
mod fair_places;
mod metrics;
mod pauses;
mod push;
mod registry;
mod report_gaps;
mod requested_checks;
mod suspensions;
mod timer;
mod timing_wheel;
mod worker;
mod writer;

pub(crate) use connectivity::Connectivity;
pub(crate) use evidence::NewEvidence;
pub(crate) use fair_places::FairPlaces;
pub(crate) use push::Pinged;
pub(crate) use worker::{CheckResult, catch_panic, check_from_here, check_through};
pub use worker::{run, run_without_checks};

use serde_json::Value;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use wakeful_core::assert::{Assertions, Comparison, Fingerprint};
use wakeful_core::cluster::slot::Slot;
use wakeful_core::evidence::EvidenceLevel;
use wakeful_core::heartbeat::{Beat, Heartbeat};
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::monitors::Spec;
use wakeful_core::observation::{Certificate, Observation};
use wakeful_core::reason::Reason;
use wakeful_core::time::Millis;
use wakeful_core::verdict::{Input, Status, Step};
use wakeful_outbound::checks;
use wakeful_store::StoredMonitor;

use crate::cluster::{Cluster, WritePermit};
use crate::probes::RegionQuorum;

use self::metrics::CheckMetrics;
use concurrency::{ConcurrencyLimiter, Job};
use entry::{Entry, NEVER};
use evidence::HeldEvidence;
use pauses::Pauses;
use registry::Registry;
use report_gaps::ListeningState;
use requested_checks::RequestedChecks;
use suspensions::Suspensions;
use timing_wheel::TimingWheel;
use writer::{PendingResult, ResultWriter};

/// If a timer is later than this, in milliseconds, the process was stalled: stopped, frozen
/// or starved. A report that is missing in such a time proves nothing.
const STALL_THRESHOLD_MS: u64 = 2_000;
/// For how many due monitors memory is retained.
const MAX_SPARE_DUE: usize = 64;

pub(crate) struct Scheduler {
    clock: MonotonicClock,
    shards: Box<[Shard]>,
    limiter: Mutex<ConcurrencyLimiter>,
    /// Notified when jobs start to wait for their host.
    has_waiting: Notify,
    connectivity: Connectivity,
    writer: ResultWriter,
    /// Created with the first check: the metrics recorder is installed by then.
    metrics: LazyLock<CheckMetrics>,
    cluster: Arc<Cluster>,
    requested_checks: RequestedChecks,
    pauses: Pauses,
    started: AtomicBool,
    loaded: AtomicBool,
    /// Used until all monitors are loaded: when reports were last accepted.
    not_listening_since: AtomicU64,
    listening: ListeningState,
    /// The number of target versions so far, over all monitors.
    target_versions: AtomicU32,
    suspensions: Suspensions,
    evidence: HeldEvidence,
}

/// Milliseconds that start at the wall clock's time and never jump.
#[derive(Clone, Copy)]
struct MonotonicClock {
    wall: u64,
    started: Instant,
}

impl MonotonicClock {
    fn now(&self) -> u64 {
        let counted = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.wall.saturating_add(counted)
    }

    fn instant(&self, at: u64) -> Instant {
        self.started + Duration::from_millis(at.saturating_sub(self.wall))
    }
}

/// A part of the monitors, with its own wheel and timer.
struct Shard {
    inner: Mutex<ShardState>,
    /// Notified when an item is inserted that expires before all others.
    earlier: Notify,
}

struct ShardState {
    entries: Registry,
    wheel: TimingWheel<(MonitorId, u32)>,
    /// Monitors without a report in time, until it is confirmed that reports could arrive.
    unconfirmed: Vec<MonitorId>,
    /// Empty: the memory of the items that the wheel returns.
    due: Vec<(MonitorId, u32)>,
}

/// The parameters of a check.
pub(crate) struct CheckParams {
    pub(crate) team: TeamId,
    /// `judge` drops results for another version.
    pub(crate) target_version: u32,
    pub(crate) spec: Arc<Spec>,
    assertions: Option<Arc<Assertions>>,
    evidence: EvidenceLevel,
    /// Whether one of the last checks was not healthy: what this one sees is then compared with it.
    is_failing: bool,
    slow: Option<Duration>,
    pub(crate) timeout: Duration,
    pub(crate) interval: Duration,
    pub(crate) region_quorum: Option<Arc<RegionQuorum>>,
    pub(crate) upside_down: bool,
}

impl CheckParams {
    fn of(entry: &Entry) -> Self {
        Self {
            team: entry.team,
            target_version: entry.target_version,
            spec: Arc::clone(&entry.spec),
            assertions: entry.assertions.clone(),
            evidence: entry.evidence,
            is_failing: entry.state.failing.is_some() || entry.state.degraded.is_some(),
            slow: entry.slow_limit(),
            timeout: entry.timeout(),
            interval: entry.interval(),
            region_quorum: entry.region_quorum.clone(),
            upside_down: entry.upside_down,
        }
    }

    /// The check to run. Evidence is collected if it fails, and while the monitor is failing.
    pub(crate) fn request(&self) -> checks::CheckRequest<'_> {
        checks::CheckRequest {
            team: self.team,
            spec: &self.spec,
            assertions: self.assertions.as_deref().map_or(&[], Vec::as_slice),
            evidence: self.evidence,
            always: self.is_failing || self.may_fail_later(),
            slow: self.slow,
            upside_down: self.upside_down,
        }
    }

    /// Whether the verdict depends on what earlier checks saw.
    fn may_fail_later(&self) -> bool {
        let assertions = self.assertions.as_deref().into_iter().flatten();
        assertions.into_iter().any(|one| one.comparison == Comparison::Unchanged)
    }

    /// With evidence, even if the target is healthy.
    #[must_use]
    pub(crate) fn with_evidence(self) -> Self {
        Self { is_failing: true, ..self }
    }
}

/// A verdict on a requested check or a report.
pub(crate) struct Judged {
    pub(crate) heartbeat: Heartbeat,
    pub(crate) reason: Option<Reason>,
    /// The values that must not change, and did.
    pub(crate) differing: Vec<Fingerprint>,
    /// Resolves once it is recorded.
    pub(crate) recorded: oneshot::Receiver<()>,
}

/// Data that is recorded with a verdict.
#[derive(Default)]
struct VerdictExtras {
    /// Only if it is a new one.
    certificate: Option<Box<Certificate>>,
    payload: Option<Value>,
    evidence: Vec<NewEvidence>,
    /// Notified when the verdict is recorded.
    recorded: Option<oneshot::Sender<()>>,
    /// Only the state is written, and no heartbeat.
    state_only: bool,
}

/// Why a monitor is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadReason {
    /// It was active before this process started, or its edit has not arrived yet.
    Resumed,
    /// A user has just saved it.
    Saved,
}

impl Scheduler {
    pub(crate) fn new(
        wall: Millis,
        max_concurrent_checks: usize,
        sentinels: Vec<(String, u16)>,
        cluster: Arc<Cluster>,
    ) -> Self {
        let clock = MonotonicClock { wall: wall.0.max(0).cast_unsigned(), started: Instant::now() };
        let shards = std::thread::available_parallelism().map_or(1, usize::from);
        let shard = || Shard {
            inner: Mutex::new(ShardState {
                entries: Registry::default(),
                wheel: TimingWheel::new(clock.now()),
                unconfirmed: Vec::new(),
                due: Vec::new(),
            }),
            earlier: Notify::new(),
        };
        Self {
            clock,
            shards: (0..shards).map(|_| shard()).collect(),
            limiter: Mutex::new(ConcurrencyLimiter::new(max_concurrent_checks)),
            has_waiting: Notify::new(),
            connectivity: Connectivity::new(sentinels),
            writer: ResultWriter::default(),
            metrics: LazyLock::new(CheckMetrics::new),
            cluster,
            requested_checks: RequestedChecks::default(),
            pauses: Pauses::default(),
            started: AtomicBool::new(false),
            loaded: AtomicBool::new(false),
            not_listening_since: AtomicU64::new(0),
            listening: ListeningState::default(),
            target_versions: AtomicU32::new(0),
            suspensions: Suspensions::default(),
            evidence: HeldEvidence::default(),
        }
    }

    /// Since when no node has accepted reports for this monitor: if its node died, since
    /// that node was last seen. Otherwise, once all monitors are loaded, there is no gap: a
    /// monitor that is added later comes from another node, which accepted them until now.
    fn not_listening_since(&self, id: MonitorId, now: u64) -> u64 {
        match self.cluster.not_listening_for(Slot::of(id)) {
            Some(span) => now.saturating_sub(u64::try_from(span.as_millis()).unwrap_or(now)),
            None if self.is_loaded() => now,
            None => self.not_listening_since.load(Ordering::Acquire),
        }
    }

    /// Converts cluster time to the scheduler's clock.
    fn local_millis(&self, at: Millis) -> u64 {
        at.0.saturating_sub(self.cluster.clock_offset()).max(0).cast_unsigned()
    }

    /// A version that no running check has, of any monitor, however often that monitor was
    /// loaded and removed.
    fn next_target_version(&self) -> u32 {
        self.target_versions.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether everything is loaded, or this node runs no scheduler.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_loaded() || !self.started.load(Ordering::Acquire)
    }

    /// Whether all monitors are in memory and scheduled.
    pub(crate) fn is_loaded(&self) -> bool {
        self.loaded.load(Ordering::Acquire)
    }

    /// How many monitors are in memory.
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().entries.len()).sum()
    }

    /// Updates a monitor in memory: its settings if the revision is newer, its state if the
    /// count of verdicts is higher, because another node has checked it meanwhile.
    pub(crate) fn configure(&self, stored: StoredMonitor, reason: LoadReason) {
        let now = self.clock.now();
        let shard = self.shard(stored.monitor.id);
        let mut monitors = shard.lock();
        let ShardState { entries, wheel, .. } = &mut *monitors;
        let id = stored.monitor.id;
        if !self.cluster.holds(id) {
            // Another node owns it.
            return;
        }
        // The other shards contain about as many.
        let monitors = entries.len().saturating_mul(self.shards.len());
        let monitors = u64::try_from(monitors).unwrap_or(u64::MAX);
        if let Some(entry) = entries.get_mut(id) {
            if entry.seq < stored.seq {
                entry.catch_up(stored.state, stored.seq);
                self.evidence.remove(id);
                let due = self.due_after_resume(entry, now, monitors);
                entry.set_due(due);
            }
            entry.set_usual(stored.usual);
            if entry.revision < stored.revision {
                let (target_version, level) = (entry.target_version, entry.evidence);
                entry.set(stored.monitor, stored.revision, self.next_target_version(), now);
                if entry.evidence != level {
                    self.evidence.remove(id);
                } else if entry.target_version != target_version {
                    self.evidence.remove_unconfirmed(id);
                }
            } else if entry.resumed && reason == LoadReason::Saved {
                // It was saved during loading, and was taken for one of the loaded ones,
                // whose first checks are spread over time.
                entry.set_due(entry.own_due().min(entry.first_due(now)));
                entry.resumed = false;
            }
            shard.arm(entry, wheel);
            return;
        }
        if !stored.monitor.isactive {
            return;
        }
        let mut entry = Box::new(Entry::new(stored, self.next_target_version()));
        entry.resumed = reason == LoadReason::Resumed;
        let due = match reason {
            LoadReason::Resumed => self.due_after_resume(&mut entry, now, monitors),
            LoadReason::Saved => {
                // It is new, or was not active, and the ends of its runs were ignored.
                entry.drop_runs();
                entry.first_due(now)
            }
        };
        entry.set_due(due);
        shard.arm(&mut entry, wheel);
        entries.add(entry);
    }

    /// When a monitor that was active before is due; `monitors` are resumed together.
    fn due_after_resume(&self, entry: &mut Entry, now: u64, monitors: u64) -> u64 {
        // Before its team was resumed, it was neither checked nor listened to.
        let last = entry.state.last_check.max(self.suspensions.resumed_at(entry.team));
        let last = last.map(|at| self.local_millis(at));
        let not_listening_since = self.not_listening_since(entry.id, now);
        entry.drop_unheard_runs(now, not_listening_since);
        entry.due_after_resume(last, now, monitors, not_listening_since)
    }

    /// Checks a monitor right away, if it is one of this node and does not wait for reports.
    pub(crate) fn check_soon(&self, id: MonitorId) {
        let shard = self.shard(id);
        let mut monitors = shard.lock();
        let ShardState { entries, wheel, .. } = &mut *monitors;
        let found = entries.get_mut(id).filter(|entry| entry.active && !entry.is_push());
        if let Some(entry) = found {
            entry.check_soon(self.clock.now());
            shard.arm(entry, wheel);
        }
    }

    /// Removes a deleted monitor.
    pub(crate) fn remove(&self, id: MonitorId) {
        self.shard(id).lock().entries.remove(id);
        self.evidence.remove(id);
        self.limiter().stop(id);
    }

    /// Removes the monitors of slots that this node no longer holds.
    pub(crate) fn drop_slots(&self, slots: &HashSet<Slot>) {
        if slots.is_empty() {
            return;
        }
        for shard in &self.shards {
            shard.lock().entries.retain(|id| !slots.contains(&Slot::of(id)));
        }
        self.evidence.retain(|id| !slots.contains(&Slot::of(id)));
    }

    /// The status of an active monitor that this node checks, and since when it has it.
    pub(crate) fn status(&self, id: MonitorId) -> Option<(Status, Option<Millis>)> {
        let monitors = self.shard(id).lock();
        let entry = monitors.entries.get(id).filter(|entry| entry.active)?;
        Some((entry.state.status, entry.state.since))
    }

    /// The parameters of an on-demand check.
    pub(crate) fn check_params(&self, id: MonitorId) -> Option<CheckParams> {
        let monitors = self.shard(id).lock();
        let entry = monitors.entries.get(id).filter(|entry| entry.active)?;
        (!self.suspensions.contains(entry.team)).then(|| CheckParams::of(entry))
    }

    /// Judges a report or an on-demand check. The receiver is notified when the verdict is
    /// recorded; `None` if the monitor is not scheduled here.
    pub(crate) fn judge(
        &self,
        id: MonitorId,
        target_version: Option<u32>,
        seen: Input,
        payload: Option<Value>,
        wall: Millis,
    ) -> Option<Judged> {
        let shard = self.shard(id);
        let mut monitors = shard.lock();
        let ShardState { entries, wheel, .. } = &mut *monitors;
        let entry = entries.get_mut(id).filter(|entry| entry.active)?;
        if self.suspensions.contains(entry.team) {
            return None;
        }
        if target_version.is_some_and(|target_version| target_version != entry.target_version) {
            return None;
        }
        let (sender, recorded) = oneshot::channel();
        let certificate = entry.new_certificate(&seen);
        let (step, evidence) = self.judge_entry(entry, seen, wall);
        let (heartbeat, reason) = (step.heartbeat.clone(), step.reason);
        let differing = step.differing.clone();
        let extras = VerdictExtras {
            certificate,
            payload,
            evidence,
            recorded: Some(sender),
            ..VerdictExtras::default()
        };
        self.queue_for_writing(entry, step, extras);
        shard.arm(entry, wheel);
        Some(Judged { heartbeat, reason, differing, recorded })
    }

    /// Judges an input and queues the verdict for the result writer.
    fn apply_verdict(&self, entry: &mut Entry, seen: Input, wall: Millis) -> Beat {
        let certificate = entry.new_certificate(&seen);
        let (step, evidence) = self.judge_entry(entry, seen, wall);
        let beat = step.heartbeat.status;
        self.queue_for_writing(
            entry,
            step,
            VerdictExtras { certificate, evidence, ..VerdictExtras::default() },
        );
        beat
    }

    /// The verdict, and the evidence that is written with it.
    fn judge_entry(
        &self,
        entry: &mut Entry,
        mut seen: Input,
        wall: Millis,
    ) -> (Step, Vec<NewEvidence>) {
        let was_failing = entry.state.failing.is_some();
        let evidence = match &mut seen {
            Input::Observation(seen) => seen.evidence.take(),
            _ => None,
        };
        let Some(evidence) = evidence else {
            let step = entry.judge(seen, self.clock.now(), wall);
            let new = if was_failing {
                self.evidence.step(entry.id, true, &step, None)
            } else {
                Vec::new()
            };
            return (step, new);
        };
        let observation = match &seen {
            Input::Observation(seen) => {
                Some(Observation { evidence: Some(evidence), ..seen.clone() })
            }
            _ => None,
        };
        let step = entry.judge(seen, self.clock.now(), wall);
        let new = self.evidence.step(entry.id, was_failing, &step, observation.as_ref());
        (step, new)
    }

    /// Called under the shard's lock: verdicts of one monitor reach the writer in order.
    fn queue_for_writing(&self, entry: &Entry, step: Step, extras: VerdictExtras) {
        let Entry { team, id: monitor, seq, .. } = *entry;
        let permit = WritePermit::of(&self.cluster, monitor);
        if permit.is_none() && !self.cluster.is_standalone() {
            // The slot was just lost: its new owner checks the monitor, too.
            return;
        }
        let VerdictExtras { certificate, payload, evidence, recorded, state_only } = extras;
        let item = PendingResult {
            team,
            monitor,
            seq,
            step,
            certificate,
            payload,
            evidence,
            recorded,
            permit,
            state_only,
        };
        self.writer.push(item);
    }

    /// Processes the due monitors of a shard: missed reports are judged, checks to be made
    /// are added to `jobs`. Returns the time of the next call.
    fn expire(&self, shard: usize, wall: Millis, jobs: &mut Vec<Job>) -> Option<u64> {
        let shard = &self.shards[shard];
        let now = self.clock.now();
        let mut monitors = shard.lock();
        let ShardState { entries, wheel, unconfirmed, due } = &mut *monitors;
        wheel.expire(now, due);
        for (id, generation) in due.drain(..) {
            let Some(entry) = entries.get_mut(id).filter(|entry| entry.generation == generation)
            else {
                continue;
            };
            entry.armed = NEVER;
            if entry.due <= now && entry.is_push() && !self.listening.confirms(entry.due) {
                // First confirm that a report could have arrived.
                unconfirmed.push(id);
                self.listening.request_confirmation();
                continue;
            }
            if entry.due <= now {
                self.handle_due(entry, now, wall, jobs);
            }
            shard.arm(entry, wheel);
        }
        due.shrink_to(MAX_SPARE_DUE);
        wheel.next()
    }

    fn handle_due(&self, entry: &mut Entry, now: u64, wall: Millis, jobs: &mut Vec<Job>) {
        let due = entry.due;
        if self.suspensions.contains(entry.team) {
            // The ends of its runs are not accepted: one that is overdue would stay due.
            entry.drop_runs();
            let due = if entry.is_push() { entry.first_due(now) } else { entry.next_due(now) };
            entry.set_due(due);
            return;
        }
        if entry.is_push() {
            self.handle_silence(entry, now, wall);
            return;
        }
        entry.due = entry.next_due(now);
        if entry.busy {
            // The previous check has not finished: this one is skipped.
            self.metrics.check_skipped();
            return;
        }
        entry.busy = true;
        let Entry { id: monitor, team, host, target_version, .. } = *entry;
        jobs.push(Job { monitor, team, host, due, target_version });
    }

    /// The report of a push monitor is overdue, or the end of a run.
    fn handle_silence(&self, entry: &mut Entry, now: u64, wall: Millis) {
        let is_missed = entry.own_due() <= now;
        if now.saturating_sub(entry.due) > STALL_THRESHOLD_MS {
            // No report could arrive while the process was stalled.
            entry.drop_unheard_runs(now, entry.due);
            let due = if is_missed { entry.deadline_after_stall(now) } else { entry.own_due() };
            entry.set_due(due);
            return;
        }
        let has_overrun = entry.drop_overdue_runs(now);
        let due = if is_missed { entry.next_due(now) } else { entry.own_due() };
        entry.set_due(due);
        let seen = match self.pauses.fault(entry.id) {
            Some(paused) => Input::Fault(paused),
            None if has_overrun => Input::Overran(entry.max_runtime()),
            None if is_missed => Input::Missed(entry.silence(wall)),
            // The run has ended meanwhile.
            None => return,
        };
        self.apply_verdict(entry, seen, wall);
    }

    /// The parameters of a job; `None` if the monitor has another target by now, or is gone.
    fn params_of(&self, job: &Job) -> Option<CheckParams> {
        let monitors = self.shard(job.monitor).lock();
        let entry = monitors.entries.get(job.monitor)?;
        (entry.target_version == job.target_version && entry.active).then(|| CheckParams::of(entry))
    }

    /// Judges the result of a job; `None` if the monitor has another target by now, or is gone.
    fn finish(&self, job: &Job, seen: Input, wall: Millis) -> Option<Beat> {
        let shard = self.shard(job.monitor);
        let mut monitors = shard.lock();
        let ShardState { entries, wheel, .. } = &mut *monitors;
        let entry = entries.get_mut(job.monitor)?;
        if entry.target_version != job.target_version {
            return None;
        }
        entry.busy = false;
        let beat = self.apply_verdict(entry, seen, wall);
        shard.arm(entry, wheel);
        Some(beat)
    }

    pub(crate) fn connectivity(&self) -> &Connectivity {
        &self.connectivity
    }

    pub(crate) fn requested_checks(&self) -> &RequestedChecks {
        &self.requested_checks
    }

    fn writer(&self) -> &ResultWriter {
        &self.writer
    }

    fn limiter(&self) -> MutexGuard<'_, ConcurrencyLimiter> {
        self.limiter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shard(&self, id: MonitorId) -> &Shard {
        // The low bits of an id are random.
        let (_, low) = id.uuid().as_u64_pair();
        let count = u64::try_from(self.shards.len()).unwrap_or(1);
        &self.shards[usize::try_from(low % count).unwrap_or(0)]
    }
}

impl Shard {
    fn lock(&self) -> MutexGuard<'_, ShardState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes sure that the wheel returns the monitor when it is due. A monitor that expires
    /// early is inserted again, so that postponing it costs nothing.
    fn arm(&self, entry: &mut Entry, wheel: &mut TimingWheel<(MonitorId, u32)>) {
        if entry.due >= entry.armed {
            return;
        }
        let earlier = wheel.next().is_none_or(|next| entry.due < next);
        entry.generation = entry.generation.wrapping_add(1);
        entry.armed = entry.due;
        wheel.insert(entry.due, (entry.id, entry.generation));
        if earlier {
            self.earlier.notify_one();
        }
    }
}

#[cfg(test)]
pub(crate) mod fairness_tests;
#[cfg(test)]
mod push_tests;
#[cfg(test)]
mod tests;
