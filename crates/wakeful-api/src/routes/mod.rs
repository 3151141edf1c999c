//! The handlers, one file per resource. Each makes four moves: who calls, what
//! do they want, do it, show it.

pub(crate) mod accounts;
pub(crate) mod apikeys;
pub(crate) mod contact;
pub(crate) mod events;
pub(crate) mod figures;
pub(crate) mod history;
pub(crate) mod membership;
pub(crate) mod mfa;
pub(crate) mod monitor_lists;
pub(crate) mod monitors;
pub(crate) mod notifiers;
pub(crate) mod passwords;
pub(crate) mod payment_callback;
pub(crate) mod paymentmethods;
pub(crate) mod push;
pub(crate) mod regions;
pub(crate) mod report;
pub(crate) mod sessions;
pub(crate) mod team;
