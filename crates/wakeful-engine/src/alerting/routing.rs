//! The routing rules of a team, and what they would do.

use std::collections::{HashMap, HashSet};
use std::time::Duration;
use wakeful_core::access::permission;
use wakeful_core::alerting::alert::AlertKind;
use wakeful_core::alerting::state::Suppressed;
use wakeful_core::escalation::{Policy, Position};
use wakeful_core::id::{MonitorId, NotifierId, PolicyId};
use wakeful_core::maintenance::Window;
use wakeful_core::notifications::event;
use wakeful_core::notifications::notifier::Notifier;
use wakeful_core::routing::{Routable, Rule, route};
use wakeful_core::severity::Severity;
use wakeful_core::time::Millis;
use wakeful_store::{
    DueAlert, MessageRecipient, RecipientAddress, Responder, Responders, StoredMonitor,
};

pub use wakeful_store::Routing;

use super::decide::would_suppress;
use super::recipients::{StepMessages, notifier_of, reached};
use super::schedules::COMPUTED;
use super::surroundings::Surroundings;
use crate::caller::{Authorized, Caller};
use crate::notifications::notifiers::require_all_monitors;
use crate::{Engine, Error, Result};

impl Engine {
    /// A caller who is limited to some monitors gets the rules that select one of them.
    pub async fn routing(&self, caller: &Authorized<permission::View>) -> Result<Routing> {
        let team = self.store().team(caller.team_access());
        let mut routing = team.routing().await?;
        if team.is_filtered() && !routing.rules.is_empty() {
            let _turn = self.list_turn(caller).await?;
            let monitors = team.named_monitors().await?;
            let rules = std::mem::take(&mut routing.rules);
            let resolved = self.store().resolve_rules(caller.team(), rules.clone()).await?;
            let visible = tokio::task::spawn_blocking(move || {
                let ids: HashSet<MonitorId> = monitors.iter().map(|one| one.id).collect();
                let selects = |resolved: &Rule| {
                    monitors.iter().any(|one| resolved.selector.selects(one.id, &one.tags))
                };
                let rules = rules.into_iter().zip(resolved);
                let visible = rules.filter(|(_, resolved)| selects(resolved));
                visible.map(|(rule, _)| without_hidden(rule, &ids)).collect()
            });
            routing.rules = visible
                .await
                .unwrap_or_else(|broken| std::panic::resume_unwind(broken.into_panic()));
        }
        Ok(routing)
    }

    /// Replaces the rules. With a `revision`, only if that is the stored one.
    pub async fn save_routing(
        &self,
        caller: &Authorized<permission::Edit>,
        rules: &[Rule],
        revision: Option<i64>,
    ) -> Result<Routing> {
        require_all_monitors(caller)?;
        let team = self.store().team(caller.team_access());
        let before = team.routing().await?;
        if revision.is_some_and(|revision| revision != before.revision) {
            return Err(Error::Conflict);
        }
        self.validate_rules(caller, rules, &before.rules).await?;
        if !team.save_routing(&before, rules, self.now(), &self.audit(caller)).await? {
            return Err(Error::Conflict);
        }
        Ok(team.routing().await?)
    }

    /// What the rules name must exist, unless it was named before.
    async fn validate_rules(&self, caller: &Caller, rules: &[Rule], old: &[Rule]) -> Result<()> {
        let refused = |why: String| Error::Refused { field: "rules", why };
        let team = self.store().team(caller.team_access());
        let notifiers: HashSet<NotifierId> =
            team.notifiers().await?.into_iter().map(|one| one.id).collect();
        let policies: HashSet<PolicyId> =
            team.policies().await?.into_iter().map(|one| one.policy.id).collect();
        let monitors: HashSet<MonitorId> = team.monitor_ids().await?.into_iter().collect();
        let groups = self.store().groups(caller.team()).await?;
        let groups: HashSet<MonitorId> = groups.into_iter().map(|group| group.id).collect();
        for rule in rules {
            let unknown = rule.notifiers.iter().find(|id| {
                !notifiers.contains(id) && !old.iter().any(|old| old.notifiers.contains(id))
            });
            if let Some(id) = unknown {
                return Err(refused(format!("name an unknown notifier: {id}")));
            }
            if rule.policy.is_some_and(|id| !policies.contains(&id)) {
                return Err(refused("name an unknown policy".to_owned()));
            }
            let unknown = rule.selector.monitors().iter().find(|id| {
                let is_old = |old: &Rule| old.selector.monitors().contains(id);
                !monitors.contains(id) && !old.iter().any(is_old)
            });
            if let Some(id) = unknown {
                return Err(refused(format!("name an unknown monitor: {id}")));
            }
            let unknown = rule.selector.groups().iter().find(|id| {
                let is_old = |old: &Rule| old.selector.groups().contains(id);
                !groups.contains(id) && !old.iter().any(is_old)
            });
            if let Some(id) = unknown {
                return Err(refused(format!("name a monitor that is not a group: {id}")));
            }
        }
        Ok(())
    }
}

/// A rule without the ids of other monitors and groups.
fn without_hidden(rule: Rule, visible: &HashSet<MonitorId>) -> Rule {
    let selector = rule.selector.shown(|id| visible.contains(&id));
    Rule { selector, ..rule }
}

/// How many messages a trial shows.
const TRIED_MESSAGES: usize = 1_000;

/// An alert to try the rules with.
#[derive(Clone, Copy, Debug)]
pub struct TryRouting {
    pub monitor: MonitorId,
    pub kind: AlertKind,
    /// `None`: that of the monitor.
    pub severity: Option<Severity>,
    /// `None`: now.
    pub at: Option<Millis>,
}

/// What would happen to an alert if nobody responded.
#[derive(Clone, Debug)]
pub struct TriedRouting {
    /// What would suppress it. The id of a monitor that the caller may not see is nil.
    pub suppressed_by: Option<Suppressed>,
    /// The names of the rules that match.
    pub rules: Vec<String>,
    pub severity: Severity,
    pub policy: Option<PolicyId>,
    /// In the order of time.
    pub notified: Vec<TriedMessage>,
}

/// A message that would be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedMessage {
    pub at: Millis,
    /// The name of the notifier or user.
    pub notifier: String,
    pub why: String,
    /// The end of the quiet hours that it would wait for.
    pub waits_until: Option<Millis>,
}

impl Engine {
    /// Who would be notified of an alert, over the full length of its policy.
    pub async fn try_routing(
        &self,
        caller: &Authorized<permission::View>,
        tried: TryRouting,
    ) -> Result<TriedRouting> {
        let _turn = self.list_turn(caller).await?;
        let at = tried.at.unwrap_or_else(|| self.now());
        if !COMPUTED.contains(at) {
            let why = "must be in the years 2000 to 2199".to_owned();
            return Err(Error::Refused { field: "at", why });
        }
        let team = self.store().team(caller.team_access());
        let (stored, links) =
            team.monitor(tried.monitor).await?.ok_or(Error::NotFound("monitor"))?;
        let suppressed_by = self.suppression(caller, &stored, tried, at).await?;
        let monitor = stored.monitor;
        let rules = team.routing().await?.rules;
        let rules = self.store().resolve_rules(caller.team(), rules).await?;
        let routable = Routable {
            monitor: monitor.id,
            tags: &monitor.tags,
            kind: tried.kind,
            severity: tried.severity.unwrap_or(tried.kind.first_severity(monitor.severity)),
        };
        let route = route(&rules, &routable, at);
        let severity = route.severity.unwrap_or(routable.severity);
        let responders = team.responders(at).await?;
        let notifiers = team.notifiers().await?;
        let linked = links.iter().map(|link| (link.id, "linked to the monitor".to_owned()));
        let routed =
            route.rules.iter().filter_map(|place| rules.get(*place)).flat_map(|rule| {
                rule.notifiers.iter().map(|id| (*id, format!("rule {}", rule.name)))
            });
        let kind = tried.kind.opening_event();
        let mut known: HashSet<NotifierId> = HashSet::new();
        let mut notified = TriedMessages::default();
        for (id, why) in linked.chain(routed) {
            let notifier = notifiers.iter().find(|one| one.id == id && one.disabled.is_none());
            let first = notifier.and_then(|one| one.messages.first_try(kind, severity, at));
            let (Some(notifier), Some(first)) = (notifier, first) else { continue };
            let (notifier, waits_until) =
                (notifier.name.to_string(), (first > at).then_some(first));
            let message = TriedMessage { at, notifier, why, waits_until };
            notified.add(Some(RecipientAddress::Notifier(id)), message);
            known.insert(id);
        }
        let policy = route.policy.or(monitor.policy).filter(|_| tried.kind.is_escalated());
        let policy = policy.and_then(|id| responders.policies.get(&id));
        if let Some(policy) = policy {
            let alert = Routable { severity, ..routable };
            for (to, message) in steps_of(policy, &responders, &notifiers, &alert, known, at) {
                notified.add(to, message);
            }
        }
        let mut notified = notified.all;
        notified.sort_by_key(|one| one.at);
        notified.truncate(TRIED_MESSAGES);
        Ok(TriedRouting {
            suppressed_by,
            rules: route.rules.iter().filter_map(|at| Some(rules.get(*at)?.name.clone())).collect(),
            severity,
            policy: policy.map(|policy| policy.id),
            notified,
        })
    }
}

/// A trial with the time of a clock that is so much ahead is about the present.
const CLOCK_DIFFERENCE: Duration = Duration::from_secs(60);

impl Engine {
    /// What would suppress an alert of this monitor.
    async fn suppression(
        &self,
        caller: &Authorized<permission::View>,
        stored: &StoredMonitor,
        tried: TryRouting,
        at: Millis,
    ) -> Result<Option<Suppressed>> {
        let monitor = &stored.monitor;
        let severity = tried.severity.unwrap_or(tried.kind.first_severity(monitor.severity));
        let alert = DueAlert::imagined(monitor, tried.kind, severity, at);
        let team = self.store().team(caller.team_access());
        let windows: Vec<Window> =
            team.maintenances().await?.into_iter().map(|one| one.window).collect();
        let windows = self.store().resolve_windows(caller.team(), windows).await?;
        let alerts = std::slice::from_ref(&alert);
        let monitors = HashMap::from([(monitor.id, stored.clone())]);
        let surroundings = Surroundings::of(self.store(), alerts, &monitors, at).await?;
        let surroundings = surroundings.with_windows(caller.team(), windows);
        let is_present = at <= self.now().after(CLOCK_DIFFERENCE);
        let by = would_suppress(&alert, stored, &surroundings, is_present);
        Ok(if team.is_filtered() { team.without_hidden(by).await? } else { by })
    }
}

/// Messages, each once: a recipient gets one at a time, whatever the reasons for it are.
#[derive(Default)]
struct TriedMessages {
    all: Vec<TriedMessage>,
    places: HashMap<(RecipientAddress, Millis), usize>,
}

impl TriedMessages {
    fn add(&mut self, to: Option<RecipientAddress>, message: TriedMessage) {
        let place = to.map(|to| *self.places.entry((to, message.at)).or_insert(self.all.len()));
        match place.and_then(|place| self.all.get_mut(place)) {
            Some(same) if same.why.split("; ").any(|why| why == message.why) => {}
            Some(same) => same.why = format!("{}; {}", same.why, message.why),
            None => self.all.push(message),
        }
    }
}

/// The messages of all steps of a policy, if nobody responds. `reported` are the notifiers that
/// report the alert when it opens.
fn steps_of(
    policy: &Policy,
    responders: &Responders,
    notifiers: &[Notifier],
    alert: &Routable<'_>,
    reported: HashSet<NotifierId>,
    at: Millis,
) -> Vec<(Option<RecipientAddress>, TriedMessage)> {
    let Routable { kind, severity, .. } = *alert;
    let mut messages = Vec::new();
    let mut position = Position::start(policy.id, at);
    let (mut known, mut new) = (HashSet::new(), reported);
    while let Some((due, ..)) = policy.next(&position) {
        // What is sent at the same time as the report is part of it.
        if due > at {
            known.extend(new.drain());
        }
        let reached_by = |step: u32| {
            let Some(step) = policy.steps.get(step as usize) else { return Vec::new() };
            let may_see = |member: &Responder| member.may_see(alert.monitor, alert.tags);
            let messages = StepMessages { kind, severity, at: due, known: &known };
            reached(responders, step, may_see, &messages)
        };
        let advance = policy.advance(&position, |step| !reached_by(step).is_empty(), due);
        for taken in &advance.taken {
            let why = format!("step {} of {}", taken.step + 1, policy.name);
            for one in reached_by(taken.step) {
                let used = one.ways.iter().filter_map(|way| notifier_of(responders, way.to));
                new.extend(used.map(|notifier| notifier.id));
                messages.extend(one.ways.iter().map(|way| {
                    let at = due.after(way.delay);
                    let message = TriedMessage {
                        at,
                        notifier: one.name.clone(),
                        why: why.clone(),
                        waits_until: waits_until(way, notifiers, severity, at),
                    };
                    (Some(way.to), message)
                }));
            }
        }
        if advance.everybody {
            let message = TriedMessage {
                at: due,
                notifier: "every member of the team".to_owned(),
                why: format!("no step of {} reaches anybody", policy.name),
                waits_until: None,
            };
            messages.push((None, message));
        }
        position = advance.position;
    }
    messages
}

/// The end of the quiet hours that a message to a notifier would wait for.
fn waits_until(
    way: &MessageRecipient,
    notifiers: &[Notifier],
    severity: Severity,
    at: Millis,
) -> Option<Millis> {
    let RecipientAddress::Notifier(id) = way.to else { return None };
    let notifier = notifiers.iter().find(|one| one.id == id)?;
    notifier.messages.later_try(event::DOWN, severity, at).filter(|first| *first > at)
}
