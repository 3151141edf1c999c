//! The address that senders open to report a monitor, in the shape that other
//! monitors made known: `/api/push/{token}?status=up&msg=OK&ping=12`.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::verdict::Report;
use wakeful_engine::Error;

use crate::address::ClientIp;
use crate::app::Api;
use crate::error::{ApiError, ErrorBody};
use crate::query::Query;
use crate::wire::load_time;

#[derive(Serialize, ToSchema)]
pub(crate) struct Pushed {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    msg: Option<&'static str>,
}

/// Reports a status by a monitor's secret address; `status` is up when left out.
#[utoipa::path(method(get, post, put, patch, delete), path = "/api/push/{token}", tag = "Monitors",
    params(
        ("token" = String, Path, description = "The end of the monitor's push_url"),
        ("status" = Option<String>, Query, description = "up or down"),
        ("msg" = Option<String>, Query, description = "The message"),
        ("ping" = Option<String>, Query, description = "Load time in milliseconds")),
    responses(
        (status = 200, description = "Noted", body = Pushed),
        (status = 404, description = "No active monitor has this address", body = Pushed),
        (status = 400, description = "The query cannot be read", body = ErrorBody),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn push(
    State(api): State<Api>,
    ClientIp(client): ClientIp,
    Path(token): Path<String>,
    Query(mut query): Query,
) -> Result<Response, ApiError> {
    let limits = api.push_limits();
    limits.check(client, &token)?;
    let report = query.optional("status", Report::parse);
    let message = query.optional_text("msg");
    let ping = query.optional_text("ping");
    let report = report.or_else(|| Report::parse("up").ok());
    let mut report = query.finish(report)?;
    if let Some(message) = message.filter(|message| !message.trim().is_empty()) {
        report = report.with_message(&message);
    }
    // Senders write an empty or an odd one into the address when they measured nothing.
    if let Some(span) = ping.and_then(|ping| load_time(ping.trim().parse().ok()?)) {
        report = report.with_load_time(span);
    }
    let Some(target) = api.engine().push_target(&token).await? else {
        limits.unknown(client, &token);
        return Ok(not_found());
    };
    limits.known(&token)?;
    match api.engine().push(target, report).await {
        Ok(_) => Ok(Json(Pushed { ok: true, msg: None }).into_response()),
        Err(Error::NotFound(_)) => Ok(not_found()),
        Err(error) => Err(error.into()),
    }
}

fn not_found() -> Response {
    let msg = Some("Monitor not found or not active.");
    (StatusCode::NOT_FOUND, Json(Pushed { ok: false, msg })).into_response()
}
