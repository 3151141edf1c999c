//! The middleware around every request: an id and a log line, limits on size and time,
//! security headers, and one format for all errors.

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use std::time::{Duration, Instant};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};
use tracing::Instrument as _;

use wakeful_core::error_chain::ErrorChain;

use crate::app::Api;
use crate::body::too_large;
use crate::error::{ApiError, Cause, ErrorCode};
use crate::request_id::{self, RequestId};
use crate::serve::ConnectionContext;
use crate::statuspages::OnDomain;
use crate::{compression, host, spa};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// How many headers a request may have; proxies add about a dozen.
pub(crate) const MAX_HEADERS: usize = 100;

const CONTENT_SECURITY_POLICY: &str = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; worker-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";

/// Sent with every response.
const HEADERS: &[(&str, &str)] =
    &[("x-content-type-options", "nosniff"), ("cross-origin-resource-policy", "same-origin")];

/// Sent with every response that a browser could show as a page.
const PAGE_HEADERS: &[(&str, &str)] = &[
    ("referrer-policy", "no-referrer"),
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    ("cross-origin-opener-policy", "same-origin"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
];

/// Browsers ignore the headers of pages on these.
const PARTS_OF_PAGES: &[&str] = &["text/javascript", "text/css", "font/woff2"];

/// Adds the layers to the routes. The last one added is the outermost.
pub(crate) fn apply(router: Router<Api>, state: &Api) -> Router<Api> {
    let router = router
        .fallback(spa::serve)
        .method_not_allowed_fallback(|| async { wrong_method() })
        .layer(middleware::from_fn_with_state(state.clone(), check_bounds))
        .layer(CatchPanicLayer::custom(|_| ApiError::internal().into_response()))
        .layer(middleware::from_fn(compression::compress));
    let origins = &state.settings().cors_origins;
    let router = if origins.is_empty() { router } else { router.layer(cors(origins)) };
    router
        .layer(middleware::from_fn(reserved_connections))
        .layer(middleware::from_fn_with_state(state.clone(), host::check))
        .layer(middleware::from_fn_with_state(state.clone(), set_headers))
        .layer(middleware::from_fn(log))
}

/// Adds the layers of status pages, which many visitors read at once: no line in the log for
/// each view, no second compression, and nothing that one request does not need.
pub(crate) fn apply_to_pages(router: Router<Api>, state: &Api) -> Router<Api> {
    router
        .method_not_allowed_fallback(|| async { wrong_method() })
        .layer(middleware::from_fn_with_state(state.clone(), check_bounds))
        .layer(CatchPanicLayer::custom(|_| ApiError::internal().into_response()))
        .layer(middleware::from_fn(reserved_connections))
        .layer(middleware::from_fn_with_state(state.clone(), host::check))
        .layer(middleware::from_fn_with_state(state.clone(), set_headers))
        .layer(middleware::from_fn(view))
}

/// Logs a view for debugging only. When half of the connections are taken, visitors do not keep
/// theirs, so that reports and operators find one.
async fn view(request: Request, next: Next) -> Response {
    let context = request.extensions().get::<ConnectionContext>();
    let half_full = context.is_some_and(|context| context.half_full);
    let close = half_full && request.version() < Version::HTTP_2;
    let route = request.extensions().get::<MatchedPath>().cloned();
    let mut response = next.run(request).await;
    let route = route.as_ref().map_or("(none)", MatchedPath::as_str);
    let status = response.status().as_u16();
    match response.extensions_mut().remove::<Cause>() {
        Some(Cause(error)) => {
            tracing::error!(route, status, error = %ErrorChain(error.as_ref()), "{route} returned {status}");
        }
        None => tracing::debug!(route, status, "{route} returned {status}"),
    }
    if close {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

pub(crate) fn no_such_path() -> ApiError {
    ApiError::new(
        StatusCode::NOT_FOUND,
        ErrorCode::NoSuchPath,
        "There is nothing at this path; the API is described at /api/docs.",
    )
}

fn wrong_method() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        ErrorCode::MethodNotAllowed,
        "This path does not support this method; the Allow header lists the methods it supports.",
    )
}

/// On reserved connections, and when there are too many requests, serves only those that
/// must not wait: reports, without which a monitor goes down, and health checks.
async fn reserved_connections(request: Request, next: Next) -> Response {
    let reserved =
        request.extensions().get::<ConnectionContext>().is_some_and(|context| context.reserved);
    if reserved && !is_served_when_full(request.uri().path()) {
        return ApiError::unavailable("All connections are in use; try again in a moment.")
            .into_response();
    }
    next.run(request).await
}

/// Whether a request is a report or a health check, by its path.
pub(crate) fn is_served_when_full(path: &str) -> bool {
    const SERVED: [&str; 6] =
        ["/api/push/", "/ping/", "/api/v1/monitor/notify/", "/healthz", "/readyz", "/metrics"];
    SERVED.iter().any(|served| path.starts_with(served))
}

fn too_many_headers() -> ApiError {
    ApiError::new(
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        ErrorCode::TooManyHeaders,
        format!("The request has more than {MAX_HEADERS} headers; send fewer."),
    )
}

/// Rejects requests that declare a body that is too large, or that take too long, and
/// paths that are not UTF-8, for which extractors would respond in another format.
async fn check_bounds(State(api): State<Api>, request: Request, next: Next) -> Response {
    if !decodes_to_utf8(request.uri().path()) {
        return no_such_path().into_response();
    }
    if request.headers().len() > MAX_HEADERS {
        return too_many_headers().into_response();
    }
    let limit = api.settings().body_limit;
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > limit as u64) {
        return too_large(limit).into_response();
    }
    match tokio::time::timeout(REQUEST_TIMEOUT, next.run(request)).await {
        Ok(response) => response,
        Err(_) => ApiError::unavailable("The request took too long and was aborted; try again.")
            .into_response(),
    }
}

/// Whether a path is UTF-8 once it is percent-decoded.
fn decodes_to_utf8(path: &str) -> bool {
    let mut parts = path.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).map(|hex| u8::from_str_radix(hex, 16)) {
            Some(Ok(byte)) => bytes.push(byte),
            _ => bytes.push(b'%'),
        }
        bytes.extend_from_slice(part.get(2..).unwrap_or_default().as_bytes());
    }
    std::str::from_utf8(&bytes).is_ok()
}

async fn set_headers(State(api): State<Api>, request: Request, next: Next) -> Response {
    let under_api = request.uri().path().starts_with("/api/");
    let is_asset = request.uri().path().starts_with("/assets/");
    let on_domain = request.extensions().get::<OnDomain>().is_some();
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let page_headers = if is_asset && is_part_of_page(headers) { &[] } else { PAGE_HEADERS };
    for (name, value) in HEADERS.iter().chain(page_headers) {
        let name = HeaderName::from_static(name);
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if under_api {
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    }
    if api.settings().https || on_domain {
        // The subdomains of a page's domain are not ours.
        let policy = if !on_domain && api.settings().hsts_subdomains {
            "max-age=31536000; includeSubDomains"
        } else {
            "max-age=31536000"
        };
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(policy));
    }
    response
}

fn is_part_of_page(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default();
    PARTS_OF_PAGES.contains(&kind)
}

/// One line per request. It contains the route instead of the path as sent, which may
/// contain a token, and nothing from the query, the headers or the body.
async fn log(mut request: Request, next: Next) -> Response {
    let id = request_id::new();
    request.extensions_mut().insert(RequestId(id.clone()));
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let route = route.unwrap_or_else(|| "(none)".to_owned());
    let span = tracing::info_span!("request", request.id = %id);
    let started = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    let took = started.elapsed();
    let status = response.status().as_u16();
    let cause = response.extensions_mut().remove::<Cause>();
    span.in_scope(|| match &cause {
        Some(Cause(error)) => {
            tracing::error!(%method, route, status, ms = took.as_secs_f64() * 1e3, error = %ErrorChain(error.as_ref()), "{method} {route} returned {status}");
        }
        None => tracing::info!(%method, route, status, ms = took.as_secs_f64() * 1e3, "{method} {route} returned {status}"),
    });
    let labels = [
        ("method", method_label(&method).to_owned()),
        ("route", route),
        ("status", status.to_string()),
    ];
    metrics::counter!("wakeful_http_requests_total", &labels).increment(1);
    metrics::histogram!("wakeful_http_request_seconds", &labels[..2]).record(took.as_secs_f64());
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

/// A client may send any word as its method; the number of labels must stay small.
fn method_label(method: &Method) -> &str {
    match method.as_str() {
        known @ ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS") => known,
        _ => "other",
    }
}

fn cors(origins: &[String]) -> CorsLayer {
    let origins = origins.iter().filter_map(|origin| origin.parse().ok());
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            HeaderName::from_static("x-api-key"),
            HeaderName::from_static("x-enc-key"),
            HeaderName::from_static("x-wakeful-team"),
        ])
        .expose_headers([REQUEST_ID, header::RETRY_AFTER])
        .max_age(Duration::from_secs(3600))
}

#[cfg(test)]
mod tests {
    use super::decodes_to_utf8;

    #[test]
    fn a_path_must_decode_to_utf_8() {
        for path in ["/", "/api/v1/x", "/%41%00", "/%C3%A9", "/100%", "/%zz", "/%f", "/%\u{e9}t"] {
            assert!(decodes_to_utf8(path), "{path}");
        }
        for path in ["/%ff", "/%C3", "/%C3%28", "/a/%F0%9F%92/b"] {
            assert!(!decodes_to_utf8(path), "{path}");
        }
    }
}
