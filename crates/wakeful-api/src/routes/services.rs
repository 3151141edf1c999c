//! The service accounts of the caller's team.

use axum::Json;
use axum::extract::{Path, State};
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::UserId;
use wakeful_engine::{Authorized, Reauthenticated};

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::Reauthentication::Always;
use crate::caller::{needs, reauthenticated};
use crate::dto::Ack;
use crate::dto::api_keys::{ApiKeySaved, NewApiKey};
use crate::dto::services::{SaveService, ServiceList, ServiceSaved};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::path_id;
use crate::query::{ListPage, Query};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::People, routes!(list_services)))
        .routes(needs(Permission::People, routes!(save_service)))
        .routes(needs(Permission::People, reauthenticated(Always, routes!(delete_service))))
        .routes(needs(Permission::People, reauthenticated(Always, routes!(create_service_key))))
}

/// Lists the team's service accounts.
#[utoipa::path(get, path = "/api/v1/services", tag = "Team",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000,
            description = "Service accounts per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The service accounts", body = ServiceList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_services(
    State(api): State<Api>,
    caller: Authorized<permission::People>,
    query: Query,
) -> ApiResult<ServiceList> {
    let part = ListPage::read(query, UserId::parse)?;
    let services = api.engine().services(&caller).await?;
    let (services, next) = part.paginate(services, |service| service.user, |id| id.to_string());
    Ok(Json(ServiceList::of(services, next)))
}

/// Creates a service account, or changes the one with the given `serviceid`. A service
/// account is for programs: it has API keys, but no password.
#[utoipa::path(post, path = "/api/v1/service/save", tag = "Team", request_body = SaveService,
    responses(
        (status = 200, description = "Saved", body = ServiceSaved),
        (status = 403, description = "The role is above the caller's own", body = ErrorBody),
        (status = 404, description = "The team has no such service account", body = ErrorBody),
        (status = 409, description = "The team has 100 service accounts", body = ErrorBody)))]
async fn save_service(
    State(api): State<Api>,
    caller: Authorized<permission::People>,
    Body(wanted): Body<SaveService>,
) -> ApiResult<ServiceSaved> {
    let wanted = wanted.wanted().ok_or_else(|| ApiError::not_found("service account"))?;
    let service = api.engine().save_service(&caller, &wanted).await?;
    Ok(Json(ServiceSaved::of(service)))
}

/// Deletes a service account; calls with its API keys fail immediately.
#[utoipa::path(delete, path = "/api/v1/service/{serviceid}/delete", tag = "Team",
    params(("serviceid" = String, Path, description = "The service account's id")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 403, description = "Its role is above the caller's own", body = ErrorBody),
        (status = 404, description = "The team has no such service account", body = ErrorBody)))]
async fn delete_service(
    State(api): State<Api>,
    caller: Reauthenticated<permission::People>,
    Path(serviceid): Path<String>,
) -> ApiResult<Ack> {
    api.engine().delete_service(&caller, id(&serviceid)?).await?;
    Ack::with_message("Service account and its API keys deleted.")
}

/// Creates an API key pair of a service account, whose keys are shown only once.
#[utoipa::path(post, path = "/api/v1/service/{serviceid}/key/save", tag = "Team",
    params(("serviceid" = String, Path, description = "The service account's id")),
    request_body = NewApiKey,
    responses(
        (status = 200, description = "Created", body = ApiKeySaved),
        (status = 403, description = "Its role is above the caller's own", body = ErrorBody),
        (status = 404, description = "The team has no such service account", body = ErrorBody),
        (status = 409, description = "It has 50 API keys", body = ErrorBody)))]
async fn create_service_key(
    State(api): State<Api>,
    caller: Reauthenticated<permission::People>,
    Path(serviceid): Path<String>,
    Body(wanted): Body<NewApiKey>,
) -> ApiResult<ApiKeySaved> {
    let service = id(&serviceid)?;
    let pair = api.engine().create_service_key(&caller, service, wanted.into()).await?;
    Ok(Json(ApiKeySaved::made(&pair)))
}

fn id(text: &str) -> Result<UserId, ApiError> {
    path_id::parse(text, "service account", UserId::parse)
}
