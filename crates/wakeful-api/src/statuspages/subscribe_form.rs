//! The fields of a subscription: the form that shows them, and what a visitor has entered.

use askama::Template;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::{ComponentId, SectionId};
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::i18n::Subscriptions;
use wakeful_core::statuspages::scope::Scope;
use wakeful_core::statuspages::snapshot::Snapshot;
use wakeful_core::statuspages::subscriber::{SubscribedKind, SubscriberKind, SubscriberSettings};
use wakeful_engine::SubscriberDraft;

use super::render::Context;
use super::respond;
use super::view::View;
use super::visit::Visit;
use crate::dto::Fields;

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
    /// Empty: nothing is wrong.
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
pub(super) struct Entered {
    email: String,
    address: String,
    kind: Option<SubscriberKind>,
    pub(super) settings: SubscriberSettings,
}

/// A field that is wrong, and why.
pub(super) type Wrong = (&'static str, &'static str);

pub(super) fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"))
}

/// What a visitor has entered, and what follows from it.
pub(super) fn read(
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

pub(super) fn kinds(fields: &mut Fields, is_form: bool) -> Vec<SubscribedKind> {
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
pub(super) fn scope(fields: &mut Fields, snapshot: &Snapshot, is_form: bool) -> Scope {
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

/// A form, with what is wrong with it.
pub(super) fn respond_with(form: String, wrong: Option<Wrong>) -> Response {
    let is_wrong = wrong.is_some();
    let status = if is_wrong { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    respond::form(status, form)
}

/// The form that subscribes.
pub(super) fn new_form(
    snapshot: &Snapshot,
    context: Context<'_>,
    entered: &Entered,
    wrong: Option<Wrong>,
) -> String {
    let v = View::new(snapshot, context.language, context.base);
    let s = context.language.subscriptions();
    let kinds = offered_kinds(snapshot);
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
        sections: choices(snapshot, &v, &entered.settings.scope),
        languages: languages(snapshot, language),
        error_in,
        error,
        unsubscribe: None,
        v,
        s,
    };
    form.render().unwrap_or_default()
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

/// The form that changes what a subscriber receives.
pub(super) fn manage_form(
    snapshot: &Snapshot,
    context: Context<'_>,
    token: &str,
    settings: &SubscriberSettings,
    is_locked: bool,
    notice: Option<&'static str>,
    wrong: Option<Wrong>,
) -> String {
    let v = View::new(snapshot, context.language, context.base);
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
        sections: if is_locked { Vec::new() } else { choices(snapshot, &v, &settings.scope) },
        languages: languages(snapshot, settings.language),
        error_in,
        error,
        unsubscribe: Some(v.href(&format!("/unsubscribe/{token}"))),
        v,
        s,
    };
    form.render().unwrap_or_default()
}
