//! The query of a public request. What is unknown or cannot be parsed is ignored, so that
//! every address has a response.

use axum::extract::Query;
use axum::http::Uri;
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Parameters {
    pub(super) lang: Option<String>,
    pub(super) token: Option<String>,
    pub(super) label: Option<String>,
    pub(super) label_color: Option<String>,
    pub(super) color: Option<String>,
    pub(super) style: Option<String>,
    /// A domain that a proxy asks about.
    pub(super) domain: Option<String>,
    /// Of a frame.
    pub(super) component: Option<String>,
    /// The hash of an image or a style sheet.
    pub(super) v: Option<String>,
}

impl Parameters {
    pub(super) fn of(uri: &Uri) -> Self {
        if uri.query().is_none() {
            return Self::default();
        }
        Query::try_from_uri(uri).map(|Query(found)| found).unwrap_or_default()
    }
}
