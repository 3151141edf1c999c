//! Subscribing to a page, without a script: the form, the confirmation, what to receive, and the
//! end. A link in an email shows a page with a button, so that programs that open links change
//! nothing.

use askama::Template;
use axum::Json;
use axum::extract::{FromRequest as _, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::{ComponentId, SectionId};
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::i18n::{Subscriptions, fill};
use wakeful_core::statuspages::scope::Scope;
use wakeful_core::statuspages::snapshot::Snapshot;
use wakeful_core::statuspages::subscriber::{
    SubscribedKind, Subscriber, SubscriberKind, SubscriberSettings, SubscriberState,
};
use wakeful_engine::{Confirmed, Error, SubscriberDraft};

use super::access::{self, Admission};
use super::assets;
use super::form::Class;
use super::render::Way;
use super::respond;
use super::serve::{Visit, Visited, unlock, visit};
use super::view::View;
use crate::app::Api;
use crate::body::FormBody;
use crate::dto::Fields;
use crate::error::ApiError;

#[derive(Template)]
#[template(path = "notice.html")]
struct Notice<'a> {
    language: Language,
    style: String,
    name: &'a str,
    heading: &'a str,
    text: &'a str,
    error: Option<&'a str>,
    secret: Option<&'a str>,
    /// Where it posts to, and what it is called.
    button: Option<(&'a str, &'a str)>,
    link: Option<(&'a str, &'a str)>,
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

impl Notice<'_> {
    fn respond(&self, status: StatusCode) -> Response {
        respond::form(status, self.render().unwrap_or_default())
    }
}

#[derive(Template)]
#[template(path = "subscribe.html")]
struct Form<'a> {
    v: View<'a>,
    s: &'static Subscriptions,
    heading: &'static str,
    notice: Option<&'static str>,
    action: String,
    /// Otherwise it changes a subscription.
    is_new: bool,
    email: &'a str,
    address: &'a str,
    /// With what they are called, and whether they are chosen.
    kinds: Vec<(SubscriberKind, &'static str, bool)>,
    chosen_kind: SubscriberKind,
    has_address: bool,
    incidents: bool,
    maintenance: bool,
    sections: Vec<Choice>,
    languages: Vec<(Language, bool)>,
    error_in: &'static str,
    error: &'static str,
    unsubscribe: Option<String>,
}

/// A section that can be chosen, with its components.
struct Choice {
    id: SectionId,
    name: String,
    is_chosen: bool,
    components: Vec<ComponentChoice>,
}

struct ComponentChoice {
    id: ComponentId,
    name: String,
    is_chosen: bool,
}

/// What a visitor has entered, as far as it can be read.
#[derive(Default)]
struct Entered {
    email: String,
    address: String,
    kind: Option<SubscriberKind>,
    settings: SubscriberSettings,
}

/// A field that is wrong, and why.
type Wrong = (&'static str, &'static str);

/// The page of a visitor who may see it; otherwise the response.
async fn admitted(
    api: &Api,
    slug: &str,
    parts: Parts,
    class: Class,
) -> Result<Box<Visit>, Response> {
    let visit = match visit(api, slug, parts) {
        Visited::Page(visit) => visit,
        Visited::Other(other) => return Err(other),
    };
    let admission =
        access::admit(api, &visit.page, &visit.parts, &visit.query, visit.client, class).await;
    match admission {
        Ok(Admission::Open | Admission::Unlocked) => Ok(visit),
        Ok(Admission::ByToken) if class == Class::Html => Err(unlock(api, &visit, None)),
        Ok(Admission::ByToken) => Ok(visit),
        Ok(Admission::Locked(_)) if class != Class::Html => Err(respond::locked().into_response()),
        Ok(Admission::Locked(way)) => Err(visit.login(StatusCode::UNAUTHORIZED, way, None)),
        Err(error) => Err(error.into_response()),
    }
}

pub(super) async fn form(
    State(api): State<Api>,
    Path(slug): Path<String>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let visit = match admitted(&api, &slug, parts, Class::Html).await {
        Ok(visit) => visit,
        Err(other) => return other,
    };
    if !visit.snapshot.page.subscribe.is_offered() {
        return respond::not_found(&visit.parts.headers);
    }
    new_form(&visit, &Entered::default(), None)
}

pub(super) async fn subscribe(
    State(api): State<Api>,
    Path(slug): Path<String>,
    request: Request,
) -> Response {
    post(api, slug, request, Class::Html, |fields| fields).await
}

/// Statuspage's call: the fields of the form within `subscriber`.
pub(super) async fn subscribe_v2(
    State(api): State<Api>,
    Path(slug): Path<String>,
    request: Request,
) -> Response {
    let inner = |mut fields: Fields| match fields.optional_object("subscriber") {
        Some(inner) => Fields::of(inner).unwrap_or(fields),
        None => fields,
    };
    post(api, slug, request, Class::Data, inner).await
}

async fn post(
    api: Api,
    slug: String,
    request: Request,
    class: Class,
    inner: impl FnOnce(Fields) -> Fields,
) -> Response {
    let (parts, body) = request.into_parts();
    let is_form = is_form(&parts.headers);
    let class = if is_form { class } else { Class::Data };
    let visit = match admitted(&api, &slug, parts.clone(), class).await {
        Ok(visit) => visit,
        Err(other) => return other,
    };
    if !visit.snapshot.page.subscribe.is_offered() {
        return respond::not_found(&visit.parts.headers);
    }
    let request = Request::from_parts(parts, body);
    let mut fields = match FormBody::<Fields>::from_request(request, &api).await {
        Ok(FormBody(fields)) => inner(fields),
        Err(error) => return error.into_response(),
    };
    // People do not see this field.
    let is_program = fields.optional_text("website").is_some_and(|text| !text.is_empty());
    let (entered, read) = read(&mut fields, &visit, is_form);
    let texts = entered.settings.language.subscriptions();
    let done = match read {
        Ok(_) if is_program => Ok(()),
        Ok(draft) => match api.engine().subscribe_to_page(&visit.page, draft, visit.client).await {
            Ok(()) => Ok(()),
            // A form does not say how many have subscribed.
            Err(Error::Limited { .. }) if is_form => Ok(()),
            Err(Error::Refused { field: "address", .. }) => Err(("address", texts.invalid_url)),
            Err(error) => return ApiError::from(error).into_response(),
        },
        Err(wrong) => Err(wrong),
    };
    match done {
        Ok(()) if is_form => notice(&visit, texts.subscribe, texts.check_inbox),
        Ok(()) => {
            let message = Language::English.subscriptions().check_inbox;
            Json(json!({"success": true, "message": message})).into_response()
        }
        Err(wrong) if is_form => new_form(&visit, &entered, Some(wrong)),
        Err((field, why)) => {
            fields.refuse(field, why);
            match fields.finish(None::<()>) {
                Ok(()) => ApiError::internal().into_response(),
                Err(error) => error.into_response(),
            }
        }
    }
}

fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"))
}

/// What a visitor has entered, and what follows from it.
fn read(
    fields: &mut Fields,
    visit: &Visit,
    is_form: bool,
) -> (Entered, Result<SubscriberDraft, Wrong>) {
    let snapshot: &Snapshot = &visit.snapshot;
    let offered = &snapshot.page.subscribe;
    let first = offered_kinds(snapshot).first().map(|(kind, _)| *kind);
    let mut text = |field: &str| fields.optional_text(field).unwrap_or_default();
    let (email, address, kind) = (text("email"), text("address"), text("kind"));
    let language = text("language");
    let language = if language.is_empty() {
        visit.context(false).language
    } else {
        snapshot.language(Some(&language))
    };
    let kind = match SubscriberKind::parse(&kind) {
        Ok(kind) => Some(kind),
        Err(_) if kind.is_empty() => first,
        Err(_) => None,
    };
    let settings = SubscriberSettings {
        language,
        scope: if offered.choose { scope(fields, snapshot, is_form) } else { Scope::default() },
        kinds: kinds(fields, is_form),
        ..SubscriberSettings::default()
    };
    let entered = Entered { email, address, kind, settings };
    let draft = draft(&entered, snapshot);
    (entered, draft)
}

fn draft(entered: &Entered, snapshot: &Snapshot) -> Result<SubscriberDraft, Wrong> {
    let texts = entered.settings.language.subscriptions();
    let is_offered =
        |kind: &SubscriberKind| offered_kinds(snapshot).iter().any(|(offered, _)| offered == kind);
    let kind = entered.kind.filter(is_offered).ok_or(("kind", "is not offered by this page"))?;
    let email = EmailAddress::parse(&entered.email).map_err(|_| ("email", texts.invalid_email))?;
    let email = email.as_str().to_owned();
    let (address, contact) = match kind {
        SubscriberKind::Email => (email, String::new()),
        _ => {
            let address = kind.parse_address(&entered.address);
            (address.map_err(|_| ("address", texts.invalid_url))?, email)
        }
    };
    if entered.settings.kinds.is_empty() {
        return Err(("kinds", texts.choose_one));
    }
    Ok(SubscriberDraft { kind, address, contact, settings: entered.settings.clone() })
}

fn kinds(fields: &mut Fields, is_form: bool) -> Vec<SubscribedKind> {
    if is_form {
        let is_chosen = |kind: &SubscribedKind| fields.is_filled(kind.as_str());
        return SubscribedKind::ALL.iter().copied().filter(is_chosen).collect();
    }
    match fields.optional_items("kinds", None) {
        Some(items) => {
            items.iter().filter_map(|text| SubscribedKind::parse(text.trim()).ok()).collect()
        }
        None => SubscribedKind::ALL.to_vec(),
    }
}

/// The parts of the page that were chosen; what it does not show is ignored.
fn scope(fields: &mut Fields, snapshot: &Snapshot, is_form: bool) -> Scope {
    let (sections, components) = if is_form {
        (Vec::new(), Vec::new())
    } else {
        fields.within("scope", |fields| {
            let mut items = |field| fields.optional_items(field, None).unwrap_or_default();
            (items("sections"), items("components"))
        })
    };
    let is_chosen = |fields: &Fields, what: &str, id: &str, listed: &[String]| {
        if is_form {
            fields.is_filled(&format!("{what}-{id}"))
        } else {
            listed.iter().any(|one| one.trim() == id)
        }
    };
    let mut scope = Scope::default();
    for section in &snapshot.sections {
        if is_chosen(fields, "section", &section.id.to_string(), &sections) {
            scope.sections.push(section.id);
        }
        for component in &section.components {
            if is_chosen(fields, "component", &component.id.to_string(), &components) {
                scope.components.push(component.id);
            }
        }
    }
    scope
}

fn offered_kinds(snapshot: &Snapshot) -> Vec<(SubscriberKind, &'static str)> {
    let offered = &snapshot.page.subscribe;
    [
        (offered.email, SubscriberKind::Email, "Email"),
        (offered.webhook, SubscriberKind::Webhook, "Webhook"),
        (offered.chat, SubscriberKind::Slack, "Slack"),
        (offered.chat, SubscriberKind::Discord, "Discord"),
        (offered.chat, SubscriberKind::Teams, "Microsoft Teams"),
    ]
    .into_iter()
    .filter(|(is_offered, _, _)| *is_offered)
    .map(|(_, kind, label)| (kind, label))
    .collect()
}

fn new_form(visit: &Visit, entered: &Entered, wrong: Option<Wrong>) -> Response {
    let context = visit.context(false);
    let v = View::new(&visit.snapshot, context.language, context.base);
    let s = context.language.subscriptions();
    let kinds = offered_kinds(&visit.snapshot);
    let first = kinds.first().map_or(SubscriberKind::Email, |(kind, _)| *kind);
    let chosen = entered.kind.unwrap_or(first);
    let (error_in, error) = wrong.unwrap_or_default();
    let language = if wrong.is_some() { entered.settings.language } else { context.language };
    let form = Form {
        heading: s.subscribe,
        notice: None,
        action: v.href("/subscribe"),
        is_new: true,
        email: &entered.email,
        address: &entered.address,
        chosen_kind: chosen,
        has_address: kinds.iter().any(|(kind, _)| *kind != SubscriberKind::Email),
        kinds: kinds.into_iter().map(|(kind, label)| (kind, label, kind == chosen)).collect(),
        incidents: entered.settings.kinds.contains(&SubscribedKind::Incidents),
        maintenance: entered.settings.kinds.contains(&SubscribedKind::Maintenance),
        sections: choices(&visit.snapshot, &v, &entered.settings.scope),
        languages: languages(&visit.snapshot, language),
        error_in,
        error,
        unsubscribe: None,
        v,
        s,
    };
    let status = if wrong.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    respond::form(status, form.render().unwrap_or_default())
}

/// The languages of the page, and which of them is chosen.
fn languages(snapshot: &Snapshot, chosen: Language) -> Vec<(Language, bool)> {
    let mut all = vec![snapshot.page.language];
    let others = snapshot.page.languages.iter().filter(|one| **one != snapshot.page.language);
    all.extend(others);
    all.into_iter().map(|language| (language, language == chosen)).collect()
}

/// What can be chosen; nothing if the page does not offer it.
fn choices(snapshot: &Snapshot, v: &View<'_>, scope: &Scope) -> Vec<Choice> {
    if !snapshot.page.subscribe.choose {
        return Vec::new();
    }
    let sections = snapshot.sections.iter().map(|section| Choice {
        id: section.id,
        name: v.plain(&section.name),
        is_chosen: scope.sections.contains(&section.id),
        components: section
            .components
            .iter()
            .map(|component| ComponentChoice {
                id: component.id,
                name: v.plain(&component.name),
                is_chosen: scope.components.contains(&component.id),
            })
            .collect(),
    });
    sections.filter(|choice| !choice.components.is_empty()).collect()
}

fn notice(visit: &Visit, heading: &str, text: &str) -> Response {
    let context = visit.context(false);
    let v = View::new(&visit.snapshot, context.language, context.base);
    let (name, href) = (v.name(), v.href(""));
    let link = (href.as_str(), v.m.current_status);
    let notice = Notice {
        language: context.language,
        name: &name,
        heading,
        text,
        link: Some(link),
        ..Notice::default()
    };
    notice.respond(StatusCode::OK)
}

/// A link that is not valid, on a page that the visitor may know of.
fn invalid_link(visit: &Visit) -> Response {
    let language = visit.context(false).language;
    let v = View::new(&visit.snapshot, language, visit.context(false).base);
    let (name, href, texts) = (v.name(), v.href(""), language.subscriptions());
    let notice = Notice {
        language,
        name: &name,
        heading: texts.link_invalid,
        link: Some((&href, v.m.current_status)),
        ..Notice::default()
    };
    notice.respond(StatusCode::NOT_FOUND)
}

// The confirmation.

pub(super) async fn confirm_form(
    State(api): State<Api>,
    Path((slug, token)): Path<(String, String)>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let visit = match visit(&api, &slug, parts) {
        Visited::Page(visit) => visit,
        Visited::Other(other) => return other,
    };
    match api.engine().subscriber_to_confirm(&token).await {
        Ok(Some(subscriber)) if subscriber.page == visit.page.id => {
            confirmation(&visit, &token, None, StatusCode::OK)
        }
        Ok(_) => invalid_link(&visit),
        Err(error) => ApiError::from(error).into_response(),
    }
}

fn confirmation(visit: &Visit, token: &str, error: Option<&str>, status: StatusCode) -> Response {
    let context = visit.context(false);
    let v = View::new(&visit.snapshot, context.language, context.base);
    let texts = context.language.subscriptions();
    let (name, action) = (v.name(), v.href(&format!("/confirm/{token}")));
    let text = fill(texts.confirm_text, &[("page", &name)]);
    let notice = Notice {
        language: context.language,
        name: &name,
        heading: texts.confirm,
        text: &text,
        error,
        button: Some((&action, texts.confirm)),
        ..Notice::default()
    };
    notice.respond(status)
}

pub(super) async fn confirm(
    State(api): State<Api>,
    Path((slug, token)): Path<(String, String)>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let visit = match visit(&api, &slug, parts) {
        Visited::Page(visit) => visit,
        Visited::Other(other) => return other,
    };
    let texts = visit.context(false).language.subscriptions();
    match api.engine().confirm_subscriber(&visit.page, &token, visit.client).await {
        Ok(Confirmed::Done(None)) => notice(&visit, texts.confirm, texts.confirmed),
        Ok(Confirmed::Done(Some(secret))) => {
            let context = visit.context(false);
            let v = View::new(&visit.snapshot, context.language, context.base);
            let (name, href) = (v.name(), v.href(""));
            let text = format!("{} {}", texts.confirmed, texts.secret_once);
            let notice = Notice {
                language: context.language,
                name: &name,
                heading: texts.confirm,
                text: &text,
                secret: Some(secret.expose()),
                link: Some((&href, v.m.current_status)),
                ..Notice::default()
            };
            notice.respond(StatusCode::OK)
        }
        Ok(Confirmed::Refused(answer)) => {
            let error = fill(texts.webhook_failed, &[("answer", &answer)]);
            confirmation(&visit, &token, Some(&error), StatusCode::UNPROCESSABLE_ENTITY)
        }
        Ok(Confirmed::Invalid) => invalid_link(&visit),
        Err(error) => ApiError::from(error).into_response(),
    }
}

// What to receive.

/// The page and the subscriber of a link; otherwise the response.
async fn managed(
    api: &Api,
    slug: &str,
    token: &str,
    parts: Parts,
) -> Result<(Box<Visit>, Subscriber, bool), Response> {
    let visit = match visit(api, slug, parts) {
        Visited::Page(visit) => visit,
        Visited::Other(other) => return Err(other),
    };
    let found = api.engine().subscriber_of_token(token).await;
    let found = found.map_err(|error| ApiError::from(error).into_response())?;
    let subscriber = found
        .and_then(|(_, subscriber)| subscriber)
        .filter(|one| one.page == visit.page.id && one.state != SubscriberState::Unsubscribed);
    let Some(subscriber) = subscriber else { return Err(invalid_link(&visit)) };
    // The parts of a locked page are shown only to visitors who have unlocked it.
    let admission =
        access::admit(api, &visit.page, &visit.parts, &visit.query, visit.client, Class::Html);
    let is_locked = match admission.await {
        Ok(Admission::Locked(Way::Password | Way::Token | Way::Members)) => true,
        Ok(Admission::Open | Admission::Unlocked | Admission::ByToken) => false,
        Err(error) => return Err(error.into_response()),
    };
    Ok((visit, subscriber, is_locked))
}

pub(super) async fn manage_form(
    State(api): State<Api>,
    Path((slug, token)): Path<(String, String)>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    match managed(&api, &slug, &token, parts).await {
        Ok((visit, subscriber, is_locked)) => {
            let settings = &subscriber.settings;
            manage_page(&visit, &token, settings, is_locked, None, None)
        }
        Err(other) => other,
    }
}

pub(super) async fn manage(
    State(api): State<Api>,
    Path((slug, token)): Path<(String, String)>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let is_form = is_form(&parts.headers);
    let (visit, subscriber, is_locked) = match managed(&api, &slug, &token, parts.clone()).await {
        Ok(found) => found,
        Err(other) => return other,
    };
    let request = Request::from_parts(parts, body);
    let mut fields = match FormBody::<Fields>::from_request(request, &api).await {
        Ok(FormBody(fields)) => fields,
        Err(error) => return error.into_response(),
    };
    let language = fields.optional_text("language");
    let can_choose = visit.snapshot.page.subscribe.choose && !is_locked;
    let settings = SubscriberSettings {
        language: match language.filter(|text| !text.is_empty()) {
            Some(language) => visit.snapshot.language(Some(&language)),
            None => subscriber.settings.language,
        },
        scope: if can_choose {
            scope(&mut fields, &visit.snapshot, is_form)
        } else {
            subscriber.settings.scope.clone()
        },
        kinds: kinds(&mut fields, is_form),
        format: subscriber.settings.format,
    };
    let texts = visit.context(false).language.subscriptions();
    if settings.kinds.is_empty() {
        let wrong = Some(("kinds", texts.choose_one));
        return manage_page(&visit, &token, &settings, is_locked, None, wrong);
    }
    match api.engine().change_subscription(&subscriber, settings.clone()).await {
        Ok(true) => manage_page(&visit, &token, &settings, is_locked, Some(texts.saved), None),
        Ok(false) => invalid_link(&visit),
        Err(error) => ApiError::from(error).into_response(),
    }
}

fn manage_page(
    visit: &Visit,
    token: &str,
    settings: &SubscriberSettings,
    is_locked: bool,
    notice: Option<&'static str>,
    wrong: Option<Wrong>,
) -> Response {
    let context = visit.context(false);
    let v = View::new(&visit.snapshot, context.language, context.base);
    let s = context.language.subscriptions();
    let (error_in, error) = wrong.unwrap_or_default();
    let form = Form {
        heading: s.manage,
        notice,
        action: v.href(&format!("/manage/{token}")),
        is_new: false,
        email: "",
        address: "",
        kinds: Vec::new(),
        chosen_kind: SubscriberKind::Email,
        has_address: false,
        incidents: settings.kinds.contains(&SubscribedKind::Incidents),
        maintenance: settings.kinds.contains(&SubscribedKind::Maintenance),
        sections: if is_locked {
            Vec::new()
        } else {
            choices(&visit.snapshot, &v, &settings.scope)
        },
        languages: languages(&visit.snapshot, settings.language),
        error_in,
        error,
        unsubscribe: Some(v.href(&format!("/unsubscribe/{token}"))),
        v,
        s,
    };
    let status = if wrong.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    respond::form(status, form.render().unwrap_or_default())
}

// The end. It also works while the page is locked or not published.

pub(super) async fn unsubscribe_form(
    State(api): State<Api>,
    Path((_, token)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    match api.engine().subscriber_of_token(&token).await {
        Ok(Some((_, subscriber))) => {
            let is_over =
                subscriber.as_ref().is_none_or(|one| one.state == SubscriberState::Unsubscribed);
            ending(&api, subscriber.as_ref(), &token, is_over).await
        }
        Ok(None) => respond::not_found(&headers),
        Err(error) => ApiError::from(error).into_response(),
    }
}

/// The button, and what mail programs post (RFC 8058). The second time does nothing.
pub(super) async fn unsubscribe(
    State(api): State<Api>,
    Path((_, token)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let found = match api.engine().subscriber_of_token(&token).await {
        Ok(Some(found)) => found,
        Ok(None) => return respond::not_found(&headers),
        Err(error) => return ApiError::from(error).into_response(),
    };
    match api.engine().unsubscribe(found.0).await {
        Ok(()) => ending(&api, found.1.as_ref(), &token, true).await,
        Err(error) => ApiError::from(error).into_response(),
    }
}

async fn ending(
    api: &Api,
    subscriber: Option<&Subscriber>,
    token: &str,
    is_over: bool,
) -> Response {
    let language = subscriber.map_or(Language::English, |one| one.settings.language);
    let texts = language.subscriptions();
    let page = match subscriber {
        Some(one) => api.engine().page_name(one.page).await.unwrap_or_default(),
        None => None,
    };
    let page = page.unwrap_or_default();
    let text = if is_over {
        texts.unsubscribed.to_owned()
    } else {
        fill(texts.unsubscribe_text, &[("page", &page)])
    };
    let notice = Notice {
        language,
        name: &page,
        heading: texts.unsubscribe,
        text: &text,
        button: (!is_over).then_some((token, texts.unsubscribe)),
        ..Notice::default()
    };
    notice.respond(StatusCode::OK)
}
