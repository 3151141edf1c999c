//! Leases and epochs under thousands of schedules: a small model of the
//! database, and nodes that crash, freeze, lose answers and act late. Whatever
//! happens, no slot ever accepts two writers.

use std::collections::{BTreeMap, BTreeSet};
use wakeful_core::slot::{Move, balance};

const SLOTS: usize = 8;
const LEASE: u64 = 15;
const SCHEDULES: u64 = 5_000;
const STEPS: usize = 300;

/// Numbers that look random and are the same for the same seed.
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

/// What the database does, each method one transaction.
#[derive(Default)]
struct Database {
    now: u64,
    /// Until when each node lives.
    nodes: BTreeMap<u32, u64>,
    slots: [(Option<u32>, u64); SLOTS],
    /// Every write that was accepted: slot, epoch, writer.
    accepted: Vec<(usize, u64, u32)>,
    refused: usize,
    /// Switched off to see whether this test would notice.
    fenced: bool,
}

impl Database {
    fn is_live(&self, node: u32, now: u64) -> bool {
        self.nodes.get(&node).is_some_and(|expires| *expires > now)
    }

    /// `now` was read before, and may be old by the time this runs.
    fn renew(&mut self, node: u32, now: u64) -> (BTreeMap<usize, u64>, usize) {
        self.nodes.insert(node, now + LEASE);
        let live = self.nodes.values().filter(|expires| **expires > now).count();
        (self.held(node), live)
    }

    fn held(&self, node: u32) -> BTreeMap<usize, u64> {
        let slots = self.slots.iter().enumerate();
        slots.filter(|(_, slot)| slot.0 == Some(node)).map(|(at, slot)| (at, slot.1)).collect()
    }

    fn take(&mut self, node: u32, now: u64, most: usize) {
        let free = |owner: Option<u32>| owner.is_none_or(|owner| !self.is_live(owner, now));
        let taken: Vec<usize> =
            (0..SLOTS).filter(|at| free(self.slots[*at].0)).take(most).collect();
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

/// What a node has read or decided, and not done yet.
enum Intent {
    Renew { now: u64 },
    Take { now: u64, most: usize },
    Release(BTreeSet<usize>),
    Write { slot: usize, epoch: u64 },
}

/// A process: all it knows goes with it.
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

    /// Decides something by what it knows, which may be long out of date.
    fn intend(&mut self, database: &Database, dice: &mut Dice) {
        let intent = match dice.below(6) {
            0 => Intent::Renew { now: database.now },
            1 => match balance(SLOTS, self.held.len(), self.live) {
                Move::Stay => return,
                Move::Take(most) => Intent::Take { now: database.now, most },
                Move::Release(most) => {
                    let slots: BTreeSet<usize> = self.held.keys().copied().take(most).collect();
                    // It stops watching before it gives back.
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

    /// Does one of the things that it meant to, however long ago.
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
            Intent::Take { now, most } => {
                database.take(self.id, now, most);
                if !answer_is_lost {
                    self.held = database.held(self.id);
                }
            }
            Intent::Release(slots) => database.release(self.id, &slots),
            Intent::Write { slot, epoch } => database.write(self.id, slot, epoch),
        }
    }
}

/// Runs one schedule and gives what the database has seen, and how it ends.
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
            // A crash; what was on its way may still arrive before the next begins.
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

/// Why two writers were accepted for one slot, if they were.
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
    println!("{SCHEDULES} schedules: {accepted} writes accepted, {refused} stale ones refused");
    assert!(refused > 1_000, "the schedules are too tame: {refused} of {accepted}");
}

#[test]
fn without_the_epochs_two_writers_would_be_accepted() {
    let caught = (0..SCHEDULES).filter(|seed| violation(&run(*seed, false).0).is_some()).count();
    assert!(caught > 100, "{caught} of {SCHEDULES}");
}

#[test]
fn when_the_trouble_ends_every_slot_is_held_by_one_live_node_and_none_holds_too_many() {
    for seed in 0..SCHEDULES / 5 {
        let (mut database, mut nodes) = run(seed, true);
        let ids: BTreeSet<u32> = nodes.iter().map(|node| node.id).collect();
        // The dead are forgotten, the frozen go on, and each does its rounds.
        database.now += 2 * LEASE;
        for _ in 0..3 {
            for node in &mut nodes {
                let now = database.now;
                (node.held, node.live) = database.renew(node.id, now);
            }
            for node in &mut nodes {
                match balance(SLOTS, node.held.len(), node.live) {
                    Move::Stay => {}
                    Move::Take(most) => database.take(node.id, database.now, most),
                    Move::Release(most) => {
                        let slots = node.held.keys().copied().take(most).collect();
                        database.release(node.id, &slots);
                    }
                }
            }
            database.now += 1;
        }
        let share = SLOTS.div_ceil(nodes.len());
        for slot in &database.slots {
            assert!(slot.0.is_some_and(|owner| ids.contains(&owner)), "seed {seed}: {slot:?}");
        }
        for node in &nodes {
            assert!(database.held(node.id).len() <= share, "seed {seed}");
        }
    }
}
