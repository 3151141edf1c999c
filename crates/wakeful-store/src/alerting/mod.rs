//! Alerts, their timeline, and the decisions about them; maintenance windows, and what they did;
//! escalation policies, on-call schedules, routing rules and contact rules.

pub(crate) mod alerts;
mod consequences;
mod crowded;
pub(crate) mod decisions;
pub(crate) mod due;
pub(crate) mod evidence;
pub(crate) mod exclusions;
pub(crate) mod flapping;
pub(crate) mod handovers;
pub(crate) mod maintenance_clock;
pub(crate) mod maintenances;
pub(crate) mod messages;
mod notes;
pub(crate) mod policies;
pub(crate) mod recipients;
pub(crate) mod reschedule;
pub(crate) mod responders;
pub(crate) mod routing;
pub(crate) mod schedules;
pub(crate) mod timeline;
