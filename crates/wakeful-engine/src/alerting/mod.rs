//! Alerts: what users do with them, and the processor that decides who is notified. Maintenance
//! windows, and the clock that applies them.

pub mod action_links;
pub mod alerts;
mod decide;
pub mod maintenance_clock;
pub(crate) mod maintenances;
pub mod processor;
