//! Calendar feeds, which calendar programs read without a login: the URL is the credential.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::client_ip::ClientIp;
use crate::error::{ApiError, ErrorBody};

pub(super) fn public() -> ApiRouter {
    ApiRouter::new().routes(routes!(get_calendar))
}

/// The calendar of an on-call schedule or of a user's shifts: 31 days back and 93 days ahead.
#[utoipa::path(get, path = "/api/calendar/{file}", tag = "On call",
    params(("file" = String, Path, description = "The end of the URL of a feed, with .ics")),
    responses(
        (status = 200, description = "The calendar", body = String, content_type = "text/calendar"),
        (status = 304, description = "The calendar has not changed since the given ETag"),
        (status = 404, description = "The URL is invalid, or was replaced", body = ErrorBody)))]
async fn get_calendar(
    State(api): State<Api>,
    ClientIp(client): ClientIp,
    Path(file): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let token = file.strip_suffix(".ics").filter(|token| token.len() < 100);
    let token = token.ok_or_else(|| ApiError::not_found("calendar"))?;
    let feed = api.engine().calendar_feed(token, client).await?;
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let cache = [
        (header::ETAG, feed.etag.clone()),
        (header::CACHE_CONTROL, "private, max-age=0, must-revalidate".to_owned()),
    ];
    if known.is_some_and(|known| known.split(',').any(|one| one.trim() == feed.etag)) {
        return Ok((StatusCode::NOT_MODIFIED, cache).into_response());
    }
    let kind = [(header::CONTENT_TYPE, "text/calendar; charset=utf-8")];
    Ok((cache, kind, feed.text).into_response())
}
