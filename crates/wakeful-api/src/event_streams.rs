//! The open event streams, limited for each client and each user. Streams with the same
//! credentials and the same access share the check whether these are still valid, so that many
//! of them cost no more than one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wakeful_core::access::TeamAccess;
use wakeful_core::client_network::ClientNetwork;
use wakeful_core::id::UserId;
use wakeful_engine::{Caller, Via};

use crate::client_shares::{ClientShares, Reservation};

const MAX_STREAMS: usize = 4096;
const MAX_STREAMS_PER_CLIENT: usize = 256;
/// However many addresses the user has.
const MAX_STREAMS_PER_USER: usize = 256;
/// How often each stream asks whether its credentials are still valid.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// How old the answer to another stream may be.
const MAX_ANSWER_AGE: Duration = Duration::from_millis(250);
/// A stream outlives its credentials by no more than the sum of both, and the time that the
/// lookup takes, with the one in progress that it waits for.
const MAX_OUTLIVING: Duration = Duration::from_secs(1);
const _: () = assert!(
    CHECK_INTERVAL.as_millis() + MAX_ANSWER_AGE.as_millis() < MAX_OUTLIVING.as_millis(),
    "there must be time for the lookup"
);

#[derive(Clone)]
pub(crate) struct EventStreams {
    open: ClientShares,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    users: HashMap<UserId, usize>,
    checks: HashMap<Holder, Check>,
}

/// Whose streams share a check: access to one team says nothing about another one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Holder {
    pub(crate) user: UserId,
    pub(crate) via: Via,
    pub(crate) access: TeamAccess,
}

impl Holder {
    pub(crate) fn of(caller: &Caller) -> Self {
        Self { user: caller.user(), via: caller.via(), access: *caller.team_access() }
    }
}

struct Check {
    streams: usize,
    at: Instant,
    valid: bool,
    /// Held by the stream that looks it up.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// An open stream, until it is dropped.
pub(crate) struct EventStream {
    streams: EventStreams,
    holder: Holder,
    _share: Reservation,
}

impl EventStreams {
    pub(crate) fn new() -> Self {
        let open = ClientShares::new(MAX_STREAMS, MAX_STREAMS_PER_CLIENT);
        Self { open, state: Arc::default() }
    }

    /// A new stream with credentials that were just verified; none if there are too many.
    pub(crate) fn open(&self, client: ClientNetwork, holder: Holder) -> Option<EventStream> {
        let mut share = self.open.reserve(Some(client));
        if !share.grow(1) {
            return None;
        }
        let mut state = self.state();
        let of_user = state.users.entry(holder.user).or_default();
        if *of_user >= MAX_STREAMS_PER_USER {
            return None;
        }
        *of_user += 1;
        let new =
            || Check { streams: 0, at: Instant::now(), valid: true, turn: Default::default() };
        let check = state.checks.entry(holder).or_insert_with(new);
        (check.at, check.valid) = (Instant::now(), true);
        check.streams += 1;
        drop(state);
        Some(EventStream { streams: self.clone(), holder, _share: share })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventStream {
    /// Whether the credentials are still valid, according to a recent check of any stream or
    /// to `check`. One stream checks at a time, so that a slow database is not asked by all.
    pub(crate) async fn is_valid(&self, now: Instant, check: impl Future<Output = bool>) -> bool {
        if let Some(known) = self.known(now) {
            return known;
        }
        let turn = self.turn();
        let mut asked = now;
        let _turn = if let Ok(turn) = turn.try_lock() {
            turn
        } else {
            let began = Instant::now();
            let turn = turn.lock().await;
            asked += began.elapsed();
            turn
        };
        // Another stream may have checked meanwhile.
        if let Some(known) = self.known(now) {
            return known;
        }
        let valid = check.await;
        if let Some(check) = self.streams.state().checks.get_mut(&self.holder) {
            // As old as its question. A late answer does not revive credentials that were refused.
            check.at = check.at.max(asked);
            check.valid &= valid;
        }
        valid
    }

    fn turn(&self) -> Arc<tokio::sync::Mutex<()>> {
        let state = self.streams.state();
        state.checks.get(&self.holder).map(|check| Arc::clone(&check.turn)).unwrap_or_default()
    }

    /// None if it is this stream's turn to check.
    fn known(&self, now: Instant) -> Option<bool> {
        let state = self.streams.state();
        let check = state.checks.get(&self.holder)?;
        if !check.valid || now.duration_since(check.at) < MAX_ANSWER_AGE {
            return Some(check.valid);
        }
        None
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        let mut state = self.streams.state();
        if let Some(check) = state.checks.get_mut(&self.holder) {
            check.streams -= 1;
            if check.streams == 0 {
                state.checks.remove(&self.holder);
            }
        }
        if let Some(of_user) = state.users.get_mut(&self.holder.user) {
            *of_user -= 1;
            if *of_user == 0 {
                state.users.remove(&self.holder.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::join_all;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::sync::Notify;
    use wakeful_core::id::{SessionId, TeamId};
    use wakeful_core::time::Millis;

    #[expect(clippy::disallowed_methods, reason = "a team without a caller")]
    fn holder(session: u8, team: u8) -> Holder {
        Holder {
            user: UserId::new(Millis(0), [session; 10]),
            via: Via::Session(SessionId::new(Millis(0), [session; 10])),
            access: TeamAccess::whole(TeamId::new(Millis(0), [team; 10])),
        }
    }

    fn client(last: u8) -> ClientNetwork {
        ClientNetwork::of([10, 0, 0, last].into())
    }

    #[tokio::test]
    async fn streams_with_the_same_credentials_share_one_check() {
        let streams = EventStreams::new();
        let open: Vec<_> = (0..100).filter_map(|_| streams.open(client(1), holder(1, 1))).collect();
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
        let renewed = streams.open(client(1), holder(1, 1)).unwrap();
        assert!(renewed.is_valid(now, check(true)).await);
        drop((open, renewed));
        assert!(streams.state().checks.is_empty());
        assert!(streams.state().users.is_empty());
    }

    #[tokio::test]
    async fn streams_share_a_check_that_is_not_answered_yet() {
        let streams = EventStreams::new();
        let open: Vec<_> = (0..100).filter_map(|_| streams.open(client(1), holder(1, 1))).collect();
        let other = streams.open(client(1), holder(2, 1)).unwrap();
        let (checks, answer) = (AtomicUsize::new(0), Notify::new());
        let now = Instant::now() + CHECK_INTERVAL;
        let check = || {
            let (checks, answer) = (&checks, &answer);
            async move {
                checks.fetch_add(1, Ordering::Relaxed);
                answer.notified().await;
                false
            }
        };
        let all = join_all(open.iter().map(|stream| stream.is_valid(now, check())));
        let slow_database = async {
            // All are waiting by now, and no stream with other credentials waits for them.
            assert!(other.is_valid(now, async { true }).await);
            assert_eq!(checks.load(Ordering::Relaxed), 1);
            answer.notify_waiters();
        };
        let (valid, ()) = tokio::join!(biased; all, slow_database);
        assert_eq!(valid, [false; 100]);
        assert_eq!(checks.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_stream_relies_on_the_check_of_another_one_for_a_quarter_of_a_second_only() {
        let streams = EventStreams::new();
        let first = streams.open(client(1), holder(1, 1)).unwrap();
        let second = streams.open(client(1), holder(1, 1)).unwrap();
        let checked = Instant::now() + CHECK_INTERVAL;
        assert!(first.is_valid(checked, async { true }).await);
        let just_before = checked + MAX_ANSWER_AGE - Duration::from_millis(1);
        assert!(second.is_valid(just_before, async { false }).await);
        assert!(!second.is_valid(checked + MAX_ANSWER_AGE, async { false }).await);
    }

    #[tokio::test]
    async fn a_stream_in_another_team_does_not_prolong_one() {
        let streams = EventStreams::new();
        let lost = streams.open(client(1), holder(1, 1)).unwrap();
        let now = Instant::now() + CHECK_INTERVAL;
        let other = streams.open(client(1), holder(1, 2)).unwrap();
        assert!(!lost.is_valid(now, async { false }).await);
        assert!(other.is_valid(now, async { true }).await);
        drop(streams.open(client(1), holder(1, 2)));
        assert!(!lost.is_valid(now, async { false }).await);
    }

    #[test]
    fn a_user_has_only_so_many_streams_from_all_addresses() {
        let streams = EventStreams::new();
        let open: Vec<_> = (0..300)
            .filter_map(|n| streams.open(client(u8::try_from(n % 250).unwrap()), holder(1, 1)))
            .collect();
        assert_eq!(open.len(), MAX_STREAMS_PER_USER);
        assert!(streams.open(client(1), holder(2, 1)).is_some());
        drop(open);
        assert!(streams.open(client(1), holder(1, 1)).is_some());
    }

    #[test]
    fn a_client_has_only_so_many_streams() {
        let streams = EventStreams::new();
        let open: Vec<_> = (0..300)
            .filter_map(|n| streams.open(client(1), holder(u8::try_from(n % 250).unwrap(), 1)))
            .collect();
        assert_eq!(open.len(), MAX_STREAMS_PER_CLIENT);
        assert!(streams.open(client(2), holder(1, 1)).is_some());
        drop(open);
        assert!(streams.open(client(1), holder(1, 1)).is_some());
    }
}
