//! Routing: rules that say, for the monitors they select, who else is notified, by which policy
//! and how urgently. They are evaluated in order; every rule that matches applies, until one
//! stops the evaluation.

mod audited;

use serde::{Deserialize, Serialize};

use crate::alerting::alert::AlertKind;
use crate::calendar::hours::{self, DailyHours};
use crate::calendar::zone::Zone;
use crate::group::Reach;
use crate::id::{MonitorId, NotifierId, PolicyId};
use crate::monitors::Tags;
use crate::selector::Selector;
use crate::severity::Severity;
use crate::time::Millis;

/// The most rules of a team.
pub const MAX_RULES: usize = 200;
/// The most notifiers of a rule.
pub const MAX_NOTIFIERS: usize = 20;

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    pub name: String,
    pub selector: Selector,
    /// Only alerts of these severities; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub severities: Vec<Severity>,
    /// Only alerts of these kinds, by name; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<RuleHours>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notifiers: Vec<NotifierId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// The rules after it are not evaluated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
}

/// The local times at which a rule applies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredHours", into = "StoredHours")]
pub struct RuleHours {
    pub zone: Zone,
    pub hours: Vec<DailyHours>,
}

/// The alert that is routed.
#[derive(Clone, Copy, Debug)]
pub struct Routable<'a> {
    pub monitor: MonitorId,
    pub tags: &'a Tags,
    pub kind: AlertKind,
    pub severity: Severity,
}

/// What the rules that match say together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// The places of these rules.
    pub rules: Vec<usize>,
    /// In addition to the monitor's own.
    pub notifiers: Vec<NotifierId>,
    /// Instead of the monitor's own.
    pub policy: Option<PolicyId>,
    pub severity: Option<Severity>,
}

impl Rule {
    /// The same rule with the members of its groups, which are those at that time.
    #[must_use]
    pub fn resolved(self, reach: &mut Reach<'_>) -> Self {
        if self.selector.groups().is_empty() {
            return self;
        }
        let members = reach.of(&self.selector, false);
        Self { selector: self.selector.including(members), ..self }
    }

    fn matches(&self, alert: &Routable<'_>, now: Millis) -> bool {
        let is_severity = self.severities.is_empty() || self.severities.contains(&alert.severity);
        let is_kind =
            self.kinds.is_empty() || self.kinds.iter().any(|kind| kind == alert.kind.as_str());
        let is_now = || {
            let hours = self.hours.as_ref();
            hours.is_none_or(|one| hours::contains(&one.hours, &one.zone, now))
        };
        is_severity && is_kind && self.selector.selects(alert.monitor, alert.tags) && is_now()
    }
}

/// What the rules say about an alert. They match its own severity, whatever an earlier rule
/// has made of it.
pub fn route(rules: &[Rule], alert: &Routable<'_>, now: Millis) -> Route {
    let mut route = Route::default();
    for (place, rule) in rules.iter().enumerate() {
        if !rule.matches(alert, now) {
            continue;
        }
        route.rules.push(place);
        for notifier in &rule.notifiers {
            if !route.notifiers.contains(notifier) {
                route.notifiers.push(*notifier);
            }
        }
        route.policy = route.policy.or(rule.policy);
        route.severity = route.severity.or(rule.severity);
        if rule.stop {
            break;
        }
    }
    route
}

#[derive(Serialize, Deserialize)]
struct StoredHours {
    time_zone: String,
    hours: Vec<DailyHours>,
}

impl From<RuleHours> for StoredHours {
    fn from(hours: RuleHours) -> Self {
        Self { time_zone: hours.zone.name().to_owned(), hours: hours.hours }
    }
}

impl From<StoredHours> for RuleHours {
    fn from(stored: StoredHours) -> Self {
        Self { zone: Zone::stored(&stored.time_zone), hours: stored.hours }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::hours::{Day, TimeOfDay};
    use crate::selector::SelectorParts;
    use proptest::prelude::*;

    fn tags(text: &str) -> Tags {
        Tags::parse(text).expect("valid")
    }

    fn notifier(number: u8) -> NotifierId {
        NotifierId::new(Millis(0), [number; 10])
    }

    fn policy(number: u8) -> PolicyId {
        PolicyId::new(Millis(0), [number; 10])
    }

    fn rule(of: &str) -> Rule {
        let parts = SelectorParts { tags: tags(of), ..SelectorParts::default() };
        Rule {
            name: of.to_owned(),
            selector: Selector::new(parts).expect("valid"),
            severities: Vec::new(),
            kinds: Vec::new(),
            hours: None,
            notifiers: Vec::new(),
            policy: None,
            severity: None,
            stop: false,
        }
    }

    fn routed(rules: &[Rule], of: &str, severity: Severity, now: &str) -> Route {
        let tags = tags(of);
        let monitor = MonitorId::new(Millis(0), [1; 10]);
        let alert = Routable { monitor, tags: &tags, kind: AlertKind::Outage, severity };
        route(rules, &alert, Millis::parse(now).expect("a time"))
    }

    const NOON: &str = "2026-06-05T12:00:00Z";

    #[test]
    fn notifiers_accumulate_and_the_first_policy_and_severity_win() {
        let rules = [
            Rule { notifiers: vec![notifier(1)], policy: Some(policy(1)), ..rule("shop") },
            Rule {
                notifiers: vec![notifier(2), notifier(1)],
                policy: Some(policy(2)),
                severity: Some(Severity::Info),
                ..rule("shop*")
            },
            Rule { severity: Some(Severity::Warning), ..rule("shop") },
            Rule { notifiers: vec![notifier(9)], ..rule("lab") },
        ];
        let route = routed(&rules, "shop", Severity::Critical, NOON);
        assert_eq!(route.rules, [0, 1, 2]);
        assert_eq!(route.notifiers, [notifier(1), notifier(2)]);
        assert_eq!((route.policy, route.severity), (Some(policy(1)), Some(Severity::Info)));
    }

    #[test]
    fn a_rule_that_stops_ends_the_evaluation() {
        let rules = [Rule { stop: true, ..rule("lab") }, rule("lab"), rule("shop")];
        assert_eq!(routed(&rules, "lab,shop", Severity::Critical, NOON).rules, [0]);
        assert_eq!(routed(&rules, "shop", Severity::Critical, NOON).rules, [2]);
        assert_eq!(routed(&rules, "other", Severity::Critical, NOON), Route::default());
    }

    #[test]
    fn a_rule_is_limited_to_severities_kinds_and_hours() {
        let time = |text| TimeOfDay::parse(text).expect("a time");
        let office = RuleHours {
            zone: Zone::parse("Europe/Berlin").expect("a zone"),
            hours: vec![
                DailyHours::new(vec![Day::Friday], time("09:00"), time("17:00")).expect("valid"),
            ],
        };
        let rules = [
            Rule { severities: vec![Severity::Critical], ..rule("a") },
            Rule { kinds: vec!["certificate".to_owned()], ..rule("a") },
            Rule { hours: Some(office), ..rule("a") },
        ];
        assert_eq!(routed(&rules, "a", Severity::Critical, NOON).rules, [0, 2]);
        assert!(routed(&rules, "a", Severity::Warning, "2026-06-05T15:00:00Z").rules.is_empty());
    }

    #[test]
    fn rules_are_stored_and_read_again() {
        let rules = vec![
            Rule { severities: vec![Severity::Info], notifiers: vec![notifier(1)], ..rule("a") },
            Rule { policy: Some(policy(3)), stop: true, ..rule("b") },
        ];
        let text = serde_json::to_string(&rules).expect("plain data");
        assert_eq!(serde_json::from_str::<Vec<Rule>>(&text).expect("readable"), rules);
    }

    proptest! {
        #[test]
        fn the_order_of_the_parts_of_a_rule_does_not_matter(
            mut any in prop::collection::vec("[ab]{1,2}\\*?", 1..4),
            mut severities in prop::collection::vec(0..3_usize, 0..3),
            of_monitor in prop::collection::vec("[ab]{1,3}", 0..4),
            severity in 0..3_usize,
        ) {
            let result = |any: &[String], severities: &[usize]| {
                let severities = severities.iter().map(|at| Severity::ALL[*at]).collect();
                let rules = [Rule { severities, ..rule(&any.join(",")) }];
                routed(&rules, &of_monitor.join(","), Severity::ALL[severity], NOON)
            };
            let before = result(&any, &severities);
            any.reverse();
            severities.reverse();
            prop_assert_eq!(result(&any, &severities), before);
        }
    }
}
