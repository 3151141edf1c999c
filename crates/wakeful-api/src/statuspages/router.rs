//! Every public route of status pages.

use axum::Router;
use axum::extract::{RawPathParams, Request, State};
use axum::routing::{any, get, post};

use super::feeds::Format;
use super::form::Form;
use super::login;
use super::serve;
use super::subscribe;
use super::subscription;
use super::v2::Document;
use crate::app::Api;

/// Below the address of a page.
const FORMS: &[(&str, Form)] = &[
    ("", Form::Front),
    ("/", Form::Front),
    ("/component/{id}", Form::Component),
    ("/incident/{id}", Form::Incident),
    ("/incidents/{id}", Form::Incident),
    ("/history", Form::History),
    ("/history/{id}", Form::Month),
    ("/feed.atom", Form::Feed(Format::Atom)),
    ("/feed.rss", Form::Feed(Format::Rss)),
    ("/feed.json", Form::Feed(Format::Json)),
    ("/rss", Form::Feed(Format::Rss)),
    ("/history.atom", Form::HistoryFeed(Format::Atom)),
    ("/history.rss", Form::HistoryFeed(Format::Rss)),
    ("/component/{id}/feed.atom", Form::ComponentFeed),
    ("/maintenance.ics", Form::Calendar),
    ("/index.json", Form::Index),
    ("/live.json", Form::Live),
    ("/api/v2/summary.json", Form::V2(Document::Summary)),
    ("/api/v2/status.json", Form::V2(Document::Status)),
    ("/api/v2/components.json", Form::V2(Document::Components)),
    ("/api/v2/incidents.json", Form::V2(Document::Incidents)),
    ("/api/v2/incidents/unresolved.json", Form::V2(Document::Unresolved)),
    ("/api/v2/scheduled-maintenances.json", Form::V2(Document::Maintenances)),
    ("/api/v2/scheduled-maintenances/upcoming.json", Form::V2(Document::Upcoming)),
    ("/api/v2/scheduled-maintenances/active.json", Form::V2(Document::Active)),
    ("/badge/{*path}", Form::Badge),
    ("/component/{id}/badge/{*path}", Form::ComponentBadge),
    ("/image/{id}", Form::Image),
    ("/style.css", Form::Style),
    ("/manifest.webmanifest", Form::Manifest),
    ("/robots.txt", Form::Robots),
    ("/favicon.ico", Form::Favicon),
    ("/embed", Form::Embed),
    ("/embed.js", Form::EmbedScript),
];

/// The paths of Uptime Kuma, on every host.
const KUMA: &[(&str, Form)] = &[
    ("/api/status-page/{slug}", Form::KumaPage),
    ("/api/status-page/heartbeat/{slug}", Form::KumaHeartbeats),
    ("/api/status-page/{slug}/badge", Form::KumaPageBadge),
];
const KUMA_BADGE: &str = "/api/badge/{id}/{*path}";
/// Whether a domain is that of a page, for a proxy that obtains certificates.
const DOMAIN: &str = "/api/statuspage/domain";

/// The address of a page.
const BASE: &str = "/status/{slug}";

pub(crate) fn routes() -> Router<Api> {
    let mut router = Router::new();
    let forms = FORMS.iter().map(|(path, form)| (format!("{BASE}{path}"), form));
    let kuma = KUMA.iter().map(|(path, form)| ((*path).to_owned(), form));
    for (path, form) in forms.chain(kuma) {
        let handler = move |State(api): State<Api>, params: RawPathParams, request: Request| {
            serve::form(api, *form, Params::of(&params), request)
        };
        router = router.route(&path, get(handler));
    }
    router
        .route(&format!("{BASE}/login"), get(login::login_form).post(login::log_in))
        .route(&format!("{BASE}/logout"), post(login::log_out))
        .merge(subscriptions())
        .route("/status/assets/{file}", get(serve::asset))
        .route("/status", get(serve::front))
        .route("/status/", get(serve::front))
        .route(DOMAIN, get(serve::domain))
        .route(KUMA_BADGE, get(serve::kuma_badge))
        // Not the web app, which would respond with 200.
        .route("/api/status-page/", any(serve::nothing))
        .route("/api/status-page/{slug}/{*path}", any(serve::nothing))
        .route("/api/badge/", any(serve::nothing))
        .route("/api/badge/{id}", any(serve::nothing))
        .route("/status/{slug}/{*path}", any(serve::nothing))
}

/// Subscribing, and the links of emails.
const SUBSCRIPTIONS: [&str; 5] = [
    "/subscribe",
    "/confirm/{token}",
    "/manage/{token}",
    "/unsubscribe/{token}",
    "/api/v2/subscribers.json",
];

fn subscriptions() -> Router<Api> {
    let [subscribe, confirm, manage, unsubscribe, v2] =
        SUBSCRIPTIONS.map(|path| format!("{BASE}{path}"));
    Router::new()
        .route(&subscribe, get(subscribe::form).post(subscribe::subscribe))
        .route(&confirm, get(subscription::confirm_form).post(subscription::confirm))
        .route(&manage, get(subscription::manage_form).post(subscription::manage))
        .route(&unsubscribe, get(subscription::unsubscribe_form).post(subscription::unsubscribe))
        .route(&v2, post(subscribe::subscribe_v2))
}

/// The public routes, for a test that visits all of them.
pub fn statuspage_routes() -> Vec<String> {
    let forms = FORMS.iter().map(|(path, _)| format!("{BASE}{path}"));
    let others = ["/login", "/logout"].into_iter().chain(SUBSCRIPTIONS);
    let others = others.map(|path| format!("{BASE}{path}"));
    let kuma = KUMA.iter().map(|(path, _)| (*path).to_owned());
    let shared = ["/status/assets/{file}", "/status", KUMA_BADGE, DOMAIN].map(str::to_owned);
    forms.chain(others).chain(kuma).chain(shared).collect()
}

/// The variable parts of a path.
#[derive(Debug, Default)]
pub(super) struct Params {
    pub(super) slug: String,
    pub(super) id: String,
    pub(super) path: String,
}

impl Params {
    pub(super) fn of(params: &RawPathParams) -> Self {
        let mut found = Self::default();
        for (name, value) in params {
            match name {
                "slug" => value.clone_into(&mut found.slug),
                "id" => value.clone_into(&mut found.id),
                "path" => value.clone_into(&mut found.path),
                _ => {}
            }
        }
        found
    }
}
