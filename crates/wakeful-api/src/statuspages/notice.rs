//! Short pages with a message, and perhaps a button, for those who subscribe.

use askama::Template;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::snapshot::Snapshot;

use super::assets;
use super::render::Context;
use super::respond;
use super::view::View;
use super::visit::Visit;

#[derive(Template)]
#[template(path = "notice.html")]
pub(super) struct Notice<'a> {
    pub(super) language: Language,
    pub(super) style: String,
    pub(super) name: &'a str,
    pub(super) heading: &'a str,
    pub(super) text: &'a str,
    pub(super) error: Option<&'a str>,
    pub(super) secret: Option<&'a str>,
    /// Where it posts to, and what it is called.
    pub(super) button: Option<(&'a str, &'a str)>,
    pub(super) link: Option<(&'a str, &'a str)>,
}

impl Default for Notice<'_> {
    fn default() -> Self {
        Self {
            language: Language::English,
            style: assets::style().path(),
            name: "",
            heading: "",
            text: "",
            error: None,
            secret: None,
            button: None,
            link: None,
        }
    }
}

/// A message on a page.
pub(super) fn notice(visit: &Visit, heading: &str, text: &str) -> Response {
    let notice = Notice { heading, text, ..Notice::default() };
    respond::form(StatusCode::OK, on_page(&visit.snapshot, visit.context(false), notice))
}

/// A link that is not valid, on a page that the visitor may know of.
pub(super) fn invalid_link(visit: &Visit) -> Response {
    let context = visit.context(false);
    let heading = context.language.subscriptions().link_invalid;
    let notice = Notice { heading, ..Notice::default() };
    respond::form(StatusCode::NOT_FOUND, on_page(&visit.snapshot, context, notice))
}

/// A notice in the language of a visitor, with the name of the page and a link to it.
pub(super) fn on_page(snapshot: &Snapshot, context: Context<'_>, notice: Notice<'_>) -> String {
    let v = View::new(snapshot, context.language, context.base);
    let (name, href) = (v.name(), v.href(""));
    let link = notice.button.is_none().then_some((href.as_str(), v.m.current_status));
    let notice = Notice { language: context.language, name: &name, link, ..notice };
    notice.render().unwrap_or_default()
}

/// A link that is not valid, whatever the page: a message for browsers.
pub(super) fn unknown_link(request: &HeaderMap) -> Response {
    if !respond::asks_for_html(request) {
        return respond::not_found(request);
    }
    let heading = Language::English.subscriptions().link_invalid;
    let notice = Notice { heading, ..Notice::default() };
    respond::form(StatusCode::NOT_FOUND, notice.render().unwrap_or_default())
}
