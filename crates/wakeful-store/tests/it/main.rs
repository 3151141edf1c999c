//! The store through its public methods, each test on both engines, and the
//! walls of the house around it.

mod bench;
mod credentials;
mod deliveries;
mod fortnights;
mod heartbeats;
mod history;
mod house;
mod keys;
mod monitors;
mod nodes;
mod probes;
mod record;
mod schema;
