//! The routes of the API, of the web app and of operators, with the layers around them.

use axum::Router;
use axum::middleware;
use axum::routing::get;

use crate::app::Api;
use crate::{docs, health, host, layers, routes, spa, statuspages};

/// All routes of the service.
pub fn router(state: Api) -> Router {
    let mut router = routes::public()
        .merge(routes::protected())
        .into_router()
        .route("/", get(spa::root))
        .route("/assets/{*path}", get(spa::serve))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .merge(routes::ping::routes())
        .merge(routes::hc::routes());
    if state.settings().docs {
        router = router.merge(docs::routes());
    }
    let pages = layers::apply_to_pages(statuspages::routes(), &state);
    let router = layers::apply(router, &state).merge(pages).with_state(state.clone());
    statuspages::by_host(router, state)
}

/// Only status pages, for a separate listener.
pub fn pages_router(state: Api) -> Router {
    let pages = statuspages::routes().fallback(statuspages::nothing);
    let router = layers::apply_to_pages(pages, &state).with_state(state.clone());
    statuspages::by_host(router, state)
}

/// Only the metrics, for a separate listener.
pub fn metrics_router(state: Api) -> Router {
    let check_host = middleware::from_fn_with_state(state.clone(), host::check);
    Router::new().route("/metrics", get(health::open_metrics)).layer(check_host).with_state(state)
}
