//! The engine through its operations and its loops, over real sockets.

mod bench;
mod billing;
#[expect(clippy::unwrap_used, reason = "a helper of a test fails loudly")]
mod cluster;
mod deliver;
mod mail;
mod monitors;
#[expect(clippy::unwrap_used, reason = "a helper of a test fails loudly")]
mod nats;
mod network;
mod places;
mod reminders;
mod trouble;
mod watch;
