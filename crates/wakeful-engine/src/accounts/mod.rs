//! Accounts: users, sessions, passwords, MFA, API keys and teams, and their rate limits.

pub(crate) mod api_keys;
pub(crate) mod auth;
pub(crate) mod contact;
pub(crate) mod email_verification;
pub(crate) mod export;
pub(crate) mod invitations;
pub(crate) mod mfa;
pub(crate) mod operator;
pub(crate) mod password_hasher;
mod password_reset;
pub(crate) mod rate_limit;
mod reauthentication;
pub(crate) mod services;
pub(crate) mod signup;
pub(crate) mod team;
pub(crate) mod teams;
