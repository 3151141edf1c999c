//! A request for a page: which page it is, and what its visitor may see of it.

use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use std::net::IpAddr;
use std::sync::Arc;
use wakeful_core::statuspages::i18n::Messages;
use wakeful_core::statuspages::page::Access;
use wakeful_core::statuspages::snapshot::Snapshot;
use wakeful_engine::statuspages::snapshots::{Found, Served};

use super::access::{self, Admission};
use super::form::Class;
use super::host::OnDomain;
use super::query::Parameters;
use super::render::{self, Context, Way};
use super::respond::{self, Terms};
use crate::app::Api;
use crate::client_ip;
use crate::error::ApiError;

/// A page that is served, with what it shows.
pub(super) struct Visit {
    pub(super) page: Arc<Served>,
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) parts: Parts,
    pub(super) query: Parameters,
    pub(super) client: IpAddr,
    /// The path of the front page: empty on a domain of the page.
    pub(super) base: String,
}

/// The page of a slug, if the client may know of it; otherwise the response.
pub(super) async fn visit(api: &Api, slug: &str, parts: Parts) -> Result<Box<Visit>, Response> {
    let snapshots = api.engine().snapshots();
    let mut found = find(api, slug, &parts);
    if matches!(found, Found::Unknown) && !snapshots.is_loaded() {
        snapshots.wait_until_loaded().await;
        found = find(api, slug, &parts);
    }
    let page = match found {
        Found::Page(page) => page,
        Found::Moved(current) => {
            let moved = moved(&parts, slug, &current);
            return Err(respond::redirect(StatusCode::PERMANENT_REDIRECT, &moved));
        }
        Found::Unknown if !snapshots.is_loaded() => {
            return Err(respond::starting(&parts.headers));
        }
        Found::Unknown => return Err(respond::not_found(&parts.headers)),
    };
    let client = client_ip::of(&parts, api);
    if !page.admits(client) {
        return Err(respond::not_found(&parts.headers));
    }
    page.note_use(api.engine().now());
    let shown = snapshots.shown(&page).await;
    let snapshot = shown.ok_or_else(|| respond::starting(&parts.headers))?;
    let query = Parameters::of(&parts.uri);
    let on_domain = parts.extensions.get::<OnDomain>().is_some();
    let base = if on_domain { String::new() } else { format!("/status/{}", page.slug) };
    Ok(Box::new(Visit { page, snapshot, parts, query, client, base }))
}

/// A domain has no other page than its own.
fn find(api: &Api, slug: &str, parts: &Parts) -> Found {
    let found = api.engine().snapshots().by_slug(slug);
    let Some(OnDomain(page)) = parts.extensions.get::<OnDomain>() else { return found };
    match found {
        Found::Page(found) if found.id == page.id => Found::Page(found),
        Found::Moved(current) if current == page.slug => Found::Page(Arc::clone(page)),
        _ => Found::Unknown,
    }
}

/// The same address with the current slug of the page.
fn moved(parts: &Parts, slug: &str, current: &str) -> String {
    let path = parts.uri.path();
    let rest = path.get("/status/".len() + slug.len()..).filter(|rest| rest.starts_with('/'));
    let query = parts.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("/status/{current}{}{query}", rest.unwrap_or_default())
}

impl Visit {
    pub(super) fn context(&self, unlocked: bool) -> Context<'_> {
        let language = self.snapshot.language(self.query.lang.as_deref());
        Context { language, base: &self.base, unlocked }
    }

    pub(super) fn is_on_domain(&self) -> bool {
        self.base.is_empty()
    }

    /// The path that the visitor has requested.
    pub(super) fn path(&self) -> &str {
        let path = self.parts.uri.path();
        if path.trim_end_matches('/') == "/status" {
            return &self.base;
        }
        let below = ["/status/", &self.page.slug].concat();
        match path.strip_prefix(&below).filter(|_| self.is_on_domain()) {
            Some("") => "/",
            Some(path) => path,
            None => path,
        }
    }

    /// The address of the front page.
    pub(super) fn home(&self) -> &str {
        if self.is_on_domain() { "/" } else { &self.base }
    }

    pub(super) fn terms(&self, class: Class) -> Terms {
        Terms {
            class,
            private: self.page.access != Access::Public || self.page.is_restricted(),
            indexed: self.snapshot.page.indexed,
            permanent: false,
        }
    }

    pub(super) fn messages(&self) -> &'static Messages {
        self.context(false).language.messages()
    }

    pub(super) fn login(&self, status: StatusCode, way: Way, error: Option<&str>) -> Response {
        let html = render::login(&self.snapshot, way, error, self.context(false));
        respond::form(status, html)
    }

    /// What this visitor may do.
    pub(super) async fn admission(&self, api: &Api, class: Class) -> Result<Admission, Response> {
        access::admit(api, &self.page, &self.parts, &self.query, self.client, class)
            .await
            .map_err(ApiError::into_response)
    }

    /// Whether the visitor has unlocked the page; the response if it is locked, or if a token is
    /// to be exchanged.
    pub(super) async fn admitted(&self, api: &Api, class: Class) -> Result<bool, Response> {
        match self.admission(api, class).await? {
            Admission::Open => Ok(false),
            Admission::ByToken if class == Class::Html => Err(self.unlock(api, self.path())),
            Admission::Unlocked | Admission::ByToken => Ok(true),
            Admission::Locked(way) if class == Class::Html => {
                Err(self.login(StatusCode::UNAUTHORIZED, way, None))
            }
            Admission::Locked(_) => Err(respond::locked().into_response()),
        }
    }

    /// Sets the cookie of a visitor who has unlocked the page, and forwards the browser to an
    /// address without the token.
    pub(super) fn unlock(&self, api: &Api, address: &str) -> Response {
        let cookie = api.engine().statuspage_cookie(&self.page);
        let language = self.query.lang.as_deref().map(|_| self.context(false).language);
        let address = match language {
            Some(language) => format!("{address}?lang={language}"),
            None => address.to_owned(),
        };
        let mut response = respond::redirect(StatusCode::SEE_OTHER, &address);
        self.set_cookie(api, &mut response, Some(&cookie));
        response
    }

    /// Sets the cookie, or deletes it.
    pub(super) fn set_cookie(&self, api: &Api, response: &mut Response, cookie: Option<&str>) {
        let cookie = access::set_cookie(api, &self.parts, &self.base, cookie);
        if let Ok(mut value) = HeaderValue::from_str(&cookie) {
            value.set_sensitive(true);
            response.headers_mut().insert(header::SET_COOKIE, value);
        }
    }
}
