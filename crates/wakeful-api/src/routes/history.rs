//! The history of monitors: heartbeats, newest first.

use axum::Json;
use axum::extract::{Path, State};
use std::time::Duration;
use wakeful_core::Invalid;
use wakeful_core::access::{Permission, permission};
use wakeful_core::time::Millis;
use wakeful_engine::Authorized;
use wakeful_engine::{HeartbeatKey, HeartbeatRange};

use super::monitors::monitor_id;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::caller::needs;
use crate::dto::Fields;
use crate::dto::history::{HeartbeatBody, HeartbeatList};
use crate::error::{ApiResult, ErrorBody};
use crate::query::{self, Query};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// A day of heartbeats at one per second is too much for a single response.
const MAX_PAGE_SIZE: u32 = 1000;

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new().routes(needs(Permission::View, routes!(list_heartbeats)))
}

/// Lists the heartbeats of a monitor: those of the last day, or from `from` to `to`.
#[utoipa::path(get, path = "/api/v1/monitor/{monitorid}/heartbeats", tag = "Monitors",
    params(
        ("monitorid" = String, Path, description = "The monitor's id"),
        ("from" = Option<String>, Query, format = DateTime, description = "Start of the range, inclusive; default: a day before `to`"),
        ("to" = Option<String>, Query, format = DateTime, description = "End of the range, exclusive; default: now"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Heartbeats per page; default: 1000"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The heartbeats", body = HeartbeatList),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_heartbeats(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Path(monitorid): Path<String>,
    Query(mut query): Query,
) -> ApiResult<HeartbeatList> {
    let id = monitor_id(&monitorid)?;
    let to = time(&mut query, "to")
        .unwrap_or_else(|| api.engine().now().after(Duration::from_millis(1)));
    let from = time(&mut query, "from").unwrap_or_else(|| to.before(DAY));
    // Without `to`, a `from` in the future is a client whose clock is ahead: the list is
    // empty.
    if query.has("to") && from > to {
        query.refuse("to", "must be later than from");
    }
    let limit = query::limit(&mut query).or(Some(MAX_PAGE_SIZE));
    let before = query::cursor(&mut query, parse_cursor);
    let span = query.finish(Some(HeartbeatRange { from, to, limit, before }))?;
    let page = api.engine().heartbeats(&caller, id, &span).await?;
    let next = page.next.map(|place| format!("{}.{}", place.at.0, place.seq));
    Ok(Json(HeartbeatList {
        success: true,
        heartbeats: page.items.iter().map(HeartbeatBody::of_entry).collect(),
        next_cursor: query::next(limit, next),
    }))
}

pub(super) fn time(query: &mut Fields, field: &str) -> Option<Millis> {
    query.optional(field, |text| {
        Millis::parse(text)
            .ok_or_else(|| Invalid::new("must be a time such as 2026-11-15T09:30:00Z"))
    })
}

fn parse_cursor(text: &str) -> Option<HeartbeatKey> {
    let (at, seq) = text.split_once('.')?;
    Some(HeartbeatKey { at: Millis(at.parse().ok()?), seq: seq.parse().ok()? })
}
