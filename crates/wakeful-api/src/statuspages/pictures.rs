//! Badges, logos and icons. What is unknown or not shown is a gray badge: an image cannot say
//! more.

use axum::http::HeaderValue;
use axum::response::Response;
use wakeful_core::statuspages::badge::Style;
use wakeful_core::statuspages::snapshot::{ImageKind, Snapshot};
use wakeful_core::time::Millis;

use super::badge::{self, Subject};
use super::form::{Class, Form};
use super::kuma;
use super::query::Parameters;
use super::respond::{self, Terms};
use super::router::Params;
use super::visit::Visit;
use crate::app::Api;
use crate::error::ApiError;

pub(super) fn badge(api: &Api, visit: &Visit, form: Form, params: &Params) -> Response {
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

/// The gray badge in place of an image that is unknown or not shown.
pub(super) fn no_image(form: Form, params: &Params, query: &Parameters) -> Response {
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
pub(super) async fn image(api: &Api, visit: &Visit, params: &Params) -> Result<Response, ApiError> {
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
