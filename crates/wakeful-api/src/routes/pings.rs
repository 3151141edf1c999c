//! The pings of api monitors, and the ping key of the team.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::MonitorId;
use wakeful_engine::Authorized;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::caller::needs;
use crate::dto::pings::{PingKey, PingList};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::path_id;
use crate::query::{self, Query};

const DEFAULT_LIMIT: u32 = 20;

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::View, routes!(list_pings)))
        .routes(needs(Permission::Edit, routes!(get_ping_body)))
        .routes(needs(Permission::Edit, routes!(get_ping_key)))
        .routes(needs(Permission::Edit, routes!(rotate_ping_key)))
}

/// Lists the latest pings of a monitor, newest first.
#[utoipa::path(get, path = "/api/v1/monitor/{monitorid}/pings", tag = "Monitors",
    params(
        ("monitorid" = String, Path, description = "The monitor's id"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "How many; 20 unless set. At most 100 are stored")),
    responses(
        (status = 200, description = "The pings", body = PingList),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_pings(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Path(monitorid): Path<String>,
    Query(mut query): Query,
) -> ApiResult<PingList> {
    let limit = query::limit(&mut query);
    let limit = query.finish(Some(limit))?.unwrap_or(DEFAULT_LIMIT);
    let found = api.engine().pings(&caller, monitor_id(&monitorid)?, limit, None).await?;
    Ok(Json(PingList::of(found)))
}

/// Returns the stored part of a ping's body: what the job printed.
#[utoipa::path(get, path = "/api/v1/monitor/{monitorid}/pings/{n}/body", tag = "Monitors",
    params(
        ("monitorid" = String, Path, description = "The monitor's id"),
        ("n" = String, Path, description = "The number of the ping")),
    responses(
        (status = 200, description = "The body", body = String, content_type = "text/plain"),
        (status = 404, description = "There is no such ping, or it has no body", body = ErrorBody)))]
async fn get_ping_body(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path((monitorid, n)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let n = path_id::parse(&n, "ping", |n| n.parse().ok())?;
    let id = path_id::parse(&monitorid, "ping", MonitorId::parse)?;
    let body = api.engine().ping_body(&caller, id, n).await?;
    let text = String::from_utf8_lossy(&body).into_owned();
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

/// Returns the team's ping key, with which jobs report by slug. The first call creates it.
#[utoipa::path(get, path = "/api/v1/team/pingkey", tag = "Team",
    responses((status = 200, description = "The ping key", body = PingKey)))]
async fn get_ping_key(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
) -> ApiResult<PingKey> {
    let key = api.engine().ping_key(&caller).await?;
    Ok(Json(PingKey::of(api.engine().public_url(), &key)))
}

/// Creates a new ping key. The old one stops working immediately.
#[utoipa::path(post, path = "/api/v1/team/pingkey/rotate", tag = "Team",
    responses((status = 200, description = "The new ping key", body = PingKey)))]
async fn rotate_ping_key(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
) -> ApiResult<PingKey> {
    let key = api.engine().rotate_ping_key(&caller).await?;
    Ok(Json(PingKey::of(api.engine().public_url(), &key)))
}

fn monitor_id(text: &str) -> Result<MonitorId, ApiError> {
    path_id::parse(text, "monitor", MonitorId::parse)
}
