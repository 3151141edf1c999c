//! API key pairs of the caller.

use axum::Json;
use axum::extract::{Path, State};
use wakeful_core::id::ApiKeyId;

use crate::app::Api;
use crate::body::Body;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::pathid;
use crate::query::{Part, Query};
use crate::wire::{ApiKeyList, ApiKeySaved, Done, SaveApiKey};

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

/// Makes an API key pair, whose keys are shown this once, or gives the one whose
/// `apikeyid` is sent another name.
#[utoipa::path(post, path = "/api/v1/integrations/apikey/save", tag = "Integrations",
    request_body = SaveApiKey,
    responses(
        (status = 200, description = "Made or renamed", body = ApiKeySaved),
        (status = 404, description = "The caller has no such key", body = ErrorBody)))]
pub(crate) async fn save(
    State(api): State<Api>,
    caller: Caller,
    Body(wanted): Body<SaveApiKey>,
) -> ApiResult<ApiKeySaved> {
    let Some(apikeyid) = wanted.apikeyid else {
        let pair = api.engine().new_api_key(&caller.who, &wanted.name).await?;
        return Ok(Json(ApiKeySaved::made(&pair)));
    };
    let id = id(&apikeyid)?;
    api.engine().rename_api_key(&caller.who, id, &wanted.name).await?;
    Ok(Json(ApiKeySaved::renamed(id)))
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
    api.engine().delete_api_key(&caller.who, id(&apikeyid)?).await?;
    Done::say("The API key is removed.")
}

fn id(text: &str) -> Result<ApiKeyId, ApiError> {
    pathid::parse(text, "API key", ApiKeyId::parse)
}
