//! Alerts, their timeline, and the decisions about them.

pub(crate) mod alerts;
pub(crate) mod decisions;
pub(crate) mod due;
pub(crate) mod signal;
pub(crate) mod timeline;
