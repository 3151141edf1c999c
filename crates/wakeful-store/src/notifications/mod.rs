//! Notifiers, reminders and the outbox of deliveries.

pub(crate) mod deliveries;
pub(crate) mod notifiers;
pub(crate) mod reminders;
mod threads;
