//! Memberships and payments: the operations of members and operators, and the loop that
//! renews plans. The rules are in `wakeful_core::billing`; this module calls the payment
//! processor and stores the results.

mod charging;
mod emails;
mod limits;
mod membership;
mod payment_methods;
mod renewals;
mod retention;

pub use limits::enforce_all_limits;
pub use membership::{ChosenPlan, MembershipView, PayWith, PlanQuote};
pub use renewals::{run, run_due};
pub use wakeful_core::billing::{Catalog, Limits, Plan, Price};
pub use wakeful_outbound::payment::{Decline, Processor, Sandbox, Stripe};
pub use wakeful_store::{Invoice, PaymentMethod};

use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use wakeful_core::access::TeamAccess;
use wakeful_core::id::TeamId;
use wakeful_store::TeamStore;

use crate::Engine;

/// Longer than all calls of one attempt may take.
const LEASE: Duration = Duration::from_secs(120);
/// How often a change is retried after a concurrent one.
const MAX_ATTEMPTS: u32 = 10;

impl Engine {
    /// A team's data for billing.
    #[expect(
        clippy::disallowed_methods,
        reason = "billing concerns the whole team, and mostly has no caller"
    )]
    fn billed_team(&self, team: TeamId) -> TeamStore<'_> {
        self.store().team(&TeamAccess::whole(team))
    }
}

/// The settings of billing.
#[derive(Clone)]
pub struct Settings {
    /// Whether the web app shows billing; the API works in any case.
    pub enabled: bool,
    /// Whether the limits of plans are enforced.
    pub limits: bool,
    pub catalog: Catalog,
    pub processor: Arc<dyn Processor>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: false,
            limits: false,
            catalog: Catalog::built_in(),
            processor: Arc::new(Sandbox),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("enabled", &self.enabled)
            .field("limits", &self.limits)
            .field("processor", &self.processor.name())
            .finish_non_exhaustive()
    }
}
