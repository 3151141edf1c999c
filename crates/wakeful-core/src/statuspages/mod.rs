//! Status pages: what a team shows its customers about its services.

pub mod automatic;
pub mod badge;
pub mod component;
pub mod css;
mod days;
pub mod i18n;
pub mod incident;
mod language;
pub mod mailing;
pub mod markdown;
mod memory;
pub mod page;
pub mod rule;
pub mod schedule;
pub mod scope;
pub mod slug;
pub mod snapshot;
pub mod status;
pub mod subscriber;
pub mod unlock;
pub mod uptime;

pub use language::{Language, Localized};
