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
    /// Seconds in which outages join the open incident of the rule.
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

/// The open incident of a rule.
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
}

/// What a rule does now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleAction {
    /// The first outages: a new incident.
    Open(Vec<ComponentId>),
    /// Further components of the open incident.
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
/// components that are not in maintenance.
pub fn step(
    settings: &RuleSettings,
    outages: &[OpenOutage],
    open: Option<&OpenIncident>,
    now: Millis,
) -> Option<RuleAction> {
    let is_confirmed =
        |outage: &&OpenOutage| now.since(outage.since).as_secs() >= u64::from(settings.after);
    let confirmed: Vec<&OpenOutage> = outages.iter().filter(is_confirmed).collect();
    let Some(open) = open else {
        let components: Vec<ComponentId> = confirmed.iter().map(|one| one.component).collect();
        return (!components.is_empty()).then_some(RuleAction::Open(components));
    };
    let within = |outage: &&&OpenOutage| {
        let group = i64::from(settings.group) * 1_000;
        !open.components.contains(&outage.component) && outage.since.0 <= open.opened.0 + group
    };
    let joining: Vec<ComponentId> =
        confirmed.iter().filter(within).map(|outage| outage.component).collect();
    if !joining.is_empty() {
        return Some(RuleAction::Join(joining));
    }
    let is_down = outages.iter().any(|outage| open.components.contains(&outage.component));
    match open.recovered {
        None if is_down => None,
        None => match settings.on_recovery {
            OnRecovery::Monitor => Some(RuleAction::Recovered { post: true }),
            OnRecovery::Resolve => Some(RuleAction::Recovered { post: false }),
            OnRecovery::Leave => Some(RuleAction::Release),
        },
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

    fn incident(recovered: Option<i64>) -> OpenIncident {
        OpenIncident {
            id: IncidentId::UNKNOWN,
            opened: Millis(200_000),
            components: vec![component(1)],
            recovered: recovered.map(|at| Millis(at * 1_000)),
            monitored: false,
        }
    }

    #[test]
    fn a_rule_opens_joins_and_resolves() {
        use RuleAction::{Join, Open, Recovered, Relapsed, Release, Resolve};
        let default = RuleSettings::default();
        let with = |on_recovery| RuleSettings { on_recovery, ..RuleSettings::default() };
        let resolve = with(OnRecovery::Resolve);
        let leave = with(OnRecovery::Leave);
        for (settings, outages, open, now, expected) in [
            (&default, vec![], None, 500, None),
            (&default, vec![outage(1, 100)], None, 219, None),
            (&default, vec![outage(1, 100)], None, 220, Some(Open(vec![component(1)]))),
            (&default, vec![outage(1, 100)], Some(None), 220, None),
            (
                &default,
                vec![outage(1, 100), outage(2, 800)],
                Some(None),
                920,
                Some(Join(vec![component(2)])),
            ),
            (&default, vec![outage(1, 100), outage(2, 801)], Some(None), 999, None),
            (&default, vec![], Some(None), 300, Some(Recovered { post: true })),
            (&resolve, vec![], Some(None), 300, Some(Recovered { post: false })),
            (&leave, vec![], Some(None), 300, Some(Release)),
            (&default, vec![], Some(Some(300)), 599, None),
            (&default, vec![outage(1, 400)], Some(Some(300)), 401, Some(Relapsed)),
            (&default, vec![], Some(Some(300)), 600, Some(Resolve)),
            (&resolve, vec![], Some(Some(300)), 300, Some(Resolve)),
        ] {
            let open = open.map(incident);
            let now = Millis(now * 1_000);
            assert_eq!(step(settings, &outages, open.as_ref(), now), expected, "{now}");
        }
    }
}
