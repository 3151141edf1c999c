//! Multi-factor authentication of the caller.

use axum::Json;
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wakeful_core::access::{Permission, permission};
use wakeful_engine::Authorized;

use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::client_ip::ClientIp;
use crate::dto::Ack;
use crate::dto::mfa::{DisableMfa, EnableMfa, MfaCodes, MfaSetUp};
use crate::error::{ApiResult, ErrorBody};

pub(super) fn protected() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(needs(Permission::Myself, routes!(set_up_mfa)))
        .routes(needs(Permission::Myself, routes!(enable_mfa)))
        .routes(needs(Permission::Myself, routes!(disable_mfa)))
}

/// Creates a secret for an authenticator app; MFA is on once `mfa/enable` has verified a
/// code.
#[utoipa::path(post, path = "/api/v1/mfa/setup", tag = "MFA",
    responses(
        (status = 200, description = "The secret", body = MfaSetUp),
        (status = 409, description = "MFA is already on", body = ErrorBody)))]
async fn set_up_mfa(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
) -> ApiResult<MfaSetUp> {
    Ok(Json(MfaSetUp::of(&api.engine().set_up_mfa(&caller).await?)))
}

/// Turns MFA on and returns ten recovery codes, which are shown only once.
#[utoipa::path(post, path = "/api/v1/mfa/enable", tag = "MFA", request_body = EnableMfa,
    responses(
        (status = 200, description = "MFA is on", body = MfaCodes),
        (status = 409, description = "MFA is already on or not set up", body = ErrorBody)))]
async fn enable_mfa(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    Body(wanted): Body<EnableMfa>,
) -> ApiResult<MfaCodes> {
    let codes = api.engine().enable_mfa(&caller, &wanted.mfacode).await?;
    Ok(Json(MfaCodes::of(&codes)))
}

/// Turns MFA off; requires the password and a code.
#[utoipa::path(post, path = "/api/v1/mfa/disable", tag = "MFA", request_body = DisableMfa,
    responses(
        (status = 200, description = "MFA is off", body = Ack),
        (status = 409, description = "MFA is not on", body = ErrorBody)))]
async fn disable_mfa(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    ClientIp(from): ClientIp,
    Body(wanted): Body<DisableMfa>,
) -> ApiResult<Ack> {
    api.engine().disable_mfa(&caller, &wanted.password, &wanted.mfacode, from).await?;
    Ack::with_message("Multi-factor authentication is off.")
}
