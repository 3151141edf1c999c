//! The maintenance windows of the caller's team.

use axum::Json;
use axum::extract::{Path, State};
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::{MaintenanceId, MonitorId};
use wakeful_core::maintenance::Window;
use wakeful_core::time::Millis;
use wakeful_engine::{Authorized, WindowQuery};

use super::history::time;
use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::dto::enums::MaintenanceStatus;
use crate::dto::maintenances::{
    self as dto, ExtendMaintenance, MaintenanceAnswer, MaintenanceBody, MaintenanceList,
    MaintenanceTried, MaintenanceWhole, SaveMaintenance,
};
use crate::dto::{Ack, Fields};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::path_id;
use crate::query::{ListPage, Query};

/// How many occurrences a single window shows.
const OCCURRENCES: usize = 10;

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::View, routes!(list_maintenances)))
        .routes(needs(Permission::View, routes!(get_maintenance)))
        .routes(needs(Permission::Respond, routes!(save_maintenance)))
        .routes(needs(Permission::Respond, routes!(try_maintenance)))
        .routes(needs(Permission::Respond, routes!(end_maintenance)))
        .routes(needs(Permission::Respond, routes!(extend_maintenance)))
        .routes(needs(Permission::Respond, routes!(delete_maintenance)))
}

/// Lists the team's maintenance windows.
#[utoipa::path(get, path = "/api/v1/maintenances", tag = "Maintenance",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Windows per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
        ("status" = Option<MaintenanceStatus>, Query, description = "Only this status"),
        ("monitorid" = Option<String>, Query, description = "Only windows that cover this monitor"),
        ("from" = Option<String>, Query, format = DateTime, description = "Only windows that run at this time or later"),
        ("to" = Option<String>, Query, format = DateTime, description = "Only windows that run before this time")),
    responses(
        (status = 200, description = "The windows", body = MaintenanceList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_maintenances(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Query(mut query): Query,
) -> ApiResult<MaintenanceList> {
    let wanted = WindowQuery {
        status: query.optional("status", dto::parse_status),
        // What is not an id is treated like an unknown one.
        monitor: query
            .optional_text("monitorid")
            .map(|text| MonitorId::parse(&text).unwrap_or(MonitorId::new(Millis(0), [0; 10]))),
        from: time(&mut query, "from"),
        to: time(&mut query, "to"),
    };
    let part = ListPage::read(Query(query), MaintenanceId::parse)?;
    let views = api.engine().maintenances(&caller, &wanted).await?;
    let (views, next_cursor) = part.paginate(views, |view| view.window.id, |id| id.to_string());
    let maintenances = views.into_iter().map(MaintenanceBody::of).collect();
    Ok(Json(MaintenanceList { success: true, maintenances, next_cursor }))
}

/// A maintenance window and its next ten occurrences.
#[utoipa::path(get, path = "/api/v1/maintenance/{maintenanceid}/get", tag = "Maintenance",
    params(("maintenanceid" = String, Path, description = "The window's id")),
    responses(
        (status = 200, description = "The window", body = MaintenanceWhole),
        (status = 404, description = "The team has no such window", body = ErrorBody)))]
async fn get_maintenance(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Path(maintenanceid): Path<String>,
) -> ApiResult<MaintenanceWhole> {
    let id = id(&maintenanceid)?;
    let (view, occurrences) = api.engine().maintenance(&caller, id, OCCURRENCES).await?;
    Ok(Json(MaintenanceWhole::of(view, &occurrences)))
}

/// Creates a maintenance window, or changes the one with the given `maintenanceid`. Omitted
/// fields retain their values. A change takes effect immediately, also on an occurrence that is
/// running. For a window that lies entirely in the past, `checks`, `alerts` and `announce` are
/// ignored, and statistics are corrected within a minute.
#[utoipa::path(post, path = "/api/v1/maintenance/save", tag = "Maintenance",
    request_body = SaveMaintenance,
    responses(
        (status = 200, description = "The window as saved", body = MaintenanceAnswer),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such window", body = ErrorBody),
        (status = 409, description = "Modified concurrently, or the team has the maximum number of windows; nothing was saved", body = ErrorBody)))]
async fn save_maintenance(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<MaintenanceAnswer> {
    let id = optional_id(&mut fields)?;
    let merge = |stored: Option<&Window>| read(&fields, stored);
    let view = api.engine().save_maintenance(&caller, id, merge).await?;
    Ok(Json(MaintenanceAnswer::of("Maintenance window saved.", view)))
}

/// Shows what a maintenance window would do: its next occurrences and the monitors it would
/// cover. Nothing is stored.
#[utoipa::path(post, path = "/api/v1/maintenance/try", tag = "Maintenance",
    request_body = SaveMaintenance,
    responses(
        (status = 200, description = "What it would do", body = MaintenanceTried),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such window", body = ErrorBody)))]
async fn try_maintenance(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<MaintenanceTried> {
    let id = optional_id(&mut fields)?;
    let merge = |stored: Option<&Window>| read(&fields, stored);
    Ok(Json(MaintenanceTried::of(api.engine().try_maintenance(&caller, id, merge).await?)))
}

/// Ends the occurrence that is running. The next one happens as planned.
#[utoipa::path(post, path = "/api/v1/maintenance/{maintenanceid}/end", tag = "Maintenance",
    params(("maintenanceid" = String, Path, description = "The window's id")),
    responses(
        (status = 200, description = "Ended", body = MaintenanceAnswer),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such window", body = ErrorBody),
        (status = 409, description = "No occurrence is running", body = ErrorBody)))]
async fn end_maintenance(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(maintenanceid): Path<String>,
) -> ApiResult<MaintenanceAnswer> {
    let view = api.engine().end_maintenance(&caller, id(&maintenanceid)?).await?;
    Ok(Json(MaintenanceAnswer::of("Maintenance ended.", view)))
}

/// Extends the occurrence that is running.
#[utoipa::path(post, path = "/api/v1/maintenance/{maintenanceid}/extend", tag = "Maintenance",
    params(("maintenanceid" = String, Path, description = "The window's id")),
    request_body = ExtendMaintenance,
    responses(
        (status = 200, description = "Extended", body = MaintenanceAnswer),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such window", body = ErrorBody),
        (status = 409, description = "No occurrence is running", body = ErrorBody)))]
async fn extend_maintenance(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(maintenanceid): Path<String>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<MaintenanceAnswer> {
    let id = id(&maintenanceid)?;
    let until = dto::until(&mut fields);
    let until = fields.finish(until)?;
    let view = api.engine().extend_maintenance(&caller, id, until).await?;
    Ok(Json(MaintenanceAnswer::of("Maintenance extended.", view)))
}

/// Deletes a maintenance window. An occurrence that is running ends; what was recorded remains.
#[utoipa::path(delete, path = "/api/v1/maintenance/{maintenanceid}/delete", tag = "Maintenance",
    params(("maintenanceid" = String, Path, description = "The window's id")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such window", body = ErrorBody)))]
async fn delete_maintenance(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(maintenanceid): Path<String>,
) -> ApiResult<Ack> {
    api.engine().delete_maintenance(&caller, id(&maintenanceid)?).await?;
    Ack::with_message("Maintenance window deleted.")
}

/// The stored window with the sent fields applied, or all errors at once.
fn read(fields: &Fields, stored: Option<&Window>) -> Result<wakeful_engine::WindowDraft, ApiError> {
    let mut fields = fields.reread();
    let draft = dto::draft(&mut fields, stored);
    fields.finish(draft)
}

fn optional_id(fields: &mut Fields) -> Result<Option<MaintenanceId>, ApiError> {
    fields.optional_text("maintenanceid").map(|text| id(&text)).transpose()
}

fn id(text: &str) -> Result<MaintenanceId, ApiError> {
    path_id::parse(text, "maintenance window", MaintenanceId::parse)
}
