//! Serves public requests from memory: slug to page, access, rendered form, headers.

use axum::Json;
use axum::extract::{FromRequest as _, Path, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use std::net::IpAddr;
use std::sync::Arc;
use wakeful_core::id::{ComponentId, IncidentId};
use wakeful_core::secret::Secret;
use wakeful_core::statuspages::badge::Style;
use wakeful_core::statuspages::i18n::Messages;
use wakeful_core::statuspages::page::Access;
use wakeful_core::statuspages::snapshot::{ImageKind, Snapshot};
use wakeful_core::time::Millis;
use wakeful_engine::Error;
use wakeful_engine::statuspages::snapshots::{Found, Served};

use super::access::{self, Admission};
use super::badge::{self, Subject};
use super::feeds::{self, Entries, Format};
use super::form::{Class, Form};
use super::host::OnDomain;
use super::query::Parameters;
use super::render::{self, Context, Way};
use super::render_cache::{Key, Version};
use super::respond::{self, Terms};
use super::router::Params;
use super::{assets, calendar, embed, json, kuma, style, v2};
use crate::app::Api;
use crate::body::FormBody;
use crate::client_ip;
use crate::compression::accepts_gzip;
use crate::dto::{Fields, FromFields};
use crate::error::ApiError;
use crate::host::normalized;

/// Longer ones are not stored.
const MAX_PASSWORD: usize = 256;

/// A page that is served, with what it shows.
pub(super) struct Visit {
    pub(super) page: Arc<Served>,
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) parts: Parts,
    pub(super) query: Parameters,
    pub(super) client: IpAddr,
    /// The path of the front page: empty on a domain of the page.
    base: String,
}

pub(super) enum Visited {
    Page(Box<Visit>),
    Other(Response),
}

/// The page of a slug, if the client may know of it.
pub(super) fn visit(api: &Api, slug: &str, parts: Parts) -> Visited {
    let page = match find(api, slug, &parts) {
        Found::Page(page) => page,
        Found::Moved(current) => {
            let moved = moved(&parts, slug, &current);
            return Visited::Other(respond::redirect(StatusCode::PERMANENT_REDIRECT, &moved));
        }
        Found::Unknown if !api.engine().snapshots().is_loaded() => {
            return Visited::Other(starting());
        }
        Found::Unknown => return Visited::Other(respond::not_found(&parts.headers)),
    };
    let client = client_ip::of(&parts, api);
    if !page.admits(client) {
        return Visited::Other(respond::not_found(&parts.headers));
    }
    page.note_use(api.engine().now());
    let Some(snapshot) = page.snapshot() else { return Visited::Other(starting()) };
    let query = Parameters::of(&parts.uri);
    let on_domain = parts.extensions.get::<OnDomain>().is_some();
    let base = if on_domain { String::new() } else { format!("/status/{}", page.slug) };
    Visited::Page(Box::new(Visit { page, snapshot, parts, query, client, base }))
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

/// What the server cannot show yet.
fn starting() -> Response {
    ApiError::unavailable("The status pages are being loaded; try again in a moment.")
        .into_response()
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

    fn is_on_domain(&self) -> bool {
        self.base.is_empty()
    }

    /// The path that the visitor has requested.
    fn path(&self) -> &str {
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
    fn home(&self) -> &str {
        if self.is_on_domain() { "/" } else { &self.base }
    }

    fn terms(&self, class: Class) -> Terms {
        Terms {
            class,
            private: self.page.access != Access::Public || self.page.is_restricted(),
            indexed: self.snapshot.page.indexed,
            permanent: false,
        }
    }

    fn messages(&self) -> &'static Messages {
        self.context(false).language.messages()
    }

    pub(super) fn login(&self, status: StatusCode, way: Way, error: Option<&str>) -> Response {
        let html = render::login(&self.snapshot, way, error, self.context(false));
        respond::form(status, html)
    }
}

/// A form of a page.
pub(super) async fn form(api: Api, form: Form, params: Params, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let response = match serve(&api, form, &params, parts).await {
        Ok(response) => response,
        Err(error) => error.into_response(),
    };
    let status = response.status().as_u16().to_string();
    let labels = [("form", form.name().to_owned()), ("status", status)];
    metrics::counter!("wakeful_statuspage_requests_total", &labels).increment(1);
    response
}

async fn serve(api: &Api, form: Form, params: &Params, parts: Parts) -> Result<Response, ApiError> {
    let query = matches!(form.class(), Class::Image).then(|| Parameters::of(&parts.uri));
    let visit = match visit(api, &params.slug, parts) {
        Visited::Page(visit) => *visit,
        // An image cannot say more.
        Visited::Other(other) if other.status() == StatusCode::NOT_FOUND => {
            return Ok(match query {
                Some(query) => no_image(form, params, &query),
                None => other,
            });
        }
        Visited::Other(other) => return Ok(other),
    };
    match form {
        Form::Image => return image(api, &visit, params).await,
        Form::Robots | Form::Favicon if !visit.is_on_domain() => {
            return Ok(respond::not_found(&visit.parts.headers));
        }
        Form::Robots => return Ok(robots(&visit)),
        Form::Favicon => return favicon(api, &visit).await,
        _ => {}
    }
    let class = form.class();
    let admission =
        access::admit(api, &visit.page, &visit.parts, &visit.query, visit.client, class).await?;
    let unlocked = match admission {
        Admission::Open => false,
        Admission::Unlocked => true,
        Admission::ByToken if class == Class::Html => return Ok(unlock(api, &visit, None)),
        Admission::ByToken => true,
        Admission::Locked(way) => {
            return match class {
                Class::Html => Ok(visit.login(StatusCode::UNAUTHORIZED, way, None)),
                Class::Image => Ok(no_image(form, params, &visit.query)),
                Class::Data | Class::Feed | Class::File => Err(respond::locked()),
            };
        }
    };
    match form {
        Form::Badge | Form::ComponentBadge | Form::KumaPageBadge | Form::KumaBadge => {
            Ok(badge(api, &visit, form, params))
        }
        Form::Feed(_) | Form::HistoryFeed(_) | Form::ComponentFeed
            if !visit.snapshot.page.feeds =>
        {
            Ok(respond::not_found(&visit.parts.headers))
        }
        _ => document(api, &visit, form, params, unlocked).await,
    }
}

async fn document(
    api: &Api,
    visit: &Visit,
    form: Form,
    params: &Params,
    unlocked: bool,
) -> Result<Response, ApiError> {
    let context = visit.context(unlocked);
    let name = match (form, &visit.query.component) {
        (Form::Embed, Some(component)) => component,
        _ => &params.id,
    };
    let key = Key {
        form,
        language: context.language,
        name: name.clone(),
        unlocked: unlocked && form.class() == Class::Html,
        on_domain: visit.is_on_domain(),
    };
    let text = text(api, visit, form, name, context);
    let version = Version::of(&visit.snapshot);
    let rendered = api.rendered_pages().get(visit.page.id, key, version, text).await?;
    let Some(rendered) = rendered else { return Ok(respond::not_found(&visit.parts.headers)) };
    let mut terms = visit.terms(form.class());
    if form == Form::Style {
        let hash = style::hash(&visit.snapshot.page.appearance);
        terms.permanent = visit.query.v.as_deref() == Some(hash.as_str());
    }
    let mut response = respond::rendered(&rendered, form.media_type(), terms, &visit.parts.headers);
    if form == Form::Embed {
        let policy = embed::policy(&visit.snapshot.page.embed_origins);
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    if matches!(form, Form::Embed | Form::EmbedScript) {
        respond::share(&mut response);
    }
    Ok(response)
}

/// The text of a form; `None` for a component, incident or month that the page does not have.
async fn text(
    api: &Api,
    visit: &Visit,
    form: Form,
    id: &str,
    context: Context<'_>,
) -> Result<Option<String>, ApiError> {
    let snapshot: &Snapshot = &visit.snapshot;
    let language = context.language;
    let feed = |format, entries, path: &str| {
        Some(feeds::render(format, entries, snapshot, language, path))
    };
    Ok(match form {
        Form::Front => Some(render::front(snapshot, context)),
        Form::Component => {
            let Some(component) = snapshot.component(id).filter(|one| one.is_listed()) else {
                return Ok(None);
            };
            let page = &visit.page;
            let read = api.engine().component_page_figures(page.id, page.team, component.id).await;
            let figures = match read {
                Ok(figures) => Some(figures),
                // The days of the front page are in memory.
                Err(error) if error.is_unavailable() => None,
                Err(Error::NotFound(_)) => None,
                Err(error) => return Err(error.into()),
            };
            Some(render::component(snapshot, component, figures.as_ref(), context))
        }
        Form::Incident => {
            let Some(id) = IncidentId::parse(id) else { return Ok(None) };
            match snapshot.incident(id) {
                Some(incident) => Some(render::incident(snapshot, incident, context)),
                None if snapshot.has_more_past() => {
                    let found = api.engine().past_incident(snapshot, id).await?;
                    found.map(|incident| render::incident(snapshot, &incident, context))
                }
                None => None,
            }
        }
        Form::History => render::history(snapshot, None, None, context),
        Form::Month => {
            let Some(month) = render::parse_month(id) else { return Ok(None) };
            let older = match render::older_month(snapshot, month) {
                Some((from, to)) => Some(api.engine().past_incidents(snapshot, from, to).await?),
                None => None,
            };
            render::history(snapshot, Some(month), older.as_deref(), context)
        }
        Form::Feed(format) => feed(format, Entries::Updates, feed_path(format, "feed")),
        Form::HistoryFeed(format) => feed(format, Entries::Incidents, feed_path(format, "history")),
        Form::ComponentFeed => {
            let component = snapshot.component(id).filter(|one| one.is_listed());
            component.and_then(|component| {
                let path = format!("/component/{}/feed.atom", component.id);
                feed(Format::Atom, Entries::Component(component), &path)
            })
        }
        Form::Calendar => Some(calendar::render(snapshot, language)),
        Form::Index => Some(json::index(snapshot, language)),
        Form::Live => Some(json::live(snapshot, language)),
        Form::V2(document) => Some(v2::render(document, snapshot, language)),
        Form::Style => Some(style::sheet(&snapshot.page.appearance)),
        Form::Manifest => Some(json::manifest(snapshot, language, context.base)),
        Form::Embed => {
            let component = snapshot.component(id).filter(|one| one.is_listed());
            let is_known = id.is_empty() || component.is_some();
            is_known.then(|| embed::frame(snapshot, component, context))
        }
        Form::EmbedScript => Some(embed::SCRIPT.to_owned()),
        Form::KumaPage => Some(kuma::page(snapshot, language)),
        Form::KumaHeartbeats => Some(kuma::heartbeats(snapshot)),
        // They are not rendered once for all.
        Form::Badge
        | Form::ComponentBadge
        | Form::Image
        | Form::KumaPageBadge
        | Form::KumaBadge
        | Form::Robots
        | Form::Favicon => None,
    })
}

fn feed_path(format: Format, name: &str) -> &'static str {
    match (format, name) {
        (Format::Atom, "history") => "/history.atom",
        (Format::Rss, "history") => "/history.rss",
        (Format::Atom, _) => "/feed.atom",
        (Format::Rss, _) => "/feed.rss",
        (Format::Json, _) => "/feed.json",
    }
}

// Images.

fn badge(api: &Api, visit: &Visit, form: Form, params: &Params) -> Response {
    let now = api.engine().now();
    let terms = visit.terms(Class::Image);
    if let Form::KumaPageBadge | Form::KumaBadge = form {
        let query = kuma::Parameters::of(&visit.parts.uri);
        return kuma_image(&query, form, params, Some((&visit.snapshot, now)), terms);
    }
    draw(form, params, &visit.query, Some((&visit.snapshot, now)), terms)
}

fn kuma_image(
    query: &kuma::Parameters,
    form: Form,
    params: &Params,
    snapshot: Option<(&Snapshot, Millis)>,
    terms: Terms,
) -> Response {
    let subject = match form {
        Form::KumaBadge => Subject::Component(&params.id),
        _ => Subject::Page,
    };
    let badge = kuma::badge(&params.path, subject, snapshot, query);
    let style = Style::of(query.style.as_deref().unwrap_or_default());
    respond::plain(badge.svg(style), HeaderValue::from_static("image/svg+xml"), terms)
}

/// Whether search engines may show the page.
fn robots(visit: &Visit) -> Response {
    let is_open = visit.page.access == Access::Public && visit.snapshot.page.indexed;
    let rule = if is_open { "Allow" } else { "Disallow" };
    let media_type = HeaderValue::from_static(Form::Robots.media_type());
    respond::plain(format!("User-agent: *\n{rule}: /\n"), media_type, visit.terms(Class::File))
}

async fn favicon(api: &Api, visit: &Visit) -> Result<Response, ApiError> {
    if visit.snapshot.page.appearance.favicon.is_none() {
        return Ok(respond::not_found(&visit.parts.headers));
    }
    let params = Params { id: ImageKind::Favicon.as_str().to_owned(), ..Params::default() };
    image(api, visit, &params).await
}

/// The gray badge in place of an image that is unknown or not shown.
fn no_image(form: Form, params: &Params, query: &Parameters) -> Response {
    let terms = Terms { class: Class::Image, private: false, indexed: false, permanent: false };
    draw(form, params, query, None, terms)
}

fn draw(
    form: Form,
    params: &Params,
    query: &Parameters,
    snapshot: Option<(&Snapshot, Millis)>,
    terms: Terms,
) -> Response {
    if let Form::KumaPageBadge | Form::KumaBadge = form {
        return kuma_image(&kuma::Parameters::default(), form, params, snapshot, terms);
    }
    let (path, is_json) = match params.path.strip_suffix(".json") {
        Some(path) => (path, true),
        None => (params.path.strip_suffix(".svg").unwrap_or(&params.path), false),
    };
    let subject = match form {
        Form::ComponentBadge => Subject::Component(&params.id),
        _ => Subject::Page,
    };
    let (snapshot, now) = snapshot.map_or((None, Millis(0)), |(one, now)| (Some(one), now));
    let mut badge = badge::find(path, snapshot, subject, now);
    badge.customize(query.label.as_deref(), query.label_color.as_deref(), query.color.as_deref());
    if is_json {
        return respond::plain(badge.json(), HeaderValue::from_static("application/json"), terms);
    }
    let style = Style::of(query.style.as_deref().unwrap_or_default());
    respond::plain(badge.svg(style), HeaderValue::from_static("image/svg+xml"), terms)
}

/// A logo or an icon. The form that unlocks a page shows the logo as well.
async fn image(api: &Api, visit: &Visit, params: &Params) -> Result<Response, ApiError> {
    let kind = ImageKind::parse(&params.id);
    let known = kind.and_then(|kind| Some((kind, visit.snapshot.page.appearance.image(kind)?)));
    let Some((kind, known)) = known else {
        return Ok(no_image(Form::Image, params, &visit.query));
    };
    let Some(content) = api.page_images().get(api, visit.page.id, kind, &known.hash).await? else {
        return Ok(no_image(Form::Image, params, &visit.query));
    };
    let mut terms = visit.terms(Class::Image);
    terms.permanent = visit.query.v.as_deref() == Some(known.hash.as_str());
    let media_type = HeaderValue::from_str(&known.media_type)
        .unwrap_or(HeaderValue::from_static("application/octet-stream"));
    Ok(respond::plain(content, media_type, terms))
}

/// A file that all pages share.
pub(super) async fn asset(Path(file): Path<String>, headers: HeaderMap) -> Response {
    let Some(asset) = assets::find(&file) else { return respond::not_found(&headers) };
    let terms = Terms { class: Class::File, private: false, indexed: true, permanent: true };
    let media_type = HeaderValue::from_static(asset.media_type);
    let mut response = if accepts_gzip(&headers) {
        let mut response = respond::plain(asset.gzip.clone(), media_type, terms);
        let gzip = HeaderValue::from_static("gzip");
        response.headers_mut().insert(header::CONTENT_ENCODING, gzip);
        response
    } else {
        respond::plain(asset.text, media_type, terms)
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    response
}

/// The page that the operator has chosen for `/status`.
pub(super) async fn front(State(api): State<Api>, request: Request) -> Response {
    let slug = api.settings().front.clone();
    if slug.is_empty() {
        return respond::not_found(request.headers());
    }
    let params = Params { slug, ..Params::default() };
    form(api, Form::Front, params, request).await
}

/// A badge of a component at the path of Uptime Kuma. An alias is known on the domain of a
/// page, and for the page at `/status`.
pub(super) async fn kuma_badge(
    State(api): State<Api>,
    params: RawPathParams,
    request: Request,
) -> Response {
    let mut params = Params::of(&params);
    let on_domain = request.extensions().get::<OnDomain>();
    let by_id = ComponentId::parse(&params.id);
    params.slug = match (on_domain, by_id) {
        (Some(OnDomain(page)), _) => page.slug.clone(),
        (None, Some(id)) => {
            let page = api.engine().snapshots().by_component(id);
            page.map(|page| page.slug.clone()).unwrap_or_default()
        }
        (None, None) => api.settings().front.clone(),
    };
    form(api, Form::KumaBadge, params, request).await
}

/// Whether a domain is that of a page. A proxy asks before it obtains a certificate.
pub(super) async fn domain(State(api): State<Api>, uri: Uri) -> Response {
    let snapshots = api.engine().snapshots();
    let domain = Parameters::of(&uri).domain.unwrap_or_default();
    match snapshots.by_domain(&normalized(&domain)) {
        Some(_) => Json(serde_json::json!({"success": true})).into_response(),
        None if !snapshots.is_loaded() => starting(),
        None => ApiError::not_found("status page").into_response(),
    }
}

/// Nothing is here.
pub(crate) async fn nothing(headers: HeaderMap) -> Response {
    respond::not_found(&headers)
}

// Locked pages.

/// The password that a visitor enters.
pub(super) struct Entered {
    password: Secret,
}

impl FromFields for Entered {
    fn read(fields: &mut Fields) -> Option<Self> {
        let password = fields.short_text("password", MAX_PASSWORD)?;
        Some(Self { password: Secret::new(password) })
    }
}

pub(super) async fn login_form(
    State(api): State<Api>,
    Path(slug): Path<String>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let visit = match visit(&api, &slug, parts) {
        Visited::Page(visit) => visit,
        Visited::Other(other) => return other,
    };
    let admission =
        access::admit(&api, &visit.page, &visit.parts, &visit.query, visit.client, Class::Html);
    match admission.await {
        Ok(Admission::Locked(way)) => visit.login(StatusCode::OK, way, None),
        Ok(Admission::ByToken) => unlock(&api, &visit, None),
        Ok(Admission::Open | Admission::Unlocked) => {
            respond::redirect(StatusCode::SEE_OTHER, visit.home())
        }
        Err(error) => error.into_response(),
    }
}

pub(super) async fn log_in(
    State(api): State<Api>,
    Path(slug): Path<String>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let visit = match visit(&api, &slug, parts.clone()) {
        Visited::Page(visit) => visit,
        Visited::Other(other) => return other,
    };
    if visit.page.access != Access::Password {
        return respond::not_found(&visit.parts.headers);
    }
    let request = Request::from_parts(parts, body);
    let password = match FormBody::<Entered>::from_request(request, &api).await {
        Ok(FormBody(Entered { password })) => password,
        Err(error) => return error.into_response(),
    };
    let tried = api.engine().try_statuspage_password(&visit.page, &password, visit.client).await;
    let m = visit.messages();
    match tried {
        Ok(true) => unlock(&api, &visit, Some("")),
        Ok(false) => visit.login(StatusCode::UNAUTHORIZED, Way::Password, Some(m.wrong_password)),
        Err(Error::Limited { .. }) => {
            visit.login(StatusCode::TOO_MANY_REQUESTS, Way::Password, Some(m.too_many_attempts))
        }
        Err(error) => ApiError::from(error).into_response(),
    }
}

/// Sets the cookie, and forwards the browser to the address without the token; `to` is
/// another one below that of the page.
pub(super) fn unlock(api: &Api, visit: &Visit, to: Option<&str>) -> Response {
    let cookie = api.engine().statuspage_cookie(&visit.page);
    let address = match to {
        None => visit.path().to_owned(),
        Some("") => visit.home().to_owned(),
        Some(to) => format!("{}{to}", visit.base),
    };
    let language = visit.query.lang.as_deref().map(|_| visit.context(false).language);
    let address = match language {
        Some(language) => format!("{address}?lang={language}"),
        None => address,
    };
    let mut response = respond::redirect(StatusCode::SEE_OTHER, &address);
    let cookie = access::set_cookie(api, &visit.parts, &visit.base, Some(&cookie));
    if let Ok(mut value) = HeaderValue::from_str(&cookie) {
        value.set_sensitive(true);
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

pub(super) async fn log_out(
    State(api): State<Api>,
    Path(slug): Path<String>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let visit = match visit(&api, &slug, parts) {
        Visited::Page(visit) => visit,
        Visited::Other(other) => return other,
    };
    let mut response = respond::redirect(StatusCode::SEE_OTHER, visit.home());
    let cookie = access::set_cookie(&api, &visit.parts, &visit.base, None);
    if let Ok(value) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}
