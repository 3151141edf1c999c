//! Status pages: what a team shows its customers about its services.

mod language;
pub mod snapshot;

pub use language::{Language, Localized};
