//! Alerts: what users do with them, and the processor that decides who is notified. Maintenance
//! windows, and the clock that applies them. Escalation policies, on-call schedules, handovers,
//! routing and contact rules: the recipients of alerts.

pub mod action_links;
pub mod alerts;
pub(crate) mod backlog;
pub(crate) mod contacts;
mod decide;
pub mod handovers;
pub mod maintenance_clock;
pub(crate) mod maintenances;
pub(crate) mod policies;
pub mod processor;
mod recipients;
mod reported_panics;
pub(crate) mod routing;
pub(crate) mod schedules;
mod surroundings;
mod upcoming;
