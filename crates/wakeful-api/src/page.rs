//! The page, from the binary: files with a hash in their name are kept by
//! browsers for ever, `index.html` is asked for each time. An address that is
//! no file is one of the page's own, so it answers `index.html` too.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::app::Api;
use crate::layers::no_such_path;

/// What `npm run build` left in `web/dist`; nothing when it was not run. Debug
/// builds read the folder itself, so the page can change under a running binary.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
struct Files;

const INDEX: &str = "index.html";
/// Everything in here has a hash of its content in its name.
const HASHED: &str = "assets/";

/// The view where cards are taken.
const BILLING: &str = "billing";
/// What Stripe's own form needs, as Stripe documents it, and no more.
const POLICY_WITH_STRIPE: &str = "default-src 'self'; \
    script-src 'self' https://js.stripe.com https://*.js.stripe.com; style-src 'self'; \
    img-src 'self' data:; connect-src 'self' https://api.stripe.com; \
    frame-src https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com; \
    object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";

/// Answers what no route does: a file, a view of the page, or a refusal.
pub(crate) async fn answer(State(api): State<Api>, request: Request) -> Response {
    let takes_cards = request.uri().path().trim_matches('/') == BILLING;
    let mut response = find(&request);
    if takes_cards && api.settings().stripe_publishable_key.is_some() {
        let policy = HeaderValue::from_static(POLICY_WITH_STRIPE);
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

fn find(request: &Request) -> Response {
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
    if path.starts_with(HASHED) || !(path.is_empty() || asks_for_html(headers)) {
        return no_such_path().into_response();
    }
    file(INDEX, headers).unwrap_or_else(|| Html(include_str!("page.html")).into_response())
}

/// A misspelt call of the API must not look like a page to a program.
fn is_api(path: &str) -> bool {
    path == "api" || path.starts_with("api/")
}

/// Browsers name HTML when they open an address; a program that takes anything
/// is better told that there is nothing.
fn asks_for_html(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|kinds| kinds.contains("text/html"))
}

/// The file in the smallest form that the client takes.
fn file(path: &str, headers: &HeaderMap) -> Option<Response> {
    let hidden = path.starts_with('.') || path.ends_with(".br") || path.ends_with(".gz");
    if hidden {
        return None;
    }
    let packed = [("br", "br"), ("gzip", "gz")]
        .into_iter()
        .filter(|(coding, _)| takes(headers, coding))
        .find_map(|(coding, end)| Some((Some(coding), Files::get(&format!("{path}.{end}"))?)));
    let (coding, found) = match packed {
        Some(packed) => packed,
        None => (None, Files::get(path)?),
    };
    Some(respond(path, coding, &found, headers))
}

fn takes(headers: &HeaderMap, coding: &str) -> bool {
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
    let mut response = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        found.data.to_vec().into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(path)));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(kept(path)));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(header::ETAG, tag);
    if let Some(coding) = coding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    response
}

fn etag(found: &EmbeddedFile) -> HeaderValue {
    let hash = data_encoding::HEXLOWER.encode(&found.metadata.sha256_hash()[..16]);
    HeaderValue::from_str(&format!("\"{hash}\"")).expect("hex in quotes is a header value")
}

fn kept(path: &str) -> &'static str {
    if path.starts_with(HASHED) { "public, max-age=31536000, immutable" } else { "no-cache" }
}

fn kind(path: &str) -> &'static str {
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
