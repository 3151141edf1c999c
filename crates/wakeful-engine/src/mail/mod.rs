//! The service's own mail: the templates, and the worker that sends queued mail.

pub(crate) mod templates;
mod worker;

pub use worker::run;
