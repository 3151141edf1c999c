//! Incidents of status pages as they are saved and returned.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::id::{
    ComponentId, IncidentId, IncidentRuleId, IncidentTemplateId, IncidentUpdateId, StatuspageId,
};
use wakeful_core::monitors::Name;
use wakeful_core::statuspages::incident::{
    Incident, IncidentSettings, IncidentTemplate, MAX_BODY, MAX_COMPONENTS, MAX_PAGES,
    MAX_POSTMORTEM, MAX_REMIND_HOURS, MAX_REMINDERS, NamedComponent, StatusChange,
    TemplateSettings, Update,
};
use wakeful_core::statuspages::page::Texts;
use wakeful_core::statuspages::schedule::parse_repeat;
use wakeful_core::statuspages::snapshot::{ComponentStatus, IncidentKind, IncidentStatus};
use wakeful_core::template::UserTemplate;
use wakeful_core::time::Millis;
use wakeful_engine::{
    IncidentDefaults, IncidentDraft, IncidentOrigin, PostmortemDraft, TemplateDraft, UnsavedUpdate,
    UpdateDraft,
};

use super::enums;
use super::fields::Fields;
use super::statuspages::request::{list, texts};
use super::statuspages::rules::parse_impact;
use super::statuspages::sections::five_statuses;

/// An incident to create (without `incidentid`) or to change.
#[derive(ToSchema)]
#[schema(as = SaveIncident)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveIncident {
    incidentid: Option<String>,
    /// Of a new incident. Default: `incident`.
    kind: Option<enums::IncidentKind>,
    /// Required for a new incident without a template.
    #[schema(min_length = 1, max_length = 255)]
    title: Option<String>,
    #[schema(value_type = Option<Object>)]
    texts: Option<Value>,
    /// Of a new incident: `draft` or `published`, the default.
    state: Option<enums::IncidentState>,
    /// Empty for the one that follows from its components.
    impact_override: Option<enums::Impact>,
    /// Of any of the team's pages.
    #[schema(max_items = 500)]
    components: Option<Vec<SaveIncidentComponent>>,
    /// Pages that it affects as a whole.
    #[schema(max_items = 100)]
    pageids: Option<Vec<String>>,
    #[schema(format = DateTime)]
    started: Option<String>,
    #[schema(format = DateTime)]
    resolved: Option<String>,
    /// Of a maintenance, as the next ones.
    #[schema(format = DateTime)]
    scheduled_for: Option<String>,
    #[schema(format = DateTime)]
    scheduled_until: Option<String>,
    auto_start: Option<bool>,
    auto_end: Option<bool>,
    /// How many hours before the start subscribers are reminded.
    #[schema(max_items = 5)]
    remind_hours: Option<Vec<u32>>,
    /// A recurrence rule, such as `FREQ=WEEKLY;BYDAY=MO`.
    repeat: Option<String>,
    /// Of the rule.
    timezone: Option<String>,
    /// A template for a new incident.
    templateid: Option<String>,
    /// The first update of a new incident.
    update: Option<SaveIncidentUpdate>,
    /// Whether subscribers are notified of a new incident. Default: true.
    notify: Option<bool>,
}

/// A component with the status that an incident gives it.
#[derive(ToSchema)]
#[schema(as = SaveIncidentComponent)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveIncidentComponent {
    componentid: String,
    /// Default: `under_maintenance` for maintenance, `major_outage` otherwise.
    status: Option<enums::ComponentStatus>,
}

/// An update to post (without `updateid`) or to change.
#[derive(ToSchema)]
#[schema(as = SaveIncidentUpdate)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveIncidentUpdate {
    updateid: Option<String>,
    /// The status of the incident, unless sent.
    status: Option<enums::IncidentStatus>,
    /// Markdown. Required for a new update.
    #[schema(min_length = 1, max_length = 10000)]
    body: Option<String>,
    #[schema(value_type = Option<Object>)]
    texts: Option<Value>,
    /// Components whose status changes.
    #[schema(max_items = 500)]
    components: Option<Vec<SaveIncidentComponent>>,
    /// Not in the future. Default: now.
    #[schema(format = DateTime)]
    display_at: Option<String>,
    notify: Option<bool>,
    /// Opens a resolved incident again.
    reopen: Option<bool>,
}

/// An incident with an update to post or to change, as in `incident/{incidentid}/update/save`. A
/// draft is shown as if it was published.
#[derive(ToSchema)]
#[schema(as = PreviewIncident)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct PreviewIncident {
    incidentid: String,
    update: SaveIncidentUpdate,
}

/// Whether subscribers are notified of a draft that is published.
#[derive(ToSchema)]
#[schema(as = PublishIncident)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct PublishIncident {
    /// Default: true.
    notify: Option<bool>,
}

#[derive(ToSchema)]
#[schema(as = SavePostmortem)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SavePostmortem {
    /// Markdown; empty removes it.
    #[schema(max_length = 50000)]
    body: Option<String>,
    published: Option<bool>,
    /// Whether subscribers are notified, if it is published; default: no.
    notify: Option<bool>,
}

/// A template to create (without `templateid`) or to change.
#[derive(ToSchema)]
#[schema(as = SaveIncidentTemplate)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveIncidentTemplate {
    templateid: Option<String>,
    /// Required for a new template, as the title and the body.
    #[schema(min_length = 1, max_length = 255)]
    name: Option<String>,
    kind: Option<enums::IncidentKind>,
    #[schema(max_length = 255)]
    title: Option<String>,
    #[schema(max_length = 10000)]
    body: Option<String>,
    status: Option<enums::IncidentStatus>,
    impact: Option<enums::Impact>,
    /// The ids of components.
    #[schema(max_items = 500)]
    components: Option<Vec<String>>,
}

/// What the defaults of a new incident follow from. What is invalid is reported by `draft`.
pub(crate) fn origin(mut fields: Fields) -> IncidentOrigin {
    let components = components(&mut fields, IncidentKind::Incident).unwrap_or_default();
    IncidentOrigin {
        kind: fields.optional("kind", IncidentKind::parse),
        template: template_id(&mut fields),
        component: components.first().map(|(id, _)| *id),
        page: page_ids(&mut fields).and_then(|pages| pages.first().copied()),
    }
}

/// The stored incident with the sent fields applied; `None` if some are invalid.
pub(crate) fn draft(
    fields: &mut Fields,
    stored: Option<&Incident>,
    defaults: &IncidentDefaults,
    now: Millis,
) -> Option<IncidentDraft> {
    let sent = fields.optional("kind", IncidentKind::parse);
    let kind = stored.map(|old| old.kind).or(sent).or(defaults.kind);
    let kind = kind.unwrap_or(IncidentKind::Incident);
    let title = fields.optional("title", Name::parse).map(|title| title.to_string());
    let is_draft = fields.optional("state", |text| match text {
        "draft" => Ok(true),
        "published" | "discarded" => Ok(false),
        _ => Err(Invalid::new("must be one of draft, published")),
    });
    let old = if let Some(stored) = stored {
        stored.settings.clone()
    } else {
        let new = IncidentSettings::default();
        IncidentSettings { timezone: defaults.timezone.clone().unwrap_or(new.timezone), ..new }
    };
    let settings = settings(fields, old, kind);
    let components = components(fields, kind);
    let pages = page_ids(fields);
    let started = time(fields, "started");
    let resolved = time(fields, "resolved");
    if started.is_some_and(|at| at > now) && kind == IncidentKind::Incident {
        fields.refuse("started", "must not be in the future");
    }
    if resolved.is_some_and(|at| at > now) {
        fields.refuse("resolved", "must not be in the future");
    }
    if let (Some(from), Some(to)) = (started, resolved)
        && to < from
    {
        fields.refuse("resolved", "must not be before started");
    }
    let template = template_id(fields);
    if defaults.kind.is_some_and(|of_template| of_template != kind) {
        fields.refuse("templateid", format!("must be a template of the kind {kind}"));
    }
    let update = if fields.has("update") && stored.is_none() {
        Some(fields.within("update", |fields| update(fields, now))?)
    } else {
        None
    };
    let notify = fields.optional_flag("notify");
    Some(IncidentDraft {
        kind,
        title,
        is_draft: is_draft.unwrap_or(false),
        settings: settings?,
        components,
        pages,
        started,
        resolved,
        template,
        update,
        notify,
    })
}

fn template_id(fields: &mut Fields) -> Option<IncidentTemplateId> {
    fields.optional("templateid", |text| {
        IncidentTemplateId::parse(text).ok_or_else(|| Invalid::new("names an unknown template"))
    })
}

fn page_ids(fields: &mut Fields) -> Option<Vec<StatuspageId>> {
    list(fields, "pageids", MAX_PAGES, |text| {
        StatuspageId::parse(text).ok_or_else(|| Invalid::new("names an unknown status page"))
    })
}

fn settings(
    fields: &mut Fields,
    old: IncidentSettings,
    kind: IncidentKind,
) -> Option<IncidentSettings> {
    let texts = texts(fields, &[("title", Name::MAX_LENGTH)]);
    let impact_override = match fields.optional_text("impact_override") {
        Some(text) if text.is_empty() => Some(None),
        Some(text) => fields.accept("impact_override", parse_impact(&text)).map(Some),
        None => Some(old.impact_override),
    };
    let mut settings = IncidentSettings {
        texts: texts.unwrap_or(old.texts),
        impact_override: impact_override?,
        ..old
    };
    if kind == IncidentKind::Incident {
        return Some(settings);
    }
    let scheduled_for = time(fields, "scheduled_for").or(settings.scheduled_for);
    let scheduled_until = time(fields, "scheduled_until").or(settings.scheduled_until);
    let scheduled_for = fields.require("scheduled_for", scheduled_for);
    let scheduled_until = fields.require("scheduled_until", scheduled_until);
    settings.auto_start = fields.optional_flag("auto_start").unwrap_or(settings.auto_start);
    settings.auto_end = fields.optional_flag("auto_end").unwrap_or(settings.auto_end);
    if let Some(hours) = fields.optional_items_or_numbers("remind_hours") {
        let hours: Option<Vec<u32>> = hours.iter().map(|text| text.trim().parse().ok()).collect();
        let valid = |hours: &Vec<u32>| {
            hours.len() <= MAX_REMINDERS
                && hours.iter().all(|hours| (1..=MAX_REMIND_HOURS).contains(hours))
        };
        match hours.filter(valid) {
            Some(hours) => settings.remind_hours = hours,
            None => fields.refuse("remind_hours", "must be up to 5 numbers from 1 to 720"),
        }
    }
    let zone = fields.optional("timezone", Zone::parse);
    let zone = zone.unwrap_or_else(|| Zone::stored(&settings.timezone));
    settings.timezone = zone.name().to_owned();
    let (from, until) = (scheduled_for?, scheduled_until?);
    if until <= from {
        fields.refuse("scheduled_until", "must be after scheduled_for");
        return None;
    }
    (settings.scheduled_for, settings.scheduled_until) = (Some(from), Some(until));
    if let Some(text) = fields.optional_text("repeat") {
        let repeat = parse_repeat(&text, zone, from, until);
        settings.repeat = fields.accept("repeat", repeat)?;
    }
    Some(settings)
}

fn components(
    fields: &mut Fields,
    kind: IncidentKind,
) -> Option<Vec<(ComponentId, ComponentStatus)>> {
    let default = match kind {
        IncidentKind::Incident => ComponentStatus::MajorOutage,
        IncidentKind::Maintenance => ComponentStatus::UnderMaintenance,
    };
    let components = fields.optional_objects("components", MAX_COMPONENTS, |fields| {
        let id = fields.parse("componentid", |text| {
            ComponentId::parse(text).ok_or_else(|| Invalid::new("names an unknown component"))
        });
        let status = fields.optional("status", five_statuses).unwrap_or(default);
        Some((id?, status))
    })?;
    let mut unique: Vec<(ComponentId, ComponentStatus)> = Vec::with_capacity(components.len());
    for (id, status) in components {
        match unique.iter_mut().find(|(known, _)| *known == id) {
            Some(known) => known.1 = status,
            None => unique.push((id, status)),
        }
    }
    Some(unique)
}

/// An update to post or to change; `None` if some fields are invalid.
pub(crate) fn update(fields: &mut Fields, now: Millis) -> Option<UpdateDraft> {
    let status = fields.optional("status", IncidentStatus::parse);
    let body = if fields.has("body") { Some(fields.short_text("body", MAX_BODY)?) } else { None };
    let texts = texts(fields, &[("body", MAX_BODY)]);
    let components = components(fields, IncidentKind::Incident).unwrap_or_default();
    let display_at = time(fields, "display_at");
    if display_at.is_some_and(|at| at > now) {
        fields.refuse("display_at", "must not be in the future");
    }
    let notify = fields.optional_flag("notify");
    let reopen = fields.optional_flag("reopen").unwrap_or(false);
    Some(UpdateDraft { status, body, texts, components, display_at, notify, reopen })
}

/// The update in `incident` that a preview shows; `None` if none was sent, or if some fields are
/// invalid.
pub(crate) fn unsaved_update(fields: &mut Fields, now: Millis) -> Option<UnsavedUpdate> {
    if !fields.has("incident") {
        return None;
    }
    fields.within("incident", |fields| {
        let incident = fields.parse("incidentid", |text| {
            IncidentId::parse(text).ok_or_else(|| Invalid::new("names an unknown incident"))
        });
        let (id, draft) = fields.within("update", |fields| {
            let id = fields.optional("updateid", |text| {
                IncidentUpdateId::parse(text).ok_or_else(|| Invalid::new("names an unknown update"))
            });
            (id, update(fields, now))
        });
        Some(UnsavedUpdate { incident: incident?, update: id, draft: draft? })
    })
}

pub(crate) fn postmortem(fields: &mut Fields) -> Option<PostmortemDraft> {
    Some(PostmortemDraft {
        body: fields.optional_short_text("body", MAX_POSTMORTEM),
        published: fields.optional_flag("published"),
        notify: fields.optional_flag("notify").unwrap_or(false),
    })
}

pub(crate) fn template(
    fields: &mut Fields,
    stored: Option<&IncidentTemplate>,
) -> Option<TemplateDraft> {
    let old = stored.map(|old| &old.settings);
    let name = fields.optional("name", Name::parse).map(|name| name.to_string());
    let name = fields.require("name", name.or_else(|| stored.map(|old| old.name.clone())));
    let valid = |text: &str| UserTemplate::parse(text).map(|_| text.to_owned());
    let title = fields.optional("title", |text| match text.chars().count() {
        1..=Name::MAX_LENGTH => valid(text),
        _ => Err(Invalid::new("must have 1 to 255 characters")),
    });
    let title = fields.require("title", title.or_else(|| old.map(|old| old.title.clone())));
    let body = fields.optional("body", |text| match text.chars().count() {
        1..=MAX_BODY => valid(text),
        _ => Err(Invalid::new(format!("must have 1 to {MAX_BODY} characters"))),
    });
    let body = fields.require("body", body.or_else(|| old.map(|old| old.body.clone())));
    let kind = fields.optional("kind", IncidentKind::parse);
    let kind = kind.or(old.map(|old| old.kind)).unwrap_or(IncidentKind::Incident);
    let status = match fields.optional_text("status") {
        Some(text) if text.is_empty() => None,
        Some(text) => fields.accept("status", IncidentStatus::parse(&text)),
        None => old.and_then(|old| old.status),
    };
    // The stored one as well, if only the kind changes.
    if status.is_some_and(|status| status.kind() != kind) {
        fields.refuse("status", format!("must be a status of the kind {kind}"));
    }
    let impact = match fields.optional_text("impact") {
        Some(text) if text.is_empty() => Some(None),
        Some(text) => fields.accept("impact", parse_impact(&text)).map(Some),
        None => Some(old.and_then(|old| old.impact)),
    };
    let components = list(fields, "components", MAX_COMPONENTS, |text| {
        ComponentId::parse(text).ok_or_else(|| Invalid::new("names an unknown component"))
    });
    Some(TemplateDraft {
        name: name?,
        settings: TemplateSettings {
            kind,
            title: title?,
            body: body?,
            status,
            impact: impact?,
            components: components
                .or_else(|| old.map(|old| old.components.clone()))
                .unwrap_or_default(),
        },
    })
}

fn time(fields: &mut Fields, field: &str) -> Option<Millis> {
    fields.optional(field, |text| {
        let at = Millis::parse(text);
        at.ok_or_else(|| Invalid::new("must be a time such as 2026-11-15T09:30:00Z"))
    })
}

/// An incident or a maintenance.
#[derive(Serialize, ToSchema)]
#[schema(as = Incident)]
pub(crate) struct IncidentBody {
    #[schema(value_type = String, format = Uuid)]
    incidentid: IncidentId,
    #[schema(value_type = enums::IncidentKind)]
    kind: &'static str,
    title: String,
    #[schema(value_type = Object)]
    texts: Texts,
    #[schema(value_type = enums::IncidentState)]
    state: &'static str,
    #[schema(value_type = enums::IncidentStatus)]
    status: &'static str,
    #[schema(value_type = enums::ShownImpact)]
    impact: &'static str,
    #[schema(value_type = Option<enums::Impact>)]
    impact_override: Option<&'static str>,
    components: Vec<IncidentComponentBody>,
    #[schema(value_type = Vec<String>)]
    pageids: Vec<StatuspageId>,
    /// All pages that show it.
    #[schema(value_type = Vec<String>)]
    shown_on: Vec<StatuspageId>,
    #[schema(value_type = String, format = DateTime)]
    started: Millis,
    #[schema(value_type = Option<String>, format = DateTime)]
    resolved: Option<Millis>,
    backfilled: bool,
    #[schema(value_type = Option<String>, format = DateTime)]
    scheduled_for: Option<Millis>,
    #[schema(value_type = Option<String>, format = DateTime)]
    scheduled_until: Option<Millis>,
    auto_start: bool,
    auto_end: bool,
    remind_hours: Vec<u32>,
    repeat: String,
    timezone: String,
    cancelled: bool,
    #[schema(value_type = enums::IncidentSource)]
    source: &'static str,
    #[schema(value_type = Option<String>)]
    ruleid: Option<IncidentRuleId>,
    /// Newest first. In a list, only the newest one.
    updates: Vec<UpdateBody>,
    postmortem: Option<PostmortemBody>,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    #[schema(value_type = String, format = DateTime)]
    modified: Millis,
}

#[derive(Serialize, ToSchema)]
#[schema(as = IncidentComponent)]
struct IncidentComponentBody {
    #[schema(value_type = String, format = Uuid)]
    componentid: ComponentId,
    /// Its name, also after it was deleted.
    name: String,
    #[schema(value_type = enums::ComponentStatus)]
    status: &'static str,
}

#[derive(Serialize, ToSchema)]
#[schema(as = IncidentUpdate)]
struct UpdateBody {
    #[schema(value_type = String, format = Uuid)]
    updateid: IncidentUpdateId,
    #[schema(value_type = enums::IncidentStatus)]
    status: &'static str,
    body: String,
    #[schema(value_type = Object)]
    texts: Texts,
    components: Vec<StatusChangeBody>,
    #[schema(value_type = String, format = DateTime)]
    display_at: Millis,
    notify: bool,
    #[schema(value_type = Option<String>, format = DateTime)]
    edited: Option<Millis>,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
}

#[derive(Serialize, ToSchema)]
#[schema(as = IncidentStatusChange)]
struct StatusChangeBody {
    #[schema(value_type = String, format = Uuid)]
    componentid: ComponentId,
    name: String,
    #[schema(value_type = enums::ComponentStatus)]
    old_status: &'static str,
    #[schema(value_type = enums::ComponentStatus)]
    new_status: &'static str,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Postmortem)]
struct PostmortemBody {
    body: String,
    published: bool,
}

impl IncidentBody {
    pub(crate) fn of(incident: Incident) -> Self {
        let shown_on = incident.all_pages();
        let settings = incident.settings;
        let component = |one: NamedComponent| IncidentComponentBody {
            componentid: one.id,
            name: one.name,
            status: one.status.as_str(),
        };
        Self {
            incidentid: incident.id,
            kind: incident.kind.as_str(),
            title: incident.title,
            texts: settings.texts,
            state: incident.state.as_str(),
            status: incident.status.as_str(),
            impact: incident.impact.as_str(),
            impact_override: settings
                .impact_override
                .map(wakeful_core::statuspages::snapshot::Impact::as_str),
            components: incident.components.into_iter().map(component).collect(),
            pageids: incident.pages,
            shown_on,
            started: incident.started,
            resolved: incident.resolved,
            backfilled: settings.backfilled,
            scheduled_for: settings.scheduled_for,
            scheduled_until: settings.scheduled_until,
            auto_start: settings.auto_start,
            auto_end: settings.auto_end,
            remind_hours: settings.remind_hours,
            repeat: settings.repeat,
            timezone: settings.timezone,
            cancelled: settings.cancelled,
            source: incident.source.as_str(),
            ruleid: incident.rule,
            updates: incident.updates.into_iter().map(UpdateBody::of).collect(),
            postmortem: settings
                .postmortem
                .map(|one| PostmortemBody { body: one.body, published: one.published.is_some() }),
            created: incident.created,
            modified: incident.modified,
        }
    }

    /// With the newest update only.
    pub(crate) fn listed(mut incident: Incident) -> Self {
        incident.updates.truncate(1);
        Self::of(incident)
    }
}

impl UpdateBody {
    fn of(update: Update) -> Self {
        let change = |one: StatusChange| StatusChangeBody {
            componentid: one.id,
            name: one.name,
            old_status: one.old_status.as_str(),
            new_status: one.new_status.as_str(),
        };
        Self {
            updateid: update.id,
            status: update.status.as_str(),
            body: update.body,
            texts: update.settings.texts,
            components: update.settings.components.into_iter().map(change).collect(),
            display_at: update.display_at,
            notify: update.settings.notify,
            edited: update.edited,
            created: update.created,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct IncidentList {
    pub(crate) success: bool,
    pub(crate) incidents: Vec<IncidentBody>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct IncidentWhole {
    pub(crate) success: bool,
    pub(crate) incident: IncidentBody,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct IncidentAnswer {
    success: bool,
    message: &'static str,
    incident: IncidentBody,
}

impl IncidentAnswer {
    pub(crate) fn of(message: &'static str, incident: Incident) -> Self {
        Self { success: true, message, incident: IncidentBody::of(incident) }
    }
}

/// A template for incidents.
#[derive(Serialize, ToSchema)]
#[schema(as = IncidentTemplate)]
pub(crate) struct TemplateBody {
    #[schema(value_type = String, format = Uuid)]
    templateid: IncidentTemplateId,
    name: String,
    #[schema(value_type = enums::IncidentKind)]
    kind: &'static str,
    title: String,
    body: String,
    #[schema(value_type = Option<enums::IncidentStatus>)]
    status: Option<&'static str>,
    #[schema(value_type = Option<enums::Impact>)]
    impact: Option<&'static str>,
    #[schema(value_type = Vec<String>)]
    components: Vec<ComponentId>,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    #[schema(value_type = String, format = DateTime)]
    modified: Millis,
}

impl TemplateBody {
    pub(crate) fn of(template: IncidentTemplate) -> Self {
        let settings = template.settings;
        Self {
            templateid: template.id,
            name: template.name,
            kind: settings.kind.as_str(),
            title: settings.title,
            body: settings.body,
            status: settings
                .status
                .map(wakeful_core::statuspages::snapshot::IncidentStatus::as_str),
            impact: settings.impact.map(wakeful_core::statuspages::snapshot::Impact::as_str),
            components: settings.components,
            created: template.created,
            modified: template.modified,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct TemplateList {
    pub(crate) success: bool,
    pub(crate) incidenttemplates: Vec<TemplateBody>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct TemplateAnswer {
    pub(crate) success: bool,
    pub(crate) message: &'static str,
    pub(crate) incidenttemplate: TemplateBody,
}
