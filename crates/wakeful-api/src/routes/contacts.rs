//! How the caller is notified, and the calendar of the caller's shifts.

use axum::Json;
use axum::extract::State;
use wakeful_core::access::{Permission, permission};
use wakeful_engine::Authorized;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::dto::contacts::{Contacts, FeedUrl, SaveContacts};
use crate::error::ApiResult;

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::Myself, routes!(get_contacts)))
        .routes(needs(Permission::Myself, routes!(save_contacts)))
        .routes(needs(Permission::Myself, routes!(create_contacts_feed)))
}

/// How the caller is notified by escalation policies and assignments.
#[utoipa::path(get, path = "/api/v1/contacts", tag = "On call",
    responses((status = 200, description = "The rules", body = Contacts)))]
async fn get_contacts(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
) -> ApiResult<Contacts> {
    Ok(Json(Contacts::of("", api.engine().contacts(&caller).await?)))
}

/// Sets how the caller is notified. All rules apply, each after its own delay.
#[utoipa::path(post, path = "/api/v1/contacts/save", tag = "On call", request_body = SaveContacts,
    responses((status = 200, description = "The rules as saved", body = Contacts)))]
async fn save_contacts(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    Body(wanted): Body<SaveContacts>,
) -> ApiResult<Contacts> {
    let saved = api.engine().save_contacts(&caller, &wanted.rules).await?;
    Ok(Json(Contacts::of("Contacts saved.", saved)))
}

/// Creates a new URL of the calendar of the caller's shifts. The old one stops working.
#[utoipa::path(post, path = "/api/v1/contacts/feed", tag = "On call",
    responses((status = 200, description = "The URL", body = FeedUrl)))]
async fn create_contacts_feed(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
) -> ApiResult<FeedUrl> {
    Ok(Json(FeedUrl::of(api.engine().new_contacts_feed(&caller).await?)))
}
