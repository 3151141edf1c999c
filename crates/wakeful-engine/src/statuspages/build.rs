//! Builds the snapshot of a page from its settings, the states of its monitors, its incidents
//! and its figures.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use wakeful_core::access::permission;
use wakeful_core::id::{ComponentId, IncidentId, MonitorId, StatuspageId, TeamId};
use wakeful_core::monitors::Kind;
use wakeful_core::statuspages::Localized;
use wakeful_core::statuspages::component::{Component, MAX_TAGGED, Section};
use wakeful_core::statuspages::incident::{Incident, NamedComponent};
use wakeful_core::statuspages::page::{StatusPage, localized};
use wakeful_core::statuspages::snapshot::{
    self as shown, ComponentStatus, Days, Image, ImageKind, IncidentKind, MAX_OPEN_TEXT,
    MAX_PAST_TEXT, MAX_RECENT, Snapshot,
};
use wakeful_core::statuspages::status::{
    MonitorCounts, Said, StatusBasis, page_status, shown_status,
};
use wakeful_core::time::Millis;
use wakeful_core::verdict::Status;
use wakeful_store::ShownMonitor;

use super::figures::{Figures, MAX_HISTORIES, MAX_PREVIEW_HISTORIES, PastTracks};
use super::overlay::Basis;
use crate::caller::Authorized;
use crate::{Engine, Result};

/// A snapshot, and the monitors that it shows.
pub(super) struct Built {
    pub(super) snapshot: Snapshot,
    pub(super) monitors: Vec<MonitorId>,
    pub(super) basis: Basis,
}

/// The active monitors of each component. Components that show the monitors of one tag share them.
pub(super) struct PageMonitors(HashMap<ComponentId, Arc<[ShownMonitor]>>);

impl PageMonitors {
    pub(super) fn ids(&self) -> HashMap<ComponentId, Vec<MonitorId>> {
        let ids = |monitors: &Arc<[ShownMonitor]>| monitors.iter().map(|one| one.id).collect();
        self.0.iter().map(|(component, monitors)| (*component, ids(monitors))).collect()
    }

    /// The memory that they take.
    pub(super) fn bytes(&self) -> usize {
        let monitors: usize = self.0.values().map(|monitors| monitors.len()).sum();
        self.0.len() * size_of::<(ComponentId, Arc<[ShownMonitor]>)>()
            + monitors * size_of::<ShownMonitor>()
    }

    /// The type of the monitor of a component that has one only.
    fn only_kind(&self, component: ComponentId) -> Option<Kind> {
        match &self.0.get(&component)?[..] {
            [only] => Some(only.kind),
            _ => None,
        }
    }

    fn all(&self) -> Vec<MonitorId> {
        let shown = self.0.values().flat_map(|monitors| monitors.iter());
        let all: HashSet<MonitorId> = shown.map(|one| one.id).collect();
        all.into_iter().collect()
    }

    /// Those that are down.
    pub(super) fn down(&self, component: ComponentId) -> impl Iterator<Item = &ShownMonitor> {
        let monitors = self.0.get(&component).into_iter().flat_map(|monitors| monitors.iter());
        monitors.filter(|monitor| monitor.status == Status::Down)
    }

    /// The counts regardless of how long an outage has lasted, and since when fewer monitors are
    /// up than the component needs.
    pub(super) fn outage(&self, component: &Component, now: Millis) -> (MonitorCounts, Millis) {
        let counts = self.counts(component.id, 0, now);
        let spare = counts.known - component.settings.needs.of(counts.known);
        let mut since: Vec<Millis> =
            self.down(component.id).filter_map(|monitor| monitor.since).collect();
        since.sort_unstable();
        (counts, since.get(spare).copied().unwrap_or(now))
    }

    /// The same monitors with other states, where they are known.
    pub(super) fn with_states(
        &self,
        state: impl Fn(MonitorId) -> Option<(Status, Option<Millis>)>,
    ) -> Self {
        let current = |monitor: &ShownMonitor| match state(monitor.id) {
            Some((status, since)) => ShownMonitor { status, since, ..*monitor },
            None => *monitor,
        };
        let all = |monitors: &Arc<[ShownMonitor]>| monitors.iter().map(current).collect();
        Self(self.0.iter().map(|(component, monitors)| (*component, all(monitors))).collect())
    }

    /// A monitor counts as down once its outage has lasted long enough.
    pub(super) fn counts(
        &self,
        component: ComponentId,
        shown_after: u32,
        now: Millis,
    ) -> MonitorCounts {
        let mut counts = MonitorCounts::default();
        for monitor in self.0.get(&component).into_iter().flat_map(|monitors| monitors.iter()) {
            let lasted = monitor.since.map_or(u64::MAX, |since| now.since(since).as_secs());
            let is_up = match monitor.status {
                Status::Pending => continue,
                Status::Up => true,
                Status::Down => lasted < u64::from(shown_after),
            };
            counts.known += 1;
            counts.up += usize::from(is_up);
        }
        counts
    }
}

impl Engine {
    /// The snapshot of a page that was not saved, for a preview. An incident that was not saved
    /// replaces the stored one, and is returned as the page shows it.
    pub(super) async fn preview_snapshot(
        &self,
        _caller: &Authorized<permission::Edit>,
        page: &StatusPage,
        unsaved: Option<Incident>,
    ) -> Result<(Snapshot, Option<shown::Incident>)> {
        let now = self.now();
        let monitors = self.monitors_of(page).await?;
        let mut incidents = self.store().shown_incidents(page.id).await?;
        if let Some(unsaved) = &unsaved {
            replace_incident(&mut incidents, unsaved.clone());
        }
        let mut past = PastTracks::new();
        let (ids, max) = (monitors.ids(), MAX_PREVIEW_HISTORIES);
        let figures = self.page_figures(page, &ids, &incidents, &mut past, now, max).await?;
        let url = self.statuspage_url(page);
        let snapshot = assemble(page, url, &monitors, &incidents, &figures, now);
        let names = names_of(&snapshot);
        let unsaved = unsaved.map(|incident| shown_incident(page.id, &incident, &names));
        Ok((snapshot, unsaved))
    }

    /// Builds a page; `None` if it is gone. Its figures are those of `previous`, or else computed
    /// with `past`.
    pub(super) async fn build_snapshot(
        &self,
        page: StatuspageId,
        team: TeamId,
        previous: Option<&Snapshot>,
        past: &mut PastTracks,
    ) -> Result<Option<Built>> {
        let Some(stored) = self.store().shown_statuspage(page, team).await? else {
            return Ok(None);
        };
        let (page, now) = (stored.page, self.now());
        let monitors = self.monitors_of(&page).await?;
        let incidents = self.store().shown_incidents(page.id).await?;
        let figures = match previous {
            Some(previous) => previous.components().map(|one| (one.id, Figures::of(one))).collect(),
            None => {
                let (ids, max) = (monitors.ids(), MAX_HISTORIES);
                self.page_figures(&page, &ids, &incidents, past, now, max).await?
            }
        };
        let url = self.statuspage_url(&page);
        let snapshot = assemble(&page, url, &monitors, &incidents, &figures, now);
        let all = monitors.all();
        Ok(Some(Built { snapshot, monitors: all, basis: Basis::new(&page, monitors) }))
    }

    /// The past incidents of a page that began in a time: those that are too old for its
    /// snapshot.
    pub async fn past_incidents(
        &self,
        snapshot: &Snapshot,
        from: Millis,
        to: Millis,
    ) -> Result<Vec<shown::Incident>> {
        let page = snapshot.page.id;
        let found = self.store().past_incidents(page, from, to).await?;
        let names = names_of(snapshot);
        let past = found.iter().filter(|incident| !incident.is_open());
        Ok(past.map(|incident| shown_incident(page, incident, &names)).collect())
    }

    /// One of them.
    pub async fn past_incident(
        &self,
        snapshot: &Snapshot,
        id: IncidentId,
    ) -> Result<Option<shown::Incident>> {
        let page = snapshot.page.id;
        let found = self.store().past_incident(page, id).await?;
        Ok(found.map(|incident| shown_incident(page, &incident, &names_of(snapshot))))
    }

    /// The statuses that the components of a page are shown with.
    pub(super) async fn component_statuses(
        &self,
        page: &StatusPage,
    ) -> Result<HashMap<ComponentId, ComponentStatus>> {
        let monitors = self.monitors_of(page).await?;
        let incidents = self.store().shown_incidents(page.id).await?;
        let now = self.now();
        let status = |component: &Component| {
            (component.id, status_of(page, component, &monitors, &incidents, now))
        };
        Ok(page.components().map(status).collect())
    }

    pub(super) async fn monitors_of(&self, page: &StatusPage) -> Result<PageMonitors> {
        let named = page.monitors();
        let mut states: HashMap<MonitorId, ShownMonitor> = HashMap::new();
        if !named.is_empty() {
            let found = self.store().shown_monitors(page.team, &named).await?;
            states.extend(found.into_iter().map(|monitor| (monitor.id, monitor)));
        }
        let mut tagged: HashMap<&str, Arc<[ShownMonitor]>> = HashMap::new();
        for component in page.components().filter(|one| !one.tag.is_empty()) {
            let tag = component.tag.as_str();
            if !tagged.contains_key(tag) {
                let found = self.store().tagged_monitors(page.team, tag).await?;
                tagged.insert(tag, found.into_iter().take(MAX_TAGGED).collect());
            }
        }
        let of = |component: &Component| {
            let tagged = tagged.get(component.tag.as_str());
            if let Some(tagged) = tagged.filter(|_| component.monitors.is_empty()) {
                return (component.id, Arc::clone(tagged));
            }
            let named = component.monitors.iter().filter_map(|one| states.get(&one.id));
            let tagged = tagged.into_iter().flat_map(|monitors| monitors.iter());
            let mut monitors: Vec<ShownMonitor> = named.chain(tagged).copied().collect();
            monitors.sort_by_key(|monitor| monitor.id);
            monitors.dedup_by_key(|monitor| monitor.id);
            (component.id, monitors.into())
        };
        Ok(PageMonitors(page.components().map(of).collect()))
    }
}

fn status_of(
    page: &StatusPage,
    component: &Component,
    monitors: &PageMonitors,
    incidents: &[Incident],
    now: Millis,
) -> ComponentStatus {
    let counts = monitors.counts(component.id, page.settings.shown_after, now);
    let mut said = Said::default();
    for incident in incidents.iter().filter(|one| one.is_published() && one.is_open()) {
        let named = incident.components.iter().find(|one| one.id == component.id);
        let Some(named) = named else { continue };
        match incident.kind {
            IncidentKind::Incident => said.by_incidents = said.by_incidents.max(Some(named.status)),
            IncidentKind::Maintenance => said.in_maintenance |= incident.is_in_progress(),
        }
    }
    shown_status(&StatusBasis::of(component), counts, said, now)
}

fn assemble(
    page: &StatusPage,
    url: String,
    monitors: &PageMonitors,
    incidents: &[Incident],
    figures: &HashMap<ComponentId, Figures>,
    now: Millis,
) -> Snapshot {
    let zone = page.zone();
    let none = Figures::default();
    let component = |component: &Component| {
        let figures = figures.get(&component.id).unwrap_or(&none);
        let status = status_of(page, component, monitors, incidents, now);
        let kind = monitors.only_kind(component.id);
        shown_component(page, component, (status, kind), figures)
    };
    let section = |section: &Section| shown::Section {
        id: section.id,
        name: localized(&section.name, &section.settings.texts, "name"),
        description: localized(
            &section.settings.description,
            &section.settings.texts,
            "description",
        ),
        collapsed: section.settings.collapsed.unwrap_or(page.settings.display.collapsed),
        components: section.components.iter().map(component).collect(),
        created: page.created,
        modified: page.modified,
    };
    let sections: Vec<shown::Section> = page.sections.iter().map(section).collect();
    let names: HashMap<ComponentId, Localized> = sections
        .iter()
        .flat_map(|section| &section.components)
        .map(|component| (component.id, component.name.clone()))
        .collect();
    let published = || incidents.iter().filter(|incident| incident.is_published());
    let open =
        |kind| published().filter(move |incident| incident.kind == kind && incident.is_open());
    let show = |incident: &Incident| shown_incident(page.id, incident, &names);
    // What is open is always shown, but nobody fills the memory of a node with it.
    let mut left = MAX_OPEN_TEXT;
    let mut show_open = |incident: &Incident| {
        let shown = show(incident);
        let rest = left.checked_sub(shown.text_bytes());
        left = rest.unwrap_or(0);
        if rest.is_some() { shown } else { shown.shortened() }
    };
    let incidents_shown = open(IncidentKind::Incident).map(&mut show_open).collect();
    let mut planned: Vec<&Incident> = open(IncidentKind::Maintenance).collect();
    planned.sort_by_key(|incident| began(incident));
    let maintenances = planned.into_iter().map(show_open).collect();
    let ended = || published().filter(|incident| !incident.is_open());
    let (past, has_more_past) = newest_past(ended(), show);
    let statuses: Vec<ComponentStatus> =
        sections.iter().flat_map(|section| &section.components).map(|one| one.status).collect();
    let impacts: Vec<shown::Impact> = open(IncidentKind::Incident)
        .map(|incident| incident.impact)
        .chain(
            open(IncidentKind::Maintenance)
                .filter(|one| one.is_in_progress())
                .map(|one| one.impact),
        )
        .collect();
    Snapshot {
        page: shown_page(page, url),
        status: page_status(&statuses, &impacts),
        incidents: incidents_shown,
        maintenances,
        past,
        has_more_past,
        oldest_past: ended().map(began).min(),
        sections,
        today: zone.local(now).date(),
        as_of: now,
        revision: 0,
        delayed_since: None,
    }
}

/// The past incidents that a snapshot has, of all of them, and whether there may be more.
fn newest_past<'a>(
    all: impl Iterator<Item = &'a Incident>,
    show: impl Fn(&Incident) -> shown::Incident,
) -> (Vec<shown::Incident>, bool) {
    let mut newest: Vec<shown::Incident> = Vec::new();
    let mut bytes = 0;
    for incident in all {
        if newest.len() >= MAX_RECENT || bytes >= MAX_PAST_TEXT {
            return (newest, true);
        }
        let shown = show(incident);
        bytes += shown.text_bytes();
        newest.push(shown);
    }
    (newest, false)
}

/// When an incident began, or is planned to begin.
fn began(incident: &Incident) -> Millis {
    incident.settings.scheduled_for.unwrap_or(incident.started)
}

/// Replaces or adds an incident, newest first.
fn replace_incident(incidents: &mut Vec<Incident>, incident: Incident) {
    incidents.retain(|one| one.id != incident.id);
    incidents.push(incident);
    incidents.sort_by_key(|one| std::cmp::Reverse((one.started, one.id)));
}

fn names_of(snapshot: &Snapshot) -> HashMap<ComponentId, Localized> {
    snapshot.components().map(|component| (component.id, component.name.clone())).collect()
}

fn shown_page(page: &StatusPage, url: String) -> shown::Page {
    let settings = &page.settings;
    let image = |kind: ImageKind| {
        let found = page.images.iter().find(|image| image.kind == kind)?;
        Some(Image { hash: found.digest.clone(), media_type: found.media_type.clone() })
    };
    let link = |link: &wakeful_core::statuspages::page::Link| shown::Link {
        text: link.text.clone(),
        url: link.url.clone(),
    };
    shown::Page {
        id: page.id,
        slug: page.slug.clone(),
        url,
        name: localized(&page.name, &settings.texts, "name"),
        description: localized(&settings.description, &settings.texts, "description"),
        footer: localized(&settings.footer, &settings.texts, "footer"),
        language: settings.language,
        languages: settings.languages.clone(),
        timezone: settings.timezone.clone(),
        indexed: settings.indexed,
        appearance: shown::Appearance {
            scheme: settings.appearance.scheme,
            accent: settings.appearance.accent,
            layout: settings.appearance.layout,
            links: settings.appearance.links.iter().map(link).collect(),
            custom_css: settings.appearance.custom_css.clone(),
            powered_by: settings.appearance.powered_by,
            logo: image(ImageKind::Logo),
            logo_dark: image(ImageKind::LogoDark),
            favicon: image(ImageKind::Favicon),
        },
        display: shown::Display {
            history_days: u16::try_from(settings.display.history_days).unwrap_or(90),
            bars: settings.display.bars,
            uptime: settings.display.uptime,
            decimals: u8::try_from(settings.display.decimals).unwrap_or(3),
            incident_days: u16::try_from(settings.display.incident_days).unwrap_or(7),
        },
        feeds: settings.subscribe.feeds,
        embed_origins: settings.embed_origins.clone(),
        subscribe: shown::Subscribable {
            email: settings.subscribe.email,
            webhook: settings.subscribe.webhook,
            chat: settings.subscribe.chat,
            choose: settings.subscribe.choose,
        },
        created: page.created,
        modified: page.modified,
    }
}

fn shown_component(
    page: &StatusPage,
    component: &Component,
    (status, kind): (ComponentStatus, Option<Kind>),
    figures: &Figures,
) -> shown::Component {
    let (display, own) = (&page.settings.display, &component.settings.display);
    let settings = &component.settings;
    let text = |value: &str| (!value.is_empty()).then(|| value.to_owned());
    shown::Component {
        id: component.id,
        alias: text(&settings.alias),
        name: localized(component.shown_name(), &settings.texts, "name"),
        description: localized(&settings.description, &settings.texts, "description"),
        link: text(&settings.link),
        status,
        monitor: kind,
        only_show_if_degraded: settings.only_show_if_degraded,
        days: if display.bars { figures.days.clone() } else { Days::default() },
        uptime: own.uptime.unwrap_or(display.uptime).then_some(figures.uptime),
        response_times: own
            .response_time
            .unwrap_or(display.response_times)
            .then_some(figures.response_times),
        certificate_expires: figures.certificate_expires,
        since: figures.since,
        created: component.created,
        modified: page.modified,
    }
}

/// An incident with the components of one page only.
fn shown_incident(
    page: StatuspageId,
    incident: &Incident,
    names: &HashMap<ComponentId, Localized>,
) -> shown::Incident {
    let name = |id: ComponentId, stored: &str| match names.get(&id) {
        Some(name) => (Some(id), name.clone()),
        None => (None, Localized::from(stored)),
    };
    let settings = &incident.settings;
    let affected = |one: &NamedComponent| {
        let (id, name) = name(one.id, &one.name);
        shown::AffectedComponent { id, name, status: one.status }
    };
    let updates = incident.updates.iter().map(|update| shown::Update {
        id: update.id,
        status: update.status,
        body: localized(&update.body, &update.settings.texts, "body"),
        components: update
            .settings
            .components
            .iter()
            .filter(|change| change.page == page)
            .map(|change| {
                let (id, name) = name(change.id, &change.name);
                let (old_status, new_status) = (change.old_status, change.new_status);
                shown::ComponentChange { id, name, old_status, new_status }
            })
            .collect(),
        display_at: update.display_at,
        notify: update.settings.notify,
        edited: update.edited,
        created: update.created,
    });
    let postmortem = settings.postmortem.as_ref().and_then(|postmortem| {
        let published = postmortem.published?;
        Some(shown::Postmortem { body: Localized::from(postmortem.body.as_str()), published })
    });
    shown::Incident {
        id: incident.id,
        kind: incident.kind,
        title: localized(&incident.title, &settings.texts, "title"),
        status: incident.status,
        impact: incident.impact,
        started: incident.started,
        resolved: incident.resolved,
        scheduled_for: settings.scheduled_for,
        scheduled_until: settings.scheduled_until,
        cancelled: settings.cancelled,
        components: incident
            .components
            .iter()
            .filter(|one| one.page == page)
            .map(affected)
            .collect(),
        updates: updates.collect(),
        postmortem,
        is_short: false,
        created: incident.created,
        modified: incident.modified,
    }
}
