//! Routing rules as they are saved and returned.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;
use wakeful_core::Invalid;
use wakeful_core::alerting::alert::AlertKind as Kind;
use wakeful_core::alerting::state::Suppressed;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::id::{MonitorId, NotifierId, PolicyId};
use wakeful_core::monitors::{Name, Tags};
use wakeful_core::routing::{MAX_NOTIFIERS, MAX_RULES, Rule, RuleHours};
use wakeful_core::selector::SelectorParts;
use wakeful_core::severity::Severity as SeverityName;
use wakeful_core::time::Millis;
use wakeful_engine::{Routing, TriedMessage, TriedRouting};

use super::enums::{AlertKind, Severity, SuppressionReason};
use super::fields::{Fields, FromFields};
use super::hours::{HoursBody, SaveHours, hours};
use super::maintenances::selector;
use super::monitors::request::{TextOrList, notifiers};

/// The routing rules of the team, all of them.
#[derive(ToSchema)]
#[schema(as = SaveRouting)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveRouting {
    #[schema(max_items = 200)]
    rules: Vec<SaveRule>,
    /// The revision that the rules are based on; with another one, nothing is saved.
    revision: Option<i64>,
}

/// A routing rule. At least one of `monitors`, `tags`, `all_tags` and `everything` selects
/// monitors.
#[derive(ToSchema)]
#[schema(as = SaveRule)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveRule {
    #[schema(min_length = 1, max_length = 255)]
    name: String,
    /// The ids of monitors.
    monitors: Option<TextOrList>,
    /// The ids of group monitors, whose members are selected.
    groups: Option<TextOrList>,
    /// Monitors with any of these tags. A tag may end in `*`.
    tags: Option<TextOrList>,
    /// Monitors with all of these tags.
    all_tags: Option<TextOrList>,
    everything: Option<bool>,
    /// Only alerts of these severities; omitted or empty: all.
    #[schema(value_type = Option<Vec<Severity>>)]
    severities: (),
    /// Only alerts of these kinds; omitted or empty: all.
    #[schema(value_type = Option<Vec<AlertKind>>)]
    kinds: (),
    /// Only at these local times; omitted or empty: always.
    #[schema(max_items = 14)]
    hours: Option<Vec<SaveHours>>,
    /// The time zone of `hours`. Default: UTC.
    time_zone: Option<String>,
    /// The ids of notifiers that are notified in addition to those of the monitor.
    notifiers: Option<TextOrList>,
    /// The escalation policy instead of that of the monitor.
    policyid: Option<String>,
    /// The severity instead of that of the monitor.
    #[schema(value_type = Option<Severity>)]
    severity: (),
    /// The rules after it are not evaluated if it matches.
    stop: Option<bool>,
}

/// The rules that are sent, and the revision they are based on.
pub(crate) fn read(fields: &mut Fields) -> Option<(Vec<Rule>, Option<i64>)> {
    let rules = fields.optional_objects("rules", MAX_RULES, rule);
    let revision = fields.optional_number("revision", |number| {
        i64::try_from(number).map_err(|_| Invalid::new("must be a whole number"))
    });
    Some((fields.require("rules", rules)?, revision))
}

fn rule(fields: &mut Fields) -> Option<Rule> {
    let name = fields.parse("name", Name::parse).map(|name| name.to_string());
    let selector = selector(fields, None);
    let severities = names(fields, "severities", SeverityName::parse);
    let kinds = names(fields, "kinds", parse_kind);
    let kinds = kinds.map(|kinds| kinds.iter().map(|kind| kind.as_str().to_owned()).collect());
    let zone = fields.optional("time_zone", Zone::parse).unwrap_or_else(Zone::utc);
    let hours = hours(fields, "hours").filter(|hours| !hours.is_empty());
    let notifiers = notifiers(fields, "notifiers", MAX_NOTIFIERS);
    let policy = fields.optional_text("policyid").filter(|text| !text.trim().is_empty());
    // What is not an id is treated like an unknown one.
    let policy = policy.map(|text| PolicyId::parse(text.trim()).unwrap_or(PolicyId::UNKNOWN));
    let severity = fields.optional_text("severity").filter(|text| !text.is_empty());
    let severity = severity.and_then(|text| fields.accept("severity", SeverityName::parse(&text)));
    let stop = fields.optional_flag("stop").unwrap_or(false);
    Some(Rule {
        name: name?,
        selector: selector?,
        severities: severities?,
        kinds: kinds?,
        hours: hours.map(|hours| RuleHours { zone, hours }),
        notifiers: notifiers.unwrap_or_default(),
        policy,
        severity,
        stop,
    })
}

/// Several names, each once; `None` if one is invalid.
fn names<T: PartialEq>(
    fields: &mut Fields,
    field: &str,
    parse: impl Fn(&str) -> Result<T, Invalid>,
) -> Option<Vec<T>> {
    if !fields.has(field) {
        return Some(Vec::new());
    }
    let items = fields.optional_items(field, None)?;
    let items = items.iter().map(|item| item.trim()).filter(|item| !item.is_empty());
    let parsed: Result<Vec<T>, Invalid> = items.map(parse).collect();
    let mut distinct = Vec::new();
    for one in fields.accept(field, parsed)? {
        if !distinct.contains(&one) {
            distinct.push(one);
        }
    }
    Some(distinct)
}

/// The routing rules of the team.
#[derive(Serialize, ToSchema)]
pub(crate) struct RoutingBody {
    success: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'static str,
    /// In the order of their evaluation.
    rules: Vec<RuleBody>,
    /// Increases with every change.
    revision: i64,
}

/// A routing rule.
#[derive(Serialize, ToSchema)]
#[schema(as = Rule)]
struct RuleBody {
    name: String,
    #[schema(value_type = Vec<String>)]
    monitors: Vec<MonitorId>,
    #[schema(value_type = Vec<String>)]
    groups: Vec<MonitorId>,
    tags: Vec<String>,
    all_tags: Vec<String>,
    everything: bool,
    /// Empty: all.
    #[schema(value_type = Vec<Severity>)]
    severities: Vec<&'static str>,
    /// Empty: all.
    #[schema(value_type = Vec<AlertKind>)]
    kinds: Vec<String>,
    /// Empty: always.
    hours: Vec<HoursBody>,
    time_zone: String,
    #[schema(value_type = Vec<String>)]
    notifiers: Vec<NotifierId>,
    #[schema(value_type = Option<String>, format = Uuid)]
    policyid: Option<PolicyId>,
    #[schema(value_type = Option<Severity>)]
    severity: Option<&'static str>,
    stop: bool,
}

impl RoutingBody {
    pub(crate) fn of(message: &'static str, routing: Routing) -> Self {
        let Routing { rules, revision } = routing;
        let rules = rules.into_iter().map(RuleBody::of).collect();
        Self { success: true, message, rules, revision }
    }
}

impl RuleBody {
    fn of(rule: Rule) -> Self {
        let parts = SelectorParts::from(rule.selector);
        let texts = |tags: &Tags| tags.iter().map(str::to_owned).collect();
        let (zone, hours) = match &rule.hours {
            Some(hours) => (hours.zone.name(), hours.hours.as_slice()),
            None => ("UTC", &[][..]),
        };
        Self {
            name: rule.name,
            tags: texts(&parts.tags),
            all_tags: texts(&parts.all_tags),
            monitors: parts.monitors,
            groups: parts.groups,
            everything: parts.everything,
            severities: rule.severities.iter().map(|one| one.as_str()).collect(),
            kinds: rule.kinds,
            hours: hours.iter().map(HoursBody::of).collect(),
            time_zone: zone.to_owned(),
            notifiers: rule.notifiers,
            policyid: rule.policy,
            severity: rule.severity.map(SeverityName::as_str),
            stop: rule.stop,
        }
    }
}

/// An alert to try the rules with.
#[derive(ToSchema)]
pub(crate) struct TryRoutingBody {
    #[schema(value_type = String)]
    pub(crate) monitorid: MonitorId,
    /// Default: outage.
    #[schema(value_type = Option<AlertKind>)]
    pub(crate) kind: Kind,
    /// Default: that of the monitor.
    #[schema(value_type = Option<Severity>)]
    pub(crate) severity: Option<SeverityName>,
    /// Default: now.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) at: Option<Millis>,
}

impl FromFields for TryRoutingBody {
    fn read(fields: &mut Fields) -> Option<Self> {
        // What is not an id is treated like an unknown one.
        let monitorid = fields.text("monitorid");
        let monitorid = monitorid.map(|id| MonitorId::parse(&id).unwrap_or(MonitorId::UNKNOWN));
        let kind = fields.optional("kind", parse_kind).unwrap_or(Kind::Outage);
        let severity = fields.optional("severity", SeverityName::parse);
        let at = fields.optional("at", |text| {
            Millis::parse(text)
                .ok_or_else(|| Invalid::new("must be a time such as 2026-11-15T09:30:00Z"))
        });
        Some(Self { monitorid: monitorid?, kind, severity, at })
    }
}

fn parse_kind(text: &str) -> Result<Kind, Invalid> {
    Kind::parse(text).ok_or_else(|| {
        let all: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
        Invalid::new(format!("must be one of {}", all.join(", ")))
    })
}

/// What would happen to an alert if nobody responded.
#[derive(Serialize, ToSchema)]
pub(crate) struct RoutingTried {
    success: bool,
    /// What would suppress it; null if nothing would. Monitors that are down, and a monitor that
    /// flaps, only count for the present.
    suppressed_by: Option<RoutingSuppression>,
    /// The names of the rules that match.
    rules: Vec<String>,
    #[schema(value_type = Severity)]
    severity: &'static str,
    #[schema(value_type = Option<String>, format = Uuid)]
    policyid: Option<PolicyId>,
    /// In the order of time, at most 1000.
    notified: Vec<TriedMessageBody>,
}

/// What would suppress an alert.
#[derive(Serialize, ToSchema)]
struct RoutingSuppression {
    #[schema(value_type = SuppressionReason)]
    reason: &'static str,
    /// The window, the monitor or, for flapping, the alert; null if the caller may not see it.
    #[schema(value_type = Option<String>, format = Uuid)]
    id: Option<Uuid>,
    /// Of the window or the monitor.
    name: String,
    /// Null if its end is not known.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Millis>,
}

/// A message that would be sent.
#[derive(Serialize, ToSchema)]
#[schema(as = TriedMessage)]
struct TriedMessageBody {
    #[schema(value_type = String, format = DateTime)]
    at: Millis,
    /// The name of the notifier or user.
    notifier: String,
    why: String,
    /// The end of the quiet hours that it would wait for.
    #[schema(value_type = Option<String>, format = DateTime)]
    waits_until: Option<Millis>,
}

impl RoutingTried {
    pub(crate) fn of(tried: TriedRouting) -> Self {
        let TriedRouting { suppressed_by, rules, severity, policy, notified } = tried;
        let notified = notified.into_iter().map(|one| {
            let TriedMessage { at, notifier, why, waits_until } = one;
            TriedMessageBody { at, notifier, why, waits_until }
        });
        Self {
            success: true,
            suppressed_by: suppressed_by.map(|by| {
                let Suppressed { reason, id, name, until, .. } = by;
                let id = Some(id).filter(|id| !id.is_nil());
                RoutingSuppression { reason: reason.as_str(), id, name, until }
            }),
            rules,
            severity: severity.as_str(),
            policyid: policy,
            notified: notified.collect(),
        }
    }
}
