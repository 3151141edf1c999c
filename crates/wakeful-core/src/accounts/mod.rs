//! The credentials of an account: passwords, second factors and API keys. And the limits on
//! what accounts and teams can have.

pub mod password;
pub mod reauthentication;
pub mod totp;

use crate::email_address::EmailAddress;

pub const MAX_API_KEYS_PER_USER: u32 = 50;
pub const MAX_SERVICES_PER_TEAM: u32 = 100;
pub const MAX_TEAMS_PER_USER: u32 = 50;
pub const MAX_INVITATIONS_PER_TEAM: u32 = 100;

/// The name of a team whose first member has not given it one.
pub fn default_team_name(member: &str, email: &EmailAddress) -> String {
    let local = email.as_str().split('@').next().unwrap_or_default();
    let member = member.trim();
    if member.is_empty() { local.to_owned() } else { member.to_owned() }
}
