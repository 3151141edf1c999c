//! Verification of the address of an account.

use axum::extract::State;
use wakeful_core::access::{Permission, permission};
use wakeful_engine::{Authorized, VerificationRequest};

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::client_ip::{ClientIp, ClientOrigin};
use crate::dto::Ack;
use crate::dto::email_verification::VerifyEmail;
use crate::error::{ApiResult, ErrorBody};

pub(super) fn public() -> ApiRouter {
    ApiRouter::new().routes(routes!(verify_email))
}

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new().routes(needs(Permission::Myself, routes!(send_verification)))
}

/// Emails the caller a link that verifies the address of the account. It works once and
/// expires in seven days. If the address is already verified, nothing is sent.
#[utoipa::path(post, path = "/api/v1/email/send", tag = "User",
    responses((status = 200, description = "Sent, or already verified", body = Ack)))]
async fn send_verification(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    ClientIp(from): ClientIp,
) -> ApiResult<Ack> {
    match api.engine().send_verification(&caller, from).await? {
        VerificationRequest::Sent => Ack::with_message("A link has been sent to your address."),
        VerificationRequest::AlreadyVerified => {
            Ack::with_message("Your address is already verified; no link was sent.")
        }
    }
}

/// Verifies an address with the token of the emailed link.
#[utoipa::path(post, path = "/api/v1/email/verify", tag = "User", request_body = VerifyEmail,
    responses(
        (status = 200, description = "Verified", body = Ack),
        (status = 401, description = "The token is not valid", body = ErrorBody)))]
async fn verify_email(
    State(api): State<Api>,
    ClientOrigin(from): ClientOrigin,
    Body(wanted): Body<VerifyEmail>,
) -> ApiResult<Ack> {
    api.engine().verify_email(&wanted.token, &from).await?;
    Ack::with_message("Email address verified.")
}
