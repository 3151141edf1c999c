//! Password hashing, kept from slowing down everything else: a few at once on
//! threads of their own, some more in a queue, and beyond that a clear refusal.
//! Each client network has a share of both, so that no client can starve the others.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wakeful_core::Invalid;
use wakeful_core::client_network::ClientNetwork;
use wakeful_core::password::{self, NewPassword};
use wakeful_core::secret::Secret;

use crate::{Error, Result, random};

const MAX_RUNNING: usize = 4;
const MAX_WAITING: usize = 64;
const MAX_RUNNING_PER_NETWORK: usize = 2;
const MAX_WAITING_PER_NETWORK: usize = 14;
/// How long a client whose share is used up is asked to wait.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// No password has this hash; checking against it takes as long as any other.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Room for some who run and some who wait for it.
#[derive(Clone)]
struct Room {
    running: Arc<Semaphore>,
    admitted: Arc<Semaphore>,
}

impl Room {
    fn new(running: usize, waiting: usize) -> Self {
        let permits = |count| Arc::new(Semaphore::new(count));
        Self { running: permits(running), admitted: permits(running + waiting) }
    }
}

pub(crate) struct Hasher {
    everyone: Room,
    networks: Arc<Networks>,
}

impl Default for Hasher {
    fn default() -> Self {
        Self { everyone: Room::new(MAX_RUNNING, MAX_WAITING), networks: Arc::default() }
    }
}

/// The shares of the networks that are running or waiting right now.
#[derive(Default)]
struct Networks(Mutex<HashMap<ClientNetwork, (Room, usize)>>);

impl Networks {
    /// The share of a network, for as long as the member lives.
    fn join(self: &Arc<Self>, network: ClientNetwork) -> Member {
        let mut networks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (room, members) = networks
            .entry(network)
            .or_insert_with(|| (Room::new(MAX_RUNNING_PER_NETWORK, MAX_WAITING_PER_NETWORK), 0));
        *members += 1;
        Member { networks: Arc::clone(self), network, room: room.clone() }
    }
}

struct Member {
    networks: Arc<Networks>,
    network: ClientNetwork,
    room: Room,
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut networks = self.networks.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, members)) = networks.get_mut(&self.network) {
            *members -= 1;
            if *members == 0 {
                networks.remove(&self.network);
            }
        }
    }
}

/// A turn to hash. Whoever holds one is among the few at work; it ends with the
/// work, also when the one who asked for it is gone by then.
pub(crate) struct Turn {
    _permits: [OwnedSemaphorePermit; 4],
    _member: Member,
}

impl Hasher {
    /// Waits for a turn, or refuses at once when the queue, or the share that the
    /// client's network has of it, is full.
    pub(crate) async fn turn(&self, from: IpAddr) -> Result<Turn> {
        let member = self.networks.join(ClientNetwork::of(from));
        let share = member.room.admitted.clone().try_acquire_owned();
        let share = share.map_err(|_| Error::Limited { retry_after: RETRY_AFTER })?;
        let place = self.everyone.admitted.clone().try_acquire_owned();
        let place = place.map_err(|_| Error::Overloaded)?;
        // A network waits for its own members first, so that few of them at a time
        // wait among those of other networks.
        let own = member.room.running.clone().acquire_owned().await;
        let own = own.map_err(|_| Error::Overloaded)?;
        let running = self.everyone.running.clone().acquire_owned().await;
        let running = running.map_err(|_| Error::Overloaded)?;
        Ok(Turn { _permits: [running, own, place, share], _member: member })
    }
}

impl Turn {
    pub(crate) async fn hash(self, password: &Secret) -> String {
        let password = password.clone();
        let salt = random::bytes();
        self.work(move || password::hash(&password, salt)).await
    }

    /// Hashes a password that somebody has chosen, unless it is a common one.
    pub(crate) async fn hash_new(
        self,
        password: &NewPassword,
    ) -> std::result::Result<String, Invalid> {
        let password = password.clone();
        let salt = random::bytes();
        self.work(move || password.hash(salt)).await
    }

    /// Whether the password is right; without a stored hash it is wrong, after
    /// the same work.
    pub(crate) async fn verify(self, password: &Secret, stored: Option<&str>) -> bool {
        let password = password.clone();
        let known = stored.is_some();
        let stored = stored.unwrap_or(NOBODY).to_owned();
        self.work(move || password::verify(&password, &stored)).await && known
    }

    async fn work<T: Send + 'static>(self, job: impl FnOnce() -> T + Send + 'static) -> T {
        let work = move || {
            let done = job();
            drop(self);
            done
        };
        tokio::task::spawn_blocking(work).await.expect("hashing neither panics nor is aborted")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use std::time::Instant;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    /// An address of a network of its own.
    fn address(network: usize) -> IpAddr {
        Ipv4Addr::from_bits(u32::try_from(network).expect("a small number")).into()
    }

    #[tokio::test]
    async fn the_69th_at_once_is_refused_and_the_others_wait() {
        let hasher = Hasher::default();
        let mut turns = Vec::new();
        for at in 0..MAX_RUNNING {
            turns.push(hasher.turn(address(at)).await.expect("a turn"));
        }
        let mut waiting: Vec<_> =
            (0..MAX_WAITING).map(|at| Box::pin(hasher.turn(address(at)))).collect();
        for turn in &mut waiting {
            assert!(futures_poll(turn.as_mut()).is_none(), "must wait");
        }
        assert!(matches!(hasher.turn(HERE).await, Err(Error::Overloaded)));
        turns.clear();
        assert!(futures_poll(waiting[0].as_mut()).is_some(), "gets its turn");
    }

    #[tokio::test]
    async fn one_network_gets_its_share_and_no_more() {
        let hasher = Hasher::default();
        let mut turns = Vec::new();
        for _ in 0..MAX_RUNNING_PER_NETWORK {
            turns.push(hasher.turn(HERE).await.expect("a turn"));
        }
        let mut waiting: Vec<_> =
            (0..MAX_WAITING_PER_NETWORK).map(|_| Box::pin(hasher.turn(HERE))).collect();
        for turn in &mut waiting {
            assert!(futures_poll(turn.as_mut()).is_none(), "must wait");
        }
        assert!(matches!(hasher.turn(HERE).await, Err(Error::Limited { .. })));
        assert!(futures_poll(std::pin::pin!(hasher.turn(address(1)))).is_some(), "others do not");
        turns.clear();
        assert!(futures_poll(waiting[0].as_mut()).is_some(), "gets its turn");
        drop(waiting);
        assert!(
            hasher.networks.0.lock().expect("not poisoned").is_empty(),
            "shares are given back"
        );
    }

    #[tokio::test]
    async fn whoever_hangs_up_keeps_the_place_until_the_work_is_done() {
        let hasher = Hasher::default();
        let password = Secret::new("k9#vT2qz");
        for at in 0..MAX_RUNNING {
            let turn = hasher.turn(address(at)).await.expect("a turn");
            let mut left = Box::pin(turn.verify(&password, None));
            assert!(futures_poll(left.as_mut()).is_none(), "it takes its time");
        }
        assert!(futures_poll(std::pin::pin!(hasher.turn(HERE))).is_none(), "all four are at work");
        hasher.turn(HERE).await.expect("a turn when one of them is done");
    }

    fn futures_poll<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match future.poll(&mut context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        }
    }

    #[tokio::test]
    async fn nobody_takes_as_long_as_somebody() {
        let hasher = Hasher::default();
        let password = Secret::new("k9#vT2qz");
        let stored = hasher.turn(HERE).await.expect("a turn").hash(&password).await;
        let mut spent = [0_u128; 2];
        for _ in 0..5 {
            for (at, stored) in [None, Some(stored.as_str())].into_iter().enumerate() {
                let begun = Instant::now();
                let turn = hasher.turn(HERE).await.expect("a turn");
                let right = turn.verify(&password, stored).await;
                spent[at] += begun.elapsed().as_micros();
                assert_eq!(right, stored.is_some());
            }
        }
        let ratio = spent[0] as f64 / spent[1] as f64;
        assert!((0.5..2.0).contains(&ratio), "{spent:?}");
    }
}
