//! The loops of the watch: load, turn the wheels, make the checks, follow the
//! edits, and on the way out write what is left.

use futures_util::FutureExt as _;
use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wakeful_core::chain::Chain;
use wakeful_core::id::MonitorId;
use wakeful_core::monitor::Spec;
use wakeful_core::observation::{Fault, FaultKind, Observation};
use wakeful_core::slot::Slot;
use wakeful_core::verdict::Seen;
use wakeful_outbound::check;
use wakeful_outbound::net::{Deadline, Net};

use super::gate::{Job, Pass};
use super::timer::Timer;
use super::{Arrival, Begun, HELD_UP, Network, presence, recorder};
use crate::bus::{self, Edit};
use crate::probe::look;
use crate::{Engine, Result, cluster};

/// How many monitors are read at once, and by how many readers.
const PAGE: u32 = 2_000;
const LOADERS: usize = 3;
/// The same, where monitors are read by their slots.
const SLOTS_AT_ONCE: usize = 16;
/// How many edits are read from the store together.
const EDITS: usize = 500;
const RETRY: Duration = Duration::from_secs(1);
/// How often jobs that wait for their host are looked at, while there are any.
const HOST_TICK: Duration = Duration::from_millis(25);

/// What a look brings back.
pub(crate) type Looked = std::result::Result<Observation, Fault>;

/// Watches all active monitors until told to stop. What is saved from this call
/// on is followed as an edit, though taking part and loading take their time.
pub fn run(engine: Engine, shutdown: CancellationToken) -> impl Future<Output = ()> + Send {
    let edits = engine.bus().edits();
    async move {
        engine.watch().begun.store(true, Ordering::Release);
        let writers = Writers::start(&engine);
        let taking_part = TakingPart::start(&engine, &shutdown).await;
        let runner = Runner(Arc::new(Parts { engine, shutdown, tasks: TaskTracker::new() }));
        watch(&runner, edits).await;
        taking_part.stop(writers).await;
    }
}

/// Records what is reported, and checks nothing, until told to stop.
pub async fn record(engine: Engine, shutdown: CancellationToken) {
    let writers = Writers::start(&engine);
    let taking_part = TakingPart::start(&engine, &shutdown).await;
    shutdown.cancelled().await;
    taking_part.stop(writers).await;
}

/// The loops that make this node one of several.
struct TakingPart {
    engine: Engine,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl TakingPart {
    /// Joins the others, which takes as long as the store is away.
    async fn start(engine: &Engine, shutdown: &CancellationToken) -> Self {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        tasks.spawn(bus::run(engine.clone(), stop.clone()));
        tokio::select! {
            () = cluster::join(engine) => {}
            () = shutdown.cancelled() => {}
        }
        presence::arrive(engine).await;
        tasks.spawn(presence::keep(engine.clone(), stop.clone()));
        tasks.spawn(cluster::run(engine.clone(), stop.clone()));
        Self { engine: engine.clone(), tasks, stop }
    }

    /// Writes what is left, and only then gives back what it was found under.
    async fn stop(self, writers: Writers) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        writers.stop().await;
        cluster::leave(&self.engine).await;
    }
}

/// The loops that write verdicts down.
struct Writers {
    engine: Engine,
    tasks: [(TaskTracker, CancellationToken); 3],
}

impl Writers {
    fn start(engine: &Engine) -> Self {
        engine.watch().recorder().open();
        let tasks = [(); 3].map(|()| (TaskTracker::new(), CancellationToken::new()));
        let [(changes, stop_changes), (plain, stop_plain), (log, stop_log)] = &tasks;
        changes.spawn(recorder::write_changes(engine.clone(), stop_changes.clone()));
        plain.spawn(recorder::write_plain(engine.clone(), stop_plain.clone()));
        log.spawn(recorder::fold_log(engine.clone(), stop_log.clone()));
        Self { engine: engine.clone(), tasks }
    }

    /// Takes nothing in any more and writes what is left, the changes first:
    /// they are on record before the plain verdicts behind them.
    async fn stop(self) {
        self.engine.watch().recorder().close();
        for (tasks, stop) in self.tasks {
            stop.cancel();
            tasks.close();
            tasks.wait().await;
        }
    }
}

/// The edits come from before loading, so that none is missed in between.
async fn watch(runner: &Runner, edits: Receiver<Edit>) {
    for shard in 0..runner.engine.watch().shards.len() {
        runner.tasks.spawn(turn(runner.clone(), shard));
    }
    runner.tasks.spawn(tick(runner.clone()));
    let began = Instant::now();
    runner.until_stop(load(runner)).await;
    if !runner.shutdown.is_cancelled() {
        let watch = runner.engine.watch();
        watch.loaded.store(true, Ordering::Release);
        tracing::info!(
            monitors = watch.len(),
            "watching {} monitors, loaded in {} ms",
            watch.len(),
            began.elapsed().as_millis()
        );
    }
    runner.until_stop(follow(runner, edits)).await;
    runner.tasks.close();
    runner.tasks.wait().await;
}

/// What the loops and the checks have in common.
#[derive(Clone)]
struct Runner(Arc<Parts>);

struct Parts {
    engine: Engine,
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

impl std::ops::Deref for Runner {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Runner {
    /// What a piece of work gives, nothing when it was time to stop.
    async fn until_stop<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            done = work => Some(done),
            () = self.shutdown.cancelled() => None,
        }
    }

    fn start(&self, passes: impl IntoIterator<Item = Pass>) {
        for pass in passes {
            // Boxed, or it would be moved a dozen times before it is polled.
            self.tasks.spawn(Box::pin(make_checks(self.clone(), pass)));
        }
    }
}

/// Brings all active monitors into memory, as long as it takes, several pages
/// at a time.
async fn load(runner: &Runner) {
    if !runner.engine.cluster().is_alone() {
        return load_slots(runner, &runner.engine.cluster().take_gained()).await;
    }
    let store = runner.engine.store();
    let mut pages = JoinSet::new();
    let mut after = None;
    loop {
        let last = patiently("monitors are read", || store.page_of_active(after, PAGE)).await;
        while pages.len() >= LOADERS {
            pages.join_next().await;
        }
        pages.spawn(load_page(runner.clone(), after, last));
        match last {
            Some(_) => after = last,
            None => break,
        }
    }
    while pages.join_next().await.is_some() {}
}

async fn load_page(runner: Runner, after: Option<MonitorId>, last: Option<MonitorId>) {
    let store = runner.engine.store();
    for stored in patiently("monitors are read", || store.active_monitors(after, last)).await {
        runner.engine.watch().configure(stored, Arrival::Resumed);
    }
}

/// Brings the active monitors of these slots into memory.
async fn load_slots(runner: &Runner, slots: &[Slot]) {
    let mut parts = JoinSet::new();
    for slots in slots.chunks(SLOTS_AT_ONCE) {
        while parts.len() >= LOADERS {
            parts.join_next().await;
        }
        parts.spawn(load_part(runner.clone(), slots.to_vec()));
    }
    while parts.join_next().await.is_some() {}
}

async fn load_part(runner: Runner, slots: Vec<Slot>) {
    let (store, cluster) = (runner.engine.store(), runner.engine.cluster());
    // Reports that waited for a holder are taken before silence is judged.
    patiently("reports are taken", || cluster::serve(&runner.engine, &slots)).await;
    loop {
        let losses = cluster.losses();
        let found = patiently("monitors are read", || store.active_in(&slots)).await;
        if cluster.losses() != losses {
            // What was read may be from before another node wrote: read again.
            continue;
        }
        for stored in found {
            runner.engine.watch().configure(stored, Arrival::Resumed);
        }
        cluster.loaded(&slots);
        return;
    }
}

/// Turns the wheel of one shard.
async fn turn(runner: Runner, shard: usize) {
    let watch = runner.engine.watch();
    let mut timer = Timer::new();
    let mut jobs = Vec::new();
    while !runner.shutdown.is_cancelled() {
        let next = watch.expire(shard, runner.engine.now(), &mut jobs);
        enter(&runner, &mut jobs);
        let wake = next.map(|at| watch.ticker.instant(at));
        tokio::select! {
            () = timer.until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => {}
            () = watch.shards[shard].sooner.notified() => {}
            () = runner.shutdown.cancelled() => {}
        }
    }
}

fn enter(runner: &Runner, jobs: &mut Vec<Job>) {
    if jobs.is_empty() {
        return;
    }
    let watch = runner.engine.watch();
    let (now, mut start) = (watch.ticker.now(), Vec::new());
    let mut gate = watch.gate();
    for job in jobs.drain(..) {
        gate.enter(job, now, &mut start);
    }
    let holds = gate.holds();
    drop(gate);
    if holds {
        watch.gate_holds.notify_one();
    }
    runner.start(start);
}

/// Lets in, while there are any, the jobs that wait for a host.
async fn tick(runner: Runner) {
    let watch = runner.engine.watch();
    while runner.until_stop(watch.gate_holds.notified()).await.is_some() {
        let mut holds = true;
        while holds && runner.until_stop(sleep(HOST_TICK)).await.is_some() {
            let mut start = Vec::new();
            let mut gate = watch.gate();
            gate.tick(watch.ticker.now(), &mut start);
            holds = gate.holds();
            drop(gate);
            runner.start(start);
        }
    }
}

/// Makes a check, and then those that were waiting for it to end.
async fn make_checks(runner: Runner, pass: Pass) {
    let mut next = Some(pass);
    while let Some(pass) = next.take() {
        // Not `until_stop`: what a function is given has its space twice.
        tokio::select! {
            () = make_check(&runner.engine, &pass.job) => {}
            () = runner.shutdown.cancelled() => return,
        }
        let watch = runner.engine.watch();
        let mut start = Vec::new();
        watch.gate().release(&pass, watch.ticker.now(), &mut start);
        next = start.pop();
        runner.start(start);
    }
}

async fn make_check(engine: &Engine, job: &Job) {
    let watch = engine.watch();
    // A result that finds no room would be lost: better to look a little later.
    watch.recorder.room().await;
    let Some(begun) = watch.begin(job) else { return };
    let Begun { spec, timeout, interval, place, upside_down, .. } = begun;
    watch.meters.begun(watch.ticker.now().saturating_sub(job.due));
    let times = (timeout, interval);
    let seen = look(engine, job.monitor, &spec, times, place.as_deref(), upside_down).await;
    watch.meters.ended(spec.kind(), &seen);
    watch.finish(job, seen, engine.now());
}

/// What this node sees, or a fault when its own network is to blame.
pub(crate) async fn look_here(
    engine: &Engine,
    monitor: MonitorId,
    spec: &Spec,
    timeout: Duration,
    interval: Duration,
) -> Seen {
    let (net, network) = (engine.net(), engine.watch().network());
    look_through(net, network, monitor, spec, timeout, interval).await
}

/// What is seen through this net.
pub(crate) async fn look_through(
    net: &Net,
    network: &Network,
    monitor: MonitorId,
    spec: &Spec,
    timeout: Duration,
    interval: Duration,
) -> Seen {
    let began = Instant::now();
    let looked = guarded(check::look(net, spec, Deadline::within(timeout))).await;
    let looked = if_in_time(looked, began.elapsed(), timeout);
    network.judge(net, monitor, spec, interval, looked).await
}

/// A look that panics is our fault and nobody else's: neither the target's nor
/// that of any other check.
pub(crate) fn guarded(look: impl Future<Output = Looked>) -> impl Future<Output = Looked> {
    AssertUnwindSafe(look).catch_unwind().map(|looked| {
        looked.unwrap_or_else(|_| {
            metrics::counter!("wakeful_check_panics_total").increment(1);
            Err(Fault::new(FaultKind::Internal, "the check failed by a defect of Wakeful"))
        })
    })
}

/// A time-out says nothing about the target when we were the ones held up.
fn if_in_time(looked: Looked, took: Duration, timeout: Duration) -> Looked {
    match looked {
        Ok(seen) if !seen.up && took > timeout + Duration::from_millis(HELD_UP) => {
            Err(Fault::new(FaultKind::Resources, "Wakeful itself was held up during the check"))
        }
        looked => looked,
    }
}

/// Follows the edits as they are told, and takes in the slots that are gained.
async fn follow(runner: &Runner, mut edits: Receiver<Edit>) {
    let cluster = runner.engine.cluster();
    loop {
        let told = tokio::select! {
            told = edits.recv() => told,
            () = cluster.signals.gained.notified() => {
                load_slots(runner, &cluster.take_gained()).await;
                continue;
            }
        };
        let first = match told {
            Ok(edit) => edit.monitor,
            Err(RecvError::Lagged(_)) => {
                patiently("an edit is followed", || reload(runner)).await;
                continue;
            }
            Err(RecvError::Closed) => return,
        };
        let (ids, missed) = gathered(first, &mut edits);
        match missed {
            true => patiently("an edit is followed", || reload(runner)).await,
            false => patiently("an edit is followed", || apply(runner, &ids, Arrival::Saved)).await,
        }
    }
}

/// This edit and those that came with it; true when some were missed.
fn gathered(first: MonitorId, edits: &mut Receiver<Edit>) -> (Vec<MonitorId>, bool) {
    let mut ids = vec![first];
    while ids.len() < EDITS {
        match edits.try_recv() {
            Ok(edit) => ids.push(edit.monitor),
            Err(TryRecvError::Lagged(_)) => return (ids, true),
            Err(TryRecvError::Empty | TryRecvError::Closed) => break,
        }
    }
    (ids, false)
}

/// Does it until the store is there.
async fn patiently<T, E, F>(what: &str, work: impl Fn() -> F) -> T
where
    F: Future<Output = std::result::Result<T, E>>,
    E: std::error::Error,
{
    loop {
        match work().await {
            Ok(done) => return done,
            Err(error) => tracing::warn!(error = %Chain(&error), "{what} when the store is back"),
        }
        sleep(RETRY).await;
    }
}

async fn apply(runner: &Runner, ids: &[MonitorId], arrival: Arrival) -> Result<()> {
    let found = runner.engine.store().monitors_by_id(ids).await?;
    let known: HashSet<MonitorId> = found.iter().map(|stored| stored.monitor.id).collect();
    for stored in found {
        runner.engine.watch().configure(stored, arrival);
    }
    for id in ids.iter().filter(|id| !known.contains(id)) {
        runner.engine.watch().forget(*id);
    }
    Ok(())
}

/// Reads everything again: what was edited, made or deleted unheard.
async fn reload(runner: &Runner) -> Result<()> {
    let watch = runner.engine.watch();
    let store = runner.engine.store();
    let mut after = None;
    loop {
        if !runner.engine.cluster().is_alone() {
            load_slots(runner, &runner.engine.cluster().held()).await;
            break;
        }
        let last = store.page_of_active(after, PAGE).await?;
        for stored in store.active_monitors(after, last).await? {
            watch.configure(stored, Arrival::Resumed);
        }
        match last {
            Some(_) => after = last,
            None => break,
        }
    }
    // Those in memory that were not among them are inactive or gone by now.
    for shard in &watch.shards {
        let ids: Vec<MonitorId> = shard.lock().entries.ids();
        for ids in ids.chunks(EDITS) {
            apply(runner, ids, Arrival::Resumed).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeful_core::observation::Evidence;

    #[tokio::test]
    async fn a_check_that_panics_is_a_fault_of_ours() {
        let looked = guarded(async { panic!("boom") }).await;
        assert_eq!(looked.expect_err("a fault").kind, FaultKind::Internal);
        let seen = Observation::up(Duration::ZERO, "fine");
        assert_eq!(guarded(async { Ok(seen.clone()) }).await, Ok(seen));
    }

    #[test]
    fn a_time_out_while_we_stood_still_is_no_failure() {
        let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
        let down = Ok(Observation::down(Evidence::Silence, "no answer within 1 s"));
        assert_eq!(if_in_time(down.clone(), second, second), down);
        let fault = if_in_time(down, minute, second).expect_err("a fault");
        assert_eq!(fault.kind, FaultKind::Resources);
        let up = Ok(Observation::up(Duration::ZERO, "fine"));
        assert_eq!(if_in_time(up.clone(), minute, second), up);
    }
}
