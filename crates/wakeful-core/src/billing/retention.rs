//! How much history a team retains when its new plan allows less: everything
//! for another 14 days, then as much as the plan allows. A smaller plan deletes
//! nothing immediately.

use std::time::Duration;

use crate::time::Millis;

/// How long history beyond the limit of the plan is retained.
pub const REDUCTION_GRACE: Duration = Duration::from_secs(14 * 24 * 3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// The retention of a team's history, as last decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// `None`: unlimited, because no plan has limited it yet.
    pub days: Option<u32>,
    /// A smaller limit that takes effect later.
    pub pending: Option<PendingReduction>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingReduction {
    pub days: u32,
    pub at: Millis,
}

impl Retention {
    /// The retention of a plan with this many days.
    pub fn of_days(days: u32) -> Self {
        Self { days: Some(days), pending: None }
    }

    /// The retention from now on under a plan with this many days, given the
    /// oldest day of the stored history.
    pub fn next(self, plan: u32, oldest: Option<Millis>, now: Millis) -> Self {
        let reduced = Self {
            pending: Some(PendingReduction { days: plan, at: now.after(REDUCTION_GRACE) }),
            ..self
        };
        match (self.days, self.pending) {
            (Some(days), _) if plan >= days => Self::of_days(plan),
            // The team had no limit before, and has no more history than the
            // new one allows. A day is deleted by the first run after it has
            // become too old.
            (None, _) if !exceeds(plan, oldest, now.before(DAY)) => Self::of_days(plan),
            (_, None) => reduced,
            // Reduced again.
            (_, Some(pending)) if plan < pending.days => reduced,
            (_, Some(pending)) if now >= pending.at => Self::of_days(plan),
            (_, Some(pending)) => {
                Self { pending: Some(PendingReduction { days: plan, ..pending }), ..self }
            }
        }
    }
}

impl PendingReduction {
    /// Whether the pending reduction deletes anything.
    pub fn deletes_any(self, oldest: Option<Millis>) -> bool {
        exceeds(self.days, oldest, self.at)
    }
}

fn exceeds(plan: u32, oldest: Option<Millis>, at: Millis) -> bool {
    oldest.is_some_and(|oldest| oldest < at.before(DAY * plan))
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Millis = Millis(1_800_000_000_000);

    fn day(number: u32) -> Millis {
        START.after(DAY * number)
    }

    /// The retention on each of some days, given a plan for each of them and a
    /// history of unlimited age.
    fn retained(before: Retention, plans: &[(u32, u32)]) -> Vec<Option<u32>> {
        let mut retained = before;
        let on = |(at, plan): &(u32, u32)| {
            let now = day(*at);
            retained = retained.next(*plan, Some(START.before(DAY * 4_000)), now);
            retained.days
        };
        plans.iter().map(on).collect()
    }

    #[test]
    fn a_smaller_plan_takes_effect_after_14_days() {
        let days =
            retained(Retention::of_days(365), &[(0, 365), (1, 30), (8, 30), (14, 30), (15, 30)]);
        assert_eq!(days, [365, 365, 365, 365, 30].map(Some));
    }

    #[test]
    fn a_larger_plan_takes_effect_at_once_and_cancels_the_reduction() {
        let days =
            retained(Retention::of_days(365), &[(1, 30), (10, 730), (11, 30), (24, 30), (25, 30)]);
        assert_eq!(days, [365, 730, 730, 730, 30].map(Some));
    }

    #[test]
    fn each_smaller_plan_starts_14_days_of_its_own() {
        let plans = [(0, 180), (10, 30), (14, 30), (23, 30), (24, 30)];
        assert_eq!(retained(Retention::of_days(730), &plans), [730, 730, 730, 730, 30].map(Some));
        // A plan between the two neither cancels the reduction nor starts one.
        let plans = [(0, 30), (10, 180), (13, 180), (14, 180)];
        assert_eq!(retained(Retention::of_days(730), &plans), [730, 730, 730, 180].map(Some));
    }

    #[test]
    fn newly_introduced_limits_take_effect_after_14_days() {
        let days = retained(Retention::default(), &[(0, 30), (13, 30), (14, 30)]);
        assert_eq!(days, [None, None, Some(30)]);
    }

    #[test]
    fn a_team_within_new_limits_is_not_notified() {
        let young = Some(day(0).before(DAY * 30));
        for oldest in [None, young] {
            assert_eq!(Retention::default().next(30, oldest, day(0)), Retention::of_days(30));
        }
        let old = Some(day(0).before(DAY * 32));
        assert!(Retention::default().next(30, old, day(0)).pending.is_some());
    }

    #[test]
    fn a_reduction_deletes_history_that_is_too_old_by_then() {
        let pending =
            Retention::of_days(365).next(30, None, day(0)).pending.expect("a pending reduction");
        assert_eq!(pending, PendingReduction { days: 30, at: day(14) });
        assert!(!pending.deletes_any(None));
        assert!(!pending.deletes_any(Some(day(0).before(DAY * 16))));
        assert!(pending.deletes_any(Some(day(0).before(DAY * 17))));
    }
}
