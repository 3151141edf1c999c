//! Notification of a user: an email from the service itself to the current address of the
//! user's account. The address is not a setting: it is read with the notifier, and nothing
//! is sent to it before its owner has verified it.

use crate::id::UserId;

/// Why nothing is sent to an address yet.
pub const UNVERIFIED: &str =
    "The address is not verified yet. Open the link that was mailed to it.";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountSpec {
    pub user: UserId,
    /// The user's address when the notifier was read.
    pub email: String,
    pub verified: bool,
}
