//! Callbacks of the payment processor. They need no credentials: their
//! signature is their proof, and what they say is only a reason to look.

use axum::extract::{Request, State};
use axum::http::StatusCode;

use crate::app::Api;
use crate::body::collect;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::wire::Done;

/// Takes a signed event of Stripe.
#[utoipa::path(post, path = "/api/v1/payment/callback/stripe", tag = "Membership",
    params(("Stripe-Signature" = Option<String>, Header, description = "t=SECONDS,v1=HEX")),
    responses(
        (status = 200, description = "Taken", body = Done),
        (status = 400, description = "The signature is missing, wrong or too old", body = ErrorBody)))]
pub(crate) async fn stripe(State(api): State<Api>, request: Request) -> ApiResult<Done> {
    let signature = request.headers().get("stripe-signature");
    let signature = signature.and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let (body, _reservation) = collect(request, &api).await?;
    match api.engine().payment_callback(&body, &signature).await? {
        true => Done::say("Taken."),
        false => Err(ApiError::new(
            StatusCode::BAD_REQUEST,
            "bad_signature",
            "The Stripe-Signature header is missing, wrong or too old.",
        )),
    }
}
