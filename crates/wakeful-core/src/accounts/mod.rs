//! The credentials of an account: passwords and second factors.

pub mod password;
pub mod totp;
