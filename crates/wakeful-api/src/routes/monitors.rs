//! The monitors of the caller's team, one at a time.

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use std::time::Duration;
use wakeful_core::id::MonitorId;
use wakeful_core::monitor::Monitor;
use wakeful_engine::MonitorView;

use crate::app::Api;
use crate::body::Body;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::pathid;
use crate::wire::monitors as wire;
use crate::wire::{
    Done, Fields, HeartbeatAnswer, MonitorAnswer, MonitorBody, MonitorWhole, Notify, PushRotated,
    SaveMonitor,
};

/// How long a check that is only tried may take, unless the caller says.
const TRY_WITHIN: Duration = Duration::from_secs(10);

const PASSWORD_LEFT_BEHIND: &str = "The monitor was saved. The password was not kept, because the address is now another server's; send it again.";

/// Tells all of one monitor.
#[utoipa::path(get, path = "/api/v1/monitor/{monitorid}/get", tag = "Monitors",
    params(("monitorid" = String, Path, description = "The monitor's id")),
    responses(
        (status = 200, description = "The monitor", body = MonitorWhole<'static>),
        (status = 404, description = "The team has no such monitor", body = ErrorBody)))]
pub(crate) async fn get(
    State(api): State<Api>,
    caller: Caller,
    Path(monitorid): Path<String>,
) -> Result<Response, ApiError> {
    let id = id(&monitorid)?;
    let view = api.engine().monitor(&caller.who, id).await?;
    let certificate = match view.monitor.spec.http() {
        Some(_) => api.engine().certificate(&caller.who, id).await?.map(Into::into),
        None => None,
    };
    let monitor = show(&api, &view);
    Ok(Json(MonitorWhole { success: true, monitor, certificate }).into_response())
}

/// Deletes a monitor with everything that is known of it.
#[utoipa::path(delete, path = "/api/v1/monitor/{monitorid}/delete", tag = "Monitors",
    params(("monitorid" = String, Path, description = "The monitor's id")),
    responses(
        (status = 200, description = "Deleted", body = Done),
        (status = 404, description = "The team has no such monitor", body = ErrorBody)))]
pub(crate) async fn delete(
    State(api): State<Api>,
    caller: Caller,
    Path(monitorid): Path<String>,
) -> ApiResult<Done> {
    api.engine().delete_monitor(&caller.who, id(&monitorid)?).await?;
    Done::say("The monitor and its history are deleted.")
}

/// Creates a monitor, or changes the one whose `monitorid` is given; what a
/// change leaves out stays as it is.
#[utoipa::path(post, path = "/api/v1/monitor/save", tag = "Monitors", request_body = SaveMonitor,
    responses(
        (status = 200, description = "Saved", body = MonitorAnswer<'static>),
        (status = 403, description = "The team's plan does not allow it", body = ErrorBody),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 409, description = "Others keep changing it; nothing was saved", body = ErrorBody)))]
pub(crate) async fn save(
    State(api): State<Api>,
    caller: Caller,
    Body(mut fields): Body<Fields>,
) -> Result<Response, ApiError> {
    let id = fields.optional_text("monitorid").map(|monitorid| id(&monitorid)).transpose()?;
    let mut left_behind = false;
    let merge = |stored: Option<&Monitor>| {
        let mut fields = fields.again();
        let draft = wire::draft(&mut fields, stored);
        let (old, new) = (stored, draft.as_ref());
        left_behind =
            old.zip(new).is_some_and(|(old, new)| wire::leaves_password(&mut fields, old, new));
        fields.finish(draft)
    };
    let view = api.engine().save_monitor(&caller.who, id, merge).await?;
    let message = match left_behind {
        true => PASSWORD_LEFT_BEHIND,
        false => "The monitor was saved.",
    };
    let (message, monitor) = (message.into(), show(&api, &view));
    Ok(Json(MonitorAnswer { success: true, message, monitor }).into_response())
}

/// Reports a status to a monitor: one heartbeat with that status.
#[utoipa::path(post, path = "/api/v1/monitor/notify/{monitorid}", tag = "Monitors",
    params(("monitorid" = String, Path, description = "The monitor's id")),
    request_body = Notify,
    responses(
        (status = 200, description = "Noted", body = Done),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 409, description = "The monitor is not active", body = ErrorBody)))]
pub(crate) async fn notify(
    State(api): State<Api>,
    caller: Caller,
    Path(monitorid): Path<String>,
    Body(wanted): Body<Notify>,
) -> ApiResult<Done> {
    let (report, payload) = wanted.into_parts();
    api.engine().notify(&caller.who, id(&monitorid)?, report, payload).await?;
    Done::say("The report was noted.")
}

/// Replaces a monitor's push address, such as one that has leaked. The old one stops
/// working at once.
#[utoipa::path(post, path = "/api/v1/monitor/{monitorid}/push/rotate", tag = "Monitors",
    params(("monitorid" = String, Path, description = "The monitor's id")),
    responses(
        (status = 200, description = "The new push address", body = PushRotated),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 409, description = "The monitor has no push address, or others keep changing it", body = ErrorBody)))]
pub(crate) async fn rotate_push_url(
    State(api): State<Api>,
    caller: Caller,
    Path(monitorid): Path<String>,
) -> ApiResult<PushRotated> {
    let token = api.engine().rotate_push_token(&caller.who, id(&monitorid)?).await?;
    Ok(Json(PushRotated::of(api.engine().public_url(), &token)))
}

/// Checks a monitor now; it counts as any other check.
#[utoipa::path(post, path = "/api/v1/monitor/{monitorid}/check", tag = "Monitors",
    params(("monitorid" = String, Path, description = "The monitor's id")),
    responses(
        (status = 200, description = "What was seen", body = HeartbeatAnswer),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 409, description = "The monitor is not active, or only listens", body = ErrorBody)))]
pub(crate) async fn check(
    State(api): State<Api>,
    caller: Caller,
    Path(monitorid): Path<String>,
) -> ApiResult<HeartbeatAnswer> {
    let heartbeat = api.engine().check_now(&caller.who, id(&monitorid)?).await?;
    Ok(Json(HeartbeatAnswer::of(&heartbeat)))
}

/// Looks once at what a monitor would watch, and keeps nothing.
#[utoipa::path(post, path = "/api/v1/monitor/try", tag = "Monitors", request_body = SaveMonitor,
    responses(
        (status = 200, description = "What was seen", body = HeartbeatAnswer),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 409, description = "A monitor of this type only listens", body = ErrorBody)))]
pub(crate) async fn try_it(
    State(api): State<Api>,
    caller: Caller,
    Body(mut fields): Body<Fields>,
) -> ApiResult<HeartbeatAnswer> {
    let stored = match fields.optional_text("monitorid") {
        Some(monitorid) => Some(api.engine().monitor(&caller.who, id(&monitorid)?).await?),
        None => None,
    };
    let spec = wire::spec(&mut fields, stored.as_ref().map(|view| &view.monitor));
    let timeout = wire::timeout(&mut fields).unwrap_or(TRY_WITHIN).min(TRY_WITHIN);
    let spec = fields.finish(spec)?;
    let heartbeat = api.engine().try_check(&caller.who, &spec, timeout).await?;
    Ok(Json(HeartbeatAnswer::of(&heartbeat)))
}

pub(super) fn id(text: &str) -> Result<MonitorId, ApiError> {
    pathid::parse(text, "monitor", MonitorId::parse)
}

pub(super) fn show<'a>(api: &Api, view: &'a MonitorView) -> MonitorBody<'a> {
    MonitorBody::of(&view.monitor, &view.state, &view.notifiers, api.engine().public_url())
}
