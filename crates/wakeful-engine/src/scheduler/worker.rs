//! The loops of the scheduler: they load the monitors, turn the wheels, run the checks and
//! follow edits. At shutdown, pending results are written.

use futures_util::FutureExt as _;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wakeful_core::cluster::slot::Slot;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::MonitorId;
use wakeful_core::observation::{Fault, FaultKind, Observation};
use wakeful_core::verdict::Input;
use wakeful_outbound::checks;
use wakeful_outbound::net::{Deadline, Net};
use wakeful_store::StoredMonitor;

use super::concurrency::{Job, RunPermit};
use super::metrics::result_of;
use super::timer::Timer;
use super::{Connectivity, LoadReason, STALL_THRESHOLD_MS, report_gaps, writer};
use crate::bus::{self, Edit};
use crate::probes;
use crate::supervision::{exit_after_panic, restart_after_panic};
use crate::{Engine, Result, cluster};

/// How many monitors are read at once, and by how many readers.
const LOAD_BATCH: u32 = 2_000;
const MAX_LOADERS: usize = 3;
/// The same, where monitors are read by their slots.
const SLOT_BATCH: usize = 16;
/// How many edits are read from the store together.
const EDIT_BATCH: usize = 500;
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// How often waiting jobs are looked at, while there are any.
const RELEASE_INTERVAL: Duration = Duration::from_millis(25);

/// The result of one check.
pub(crate) type CheckResult = std::result::Result<Observation, Fault>;

/// Checks all active monitors until shutdown. Monitors that are saved after this call are
/// followed as edits, although joining the cluster and loading take some time.
pub fn run(engine: Engine, shutdown: CancellationToken) -> impl Future<Output = ()> + Send {
    let edits = engine.bus().edits();
    async move {
        engine.scheduler().started.store(true, Ordering::Release);
        let writers = WriterTasks::start(&engine);
        let cluster_tasks = ClusterTasks::start(&engine, &shutdown).await;
        let worker = Worker(Arc::new(WorkerInner { engine, shutdown, tasks: TaskTracker::new() }));
        run_scheduler(&worker, edits).await;
        cluster_tasks.stop(writers).await;
    }
}

/// Records reports until shutdown, without running checks.
pub async fn run_without_checks(engine: Engine, shutdown: CancellationToken) {
    let writers = WriterTasks::start(&engine);
    let cluster_tasks = ClusterTasks::start(&engine, &shutdown).await;
    shutdown.cancelled().await;
    cluster_tasks.stop(writers).await;
}

/// The loops of a node that is part of a cluster.
struct ClusterTasks {
    engine: Engine,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl ClusterTasks {
    /// Joins the cluster, which waits until the store is available.
    async fn start(engine: &Engine, shutdown: &CancellationToken) -> Self {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let exchange = bus::run(engine.clone(), stop.clone());
        tasks.spawn(exit_after_panic("bus", stop.clone(), exchange));
        tokio::select! {
            () = cluster::join(engine) => {}
            () = shutdown.cancelled() => {}
        }
        tokio::select! {
            () = retry_until_available("loading suspended teams", || engine.refresh_suspensions()) => {}
            () = shutdown.cancelled() => {}
        }
        report_gaps::load_last_mark(engine).await;
        let reports = report_gaps::run(engine.clone(), stop.clone());
        tasks.spawn(exit_after_panic("report_gaps", stop.clone(), reports));
        let membership = cluster::run(engine.clone(), stop.clone());
        tasks.spawn(exit_after_panic("membership", stop.clone(), membership));
        Self { engine: engine.clone(), tasks, stop }
    }

    /// Writes the remaining results, and only then releases the slots they belong to.
    async fn stop(self, writers: WriterTasks) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        writers.stop().await;
        cluster::leave(&self.engine).await;
    }
}

/// The loops that write results.
struct WriterTasks {
    engine: Engine,
    tasks: [(TaskTracker, CancellationToken); 3],
}

impl WriterTasks {
    fn start(engine: &Engine) -> Self {
        engine.scheduler().writer().open();
        let tasks = [(); 3].map(|()| (TaskTracker::new(), CancellationToken::new()));
        let [(changes, stop_changes), (routine, stop_routine), (log, stop_log)] = &tasks;
        let writing = writer::write_changes(engine.clone(), stop_changes.clone());
        changes.spawn(exit_after_panic("change_writer", stop_changes.clone(), writing));
        let writing = writer::write_routine(engine.clone(), stop_routine.clone());
        routine.spawn(exit_after_panic("routine_writer", stop_routine.clone(), writing));
        let (of_log, stop) = (engine.clone(), stop_log.clone());
        let checkpoint = move || writer::checkpoint_log(of_log.clone(), stop.clone());
        log.spawn(restart_after_panic("checkpoints", stop_log.clone(), checkpoint));
        Self { engine: engine.clone(), tasks }
    }

    /// Accepts no more results and writes the remaining ones. Changes come first: they must
    /// be recorded before the routine results that follow them.
    async fn stop(self) {
        self.engine.scheduler().writer().close();
        for (tasks, stop) in self.tasks {
            stop.cancel();
            tasks.close();
            tasks.wait().await;
        }
    }
}

/// `edits` was subscribed before loading, so that none is missed in between.
async fn run_scheduler(worker: &Worker, edits: Receiver<Edit>) {
    let shutdown = &worker.shutdown;
    for shard in 0..worker.engine.scheduler().shards.len() {
        let running = run_shard(worker.clone(), shard);
        worker.tasks.spawn(exit_after_panic("check_timer", shutdown.clone(), running));
    }
    let releasing = release_waiting_jobs(worker.clone());
    worker.tasks.spawn(exit_after_panic("waiting_checks", shutdown.clone(), releasing));
    let began = Instant::now();
    worker.until_stop(load_pauses(worker)).await;
    worker.until_stop(load(worker)).await;
    if !worker.shutdown.is_cancelled() {
        let scheduler = worker.engine.scheduler();
        scheduler.loaded.store(true, Ordering::Release);
        tracing::info!(
            monitors = scheduler.len(),
            "loaded {} monitors in {} ms",
            scheduler.len(),
            began.elapsed().as_millis()
        );
    }
    worker.until_stop(follow_edits(worker, edits)).await;
    worker.shutdown.cancelled().await;
    // A check that begins later ends at once.
    worker.engine.scheduler().limiter().stop_all();
    worker.tasks.close();
    worker.tasks.wait().await;
}

/// The shared state of the loops and the checks.
#[derive(Clone)]
struct Worker(Arc<WorkerInner>);

struct WorkerInner {
    engine: Engine,
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

impl std::ops::Deref for Worker {
    type Target = WorkerInner;

    fn deref(&self) -> &WorkerInner {
        &self.0
    }
}

impl Worker {
    /// The result of `work`; `None` at shutdown.
    async fn until_stop<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            done = work => Some(done),
            () = self.shutdown.cancelled() => None,
        }
    }

    /// Schedules a monitor. One that cannot be scheduled must not keep others from being checked.
    fn configure(&self, stored: StoredMonitor, reason: LoadReason) {
        let id = stored.monitor.id;
        let configuring = || self.engine.scheduler().configure(stored, reason);
        if catch_unwind(AssertUnwindSafe(configuring)).is_err() {
            tracing::error!(monitor.id = %id, "scheduling monitor {id} failed because of a bug in Wakeful; it is not checked, or with its previous settings");
        }
    }

    fn start(&self, permits: impl IntoIterator<Item = RunPermit>) {
        for permit in permits {
            // Boxed, because it would be moved many times before it is polled.
            self.tasks.spawn(Box::pin(run_checks(self.clone(), permit)));
        }
    }
}

/// Before the first check, finds out which monitors maintenance pauses.
async fn load_pauses(worker: &Worker) {
    let engine = &worker.engine;
    retry_until_available("loading maintenance", || engine.load_pauses()).await;
}

/// Loads all active monitors, several pages at a time, and retries until it succeeds.
async fn load(worker: &Worker) {
    if !worker.engine.cluster().is_standalone() {
        return load_slots(worker, &worker.engine.cluster().take_gained()).await;
    }
    let store = worker.engine.store();
    let mut pages = JoinSet::new();
    let mut after = None;
    loop {
        let last =
            retry_until_available("loading monitors", || store.active_page_end(after, LOAD_BATCH))
                .await;
        while pages.len() >= MAX_LOADERS {
            join_one(&mut pages).await;
        }
        pages.spawn(load_page(worker.clone(), after, last));
        match last {
            Some(_) => after = last,
            None => break,
        }
    }
    while join_one(&mut pages).await {}
}

/// Waits until one of these tasks has ended; false if there are none. Its panic continues here:
/// what it would have loaded must not go unnoticed.
async fn join_one(tasks: &mut JoinSet<()>) -> bool {
    match tasks.join_next().await {
        Some(Err(broken)) if broken.is_panic() => resume_unwind(broken.into_panic()),
        ended => ended.is_some(),
    }
}

async fn load_page(worker: Worker, after: Option<MonitorId>, last: Option<MonitorId>) {
    let store = worker.engine.store();
    for stored in
        retry_until_available("loading monitors", || store.active_monitors(after, last)).await
    {
        worker.configure(stored, LoadReason::Resumed);
    }
}

/// Loads the active monitors of these slots.
async fn load_slots(worker: &Worker, slots: &[Slot]) {
    let mut parts = JoinSet::new();
    for slots in slots.chunks(SLOT_BATCH) {
        while parts.len() >= MAX_LOADERS {
            join_one(&mut parts).await;
        }
        parts.spawn(load_part(worker.clone(), slots.to_vec()));
    }
    while join_one(&mut parts).await {}
}

async fn load_part(worker: Worker, slots: Vec<Slot>) {
    let (store, cluster) = (worker.engine.store(), worker.engine.cluster());
    // Reports that waited for an owner are processed before silence is judged.
    retry_until_available("processing reports", || cluster::serve_requests(&worker.engine, &slots))
        .await;
    loop {
        let losses = cluster.loss_count();
        let found =
            retry_until_available("loading monitors", || store.active_in_slots(&slots)).await;
        if cluster.loss_count() != losses {
            // Another node may have written after this was read: read again.
            continue;
        }
        for stored in found {
            worker.configure(stored, LoadReason::Resumed);
        }
        cluster.loaded(&slots);
        return;
    }
}

/// Runs the timing wheel of one shard.
async fn run_shard(worker: Worker, shard: usize) {
    let scheduler = worker.engine.scheduler();
    let mut timer = Timer::new();
    let (mut jobs, mut start) = (Vec::new(), Vec::new());
    // Once, and not in each turn.
    let mut stopped = pin!(worker.shutdown.cancelled());
    while !worker.shutdown.is_cancelled() {
        let next = scheduler.expire(shard, worker.engine.now(), &mut jobs);
        submit(&worker, &mut jobs, &mut start);
        let wake = next.map(|at| scheduler.clock.instant(at));
        tokio::select! {
            () = timer.until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => {}
            () = scheduler.shards[shard].earlier.notified() => {}
            () = stopped.as_mut() => {}
        }
    }
}

/// `start` is empty before and after: its memory is used again.
fn submit(worker: &Worker, jobs: &mut Vec<Job>, start: &mut Vec<RunPermit>) {
    if jobs.is_empty() {
        return;
    }
    let scheduler = worker.engine.scheduler();
    let now = scheduler.clock.now();
    let mut limiter = scheduler.limiter();
    for job in jobs.drain(..) {
        limiter.submit(job, now, start);
    }
    let has_waiting = limiter.has_waiting();
    drop(limiter);
    if has_waiting {
        scheduler.has_waiting.notify_one();
    }
    worker.start(start.drain(..));
}

/// Starts jobs that wait for a host, or for others to give way, while there are any.
async fn release_waiting_jobs(worker: Worker) {
    let scheduler = worker.engine.scheduler();
    while worker.until_stop(scheduler.has_waiting.notified()).await.is_some() {
        let mut has_waiting = true;
        while has_waiting && worker.until_stop(sleep(RELEASE_INTERVAL)).await.is_some() {
            let mut start = Vec::new();
            let mut limiter = scheduler.limiter();
            limiter.release_waiting(scheduler.clock.now(), &mut start);
            has_waiting = limiter.has_waiting();
            drop(limiter);
            worker.start(start);
        }
    }
}

/// Runs a check, and then those that were waiting for its place.
async fn run_checks(worker: Worker, permit: RunPermit) {
    let mut next = Some(permit);
    while let Some(permit) = next.take() {
        if worker.shutdown.is_cancelled() {
            return;
        }
        // Not `until_stop`: passing the future to a function would double its size. At shutdown, it
        // is stopped like any other: a check that waited for the token itself would join a list
        // that all of them share, and leave it again.
        tokio::select! {
            () = run_check(&worker.engine, &permit.job) => {}
            () = permit.stop.notified() => {}
        }
        let scheduler = worker.engine.scheduler();
        let mut start = Vec::new();
        scheduler.limiter().release(&permit, scheduler.clock.now(), &mut start);
        next = start.pop();
        worker.start(start);
    }
}

async fn run_check(engine: &Engine, job: &Job) {
    let scheduler = engine.scheduler();
    // Without capacity for its result, the check is better delayed.
    scheduler.writer.wait_for_capacity().await;
    let Some(params) = scheduler.params_of(job) else { return };
    if let Some(paused) = scheduler.pauses().fault(job.monitor) {
        scheduler.finish(job, Input::Fault(paused), engine.now());
        return;
    }
    scheduler.metrics.check_started(scheduler.clock.now().saturating_sub(job.due));
    let seen = probes::check(engine, job.monitor, &params).await;
    let result = result_of(&seen);
    let beat = scheduler.finish(job, seen, engine.now());
    scheduler.metrics.check_ended(params.spec.kind(), result, beat);
}

/// Checks from this node; a fault if its own network is the cause of a failure.
pub(crate) async fn check_from_here(
    engine: &Engine,
    monitor: MonitorId,
    request: &checks::CheckRequest<'_>,
    timeout: Duration,
    interval: Duration,
) -> Input {
    let (net, connectivity) = (engine.net(), engine.scheduler().connectivity());
    check_through(net, connectivity, monitor, request, timeout, interval).await
}

/// Checks through this network stack.
pub(crate) async fn check_through(
    net: &Net,
    connectivity: &Connectivity,
    monitor: MonitorId,
    request: &checks::CheckRequest<'_>,
    timeout: Duration,
    interval: Duration,
) -> Input {
    let began = Instant::now();
    let result = catch_panic(checks::check(net, request, Deadline::within(timeout))).await;
    let result = unless_stalled(result, began.elapsed(), timeout);
    connectivity.judge(net, monitor, request.spec, interval, result).await
}

/// Turns a panic into a fault of Wakeful. It affects neither the target's status nor other
/// checks.
pub(crate) fn catch_panic(
    check: impl Future<Output = CheckResult>,
) -> impl Future<Output = CheckResult> {
    AssertUnwindSafe(check).catch_unwind().map(|result| {
        result.unwrap_or_else(|_| {
            metrics::counter!("wakeful_check_panics_total").increment(1);
            Err(Fault::new(FaultKind::Internal, "the check failed because of a bug in Wakeful"))
        })
    })
}

/// A timeout says nothing about the target if this process was stalled.
fn unless_stalled(result: CheckResult, took: Duration, timeout: Duration) -> CheckResult {
    match result {
        Ok(seen) if !seen.up && took > timeout + Duration::from_millis(STALL_THRESHOLD_MS) => {
            Err(Fault::new(FaultKind::Resources, "Wakeful itself stalled during the check"))
        }
        result => result,
    }
}

/// Follows edits, and loads the monitors of newly gained slots.
async fn follow_edits(worker: &Worker, mut edits: Receiver<Edit>) {
    let cluster = worker.engine.cluster();
    loop {
        let received = tokio::select! {
            received = edits.recv() => received,
            () = cluster.signals.gained.notified() => {
                load_slots(worker, &cluster.take_gained()).await;
                continue;
            }
        };
        let first = match received {
            Ok(edit) => edit.monitor,
            Err(RecvError::Lagged(_)) => {
                retry_until_available("applying edits", || reload_all(worker)).await;
                continue;
            }
            Err(RecvError::Closed) => return,
        };
        let (ids, missed) = drain_edits(first, &mut edits);
        if missed {
            retry_until_available("applying edits", || reload_all(worker)).await;
        } else {
            retry_until_available("applying edits", || {
                apply_edits(worker, &ids, LoadReason::Saved)
            })
            .await;
        }
    }
}

/// This edit and those that wait behind it; true if some were missed.
fn drain_edits(first: MonitorId, edits: &mut Receiver<Edit>) -> (Vec<MonitorId>, bool) {
    let mut ids = vec![first];
    while ids.len() < EDIT_BATCH {
        match edits.try_recv() {
            Ok(edit) => ids.push(edit.monitor),
            Err(TryRecvError::Lagged(_)) => return (ids, true),
            Err(TryRecvError::Empty | TryRecvError::Closed) => break,
        }
    }
    (ids, false)
}

/// Retries until the store is available.
async fn retry_until_available<T, E, F>(action: &str, work: impl Fn() -> F) -> T
where
    F: Future<Output = std::result::Result<T, E>>,
    E: std::error::Error,
{
    loop {
        match work().await {
            Ok(done) => return done,
            Err(error) => {
                tracing::warn!(error = %ErrorChain(&error), "{action} failed, retrying in {} s", RETRY_INTERVAL.as_secs());
            }
        }
        sleep(RETRY_INTERVAL).await;
    }
}

async fn apply_edits(worker: &Worker, ids: &[MonitorId], reason: LoadReason) -> Result<()> {
    let found = worker.engine.store().monitors_by_id(ids).await?;
    let known: HashSet<MonitorId> = found.iter().map(|stored| stored.monitor.id).collect();
    for stored in found {
        worker.configure(stored, reason);
    }
    for id in ids.iter().filter(|id| !known.contains(id)) {
        worker.engine.scheduler().remove(*id);
    }
    Ok(())
}

/// Reads all monitors again, because some edits were missed.
async fn reload_all(worker: &Worker) -> Result<()> {
    let scheduler = worker.engine.scheduler();
    let store = worker.engine.store();
    let mut after = None;
    loop {
        if !worker.engine.cluster().is_standalone() {
            load_slots(worker, &worker.engine.cluster().held()).await;
            break;
        }
        let last = store.active_page_end(after, LOAD_BATCH).await?;
        for stored in store.active_monitors(after, last).await? {
            worker.configure(stored, LoadReason::Resumed);
        }
        match last {
            Some(_) => after = last,
            None => break,
        }
    }
    // Monitors in memory that were not among them have become inactive or were deleted.
    for shard in &scheduler.shards {
        let ids: Vec<MonitorId> = shard.lock().entries.ids();
        for ids in ids.chunks(EDIT_BATCH) {
            apply_edits(worker, ids, LoadReason::Resumed).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeful_core::observation::Contact;
    use wakeful_core::reason::Reason;

    #[tokio::test]
    async fn a_check_that_panics_is_an_internal_fault() {
        let result = catch_panic(async { panic!("boom") }).await;
        assert_eq!(result.expect_err("a fault").kind, FaultKind::Internal);
        let seen = Observation::up(Duration::ZERO, "fine");
        assert_eq!(catch_panic(async { Ok(seen.clone()) }).await, Ok(seen));
    }

    #[tokio::test]
    #[should_panic(expected = "caused by the test")]
    async fn a_panic_while_loading_a_page_is_not_swallowed() {
        let mut pages = JoinSet::new();
        pages.spawn(async {});
        pages.spawn(async { panic!("caused by the test") });
        while join_one(&mut pages).await {}
    }

    #[test]
    fn a_timeout_while_the_process_was_stalled_is_no_failure() {
        let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
        let down =
            Ok(Observation::down(Contact::Silence, Reason::ConnectTimeout, "no answer within 1 s"));
        assert_eq!(unless_stalled(down.clone(), second, second), down);
        let fault = unless_stalled(down, minute, second).expect_err("a fault");
        assert_eq!(fault.kind, FaultKind::Resources);
        let up = Ok(Observation::up(Duration::ZERO, "fine"));
        assert_eq!(unless_stalled(up.clone(), minute, second), up);
    }
}
