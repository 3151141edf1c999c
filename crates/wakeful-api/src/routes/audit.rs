//! The audit log of the caller's team.

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures_util::stream::{self, StreamExt as _};
use std::sync::Arc;
use wakeful_core::access::{Permission, permission};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::StreamId;
use wakeful_engine::{AuditQuery, AuditRange, Authorized, Error, Reauthenticated, StoredEntry};

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body as RequestBody;
use crate::caller::Reauthentication::Always;
use crate::caller::{Grant, needs, reauthenticated};
use crate::dto::audit::{AuditEntry, AuditLog, AuditVerified, ExportFormat};
use crate::dto::audit_streams::{SaveStream, StreamList, StreamSaved, StreamTested, TestStream};
use crate::dto::enums::AuditFormat;
use crate::dto::{Ack, Fields};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::path_id;
use crate::query::{self, ListPage, Query};
use crate::routes::history::time;

/// How many entries a page has if the caller does not say.
const DEFAULT_LIMIT: u32 = 100;

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::Audit, routes!(list_audit)))
        .routes(needs(Permission::Audit, routes!(export_audit)))
        .routes(needs(Permission::Audit, routes!(verify_audit)))
        .routes(needs(Permission::Own, routes!(list_streams)))
        .routes(needs(Permission::Own, reauthenticated(Always, routes!(save_stream))))
        .routes(needs(Permission::Own, routes!(test_stream)))
        .routes(needs(Permission::Own, reauthenticated(Always, routes!(delete_stream))))
}

/// Lists the team's audit log, newest first: who changed what, from where and when.
#[utoipa::path(get, path = "/api/v1/audit", tag = "Audit log",
    params(
        ("from" = Option<String>, Query, format = DateTime, description = "Only entries from this time on"),
        ("to" = Option<String>, Query, format = DateTime, description = "Only entries before this time"),
        ("actor" = Option<String>, Query, description = "Only changes by the user with this id"),
        ("action" = Option<String>, Query, description = "Only this action, such as `monitor.update`, or all of a thing, such as `monitor`"),
        ("object" = Option<String>, Query, description = "Only changes of the object with this id"),
        ("q" = Option<String>, Query, description = "Part of a name or an address"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Entries per page; 100 if omitted"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "A page of the log", body = AuditLog),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_audit(
    State(api): State<Api>,
    caller: Authorized<permission::Audit>,
    Query(mut query): Query,
) -> ApiResult<AuditLog> {
    let (wanted, limit) = wanted(&mut query);
    let wanted = query.finish(Some(wanted))?;
    let page = api.engine().audit_log(&caller, &wanted, limit).await?;
    Ok(Json(AuditLog::of(&page.items, page.next)))
}

/// Exports the team's audit log, oldest first. Each line of `jsonl` has what is needed to
/// verify its hash.
#[utoipa::path(get, path = "/api/v1/audit/export", tag = "Audit log",
    params(
        ("format" = inline(Option<AuditFormat>), Query, description = "`jsonl` if omitted"),
        ("from" = Option<String>, Query, format = DateTime, description = "Only entries from this time on"),
        ("to" = Option<String>, Query, format = DateTime, description = "Only entries before this time"),
        ("team" = Option<String>, Query,
            description = "One of the caller's teams, in place of the header `X-Wakeful-Team`")),
    responses(
        (status = 200, description = "One line for each entry", content(
            (String = "application/x-ndjson"), (String = "text/csv"))),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn export_audit(
    State(api): State<Api>,
    caller: Authorized<permission::Audit>,
    Extension(grant): Extension<Arc<Grant>>,
    Query(mut query): Query,
) -> Result<Response, ApiError> {
    let format = query.optional("format", ExportFormat::parse).unwrap_or(ExportFormat::Jsonl);
    let range = range(&mut query);
    let range = query.finish(Some(range))?;
    api.engine().begin_audit_export(&caller, range, format.as_str()).await?;
    let kind = match format {
        ExportFormat::Jsonl => "application/x-ndjson",
        ExportFormat::Csv => "text/csv; charset=utf-8",
    };
    let disposition = format!("attachment; filename=\"audit.{}\"", format.as_str());
    let export = Export { api, caller, grant, range, format, next: Some(0) };
    // The response begins with the first entries, so that unavailable storage is reported as
    // an error. If storage fails later, the response is cut off.
    let (first, export) = export.chunk().await?;
    let rest = stream::try_unfold(export, Export::next_chunk);
    let body = Body::from_stream(stream::once(async { Ok(first) }).chain(rest));
    let headers =
        [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, disposition)];
    Ok((headers, body).into_response())
}

/// Verifies that no entry of the team's audit log was changed, removed or added.
#[utoipa::path(get, path = "/api/v1/audit/verify", tag = "Audit log",
    responses((status = 200, description = "The result", body = AuditVerified)))]
async fn verify_audit(
    State(api): State<Api>,
    caller: Authorized<permission::Audit>,
) -> ApiResult<AuditVerified> {
    Ok(Json(AuditVerified::of(&api.engine().verify_audit(&caller).await?)))
}

/// Lists the team's streams: webhooks that receive its audit log.
#[utoipa::path(get, path = "/api/v1/audit/streams", tag = "Audit log",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Streams per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The streams", body = StreamList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_streams(
    State(api): State<Api>,
    caller: Authorized<permission::Own>,
    query: Query,
) -> ApiResult<StreamList> {
    let part = ListPage::read(query, StreamId::parse)?;
    let streams = api.engine().streams(&caller).await?;
    let (streams, next) = part.paginate(streams, |stream| stream.id, |id| id.to_string());
    Ok(Json(StreamList::of(streams, next)))
}

/// Creates a stream, which begins with the entry about its own creation, or changes the one with
/// the given `streamid`. A stream that is turned on continues where it stopped.
#[utoipa::path(post, path = "/api/v1/audit/stream/save", tag = "Audit log",
    request_body = SaveStream,
    responses(
        (status = 200, description = "Saved", body = StreamSaved),
        (status = 404, description = "The team has no such stream", body = ErrorBody),
        (status = 409, description = "The team has 5 streams", body = ErrorBody)))]
async fn save_stream(
    State(api): State<Api>,
    caller: Reauthenticated<permission::Own>,
    RequestBody(wanted): RequestBody<SaveStream>,
) -> ApiResult<StreamSaved> {
    let wanted = wanted.wanted().ok_or_else(|| ApiError::not_found("stream"))?;
    Ok(Json(StreamSaved::of(api.engine().save_stream(&caller, wanted).await?)))
}

/// Sends a request without entries, of the type `audit.test`, and returns the receiver's response
/// in `message`. The receiver is that of a saved stream (`streamid`), or the given `url`.
#[utoipa::path(post, path = "/api/v1/audit/stream/test", tag = "Audit log",
    request_body = TestStream,
    responses(
        (status = 200, description = "Accepted by the receiver", body = StreamTested),
        (status = 404, description = "The team has no such stream", body = ErrorBody),
        (status = 502, description = "Not accepted by the receiver", body = ErrorBody)))]
async fn test_stream(
    State(api): State<Api>,
    caller: Authorized<permission::Own>,
    RequestBody(wanted): RequestBody<TestStream>,
) -> ApiResult<StreamTested> {
    let wanted = wanted.wanted().ok_or_else(|| ApiError::not_found("stream"))?;
    Ok(Json(StreamTested::of(api.engine().test_stream(&caller, wanted).await?)))
}

/// Deletes a stream.
#[utoipa::path(delete, path = "/api/v1/audit/stream/{streamid}/delete", tag = "Audit log",
    params(("streamid" = String, Path, description = "The stream's id")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 404, description = "The team has no such stream", body = ErrorBody)))]
async fn delete_stream(
    State(api): State<Api>,
    caller: Reauthenticated<permission::Own>,
    Path(streamid): Path<String>,
) -> ApiResult<Ack> {
    let id = path_id::parse(&streamid, "stream", StreamId::parse)?;
    api.engine().delete_stream(&caller, id).await?;
    Ack::with_message("Stream deleted.")
}

/// Which entries are wanted, and how many.
pub(super) fn wanted(query: &mut Fields) -> (AuditQuery, u32) {
    let (range, limit) = (range(query), query::limit(query).unwrap_or(DEFAULT_LIMIT));
    let wanted = AuditQuery {
        from: range.from,
        to: range.to,
        actor: query.optional_text("actor"),
        action: query.optional_text("action"),
        object: query.optional_text("object"),
        text: query.optional_text("q"),
        before: query::cursor(query, |text| text.parse().ok()),
    };
    (wanted, limit)
}

fn range(query: &mut Fields) -> AuditRange {
    let range = AuditRange { from: time(query, "from"), to: time(query, "to") };
    if let (Some(from), Some(to)) = (range.from, range.to)
        && from > to
    {
        query.refuse("to", "must be later than from");
    }
    range
}

/// An export that is being sent.
struct Export {
    api: Api,
    caller: Authorized<permission::Audit>,
    grant: Arc<Grant>,
    range: AuditRange,
    format: ExportFormat,
    /// The next entry to send; `None` at the end.
    next: Option<i64>,
}

impl Export {
    async fn next_chunk(self) -> std::io::Result<Option<(Bytes, Self)>> {
        if self.next.is_none() {
            return Ok(None);
        }
        // A caller who was removed or demoted meanwhile reads no further.
        if self.grant.confirm(self.api.engine()).await.is_err() {
            return Err(std::io::Error::other("the caller may no longer read the audit log"));
        }
        match self.chunk().await {
            Ok(made) => Ok(Some(made)),
            Err(error) => {
                tracing::warn!(error = %ErrorChain(&error), "sending an export of the audit log failed, closing the response");
                Err(std::io::Error::other(error))
            }
        }
    }

    async fn chunk(mut self) -> Result<(Bytes, Self), Error> {
        let from = self.next.unwrap_or_default();
        let entries = self.api.engine().audit_export(&self.caller, from, self.range).await?;
        let mut text = String::new();
        if from == 0 && self.format == ExportFormat::Csv {
            text.push_str(AuditEntry::CSV_HEADER);
        }
        for stored in &entries {
            self.append(&mut text, stored);
        }
        self.next = entries.last().map(|stored| stored.entry.seq + 1);
        Ok((text.into(), self))
    }

    fn append(&self, text: &mut String, stored: &StoredEntry) {
        match self.format {
            ExportFormat::Csv => text.push_str(&AuditEntry::of(stored).csv()),
            ExportFormat::Jsonl => {
                text.push_str(&stored.entry.exported(&stored.hash).to_string());
                text.push('\n');
            }
        }
    }
}
