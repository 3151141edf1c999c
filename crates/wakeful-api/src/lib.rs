//! HTTP in, JSON out. `router.rs` has every route on one screen; lenient
//! readers end in `wire/`; handlers in `routes/` make four moves: who, what,
//! do, show. No handler opens a transaction, and no type from here reaches
//! the engine.

mod address;
mod app;
mod body;
mod body_memory;
mod caller;
mod cookie;
mod docs;
mod error;
mod health;
mod host;
mod layers;
mod openapi;
mod page;
mod pathid;
mod push_limits;
mod query;
mod requestid;
mod router;
mod routes;
mod serve;
mod wire;

pub use app::{Api, ApiSettings};
pub use openapi::document;
pub use router::{metrics_router, router};
pub use serve::{Limits, ServeSettings, serve};
