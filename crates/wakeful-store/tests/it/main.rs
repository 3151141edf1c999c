//! Tests of the store through its public methods, on both databases, and of the
//! rules of the architecture.

mod alerts;
mod announcements;
mod architecture;
mod credentials;
mod deletion;
mod deliveries;
mod fixture;
mod fortnights;
mod heartbeats;
mod history;
mod keys;
mod maintenance_clock;
mod monitors;
mod nodes;
mod probes;
mod record;
mod schema;
mod statuspages;
mod turns;
