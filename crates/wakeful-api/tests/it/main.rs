//! The contract over HTTP, on both databases: the tree here mirrors the paths.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

mod monitors;
mod page_session;
mod sessions;
