//! The payment methods of the caller's team.

use axum::Json;
use axum::extract::State;
use wakeful_core::id::MethodId;

use crate::address::ClientIp;
use crate::app::Api;
use crate::body::Body;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::query::{Part, Query};
use crate::wire::{
    Fields, MethodDefault, MethodDeleted, MethodList, MethodName, MethodSaved, SaveMethod, source,
};

/// Lists the team's payment methods.
#[utoipa::path(get, path = "/api/v1/paymentmethods/get", tag = "Payment methods",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Methods a page"),
        ("cursor" = Option<String>, Query, description = "next_cursor of the page before")),
    responses(
        (status = 200, description = "The methods", body = MethodList),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    query: Query,
) -> ApiResult<MethodList> {
    let part = Part::read(query, MethodId::parse)?;
    let methods = api.engine().payment_methods(&caller.who).await?;
    let (methods, next) = part.of(methods, |method| method.id, |id| id.to_string());
    Ok(Json(MethodList::of(methods, next)))
}

/// Saves a card at the processor; the team's first becomes the default.
#[utoipa::path(post, path = "/api/v1/paymentmethod/save", tag = "Payment methods",
    request_body = SaveMethod,
    responses(
        (status = 200, description = "Saved", body = MethodSaved),
        (status = 402, description = "The card was declined", body = ErrorBody),
        (status = 502, description = "The payment processor failed", body = ErrorBody)))]
pub(crate) async fn save(
    State(api): State<Api>,
    caller: Caller,
    ClientIp(from): ClientIp,
    Body(mut fields): Body<Fields>,
) -> ApiResult<MethodSaved> {
    let read = source(&mut fields, api.engine().now());
    let card = fields.finish(read)?;
    let method = api.engine().save_payment_method(&caller.who, from, &card).await?;
    Ok(Json(MethodSaved::of(method)))
}

/// Makes a payment method the default.
#[utoipa::path(post, path = "/api/v1/paymentmethod/default", tag = "Payment methods",
    request_body = MethodName,
    responses(
        (status = 200, description = "It is the default now", body = MethodDefault),
        (status = 404, description = "The team has no such method", body = ErrorBody)))]
pub(crate) async fn set_default(
    State(api): State<Api>,
    caller: Caller,
    Body(wanted): Body<MethodName>,
) -> ApiResult<MethodDefault> {
    let id = wanted.id().ok_or_else(no_method)?;
    api.engine().default_payment_method(&caller.who, id).await?;
    Ok(Json(MethodDefault::of(id)))
}

/// Deletes a payment method here and at the processor.
#[utoipa::path(post, path = "/api/v1/paymentmethod/delete", tag = "Payment methods",
    request_body = MethodName,
    responses(
        (status = 200, description = "Deleted", body = MethodDeleted),
        (status = 404, description = "The team has no such method", body = ErrorBody)))]
pub(crate) async fn delete(
    State(api): State<Api>,
    caller: Caller,
    Body(wanted): Body<MethodName>,
) -> ApiResult<MethodDeleted> {
    let id = wanted.id().ok_or_else(no_method)?;
    Ok(Json(MethodDeleted::of(api.engine().delete_payment_method(&caller.who, id).await?)))
}

fn no_method() -> ApiError {
    ApiError::not_found("payment method")
}
