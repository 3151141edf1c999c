//! Verdicts on their way into the store. Those that change nothing are written
//! together, about once a second; a change is written at once, on a path of
//! its own, with its alert and what there is to tell. When the store is away
//! everything waits here: changes for as long as it takes, the others until
//! there are too many. A plain verdict never passes an earlier change of its
//! monitor: a status must not be on record before its alert is.

use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use wakeful_core::chain::Chain;
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::monitor::Monitor;
use wakeful_core::observation::Certificate;
use wakeful_core::slot::Grant;
use wakeful_core::verdict::Step;
use wakeful_store::{Record, StoreError};

use crate::bus::{Edit, Event};
use crate::cluster::Held;
use crate::{Engine, failpoint, notices};

/// How long plain verdicts are gathered: so many of these steps, or fewer when
/// there are a few by then. Each transaction costs as much as a hundred rows.
const GATHER: Duration = Duration::from_millis(200);
const STEPS: usize = 5;
const A_FEW: usize = 500;
/// How many plain verdicts one transaction takes.
const BATCH: usize = 5_000;
/// So many are worth a transaction before the gathering is over.
const ENOUGH: usize = 2_000;
/// How many plain verdicts may wait while the store is there before checks do.
const FULL: usize = 10_000;
/// How many changes one transaction takes.
const CHANGES: usize = 500;
/// How many plain verdicts wait while the store is away; the oldest go first.
const MOST_WAITING: usize = 20_000;
const PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// When a change that the store refused is tried again.
const TRY_REFUSED: Duration = Duration::from_secs(30);
/// How often the database's log is folded in.
const FOLD_EVERY: Duration = Duration::from_secs(2);
/// How long the last writes may take when the service stops.
const LAST_WRITES: Duration = Duration::from_millis(800);

/// One verdict to be recorded.
pub(super) struct Item {
    pub(super) team: TeamId,
    pub(super) monitor: MonitorId,
    pub(super) seq: i64,
    pub(super) step: Step,
    pub(super) certificate: Option<Box<Certificate>>,
    pub(super) payload: Option<Value>,
    /// Who waits for it to be on record.
    pub(super) recorded: Option<oneshot::Sender<()>>,
    /// The right to write it; nothing where a node is alone.
    pub(super) held: Option<Held>,
}

impl Item {
    /// Whether it was found out under one of these grants.
    fn is_stale(&self, grants: &[Grant]) -> bool {
        self.held.as_ref().is_some_and(|held| grants.contains(&held.grant))
    }

    fn is_change(&self) -> bool {
        self.step.change.is_some() || self.step.warning.is_some()
    }
}

#[derive(Default)]
pub(super) struct Recorder {
    queue: Mutex<Queue>,
    plain: Notify,
    hurry: Notify,
    changes: Notify,
    /// Whether checks wait for the store to catch up.
    full: AtomicBool,
    /// Told when they need not any more.
    drained: Notify,
    /// The store does not answer, so nothing is gained by waiting for it.
    away: AtomicBool,
}

#[derive(Default)]
struct Queue {
    plain: VecDeque<Item>,
    changes: VecDeque<Item>,
    /// How many of the plain ones, the first, were found to wait for a change.
    stuck: usize,
    /// The changes of each monitor that are not on record yet.
    unrecorded: HashMap<MonitorId, usize>,
    /// Nobody writes: who waits for a record is told at once.
    closed: bool,
}

impl Queue {
    /// Whether checks must wait for the store. What waits for a change that the
    /// store refuses holds up nobody else.
    fn is_full(&self) -> bool {
        self.plain.len() - self.stuck >= FULL
    }
}

impl Recorder {
    pub(super) fn open(&self) {
        self.lock().closed = false;
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
    }

    /// Takes a verdict in. Those of one monitor must come in their order.
    pub(super) fn push(&self, item: Item) {
        let mut queue = self.lock();
        if queue.closed {
            return;
        }
        if item.is_change() {
            *queue.unrecorded.entry(item.monitor).or_default() += 1;
            queue.changes.push_back(item);
            drop(queue);
            self.changes.notify_one();
            return;
        }
        if queue.plain.len() >= MOST_WAITING {
            queue.plain.pop_front();
            queue.stuck = queue.stuck.saturating_sub(1);
            metrics::counter!("wakeful_heartbeats_dropped_total").increment(1);
        }
        let hurry = item.recorded.is_some() || queue.plain.len() + 1 >= ENOUGH;
        queue.plain.push_back(item);
        if queue.is_full() && !self.away.load(Ordering::Relaxed) {
            self.full.store(true, Ordering::Relaxed);
        }
        drop(queue);
        self.plain.notify_one();
        if hurry {
            self.hurry.notify_one();
        }
    }

    /// Plain verdicts in their order, without those behind an unrecorded change.
    fn take_plain(&self) -> Vec<Item> {
        let mut queue = self.lock();
        let Queue { plain, unrecorded, .. } = &mut *queue;
        let mut taken = Vec::with_capacity(plain.len().min(BATCH));
        let mut stay = VecDeque::new();
        while taken.len() < BATCH
            && let Some(item) = plain.pop_front()
        {
            match unrecorded.contains_key(&item.monitor) {
                true => stay.push_back(item),
                false => taken.push(item),
            }
        }
        let stuck = stay.len();
        stay.append(plain);
        *plain = stay;
        queue.stuck = stuck;
        if !queue.is_full() {
            self.let_in();
        }
        taken
    }

    /// Waits until the store has caught up with what was found out, if it is
    /// behind. While it is away nobody waits here: what goes wrong meanwhile
    /// must be seen, and is told when the store is back.
    pub(super) async fn room(&self) {
        while self.full.load(Ordering::Relaxed) {
            let drained = self.drained.notified();
            if self.full.load(Ordering::Relaxed) {
                drained.await;
            }
        }
    }

    fn let_in(&self) {
        if self.full.swap(false, Ordering::Relaxed) {
            self.drained.notify_waiters();
        }
    }

    /// Takes note of whether the store answers.
    fn is_away(&self, away: bool) {
        self.away.store(away, Ordering::Relaxed);
        if away {
            self.let_in();
        }
    }

    /// Lets plain verdicts come together for a while.
    async fn gather(&self, stop: &CancellationToken) {
        for _ in 0..STEPS {
            tokio::select! {
                () = sleep(GATHER) => {}
                () = self.hurry.notified() => return,
                () = stop.cancelled() => return,
            }
            if self.lock().plain.len() >= A_FEW {
                return;
            }
        }
    }

    fn take_changes(&self) -> Vec<Item> {
        let mut queue = self.lock();
        let count = queue.changes.len().min(CHANGES);
        queue.changes.drain(..count).collect()
    }

    /// Takes note that these changes are on record: what waits behind them may go.
    fn forget(&self, changes: &[Item]) {
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
        self.plain.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes plain verdicts until told to stop, and then what is left.
pub(super) async fn write_plain(engine: Engine, stop: CancellationToken) {
    let recorder = engine.watch().recorder();
    let mut last = false;
    while !last {
        tokio::select! {
            () = recorder.plain.notified() => {}
            () = stop.cancelled() => {}
        }
        recorder.gather(&stop).await;
        last = stop.is_cancelled();
        loop {
            let batch = recorder.take_plain();
            let full = batch.len() >= BATCH;
            if !batch.is_empty() {
                persist(&engine, batch, &stop).await;
            }
            if !full {
                break;
            }
        }
    }
}

/// Folds the database's log in from time to time until told to stop.
pub(super) async fn fold_log(engine: Engine, stop: CancellationToken) {
    while timeout(FOLD_EVERY, stop.cancelled()).await.is_err() {
        if let Err(error) = engine.store().fold_log().await {
            tracing::debug!(error = %Chain(&error), "the database's log is folded in later");
        }
    }
}

/// Writes changes as they come until told to stop, and then what is left.
pub(super) async fn write_changes(engine: Engine, stop: CancellationToken) {
    let recorder = engine.watch().recorder();
    let mut refused: Vec<Item> = Vec::new();
    let mut retry_at = Instant::now() + TRY_REFUSED;
    let mut last = false;
    while !last {
        tokio::select! {
            () = recorder.changes.notified() => {}
            () = tokio::time::sleep_until(retry_at), if !refused.is_empty() => {}
            () = stop.cancelled() => {}
        }
        last = stop.is_cancelled();
        let mut batch = recorder.take_changes();
        if !refused.is_empty() && (last || Instant::now() >= retry_at) {
            refused.append(&mut batch);
            batch = std::mem::take(&mut refused);
            retry_at = Instant::now() + TRY_REFUSED;
        }
        while !batch.is_empty() {
            batch = behind(&mut refused, batch);
            refused.extend(persist(&engine, batch, &stop).await);
            batch = recorder.take_changes();
        }
    }
}

/// These changes, each behind those of its monitor that were refused before:
/// no change passes an earlier one of its monitor.
fn behind(refused: &mut Vec<Item>, batch: Vec<Item>) -> Vec<Item> {
    let again = |item: &mut Item| batch.iter().any(|new| new.monitor == item.monitor);
    let mut all: Vec<Item> = refused.extract_if(.., again).collect();
    all.extend(batch);
    all
}

/// Writes a batch, as often as it takes; gives back the changes that the store
/// refuses for good. When the service stops, the last try has its time, too.
async fn persist(engine: &Engine, batch: Vec<Item>, stop: &CancellationToken) -> Vec<Item> {
    let mut pause = PAUSE;
    let mut gone = 0;
    loop {
        let outcome = match stop.is_cancelled() {
            false => write(engine, &batch).await,
            true => match timeout(LAST_WRITES, write(engine, &batch)).await {
                Ok(outcome) => outcome,
                Err(_) => return give_up(&batch),
            },
        };
        let error = match outcome {
            Ok(stale) => {
                engine.watch().recorder().is_away(false);
                done(engine, batch, &stale);
                return Vec::new();
            }
            Err(error) => error,
        };
        match error {
            StoreError::Unavailable(_) if stop.is_cancelled() => return give_up(&batch),
            StoreError::Unavailable(_) => {
                engine.watch().recorder().is_away(true);
                metrics::counter!("wakeful_record_failures_total").increment(1);
                tracing::warn!(
                    error = %Chain(&error),
                    "{} verdicts wait for the store",
                    batch.len()
                );
                tokio::select! {
                    () = sleep(pause) => {}
                    () = stop.cancelled() => {}
                }
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            // A notifier was deleted between being read and being told: read again.
            StoreError::Gone if gone < 3 => gone += 1,
            error if batch.len() > 1 => {
                tracing::warn!(
                    error = %Chain(&error),
                    "{} verdicts are written one by one",
                    batch.len()
                );
                let mut refused: Vec<Item> = Vec::new();
                for item in batch {
                    let waits = refused.iter().any(|earlier| earlier.monitor == item.monitor);
                    match waits {
                        true => refused.push(item),
                        false => {
                            refused.extend(Box::pin(persist(engine, vec![item], stop)).await);
                        }
                    }
                }
                return refused;
            }
            error => {
                let id = batch[0].monitor;
                metrics::counter!("wakeful_records_refused_total").increment(1);
                tracing::error!(monitor.id = %id, error = %Chain(&error), "the store refuses a verdict of monitor {id}");
                return batch.into_iter().filter(Item::is_change).collect();
            }
        }
    }
}

fn give_up(batch: &[Item]) -> Vec<Item> {
    tracing::warn!("{} verdicts were not recorded before the stop", batch.len());
    Vec::new()
}

/// Writes a batch; gives the grants that are over, under which nothing was written.
async fn write(engine: &Engine, batch: &[Item]) -> Result<Vec<Grant>, StoreError> {
    let changed: Vec<MonitorId> =
        batch.iter().filter(|item| item.is_change()).map(|item| item.monitor).collect();
    let monitors: HashMap<MonitorId, Monitor> = match changed.is_empty() {
        true => HashMap::new(),
        false => engine
            .store()
            .monitors_by_id(&changed)
            .await?
            .into_iter()
            .map(|stored| (stored.monitor.id, stored.monitor))
            .collect(),
    };
    let records: Vec<Record> = batch.iter().filter_map(|item| record(item, &monitors)).collect();
    let tells = records.iter().any(|record| !record.events.is_empty());
    if tells {
        failpoint::here("before-enqueue");
    }
    let written = engine.store().record(&records).await?;
    if tells {
        failpoint::here("after-enqueue");
    }
    if written.heartbeats < batch.iter().filter(|item| !item.is_stale(&written.stale)).count() {
        // A monitor may be gone without this node having been told: with its
        // team, by the command line, by another node. The watch looks again.
        for item in batch {
            engine.bus().look_again(Edit { team: item.team, monitor: item.monitor });
        }
    }
    Ok(written.stale)
}

/// The record of an item; nothing when its monitor was deleted meanwhile.
fn record(item: &Item, monitors: &HashMap<MonitorId, Monitor>) -> Option<Record> {
    let record = match item.is_change() {
        false => notices::plain(item.monitor, item.seq, &item.step),
        true => {
            let monitor = monitors.get(&item.monitor)?;
            notices::record(monitor, item.seq, &item.step, item.payload.as_ref())
        }
    };
    let grant = item.held.as_ref().map(|held| held.grant);
    Some(Record { certificate: item.certificate.clone(), grant, ..record })
}

fn done(engine: &Engine, batch: Vec<Item>, stale: &[Grant]) {
    let recorder = engine.watch().recorder();
    if batch[0].is_change() {
        recorder.forget(&batch);
    }
    if !stale.is_empty() {
        // Another node has been granted these slots: it finds out by itself.
        let refused = batch.iter().filter(|item| item.is_stale(stale)).count();
        metrics::counter!("wakeful_records_stale_total").increment(refused as u64);
        tracing::warn!("{refused} verdicts were too late: another node watches their monitors");
        let lost = engine.cluster().over(stale);
        engine.watch().drop_slots(&lost);
    }
    for item in batch {
        if item.is_stale(stale) {
            continue;
        }
        let Item { team, monitor, step, recorded, .. } = item;
        if let Some(recorded) = recorded {
            // Whoever waited may have left.
            let _ = recorded.send(());
        }
        engine.bus().tell(team, || Event::Heartbeat {
            monitor,
            status: step.state.status,
            previous: step.change.map(|change| change.previous),
            heartbeat: step.heartbeat,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use wakeful_core::time::Millis;
    use wakeful_core::verdict::{Policy, Report, Seen, State, Status, step};

    const NOW: Millis = Millis(1_794_735_000_000);

    fn monitor(number: u8) -> MonitorId {
        MonitorId::new(NOW, [number; 10])
    }

    /// A verdict on a report that is up, for a monitor that was in this status.
    fn item(number: u8, seq: i64, was: Status) -> Item {
        let state = State { status: was, ..State::default() };
        let policy = Policy {
            retries: 0,
            retry_interval: Duration::ZERO,
            upside_down: false,
            certificate_warnings: false,
        };
        let seen = Seen::Report(Report::parse("up").expect("known"));
        let step = step(&state, seen, &policy, NOW);
        let team = TeamId::new(NOW, [1; 10]);
        Item {
            team,
            monitor: monitor(number),
            seq,
            step,
            certificate: None,
            payload: None,
            recorded: None,
            held: None,
        }
    }

    fn numbers(items: &[Item]) -> Vec<i64> {
        items.iter().map(|item| item.seq).collect()
    }

    #[test]
    fn a_plain_verdict_waits_for_the_changes_of_its_own_monitor_only() {
        let recorder = Recorder::default();
        recorder.push(item(1, 1, Status::Up));
        recorder.push(item(1, 2, Status::Down));
        recorder.push(item(1, 3, Status::Up));
        recorder.push(item(2, 4, Status::Up));
        let changes = recorder.take_changes();
        assert_eq!(numbers(&changes), [2]);
        assert_eq!(numbers(&recorder.take_plain()), [4], "taken, but not yet on record");
        recorder.forget(&changes);
        assert_eq!(numbers(&recorder.take_plain()), [1, 3]);
        assert!(recorder.lock().unrecorded.is_empty());
    }

    #[test]
    fn while_the_store_is_away_the_oldest_plain_verdicts_go_and_no_change_does() {
        let recorder = Recorder::default();
        for seq in 0..i64::try_from(MOST_WAITING).expect("small") + 5 {
            recorder.push(item(1, seq, Status::Up));
            recorder.push(item(2, seq, Status::Down));
        }
        let queue = recorder.lock();
        assert_eq!((queue.plain.len(), queue.plain[0].seq), (MOST_WAITING, 5));
        assert_eq!(queue.changes.len(), MOST_WAITING + 5);
    }

    #[tokio::test]
    async fn checks_wait_for_a_store_that_is_slow_and_not_for_one_that_is_away() {
        let recorder = Recorder::default();
        let fill = |count: usize| (0..count).for_each(|_| recorder.push(item(1, 1, Status::Up)));
        fill(FULL - 1);
        assert!(recorder.room().now_or_never().is_some());
        fill(1);
        let mut room = std::pin::pin!(recorder.room());
        assert!(room.as_mut().now_or_never().is_none());
        recorder.take_plain();
        room.await;

        fill(FULL);
        assert!(recorder.room().now_or_never().is_none());
        recorder.is_away(true);
        assert!(recorder.room().now_or_never().is_some());
        fill(FULL);
        assert!(recorder.room().now_or_never().is_some(), "it is still away");
    }

    #[test]
    fn who_waits_for_a_record_that_nobody_will_write_is_told_at_once() {
        let recorder = Recorder::default();
        recorder.close();
        let (recorded, mut receiver) = oneshot::channel();
        recorder.push(Item { recorded: Some(recorded), ..item(1, 1, Status::Up) });
        assert!(receiver.try_recv().is_err());
        recorder.open();
        recorder.push(item(1, 2, Status::Up));
        assert_eq!(numbers(&recorder.take_plain()), [2]);
    }
}
