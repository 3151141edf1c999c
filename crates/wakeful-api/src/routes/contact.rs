//! The contact form.

use axum::extract::State;

use crate::address::ClientIp;
use crate::app::Api;
use crate::body::Body;
use crate::error::ApiResult;
use crate::wire::{ContactUs, Done};

/// Keeps a message for the operator and mails it to them.
#[utoipa::path(post, path = "/api/v1/contactus", tag = "Web", request_body = ContactUs,
    responses((status = 200, description = "Received", body = Done)))]
pub(crate) async fn contact_us(
    State(api): State<Api>,
    ClientIp(from): ClientIp,
    Body(wanted): Body<ContactUs>,
) -> ApiResult<Done> {
    api.engine().contact(&wanted.into(), from).await?;
    Done::say("Thank you, your message has arrived.")
}
