//! Alerts: what users do with them, and the processor that decides who is notified.

pub mod action_links;
pub mod alerts;
mod decide;
pub mod processor;
