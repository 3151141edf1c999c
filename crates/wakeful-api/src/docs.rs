//! The API's description for machines and people: the OpenAPI document and a
//! page that shows it, both from the binary, nothing fetched from elsewhere.

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use std::sync::Arc;
use utoipa::openapi::OpenApi;
use utoipa_swagger_ui::Config;

use crate::app::Api;
use crate::error::ApiError;

/// The page styles itself from its script, which the strict policy forbids.
const POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
    object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

pub(crate) fn routes(document: &OpenApi) -> Router<Api> {
    let json: Arc<str> = document.to_json().expect("the document is plain data").into();
    let config = Arc::new(Config::from("/api/openapi.json"));
    let index = config.clone();
    Router::new()
        .route("/api/openapi.json", get(move || openapi(json.clone())))
        .route("/api/docs", get(|| async { Redirect::permanent("/api/docs/") }))
        .route("/api/docs/", get(move || file(String::new(), index.clone())))
        .route("/api/docs/{*path}", get(move |Path(path): Path<String>| file(path, config.clone())))
}

async fn openapi(json: Arc<str>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], json.to_string()).into_response()
}

async fn file(path: String, config: Arc<Config<'static>>) -> Result<Response, ApiError> {
    let file = utoipa_swagger_ui::serve(&path, config).map_err(|_| ApiError::internal())?;
    let file = file.ok_or_else(crate::layers::no_such_path)?;
    let mut response = file.bytes.into_owned().into_response();
    let headers = response.headers_mut();
    let kind = HeaderValue::from_str(&file.content_type).map_err(|_| ApiError::internal())?;
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    if file.gzpipped {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(response)
}
