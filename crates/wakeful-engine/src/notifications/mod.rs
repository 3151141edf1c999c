//! Notifications: the notifiers of a team, events and delivery.

mod account_notifier;
pub mod delivery;
pub(crate) mod events;
pub mod keepalive;
pub(crate) mod notifier_test;
pub(crate) mod notifiers;
pub(crate) mod webpush;
