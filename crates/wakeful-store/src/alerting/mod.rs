//! Alerts.

pub(crate) mod alerts;
