//! Password hashing with limited concurrency, so that it does not slow down everything else:
//! a few hashes run on separate threads, more wait in a queue for some time, and others are
//! refused. Client networks take turns, and a site with many networks makes room for others.

use std::net::IpAddr;
use std::time::Duration;
use wakeful_core::Invalid;
use wakeful_core::accounts::password::{self, NewPassword};
use wakeful_core::client_network::ClientNetwork;
use wakeful_core::secret::Secret;
use wakeful_outbound::fair_queue::{self, Bounds, FairQueue, Refused};

use crate::{Error, Result, random};

/// So many can wait that a few hundred sites with one request each make a login slow, but do not
/// get it refused: a site waits for one hash of each other site. A hash takes 50 to 80 ms of a
/// core, so the last of 512 waits about 10 s if four cores hash, and about 20 s if two do. A
/// waiting request holds its credentials, some 10 kB with its task; larger bodies count against
/// the limit on the memory for bodies.
const BOUNDS: Bounds = Bounds { running: 4, waiting: 512, waiting_per_key: 14, share: |_free| 2 };
/// A slower node refuses what has waited for so long, before the request itself times out.
const MAX_WAIT: Duration = Duration::from_secs(20);
/// The `Retry-After` of a client whose share is used up.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// No password has this hash; verifying against it takes as long as against any other.
const DUMMY_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

pub(crate) struct PasswordHasher(FairQueue<ClientNetwork>);

impl Default for PasswordHasher {
    fn default() -> Self {
        Self(FairQueue::new(BOUNDS))
    }
}

/// The permission to hash. It is released when the work is done, even if the request has
/// been canceled by then.
pub(crate) struct HashPermit {
    _place: fair_queue::Turn<ClientNetwork>,
}

impl PasswordHasher {
    /// Waits for a turn. Fails if the queue, or the client network's share of it, is full, and
    /// if the turn does not come in time.
    pub(crate) async fn acquire(&self, from: IpAddr) -> Result<HashPermit> {
        match tokio::time::timeout(MAX_WAIT, self.0.turn(ClientNetwork::of(from))).await {
            Ok(Ok(place)) => Ok(HashPermit { _place: place }),
            Ok(Err(Refused::Share)) => Err(Error::Limited { retry_after: RETRY_AFTER }),
            Ok(Err(Refused::Full)) | Err(_) => Err(Error::Overloaded),
        }
    }
}

impl HashPermit {
    pub(crate) async fn hash(self, password: &Secret) -> String {
        let password = password.clone();
        let salt = random::bytes();
        self.run_blocking(move || password::hash(&password, salt)).await
    }

    /// Hashes a new password, unless it is a common one.
    pub(crate) async fn hash_new(
        self,
        password: &NewPassword,
    ) -> std::result::Result<String, Invalid> {
        let password = password.clone();
        let salt = random::bytes();
        self.run_blocking(move || password.hash(salt)).await
    }

    /// Whether the password is correct; without a stored hash it is not, after the same work.
    pub(crate) async fn verify(self, password: &Secret, stored: Option<&str>) -> bool {
        let password = password.clone();
        let known = stored.is_some();
        let stored = stored.unwrap_or(DUMMY_HASH).to_owned();
        self.run_blocking(move || password::verify(&password, &stored)).await && known
    }

    async fn run_blocking<T: Send + 'static>(self, job: impl FnOnce() -> T + Send + 'static) -> T {
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
    use futures_util::FutureExt as _;
    use std::collections::VecDeque;
    use std::net::{Ipv4Addr, Ipv6Addr};
    use std::time::Instant;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    /// An address in a separate site.
    fn address(site: usize) -> IpAddr {
        Ipv4Addr::from_bits(u32::try_from(site << 8).expect("a small number")).into()
    }

    #[tokio::test]
    async fn a_full_share_is_a_limit_and_a_full_queue_an_overload() {
        let hasher = PasswordHasher::default();
        let mut permits = Vec::new();
        for network in 0..BOUNDS.running {
            permits.push(hasher.acquire(address(network)).await.expect("a turn"));
        }
        let places = (0..BOUNDS.waiting).map(|at| at / BOUNDS.waiting_per_key);
        let mut waiting: Vec<_> =
            places.map(|network| Box::pin(hasher.acquire(address(network)))).collect();
        for permit in &mut waiting {
            assert!(permit.as_mut().now_or_never().is_none(), "must wait");
        }
        assert!(matches!(hasher.acquire(address(0)).await, Err(Error::Limited { .. })));
        drop(waiting);
        let mut waiting: Vec<_> =
            (0..BOUNDS.waiting).map(|network| Box::pin(hasher.acquire(address(network)))).collect();
        for permit in &mut waiting {
            assert!(permit.as_mut().now_or_never().is_none(), "must wait");
        }
        assert!(matches!(hasher.acquire(HERE).await, Err(Error::Overloaded)));
    }

    #[tokio::test]
    async fn a_whole_48_does_not_keep_others_from_logging_in() {
        let hasher = PasswordHasher::default();
        let hostile =
            |at: u128| IpAddr::from(Ipv6Addr::from_bits((0x2001_0db8_0001 << 80) | (at << 64)));
        let mut permits = Vec::new();
        for at in 0..BOUNDS.running {
            permits.push(hasher.acquire(hostile(at as u128)).await.expect("a turn"));
        }
        let more = BOUNDS.waiting as u128 + 100;
        let mut waiting: Vec<_> =
            (0..more).map(|at| Box::pin(hasher.acquire(hostile(at)))).collect();
        waiting.retain_mut(|permit| permit.as_mut().now_or_never().is_none());
        assert_eq!(waiting.len(), BOUNDS.waiting);
        assert!(hasher.acquire(HERE).now_or_never().is_none(), "is admitted and waits");
    }

    #[tokio::test(start_paused = true)]
    async fn a_hundred_sites_that_always_wait_do_not_keep_others_from_logging_in() {
        let hasher = PasswordHasher::default();
        let mut running = VecDeque::new();
        for site in 0..BOUNDS.running {
            running.push_back(hasher.acquire(address(site)).await.expect("a turn"));
        }
        let mut waiting = VecDeque::new();
        for site in 0..100 {
            let mut permit = Box::pin(hasher.acquire(address(site)));
            assert!(permit.as_mut().now_or_never().is_none(), "must wait");
            waiting.push_back((site, permit));
        }
        let mut newcomer = Box::pin(hasher.acquire(HERE));
        assert!(newcomer.as_mut().now_or_never().is_none(), "is admitted and waits");
        // Each site sends another request as soon as it has its turn.
        for _ in 0..100 {
            drop(running.pop_front());
            let (site, permit) = waiting.pop_front().expect("a site");
            running.push_back(permit.await.expect("its turn"));
            let mut again = Box::pin(hasher.acquire(address(site)));
            assert!(again.as_mut().now_or_never().is_none(), "must wait");
            waiting.push_back((site, again));
        }
        drop(running.pop_front());
        newcomer.await.expect("its turn after one of each site");
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_waits_too_long_is_refused() {
        let hasher = PasswordHasher::default();
        let mut permits = Vec::new();
        for site in 0..BOUNDS.running {
            permits.push(hasher.acquire(address(site)).await.expect("a turn"));
        }
        let begun = tokio::time::Instant::now();
        assert!(matches!(hasher.acquire(HERE).await, Err(Error::Overloaded)));
        let waited = begun.elapsed();
        assert!((MAX_WAIT..MAX_WAIT + Duration::from_secs(1)).contains(&waited), "{waited:?}");
        // It holds no place.
        drop(permits);
        assert!(hasher.0.is_unused());
    }

    #[tokio::test]
    async fn a_canceled_request_holds_its_place_until_the_work_is_done() {
        let hasher = PasswordHasher::default();
        let password = Secret::new("k9#vT2qz");
        for at in 0..BOUNDS.running {
            let permit = hasher.acquire(address(at)).await.expect("a turn");
            let mut canceled = Box::pin(permit.verify(&password, None));
            assert!(canceled.as_mut().now_or_never().is_none(), "it takes some time");
        }
        assert!(hasher.acquire(HERE).now_or_never().is_none(), "all four permits are in use");
        hasher.acquire(HERE).await.expect("a turn when one of them is done");
    }

    #[tokio::test]
    async fn an_unknown_account_takes_as_long_as_a_known_one() {
        let hasher = PasswordHasher::default();
        let password = Secret::new("k9#vT2qz");
        let stored = hasher.acquire(HERE).await.expect("a turn").hash(&password).await;
        let mut spent = [0_u128; 2];
        for _ in 0..5 {
            for (at, stored) in [None, Some(stored.as_str())].into_iter().enumerate() {
                let begun = Instant::now();
                let permit = hasher.acquire(HERE).await.expect("a turn");
                let correct = permit.verify(&password, stored).await;
                spent[at] += begun.elapsed().as_micros();
                assert_eq!(correct, stored.is_some());
            }
        }
        let ratio = spent[0] as f64 / spent[1] as f64;
        assert!((0.5..2.0).contains(&ratio), "{spent:?}");
    }
}
