//! Slots for the checks that people request, which do not wait in line with the
//! scheduled ones. A team has a share of them, so that no team can keep another from
//! checking: a team that uses its share waits for itself, and not for long.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wakeful_core::id::TeamId;

use crate::{Error, Result};

const MAX_CHECKS: usize = 32;
const MAX_CHECKS_PER_TEAM: usize = 8;
/// How long a request waits for a slot before it is refused.
const SLOT_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct RequestedChecks {
    slots: Arc<Semaphore>,
    /// Only teams that have a check running or waiting.
    teams: Mutex<HashMap<TeamId, Arc<Semaphore>>>,
}

/// A slot, free again when it is dropped.
pub(crate) struct CheckSlot<'a> {
    _slot: OwnedSemaphorePermit,
    _share: TeamShare<'a>,
}

/// A part of the team's share, taken or waited for.
struct TeamShare<'a> {
    permit: Option<OwnedSemaphorePermit>,
    team: TeamId,
    checks: &'a RequestedChecks,
}

impl Default for RequestedChecks {
    fn default() -> Self {
        Self { slots: Arc::new(Semaphore::new(MAX_CHECKS)), teams: Mutex::default() }
    }
}

impl RequestedChecks {
    /// Waits for a slot: within the team's share first, then among all.
    pub(crate) async fn slot(&self, team: TeamId) -> Result<CheckSlot<'_>> {
        let waiting = async {
            let share = self.share(team);
            let mut part = TeamShare { permit: None, team, checks: self };
            part.permit = Some(share.acquire_owned().await.map_err(|_| Error::TooManyChecks)?);
            let slots = Arc::clone(&self.slots);
            let slot = slots.acquire_owned().await.map_err(|_| Error::TooManyChecks)?;
            Ok(CheckSlot { _slot: slot, _share: part })
        };
        tokio::time::timeout(SLOT_TIMEOUT, waiting).await.unwrap_or(Err(Error::TooManyChecks))
    }

    fn share(&self, team: TeamId) -> Arc<Semaphore> {
        let mut teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        let share = teams.entry(team);
        Arc::clone(share.or_insert_with(|| Arc::new(Semaphore::new(MAX_CHECKS_PER_TEAM))))
    }
}

impl Drop for TeamShare<'_> {
    fn drop(&mut self) {
        // The permit holds the semaphore, so it has to go first.
        self.permit = None;
        let mut teams = self.checks.teams.lock().unwrap_or_else(PoisonError::into_inner);
        if teams.get(&self.team).is_some_and(|share| Arc::strong_count(share) == 1) {
            teams.remove(&self.team);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn team(number: u128) -> TeamId {
        uuid::Uuid::from_u128(number).into()
    }

    #[tokio::test(start_paused = true)]
    async fn a_team_has_a_share_and_waits_for_itself_alone() {
        let checks = RequestedChecks::default();
        let mut held = Vec::new();
        for _ in 0..MAX_CHECKS_PER_TEAM {
            held.push(checks.slot(team(1)).await.expect("within the share"));
        }
        assert!(matches!(checks.slot(team(1)).await, Err(Error::TooManyChecks)));
        let other = checks.slot(team(2)).await.expect("another team");
        held.pop();
        held.push(checks.slot(team(1)).await.expect("one has ended"));
        drop((held, other));
        assert!(checks.teams.lock().expect("no panic").is_empty(), "nothing is left of teams");
    }

    #[tokio::test(start_paused = true)]
    async fn teams_that_have_ended_or_given_up_are_forgotten() {
        let checks = RequestedChecks::default();
        let mut held = Vec::new();
        for number in 0..4 {
            for _ in 0..MAX_CHECKS_PER_TEAM {
                held.push(checks.slot(team(number)).await.expect("32 in all"));
            }
        }
        assert!(matches!(checks.slot(team(9)).await, Err(Error::TooManyChecks)));
        assert_eq!(checks.teams.lock().expect("no panic").len(), 4);
        drop(held);
        assert!(checks.teams.lock().expect("no panic").is_empty());
    }
}
