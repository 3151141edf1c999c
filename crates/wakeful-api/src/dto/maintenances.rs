//! Maintenance windows as they are saved and returned. When a stored window is changed,
//! omitted fields retain their values.

use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::calendar::cron::Cron;
use wakeful_core::calendar::rrule::Rrule;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::calendar::{Date, Rule, Schedule, Span, Start, parse_date};
use wakeful_core::id::{MaintenanceId, MonitorId, NotifierId};
use wakeful_core::maintenance::{
    Alerts, Announce, Checks, Counts, MAX_ANNOUNCEMENTS, MAX_BEFORE, MAX_GRACE, Window,
    WindowStatus,
};
use wakeful_core::monitors::{MAX_NOTIFIERS, Name, Tags};
use wakeful_core::selector::{Selector, SelectorParts};
use wakeful_core::time::Millis;
use wakeful_engine::{TriedWindow, WindowDraft, WindowView};

use super::enums::{MaintenanceAlerts, MaintenanceChecks, MaintenanceCounts, MaintenanceStatus};
use super::fields::Fields;
use super::monitors::request::TextOrList;

const MAX_DESCRIPTION_LENGTH: usize = 4_000;
const MIN_BEFORE: u64 = 60;

/// A maintenance window to create (without `maintenanceid`) or to change. At least one of
/// `monitors`, `tags`, `all_tags` and `everything` selects monitors; a monitor that matches any
/// of them is covered.
#[derive(ToSchema)]
#[schema(as = SaveMaintenance)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveMaintenance {
    maintenanceid: Option<String>,
    /// Required for a new window.
    #[schema(min_length = 1, max_length = 255)]
    name: Option<String>,
    #[schema(max_length = 4000)]
    description: Option<String>,
    /// Default: true.
    isactive: Option<bool>,
    /// The ids of monitors.
    monitors: Option<TextOrList>,
    /// The ids of group monitors, whose members are covered.
    groups: Option<TextOrList>,
    /// Monitors with any of these tags. A tag may end in `*`.
    tags: Option<TextOrList>,
    /// Monitors with all of these tags.
    all_tags: Option<TextOrList>,
    everything: Option<bool>,
    /// The first start: a local time such as 2026-03-29T02:30, or a time with an offset or Z.
    /// Required for a new window.
    starts: Option<String>,
    /// The time zone of local times. Default: UTC.
    time_zone: Option<String>,
    /// When a window without a rule ends, in the format of `starts`. Without `ends` and
    /// `duration`, it lasts until it is ended; an empty text removes the end.
    ends: Option<String>,
    /// Seconds that each occurrence lasts: 60 to 604800 with a rule, otherwise up to 31622400.
    duration: Option<u64>,
    /// A recurrence rule of RFC 5545; empty for none.
    rrule: Option<String>,
    /// A cron expression with five fields, instead of `rrule`; empty for none.
    cron: Option<String>,
    /// Local dates on which it does not happen.
    except: Option<TextOrList>,
    checks: Option<MaintenanceChecks>,
    counts: Option<MaintenanceCounts>,
    alerts: Option<MaintenanceAlerts>,
    /// Whether it also covers monitors that depend on a covered one. Default: true.
    dependents: Option<bool>,
    /// Seconds that alerts stay suppressed after the end.
    #[schema(maximum = 86400)]
    grace: Option<u64>,
    announce: Option<SaveAnnounce>,
}

/// Who is notified of an occurrence, and when.
#[derive(ToSchema)]
#[schema(as = SaveMaintenanceAnnouncements)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveAnnounce {
    /// The ids of notifiers, at most 100.
    notifiers: Option<TextOrList>,
    /// Seconds before the start, up to three.
    before: Option<Vec<u64>>,
    start: Option<bool>,
    end: Option<bool>,
}

/// The stored window with the sent fields applied; `None` if some are invalid.
pub(crate) fn draft(fields: &mut Fields, stored: Option<&Window>) -> Option<WindowDraft> {
    let name = fields.optional("name", Name::parse).map(|name| name.to_string());
    let name = name.or_else(|| stored.map(|old| old.name.clone()));
    let name = fields.require("name", name);
    let description = fields.optional_short_text("description", MAX_DESCRIPTION_LENGTH);
    let isactive = fields.optional_flag("isactive");
    let selector = selector(fields, stored.map(|old| &old.selector));
    let schedule = schedule(fields, stored.map(|old| &old.schedule));
    let checks = named(fields, "checks", Checks::ALL, Checks::as_str);
    let counts = named(fields, "counts", Counts::ALL, Counts::as_str);
    let alerts = named(fields, "alerts", Alerts::ALL, Alerts::as_str);
    let dependents = fields.optional_flag("dependents");
    let grace = fields.optional_number("grace", |seconds| match seconds {
        0..=86_400 => Ok(Duration::from_secs(seconds)),
        _ => Err(Invalid::new(format!("must be from 0 to {}", MAX_GRACE.as_secs()))),
    });
    let announce = announce(fields, stored.map(|old| &old.announce));
    let old = |value: fn(&Window) -> bool, default| stored.map_or(default, value);
    Some(WindowDraft {
        name: name?,
        description: description
            .unwrap_or_else(|| stored.map_or_else(String::new, |old| old.description.clone())),
        isactive: isactive.unwrap_or_else(|| old(|old| old.isactive, true)),
        selector: selector?,
        schedule: schedule?,
        checks: checks.or(stored.map(|old| old.checks)).unwrap_or_default(),
        counts: counts.or(stored.map(|old| old.counts)).unwrap_or_default(),
        alerts: alerts.or(stored.map(|old| old.alerts)).unwrap_or_default(),
        dependents: dependents.unwrap_or_else(|| old(|old| old.dependents, true)),
        grace: grace.or(stored.map(|old| old.grace)).unwrap_or_default(),
        announce: announce?,
    })
}

fn named<T: Copy>(
    fields: &mut Fields,
    field: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Option<T> {
    fields.optional(field, |text| {
        let found = all.iter().copied().find(|one| name(*one) == text);
        found.ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
            Invalid::new(format!("must be one of {}", names.join(", ")))
        })
    })
}

/// The fields of a selector: those that are sent, and otherwise those of `old`.
pub(super) fn selector(fields: &mut Fields, old: Option<&Selector>) -> Option<Selector> {
    let old = old.cloned().map(SelectorParts::from).unwrap_or_default();
    let monitors = ids(fields, "monitors", "monitorid", MonitorId::parse);
    let groups = ids(fields, "groups", "monitorid", MonitorId::parse);
    let tags = tags_of(fields, "tags");
    let all_tags = tags_of(fields, "all_tags");
    let everything = fields.optional_flag("everything");
    let parts = SelectorParts {
        monitors: monitors.unwrap_or(old.monitors),
        groups: groups.unwrap_or(old.groups),
        tags: tags.unwrap_or(old.tags),
        all_tags: all_tags.unwrap_or(old.all_tags),
        everything: everything.unwrap_or(old.everything),
    };
    fields.accept("monitors", Selector::new(parts))
}

fn tags_of(fields: &mut Fields, field: &str) -> Option<Tags> {
    let items = fields.optional_items(field, None)?;
    fields.accept(field, Tags::of(items.iter().map(String::as_str)))
}

/// Ids; empty items are ignored.
fn ids<T>(
    fields: &mut Fields,
    field: &str,
    key: &str,
    parse: fn(&str) -> Option<T>,
) -> Option<Vec<T>> {
    let items = fields.optional_items(field, Some(key))?;
    let items = items.iter().map(|item| item.trim()).filter(|item| !item.is_empty());
    let parsed: Option<Vec<T>> = items.map(parse).collect();
    fields.accept(field, parsed.ok_or_else(|| Invalid::new("must be ids")))
}

/// The times of a window: those that are sent, and otherwise those of `old`.
fn schedule(fields: &mut Fields, old: Option<&Schedule>) -> Option<Schedule> {
    let starts = fields.optional("starts", Start::parse).or(old.map(Schedule::starts));
    let starts = fields.require("starts", starts);
    let zone = fields.optional("time_zone", Zone::parse);
    let zone = zone.or_else(|| old.map(|old| old.zone().clone())).unwrap_or_else(Zone::utc);
    let rule = rule(fields, old);
    let except = match fields.optional_items("except", None) {
        Some(items) => {
            let items = items.iter().map(|item| item.trim()).filter(|item| !item.is_empty());
            let dates: Result<Vec<Date>, Invalid> = items.map(parse_date).collect();
            fields.accept("except", dates)
        }
        None => Some(old.map(|old| old.except().to_vec()).unwrap_or_default()),
    };
    let duration = fields.optional_number("duration", |seconds| match seconds {
        60..=31_622_400 => Ok(Duration::from_secs(seconds)),
        _ => Err(Invalid::new("must be from 60 to 31622400")),
    });
    let length = match starts {
        Some(starts) => length(fields, starts, &zone, duration, old),
        None => None,
    };
    let (starts, rule, except, length) = (starts?, rule?, except?, length?);
    match Schedule::new(starts, zone, length, rule, except) {
        Ok(schedule) => Some(schedule),
        Err(invalid) => {
            fields.refuse(invalid.field, invalid.reason.0);
            None
        }
    }
}

fn rule(fields: &mut Fields, old: Option<&Schedule>) -> Option<Rule> {
    let is_sent = |fields: &Fields, field| fields.is_filled(field);
    if is_sent(fields, "rrule") && is_sent(fields, "cron") {
        fields.refuse("cron", "must not be used together with rrule");
        return None;
    }
    if is_sent(fields, "rrule") {
        return fields.optional("rrule", Rrule::parse).map(Rule::Rrule);
    }
    if is_sent(fields, "cron") {
        return fields.optional("cron", Cron::parse).map(Rule::Cron);
    }
    // An empty text removes the rule.
    let removes = |field| fields.has(field);
    match old.map(Schedule::rule) {
        Some(Rule::Rrule(_)) if removes("rrule") => Some(Rule::Once),
        Some(Rule::Cron(_)) if removes("cron") => Some(Rule::Once),
        Some(rule) => Some(rule.clone()),
        None => Some(Rule::Once),
    }
}

/// How long an occurrence lasts: `None` if that is invalid, `Some(None)` until it is ended.
fn length(
    fields: &mut Fields,
    starts: Start,
    zone: &Zone,
    duration: Option<Duration>,
    old: Option<&Schedule>,
) -> Option<Option<Duration>> {
    if fields.has("duration") && duration.is_none() {
        return None;
    }
    if !fields.is_filled("ends") {
        let is_removed = fields.has("ends");
        let stored = old.filter(|_| !is_removed).and_then(Schedule::length);
        return Some(duration.or(stored));
    }
    let ends = fields.optional("ends", Start::parse)?;
    let length = ends.instant(zone).since(starts.instant(zone));
    if ends.instant(zone) <= starts.instant(zone) {
        fields.refuse("ends", "must be later than starts");
        return None;
    }
    if duration.is_some_and(|duration| duration != length) {
        fields.refuse("ends", "must not be used together with duration");
        return None;
    }
    Some(Some(length))
}

fn announce(fields: &mut Fields, old: Option<&Announce>) -> Option<Announce> {
    let old = old.cloned().unwrap_or_default();
    fields.within("announce", |fields| {
        let notifiers = ids(fields, "notifiers", "notifierid", NotifierId::parse);
        if notifiers.as_ref().is_some_and(|notifiers| notifiers.len() > MAX_NOTIFIERS) {
            fields.refuse("notifiers", format!("must be at most {MAX_NOTIFIERS} notifiers"));
        }
        let before = fields.optional_items_or_numbers("before");
        let before = match before {
            Some(items) => fields.accept("before", seconds_before(&items))?,
            None => old.before,
        };
        Some(Announce {
            notifiers: notifiers.unwrap_or(old.notifiers),
            before,
            start: fields.optional_flag("start").unwrap_or(old.start),
            end: fields.optional_flag("end").unwrap_or(old.end),
        })
    })
}

fn seconds_before(items: &[String]) -> Result<Vec<u32>, Invalid> {
    let invalid = || {
        Invalid::new(format!(
            "must be at most {MAX_ANNOUNCEMENTS} numbers of seconds from {MIN_BEFORE} to {}",
            MAX_BEFORE.as_secs()
        ))
    };
    let items = items.iter().map(|item| item.trim()).filter(|item| !item.is_empty());
    let range = MIN_BEFORE..=MAX_BEFORE.as_secs();
    let parse = |item: &str| item.parse::<u64>().ok().filter(|seconds| range.contains(seconds));
    let seconds: Option<Vec<u64>> = items.map(parse).collect();
    let seconds = seconds.filter(|seconds| seconds.len() <= MAX_ANNOUNCEMENTS);
    let mut seconds: Vec<u32> =
        seconds.ok_or_else(invalid)?.into_iter().filter_map(|one| one.try_into().ok()).collect();
    seconds.sort_unstable_by(|one, two| two.cmp(one));
    seconds.dedup();
    Ok(seconds)
}

/// A maintenance window.
#[derive(Serialize, ToSchema)]
#[schema(as = Maintenance)]
pub(crate) struct MaintenanceBody {
    #[schema(value_type = String, format = Uuid)]
    maintenanceid: MaintenanceId,
    name: String,
    description: String,
    isactive: bool,
    #[schema(value_type = Vec<String>)]
    monitors: Vec<MonitorId>,
    #[schema(value_type = Vec<String>)]
    groups: Vec<MonitorId>,
    tags: Vec<String>,
    all_tags: Vec<String>,
    everything: bool,
    /// The first start: local in `time_zone`, or a time in UTC if it was sent as one.
    starts: String,
    time_zone: String,
    /// The end of a window without a rule; null if it has none.
    #[schema(value_type = Option<String>, format = DateTime)]
    ends: Option<Millis>,
    /// Seconds that each occurrence lasts; null until it is ended.
    duration: Option<u64>,
    rrule: Option<String>,
    cron: Option<String>,
    /// Local dates on which it does not happen.
    except: Vec<String>,
    #[schema(value_type = MaintenanceChecks)]
    checks: &'static str,
    #[schema(value_type = MaintenanceCounts)]
    counts: &'static str,
    #[schema(value_type = MaintenanceAlerts)]
    alerts: &'static str,
    dependents: bool,
    /// Seconds that alerts stay suppressed after the end.
    grace: u64,
    announce: AnnounceBody,
    #[schema(value_type = MaintenanceStatus)]
    status: &'static str,
    /// The occurrence that is running; null if none is.
    current: Option<OccurrenceBody>,
    /// The next three occurrences.
    next: Vec<OccurrenceBody>,
    /// How many monitors are covered while it runs.
    monitors_covered: usize,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    #[schema(value_type = String, format = DateTime)]
    modified: Millis,
}

/// Who is notified of an occurrence, and when.
#[derive(Serialize, ToSchema)]
#[schema(as = MaintenanceAnnouncements)]
struct AnnounceBody {
    #[schema(value_type = Vec<String>)]
    notifiers: Vec<NotifierId>,
    /// Seconds before the start.
    before: Vec<u32>,
    start: bool,
    end: bool,
}

/// An occurrence of a window.
#[derive(Serialize, ToSchema)]
#[schema(as = MaintenanceOccurrence)]
pub(crate) struct OccurrenceBody {
    #[schema(value_type = String, format = DateTime)]
    from: Millis,
    /// Null until it is ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    to: Option<Millis>,
}

impl OccurrenceBody {
    fn of(span: &Span) -> Self {
        Self { from: span.from, to: span.end() }
    }
}

impl MaintenanceBody {
    pub(crate) fn of(view: WindowView) -> Self {
        let WindowView { window, status, current, next, monitors_covered } = view;
        let schedule = &window.schedule;
        let (rrule, cron) = match schedule.rule() {
            Rule::Once => (None, None),
            Rule::Rrule(rule) => (Some(rule.to_string()), None),
            Rule::Cron(rule) => (None, Some(rule.to_string())),
        };
        let ends = schedule.length().filter(|_| *schedule.rule() == Rule::Once);
        let parts = SelectorParts::from(window.selector);
        let texts = |tags: &Tags| tags.iter().map(str::to_owned).collect();
        Self {
            maintenanceid: window.id,
            name: window.name,
            description: window.description,
            isactive: window.isactive,
            tags: texts(&parts.tags),
            all_tags: texts(&parts.all_tags),
            monitors: parts.monitors,
            groups: parts.groups,
            everything: parts.everything,
            starts: start_text(schedule.starts()),
            time_zone: schedule.zone().name().to_owned(),
            ends: ends.map(|length| schedule.starts().instant(schedule.zone()).after(length)),
            duration: schedule.length().map(|length| length.as_secs()),
            rrule,
            cron,
            except: schedule.except().iter().map(ToString::to_string).collect(),
            checks: window.checks.as_str(),
            counts: window.counts.as_str(),
            alerts: window.alerts.as_str(),
            dependents: window.dependents,
            grace: window.grace.as_secs(),
            announce: AnnounceBody {
                notifiers: window.announce.notifiers,
                before: window.announce.before,
                start: window.announce.start,
                end: window.announce.end,
            },
            status: status.as_str(),
            current: current.as_ref().map(OccurrenceBody::of),
            next: next.iter().map(OccurrenceBody::of).collect(),
            monitors_covered,
            created: window.created,
            modified: window.modified,
        }
    }
}

/// Local times without seconds unless they have some.
fn start_text(starts: Start) -> String {
    match starts {
        Start::Instant(at) => at.to_string(),
        Start::Local(local) if local.second() == 0 => local.strftime("%Y-%m-%dT%H:%M").to_string(),
        Start::Local(local) => local.strftime("%Y-%m-%dT%H:%M:%S").to_string(),
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MaintenanceList {
    pub(crate) success: bool,
    pub(crate) maintenances: Vec<MaintenanceBody>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MaintenanceAnswer {
    success: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'static str,
    maintenance: MaintenanceBody,
}

impl MaintenanceAnswer {
    pub(crate) fn of(message: &'static str, view: WindowView) -> Self {
        Self { success: true, message, maintenance: MaintenanceBody::of(view) }
    }
}

/// A window with its next occurrences.
#[derive(Serialize, ToSchema)]
pub(crate) struct MaintenanceWhole {
    success: bool,
    maintenance: MaintenanceBody,
    /// The next ten, including the one that is running.
    occurrences: Vec<OccurrenceBody>,
}

impl MaintenanceWhole {
    pub(crate) fn of(view: WindowView, occurrences: &[Span]) -> Self {
        let occurrences = occurrences.iter().map(OccurrenceBody::of).collect();
        Self { success: true, maintenance: MaintenanceBody::of(view), occurrences }
    }
}

/// What a window would do.
#[derive(Serialize, ToSchema)]
pub(crate) struct MaintenanceTried {
    success: bool,
    /// The next 20; for a window that lies in the past, its own.
    occurrences: Vec<OccurrenceBody>,
    /// The monitors it would cover, at most 1000.
    monitors: Vec<CoveredMonitorBody>,
    monitors_covered: usize,
}

#[derive(Serialize, ToSchema)]
#[schema(as = MaintenanceMonitor)]
struct CoveredMonitorBody {
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    name: String,
}

impl MaintenanceTried {
    pub(crate) fn of(tried: TriedWindow) -> Self {
        let covered = tried
            .monitors
            .into_iter()
            .map(|(monitorid, name)| CoveredMonitorBody { monitorid, name });
        Self {
            success: true,
            occurrences: tried.occurrences.iter().map(OccurrenceBody::of).collect(),
            monitors: covered.collect(),
            monitors_covered: tried.monitors_covered,
        }
    }
}

/// The end of an extended occurrence.
#[derive(ToSchema)]
#[schema(as = ExtendMaintenance)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ExtendMaintenance {
    /// The new end: a local time in the zone of the window, or a time with an offset or Z.
    until: String,
}

pub(crate) fn until(fields: &mut Fields) -> Option<Start> {
    fields.parse("until", Start::parse)
}

pub(crate) fn parse_status(text: &str) -> Result<WindowStatus, Invalid> {
    let found = WindowStatus::ALL.iter().copied().find(|status| status.as_str() == text);
    found.ok_or_else(|| Invalid::new("must be one of scheduled, running, ended, inactive"))
}
