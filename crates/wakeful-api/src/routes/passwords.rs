//! Lost passwords.

use axum::extract::State;

use crate::address::ClientIp;
use crate::app::Api;
use crate::body::Body;
use crate::error::{ApiResult, ErrorBody};
use crate::wire::{Done, LostPassword, UpdatePassword};

/// Mails a link for a new password, if the address has an account. The answer
/// is the same either way.
#[utoipa::path(post, path = "/api/v1/password/lost", tag = "Password", request_body = LostPassword,
    responses((status = 200, description = "Noted", body = Done)))]
pub(crate) async fn lost(
    State(api): State<Api>,
    ClientIp(from): ClientIp,
    Body(wanted): Body<LostPassword>,
) -> ApiResult<Done> {
    api.engine().lose_password(&wanted.email, from).await?;
    Done::say("If the address has an account, a link to set a new password is on its way.")
}

/// Sets a new password by the token of a mailed link or a Bearer Token. A mailed
/// link also ends all sessions and removes all API keys of the user.
#[utoipa::path(post, path = "/api/v1/password/update", tag = "Password", request_body = UpdatePassword,
    responses(
        (status = 200, description = "Set", body = Done),
        (status = 401, description = "The token is not good for this address", body = ErrorBody)))]
pub(crate) async fn update(
    State(api): State<Api>,
    ClientIp(from): ClientIp,
    Body(wanted): Body<UpdatePassword>,
) -> ApiResult<Done> {
    api.engine().update_password(&wanted.email, &wanted.password1, &wanted.tokenid, from).await?;
    Done::say("The new password is set.")
}
