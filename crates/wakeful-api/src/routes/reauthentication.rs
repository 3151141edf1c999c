//! Reauthentication: the caller enters their credentials again, and the session may make dangerous
//! calls for a while.

use axum::Json;
use axum::extract::State;
use wakeful_core::access::{Permission, permission};
use wakeful_engine::Authorized;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::client_ip::ClientOrigin;
use crate::dto::reauthentication::{Reauthenticate, ReauthenticatedUntil, Ways};
use crate::error::{ApiResult, ErrorBody};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::Myself, routes!(start_reauthentication)))
        .routes(needs(Permission::Myself, routes!(reauthenticate)))
}

/// Returns how the caller can reauthenticate. API keys cannot.
#[utoipa::path(post, path = "/api/v1/reauthenticate/start", tag = "User",
    responses((status = 200, description = "The ways", body = Ways)))]
async fn start_reauthentication(caller: Authorized<permission::Myself>) -> ApiResult<Ways> {
    Ok(Json(Ways::of(caller.ways_to_reauthenticate()?)))
}

/// Verifies the caller's credentials again. For 15 minutes, this session can then make the calls
/// that need a recent reauthentication. Failures count as failed logins.
#[utoipa::path(post, path = "/api/v1/reauthenticate", tag = "User",
    request_body = Reauthenticate,
    responses(
        (status = 200, description = "Reauthenticated", body = ReauthenticatedUntil),
        (status = 401, description = "The credentials are wrong, or mfacode is missing or wrong",
            body = ErrorBody)))]
async fn reauthenticate(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    ClientOrigin(from): ClientOrigin,
    Body(wanted): Body<Reauthenticate>,
) -> ApiResult<ReauthenticatedUntil> {
    let Reauthenticate { password, mfacode } = wanted;
    let until = api.engine().reauthenticate(&caller, &password, mfacode.as_deref(), &from).await?;
    Ok(Json(ReauthenticatedUntil::of(until)))
}
