//! Callbacks of the payment processor. They are authenticated by their signature, and
//! only trigger a query of the payment's state.

use axum::extract::{Request, State};
use axum::http::StatusCode;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::collect;
use crate::dto::Ack;
use crate::error::{ApiError, ApiResult, ErrorBody, ErrorCode};

pub(super) fn public() -> ApiRouter {
    ApiRouter::new().routes(routes!(stripe_callback))
}

/// Receives a signed event from Stripe.
#[utoipa::path(post, path = "/api/v1/payment/callback/stripe", tag = "Membership",
    params(("Stripe-Signature" = Option<String>, Header, description = "t=SECONDS,v1=HEX")),
    responses(
        (status = 200, description = "Accepted", body = Ack),
        (status = 400, description = "The signature is missing, wrong or too old", body = ErrorBody)))]
async fn stripe_callback(State(api): State<Api>, request: Request) -> ApiResult<Ack> {
    let signature = request.headers().get("stripe-signature");
    let signature = signature.and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let body = collect(request, &api).await?;
    if api.engine().payment_callback(&body, &signature).await? {
        Ack::with_message("Accepted.")
    } else {
        Err(ApiError::new(
            StatusCode::BAD_REQUEST,
            ErrorCode::BadSignature,
            "The Stripe-Signature header is missing, wrong or too old.",
        ))
    }
}
