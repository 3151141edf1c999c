//! Users, sessions, second factors, API keys and teams.

pub(crate) mod account;
pub(crate) mod api_keys;
pub(crate) mod contacts;
pub(crate) mod credentials;
pub(crate) mod email_verification;
pub(crate) mod export;
pub(crate) mod invitations;
pub(crate) mod leaving;
pub(crate) mod members;
pub(crate) mod mfa;
pub(crate) mod monitor_filters;
pub(crate) mod operator;
pub(crate) mod password_resets;
pub(crate) mod pending_signups;
pub(crate) mod rate_limits;
pub(crate) mod services;
pub(crate) mod sessions;
pub(crate) mod team;
pub(crate) mod teams;
