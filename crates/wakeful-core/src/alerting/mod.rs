//! Alerts: outages and warnings that people are notified of.

pub mod alert;
pub mod order;
pub mod state;
pub mod step;
mod suppression;
