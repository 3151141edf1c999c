//! Tests of the engine's operations and loops, over real sockets.

mod billing;
#[expect(clippy::unwrap_used, reason = "tests fail loudly")]
mod cluster;
mod connectivity;
mod delivery;
mod delivery_fixture;
mod dependencies;
mod email_delivery;
mod fixture;
mod maintenance;
mod monitors;
#[expect(clippy::unwrap_used, reason = "tests fail loudly")]
mod nats;
mod regions;
mod reminders;
mod scheduler;
mod service_delivery;
mod store_outage;
