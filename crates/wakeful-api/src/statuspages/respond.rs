//! The responses of public routes, with the headers for browsers and caches.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use std::sync::LazyLock;

use super::etag;
use super::form::Class;
use super::render;
use super::render_cache::Rendered;
use crate::compression::accepts_gzip;
use crate::error::{ApiError, ErrorCode};
use crate::serve::SharedBytes;

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; \
     manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);
const IMAGE_POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");
const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-store");
const PERMANENT: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const BRIEF: HeaderValue =
    HeaderValue::from_static("public, max-age=10, stale-while-revalidate=60, stale-if-error=86400");
const FEED: HeaderValue =
    HeaderValue::from_static("public, max-age=60, stale-while-revalidate=60, stale-if-error=86400");
const MINUTE: HeaderValue = HeaderValue::from_static("public, max-age=60");
const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// How a response may be cached and used.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    pub(super) class: Class,
    /// Nobody but the visitor may store it.
    pub(super) private: bool,
    pub(super) indexed: bool,
    /// Its address changes with its content.
    pub(super) permanent: bool,
}

impl Terms {
    fn add(self, headers: &mut HeaderMap) {
        let caching = match self.class {
            _ if self.private => PRIVATE,
            _ if self.permanent => PERMANENT,
            Class::Html | Class::Data | Class::File => BRIEF,
            Class::Feed => FEED,
            Class::Image => MINUTE,
        };
        headers.insert(header::CACHE_CONTROL, caching);
        if self.private || !self.indexed {
            headers.insert(ROBOTS, HeaderValue::from_static("noindex"));
        }
        match self.class {
            Class::Html => drop(headers.insert(header::CONTENT_SECURITY_POLICY, POLICY)),
            Class::Image => drop(headers.insert(header::CONTENT_SECURITY_POLICY, IMAGE_POLICY)),
            Class::Data | Class::Feed | Class::File => {}
        }
        let for_others = matches!(self.class, Class::Data | Class::Feed | Class::Image);
        if for_others && !self.private {
            headers.insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
        }
        if matches!(self.class, Class::Data | Class::Feed) && !self.private {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        }
    }
}

/// A rendered document, or 304 if the client has it.
pub(super) fn rendered(
    rendered: &Rendered,
    media_type: &'static str,
    terms: Terms,
    request: &HeaderMap,
) -> Response {
    let known = etag::is_known(request, &rendered.etag);
    let is_gzip = !known && accepts_gzip(request);
    let mut response = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else if is_gzip {
        let mut response = Response::new(Body::from(rendered.gzip.clone()));
        response.extensions_mut().insert(SharedBytes);
        response
    } else {
        Response::new(Body::from(rendered.decompressed()))
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::ETAG, rendered.etag.clone());
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_gzip {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    terms.add(headers);
    response
}

/// Lets other sites load a response that is made for them.
pub(super) fn share(response: &mut Response) {
    let shared = HeaderValue::from_static("cross-origin");
    response.headers_mut().insert(RESOURCE_POLICY, shared);
}

/// A small document that is made for each request.
pub(super) fn plain(body: impl Into<Body>, media_type: HeaderValue, terms: Terms) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    terms.add(response.headers_mut());
    response
}

/// A page that only its visitor sees, such as a form.
pub(super) fn form(status: StatusCode, html: String) -> Response {
    let terms = Terms { class: Class::Html, private: true, indexed: false, permanent: false };
    let mut response = plain(html, HeaderValue::from_static("text/html; charset=utf-8"), terms);
    *response.status_mut() = status;
    response
}

/// The same for unknown, unpublished and restricted pages, and for everything that a page
/// does not have.
pub(super) fn not_found(request: &HeaderMap) -> Response {
    static HTML: LazyLock<String> = LazyLock::new(render::not_found);
    if asks_for_html(request) {
        return form(StatusCode::NOT_FOUND, HTML.clone());
    }
    let mut response = ApiError::not_found("status page").into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, PRIVATE);
    response
}

/// What the server cannot show yet.
pub(super) fn starting(request: &HeaderMap) -> Response {
    static HTML: LazyLock<String> = LazyLock::new(render::starting);
    let mut response =
        ApiError::unavailable("The status pages are being loaded; try again in a moment.")
            .into_response();
    if asks_for_html(request) {
        let wait = response.headers_mut().remove(header::RETRY_AFTER);
        response = form(StatusCode::SERVICE_UNAVAILABLE, HTML.clone());
        response.headers_mut().extend(wait.map(|wait| (header::RETRY_AFTER, wait)));
    }
    response.headers_mut().insert(header::CACHE_CONTROL, PRIVATE);
    response
}

/// The response of data of a locked page.
pub(super) fn locked() -> ApiError {
    ApiError::new(
        StatusCode::UNAUTHORIZED,
        ErrorCode::PageLocked,
        "This status page is locked; send its token as ?token=…, or its password by HTTP Basic.",
    )
}

/// Forwards a browser to another address.
pub(super) fn redirect(status: StatusCode, to: &str) -> Response {
    let mut response = status.into_response();
    if let Ok(to) = HeaderValue::from_str(to) {
        response.headers_mut().insert(header::LOCATION, to);
    }
    response.headers_mut().insert(header::CACHE_CONTROL, PRIVATE);
    response
}

pub(super) fn asks_for_html(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|kinds| kinds.contains("text/html"))
}
