//! Membership and payment as rules without I/O: the plans, what a card must
//! look like, whole months, and the billing step that decides what is charged,
//! when, and which plan serves. Who asks the processor is `wakeful-engine`.

mod calendar;
mod card;
mod kept;
mod money;
mod plan;
mod state;
mod step;
#[cfg(test)]
mod tests;

pub use calendar::{month_after, next_end};
pub use card::{Card, CardNumber, Cvc, Expiry, Source, luhn};
pub use kept::{Fall, Kept, LEAVE};
pub use money::{CURRENCY, Money};
pub use plan::{Catalogue, Limits, Plan, PlanId, Price};
pub use state::{Held, Period, Standing, State};
pub use step::{Action, Charge, Event, Reason, Refusal, Step, Why, step};
