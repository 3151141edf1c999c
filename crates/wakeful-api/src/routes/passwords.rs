//! Password resets.

use axum::extract::State;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::client_ip::{ClientIp, ClientOrigin};
use crate::dto::Ack;
use crate::dto::passwords::{LostPassword, UpdatePassword};
use crate::error::{ApiResult, ErrorBody};

pub(super) fn public() -> ApiRouter {
    ApiRouter::new().routes(routes!(request_password_reset)).routes(routes!(update_password))
}

/// Emails a link to set a new password, if the address has an account. The response is
/// the same either way.
#[utoipa::path(post, path = "/api/v1/password/lost", tag = "Password", request_body = LostPassword,
    responses((status = 200, description = "Recorded", body = Ack)))]
async fn request_password_reset(
    State(api): State<Api>,
    ClientIp(from): ClientIp,
    Body(wanted): Body<LostPassword>,
) -> ApiResult<Ack> {
    api.engine().request_password_reset(&wanted.email, from).await?;
    Ack::with_message("If the address has an account, a link to set a new password has been sent.")
}

/// Sets a new password with the token of an emailed link or a bearer token. With an
/// emailed link, all sessions and API keys of the user are deleted as well.
#[utoipa::path(post, path = "/api/v1/password/update", tag = "Password", request_body = UpdatePassword,
    responses(
        (status = 200, description = "Changed", body = Ack),
        (status = 401, description = "The token is not valid for this email", body = ErrorBody)))]
async fn update_password(
    State(api): State<Api>,
    ClientOrigin(from): ClientOrigin,
    Body(wanted): Body<UpdatePassword>,
) -> ApiResult<Ack> {
    api.engine().update_password(&wanted.email, &wanted.password1, &wanted.tokenid, &from).await?;
    Ack::with_message("Password changed.")
}
