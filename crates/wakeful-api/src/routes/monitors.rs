//! The monitors of the caller's team.

use axum::Json;
use axum::extract::{Path, State};
use std::time::Duration;
use wakeful_core::Invalid;
use wakeful_core::id::MonitorId;
use wakeful_core::monitor::Kind;
use wakeful_core::verdict::Status;
use wakeful_engine::{MonitorFilter, MonitorView};

use crate::app::Api;
use crate::body::Body;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::pathid;
use crate::query::{self, Query};
use crate::wire::monitors as wire;
use crate::wire::{
    Done, Fields, HeartbeatAnswer, MonitorAnswer, MonitorBody, MonitorList, MonitorRow,
    MonitorRows, MonitorWhole, Notify, SaveMonitor,
};

/// How long a check that is only tried may take, unless the caller says.
const TRY_WITHIN: Duration = Duration::from_secs(10);

/// Lists the team's monitors: all of them, or a page when `limit` is given.
#[utoipa::path(get, path = "/api/v1/monitors", tag = "Monitors",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Monitors a page"),
        ("cursor" = Option<String>, Query, description = "next_cursor of the page before"),
        ("type" = Option<String>, Query, description = "Only this type"),
        ("status" = Option<String>, Query, description = "Only pending, up or down"),
        ("tag" = Option<String>, Query, description = "Only with this tag"),
        ("q" = Option<String>, Query, description = "Part of a name, target or tag")),
    responses(
        (status = 200, description = "The monitors", body = MonitorList),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    Query(query): Query,
) -> ApiResult<MonitorList> {
    let (monitors, next_cursor) = found(&api, &caller, query).await?;
    Ok(Json(MonitorList {
        success: true,
        // Each is let go of as it is shown: the list may be long.
        monitors: monitors.into_iter().map(|view| show(&api, &view)).collect(),
        next_cursor,
    }))
}

/// Lists the team's monitors as short rows, for lists that show many.
#[utoipa::path(get, path = "/api/v1/monitors/rows", tag = "Monitors",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Monitors a page"),
        ("cursor" = Option<String>, Query, description = "next_cursor of the page before"),
        ("type" = Option<String>, Query, description = "Only this type"),
        ("status" = Option<String>, Query, description = "Only pending, up or down"),
        ("tag" = Option<String>, Query, description = "Only with this tag"),
        ("q" = Option<String>, Query, description = "Part of a name, target or tag")),
    responses(
        (status = 200, description = "The monitors", body = MonitorRows),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn rows(
    State(api): State<Api>,
    caller: Caller,
    Query(query): Query,
) -> ApiResult<MonitorRows> {
    let (monitors, next_cursor) = found(&api, &caller, query).await?;
    Ok(Json(MonitorRows {
        success: true,
        monitors: monitors.iter().map(row).collect(),
        next_cursor,
    }))
}

/// The monitors that a query asks for, and where the next page begins.
async fn found(
    api: &Api,
    caller: &Caller,
    mut query: Fields,
) -> Result<(Vec<MonitorView>, Option<Option<String>>), ApiError> {
    let filter = filter(&mut query);
    let filter = query.finish(Some(filter))?;
    let page = api.engine().monitors(&caller.who, &filter).await?;
    let next = page.next.map(|id| id.to_string());
    Ok((page.items, query::next(filter.limit, next)))
}

fn filter(query: &mut Fields) -> MonitorFilter {
    MonitorFilter {
        kind: query.optional("type", Kind::parse),
        status: query.optional("status", |text| {
            Status::parse(text).ok_or_else(|| Invalid::new("must be pending, up or down"))
        }),
        tag: query.optional_text("tag"),
        q: query.optional_text("q"),
        limit: query::limit(query),
        after: query::cursor(query, MonitorId::parse),
    }
}

/// Tells all of one monitor.
#[utoipa::path(get, path = "/api/v1/monitor/{monitorid}/get", tag = "Monitors",
    params(("monitorid" = String, Path, description = "The monitor's id")),
    responses(
        (status = 200, description = "The monitor", body = MonitorWhole),
        (status = 404, description = "The team has no such monitor", body = ErrorBody)))]
pub(crate) async fn get(
    State(api): State<Api>,
    caller: Caller,
    Path(monitorid): Path<String>,
) -> ApiResult<MonitorWhole> {
    let id = id(&monitorid)?;
    let view = api.engine().monitor(&caller.who, id).await?;
    let certificate = match view.monitor.spec.http() {
        Some(_) => api.engine().certificate(&caller.who, id).await?.map(Into::into),
        None => None,
    };
    Ok(Json(MonitorWhole { success: true, monitor: show(&api, &view), certificate }))
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
        (status = 200, description = "Saved", body = MonitorAnswer),
        (status = 404, description = "The team has no such monitor", body = ErrorBody)))]
pub(crate) async fn save(
    State(api): State<Api>,
    caller: Caller,
    Body(mut fields): Body<Fields>,
) -> ApiResult<MonitorAnswer> {
    let stored = match fields.optional_text("monitorid") {
        Some(monitorid) => Some(api.engine().monitor(&caller.who, id(&monitorid)?).await?),
        None => None,
    };
    let draft = wire::draft(&mut fields, stored.as_ref().map(|view| &view.monitor));
    let draft = fields.finish(draft)?;
    let view = api.engine().save_monitor(&caller.who, draft).await?;
    let message = "The monitor was saved.".to_owned();
    Ok(Json(MonitorAnswer { success: true, message, monitor: show(&api, &view) }))
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

fn row(view: &MonitorView) -> MonitorRow {
    MonitorRow::of(&view.monitor, &view.state, &view.notifiers)
}

fn show(api: &Api, view: &MonitorView) -> MonitorBody {
    MonitorBody::of(&view.monitor, &view.state, &view.notifiers, api.engine().public_url())
}
