//! The contract over HTTP, on both databases: the tree here mirrors the paths.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

mod monitors;
mod notifiers;
mod sessions;
