//! Where checks can be made from, and who is there to make them.

use axum::Json;
use axum::extract::State;
use wakeful_core::region::Region;
use wakeful_engine::RegionView;

use crate::app::Api;
use crate::caller::Caller;
use crate::error::{ApiResult, ErrorBody};
use crate::query::{Part, Query};
use crate::wire::{RegionBody, RegionList};

/// The regions with live probes, and those that the team's monitors name.
#[utoipa::path(get, path = "/api/v1/regions", tag = "Monitors",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Regions a page"),
        ("cursor" = Option<String>, Query, description = "next_cursor of the page before")),
    responses(
        (status = 200, description = "The regions", body = RegionList),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    query: Query,
) -> ApiResult<RegionList> {
    // The service itself stands first, the others by their names.
    let place = |name: &str| (name != Region::LOCAL, name.to_owned());
    let part = Part::read(query, |text| Some(place(text)))?;
    let regions = api.engine().regions(&caller.who).await?;
    let of = |view: &RegionView| place(&view.region.to_string());
    let (regions, next_cursor) = part.of(regions, of, |(_, name)| name);
    let regions = regions.iter().map(RegionBody::of).collect();
    Ok(Json(RegionList { success: true, regions, next_cursor }))
}
