//! Turns the alert step into what the store writes: the events that the notifications carry.

use std::time::Duration;
use wakeful_core::alerting::alert::{Alert, AlertKind};
use wakeful_core::alerting::order::{Action, Order};
use wakeful_core::alerting::state::{AlertState, Reason, Released, Suppressed};
use wakeful_core::alerting::step::{
    Context, Facts, Note, NoteKind, Notification, Step, step, suppression,
};
use wakeful_core::id::{MonitorId, NotifierId};
use wakeful_core::notifications::event::{self, Event, EventAffected, EventSuppression};
use wakeful_core::notifications::reminder;
use wakeful_core::severity::Severity;
use wakeful_core::time::Millis;
use wakeful_core::verdict::Status;
use wakeful_store::{
    Affected, AlertDecision, Audience, DueAlert, MAX_AFFECTED_NAMES, Message, MessageRecipient,
    NewAlert, NewEvent, RecipientAddress, StepMessage, StoredMonitor,
};

use super::recipients::TeamResponders;
use super::surroundings::Surroundings;
use crate::notifications::events;

/// A decision, and the monitors that have to be checked for the next one.
pub(super) struct Decided {
    pub(super) decision: AlertDecision,
    pub(super) ask: Vec<MonitorId>,
    /// How many reminders it sends.
    pub(super) reminders: usize,
}

/// Decides about an alert of this monitor.
pub(super) fn decide(
    mut alert: DueAlert,
    stored: &StoredMonitor,
    surroundings: &Surroundings,
    responders: &TeamResponders,
    order: Option<&Order>,
    now: Millis,
) -> Decided {
    if alert.state.notified.is_none() && !alert.state.closed {
        let replaced = alert.state.route.as_ref().and_then(|route| route.own_severity);
        alert.facts.severity = replaced.unwrap_or(alert.facts.severity);
        alert.state.route = responders.route(&alert, stored, own_severity(&alert, order), now);
    }
    let policy = responders.policy(&alert, stored, now);
    let context = Context { policy, ..context(&alert, stored, surroundings, now) };
    let Step { state, notify, notes, ask, due, flaps, ended, unreachable } =
        step(&alert.facts, &alert.state, &context, order, now);
    let is_reminder = |one: &&Notification| matches!(one, Notification::Reminder(_));
    let reminders = notify.iter().filter(is_reminder).count();
    let is_opened = notify.contains(&Notification::Opened);
    let severity = state.severity_set();
    let scene =
        Scene { alert: &alert, stored, surroundings, responders, order, is_opened, severity, now };
    let messages =
        notify.into_iter().flat_map(|one| scene.messages(one, state.released.as_ref())).collect();
    let opens = flaps.map(|(id, flaps)| {
        let opened = Alert::of_flapping(id, &stored.monitor, &flaps, alert.facts.started);
        let event = events::flapping(stored, &opened, now);
        NewAlert { alert: opened, event, seq: stored.seq, at: now }
    });
    let facts = Facts { ended: alert.facts.ended.or(ended), ..alert.facts.clone() };
    let decision = AlertDecision {
        status: facts.status(&state),
        severity: facts.severity(&state),
        wakes: wakes(&alert, &state, &notes),
        opens,
        ended,
        unreachable,
        cancels: order.and_then(canceled_answer),
        state,
        due,
        notes,
        messages,
        alert,
    };
    Decided { decision, ask, reminders }
}

/// Whether what depends on it is decided about again: when an outage opens or closes, the alerts
/// of the monitors that depend on it and, after flapping, those of the monitor itself.
fn wakes(alert: &DueAlert, state: &AlertState, notes: &[Note]) -> bool {
    let closes = state.closed && !alert.state.closed;
    let opens = || notes.iter().any(|note| note.kind == NoteKind::Opened);
    match alert.facts.kind {
        AlertKind::Outage => alert.is_connected && (closes || opens()),
        AlertKind::Flapping => closes,
        _ => false,
    }
}

fn context(
    alert: &DueAlert,
    stored: &StoredMonitor,
    surroundings: &Surroundings,
    now: Millis,
) -> Context {
    let StoredMonitor { monitor, state, .. } = stored;
    Context {
        cover: surroundings.cover(stored, now),
        parents: surroundings.parents(monitor.id, now),
        quiet_group: surroundings.quiet_group(stored),
        flapping: surroundings.flapping(alert, stored),
        isactive: monitor.isactive,
        down: state.status == Status::Down,
        last_check: state.last_check,
        pace: reminder::pace(monitor),
        previous: alert.previous.clone(),
        same_certificate: alert.same_certificate,
        policy: None,
        suspended_at: alert.suspended_at,
    }
}

/// What would suppress an alert. Unless it opens in the present, only its maintenance is known.
pub(super) fn would_suppress(
    alert: &DueAlert,
    stored: &StoredMonitor,
    surroundings: &Surroundings,
    is_present: bool,
) -> Option<Suppressed> {
    let now = alert.facts.started;
    let mut context = context(alert, stored, surroundings, now);
    if !is_present {
        context.flapping = None;
        for parent in context.parents.iter_mut().filter(|parent| parent.status == Status::Down) {
            parent.status = Status::Up;
        }
    }
    suppression(&alert.facts, &context, now)
}

/// The severity that routing rules match: not one that a rule has set.
fn own_severity(alert: &DueAlert, order: Option<&Order>) -> Severity {
    match order.map(|order| &order.action) {
        Some(Action::Severity(severity)) => *severity,
        _ => alert.state.severity.unwrap_or(alert.facts.severity),
    }
}

/// Why follow-ups that are waiting are not sent after this order.
fn canceled_answer(order: &Order) -> Option<String> {
    let done = match order.action {
        Action::Acknowledge { .. } => "acknowledged",
        Action::Snooze { .. } => "snoozed",
        Action::Resolve { .. } => "resolved",
        _ => return None,
    };
    Some(format!("not sent: {done} by {}", order.by.name))
}

/// An alert that is decided about, and what its messages are made from.
struct Scene<'a> {
    alert: &'a DueAlert,
    stored: &'a StoredMonitor,
    surroundings: &'a Surroundings,
    responders: &'a TeamResponders,
    order: Option<&'a Order>,
    /// Whether the outage itself is sent, too.
    is_opened: bool,
    /// The severity that a user or a rule has set.
    severity: Option<Severity>,
    now: Millis,
}

impl Scene<'_> {
    /// Empty if a later version has stored the event, which will be sent by it. What is sent to
    /// the notifiers of the monitor is also sent to those of the routing rules.
    fn messages(&self, notification: Notification, released: Option<&Released>) -> Vec<Message> {
        let Some(message) = self.message(notification, released) else { return Vec::new() };
        let routed = match message.to {
            Audience::Linked | Audience::Idle => self.routed(),
            Audience::Paged => self.routed_pagers(),
            _ => Vec::new(),
        };
        let to_routed = (!routed.is_empty())
            .then(|| Message { to: Audience::Recipients(routed), ..message.clone() });
        std::iter::once(message).chain(to_routed).collect()
    }

    fn routed(&self) -> Vec<MessageRecipient> {
        let notifiers = self.alert.state.route.iter().flat_map(|route| &route.notifiers);
        notifiers.copied().map(to_notifier).collect()
    }

    /// Those of the routing rules whose receivers page people by severity, also of rules that
    /// match the alert only since it is more urgent.
    fn routed_pagers(&self) -> Vec<MessageRecipient> {
        let Self { alert, stored, responders, order, now, .. } = *self;
        let raised = responders.route(alert, stored, own_severity(alert, order), now);
        let routes = alert.state.route.iter().chain(&raised);
        let notifiers = routes.flat_map(|route| route.notifiers.iter().copied());
        let pagers = notifiers.filter(|id| responders.pages_by_severity(alert.team, *id));
        pagers.map(to_notifier).collect()
    }

    fn message(&self, notification: Notification, released: Option<&Released>) -> Option<Message> {
        let Self { alert, stored, order, now, .. } = *self;
        let by = order.map_or("", |order| order.by.name.as_str());
        let response = |kind, to, done: &str, change: &dyn Fn(&mut Event)| {
            let event = events::response(stored, alert, kind, done, now);
            let event = changed(event, change);
            Some(Message { event, to, seq: stored.seq, created: now, step: None })
        };
        match notification {
            Notification::Opened => {
                let opened = alert.opened.as_ref()?;
                let event = self.opened_event(released)?;
                let created = if released.is_some() { now } else { opened.at() };
                let seq = opened.seq();
                Some(Message { event, to: Audience::Linked, seq, created, step: None })
            }
            Notification::Closed if alert.facts.kind == AlertKind::Flapping => {
                let event = events::steady(stored, alert, now);
                let to = Audience::LinkedOrNotified;
                Some(Message { event, to, seq: stored.seq, created: now, step: None })
            }
            Notification::Closed => self.closing(Audience::LinkedOrNotified),
            Notification::Replaced => self.closing(Audience::Incidents),
            Notification::Reminder(due) => {
                let event = events::reminder(stored, alert, due, now);
                let to = Audience::Idle;
                Some(Message { event, to, seq: stored.seq, created: now, step: None })
            }
            Notification::Raised => {
                let opened = self.opened_event(released)?;
                let id = events::repeated_id(alert, opened.kind, now);
                let again = changed(opened, |event| {
                    event.data.eventid = id;
                    event.timestamp = now.to_string();
                });
                let event = NewEvent { id, ..again };
                let to = Audience::Paged;
                Some(Message { event, to, seq: stored.seq, created: now, step: None })
            }
            Notification::Acknowledged => {
                let done = format!("acknowledged by {by}");
                response(event::ACKNOWLEDGED, Audience::Notified, &done, &|event| {
                    event.data.acknowledged_by = Some(by.to_owned());
                    event.data.alert_status = Some("acknowledged".to_owned());
                })
            }
            Notification::Resolved => {
                let done = format!("resolved by {by}");
                response(event::RESOLVED, Audience::Notified, &done, &|event| {
                    event.data.alert_status = Some("resolved".to_owned());
                })
            }
            Notification::Assigned(user) => {
                let Some(Action::Assign(Some(assignee))) = order.map(|order| &order.action) else {
                    return None;
                };
                let done = format!("assigned to {} by {by}", assignee.name);
                let severity = alert.facts.severity(&alert.state);
                let to = match self.responders.contact(alert.team, user, severity) {
                    Some(ways) => Audience::Recipients(ways),
                    None => Audience::User(user),
                };
                response(event::ASSIGNED, to, &done, &|event| {
                    event.data.assignee = Some(assignee.name.clone());
                })
            }
            Notification::Commented => {
                let Some(Action::Comment(text)) = order.map(|order| &order.action) else {
                    return None;
                };
                let event = events::comment(stored, alert, by, text, now);
                let to = Audience::Notified;
                Some(Message { event, to, seq: stored.seq, created: now, step: None })
            }
            Notification::Escalated { round, step, steps, restarts, woken } => {
                let to = self.responders.recipients(alert, stored, steps, now);
                let number = events::StepNumber { round, step: Some(step), restarts };
                Some(self.step_message(&number, woken, to, released))
            }
            Notification::Everybody { round, restarts } => {
                let to = self.responders.everybody(&stored.monitor);
                let number = events::StepNumber { round, step: None, restarts };
                Some(self.step_message(&number, false, to, released))
            }
        }
    }

    /// The event that reports the end of the alert.
    fn closing(&self, to: Audience) -> Option<Message> {
        let closed = self.alert.closed.as_ref()?;
        let event = self.with_severity(closed.event(self.alert.id)?);
        Some(Message { event, to, seq: closed.seq(), created: closed.at(), step: None })
    }

    fn step_message(
        &self,
        number: &events::StepNumber,
        woken: bool,
        to: Vec<MessageRecipient>,
        released: Option<&Released>,
    ) -> Message {
        let Self { alert, stored, now, .. } = *self;
        Message {
            event: events::escalated(stored, alert, number, now),
            to: Audience::Recipients(to),
            seq: stored.seq,
            created: now,
            step: Some(StepMessage {
                opened: self.opened_event(released),
                // A notifier that gets the outage with the same decision needs nothing else.
                repeats: woken || !self.is_opened,
            }),
        }
    }

    /// The event that reports the outage; it says why that happens only now.
    fn opened_event(&self, released: Option<&Released>) -> Option<NewEvent> {
        let event = self.alert.opened.as_ref()?.event(self.alert.id)?;
        let event =
            with_affected(self.with_severity(event), self.stored.monitor.id, self.surroundings);
        Some(match released {
            None => event,
            Some(released) => changed(event, |event| add_release(event, released)),
        })
    }

    /// A stored event with the severity that a user or a rule has set.
    fn with_severity(&self, event: NewEvent) -> NewEvent {
        match self.severity {
            None => event,
            severity => changed(event, |event| event.data.severity = severity),
        }
    }
}

fn to_notifier(id: NotifierId) -> MessageRecipient {
    MessageRecipient { to: RecipientAddress::Notifier(id), delay: Duration::ZERO }
}

/// The event with a change to its content.
fn changed(event: NewEvent, change: impl Fn(&mut Event)) -> NewEvent {
    match Event::parse(&event.body) {
        None => event,
        Some(mut content) => {
            change(&mut content);
            NewEvent { body: content.body(), ..event }
        }
    }
}

/// Says why the notification is sent only now.
fn add_release(event: &mut Event, released: &Released) {
    let Released { by, ended } = released;
    let (reason, name) = (by.reason.as_str(), &by.name);
    let why = match by.reason {
        Reason::Maintenance => format!("maintenance {name} ended at {ended}"),
        Reason::Dependency => format!("hidden while {name} was down"),
        Reason::Group => format!("hidden by group {name}"),
        Reason::Flapping => "hidden while it was flapping".to_owned(),
    };
    match &event.data.down_since {
        Some(since) => event.text.push_str(&format!("; down since {since}, {why}")),
        None => event.text.push_str(&format!("; {why}")),
    }
    event.data.suppressed = Some(EventSuppression {
        reason: reason.to_owned(),
        name: name.clone(),
        since: by.since.to_string(),
        until: ended.to_string(),
    });
}

/// The report of an outage names what depends on the monitor or, for a group that reports its
/// members, those that are down.
fn with_affected(event: NewEvent, monitor: MonitorId, surroundings: &Surroundings) -> NewEvent {
    let dependents = surroundings.affected(monitor);
    let members = surroundings.quiet_members(monitor);
    if dependents.is_none() && members.is_none() {
        return event;
    }
    let all = || members.into_iter().chain(dependents);
    let names = all().flat_map(|one| one.names.iter().cloned()).take(MAX_AFFECTED_NAMES);
    let affected =
        EventAffected { count: all().map(|one| one.count).sum(), names: names.collect() };
    changed(event, |event| {
        if let Some(Affected { count, .. }) = dependents {
            let depend = if *count == 1 { "monitor depends" } else { "monitors depend" };
            event.text.push_str(&format!("; {count} {depend} on it"));
        }
        event.data.affected = Some(affected.clone());
    })
}
