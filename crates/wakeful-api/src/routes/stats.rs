//! The statistics of monitors: uptime, outages and load times.

use axum::Json;
use axum::extract::{Path, State};
use std::time::Duration;
use wakeful_core::Invalid;
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::MonitorId;
use wakeful_engine::Authorized;

use super::history::time;
use super::monitors::monitor_id;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::caller::needs;
use crate::dto::Fields;
use crate::dto::stats::{SeriesBody, StatsBody, SummaryList};
use crate::error::{ApiResult, ErrorBody};
use crate::query::Query;

const DAY: Duration = Duration::from_secs(24 * 3600);
const DEFAULT_POINTS: u32 = 300;
const MAX_POINTS: u32 = 1_000;
const DEFAULT_BEATS: u32 = 40;
const MAX_BEATS: u32 = 100;
const MAX_IDS: usize = 200;
const MAX_APDEX_MS: u32 = 3_600_000;

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::View, routes!(get_monitor_stats)))
        .routes(needs(Permission::View, routes!(get_monitor_series)))
        .routes(needs(Permission::View, routes!(list_summaries)))
}

/// Returns the statistics of a monitor for the standard periods, or from `from` to `to`.
#[utoipa::path(get, path = "/api/v1/monitor/{monitorid}/stats", tag = "Monitors",
    params(
        ("monitorid" = String, Path, description = "The monitor's id"),
        ("from" = Option<String>, Query, format = DateTime, description = "With `to`: one range instead of the standard periods"),
        ("to" = Option<String>, Query, format = DateTime, description = "With `from`: the end of the range"),
        ("apdex" = Option<u32>, Query, minimum = 1, maximum = 3600000, description = "Adds the Apdex for this many milliseconds; default: the limit for slow checks, if the monitor has one")),
    responses(
        (status = 200, description = "The statistics", body = StatsBody),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn get_monitor_stats(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Path(monitorid): Path<String>,
    Query(mut query): Query,
) -> ApiResult<StatsBody> {
    let id = monitor_id(&monitorid)?;
    let (from, to) = (time(&mut query, "from"), time(&mut query, "to"));
    for (one, other) in [("from", "to"), ("to", "from")] {
        if query.has(other) && !query.has(one) {
            query.refuse(one, format!("is required with {other}"));
        }
    }
    if from.is_some() && to.is_some() && from >= to {
        query.refuse("to", "must be later than from");
    }
    let apdex = number(&mut query, "apdex", 1, MAX_APDEX_MS);
    let span = query.finish(Some(from.zip(to)))?;
    let apdex = apdex.map(|millis| Duration::from_millis(millis.into()));
    let stats = api.engine().monitor_stats(&caller, id, span, apdex).await?;
    Ok(Json(StatsBody::of(id, &stats)))
}

/// Returns a monitor's statistics in equal steps, for a chart.
#[utoipa::path(get, path = "/api/v1/monitor/{monitorid}/series", tag = "Monitors",
    params(
        ("monitorid" = String, Path, description = "The monitor's id"),
        ("from" = Option<String>, Query, format = DateTime, description = "Default: a day before `to`"),
        ("to" = Option<String>, Query, format = DateTime, description = "Default: now"),
        ("points" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "The maximum number of points; default: 300"),
        ("by" = Option<String>, Query, description = "`region`: adds the results of each region")),
    responses(
        (status = 200, description = "The points", body = SeriesBody),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn get_monitor_series(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Path(monitorid): Path<String>,
    Query(mut query): Query,
) -> ApiResult<SeriesBody> {
    let id = monitor_id(&monitorid)?;
    let to = time(&mut query, "to").unwrap_or_else(|| api.engine().now());
    let from = time(&mut query, "from").unwrap_or_else(|| to.before(DAY));
    if from >= to {
        query.refuse("to", "must be later than from");
    }
    let points = number(&mut query, "points", 1, MAX_POINTS).unwrap_or(DEFAULT_POINTS);
    let by_region = query.optional("by", |text| match text {
        "region" => Ok(()),
        _ => Err(Invalid::new("must be region")),
    });
    let points = query.finish(Some(points))?;
    let series = api.engine().series(&caller, id, from..to, points).await?;
    let lines = match by_region {
        Some(()) => Some(api.engine().region_series(&caller, id, &series).await?),
        None => None,
    };
    Ok(Json(SeriesBody::of(id, &series, lines)))
}

/// Returns short summaries of up to 200 monitors. Unknown ids are ignored.
#[utoipa::path(get, path = "/api/v1/monitors/summary", tag = "Monitors",
    params(
        ("ids" = String, Query, description = "1 to 200 comma-separated ids"),
        ("beats" = Option<u32>, Query, minimum = 0, maximum = 100, description = "The number of latest heartbeats of each; default: 40")),
    responses(
        (status = 200, description = "The summaries", body = SummaryList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_summaries(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Query(mut query): Query,
) -> ApiResult<SummaryList> {
    let ids = query.parse("ids", ids);
    let beats = number(&mut query, "beats", 0, MAX_BEATS).unwrap_or(DEFAULT_BEATS);
    let (ids, beats) = query.finish(ids.map(|ids| (ids, beats)))?;
    let summaries = api.engine().summaries(&caller, &ids, beats).await?;
    Ok(Json(SummaryList::of(&summaries)))
}

/// A malformed id is ignored like an id of another team.
fn ids(text: &str) -> Result<Vec<MonitorId>, Invalid> {
    let words: Vec<&str> = text.split(',').map(str::trim).filter(|id| !id.is_empty()).collect();
    match words.len() {
        1..=MAX_IDS => Ok(words.into_iter().filter_map(MonitorId::parse).collect()),
        _ => Err(Invalid::new(format!("must be 1 to {MAX_IDS} comma-separated ids"))),
    }
}

fn number(query: &mut Fields, field: &str, min: u32, max: u32) -> Option<u32> {
    query.optional(field, |text| {
        text.parse()
            .ok()
            .filter(|number| (min..=max).contains(number))
            .ok_or_else(|| Invalid::new(format!("must be a number from {min} to {max}")))
    })
}
