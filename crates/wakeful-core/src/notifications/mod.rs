//! Notifications: the events, the notifiers that deliver them, and when they
//! are retried or repeated.

pub mod delivery_state;
pub mod event;
pub mod notifier;
pub mod recipients;
pub mod reminder;
pub mod retry;
