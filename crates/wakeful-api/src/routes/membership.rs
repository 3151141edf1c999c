//! The plan of the caller's team.

use axum::Json;
use axum::extract::State;
use std::cmp::Reverse;
use wakeful_core::Invalid;
use wakeful_core::access::{Permission, permission};
use wakeful_engine::Authorized;
use wakeful_engine::billing::Invoice;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::client_ip::ClientIp;
use crate::dto::membership::{
    InvoiceList, MembershipAnswer, MembershipPreview, MembershipSaved, PaymentChoice, PlanList,
    PreviewMembership, SaveMembership,
};
use crate::dto::{Ack, Fields};
use crate::error::{ApiError, ApiResult, ErrorBody, wrong_plan};
use crate::query::{ListPage, Query};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::Pay, routes!(choose_plan)))
        .routes(needs(Permission::Pay, routes!(choose_plan_unversioned)))
        .routes(needs(Permission::Bills, routes!(preview_plan)))
        .routes(needs(Permission::Pay, routes!(cancel_plan)))
        .routes(needs(Permission::Bills, routes!(list_plans)))
        .routes(needs(Permission::Bills, routes!(get_membership)))
        .routes(needs(Permission::Bills, routes!(list_invoices)))
}

/// Subscribes the team to a plan and charges the first period, or changes the plan or the
/// payment method.
#[utoipa::path(post, path = "/api/v1/membership/save", tag = "Membership",
    request_body = SaveMembership,
    responses(
        (status = 200, description = "Saved and paid", body = MembershipSaved),
        (status = 402, description = "Declined; nothing has changed", body = ErrorBody),
        (status = 403, description = "Only the operator can change this plan", body = ErrorBody),
        (status = 404, description = "The team has no such payment method", body = ErrorBody),
        (status = 409, description = "A payment is in progress", body = ErrorBody),
        (status = 502, description = "The payment processor failed", body = ErrorBody)))]
async fn choose_plan(
    State(api): State<Api>,
    caller: Authorized<permission::Pay>,
    ClientIp(from): ClientIp,
    Body(mut fields): Body<Fields>,
) -> ApiResult<MembershipSaved> {
    let read = SaveMembership::read(&mut fields, api.engine().now(), check_plan(&api));
    let wanted = fields.finish(read)?;
    let PaymentChoice::Pay(with) = wanted.method else {
        return Err(ApiError::not_found("payment method"));
    };
    let chosen = api.engine().choose_plan(&caller, from, &wanted.plan, &with).await?;
    Ok(Json(MembershipSaved::of(&chosen)))
}

/// Returns what `membership/save` would charge for a plan. Nothing is charged or changed.
#[utoipa::path(post, path = "/api/v1/membership/preview", tag = "Membership",
    request_body = PreviewMembership,
    responses(
        (status = 200, description = "The amounts", body = MembershipPreview),
        (status = 403, description = "Only the operator can change this plan", body = ErrorBody),
        (status = 409, description = "A payment is in progress", body = ErrorBody)))]
async fn preview_plan(
    State(api): State<Api>,
    caller: Authorized<permission::Bills>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<MembershipPreview> {
    let read = PreviewMembership::read(&mut fields, check_plan(&api));
    let wanted = fields.finish(read)?;
    let quote = api.engine().quote_plan(&caller, &wanted.plan).await?;
    Ok(Json(MembershipPreview::of(&quote)))
}

/// Says why a plan cannot be chosen.
fn check_plan(api: &Api) -> impl FnOnce(&str) -> Result<(), Invalid> {
    |text| api.engine().check_plan_choice(text).map_err(|error| Invalid::new(wrong_plan(&error)))
}

/// The same without a version in the path, as in the reference.
#[utoipa::path(post, path = "/api/membership/save", tag = "Membership",
    request_body = SaveMembership,
    responses(
        (status = 200, description = "Saved and paid", body = MembershipSaved),
        (status = 402, description = "Declined; nothing has changed", body = ErrorBody),
        (status = 403, description = "Only the operator can change this plan", body = ErrorBody),
        (status = 404, description = "The team has no such payment method", body = ErrorBody),
        (status = 409, description = "A payment is in progress", body = ErrorBody),
        (status = 502, description = "The payment processor failed", body = ErrorBody)))]
async fn choose_plan_unversioned(
    api: State<Api>,
    caller: Authorized<permission::Pay>,
    from: ClientIp,
    body: Body<Fields>,
) -> ApiResult<MembershipSaved> {
    choose_plan(api, caller, from, body).await
}

/// Cancels the plan at the end of the paid period.
#[utoipa::path(post, path = "/api/v1/membership/stop", tag = "Membership",
    responses(
        (status = 200, description = "Canceled", body = Ack),
        (status = 403, description = "Only the operator can change this plan", body = ErrorBody),
        (status = 409, description = "The team has no plan", body = ErrorBody)))]
async fn cancel_plan(
    State(api): State<Api>,
    caller: Authorized<permission::Pay>,
) -> ApiResult<Ack> {
    match api.engine().cancel_plan(&caller).await? {
        Some(until) => {
            Ack::with_message(format!("Plan canceled; it remains active until {until}."))
        }
        None => Ack::with_message("Plan canceled; it has ended."),
    }
}

/// Lists the plans.
#[utoipa::path(get, path = "/api/v1/membership/plans", tag = "Membership",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Plans per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The plans", body = PlanList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_plans(
    State(api): State<Api>,
    _caller: Authorized<permission::Bills>,
    query: Query,
) -> ApiResult<PlanList> {
    let part = ListPage::read(query, |text| text.parse::<usize>().ok())?;
    let plans = api.engine().plans().iter().enumerate().collect();
    let (plans, next) = part.paginate(plans, |(at, _)| *at, |at| at.to_string());
    Ok(Json(PlanList::of(plans.into_iter().map(|(_, plan)| plan), next)))
}

/// Returns the team's plan and its payment status.
#[utoipa::path(get, path = "/api/v1/membership/get", tag = "Membership",
    responses((status = 200, description = "The membership", body = MembershipAnswer)))]
async fn get_membership(
    State(api): State<Api>,
    caller: Authorized<permission::Bills>,
) -> ApiResult<MembershipAnswer> {
    let view = api.engine().membership(&caller).await?;
    let key = api.settings().stripe_publishable_key.clone();
    let (billing, processor) = (api.engine().billing_enabled(), api.engine().processor_name());
    let enforced = api.engine().limits_enforced();
    Ok(Json(MembershipAnswer::of(&view, billing, processor, key, enforced)))
}

/// Lists the team's invoices.
#[utoipa::path(get, path = "/api/v1/membership/invoices", tag = "Membership",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Invoices per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The invoices", body = InvoiceList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_invoices(
    State(api): State<Api>,
    caller: Authorized<permission::Bills>,
    query: Query,
) -> ApiResult<InvoiceList> {
    let part = ListPage::read(query, |text| text.parse::<i64>().ok().map(Reverse))?;
    let invoices = api.engine().invoices(&caller).await?;
    let of = |invoice: &Invoice| Reverse(invoice.serial);
    let (invoices, next) = part.paginate(invoices, of, |Reverse(serial)| serial.to_string());
    Ok(Json(InvoiceList::of(invoices, next)))
}
