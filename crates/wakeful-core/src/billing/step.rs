//! The billing step: state, event and time give the new state and the action to
//! take. A charge is decided here, made elsewhere, and its outcome returns as
//! `Paid` or `Declined`; until then nothing has changed.

use serde::{Deserialize, Serialize};

use super::calendar::{months_after, next_period_end};
use super::money::Money;
use super::plan::{Plan, PlanId, Price};
use super::state::{Period, State, Subscription, SubscriptionStatus};
use crate::serde_millis;
use crate::time::Millis;

/// Processors reject smaller charges; such amounts are waived.
const MIN_CHARGE: Money = Money::cents(50);

#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A member chose a plan and a payment method.
    Choose(&'a Plan),
    /// A member canceled the plan.
    Cancel,
    /// The operator set the plan.
    Grant(&'a Plan),
    /// The moment of `State::due` has come. The payment method may have been
    /// deleted, and the plan may no longer be offered.
    Due {
        has_payment_method: bool,
        price: Option<Money>,
    },
    Paid(&'a Charge),
    /// A scheduled charge was declined.
    Declined(&'a Charge),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub state: State,
    pub action: Option<Action>,
}

/// The action to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Charge the payment method.
    Charge(Charge),
    /// Create the paid invoice and send the receipt.
    Receipt(Charge),
    /// Create the open invoice and ask for another card.
    Remind { charge: Charge, next_try: Millis },
    /// Notify the team that it no longer has a plan.
    Ended { plan: PlanId, why: EndReason },
    /// Refund the payment: the plan it was for has been canceled.
    Refund,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    Canceled,
    Unpaid,
    MethodDeleted,
    NotSold,
    Operator,
}

/// One period of one plan, and its price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    pub reason: ChargeReason,
    pub plan: PlanId,
    pub period: Period,
    #[serde(with = "serde_millis::instant")]
    pub anchor: Millis,
    pub price: Money,
    /// The value of the unused part of the previous plan, added to the credit.
    pub unused: Money,
    pub credit_used: Money,
    pub credit_left: Money,
    /// The amount that the processor charges.
    pub amount: Money,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChargeReason {
    First,
    Renewal,
    /// A change of plan within a period.
    Change,
}

/// Why an event had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the team has no plan")]
    NoPlan,
    #[error("the plan is set by the operator")]
    SetByOperator,
    #[error("the plan None cannot be purchased; cancel the current plan instead")]
    NotForSale,
}

pub fn step(state: &State, event: Event<'_>, now: Millis) -> Result<Step, Refusal> {
    match event {
        Event::Choose(plan) => choose(state, plan, now),
        Event::Cancel => cancel(state, now),
        Event::Grant(plan) => Ok(grant(state, plan, now)),
        Event::Due { has_payment_method, price } => Ok(due(state, has_payment_method, price, now)),
        Event::Paid(charge) => Ok(paid(state, charge)),
        Event::Declined(charge) => Ok(declined(state, charge, now)),
    }
}

fn choose(state: &State, plan: &Plan, now: Millis) -> Result<Step, Refusal> {
    let price = match plan.price {
        Price::Monthly(price) => price,
        Price::Free => return Err(Refusal::NotForSale),
        Price::Contract => return Err(Refusal::SetByOperator),
    };
    let fresh =
        PeriodStart { reason: ChargeReason::First, from: now, anchor: now, unused: Money::ZERO };
    let Some(subscription) = &state.subscription else {
        return Ok(charge(state, &plan.id, price, &fresh));
    };
    let same = subscription.plan == plan.id;
    match subscription.status {
        SubscriptionStatus::SetByOperator => Err(Refusal::SetByOperator),
        SubscriptionStatus::Canceled if !subscription.is_paid(now) => {
            Ok(charge(state, &plan.id, price, &fresh))
        }
        SubscriptionStatus::Canceled if same => Ok(with_status(state, SubscriptionStatus::Active)),
        SubscriptionStatus::Active if same => Ok(unchanged(state)),
        SubscriptionStatus::PastDue { .. } if same => {
            Ok(charge(state, &plan.id, price, &renewal(subscription, now)))
        }
        _ => Ok(charge(state, &plan.id, price, &change(subscription, now))),
    }
}

fn cancel(state: &State, now: Millis) -> Result<Step, Refusal> {
    let subscription = state.subscription.as_ref().ok_or(Refusal::NoPlan)?;
    match subscription.status {
        SubscriptionStatus::SetByOperator => Err(Refusal::SetByOperator),
        _ if subscription.is_paid(now) => Ok(with_status(state, SubscriptionStatus::Canceled)),
        _ => Ok(ended(state, subscription, EndReason::Canceled)),
    }
}

fn grant(state: &State, plan: &Plan, now: Millis) -> Step {
    let unused =
        state.subscription.as_ref().map_or(Money::ZERO, |subscription| subscription.unused(now));
    let credited = State { credit: state.credit.plus(unused), ..state.clone() };
    if plan.price == Price::Free {
        return match &credited.subscription {
            Some(subscription) => ended(&credited, subscription, EndReason::Operator),
            None => unchanged(state),
        };
    }
    let subscription = Subscription {
        plan: plan.id.clone(),
        status: SubscriptionStatus::SetByOperator,
        period: Period { from: now, until: now },
        anchor: now,
        price: Money::ZERO,
    };
    Step { state: State { subscription: Some(subscription), ..credited }, action: None }
}

fn due(state: &State, has_payment_method: bool, price: Option<Money>, now: Millis) -> Step {
    let Some(subscription) = &state.subscription else { return unchanged(state) };
    if subscription.due().is_none_or(|at| at > now) {
        return unchanged(state);
    }
    match (subscription.status, price) {
        (SubscriptionStatus::Canceled, _) => ended(state, subscription, EndReason::Canceled),
        _ if !has_payment_method => ended(state, subscription, EndReason::MethodDeleted),
        (_, None) => ended(state, subscription, EndReason::NotSold),
        (_, Some(price)) => charge(state, &subscription.plan, price, &renewal(subscription, now)),
    }
}

fn paid(state: &State, charge: &Charge) -> Step {
    let refund = || Step { state: state.clone(), action: Some(Action::Refund) };
    let status = match (&state.subscription, charge.reason) {
        // Reported twice.
        (Some(subscription), _)
            if subscription.plan == charge.plan && subscription.period == charge.period =>
        {
            return unchanged(state);
        }
        (Some(subscription), _) if subscription.status == SubscriptionStatus::SetByOperator => {
            return refund();
        }
        // The period has already been paid.
        (Some(subscription), ChargeReason::First | ChargeReason::Renewal)
            if charge.period.from < subscription.period.until =>
        {
            return refund();
        }
        (None, ChargeReason::Renewal | ChargeReason::Change) => return refund(),
        // Canceled while the renewal was in progress: the paid period stays in
        // effect.
        (Some(subscription), ChargeReason::Renewal)
            if subscription.status == SubscriptionStatus::Canceled =>
        {
            SubscriptionStatus::Canceled
        }
        (Some(subscription), _) if charge.period.from < subscription.period.from => {
            return refund();
        }
        _ => SubscriptionStatus::Active,
    };
    let subscription = Subscription {
        plan: charge.plan.clone(),
        status,
        period: charge.period,
        anchor: charge.anchor,
        price: charge.price,
    };
    Step {
        state: State { credit: charge.credit_left, subscription: Some(subscription) },
        action: Some(Action::Receipt(charge.clone())),
    }
}

fn declined(state: &State, charge: &Charge, now: Millis) -> Step {
    let renews = |subscription: &&Subscription| {
        charge.reason == ChargeReason::Renewal && charge.plan == subscription.plan
    };
    let Some(subscription) = state.subscription.as_ref().filter(renews) else {
        return unchanged(state);
    };
    match (subscription.status, subscription.past_due(now)) {
        (SubscriptionStatus::SetByOperator, _) => unchanged(state),
        (SubscriptionStatus::Canceled, _) => ended(state, subscription, EndReason::Canceled),
        (_, None) => ended(state, subscription, EndReason::Unpaid),
        (_, Some((past_due, next_try))) => Step {
            action: Some(Action::Remind { charge: charge.clone(), next_try }),
            ..with_status(state, past_due)
        },
    }
}

/// The start of a charged period, and the value to deduct.
struct PeriodStart {
    reason: ChargeReason,
    from: Millis,
    anchor: Millis,
    unused: Money,
}

fn renewal(subscription: &Subscription, now: Millis) -> PeriodStart {
    let (from, anchor) = subscription.next_period_start(now);
    PeriodStart { reason: ChargeReason::Renewal, from, anchor, unused: Money::ZERO }
}

/// A change of plan starts a period of the new plan now. Unpaid days in effect
/// belong to it, so that changing the plan does not make them free.
fn change(subscription: &Subscription, now: Millis) -> PeriodStart {
    let from = if subscription.is_paid(now) { now } else { subscription.next_period_start(now).0 };
    PeriodStart {
        reason: ChargeReason::Change,
        from,
        anchor: from,
        unused: subscription.unused(now),
    }
}

fn charge(state: &State, plan: &PlanId, price: Money, begin: &PeriodStart) -> Step {
    let PeriodStart { reason, from, anchor, unused } = *begin;
    let until = match reason {
        ChargeReason::Renewal => next_period_end(anchor, from),
        ChargeReason::First | ChargeReason::Change => months_after(anchor, 1),
    };
    let credit = state.credit.plus(unused);
    let credit_used = credit.min(price);
    let owed = price.less(credit_used);
    let charge = Charge {
        reason,
        plan: plan.clone(),
        period: Period { from, until },
        anchor,
        price,
        unused,
        credit_used,
        credit_left: credit.less(credit_used),
        amount: if owed < MIN_CHARGE { Money::ZERO } else { owed },
    };
    Step { state: state.clone(), action: Some(Action::Charge(charge)) }
}

fn with_status(state: &State, status: SubscriptionStatus) -> Step {
    let subscription =
        state.subscription.clone().map(|subscription| Subscription { status, ..subscription });
    Step { state: State { subscription, ..state.clone() }, action: None }
}

fn ended(state: &State, subscription: &Subscription, why: EndReason) -> Step {
    let action = Some(Action::Ended { plan: subscription.plan.clone(), why });
    Step { state: State { subscription: None, ..state.clone() }, action }
}

fn unchanged(state: &State) -> Step {
    Step { state: state.clone(), action: None }
}
