//! Where a team stands: the plan it holds, what is paid, and what it has to
//! its credit. Kept as JSON in its row.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::money::Money;
use super::plan::PlanId;
use crate::number;
use crate::time::Millis;

const DAY: Duration = Duration::from_secs(24 * 3600);
/// When a declined payment is tried again, counted from the first decline.
const RETRIES: [u32; 3] = [1, 3, 5];
/// How long a plan serves unpaid: until the last retry, and as long before the
/// first try when that is late.
const GRACE: Duration = Duration::from_secs(5 * 24 * 3600);
/// A payment that is tried later than this was kept waiting by our own long
/// silence: the new period begins then, and nobody pays for the time between.
const SILENCE: Duration = Duration::from_secs(7 * 24 * 3600);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// What earlier changes of plan left over; the next charges are less by it.
    pub credit: Money,
    /// Nothing: the plan None.
    pub held: Option<Held>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    pub plan: PlanId,
    pub standing: Standing,
    /// The paid one; when past due, the last paid one.
    pub period: Period,
    /// Whose day of the month each period ends on.
    #[serde(with = "number::instant")]
    pub anchor: Millis,
    /// What the paid period is worth.
    pub price: Money,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    Active,
    /// Serves until the paid period ends.
    Cancelled,
    /// A scheduled payment was declined.
    PastDue {
        #[serde(with = "number::instant")]
        next_try: Millis,
        /// The first decline; nothing in rows of older versions, which counted
        /// from the end of the paid period.
        #[serde(default, with = "number::maybe_instant")]
        since: Option<Millis>,
    },
    /// Set by an administrator: never charged, and ended by them only.
    Administered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    #[serde(with = "number::instant")]
    pub from: Millis,
    #[serde(with = "number::instant")]
    pub until: Millis,
}

impl Period {
    pub fn length(&self) -> Duration {
        self.until.since(self.from)
    }
}

impl State {
    /// The next moment at which something is to be done, if any.
    pub fn due(&self) -> Option<Millis> {
        self.held.as_ref().and_then(Held::due)
    }

    /// The plan that serves now; nothing is the plan None.
    pub fn serving(&self, now: Millis) -> Option<&PlanId> {
        self.held.as_ref().filter(|held| held.serves(now)).map(|held| &held.plan)
    }

    /// The word that the API shows.
    pub fn word(&self) -> &'static str {
        match self.held.as_ref().map(|held| held.standing) {
            None => "none",
            Some(Standing::Active | Standing::Administered) => "active",
            Some(Standing::Cancelled) => "cancelled",
            Some(Standing::PastDue { .. }) => "past_due",
        }
    }
}

impl Held {
    pub(super) fn due(&self) -> Option<Millis> {
        match self.standing {
            Standing::Active | Standing::Cancelled => Some(self.period.until),
            Standing::PastDue { next_try, .. } => Some(next_try),
            Standing::Administered => None,
        }
    }

    fn serves(&self, now: Millis) -> bool {
        match self.standing {
            Standing::Administered => true,
            Standing::Cancelled => now < self.period.until,
            Standing::Active | Standing::PastDue { .. } => {
                now < self.declined().unwrap_or(self.period.until).after(GRACE)
            }
        }
    }

    /// When the payment that is past due was first declined.
    fn declined(&self) -> Option<Millis> {
        match self.standing {
            Standing::PastDue { since, .. } => Some(since.unwrap_or(self.period.until)),
            _ => None,
        }
    }

    pub(super) fn is_paid(&self, now: Millis) -> bool {
        now < self.period.until
    }

    /// What the rest of the paid period is worth.
    pub(super) fn unused(&self, now: Millis) -> Money {
        if matches!(self.standing, Standing::Administered) {
            return Money::ZERO;
        }
        self.price.share(self.period.until.since(now), self.period.length())
    }

    /// Where the unpaid period begins that is charged now, and its anchor: at the
    /// end of the paid one, unless we were silent for long.
    pub(super) fn begins(&self, now: Millis) -> (Millis, Millis) {
        let late = |tried: Millis, due: Millis| tried.since(due) > SILENCE;
        if self.due().is_some_and(|due| late(now, due)) {
            return (now, now);
        }
        match self.declined() {
            // The days since the first decline are served, and so they are paid.
            Some(first) if late(first, self.period.until) => (first, first),
            _ => (self.period.until, self.anchor),
        }
    }

    /// What a decline now makes of it; nothing when that was the last try.
    pub(super) fn past_due(&self, now: Millis) -> Option<(Standing, Millis)> {
        let first = self.declined().unwrap_or(now);
        let tries = RETRIES.iter().map(|days| first.after(DAY * *days));
        let next_try = tries.into_iter().find(|at| *at > now)?;
        Some((Standing::PastDue { next_try, since: Some(first) }, next_try))
    }
}
