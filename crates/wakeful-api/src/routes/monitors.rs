//! The monitors of the caller's team, one at a time.

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use std::time::Duration;
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::MonitorId;
use wakeful_core::monitors::{Monitor, Spec};
use wakeful_engine::Authorized;
use wakeful_engine::MonitorView;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::dto::history::{HeartbeatAnswer, Notify};
use crate::dto::monitors::api::{ScheduleRequest, ScheduleTimes, read_schedule};
use crate::dto::monitors::response::{MonitorAnswer, MonitorWhole, PushRotated};
use crate::dto::monitors::{MonitorBody, SaveMonitor, assertions, request};
use crate::dto::{Ack, Fields};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::layers::REQUEST_TIMEOUT;
use crate::path_id;

/// How long a trial check may take with the wait for its turn: less than a request may take,
/// so that the caller gets a result.
const MAX_TRY_DURATION: Duration = Duration::from_secs(28);
const _: () = assert!(MAX_TRY_DURATION.as_secs() < REQUEST_TIMEOUT.as_secs());

const PASSWORD_DROPPED: &str = "Monitor saved. The stored password was deleted because the URL now points to another server; send it again.";

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::View, routes!(get_monitor)))
        .routes(needs(Permission::Edit, routes!(delete_monitor)))
        .routes(needs(Permission::Edit, routes!(save_monitor)))
        .routes(needs(Permission::Report, routes!(report_status)))
        .routes(needs(Permission::Edit, routes!(rotate_push_url)))
        .routes(needs(Permission::Respond, routes!(check_monitor)))
        .routes(needs(Permission::Edit, routes!(try_check)))
        .routes(needs(Permission::Edit, routes!(show_schedule)))
        .routes(needs(Permission::Edit, routes!(accept_values)))
}

/// Returns a monitor with all its details.
#[utoipa::path(get, path = "/api/v1/monitor/{monitorid}/get", tag = "Monitors",
    params(("monitorid" = String, Path, description = "The monitor's id")),
    responses(
        (status = 200, description = "The monitor", body = MonitorWhole<'static>),
        (status = 404, description = "The team has no such monitor", body = ErrorBody)))]
async fn get_monitor(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Path(monitorid): Path<String>,
) -> Result<Response, ApiError> {
    let id = monitor_id(&monitorid)?;
    let view = api.engine().monitor(&caller, id).await?;
    let certificate = if view.monitor.spec.sees_certificates() {
        api.engine().certificate(&caller, id).await?.map(Into::into)
    } else {
        None
    };
    let monitor = monitor_body(&api, &view);
    Ok(Json(MonitorWhole { success: true, monitor, certificate }).into_response())
}

/// Deletes a monitor and its history.
#[utoipa::path(delete, path = "/api/v1/monitor/{monitorid}/delete", tag = "Monitors",
    params(("monitorid" = String, Path, description = "The monitor's id")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 404, description = "The team has no such monitor", body = ErrorBody)))]
async fn delete_monitor(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(monitorid): Path<String>,
) -> ApiResult<Ack> {
    api.engine().delete_monitor(&caller, monitor_id(&monitorid)?).await?;
    Ack::with_message("Monitor and its history deleted.")
}

/// Creates a monitor, or changes the one with the given `monitorid`. Omitted fields retain
/// their values.
#[utoipa::path(post, path = "/api/v1/monitor/save", tag = "Monitors", request_body = SaveMonitor,
    responses(
        (status = 200, description = "Saved", body = MonitorAnswer<'static>),
        (status = 403, description = "The team's plan does not allow it", body = ErrorBody),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 409, description = "Modified concurrently, or `expected_revision` is not the stored one; nothing was saved", body = ErrorBody)))]
async fn save_monitor(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Body(mut fields): Body<Fields>,
) -> Result<Response, ApiError> {
    let id =
        fields.optional_text("monitorid").map(|monitorid| monitor_id(&monitorid)).transpose()?;
    let revision = request::revision(&mut fields);
    let mut password_dropped = false;
    let merge = |stored: Option<&Monitor>| {
        let mut fields = fields.reread();
        let draft = request::draft(&mut fields, stored);
        let (old, new) = (stored, draft.as_ref());
        password_dropped =
            old.zip(new).is_some_and(|(old, new)| request::drops_password(&mut fields, old, new));
        fields.finish(draft)
    };
    let view = api.engine().save_monitor(&caller, id, revision, merge).await?;
    let message = if password_dropped { PASSWORD_DROPPED } else { "Monitor saved." };
    let (message, monitor) = (message.into(), monitor_body(&api, &view));
    Ok(Json(MonitorAnswer { success: true, message, monitor }).into_response())
}

/// Reports the status of a monitor, which records one heartbeat with that status.
#[utoipa::path(post, path = "/api/v1/monitor/notify/{monitorid}", tag = "Monitors",
    params(("monitorid" = String, Path, description = "The monitor's id")),
    request_body = Notify,
    responses(
        (status = 200, description = "Recorded", body = Ack),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 409, description = "The monitor is not active", body = ErrorBody)))]
async fn report_status(
    State(api): State<Api>,
    caller: Authorized<permission::Report>,
    Path(monitorid): Path<String>,
    Body(wanted): Body<Notify>,
) -> ApiResult<Ack> {
    let (report, payload) = wanted.into_parts();
    api.engine().report_status(&caller, monitor_id(&monitorid)?, report, payload).await?;
    Ack::with_message("Report recorded.")
}

/// Replaces a monitor's push URL, for example after it has leaked. The old one stops
/// working immediately.
#[utoipa::path(post, path = "/api/v1/monitor/{monitorid}/push/rotate", tag = "Monitors",
    params(("monitorid" = String, Path, description = "The monitor's id")),
    responses(
        (status = 200, description = "The new push URL", body = PushRotated),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 409, description = "The monitor has no push URL, or was modified concurrently", body = ErrorBody)))]
async fn rotate_push_url(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(monitorid): Path<String>,
) -> ApiResult<PushRotated> {
    let token = api.engine().rotate_push_token(&caller, monitor_id(&monitorid)?).await?;
    Ok(Json(PushRotated::of(api.engine().public_url(), &token)))
}

/// Checks a monitor now. The result counts like that of any other check.
#[utoipa::path(post, path = "/api/v1/monitor/{monitorid}/check", tag = "Monitors",
    params(("monitorid" = String, Path, description = "The monitor's id")),
    responses(
        (status = 200, description = "The result", body = HeartbeatAnswer),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 409, description = "The monitor is not active, or is of type api", body = ErrorBody)))]
async fn check_monitor(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(monitorid): Path<String>,
) -> ApiResult<HeartbeatAnswer> {
    let outcome = api.engine().check_now(&caller, monitor_id(&monitorid)?).await?;
    Ok(Json(HeartbeatAnswer::of(outcome)))
}

/// Runs a check once with the given settings and the timeout that the monitor would have.
/// Nothing is stored.
#[utoipa::path(post, path = "/api/v1/monitor/try", tag = "Monitors", request_body = SaveMonitor,
    responses(
        (status = 200, description = "The result", body = HeartbeatAnswer),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 409, description = "Monitors of type api cannot be checked on demand", body = ErrorBody)))]
async fn try_check(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<HeartbeatAnswer> {
    let stored = match fields.optional_text("monitorid") {
        Some(monitorid) => {
            Some(api.engine().monitor_to_edit(&caller, monitor_id(&monitorid)?).await?)
        }
        None => None,
    };
    let stored = stored.as_ref();
    let spec = request::spec(&mut fields, stored);
    let timeout = request::timeout(&mut fields, stored);
    let upside_down = fields.optional_flag("upside_down_mode").unwrap_or(false);
    let kind = spec.as_ref().map(Spec::kind);
    let assertions = assertions::read(&mut fields, stored, kind, upside_down);
    let spec = fields.finish(spec)?;
    let trial = api.engine().try_check(&caller, &spec, &assertions, timeout, MAX_TRY_DURATION);
    Ok(Json(HeartbeatAnswer::of(trial.await?)))
}

/// Accepts the current values of the pinned assertions of a monitor, which are read by its next
/// check.
#[utoipa::path(post, path = "/api/v1/monitor/{monitorid}/accept", tag = "Monitors",
    params(("monitorid" = String, Path, description = "The monitor's id")),
    responses(
        (status = 200, description = "Accepted", body = Ack),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 409, description = "The monitor has no pinned assertion, or was modified concurrently", body = ErrorBody)))]
async fn accept_values(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(monitorid): Path<String>,
) -> ApiResult<Ack> {
    api.engine().accept_values(&caller, monitor_id(&monitorid)?).await?;
    Ack::with_message("Accepted. The next check reads the new values.")
}

/// Returns the next times of a schedule of an api monitor. Nothing is stored.
#[utoipa::path(post, path = "/api/v1/monitor/schedule", tag = "Monitors",
    request_body = ScheduleRequest,
    responses((status = 200, description = "The next times", body = ScheduleTimes)))]
async fn show_schedule(
    State(api): State<Api>,
    _caller: Authorized<permission::Edit>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<ScheduleTimes> {
    let schedule = read_schedule(&mut fields);
    let schedule = fields.finish(schedule)?;
    Ok(Json(ScheduleTimes::of(&schedule, api.engine().now())))
}

pub(super) fn monitor_id(text: &str) -> Result<MonitorId, ApiError> {
    path_id::parse(text, "monitor", MonitorId::parse)
}

pub(super) fn monitor_body<'a>(api: &Api, view: &'a MonitorView) -> MonitorBody<'a> {
    MonitorBody::of(view, api.engine().public_url())
}
