//! Status pages: what a team shows its customers about its services.

pub mod automatic;
pub mod component;
pub mod incident;
mod language;
pub mod page;
pub mod rule;
pub mod schedule;
pub mod slug;
pub mod snapshot;
pub mod status;
pub mod uptime;

pub use language::{Language, Localized};
