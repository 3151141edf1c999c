//! Serves public requests from memory: slug to page, access, rendered form, headers.

use axum::Json;
use axum::extract::{Path, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use std::sync::Arc;
use wakeful_core::id::{ComponentId, IncidentId};
use wakeful_core::statuspages::page::Access;
use wakeful_core::statuspages::snapshot::{ComponentFigures, ImageKind, Incident, Snapshot};
use wakeful_engine::Error;

use super::feeds::{self, Entries, Format};
use super::form::{Class, Form};
use super::host::OnDomain;
use super::pictures::{badge, image, no_image};
use super::query::Parameters;
use super::render::{self, Context};
use super::render_cache::{Key, Version};
use super::respond::{self, Terms};
use super::router::Params;
use super::visit::{Visit, visit};
use super::{assets, calendar, embed, json, kuma, style, v2};
use crate::app::Api;
use crate::compression::accepts_gzip;
use crate::error::ApiError;
use crate::host::normalized;

/// A form of a page.
pub(super) async fn form(api: Api, form: Form, params: Params, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let (Ok(response) | Err(response)) = serve(&api, form, &params, parts).await;
    let status = response.status().as_u16().to_string();
    let labels = [("form", form.name().to_owned()), ("status", status)];
    metrics::counter!("wakeful_statuspage_requests_total", &labels).increment(1);
    response
}

async fn serve(api: &Api, form: Form, params: &Params, parts: Parts) -> Result<Response, Response> {
    let class = form.class();
    let query = (class == Class::Image).then(|| Parameters::of(&parts.uri));
    let visit: Arc<Visit> = match (visit(api, &params.slug, parts).await, &query) {
        (Ok(visit), _) => Arc::from(visit),
        (Err(other), Some(query)) if other.status() == StatusCode::NOT_FOUND => {
            return Ok(no_image(form, params, query));
        }
        (Err(other), _) => return Err(other),
    };
    let nothing = || respond::not_found(&visit.parts.headers);
    match form {
        Form::Image => {
            return image(api, &visit, params).await.map_err(ApiError::into_response);
        }
        Form::Robots | Form::Favicon if !visit.is_on_domain() => return Err(nothing()),
        Form::Robots => return Ok(robots(&visit)),
        Form::Favicon => return favicon(api, &visit).await.map_err(ApiError::into_response),
        _ => {}
    }
    let unlocked = match visit.admitted(api, class).await {
        Err(locked) if class == Class::Image && locked.status() == StatusCode::UNAUTHORIZED => {
            return Ok(no_image(form, params, &visit.query));
        }
        admitted => admitted?,
    };
    match form {
        Form::Badge | Form::ComponentBadge | Form::KumaPageBadge | Form::KumaBadge => {
            Ok(badge(api, &visit, form, params))
        }
        Form::Feed(_) | Form::HistoryFeed(_) | Form::ComponentFeed
            if !visit.snapshot.page.feeds =>
        {
            Err(nothing())
        }
        _ => {
            let document = document(api, &visit, form, params, unlocked).await;
            document.map_err(ApiError::into_response)
        }
    }
}

async fn document(
    api: &Api,
    visit: &Arc<Visit>,
    form: Form,
    params: &Params,
    unlocked: bool,
) -> Result<Response, ApiError> {
    let name = match (form, &visit.query.component) {
        (Form::Embed, Some(component)) => component,
        _ => &params.id,
    };
    let key = Key {
        form,
        language: visit.context(unlocked).language,
        name: name.clone(),
        unlocked: unlocked && form.class() == Class::Html,
        on_domain: visit.is_on_domain(),
    };
    let reading = {
        let (api, visit, id) = (api.clone(), Arc::clone(visit), name.clone());
        async move {
            let further = further(&api, &visit, form, &id).await?;
            Ok::<_, ApiError>(move || {
                text(&visit.snapshot, form, &id, visit.context(unlocked), &further)
            })
        }
    };
    let version = Version::of(&visit.snapshot);
    let taken = api.engine().snapshots().bytes() + api.page_images().bytes();
    let rendered = api.rendered_pages().get(visit.page.id, key, version, taken, reading).await?;
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

/// What a form shows that is not in the snapshot.
#[derive(Default)]
struct Further {
    figures: Option<ComponentFigures>,
    incident: Option<Incident>,
    /// The incidents of a month, or of the newest ones.
    older: Option<Vec<Incident>>,
}

async fn further(api: &Api, visit: &Visit, form: Form, id: &str) -> Result<Further, ApiError> {
    let snapshot: &Snapshot = &visit.snapshot;
    let mut further = Further::default();
    match form {
        Form::Component => {
            let Some(component) = snapshot.component(id).filter(|one| one.is_listed()) else {
                return Ok(further);
            };
            let page = &visit.page;
            let read = api.engine().component_page_figures(page.id, page.team, component.id).await;
            further.figures = match read {
                Ok(figures) => Some(figures),
                // The days of the front page are in memory.
                Err(error) if error.is_unavailable() => None,
                Err(Error::NotFound(_)) => None,
                Err(error) => return Err(error.into()),
            };
        }
        Form::Incident => {
            let Some(id) = IncidentId::parse(id) else { return Ok(further) };
            let known = snapshot.incident(id);
            if known.map_or(snapshot.has_more_past, |one| one.is_short) {
                further.incident = match api.engine().past_incident(snapshot, id).await {
                    Ok(found) => found,
                    // Its title and its status are in memory.
                    Err(error) if known.is_some() && error.is_unavailable() => None,
                    Err(error) => return Err(error.into()),
                };
            }
        }
        Form::History => {
            if let Some((from, to)) = render::older_newest_months(snapshot) {
                further.older = match api.engine().past_incidents(snapshot, from, to).await {
                    Ok(older) => Some(older),
                    // The newest ones are in memory.
                    Err(error) if error.is_unavailable() => None,
                    Err(error) => return Err(error.into()),
                };
            }
        }
        Form::Month => {
            let month = render::parse_month(id);
            let span = month.and_then(|month| render::older_month(snapshot, month));
            if let Some((from, to)) = span {
                further.older = Some(api.engine().past_incidents(snapshot, from, to).await?);
            }
        }
        _ => {}
    }
    Ok(further)
}

/// The text of a form; `None` for a component, incident or month that the page does not have.
fn text(
    snapshot: &Snapshot,
    form: Form,
    id: &str,
    context: Context<'_>,
    further: &Further,
) -> Option<String> {
    let language = context.language;
    let feed = |format, entries, path: &str| {
        Some(feeds::render(format, entries, snapshot, language, path))
    };
    match form {
        Form::Front => Some(render::front(snapshot, context)),
        Form::Component => {
            let component = snapshot.component(id).filter(|one| one.is_listed())?;
            Some(render::component(snapshot, component, further.figures.as_ref(), context))
        }
        Form::Incident => {
            let known = snapshot.incident(IncidentId::parse(id)?);
            let shown = further.incident.as_ref().or(known)?;
            Some(render::incident(snapshot, shown, context))
        }
        Form::History => render::history(snapshot, None, further.older.as_deref(), context),
        Form::Month => {
            let month = render::parse_month(id)?;
            render::history(snapshot, Some(month), further.older.as_deref(), context)
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
        Form::Live => Some(json::live(snapshot)),
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
    }
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

/// Whether search engines may show the page.
fn robots(visit: &Visit) -> Response {
    let is_open = visit.page.access == Access::Public && visit.snapshot.page.indexed;
    let rule = if is_open { "Allow" } else { "Disallow" };
    let media_type = HeaderValue::from_static(Form::Robots.media_type());
    respond::plain(format!("User-agent: *\n{rule}: /\n"), media_type, visit.terms(Class::File))
}

async fn favicon(api: &Api, visit: &Visit) -> Result<Response, ApiError> {
    if visit.snapshot.page.appearance.favicon.is_none() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let params = Params { id: ImageKind::Favicon.as_str().to_owned(), ..Params::default() };
    image(api, visit, &params).await
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
pub(super) async fn domain(State(api): State<Api>, uri: Uri, headers: HeaderMap) -> Response {
    let snapshots = api.engine().snapshots();
    let domain = Parameters::of(&uri).domain.unwrap_or_default();
    match snapshots.by_domain(&normalized(&domain)) {
        Some(_) => Json(serde_json::json!({"success": true})).into_response(),
        None if !snapshots.is_loaded() => respond::starting(&headers),
        None => ApiError::not_found("status page").into_response(),
    }
}

/// Nothing is here.
pub(crate) async fn nothing(headers: HeaderMap) -> Response {
    respond::not_found(&headers)
}
