//! Notifications: the events, the notifiers that deliver them, and when they
//! are retried or repeated.

pub mod announcement;
pub mod delivery_state;
pub mod event;
pub mod message_rules;
pub mod notifier;
pub mod recipients;
pub mod reminder;
pub mod retry;
pub mod thread;

/// A team does not need more, and each one costs memory in lists and selections.
pub const MAX_NOTIFIERS_PER_TEAM: u32 = 1_000;

/// The most personal notifiers of a user, in all teams.
pub const MAX_PERSONAL_NOTIFIERS: u32 = 20;
