//! Turns a snapshot into documents. The templates are checked by the compiler against the
//! types of the snapshot, and escape what they show.

use askama::Template;
use std::time::Duration;
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::i18n::fill;
use wakeful_core::statuspages::snapshot::{
    AffectedComponent, Component, ComponentFigures, ComponentStatus, Date, Day, DayColor, Impact,
    Incident, IncidentStatus, ResponseDay, Section, Snapshot, Update, Uptime,
};
use wakeful_core::time::Millis;

use super::view::{self, View};
use super::{assets, bars};

/// Scheduled maintenance appears on the front page so long before it starts.
const MAINTENANCE_AHEAD: Duration = Duration::from_secs(14 * 86_400);
/// The months of the first page of the history.
const HISTORY_MONTHS: usize = 3;
/// The oldest month of the history.
const MAX_MONTHS: usize = 120;

/// Where and how a page is rendered.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) language: Language,
    /// The path of the front page, without a slash at its end.
    pub(super) base: &'a str,
    /// The page is locked, and the visitor has unlocked it.
    pub(super) unlocked: bool,
}

/// How a locked page is unlocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Password,
    Token,
    Members,
}

#[derive(Template)]
#[template(path = "front.html")]
struct Front<'a> {
    v: View<'a>,
    locked: bool,
}

#[derive(Template)]
#[template(path = "incident.html")]
struct IncidentPage<'a> {
    v: View<'a>,
    locked: bool,
    incident: &'a Incident,
}

#[derive(Template)]
#[template(path = "history.html")]
struct History<'a> {
    v: View<'a>,
    locked: bool,
    months: Vec<Month<'a>>,
    newer: Option<Date>,
    older: Option<Date>,
}

#[derive(Template)]
#[template(path = "component.html")]
struct ComponentPage<'a> {
    v: View<'a>,
    locked: bool,
    c: &'a Component,
    periods: Vec<(String, String)>,
    chart: Option<String>,
    outages: Option<Vec<String>>,
    incidents: Vec<&'a Incident>,
    days: Vec<TableDay>,
}

#[derive(Template)]
#[template(path = "login.html")]
struct Login<'a> {
    v: View<'a>,
    way: Way,
    error: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "no_page.html")]
struct NoPage {
    style: String,
    title: &'static str,
    text: &'static str,
}

pub(super) struct Month<'a> {
    first: Date,
    name: String,
    incidents: Vec<&'a Incident>,
}

/// A day of the front page with the incidents that began on it.
pub(super) struct PastDay<'a> {
    date: Date,
    incidents: Vec<&'a Incident>,
}

/// A row of the table of a component.
struct TableDay {
    day: Day,
    times: Option<ResponseDay>,
}

pub(super) fn finish(template: &impl Template) -> String {
    template.render().expect("writing to a string cannot fail")
}

pub(super) fn front(snapshot: &Snapshot, context: Context<'_>) -> String {
    let v = View::new(snapshot, context.language, context.base);
    finish(&Front { v, locked: context.unlocked })
}

pub(super) fn incident(snapshot: &Snapshot, incident: &Incident, context: Context<'_>) -> String {
    let v = View::new(snapshot, context.language, context.base);
    finish(&IncidentPage { v, locked: context.unlocked, incident })
}

/// The newest months, or one month. `None` for a month that the page cannot have. `older` are
/// the incidents of these months if some are too old for the snapshot.
pub(super) fn history(
    snapshot: &Snapshot,
    month: Option<Date>,
    older: Option<&[Incident]>,
    context: Context<'_>,
) -> Option<String> {
    let v = View::new(snapshot, context.language, context.base);
    let current = snapshot.today.first_of_month();
    let back = |months: usize| {
        let span = i32::try_from(months).ok()?;
        months_before(current, span)
    };
    let oldest = oldest_month(&v).max(back(MAX_MONTHS)?);
    let shown: Vec<Date> = match month {
        None => (0..HISTORY_MONTHS).filter_map(back).filter(|one| *one >= oldest).collect(),
        Some(month) => {
            let month = month.first_of_month();
            if month > current || month < back(MAX_MONTHS)? {
                return None;
            }
            vec![month]
        }
    };
    let last = *shown.last()?;
    let past = older.unwrap_or(&snapshot.past);
    let newer = month.and_then(|month| months_before(month.first_of_month(), -1));
    let newer = newer.filter(|newer| *newer <= current);
    let earlier = months_before(last, 1).filter(|earlier| *earlier >= oldest);
    let months = shown
        .into_iter()
        .map(|first| {
            let began =
                |incident: &&Incident| v.date_in_zone(incident.begins()).first_of_month() == first;
            let incidents = snapshot.incidents.iter().chain(past).filter(began).collect();
            Month { first, name: month_name(first), incidents }
        })
        .collect();
    Some(finish(&History { v, locked: context.unlocked, months, newer, older: earlier }))
}

/// The month of the oldest incident.
fn oldest_month(v: &View<'_>) -> Date {
    let first = v.snapshot.past.iter().map(Incident::begins).min();
    let created = v.snapshot.has_more_past.then_some(v.page.created);
    let first = first.into_iter().chain(v.snapshot.oldest_past).chain(created).min();
    first.map_or(v.snapshot.today, |first| v.date_in_zone(first)).first_of_month()
}

/// The time of a month that begins before everything in the snapshot, if there may be more.
pub(super) fn older_month(snapshot: &Snapshot, month: Date) -> Option<(Millis, Millis)> {
    older_months(snapshot, month.first_of_month(), month.first_of_month())
}

/// The same for the newest months together.
pub(super) fn older_newest_months(snapshot: &Snapshot) -> Option<(Millis, Millis)> {
    let current = snapshot.today.first_of_month();
    let first = months_before(current, i32::try_from(HISTORY_MONTHS).ok()? - 1)?;
    older_months(snapshot, first, current)
}

fn older_months(snapshot: &Snapshot, first: Date, last: Date) -> Option<(Millis, Millis)> {
    let v = View::new(snapshot, snapshot.page.language, "");
    let oldest = snapshot.past.iter().map(Incident::begins).min()?;
    let is_older = first <= v.date_in_zone(oldest).first_of_month();
    let start = |date: Date| v.zone().instant(date.at(0, 0, 0, 0));
    let next = months_before(last, -1)?;
    (snapshot.has_more_past && is_older).then(|| (start(first), start(next)))
}

fn months_before(first: Date, months: i32) -> Option<Date> {
    let months = i32::from(first.year()) * 12 + i32::from(first.month()) - 1 - months;
    let year = i16::try_from(months.div_euclid(12)).ok()?;
    let month = i8::try_from(months.rem_euclid(12) + 1).ok()?;
    Date::new(year, month, 1).ok()
}

/// Such as `2026-11`.
pub(super) fn month_name(first: Date) -> String {
    format!("{:04}-{:02}", first.year(), first.month())
}

/// The first day of a month of the form `2026-11`.
pub(super) fn parse_month(text: &str) -> Option<Date> {
    let (year, month) = text.split_once('-')?;
    if year.len() != 4 || month.len() != 2 {
        return None;
    }
    let date = Date::new(year.parse().ok()?, month.parse().ok()?, 1).ok()?;
    (month_name(date) == text).then_some(date)
}

pub(super) fn component(
    snapshot: &Snapshot,
    component: &Component,
    figures: Option<&ComponentFigures>,
    context: Context<'_>,
) -> String {
    let v = View::new(snapshot, context.language, context.base);
    let times = figures.and_then(|figures| figures.response_times.as_deref());
    let chart = times.filter(|times| !times.is_empty()).map(|times| {
        let label = format!("{}: {}, {}", v.m.response_times, v.m.median, v.percentile());
        bars::response_chart(times, &label)
    });
    let outages = figures.and_then(|figures| figures.outages.as_ref()).map(|outages| {
        let described = outages.iter().map(|outage| match outage.ended {
            Some(ended) => {
                let lasted = v.m.duration(ended.since(outage.started));
                format!("{} ({lasted})", v.time(&outage.started))
            }
            None => format!("{} ({})", v.time(&outage.started), v.m.ongoing),
        });
        described.collect()
    });
    let days = figures.map_or(&component.days, |figures| &figures.days).to_vec();
    let days = days
        .into_iter()
        .rev()
        .map(|day| TableDay {
            day,
            times: times.and_then(|all| all.iter().find(|one| one.date == day.date).copied()),
        })
        .collect();
    let names = |one: &&Incident| one.components.iter().any(|named| named.id == Some(component.id));
    let incidents = snapshot.all_incidents().filter(names).collect();
    let periods = periods(&v, component);
    let locked = context.unlocked;
    finish(&ComponentPage { v, locked, c: component, periods, chart, outages, incidents, days })
}

fn periods(v: &View<'_>, component: &Component) -> Vec<(String, String)> {
    let Some(figures) = &component.uptime else { return Vec::new() };
    let written = |uptime: Option<Uptime>| match uptime {
        Some(uptime) => v.percent(&uptime),
        None => v.m.no_data.to_owned(),
    };
    let days = |days: &str| v.fill(v.m.last_days, "days", days);
    vec![
        (v.m.last_24_hours.to_owned(), written(figures.day)),
        (days("7"), written(figures.week)),
        (days("30"), written(figures.month)),
        (days("90"), written(figures.quarter)),
        (days("365"), written(figures.year)),
    ]
}

/// The page that a visitor sees who has not unlocked it: nothing but its name and its logo.
pub(super) fn login(
    snapshot: &Snapshot,
    way: Way,
    error: Option<&str>,
    context: Context<'_>,
) -> String {
    finish(&Login { v: View::new(snapshot, context.language, context.base), way, error })
}

pub(super) fn not_found() -> String {
    no_page("Not found", "There is no status page at this address.")
}

pub(super) fn starting() -> String {
    no_page("One moment", "The status pages are being loaded. Try again in a moment.")
}

fn no_page(title: &'static str, text: &'static str) -> String {
    finish(&NoPage { style: assets::style().path(), title, text })
}

/// What only templates use.
impl<'a> View<'a> {
    pub(super) fn common_style(&self) -> String {
        assets::style().path()
    }

    fn shared_bars(&self) -> String {
        let days = self.snapshot.components().map(|component| component.days.len()).max();
        bars::shared(days.unwrap_or_default())
    }

    fn bars(&self, component: &Component) -> String {
        bars::svg(self, component)
    }

    /// The label of the response time that 95% of all checks stay below.
    fn percentile(&self) -> String {
        self.fill(self.m.percentile, "percent", &self.m.percentage("95"))
    }

    // Askama passes references.

    fn status_class(&self, status: &ComponentStatus) -> &'static str {
        view::status_class(*status)
    }

    fn section_class(&self, section: &Section) -> &'static str {
        view::status_class(section.status())
    }

    fn section_status(&self, section: &Section) -> &'static str {
        self.m.component_status(section.status())
    }

    fn component_status(&self, status: &ComponentStatus) -> &'static str {
        self.m.component_status(*status)
    }

    fn update_status(&self, status: &IncidentStatus) -> &'static str {
        self.m.incident_status(*status)
    }

    fn impact(&self, impact: &Impact) -> &'static str {
        self.m.impact(*impact)
    }

    fn day_word(&self, color: &DayColor) -> &'static str {
        self.m.day(*color)
    }

    pub(super) fn percent(&self, uptime: &Uptime) -> String {
        self.m.uptime_percentage(*uptime, self.page.display.decimals)
    }

    fn day_of(&self, date: &Date) -> String {
        self.m.day_of(*date)
    }

    fn month_of(&self, date: &Date) -> String {
        self.m.month_of(*date)
    }

    fn indicator_class(&self) -> &'static str {
        view::indicator_class(self.snapshot)
    }

    fn impact_class(&self, impact: &Impact) -> &'static str {
        view::impact_class(*impact)
    }

    fn is_affected(&self, component: &AffectedComponent) -> bool {
        component.status > ComponentStatus::Operational
    }

    fn incident_status(&self, incident: &Incident) -> &'static str {
        if incident.cancelled { self.m.cancelled } else { self.m.incident_status(incident.status) }
    }

    fn scheduled(&self, incident: &Incident) -> Option<(Millis, Millis)> {
        Some((incident.scheduled_for?, incident.scheduled_until?))
    }

    fn updates<'b>(&self, incident: &'b Incident, newest: &usize) -> &'b [Update] {
        let newest = if self.texts.has_room() { *newest } else { 1 };
        &incident.updates[..incident.updates.len().min(newest)]
    }

    /// What an update says, or the beginning if the document shows too much.
    fn update_text(&self, incident: &Incident, update: &Update) -> String {
        let href = self.incident_href(incident);
        let html = self.texts.html(update.body.get(self.language), &href);
        self.in_its_language(&update.body, html)
    }

    fn incident_href(&self, incident: &Incident) -> String {
        self.href(&format!("/incident/{}", incident.id))
    }

    fn component_href(&self, component: &Component) -> String {
        self.href(&format!("/component/{}", component.id))
    }

    fn history_href(&self, month: &Date) -> String {
        self.href(&format!("/history/{}", month_name(*month)))
    }

    /// Maintenance in progress, and that of the next days.
    fn maintenances(&self) -> Vec<&'a Incident> {
        let until = self.snapshot.as_of.after(MAINTENANCE_AHEAD);
        let is_near =
            |one: &&Incident| one.status != IncidentStatus::Scheduled || one.begins() <= until;
        self.snapshot.maintenances.iter().filter(is_near).collect()
    }

    /// The incidents of the front page: open ones and those of the last days.
    pub(super) fn shown_incidents(&self) -> impl Iterator<Item = &'a Incident> {
        let past = self.past_days().into_iter().flat_map(|day| day.incidents);
        self.snapshot.incidents.iter().chain(past)
    }

    fn is_open(&self, section: &Section) -> bool {
        use wakeful_core::statuspages::snapshot::Collapsed;
        match section.collapsed {
            Collapsed::Never => true,
            Collapsed::Always => false,
            Collapsed::Operational => !section.is_operational(),
        }
    }

    /// Components are one level below their section.
    fn component_heading(&self, section: &Section) -> &'static str {
        if section.name.is_empty() { "h3" } else { "h4" }
    }

    fn has_figures(&self, component: &Component) -> bool {
        !component.days.is_empty()
            || component.uptime.is_some()
            || component.response_times.is_some()
            || component.certificate_expires.is_some()
    }

    fn days_ago(&self, component: &Component) -> String {
        let days = component.days.len().to_string();
        fill(self.m.days_ago, &[("days", &days)])
    }

    /// The last days, newest first, with what ended on them or before.
    fn past_days(&self) -> Vec<PastDay<'a>> {
        let days = self.page.display.incident_days;
        let mut date = self.snapshot.today;
        let mut past = Vec::new();
        for _ in 0..days {
            let began = |one: &&Incident| self.date_in_zone(one.begins()) == date;
            past.push(PastDay {
                date,
                incidents: self.snapshot.past.iter().filter(began).collect(),
            });
            let Ok(yesterday) = date.yesterday() else { break };
            date = yesterday;
        }
        past
    }
}
