//! The report on a month or any other days.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use wakeful_core::access::{Permission, permission};
use wakeful_core::history::month::Month;
use wakeful_core::history::period::{Period, parse_day};
use wakeful_core::history::{DAY, start_of};
use wakeful_core::time::Millis;
use wakeful_engine::Authorized;
use wakeful_engine::ReportOrder;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::caller::needs;
use crate::dto::Fields;
use crate::dto::enums::{ReportFormat, ReportLanguage, ReportSort};
use crate::dto::report::{self as dto, Format, ReportBody};
use crate::dto::report_page::{Language, ReportPage};
use crate::error::{ApiError, ErrorBody};
use crate::query::Query;

/// The page has inline styles; nothing else is loaded or run.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new().routes(needs(Permission::View, routes!(get_report)))
}

/// Returns the statistics of a month, or of the days from `from` to `to`, for all monitors or
/// for those with a tag.
#[utoipa::path(get, path = "/api/v1/report", tag = "Monitors",
    params(
        ("month" = Option<String>, Query, description = "Such as 2026-10; default: this month"),
        ("from" = Option<String>, Query, description = "The first day, such as 2026-10-01, instead of a month"),
        ("to" = Option<String>, Query, description = "The last day, at most 731 days in total; default: today"),
        ("tag" = Option<String>, Query, description = "Only monitors with this tag"),
        ("sort" = inline(Option<ReportSort>), Query, description = "Default: name"),
        ("lang" = inline(Option<ReportLanguage>), Query, description = "The language of the page; default: according to Accept-Language"),
        ("format" = inline(Option<ReportFormat>), Query, description = "Default: according to Accept, otherwise json"),
        ("team" = Option<String>, Query,
            description = "One of the caller's teams, in place of the header `X-Wakeful-Team`")),
    responses(
        (status = 200, description = "The report", content(
            (ReportBody = "application/json"), (String = "text/csv"), (String = "text/html"))),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn get_report(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    headers: HeaderMap,
    Query(mut query): Query,
) -> Result<Response, ApiError> {
    let period = period(&mut query, api.engine().now());
    let tag = query.optional_text("tag").filter(|tag| !tag.is_empty());
    let order = query.optional("sort", dto::parse_order).unwrap_or(ReportOrder::Name);
    let language = query.optional("lang", dto::parse_language);
    let language = language.unwrap_or_else(|| Language::preferred(&headers));
    let format = query.optional("format", Format::parse).unwrap_or_else(|| accepted(&headers));
    let period = query.finish(period)?;
    let report = api.engine().report(&caller, period, tag, order).await?;
    Ok(show(&ReportBody::of(&report), format, language))
}

/// The month, or the days from `from` to `to`; by default the current month.
fn period(query: &mut Fields, now: Millis) -> Option<Period> {
    let month = query.optional("month", Month::parse);
    let (first, last) = (query.optional("from", parse_day), query.optional("to", parse_day));
    if !query.has("from") && !query.has("to") {
        return Some(month.unwrap_or_else(|| Month::of(now)).into());
    }
    if query.has("month") {
        query.refuse("month", "must be omitted if from is given");
    }
    let first = query.require("from", first)?;
    let last = last.unwrap_or_else(|| start_of(DAY, now));
    query.accept("to", Period::of_days(first, last))
}

fn show(report: &ReportBody, format: Format, language: Language) -> Response {
    match format {
        Format::Json => Json(report).into_response(),
        Format::Csv => {
            let name = format!("attachment; filename=\"{}\"", report.file_name("csv"));
            let kind = (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned());
            ([kind, (header::CONTENT_DISPOSITION, name)], report.csv()).into_response()
        }
        Format::Html => {
            let mut response = Html(ReportPage { report, language }.html()).into_response();
            let headers = response.headers_mut();
            headers.insert(
                header::CONTENT_SECURITY_POLICY,
                HeaderValue::from_static(CONTENT_SECURITY_POLICY),
            );
            let language = HeaderValue::from_static(language.as_str());
            headers.insert(header::CONTENT_LANGUAGE, language);
            response
        }
    }
}

/// The first supported type in the header.
fn accepted(headers: &HeaderMap) -> Format {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let kinds = accept.unwrap_or_default().split(',');
    let mut known = kinds.filter_map(|kind| match kind.split(';').next()?.trim() {
        "text/html" => Some(Format::Html),
        "text/csv" => Some(Format::Csv),
        "application/json" => Some(Format::Json),
        _ => None,
    });
    known.next().unwrap_or(Format::Json)
}
