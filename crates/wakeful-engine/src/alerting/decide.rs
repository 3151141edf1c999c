//! Turns the alert step into what the store writes: the events that the notifications carry.

use std::collections::{HashMap, HashSet};
use wakeful_core::alerting::order::{Action, Order};
use wakeful_core::alerting::state::Released;
use wakeful_core::alerting::step::{Context, Notification, Step, step};
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::maintenance::{Cover, Window, cover_of_alerts};
use wakeful_core::notifications::event::{self, Event, EventSuppression};
use wakeful_core::notifications::reminder;
use wakeful_core::time::Millis;
use wakeful_core::verdict::Status;
use wakeful_store::{AlertDecision, Audience, DueAlert, Message, NewEvent, Store, StoredMonitor};

use crate::Result;
use crate::notifications::events;

/// The maintenance windows that may suppress alerts, by team.
pub(super) struct TeamWindows(HashMap<TeamId, Vec<Window>>);

impl TeamWindows {
    /// Those of the teams of these monitors.
    pub(super) async fn of(
        store: &Store,
        monitors: &HashMap<MonitorId, StoredMonitor>,
        now: Millis,
    ) -> Result<Self> {
        let teams: HashSet<TeamId> = monitors.values().map(|stored| stored.monitor.team).collect();
        let mut windows = HashMap::new();
        for team in teams {
            windows.insert(team, store.windows_for_alerts(team, now).await?);
        }
        Ok(Self(windows))
    }

    fn cover(&self, stored: &StoredMonitor, now: Millis) -> Option<Cover> {
        let monitor = &stored.monitor;
        cover_of_alerts(self.0.get(&monitor.team)?, monitor.id, &monitor.tags, now)
    }
}

/// A decision, and the monitors that have to be checked for the next one.
pub(super) struct Decided {
    pub(super) decision: AlertDecision,
    pub(super) ask: Vec<MonitorId>,
    /// How many reminders it sends.
    pub(super) reminders: usize,
}

/// Decides about an alert of this monitor.
pub(super) fn decide(
    alert: DueAlert,
    stored: &StoredMonitor,
    windows: &TeamWindows,
    order: Option<&Order>,
    now: Millis,
) -> Decided {
    let context = context(&alert, stored, windows.cover(stored, now));
    let Step { state, notify, notes, ask, due } =
        step(&alert.facts, &alert.state, &context, order, now);
    let is_reminder = |one: &&Notification| matches!(one, Notification::Reminder(_));
    let reminders = notify.iter().filter(is_reminder).count();
    let messages = notify
        .into_iter()
        .filter_map(|one| message(one, &alert, state.released.as_ref(), stored, order, now))
        .collect();
    let decision = AlertDecision {
        status: alert.facts.status(&state),
        severity: alert.facts.severity(&state),
        cancels: order.and_then(canceled_answer),
        state,
        due,
        notes,
        messages,
        alert,
    };
    Decided { decision, ask, reminders }
}

fn context(alert: &DueAlert, stored: &StoredMonitor, cover: Option<Cover>) -> Context {
    let StoredMonitor { monitor, state, .. } = stored;
    Context {
        cover,
        isactive: monitor.isactive,
        down: state.status == Status::Down,
        last_check: state.last_check,
        pace: reminder::pace(monitor),
        previous: alert.previous.clone(),
        same_certificate: alert.same_certificate,
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

/// `None` if a later version has stored the event, which will be sent by it.
fn message(
    notification: Notification,
    alert: &DueAlert,
    released: Option<&Released>,
    stored: &StoredMonitor,
    order: Option<&Order>,
    now: Millis,
) -> Option<Message> {
    let by = order.map_or("", |order| order.by.name.as_str());
    let response = |kind, to, done: &str, change: &dyn Fn(&mut Event)| {
        let event = events::response(stored, alert, kind, done, now);
        Some(Message { event: changed(event, change), to, seq: stored.seq, created: now })
    };
    match notification {
        Notification::Opened => {
            let opened = alert.opened.as_ref()?;
            let (event, seq) = (opened.event(alert.id)?, opened.seq());
            let (event, created) = match released {
                None => (event, opened.at()),
                Some(released) => (changed(event, |event| add_release(event, released)), now),
            };
            Some(Message { event, to: Audience::Linked, seq, created })
        }
        Notification::Closed => {
            let closed = alert.closed.as_ref()?;
            let (event, seq, created) = (closed.event(alert.id)?, closed.seq(), closed.at());
            Some(Message { event, to: Audience::LinkedOrNotified, seq, created })
        }
        Notification::Reminder(due) => {
            let event = events::reminder(stored, alert, due, now);
            Some(Message { event, to: Audience::Idle, seq: stored.seq, created: now })
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
            response(event::ASSIGNED, Audience::User(user), &done, &|event| {
                event.data.assignee = Some(assignee.name.clone());
            })
        }
    }
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
    let reason = by.reason.as_str();
    if let Some(since) = &event.data.down_since {
        let name = &by.name;
        let later = format!("; down since {since}, {reason} {name} ended at {ended}");
        event.text.push_str(&later);
    }
    event.data.suppressed = Some(EventSuppression {
        reason: reason.to_owned(),
        name: by.name.clone(),
        since: by.since.to_string(),
        until: ended.to_string(),
    });
}
