//! Notifiers, the browsers of users, reminders and the outbox of deliveries.

pub(crate) mod deliveries;
mod disabled;
pub(crate) mod keepalives;
pub(crate) mod notifiers;
pub(crate) mod push_subscriptions;
pub(crate) mod reminders;
pub(crate) mod threads;
