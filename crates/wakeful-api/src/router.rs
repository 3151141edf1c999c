//! Every route on one screen. What stands in `public` needs no credentials;
//! everything in `protected` takes a `Caller` and is 401 without one.

use axum::Router;
use axum::middleware;
use axum::routing::get;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Api;
use crate::routes::{
    accounts, apikeys, contact, events, figures, history, membership, mfa, monitor_lists, monitors,
    notifiers, passwords, payment_callback, paymentmethods, push, regions, report, sessions, team,
};
use crate::{docs, health, host, layers, openapi, page};

fn public() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(sessions::authenticate))
        .routes(routes!(sessions::login))
        .routes(routes!(accounts::signup))
        .routes(routes!(passwords::lost))
        .routes(routes!(passwords::update))
        .routes(routes!(contact::contact_us))
        .routes(routes!(push::push))
        .routes(routes!(payment_callback::stripe))
}

fn protected() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(sessions::authenticated))
        .routes(routes!(sessions::logout))
        .routes(routes!(sessions::logout_all))
        .routes(routes!(sessions::list))
        .routes(routes!(sessions::delete))
        .routes(routes!(accounts::me))
        .routes(routes!(accounts::save_settings))
        .routes(routes!(accounts::delete))
        .routes(routes!(team::get))
        .routes(routes!(team::save))
        .routes(routes!(team::revoke))
        .routes(routes!(team::delete))
        .routes(routes!(apikeys::list))
        .routes(routes!(apikeys::save))
        .routes(routes!(apikeys::delete))
        .routes(routes!(mfa::setup))
        .routes(routes!(mfa::enable))
        .routes(routes!(mfa::disable))
        .routes(routes!(monitor_lists::list))
        .routes(routes!(monitor_lists::rows))
        .routes(routes!(monitors::get))
        .routes(routes!(monitors::delete))
        .routes(routes!(monitors::save))
        .routes(routes!(monitors::notify))
        .routes(routes!(monitors::rotate_push_url))
        .routes(routes!(monitors::check))
        .routes(routes!(monitors::try_it))
        .routes(routes!(notifiers::list))
        .routes(routes!(notifiers::save))
        .routes(routes!(notifiers::test))
        .routes(routes!(notifiers::preview))
        .routes(routes!(notifiers::delete))
        .routes(routes!(notifiers::rotate))
        .routes(routes!(notifiers::deliveries))
        .routes(routes!(notifiers::resend))
        .routes(routes!(regions::list))
        .routes(routes!(history::heartbeats))
        .routes(routes!(figures::stats))
        .routes(routes!(figures::series))
        .routes(routes!(figures::summary))
        .routes(routes!(report::report))
        .routes(routes!(history::alerts))
        .routes(routes!(history::monitor_alerts))
        .routes(routes!(events::stream))
        .routes(routes!(membership::save))
        .routes(routes!(membership::save_unversioned))
        .routes(routes!(membership::stop))
        .routes(routes!(membership::plans))
        .routes(routes!(membership::get))
        .routes(routes!(membership::invoices))
        .routes(routes!(paymentmethods::list))
        .routes(routes!(paymentmethods::save))
        .routes(routes!(paymentmethods::set_default))
        .routes(routes!(paymentmethods::delete))
}

/// The routes of the API with the document that describes them.
pub(crate) fn api() -> (Router<Api>, OpenApi) {
    let (public, public_doc) = public().split_for_parts();
    let (protected, protected_doc) = protected().split_for_parts();
    (public.merge(protected), openapi::assemble(public_doc, protected_doc))
}

/// Everything the service answers.
pub fn router(state: Api) -> Router {
    let (routes, document) = api();
    let mut router = routes
        .route("/", get(page::answer))
        .route("/assets/{*path}", get(page::answer))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics));
    if state.settings().docs {
        router = router.merge(docs::routes(&document));
    }
    layers::around(router, &state).with_state(state)
}

/// The metrics alone, for a listener of their own.
pub fn metrics_router(state: Api) -> Router {
    let check_host = middleware::from_fn_with_state(state.clone(), host::check);
    Router::new().route("/metrics", get(health::open_metrics)).layer(check_host).with_state(state)
}
