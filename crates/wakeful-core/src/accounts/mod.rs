//! The credentials of an account: passwords, second factors and API keys.

pub mod password;
pub mod totp;

pub const MAX_API_KEYS_PER_USER: u32 = 50;
pub const MAX_SERVICES_PER_TEAM: u32 = 100;
