//! What users do with alerts: read, acknowledge, snooze, assign, comment and resolve them. An
//! action is the alert step with an order, written with its entry in the audit log.

use std::collections::{HashMap, HashSet};
use wakeful_core::access::{Permission, TeamAccess, permission};
use wakeful_core::alerting::alert::Alert;
use wakeful_core::alerting::order::{Action, Assignee, Author, Order};
use wakeful_core::alerting::state::AlertStatus;
use wakeful_core::audit::{self, Change, Object, ObjectKind};
use wakeful_core::evidence::EvidenceRecord;
use wakeful_core::id::{AlertId, MonitorId, NotifierId, UserId};
use wakeful_core::monitors::Tags;
use wakeful_core::notifications::event;
use wakeful_core::time::Millis;
use wakeful_store::{
    ActionRecord, AlertDecision, AuditContext, Mail, NewEntry, Responder, Responders,
};

pub use wakeful_store::{AlertQuery, NextStep, TimelineEntry};

use super::action_links::limited;
use super::decide::decide;
use super::processor::{monitors_of, publish_alert};
use super::recipients::{StepMessages, TeamResponders, reached};
use super::surroundings::Surroundings;
use crate::bus::Edit;
use crate::caller::{Authorized, Caller, Via};
use crate::mail::templates;
use crate::{Engine, Error, ListedAlert, MAX_SAVE_ATTEMPTS, Page, Result, limit_plus_one};

/// How many alerts one transaction changes.
const ACTION_BATCH: usize = 50;

/// The result of an action on several alerts.
#[derive(Clone, Debug, Default)]
pub struct AlertsChanged {
    /// How many alerts are as requested now.
    pub done: usize,
    pub skipped: Vec<SkippedAlert>,
}

/// An alert that an action was not possible for.
#[derive(Clone, Debug)]
pub struct SkippedAlert {
    pub alert: AlertId,
    pub error: SkipReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// The team has no such alert.
    NotFound,
    /// It has ended or was resolved.
    Over,
    /// Its timeline is full.
    Full,
}

/// Who acts, and how the audit log shows it.
pub(super) struct Acting<'a> {
    pub(super) access: &'a TeamAccess,
    pub(super) audit: &'a AuditContext,
    pub(super) mails: &'a [Mail],
}

impl Engine {
    /// The team's alerts that match the query, newest first.
    pub async fn matching_alerts(
        &self,
        caller: &Authorized<permission::View>,
        query: &AlertQuery,
        before: Option<AlertId>,
        limit: Option<u32>,
    ) -> Result<Page<ListedAlert, AlertId>> {
        let team = self.store().team(caller.team_access());
        if let Some(monitor) = query.monitor
            && !team.has_monitor(monitor).await?
        {
            return Err(Error::NotFound("monitor"));
        }
        let mut found = team.matching_alerts(query, before, limit_plus_one(limit)).await?;
        self.add_next_steps(caller.team_access(), &mut found).await?;
        Ok(Page::of(found, limit, |listed| listed.alert.id))
    }

    /// The team's alerts, or those of one monitor, newest first.
    pub async fn alerts(
        &self,
        caller: &Authorized<permission::View>,
        monitor: Option<MonitorId>,
        before: Option<AlertId>,
        limit: Option<u32>,
    ) -> Result<Page<ListedAlert, AlertId>> {
        let query = AlertQuery { monitor, ..AlertQuery::default() };
        self.matching_alerts(caller, &query, before, limit).await
    }

    /// An alert with its timeline.
    pub async fn alert(
        &self,
        caller: &Authorized<permission::View>,
        id: AlertId,
    ) -> Result<(ListedAlert, Vec<TimelineEntry>, Vec<EvidenceRecord>)> {
        let team = self.store().team(caller.team_access());
        let mut timeline = team.timeline(id).await?;
        let alert = self.shown_alert(caller.team_access(), id).await?;
        if has_hidden_link(&alert) {
            // They name what suppressed it.
            for entry in timeline.iter_mut().filter(|entry| entry.name.is_empty()) {
                entry.text.clear();
            }
        }
        let evidence = team.evidence_of_alert(alert.alert.monitor, id).await?;
        Ok((alert, timeline, evidence))
    }

    /// The latest evidence of a monitor, newest first.
    pub async fn evidence(
        &self,
        caller: &Authorized<permission::View>,
        monitor: MonitorId,
        limit: u32,
    ) -> Result<Vec<EvidenceRecord>> {
        let found =
            self.store().team(caller.team_access()).evidence_of_monitor(monitor, limit).await?;
        found.ok_or(Error::NotFound("monitor"))
    }

    async fn shown_alert(&self, access: &TeamAccess, id: AlertId) -> Result<ListedAlert> {
        let found = self.store().team(access).alert(id).await?;
        let mut found = [found.ok_or(Error::NotFound("alert"))?];
        self.add_next_steps(access, &mut found).await?;
        let [alert] = found;
        Ok(alert)
    }

    /// Adds the next escalation step to those of these alerts that have one.
    async fn add_next_steps(&self, access: &TeamAccess, alerts: &mut [ListedAlert]) -> Result<()> {
        if !alerts.iter().any(is_escalated) {
            return Ok(());
        }
        let responders = self.store().team(access).responders(self.now()).await?;
        // Only filters are about tags.
        let tags = if responders.members.iter().any(|member| member.filter.is_some()) {
            self.tags_of_escalated(alerts).await?
        } else {
            HashMap::new()
        };
        let no_tags = Tags::default();
        for listed in alerts.iter_mut().filter(|listed| is_escalated(listed)) {
            let tags = tags.get(&listed.alert.monitor).unwrap_or(&no_tags);
            listed.next_step = next_step(listed, tags, &responders);
        }
        Ok(())
    }

    /// The tags of the monitors of those of these alerts that are escalated.
    async fn tags_of_escalated(&self, alerts: &[ListedAlert]) -> Result<HashMap<MonitorId, Tags>> {
        let escalated = alerts.iter().filter(|listed| is_escalated(listed));
        let ids: Vec<MonitorId> = escalated.map(|listed| listed.alert.monitor).collect();
        let found = self.store().monitors_by_id(&ids).await?;
        Ok(found.into_iter().map(|stored| (stored.monitor.id, stored.monitor.tags)).collect())
    }

    /// Does something with an alert; returns it as it is then.
    pub async fn change_alert(
        &self,
        caller: &Authorized<permission::Respond>,
        id: AlertId,
        action: Action,
    ) -> Result<ListedAlert> {
        let order = Order { by: author(caller), action };
        let audit = self.audit(caller);
        let acting = Acting { access: caller.team_access(), audit: &audit, mails: &[] };
        self.act_on_one(&acting, id, &order).await?;
        self.shown_alert(caller.team_access(), id).await
    }

    /// Assigns an alert to a member of the team, who is notified, or to nobody.
    pub async fn assign_alert(
        &self,
        caller: &Authorized<permission::Respond>,
        id: AlertId,
        to: Option<UserId>,
    ) -> Result<ListedAlert> {
        let team = self.store().team(caller.team_access());
        let mut mails = Vec::new();
        let assignee = match to {
            None => None,
            Some(user) => {
                let members = team.members().await?;
                let member = members.into_iter().find(|one| one.user == user);
                // Neither the member nor the account may be suspended.
                let active = self.account_spec(caller.team(), user).await?.is_some();
                let Some(member) = member.filter(|_| active) else {
                    let why = "must be a member of the team".to_owned();
                    return Err(Error::Refused { field: "userid", why });
                };
                let name = if member.name.is_empty() { &member.email } else { &member.name };
                let alert = team.alert(id).await?.ok_or(Error::NotFound("alert"))?;
                let access = limited(caller.team(), member.filter);
                let is_visible = self.store().team(&access).alert(id).await?.is_some();
                if !is_visible || !member.role.permissions().contains(Permission::View) {
                    let why = "must be a member who may see the monitor".to_owned();
                    return Err(Error::Refused { field: "userid", why });
                }
                let is_new = alert.state.assignee != Some(user) && user != caller.user();
                let has_rules = team.contacts(user).await?.rules.is_some();
                if is_new && !has_rules && team.account_notifier(user).await?.is_none() {
                    let mail = self.assignment_mail(caller, user, &alert).await?;
                    mails.extend(mail);
                }
                Some(Assignee { user, name: name.clone() })
            }
        };
        let order = Order { by: author(caller), action: Action::Assign(assignee) };
        let audit = self.audit(caller);
        let acting = Acting { access: caller.team_access(), audit: &audit, mails: &mails };
        self.act_on_one(&acting, id, &order).await?;
        if !mails.is_empty() {
            self.0.mail_queued.notify_one();
        }
        self.shown_alert(caller.team_access(), id).await
    }

    /// The mail to a user without a personal notifier; `None` if the address is not verified.
    async fn assignment_mail(
        &self,
        caller: &Caller,
        user: UserId,
        alert: &ListedAlert,
    ) -> Result<Option<Mail>> {
        let account = self.account_spec(caller.team(), user).await?;
        let Some(account) = account.filter(|account| account.verified) else { return Ok(None) };
        let (name, cause) = (&alert.monitor_name, &alert.alert.cause);
        let id = alert.alert.id;
        let by = author(caller).name;
        let text = templates::alert_assigned(self.settings(), name, cause, &by, id);
        Ok(Some(self.new_mail(&account.email, text)))
    }

    /// Does the same with several alerts.
    pub async fn change_alerts(
        &self,
        caller: &Authorized<permission::Respond>,
        ids: &[AlertId],
        action: Action,
    ) -> Result<AlertsChanged> {
        let order = Order { by: author(caller), action };
        let audit = self.audit(caller);
        let acting = Acting { access: caller.team_access(), audit: &audit, mails: &[] };
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        let mut total = AlertsChanged::default();
        for ids in ids.chunks(ACTION_BATCH) {
            let AlertsChanged { done, skipped } = self.act(&acting, ids, &order).await?;
            total.done += done;
            total.skipped.extend(skipped);
        }
        Ok(total)
    }

    pub(super) async fn act_on_one(
        &self,
        acting: &Acting<'_>,
        id: AlertId,
        order: &Order,
    ) -> Result<()> {
        let changed = self.act(acting, &[id], order).await?;
        match changed.skipped.first().map(|skipped| skipped.error) {
            None => Ok(()),
            Some(SkipReason::NotFound) => Err(Error::NotFound("alert")),
            Some(SkipReason::Over) => Err(Error::AlertOver),
            Some(SkipReason::Full) => {
                let why = "cannot be added: the timeline of the alert is full".to_owned();
                Err(Error::Refused { field: "text", why })
            }
        }
    }

    /// Takes the alert step with this order for each of the alerts, all of them together.
    async fn act(
        &self,
        acting: &Acting<'_>,
        ids: &[AlertId],
        order: &Order,
    ) -> Result<AlertsChanged> {
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let now = self.now();
            let alerts = self.store().team(acting.access).alerts_to_change(ids).await?;
            // A link or the response of a webhook carries no role that would be refused.
            if alerts.iter().any(|alert| alert.suspended_at.is_some()) {
                return Err(Error::TeamSuspended);
            }
            let monitors = monitors_of(self.store(), alerts.iter()).await?;
            let surroundings = Surroundings::of(self.store(), &alerts, &monitors, now).await?;
            let mut responders = TeamResponders::of(self.store(), &alerts, &monitors, now).await?;
            if let Action::Assign(Some(_)) | Action::Severity(_) = order.action {
                responders.add_team(self.store(), acting.access.team(), now).await?;
            }
            let full = if order.action.is_repeatable() {
                self.store().team(acting.access).full_timelines(ids).await?
            } else {
                HashSet::new()
            };
            let mut changed = AlertsChanged::default();
            let missing = ids.iter().filter(|id| !alerts.iter().any(|alert| alert.id == **id));
            changed
                .skipped
                .extend(missing.map(|id| SkippedAlert { alert: *id, error: SkipReason::NotFound }));
            let mut decisions = Vec::new();
            let mut named = Vec::new();
            for alert in alerts {
                let id = alert.id;
                if !alert.facts.accepts(&alert.state, &order.action) {
                    changed.skipped.push(SkippedAlert { alert: id, error: SkipReason::Over });
                    continue;
                }
                if full.contains(&id) {
                    changed.skipped.push(SkippedAlert { alert: id, error: SkipReason::Full });
                    continue;
                }
                let Some(stored) = monitors.get(&alert.facts.monitor) else {
                    changed.skipped.push(SkippedAlert { alert: id, error: SkipReason::NotFound });
                    continue;
                };
                changed.done += 1;
                let decided =
                    decide(alert, stored, &surroundings, &responders, Some(order), now).decision;
                if decided.state != decided.alert.state || !decided.notes.is_empty() {
                    named.push((id, stored.monitor.name.to_string()));
                    decisions.push(decided);
                }
            }
            if decisions.is_empty() {
                return Ok(changed);
            }
            let entry = entry(order, &named);
            let record = ActionRecord { by: acting.audit, entry: &entry, mails: acting.mails };
            if self.store().write_action(&decisions, record, now).await? {
                decisions.iter().for_each(|decision| self.announce_action(decision, now));
                return Ok(changed);
            }
        }
        Err(Error::Conflict)
    }

    fn announce_action(&self, decision: &AlertDecision, now: Millis) {
        let AlertDecision { alert, status, state, .. } = decision;
        if *status == AlertStatus::Acknowledged && alert.state.acknowledged.is_none() {
            let since = alert.state.notified.or(state.notified).unwrap_or(alert.facts.started);
            let seconds = now.since(since).as_secs_f64();
            metrics::histogram!("wakeful_acknowledge_seconds").record(seconds);
        }
        let edit = Edit::new(alert.team, alert.facts.monitor);
        publish_alert(self, edit, alert.id, *status);
    }
}

/// Whether the caller may not see what has suppressed the alert.
fn has_hidden_link(alert: &ListedAlert) -> bool {
    let released = alert.state.released.as_ref().map(|released| &released.by);
    let mut links = alert.state.suppressed.iter().chain(released);
    links.any(|by| by.id.is_nil())
}

/// Whether a step follows unless somebody responds.
fn is_escalated(listed: &ListedAlert) -> bool {
    let state = &listed.state;
    let is_acknowledged = state.acknowledged.is_some() && !state.unreported;
    let is_answered = is_acknowledged || state.resolved.is_some();
    let is_over = listed.alert.ended.is_some() || state.closed || state.paused_at.is_some();
    state.escalation.is_some() && !is_answered && !is_over
}

fn next_step(listed: &ListedAlert, tags: &Tags, responders: &Responders) -> Option<NextStep> {
    let state = &listed.state;
    let position = state.escalation?;
    let policy = responders.policies.get(&position.policy)?;
    let (at, step) = match state.snoozed_until {
        Some(until) => (until, 0),
        None => policy.next(&position).map(|(at, _, step)| (at, step))?,
    };
    let notify = policy.steps.get(step as usize)?;
    let may_see = |member: &Responder| member.may_see(listed.alert.monitor, tags);
    let reports = |kind: &str| {
        event::OPENING_TYPES.contains(&kind) || [event::REMINDER, event::ESCALATED].contains(&kind)
    };
    let known = listed.deliveries.iter().filter(|one| reports(&one.kind));
    let known: HashSet<NotifierId> = known.map(|one| one.notifier).collect();
    let Alert { kind, severity, .. } = listed.alert;
    let messages = StepMessages { kind, severity, at, known: &known };
    let reached = reached(responders, notify, may_see, &messages);
    let notifies = reached.into_iter().map(|one| one.name).collect();
    Some(NextStep { step: step + 1, at, notifies })
}

fn author(caller: &Caller) -> Author {
    let via = match caller.via() {
        Via::Session(_) => "web",
        Via::ApiKey(_) => "api",
    };
    Author {
        user: Some(caller.user()),
        name: caller.display_name().to_owned(),
        via: via.to_owned(),
    }
}

/// The entry of the audit log.
fn entry(order: &Order, alerts: &[(AlertId, String)]) -> NewEntry {
    let (action, mut changes) = match &order.action {
        Action::Acknowledge { comment } => {
            (audit::Action::AlertAcknowledge, text("comment", comment))
        }
        Action::Unacknowledge => (audit::Action::AlertUnacknowledge, Vec::new()),
        Action::Snooze { until, comment } => {
            let mut changes = text("until", &until.to_string());
            changes.extend(text("comment", comment));
            (audit::Action::AlertSnooze, changes)
        }
        Action::Assign(assignee) => {
            let user = assignee.as_ref().map(|one| one.user.to_string()).unwrap_or_default();
            (audit::Action::AlertAssign, text("userid", &user))
        }
        Action::Comment(comment) => (audit::Action::AlertComment, text("comment", comment)),
        Action::Severity(severity) => {
            (audit::Action::AlertSeverity, text("severity", severity.as_str()))
        }
        Action::Resolve { comment } => (audit::Action::AlertResolve, text("comment", comment)),
    };
    if let [(id, name)] = alerts {
        return NewEntry::new(action, Object::new(ObjectKind::Alert, id, name), changes);
    }
    let names: Vec<&str> = alerts.iter().map(|(_, name)| name.as_str()).collect();
    changes.insert(0, Change::new("count", None, Some(names.len().into())));
    changes.insert(1, Change::new("monitors", None, Some(names.into())));
    NewEntry::new(action, Object::new(ObjectKind::Alerts, &"", ""), changes)
}

/// A change to this text, unless it is empty.
fn text(field: &str, value: &str) -> Vec<Change> {
    if value.is_empty() {
        return Vec::new();
    }
    vec![Change::new(field, None, Some(value.into()))]
}
