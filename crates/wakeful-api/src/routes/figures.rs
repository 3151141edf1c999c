//! The figures of monitors: uptime, outages and load times.

use axum::Json;
use axum::extract::{Path, State};
use std::time::Duration;
use wakeful_core::Invalid;
use wakeful_core::id::MonitorId;

use super::history::time;
use super::monitors::id;
use crate::app::Api;
use crate::caller::Caller;
use crate::error::{ApiResult, ErrorBody};
use crate::query::Query;
use crate::wire::{Fields, SeriesBody, StatsBody, SummaryList};

const DAY: Duration = Duration::from_secs(24 * 3600);
const POINTS: u32 = 300;
const MOST_POINTS: u32 = 1_000;
const BEATS: u32 = 40;
const MOST_BEATS: u32 = 100;
const MOST_IDS: usize = 200;

/// The figures of a monitor over the usual spans, or from `from` until `to`.
#[utoipa::path(get, path = "/api/v1/monitor/{monitorid}/stats", tag = "Monitors",
    params(
        ("monitorid" = String, Path, description = "The monitor's id"),
        ("from" = Option<String>, Query, format = DateTime, description = "With `to`: one span instead of the usual ones"),
        ("to" = Option<String>, Query, format = DateTime, description = "With `from`: the end of the span")),
    responses(
        (status = 200, description = "The figures", body = StatsBody),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn stats(
    State(api): State<Api>,
    caller: Caller,
    Path(monitorid): Path<String>,
    Query(mut query): Query,
) -> ApiResult<StatsBody> {
    let id = id(&monitorid)?;
    let (from, to) = (time(&mut query, "from"), time(&mut query, "to"));
    for (one, other) in [("from", "to"), ("to", "from")] {
        if query.has(other) && !query.has(one) {
            query.refuse(one, format!("is required with {other}"));
        }
    }
    if from.is_some() && to.is_some() && from >= to {
        query.refuse("to", "must be later than from");
    }
    let span = query.finish(Some(from.zip(to)))?;
    let stats = match span {
        None => api.engine().usual_stats(&caller.who, id).await?,
        Some((from, to)) => vec![api.engine().stats(&caller.who, id, from, to).await?],
    };
    Ok(Json(StatsBody::of(id, &stats)))
}

/// A monitor's figures in equal steps, for a chart.
#[utoipa::path(get, path = "/api/v1/monitor/{monitorid}/series", tag = "Monitors",
    params(
        ("monitorid" = String, Path, description = "The monitor's id"),
        ("from" = Option<String>, Query, format = DateTime, description = "Default: a day before `to`"),
        ("to" = Option<String>, Query, format = DateTime, description = "Default: now"),
        ("points" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "At most so many; default: 300"),
        ("by" = Option<String>, Query, description = "`region`: adds what each region saw")),
    responses(
        (status = 200, description = "The points", body = SeriesBody),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn series(
    State(api): State<Api>,
    caller: Caller,
    Path(monitorid): Path<String>,
    Query(mut query): Query,
) -> ApiResult<SeriesBody> {
    let id = id(&monitorid)?;
    let to = time(&mut query, "to").unwrap_or_else(|| api.engine().now());
    let from = time(&mut query, "from").unwrap_or_else(|| to.before(DAY));
    if from >= to {
        query.refuse("to", "must be later than from");
    }
    let points = number(&mut query, "points", 1, MOST_POINTS).unwrap_or(POINTS);
    let by_region = query.optional("by", |text| match text {
        "region" => Ok(()),
        _ => Err(Invalid::new("must be region")),
    });
    let points = query.finish(Some(points))?;
    let series = api.engine().series(&caller.who, id, (from, to), points).await?;
    let lines = match by_region {
        Some(()) => Some(api.engine().region_lines(&caller.who, id, &series).await?),
        None => None,
    };
    Ok(Json(SeriesBody::of(id, &series, lines)))
}

/// Up to 200 monitors in short; ids that are not the team's are left out.
#[utoipa::path(get, path = "/api/v1/monitors/summary", tag = "Monitors",
    params(
        ("ids" = String, Query, description = "1 to 200 ids, with commas"),
        ("beats" = Option<u32>, Query, minimum = 0, maximum = 100, description = "Newest heartbeats of each; default: 40")),
    responses(
        (status = 200, description = "The monitors in short", body = SummaryList),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn summary(
    State(api): State<Api>,
    caller: Caller,
    Query(mut query): Query,
) -> ApiResult<SummaryList> {
    let ids = query.parse("ids", ids);
    let beats = number(&mut query, "beats", 0, MOST_BEATS).unwrap_or(BEATS);
    let (ids, beats) = query.finish(ids.map(|ids| (ids, beats)))?;
    let summaries = api.engine().summaries(&caller.who, &ids, beats).await?;
    Ok(Json(SummaryList::of(&summaries)))
}

/// What is no id at all is left out as one of another team is.
fn ids(text: &str) -> Result<Vec<MonitorId>, Invalid> {
    let words: Vec<&str> = text.split(',').map(str::trim).filter(|id| !id.is_empty()).collect();
    match words.len() {
        1..=MOST_IDS => Ok(words.into_iter().filter_map(MonitorId::parse).collect()),
        _ => Err(Invalid::new(format!("must be 1 to {MOST_IDS} ids with commas"))),
    }
}

fn number(query: &mut Fields, field: &str, least: u32, most: u32) -> Option<u32> {
    query.optional(field, |text| {
        text.parse()
            .ok()
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| Invalid::new(format!("must be a number from {least} to {most}")))
    })
}
