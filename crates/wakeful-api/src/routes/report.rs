//! The report of a month.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use wakeful_core::Invalid;
use wakeful_core::history::month::Month;

use crate::app::Api;
use crate::caller::Caller;
use crate::error::{ApiError, ErrorBody};
use crate::query::Query;
use crate::wire::ReportBody;

/// The page has its style within; nothing else is fetched or run.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

#[derive(Clone, Copy)]
enum Format {
    Json,
    Csv,
    Html,
}

/// The figures of a month of all monitors, or of those with a tag.
#[utoipa::path(get, path = "/api/v1/report", tag = "Monitors",
    params(
        ("month" = Option<String>, Query, description = "Such as 2026-10; default: this month"),
        ("tag" = Option<String>, Query, description = "Only monitors with this tag"),
        ("format" = Option<String>, Query, description = "json, csv or html; default: what Accept says, else json")),
    responses(
        (status = 200, description = "The report", content(
            (ReportBody = "application/json"), (String = "text/csv"), (String = "text/html"))),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn report(
    State(api): State<Api>,
    caller: Caller,
    headers: HeaderMap,
    Query(mut query): Query,
) -> Result<Response, ApiError> {
    let month = query.optional("month", Month::parse);
    let tag = query.optional_text("tag").filter(|tag| !tag.is_empty());
    let format = query.optional("format", format).unwrap_or_else(|| accepted(&headers));
    query.finish(Some(()))?;
    let month = month.unwrap_or_else(|| Month::of(api.engine().now()));
    let report = ReportBody::of(&api.engine().report(&caller.who, month, tag).await?);
    Ok(show(&report, format))
}

fn show(report: &ReportBody, format: Format) -> Response {
    match format {
        Format::Json => Json(report).into_response(),
        Format::Csv => {
            let name = format!("attachment; filename=\"{}\"", report.file_name("csv"));
            let kind = (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned());
            ([kind, (header::CONTENT_DISPOSITION, name)], report.csv()).into_response()
        }
        Format::Html => {
            let mut response = Html(report.html()).into_response();
            let policy = HeaderValue::from_static(POLICY);
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
            response
        }
    }
}

fn format(text: &str) -> Result<Format, Invalid> {
    match text {
        "json" => Ok(Format::Json),
        "csv" => Ok(Format::Csv),
        "html" => Ok(Format::Html),
        _ => Err(Invalid::new("must be json, csv or html")),
    }
}

/// The first kind of the header that can be given.
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
