//! Serves the web app from the binary. Browsers cache files with a hash in their name
//! indefinitely and revalidate `index.html` each time. A path that is not a file is a
//! route of the web app, so it gets `index.html` too; an action link gets a document of its own.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use hyper::body::Bytes;
use rust_embed::{EmbeddedFile, RustEmbed};
use std::borrow::Cow;

use crate::app::Api;
use crate::cookie;
use crate::layers::no_such_path;
use crate::serve::SharedBytes;

/// The output of `npm run build` in `web/dist`; empty if it was not run. Debug builds
/// read the folder at run time, so the web app can change without a rebuild.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
struct Files;

const INDEX: &str = "index.html";
/// The document of an action link: small, and without the web app.
const ACTION: &str = "action.html";
const ACTION_PREFIX: &str = "a/";
/// Every file in this folder has a hash of its content in its name.
const HASHED_PREFIX: &str = "assets/";

/// Browsers ask for it on status pages that have no icon, and would report a 404 as an error.
const FAVICON: &str = "favicon.ico";

/// The view where cards are entered.
const BILLING: &str = "billing";
/// Allows only what Stripe's documentation requires for its form.
const POLICY_WITH_STRIPE: &str = "default-src 'self'; \
    script-src 'self' https://js.stripe.com https://*.js.stripe.com; style-src 'self'; \
    img-src 'self' data:; connect-src 'self' https://api.stripe.com; \
    frame-src https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com; \
    worker-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; \
    form-action 'self'";

/// The root: the web app, or the status page that visitors find first. Somebody who is logged
/// in gets the web app in any case.
pub(crate) async fn root(State(api): State<Api>, request: Request) -> Response {
    let is_front = !api.settings().front.is_empty();
    if is_front && cookie::token(&api, request.method(), request.headers()).is_none() {
        let mut response = Redirect::temporary("/status").into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        return response;
    }
    serve(State(api), request).await
}

/// Handles all paths that no route matches: a file, a view of the web app, or 404.
pub(crate) async fn serve(State(api): State<Api>, request: Request) -> Response {
    let takes_cards = request.uri().path().trim_matches('/') == BILLING;
    let mut response = resolve(&request);
    if takes_cards && api.settings().stripe_publishable_key.is_some() {
        let policy = HeaderValue::from_static(POLICY_WITH_STRIPE);
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

fn resolve(request: &Request) -> Response {
    let path = request.uri().path().trim_start_matches('/');
    if !matches!(*request.method(), Method::GET | Method::HEAD) || is_api(path) {
        return no_such_path().into_response();
    }
    let headers = request.headers();
    if !path.is_empty()
        && path != INDEX
        && let Some(found) = file(path, headers)
    {
        return found;
    }
    if path == FAVICON {
        return StatusCode::NO_CONTENT.into_response();
    }
    if path.starts_with(HASHED_PREFIX) || !(path.is_empty() || asks_for_html(headers)) {
        return no_such_path().into_response();
    }
    let document = if path.starts_with(ACTION_PREFIX) { ACTION } else { INDEX };
    file(document, headers).unwrap_or_else(|| Html(include_str!("page.html")).into_response())
}

/// A misspelled API call must get 404, not the web app.
fn is_api(path: &str) -> bool {
    path == "api" || path.starts_with("api/")
}

/// Browsers ask for HTML when they open a URL; a program that accepts anything is better
/// served with 404.
fn asks_for_html(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|kinds| kinds.contains("text/html"))
}

/// The file in the smallest encoding that the client accepts.
fn file(path: &str, headers: &HeaderMap) -> Option<Response> {
    let hidden = path.starts_with('.') || path.ends_with(".br") || path.ends_with(".gz");
    if hidden {
        return None;
    }
    let packed = [("br", "br"), ("gzip", "gz")]
        .into_iter()
        .filter(|(coding, _)| accepts(headers, coding))
        .find_map(|(coding, end)| Some((Some(coding), Files::get(&format!("{path}.{end}"))?)));
    let (coding, found) = match packed {
        Some(packed) => packed,
        None => (None, Files::get(path)?),
    };
    Some(respond(path, coding, &found, headers))
}

fn accepts(headers: &HeaderMap, coding: &str) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|list| {
        list.split(',').any(|item| {
            let mut parts = item.split(';').map(str::trim);
            let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(coding));
            named && !parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
        })
    })
}

fn respond(
    path: &str,
    coding: Option<&'static str>,
    found: &EmbeddedFile,
    asked: &HeaderMap,
) -> Response {
    let tag = etag(found);
    let known = asked.get(header::IF_NONE_MATCH).is_some_and(|value| *value == tag);
    let mut response = if known { StatusCode::NOT_MODIFIED.into_response() } else { body(found) };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type(path)));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache_control(path)));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(header::ETAG, tag);
    if let Some(coding) = coding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    response
}

/// The data itself in a release build, which contains it, and a copy in a debug build.
fn body(found: &EmbeddedFile) -> Response {
    match &found.data {
        Cow::Borrowed(data) => {
            let mut response = Bytes::from_static(data).into_response();
            response.extensions_mut().insert(SharedBytes);
            response
        }
        Cow::Owned(data) => data.clone().into_response(),
    }
}

fn etag(found: &EmbeddedFile) -> HeaderValue {
    let hash = data_encoding::HEXLOWER.encode(&found.metadata.sha256_hash()[..16]);
    HeaderValue::from_str(&format!("\"{hash}\"")).expect("hex in quotes is a header value")
}

fn cache_control(path: &str) -> &'static str {
    if path.starts_with(HASHED_PREFIX) { "public, max-age=31536000, immutable" } else { "no-cache" }
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, end)| end) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("json" | "webmanifest") => "application/json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
