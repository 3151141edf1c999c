//! How much of its history a team keeps when its plan allows less than before:
//! for 14 days all that it had, and only then what the plan says. A smaller
//! plan takes nothing away at once.

use std::time::Duration;

use crate::time::Millis;

/// How long what a plan does not allow stays.
pub const LEAVE: Duration = Duration::from_secs(14 * 24 * 3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// What is kept of a team's history, as it was decided last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Nothing: all of it, because no plan has limited it yet.
    pub days: Option<u32>,
    /// A smaller plan that counts from some moment on.
    pub fall: Option<Fall>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fall {
    pub days: u32,
    pub at: Millis,
}

impl Kept {
    /// What a plan of so many days comes to.
    pub fn by(days: u32) -> Self {
        Self { days: Some(days), fall: None }
    }

    /// What is kept from now on by a plan of so many days, given the oldest day
    /// that there is.
    pub fn next(self, plan: u32, oldest: Option<Millis>, now: Millis) -> Self {
        let told = Self { fall: Some(Fall { days: plan, at: now.after(LEAVE) }), ..self };
        match (self.days, self.fall) {
            (Some(days), _) if plan >= days => Self::by(plan),
            // Limits are new to this team, and it has no more than they allow. A
            // day goes with the first round after it is too old.
            (None, _) if !goes(plan, oldest, now.before(DAY)) => Self::by(plan),
            (_, None) => told,
            // Smaller once more.
            (_, Some(fall)) if plan < fall.days => told,
            (_, Some(fall)) if now >= fall.at => Self::by(plan),
            (_, Some(fall)) => Self { fall: Some(Fall { days: plan, ..fall }), ..self },
        }
    }
}

impl Fall {
    /// Whether there is anything that goes then.
    pub fn takes(self, oldest: Option<Millis>) -> bool {
        goes(self.days, oldest, self.at)
    }
}

fn goes(plan: u32, oldest: Option<Millis>, at: Millis) -> bool {
    oldest.is_some_and(|oldest| oldest < at.before(DAY * plan))
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Millis = Millis(1_800_000_000_000);

    fn day(number: u32) -> Millis {
        START.after(DAY * number)
    }

    /// What is kept on each of some days, for a plan on each of them and a
    /// history that is as old as can be.
    fn kept(before: Kept, plans: &[(u32, u32)]) -> Vec<Option<u32>> {
        let mut kept = before;
        let on = |(at, plan): &(u32, u32)| {
            let now = day(*at);
            kept = kept.next(*plan, Some(START.before(DAY * 4_000)), now);
            kept.days
        };
        plans.iter().map(on).collect()
    }

    #[test]
    fn a_smaller_plan_counts_after_14_days() {
        let days = kept(Kept::by(365), &[(0, 365), (1, 30), (8, 30), (14, 30), (15, 30)]);
        assert_eq!(days, [365, 365, 365, 365, 30].map(Some));
    }

    #[test]
    fn a_larger_plan_counts_at_once_and_ends_the_fall() {
        let days = kept(Kept::by(365), &[(1, 30), (10, 730), (11, 30), (24, 30), (25, 30)]);
        assert_eq!(days, [365, 730, 730, 730, 30].map(Some));
    }

    #[test]
    fn each_smaller_plan_has_14_days_of_its_own() {
        let plans = [(0, 180), (10, 30), (14, 30), (23, 30), (24, 30)];
        assert_eq!(kept(Kept::by(730), &plans), [730, 730, 730, 730, 30].map(Some));
        // One between the two takes nothing back and adds nothing.
        let plans = [(0, 30), (10, 180), (13, 180), (14, 180)];
        assert_eq!(kept(Kept::by(730), &plans), [730, 730, 730, 180].map(Some));
    }

    #[test]
    fn limits_that_are_new_leave_14_days_as_well() {
        let days = kept(Kept::default(), &[(0, 30), (13, 30), (14, 30)]);
        assert_eq!(days, [None, None, Some(30)]);
    }

    #[test]
    fn who_has_no_more_than_new_limits_allow_is_told_nothing() {
        let young = Some(day(0).before(DAY * 30));
        for oldest in [None, young] {
            assert_eq!(Kept::default().next(30, oldest, day(0)), Kept::by(30));
        }
        let old = Some(day(0).before(DAY * 32));
        assert!(Kept::default().next(30, old, day(0)).fall.is_some());
    }

    #[test]
    fn a_fall_takes_what_is_too_old_by_then() {
        let fall = Kept::by(365).next(30, None, day(0)).fall.expect("a fall");
        assert_eq!(fall, Fall { days: 30, at: day(14) });
        assert!(!fall.takes(None));
        assert!(!fall.takes(Some(day(0).before(DAY * 16))));
        assert!(fall.takes(Some(day(0).before(DAY * 17))));
    }
}
