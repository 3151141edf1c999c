//! Status pages: what a team shows its customers about its services.

pub mod badge;
pub mod css;
pub mod i18n;
mod language;
pub mod markdown;
pub mod snapshot;
pub mod unlock;

pub use language::{Language, Localized};
