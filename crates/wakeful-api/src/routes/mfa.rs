//! The caller's second factor.

use axum::Json;
use axum::extract::State;

use crate::address::ClientIp;
use crate::app::Api;
use crate::body::Body;
use crate::caller::Caller;
use crate::error::{ApiResult, ErrorBody};
use crate::wire::{DisableMfa, Done, EnableMfa, MfaCodes, MfaSetUp};

/// Makes a secret for an authenticator app; MFA is on once a code proved it.
#[utoipa::path(post, path = "/api/v1/mfa/setup", tag = "MFA",
    responses(
        (status = 200, description = "The secret", body = MfaSetUp),
        (status = 409, description = "MFA is already on", body = ErrorBody)))]
pub(crate) async fn setup(State(api): State<Api>, caller: Caller) -> ApiResult<MfaSetUp> {
    Ok(Json(MfaSetUp::of(&api.engine().set_up_mfa(&caller.who).await?)))
}

/// Turns MFA on; answers ten recovery codes, shown this once.
#[utoipa::path(post, path = "/api/v1/mfa/enable", tag = "MFA", request_body = EnableMfa,
    responses(
        (status = 200, description = "MFA is on", body = MfaCodes),
        (status = 409, description = "MFA is already on or not set up", body = ErrorBody)))]
pub(crate) async fn enable(
    State(api): State<Api>,
    caller: Caller,
    Body(wanted): Body<EnableMfa>,
) -> ApiResult<MfaCodes> {
    let codes = api.engine().enable_mfa(&caller.who, &wanted.mfacode).await?;
    Ok(Json(MfaCodes::of(&codes)))
}

/// Turns MFA off, with the password and a code.
#[utoipa::path(post, path = "/api/v1/mfa/disable", tag = "MFA", request_body = DisableMfa,
    responses(
        (status = 200, description = "MFA is off", body = Done),
        (status = 409, description = "MFA is not on", body = ErrorBody)))]
pub(crate) async fn disable(
    State(api): State<Api>,
    caller: Caller,
    ClientIp(from): ClientIp,
    Body(wanted): Body<DisableMfa>,
) -> ApiResult<Done> {
    api.engine().disable_mfa(&caller.who, &wanted.password, &wanted.mfacode, from).await?;
    Done::say("Multi-factor authentication is off.")
}
