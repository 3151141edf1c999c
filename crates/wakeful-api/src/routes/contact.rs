//! The contact form.

use axum::extract::State;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::client_ip::ClientIp;
use crate::dto::Ack;
use crate::dto::contact::ContactUs;
use crate::error::ApiResult;

pub(super) fn public() -> ApiRouter {
    ApiRouter::new().routes(routes!(submit_contact_form))
}

/// Stores a message for the operator and emails it to them.
#[utoipa::path(post, path = "/api/v1/contactus", tag = "Web", request_body = ContactUs,
    responses((status = 200, description = "Received", body = Ack)))]
async fn submit_contact_form(
    State(api): State<Api>,
    ClientIp(from): ClientIp,
    Body(wanted): Body<ContactUs>,
) -> ApiResult<Ack> {
    api.engine().submit_contact_form(&wanted.into(), from).await?;
    Ack::with_message("Thank you. Your message has been received.")
}
