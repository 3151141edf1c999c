//! Who the steps of a policy reach at a time, and what the routing rules say: read for the teams
//! of alerts that have a policy or rules, and for no others.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use wakeful_core::alerting::alert::AlertKind;
use wakeful_core::alerting::state::Routed;
use wakeful_core::alerting::step::PolicyContext;
use wakeful_core::contacts::{self, ContactTarget};
use wakeful_core::escalation::{Policy, PolicyStep, Target};
use wakeful_core::id::{AlertId, MonitorId, NotifierId, TeamId, UserId};
use wakeful_core::monitors::Monitor;
use wakeful_core::notifications::event;
use wakeful_core::notifications::notifier::Kind;
use wakeful_core::routing::{Routable, Rule, route};
use wakeful_core::severity::Severity;
use wakeful_core::time::Millis;
use wakeful_store::{
    DueAlert, MessageRecipient, RecipientAddress, Responder, Responders, RespondingNotifier, Store,
    StoredMonitor,
};

use crate::Result;

/// What is needed to address messages, by team.
#[derive(Default)]
pub(super) struct TeamResponders {
    responders: HashMap<TeamId, Responders>,
    rules: HashMap<TeamId, Vec<Rule>>,
    /// The notifiers that have reported alerts which are escalated.
    known: HashMap<AlertId, HashSet<NotifierId>>,
}

/// What the steps of a policy send at a time. A notifier that has reported the alert gets that it
/// is escalated, another one the report itself; its own rules may prevent that.
pub(super) struct StepMessages<'a> {
    pub(super) kind: AlertKind,
    pub(super) severity: Severity,
    pub(super) at: Millis,
    /// The notifiers that have reported the alert.
    pub(super) known: &'a HashSet<NotifierId>,
}

impl StepMessages<'_> {
    /// Whether a message arrives this way, at the end of the quiet hours at the latest.
    fn reach(&self, responders: &Responders, way: &MessageRecipient) -> bool {
        // An account that has no notifier gets one without rules.
        let Some(notifier) = notifier_of(responders, way.to) else { return true };
        let is_known = self.known.contains(&notifier.id);
        let kind = if is_known { event::ESCALATED } else { self.kind.opening_event() };
        notifier.rules.later_try(kind, self.severity, self.at.after(way.delay)).is_some()
    }
}

/// A recipient that a target resolves to.
#[derive(Clone, Debug)]
pub(super) struct Reached {
    pub(super) name: String,
    pub(super) ways: Vec<MessageRecipient>,
}

impl TeamResponders {
    /// For these alerts. Nothing is read for teams without policies and rules.
    pub(super) async fn of(
        store: &Store,
        alerts: &[DueAlert],
        monitors: &HashMap<MonitorId, StoredMonitor>,
        now: Millis,
    ) -> Result<Self> {
        let mut found = Self::default();
        let routed: HashSet<TeamId> =
            alerts.iter().filter(|alert| alert.is_routed).map(|alert| alert.team).collect();
        for team in &routed {
            let rules = store.routing(*team).await?.rules;
            found.rules.insert(*team, store.resolve_rules(*team, rules).await?);
        }
        let has_policy = |alert: &&DueAlert| {
            let monitor = monitors.get(&alert.facts.monitor);
            monitor.is_some_and(|stored| stored.monitor.policy.is_some())
                || alert.state.escalation.is_some()
        };
        let escalated = alerts.iter().filter(has_policy).map(|alert| alert.team);
        let by_rules = routed.iter().copied().filter(|team| {
            let rules = found.rules.get(team);
            rules.is_some_and(|rules| rules.iter().any(|rule| rule.policy.is_some()))
        });
        let teams: HashSet<TeamId> = escalated.chain(by_rules).collect();
        let is_reported = |alert: &&DueAlert| {
            let lasts = alert.facts.ended.is_none() && alert.state.notified.is_some();
            lasts && alert.facts.kind.is_escalated() && teams.contains(&alert.team)
        };
        let reported: Vec<AlertId> =
            alerts.iter().filter(is_reported).map(|alert| alert.id).collect();
        found.known = store.notified_of(&reported).await?;
        for team in teams {
            found.responders.insert(team, store.responders(team, now).await?);
        }
        Ok(found)
    }

    /// Reads who can be notified in a team, for an action that addresses a user.
    pub(super) async fn add_team(
        &mut self,
        store: &Store,
        team: TeamId,
        now: Millis,
    ) -> Result<()> {
        if let Entry::Vacant(missing) = self.responders.entry(team) {
            missing.insert(store.responders(team, now).await?);
        }
        Ok(())
    }

    /// What the rules say about an alert of this severity.
    pub(super) fn route(
        &self,
        alert: &DueAlert,
        stored: &StoredMonitor,
        severity: Severity,
        now: Millis,
    ) -> Option<Routed> {
        let rules = self.rules.get(&alert.team)?;
        let routable = Routable {
            monitor: stored.monitor.id,
            tags: &stored.monitor.tags,
            kind: alert.facts.kind,
            severity,
        };
        let route = route(rules, &routable, now);
        (!route.rules.is_empty()).then_some(Routed {
            notifiers: route.notifiers,
            policy: route.policy,
            severity: route.severity,
            own_severity: route.severity.map(|_| severity),
        })
    }

    /// The policy of an alert, with the names of the recipients of its steps now.
    pub(super) fn policy(
        &self,
        alert: &DueAlert,
        stored: &StoredMonitor,
        now: Millis,
    ) -> Option<PolicyContext> {
        let policy = self.policy_of(alert, stored)?;
        let reached = policy.steps.iter().map(|step| {
            let reached = self.reached(alert, stored, step, now);
            reached.into_iter().map(|one| one.name).collect()
        });
        Some(PolicyContext { policy: policy.clone(), reached: reached.collect() })
    }

    fn policy_of(&self, alert: &DueAlert, stored: &StoredMonitor) -> Option<&Policy> {
        if !alert.facts.kind.is_escalated() {
            return None;
        }
        let routed = alert.state.route.as_ref().and_then(|route| route.policy);
        let responders = self.responders.get(&alert.team)?;
        let policy = |id| responders.policies.get(&id);
        routed.and_then(policy).or_else(|| stored.monitor.policy.and_then(policy))
    }

    /// The recipients of these steps of a policy, given as bits.
    pub(super) fn recipients(
        &self,
        alert: &DueAlert,
        stored: &StoredMonitor,
        steps: u16,
        now: Millis,
    ) -> Vec<MessageRecipient> {
        let Some(policy) = self.policy_of(alert, stored) else { return Vec::new() };
        let chosen = policy.steps.iter().enumerate().filter(|(at, _)| steps & (1 << at) != 0);
        let reached = chosen.flat_map(|(_, step)| self.reached(alert, stored, step, now));
        reached.flat_map(|one| one.ways).collect()
    }

    /// The accounts of all members of the team who may see a monitor.
    pub(super) fn everybody(&self, monitor: &Monitor) -> Vec<MessageRecipient> {
        let Some(responders) = self.responders.get(&monitor.team) else { return Vec::new() };
        let members = responders.members.iter().filter(|member| {
            member.may_see(monitor.id, &monitor.tags) && has_account(responders, member)
        });
        members.map(|member| to_account(member.user, 0)).collect()
    }

    /// The ways to a user who has contact rules; `None` for one without.
    pub(super) fn contact(
        &self,
        team: TeamId,
        user: UserId,
        severity: Severity,
    ) -> Option<Vec<MessageRecipient>> {
        let responders = self.responders.get(&team)?;
        let member = responders.members.iter().find(|member| member.user == user)?;
        member.rules.as_ref()?;
        Some(ways(responders, member, severity))
    }

    /// Whether the receiver of a notifier pages people by the severity of an alert.
    pub(super) fn pages_by_severity(&self, team: TeamId, notifier: NotifierId) -> bool {
        let found = self.responders.get(&team).and_then(|one| one.notifiers.get(&notifier));
        found.and_then(|one| one.kind).is_some_and(Kind::pages_by_severity)
    }

    fn reached(
        &self,
        alert: &DueAlert,
        stored: &StoredMonitor,
        step: &PolicyStep,
        now: Millis,
    ) -> Vec<Reached> {
        let monitor = &stored.monitor;
        let Some(responders) = self.responders.get(&monitor.team) else { return Vec::new() };
        let may_see = |member: &Responder| member.may_see(monitor.id, &monitor.tags);
        let none = HashSet::new();
        let messages = StepMessages {
            kind: alert.facts.kind,
            severity: alert.facts.severity(&alert.state),
            at: now,
            known: self.known.get(&alert.id).unwrap_or(&none),
        };
        reached(responders, step, may_see, &messages)
    }
}

/// The recipients of a step at a time, each of them once. Members who may not see the monitor are
/// not notified of its alerts.
pub(super) fn reached(
    responders: &Responders,
    step: &PolicyStep,
    may_see: impl Fn(&Responder) -> bool,
    messages: &StepMessages<'_>,
) -> Vec<Reached> {
    let mut seen_users: HashSet<UserId> = HashSet::new();
    let mut seen_notifiers: HashSet<NotifierId> = HashSet::new();
    let mut found = Vec::new();
    for target in &step.notify {
        let users: Vec<UserId> = match target {
            Target::Notifier(id) => {
                let way =
                    MessageRecipient { to: RecipientAddress::Notifier(*id), delay: Duration::ZERO };
                let notifier = responders.notifiers.get(id).filter(|one| is_on(responders, one));
                let notifier = notifier.filter(|_| messages.reach(responders, &way));
                if let Some(notifier) = notifier.filter(|_| seen_notifiers.insert(*id)) {
                    found.push(Reached { name: notifier.name.clone(), ways: vec![way] });
                }
                continue;
            }
            Target::User(user) => vec![*user],
            Target::Schedule(id) => {
                let schedule = responders.schedules.get(id);
                schedule
                    .and_then(|(schedule, overrides)| schedule.who(overrides, messages.at))
                    .into_iter()
                    .collect()
            }
            Target::Everybody(_) => responders.members.iter().map(|one| one.user).collect(),
        };
        for user in users {
            let member = responders.members.iter().find(|member| member.user == user);
            let member = member.filter(|member| may_see(member) && seen_users.insert(user));
            let Some(member) = member else { continue };
            let mut ways = ways(responders, member, messages.severity);
            ways.retain(|way| messages.reach(responders, way));
            if !ways.is_empty() {
                found.push(Reached { name: member.name.clone(), ways });
            }
        }
    }
    found
}

/// How a member is notified: by the contact rules that apply, as far as they work.
pub(super) fn ways(
    responders: &Responders,
    member: &Responder,
    severity: Severity,
) -> Vec<MessageRecipient> {
    if member.is_suspended {
        return Vec::new();
    }
    let rules = contacts::applicable(member.rules.as_deref(), severity);
    let ways = rules.into_iter().filter_map(|rule| match rule.to {
        ContactTarget::Account => {
            has_account(responders, member).then(|| to_account(member.user, rule.after))
        }
        ContactTarget::Notifier(id) => {
            responders.notifiers.get(&id).filter(|one| one.is_enabled).map(|_| MessageRecipient {
                to: RecipientAddress::Notifier(id),
                delay: Duration::from_secs(rule.after.into()),
            })
        }
    });
    ways.collect()
}

fn to_account(user: UserId, after: u32) -> MessageRecipient {
    MessageRecipient {
        to: RecipientAddress::Account(user),
        delay: Duration::from_secs(after.into()),
    }
}

/// The notifier of a recipient, if it exists.
pub(super) fn notifier_of(
    responders: &Responders,
    to: RecipientAddress,
) -> Option<&RespondingNotifier> {
    match to {
        RecipientAddress::Notifier(id) => responders.notifiers.get(&id),
        RecipientAddress::Account(user) => {
            responders.notifiers.values().find(|one| one.user == Some(user))
        }
    }
}

/// Whether a notifier sends anything: that of an account only to a member whose email arrives.
fn is_on(responders: &Responders, notifier: &RespondingNotifier) -> bool {
    let Some(user) = notifier.user else { return notifier.is_enabled };
    responders.members.iter().any(|one| one.user == user && has_account(responders, one))
}

/// Whether email to the account of a member arrives: the address is verified, and the member has
/// not turned it off.
fn has_account(responders: &Responders, member: &Responder) -> bool {
    let own = notifier_of(responders, RecipientAddress::Account(member.user));
    member.is_verified && !member.is_suspended && own.is_none_or(|own| own.is_enabled)
}
