//! The caller's browsers that receive push messages.

use axum::Json;
use axum::extract::{Path, State};
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::PushSubscriptionId;
use wakeful_engine::Authorized;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::client_ip::ClientOrigin;
use crate::dto::Ack;
use crate::dto::webpush::{PushKey, PushSubscribed, SavePushSubscription, SubscriptionSchema};
use crate::error::{ApiResult, ErrorBody};
use crate::path_id;

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::Myself, routes!(get_push_key)))
        .routes(needs(Permission::Myself, routes!(subscribe_browser)))
        .routes(needs(Permission::Myself, routes!(delete_browser)))
}

/// What a browser needs to subscribe to push messages, and the caller's subscriptions.
#[utoipa::path(get, path = "/api/v1/webpush/key", tag = "On call",
    responses((status = 200, description = "The public key and the subscriptions", body = PushKey)))]
async fn get_push_key(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
) -> ApiResult<PushKey> {
    Ok(Json(PushKey::of(api.engine().push_setup(&caller).await?)))
}

/// Subscribes a browser of the caller. The caller's notifier of type webpush in the team, which
/// sends to all of the caller's browsers, is created, or turned on. Repeating it changes nothing.
#[utoipa::path(post, path = "/api/v1/webpush/subscribe", tag = "On call",
    request_body = SubscriptionSchema,
    responses(
        (status = 200, description = "The browser receives push messages", body = PushSubscribed),
        (status = 409, description = "The caller has ten browsers, or 20 personal notifiers", body = ErrorBody)))]
async fn subscribe_browser(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    ClientOrigin(origin): ClientOrigin,
    Body(wanted): Body<SavePushSubscription>,
) -> ApiResult<PushSubscribed> {
    let done = api.engine().subscribe_push(&caller, wanted.receiver, &origin.agent).await?;
    Ok(Json(done.into()))
}

/// Deletes a browser of the caller: it receives no more push messages.
#[utoipa::path(delete, path = "/api/v1/webpush/{subscriptionid}/delete", tag = "On call",
    params(("subscriptionid" = String, Path, description = "The subscription's id")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 404, description = "The caller has no such subscription", body = ErrorBody)))]
async fn delete_browser(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    Path(subscriptionid): Path<String>,
) -> ApiResult<Ack> {
    let id = path_id::parse(&subscriptionid, "subscription", PushSubscriptionId::parse)?;
    api.engine().delete_push_subscription(&caller, id).await?;
    Ack::with_message("Browser deleted.")
}
