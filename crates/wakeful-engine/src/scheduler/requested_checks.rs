//! Permits for on-demand checks, which do not wait behind the scheduled ones. Teams take turns,
//! and each has a share of the permits. The fewer are free, the smaller is the share, so that
//! a few teams cannot block the others. A slow check gives its permit back and continues in a
//! larger pool, so that hanging targets do not block others either.

use futures_util::FutureExt as _;
use std::pin::pin;
use std::time::Duration;
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
const SLOW_AFTER: Duration = Duration::from_secs(1);
/// How long a request waits for a permit before it is refused.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct RequestedChecks {
    permits: FairQueue<TeamId>,
    slow: FairQueue<TeamId>,
}

/// A permit for one check.
pub(crate) struct Permit<'a> {
    checks: &'a RequestedChecks,
    team: TeamId,
    turn: Turn<TeamId>,
}

impl Default for RequestedChecks {
    fn default() -> Self {
        Self { permits: FairQueue::new(BOUNDS), slow: FairQueue::new(SLOW_BOUNDS) }
    }
}

impl RequestedChecks {
    /// Waits for a permit, which is free again when it is dropped.
    pub(crate) async fn permit(&self, team: TeamId) -> Result<Permit<'_>> {
        let turn = tokio::time::timeout(PERMIT_TIMEOUT, self.permits.turn(team)).await;
        let turn = turn.ok().and_then(std::result::Result::ok).ok_or(Error::TooManyChecks)?;
        Ok(Permit { checks: self, team, turn })
    }
}

impl Permit<'_> {
    /// Runs a check. If it is slow, and the pool of slow checks has room, the permit is free
    /// before it ends.
    pub(crate) async fn run<T>(self, check: impl Future<Output = T>) -> T {
        let mut check = pin!(check);
        if let Ok(done) = tokio::time::timeout(SLOW_AFTER, &mut check).await {
            return done;
        }
        let slow = self.checks.slow.turn(self.team).now_or_never();
        let _place = slow.and_then(std::result::Result::ok).unwrap_or(self.turn);
        check.await
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
    async fn many_teams_with_hanging_targets_leave_permits_for_others() {
        let checks = RequestedChecks::default();
        let hanging = (0..40).map(|number| {
            let checks = &checks;
            async move {
                let permit = checks.permit(team(number)).await.expect("a permit");
                permit.run(std::future::pending::<()>()).await;
            }
        });
        let hanging = futures_util::future::join_all(hanging);
        let other = async {
            tokio::time::sleep(Duration::from_secs(3)).await;
            let permit = checks.permit(team(99)).now_or_never();
            permit.expect("at once").expect("a permit").run(async { 7 }).await
        };
        tokio::select! {
            _ = hanging => panic!("they hang"),
            done = other => assert_eq!(done, 7),
        }
    }
}
