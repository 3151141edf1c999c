//! The JSON of Statuspage, which many clients read: every field that they know, with its type.

use serde::Serialize;
use wakeful_core::id::{ComponentId, IncidentId, IncidentUpdateId, SectionId, StatuspageId};
use wakeful_core::named_enum;
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::markdown::to_text;
use wakeful_core::statuspages::snapshot::{
    self, ComponentStatus, IncidentKind, IncidentStatus, Snapshot,
};
use wakeful_core::time::Millis;

use super::json::{Status, status, to_json};
use super::text_budget::TextBudget;

/// The incidents in a list.
const MAX_LISTED: usize = 50;

named_enum! {
    /// The documents.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub(super) enum Document {
        Summary = "summary.json",
        Status = "status.json",
        Components = "components.json",
        Incidents = "incidents.json",
        Unresolved = "incidents/unresolved.json",
        Maintenances = "scheduled-maintenances.json",
        Upcoming = "scheduled-maintenances/upcoming.json",
        Active = "scheduled-maintenances/active.json",
    }
}

#[derive(Serialize)]
struct Body<'a> {
    page: Page<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    components: Option<Vec<Component<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    incidents: Option<Vec<Incident<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheduled_maintenances: Option<Vec<Incident<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
}

#[derive(Serialize)]
struct Page<'a> {
    id: StatuspageId,
    name: &'a str,
    url: &'a str,
    time_zone: &'a str,
    updated_at: Millis,
}

#[derive(Serialize)]
#[serde(untagged)]
enum AnyId {
    Component(ComponentId),
    Section(SectionId),
}

#[derive(Serialize)]
struct Component<'a> {
    id: AnyId,
    name: &'a str,
    status: ComponentStatus,
    created_at: Millis,
    updated_at: Millis,
    position: usize,
    description: Option<String>,
    showcase: bool,
    start_date: Option<String>,
    group_id: Option<SectionId>,
    page_id: StatuspageId,
    group: bool,
    only_show_if_degraded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    components: Option<Vec<ComponentId>>,
}

#[derive(Serialize)]
struct Incident<'a> {
    id: IncidentId,
    name: &'a str,
    status: IncidentStatus,
    created_at: Millis,
    updated_at: Millis,
    monitoring_at: Option<Millis>,
    resolved_at: Option<Millis>,
    impact: snapshot::Impact,
    shortlink: String,
    started_at: Millis,
    page_id: StatuspageId,
    incident_updates: Vec<Update<'a>>,
    components: Vec<Component<'a>>,
    reminder_intervals: (),
    #[serde(skip_serializing_if = "Option::is_none")]
    scheduled_for: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheduled_until: Option<Millis>,
}

#[derive(Serialize)]
struct Update<'a> {
    id: String,
    status: &'static str,
    body: String,
    incident_id: IncidentId,
    created_at: Millis,
    updated_at: Millis,
    display_at: Millis,
    affected_components: Option<Vec<Affected<'a>>>,
    deliver_notifications: bool,
    custom_tweet: (),
    tweet_id: (),
}

#[derive(Serialize)]
struct Affected<'a> {
    code: Option<ComponentId>,
    name: &'a str,
    old_status: ComponentStatus,
    new_status: ComponentStatus,
}

pub(super) fn render(document: Document, snapshot: &Snapshot, language: Language) -> String {
    let all = Lists { snapshot, language, texts: TextBudget::new() };
    let mut body = Body {
        page: all.page(),
        components: None,
        incidents: None,
        scheduled_maintenances: None,
        status: None,
    };
    let is_scheduled = |one: &&snapshot::Incident| one.status == IncidentStatus::Scheduled;
    match document {
        Document::Summary => {
            body.components = Some(all.components());
            body.incidents = Some(all.incidents(snapshot.incidents.iter()));
            body.scheduled_maintenances = Some(all.incidents(snapshot.maintenances.iter()));
            body.status = Some(status(snapshot));
        }
        Document::Status => body.status = Some(status(snapshot)),
        Document::Components => body.components = Some(all.components()),
        Document::Incidents => {
            body.incidents = Some(all.incidents(all.newest(IncidentKind::Incident).into_iter()));
        }
        Document::Unresolved => body.incidents = Some(all.incidents(snapshot.incidents.iter())),
        Document::Maintenances => {
            let newest = all.newest(IncidentKind::Maintenance).into_iter();
            body.scheduled_maintenances = Some(all.incidents(newest));
        }
        Document::Upcoming => {
            let upcoming = snapshot.maintenances.iter().filter(is_scheduled);
            body.scheduled_maintenances = Some(all.incidents(upcoming));
        }
        Document::Active => {
            let active = snapshot.maintenances.iter().filter(|one| !is_scheduled(one));
            body.scheduled_maintenances = Some(all.incidents(active));
        }
    }
    to_json(&body)
}

struct Lists<'a> {
    snapshot: &'a Snapshot,
    language: Language,
    texts: TextBudget,
}

impl<'a> Lists<'a> {
    fn page(&self) -> Page<'a> {
        let page = &self.snapshot.page;
        Page {
            id: page.id,
            name: page.name.get(self.language),
            url: &page.url,
            time_zone: &page.timezone,
            updated_at: self.snapshot.as_of,
        }
    }

    fn newest(&self, kind: IncidentKind) -> Vec<&'a snapshot::Incident> {
        let of_kind = self.snapshot.all_incidents().filter(|one| one.kind == kind);
        let mut all: Vec<_> = of_kind.collect();
        all.sort_by_key(|one| std::cmp::Reverse(one.begins()));
        all.truncate(MAX_LISTED);
        all
    }

    /// Components without a status are not in Statuspage's vocabulary.
    fn known(&self, section: &'a snapshot::Section) -> Vec<&'a snapshot::Component> {
        let known = section.components.iter();
        known.filter(|one| one.status != ComponentStatus::Unknown).collect()
    }

    fn components(&self) -> Vec<Component<'a>> {
        let mut all = Vec::new();
        for section in &self.snapshot.sections {
            let known = self.known(section);
            let group = (!section.name.is_empty() && !known.is_empty()).then_some(section.id);
            if group.is_some() {
                all.push(self.group(section, &known, all.len() + 1));
            }
            for (index, one) in known.into_iter().enumerate() {
                all.push(self.component(one, group, index + 1));
            }
        }
        all
    }

    fn group(
        &self,
        section: &'a snapshot::Section,
        known: &[&snapshot::Component],
        position: usize,
    ) -> Component<'a> {
        Component {
            id: AnyId::Section(section.id),
            name: section.name.get(self.language),
            status: section.status(),
            created_at: section.created,
            updated_at: section.modified,
            position,
            description: text(section.description.get(self.language)),
            showcase: false,
            start_date: None,
            group_id: None,
            page_id: self.snapshot.page.id,
            group: true,
            only_show_if_degraded: false,
            components: Some(known.iter().map(|one| one.id).collect()),
        }
    }

    fn component(
        &self,
        one: &'a snapshot::Component,
        group: Option<SectionId>,
        position: usize,
    ) -> Component<'a> {
        Component {
            id: AnyId::Component(one.id),
            name: one.name.get(self.language),
            status: one.status,
            created_at: one.created,
            updated_at: one.modified,
            position,
            description: text(one.description.get(self.language)),
            showcase: one.uptime.is_some(),
            start_date: one.since.map(|since| since.to_string()),
            group_id: group,
            page_id: self.snapshot.page.id,
            group: false,
            only_show_if_degraded: one.only_show_if_degraded,
            components: None,
        }
    }

    fn incidents(&self, all: impl Iterator<Item = &'a snapshot::Incident>) -> Vec<Incident<'a>> {
        all.map(|one| self.incident(one)).collect()
    }

    fn incident(&self, one: &'a snapshot::Incident) -> Incident<'a> {
        let url = format!("{}/incident/{}", self.snapshot.page.url, one.id);
        let postmortem = one.postmortem.iter().map(|postmortem| Update {
            id: format!("{}-postmortem", one.id),
            status: "postmortem",
            body: self.texts.text(postmortem.body.get(self.language), &url),
            incident_id: one.id,
            created_at: postmortem.published,
            updated_at: postmortem.published,
            display_at: postmortem.published,
            affected_components: None,
            deliver_notifications: false,
            custom_tweet: (),
            tweet_id: (),
        });
        // The newest one is there in any case.
        let newest = if self.texts.has_room() { one.updates.len() } else { 1 };
        let updates = one.updates.iter().take(newest);
        let updates = updates.map(|update| self.update(one.id, update, &url));
        let incident_updates = postmortem.chain(updates).collect();
        let named = |id: ComponentId| {
            let sections = self.snapshot.sections.iter();
            let mut found = sections.flat_map(|section| {
                let group = (!section.name.is_empty()).then_some(section.id);
                section.components.iter().enumerate().map(move |(at, one)| (group, at + 1, one))
            });
            found.find(|(_, _, component)| component.id == id)
        };
        let components = one.components.iter().filter_map(|affected| named(affected.id?));
        let components = components.filter(|(_, _, one)| one.status != ComponentStatus::Unknown);
        Incident {
            id: one.id,
            name: one.title.get(self.language),
            status: one.status,
            created_at: one.created,
            updated_at: one.modified,
            monitoring_at: one.monitoring_at(),
            resolved_at: one.resolved,
            impact: one.impact,
            shortlink: url,
            started_at: one.started,
            page_id: self.snapshot.page.id,
            incident_updates,
            components: components.map(|(group, at, one)| self.component(one, group, at)).collect(),
            reminder_intervals: (),
            scheduled_for: one.scheduled_for,
            scheduled_until: one.scheduled_until,
        }
    }

    fn update(&self, incident: IncidentId, update: &'a snapshot::Update, url: &str) -> Update<'a> {
        let id: IncidentUpdateId = update.id;
        let affected: Vec<Affected<'_>> = update
            .components
            .iter()
            .map(|change| Affected {
                code: change.id,
                name: change.name.get(self.language),
                old_status: change.old_status,
                new_status: change.new_status,
            })
            .collect();
        Update {
            id: id.to_string(),
            status: update.status.as_str(),
            body: self.texts.text(update.body.get(self.language), url),
            incident_id: incident,
            created_at: update.created,
            updated_at: update.edited.unwrap_or(update.created),
            display_at: update.display_at,
            affected_components: (!affected.is_empty()).then_some(affected),
            deliver_notifications: update.notify,
            custom_tweet: (),
            tweet_id: (),
        }
    }
}

/// A description without markup; none if it is empty.
fn text(markdown: &str) -> Option<String> {
    (!markdown.is_empty()).then(|| to_text(markdown))
}
