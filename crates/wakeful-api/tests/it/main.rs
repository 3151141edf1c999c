//! The contract over HTTP, on both databases: the tree here mirrors the paths.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

mod membership;
mod monitors;
mod payment_callback;
mod paymentmethods;
mod sessions;
