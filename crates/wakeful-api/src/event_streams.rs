//! The open event streams, limited for each client. Streams with the same credentials share
//! the check whether these are still valid, so that many of them cost no more than one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wakeful_core::client_network::ClientNetwork;
use wakeful_engine::Via;

use crate::client_shares::{ClientShares, Reservation};

const MAX_STREAMS: usize = 4096;
const MAX_STREAMS_PER_CLIENT: usize = 256;
/// How often each stream asks, and how old the answer to another may be: a stream outlives
/// its credentials by no more than the sum of both.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_millis(500);

#[derive(Clone)]
pub(crate) struct EventStreams {
    open: ClientShares,
    checks: Arc<Mutex<HashMap<Via, Check>>>,
}

struct Check {
    streams: usize,
    at: Instant,
    valid: bool,
}

/// An open stream, until it is dropped.
pub(crate) struct EventStream {
    streams: EventStreams,
    via: Via,
    _share: Reservation,
}

impl EventStreams {
    pub(crate) fn new() -> Self {
        let open = ClientShares::new(MAX_STREAMS, MAX_STREAMS_PER_CLIENT);
        Self { open, checks: Arc::default() }
    }

    /// A new stream with credentials that were just verified; none if there are too many.
    pub(crate) fn open(&self, client: ClientNetwork, via: Via) -> Option<EventStream> {
        let mut share = self.open.reserve(Some(client));
        if !share.grow(1) {
            return None;
        }
        let mut checks = self.checks();
        let check =
            checks.entry(via).or_insert(Check { streams: 0, at: Instant::now(), valid: true });
        (check.at, check.valid) = (Instant::now(), true);
        check.streams += 1;
        drop(checks);
        Some(EventStream { streams: self.clone(), via, _share: share })
    }

    fn checks(&self) -> MutexGuard<'_, HashMap<Via, Check>> {
        self.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventStream {
    /// Whether the credentials are still valid, according to a recent check of any stream or
    /// to `check`.
    pub(crate) async fn is_valid(&self, now: Instant, check: impl Future<Output = bool>) -> bool {
        if let Some(known) = self.known(now) {
            return known;
        }
        let valid = check.await;
        if let Some(check) = self.streams.checks().get_mut(&self.via) {
            check.valid = valid;
        }
        valid
    }

    /// None if it is this stream's turn to check.
    fn known(&self, now: Instant) -> Option<bool> {
        let mut checks = self.streams.checks();
        let check = checks.get_mut(&self.via)?;
        if !check.valid || now.duration_since(check.at) < CHECK_INTERVAL {
            return Some(check.valid);
        }
        check.at = now;
        None
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        let mut checks = self.streams.checks();
        if let Some(check) = checks.get_mut(&self.via) {
            check.streams -= 1;
            if check.streams == 0 {
                checks.remove(&self.via);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use wakeful_core::id::SessionId;
    use wakeful_core::time::Millis;

    fn via(last: u8) -> Via {
        Via::Session(SessionId::new(Millis(0), [last; 10]))
    }

    fn client(last: u8) -> ClientNetwork {
        ClientNetwork::of([10, 0, 0, last].into())
    }

    #[tokio::test]
    async fn streams_with_the_same_credentials_share_one_check() {
        let streams = EventStreams::new();
        let open: Vec<_> = (0..100).filter_map(|_| streams.open(client(1), via(1))).collect();
        let checks = AtomicUsize::new(0);
        let check = |valid| {
            let checks = &checks;
            async move {
                checks.fetch_add(1, Ordering::Relaxed);
                valid
            }
        };
        let now = Instant::now() + CHECK_INTERVAL;
        for stream in &open {
            assert!(stream.is_valid(now, check(true)).await);
        }
        assert_eq!(checks.load(Ordering::Relaxed), 1);
        let now = now + CHECK_INTERVAL;
        for stream in &open {
            assert!(
                !stream.is_valid(now, check(false)).await,
                "all end when one finds them invalid"
            );
        }
        assert_eq!(checks.load(Ordering::Relaxed), 2);
        let renewed = streams.open(client(1), via(1)).unwrap();
        assert!(renewed.is_valid(now, check(true)).await);
        drop((open, renewed));
        assert!(streams.checks().is_empty());
    }

    #[test]
    fn a_client_has_only_so_many_streams() {
        let streams = EventStreams::new();
        let open: Vec<_> = (0..300)
            .filter_map(|n| streams.open(client(1), via(u8::try_from(n % 250).unwrap())))
            .collect();
        assert_eq!(open.len(), MAX_STREAMS_PER_CLIENT);
        assert!(streams.open(client(2), via(1)).is_some());
        drop(open);
        assert!(streams.open(client(1), via(1)).is_some());
    }
}
