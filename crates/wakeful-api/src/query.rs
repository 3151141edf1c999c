//! The query of a request, read like a body: all invalid parameters are reported at
//! once, and unknown parameters are ignored.

use axum::extract::FromRequestParts;
use axum::extract::Query as Pairs;
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use serde_json::Value;
use std::collections::HashMap;
use wakeful_core::Invalid;
use wakeful_engine::Page;

use crate::app::Api;
use crate::dto::Fields;
use crate::error::{ApiError, ErrorCode};

/// The maximum page size.
const MAX_PAGE_SIZE: u32 = 1000;

pub(crate) struct Query(pub(crate) Fields);

impl FromRequestParts<Api> for Query {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Self, ApiError> {
        Self::of_uri(&parts.uri)
    }
}

impl Query {
    pub(crate) fn of_uri(uri: &Uri) -> Result<Self, ApiError> {
        let pairs = Pairs::<HashMap<String, String>>::try_from_uri(uri).map_err(|_| {
            let message = "The query of the URL cannot be parsed; write it as name=value&….";
            ApiError::new(StatusCode::BAD_REQUEST, ErrorCode::MalformedQuery, message)
        })?;
        let values = pairs.0.into_iter().map(|(name, value)| (name, Value::String(value)));
        Fields::of(Value::Object(values.collect())).map(Self)
    }
}

/// `limit`: the number of items on a page.
pub(crate) fn limit(fields: &mut Fields) -> Option<u32> {
    fields.optional("limit", |text| {
        text.parse()
            .ok()
            .filter(|limit| (1..=MAX_PAGE_SIZE).contains(limit))
            .ok_or_else(|| Invalid::new(format!("must be a number from 1 to {MAX_PAGE_SIZE}")))
    })
}

/// A parameter that is true or false.
pub(crate) fn flag(fields: &mut Fields, name: &'static str) -> Option<bool> {
    fields.optional(name, |text| text.parse().map_err(|_| Invalid::new("must be true or false")))
}

/// `cursor`: where a page begins; the `next_cursor` of the previous page.
pub(crate) fn cursor<T>(fields: &mut Fields, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    fields.optional("cursor", |text| {
        parse(text).ok_or_else(|| Invalid::new("must be the next_cursor of an earlier response"))
    })
}

/// `next_cursor`: absent, null or a string. Fields spell the type out, because the
/// OpenAPI document is generated from its name.
pub(crate) type NextCursor = Option<Option<String>>;

/// `next_cursor` is present only if the caller requested pages.
pub(crate) fn next(limit: Option<u32>, next: Option<String>) -> NextCursor {
    limit.map(|_| next)
}

/// The requested part of a short list: all of it, or a page.
pub(crate) struct ListPage<K> {
    limit: Option<u32>,
    after: Option<K>,
}

impl<K: Ord> ListPage<K> {
    pub(crate) fn read(
        Query(mut query): Query,
        parse: impl FnOnce(&str) -> Option<K>,
    ) -> Result<Self, ApiError> {
        let limit = limit(&mut query);
        let after = cursor(&mut query, parse);
        query.finish(Some(Self { limit, after }))
    }

    /// Returns this part of a complete list that is sorted by `position`, with its
    /// `next_cursor`; `text` formats a position as a cursor.
    pub(crate) fn paginate<T>(
        self,
        mut items: Vec<T>,
        position: impl Fn(&T) -> K,
        text: impl FnOnce(K) -> String,
    ) -> (Vec<T>, NextCursor) {
        if let Some(after) = self.after {
            items.retain(|item| position(item) > after);
        }
        let page = Page::of(items, self.limit, position);
        (page.items, next(self.limit, page.next.map(text)))
    }
}
