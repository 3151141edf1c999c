//! Changes and deletions of many monitors of the caller's team, each in one transaction.

use axum::Json;
use axum::extract::State;
use wakeful_core::access::{Permission, permission};
use wakeful_engine::Authorized;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::dto::Fields;
use crate::dto::monitors::bulk::{
    self as dto, ChangeMonitors, DeleteMonitors, MonitorsChanged, MonitorsDeleted,
};
use crate::error::{ApiResult, ErrorBody};
use crate::routes::monitors::monitor_id;

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::Edit, routes!(change_monitors)))
        .routes(needs(Permission::Edit, routes!(delete_monitors)))
}

/// Changes settings of many monitors: all or nothing.
#[utoipa::path(post, path = "/api/v1/monitors/change", tag = "Monitors",
    request_body = ChangeMonitors,
    responses(
        (status = 200, description = "Changed, or with `dry_run` what would change", body = MonitorsChanged),
        (status = 403, description = "The team's plan does not allow it", body = ErrorBody),
        (status = 404, description = "The team does not have one of the monitors; nothing was changed", body = ErrorBody),
        (status = 409, description = "Modified concurrently; nothing was changed", body = ErrorBody)))]
async fn change_monitors(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<MonitorsChanged> {
    let (selection, change) = (dto::selection(&mut fields), dto::change(&mut fields));
    let dry_run = dto::dry_run(&mut fields);
    let (selection, change) = fields.finish(selection.zip(change))?;
    let which = selection.resolve(monitor_id)?;
    let outcome = api.engine().change_monitors(&caller, &which, &change, dry_run).await?;
    Ok(Json(MonitorsChanged::of(outcome, dry_run)))
}

/// Deletes many monitors and their history: all or none.
#[utoipa::path(post, path = "/api/v1/monitors/delete", tag = "Monitors",
    request_body = DeleteMonitors,
    responses(
        (status = 200, description = "Deleted, or with `dry_run` what would be", body = MonitorsDeleted),
        (status = 404, description = "The team does not have one of the monitors; none was deleted", body = ErrorBody),
        (status = 409, description = "Modified concurrently; none was deleted", body = ErrorBody)))]
async fn delete_monitors(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<MonitorsDeleted> {
    let (selection, dry_run) = (dto::selection(&mut fields), dto::dry_run(&mut fields));
    let which = fields.finish(selection)?.resolve(monitor_id)?;
    let outcome = api.engine().delete_monitors(&caller, &which, dry_run).await?;
    Ok(Json(MonitorsDeleted::of(outcome, dry_run)))
}
