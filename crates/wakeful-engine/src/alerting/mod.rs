//! Alerts: what users do with them, and the processor that decides whom to notify.

pub mod action_links;
pub mod alerts;
mod decide;
pub mod processor;
