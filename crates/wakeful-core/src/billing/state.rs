//! The billing state of a team: its plan, the paid period and its credit.
//! Stored as JSON in the team's row.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::money::Money;
use super::plan::PlanId;
use crate::named_enum;
use crate::serde_millis;
use crate::time::Millis;

const DAY: Duration = Duration::from_secs(24 * 3600);
/// When a declined payment is retried, counted from the first decline.
const RETRY_DAYS: [u32; 3] = [1, 3, 5];
/// How long a plan stays in effect unpaid: until the last retry, and as long
/// before the first attempt when that is late.
const GRACE_PERIOD: Duration = Duration::from_secs(5 * 24 * 3600);
/// If a payment is attempted later than this, the service itself was down: the
/// new period begins at the attempt, and the time in between is not charged.
const MAX_CHARGE_DELAY: Duration = Duration::from_secs(7 * 24 * 3600);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Left over from earlier changes of plan; it reduces the next charges.
    pub credit: Money,
    /// `None`: the plan None.
    #[serde(rename = "held")]
    pub subscription: Option<Subscription>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    pub plan: PlanId,
    #[serde(rename = "standing")]
    pub status: SubscriptionStatus,
    /// The paid period; when past due, the last paid one.
    pub period: Period,
    /// Each period ends on the anchor's day of the month.
    #[serde(with = "serde_millis::instant")]
    pub anchor: Millis,
    /// The price of the paid period.
    pub price: Money,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubscriptionStatus {
    Active,
    /// In effect until the paid period ends.
    #[serde(rename = "cancelled")]
    Canceled,
    /// A scheduled payment was declined.
    PastDue {
        #[serde(with = "serde_millis::instant")]
        next_try: Millis,
        /// The first decline; missing in rows of older versions, which counted
        /// from the end of the paid period.
        #[serde(default, with = "serde_millis::maybe_instant")]
        since: Option<Millis>,
    },
    /// Never charged, and only the operator can end it.
    #[serde(rename = "administered")]
    SetByOperator,
}

named_enum! {
    /// The state of a team's plan, for people.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MembershipState {
        None = "none",
        Active = "active",
        Canceled = "cancelled",
        PastDue = "past_due",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    #[serde(with = "serde_millis::instant")]
    pub from: Millis,
    #[serde(with = "serde_millis::instant")]
    pub until: Millis,
}

impl Period {
    pub fn length(&self) -> Duration {
        self.until.since(self.from)
    }
}

impl State {
    /// The next moment at which an action is due, if any.
    pub fn due(&self) -> Option<Millis> {
        self.subscription.as_ref().and_then(Subscription::due)
    }

    /// The plan in effect; `None` is the plan None.
    pub fn serving(&self, now: Millis) -> Option<&PlanId> {
        self.subscription
            .as_ref()
            .filter(|subscription| subscription.is_in_effect(now))
            .map(|subscription| &subscription.plan)
    }

    /// The state as shown by the API.
    pub fn membership_state(&self) -> MembershipState {
        match self.subscription.as_ref().map(|subscription| subscription.status) {
            None => MembershipState::None,
            Some(SubscriptionStatus::Active | SubscriptionStatus::SetByOperator) => {
                MembershipState::Active
            }
            Some(SubscriptionStatus::Canceled) => MembershipState::Canceled,
            Some(SubscriptionStatus::PastDue { .. }) => MembershipState::PastDue,
        }
    }
}

impl Subscription {
    pub(super) fn due(&self) -> Option<Millis> {
        match self.status {
            SubscriptionStatus::Active | SubscriptionStatus::Canceled => Some(self.period.until),
            SubscriptionStatus::PastDue { next_try, .. } => Some(next_try),
            SubscriptionStatus::SetByOperator => None,
        }
    }

    fn is_in_effect(&self, now: Millis) -> bool {
        match self.status {
            SubscriptionStatus::SetByOperator => true,
            SubscriptionStatus::Canceled => now < self.period.until,
            SubscriptionStatus::Active | SubscriptionStatus::PastDue { .. } => {
                now < self.declined().unwrap_or(self.period.until).after(GRACE_PERIOD)
            }
        }
    }

    /// When the payment that is past due was first declined.
    fn declined(&self) -> Option<Millis> {
        match self.status {
            SubscriptionStatus::PastDue { since, .. } => Some(since.unwrap_or(self.period.until)),
            _ => None,
        }
    }

    pub(super) fn is_paid(&self, now: Millis) -> bool {
        now < self.period.until
    }

    /// The value of the rest of the paid period.
    pub(super) fn unused(&self, now: Millis) -> Money {
        if matches!(self.status, SubscriptionStatus::SetByOperator) {
            return Money::ZERO;
        }
        self.price.share(self.period.until.since(now), self.period.length())
    }

    /// The start of the unpaid period that is charged now, and its anchor: the
    /// end of the paid period, unless the service was down for long.
    pub(super) fn next_period_start(&self, now: Millis) -> (Millis, Millis) {
        let late = |tried: Millis, due: Millis| tried.since(due) > MAX_CHARGE_DELAY;
        if self.due().is_some_and(|due| late(now, due)) {
            return (now, now);
        }
        match self.declined() {
            // The plan was in effect since the first decline, so these days are
            // charged.
            Some(first) if late(first, self.period.until) => (first, first),
            _ => (self.period.until, self.anchor),
        }
    }

    /// The status after another decline; `None` when that was the last retry.
    pub(super) fn past_due(&self, now: Millis) -> Option<(SubscriptionStatus, Millis)> {
        let first = self.declined().unwrap_or(now);
        let tries = RETRY_DAYS.iter().map(|days| first.after(DAY * *days));
        let next_try = tries.into_iter().find(|at| *at > now)?;
        Some((SubscriptionStatus::PastDue { next_try, since: Some(first) }, next_try))
    }
}
