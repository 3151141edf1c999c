//! Tests of the HTTP API on both databases. The files follow the paths of the API.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

mod account_notifier;
mod alerts;
mod api_keys;
mod audit;
mod audit_streams;
mod concurrent_saves;
mod connections;
mod contact;
mod conventions;
mod email_verification;
mod error_codes;
mod events;
mod every_route;
mod fixed_limits;
mod hosts;
mod http2;
mod invitations;
mod lists;
mod maintenances;
mod membership;
mod mfa;
mod monitor_filters;
mod monitors;
mod monitors_bulk;
mod notifiers;
mod openapi;
mod page_session;
mod password;
mod payment_callback;
mod payment_methods;
mod permissions;
mod push;
mod races;
mod regions;
mod secrets;
mod services;
mod sessions;
mod settings;
mod signup;
mod stats;
mod team;
mod teams;
