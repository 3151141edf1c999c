//! The routing rules of the caller's team.

use axum::Json;
use axum::extract::State;
use wakeful_core::access::{Permission, permission};
use wakeful_engine::{Authorized, TryRouting};

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::dto::Fields;
use crate::dto::routing::{self as dto, RoutingBody, RoutingTried, SaveRouting, TryRoutingBody};
use crate::error::{ApiResult, ErrorBody};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::View, routes!(get_routing)))
        .routes(needs(Permission::Edit, routes!(save_routing)))
        .routes(needs(Permission::View, routes!(try_routing)))
}

/// The routing rules of the team.
#[utoipa::path(get, path = "/api/v1/routing", tag = "On call",
    responses((status = 200, description = "The rules", body = RoutingBody)))]
async fn get_routing(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
) -> ApiResult<RoutingBody> {
    Ok(Json(RoutingBody::of("", api.engine().routing(&caller).await?)))
}

/// Replaces the routing rules of the team. They apply to alerts that open from then on.
#[utoipa::path(post, path = "/api/v1/routing/save", tag = "On call", request_body = SaveRouting,
    responses(
        (status = 200, description = "The rules as saved", body = RoutingBody),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 409, description = "Modified concurrently; nothing was saved", body = ErrorBody)))]
async fn save_routing(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<RoutingBody> {
    let read = dto::read(&mut fields);
    let (rules, revision) = fields.finish(read)?;
    let saved = api.engine().save_routing(&caller, &rules, revision).await?;
    Ok(Json(RoutingBody::of("Routing saved.", saved)))
}

/// Shows who would be notified of an alert of a monitor, over the full length of its escalation
/// policy, if nobody responded. Nothing is sent.
#[utoipa::path(post, path = "/api/v1/routing/try", tag = "On call", request_body = TryRoutingBody,
    responses(
        (status = 200, description = "What would happen", body = RoutingTried),
        (status = 404, description = "The team has no such monitor", body = ErrorBody)))]
async fn try_routing(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Body(wanted): Body<TryRoutingBody>,
) -> ApiResult<RoutingTried> {
    let TryRoutingBody { monitorid: monitor, kind, severity, at } = wanted;
    let tried = TryRouting { monitor, kind, severity, at };
    Ok(Json(RoutingTried::of(api.engine().try_routing(&caller, tried).await?)))
}
