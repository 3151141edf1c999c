//! The payment methods of the caller's team.

use axum::Json;
use axum::extract::State;
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::PaymentMethodId;
use wakeful_engine::Authorized;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::client_ip::ClientIp;
use crate::dto::Fields;
use crate::dto::payment_methods::{
    MethodDefault, MethodDeleted, MethodList, MethodName, MethodSaved, SaveMethod, source,
};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::query::{ListPage, Query};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::Bills, routes!(list_payment_methods)))
        .routes(needs(Permission::Pay, routes!(save_payment_method)))
        .routes(needs(Permission::Pay, routes!(set_default_payment_method)))
        .routes(needs(Permission::Pay, routes!(delete_payment_method)))
}

/// Lists the team's payment methods.
#[utoipa::path(get, path = "/api/v1/paymentmethods/get", tag = "Payment methods",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Methods per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The methods", body = MethodList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_payment_methods(
    State(api): State<Api>,
    caller: Authorized<permission::Bills>,
    query: Query,
) -> ApiResult<MethodList> {
    let part = ListPage::read(query, PaymentMethodId::parse)?;
    let methods = api.engine().payment_methods(&caller).await?;
    let (methods, next) = part.paginate(methods, |method| method.id, |id| id.to_string());
    Ok(Json(MethodList::of(methods, next)))
}

/// Saves a card with the payment processor; the team's first card becomes the default.
#[utoipa::path(post, path = "/api/v1/paymentmethod/save", tag = "Payment methods",
    request_body = SaveMethod,
    responses(
        (status = 200, description = "Saved", body = MethodSaved),
        (status = 402, description = "The card was declined", body = ErrorBody),
        (status = 502, description = "The payment processor failed", body = ErrorBody)))]
async fn save_payment_method(
    State(api): State<Api>,
    caller: Authorized<permission::Pay>,
    ClientIp(from): ClientIp,
    Body(mut fields): Body<Fields>,
) -> ApiResult<MethodSaved> {
    let read = source(&mut fields, api.engine().now());
    let card = fields.finish(read)?;
    let method = api.engine().save_payment_method(&caller, from, &card).await?;
    Ok(Json(MethodSaved::of(method)))
}

/// Makes a payment method the default.
#[utoipa::path(post, path = "/api/v1/paymentmethod/default", tag = "Payment methods",
    request_body = MethodName,
    responses(
        (status = 200, description = "It is now the default", body = MethodDefault),
        (status = 404, description = "The team has no such method", body = ErrorBody)))]
async fn set_default_payment_method(
    State(api): State<Api>,
    caller: Authorized<permission::Pay>,
    Body(wanted): Body<MethodName>,
) -> ApiResult<MethodDefault> {
    let id = wanted.id().ok_or_else(no_method)?;
    api.engine().default_payment_method(&caller, id).await?;
    Ok(Json(MethodDefault::of(id)))
}

/// Deletes a payment method here and with the payment processor.
#[utoipa::path(post, path = "/api/v1/paymentmethod/delete", tag = "Payment methods",
    request_body = MethodName,
    responses(
        (status = 200, description = "Deleted", body = MethodDeleted),
        (status = 404, description = "The team has no such method", body = ErrorBody)))]
async fn delete_payment_method(
    State(api): State<Api>,
    caller: Authorized<permission::Pay>,
    Body(wanted): Body<MethodName>,
) -> ApiResult<MethodDeleted> {
    let id = wanted.id().ok_or_else(no_method)?;
    Ok(Json(MethodDeleted::of(api.engine().delete_payment_method(&caller, id).await?)))
}

fn no_method() -> ApiError {
    ApiError::not_found("payment method")
}
