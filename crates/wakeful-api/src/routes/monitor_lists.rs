//! The lists of monitors. They may be long, so they are read, written and sent a
//! piece at a time, on threads of their own: what is in memory does not grow with
//! the list, and no check waits for it to be made.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt as _};
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use wakeful_core::Invalid;
use wakeful_core::chain::Chain;
use wakeful_core::id::MonitorId;
use wakeful_core::monitor::Kind;
use wakeful_core::verdict::Status;
use wakeful_engine::{Error, MonitorFilter, MonitorView};

use crate::app::Api;
use crate::caller::Caller;
use crate::error::{ApiError, ErrorBody};
use crate::query::{self, Query};
use crate::routes::monitors::show;
use crate::wire::{Fields, MonitorList, MonitorRow, MonitorRows};

/// Monitors in a piece: to make one takes about a millisecond.
const PIECE: u32 = 128;

/// Lists the team's monitors: all of them, or a page when `limit` is given.
#[utoipa::path(get, path = "/api/v1/monitors", tag = "Monitors",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Monitors a page"),
        ("cursor" = Option<String>, Query, description = "next_cursor of the page before"),
        ("type" = Option<String>, Query, description = "Only this type"),
        ("status" = Option<String>, Query, description = "Only pending, up or down"),
        ("tag" = Option<String>, Query, description = "Only with this tag"),
        ("q" = Option<String>, Query, description = "Part of a name, target or tag")),
    responses(
        (status = 200, description = "The monitors", body = MonitorList<'static>),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    Query(query): Query,
) -> Result<Response, ApiError> {
    Reading::begin(api, caller, query, |api, view, text| append(text, &show(api, view)))?
        .answer()
        .await
}

/// Lists the team's monitors as short rows, for lists that show many.
#[utoipa::path(get, path = "/api/v1/monitors/rows", tag = "Monitors",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Monitors a page"),
        ("cursor" = Option<String>, Query, description = "next_cursor of the page before"),
        ("type" = Option<String>, Query, description = "Only this type"),
        ("status" = Option<String>, Query, description = "Only pending, up or down"),
        ("tag" = Option<String>, Query, description = "Only with this tag"),
        ("q" = Option<String>, Query, description = "Part of a name, target or tag")),
    responses(
        (status = 200, description = "The monitors", body = MonitorRows),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn rows(
    State(api): State<Api>,
    caller: Caller,
    Query(query): Query,
) -> Result<Response, ApiError> {
    Reading::begin(api, caller, query, |_, view, text| append(text, &row(view)))?.answer().await
}

fn filter(query: &mut Fields) -> MonitorFilter {
    MonitorFilter {
        kind: query.optional("type", Kind::parse),
        status: query.optional("status", |text| {
            Status::parse(text).ok_or_else(|| Invalid::new("must be pending, up or down"))
        }),
        tag: query.optional_text("tag"),
        q: query.optional_text("q"),
        limit: query::limit(query),
        after: query::cursor(query, MonitorId::parse),
    }
}

fn row(view: &MonitorView) -> MonitorRow {
    MonitorRow::of(&view.monitor, &view.state, &view.notifiers)
}

/// Writes one monitor behind what is written of the list.
type Write = fn(&Api, &MonitorView, &mut Vec<u8>);

fn append(text: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(text, value).expect("memory takes what can be written as JSON");
}

/// A list that is being read.
struct Reading {
    api: Api,
    caller: Caller,
    /// What is still to be read.
    filter: MonitorFilter,
    /// Whether it is a page of the list, whose end tells where the next begins.
    is_page: bool,
    write: Write,
    at: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Beginning,
    Middle,
    End,
}

impl Reading {
    fn begin(api: Api, caller: Caller, mut query: Fields, write: Write) -> Result<Self, ApiError> {
        let filter = filter(&mut query);
        let filter = query.finish(Some(filter))?;
        let is_page = filter.limit.is_some();
        Ok(Self { api, caller, filter, is_page, write, at: Place::Beginning })
    }

    /// The answer begins when the first piece is there, so that a store that is
    /// away is told as such. One that goes away later breaks the answer off.
    async fn answer(self) -> Result<Response, ApiError> {
        let (first, reading) = self.made_aside().await?;
        let body = match reading.at {
            Place::End => Body::from(first),
            _ => {
                let rest = stream::try_unfold(reading, Self::rest);
                Body::from_stream(stream::once(async { Ok(first) }).chain(rest))
            }
        };
        Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
    }

    async fn rest(self) -> std::io::Result<Option<(Bytes, Self)>> {
        if self.at == Place::End {
            return Ok(None);
        }
        match self.made_aside().await {
            Ok(made) => Ok(Some(made)),
            Err(error) => {
                tracing::warn!(error = %Chain(&error), "a list of monitors broke off");
                Err(std::io::Error::other(error))
            }
        }
    }

    /// The next piece, made where the kernel sees to it that checks come in
    /// between, and not by a thread that checks wait for.
    async fn made_aside(mut self) -> Result<(Bytes, Self), Error> {
        let here = Handle::current();
        let made = spawn_blocking(move || {
            here.block_on(async move {
                let piece = self.piece().await?;
                Ok((piece.into(), self))
            })
        });
        made.await.unwrap_or_else(|broken| std::panic::resume_unwind(broken.into_panic()))
    }

    async fn piece(&mut self) -> Result<Vec<u8>, Error> {
        let limit = self.filter.limit.map_or(PIECE, |left| left.min(PIECE));
        let asked = MonitorFilter { limit: Some(limit), ..self.filter.clone() };
        let page = self.api.engine().monitors(&self.caller.who, &asked).await?;
        let mut text = Vec::new();
        if self.at == Place::Beginning {
            text.extend_from_slice(br#"{"success":true,"monitors":["#);
        }
        for (place, view) in page.items.iter().enumerate() {
            if place > 0 || self.at == Place::Middle {
                text.push(b',');
            }
            (self.write)(&self.api, view, &mut text);
        }
        let left = self.filter.limit.map(|left| left - limit);
        self.filter = MonitorFilter { limit: left, after: page.next, ..asked };
        self.at = Place::Middle;
        if page.next.is_none() || left == Some(0) {
            self.at = Place::End;
            text.extend_from_slice(b"]");
            if self.is_page {
                text.extend_from_slice(br#","next_cursor":"#);
                append(&mut text, &page.next.map(|id| id.to_string()));
            }
            text.extend_from_slice(b"}");
        }
        Ok(text)
    }
}
