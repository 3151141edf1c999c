//! A queue for a limited resource. Groups of keys take turns, and the keys of a group, such as
//! the client networks of a site, share its turns; each key has a share. When the queue is
//! full, the group with the most waiting requests loses one, so that a few groups cannot
//! starve the others.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use wakeful_core::client_network::ClientNetwork;
use wakeful_core::id::TeamId;

/// Who takes turns.
pub trait Key: Copy + Eq + Hash {
    /// The same for keys that one party can have many of.
    fn group(self) -> Self {
        self
    }
}

impl Key for TeamId {}

impl Key for ClientNetwork {
    fn group(self) -> Self {
        self.site()
    }
}

/// The limits of a queue.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub running: usize,
    pub waiting: usize,
    pub waiting_per_key: usize,
    /// How many one key may have running, given the number of free places.
    pub share: fn(free: usize) -> usize,
}

/// Why a request gets no turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The key has used up its share of the queue.
    Share,
    /// The queue is full, and no other group has a larger part of it.
    Full,
}

pub struct FairQueue<K: Key>(Arc<Mutex<State<K>>>);

struct State<K: Key> {
    bounds: Bounds,
    running: usize,
    waiting: usize,
    /// Only keys with something running or waiting.
    shares: HashMap<K, Share<K>>,
    /// The groups that wait, in the order of their turns, each with its keys in theirs.
    order: VecDeque<Group<K>>,
}

struct Group<K: Key> {
    group: K,
    keys: VecDeque<K>,
}

struct Share<K: Key> {
    running: usize,
    waiting: VecDeque<oneshot::Sender<Turn<K>>>,
}

/// A turn; it ends when it is dropped.
pub struct Turn<K: Key> {
    state: Arc<Mutex<State<K>>>,
    key: K,
}

impl<K: Key> FairQueue<K> {
    pub fn new(bounds: Bounds) -> Self {
        let (shares, order) = (HashMap::new(), VecDeque::new());
        Self(Arc::new(Mutex::new(State { bounds, running: 0, waiting: 0, shares, order })))
    }

    /// Waits for a turn. Fails when there is no room to wait.
    pub async fn turn(&self, key: K) -> Result<Turn<K>, Refused> {
        let (sender, turn) = oneshot::channel();
        let unused = {
            let mut state = lock(&self.0);
            state.make_room(key)?;
            state.push(key, sender);
            state.start(&self.0)
        };
        drop(unused);
        // The sender is dropped when another key needs the place.
        turn.await.map_err(|_| Refused::Share)
    }

    /// Whether nothing is running or waiting.
    pub fn is_unused(&self) -> bool {
        let mut state = lock(&self.0);
        state.remove_canceled();
        state.shares.is_empty()
    }
}

impl<K: Key> State<K> {
    /// Makes room for one more request of this key.
    fn make_room(&mut self, key: K) -> Result<(), Refused> {
        if self.has_share(key) && self.waiting < self.bounds.waiting {
            return Ok(());
        }
        // It takes longer the more wait, so only now.
        self.remove_canceled();
        if !self.has_share(key) {
            return Err(Refused::Share);
        }
        if self.waiting < self.bounds.waiting {
            return Ok(());
        }
        self.evict_for(key.group())
    }

    fn has_share(&self, key: K) -> bool {
        let waiting = self.shares.get(&key).map_or(0, |share| share.waiting.len());
        waiting < self.bounds.waiting_per_key
    }

    /// Drops the newest request of the busiest key in the largest group, unless the group of
    /// the newcomer would then be larger.
    fn evict_for(&mut self, newcomer: K) -> Result<(), Refused> {
        let mut groups: HashMap<K, usize> = HashMap::new();
        for (key, share) in &self.shares {
            *groups.entry(key.group()).or_default() += share.waiting.len();
        }
        let own = groups.get(&newcomer).copied().unwrap_or(0);
        let largest = groups.into_iter().max_by_key(|(_, waiting)| *waiting);
        let Some((group, _)) = largest.filter(|(_, waiting)| *waiting > own + 1) else {
            return Err(Refused::Full);
        };
        let of_group = self.shares.iter_mut().filter(|(key, _)| key.group() == group);
        let busiest = of_group.max_by_key(|(_, share)| share.waiting.len());
        let Some((key, share)) = busiest else { return Ok(()) };
        if share.waiting.pop_back().is_some() {
            self.waiting -= 1;
        }
        if share.waiting.is_empty() {
            let key = *key;
            for waiting in self.order.iter_mut().filter(|waiting| waiting.group == group) {
                waiting.keys.retain(|other| *other != key);
            }
            self.order.retain(|waiting| !waiting.keys.is_empty());
        }
        Ok(())
    }

    fn remove_canceled(&mut self) {
        let shares = &mut self.shares;
        for share in shares.values_mut() {
            share.waiting.retain(|sender| !sender.is_closed());
        }
        self.waiting = shares.values().map(|share| share.waiting.len()).sum();
        for group in &mut self.order {
            group.keys.retain(|key| shares.get(key).is_some_and(|share| !share.waiting.is_empty()));
        }
        self.order.retain(|group| !group.keys.is_empty());
        shares.retain(|_, share| share.running > 0 || !share.waiting.is_empty());
    }

    fn push(&mut self, key: K, sender: oneshot::Sender<Turn<K>>) {
        let new = || Share { running: 0, waiting: VecDeque::new() };
        let share = self.shares.entry(key).or_insert_with(new);
        let is_first = share.waiting.is_empty();
        share.waiting.push_back(sender);
        self.waiting += 1;
        if is_first {
            self.queue(key);
        }
    }

    /// Puts a key at the end of its group.
    fn queue(&mut self, key: K) {
        let group = key.group();
        match self.order.iter_mut().find(|other| other.group == group) {
            Some(waiting) => waiting.keys.push_back(key),
            None => self.order.push_back(Group { group, keys: VecDeque::from([key]) }),
        }
    }

    /// Gives turns to as many waiting requests as may run. Returns the turns of canceled
    /// requests, which must be dropped after the lock.
    #[must_use]
    fn start(&mut self, state: &Arc<Mutex<Self>>) -> Vec<Turn<K>> {
        let mut unused = Vec::new();
        while let Some((key, sender)) = self.next() {
            let turn = Turn { state: Arc::clone(state), key };
            unused.extend(sender.send(turn).err());
        }
        unused
    }

    /// The next key in turn that has not used up its share.
    fn next(&mut self) -> Option<(K, oneshot::Sender<Turn<K>>)> {
        let free = self.bounds.running.checked_sub(self.running).filter(|free| *free > 0)?;
        let most = (self.bounds.share)(free).max(1);
        let shares = &mut self.shares;
        let may_run = |key: &K| shares.get(key).is_some_and(|share| share.running < most);
        let in_group = |group: &Group<K>| group.keys.iter().position(may_run);
        let (of_group, of_key) =
            self.order.iter().enumerate().find_map(|(at, group)| Some((at, in_group(group)?)))?;
        let mut group = self.order.remove(of_group)?;
        let key = group.keys.remove(of_key)?;
        let share = shares.get_mut(&key)?;
        let sender = share.waiting.pop_front()?;
        share.running += 1;
        self.running += 1;
        self.waiting -= 1;
        if !share.waiting.is_empty() {
            group.keys.push_back(key);
        }
        if !group.keys.is_empty() {
            self.order.push_back(group);
        }
        Some((key, sender))
    }

    fn end(&mut self, key: K) {
        self.running -= 1;
        let Some(share) = self.shares.get_mut(&key) else { return };
        share.running -= 1;
        if share.running == 0 && share.waiting.is_empty() {
            self.shares.remove(&key);
        }
    }
}

fn lock<K: Key>(state: &Mutex<State<K>>) -> MutexGuard<'_, State<K>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K: Key> Drop for Turn<K> {
    fn drop(&mut self) {
        let unused = {
            let mut state = lock(&self.state);
            state.end(self.key);
            state.start(&self.state)
        };
        drop(unused);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    impl Key for usize {
        fn group(self) -> Self {
            if self < 1_000 { self } else { self / 1_000 * 1_000 }
        }
    }

    const BOUNDS: Bounds = Bounds { running: 4, waiting: 64, waiting_per_key: 14, share: |_| 2 };

    /// A queue whose places are all taken, by the keys 0 to 3.
    async fn busy() -> (FairQueue<usize>, Vec<Turn<usize>>) {
        let queue = FairQueue::new(BOUNDS);
        let mut turns = Vec::new();
        for key in 0..BOUNDS.running {
            turns.push(queue.turn(key).await.expect("a turn"));
        }
        (queue, turns)
    }

    #[tokio::test]
    async fn the_69th_concurrent_request_is_refused_and_the_others_wait() {
        let (queue, turns) = busy().await;
        let mut waiting: Vec<_> = (0..64).map(|key| Box::pin(queue.turn(key))).collect();
        for turn in &mut waiting {
            assert!(turn.as_mut().now_or_never().is_none(), "must wait");
        }
        assert_eq!(queue.turn(99).await.err(), Some(Refused::Full));
        drop(turns);
        assert!(waiting[0].as_mut().now_or_never().is_some(), "gets its turn");
    }

    #[tokio::test]
    async fn a_key_gets_its_share_and_no_more() {
        let queue = FairQueue::new(BOUNDS);
        let turns = [queue.turn(1).await, queue.turn(1).await];
        let mut waiting: Vec<_> = (0..14).map(|_| Box::pin(queue.turn(1))).collect();
        for turn in &mut waiting {
            assert!(turn.as_mut().now_or_never().is_none(), "must wait");
        }
        assert_eq!(queue.turn(1).await.err(), Some(Refused::Share));
        assert!(queue.turn(2).now_or_never().is_some(), "other keys do not wait");
        drop(turns);
        assert!(waiting[0].as_mut().now_or_never().is_some(), "gets its turn");
        drop(waiting);
        assert!(queue.is_unused(), "shares are released");
    }

    #[tokio::test]
    async fn a_key_with_few_requests_takes_the_place_of_a_key_with_many() {
        let (queue, mut turns) = busy().await;
        // Five clients with more than enough requests fill the queue.
        let mut waiting: Vec<_> = (0..64).map(|at| Box::pin(queue.turn(at % 5))).collect();
        for turn in &mut waiting {
            assert!(turn.as_mut().now_or_never().is_none(), "must wait");
        }
        let mut newcomer = Box::pin(queue.turn(99));
        assert!(newcomer.as_mut().now_or_never().is_none(), "is admitted");
        let before = waiting.len();
        waiting.retain_mut(|turn| turn.as_mut().now_or_never().is_none());
        assert_eq!(before - waiting.len(), 1, "one waiting request was dropped");

        // It waits for one turn of each key before it, not for all their requests.
        let mut others = 0;
        let turn = loop {
            if let Some(turn) = newcomer.as_mut().now_or_never() {
                break turn;
            }
            turns.remove(0);
            let place = waiting
                .iter_mut()
                .enumerate()
                .find_map(|(at, turn)| Some((at, turn.as_mut().now_or_never()?.ok()?)));
            if let Some((at, turn)) = place {
                drop(waiting.swap_remove(at));
                turns.push(turn);
                others += 1;
            }
        };
        assert!(turn.is_ok());
        assert!(others <= 5, "{others}");
    }

    #[tokio::test]
    async fn a_group_with_many_keys_makes_room_for_another() {
        let (queue, mut turns) = busy().await;
        let crowd = 1_000..1_064;
        let mut waiting: Vec<_> = crowd.map(|key| Box::pin(queue.turn(key))).collect();
        for turn in &mut waiting {
            assert!(turn.as_mut().now_or_never().is_none(), "must wait");
        }
        assert_eq!(queue.turn(1_099).await.err(), Some(Refused::Full), "it is the same group");
        let mut newcomer = Box::pin(queue.turn(9));
        assert!(newcomer.as_mut().now_or_never().is_none(), "is admitted");
        // Others that come later do not take the place of the newcomer.
        for key in 1_100..1_200 {
            assert_eq!(queue.turn(key).await.err(), Some(Refused::Full));
        }
        // It waits for one turn of the group, not for one of each of its keys.
        turns.remove(0);
        waiting.retain_mut(|turn| match turn.as_mut().now_or_never() {
            None => true,
            Some(turn) => {
                turns.extend(turn.ok());
                false
            }
        });
        assert!(newcomer.as_mut().now_or_never().is_none());
        turns.remove(0);
        assert!(newcomer.as_mut().now_or_never().is_some(), "gets its turn");
    }

    #[tokio::test]
    async fn shares_shrink_as_places_run_out() {
        let share = |free: usize| (free / 3).min(8);
        let queue = FairQueue::new(Bounds { running: 32, share, ..BOUNDS });
        let mut turns = Vec::new();
        for key in 0..4 {
            for _ in 0..8 {
                turns.extend(queue.turn(key).now_or_never().and_then(Result::ok));
            }
        }
        assert!(turns.len() < 32, "{}", turns.len());
        assert!(queue.turn(9).now_or_never().is_some(), "four hostile keys leave some places free");
    }

    #[tokio::test]
    async fn the_turn_of_a_canceled_request_goes_to_the_next() {
        let (queue, mut turns) = busy().await;
        let mut canceled = Box::pin(queue.turn(7));
        let mut next = Box::pin(queue.turn(8));
        assert!(canceled.as_mut().now_or_never().is_none());
        assert!(next.as_mut().now_or_never().is_none());
        drop(canceled);
        turns.pop();
        assert!(next.as_mut().now_or_never().is_some());
    }
}
