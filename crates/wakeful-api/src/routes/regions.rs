//! Where checks can be made from, and who is there to make them.

use axum::Json;
use axum::extract::State;

use crate::app::Api;
use crate::caller::Caller;
use crate::error::ApiResult;
use crate::wire::{RegionBody, RegionList};

/// The regions with live probes, and those that the team's monitors name.
#[utoipa::path(get, path = "/api/v1/regions", tag = "Monitors",
    responses((status = 200, description = "The regions", body = RegionList)))]
pub(crate) async fn list(State(api): State<Api>, caller: Caller) -> ApiResult<RegionList> {
    let regions = api.engine().regions(&caller.who).await?;
    Ok(Json(RegionList { success: true, regions: regions.iter().map(RegionBody::of).collect() }))
}
