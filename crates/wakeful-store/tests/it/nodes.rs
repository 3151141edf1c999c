//! Nodes that share a database: a slot has one owner, a result under an old epoch
//! is refused, and the slots and claims of a dead node are free at once.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wakeful_core::cluster::slot::{Grant, LEASE_DURATION, SLOT_COUNT, Slot};
use wakeful_core::id::{EventId, MonitorId, NodeId, NodeRequestId};
use wakeful_core::time::Millis;
use wakeful_store::{NewEvent, Node, NodeRequest, Record, Store, StoreError};
use wakeful_testkit::{
    Database, DatabaseKind, both_databases, concurrently, process_alerts, system, whole,
};

use crate::fixture::{NOW, monitor, next, notifier, passing, team};
use crate::on_both;
use crate::record::down;

on_both! {
    a_slot_is_granted_to_one_node_and_each_grant_has_a_new_epoch => granted;
    a_result_under_an_old_epoch_is_refused_and_the_others_are_written => fenced;
    a_dead_node_is_evicted_once_and_its_slots_and_claims_are_free => evicted;
    a_slot_taken_from_a_dead_node_says_so_before_the_eviction => taken_before_eviction;
    a_node_that_leaves_releases_its_slots_and_stays_listed => left;
    a_node_request_reaches_the_owner_and_is_answered_once => requested;
    monitors_are_loaded_by_their_slots => by_slot;
}

fn node() -> Node {
    let id = NodeId::new(NOW, next());
    Node { id, name: "one".into(), home: String::new(), version: "1".into() }
}

async fn joined(store: &Store) -> Node {
    let node = node();
    store.renew_node(&node, LEASE_DURATION).await.unwrap();
    node
}

/// A node whose lease has just expired.
async fn dead(store: &Store) -> Node {
    let node = node();
    store.renew_node(&node, Duration::ZERO).await.unwrap();
    node
}

/// The grants of slots that a node takes.
async fn take(store: &Store, node: NodeId, limit: usize, from_dead: bool) -> Vec<Grant> {
    let taken = store.take_slots(node, limit, from_dead).await.unwrap();
    taken.into_iter().map(|taken| taken.grant).collect()
}

fn under(grant: Grant, record: Record) -> Record {
    Record { grant: Some(grant), ..record }
}

async fn granted(store: Store) {
    let (one, two) = (joined(&store).await, joined(&store).await);
    let first = take(&store, one.id, 700, true).await;
    let second = take(&store, two.id, 700, true).await;
    assert_eq!((first.len(), second.len()), (700, 324));
    let all: HashSet<Slot> = first.iter().chain(&second).map(|grant| grant.slot).collect();
    assert_eq!(all.len(), usize::from(SLOT_COUNT));
    assert!(first.iter().all(|grant| grant.epoch == 1));
    let back: Vec<Slot> = first.iter().take(3).map(|grant| grant.slot).collect();
    store.release_slots(two.id, &back).await.unwrap();
    assert_eq!(
        store.held_slots(one.id).await.unwrap().len(),
        700,
        "only the owner releases a slot"
    );
    store.release_slots(one.id, &back).await.unwrap();
    let again = take(&store, two.id, 700, true).await;
    assert_eq!(again.len(), 3);
    assert!(again.iter().all(|grant| grant.epoch == 2 && back.contains(&grant.slot)));
    let renewal = store.renew_node(&one, LEASE_DURATION).await.unwrap();
    assert_eq!((renewal.live, renewal.held.len(), renewal.dead.len()), (2, 697, 0));
}

async fn fenced(store: Store) {
    let team = team(&store).await;
    let (saved_monitor, other) = (monitor(team, "kept"), monitor(team, "other"));
    for monitor in [&saved_monitor, &other] {
        store.team(&whole(team)).add_monitor(monitor, &system()).await.unwrap();
    }
    let (one, two) = (joined(&store).await, joined(&store).await);
    take(&store, one.id, SLOT_COUNT.into(), true).await;
    let grant = |id: MonitorId, epoch: i64| Grant { slot: Slot::of(id), epoch };
    let old = grant(saved_monitor.id, 1);
    let written = store.record(&[under(old, passing(saved_monitor.id, 1, NOW))]).await.unwrap();
    assert_eq!((written.heartbeats, written.stale.len()), (1, 0));

    store.release_slots(one.id, &[old.slot]).await.unwrap();
    let new = take(&store, two.id, 1, true).await;
    assert_eq!(new, [grant(saved_monitor.id, 2)]);
    let mut late = passing(saved_monitor.id, 2, NOW.after(Duration::from_secs(1)));
    late.events.push(NewEvent {
        id: EventId::new(NOW, next()),
        kind: "monitor.down",
        alert: wakeful_core::id::AlertId::new(NOW, next()),
        body: "{}".into(),
    });
    let fine = passing(other.id, 1, NOW);
    let batch =
        [under(old, late), under(grant(other.id, grant_epoch(&other.id, &saved_monitor.id)), fine)];
    let written = store.record(&batch).await.unwrap();
    assert_eq!(written.stale, [old]);
    assert_eq!(written.heartbeats, 1, "only the one under a valid grant");
    let (stored, _) = store.team(&whole(team)).monitor(saved_monitor.id).await.unwrap().unwrap();
    assert_eq!(stored.seq, 1, "the late result was not written");
    let written = store.record(&[under(new[0], passing(saved_monitor.id, 2, NOW))]).await.unwrap();
    assert_eq!((written.heartbeats, written.stale.len()), (1, 0));
}

/// The epoch of a monitor's slot when the slot of `moved` has been granted twice.
fn grant_epoch(id: &MonitorId, moved: &MonitorId) -> i64 {
    if Slot::of(*id) == Slot::of(*moved) { 2 } else { 1 }
}

async fn evicted(store: Store) {
    let team = team(&store).await;
    let hook = notifier(&store, team, "hook").await;
    let saved_monitor =
        wakeful_core::monitors::Monitor { notifiers: vec![hook], ..monitor(team, "site") };
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.unwrap();
    store.record(&[down(team, saved_monitor.id, 1)]).await.unwrap();
    process_alerts(&store, NOW).await;

    let gone = dead(&store).await;
    let its_store = store.clone().with_node(gone.id);
    take(&store, gone.id, 5, true).await;
    let due = store.due_deliveries(NOW, 10, 10).await.unwrap();
    let ids: Vec<_> = due.iter().map(|due| due.id).collect();
    let lease = NOW.after(Duration::from_secs(60));
    assert_eq!(its_store.claim_deliveries(&ids, NOW, lease).await.unwrap().len(), 1);
    assert!(store.claim_deliveries(&ids, NOW, lease).await.unwrap().is_empty(), "it is claimed");

    let living = joined(&store).await;
    let renewal = store.renew_node(&living, LEASE_DURATION).await.unwrap();
    assert_eq!((renewal.live, renewal.dead.as_slice()), (1, &[gone.id][..]));
    assert!(!store.evict_node(living.id, true).await.unwrap(), "it is alive");
    assert!(store.evict_node(gone.id, true).await.unwrap());
    assert!(!store.evict_node(gone.id, true).await.unwrap(), "once");
    assert!(store.held_slots(gone.id).await.unwrap().is_empty());
    assert_eq!(store.claim_deliveries(&ids, NOW, lease).await.unwrap().len(), 1, "free at once");
    let taken = store.take_slots(living.id, SLOT_COUNT.into(), false).await.unwrap();
    assert_eq!(taken.len(), 1_024);
    let orphans: Vec<i64> = taken.iter().filter_map(|taken| taken.dead_for).collect();
    assert_eq!(orphans.len(), 5, "their owner died");
    assert!(orphans.iter().all(|span| (0..60_000).contains(span)), "{orphans:?}");
    let all: Vec<Slot> = taken.iter().map(|taken| taken.grant.slot).collect();
    store.release_slots(living.id, &all).await.unwrap();
    let again = store.take_slots(living.id, SLOT_COUNT.into(), true).await.unwrap();
    assert!(again.iter().all(|taken| taken.dead_for.is_none()), "they were released");
}

async fn taken_before_eviction(store: Store) {
    let (gone, living) = (dead(&store).await, joined(&store).await);
    take(&store, gone.id, 5, true).await;
    let taken = store.take_slots(living.id, SLOT_COUNT.into(), true).await.unwrap();
    assert_eq!(taken.len(), 1_024);
    assert_eq!(taken.iter().filter(|taken| taken.dead_for.is_some()).count(), 5);
}

async fn left(store: Store) {
    let (going, staying) = (joined(&store).await, joined(&store).await);
    take(&store, going.id, SLOT_COUNT.into(), true).await;
    store.leave_cluster(going.id).await.unwrap();
    assert_eq!(take(&store, staying.id, SLOT_COUNT.into(), false).await.len(), 1_024);
    let renewal = store.renew_node(&staying, LEASE_DURATION).await.unwrap();
    assert_eq!(
        (renewal.live, renewal.dead.len()),
        (1, 0),
        "a leaving node is neither live nor dead"
    );
    let listed = store.nodes().await.unwrap();
    let held: HashMap<NodeId, i64> = listed.iter().map(|one| (one.node.id, one.slots)).collect();
    assert_eq!(held, HashMap::from([(going.id, 0), (staying.id, 1_024)]));
}

async fn requested(store: Store) {
    let team = team(&store).await;
    let saved_monitor = monitor(team, "site");
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.unwrap();
    let request = NodeRequest {
        id: NodeRequestId::new(NOW, next()),
        monitor: saved_monitor.id,
        body: "{}".into(),
    };
    store.add_node_request(&request).await.unwrap();
    let slot = Slot::of(saved_monitor.id);
    let others: Vec<Slot> = Slot::all().filter(|one| *one != slot).collect();
    assert!(store.pending_node_requests(&others, 10).await.unwrap().is_empty());
    assert_eq!(
        store.pending_node_requests(&[slot], 10).await.unwrap(),
        std::slice::from_ref(&request)
    );
    assert_eq!(store.node_request_answer(request.id).await.unwrap(), None);
    store.answer_node_request(request.id, "first").await.unwrap();
    store.answer_node_request(request.id, "second").await.unwrap();
    assert_eq!(store.node_request_answer(request.id).await.unwrap().as_deref(), Some("first"));
    assert!(store.pending_node_requests(&[slot], 10).await.unwrap().is_empty());
    let now = store.lease_time().await.unwrap();
    store.prune_node_requests(now.after(Duration::from_secs(1))).await.unwrap();
    assert!(matches!(store.node_request_answer(request.id).await, Err(StoreError::Gone)));
}

async fn by_slot(store: Store) {
    let team = team(&store).await;
    let mut slots: HashMap<Slot, HashSet<MonitorId>> = HashMap::new();
    for number in 0..40_u8 {
        let mut random = [number; 10];
        random[8] = number.wrapping_mul(67);
        let id = MonitorId::new(NOW, random);
        let saved_monitor = wakeful_core::monitors::Monitor { id, ..monitor(team, "site") };
        store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.unwrap();
        slots.entry(Slot::of(id)).or_default().insert(id);
    }
    assert!(slots.len() > 10, "{slots:?}");
    for (slot, ids) in &slots {
        let found = store.active_in_slots(&[*slot]).await.unwrap();
        let found: HashSet<MonitorId> = found.iter().map(|stored| stored.monitor.id).collect();
        assert_eq!(&found, ids);
    }
    let edited = store.saved_since(NOW).await.unwrap();
    assert_eq!(edited.len(), 40);
    assert!(store.saved_since(Millis(NOW.0 + 1)).await.unwrap().is_empty());
}

both_databases! {
    async fn the_migration_gives_monitors_the_same_slots_as_the_code(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let team = team(&store).await;
        let mut expected = HashMap::new();
        for number in 0..60_u8 {
            let id = MonitorId::new(NOW, [number.wrapping_mul(41); 10]);
            let saved_monitor = wakeful_core::monitors::Monitor { id, ..monitor(team, "site") };
            store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.unwrap();
            *expected.entry(Slot::of(id).number()).or_insert(0_i64) += 1;
        }
        database.execute("update monitors set slot = -1").await;
        let migration = match database.kind() {
            DatabaseKind::Sqlite => include_str!("../../migrations/sqlite/0007_nodes.sql"),
            DatabaseKind::Postgres => include_str!("../../migrations/postgres/0007_nodes.sql"),
        };
        let fill = migration.split_inclusive(';').find(|part| part.contains("update monitors")).unwrap();
        database.execute(fill).await;
        for (slot, count) in expected {
            let sql = format!("select count(*) from monitors where slot = {slot}");
            assert_eq!(database.number(&sql).await, count, "slot {slot}");
        }
    }
}

/// Uses real transactions; `wakeful-core` tests a model of this with thousands of
/// schedules.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn racing_nodes_on_postgres_never_write_under_the_same_epoch() {
    let database = Database::new(DatabaseKind::Postgres).await;
    let store = database.open().await;
    let team = team(&store).await;
    let mut monitor_ids = Vec::new();
    for number in 0..16_u8 {
        let mut random = [9; 10];
        random[8] = number;
        let id = MonitorId::new(NOW, random);
        let monitor = wakeful_core::monitors::Monitor { id, ..monitor(team, "site") };
        store.team(&whole(team)).add_monitor(&monitor, &system()).await.unwrap();
        monitor_ids.push(id);
    }
    let slots: HashSet<Slot> = monitor_ids.iter().map(|id| Slot::of(*id)).collect();
    // A live node owns all other slots, so that the race is for these.
    let bystander = joined(&store).await;
    take(&store, bystander.id, SLOT_COUNT.into(), true).await;
    let few: Vec<Slot> = slots.iter().copied().collect();
    store.release_slots(bystander.id, &few).await.unwrap();

    let writers: Arc<Mutex<HashMap<Grant, NodeId>>> = Arc::default();
    let refused = Arc::new(Mutex::new(0_usize));
    let nodes = (0..6_i64).map(|number| {
        (number, store.clone(), monitor_ids.clone(), Arc::clone(&writers), Arc::clone(&refused))
    });
    let done = concurrently(nodes, |(number, store, monitor_ids, writers, refused)| async move {
        let node = joined(&store).await;
        let mut held: HashMap<Slot, Grant> = HashMap::new();
        for round in 0..40_i64 {
            // Releasing the slots of live nodes is wrong; epochs must withstand it.
            if (round + number) % 7 == 3 {
                let slots: Vec<Slot> = monitor_ids.iter().map(|id| Slot::of(*id)).collect();
                for owner in store.nodes().await.unwrap().iter().filter(|one| one.slots < 100) {
                    store.release_slots(owner.node.id, &slots).await.unwrap();
                }
            }
            for grant in take(&store, node.id, 4, true).await {
                held.insert(grant.slot, grant);
            }
            let seq = number * 1_000 + round + 1;
            let records: Vec<Record> = monitor_ids
                .iter()
                .filter_map(|id| Some((id, held.get(&Slot::of(*id))?)))
                .map(|(id, grant)| under(*grant, passing(*id, seq, NOW)))
                .collect();
            let written = store.record(&records).await.unwrap();
            for record in &records {
                let grant = record.grant.unwrap();
                if written.stale.contains(&grant) {
                    held.remove(&grant.slot);
                    *refused.lock().unwrap() += 1;
                    continue;
                }
                let before = writers.lock().unwrap().insert(grant, node.id);
                assert!(before.is_none_or(|before| before == node.id), "{grant:?}");
            }
        }
    });
    done.await;
    let (grants, refused) = (writers.lock().unwrap().len(), *refused.lock().unwrap());
    assert!(grants > 50 && refused > 20, "too tame: {grants} grants, {refused} refused");
}
