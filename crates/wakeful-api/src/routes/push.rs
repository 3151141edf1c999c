//! The push URLs, with which targets report their status, in the format of other
//! monitoring tools: `/api/push/{token}?status=up&msg=OK&ping=12`.

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::verdict::Report;
use wakeful_engine::Error;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::{collect_json, malformed};
use crate::client_ip::ClientIp;
use crate::dto::alertmanager::{self, AlertmanagerWebhook};
use crate::dto::enums::ReportStatus;
use crate::dto::history::load_time;
use crate::error::{ApiError, ErrorBody};
use crate::query::Query;

#[derive(Serialize, ToSchema)]
pub(crate) struct Pushed {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    msg: Option<&'static str>,
}

pub(super) fn public() -> ApiRouter {
    ApiRouter::new().routes(routes!(push_status)).routes(routes!(push_alertmanager))
}

/// Reports a status through a monitor's push URL; `status` defaults to up.
#[utoipa::path(method(get, post, put, patch, delete), path = "/api/push/{token}", tag = "Monitors",
    params(
        ("token" = String, Path, description = "The end of the monitor's push_url"),
        ("status" = Option<ReportStatus>, Query, description = "Default: up"),
        ("msg" = Option<String>, Query, description = "The message"),
        ("ping" = Option<String>, Query, description = "Load time in milliseconds")),
    responses(
        (status = 200, description = "Recorded", body = Pushed),
        (status = 404, description = "No active monitor has this push URL", body = Pushed),
        (status = 400, description = "The query cannot be parsed", body = ErrorBody),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn push_status(
    State(api): State<Api>,
    ClientIp(client): ClientIp,
    Path(token): Path<String>,
    Query(mut query): Query,
) -> Result<Response, ApiError> {
    let limits = api.push_limits();
    limits.check(client)?;
    let report = query.optional("status", Report::parse);
    let message = query.optional_text("msg");
    let ping = query.optional_text("ping");
    let report = report.or_else(|| Report::parse("up").ok());
    let mut report = query.finish(report)?;
    if let Some(message) = message.filter(|message| !message.trim().is_empty()) {
        report = report.with_message(&message);
    }
    // Clients send an empty or malformed `ping` if they measured nothing.
    if let Some(span) = ping.and_then(|ping| load_time(ping.trim().parse().ok()?)) {
        report = report.with_load_time(span);
    }
    let turn = api.engine().lookup_turn(client).await?;
    let target = api.engine().push_target(&token).await?;
    drop(turn);
    let Some(target) = target else {
        limits.count_unknown_token(client)?;
        return Ok(not_found());
    };
    limits.count_report(&token)?;
    match api.engine().report_by_push_token(target, report).await {
        Ok(_) => Ok(Json(Pushed { ok: true, msg: None }).into_response()),
        Err(Error::NotFound(_)) => Ok(not_found()),
        Err(error) => Err(error.into()),
    }
}

/// Reports a group of alerts of an Alertmanager, which calls this as a webhook. The monitor is
/// down while a group is firing.
#[utoipa::path(post, path = "/api/push/{token}/alertmanager", tag = "Monitors",
    request_body = AlertmanagerWebhook,
    params(("token" = String, Path, description = "The end of the monitor's push_url")),
    responses(
        (status = 200, description = "Recorded", body = Pushed),
        (status = 404, description = "No active monitor has this push URL", body = Pushed),
        (status = 422, description = "The body is not a webhook of version 4, or too many groups are firing", body = ErrorBody)))]
async fn push_alertmanager(
    State(api): State<Api>,
    ClientIp(client): ClientIp,
    Path(token): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let limits = api.push_limits();
    limits.check(client)?;
    // Before the body is read: it may be large.
    let turn = api.engine().lookup_turn(client).await?;
    let target = api.engine().push_target(&token).await?;
    drop(turn);
    let Some(target) = target else {
        limits.count_unknown_token(client)?;
        return Ok(not_found());
    };
    limits.count_report(&token)?;
    let body = collect_json(request, &api).await?;
    let group = alertmanager::read(&body).map_err(|error| malformed(&error))??;
    drop(body);
    match api.engine().report_group(target, &group).await {
        Ok(()) => Ok(Json(Pushed { ok: true, msg: None }).into_response()),
        Err(Error::NotFound(_)) => Ok(not_found()),
        Err(error) => Err(error.into()),
    }
}

fn not_found() -> Response {
    let msg = Some("Monitor not found or not active.");
    (StatusCode::NOT_FOUND, Json(Pushed { ok: false, msg })).into_response()
}
