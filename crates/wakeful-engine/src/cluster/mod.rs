//! This node among others: which slots of monitors it holds, under which
//! epochs, and since when it was last heard of. Alone, on SQLite, it holds
//! everything and asks nobody. `rounds` keeps this true, `asks` is how a node
//! that does not hold a monitor has something done about it.

mod asks;
mod clock;
mod rounds;

pub(crate) use asks::{Wish, serve};
pub(crate) use rounds::{join, leave, run};

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use wakeful_core::id::{AskId, MonitorId, NodeId};
use wakeful_core::slot::{Grant, SLOTS, Slot};
use wakeful_store::Taken;

use clock::SharedClock;

pub(crate) struct Cluster {
    node: NodeId,
    alone: bool,
    lease: Duration,
    /// The epoch under which each slot is held; 0: it is not.
    epochs: Box<[AtomicI64]>,
    /// Raised whenever slots are lost: what was read before may be old.
    losses: AtomicU64,
    heard_of: Mutex<HeardOf>,
    /// Slots whose monitors are not loaded yet.
    gained: Mutex<Vec<Slot>>,
    /// Those of them whose holder died, and when it was heard of last.
    orphaned: Mutex<HashMap<Slot, Instant>>,
    live: AtomicUsize,
    clock: SharedClock,
    pub(crate) signals: Signals,
    /// What is being done for others right now.
    doing: Mutex<HashSet<AskId>>,
    /// The tasks that do it.
    tasks: TaskTracker,
    /// Results of each slot that are on their way into the store.
    pending: Box<[AtomicUsize]>,
    /// Told when a slot has none any more.
    settled: Notify,
}

/// A result's right to be written: counted for as long as it exists.
pub(crate) struct Held {
    cluster: Arc<Cluster>,
    pub(crate) grant: Grant,
}

impl Held {
    /// The right to write for a monitor now; nothing when it is not held.
    pub(crate) fn of(cluster: &Arc<Cluster>, id: MonitorId) -> Option<Self> {
        let grant = cluster.grant(id)?;
        cluster.pending[usize::from(grant.slot.number())].fetch_add(1, Ordering::AcqRel);
        Some(Self { cluster: Arc::clone(cluster), grant })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let pending = &self.cluster.pending[usize::from(self.grant.slot.number())];
        if pending.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.cluster.settled.notify_waiters();
        }
    }
}

/// When this node was heard of.
struct HeardOf {
    /// When the last renewal that succeeded was begun; nothing before the first.
    last: Option<Instant>,
    /// Since when every renewal came in time.
    steady_since: Instant,
}

/// What wakes the loops of this node.
#[derive(Default)]
pub(crate) struct Signals {
    /// There are slots to be loaded.
    pub(crate) gained: Notify,
    /// Somebody came or went: do a round now.
    pub(crate) round: Notify,
    /// Something is asked of the holders of monitors.
    pub(crate) asked: Notify,
    /// Something that was asked has its answer.
    pub(crate) answered: Notify,
}

impl Cluster {
    pub(crate) fn new(node: NodeId, alone: bool, lease: Duration) -> Self {
        Self {
            node,
            alone,
            lease,
            epochs: (0..SLOTS).map(|_| AtomicI64::new(0)).collect(),
            losses: AtomicU64::new(0),
            heard_of: Mutex::new(HeardOf { last: None, steady_since: Instant::now() }),
            gained: Mutex::default(),
            orphaned: Mutex::default(),
            live: AtomicUsize::new(1),
            clock: SharedClock::default(),
            signals: Signals::default(),
            doing: Mutex::default(),
            tasks: TaskTracker::new(),
            pending: (0..SLOTS).map(|_| AtomicUsize::new(0)).collect(),
            settled: Notify::new(),
        }
    }

    /// Waits until nothing of these slots is on its way into the store.
    pub(crate) async fn written(&self, slots: &[Slot]) {
        loop {
            let settled = self.settled.notified();
            let waits =
                |slot: &Slot| self.pending[usize::from(slot.number())].load(Ordering::Acquire) > 0;
            if !slots.iter().any(waits) {
                return;
            }
            settled.await;
        }
    }

    pub(crate) fn node(&self) -> NodeId {
        self.node
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.alone
    }

    /// How many nodes live, as of the last round.
    pub(crate) fn live(&self) -> usize {
        self.live.load(Ordering::Relaxed)
    }

    /// Whether this node watches a monitor.
    pub(crate) fn holds(&self, id: MonitorId) -> bool {
        self.alone || self.epoch(Slot::of(id)) > 0
    }

    /// Whether this node does what one node does for all of them.
    pub(crate) fn leads(&self) -> bool {
        self.alone || self.epochs.first().is_some_and(|epoch| epoch.load(Ordering::Acquire) > 0)
    }

    /// What a monitor's results are written under; nothing alone.
    pub(crate) fn grant(&self, id: MonitorId) -> Option<Grant> {
        if self.alone {
            return None;
        }
        let slot = Slot::of(id);
        let epoch = self.epoch(slot);
        (epoch > 0).then_some(Grant { slot, epoch })
    }

    /// Whether this node was heard of in time ever since, and lately enough to
    /// act for all: one that was frozen or cut off may have been replaced. One
    /// that has not joined is replaced by nobody.
    pub(crate) fn is_steady_since(&self, then: Instant) -> bool {
        if self.alone {
            return true;
        }
        // Something may pass between this look and what is done by it.
        let safe = self.lease * 7 / 8;
        let heard_of = lock(&self.heard_of);
        heard_of.last.is_none_or(|last| last.elapsed() < safe && heard_of.steady_since <= then)
    }

    /// Takes note of a renewal that was begun then. Gives for how long every
    /// renewal has come in time.
    fn heard_of(&self, begun: Instant) -> Duration {
        let mut heard_of = lock(&self.heard_of);
        let before = heard_of.last.replace(begun);
        if before.is_none_or(|before| begun.duration_since(before) >= self.lease * 7 / 8) {
            heard_of.steady_since = begun;
        }
        begun.duration_since(heard_of.steady_since)
    }

    /// The slots that are held, in order.
    pub(crate) fn held(&self) -> Vec<Slot> {
        Slot::all().filter(|slot| self.epoch(*slot) > 0).collect()
    }

    /// A number that changes when slots are lost.
    pub(crate) fn losses(&self) -> u64 {
        self.losses.load(Ordering::Acquire)
    }

    /// Slots to be loaded; each is handed out once.
    pub(crate) fn take_gained(&self) -> Vec<Slot> {
        std::mem::take(&mut *lock(&self.gained))
    }

    /// Takes note that the monitors of these slots are in memory.
    pub(crate) fn loaded(&self, slots: &[Slot]) {
        let mut orphaned = lock(&self.orphaned);
        for slot in slots {
            orphaned.remove(slot);
        }
    }

    /// For how long nobody has watched the monitors of a slot, when its holder
    /// died and they are not loaded yet.
    pub(crate) fn deaf_for(&self, slot: Slot) -> Option<Duration> {
        if self.alone {
            return None;
        }
        lock(&self.orphaned).get(&slot).map(Instant::elapsed)
    }

    fn epoch(&self, slot: Slot) -> i64 {
        self.epochs[usize::from(slot.number())].load(Ordering::Acquire)
    }

    /// Takes note of what is granted now. Gives the slots that are lost: their
    /// monitors must go from memory before the next grants are taken note of.
    fn lose_all_but(&self, held: &[Grant]) -> HashSet<Slot> {
        let kept: HashSet<Grant> = held.iter().copied().collect();
        let lost = Slot::all().filter(|slot| {
            let epoch = self.epoch(*slot);
            epoch > 0 && !kept.contains(&Grant { slot: *slot, epoch })
        });
        let lost: HashSet<Slot> = lost.collect();
        self.lose(&lost);
        lost
    }

    /// Takes note that these grants are over; gives the slots that are lost by it.
    pub(crate) fn over(&self, grants: &[Grant]) -> HashSet<Slot> {
        let held = grants.iter().filter(|grant| self.epoch(grant.slot) == grant.epoch);
        let lost: HashSet<Slot> = held.map(|grant| grant.slot).collect();
        self.lose(&lost);
        lost
    }

    fn lose(&self, slots: &HashSet<Slot>) {
        for slot in slots {
            self.epochs[usize::from(slot.number())].store(0, Ordering::Release);
        }
        if !slots.is_empty() {
            lock(&self.gained).retain(|slot| !slots.contains(slot));
            lock(&self.orphaned).retain(|slot, _| !slots.contains(slot));
            self.losses.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Takes note of slots that were granted anew: those still known under an
    /// older epoch are lost, and their monitors must go from memory before the
    /// grants are taken note of.
    fn lose_older(&self, taken: &[Taken]) -> HashSet<Slot> {
        let older = taken.iter().filter(|taken| {
            let known = self.epoch(taken.grant.slot);
            known > 0 && known != taken.grant.epoch
        });
        let lost: HashSet<Slot> = older.map(|taken| taken.grant.slot).collect();
        self.lose(&lost);
        lost
    }

    /// Takes slots that were free, or whose holder died.
    fn take(&self, taken: &[Taken]) -> usize {
        let now = Instant::now();
        for Taken { grant, dead_for } in taken {
            let Some(dead_for) = dead_for else { continue };
            // It was heard of a lease before its death.
            let lease = i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX);
            let silent = lease.saturating_add(*dead_for).max(0).cast_unsigned();
            let since = now.checked_sub(Duration::from_millis(silent)).unwrap_or(now);
            lock(&self.orphaned).insert(grant.slot, since);
        }
        let grants: Vec<Grant> = taken.iter().map(|taken| taken.grant).collect();
        self.gain(&grants)
    }

    fn gain(&self, grants: &[Grant]) -> usize {
        let mut gained = lock(&self.gained);
        let before = gained.len();
        for Grant { slot, epoch } in grants {
            let known = self.epochs[usize::from(slot.number())].swap(*epoch, Ordering::AcqRel);
            if known == 0 {
                gained.push(*slot);
            }
        }
        let new = gained.len() - before;
        drop(gained);
        if new > 0 {
            self.signals.gained.notify_one();
        }
        new
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeful_core::slot::LEASE;
    use wakeful_core::time::Millis;

    fn cluster(alone: bool) -> Cluster {
        Cluster::new(NodeId::new(Millis(0), [1; 10]), alone, LEASE)
    }

    fn monitor() -> MonitorId {
        MonitorId::parse("01890000-0000-7000-8000-0000000007ff").expect("an id")
    }

    fn grant(epoch: i64) -> Grant {
        Grant { slot: Slot::of(monitor()), epoch }
    }

    #[test]
    fn alone_everything_is_held_and_nothing_is_fenced() {
        let alone = cluster(true);
        assert!(alone.holds(monitor()) && alone.leads());
        assert!(alone.is_steady_since(Instant::now()));
        assert_eq!(alone.grant(monitor()), None);
    }

    #[test]
    fn a_slot_that_another_was_granted_meanwhile_is_lost() {
        let node = cluster(false);
        assert!(!node.holds(monitor()));
        assert_eq!(node.gain(&[grant(3)]), 1);
        assert_eq!(node.grant(monitor()), Some(grant(3)));
        assert_eq!(node.take_gained(), [grant(3).slot]);
        assert!(node.lose_all_but(&[grant(3)]).is_empty());
        let before = node.losses();
        assert_eq!(node.lose_all_but(&[grant(5)]), HashSet::from([grant(3).slot]));
        assert!(!node.holds(monitor()) && node.losses() > before);
        assert_eq!(node.gain(&[grant(5)]), 1, "it is loaded again");
    }

    #[test]
    fn a_slot_that_is_granted_anew_before_its_loss_was_heard_of_is_loaded_again() {
        let node = cluster(false);
        node.gain(&[grant(3)]);
        assert_eq!(node.take_gained(), [grant(3).slot]);
        let taken = [Taken { grant: grant(5), dead_for: None }];
        assert_eq!(node.lose_older(&taken), HashSet::from([grant(3).slot]));
        assert!(!node.holds(monitor()), "its monitors go from memory first");
        assert_eq!(node.take(&taken), 1);
        assert_eq!(node.take_gained(), [grant(5).slot]);
        assert!(node.lose_older(&taken).is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn of_a_slot_whose_holder_died_it_is_known_since_when_nobody_listened() {
        let node = cluster(false);
        let slot = grant(1).slot;
        assert_eq!(node.take(&[Taken { grant: grant(1), dead_for: Some(2_000) }]), 1);
        assert_eq!(node.deaf_for(slot), Some(LEASE + Duration::from_secs(2)));
        node.loaded(&[slot]);
        assert_eq!(node.deaf_for(slot), None, "we do");
        node.lose(&HashSet::from([slot]));
        node.take(&[Taken { grant: grant(2), dead_for: None }]);
        assert_eq!(node.deaf_for(slot), None, "the one before did until now");
    }

    #[tokio::test]
    async fn a_slot_is_given_back_when_its_last_result_is_written() {
        let node = Arc::new(cluster(false));
        node.gain(&[grant(1)]);
        let held = Held::of(&node, monitor()).expect("held");
        let slots = [grant(1).slot];
        let mut written = std::pin::pin!(node.written(&slots));
        assert!(futures_util::poll!(&mut written).is_pending());
        drop(held);
        written.await;
        node.lose(&HashSet::from(slots));
        assert!(Held::of(&node, monitor()).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_that_was_frozen_does_not_finish_what_it_had_begun() {
        let node = cluster(false);
        node.heard_of(Instant::now());
        let begun = Instant::now();
        assert!(node.is_steady_since(begun));
        tokio::time::advance(LEASE / 3).await;
        assert_eq!(node.heard_of(Instant::now()), LEASE / 3);
        assert!(node.is_steady_since(begun));
        tokio::time::advance(LEASE).await;
        assert!(!node.is_steady_since(begun), "not heard of for too long");
        assert_eq!(node.heard_of(Instant::now()), Duration::ZERO);
        assert!(!node.is_steady_since(begun), "somebody may have taken it over meanwhile");
        assert!(node.is_steady_since(Instant::now()));
    }
}
