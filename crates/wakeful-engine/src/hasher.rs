//! Password hashing, kept from drowning the rest: at most four at once on
//! threads of their own, some more in a queue, and beyond that a clear refusal.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wakeful_core::password;
use wakeful_core::secret::Secret;

use crate::{Error, Result, random};

const AT_ONCE: usize = 4;
const QUEUE: usize = 64;

/// No password has this hash; checking against it takes as long as any other.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

pub(crate) struct Hasher {
    running: Arc<Semaphore>,
    admitted: Arc<Semaphore>,
}

impl Default for Hasher {
    fn default() -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self { running: places(AT_ONCE), admitted: places(AT_ONCE + QUEUE) }
    }
}

/// A turn to hash. Whoever holds one is among the few at work; it ends with the
/// work, also when the one who asked for it is gone by then.
pub(crate) struct Turn {
    _admitted: OwnedSemaphorePermit,
    _running: OwnedSemaphorePermit,
}

impl Hasher {
    /// Waits for a turn, or refuses at once when the queue is full.
    pub(crate) async fn turn(&self) -> Result<Turn> {
        let admitted = self.admitted.clone().try_acquire_owned();
        let admitted = admitted.map_err(|_| Error::Overloaded)?;
        let running = self.running.clone().acquire_owned().await;
        let running = running.map_err(|_| Error::Overloaded)?;
        Ok(Turn { _admitted: admitted, _running: running })
    }
}

impl Turn {
    pub(crate) async fn hash(self, password: &Secret) -> String {
        let password = password.clone();
        let salt = random::bytes();
        self.work(move || password::hash(&password, salt)).await
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
    use std::time::Instant;

    #[tokio::test]
    async fn the_69th_at_once_is_refused_and_the_others_wait() {
        let hasher = Hasher::default();
        let mut turns = Vec::new();
        for _ in 0..AT_ONCE {
            turns.push(hasher.turn().await.expect("a turn"));
        }
        let waiting: Vec<_> = (0..QUEUE).map(|_| Box::pin(hasher.turn())).collect();
        let mut waiting = waiting;
        for turn in &mut waiting {
            assert!(futures_poll(turn.as_mut()).is_none(), "must wait");
        }
        assert!(matches!(hasher.turn().await, Err(Error::Overloaded)));
        turns.clear();
        assert!(futures_poll(waiting[0].as_mut()).is_some(), "gets its turn");
    }

    #[tokio::test]
    async fn whoever_hangs_up_keeps_the_place_until_the_work_is_done() {
        let hasher = Hasher::default();
        let password = Secret::new("k9#vT2qz");
        for _ in 0..AT_ONCE {
            let turn = hasher.turn().await.expect("a turn");
            let mut left = Box::pin(turn.verify(&password, None));
            assert!(futures_poll(left.as_mut()).is_none(), "it takes its time");
        }
        assert!(futures_poll(std::pin::pin!(hasher.turn())).is_none(), "all four are at work");
        hasher.turn().await.expect("a turn when one of them is done");
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
        let stored = hasher.turn().await.expect("a turn").hash(&password).await;
        let mut spent = [0_u128; 2];
        for _ in 0..5 {
            for (at, stored) in [None, Some(stored.as_str())].into_iter().enumerate() {
                let begun = Instant::now();
                let right = hasher.turn().await.expect("a turn").verify(&password, stored).await;
                spent[at] += begun.elapsed().as_micros();
                assert_eq!(right, stored.is_some());
            }
        }
        let ratio = spent[0] as f64 / spent[1] as f64;
        assert!((0.5..2.0).contains(&ratio), "{spent:?}");
    }
}
