//! The JSON forms of a page: everything that it shows, and what its script polls.

use serde::Serialize;
use std::collections::BTreeMap;
use wakeful_core::id::{ComponentId, IncidentId, IncidentUpdateId, SectionId, StatuspageId};
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::markdown::to_text;
use wakeful_core::statuspages::snapshot::{
    self, ComponentStatus, DayColor, Impact, IncidentKind, IncidentStatus, Indicator,
    ResponseTimes, Snapshot, Uptime,
};
use wakeful_core::time::Millis;

use super::view::View;

#[derive(Serialize)]
struct Index<'a> {
    page: Page<'a>,
    status: Status,
    sections: Vec<Section<'a>>,
    incidents: Vec<Incident<'a>>,
    maintenances: Vec<Incident<'a>>,
    /// What the colors of days mean.
    colors: BTreeMap<&'static str, &'static str>,
    as_of: Millis,
    revision: u64,
    delayed_since: Option<Millis>,
}

#[derive(Serialize)]
struct Page<'a> {
    id: StatuspageId,
    name: &'a str,
    description: String,
    url: &'a str,
    language: Language,
    languages: &'a [Language],
    time_zone: &'a str,
}

#[derive(Serialize)]
pub(super) struct Status {
    indicator: Indicator,
    description: &'static str,
}

#[derive(Serialize)]
struct Section<'a> {
    id: SectionId,
    name: &'a str,
    description: String,
    status: ComponentStatus,
    components: Vec<Component<'a>>,
}

#[derive(Serialize)]
struct Component<'a> {
    id: ComponentId,
    name: &'a str,
    description: String,
    link: Option<&'a str>,
    status: ComponentStatus,
    /// The day on which the period that counts begins.
    since: Option<String>,
    days: Vec<Day>,
    /// Percentages.
    #[serde(skip_serializing_if = "Option::is_none")]
    uptime: Option<BTreeMap<&'static str, Option<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_times: Option<ResponseTimes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate_expires: Option<Millis>,
}

#[derive(Serialize)]
struct Day {
    date: String,
    color: DayColor,
    /// In seconds.
    #[serde(skip_serializing_if = "is_zero")]
    down: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[derive(Serialize)]
struct Incident<'a> {
    id: IncidentId,
    kind: IncidentKind,
    title: &'a str,
    status: IncidentStatus,
    impact: Impact,
    url: String,
    started: Millis,
    resolved: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheduled_for: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheduled_until: Option<Millis>,
    cancelled: bool,
    components: Vec<Affected<'a>>,
    updates: Vec<Update>,
}

#[derive(Serialize)]
struct Affected<'a> {
    id: Option<ComponentId>,
    name: &'a str,
    status: ComponentStatus,
}

#[derive(Serialize)]
struct Update {
    id: IncidentUpdateId,
    status: IncidentStatus,
    /// Without markup.
    body: String,
    display_at: Millis,
}

/// A percentage with four decimals.
pub(super) fn percentage(uptime: Uptime) -> f64 {
    f64::from(uptime.millionths()) / 10_000.0
}

/// Everything that the front page shows.
pub(super) fn index(snapshot: &Snapshot, language: Language) -> String {
    let v = View::new(snapshot, language, "");
    let page = &snapshot.page;
    let body = Index {
        page: Page {
            id: page.id,
            name: page.name.get(language),
            description: to_text(page.description.get(language)),
            url: &page.url,
            language,
            languages: &page.languages,
            time_zone: &page.timezone,
        },
        status: status(snapshot),
        sections: snapshot.sections.iter().map(|one| section(&v, one)).collect(),
        incidents: v.shown_incidents().map(|one| incident(&v, one)).collect(),
        maintenances: snapshot.maintenances.iter().map(|one| incident(&v, one)).collect(),
        colors: DayColor::ALL.iter().map(|color| (color.as_str(), v.m.day(*color))).collect(),
        as_of: snapshot.as_of,
        revision: snapshot.revision,
        delayed_since: snapshot.delayed_since,
    };
    to_json(&body)
}

pub(super) fn status(snapshot: &Snapshot) -> Status {
    let status = snapshot.status;
    Status { indicator: status.indicator, description: status.description() }
}

fn section<'a>(v: &View<'a>, section: &'a snapshot::Section) -> Section<'a> {
    Section {
        id: section.id,
        name: section.name.get(v.language),
        description: to_text(section.description.get(v.language)),
        status: section.status(),
        components: v.listed(section).into_iter().map(|one| component(v, one)).collect(),
    }
}

fn component<'a>(v: &View<'a>, component: &'a snapshot::Component) -> Component<'a> {
    let days = component.days.iter().map(|day| Day {
        date: day.date.to_string(),
        color: day.color,
        down: day.down,
    });
    let uptime = component.uptime.as_ref().map(|figures| {
        let all = [
            ("24h", figures.day),
            ("7d", figures.week),
            ("30d", figures.month),
            ("90d", figures.quarter),
            ("365d", figures.year),
        ];
        all.into_iter().map(|(period, uptime)| (period, uptime.map(percentage))).collect()
    });
    Component {
        id: component.id,
        name: component.name.get(v.language),
        description: to_text(component.description.get(v.language)),
        link: component.link.as_deref(),
        status: component.status,
        since: component.since.map(|since| since.to_string()),
        days: days.collect(),
        uptime,
        response_times: component.response_times,
        certificate_expires: component.certificate_expires,
    }
}

fn incident<'a>(v: &View<'a>, incident: &'a snapshot::Incident) -> Incident<'a> {
    let components = incident.components.iter().map(|one| Affected {
        id: one.id,
        name: one.name.get(v.language),
        status: one.status,
    });
    let url = v.incident_url(incident);
    // The newest one is there in any case.
    let newest = if v.texts.has_room() { incident.updates.len() } else { 1 };
    let updates = incident.updates.iter().take(newest).map(|one| Update {
        id: one.id,
        status: one.status,
        body: v.texts.text(one.body.get(v.language), &url),
        display_at: one.display_at,
    });
    let updates = updates.collect();
    Incident {
        id: incident.id,
        kind: incident.kind,
        title: incident.title.get(v.language),
        status: incident.status,
        impact: incident.impact,
        url,
        started: incident.started,
        resolved: incident.resolved,
        scheduled_for: incident.scheduled_for,
        scheduled_until: incident.scheduled_until,
        cancelled: incident.cancelled,
        components: components.collect(),
        updates,
    }
}

#[derive(Serialize)]
struct Live {
    revision: u64,
    indicator: Indicator,
    description: &'static str,
    components: BTreeMap<String, ComponentStatus>,
}

/// What the script of a page polls.
pub(super) fn live(snapshot: &Snapshot) -> String {
    let Status { indicator, description } = status(snapshot);
    let listed = snapshot.components().filter(|component| component.is_listed());
    let components = listed.map(|one| (one.id.to_string(), one.status)).collect();
    to_json(&Live { revision: snapshot.revision, indicator, description, components })
}

#[derive(Serialize)]
struct Manifest<'a> {
    name: &'a str,
    short_name: &'a str,
    lang: Language,
    dir: &'static str,
    start_url: String,
    display: &'static str,
    icons: Vec<Icon<'a>>,
}

#[derive(Serialize)]
struct Icon<'a> {
    src: String,
    #[serde(rename = "type")]
    media_type: &'a str,
    sizes: &'static str,
}

/// The web app manifest: the name and the icon of the page on a phone.
pub(super) fn manifest(snapshot: &Snapshot, language: Language, base: &str) -> String {
    let v = View::new(snapshot, language, base);
    let name = v.page.name.get(language);
    let icons = v.page.appearance.favicon.iter().map(|image| Icon {
        src: v.image(snapshot::ImageKind::Favicon, image),
        media_type: &image.media_type,
        sizes: "any",
    });
    to_json(&Manifest {
        name,
        short_name: name,
        lang: language,
        dir: language.direction(),
        start_url: v.href(""),
        display: "browser",
        icons: icons.collect(),
    })
}

pub(super) fn to_json(body: &impl Serialize) -> String {
    serde_json::to_string(body).expect("these types have only text as keys")
}
