//! The query of a request, read with the same manners as a body: every wrong
//! part is told at once, parts nobody asks for are ignored.

use axum::extract::FromRequestParts;
use axum::extract::Query as Pairs;
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde_json::Value;
use std::collections::HashMap;
use wakeful_core::Invalid;
use wakeful_engine::Page;

use crate::app::Api;
use crate::error::ApiError;
use crate::wire::Fields;

/// As many as one page of a list may have.
const MOST: u32 = 1000;

pub(crate) struct Query(pub(crate) Fields);

impl FromRequestParts<Api> for Query {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Self, ApiError> {
        let pairs = Pairs::<HashMap<String, String>>::try_from_uri(&parts.uri).map_err(|_| {
            let message = "The query of the address cannot be read; write it as name=value&….";
            ApiError::new(StatusCode::BAD_REQUEST, "malformed_query", message)
        })?;
        let values = pairs.0.into_iter().map(|(name, value)| (name, Value::String(value)));
        Fields::of(Value::Object(values.collect())).map(Self)
    }
}

/// `limit`: how many of a list are wanted.
pub(crate) fn limit(fields: &mut Fields) -> Option<u32> {
    fields.optional("limit", |text| {
        text.parse()
            .ok()
            .filter(|limit| (1..=MOST).contains(limit))
            .ok_or_else(|| Invalid::new(format!("must be a number from 1 to {MOST}")))
    })
}

/// `cursor`: where a page begins, as the page before gave it.
pub(crate) fn cursor<T>(fields: &mut Fields, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    fields.optional("cursor", |text| {
        parse(text).ok_or_else(|| Invalid::new("must be the next_cursor of an earlier answer"))
    })
}

/// `next_cursor`: left out, null or a text. Fields spell it out: the document is made
/// from their words.
pub(crate) type NextCursor = Option<Option<String>>;

/// `next_cursor` is there only for those who asked for pages.
pub(crate) fn next(limit: Option<u32>, next: Option<String>) -> NextCursor {
    limit.map(|_| next)
}

/// Which part of a short list is wanted: all of it, or what stands behind a place.
pub(crate) struct Part<K> {
    limit: Option<u32>,
    behind: Option<K>,
}

impl<K: Ord> Part<K> {
    pub(crate) fn read(
        Query(mut query): Query,
        parse: impl FnOnce(&str) -> Option<K>,
    ) -> Result<Self, ApiError> {
        let limit = limit(&mut query);
        let behind = cursor(&mut query, parse);
        query.finish(Some(Self { limit, behind }))
    }

    /// This part of a list that was read whole and stands in the order of
    /// `place`, with its `next_cursor`; `text` writes a place as it is read.
    pub(crate) fn of<T>(
        self,
        mut items: Vec<T>,
        place: impl Fn(&T) -> K,
        text: impl FnOnce(K) -> String,
    ) -> (Vec<T>, NextCursor) {
        if let Some(behind) = self.behind {
            items.retain(|item| place(item) > behind);
        }
        let page = Page::of(items, self.limit, place);
        (page.items, next(self.limit, page.next.map(text)))
    }
}
