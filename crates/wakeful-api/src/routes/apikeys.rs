//! API key pairs of the caller.

use axum::Json;
use axum::extract::{Path, State};
use wakeful_core::id::ApiKeyId;

use crate::app::Api;
use crate::body::Body;
use crate::caller::Caller;
use crate::error::{ApiResult, ErrorBody};
use crate::pathid;
use crate::query::{Part, Query};
use crate::wire::{ApiKeyList, ApiKeyMade, Done, NewApiKey};

/// Lists the caller's API keys, without their secrets.
#[utoipa::path(get, path = "/api/v1/integrations/apikeys", tag = "Integrations",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Keys a page"),
        ("cursor" = Option<String>, Query, description = "next_cursor of the page before")),
    responses(
        (status = 200, description = "The keys", body = ApiKeyList),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    query: Query,
) -> ApiResult<ApiKeyList> {
    let part = Part::read(query, ApiKeyId::parse)?;
    let keys = api.engine().api_keys(&caller.who).await?;
    let (keys, next) = part.of(keys, |key| key.id, |id| id.to_string());
    Ok(Json(ApiKeyList::of(keys, next)))
}

/// Makes an API key pair; both keys are shown this once.
#[utoipa::path(post, path = "/api/v1/integrations/apikey/save", tag = "Integrations",
    request_body = NewApiKey,
    responses((status = 200, description = "Made", body = ApiKeyMade)))]
pub(crate) async fn save(
    State(api): State<Api>,
    caller: Caller,
    Body(wanted): Body<NewApiKey>,
) -> ApiResult<ApiKeyMade> {
    let pair = api.engine().new_api_key(&caller.who, &wanted.name).await?;
    Ok(Json(ApiKeyMade::of(&pair)))
}

/// Removes an API key; calls with it fail from now on.
#[utoipa::path(delete, path = "/api/v1/integrations/apikey/{apikeyid}/delete", tag = "Integrations",
    params(("apikeyid" = String, Path, description = "The key's id")),
    responses(
        (status = 200, description = "Removed", body = Done),
        (status = 404, description = "The caller has no such key", body = ErrorBody)))]
pub(crate) async fn delete(
    State(api): State<Api>,
    caller: Caller,
    Path(apikeyid): Path<String>,
) -> ApiResult<Done> {
    let id = pathid::parse(&apikeyid, "API key", ApiKeyId::parse)?;
    api.engine().delete_api_key(&caller.who, id).await?;
    Done::say("The API key is removed.")
}
