//! The regions that monitors can be checked from, and their probes.

use axum::Json;
use axum::extract::State;
use wakeful_core::access::{Permission, permission};
use wakeful_core::region::Region;
use wakeful_engine::Authorized;
use wakeful_engine::RegionView;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::caller::needs;
use crate::dto::regions::{RegionBody, RegionList};
use crate::error::{ApiResult, ErrorBody};
use crate::query::{ListPage, Query};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new().routes(needs(Permission::View, routes!(list_regions)))
}

/// Lists the regions with live probes, and those that the team's monitors use.
#[utoipa::path(get, path = "/api/v1/regions", tag = "Monitors",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Regions per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The regions", body = RegionList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_regions(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    query: Query,
) -> ApiResult<RegionList> {
    // The service itself comes first, the others in alphabetical order.
    let position = |name: &str| (name != Region::LOCAL, name.to_owned());
    let part = ListPage::read(query, |text| Some(position(text)))?;
    let regions = api.engine().regions(&caller).await?;
    let of = |view: &RegionView| position(&view.region.to_string());
    let (regions, next_cursor) = part.paginate(regions, of, |(_, name)| name);
    let regions = regions.iter().map(RegionBody::of).collect();
    Ok(Json(RegionList { success: true, regions, next_cursor }))
}
