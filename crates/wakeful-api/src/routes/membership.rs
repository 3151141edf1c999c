//! The plan of the caller's team.

use axum::Json;
use axum::extract::State;
use std::cmp::Reverse;
use wakeful_core::Invalid;
use wakeful_engine::billing::Invoice;

use crate::address::ClientIp;
use crate::app::Api;
use crate::body::Body;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody, wrong_plan};
use crate::query::{Part, Query};
use crate::wire::membership::With;
use crate::wire::{
    Done, Fields, InvoiceList, MembershipAnswer, MembershipSaved, PlanList, SaveMembership,
};

/// Gives the team a plan and charges its first period, or changes plan or method.
#[utoipa::path(post, path = "/api/v1/membership/save", tag = "Membership",
    request_body = SaveMembership,
    responses(
        (status = 200, description = "Saved and paid", body = MembershipSaved),
        (status = 402, description = "Declined; nothing has changed", body = ErrorBody),
        (status = 403, description = "An administrator is needed", body = ErrorBody),
        (status = 404, description = "The team has no such payment method", body = ErrorBody),
        (status = 409, description = "A payment is under way", body = ErrorBody),
        (status = 502, description = "The payment processor failed", body = ErrorBody)))]
pub(crate) async fn save(
    State(api): State<Api>,
    caller: Caller,
    ClientIp(from): ClientIp,
    Body(mut fields): Body<Fields>,
) -> ApiResult<MembershipSaved> {
    let plan = |text: &str| {
        api.engine().allow_plan(text).map_err(|error| Invalid::new(wrong_plan(&error)))
    };
    let read = SaveMembership::read(&mut fields, api.engine().now(), plan);
    let wanted = fields.finish(read)?;
    let With::Pay(with) = wanted.method else {
        return Err(ApiError::not_found("payment method"));
    };
    let chosen = api.engine().choose_plan(&caller.who, from, &wanted.plan, &with).await?;
    Ok(Json(MembershipSaved::of(&chosen)))
}

/// The same at the second address that the reference prints, without a version.
#[utoipa::path(post, path = "/api/membership/save", tag = "Membership",
    request_body = SaveMembership,
    responses(
        (status = 200, description = "Saved and paid", body = MembershipSaved),
        (status = 402, description = "Declined; nothing has changed", body = ErrorBody),
        (status = 403, description = "An administrator is needed", body = ErrorBody),
        (status = 404, description = "The team has no such payment method", body = ErrorBody),
        (status = 409, description = "A payment is under way", body = ErrorBody),
        (status = 502, description = "The payment processor failed", body = ErrorBody)))]
pub(crate) async fn save_unversioned(
    api: State<Api>,
    caller: Caller,
    from: ClientIp,
    body: Body<Fields>,
) -> ApiResult<MembershipSaved> {
    save(api, caller, from, body).await
}

/// Gives the plan up at the end of what is paid.
#[utoipa::path(post, path = "/api/v1/membership/stop", tag = "Membership",
    responses(
        (status = 200, description = "Cancelled", body = Done),
        (status = 403, description = "An administrator is needed", body = ErrorBody),
        (status = 409, description = "The team has no plan", body = ErrorBody)))]
pub(crate) async fn stop(State(api): State<Api>, caller: Caller) -> ApiResult<Done> {
    match api.engine().stop_plan(&caller.who).await? {
        Some(until) => Done::say(format!("The plan is cancelled; it serves until {until}.")),
        None => Done::say("The plan is cancelled and has ended."),
    }
}

/// Lists the plans.
#[utoipa::path(get, path = "/api/v1/membership/plans", tag = "Membership",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Plans a page"),
        ("cursor" = Option<String>, Query, description = "next_cursor of the page before")),
    responses(
        (status = 200, description = "The plans", body = PlanList),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn plans(
    State(api): State<Api>,
    _caller: Caller,
    query: Query,
) -> ApiResult<PlanList> {
    let part = Part::read(query, |text| text.parse::<usize>().ok())?;
    let plans = api.engine().plans().iter().enumerate().collect();
    let (plans, next) = part.of(plans, |(at, _)| *at, |at| at.to_string());
    Ok(Json(PlanList::of(plans.into_iter().map(|(_, plan)| plan), next)))
}

/// Tells the team's plan and what is paid.
#[utoipa::path(get, path = "/api/v1/membership/get", tag = "Membership",
    responses((status = 200, description = "The membership", body = MembershipAnswer)))]
pub(crate) async fn get(State(api): State<Api>, caller: Caller) -> ApiResult<MembershipAnswer> {
    let view = api.engine().membership(&caller.who).await?;
    let key = api.settings().stripe_publishable_key.clone();
    let (billing, processor) = (api.engine().billing_enabled(), api.engine().processor_name());
    Ok(Json(MembershipAnswer::of(&view, billing, processor, key)))
}

/// Lists the team's invoices.
#[utoipa::path(get, path = "/api/v1/membership/invoices", tag = "Membership",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Invoices a page"),
        ("cursor" = Option<String>, Query, description = "next_cursor of the page before")),
    responses(
        (status = 200, description = "The invoices", body = InvoiceList),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn invoices(
    State(api): State<Api>,
    caller: Caller,
    query: Query,
) -> ApiResult<InvoiceList> {
    let part = Part::read(query, |text| text.parse::<i64>().ok().map(Reverse))?;
    let invoices = api.engine().invoices(&caller.who).await?;
    let of = |invoice: &Invoice| Reverse(invoice.serial);
    let (invoices, next) = part.of(invoices, of, |Reverse(serial)| serial.to_string());
    Ok(Json(InvoiceList::of(invoices, next)))
}
