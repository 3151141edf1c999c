//! Membership and payment as rules without I/O: the plans, card validation,
//! whole months, and the billing step that decides when to charge, how much,
//! and which plan is in effect. `wakeful-engine` talks to the payment
//! processor.

mod calendar;
mod card;
mod invoice_state;
mod money;
mod plan;
mod retention;
mod state;
mod step;
#[cfg(test)]
mod tests;

pub use calendar::{months_after, next_period_end};
pub use card::{Card, CardNumber, CardSource, Cvc, Expiry, luhn};
pub use invoice_state::InvoiceState;
pub use money::{CURRENCY, Money};
pub use plan::{Catalog, Limits, Plan, PlanId, Price};
pub use retention::{PendingReduction, REDUCTION_GRACE, Retention};
pub use state::{MembershipState, Period, State, Subscription, SubscriptionStatus};
pub use step::{Action, Charge, ChargeReason, EndReason, Event, Refusal, Step, step};
