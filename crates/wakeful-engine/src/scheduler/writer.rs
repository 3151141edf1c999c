//! Writes results to the store. Routine results, which change nothing, are written in
//! batches about once a second. A change is written at once, in its own loop, with its alert;
//! teams take turns. Its notifications follow at once, unless its team has so many that the
//! alert processor does that. While the store is unavailable everything is queued: changes for
//! as long as it takes, routine results until there are too many. A routine result never
//! overtakes an earlier change of its monitor: a status must not be recorded before its
//! alert.

use serde_json::Value;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use wakeful_core::cluster::slot::Grant;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{AlertId, MonitorId, TeamId};
use wakeful_core::monitors::Monitor;
use wakeful_core::observation::Certificate;
use wakeful_core::verdict::Step;
use wakeful_store::{Record, StoreError};

use super::NewEvidence;
use super::change_queue::ChangeQueue;
use crate::alerting::backlog::NewAlert;
use crate::bus::{Edit, Event};
use crate::cluster::WritePermit;
use crate::notifications::delivery::survive::survived;
use crate::{Engine, alerting::processor, failpoint, notifications::events};

/// Routine results are collected for `MAX_BATCH_STEPS` of these steps, or fewer once there
/// are `EARLY_BATCH`. Each transaction costs as much as a hundred rows.
const BATCH_STEP: Duration = Duration::from_millis(200);
const MAX_BATCH_STEPS: usize = 5;
const EARLY_BATCH: usize = 500;
/// How many routine results one transaction writes.
const MAX_BATCH: usize = 5_000;
/// This many are written at once, without collecting more.
const FULL_BATCH: usize = 2_000;
/// With this many routine results queued and the store available, checks wait.
const BACKPRESSURE_LIMIT: usize = 10_000;
/// How many changes one transaction writes.
const CHANGE_BATCH: usize = 500;
/// How many routine results are queued while the store is unavailable; the oldest are
/// dropped first.
const MAX_QUEUED: usize = 20_000;
const RETRY_PAUSE: Duration = Duration::from_millis(200);
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(2);
/// How often a batch is written again because one of its notifiers was deleted meanwhile.
const MAX_GONE_RETRIES: u32 = 3;
/// When a change that the store rejected is retried.
const REJECTED_RETRY_INTERVAL: Duration = Duration::from_secs(30);
/// How often the database's log is checkpointed.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(2);
/// How long one of the last writes may take when the service stops, and how long one may that
/// somebody waits for, such as the sender of a report.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(800);
const AWAITED_TIMEOUT: Duration = Duration::from_secs(3);
/// How long all changes that nobody waits for may take then. Their monitors are checked again
/// after the next start.
const REMAINING_TIMEOUT: Duration = Duration::from_secs(2);

/// A result to be recorded.
pub(super) struct PendingResult {
    pub(super) team: TeamId,
    pub(super) monitor: MonitorId,
    pub(super) seq: i64,
    pub(super) step: Step,
    pub(super) certificate: Option<Box<Certificate>>,
    pub(super) payload: Option<Value>,
    pub(super) evidence: Vec<NewEvidence>,
    /// Notified when it is recorded.
    pub(super) recorded: Option<oneshot::Sender<()>>,
    /// The permission to write it; `None` on a standalone node.
    pub(super) permit: Option<WritePermit>,
    /// Only the state is written, and no heartbeat.
    pub(super) state_only: bool,
}

impl PendingResult {
    /// Whether it was produced under one of these grants.
    fn is_stale(&self, grants: &[Grant]) -> bool {
        self.permit.as_ref().is_some_and(|permit| grants.contains(&permit.grant))
    }

    fn is_change(&self) -> bool {
        self.step.change.is_some()
            || self.step.health_change.is_some()
            || self.step.warning.is_some()
            || self.step.changed.is_some()
    }

    /// Whether somebody waits until it is recorded.
    pub(super) fn is_awaited(&self) -> bool {
        self.recorded.as_ref().is_some_and(|recorded| !recorded.is_closed())
    }
}

#[derive(Default)]
pub(super) struct ResultWriter {
    queue: Mutex<Queue>,
    routine: Notify,
    flush: Notify,
    changes: Notify,
    /// Whether checks wait for the store to catch up.
    backpressure: AtomicBool,
    /// Notified when they no longer have to wait.
    drained: Notify,
    /// The store does not respond, so waiting for it is pointless.
    store_down: AtomicBool,
}

#[derive(Default)]
struct Queue {
    routine: VecDeque<PendingResult>,
    changes: ChangeQueue,
    /// How many routine results, at the front, wait for a change.
    blocked: usize,
    /// The number of unrecorded changes of each monitor.
    unrecorded: HashMap<MonitorId, usize>,
    /// Nothing is written any more: waiting for a record fails at once.
    closed: bool,
}

impl Queue {
    /// Whether checks must wait for the store. Results that wait for a rejected change do
    /// not count, so that they delay no other monitor.
    fn is_full(&self) -> bool {
        self.routine.len() - self.blocked >= BACKPRESSURE_LIMIT
    }

    /// At shutdown: the monitors with a routine result that somebody waits for and that can be
    /// written.
    fn awaited_monitors(&self) -> HashSet<MonitorId> {
        if !self.closed {
            return HashSet::new();
        }
        let awaited = self.routine.iter().filter(|item| item.is_awaited());
        let monitors = awaited.map(|item| item.monitor);
        monitors.filter(|monitor| !self.unrecorded.contains_key(monitor)).collect()
    }
}

impl ResultWriter {
    pub(super) fn open(&self) {
        self.lock().closed = false;
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
    }

    /// Queues a result. Those of one monitor must arrive in order.
    pub(super) fn push(&self, item: PendingResult) {
        let mut queue = self.lock();
        if queue.closed {
            return;
        }
        if item.is_change() {
            *queue.unrecorded.entry(item.monitor).or_default() += 1;
            queue.changes.push(item);
            drop(queue);
            self.changes.notify_one();
            return;
        }
        if queue.routine.len() >= MAX_QUEUED {
            queue.routine.pop_front();
            queue.blocked = queue.blocked.saturating_sub(1);
            metrics::counter!("wakeful_heartbeats_dropped_total").increment(1);
        }
        let flush = item.recorded.is_some() || queue.routine.len() + 1 >= FULL_BATCH;
        queue.routine.push_back(item);
        if queue.is_full() && !self.store_down.load(Ordering::Relaxed) {
            self.backpressure.store(true, Ordering::Relaxed);
        }
        drop(queue);
        self.routine.notify_one();
        if flush {
            self.flush.notify_one();
        }
    }

    /// Takes routine results in order, without those behind an unrecorded change. At shutdown,
    /// those of monitors with a result that somebody waits for come first.
    fn take_routine(&self) -> Vec<PendingResult> {
        let mut queue = self.lock();
        let awaited = queue.awaited_monitors();
        let Queue { routine, unrecorded, .. } = &mut *queue;
        let count = routine.len().min(MAX_BATCH);
        let mut taken = Vec::with_capacity(count);
        if awaited.is_empty() && unrecorded.is_empty() {
            taken.extend(routine.drain(..count));
            // Room for about as many again; more was a burst, once it is written.
            if routine.len() <= count && routine.capacity() > 4 * count {
                routine.shrink_to(2 * count);
            }
            queue.blocked = 0;
        } else {
            let mut waiting = VecDeque::new();
            while taken.len() < MAX_BATCH
                && let Some(item) = routine.pop_front()
            {
                let is_later = !awaited.is_empty() && !awaited.contains(&item.monitor);
                if is_later || unrecorded.contains_key(&item.monitor) {
                    waiting.push_back(item);
                } else {
                    taken.push(item);
                }
            }
            let blocked = if awaited.is_empty() { waiting.len() } else { 0 };
            waiting.append(routine);
            *routine = waiting;
            queue.blocked = blocked;
        }
        if !queue.is_full() {
            self.release_backpressure();
        }
        taken
    }

    /// Waits until the store has caught up, if it is behind. While it is unavailable no check
    /// waits here: outages must still be detected, and are reported when it is back.
    pub(super) async fn wait_for_capacity(&self) {
        while self.backpressure.load(Ordering::Relaxed) {
            let drained = self.drained.notified();
            if self.backpressure.load(Ordering::Relaxed) {
                drained.await;
            }
        }
    }

    fn release_backpressure(&self) {
        if self.backpressure.swap(false, Ordering::Relaxed) {
            self.drained.notify_waiters();
        }
    }

    /// Notes whether the store responds.
    fn set_store_down(&self, store_down: bool) {
        self.store_down.store(store_down, Ordering::Relaxed);
        if store_down {
            self.release_backpressure();
        }
    }

    /// Waits for routine results to accumulate.
    async fn wait_for_batch(&self, stop: &CancellationToken) {
        for _ in 0..MAX_BATCH_STEPS {
            tokio::select! {
                () = sleep(BATCH_STEP) => {}
                () = self.flush.notified() => return,
                () = stop.cancelled() => return,
            }
            if self.lock().routine.len() >= EARLY_BATCH {
                return;
            }
        }
    }

    fn take_changes(&self) -> Vec<PendingResult> {
        self.lock().changes.take(CHANGE_BATCH)
    }

    /// Takes all changes that somebody waits for, with the earlier ones of their monitors.
    fn take_awaited_changes(&self) -> ChangeQueue {
        self.lock().changes.split_awaited()
    }

    /// Notes that these changes are recorded, so that results behind them can be written.
    fn mark_recorded(&self, changes: &[PendingResult]) {
        let mut queue = self.lock();
        for item in changes {
            if let Some(count) = queue.unrecorded.get_mut(&item.monitor) {
                *count -= 1;
                if *count == 0 {
                    queue.unrecorded.remove(&item.monitor);
                }
            }
        }
        drop(queue);
        self.routine.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes routine results until shutdown, and then the remaining ones.
pub(super) async fn write_routine(engine: Engine, stop: CancellationToken) {
    let writer = engine.scheduler().writer();
    let mut last = false;
    while !last {
        tokio::select! {
            () = writer.routine.notified() => {}
            () = stop.cancelled() => {}
        }
        writer.wait_for_batch(&stop).await;
        last = stop.is_cancelled();
        loop {
            let batch = writer.take_routine();
            // At shutdown, a batch may have only what somebody waits for.
            let has_more = batch.len() >= MAX_BATCH || (last && !batch.is_empty());
            if !batch.is_empty() {
                persist(&engine, batch, &stop).await;
            }
            if !has_more {
                break;
            }
        }
    }
}

/// Checkpoints the database's log regularly until shutdown.
pub(super) async fn checkpoint_log(engine: Engine, stop: CancellationToken) {
    while timeout(CHECKPOINT_INTERVAL, stop.cancelled()).await.is_err() {
        if let Err(error) = engine.store().checkpoint_wal().await {
            tracing::debug!(error = %ErrorChain(&error), "checkpointing the database's log failed, retrying later");
        }
    }
}

/// Writes changes as they arrive until shutdown, and then the remaining ones.
pub(super) async fn write_changes(engine: Engine, stop: CancellationToken) {
    let writer = engine.scheduler().writer();
    let mut rejected: Vec<PendingResult> = Vec::new();
    let mut retry_at = Instant::now() + REJECTED_RETRY_INTERVAL;
    loop {
        tokio::select! {
            () = writer.changes.notified() => {}
            () = tokio::time::sleep_until(retry_at), if !rejected.is_empty() => {}
            () = stop.cancelled() => {}
        }
        if stop.is_cancelled() {
            return write_last_changes(&engine, rejected, &stop).await;
        }
        let mut batch = writer.take_changes();
        if !rejected.is_empty() && Instant::now() >= retry_at {
            rejected.append(&mut batch);
            batch = std::mem::take(&mut rejected);
            retry_at = Instant::now() + REJECTED_RETRY_INTERVAL;
        }
        while !batch.is_empty() {
            batch = with_earlier_rejected(&mut rejected, batch);
            rejected.extend(persist(&engine, batch, &stop).await);
            if stop.is_cancelled() {
                break;
            }
            batch = writer.take_changes();
        }
    }
}

/// At shutdown, writes the changes that somebody waits for, whatever the others have waiting,
/// and then as many others as the time allows.
async fn write_last_changes(
    engine: &Engine,
    mut rejected: Vec<PendingResult>,
    stop: &CancellationToken,
) {
    let writer = engine.scheduler().writer();
    let mut awaited = writer.take_awaited_changes();
    loop {
        let batch = awaited.take(CHANGE_BATCH);
        if batch.is_empty() {
            break;
        }
        let batch = with_earlier_rejected(&mut rejected, batch);
        rejected.extend(persist(engine, batch, stop).await);
    }
    // Reports behind these changes are written now, while the rest is.
    writer.flush.notify_one();
    let deadline = Instant::now() + REMAINING_TIMEOUT;
    let mut batch = rejected;
    batch.extend(writer.take_changes());
    while !batch.is_empty() && Instant::now() < deadline {
        persist(engine, batch, stop).await;
        batch = writer.take_changes();
    }
    let left = batch.len() + writer.lock().changes.len();
    if left > 0 {
        tracing::warn!(
            "{left} changes were not recorded before shutdown, their monitors are checked again after the next start"
        );
    }
}

/// These changes, each behind the rejected ones of its monitor: no change overtakes an
/// earlier one of its monitor.
fn with_earlier_rejected(
    rejected: &mut Vec<PendingResult>,
    batch: Vec<PendingResult>,
) -> Vec<PendingResult> {
    let again = |item: &mut PendingResult| batch.iter().any(|new| new.monitor == item.monitor);
    let mut all: Vec<PendingResult> = rejected.extract_if(.., again).collect();
    all.extend(batch);
    all
}

/// How writing a batch ended.
enum Written {
    /// Everything was recorded, except what was produced under these stale grants.
    Recorded(Vec<Grant>),
    /// The store rejected the batch, and a retry would not help.
    Rejected(StoreError),
    /// The store did not respond before shutdown.
    GaveUp,
}

/// Writes a batch and returns the changes that the store rejects. If it rejects the batch as
/// a whole, the results are written in parts: one that cannot be written, or many large ones,
/// delay the others little.
async fn persist(
    engine: &Engine,
    batch: Vec<PendingResult>,
    stop: &CancellationToken,
) -> Vec<PendingResult> {
    match write_with_retries(engine, &batch, stop).await {
        Written::Recorded(stale) => {
            finish_batch(engine, batch, &stale);
            Vec::new()
        }
        Written::Rejected(error) if batch.len() > 1 => {
            tracing::warn!(
                error = %ErrorChain(&error),
                "recording {} results together failed, writing them in parts",
                batch.len()
            );
            persist_in_halves(engine, batch, stop).await
        }
        Written::Rejected(error) => {
            let id = batch[0].monitor;
            metrics::counter!("wakeful_records_refused_total").increment(1);
            tracing::error!(monitor.id = %id, error = %ErrorChain(&error), "the store rejected a result of monitor {id}");
            batch.into_iter().filter(PendingResult::is_change).collect()
        }
        Written::GaveUp => {
            tracing::warn!("{} results were not recorded before shutdown", batch.len());
            Vec::new()
        }
    }
}

/// Returns the rejected changes, and behind each the later results of its monitor, which must
/// not overtake it.
async fn persist_in_halves(
    engine: &Engine,
    mut batch: Vec<PendingResult>,
    stop: &CancellationToken,
) -> Vec<PendingResult> {
    let second = batch.split_off(batch.len() / 2);
    let mut rejected = Box::pin(persist(engine, batch, stop)).await;
    let is_behind = |item: &PendingResult| rejected.iter().any(|one| one.monitor == item.monitor);
    let (behind, second): (Vec<_>, Vec<_>) = second.into_iter().partition(is_behind);
    rejected.extend(behind);
    if !second.is_empty() {
        rejected.extend(Box::pin(persist(engine, second, stop)).await);
    }
    rejected
}

/// Writes a batch, again and again while the store is unavailable, until shutdown.
async fn write_with_retries(
    engine: &Engine,
    batch: &[PendingResult],
    stop: &CancellationToken,
) -> Written {
    let writer = engine.scheduler().writer();
    let mut pause = RETRY_PAUSE;
    let mut gone_count = 0;
    loop {
        let error = match write_before_shutdown(engine, batch, stop).await {
            Some(Ok(stale)) => {
                writer.set_store_down(false);
                return Written::Recorded(stale);
            }
            Some(Err(error)) => error,
            None => return Written::GaveUp,
        };
        match error {
            StoreError::Unavailable(_) if stop.is_cancelled() => return Written::GaveUp,
            StoreError::Unavailable(_) => {
                writer.set_store_down(true);
                wait_for_store(&error, batch.len(), pause, stop).await;
                pause = (pause * 2).min(MAX_RETRY_PAUSE);
            }
            // A notifier was deleted between being read and being used: read again.
            StoreError::Gone if gone_count < MAX_GONE_RETRIES => gone_count += 1,
            error => return Written::Rejected(error),
        }
    }
}

/// One attempt; `None` if it took too long at shutdown.
async fn write_before_shutdown(
    engine: &Engine,
    batch: &[PendingResult],
    stop: &CancellationToken,
) -> Option<Result<Vec<Grant>, StoreError>> {
    if !stop.is_cancelled() {
        return Some(write(engine, batch, AlertTiming::AtOnce).await);
    }
    let is_awaited = batch.iter().any(PendingResult::is_awaited);
    let limit = if is_awaited { AWAITED_TIMEOUT } else { SHUTDOWN_TIMEOUT };
    timeout(limit, write(engine, batch, AlertTiming::Later)).await.ok()
}

/// When the notifications of a batch are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AlertTiming {
    AtOnce,
    /// By the next process, or by another node: this one sends nothing any more.
    Later,
}

/// Pauses before the next attempt, but not beyond shutdown.
async fn wait_for_store(
    error: &StoreError,
    results: usize,
    pause: Duration,
    stop: &CancellationToken,
) {
    metrics::counter!("wakeful_record_failures_total").increment(1);
    tracing::warn!(
        error = %ErrorChain(error),
        "recording {results} results failed, retrying in {} ms",
        pause.as_millis()
    );
    tokio::select! {
        () = sleep(pause) => {}
        () = stop.cancelled() => {}
    }
}

/// Writes a batch; returns the stale grants, under which nothing was written.
async fn write(
    engine: &Engine,
    batch: &[PendingResult],
    alerts: AlertTiming,
) -> Result<Vec<Grant>, StoreError> {
    let changed: Vec<MonitorId> =
        batch.iter().filter(|item| item.is_change()).map(|item| item.monitor).collect();
    let monitors: HashMap<MonitorId, Monitor> = if changed.is_empty() {
        HashMap::new()
    } else {
        engine
            .store()
            .monitors_by_id(&changed)
            .await?
            .into_iter()
            .map(|stored| (stored.monitor.id, stored.monitor))
            .collect()
    };
    let records: Vec<Record> = batch.iter().filter_map(|item| to_record(item, &monitors)).collect();
    let has_events = records.iter().any(|record| !record.events.is_empty());
    if has_events {
        failpoint::here("before-enqueue");
    }
    // Boxed, like the rest that is large: a batch is moved several times before it is polled.
    let written = Box::pin(engine.store().record(&records)).await?;
    if has_events {
        failpoint::here("after-enqueue");
    }
    if !written.due.is_empty() && alerts == AlertTiming::AtOnce {
        let due = new_alerts(&records, &monitors, &written.due);
        // They are in the store: after a panic, the alert processor decides about them.
        if survived(Box::pin(processor::process_new(engine, &due))).await.is_err() {
            engine.alert_backlog().leave(&due);
        }
    }
    engine.check_groups_of(monitors.values());
    let is_expected = |item: &&PendingResult| !item.state_only && !item.is_stale(&written.stale);
    if written.heartbeats < batch.iter().filter(is_expected).count() {
        // A monitor may have been deleted without this node being notified: with its team,
        // from the command line or by another node. The scheduler reads it again.
        for item in batch {
            engine.bus().reload_monitor(Edit::new(item.team, item.monitor));
        }
    }
    Ok(written.stale)
}

/// The record of a result; `None` if its monitor was deleted meanwhile.
fn to_record(item: &PendingResult, monitors: &HashMap<MonitorId, Monitor>) -> Option<Record> {
    let record = if item.is_change() {
        let monitor = monitors.get(&item.monitor)?;
        events::verdict_record(monitor, item.seq, &item.step, item.payload.as_ref(), &item.evidence)
    } else {
        events::routine_record(item.monitor, item.seq, &item.step, &item.evidence)
    };
    let grant = item.permit.as_ref().map(|permit| permit.grant);
    let state_only = item.state_only;
    Some(Record { certificate: item.certificate.clone(), grant, state_only, ..record })
}

/// The alerts that these records make due, in the order of the batch: teams take turns.
fn new_alerts(
    records: &[Record],
    monitors: &HashMap<MonitorId, Monitor>,
    due: &[AlertId],
) -> Vec<NewAlert> {
    let due: HashSet<AlertId> = due.iter().copied().collect();
    let events = records.iter().flat_map(|record| {
        let monitor = monitors.get(&record.monitor);
        monitor.into_iter().flat_map(|monitor| record.events.iter().map(move |one| (monitor, one)))
    });
    let mut alerts: Vec<NewAlert> = events
        .filter(|(_, event)| due.contains(&event.alert))
        .map(|(monitor, event)| NewAlert { id: event.alert, team: monitor.team })
        .collect();
    alerts.dedup_by_key(|alert| alert.id);
    alerts
}

fn finish_batch(engine: &Engine, batch: Vec<PendingResult>, stale: &[Grant]) {
    let writer = engine.scheduler().writer();
    if batch[0].is_change() {
        writer.mark_recorded(&batch);
    }
    if !stale.is_empty() {
        // Another node owns these slots now and checks their monitors.
        let rejected = batch.iter().filter(|item| item.is_stale(stale)).count();
        metrics::counter!("wakeful_records_stale_total").increment(rejected as u64);
        tracing::warn!("dropped {rejected} results: another node owns their monitors now");
        let lost = engine.cluster().end_grants(stale);
        engine.scheduler().drop_slots(&lost);
    }
    for item in batch {
        if item.is_stale(stale) {
            continue;
        }
        let PendingResult { team, monitor, step, recorded, state_only, .. } = item;
        if let Some(recorded) = recorded {
            // The receiver may be gone.
            let _ = recorded.send(());
        }
        if state_only {
            continue;
        }
        if step.change.is_some() {
            engine.note_status_change(monitor);
        }
        engine.bus().publish_event(team, || Event::Heartbeat {
            monitor,
            status: step.state.status,
            previous: step.change.map(|change| change.previous),
            degraded: step.state.degradation().is_some(),
            heartbeat: step.heartbeat,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use wakeful_core::time::Millis;
    use wakeful_core::verdict::{Input, Policy, Report, State, Status, step};

    const NOW: Millis = Millis(1_794_735_000_000);

    fn monitor(number: u8) -> MonitorId {
        MonitorId::new(NOW, [number; 10])
    }

    /// A verdict on a report that is up, for a monitor that was in this status.
    fn item(number: u8, seq: i64, was: Status) -> PendingResult {
        let state = State { status: was, ..State::default() };
        let policy = Policy {
            retries: 0,
            retry_interval: Duration::ZERO,
            upside_down: false,
            certificate_warnings: false,
            degraded: None,
        };
        let seen = Input::Report(Report::parse("up").expect("known"));
        let step = step(&state, seen, &policy, NOW);
        let team = TeamId::new(NOW, [1; 10]);
        PendingResult {
            team,
            monitor: monitor(number),
            seq,
            step,
            certificate: None,
            payload: None,
            evidence: Vec::new(),
            recorded: None,
            permit: None,
            state_only: false,
        }
    }

    fn numbers(items: &[PendingResult]) -> Vec<i64> {
        items.iter().map(|item| item.seq).collect()
    }

    #[test]
    fn a_routine_result_waits_for_the_changes_of_its_own_monitor_only() {
        let writer = ResultWriter::default();
        writer.push(item(1, 1, Status::Up));
        writer.push(item(1, 2, Status::Down));
        writer.push(item(1, 3, Status::Up));
        writer.push(item(2, 4, Status::Up));
        let changes = writer.take_changes();
        assert_eq!(numbers(&changes), [2]);
        assert_eq!(numbers(&writer.take_routine()), [4], "taken, but not yet recorded");
        writer.mark_recorded(&changes);
        assert_eq!(numbers(&writer.take_routine()), [1, 3]);
        assert!(writer.lock().unrecorded.is_empty());
    }

    #[test]
    fn at_shutdown_routine_results_that_somebody_waits_for_come_first() {
        let writer = ResultWriter::default();
        let (recorded, _receiver) = oneshot::channel();
        writer.push(item(1, 1, Status::Up));
        writer.push(item(2, 2, Status::Up));
        writer.push(PendingResult { recorded: Some(recorded), ..item(2, 3, Status::Up) });
        writer.close();
        assert_eq!(numbers(&writer.take_routine()), [2, 3]);
        assert_eq!(numbers(&writer.take_routine()), [1]);
    }

    #[test]
    fn changes_that_somebody_waits_for_are_taken_with_the_earlier_ones_of_their_monitors() {
        let writer = ResultWriter::default();
        let awaited = |number, seq| {
            let (recorded, receiver) = oneshot::channel();
            writer.push(PendingResult {
                recorded: Some(recorded),
                ..item(number, seq, Status::Down)
            });
            receiver
        };
        writer.push(item(1, 1, Status::Down));
        writer.push(item(2, 2, Status::Down));
        let _receiver = awaited(1, 3);
        writer.push(item(1, 4, Status::Down));
        drop(awaited(2, 5));
        assert_eq!(numbers(&writer.take_awaited_changes().take(9)), [1, 3]);
        assert_eq!(numbers(&writer.take_changes()), [2, 4, 5], "nobody waits for the last one");
    }

    #[test]
    fn teams_take_turns_and_the_changes_of_one_stay_in_order() {
        let writer = ResultWriter::default();
        let of_team = |team: u8, seq| {
            let team = TeamId::new(NOW, [team; 10]);
            writer.push(PendingResult { team, ..item(1, seq, Status::Down) });
        };
        for seq in 0..2 * i64::try_from(CHANGE_BATCH).expect("small") {
            of_team(1, seq);
        }
        of_team(2, 5_000);
        of_team(2, 5_001);
        assert_eq!(numbers(&writer.take_changes())[..5], [0, 5_000, 1, 5_001, 2]);
        of_team(3, 6_000);
        assert_eq!(numbers(&writer.take_changes())[..3], [498, 6_000, 499]);
    }

    #[test]
    fn while_the_store_is_down_the_oldest_routine_results_are_dropped_and_no_change_is() {
        let writer = ResultWriter::default();
        for seq in 0..i64::try_from(MAX_QUEUED).expect("small") + 5 {
            writer.push(item(1, seq, Status::Up));
            writer.push(item(2, seq, Status::Down));
        }
        let queue = writer.lock();
        assert_eq!((queue.routine.len(), queue.routine[0].seq), (MAX_QUEUED, 5));
        assert_eq!(queue.changes.len(), MAX_QUEUED + 5);
    }

    #[tokio::test]
    async fn checks_wait_for_a_slow_store_and_not_for_one_that_is_down() {
        let writer = ResultWriter::default();
        let fill = |count: usize| (0..count).for_each(|_| writer.push(item(1, 1, Status::Up)));
        fill(BACKPRESSURE_LIMIT - 1);
        assert!(writer.wait_for_capacity().now_or_never().is_some());
        fill(1);
        let mut capacity = std::pin::pin!(writer.wait_for_capacity());
        assert!(capacity.as_mut().now_or_never().is_none());
        writer.take_routine();
        capacity.await;

        fill(BACKPRESSURE_LIMIT);
        assert!(writer.wait_for_capacity().now_or_never().is_none());
        writer.set_store_down(true);
        assert!(writer.wait_for_capacity().now_or_never().is_some());
        fill(BACKPRESSURE_LIMIT);
        assert!(writer.wait_for_capacity().now_or_never().is_some(), "it is still down");
    }

    #[test]
    fn waiting_for_a_record_fails_at_once_when_nothing_is_written() {
        let writer = ResultWriter::default();
        writer.close();
        let (recorded, mut receiver) = oneshot::channel();
        writer.push(PendingResult { recorded: Some(recorded), ..item(1, 1, Status::Up) });
        assert!(receiver.try_recv().is_err());
        writer.open();
        writer.push(item(1, 2, Status::Up));
        assert_eq!(numbers(&writer.take_routine()), [2]);
    }
}
