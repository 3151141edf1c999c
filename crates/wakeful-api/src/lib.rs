//! The HTTP API. `router.rs` assembles it; `dto/` has the types of requests and
//! responses, and lenient parsing ends there; the handlers in `routes/` authenticate
//! the caller, read the request, call the engine and write the response. No handler
//! opens a transaction, and no type of this crate reaches the engine.

mod api_router;
mod app;
mod body;
mod caller;
mod client_ip;
mod client_shares;
mod compression;
mod cookie;
mod docs;
mod dto;
mod error;
mod event_streams;
mod health;
mod host;
mod layers;
mod openapi;
mod path_id;
mod push_limits;
mod query;
mod request_id;
mod router;
mod routes;
mod serve;
mod spa;
mod statuspages;

pub use app::{Api, ApiSettings, EffectiveSetting};
pub use dto::admin::SettingSource;
pub use openapi::document;
pub use router::{metrics_router, pages_router, router};
pub use serve::{Limits, ServeSettings, serve};
pub use statuspages::statuspage_routes;
