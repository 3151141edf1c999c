//! The escalation policies of the caller's team.

use axum::Json;
use axum::extract::{Path, State};
use wakeful_core::access::{Permission, permission};
use wakeful_core::escalation::Policy;
use wakeful_core::id::PolicyId;
use wakeful_engine::Authorized;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::dto::policies::{self as dto, PolicyAnswer, PolicyBody, PolicyList, SavePolicy};
use crate::dto::{Ack, Fields};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::path_id;
use crate::query::{ListPage, Query};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::View, routes!(list_policies)))
        .routes(needs(Permission::Edit, routes!(save_policy)))
        .routes(needs(Permission::Edit, routes!(delete_policy)))
}

/// Lists the team's escalation policies.
#[utoipa::path(get, path = "/api/v1/policies", tag = "On call",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Policies per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The policies", body = PolicyList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_policies(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    query: Query,
) -> ApiResult<PolicyList> {
    let part = ListPage::read(query, PolicyId::parse)?;
    let policies = api.engine().policies(&caller).await?;
    let (policies, next_cursor) = part.paginate(policies, |one| one.id, |id| id.to_string());
    let policies = policies.into_iter().map(PolicyBody::of).collect();
    Ok(Json(PolicyList { success: true, policies, next_cursor }))
}

/// Creates an escalation policy, or changes the one with the given `policyid`. Omitted fields
/// retain their values. A change applies to open alerts from their next step on.
#[utoipa::path(post, path = "/api/v1/policy/save", tag = "On call", request_body = SavePolicy,
    responses(
        (status = 200, description = "The policy as saved", body = PolicyAnswer),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such policy", body = ErrorBody),
        (status = 409, description = "Modified concurrently, or the team has the maximum number of policies; nothing was saved", body = ErrorBody)))]
async fn save_policy(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<PolicyAnswer> {
    let id = fields.optional_text("policyid").map(|text| id(&text)).transpose()?;
    let merge = |stored: Option<&Policy>| {
        let mut fields = fields.reread();
        let draft = dto::draft(&mut fields, stored);
        fields.finish(draft)
    };
    let policy = api.engine().save_policy(&caller, id, merge).await?;
    Ok(Json(PolicyAnswer::of("Policy saved.", policy)))
}

/// Deletes an escalation policy that no monitor and no routing rule uses.
#[utoipa::path(delete, path = "/api/v1/policy/{policyid}/delete", tag = "On call",
    params(("policyid" = String, Path, description = "The policy's id")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such policy", body = ErrorBody),
        (status = 409, description = "Something still uses it", body = ErrorBody)))]
async fn delete_policy(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(policyid): Path<String>,
) -> ApiResult<Ack> {
    api.engine().delete_policy(&caller, id(&policyid)?).await?;
    Ack::with_message("Policy deleted.")
}

fn id(text: &str) -> Result<PolicyId, ApiError> {
    path_id::parse(text, "policy", PolicyId::parse)
}
