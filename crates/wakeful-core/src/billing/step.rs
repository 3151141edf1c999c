//! The billing step: state, event and now give the new state and what is to be
//! done. A charge is decided here, made elsewhere, and comes back as `Paid` or
//! `Declined`; until then nothing has changed.

use serde::{Deserialize, Serialize};

use super::calendar::{month_after, next_end};
use super::money::Money;
use super::plan::{Plan, PlanId, Price};
use super::state::{Held, Period, Standing, State};
use crate::number;
use crate::time::Millis;

/// Processors refuse less than this; it is let go.
const LEAST: Money = Money::cents(50);

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A member chose a plan, and a method to pay it with.
    Choose(&'a Plan),
    /// A member gave the plan up.
    Stop,
    /// An administrator set the plan.
    Grant(&'a Plan),
    /// The moment of `State::due` has come. The method may have been deleted,
    /// and the plan may not be sold any more.
    Due {
        method: bool,
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

/// What is to be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Ask the processor for money.
    Charge(Charge),
    /// Write the paid invoice and say thanks.
    Receipt(Charge),
    /// Write the open invoice and ask for another card.
    Remind { charge: Charge, next_try: Millis },
    /// Tell that the plan is None now.
    Ended { plan: PlanId, why: Why },
    /// Give the money back: what it paid for is no longer wanted.
    Refund,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    Stopped,
    Unpaid,
    MethodDeleted,
    NotSold,
    Administrator,
}

/// One period of one plan, and what it costs now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    pub reason: Reason,
    pub plan: PlanId,
    pub period: Period,
    #[serde(with = "number::instant")]
    pub anchor: Millis,
    pub price: Money,
    /// What is left of the plan that was held, counted into the credit.
    pub unused: Money,
    pub credit_used: Money,
    pub credit_left: Money,
    /// What the processor is asked for.
    pub amount: Money,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    First,
    Renewal,
    /// Of the plan, within a period.
    Change,
}

/// Why nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the team has no plan")]
    NothingHeld,
    #[error("the plan is set by an administrator")]
    Administered,
    #[error("the plan None is reached by stopping")]
    NotForSale,
}

pub fn step(state: &State, event: Event<'_>, now: Millis) -> Result<Step, Refusal> {
    match event {
        Event::Choose(plan) => choose(state, plan, now),
        Event::Stop => stop(state, now),
        Event::Grant(plan) => Ok(grant(state, plan, now)),
        Event::Due { method, price } => Ok(due(state, method, price, now)),
        Event::Paid(charge) => Ok(paid(state, charge)),
        Event::Declined(charge) => Ok(declined(state, charge, now)),
    }
}

fn choose(state: &State, plan: &Plan, now: Millis) -> Result<Step, Refusal> {
    let price = match plan.price {
        Price::Monthly(price) => price,
        Price::Free => return Err(Refusal::NotForSale),
        Price::Contract => return Err(Refusal::Administered),
    };
    let fresh = Begin { reason: Reason::First, from: now, anchor: now, unused: Money::ZERO };
    let Some(held) = &state.held else { return Ok(charge(state, &plan.id, price, &fresh)) };
    let same = held.plan == plan.id;
    match held.standing {
        Standing::Administered => Err(Refusal::Administered),
        Standing::Cancelled if !held.is_paid(now) => Ok(charge(state, &plan.id, price, &fresh)),
        Standing::Cancelled if same => Ok(standing(state, Standing::Active)),
        Standing::Active if same => Ok(unchanged(state)),
        Standing::PastDue { .. } if same => Ok(charge(state, &plan.id, price, &renewal(held, now))),
        _ => Ok(charge(state, &plan.id, price, &change(held, now))),
    }
}

fn stop(state: &State, now: Millis) -> Result<Step, Refusal> {
    let held = state.held.as_ref().ok_or(Refusal::NothingHeld)?;
    match held.standing {
        Standing::Administered => Err(Refusal::Administered),
        _ if held.is_paid(now) => Ok(standing(state, Standing::Cancelled)),
        _ => Ok(ended(state, held, Why::Stopped)),
    }
}

fn grant(state: &State, plan: &Plan, now: Millis) -> Step {
    let unused = state.held.as_ref().map_or(Money::ZERO, |held| held.unused(now));
    let credited = State { credit: state.credit.plus(unused), ..state.clone() };
    if plan.price == Price::Free {
        return match &credited.held {
            Some(held) => ended(&credited, held, Why::Administrator),
            None => unchanged(state),
        };
    }
    let held = Held {
        plan: plan.id.clone(),
        standing: Standing::Administered,
        period: Period { from: now, until: now },
        anchor: now,
        price: Money::ZERO,
    };
    Step { state: State { held: Some(held), ..credited }, action: None }
}

fn due(state: &State, method: bool, price: Option<Money>, now: Millis) -> Step {
    let Some(held) = &state.held else { return unchanged(state) };
    if held.due().is_none_or(|at| at > now) {
        return unchanged(state);
    }
    match (held.standing, price) {
        (Standing::Cancelled, _) => ended(state, held, Why::Stopped),
        _ if !method => ended(state, held, Why::MethodDeleted),
        (_, None) => ended(state, held, Why::NotSold),
        (_, Some(price)) => charge(state, &held.plan, price, &renewal(held, now)),
    }
}

fn paid(state: &State, charge: &Charge) -> Step {
    let refund = || Step { state: state.clone(), action: Some(Action::Refund) };
    let standing = match (&state.held, charge.reason) {
        // Told twice.
        (Some(held), _) if held.plan == charge.plan && held.period == charge.period => {
            return unchanged(state);
        }
        (Some(held), _) if held.standing == Standing::Administered => return refund(),
        // The time is paid for already.
        (Some(held), Reason::First | Reason::Renewal) if charge.period.from < held.period.until => {
            return refund();
        }
        (None, Reason::Renewal | Reason::Change) => return refund(),
        // Stopped while the renewal was under way: what is paid for serves.
        (Some(held), Reason::Renewal) if held.standing == Standing::Cancelled => {
            Standing::Cancelled
        }
        (Some(held), _) if charge.period.from < held.period.from => return refund(),
        _ => Standing::Active,
    };
    let held = Held {
        plan: charge.plan.clone(),
        standing,
        period: charge.period,
        anchor: charge.anchor,
        price: charge.price,
    };
    Step {
        state: State { credit: charge.credit_left, held: Some(held) },
        action: Some(Action::Receipt(charge.clone())),
    }
}

fn declined(state: &State, charge: &Charge, now: Millis) -> Step {
    let renews = |held: &&Held| charge.reason == Reason::Renewal && charge.plan == held.plan;
    let Some(held) = state.held.as_ref().filter(renews) else { return unchanged(state) };
    match (held.standing, held.past_due(now)) {
        (Standing::Administered, _) => unchanged(state),
        (Standing::Cancelled, _) => ended(state, held, Why::Stopped),
        (_, None) => ended(state, held, Why::Unpaid),
        (_, Some((past_due, next_try))) => Step {
            action: Some(Action::Remind { charge: charge.clone(), next_try }),
            ..standing(state, past_due)
        },
    }
}

/// Where a charged period begins, and what speaks for a lower amount.
struct Begin {
    reason: Reason,
    from: Millis,
    anchor: Millis,
    unused: Money,
}

fn renewal(held: &Held, now: Millis) -> Begin {
    let (from, anchor) = held.begins(now);
    Begin { reason: Reason::Renewal, from, anchor, unused: Money::ZERO }
}

/// A change of plan begins a period of the new plan, now. Days that were served
/// unpaid belong to it, so that changing the plan does not make them free.
fn change(held: &Held, now: Millis) -> Begin {
    let from = if held.is_paid(now) { now } else { held.begins(now).0 };
    Begin { reason: Reason::Change, from, anchor: from, unused: held.unused(now) }
}

fn charge(state: &State, plan: &PlanId, price: Money, begin: &Begin) -> Step {
    let Begin { reason, from, anchor, unused } = *begin;
    let until = match reason {
        Reason::Renewal => next_end(anchor, from),
        Reason::First | Reason::Change => month_after(anchor, 1),
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
        amount: if owed < LEAST { Money::ZERO } else { owed },
    };
    Step { state: state.clone(), action: Some(Action::Charge(charge)) }
}

fn standing(state: &State, standing: Standing) -> Step {
    let held = state.held.clone().map(|held| Held { standing, ..held });
    Step { state: State { held, ..state.clone() }, action: None }
}

fn ended(state: &State, held: &Held, why: Why) -> Step {
    let action = Some(Action::Ended { plan: held.plan.clone(), why });
    Step { state: State { held: None, ..state.clone() }, action }
}

fn unchanged(state: &State) -> Step {
    Step { state: state.clone(), action: None }
}
