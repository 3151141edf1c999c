//! Permits for on-demand checks, which do not wait behind the scheduled ones. Teams take turns,
//! and each has a share of the permits. The fewer are free, the smaller is the share, so that
//! a few teams cannot block the others.

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
/// How long a request waits for a permit before it is refused.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct RequestedChecks(FairQueue<TeamId>);

impl Default for RequestedChecks {
    fn default() -> Self {
        Self(FairQueue::new(BOUNDS))
    }
}

impl RequestedChecks {
    /// Waits for a permit, which is free again when it is dropped.
    pub(crate) async fn permit(&self, team: TeamId) -> Result<Turn<TeamId>> {
        let permit = tokio::time::timeout(PERMIT_TIMEOUT, self.0.turn(team)).await;
        permit.ok().and_then(std::result::Result::ok).ok_or(Error::TooManyChecks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

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
        assert!(checks.0.is_unused(), "no team is left in memory");
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
}
