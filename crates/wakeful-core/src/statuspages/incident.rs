//! Incidents and maintenance as a team writes them: their updates, and how one follows another.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::page::Texts;
use super::snapshot::{ComponentStatus, Impact, IncidentKind, IncidentStatus, text_enum};
use super::status;
use crate::audit::{Audited, View};
use crate::id::{
    ComponentId, IncidentId, IncidentRuleId, IncidentTemplateId, IncidentUpdateId, StatuspageId,
    TeamId,
};
use crate::time::Millis;

/// The most incidents of a team that have not ended.
pub const MAX_OPEN: usize = 1_000;
/// The most that a team stores of those that people write, and of those that rules do.
pub const MAX_STORED: usize = 5_000;
pub const MAX_UPDATES: usize = 200;
/// The most bytes of what is written about an incident, in all languages.
pub const MAX_TEXT: usize = 256 * 1024;
/// How much of both rules use: the rest is for people, who may have to say how it goes on.
pub const MAX_AUTOMATIC_UPDATES: usize = MAX_UPDATES / 2;
pub const MAX_AUTOMATIC_TEXT: usize = MAX_TEXT / 2;
pub const MAX_BODY: usize = 10_000;
pub const MAX_POSTMORTEM: usize = 50_000;
/// The most components, and pages, that an incident names.
pub const MAX_COMPONENTS: usize = 500;
pub const MAX_PAGES: usize = 100;
pub const MAX_REMINDERS: usize = 5;
pub const MAX_REMIND_HOURS: u32 = 24 * 30;
pub const MAX_TEMPLATES: usize = 200;

text_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum IncidentState {
        Draft = "draft",
        Published = "published",
        /// A draft of a rule whose outage ended.
        Discarded = "discarded",
    }
}

text_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum IncidentSource {
        Person = "person",
        Rule = "rule",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    pub id: IncidentId,
    pub team: TeamId,
    pub kind: IncidentKind,
    pub title: String,
    pub state: IncidentState,
    pub status: IncidentStatus,
    pub impact: Impact,
    pub settings: IncidentSettings,
    pub source: IncidentSource,
    pub rule: Option<IncidentRuleId>,
    pub started: Millis,
    pub resolved: Option<Millis>,
    pub components: Vec<NamedComponent>,
    /// The pages that it affects as a whole.
    pub pages: Vec<StatuspageId>,
    /// Newest first.
    pub updates: Vec<Update>,
    pub created: Millis,
    pub modified: Millis,
}

/// A component with the status that an incident gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedComponent {
    pub id: ComponentId,
    pub page: StatuspageId,
    /// As it was called; remains when the component is deleted.
    pub name: String,
    pub status: ComponentStatus,
}

/// The rest of an incident, stored as one JSON text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IncidentSettings {
    pub texts: Texts,
    pub impact_override: Option<Impact>,
    /// It was over when it was written: nobody is notified.
    pub backfilled: bool,
    #[serde(with = "crate::serde_millis::maybe_instant")]
    pub scheduled_for: Option<Millis>,
    #[serde(with = "crate::serde_millis::maybe_instant")]
    pub scheduled_until: Option<Millis>,
    pub auto_start: bool,
    pub auto_end: bool,
    pub remind_hours: Vec<u32>,
    /// A recurrence rule; empty: none.
    pub repeat: String,
    pub timezone: String,
    /// When subscribers were last reminded of it.
    #[serde(with = "crate::serde_millis::maybe_instant")]
    pub reminded: Option<Millis>,
    /// The next occurrence was created.
    pub repeated: bool,
    /// A maintenance that was completed before it began.
    pub cancelled: bool,
    pub postmortem: Option<Postmortem>,
    /// A person has written an update, so that its rule writes no more.
    pub by_person: bool,
}

impl Default for IncidentSettings {
    fn default() -> Self {
        Self {
            texts: Texts::new(),
            impact_override: None,
            backfilled: false,
            scheduled_for: None,
            scheduled_until: None,
            auto_start: true,
            auto_end: true,
            remind_hours: vec![24, 1],
            repeat: String::new(),
            timezone: "UTC".to_owned(),
            reminded: None,
            repeated: false,
            cancelled: false,
            postmortem: None,
            by_person: false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Postmortem {
    pub body: String,
    /// When it was published.
    #[serde(with = "crate::serde_millis::maybe_instant")]
    pub published: Option<Millis>,
    /// When subscribers were last to be notified of it.
    #[serde(default, with = "crate::serde_millis::maybe_instant")]
    pub announced: Option<Millis>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    pub id: IncidentUpdateId,
    pub status: IncidentStatus,
    pub body: String,
    pub settings: UpdateSettings,
    pub display_at: Millis,
    pub by_rule: bool,
    pub created: Millis,
    pub edited: Option<Millis>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateSettings {
    pub texts: Texts,
    pub components: Vec<StatusChange>,
    pub notify: bool,
}

/// A component whose status an update has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusChange {
    pub id: ComponentId,
    pub page: StatuspageId,
    pub name: String,
    pub old_status: ComponentStatus,
    pub new_status: ComponentStatus,
}

/// An update to post.
#[derive(Clone, Debug)]
pub struct NewUpdate {
    pub id: IncidentUpdateId,
    pub status: IncidentStatus,
    pub body: String,
    pub texts: Texts,
    /// The components that it names; the others retain their statuses.
    pub components: Vec<NamedComponent>,
    pub display_at: Millis,
    pub notify: bool,
    pub reopen: bool,
    pub by_rule: bool,
}

/// The update cannot follow the current status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

/// Whether a status may follow another.
pub fn may_follow(current: IncidentStatus, next: IncidentStatus, reopen: bool) -> bool {
    match current.kind() {
        IncidentKind::Incident => current != IncidentStatus::Resolved || next == current || reopen,
        // Only forward; steps may be skipped.
        IncidentKind::Maintenance => next >= current,
    }
}

impl Incident {
    pub fn is_open(&self) -> bool {
        !self.status.is_final()
    }

    pub fn is_published(&self) -> bool {
        self.state == IncidentState::Published
    }

    /// Whether a published maintenance is going on.
    pub fn is_in_progress(&self) -> bool {
        matches!(self.status, IncidentStatus::InProgress | IncidentStatus::Verifying)
    }

    /// All pages that show it.
    pub fn all_pages(&self) -> Vec<StatuspageId> {
        let of_components = self.components.iter().map(|component| component.page);
        let mut pages: Vec<StatuspageId> =
            self.pages.iter().copied().chain(of_components).collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// The bytes of what is written about it: titles, updates and the postmortem.
    pub fn text_bytes(&self) -> usize {
        let own = self.title.len() + texts_bytes(&self.settings.texts);
        let postmortem = self.settings.postmortem.as_ref().map_or(0, |one| one.body.len());
        let of = |update: &Update| update.body.len() + texts_bytes(&update.settings.texts);
        own + postmortem + self.updates.iter().map(of).sum::<usize>()
    }

    /// When a maintenance took or takes place; `None` if it has not begun, or was canceled.
    pub fn maintenance_span(&self, now: Millis) -> Option<(Millis, Millis)> {
        let has_begun = self.kind == IncidentKind::Maintenance
            && self.status != IncidentStatus::Scheduled
            && !self.settings.cancelled;
        has_begun.then(|| (self.started, self.resolved.unwrap_or(now)))
    }

    /// When each of its components had which status.
    pub fn statuses(
        &self,
        component: ComponentId,
        now: Millis,
    ) -> Vec<(Millis, Millis, ComponentStatus)> {
        let mut spans = Vec::new();
        let mut current: Option<(Millis, ComponentStatus)> = None;
        let changes = self.updates.iter().rev().flat_map(|update| {
            let of = update.settings.components.iter().filter(|one| one.id == component);
            of.map(|change| (update.display_at, change))
        });
        for (at, change) in changes {
            match current {
                Some((from, status)) => spans.push((from, at, status)),
                // An incident that was written when it was over.
                None if change.old_status > ComponentStatus::Operational => {
                    spans.push((self.started, at, change.old_status));
                }
                None => {}
            }
            // The first update describes the incident from its beginning.
            let from = if current.is_none() { self.started.min(at) } else { at };
            current = Some((from, change.new_status));
        }
        if let Some((from, status)) = current {
            spans.push((from, self.resolved.unwrap_or(now), status));
        }
        spans
    }

    /// Posts an update: changes the status, and those of components.
    pub fn post(&mut self, new: NewUpdate, now: Millis) -> Result<(), Closed> {
        if !may_follow(self.status, new.status, new.reopen) {
            return Err(Closed);
        }
        let was_scheduled = self.status == IncidentStatus::Scheduled;
        let is_first = self.updates.is_empty();
        let mut changes = Vec::new();
        for named in new.components {
            let known = self.components.iter_mut().find(|one| one.id == named.id);
            let old = known.as_ref().map(|one| one.status);
            let old_status = match old {
                Some(old) if !is_first => old,
                _ => ComponentStatus::Operational,
            };
            if old_status != named.status || is_first || old.is_none() {
                changes.push(change(&named, old_status, named.status));
            }
            match known {
                Some(known) => *known = named,
                None => self.components.push(named),
            }
        }
        if new.status.is_final() {
            for component in &mut self.components {
                if component.status != ComponentStatus::Operational {
                    let old = component.status;
                    component.status = ComponentStatus::Operational;
                    changes.retain(|one| one.id != component.id);
                    changes.push(change(component, old, ComponentStatus::Operational));
                }
            }
            self.resolved = self.resolved.or(Some(new.display_at));
            self.settings.cancelled |= was_scheduled;
        } else {
            self.resolved = None;
        }
        if was_scheduled && new.status != IncidentStatus::Scheduled {
            self.started = new.display_at;
        }
        self.status = new.status;
        self.settings.by_person |= !new.by_rule;
        let update = Update {
            id: new.id,
            status: new.status,
            body: new.body,
            settings: UpdateSettings { texts: new.texts, components: changes, notify: new.notify },
            display_at: new.display_at,
            by_rule: new.by_rule,
            created: now,
            edited: None,
        };
        let place = self.updates.partition_point(|one| one.display_at > update.display_at);
        self.updates.insert(place, update);
        self.derive_impact();
        Ok(())
    }

    /// Removes an update that is not the only one. The status, the impact and the statuses of
    /// components become those of the other updates; a status that was set apart from the updates
    /// stays.
    pub fn remove_update(&mut self, id: IncidentUpdateId) {
        let place = self.updates.iter().position(|one| one.id == id);
        let Some(place) = place.filter(|_| self.updates.len() > 1) else { return };
        let is_first = place + 1 == self.updates.len();
        let changes = self.updates[place].settings.components.clone();
        let said: Vec<Option<ComponentStatus>> =
            changes.iter().map(|change| self.last_said(change.id)).collect();
        let removed = self.updates.remove(place);
        for (change, before) in changes.iter().zip(said) {
            if is_first {
                self.begin_with(change);
            }
            let now = self.replay(change);
            let Some(place) = self.components.iter().position(|one| one.id == change.id) else {
                continue;
            };
            let is_last = self.components.len() == 1 && self.pages.is_empty();
            match now {
                _ if before != Some(self.components[place].status) => {}
                Some(status) => self.components[place].status = status,
                None if is_last => self.components[place].status = ComponentStatus::Operational,
                None => drop(self.components.remove(place)),
            }
        }
        self.status = self.updates[0].status;
        if self.status.is_final() {
            let ends = self.updates.iter().take_while(|update| update.status.is_final());
            let end = ends.last().map(|update| update.display_at);
            let was_end = |at: Millis| removed.status.is_final() && at == removed.display_at;
            self.resolved = self.resolved.filter(|at| !was_end(*at)).or(end);
            for component in &mut self.components {
                component.status = ComponentStatus::Operational;
            }
        } else {
            self.resolved = None;
            self.settings.cancelled = false;
        }
        if self.status == IncidentStatus::Scheduled {
            self.started = self.settings.scheduled_for.unwrap_or(self.started);
        }
        self.derive_impact();
    }

    /// The last status that the updates give to a component.
    fn last_said(&self, component: ComponentId) -> Option<ComponentStatus> {
        let mut said = self.updates.iter().flat_map(|update| &update.settings.components);
        said.find(|change| change.id == component).map(|change| change.new_status)
    }

    /// Makes the first update say what another said about a component when the incident began.
    fn begin_with(&mut self, began: &StatusChange) {
        let Some(first) = self.updates.last_mut() else { return };
        let changes = &mut first.settings.components;
        if changes.iter().any(|one| one.id == began.id) {
            return;
        }
        let status = match began.new_status {
            ComponentStatus::Operational => began.old_status,
            status => status,
        };
        let (old_status, new_status) = if first.status.is_final() {
            (status, ComponentStatus::Operational)
        } else {
            (ComponentStatus::Operational, status)
        };
        changes.push(StatusChange { old_status, new_status, ..began.clone() });
    }

    /// Makes each update follow the one before it in what it says about a component. Returns the
    /// last status, if any update names it.
    fn replay(&mut self, removed: &StatusChange) -> Option<ComponentStatus> {
        let mut current: Option<ComponentStatus> = None;
        for (place, update) in self.updates.iter_mut().rev().enumerate() {
            let is_final = update.status.is_final();
            let old_status = current.unwrap_or(ComponentStatus::Operational);
            let changes = &mut update.settings.components;
            match changes.iter().position(|one| one.id == removed.id) {
                // It describes an incident that was over.
                Some(at) if is_final && place == 0 => current = Some(changes[at].new_status),
                // There is nothing to withdraw.
                Some(at) if is_final && old_status == ComponentStatus::Operational => {
                    changes.remove(at);
                }
                Some(at) => {
                    changes[at].old_status = old_status;
                    current = Some(changes[at].new_status);
                }
                None if is_final && old_status != ComponentStatus::Operational => {
                    let new_status = ComponentStatus::Operational;
                    changes.push(StatusChange { old_status, new_status, ..removed.clone() });
                    current = Some(new_status);
                }
                None => {}
            }
        }
        current
    }

    /// The worst that it has said about a component, unless a user has set it.
    pub fn derive_impact(&mut self) {
        let said = self.updates.iter().flat_map(|update| &update.settings.components);
        let said = said.flat_map(|change| [change.old_status, change.new_status]);
        let derived = status::impact(said.chain(self.components.iter().map(|one| one.status)));
        self.impact = match (self.kind, self.settings.impact_override) {
            (IncidentKind::Maintenance, _) => Impact::Maintenance,
            (IncidentKind::Incident, Some(set)) => set,
            (IncidentKind::Incident, None) => derived,
        };
    }
}

fn texts_bytes(texts: &Texts) -> usize {
    texts.values().flat_map(BTreeMap::values).map(String::len).sum()
}

fn change(named: &NamedComponent, old: ComponentStatus, new: ComponentStatus) -> StatusChange {
    StatusChange {
        id: named.id,
        page: named.page,
        name: named.name.clone(),
        old_status: old,
        new_status: new,
    }
}

impl Audited for Incident {
    fn view(&self) -> View {
        let components: Vec<String> =
            self.components.iter().map(|one| format!("{}: {}", one.name, one.status)).collect();
        let pages: Vec<String> = self.pages.iter().map(ToString::to_string).collect();
        let time = |at: Option<Millis>| at.map(|at| at.to_string());
        let settings = &self.settings;
        View::default()
            .with("title", self.title.as_str())
            .with("kind", self.kind.as_str())
            .with("state", self.state.as_str())
            .with("status", self.status.as_str())
            .with("impact", self.impact.as_str())
            .with("components", components)
            .with("pageids", pages)
            .with("started", self.started.to_string())
            .with("resolved", time(self.resolved))
            .with("scheduled_for", time(settings.scheduled_for))
            .with("scheduled_until", time(settings.scheduled_until))
            .with("repeat", settings.repeat.as_str())
            .with("updates", self.updates.len())
            .with("postmortem", settings.postmortem.as_ref().map(|one| one.body.as_str()))
    }
}

/// A text to start an incident with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncidentTemplate {
    pub id: IncidentTemplateId,
    pub team: TeamId,
    pub name: String,
    pub settings: TemplateSettings,
    pub created: Millis,
    pub modified: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateSettings {
    pub kind: IncidentKind,
    pub title: String,
    pub body: String,
    pub status: Option<IncidentStatus>,
    pub impact: Option<Impact>,
    pub components: Vec<ComponentId>,
}

impl Audited for IncidentTemplate {
    fn view(&self) -> View {
        let settings = &self.settings;
        View::default()
            .with("name", self.name.as_str())
            .with("kind", settings.kind.as_str())
            .with("title", settings.title.as_str())
            .with("body", settings.body.as_str())
            .with("status", settings.status.map(super::snapshot::IncidentStatus::as_str))
            .with("impact", settings.impact.map(super::snapshot::Impact::as_str))
            .with(
                "components",
                settings.components.iter().map(ToString::to_string).collect::<Vec<_>>(),
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ComponentStatus::{MajorOutage, Operational, PartialOutage};
    use IncidentStatus::{
        Completed, Identified, InProgress, Investigating, Monitoring, Resolved, Scheduled,
        Verifying,
    };

    fn named(number: u8, status: ComponentStatus) -> NamedComponent {
        let id = ComponentId::new(Millis(0), [number; 10]);
        NamedComponent { id, page: StatuspageId::UNKNOWN, name: format!("c{number}"), status }
    }

    fn incident(status: IncidentStatus) -> Incident {
        Incident {
            id: IncidentId::UNKNOWN,
            team: TeamId::UNKNOWN,
            kind: status.kind(),
            title: "API down".to_owned(),
            state: IncidentState::Published,
            status,
            impact: Impact::None,
            settings: IncidentSettings::default(),
            source: IncidentSource::Person,
            rule: None,
            started: Millis(100),
            resolved: None,
            components: Vec::new(),
            pages: Vec::new(),
            updates: Vec::new(),
            created: Millis(100),
            modified: Millis(100),
        }
    }

    fn update(at: i64, status: IncidentStatus, components: &[NamedComponent]) -> NewUpdate {
        NewUpdate {
            id: IncidentUpdateId::UNKNOWN,
            status,
            body: "…".to_owned(),
            texts: Texts::new(),
            components: components.to_vec(),
            display_at: Millis(at),
            notify: true,
            reopen: false,
            by_rule: false,
        }
    }

    #[test]
    fn statuses_follow_each_other_as_documented() {
        for (current, next, reopen, allowed) in [
            (Investigating, Monitoring, false, true),
            (Monitoring, Investigating, false, true),
            (Identified, Resolved, false, true),
            (Resolved, Monitoring, false, false),
            (Resolved, Resolved, false, true),
            (Resolved, Investigating, true, true),
            (Scheduled, Completed, false, true),
            (Scheduled, InProgress, false, true),
            (Verifying, InProgress, false, false),
            (Completed, Completed, false, true),
            (Completed, InProgress, true, false),
        ] {
            assert_eq!(may_follow(current, next, reopen), allowed, "{current} {next}");
        }
    }

    #[test]
    fn resolving_withdraws_the_statuses_and_keeps_the_impact() {
        let mut one = incident(Investigating);
        let (api, web) = (named(1, MajorOutage), named(2, PartialOutage));
        one.post(update(100, Investigating, std::slice::from_ref(&api)), Millis(100)).unwrap();
        one.post(update(200, Identified, std::slice::from_ref(&web)), Millis(200)).unwrap();
        assert_eq!(one.impact, Impact::Critical);
        one.post(update(300, Resolved, &[]), Millis(300)).unwrap();
        assert_eq!((one.resolved, one.impact), (Some(Millis(300)), Impact::Critical));
        assert!(one.components.iter().all(|one| one.status == Operational));
        assert_eq!(one.updates[0].settings.components.len(), 2);
        assert_eq!(one.statuses(api.id, Millis(999))[0], (Millis(100), Millis(300), MajorOutage));
        assert_eq!(one.statuses(web.id, Millis(999))[0].2, PartialOutage);
        assert_eq!(one.post(update(400, Monitoring, &[]), Millis(400)), Err(Closed));
        one.post(NewUpdate { reopen: true, ..update(400, Monitoring, &[]) }, Millis(400)).unwrap();
        assert_eq!(one.resolved, None);
    }

    /// An incident about the API, then about the website, that was resolved.
    fn resolved() -> Incident {
        let mut one = incident(Investigating);
        let posts = [
            (1, Investigating, vec![named(1, PartialOutage)]),
            (2, Identified, vec![named(1, MajorOutage), named(2, PartialOutage)]),
            (3, Resolved, Vec::new()),
        ];
        for (number, status, components) in posts {
            let at = i64::from(number) * 100;
            let id = IncidentUpdateId::new(Millis(at), [number; 10]);
            let new = NewUpdate { id, ..update(at, status, &components) };
            one.post(new, Millis(at)).unwrap();
        }
        one
    }

    fn remove(one: &mut Incident, number: u8) {
        one.remove_update(IncidentUpdateId::new(Millis(i64::from(number) * 100), [number; 10]));
    }

    fn statuses(one: &Incident) -> Vec<(&str, ComponentStatus)> {
        one.components.iter().map(|one| (one.name.as_str(), one.status)).collect()
    }

    #[test]
    fn without_an_update_an_incident_is_what_the_others_say() {
        // The end: it is open again.
        let mut one = resolved();
        remove(&mut one, 3);
        assert_eq!((one.status, one.resolved, one.impact), (Identified, None, Impact::Critical));
        assert_eq!(statuses(&one), [("c1", MajorOutage), ("c2", PartialOutage)]);
        // Then the newest: what only it has named is not affected.
        remove(&mut one, 2);
        assert_eq!((one.status, one.impact), (Investigating, Impact::Major));
        assert_eq!(statuses(&one), [("c1", PartialOutage)]);

        // One before the end.
        let mut one = resolved();
        remove(&mut one, 2);
        assert_eq!((one.status, one.resolved), (Resolved, Some(Millis(300))));
        assert_eq!((one.impact, statuses(&one)), (Impact::Major, vec![("c1", Operational)]));
        let changes = &one.updates[0].settings.components;
        assert_eq!(changes.len(), 1);
        assert_eq!((changes[0].old_status, changes[0].new_status), (PartialOutage, Operational));

        // The first one: what it has named is affected from the beginning all the same.
        let mut one = resolved();
        remove(&mut one, 2);
        remove(&mut one, 1);
        assert_eq!((one.impact, statuses(&one)), (Impact::Major, vec![("c1", Operational)]));
        let id = one.components[0].id;
        assert_eq!(one.statuses(id, Millis(999))[0], (Millis(100), Millis(300), PartialOutage));
    }

    #[test]
    fn without_its_end_an_incident_ends_with_what_follows_it() {
        let mut one = resolved();
        let again = IncidentUpdateId::new(Millis(400), [4; 10]);
        one.post(NewUpdate { id: again, ..update(400, Resolved, &[]) }, Millis(400)).unwrap();
        assert_eq!(one.resolved, Some(Millis(300)));
        remove(&mut one, 3);
        assert_eq!((one.status, one.resolved), (Resolved, Some(Millis(400))));
        assert_eq!(statuses(&one), [("c1", Operational), ("c2", Operational)]);
        assert_eq!(one.updates[0].settings.components.len(), 2);
        // An incident that was opened again is over again.
        let reopened = IncidentUpdateId::new(Millis(500), [5; 10]);
        let new = NewUpdate { id: reopened, reopen: true, ..update(500, Monitoring, &[]) };
        one.post(new, Millis(500)).unwrap();
        assert_eq!(one.resolved, None);
        remove(&mut one, 5);
        assert_eq!((one.status, one.resolved), (Resolved, Some(Millis(400))));
    }

    #[test]
    fn a_status_that_was_set_apart_from_the_updates_stays() {
        let mut one = resolved();
        remove(&mut one, 3);
        one.components[0].status = ComponentStatus::DegradedPerformance;
        remove(&mut one, 2);
        assert_eq!(statuses(&one), [("c1", ComponentStatus::DegradedPerformance)]);
    }

    #[test]
    fn a_maintenance_that_is_completed_before_it_begins_is_canceled() {
        let mut one = incident(Scheduled);
        one.post(update(100, Scheduled, &[]), Millis(100)).unwrap();
        assert_eq!(one.maintenance_span(Millis(500)), None);
        let mut begun = one.clone();
        begun.post(update(200, InProgress, &[]), Millis(200)).unwrap();
        assert_eq!(begun.maintenance_span(Millis(500)), Some((Millis(200), Millis(500))));
        assert!(!begun.settings.cancelled);
        // When it began stays known without the update that said so.
        begun.post(update(300, Completed, &[]), Millis(300)).unwrap();
        remove(&mut begun, 2);
        assert_eq!(begun.maintenance_span(Millis(500)), Some((Millis(200), Millis(300))));
        one.post(update(200, Completed, &[]), Millis(200)).unwrap();
        assert!(one.settings.cancelled);
        assert_eq!(one.maintenance_span(Millis(500)), None);
    }
}
