//! The contract over HTTP, on both databases: the tree here mirrors the paths.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

mod apikeys;
mod codes;
mod connections;
mod contact;
mod events;
mod figures;
mod hosts;
mod http2;
mod lists;
mod membership;
mod mfa;
mod monitors;
mod notifiers;
mod openapi;
mod page_session;
mod password;
mod payment_callback;
mod paymentmethods;
mod push;
mod races;
mod regions;
mod saves;
mod secrets;
mod sessions;
mod settings;
mod signup;
mod sweeps;
mod team;
mod ways;
