//! Leases and epochs under thousands of schedules: a small model of the
//! database, and nodes that crash, freeze, lose responses and act late.
//! Whatever happens, no slot ever accepts two writers.

use std::collections::{BTreeMap, BTreeSet};
use wakeful_core::cluster::slot::{Rebalance, balance};

const SLOT_COUNT: usize = 8;
const LEASE_DURATION: u64 = 15;
const SCHEDULES: u64 = 5_000;
const STEPS: usize = 300;

/// A deterministic random number generator.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("small")
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}

/// The operations of the database, each one a transaction.
#[derive(Default)]
struct Database {
    now: u64,
    /// Until when each node's lease is valid.
    nodes: BTreeMap<u32, u64>,
    slots: [(Option<u32>, u64); SLOT_COUNT],
    /// Every accepted write: slot, epoch, writer.
    accepted: Vec<(usize, u64, u32)>,
    refused: usize,
    /// Turned off to verify that this test would notice.
    fenced: bool,
}

impl Database {
    fn is_live(&self, node: u32, now: u64) -> bool {
        self.nodes.get(&node).is_some_and(|expires| *expires > now)
    }

    /// `now` was read earlier, and may be out of date by the time this runs.
    fn renew(&mut self, node: u32, now: u64) -> (BTreeMap<usize, u64>, usize) {
        self.nodes.insert(node, now + LEASE_DURATION);
        let live = self.nodes.values().filter(|expires| **expires > now).count();
        (self.held(node), live)
    }

    fn held(&self, node: u32) -> BTreeMap<usize, u64> {
        let slots = self.slots.iter().enumerate();
        slots.filter(|(_, slot)| slot.0 == Some(node)).map(|(at, slot)| (at, slot.1)).collect()
    }

    fn take(&mut self, node: u32, now: u64, max: usize) {
        let free = |owner: Option<u32>| owner.is_none_or(|owner| !self.is_live(owner, now));
        let taken: Vec<usize> =
            (0..SLOT_COUNT).filter(|at| free(self.slots[*at].0)).take(max).collect();
        for at in taken {
            self.slots[at] = (Some(node), self.slots[at].1 + 1);
        }
    }

    fn release(&mut self, node: u32, slots: &BTreeSet<usize>) {
        for at in slots {
            if self.slots[*at].0 == Some(node) {
                self.slots[*at].0 = None;
            }
        }
    }

    fn write(&mut self, node: u32, slot: usize, epoch: u64) {
        if self.fenced && self.slots[slot].1 != epoch {
            self.refused += 1;
            return;
        }
        self.accepted.push((slot, epoch, node));
    }
}

/// Operations that a node has decided on but not performed yet.
enum Intent {
    Renew { now: u64 },
    Take { now: u64, max: usize },
    Release(BTreeSet<usize>),
    Write { slot: usize, epoch: u64 },
}

/// A process: a crash loses all it knows.
struct Node {
    id: u32,
    held: BTreeMap<usize, u64>,
    live: usize,
    /// In any order: a process has several connections.
    intents: Vec<Intent>,
    frozen: bool,
}

impl Node {
    fn new(id: u32) -> Self {
        Self { id, held: BTreeMap::new(), live: 1, intents: Vec::new(), frozen: false }
    }

    /// Decides on an operation based on its knowledge, which may be out of
    /// date.
    fn intend(&mut self, database: &Database, dice: &mut Dice) {
        let intent = match dice.below(6) {
            0 => Intent::Renew { now: database.now },
            1 => match balance(SLOT_COUNT, self.held.len(), self.live) {
                Rebalance::Stay => return,
                Rebalance::Take(max) => Intent::Take { now: database.now, max },
                Rebalance::Release(max) => {
                    let slots: BTreeSet<usize> = self.held.keys().copied().take(max).collect();
                    // It stops checking before it releases the slots.
                    self.held.retain(|slot, _| !slots.contains(slot));
                    Intent::Release(slots)
                }
            },
            _ => {
                let many = self.held.len();
                if many == 0 {
                    return;
                }
                let (slot, epoch) = self.held.iter().nth(dice.below(many)).expect("one of them");
                Intent::Write { slot: *slot, epoch: *epoch }
            }
        };
        self.intents.push(intent);
    }

    /// Performs one of its pending operations, however old.
    fn act(&mut self, database: &mut Database, dice: &mut Dice) {
        if self.intents.is_empty() {
            return;
        }
        let at = dice.below(self.intents.len());
        let answer_is_lost = dice.one_in(8);
        match self.intents.swap_remove(at) {
            Intent::Renew { now } => {
                let (held, live) = database.renew(self.id, now);
                if !answer_is_lost {
                    (self.held, self.live) = (held, live);
                }
            }
            Intent::Take { now, max } => {
                database.take(self.id, now, max);
                if !answer_is_lost {
                    self.held = database.held(self.id);
                }
            }
            Intent::Release(slots) => database.release(self.id, &slots),
            Intent::Write { slot, epoch } => database.write(self.id, slot, epoch),
        }
    }
}

/// Runs one schedule; returns the database and the nodes at its end.
fn run(seed: u64, fenced: bool) -> (Database, Vec<Node>) {
    let mut dice = Dice(seed);
    let mut database = Database { fenced, ..Database::default() };
    let many = 2 + dice.below(3);
    let mut nodes: Vec<Node> =
        (0..many).map(|id| Node::new(u32::try_from(id).expect("few"))).collect();
    let mut born = u32::try_from(many).expect("few");
    for _ in 0..STEPS {
        database.now += dice.next() % 4;
        let at = dice.below(nodes.len());
        match dice.below(60) {
            0 => nodes[at].frozen = true,
            1 | 2 => nodes[at].frozen = false,
            // A crash; requests in flight may still arrive before the next
            // process starts.
            3 => {
                while !nodes[at].intents.is_empty() && dice.one_in(2) {
                    nodes[at].act(&mut database, &mut dice);
                }
                nodes[at] = Node::new(born);
                born += 1;
            }
            4..=30 if !nodes[at].frozen => nodes[at].intend(&database, &mut dice),
            _ if !nodes[at].frozen => nodes[at].act(&mut database, &mut dice),
            _ => {}
        }
    }
    (database, nodes)
}

/// The reason why two writers were accepted for one slot, if they were.
fn violation(database: &Database) -> Option<String> {
    let mut last: BTreeMap<usize, (u64, u32)> = BTreeMap::new();
    for (slot, epoch, writer) in &database.accepted {
        if let Some((newest, by)) = last.get(slot) {
            if epoch < newest {
                return Some(format!("slot {slot}: {writer} wrote under {epoch} after {newest}"));
            }
            if epoch == newest && writer != by {
                return Some(format!("slot {slot}: {writer} and {by} wrote under {epoch}"));
            }
        }
        last.insert(*slot, (*epoch, *writer));
    }
    None
}

#[test]
fn no_slot_ever_accepts_two_writers() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..SCHEDULES {
        let (database, _) = run(seed, true);
        assert_eq!(violation(&database), None, "seed {seed}");
        accepted += database.accepted.len();
        refused += database.refused;
    }
    println!("{SCHEDULES} schedules: {accepted} writes accepted, {refused} stale ones rejected");
    assert!(refused > 1_000, "the schedules are too tame: {refused} of {accepted}");
}

#[test]
fn without_the_epochs_two_writers_would_be_accepted() {
    let caught = (0..SCHEDULES).filter(|seed| violation(&run(*seed, false).0).is_some()).count();
    assert!(caught > 100, "{caught} of {SCHEDULES}");
}

#[test]
fn after_recovery_every_slot_belongs_to_one_live_node_and_none_holds_too_many() {
    for seed in 0..SCHEDULES / 5 {
        let (mut database, mut nodes) = run(seed, true);
        let ids: BTreeSet<u32> = nodes.iter().map(|node| node.id).collect();
        // Dead nodes are evicted, frozen ones continue, and each runs its
        // rounds.
        database.now += 2 * LEASE_DURATION;
        for _ in 0..3 {
            for node in &mut nodes {
                let now = database.now;
                (node.held, node.live) = database.renew(node.id, now);
            }
            for node in &mut nodes {
                match balance(SLOT_COUNT, node.held.len(), node.live) {
                    Rebalance::Stay => {}
                    Rebalance::Take(max) => database.take(node.id, database.now, max),
                    Rebalance::Release(max) => {
                        let slots = node.held.keys().copied().take(max).collect();
                        database.release(node.id, &slots);
                    }
                }
            }
            database.now += 1;
        }
        let share = SLOT_COUNT.div_ceil(nodes.len());
        for slot in &database.slots {
            assert!(slot.0.is_some_and(|owner| ids.contains(&owner)), "seed {seed}: {slot:?}");
        }
        for node in &nodes {
            assert!(database.held(node.id).len() <= share, "seed {seed}");
        }
    }
}
