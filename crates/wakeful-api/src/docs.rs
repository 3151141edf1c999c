//! The API's description for machines and people: the OpenAPI document and a
//! page that shows it, both from the binary, nothing fetched from elsewhere.

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Bytes;
use std::borrow::Cow;
use std::io::Write as _;
use std::sync::Arc;
use utoipa::openapi::OpenApi;
use utoipa_swagger_ui::Config;

use crate::app::Api;
use crate::error::ApiError;

/// The page styles itself from its script, which the strict policy forbids.
const POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
    object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

pub(crate) fn routes(document: &OpenApi) -> Router<Api> {
    let document = Document::of(document.to_json().expect("the document is plain data"));
    let config = Arc::new(Config::from("/api/openapi.json"));
    let index = config.clone();
    Router::new()
        .route(
            "/api/openapi.json",
            get(move |headers: HeaderMap| async move { document.respond(&headers) }),
        )
        .route("/api/docs", get(|| async { Redirect::permanent("/api/docs/") }))
        .route("/api/docs/", get(move || file(String::new(), index.clone())))
        .route("/api/docs/{*path}", get(move |Path(path): Path<String>| file(path, config.clone())))
}

/// The OpenAPI document, plain and compressed once: anybody may ask for it, as often
/// as they like, and all responses share the same bytes.
#[derive(Clone)]
struct Document {
    plain: Bytes,
    gzip: Bytes,
}

impl Document {
    fn of(json: String) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let written = encoder.write_all(json.as_bytes()).and_then(|()| encoder.finish());
        let gzip = written.expect("a vector takes all there is").into();
        Self { plain: json.into(), gzip }
    }

    fn respond(self, headers: &HeaderMap) -> Response {
        let json = (header::CONTENT_TYPE, "application/json");
        if accepts_gzip(headers) {
            ([json, (header::CONTENT_ENCODING, "gzip")], self.gzip).into_response()
        } else {
            ([json], self.plain).into_response()
        }
    }
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut codings = accepted.filter_map(|value| value.to_str().ok()).flat_map(|v| v.split(','));
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim() == "gzip" && !matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}

async fn file(path: String, config: Arc<Config<'static>>) -> Result<Response, ApiError> {
    let file = utoipa_swagger_ui::serve(&path, config).map_err(|_| ApiError::internal())?;
    let file = file.ok_or_else(crate::layers::no_such_path)?;
    let bytes = match file.bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    let mut response = bytes.into_response();
    let headers = response.headers_mut();
    let kind = HeaderValue::from_str(&file.content_type).map_err(|_| ApiError::internal())?;
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    if file.gzpipped {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(response)
}
