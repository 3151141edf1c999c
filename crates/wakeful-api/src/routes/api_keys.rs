//! API key pairs of the caller, and of all users of the team.

use axum::Json;
use axum::extract::{Path, State};
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::ApiKeyId;
use wakeful_engine::Authorized;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::Reauthentication::Page;
use crate::caller::{PageReauthenticated, needs, reauthenticated};
use crate::dto::Ack;
use crate::dto::api_keys::{ApiKeyList, ApiKeySaved, SaveApiKey, TeamKeyList};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::path_id;
use crate::query::{ListPage, Query};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::Myself, routes!(list_api_keys)))
        .routes(needs(Permission::Myself, reauthenticated(Page, routes!(create_or_rename_api_key))))
        .routes(needs(Permission::Myself, routes!(delete_api_key)))
        .routes(needs(Permission::People, routes!(list_team_api_keys)))
        .routes(needs(Permission::People, routes!(delete_team_api_key)))
}

/// Lists the caller's API keys of all teams, without their secrets. With an API key, only those of
/// its own team.
#[utoipa::path(get, path = "/api/v1/integrations/apikeys", tag = "Integrations",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Keys per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The keys", body = ApiKeyList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_api_keys(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    query: Query,
) -> ApiResult<ApiKeyList> {
    let part = ListPage::read(query, ApiKeyId::parse)?;
    let keys = api.engine().api_keys(&caller).await?;
    let (keys, next) = part.paginate(keys, |view| view.key.id, |id| id.to_string());
    Ok(Json(ApiKeyList::of(keys, next)))
}

/// Creates an API key pair, whose keys are shown only once, or renames the one with the
/// given `apikeyid`.
#[utoipa::path(post, path = "/api/v1/integrations/apikey/save", tag = "Integrations",
    request_body = SaveApiKey,
    responses(
        (status = 200, description = "Created or renamed", body = ApiKeySaved),
        (status = 404, description = "The caller has no such key", body = ErrorBody)))]
async fn create_or_rename_api_key(
    State(api): State<Api>,
    PageReauthenticated(caller): PageReauthenticated<permission::Myself>,
    Body(wanted): Body<SaveApiKey>,
) -> ApiResult<ApiKeySaved> {
    let Some(apikeyid) = wanted.apikeyid else {
        let pair = api.engine().create_api_key(&caller, wanted.key.into()).await?;
        return Ok(Json(ApiKeySaved::made(&pair)));
    };
    let id = id(&apikeyid)?;
    api.engine().rename_api_key(&caller, id, &wanted.key.name).await?;
    Ok(Json(ApiKeySaved::renamed(id)))
}

/// Deletes an API key; calls with it fail immediately.
#[utoipa::path(delete, path = "/api/v1/integrations/apikey/{apikeyid}/delete", tag = "Integrations",
    params(("apikeyid" = String, Path, description = "The key's id")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 404, description = "The caller has no such key", body = ErrorBody)))]
async fn delete_api_key(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    Path(apikeyid): Path<String>,
) -> ApiResult<Ack> {
    api.engine().delete_api_key(&caller, id(&apikeyid)?).await?;
    Ack::with_message("API key deleted.")
}

/// Lists the API keys of all users of the team, with their holders.
#[utoipa::path(get, path = "/api/v1/team/keys", tag = "Team",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Keys per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The keys", body = TeamKeyList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_team_api_keys(
    State(api): State<Api>,
    caller: Authorized<permission::People>,
    query: Query,
) -> ApiResult<TeamKeyList> {
    let part = ListPage::read(query, ApiKeyId::parse)?;
    let keys = api.engine().team_api_keys(&caller).await?;
    let (keys, next) = part.paginate(keys, |view| view.held.key.id, |id| id.to_string());
    Ok(Json(TeamKeyList::of(keys, next)))
}

/// Deletes an API key of any user of the team; calls with it fail immediately.
#[utoipa::path(delete, path = "/api/v1/team/key/{apikeyid}/delete", tag = "Team",
    params(("apikeyid" = String, Path, description = "The key's id")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 403, description = "The holder's role is above the caller's own", body = ErrorBody),
        (status = 404, description = "The team has no such key", body = ErrorBody)))]
async fn delete_team_api_key(
    State(api): State<Api>,
    caller: Authorized<permission::People>,
    Path(apikeyid): Path<String>,
) -> ApiResult<Ack> {
    api.engine().delete_team_api_key(&caller, id(&apikeyid)?).await?;
    Ack::with_message("API key deleted.")
}

fn id(text: &str) -> Result<ApiKeyId, ApiError> {
    path_id::parse(text, "API key", ApiKeyId::parse)
}
