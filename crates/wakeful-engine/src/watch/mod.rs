//! The watch: every active monitor in memory, brought up by a timing wheel when
//! it is due, checked, judged, and handed to the recorder. The database is
//! asked when monitors are loaded and when they are edited, never for what is
//! due. `run` is the loop; the methods here are the ways into it.

mod entry;
mod gate;
mod meters;
mod network;
mod presence;
mod recorder;
mod requested_checks;
mod roll;
mod run;
mod timer;
mod wheel;

pub(crate) use network::Network;
pub(crate) use run::{Looked, guarded, look_here, look_through};
pub use run::{record, run};

use serde_json::Value;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use wakeful_core::id::MonitorId;
use wakeful_core::monitor::Spec;
use wakeful_core::observation::Certificate;
use wakeful_core::slot::Slot;
use wakeful_core::time::Millis;
use wakeful_core::verdict::{Heartbeat, Seen, Step};
use wakeful_store::StoredMonitor;

use crate::cluster::{Cluster, Held};
use crate::probe::Place;

use entry::{Entry, NEVER};
use gate::{Gate, Job};
use meters::Meters;
use presence::Hearing;
use recorder::{Item, Recorder};
use requested_checks::RequestedChecks;
use roll::Roll;
use wheel::Wheel;

/// Milliseconds by which a timer may be late. More, and this process was held
/// up: stopped, frozen or starved. What it missed meanwhile proves nothing.
const HELD_UP: u64 = 2_000;

pub(crate) struct Watch {
    ticker: Ticker,
    shards: Box<[Shard]>,
    gate: Mutex<Gate>,
    /// Told when jobs begin to wait for their host.
    gate_holds: Notify,
    network: Network,
    recorder: Recorder,
    /// Found when the first check begins: by then somebody counts.
    meters: LazyLock<Meters>,
    cluster: Arc<Cluster>,
    requested_checks: RequestedChecks,
    begun: AtomicBool,
    loaded: AtomicBool,
    /// Until all are loaded: when somebody listened to reports last.
    deaf_since: AtomicU64,
    hearing: Hearing,
    /// How many targets there were so far, of all monitors.
    targets: AtomicU32,
}

/// Milliseconds that begin at the wall's time and from then on only count.
#[derive(Clone, Copy)]
struct Ticker {
    wall: u64,
    started: Instant,
}

impl Ticker {
    fn now(&self) -> u64 {
        let counted = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.wall.saturating_add(counted)
    }

    fn instant(&self, at: u64) -> Instant {
        self.started + Duration::from_millis(at.saturating_sub(self.wall))
    }
}

/// A part of the monitors, with a wheel and a timer of its own.
struct Shard {
    inner: Mutex<Monitors>,
    /// Told when something was put into the wheel ahead of what was there.
    sooner: Notify,
}

struct Monitors {
    entries: Roll,
    wheel: Wheel<(MonitorId, u32)>,
    /// Those that heard nothing in time, as far as they could have.
    unproven: Vec<MonitorId>,
}

/// What a check needs to know.
pub(crate) struct Begun {
    /// `judge` drops what was seen of another.
    pub(crate) target: u32,
    pub(crate) spec: Arc<Spec>,
    pub(crate) timeout: Duration,
    pub(crate) interval: Duration,
    pub(crate) place: Option<Arc<Place>>,
    pub(crate) upside_down: bool,
}

impl Begun {
    fn of(entry: &Entry) -> Self {
        Self {
            target: entry.target,
            spec: Arc::clone(&entry.spec),
            timeout: entry.timeout(),
            interval: entry.interval(),
            place: entry.place.clone(),
            upside_down: entry.upside_down,
        }
    }
}

/// What comes with a verdict.
#[derive(Default)]
struct Told {
    /// When it is another than before.
    certificate: Option<Box<Certificate>>,
    payload: Option<Value>,
    /// Who waits for it to be on record.
    recorded: Option<oneshot::Sender<()>>,
}

/// Why a monitor comes into the watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It was being watched before this process began, or its edit is still
    /// on its way.
    Resumed,
    /// A person has just saved it.
    Saved,
}

impl Watch {
    pub(crate) fn new(
        wall: Millis,
        checks_at_once: usize,
        sentinels: Vec<(String, u16)>,
        cluster: Arc<Cluster>,
    ) -> Self {
        let ticker = Ticker { wall: wall.0.max(0).cast_unsigned(), started: Instant::now() };
        let shards = std::thread::available_parallelism().map_or(1, usize::from);
        let shard = || Shard {
            inner: Mutex::new(Monitors {
                entries: Roll::default(),
                wheel: Wheel::new(ticker.now()),
                unproven: Vec::new(),
            }),
            sooner: Notify::new(),
        };
        Self {
            ticker,
            shards: (0..shards).map(|_| shard()).collect(),
            gate: Mutex::new(Gate::new(checks_at_once)),
            gate_holds: Notify::new(),
            network: Network::new(sentinels),
            recorder: Recorder::default(),
            meters: LazyLock::new(Meters::new),
            cluster,
            requested_checks: RequestedChecks::default(),
            begun: AtomicBool::new(false),
            loaded: AtomicBool::new(false),
            deaf_since: AtomicU64::new(0),
            hearing: Hearing::default(),
            targets: AtomicU32::new(0),
        }
    }

    /// Since when nobody listens to reports on this monitor: since the node was
    /// last heard of that died with it. Else, once all are loaded, we do; what
    /// comes then comes from another node, which did until now.
    fn deaf_since(&self, id: MonitorId, now: u64) -> u64 {
        match self.cluster.deaf_for(Slot::of(id)) {
            Some(span) => now.saturating_sub(u64::try_from(span.as_millis()).unwrap_or(now)),
            None if self.is_loaded() => now,
            None => self.deaf_since.load(Ordering::Acquire),
        }
    }

    /// A time that nodes share on the clock that counts here.
    fn counted(&self, at: Millis) -> u64 {
        at.0.saturating_sub(self.cluster.ahead()).max(0).cast_unsigned()
    }

    /// One that no check under way was begun under, whichever monitor it is and
    /// however often that came and went.
    fn new_target(&self) -> u32 {
        self.targets.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether nothing is left to be loaded: all is there, or nothing is watched.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_loaded() || !self.begun.load(Ordering::Acquire)
    }

    /// Whether all monitors are in memory and being watched.
    pub(crate) fn is_loaded(&self) -> bool {
        self.loaded.load(Ordering::Acquire)
    }

    /// How many monitors are in memory.
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().entries.len()).sum()
    }

    /// Brings what is known of a monitor up to date: what people set when the
    /// revision is newer, what checks have come to when the count of verdicts is
    /// higher, because then another node has watched it meanwhile.
    pub(crate) fn configure(&self, stored: StoredMonitor, arrival: Arrival) {
        let now = self.ticker.now();
        let shard = self.shard(stored.monitor.id);
        let mut monitors = shard.lock();
        let Monitors { entries, wheel, .. } = &mut *monitors;
        let id = stored.monitor.id;
        if !self.cluster.holds(id) {
            // Another node watches it.
            return;
        }
        // As many as are in this shard are in each of the others.
        let monitors = entries.len().saturating_mul(self.shards.len());
        let monitors = u64::try_from(monitors).unwrap_or(u64::MAX);
        if let Some(entry) = entries.get_mut(id) {
            if entry.seq < stored.seq {
                entry.catch_up(stored.state, stored.seq);
                entry.due = self.resumed(entry, now, monitors);
            }
            if entry.revision < stored.revision {
                entry.set(stored.monitor, stored.revision, self.new_target(), now);
            } else if entry.resumed && arrival == Arrival::Saved {
                // It was saved while all were being loaded, and seemed to be
                // one of them, which take their time.
                entry.due = entry.due.min(entry.first(now));
                entry.resumed = false;
            }
            shard.arm(entry, wheel);
            return;
        }
        if !stored.monitor.isactive {
            return;
        }
        let mut entry = Box::new(Entry::new(stored, self.new_target()));
        entry.resumed = arrival == Arrival::Resumed;
        entry.due = match arrival {
            Arrival::Resumed => self.resumed(&entry, now, monitors),
            Arrival::Saved => entry.first(now),
        };
        shard.arm(&mut entry, wheel);
        entries.add(entry);
    }

    /// When a monitor is due that was watched before, one of so many.
    fn resumed(&self, entry: &Entry, now: u64, monitors: u64) -> u64 {
        let last = entry.state.last_check.map(|at| self.counted(at));
        entry.resumed(last, now, monitors, self.deaf_since(entry.id, now))
    }

    /// Forgets a monitor that was deleted.
    pub(crate) fn forget(&self, id: MonitorId) {
        self.shard(id).lock().entries.remove(id);
    }

    /// Forgets the monitors of slots that this node does not hold any more.
    pub(crate) fn drop_slots(&self, slots: &HashSet<Slot>) {
        if slots.is_empty() {
            return;
        }
        for shard in &self.shards {
            shard.lock().entries.retain(|id| !slots.contains(&Slot::of(id)));
        }
    }

    /// What it takes to check a monitor now, on somebody's behalf.
    pub(crate) fn aim(&self, id: MonitorId) -> Option<Begun> {
        let monitors = self.shard(id).lock();
        monitors.entries.get(id).filter(|entry| entry.active).map(Begun::of)
    }

    /// A verdict on what was reported or seen on somebody's behalf. The receiver
    /// hears when it is on record; nothing when the monitor is not watched.
    pub(crate) fn judge(
        &self,
        id: MonitorId,
        target: Option<u32>,
        seen: Seen,
        payload: Option<Value>,
        wall: Millis,
    ) -> Option<(Heartbeat, oneshot::Receiver<()>)> {
        let shard = self.shard(id);
        let mut monitors = shard.lock();
        let Monitors { entries, wheel, .. } = &mut *monitors;
        let entry = entries.get_mut(id).filter(|entry| entry.active)?;
        if target.is_some_and(|target| target != entry.target) {
            return None;
        }
        let (recorded, receiver) = oneshot::channel();
        let certificate = entry.new_certificate(&seen);
        let step = entry.judge(seen, self.ticker.now(), wall);
        let heartbeat = step.heartbeat.clone();
        let told = Told { certificate, payload, recorded: Some(recorded) };
        self.hand_over(entry, step, told);
        shard.arm(entry, wheel);
        Some((heartbeat, receiver))
    }

    /// Steps on and hands over to the recorder.
    fn verdict(&self, entry: &mut Entry, seen: Seen, wall: Millis) {
        let certificate = entry.new_certificate(&seen);
        let step = entry.judge(seen, self.ticker.now(), wall);
        self.hand_over(entry, step, Told { certificate, ..Told::default() });
    }

    /// Under the shard's lock: verdicts of one monitor reach the recorder in
    /// their order.
    fn hand_over(&self, entry: &Entry, step: Step, told: Told) {
        let Entry { team, id: monitor, seq, .. } = *entry;
        let held = Held::of(&self.cluster, monitor);
        if held.is_none() && !self.cluster.is_alone() {
            // It was lost a moment ago: whoever holds it finds this out, too.
            return;
        }
        let Told { certificate, payload, recorded } = told;
        let item = Item { team, monitor, seq, step, certificate, payload, recorded, held };
        self.recorder.push(item);
    }

    /// Takes out what is due in a shard: heartbeats that were missed are judged
    /// here, checks to be made are added to `jobs`. Gives the time to look again.
    fn expire(&self, shard: usize, wall: Millis, jobs: &mut Vec<Job>) -> Option<u64> {
        let shard = &self.shards[shard];
        let now = self.ticker.now();
        let mut monitors = shard.lock();
        let Monitors { entries, wheel, unproven } = &mut *monitors;
        let mut due = Vec::new();
        wheel.expire(now, &mut due);
        for (id, stamp) in due {
            let Some(entry) = entries.get_mut(id).filter(|entry| entry.stamp == stamp) else {
                continue;
            };
            entry.armed = NEVER;
            if entry.due <= now && entry.listens() && !self.hearing.proves(entry.due) {
                // Whether it could have been heard of is found out first.
                unproven.push(id);
                self.hearing.want();
                continue;
            }
            if entry.due <= now {
                self.fall_due(entry, now, wall, jobs);
            }
            shard.arm(entry, wheel);
        }
        wheel.next()
    }

    fn fall_due(&self, entry: &mut Entry, now: u64, wall: Millis, jobs: &mut Vec<Job>) {
        let due = entry.due;
        if entry.listens() && now.saturating_sub(due) > HELD_UP {
            // Nobody could report while we stood still.
            entry.due = entry.held_up(now);
            return;
        }
        entry.due = entry.next(now);
        if entry.listens() {
            let silence = entry.silence();
            self.verdict(entry, Seen::Missed(silence), wall);
            return;
        }
        if entry.busy {
            // The check before it has not had its turn yet: this one is left out.
            self.meters.skipped();
            return;
        }
        entry.busy = true;
        let Entry { id: monitor, team, host, target, .. } = *entry;
        jobs.push(Job { monitor, team, host, due, target });
    }

    /// What a job needs to be done; nothing when the monitor has another target
    /// by now, or is gone.
    fn begin(&self, job: &Job) -> Option<Begun> {
        let monitors = self.shard(job.monitor).lock();
        let entry = monitors.entries.get(job.monitor)?;
        (entry.target == job.target && entry.active).then(|| Begun::of(entry))
    }

    /// The verdict on what a job has seen.
    fn finish(&self, job: &Job, seen: Seen, wall: Millis) {
        let shard = self.shard(job.monitor);
        let mut monitors = shard.lock();
        let Monitors { entries, wheel, .. } = &mut *monitors;
        let Some(entry) = entries.get_mut(job.monitor) else { return };
        if entry.target != job.target {
            return;
        }
        entry.busy = false;
        self.verdict(entry, seen, wall);
        shard.arm(entry, wheel);
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    pub(crate) fn requested_checks(&self) -> &RequestedChecks {
        &self.requested_checks
    }

    fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shard(&self, id: MonitorId) -> &Shard {
        // The low bits of an id are random.
        let (_, low) = id.uuid().as_u64_pair();
        let count = u64::try_from(self.shards.len()).unwrap_or(1);
        &self.shards[usize::try_from(low % count).unwrap_or(0)]
    }
}

impl Shard {
    fn lock(&self) -> MutexGuard<'_, Monitors> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees to it that the wheel brings the monitor up when it is due. One that
    /// comes up early is put back, so that moving a time back costs nothing.
    fn arm(&self, entry: &mut Entry, wheel: &mut Wheel<(MonitorId, u32)>) {
        if entry.due >= entry.armed {
            return;
        }
        let sooner = wheel.next().is_none_or(|next| entry.due < next);
        entry.stamp = entry.stamp.wrapping_add(1);
        entry.armed = entry.due;
        wheel.put(entry.due, (entry.id, entry.stamp));
        if sooner {
            self.sooner.notify_one();
        }
    }
}

#[cfg(test)]
mod tests;
