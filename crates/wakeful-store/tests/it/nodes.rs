//! Nodes that share a database: slots change hands once, a result under an old
//! epoch is refused, and what a dead node held is free at once.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wakeful_core::id::{AskId, EventId, MonitorId, NodeId};
use wakeful_core::slot::{Grant, LEASE, SLOTS, Slot};
use wakeful_core::time::Millis;
use wakeful_store::{Ask, NewEvent, Node, Record, Store, StoreError};
use wakeful_testkit::{Database, Engine, both_engines, together};

use crate::bench::{NOW, monitor, next, notifier, passing, team};
use crate::on_both;

on_both! {
    a_slot_is_granted_to_one_node_and_each_grant_has_a_new_epoch => granted;
    a_result_under_an_old_epoch_is_refused_and_the_others_are_written => fenced;
    a_dead_node_is_buried_once_and_all_it_held_is_free => buried;
    a_slot_of_a_dead_node_says_so_before_it_is_buried => taken_unburied;
    a_node_that_leaves_gives_back_its_slots_and_keeps_what_it_sends => left;
    what_is_asked_is_found_by_the_holder_and_answered_once => asked;
    monitors_are_loaded_by_their_slots => by_slot;
}

fn node() -> Node {
    let id = NodeId::new(NOW, next());
    Node { id, name: "one".into(), home: String::new(), version: "1".into() }
}

async fn joined(store: &Store) -> Node {
    let node = node();
    store.renew_node(&node, LEASE).await.unwrap();
    node
}

/// A node that has not been heard of since a moment ago.
async fn dead(store: &Store) -> Node {
    let node = node();
    store.renew_node(&node, Duration::ZERO).await.unwrap();
    node
}

/// The grants of slots that a node takes.
async fn take(store: &Store, node: NodeId, most: usize, from_dead: bool) -> Vec<Grant> {
    let taken = store.take_slots(node, most, from_dead).await.unwrap();
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
    assert_eq!(all.len(), usize::from(SLOTS));
    assert!(first.iter().all(|grant| grant.epoch == 1));
    let back: Vec<Slot> = first.iter().take(3).map(|grant| grant.slot).collect();
    store.release_slots(two.id, &back).await.unwrap();
    assert_eq!(store.held_slots(one.id).await.unwrap().len(), 700, "only its holder gives back");
    store.release_slots(one.id, &back).await.unwrap();
    let again = take(&store, two.id, 700, true).await;
    assert_eq!(again.len(), 3);
    assert!(again.iter().all(|grant| grant.epoch == 2 && back.contains(&grant.slot)));
    let renewal = store.renew_node(&one, LEASE).await.unwrap();
    assert_eq!((renewal.live, renewal.held.len(), renewal.dead.len()), (2, 697, 0));
}

async fn fenced(store: Store) {
    let team = team(&store).await;
    let (kept, other) = (monitor(team, "kept"), monitor(team, "other"));
    for monitor in [&kept, &other] {
        store.team(team).add_monitor(monitor).await.unwrap();
    }
    let (one, two) = (joined(&store).await, joined(&store).await);
    take(&store, one.id, SLOTS.into(), true).await;
    let grant = |id: MonitorId, epoch: i64| Grant { slot: Slot::of(id), epoch };
    let old = grant(kept.id, 1);
    let written = store.record(&[under(old, passing(kept.id, 1, NOW))]).await.unwrap();
    assert_eq!((written.heartbeats, written.stale.len()), (1, 0));

    store.release_slots(one.id, &[old.slot]).await.unwrap();
    let new = take(&store, two.id, 1, true).await;
    assert_eq!(new, [grant(kept.id, 2)]);
    let mut late = passing(kept.id, 2, NOW.after(Duration::from_secs(1)));
    late.events.push(NewEvent {
        id: EventId::new(NOW, next()),
        kind: "monitor.down",
        alert: wakeful_core::id::AlertId::new(NOW, next()),
        body: "{}".into(),
    });
    let fine = passing(other.id, 1, NOW);
    let batch = [under(old, late), under(grant(other.id, grant_epoch(&other.id, &kept.id)), fine)];
    let written = store.record(&batch).await.unwrap();
    assert_eq!(written.stale, [old]);
    assert_eq!(written.heartbeats, 1, "what was under a good grant");
    let (stored, _) = store.team(team).monitor(kept.id).await.unwrap().unwrap();
    assert_eq!(stored.seq, 1, "nothing of the late one");
    let written = store.record(&[under(new[0], passing(kept.id, 2, NOW))]).await.unwrap();
    assert_eq!((written.heartbeats, written.stale.len()), (1, 0));
}

/// The epoch of a slot when that of `moved` was granted twice.
fn grant_epoch(id: &MonitorId, moved: &MonitorId) -> i64 {
    if Slot::of(*id) == Slot::of(*moved) { 2 } else { 1 }
}

async fn buried(store: Store) {
    let team = team(&store).await;
    let hook = notifier(&store, team, "hook").await;
    let kept = wakeful_core::monitor::Monitor { notifiers: vec![hook], ..monitor(team, "site") };
    store.team(team).add_monitor(&kept).await.unwrap();
    let mut record = passing(kept.id, 1, NOW);
    record.events.push(NewEvent {
        id: EventId::new(NOW, next()),
        kind: "monitor.down",
        alert: wakeful_core::id::AlertId::new(NOW, next()),
        body: "{}".into(),
    });
    store.record(&[record]).await.unwrap();

    let gone = dead(&store).await;
    let its_store = store.clone().in_name_of(gone.id);
    take(&store, gone.id, 5, true).await;
    let due = store.due_deliveries(NOW, 10, 10).await.unwrap();
    let ids: Vec<_> = due.iter().map(|due| due.id).collect();
    let lease = NOW.after(Duration::from_secs(60));
    assert_eq!(its_store.claim_deliveries(&ids, NOW, lease).await.unwrap().len(), 1);
    assert!(store.claim_deliveries(&ids, NOW, lease).await.unwrap().is_empty(), "it is claimed");

    let living = joined(&store).await;
    let renewal = store.renew_node(&living, LEASE).await.unwrap();
    assert_eq!((renewal.live, renewal.dead.as_slice()), (1, &[gone.id][..]));
    assert!(!store.bury_node(living.id, true).await.unwrap(), "it lives");
    assert!(store.bury_node(gone.id, true).await.unwrap());
    assert!(!store.bury_node(gone.id, true).await.unwrap(), "once");
    assert!(store.held_slots(gone.id).await.unwrap().is_empty());
    assert_eq!(store.claim_deliveries(&ids, NOW, lease).await.unwrap().len(), 1, "free at once");
    let taken = store.take_slots(living.id, SLOTS.into(), false).await.unwrap();
    assert_eq!(taken.len(), 1_024);
    let orphans: Vec<i64> = taken.iter().filter_map(|taken| taken.dead_for).collect();
    assert_eq!(orphans.len(), 5, "of these the holder died");
    assert!(orphans.iter().all(|span| (0..60_000).contains(span)), "{orphans:?}");
    let all: Vec<Slot> = taken.iter().map(|taken| taken.grant.slot).collect();
    store.release_slots(living.id, &all).await.unwrap();
    let again = store.take_slots(living.id, SLOTS.into(), true).await.unwrap();
    assert!(again.iter().all(|taken| taken.dead_for.is_none()), "they were given back");
}

async fn taken_unburied(store: Store) {
    let (gone, living) = (dead(&store).await, joined(&store).await);
    take(&store, gone.id, 5, true).await;
    let taken = store.take_slots(living.id, SLOTS.into(), true).await.unwrap();
    assert_eq!(taken.len(), 1_024);
    assert_eq!(taken.iter().filter(|taken| taken.dead_for.is_some()).count(), 5);
}

async fn left(store: Store) {
    let (going, staying) = (joined(&store).await, joined(&store).await);
    take(&store, going.id, SLOTS.into(), true).await;
    store.leave(going.id).await.unwrap();
    assert_eq!(take(&store, staying.id, SLOTS.into(), false).await.len(), 1_024);
    let renewal = store.renew_node(&staying, LEASE).await.unwrap();
    assert_eq!((renewal.live, renewal.dead.len()), (1, 0), "it neither counts nor is dead");
    let listed = store.nodes().await.unwrap();
    let held: HashMap<NodeId, i64> = listed.iter().map(|one| (one.node.id, one.slots)).collect();
    assert_eq!(held, HashMap::from([(going.id, 0), (staying.id, 1_024)]));
}

async fn asked(store: Store) {
    let team = team(&store).await;
    let kept = monitor(team, "site");
    store.team(team).add_monitor(&kept).await.unwrap();
    let ask = Ask { id: AskId::new(NOW, next()), monitor: kept.id, body: "{}".into() };
    store.add_ask(&ask).await.unwrap();
    let slot = Slot::of(kept.id);
    let others: Vec<Slot> = Slot::all().filter(|one| *one != slot).collect();
    assert!(store.open_asks(&others, 10).await.unwrap().is_empty());
    assert_eq!(store.open_asks(&[slot], 10).await.unwrap(), std::slice::from_ref(&ask));
    assert_eq!(store.ask_answer(ask.id).await.unwrap(), None);
    store.answer_ask(ask.id, "first").await.unwrap();
    store.answer_ask(ask.id, "second").await.unwrap();
    assert_eq!(store.ask_answer(ask.id).await.unwrap().as_deref(), Some("first"));
    assert!(store.open_asks(&[slot], 10).await.unwrap().is_empty());
    let now = store.lease_time().await.unwrap();
    store.sweep_asks(now.after(Duration::from_secs(1))).await.unwrap();
    assert!(matches!(store.ask_answer(ask.id).await, Err(StoreError::Gone)));
}

async fn by_slot(store: Store) {
    let team = team(&store).await;
    let mut slots: HashMap<Slot, HashSet<MonitorId>> = HashMap::new();
    for number in 0..40_u8 {
        let mut random = [number; 10];
        random[8] = number.wrapping_mul(67);
        let id = MonitorId::new(NOW, random);
        let kept = wakeful_core::monitor::Monitor { id, ..monitor(team, "site") };
        store.team(team).add_monitor(&kept).await.unwrap();
        slots.entry(Slot::of(id)).or_default().insert(id);
    }
    assert!(slots.len() > 10, "{slots:?}");
    for (slot, ids) in &slots {
        let found = store.active_in(&[*slot]).await.unwrap();
        let found: HashSet<MonitorId> = found.iter().map(|stored| stored.monitor.id).collect();
        assert_eq!(&found, ids);
    }
    let edited = store.edited_since(NOW).await.unwrap();
    assert_eq!(edited.len(), 40);
    assert!(store.edited_since(Millis(NOW.0 + 1)).await.unwrap().is_empty());
}

both_engines! {
    async fn monitors_from_before_get_the_slot_that_the_code_reads_from_their_ids(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let team = team(&store).await;
        let mut expected = HashMap::new();
        for number in 0..60_u8 {
            let id = MonitorId::new(NOW, [number.wrapping_mul(41); 10]);
            let kept = wakeful_core::monitor::Monitor { id, ..monitor(team, "site") };
            store.team(team).add_monitor(&kept).await.unwrap();
            *expected.entry(Slot::of(id).number()).or_insert(0_i64) += 1;
        }
        database.execute("update monitors set slot = -1").await;
        let step = match database.engine() {
            Engine::Sqlite => include_str!("../../migrations/sqlite/0007_nodes.sql"),
            Engine::Postgres => include_str!("../../migrations/postgres/0007_nodes.sql"),
        };
        let fill = step.split_inclusive(';').find(|part| part.contains("update monitors")).unwrap();
        database.execute(fill).await;
        for (slot, count) in expected {
            let sql = format!("select count(*) from monitors where slot = {slot}");
            assert_eq!(database.number(&sql).await, count, "slot {slot}");
        }
    }
}

/// Real transactions in the place of the model that `wakeful-core` runs under
/// thousands of schedules.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_race_on_postgres_never_write_under_one_epoch() {
    let database = Database::new(Engine::Postgres).await;
    let store = database.open().await;
    let team = team(&store).await;
    let mut kept = Vec::new();
    for number in 0..16_u8 {
        let mut random = [9; 10];
        random[8] = number;
        let id = MonitorId::new(NOW, random);
        let monitor = wakeful_core::monitor::Monitor { id, ..monitor(team, "site") };
        store.team(team).add_monitor(&monitor).await.unwrap();
        kept.push(id);
    }
    let slots: HashSet<Slot> = kept.iter().map(|id| Slot::of(*id)).collect();
    // All others are held by somebody who lives, so that the race is for these.
    let bystander = joined(&store).await;
    take(&store, bystander.id, SLOTS.into(), true).await;
    let few: Vec<Slot> = slots.iter().copied().collect();
    store.release_slots(bystander.id, &few).await.unwrap();

    let writers: Arc<Mutex<HashMap<Grant, NodeId>>> = Arc::default();
    let refused = Arc::new(Mutex::new(0_usize));
    let nodes = (0..6_i64).map(|number| {
        (number, store.clone(), kept.clone(), Arc::clone(&writers), Arc::clone(&refused))
    });
    let done = together(nodes, |(number, store, kept, writers, refused)| async move {
        let node = joined(&store).await;
        let mut held: HashMap<Slot, Grant> = HashMap::new();
        for round in 0..40_i64 {
            // Who takes from the living is wrong, and the epochs must stand it.
            if (round + number) % 7 == 3 {
                let slots: Vec<Slot> = kept.iter().map(|id| Slot::of(*id)).collect();
                for owner in store.nodes().await.unwrap().iter().filter(|one| one.slots < 100) {
                    store.release_slots(owner.node.id, &slots).await.unwrap();
                }
            }
            for grant in take(&store, node.id, 4, true).await {
                held.insert(grant.slot, grant);
            }
            let seq = number * 1_000 + round + 1;
            let records: Vec<Record> = kept
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
