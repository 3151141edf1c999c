//! What a page shows while the database is unavailable: its last snapshot, with the statuses
//! that this node's own checks find.

use std::time::Duration;
use wakeful_core::id::ComponentId;
use wakeful_core::statuspages::page::StatusPage;
use wakeful_core::statuspages::snapshot::{
    self as shown, ComponentStatus, IncidentKind, IncidentStatus, Snapshot,
};
use wakeful_core::statuspages::status::{Said, StatusBasis, page_status, shown_status};
use wakeful_core::time::Millis;

use super::build::PageMonitors;
use crate::Engine;

/// What the statuses of a page follow from, besides its incidents.
pub(super) struct Basis {
    shown_after: u32,
    components: Vec<(ComponentId, StatusBasis)>,
    monitors: PageMonitors,
}

impl Basis {
    pub(super) fn new(page: &StatusPage, monitors: PageMonitors) -> Self {
        let components = page.components().map(|one| (one.id, StatusBasis::of(one))).collect();
        Self { shown_after: page.settings.shown_after, components, monitors }
    }

    /// When time alone changes a status next: an override ends, or an outage has lasted long
    /// enough to be shown.
    pub(super) fn next_change(&self, now: Millis) -> Option<Millis> {
        let ends = self.components.iter().filter_map(|(_, basis)| basis.override_until());
        let shown_after = Duration::from_secs(u64::from(self.shown_after));
        let shown = self.components.iter().flat_map(|(id, _)| self.monitors.down(*id));
        let shown = shown.filter_map(|monitor| Some(monitor.since?.after(shown_after)));
        ends.chain(shown).filter(|at| *at > now).min()
    }

    /// The memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.components.len() * size_of::<(ComponentId, StatusBasis)>() + self.monitors.bytes()
    }
}

impl Engine {
    /// The last snapshot of a page with current statuses.
    pub(super) fn overlay(&self, basis: &Basis, before: &Snapshot, since: Millis) -> Snapshot {
        let now = self.now();
        let monitors = basis.monitors.with_states(|monitor| self.scheduler().status(monitor));
        let mut snapshot = Snapshot { delayed_since: Some(since), ..before.clone() };
        let components = snapshot.sections.iter_mut().flat_map(|section| &mut section.components);
        for component in components {
            let known = basis.components.iter().find(|(id, _)| *id == component.id);
            let Some((_, known)) = known else { continue };
            let counts = monitors.counts(component.id, basis.shown_after, now);
            component.status = shown_status(known, counts, said(before, component.id), now);
        }
        let statuses: Vec<ComponentStatus> = snapshot.components().map(|one| one.status).collect();
        let running = snapshot.maintenances.iter().filter(|one| is_running(one));
        let impacts: Vec<shown::Impact> =
            snapshot.incidents.iter().chain(running).map(|one| one.impact).collect();
        snapshot.status = page_status(&statuses, &impacts);
        snapshot
    }
}

/// What the incidents of a snapshot say about a component.
fn said(snapshot: &Snapshot, component: ComponentId) -> Said {
    let mut said = Said::default();
    for incident in snapshot.incidents.iter().chain(&snapshot.maintenances) {
        let named = incident.components.iter().find(|one| one.id == Some(component));
        let Some(named) = named else { continue };
        match incident.kind {
            IncidentKind::Incident => said.by_incidents = said.by_incidents.max(Some(named.status)),
            IncidentKind::Maintenance => said.in_maintenance |= is_running(incident),
        }
    }
    said
}

fn is_running(incident: &shown::Incident) -> bool {
    matches!(incident.status, IncidentStatus::InProgress | IncidentStatus::Verifying)
}
