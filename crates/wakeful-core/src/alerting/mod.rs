//! Alerts: outages and warnings that people are notified of.

pub mod alert;
