//! Whose turn it is to write. What callers save waits here, one transaction of each team at a
//! time, so that a team with many or large ones delays another by one of them. Only a few reach
//! the database at once: results of checks, alerts and deliveries wait for none of those behind.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use wakeful_core::id::TeamId;

use crate::open::ACQUIRE_TIMEOUT;
use crate::{Result, StoreError};

/// PostgreSQL writes several transactions at a time; this many of one team.
const MAX_OF_TEAM: usize = 4;
/// Unused teams are forgotten when there are more than this many.
const MAX_UNUSED: usize = 256;

pub(crate) struct WriteTurns {
    /// Those that may write. It is fair, and has at most a few requests of each team.
    all: Arc<Semaphore>,
    of_team: usize,
    teams: Mutex<HashMap<TeamId, Weak<Semaphore>>>,
}

/// A turn; it ends when it is dropped.
pub(crate) struct WriteTurn {
    _of_all: OwnedSemaphorePermit,
    _of_team: OwnedSemaphorePermit,
}

impl WriteTurns {
    pub(crate) fn of_one_writer() -> Self {
        Self::new(1, 1)
    }

    /// A quarter of the connections is left to everything else.
    pub(crate) fn of_connections(connections: u32) -> Self {
        let all = (connections as usize * 3 / 4).max(1);
        Self::new(all, MAX_OF_TEAM.min(all.div_ceil(2)))
    }

    fn new(all: usize, of_team: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), of_team, teams: Mutex::default() }
    }

    /// Waits for a turn of the team, as long as for a connection.
    pub(crate) async fn turn(&self, team: TeamId) -> Result<WriteTurn> {
        let of_team = self.of(team);
        let both = async {
            let own = of_team.acquire_owned().await?;
            let any = Arc::clone(&self.all).acquire_owned().await?;
            Ok::<_, AcquireError>(WriteTurn { _of_all: any, _of_team: own })
        };
        match timeout(ACQUIRE_TIMEOUT, both).await {
            Ok(Ok(turn)) => Ok(turn),
            // They are never closed.
            Ok(Err(_)) | Err(_) => Err(StoreError::Unavailable(sqlx::Error::PoolTimedOut)),
        }
    }

    fn of(&self, team: TeamId) -> Arc<Semaphore> {
        let mut teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = teams.get(&team).and_then(Weak::upgrade) {
            return known;
        }
        if teams.len() > MAX_UNUSED {
            teams.retain(|_, semaphore| semaphore.strong_count() > 0);
        }
        let new = Arc::new(Semaphore::new(self.of_team));
        teams.insert(team, Arc::downgrade(&new));
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::join_all;
    use futures_util::poll;
    use wakeful_core::time::Millis;

    fn team(number: u16) -> TeamId {
        let mut bytes = [0; 10];
        bytes[..2].copy_from_slice(&number.to_be_bytes());
        TeamId::new(Millis(0), bytes)
    }

    #[tokio::test(start_paused = true)]
    async fn a_team_that_writes_a_lot_delays_another_by_one_transaction() {
        let turns = WriteTurns::of_one_writer();
        let held = turns.turn(team(1)).await.unwrap();
        let waiting = (0..100).map(|_| Box::pin(turns.turn(team(1))));
        let mut waiting = Box::pin(join_all(waiting));
        assert!(poll!(&mut waiting).is_pending());
        let mut other = Box::pin(turns.turn(team(2)));
        assert!(poll!(&mut other).is_pending());
        drop(held);
        other.await.expect("the turn after the one that was held");
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_does_not_come_is_refused_in_time() {
        let turns = WriteTurns::of_one_writer();
        let _held = turns.turn(team(1)).await.unwrap();
        for number in [1, 2] {
            assert!(matches!(turns.turn(team(number)).await, Err(StoreError::Unavailable(_))));
        }
    }

    #[tokio::test]
    async fn teams_that_no_longer_write_are_forgotten() {
        let turns = WriteTurns::of_connections(16);
        for number in 0..2_000 {
            turns.turn(team(number)).await.unwrap();
        }
        assert!(turns.teams.lock().unwrap().len() <= MAX_UNUSED + 1);
        let held = [turns.turn(team(1)).await.unwrap(), turns.turn(team(1)).await.unwrap()];
        assert_eq!(held.len(), 2, "PostgreSQL writes several at a time");
    }
}
