//! The OpenAPI document and the API reference, a page that renders it. Both are embedded in
//! the binary, and nothing is loaded from other servers.

use axum::Router;
use axum::http::{HeaderMap, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use flate2::Compression;
use hyper::body::Bytes;
use std::sync::LazyLock;

use crate::app::Api;
use crate::compression::{accepts_gzip, gzip};
use crate::openapi;
use crate::serve::SharedBytes;

const PAGE: &str = include_str!("docs/index.html");
const STYLE: &str = include_str!("docs/reference.css");
const SCRIPT: &str = include_str!("docs/reference.js");

/// Made when it is first requested, as most services are never asked for it.
static DOCUMENT: LazyLock<Document> = LazyLock::new(Document::new);

pub(crate) fn routes() -> Router<Api> {
    Router::new()
        .route(
            "/api/openapi.json",
            get(|headers: HeaderMap| async move { DOCUMENT.respond(&headers) }),
        )
        .route("/api/docs", get(|| async { Redirect::permanent("/api/docs/") }))
        .route("/api/docs/", get(|| async { Html(PAGE) }))
        .route("/api/docs/reference.css", get(|| async { file("text/css", STYLE) }))
        .route("/api/docs/reference.js", get(|| async { file("text/javascript", SCRIPT) }))
}

fn file(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, format!("{kind}; charset=utf-8"))], text).into_response()
}

/// The OpenAPI document, plain and compressed. It is public and may be requested often,
/// so all responses share the same bytes.
struct Document {
    plain: Bytes,
    gzip: Bytes,
}

impl Document {
    fn new() -> Self {
        let json = openapi::document().to_json().expect("the document can be serialized");
        let gzip = gzip(json.as_bytes(), Compression::best());
        Self { plain: json.into(), gzip }
    }

    fn respond(&self, headers: &HeaderMap) -> Response {
        let json = (header::CONTENT_TYPE, "application/json");
        let mut response = if accepts_gzip(headers) {
            ([json, (header::CONTENT_ENCODING, "gzip")], self.gzip.clone()).into_response()
        } else {
            ([json], self.plain.clone()).into_response()
        };
        response.extensions_mut().insert(SharedBytes);
        response
    }
}
