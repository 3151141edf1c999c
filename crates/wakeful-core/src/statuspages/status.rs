//! The status of components, incidents and pages, as pure functions.

use super::component::{Component, Needs};
use super::snapshot::{ComponentStatus, Impact, Indicator, PageStatus};
use crate::time::Millis;

/// What the monitors of a component are doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MonitorCounts {
    pub up: usize,
    /// Up or down; those without a status are left out.
    pub known: usize,
}

impl MonitorCounts {
    pub fn status(self, needs: Needs) -> ComponentStatus {
        let needs = needs.of(self.known);
        match self.up {
            _ if self.known == 0 => ComponentStatus::Unknown,
            up if up == self.known => ComponentStatus::Operational,
            up if up >= needs && up > 0 => ComponentStatus::DegradedPerformance,
            0 => ComponentStatus::MajorOutage,
            _ => ComponentStatus::PartialOutage,
        }
    }
}

/// What incidents say about a component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The worst status of the open, published incidents that name it.
    pub by_incidents: Option<ComponentStatus>,
    /// A published maintenance that names it is in progress or verifying.
    pub in_maintenance: bool,
}

/// What the status of a component follows from, besides its monitors and incidents.
#[derive(Clone, Copy, Debug)]
pub struct StatusBasis {
    has_monitors: bool,
    needs: Needs,
    own_status: ComponentStatus,
    /// What a user has set, and until when.
    status_override: Option<(ComponentStatus, Option<Millis>)>,
}

impl StatusBasis {
    pub fn of(component: &Component) -> Self {
        let set = component.status_override.as_ref();
        Self {
            has_monitors: component.has_monitors(),
            needs: component.settings.needs,
            own_status: component.settings.own_status,
            status_override: set.map(|set| (set.status, set.until)),
        }
    }

    /// When what a user has set ends.
    pub fn override_until(&self) -> Option<Millis> {
        self.status_override?.1
    }
}

/// The status that a component is shown with.
pub fn shown_status(
    basis: &StatusBasis,
    counts: MonitorCounts,
    said: Said,
    now: Millis,
) -> ComponentStatus {
    if let Some((status, until)) = basis.status_override
        && until.is_none_or(|until| now < until)
    {
        return status;
    }
    if let Some(status) = said.by_incidents.filter(|status| *status > ComponentStatus::Operational)
    {
        return status;
    }
    if said.in_maintenance {
        return ComponentStatus::UnderMaintenance;
    }
    if basis.has_monitors { counts.status(basis.needs) } else { basis.own_status }
}

/// The status of a page, from the statuses of its components and the impacts of its open
/// incidents.
pub fn page_status(components: &[ComponentStatus], impacts: &[Impact]) -> PageStatus {
    let count = |status| components.iter().filter(|one| **one == status).count();
    let known = components.len() - count(ComponentStatus::Unknown);
    let major = count(ComponentStatus::MajorOutage);
    let by_components = if known > 0 && major * 2 >= known {
        Indicator::Critical
    } else if major > 0 || count(ComponentStatus::PartialOutage) > 0 {
        Indicator::Major
    } else if count(ComponentStatus::DegradedPerformance) > 0 {
        Indicator::Minor
    } else if count(ComponentStatus::UnderMaintenance) > 0 {
        Indicator::Maintenance
    } else {
        Indicator::None
    };
    let by_impacts = impacts.iter().map(|impact| indicator_of(*impact)).max();
    let by_impacts = by_impacts.unwrap_or(Indicator::None);
    PageStatus {
        indicator: by_components.max(by_impacts),
        by_incident: by_impacts == Indicator::Minor && by_components < Indicator::Minor,
        no_data: known == 0 && impacts.is_empty(),
    }
}

fn indicator_of(impact: Impact) -> Indicator {
    match impact {
        Impact::None => Indicator::None,
        Impact::Maintenance => Indicator::Maintenance,
        Impact::Minor => Indicator::Minor,
        Impact::Major => Indicator::Major,
        Impact::Critical => Indicator::Critical,
    }
}

/// The impact of an incident, from the statuses that it gives to components.
pub fn impact(statuses: impl IntoIterator<Item = ComponentStatus>) -> Impact {
    match statuses.into_iter().max() {
        Some(ComponentStatus::MajorOutage) => Impact::Critical,
        Some(ComponentStatus::PartialOutage) => Impact::Major,
        Some(ComponentStatus::DegradedPerformance) => Impact::Minor,
        _ => Impact::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ComponentId;
    use crate::statuspages::component::{ComponentMonitor, ComponentSettings, Override};

    use ComponentStatus::{
        DegradedPerformance as Degraded, MajorOutage as Major, Operational as Fine,
        PartialOutage as Partial, UnderMaintenance as Maintenance, Unknown,
    };

    #[test]
    fn the_status_of_monitors_depends_on_how_many_are_needed() {
        for (up, known, needs, expected) in [
            (0, 0, Needs::All, Unknown),
            (3, 3, Needs::All, Fine),
            (2, 3, Needs::All, Partial),
            (0, 3, Needs::All, Major),
            (1, 3, Needs::Any, Degraded),
            (0, 3, Needs::Any, Major),
            (2, 3, Needs::Count(2), Degraded),
            (1, 3, Needs::Count(2), Partial),
            (1, 2, Needs::Count(9), Partial),
            (2, 2, Needs::Count(9), Fine),
            (0, 1, Needs::All, Major),
        ] {
            let counts = MonitorCounts { up, known };
            assert_eq!(counts.status(needs), expected, "{up} of {known}, {needs}");
        }
    }

    fn component(monitors: usize) -> Component {
        let id = |n: usize| crate::id::MonitorId::new(Millis(n as i64), [0; 10]);
        Component {
            id: ComponentId::UNKNOWN,
            name: "API".to_owned(),
            monitors: (0..monitors)
                .map(|n| ComponentMonitor { id: id(n), name: String::new() })
                .collect(),
            tag: String::new(),
            settings: ComponentSettings::default(),
            status_override: None,
            created: Millis(0),
        }
    }

    #[test]
    fn people_decide_before_monitors() {
        let (now, down) = (Millis(1_000), MonitorCounts { up: 0, known: 2 });
        let said = |by_incidents, in_maintenance| Said { by_incidents, in_maintenance };
        let shown = |component: &Component, counts, said, now| {
            shown_status(&StatusBasis::of(component), counts, said, now)
        };
        let mut one = component(2);
        assert_eq!(shown(&one, down, Said::default(), now), Major);
        assert_eq!(shown(&one, down, said(None, true), now), Maintenance);
        assert_eq!(shown(&one, down, said(Some(Degraded), true), now), Degraded);
        assert_eq!(shown(&one, down, said(Some(Fine), false), now), Major);
        one.status_override =
            Some(Override { status: Fine, until: Some(Millis(1_001)), note: String::new() });
        assert_eq!(shown(&one, down, said(Some(Major), true), now), Fine);
        assert_eq!(shown(&one, down, Said::default(), Millis(1_001)), Major);
        let mut manual = component(0);
        manual.settings.own_status = Partial;
        assert_eq!(shown(&manual, MonitorCounts::default(), Said::default(), now), Partial);
    }

    #[test]
    fn the_status_of_a_page_is_its_worst() {
        for (components, impacts, expected) in [
            (&[][..], &[][..], Indicator::None),
            (&[Unknown, Unknown], &[], Indicator::None),
            (&[Fine, Fine, Unknown], &[], Indicator::None),
            (&[Fine, Maintenance], &[], Indicator::Maintenance),
            (&[Fine, Maintenance, Degraded], &[], Indicator::Minor),
            (&[Fine, Fine, Partial], &[], Indicator::Major),
            (&[Fine, Fine, Major], &[], Indicator::Major),
            (&[Fine, Major, Unknown], &[], Indicator::Critical),
            (&[Fine, Fine], &[Impact::Minor], Indicator::Minor),
            (&[Fine, Fine], &[Impact::None], Indicator::None),
            (&[Fine, Degraded], &[Impact::Critical, Impact::Minor], Indicator::Critical),
        ] {
            let status = page_status(components, impacts);
            assert_eq!(status.indicator, expected, "{components:?} {impacts:?}");
        }
        assert!(page_status(&[Fine], &[Impact::Minor]).by_incident);
        assert!(!page_status(&[Degraded], &[Impact::Minor]).by_incident);
        assert!(page_status(&[Unknown], &[]).no_data);
        assert!(!page_status(&[Unknown], &[Impact::Minor]).no_data);
    }

    #[test]
    fn the_impact_follows_from_the_worst_component() {
        assert_eq!(impact([]), Impact::None);
        assert_eq!(impact([Fine, Maintenance]), Impact::None);
        assert_eq!(impact([Fine, Degraded]), Impact::Minor);
        assert_eq!(impact([Partial, Degraded]), Impact::Major);
        assert_eq!(impact([Partial, Major]), Impact::Critical);
    }
}
