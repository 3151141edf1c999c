//! Subscribers of status pages as they are saved and returned.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::id::{ComponentId, IncidentUpdateId, SectionId, SubscriberId};
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::page::StatusPage;
use wakeful_core::statuspages::scope::{MAX_NAMED, Scope};
use wakeful_core::statuspages::subscriber::{
    MAX_IMPORTED, SubscribedKind, Subscriber, SubscriberKind, SubscriberSettings, WebhookFormat,
};
use wakeful_core::time::Millis;
use wakeful_engine::{
    FailedDelivery, SaveSubscriber, SubscriberCounts, SubscriberDraft, UpdateDeliveries, scope_on,
};

use super::statuspages::request::list;
use super::{Fields, csv, enums};
use crate::error::ApiError;

wakeful_core::named_enum! {
    /// The format of a list of subscribers.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(crate) enum SubscriberExport {
        Json = "json",
        Csv = "csv",
    }
}

impl SubscriberExport {
    pub(crate) fn parse(text: &str) -> Result<Self, Invalid> {
        let known = Self::ALL.iter().find(|format| format.as_str() == text);
        known.copied().ok_or_else(|| Invalid::new("must be json or csv"))
    }
}

/// A subscriber to add (without `subscriberid`) or to change.
#[derive(ToSchema)]
#[schema(as = SaveSubscriber)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveSubscriberBody {
    subscriberid: Option<String>,
    /// Of a new subscriber. Default: `email`.
    kind: Option<enums::SubscriberKind>,
    /// An email address or a URL; required for a new subscriber, and cannot be changed.
    #[schema(max_length = 2000)]
    address: Option<String>,
    /// The body that a webhook receives.
    format: Option<enums::WebhookFormat>,
    scope: Option<SaveScope>,
    kinds: Option<Vec<enums::SubscribedKind>>,
    /// Default: that of the page.
    language: Option<enums::StatuspageLanguage>,
    /// The team has the consent of the owner in writing: no confirmation is needed.
    consent: Option<bool>,
}

/// Subscribers to add.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ImportSubscribers {
    #[schema(max_items = 1000)]
    subscribers: Vec<SaveSubscriberBody>,
    /// Must be true: the team has the consent of all of them in writing.
    consent: bool,
}

/// Empty for everything.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveScope {
    /// A section includes components that are added later.
    #[schema(max_items = 500)]
    sections: Option<Vec<String>>,
    #[schema(max_items = 500)]
    components: Option<Vec<String>>,
}

/// Reads a subscriber of a request; `stored` is the one to change.
pub(crate) fn save(
    fields: &mut Fields,
    page: &StatusPage,
    stored: Option<&Subscriber>,
) -> Option<SaveSubscriber> {
    let Some(stored) = stored else {
        let consent = fields.optional_flag("consent").unwrap_or(false);
        let draft = draft(fields, page)?;
        return Some(SaveSubscriber::Add { draft, consent });
    };
    let same = |field: &str, fields: &mut Fields, stored: &str| {
        if fields.optional_text(field).is_some_and(|sent| sent != stored) {
            fields.refuse(field, "cannot be changed; delete the subscriber and add another");
        }
    };
    same("kind", fields, stored.kind.as_str());
    same("address", fields, &stored.recipient.address);
    settings(fields, page, &stored.settings).map(SaveSubscriber::Change)
}

/// A new subscriber.
pub(crate) fn draft(fields: &mut Fields, page: &StatusPage) -> Option<SubscriberDraft> {
    let kind = fields.optional("kind", SubscriberKind::parse).unwrap_or(SubscriberKind::Email);
    let address = fields.parse("address", |text| kind.parse_address(text));
    let default =
        SubscriberSettings { language: page.settings.language, ..SubscriberSettings::default() };
    let settings = settings(fields, page, &default);
    Some(SubscriberDraft { kind, address: address?, contact: String::new(), settings: settings? })
}

/// The subscribers of an import.
pub(crate) fn import(fields: &mut Fields, page: &StatusPage) -> Option<Vec<SubscriberDraft>> {
    if fields.optional_flag("consent") != Some(true) {
        fields.refuse("consent", "must be true: subscribers are imported only with their consent");
    }
    let drafts = fields.optional_objects("subscribers", MAX_IMPORTED, |fields| draft(fields, page));
    fields.require("subscribers", drafts)
}

/// What a subscriber receives; omitted fields retain their values.
pub(crate) fn settings(
    fields: &mut Fields,
    page: &StatusPage,
    old: &SubscriberSettings,
) -> Option<SubscriberSettings> {
    let scope = scope(fields, page, &old.scope);
    let kinds = list(fields, "kinds", SubscribedKind::ALL.len(), SubscribedKind::parse);
    let kinds = kinds.unwrap_or_else(|| old.kinds.clone());
    if kinds.is_empty() {
        fields.refuse("kinds", "must contain incidents, maintenance or both");
    }
    Some(SubscriberSettings {
        format: fields.optional("format", WebhookFormat::parse).unwrap_or(old.format),
        scope: scope?,
        kinds,
        language: fields.optional("language", Language::parse).unwrap_or(old.language),
    })
}

fn scope(fields: &mut Fields, page: &StatusPage, old: &Scope) -> Option<Scope> {
    if !fields.has("scope") || fields.is_null("scope") {
        return Some(old.clone());
    }
    let wrong = || Invalid::new("must contain ids");
    fields.within("scope", |fields| {
        let sections =
            list(fields, "sections", MAX_NAMED, |id| SectionId::parse(id).ok_or_else(wrong));
        let components =
            list(fields, "components", MAX_NAMED, |id| ComponentId::parse(id).ok_or_else(wrong));
        // What was deleted since it was chosen may be sent back.
        let known = old.clone().on(page);
        let (gone_sections, gone_components): (Vec<_>, Vec<_>) = (
            old.sections.iter().filter(|id| !known.sections.contains(id)).copied().collect(),
            old.components.iter().filter(|id| !known.components.contains(id)).copied().collect(),
        );
        let mut sections = sections.unwrap_or_default();
        let mut components = components.unwrap_or_default();
        sections.retain(|id| !gone_sections.contains(id));
        components.retain(|id| !gone_components.contains(id));
        let sections_on = scope_on(page, sections.clone(), Vec::new());
        fields.accept("sections", sections_on.map_err(Invalid::new))?;
        let scope = scope_on(page, sections, components);
        fields.accept("components", scope.map_err(Invalid::new))
    })
}

#[derive(Serialize, ToSchema)]
#[schema(as = Subscriber)]
pub(crate) struct SubscriberBody {
    #[schema(value_type = String, format = Uuid)]
    subscriberid: SubscriberId,
    #[schema(value_type = enums::SubscriberKind)]
    kind: &'static str,
    /// Empty after unsubscribing.
    address: String,
    #[schema(value_type = enums::WebhookFormat)]
    format: &'static str,
    scope: ScopeBody,
    #[schema(value_type = Vec<enums::SubscribedKind>)]
    kinds: Vec<&'static str>,
    #[schema(value_type = enums::StatuspageLanguage)]
    language: &'static str,
    #[schema(value_type = enums::SubscriberState)]
    state: &'static str,
    #[schema(value_type = enums::SubscriberSource)]
    source: &'static str,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    #[schema(value_type = Option<String>, format = DateTime)]
    confirmed: Option<Millis>,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_delivery: Option<Millis>,
    /// Permanent rejections in a row.
    failures: i64,
    /// Signs what a webhook receives; only in the response that added it.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = SubscriberScope)]
pub(crate) struct ScopeBody {
    #[schema(value_type = Vec<String>)]
    sections: Vec<SectionId>,
    #[schema(value_type = Vec<String>)]
    components: Vec<ComponentId>,
}

impl SubscriberBody {
    pub(crate) fn of(subscriber: Subscriber) -> Self {
        let Subscriber { settings, .. } = subscriber;
        Self {
            subscriberid: subscriber.id,
            kind: subscriber.kind.as_str(),
            address: subscriber.recipient.address,
            format: settings.format.as_str(),
            scope: ScopeBody {
                sections: settings.scope.sections,
                components: settings.scope.components,
            },
            kinds: settings.kinds.iter().map(|kind| kind.as_str()).collect(),
            language: settings.language.as_str(),
            state: subscriber.state.as_str(),
            source: subscriber.source.as_str(),
            created: subscriber.created,
            confirmed: subscriber.confirmed,
            last_delivery: subscriber.last_delivery,
            failures: subscriber.failures,
            secret: subscriber.secret.map(|secret| secret.expose().to_owned()),
        }
    }

    /// Without the secret.
    pub(crate) fn listed(subscriber: Subscriber) -> Self {
        Self { secret: None, ..Self::of(subscriber) }
    }

    /// The table of an export.
    pub(crate) fn table(subscribers: &[Self]) -> String {
        let mut text = String::from(
            "subscriberid,kind,address,state,source,language,kinds,created,confirmed,last_delivery,failures\r\n",
        );
        let time = |at: Option<Millis>| at.map(|at| at.to_string()).unwrap_or_default();
        for one in subscribers {
            let cells = [
                one.subscriberid.to_string(),
                one.kind.to_owned(),
                one.address.clone(),
                one.state.to_owned(),
                one.source.to_owned(),
                one.language.to_owned(),
                one.kinds.join(" "),
                one.created.to_string(),
                time(one.confirmed),
                time(one.last_delivery),
                one.failures.to_string(),
            ];
            let cells: Vec<String> = cells.iter().map(|cell| csv::cell(cell)).collect();
            text.push_str(&cells.join(","));
            text.push_str("\r\n");
        }
        text
    }
}

/// How many subscribers there are: the active ones by kind, and all by state.
#[derive(Serialize, ToSchema)]
#[schema(as = SubscriberCounts)]
pub(crate) struct CountsBody {
    email: i64,
    webhook: i64,
    slack: i64,
    discord: i64,
    teams: i64,
    active: i64,
    pending: i64,
    bouncing: i64,
    unsubscribed: i64,
}

impl From<SubscriberCounts> for CountsBody {
    fn from(counts: SubscriberCounts) -> Self {
        let SubscriberCounts {
            email,
            webhook,
            slack,
            discord,
            teams,
            active,
            pending,
            bouncing,
            unsubscribed,
        } = counts;
        Self { email, webhook, slack, discord, teams, active, pending, bouncing, unsubscribed }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SubscriberList {
    pub(crate) success: bool,
    pub(crate) subscribers: Vec<SubscriberBody>,
    pub(crate) counts: CountsBody,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SubscriberAnswer {
    pub(crate) success: bool,
    pub(crate) message: &'static str,
    pub(crate) subscriber: SubscriberBody,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ImportAnswer {
    pub(crate) success: bool,
    pub(crate) message: String,
    pub(crate) added: u32,
    /// Subscribed before.
    pub(crate) known: u32,
    /// Bouncing, also if deleted since, or unsubscribed before: their owners must confirm again.
    pub(crate) refused: u32,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct DeliveriesAnswer {
    pub(crate) success: bool,
    pub(crate) updates: Vec<UpdateDeliveriesBody>,
}

/// What became of the messages about an update.
#[derive(Serialize, ToSchema)]
#[schema(as = UpdateDeliveries)]
pub(crate) struct UpdateDeliveriesBody {
    #[schema(value_type = String, format = Uuid)]
    updateid: IncidentUpdateId,
    waiting: i64,
    delivered: i64,
    failed: i64,
    /// The latest, at most 100 of the incident.
    failures: Vec<FailedDeliveryBody>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = FailedDelivery)]
pub(crate) struct FailedDeliveryBody {
    #[schema(value_type = String, format = Uuid)]
    subscriberid: SubscriberId,
    #[schema(value_type = enums::SubscriberKind)]
    kind: &'static str,
    last_answer: String,
    #[schema(value_type = String, format = DateTime)]
    at: Millis,
}

impl From<UpdateDeliveries> for UpdateDeliveriesBody {
    fn from(of: UpdateDeliveries) -> Self {
        let failure = |one: FailedDelivery| FailedDeliveryBody {
            subscriberid: one.subscriber,
            kind: one.kind.as_str(),
            last_answer: one.last_answer,
            at: one.at,
        };
        Self {
            updateid: of.update,
            waiting: of.waiting,
            delivered: of.delivered,
            failed: of.failed,
            failures: of.failures.into_iter().map(failure).collect(),
        }
    }
}

/// The id of a subscriber in a path or a body.
pub(crate) fn subscriber_id(text: &str) -> Result<SubscriberId, ApiError> {
    crate::path_id::parse(text, "subscriber", SubscriberId::parse)
}
