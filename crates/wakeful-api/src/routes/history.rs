//! What happened to monitors: heartbeats and alerts, newest first.

use axum::Json;
use axum::extract::{Path, State};
use std::time::Duration;
use wakeful_core::Invalid;
use wakeful_core::id::{AlertId, MonitorId};
use wakeful_core::time::Millis;
use wakeful_engine::{Place, Span};

use super::monitors::id;
use crate::app::Api;
use crate::caller::Caller;
use crate::error::{ApiResult, ErrorBody};
use crate::query::{self, Query};
use crate::wire::{AlertBody, AlertList, Fields, HeartbeatBody, HeartbeatList};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// Heartbeats of a day at a second each would be a burden to both sides.
const MOST_AT_ONCE: u32 = 1000;

/// The heartbeats of a monitor: of the last day, or from `from` until `to`.
#[utoipa::path(get, path = "/api/v1/monitor/{monitorid}/heartbeats", tag = "Monitors",
    params(
        ("monitorid" = String, Path, description = "The monitor's id"),
        ("from" = Option<String>, Query, format = DateTime, description = "Not before; default: a day before `to`"),
        ("to" = Option<String>, Query, format = DateTime, description = "Before; default: now"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Heartbeats a page; default: 1000"),
        ("cursor" = Option<String>, Query, description = "next_cursor of the page before")),
    responses(
        (status = 200, description = "The heartbeats", body = HeartbeatList),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn heartbeats(
    State(api): State<Api>,
    caller: Caller,
    Path(monitorid): Path<String>,
    Query(mut query): Query,
) -> ApiResult<HeartbeatList> {
    let id = id(&monitorid)?;
    let to = time(&mut query, "to")
        .unwrap_or_else(|| api.engine().now().after(Duration::from_millis(1)));
    let from = time(&mut query, "from").unwrap_or_else(|| to.before(DAY));
    // Who asks for what comes from now on, by a clock that is ahead, is told: nothing yet.
    if query.has("to") && from > to {
        query.refuse("to", "must be later than from");
    }
    let limit = query::limit(&mut query).or(Some(MOST_AT_ONCE));
    let before = query::cursor(&mut query, place);
    let span = query.finish(Some(Span { from, to, limit, before }))?;
    let page = api.engine().heartbeats(&caller.who, id, &span).await?;
    let next = page.next.map(|place| format!("{}.{}", place.at.0, place.seq));
    Ok(Json(HeartbeatList {
        success: true,
        heartbeats: page.items.iter().map(HeartbeatBody::of).collect(),
        next_cursor: query::next(limit, next),
    }))
}

pub(super) fn time(query: &mut Fields, field: &str) -> Option<Millis> {
    query.optional(field, |text| {
        Millis::parse(text)
            .ok_or_else(|| Invalid::new("must be a time such as 2026-11-15T09:30:00Z"))
    })
}

fn place(text: &str) -> Option<Place> {
    let (at, seq) = text.split_once('.')?;
    Some(Place { at: Millis(at.parse().ok()?), seq: seq.parse().ok()? })
}

/// The team's alerts: each outage or warning with what became of telling it.
#[utoipa::path(get, path = "/api/v1/alerts", tag = "Alerts",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Alerts a page"),
        ("cursor" = Option<String>, Query, description = "next_cursor of the page before")),
    responses(
        (status = 200, description = "The alerts", body = AlertList),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn alerts(
    State(api): State<Api>,
    caller: Caller,
    Query(query): Query,
) -> ApiResult<AlertList> {
    page(&api, &caller, None, query).await
}

/// The alerts of one monitor.
#[utoipa::path(get, path = "/api/v1/monitor/{monitorid}/alerts", tag = "Alerts",
    params(
        ("monitorid" = String, Path, description = "The monitor's id"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Alerts a page"),
        ("cursor" = Option<String>, Query, description = "next_cursor of the page before")),
    responses(
        (status = 200, description = "The alerts", body = AlertList),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn monitor_alerts(
    State(api): State<Api>,
    caller: Caller,
    Path(monitorid): Path<String>,
    Query(query): Query,
) -> ApiResult<AlertList> {
    page(&api, &caller, Some(id(&monitorid)?), query).await
}

async fn page(
    api: &Api,
    caller: &Caller,
    monitor: Option<MonitorId>,
    mut query: Fields,
) -> ApiResult<AlertList> {
    let limit = query::limit(&mut query);
    let before = query::cursor(&mut query, AlertId::parse);
    let (limit, before) = query.finish(Some((limit, before)))?;
    let page = api.engine().alerts(&caller.who, monitor, before, limit).await?;
    let next = page.next.map(|id| id.to_string());
    Ok(Json(AlertList {
        success: true,
        alerts: page.items.iter().map(AlertBody::of).collect(),
        next_cursor: query::next(limit, next),
    }))
}
