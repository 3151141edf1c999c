//! Status pages for their visitors: rendered from memory, without a login and without a
//! database.

mod access;
mod assets;
mod badge;
mod bars;
mod calendar;
mod embed;
mod etag;
mod feeds;
mod form;
mod host;
mod images;
mod json;
mod kuma;
mod login;
mod notice;
mod pictures;
mod preview;
mod query;
mod render;
mod render_cache;
mod respond;
mod router;
mod serve;
mod style;
mod subscribe;
mod subscribe_form;
mod subscription;
mod text_budget;
mod v2;
mod view;
mod visit;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

pub(crate) use host::{OnDomain, by_host};
pub(crate) use images::PageImages;
pub(crate) use preview::{Preview, Show, Warning, preview};
pub(crate) use render_cache::RenderCache;
pub(crate) use router::routes;
pub use router::statuspage_routes;
pub(crate) use serve::nothing;
