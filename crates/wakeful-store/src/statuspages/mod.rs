//! Status pages: their settings, incidents, and what serving them needs.

pub(crate) mod deliveries;
pub(crate) mod domains;
pub(crate) mod events;
pub(crate) mod images;
pub(crate) mod incident_rows;
pub(crate) mod incidents;
pub(crate) mod pages;
pub(crate) mod public;
pub(crate) mod rows;
pub(crate) mod rules;
pub(crate) mod subscriber_rows;
pub(crate) mod subscribers;
pub(crate) mod subscriptions;
pub(crate) mod templates;
