//! Membership and payment: what members and administrators do, and the loop
//! that renews. What is decided is in `wakeful_core::billing`; here the
//! processor is asked and what came of it is kept.

mod charging;
mod history;
mod limits;
mod membership;
mod methods;
mod renewals;
mod words;

pub use limits::watch;
pub use membership::{Chosen, MembershipView, PayWith};
pub use renewals::{round, run};
pub use wakeful_core::billing::{Catalogue, Limits, Plan, Price};
pub use wakeful_outbound::payment::{Decline, Processor, Sandbox, Stripe};
pub use wakeful_store::{Invoice, Method};

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Longer than all calls of one try may take.
const LEASE: Duration = Duration::from_secs(120);
/// How often a change is decided again when others change the same.
const ROUNDS: u32 = 10;

/// What an operator may choose about billing.
#[derive(Clone)]
pub struct Settings {
    /// Whether the page shows it; the API works in any case.
    pub enabled: bool,
    /// Whether the limits of plans are enforced.
    pub limits: bool,
    pub catalogue: Catalogue,
    pub processor: Arc<dyn Processor>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: false,
            limits: false,
            catalogue: Catalogue::built_in(),
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
