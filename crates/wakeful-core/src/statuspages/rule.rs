//! Rules: outages become incidents without a person. A step of a rule is a pure function.

use serde::{Deserialize, Serialize};

use super::snapshot::{Impact, text_enum};
use crate::id::{ComponentId, IncidentId, IncidentRuleId, IncidentTemplateId};
use crate::time::Millis;

pub const MAX_RULES: usize = 50;
pub const AFTER: std::ops::RangeInclusive<u32> = 30..=86_400;
pub const MAX_GROUP: u32 = 86_400;
pub const MAX_RESOLVE_AFTER: u32 = 86_400;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub id: IncidentRuleId,
    pub name: String,
    pub isactive: bool,
    pub settings: RuleSettings,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RuleSettings {
    /// Empty: all components of the page.
    pub components: Vec<ComponentId>,
    /// Seconds of confirmed outage.
    pub after: u32,
    pub mode: RuleMode,
    pub template: Option<IncidentTemplateId>,
    pub impact: Option<Impact>,
    /// Seconds in which outages join an open incident of the rule.
    pub group: u32,
    pub on_recovery: OnRecovery,
    /// Seconds without a new outage.
    pub resolve_after: u32,
    pub notify: bool,
    pub show_cause: bool,
}

impl Default for RuleSettings {
    fn default() -> Self {
        Self {
            components: Vec::new(),
            after: 120,
            mode: RuleMode::Draft,
            template: None,
            impact: None,
            group: 600,
            on_recovery: OnRecovery::Monitor,
            resolve_after: 300,
            notify: true,
            show_cause: false,
        }
    }
}

text_enum! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum RuleMode {
        /// A person publishes.
        #[default]
        Draft = "draft",
        Publish = "publish",
    }
}

text_enum! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum OnRecovery {
        /// Posts that the recovery is monitored, and resolves later.
        #[default]
        Monitor = "monitor",
        Resolve = "resolve",
        Leave = "leave",
    }
}

/// A component that is down by its monitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenOutage {
    pub component: ComponentId,
    pub since: Millis,
}

/// An incident that a rule has opened and still follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenIncident {
    pub id: IncidentId,
    #[serde(with = "crate::serde_millis::instant")]
    pub opened: Millis,
    pub components: Vec<ComponentId>,
    /// Since when no component is down.
    #[serde(with = "crate::serde_millis::maybe_instant")]
    pub recovered: Option<Millis>,
    /// Whether the recovery was posted.
    pub monitored: bool,
    /// Somebody has closed or deleted it: its outages open no other one.
    #[serde(skip)]
    pub is_closed: bool,
}

/// What a rule does now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleStep {
    /// Opens an incident about these components.
    Open(Vec<ComponentId>),
    /// Continues one that it has opened.
    Continue(IncidentId, RuleAction),
}

/// What a rule does with an incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleAction {
    /// Further components are down.
    Join(Vec<ComponentId>),
    /// All components work again; whether that is posted.
    Recovered {
        post: bool,
    },
    /// A component went down again after the recovery.
    Relapsed,
    Resolve,
    /// The incident is left to people from now on.
    Release,
}

/// The next step of a rule; `None` if there is nothing to do. `outages` are those of its
/// components that are not in maintenance. An outage joins the newest incident that it began soon
/// enough for, and otherwise opens another one.
pub fn step(
    settings: &RuleSettings,
    outages: &[OpenOutage],
    open: &[OpenIncident],
    now: Millis,
) -> Option<RuleStep> {
    let group = i64::from(settings.group) * 1_000;
    let is_confirmed =
        |outage: &&OpenOutage| now.since(outage.since).as_secs() >= u64::from(settings.after);
    let is_known = |outage: &OpenOutage| {
        open.iter().any(|incident| incident.components.contains(&outage.component))
    };
    let mut new: Vec<&OpenOutage> =
        outages.iter().filter(is_confirmed).filter(|outage| !is_known(outage)).collect();
    for incident in open.iter().rev().filter(|incident| !incident.is_closed) {
        let joins = |outage: &&OpenOutage| outage.since.0 <= incident.opened.0 + group;
        let (joining, rest): (Vec<&OpenOutage>, Vec<&OpenOutage>) =
            new.into_iter().partition(joins);
        if !joining.is_empty() {
            let components = joining.iter().map(|outage| outage.component).collect();
            return Some(RuleStep::Continue(incident.id, RuleAction::Join(components)));
        }
        new = rest;
    }
    if !new.is_empty() {
        return Some(RuleStep::Open(new.iter().map(|outage| outage.component).collect()));
    }
    open.iter().find_map(|incident| {
        let action = follow(settings, outages, incident, now)?;
        Some(RuleStep::Continue(incident.id, action))
    })
}

/// What follows from the outages of an incident.
fn follow(
    settings: &RuleSettings,
    outages: &[OpenOutage],
    incident: &OpenIncident,
    now: Millis,
) -> Option<RuleAction> {
    let is_down = outages.iter().any(|outage| incident.components.contains(&outage.component));
    if incident.is_closed {
        return (!is_down).then_some(RuleAction::Release);
    }
    match incident.recovered {
        None if is_down => None,
        None => Some(match settings.on_recovery {
            OnRecovery::Monitor => RuleAction::Recovered { post: true },
            OnRecovery::Resolve => RuleAction::Recovered { post: false },
            OnRecovery::Leave => RuleAction::Release,
        }),
        Some(_) if is_down => Some(RuleAction::Relapsed),
        Some(since) => {
            let wait = match settings.on_recovery {
                OnRecovery::Resolve => 0,
                _ => u64::from(settings.resolve_after),
            };
            (now.since(since).as_secs() >= wait).then_some(RuleAction::Resolve)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(number: u8) -> ComponentId {
        ComponentId::new(Millis(0), [number; 10])
    }

    fn outage(number: u8, since: i64) -> OpenOutage {
        OpenOutage { component: component(number), since: Millis(since * 1_000) }
    }

    fn id(number: u8) -> IncidentId {
        IncidentId::new(Millis(0), [number; 10])
    }

    /// Opened at 200, about the component of the same number.
    fn incident(number: u8, recovered: Option<i64>) -> OpenIncident {
        OpenIncident {
            id: id(number),
            opened: Millis(200_000),
            components: vec![component(number)],
            recovered: recovered.map(|at| Millis(at * 1_000)),
            monitored: false,
            is_closed: false,
        }
    }

    #[test]
    fn a_rule_opens_joins_and_resolves() {
        use RuleAction::{Join, Recovered, Relapsed, Release, Resolve};
        use RuleStep::{Continue, Open};
        let default = RuleSettings::default();
        let with = |on_recovery| RuleSettings { on_recovery, ..RuleSettings::default() };
        let resolve = with(OnRecovery::Resolve);
        let leave = with(OnRecovery::Leave);
        let does = |action| Some(Continue(id(1), action));
        let lasting = || vec![incident(1, None)];
        let over = || vec![incident(1, Some(300))];
        for (settings, outages, open, now, expected) in [
            (&default, vec![], vec![], 500, None),
            (&default, vec![outage(1, 100)], vec![], 219, None),
            (&default, vec![outage(1, 100)], vec![], 220, Some(Open(vec![component(1)]))),
            (&default, vec![outage(1, 100)], lasting(), 220, None),
            (
                &default,
                vec![outage(1, 100), outage(2, 800)],
                lasting(),
                920,
                does(Join(vec![component(2)])),
            ),
            (&default, vec![], lasting(), 300, does(Recovered { post: true })),
            (&resolve, vec![], lasting(), 300, does(Recovered { post: false })),
            (&leave, vec![], lasting(), 300, does(Release)),
            (&default, vec![], over(), 599, None),
            (&default, vec![outage(1, 400)], over(), 401, does(Relapsed)),
            (&default, vec![], over(), 600, does(Resolve)),
            (&resolve, vec![], over(), 300, does(Resolve)),
        ] {
            let now = Millis(now * 1_000);
            assert_eq!(step(settings, &outages, &open, now), expected, "{now}");
        }
    }

    #[test]
    fn an_outage_that_joins_no_open_incident_opens_another() {
        let settings = RuleSettings::default();
        let step = |outages: &[OpenOutage], open: &[OpenIncident], now: i64| {
            step(&settings, outages, open, Millis(now * 1_000))
        };
        let first = || incident(1, None);
        let second = || OpenIncident { opened: Millis(921_000), ..incident(2, None) };
        let closed = || OpenIncident { is_closed: true, ..first() };
        let opens = |number| Some(RuleStep::Open(vec![component(number)]));
        let does = |number, action| Some(RuleStep::Continue(id(number), action));
        let joins = |number, joining| does(number, RuleAction::Join(vec![component(joining)]));
        // It began after the time for joining, and is confirmed as any other.
        let late = [outage(1, 100), outage(2, 801)];
        assert_eq!(step(&late, &[first()], 920), None);
        assert_eq!(step(&late, &[first()], 921), opens(2));
        assert_eq!(step(&late, &[first(), second()], 922), None);
        // The newest incident that is possible.
        let three = |since| [outage(1, 100), outage(2, 801), outage(3, since)];
        assert_eq!(step(&three(1_521), &[first(), second()], 1_700), joins(2, 3));
        assert_eq!(step(&three(1_522), &[first(), second()], 1_700), opens(3));
        // Each has its own recovery.
        let recovered = RuleAction::Recovered { post: true };
        assert_eq!(step(&late[..1], &[first(), second()], 950), does(2, recovered.clone()));
        assert_eq!(step(&late[1..], &[first(), second()], 950), does(1, recovered));
        // What a person has closed is neither continued nor joined, nor opened again.
        assert_eq!(step(&[outage(1, 100)], &[closed()], 400), None);
        assert_eq!(step(&[outage(1, 100), outage(2, 300)], &[closed()], 420), opens(2));
        assert_eq!(step(&[], &[closed()], 420), does(1, RuleAction::Release));
    }
}
