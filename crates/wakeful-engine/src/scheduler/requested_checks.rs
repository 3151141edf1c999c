//! Permits for on-demand checks, which do not wait behind the scheduled ones. Teams take turns,
//! and each has a share of the permits. The fewer are free, the smaller is the share, so that
//! a few teams cannot block the others. A slow check gives its permit back and continues in a
//! larger pool, or ends if that is full. For a minute after a slow check, a team gets its
//! permits from another pool: however many teams check targets that hang, the others do not
//! wait for them.

use futures_util::FutureExt as _;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::id::TeamId;
use wakeful_outbound::fair_queue::{Bounds, FairQueue, Turn};

use crate::{Error, Result};

const MAX_CHECKS_PER_TEAM: usize = 8;
const BOUNDS: Bounds = Bounds {
    running: 32,
    waiting: 1024,
    waiting_per_key: 64,
    share: |free| (free / 3).min(MAX_CHECKS_PER_TEAM),
};
/// The pool of slow checks.
const SLOW_BOUNDS: Bounds = Bounds {
    running: 512,
    waiting: 1024,
    waiting_per_key: 64,
    share: |free| (free / 16).min(MAX_CHECKS_PER_TEAM),
};
const SLOW_AFTER: Duration = Duration::from_millis(500);
/// How long a team is known for a slow check.
const SLOW_TEAM_FOR: Duration = Duration::from_secs(60);
/// More of them are not remembered.
const MAX_SLOW_TEAMS: usize = 16_384;
/// How long a request waits for a permit before it is refused.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct RequestedChecks {
    permits: FairQueue<TeamId>,
    /// The permits of teams that had a slow check.
    permits_of_slow_teams: FairQueue<TeamId>,
    slow: FairQueue<TeamId>,
    /// Since when.
    slow_teams: Mutex<HashMap<TeamId, Instant>>,
}

/// A permit for one check.
pub(crate) struct Permit<'a> {
    checks: &'a RequestedChecks,
    team: TeamId,
    turn: Turn<TeamId>,
}

impl Default for RequestedChecks {
    fn default() -> Self {
        Self {
            permits: FairQueue::new(BOUNDS),
            permits_of_slow_teams: FairQueue::new(BOUNDS),
            slow: FairQueue::new(SLOW_BOUNDS),
            slow_teams: Mutex::default(),
        }
    }
}

impl RequestedChecks {
    /// Waits for a permit, which is free again when it is dropped.
    pub(crate) async fn permit(&self, team: TeamId) -> Result<Permit<'_>> {
        let permits = if self.is_slow(team) { &self.permits_of_slow_teams } else { &self.permits };
        let turn = tokio::time::timeout(PERMIT_TIMEOUT, permits.turn(team)).await;
        let turn = turn.ok().and_then(std::result::Result::ok).ok_or(Error::TooManyChecks)?;
        Ok(Permit { checks: self, team, turn })
    }

    fn is_slow(&self, team: TeamId) -> bool {
        self.slow_teams().get(&team).is_some_and(|since| since.elapsed() < SLOW_TEAM_FOR)
    }

    fn set_slow(&self, team: TeamId) {
        let mut slow_teams = self.slow_teams();
        if slow_teams.len() >= MAX_SLOW_TEAMS {
            slow_teams.retain(|_, since| since.elapsed() < SLOW_TEAM_FOR);
        }
        if slow_teams.len() < MAX_SLOW_TEAMS || slow_teams.contains_key(&team) {
            slow_teams.insert(team, Instant::now());
        }
    }

    fn slow_teams(&self) -> MutexGuard<'_, HashMap<TeamId, Instant>> {
        self.slow_teams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit<'_> {
    /// Runs a check. If it is slow, the permit is free before it ends; it fails if the pool of
    /// slow checks has no room for it.
    pub(crate) async fn run<T>(self, check: impl Future<Output = T>) -> Result<T> {
        let mut check = pin!(check);
        if let Ok(done) = tokio::time::timeout(SLOW_AFTER, &mut check).await {
            return Ok(done);
        }
        self.checks.set_slow(self.team);
        let place = self.checks.slow.turn(self.team).now_or_never();
        let _place = place.and_then(std::result::Result::ok).ok_or(Error::TooManyChecks)?;
        drop(self.turn);
        let done = check.await;
        self.checks.set_slow(self.team);
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn team(number: u128) -> TeamId {
        uuid::Uuid::from_u128(number).into()
    }

    #[tokio::test(start_paused = true)]
    async fn a_team_has_a_share_and_waits_for_its_own_checks_only() {
        let checks = RequestedChecks::default();
        let mut held = Vec::new();
        for _ in 0..MAX_CHECKS_PER_TEAM {
            held.push(checks.permit(team(1)).await.expect("within the share"));
        }
        assert!(matches!(checks.permit(team(1)).await, Err(Error::TooManyChecks)));
        let other = checks.permit(team(2)).await.expect("another team");
        held.pop();
        held.push(checks.permit(team(1)).await.expect("one has ended"));
        drop((held, other));
        assert!(checks.permits.is_unused(), "no team is left in memory");
    }

    #[tokio::test(start_paused = true)]
    async fn four_teams_that_take_all_they_can_leave_a_permit_for_a_fifth() {
        let checks = RequestedChecks::default();
        let mut held = Vec::new();
        for at in 0..4 * MAX_CHECKS_PER_TEAM {
            let permit = checks.permit(team((at % 4) as u128)).now_or_never();
            held.extend(permit.and_then(Result::ok));
        }
        assert!(checks.permit(team(9)).now_or_never().is_some_and(|permit| permit.is_ok()));
    }

    #[tokio::test(start_paused = true)]
    async fn more_teams_with_hanging_targets_than_places_do_not_block_others() {
        const LONGEST_TRIAL: Duration = Duration::from_secs(28);
        let checks = RequestedChecks::default();
        let hanging = (0..620).map(|number| {
            let checks = &checks;
            async move {
                loop {
                    if let Ok(permit) = checks.permit(team(number)).await {
                        let _ = permit.run(tokio::time::sleep(LONGEST_TRIAL)).await;
                    }
                }
            }
        });
        let hanging = futures_util::future::join_all(hanging);
        let other = async {
            let mut waits = Vec::new();
            for number in 0..40 {
                tokio::time::sleep(Duration::from_secs(1)).await;
                let began = Instant::now();
                let permit = checks.permit(team(1_000 + number)).await.expect("a permit");
                assert_eq!(permit.run(async { 7 }).await.expect("a result"), 7);
                waits.push(began.elapsed());
            }
            waits
        };
        let waits = tokio::select! {
            _ = hanging => panic!("they go on"),
            waits = other => waits,
        };
        // Until each of them is known for a slow check, it has one turn before another team.
        assert!(waits.iter().all(|wait| *wait < PERMIT_TIMEOUT), "{waits:?}");
        assert!(waits[20..].iter().all(|wait| *wait < Duration::from_secs(1)), "{waits:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_check_without_a_place_ends_and_leaves_its_permit() {
        let checks = RequestedChecks::default();
        let places = (0..SLOW_BOUNDS.running).map(|at| checks.slow.turn(team(1_000 + at as u128)));
        let places = futures_util::future::join_all(places).await;
        assert!(places.iter().all(std::result::Result::is_ok), "all are taken");
        let permit = checks.permit(team(1)).await.expect("a permit");
        let ended = permit.run(std::future::pending::<()>()).await;
        assert!(matches!(ended, Err(Error::TooManyChecks)));
        assert!(checks.permits.is_unused());
    }

    #[tokio::test(start_paused = true)]
    async fn many_teams_with_hanging_targets_leave_permits_for_others() {
        let checks = RequestedChecks::default();
        let hanging = (0..40).map(|number| {
            let checks = &checks;
            async move {
                let permit = checks.permit(team(number)).await.expect("a permit");
                permit.run(std::future::pending::<()>()).await.expect("a place");
            }
        });
        let hanging = futures_util::future::join_all(hanging);
        let other = async {
            tokio::time::sleep(Duration::from_secs(3)).await;
            let permit = checks.permit(team(99)).now_or_never();
            permit.expect("at once").expect("a permit").run(async { 7 }).await.expect("a result")
        };
        tokio::select! {
            _ = hanging => panic!("they hang"),
            done = other => assert_eq!(done, 7),
        }
    }
}
