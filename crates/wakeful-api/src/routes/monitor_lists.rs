//! The lists of monitors. They may be long, so they are read, serialized and sent in
//! chunks, on blocking threads: memory use does not grow with the list, and checks are
//! not delayed by it.

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt as _};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use wakeful_core::access::{Permission, permission};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::MonitorId;
use wakeful_core::monitors::Kind;
use wakeful_core::severity::Severity;
use wakeful_engine::Authorized;
use wakeful_engine::{Error, ListContext, MonitorQuery, MonitorView};

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::caller::needs;
use crate::dto::Fields;
use crate::dto::enums::{KnownMonitorType, MonitorHealth, Severity as SeverityName};
use crate::dto::monitors::append::append;
use crate::dto::monitors::request::parse_status;
use crate::dto::monitors::response::MonitorList;
use crate::dto::monitors::row::{MonitorRow, MonitorRows, UnreadableMonitor};
use crate::error::{ApiError, ErrorBody};
use crate::path_id;
use crate::query::{self, Query};
use crate::routes::monitors::monitor_body;
use crate::serve::BufferedBytes;

/// Monitors per chunk; a chunk takes about a millisecond to serialize.
const CHUNK_SIZE: u32 = 128;

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::View, routes!(list_monitors)))
        .routes(needs(Permission::View, routes!(list_monitor_rows)))
}

/// Lists the team's monitors: all of them, or a page if `limit` is given.
#[utoipa::path(get, path = "/api/v1/monitors", tag = "Monitors",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Monitors per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
        ("type" = Option<KnownMonitorType>, Query, description = "Only this type"),
        ("status" = Option<MonitorHealth>, Query, description = "Only this status; up includes degraded"),
        ("tag" = Option<String>, Query, description = "Only monitors with this tag"),
        ("q" = Option<String>, Query, description = "Part of a name, target or tag"),
        ("maintenance" = Option<bool>, Query, description = "Only monitors that are in maintenance, or only those that are not"),
        ("severity" = Option<SeverityName>, Query, description = "Only this severity"),
        ("group" = Option<String>, Query, description = "Only members of the group with this id")),
    responses(
        (status = 200, description = "The monitors", body = MonitorList<'static>),
        (status = 404, description = "The team has no such group", body = ErrorBody),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_monitors(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Query(query): Query,
) -> Result<Response, ApiError> {
    ListStream::begin(api, caller, query, append_monitor).await?.respond().await
}

/// Lists the team's monitors in short form, for long lists.
#[utoipa::path(get, path = "/api/v1/monitors/rows", tag = "Monitors",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Monitors per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
        ("type" = Option<KnownMonitorType>, Query, description = "Only this type"),
        ("status" = Option<MonitorHealth>, Query, description = "Only this status; up includes degraded"),
        ("tag" = Option<String>, Query, description = "Only monitors with this tag"),
        ("q" = Option<String>, Query, description = "Part of a name, target or tag"),
        ("maintenance" = Option<bool>, Query, description = "Only monitors that are in maintenance, or only those that are not"),
        ("severity" = Option<SeverityName>, Query, description = "Only this severity"),
        ("group" = Option<String>, Query, description = "Only members of the group with this id")),
    responses(
        (status = 200, description = "The monitors", body = MonitorRows),
        (status = 404, description = "The team has no such group", body = ErrorBody),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_monitor_rows(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Query(query): Query,
) -> Result<Response, ApiError> {
    ListStream::begin(api, caller, query, |_, view, text| append(text, &row(view)))
        .await?
        .respond()
        .await
}

fn filter(query: &mut Fields) -> MonitorQuery {
    MonitorQuery {
        kind: query.optional("type", Kind::parse),
        status: query.optional("status", parse_status),
        tag: query.optional_text("tag"),
        q: query.optional_text("q"),
        maintenance: query::flag(query, "maintenance"),
        severity: query.optional("severity", Severity::parse),
        members: None,
        limit: query::limit(query),
        after: query::cursor(query, MonitorId::parse),
    }
}

fn row(view: &MonitorView) -> MonitorRow {
    MonitorRow::of(view)
}

/// Appends one monitor to the list.
type Write = fn(&Api, &MonitorView, &mut Vec<u8>);

fn append_monitor(api: &Api, view: &MonitorView, text: &mut Vec<u8>) {
    if view.unreadable {
        append(text, &UnreadableMonitor::of(view));
    } else {
        monitor_body(api, view).append_to(text);
    }
}

/// A list that is being sent.
struct ListStream {
    api: Api,
    caller: Authorized<permission::View>,
    /// Selects the monitors that are still to be read.
    filter: MonitorQuery,
    context: ListContext,
    /// Whether this is a page of the list, which ends with `next_cursor`.
    is_page: bool,
    write: Write,
    at: Position,
    /// The length of the previous chunk; that of the next one is similar.
    chunk_length: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Start,
    Middle,
    End,
}

impl ListStream {
    async fn begin(
        api: Api,
        caller: Authorized<permission::View>,
        mut query: Fields,
        write: Write,
    ) -> Result<Self, ApiError> {
        let filter = filter(&mut query);
        let group = query.optional_text("group").filter(|group| !group.is_empty());
        let mut filter = query.finish(Some(filter))?;
        if let Some(group) = group {
            let id = path_id::parse(&group, "monitor", MonitorId::parse)?;
            filter.members = Some(api.engine().group_members(&caller, id).await?);
        }
        let context = api.engine().list_context(&caller).await?;
        let is_page = filter.limit.is_some();
        let at = Position::Start;
        Ok(Self { api, caller, filter, context, is_page, write, at, chunk_length: 0 })
    }

    /// The response begins with the first chunk, so that unavailable storage is reported
    /// as an error. If storage fails later, the response is cut off.
    async fn respond(self) -> Result<Response, ApiError> {
        let (first, stream) = self.chunk_off_thread().await?;
        let buffered = BufferedBytes(first.len());
        let body = match stream.at {
            Position::End => Body::from(first),
            _ => {
                let rest = stream::try_unfold(stream, Self::next_chunk);
                Body::from_stream(stream::once(async { Ok(first) }).chain(rest))
            }
        };
        let kind = [(header::CONTENT_TYPE, "application/json")];
        Ok((kind, Extension(buffered), body).into_response())
    }

    async fn next_chunk(self) -> std::io::Result<Option<(Bytes, Self)>> {
        if self.at == Position::End {
            return Ok(None);
        }
        match self.chunk_off_thread().await {
            Ok(made) => Ok(Some(made)),
            Err(error) => {
                tracing::warn!(error = %ErrorChain(&error), "sending a list of monitors failed, closing the response");
                Err(std::io::Error::other(error))
            }
        }
    }

    /// The next chunk. A blocking thread serializes it, so that the kernel schedules
    /// checks in between; on a worker thread, checks would have to wait.
    async fn chunk_off_thread(mut self) -> Result<(Bytes, Self), Error> {
        // Bounds the threads too, which need memory.
        let _turn = self.api.engine().list_turn(&self.caller).await?;
        let here = Handle::current();
        let made = spawn_blocking(move || {
            here.block_on(async move {
                let chunk = self.chunk().await?;
                Ok((chunk.into(), self))
            })
        });
        made.await.unwrap_or_else(|broken| std::panic::resume_unwind(broken.into_panic()))
    }

    async fn chunk(&mut self) -> Result<Vec<u8>, Error> {
        let limit = self.filter.limit.map_or(CHUNK_SIZE, |left| left.min(CHUNK_SIZE));
        let asked = MonitorQuery { limit: Some(limit), ..self.filter.clone() };
        let engine = self.api.engine();
        let page = engine.monitors_with(&self.caller, &asked, &self.context).await?;
        let mut text = Vec::with_capacity(self.chunk_length + self.chunk_length / 8);
        if self.at == Position::Start {
            text.extend_from_slice(br#"{"success":true,"monitors":["#);
        }
        for (place, view) in page.items.iter().enumerate() {
            if place > 0 || self.at == Position::Middle {
                text.push(b',');
            }
            (self.write)(&self.api, view, &mut text);
        }
        let left = self.filter.limit.map(|left| left - limit);
        self.filter = MonitorQuery { limit: left, after: page.next, ..asked };
        self.at = Position::Middle;
        if page.next.is_none() || left == Some(0) {
            self.at = Position::End;
            text.extend_from_slice(b"]");
            if self.is_page {
                text.extend_from_slice(br#","next_cursor":"#);
                append(&mut text, &page.next.map(|id| id.to_string()));
            }
            text.extend_from_slice(b"}");
        }
        self.chunk_length = text.len();
        Ok(text)
    }
}
