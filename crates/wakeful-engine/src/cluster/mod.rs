//! The cluster state of this node: the slots of monitors that it holds, their epochs, and the
//! renewals of its lease. A standalone node, on SQLite, holds everything. `membership`
//! maintains this state; with `requests`, a node sends work to the owner of a monitor.

mod clock;
mod membership;
mod requests;

pub(crate) use membership::{join, leave, run};
pub(crate) use requests::{OwnerRequest, serve_requests};

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use wakeful_core::cluster::slot::{Grant, SLOT_COUNT, Slot};
use wakeful_core::id::{MonitorId, NodeId, NodeRequestId};
use wakeful_store::TakenSlot;

use clock::SharedClock;

pub(crate) struct Cluster {
    node: NodeId,
    standalone: bool,
    lease: Duration,
    /// The epoch under which each slot is held; 0 if it is not.
    epochs: Box<[AtomicI64]>,
    /// Increased whenever slots are lost: data read before may be stale.
    loss_count: AtomicU64,
    renewals: Mutex<LeaseRenewals>,
    /// Slots whose monitors are not loaded yet.
    gained: Mutex<Vec<Slot>>,
    /// Those of them whose owner died, and when it was last seen.
    orphaned: Mutex<HashMap<Slot, Instant>>,
    live_nodes: AtomicUsize,
    clock: SharedClock,
    pub(crate) signals: Signals,
    /// The requests of other nodes that are being served.
    in_progress: Mutex<HashSet<NodeRequestId>>,
    /// The tasks that serve them.
    tasks: TaskTracker,
    /// The number of results of each slot that are not written yet.
    pending: Box<[AtomicUsize]>,
    /// Notified when a slot has none left.
    writes_drained: Notify,
}

/// The permission to write a result; counted as pending until it is dropped.
pub(crate) struct WritePermit {
    cluster: Arc<Cluster>,
    pub(crate) grant: Grant,
}

impl WritePermit {
    /// The permission to write for a monitor; `None` if its slot is not held.
    pub(crate) fn of(cluster: &Arc<Cluster>, id: MonitorId) -> Option<Self> {
        let grant = cluster.grant(id)?;
        cluster.pending[usize::from(grant.slot.number())].fetch_add(1, Ordering::AcqRel);
        Some(Self { cluster: Arc::clone(cluster), grant })
    }
}

impl Drop for WritePermit {
    fn drop(&mut self) {
        let pending = &self.cluster.pending[usize::from(self.grant.slot.number())];
        if pending.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.cluster.writes_drained.notify_waiters();
        }
    }
}

/// The lease renewals of this node.
struct LeaseRenewals {
    /// When the last successful renewal was started; `None` before the first.
    last: Option<Instant>,
    /// Since when every renewal has been in time.
    unbroken_since: Instant,
}

/// Wakes the loops of this node.
#[derive(Default)]
pub(crate) struct Signals {
    /// There are slots to be loaded.
    pub(crate) gained: Notify,
    /// A node joined or left: run a round now.
    pub(crate) round: Notify,
    /// There is a new request to the owner of a monitor.
    pub(crate) request_added: Notify,
    /// A request has been answered.
    pub(crate) response_added: Notify,
}

impl Cluster {
    pub(crate) fn new(node: NodeId, standalone: bool, lease: Duration) -> Self {
        Self {
            node,
            standalone,
            lease,
            epochs: (0..SLOT_COUNT).map(|_| AtomicI64::new(0)).collect(),
            loss_count: AtomicU64::new(0),
            renewals: Mutex::new(LeaseRenewals { last: None, unbroken_since: Instant::now() }),
            gained: Mutex::default(),
            orphaned: Mutex::default(),
            live_nodes: AtomicUsize::new(1),
            clock: SharedClock::default(),
            signals: Signals::default(),
            in_progress: Mutex::default(),
            tasks: TaskTracker::new(),
            pending: (0..SLOT_COUNT).map(|_| AtomicUsize::new(0)).collect(),
            writes_drained: Notify::new(),
        }
    }

    /// Waits until all results of these slots are written.
    pub(crate) async fn wait_for_writes(&self, slots: &[Slot]) {
        loop {
            let writes_drained = self.writes_drained.notified();
            let waits =
                |slot: &Slot| self.pending[usize::from(slot.number())].load(Ordering::Acquire) > 0;
            if !slots.iter().any(waits) {
                return;
            }
            writes_drained.await;
        }
    }

    pub(crate) fn node(&self) -> NodeId {
        self.node
    }

    pub(crate) fn is_standalone(&self) -> bool {
        self.standalone
    }

    /// The number of live nodes, as of the last round.
    pub(crate) fn live_nodes(&self) -> usize {
        self.live_nodes.load(Ordering::Relaxed)
    }

    /// Whether this node owns a monitor.
    pub(crate) fn holds(&self, id: MonitorId) -> bool {
        self.standalone || self.epoch(Slot::of(id)) > 0
    }

    /// Whether this node does the work that one node does for all.
    pub(crate) fn is_leader(&self) -> bool {
        self.standalone
            || self.epochs.first().is_some_and(|epoch| epoch.load(Ordering::Acquire) > 0)
    }

    /// The grant under which a monitor's results are written; `None` on a standalone node.
    pub(crate) fn grant(&self, id: MonitorId) -> Option<Grant> {
        if self.standalone {
            return None;
        }
        let slot = Slot::of(id);
        let epoch = self.epoch(slot);
        (epoch > 0).then_some(Grant { slot, epoch })
    }

    /// Whether this node has renewed its lease in time ever since, and recently enough to
    /// act: a node that was frozen or disconnected may have been replaced. A node that has not
    /// joined cannot be replaced.
    pub(crate) fn lease_held_since(&self, then: Instant) -> bool {
        if self.standalone {
            return true;
        }
        // Some time may pass between this check and the action.
        let safe = self.lease * 7 / 8;
        let renewals = lock(&self.renewals);
        renewals.last.is_none_or(|last| last.elapsed() < safe && renewals.unbroken_since <= then)
    }

    /// Records a renewal that was started at this time. Returns how long all renewals have
    /// been in time.
    fn note_renewal(&self, begun: Instant) -> Duration {
        let mut renewals = lock(&self.renewals);
        let before = renewals.last.replace(begun);
        if before.is_none_or(|before| begun.duration_since(before) >= self.lease * 7 / 8) {
            renewals.unbroken_since = begun;
        }
        begun.duration_since(renewals.unbroken_since)
    }

    /// The held slots, in order.
    pub(crate) fn held(&self) -> Vec<Slot> {
        Slot::all().filter(|slot| self.epoch(*slot) > 0).collect()
    }

    /// A number that changes when slots are lost.
    pub(crate) fn loss_count(&self) -> u64 {
        self.loss_count.load(Ordering::Acquire)
    }

    /// The slots to be loaded; each is returned once.
    pub(crate) fn take_gained(&self) -> Vec<Slot> {
        std::mem::take(&mut *lock(&self.gained))
    }

    /// Notes that the monitors of these slots are loaded.
    pub(crate) fn loaded(&self, slots: &[Slot]) {
        let mut orphaned = lock(&self.orphaned);
        for slot in slots {
            orphaned.remove(slot);
        }
    }

    /// For how long no node has accepted reports for a slot whose owner died and which is not
    /// loaded yet.
    pub(crate) fn not_listening_for(&self, slot: Slot) -> Option<Duration> {
        if self.standalone {
            return None;
        }
        lock(&self.orphaned).get(&slot).map(Instant::elapsed)
    }

    fn epoch(&self, slot: Slot) -> i64 {
        self.epochs[usize::from(slot.number())].load(Ordering::Acquire)
    }

    /// Keeps only these grants. Returns the lost slots: their monitors must be removed from
    /// memory before new grants are added.
    fn retain_grants(&self, held: &[Grant]) -> HashSet<Slot> {
        let current: HashSet<Grant> = held.iter().copied().collect();
        let lost = Slot::all().filter(|slot| {
            let epoch = self.epoch(*slot);
            epoch > 0 && !current.contains(&Grant { slot: *slot, epoch })
        });
        let lost: HashSet<Slot> = lost.collect();
        self.drop_slots(&lost);
        lost
    }

    /// Ends these grants; returns the slots that are lost.
    pub(crate) fn end_grants(&self, grants: &[Grant]) -> HashSet<Slot> {
        let held = grants.iter().filter(|grant| self.epoch(grant.slot) == grant.epoch);
        let lost: HashSet<Slot> = held.map(|grant| grant.slot).collect();
        self.drop_slots(&lost);
        lost
    }

    fn drop_slots(&self, slots: &HashSet<Slot>) {
        for slot in slots {
            self.epochs[usize::from(slot.number())].store(0, Ordering::Release);
        }
        if !slots.is_empty() {
            lock(&self.gained).retain(|slot| !slots.contains(slot));
            lock(&self.orphaned).retain(|slot, _| !slots.contains(slot));
            self.loss_count.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Drops slots that were granted again while still held under an older epoch. Their
    /// monitors must be removed from memory before the new grants are added.
    fn drop_superseded(&self, taken: &[TakenSlot]) -> HashSet<Slot> {
        let older = taken.iter().filter(|taken| {
            let known = self.epoch(taken.grant.slot);
            known > 0 && known != taken.grant.epoch
        });
        let lost: HashSet<Slot> = older.map(|taken| taken.grant.slot).collect();
        self.drop_slots(&lost);
        lost
    }

    /// Adds slots that were free, or whose owner died.
    fn adopt_taken(&self, taken: &[TakenSlot]) -> usize {
        let now = Instant::now();
        for TakenSlot { grant, dead_for } in taken {
            let Some(dead_for) = dead_for else { continue };
            // It was last seen one lease before its death.
            let lease = i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX);
            let silent = lease.saturating_add(*dead_for).max(0).cast_unsigned();
            let since = now.checked_sub(Duration::from_millis(silent)).unwrap_or(now);
            lock(&self.orphaned).insert(grant.slot, since);
        }
        let grants: Vec<Grant> = taken.iter().map(|taken| taken.grant).collect();
        self.add_grants(&grants)
    }

    fn add_grants(&self, grants: &[Grant]) -> usize {
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
    use wakeful_core::cluster::slot::LEASE_DURATION;
    use wakeful_core::time::Millis;

    fn cluster(standalone: bool) -> Cluster {
        Cluster::new(NodeId::new(Millis(0), [1; 10]), standalone, LEASE_DURATION)
    }

    fn monitor() -> MonitorId {
        MonitorId::parse("01890000-0000-7000-8000-0000000007ff").expect("an id")
    }

    fn grant(epoch: i64) -> Grant {
        Grant { slot: Slot::of(monitor()), epoch }
    }

    #[test]
    fn a_standalone_node_holds_everything_and_nothing_is_fenced() {
        let standalone = cluster(true);
        assert!(standalone.holds(monitor()) && standalone.is_leader());
        assert!(standalone.lease_held_since(Instant::now()));
        assert_eq!(standalone.grant(monitor()), None);
    }

    #[test]
    fn a_slot_granted_to_another_node_is_lost() {
        let node = cluster(false);
        assert!(!node.holds(monitor()));
        assert_eq!(node.add_grants(&[grant(3)]), 1);
        assert_eq!(node.grant(monitor()), Some(grant(3)));
        assert_eq!(node.take_gained(), [grant(3).slot]);
        assert!(node.retain_grants(&[grant(3)]).is_empty());
        let before = node.loss_count();
        assert_eq!(node.retain_grants(&[grant(5)]), HashSet::from([grant(3).slot]));
        assert!(!node.holds(monitor()) && node.loss_count() > before);
        assert_eq!(node.add_grants(&[grant(5)]), 1, "it is loaded again");
    }

    #[test]
    fn a_slot_regranted_before_its_loss_was_noticed_is_loaded_again() {
        let node = cluster(false);
        node.add_grants(&[grant(3)]);
        assert_eq!(node.take_gained(), [grant(3).slot]);
        let taken = [TakenSlot { grant: grant(5), dead_for: None }];
        assert_eq!(node.drop_superseded(&taken), HashSet::from([grant(3).slot]));
        assert!(!node.holds(monitor()), "its monitors are removed from memory first");
        assert_eq!(node.adopt_taken(&taken), 1);
        assert_eq!(node.take_gained(), [grant(5).slot]);
        assert!(node.drop_superseded(&taken).is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn an_orphaned_slot_knows_since_when_no_reports_were_accepted() {
        let node = cluster(false);
        let slot = grant(1).slot;
        assert_eq!(node.adopt_taken(&[TakenSlot { grant: grant(1), dead_for: Some(2_000) }]), 1);
        assert_eq!(node.not_listening_for(slot), Some(LEASE_DURATION + Duration::from_secs(2)));
        node.loaded(&[slot]);
        assert_eq!(node.not_listening_for(slot), None, "this node accepts reports");
        node.drop_slots(&HashSet::from([slot]));
        node.adopt_taken(&[TakenSlot { grant: grant(2), dead_for: None }]);
        assert_eq!(
            node.not_listening_for(slot),
            None,
            "the previous owner accepted them until now"
        );
    }

    #[tokio::test]
    async fn a_slot_is_released_when_its_last_result_is_written() {
        let node = Arc::new(cluster(false));
        node.add_grants(&[grant(1)]);
        let held = WritePermit::of(&node, monitor()).expect("held");
        let slots = [grant(1).slot];
        let mut written = std::pin::pin!(node.wait_for_writes(&slots));
        assert!(futures_util::poll!(&mut written).is_pending());
        drop(held);
        written.await;
        node.drop_slots(&HashSet::from(slots));
        assert!(WritePermit::of(&node, monitor()).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_that_was_frozen_does_not_continue_earlier_work() {
        let node = cluster(false);
        node.note_renewal(Instant::now());
        let begun = Instant::now();
        assert!(node.lease_held_since(begun));
        tokio::time::advance(LEASE_DURATION / 3).await;
        assert_eq!(node.note_renewal(Instant::now()), LEASE_DURATION / 3);
        assert!(node.lease_held_since(begun));
        tokio::time::advance(LEASE_DURATION).await;
        assert!(!node.lease_held_since(begun), "not renewed for too long");
        assert_eq!(node.note_renewal(Instant::now()), Duration::ZERO);
        assert!(!node.lease_held_since(begun), "another node may have taken over meanwhile");
        assert!(node.lease_held_since(Instant::now()));
    }
}
