//! Alerts, their timeline, and the decisions about them; maintenance windows, and what they did.

pub(crate) mod alerts;
pub(crate) mod decisions;
pub(crate) mod due;
pub(crate) mod exclusions;
pub(crate) mod maintenance_clock;
pub(crate) mod maintenances;
pub(crate) mod timeline;
