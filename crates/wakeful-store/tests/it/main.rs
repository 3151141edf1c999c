//! The store through its public methods, each test on both engines.

mod bench;
mod heartbeats;
mod monitors;
mod record;
