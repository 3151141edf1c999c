//! Action links: what the recipient of a message can do with its alert without a login. Reading
//! never acts, because mail scanners and link previews open links.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use wakeful_engine::Error;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::{Body, FormBody};
use crate::client_ip::{ClientIp, ClientOrigin};
use crate::dto::Ack;
use crate::dto::alerts::{ActByLink, ActionLinkBody, PressedKey, PushoverCallback};
use crate::error::{ApiError, ApiResult, ErrorBody};

pub(super) fn public() -> ApiRouter {
    ApiRouter::new()
        .routes(routes!(get_action_link, act_by_link))
        .routes(routes!(acknowledge_by_pushover))
        .routes(routes!(acknowledge_by_call))
}

/// Returns the alert of an action link.
#[utoipa::path(get, path = "/api/action/{token}", tag = "Alerts",
    params(("token" = String, Path, description = "The end of the `action_url` of an event")),
    responses(
        (status = 200, description = "The alert", body = ActionLinkBody),
        (status = 404, description = "The link is invalid, or its alert ended more than a week ago", body = ErrorBody)))]
async fn get_action_link(
    State(api): State<Api>,
    ClientIp(client): ClientIp,
    Path(token): Path<String>,
) -> ApiResult<ActionLinkBody> {
    let linked = api.engine().linked_alert(&token, client).await?;
    Ok(Json(ActionLinkBody::of(linked)))
}

/// Acknowledges, snoozes, comments on or resolves the alert of an action link.
#[utoipa::path(post, path = "/api/action/{token}", tag = "Alerts", request_body = ActByLink,
    params(("token" = String, Path, description = "The end of the `action_url` of an event")),
    responses(
        (status = 200, description = "Done", body = ActionLinkBody),
        (status = 403, description = "The team is suspended", body = ErrorBody),
        (status = 404, description = "The link is invalid, or its alert ended more than a week ago", body = ErrorBody),
        (status = 409, description = "The alert has ended or was resolved, or was modified concurrently", body = ErrorBody)))]
async fn act_by_link(
    State(api): State<Api>,
    ClientOrigin(origin): ClientOrigin,
    Path(token): Path<String>,
    Body(wanted): Body<ActByLink>,
) -> ApiResult<ActionLinkBody> {
    let linked = api.engine().act_by_link(&token, wanted.into(), &origin).await?;
    Ok(Json(ActionLinkBody::of(linked)))
}

/// Acknowledges the alert of an emergency that was acknowledged in Pushover, which calls this.
#[utoipa::path(post, path = "/api/action/{token}/pushover", tag = "Alerts",
    request_body(content = PushoverCallback, content_type = "application/x-www-form-urlencoded"),
    params(("token" = String, Path, description = "The end of the `action_url` of an event")),
    responses(
        (status = 200, description = "Acknowledged", body = Ack),
        (status = 403, description = "The team is suspended", body = ErrorBody),
        (status = 404, description = "The link is invalid, was not sent by Pushover, or its alert ended more than a week ago", body = ErrorBody),
        (status = 409, description = "The alert has ended or was resolved, or was modified concurrently", body = ErrorBody)))]
async fn acknowledge_by_pushover(
    State(api): State<Api>,
    ClientOrigin(origin): ClientOrigin,
    Path(token): Path<String>,
    FormBody(_acknowledged): FormBody<PushoverCallback>,
) -> ApiResult<Ack> {
    api.engine().acknowledge_by_pushover(&token, &origin).await?;
    Ack::with_message("Alert acknowledged.")
}

/// Acknowledges the alert of a call in which 1 was pressed. Twilio calls this, and says the
/// response.
#[utoipa::path(post, path = "/api/action/{token}/call", tag = "Alerts",
    request_body(content = PressedKey, content_type = "application/x-www-form-urlencoded"),
    params(("token" = String, Path, description = "The end of the `action_url` of an event")),
    responses(
        (status = 200, description = "TwiML: what the call says", body = String, content_type = "text/xml"),
        (status = 404, description = "The link is invalid, was not sent by Twilio, or its alert ended more than a week ago", body = ErrorBody)))]
async fn acknowledge_by_call(
    State(api): State<Api>,
    ClientOrigin(origin): ClientOrigin,
    Path(token): Path<String>,
    FormBody(pressed): FormBody<PressedKey>,
) -> Result<Response, ApiError> {
    let done = api.engine().act_by_call(&token, pressed.acknowledges(), &origin).await;
    let said = match done {
        Ok(true) => "The alert is acknowledged. Goodbye.",
        Ok(false) => "The alert is not acknowledged. Goodbye.",
        Err(Error::AlertOver) => "The alert is already over. Goodbye.",
        Err(Error::TeamSuspended) => "The team is suspended. Nothing was changed. Goodbye.",
        Err(error) => return Err(error.into()),
    };
    let twiml = format!("<Response><Say>{said}</Say></Response>");
    Ok(([(header::CONTENT_TYPE, "text/xml; charset=utf-8")], twiml).into_response())
}
