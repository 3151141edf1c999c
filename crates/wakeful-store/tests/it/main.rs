//! The store through its public methods, each test on both engines. PostgreSQL
//! is the server in WAKEFUL_TEST_POSTGRES (see scripts/with-postgres).

mod bench;
mod heartbeats;
mod monitors;
mod record;
