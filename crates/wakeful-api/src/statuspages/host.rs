//! Custom domains: a request for the domain of a page is directed to the routes of that page,
//! before the router sees it, and to nothing else.

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderName, Uri};
use std::net::SocketAddr;
use std::sync::Arc;
use tower::ServiceExt as _;
use wakeful_engine::statuspages::snapshots::Served;

use crate::app::Api;
use crate::host::{hosts, normalized};

const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
/// The paths that are the same on the app's host and on a domain.
const SHARED: [&str; 3] = ["/status/assets/", "/api/status-page/", "/api/badge/"];

/// The page of the domain that a request names, as an extension of the request.
#[derive(Clone)]
pub(crate) struct OnDomain(pub(crate) Arc<Served>);

/// Directs requests for the domains of pages to their routes in `router`.
pub(crate) fn by_host(router: Router, api: Api) -> Router {
    Router::new().fallback_service(tower::service_fn(move |mut request: Request| {
        direct(&api, &mut request);
        router.clone().oneshot(request)
    }))
}

fn direct(api: &Api, request: &mut Request) {
    if !api.engine().snapshots().has_domains() {
        return;
    }
    let Some(page) = page_of(api, request) else { return };
    if !SHARED.iter().any(|path| request.uri().path().starts_with(path)) {
        let uri = below(request.uri(), &page.slug);
        *request.uri_mut() = uri;
    }
    request.extensions_mut().insert(OnDomain(page));
}

/// The page whose domain the request names. A proxy that changes `Host` names it in
/// `X-Forwarded-Host`, which is trusted only from a trusted proxy.
fn page_of(api: &Api, request: &Request) -> Option<Arc<Served>> {
    let snapshots = api.engine().snapshots();
    let named = hosts(request).next().flatten();
    if let Some(page) = named.and_then(|host| snapshots.by_domain(&host)) {
        return Some(page);
    }
    let forwarded = request.headers().get(FORWARDED_HOST)?.to_str().ok()?;
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>()?.0.ip().to_canonical();
    if !api.settings().trusted_proxies.iter().any(|net| net.contains(&peer)) {
        return None;
    }
    // Each proxy of a chain may add one; the first is what the client asked for.
    let host = forwarded.split(',').next()?.trim();
    let host = host.rsplit_once(':').map_or(host, |(host, _port)| host);
    snapshots.by_domain(&normalized(host))
}

/// The same address below that of a page.
fn below(uri: &Uri, slug: &str) -> Uri {
    let path = if uri.path() == "/" { "" } else { uri.path() };
    let target = match uri.query() {
        Some(query) => format!("/status/{slug}{path}?{query}"),
        None => format!("/status/{slug}{path}"),
    };
    // A path that becomes too long is not that of anything.
    let nothing = || format!("/status/{slug}/-/-").parse::<PathAndQuery>().ok();
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = target.parse().ok().or_else(nothing);
    Uri::from_parts(parts).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paths_of_a_domain_are_below_its_page() {
        let of = |uri: &str| below(&uri.parse().expect("a URI"), "acme").to_string();
        assert_eq!(of("/"), "/status/acme");
        assert_eq!(of("/?lang=de"), "/status/acme?lang=de");
        assert_eq!(of("/history/2026-11"), "/status/acme/history/2026-11");
        assert_eq!(
            of("http://x.example/api/v1/monitors?a=%20"),
            "http://x.example/status/acme/api/v1/monitors?a=%20"
        );
        assert_eq!(of("/status/other"), "/status/acme/status/other");
        let long = format!("/{}", "x".repeat(65_530));
        assert_eq!(of(&long), "/status/acme/-/-");
    }
}
