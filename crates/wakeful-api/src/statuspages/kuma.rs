//! The public JSON and badges of Uptime Kuma, for dashboards and READMEs that read them. Its
//! monitors are the components of a page.

use axum::extract::Query;
use axum::http::Uri;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::id::{ComponentId, IncidentId, SectionId};
use wakeful_core::monitors::Kind;
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::badge::Badge;
use wakeful_core::statuspages::markdown::to_text;
use wakeful_core::statuspages::snapshot::{
    self, Component, ComponentStatus, DayColor, Impact, Indicator, ResponseTimes, Snapshot, Uptime,
    UptimeFigures,
};
use wakeful_core::time::Millis;

use super::badge::Subject;
use super::json::to_json;
use super::view::View;

/// The most heartbeats of a component.
const MAX_HEARTBEATS: usize = 50;

const UP: &str = "#4c1";
const DOWN: &str = "#c2290a";
const PENDING: &str = "#f8a306";
const MAINTENANCE: &str = "#1747f5";
const PARTIAL: &str = "#f6be00";
const WARNING: &str = "#eed202";
const UNKNOWN: &str = "#999";
const FIGURE: &str = "blue";
/// The days before a certificate expires from which its badge warns, and from which it is red.
const WARN_DAYS: u64 = 14;
const DOWN_DAYS: u64 = 7;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    config: Config<'a>,
    incident: Option<Incident<'a>>,
    incidents: Vec<Incident<'a>>,
    public_group_list: Vec<Group<'a>>,
    maintenance_list: Vec<Maintenance<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Config<'a> {
    slug: &'a str,
    title: &'a str,
    description: String,
    icon: String,
    auto_refresh_interval: u32,
    theme: &'static str,
    published: bool,
    show_tags: bool,
    #[serde(rename = "customCSS")]
    custom_css: &'static str,
    footer_text: String,
    show_powered_by: bool,
    google_analytics_id: Option<&'static str>,
    show_certificate_expiry: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Incident<'a> {
    id: IncidentId,
    style: &'static str,
    title: &'a str,
    content: String,
    pin: bool,
    created_date: String,
    last_updated_date: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Group<'a> {
    id: SectionId,
    name: &'a str,
    weight: usize,
    monitor_list: Vec<Monitor<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Monitor<'a> {
    id: ComponentId,
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    send_url: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Maintenance<'a> {
    id: IncidentId,
    title: &'a str,
    description: String,
    strategy: &'static str,
    active: bool,
    status: &'static str,
    timeslot_list: Vec<Timeslot>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Timeslot {
    start_date: String,
    end_date: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Heartbeats {
    heartbeat_list: BTreeMap<ComponentId, Vec<Heartbeat>>,
    /// From 0 to 1.
    uptime_list: BTreeMap<String, f64>,
}

#[derive(Serialize)]
struct Heartbeat {
    status: u8,
    time: String,
    msg: &'static str,
    ping: Option<u32>,
}

/// Such as `2026-11-18 11:06:40.000`, in UTC.
fn time(at: Millis) -> String {
    at.to_string().replace('T', " ").trim_end_matches('Z').to_owned()
}

/// What a page shows.
pub(super) fn page(snapshot: &Snapshot, language: Language) -> String {
    let page = &snapshot.page;
    let v = View::new(snapshot, language, &page.url);
    let listed = |section: &snapshot::Section| v.listed(section).len();
    let groups = snapshot.sections.iter().filter(|section| listed(section) > 0);
    let groups = groups.enumerate().map(|(place, section)| Group {
        id: section.id,
        name: section.name.get(language),
        weight: place + 1,
        monitor_list: v.listed(section).into_iter().map(|one| monitor(one, language)).collect(),
    });
    let public_group_list = groups.collect();
    let incidents = || snapshot.incidents.iter().map(|one| incident(&v, one));
    to_json(&Page {
        config: Config {
            slug: &page.slug,
            title: page.name.get(language),
            description: to_text(page.description.get(language)),
            icon: v.favicon().unwrap_or_default(),
            auto_refresh_interval: 60,
            theme: page.appearance.scheme.as_str(),
            published: true,
            show_tags: false,
            custom_css: "",
            footer_text: to_text(page.footer.get(language)),
            show_powered_by: page.appearance.powered_by,
            google_analytics_id: None,
            show_certificate_expiry: snapshot
                .components()
                .any(|component| component.certificate_expires.is_some()),
        },
        incident: incidents().next(),
        incidents: incidents().collect(),
        public_group_list,
        maintenance_list: snapshot.maintenances.iter().map(|one| window(&v, one)).collect(),
    })
}

fn monitor(component: &Component, language: Language) -> Monitor<'_> {
    Monitor {
        id: component.id,
        name: component.name.get(language),
        kind: component.monitor.map_or("group", kind),
        send_url: component.link.is_some(),
        url: component.link.as_deref(),
    }
}

/// Kuma's name for a type of monitors.
fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Api => "push",
        Kind::Dns => "dns",
        Kind::Group => "group",
        Kind::Http => "http",
        Kind::HttpKeyword => "keyword",
        Kind::Ping => "ping",
        // Kuma has no types for certificates and registrations; both are checks of a host.
        Kind::Tcp | Kind::Tls | Kind::Domain => "port",
    }
}

fn newest(v: &View<'_>, incident: &snapshot::Incident) -> String {
    let Some(update) = incident.updates.first() else { return String::new() };
    v.texts.text(update.body.get(v.language), &v.incident_url(incident))
}

fn incident<'a>(v: &View<'_>, incident: &'a snapshot::Incident) -> Incident<'a> {
    Incident {
        id: incident.id,
        style: match incident.impact {
            Impact::None | Impact::Maintenance => "info",
            Impact::Minor => "warning",
            Impact::Major | Impact::Critical => "danger",
        },
        title: incident.title.get(v.language),
        content: newest(v, incident),
        pin: true,
        created_date: time(incident.started),
        last_updated_date: time(incident.modified),
    }
}

fn window<'a>(v: &View<'_>, incident: &'a snapshot::Incident) -> Maintenance<'a> {
    let is_scheduled = incident.status == snapshot::IncidentStatus::Scheduled;
    let slot = incident.scheduled_for.zip(incident.scheduled_until);
    let slot = slot.map(|(from, to)| Timeslot { start_date: time(from), end_date: time(to) });
    Maintenance {
        id: incident.id,
        title: incident.title.get(v.language),
        description: newest(v, incident),
        strategy: "single",
        active: true,
        status: if is_scheduled { "scheduled" } else { "under-maintenance" },
        timeslot_list: slot.into_iter().collect(),
    }
}

/// A heartbeat for each of the last days, and one for the current status.
pub(super) fn heartbeats(snapshot: &Snapshot) -> String {
    let zone = Zone::stored(&snapshot.page.timezone);
    let mut heartbeat_list = BTreeMap::new();
    let mut uptime_list = BTreeMap::new();
    for component in snapshot.components().filter(|component| component.is_listed()) {
        let past = component.days.len().saturating_sub(1);
        let days = component.days.iter().take(past);
        let days = days.skip(past.saturating_sub(MAX_HEARTBEATS - 1));
        let day = |day: snapshot::Day| Heartbeat {
            status: match day.color {
                DayColor::Out => 0,
                DayColor::Good | DayColor::Some => 1,
                DayColor::NoData => 2,
                DayColor::Maintenance => 3,
            },
            time: time(zone.instant(day.date.at(0, 0, 0, 0))),
            msg: "",
            ping: None,
        };
        let now = Heartbeat {
            status: status(component.status),
            time: time(snapshot.as_of),
            msg: "",
            ping: component.response_times.and_then(|times| times.day),
        };
        heartbeat_list.insert(component.id, days.map(day).chain([now]).collect());
        if let Some(uptime) = component.uptime.and_then(|figures| figures.day) {
            uptime_list.insert(format!("{}_24", component.id), share(uptime));
        }
    }
    to_json(&Heartbeats { heartbeat_list, uptime_list })
}

fn status(status: ComponentStatus) -> u8 {
    match status {
        ComponentStatus::PartialOutage | ComponentStatus::MajorOutage => 0,
        ComponentStatus::Operational | ComponentStatus::DegradedPerformance => 1,
        ComponentStatus::Unknown => 2,
        ComponentStatus::UnderMaintenance => 3,
    }
}

fn share(uptime: Uptime) -> f64 {
    f64::from(uptime.millionths()) / 1e6
}

/// What the address of a badge asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Parameters {
    pub(super) style: Option<String>,
    label: Option<String>,
    label_prefix: Option<String>,
    label_suffix: Option<String>,
    label_color: Option<String>,
    prefix: Option<String>,
    suffix: Option<String>,
    color: Option<String>,
    up_label: Option<String>,
    down_label: Option<String>,
    pending_label: Option<String>,
    maintenance_label: Option<String>,
    partial_label: Option<String>,
    up_color: Option<String>,
    down_color: Option<String>,
    pending_color: Option<String>,
    maintenance_color: Option<String>,
    partial_color: Option<String>,
    warn_color: Option<String>,
    warn_days: Option<u64>,
    down_days: Option<u64>,
    date: Option<String>,
}

impl Parameters {
    pub(super) fn of(uri: &Uri) -> Self {
        Query::try_from_uri(uri).map(|Query(found)| found).unwrap_or_default()
    }

    /// Of the page as a whole: up, degraded, down or in maintenance.
    fn of_indicator(&self, indicator: Indicator) -> (&str, &str) {
        match indicator {
            Indicator::None => named(&self.up_label, "Up", &self.up_color, UP),
            Indicator::Minor | Indicator::Major => {
                named(&self.partial_label, "Degraded", &self.partial_color, PARTIAL)
            }
            Indicator::Critical => named(&self.down_label, "Down", &self.down_color, DOWN),
            Indicator::Maintenance => {
                let color = &self.maintenance_color;
                named(&self.maintenance_label, "Maintenance", color, MAINTENANCE)
            }
        }
    }

    fn of_status(&self, of: ComponentStatus) -> (&str, &str) {
        match status(of) {
            0 => named(&self.down_label, "Down", &self.down_color, DOWN),
            1 => named(&self.up_label, "Up", &self.up_color, UP),
            2 => named(&self.pending_label, "Pending", &self.pending_color, PENDING),
            _ => {
                let color = &self.maintenance_color;
                named(&self.maintenance_label, "Maintenance", color, MAINTENANCE)
            }
        }
    }

    /// The label with what the address adds to it.
    fn labeled(&self, label: &str) -> String {
        let text = self.label.as_deref().unwrap_or(label);
        let [prefix, suffix] =
            [&self.label_prefix, &self.label_suffix].map(|part| part.as_deref().unwrap_or(""));
        format!("{prefix}{text}{suffix}")
    }

    fn message(&self, value: &str, suffix: &str) -> String {
        let prefix = self.prefix.as_deref().unwrap_or_default();
        let message = format!("{prefix}{value}{}", self.suffix.as_deref().unwrap_or(suffix));
        message.chars().take(64).collect()
    }
}

fn named<'a>(
    label: &'a Option<String>,
    default: &'a str,
    color: &'a Option<String>,
    default_color: &'a str,
) -> (&'a str, &'a str) {
    (label.as_deref().unwrap_or(default), color.as_deref().unwrap_or(default_color))
}

/// A badge by its path, such as `uptime/24`. What is not shown is `N/A`.
pub(super) fn badge(
    path: &str,
    subject: Subject<'_>,
    snapshot: Option<(&Snapshot, Millis)>,
    query: &Parameters,
) -> Badge {
    let (kind, period) = path.split_once('/').unwrap_or((path, ""));
    let hours = if period.is_empty() { Some(24) } else { hours(period) };
    let label = match (subject, kind) {
        (Subject::Page, _) | (_, "status") => "Status".to_owned(),
        (_, "uptime") => format!("Uptime ({})", written(period)),
        (_, "ping") => format!("Avg. Ping ({})", written(period)),
        (_, "avg-response") => format!("Avg. Response ({})", written(period)),
        (_, "cert-exp") => "Cert Exp.".to_owned(),
        (_, "response") => "Response".to_owned(),
        _ => String::new(),
    };
    let found = snapshot.and_then(|(snapshot, now)| match subject {
        Subject::Page if snapshot.status.no_data => None,
        Subject::Page => {
            let (message, color) = query.of_indicator(snapshot.status.indicator);
            Some((message.to_owned(), color.to_owned()))
        }
        Subject::Component(name) => {
            let component = snapshot.component(name).filter(|one| one.is_listed())?;
            of_component(kind, hours?, component, now, query)
        }
    });
    let (message, color) = found.unwrap_or_else(|| ("N/A".to_owned(), UNKNOWN.to_owned()));
    let mut badge = Badge::new("", message.chars().take(64).collect::<String>(), UNKNOWN);
    let label = query.labeled(&label);
    let color = query.color.as_deref().unwrap_or(&color);
    badge.customize(Some(&label), query.label_color.as_deref(), Some(color));
    badge
}

fn of_component(
    kind: &str,
    hours: u64,
    component: &Component,
    now: Millis,
    query: &Parameters,
) -> Option<(String, String)> {
    let figure = |millis: u32| (query.message(&millis.to_string(), "ms"), FIGURE.to_owned());
    match kind {
        "status" => {
            let (message, color) = query.of_status(component.status);
            Some((message.to_owned(), color.to_owned()))
        }
        "uptime" => {
            let uptime = uptime(&component.uptime?, hours)?;
            let percent = uptime.percent(2);
            let percent = percent.trim_end_matches('0').trim_end_matches('.');
            Some((query.message(percent, "%"), gradient(share(uptime))))
        }
        "ping" | "avg-response" => response(&component.response_times?, hours).map(figure),
        "response" => component.response_times?.day.map(figure),
        "cert-exp" => {
            let expires = component.certificate_expires?;
            let days = expires.since(now).as_secs() / 86_400;
            let message = match query.date {
                Some(_) => query.message(time(expires).split(' ').next()?, ""),
                None => query.message(&days.to_string(), " days"),
            };
            let color = match days {
                days if days <= query.down_days.unwrap_or(DOWN_DAYS) => &query.down_color,
                days if days <= query.warn_days.unwrap_or(WARN_DAYS) => &query.warn_color,
                _ => &query.up_color,
            };
            let default = match days {
                days if days <= query.down_days.unwrap_or(DOWN_DAYS) => DOWN,
                days if days <= query.warn_days.unwrap_or(WARN_DAYS) => WARNING,
                _ => UP,
            };
            Some((message, color.as_deref().unwrap_or(default).to_owned()))
        }
        _ => None,
    }
}

/// The hours of a period, such as `24`, `24h`, `30d` or `1y`.
fn hours(period: &str) -> Option<u64> {
    let end = period.find(|c: char| !c.is_ascii_digit()).unwrap_or(period.len());
    let (number, unit) = period.split_at(end);
    let number: u64 = number.parse().ok()?;
    let hours = match unit {
        "" | "h" => 1,
        "d" => 24,
        "w" => 7 * 24,
        "m" => 30 * 24,
        "y" => 365 * 24,
        _ => return None,
    };
    number.checked_mul(hours).filter(|hours| (1..=366 * 24).contains(hours))
}

/// The period as a label shows it.
fn written(period: &str) -> String {
    match period {
        "" => "24h".to_owned(),
        period if period.bytes().all(|byte| byte.is_ascii_digit()) => format!("{period}h"),
        period => period.chars().take(8).collect(),
    }
}

/// Of the shortest period that the page has and that includes these hours.
fn uptime(figures: &UptimeFigures, hours: u64) -> Option<Uptime> {
    match hours {
        0..=24 => figures.day,
        25..=168 => figures.week,
        169..=720 => figures.month,
        721..=2_160 => figures.quarter,
        _ => figures.year,
    }
}

fn response(times: &ResponseTimes, hours: u64) -> Option<u32> {
    match hours {
        0..=24 => times.day,
        25..=168 => times.week,
        169..=720 => times.month,
        _ => times.quarter,
    }
}

/// From red to green, with the uptime.
fn gradient(share: f64) -> String {
    let hue = share * 80.0 + 10.0;
    let (saturation, lightness) = (0.9, 0.4);
    let amount = saturation * f64::min(lightness, 1.0 - lightness);
    let part = |offset: f64| {
        let place = (offset + hue / 30.0) % 12.0;
        let level = lightness - amount * f64::min(place - 3.0, 9.0 - place).clamp(-1.0, 1.0);
        (level * 255.0).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", part(0.0), part(8.0), part(4.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statuspages::sample;

    fn drawn(path: &str, query: &str) -> (String, String, String) {
        let snapshot = sample::page();
        let uri = format!("/?{query}").parse().expect("a URI");
        let at = Some((&snapshot, sample::NOW));
        let badge = badge(path, Subject::Component("api"), at, &Parameters::of(&uri));
        (badge.label, badge.message, badge.color)
    }

    fn texts(label: &str, message: &str, color: &str) -> (String, String, String) {
        (label.to_owned(), message.to_owned(), color.to_owned())
    }

    #[test]
    fn badges_have_the_labels_and_colors_of_kuma() {
        assert_eq!(drawn("status", ""), texts("Status", "Down", DOWN));
        assert_eq!(
            drawn("status", "downLabel=broken&downColor=red&label=API"),
            texts("API", "broken", "red")
        );
        let (label, message, _) = drawn("uptime/720", "labelPrefix=x%20");
        assert_eq!(label, "x Uptime (720h)");
        assert!(message.ends_with('%'), "{message}");
        assert_eq!(drawn("uptime/soon", "").1, "N/A");
        assert_eq!(drawn("cert-exp", ""), texts("Cert Exp.", "30 days", UP));
        assert_eq!(drawn("cert-exp", "warnDays=30").2, WARNING);
        assert_eq!(drawn("ping/soon", "").2, UNKNOWN);
        assert_eq!(drawn("nothing", "").1, "N/A");
        assert_eq!(hours("30d"), Some(720));
        assert_eq!(hours("99999999999999999999"), None);
        assert_eq!((gradient(1.0).as_str(), gradient(0.0).as_str()), ("#66c20a", "#c2290a"));
    }

    #[test]
    fn heartbeats_end_with_the_current_status() {
        let snapshot = sample::page();
        let value: serde_json::Value = serde_json::from_str(&heartbeats(&snapshot)).expect("JSON");
        let api = snapshot.component("api").expect("a component").id.to_string();
        let beats = value["heartbeatList"][&api].as_array().expect("a list");
        assert_eq!(beats.len(), MAX_HEARTBEATS);
        let last = beats.last().expect("a beat");
        assert_eq!((&last["status"], &last["msg"]), (&0.into(), &"".into()));
        assert_eq!(last["time"], "2026-11-18 11:06:40.000");
        let uptime = value["uptimeList"][format!("{api}_24")].as_f64().expect("a number");
        assert!((0.0..=1.0).contains(&uptime));
        let page: serde_json::Value =
            serde_json::from_str(&page(&snapshot, Language::English)).expect("JSON");
        assert_eq!(page["config"]["slug"], "acme");
        assert_eq!(page["incident"]["style"], "danger");
        let monitors = &page["publicGroupList"][0]["monitorList"];
        assert_eq!((&monitors[0]["sendUrl"], &monitors[0]["type"]), (&true.into(), &"http".into()));
        assert_eq!(monitors[1]["type"], "group");
        assert_eq!(page["maintenanceList"][0]["status"], "scheduled");
    }
}
