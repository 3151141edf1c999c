//! Multi-factor authentication of the caller.

use axum::Json;
use axum::extract::State;
use wakeful_core::access::{Permission, permission};
use wakeful_engine::{Authorized, Reauthenticated};

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::Reauthentication::{Always, Page};
use crate::caller::{PageReauthenticated, needs, reauthenticated};
use crate::client_ip::ClientOrigin;
use crate::dto::Ack;
use crate::dto::mfa::{DisableMfa, EnableMfa, MfaCodes, MfaSetUp};
use crate::dto::team::OneUser;
use crate::error::{ApiError, ApiResult, ErrorBody};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::Myself, reauthenticated(Page, routes!(set_up_mfa))))
        .routes(needs(Permission::Myself, routes!(enable_mfa)))
        .routes(needs(Permission::Myself, routes!(disable_mfa)))
        .routes(needs(Permission::Myself, reauthenticated(Always, routes!(renew_recovery_codes))))
        .routes(needs(Permission::People, reauthenticated(Always, routes!(reset_mfa_of_member))))
}

/// Creates a secret for an authenticator app; MFA is on once `mfa/enable` has verified a
/// code.
#[utoipa::path(post, path = "/api/v1/mfa/setup", tag = "MFA",
    responses(
        (status = 200, description = "The secret", body = MfaSetUp),
        (status = 409, description = "MFA is already on", body = ErrorBody)))]
async fn set_up_mfa(
    State(api): State<Api>,
    PageReauthenticated(caller): PageReauthenticated<permission::Myself>,
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
    Ok(Json(MfaCodes::enabled(&codes)))
}

/// Turns MFA off; requires the password and a code.
#[utoipa::path(post, path = "/api/v1/mfa/disable", tag = "MFA", request_body = DisableMfa,
    responses(
        (status = 200, description = "MFA is off", body = Ack),
        (status = 409, description = "MFA is not on, or a team of the caller requires it",
            body = ErrorBody)))]
async fn disable_mfa(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    ClientOrigin(from): ClientOrigin,
    Body(wanted): Body<DisableMfa>,
) -> ApiResult<Ack> {
    api.engine().disable_mfa(&caller, &wanted.password, &wanted.mfacode, &from).await?;
    Ack::with_message("Multi-factor authentication is off.")
}

/// Replaces the caller's recovery codes with ten new ones, which are shown only once.
#[utoipa::path(post, path = "/api/v1/recovery/renew", tag = "MFA",
    responses(
        (status = 200, description = "The previous codes no longer work", body = MfaCodes),
        (status = 409, description = "MFA is not on", body = ErrorBody)))]
async fn renew_recovery_codes(
    State(api): State<Api>,
    caller: Reauthenticated<permission::Myself>,
) -> ApiResult<MfaCodes> {
    let codes = api.engine().renew_recovery_codes(&caller).await?;
    Ok(Json(MfaCodes::renewed(&codes)))
}

/// Turns MFA off for a member who has lost the second factor. The team must manage the account;
/// the member is notified by email.
#[utoipa::path(post, path = "/api/v1/member/mfareset", tag = "Team", request_body = OneUser,
    responses(
        (status = 200, description = "MFA of the member is off", body = Ack),
        (status = 404, description = "The team has no such user", body = ErrorBody),
        (status = 409, description = "MFA of the member is not on", body = ErrorBody)))]
async fn reset_mfa_of_member(
    State(api): State<Api>,
    caller: Reauthenticated<permission::People>,
    Body(wanted): Body<OneUser>,
) -> ApiResult<Ack> {
    let user = wanted.id().ok_or_else(|| ApiError::not_found("user"))?;
    api.engine().reset_mfa_of_member(&caller, user).await?;
    Ack::with_message("Multi-factor authentication of this member is off.")
}
