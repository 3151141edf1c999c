//! The alert step: one alert, its context and the time give the new state, the notifications to
//! send, the entries of the timeline, and the time of the next step. All rules about who is
//! notified, and when, are here.
//!
//! A *fact*, such as `monitor.down`, is sent once to every linked notifier. *Suppression*
//! withholds facts. *Follow-ups*, reminders and escalation steps, repeat a fact until somebody
//! responds.
//! Acknowledging and snoozing stop follow-ups and never hide a fact; suppression stops both.

mod escalate;

pub use escalate::PolicyContext;

use std::time::Duration;

use super::alert::AlertKind;
use super::order::{Action, Order};
use super::state::{Acknowledged, AlertState, AlertStatus, Released, Resolved, Suppressed};
use super::suppression::Suppressor;
use crate::dependency::Parent;
use crate::flapping::{FlapLimit, Flaps};
use crate::id::{AlertId, MonitorId, UserId};
use crate::maintenance::Cover;
use crate::named_enum;
use crate::notifications::reminder::{self, Pace};
use crate::severity::Severity;
use crate::time::Millis;

/// When a suppression without a known end is decided again.
pub(super) const UNKNOWN_END_INTERVAL: Duration = Duration::from_secs(60);
/// How often a check is requested until it happens.
pub(super) const RECHECK_INTERVAL: Duration = Duration::from_secs(10);
/// An outage that begins this soon after an acknowledged one is acknowledged, too.
const ACKNOWLEDGED_AGAIN: Duration = Duration::from_secs(600);

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    pub monitor: MonitorId,
    pub kind: AlertKind,
    /// As opened; a user may have set another one.
    pub severity: Severity,
    pub started: Millis,
    /// For an outage, when the monitor recovered; for flapping, when it was steady again.
    pub ended: Option<Millis>,
    pub opening: Report,
    pub recovery: Report,
}

/// Who reports the opening or the recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// The alert step: the event is stored with the alert.
    Pending,
    /// A node of an earlier version, which wrote the notifications with the change.
    Elsewhere,
    /// The outage that has replaced a degraded monitor: its notification is enough for people.
    Replaced,
}

/// What the decision depends on besides the alert itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The windows that cover the monitor.
    pub cover: Option<Cover>,
    /// The monitors it depends on.
    pub parents: Vec<Parent>,
    /// The group that reports its outages instead.
    pub quiet_group: Option<QuietGroup>,
    /// `None` unless the monitor has a limit.
    pub flapping: Option<Flapping>,
    pub isactive: bool,
    /// Whether the status of the monitor is down.
    pub down: bool,
    pub last_check: Option<Millis>,
    /// How often reminders are sent.
    pub pace: Pace,
    /// The monitor's outage before this one, if it was acknowledged.
    pub previous: Option<AcknowledgedOutage>,
    /// For a certificate warning: the target still presents that certificate.
    pub same_certificate: bool,
    /// The escalation policy of the alert.
    pub policy: Option<PolicyContext>,
    /// Since when the team is suspended: its monitors are not checked.
    pub suspended_at: Option<Millis>,
}

/// A group that reports the outages of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuietGroup {
    pub id: MonitorId,
    pub name: String,
}

/// How often the monitor has been down recently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flapping {
    pub limit: FlapLimit,
    /// The starts of its recent outages outside maintenance.
    pub starts: Vec<Millis>,
    /// When its status last changed.
    pub changed: Option<Millis>,
    /// The alert about its flapping, if it is open.
    pub open: Option<AlertId>,
    /// The id of the alert that would open in place of this outage.
    pub next: AlertId,
}

/// An acknowledged outage that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcknowledgedOutage {
    pub ended: Millis,
    pub acknowledged: Acknowledged,
}

/// The decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub state: AlertState,
    /// In the order of sending.
    pub notify: Vec<Notification>,
    pub notes: Vec<Note>,
    /// Monitors to check now.
    pub ask: Vec<MonitorId>,
    /// When to decide again.
    pub due: Option<Millis>,
    /// The alert about flapping that opens in place of this outage.
    pub flaps: Option<(AlertId, Flaps)>,
    /// When the alert about flapping has ended.
    pub ended: Option<Millis>,
    /// The time that counts as unreachable has begun or ended.
    pub unreachable: Option<Unreachable>,
}

/// A change of what counts as unreachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreachable {
    Begins(Millis),
    Ends(Millis),
    /// Both within one decision.
    Was {
        from: Millis,
        to: Millis,
    },
}

/// A message to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notification {
    /// The fact that the alert opened, to every linked notifier.
    Opened,
    /// The fact that it is over, to every linked notifier and every recipient of an earlier
    /// message.
    Closed,
    /// The same, to the recipients of an earlier message that would keep an incident open.
    Replaced,
    /// To every linked notifier that has received everything so far. The time distinguishes it
    /// from other reminders.
    Reminder(Millis),
    /// The alert is more urgent than it was reported: to the services that page people by it.
    Raised,
    /// To every recipient of an earlier message.
    Acknowledged,
    /// To the user.
    Assigned(UserId),
    /// To every recipient of an earlier message that wants comments.
    Commented,
    /// To every recipient of an earlier message.
    Resolved,
    /// To all recipients of these steps of the policy. The last of them, its round, and how often
    /// the escalation has begun again distinguish it from others.
    Escalated {
        round: u32,
        step: u32,
        /// A bit for each step.
        steps: u16,
        restarts: u32,
        /// The alert was snoozed until now.
        woken: bool,
    },
    /// No step of the round has reached anybody: to the account of every member of the team.
    Everybody { round: u32, restarts: u32 },
}

/// An entry of the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub kind: NoteKind,
    pub text: String,
    pub user: Option<UserId>,
    pub name: String,
    pub via: String,
}

named_enum! {
    /// What an entry of the timeline is about.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum NoteKind {
        Opened = "opened",
        Suppressed = "suppressed",
        Released = "released",
        Notified = "notified",
        /// To so many notifiers: the team has too many waiting messages.
        NotSent = "not_sent",
        Escalated = "escalated",
        /// A step that reached no one.
        Nobody = "nobody",
        Acknowledged = "acknowledged",
        Unacknowledged = "unacknowledged",
        Snoozed = "snoozed",
        Woke = "woke",
        Assigned = "assigned",
        Commented = "commented",
        Severity = "severity",
        Paused = "paused",
        Resumed = "resumed",
        Recovered = "recovered",
        Resolved = "resolved",
    }
}

impl NoteKind {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == text)
    }
}

impl Facts {
    /// Whether the alert has ended or was resolved: only comments are possible.
    pub fn is_over(&self, state: &AlertState) -> bool {
        state.resolved.is_some() || (self.ended.is_some() && !self.is_warning())
    }

    /// Whether it is over when it opens, and is only reported.
    fn is_warning(&self) -> bool {
        matches!(self.kind, AlertKind::Certificate | AlertKind::Domain | AlertKind::Change)
    }

    /// Whether a user can do this with the alert now.
    pub fn accepts(&self, state: &AlertState, action: &Action) -> bool {
        match self.kind {
            AlertKind::Certificate | AlertKind::Domain | AlertKind::Change => {
                action.is_for_warnings()
            }
            AlertKind::Outage | AlertKind::Flapping | AlertKind::Degraded => {
                !self.is_over(state) || action.is_for_any_alert()
            }
        }
    }

    pub fn status(&self, state: &AlertState) -> AlertStatus {
        state.status(self.ended.is_some())
    }

    pub fn severity(&self, state: &AlertState) -> Severity {
        state.severity_set().unwrap_or(self.severity)
    }
}

/// Decides about one alert. An order that the alert does not accept changes nothing.
pub fn step(
    alert: &Facts,
    state: &AlertState,
    context: &Context,
    order: Option<&Order>,
    now: Millis,
) -> Step {
    let mut decision = Decision::new(alert, state.clone(), context, now);
    decision.note_opening();
    if let Some(order) = order.filter(|order| alert.accepts(state, &order.action)) {
        decision.obey(order);
    }
    let due = match alert.kind {
        AlertKind::Certificate | AlertKind::Domain | AlertKind::Change => decision.warn(),
        // A degraded monitor is reported as an outage is, but never followed up.
        AlertKind::Outage | AlertKind::Degraded => decision.respond(),
        AlertKind::Flapping => decision.respond_to_flapping(),
    };
    let Decision { state, notify, notes, ask, flaps, ended, unreachable, .. } = decision;
    Step { state, notify, notes, ask, due, flaps, ended, unreachable }
}

/// What would suppress an alert that opens.
pub fn suppression(alert: &Facts, context: &Context, now: Millis) -> Option<Suppressed> {
    let mut decision = Decision::new(alert, AlertState::default(), context, now);
    decision.suppress();
    decision.state.suppressed
}

pub(super) struct Decision<'a> {
    pub(super) alert: &'a Facts,
    pub(super) context: &'a Context,
    pub(super) now: Millis,
    pub(super) state: AlertState,
    notify: Vec<Notification>,
    notes: Vec<Note>,
    pub(super) ask: Vec<MonitorId>,
    pub(super) flaps: Option<(AlertId, Flaps)>,
    ended: Option<Millis>,
    pub(super) unreachable: Option<Unreachable>,
}

impl<'a> Decision<'a> {
    fn new(alert: &'a Facts, state: AlertState, context: &'a Context, now: Millis) -> Self {
        Self {
            alert,
            context,
            now,
            state,
            notify: Vec::new(),
            notes: Vec::new(),
            ask: Vec::new(),
            flaps: None,
            ended: None,
            unreachable: None,
        }
    }

    pub(super) fn note(&mut self, kind: NoteKind, text: impl Into<String>) {
        self.notes.push(Note {
            kind,
            text: text.into(),
            user: None,
            name: String::new(),
            via: String::new(),
        });
    }

    /// Rule 0: a warning is sent once, when nothing suppresses it; one about a certificate if that
    /// is still the same.
    fn warn(&mut self) -> Option<Millis> {
        if self.state.closed {
            return None;
        }
        if let Some(due) = self.suppress() {
            return Some(due);
        }
        let was = self.state.suppressed.take();
        self.state.closed = true;
        if self.alert.opening == Report::Elsewhere {
            return None;
        }
        match was {
            Some(_)
                if self.alert.kind == AlertKind::Certificate && !self.context.same_certificate =>
            {
                self.note(NoteKind::Released, "the certificate has been replaced");
            }
            was => {
                if let Some(by) = was {
                    self.release(by);
                }
                self.send_opening();
            }
        }
        None
    }

    /// The rules for an outage, in their order.
    fn respond(&mut self) -> Option<Millis> {
        if self.state.closed {
            return None;
        }
        if self.alert.opening == Report::Elsewhere {
            self.state.notified.get_or_insert(self.alert.started);
        }
        if self.alert.ended.is_some() {
            self.recover();
            return None;
        }
        if self.state.resolved.is_some() {
            self.end_unreachable(self.now);
            return None;
        }
        self.notify_and_follow_up()
    }

    /// Flapping is over when the status has not changed for half the span, or when there is no
    /// limit any more. Until then it is reported and followed up like an outage.
    fn respond_to_flapping(&mut self) -> Option<Millis> {
        if self.state.closed {
            return None;
        }
        let steady_at = self.context.flapping.as_ref().map(|flapping| {
            let changed = flapping.changed.unwrap_or(self.alert.started).max(self.alert.started);
            changed.after(flapping.limit.quiet_span())
        });
        let Some(steady_at) = steady_at.filter(|at| *at > self.now) else {
            self.ended = Some(self.now);
            self.close();
            return None;
        };
        if self.state.resolved.is_some() {
            return Some(steady_at);
        }
        let due = self.notify_and_follow_up();
        Some(due.map_or(steady_at, |due| due.min(steady_at)))
    }

    fn notify_and_follow_up(&mut self) -> Option<Millis> {
        if self.state.notified.is_none() {
            if self.context.suspended_at.is_some() && self.state.suppressed.is_some() {
                // No check would release it. It is decided again when the team is resumed.
                return None;
            }
            if let Some(due) = self.suppress().or_else(|| self.await_release()) {
                return due.into();
            }
            if self.state.suppressed.is_some() {
                // Inactive: the next check after it is active again decides.
                return None;
            }
            if let Some(due) = self.doubt().or_else(|| self.flap()) {
                return Some(due);
            }
            self.send_opening();
            // A snooze that has ended meanwhile repeats nothing: this is the first message.
            self.wake(self.state.snoozed_until.filter(|until| *until <= self.now));
            self.acknowledge_again();
        }
        if self.pause_with_team() {
            return None;
        }
        if let Some(due) = self.pause() {
            return Some(due);
        }
        self.follow_up()
    }

    fn note_opening(&mut self) {
        let route = self.state.route.clone();
        let is_new = self.state == AlertState { route, ..AlertState::default() };
        if is_new && self.alert.opening == Report::Pending {
            self.note(NoteKind::Opened, "");
        }
    }

    /// Rule 2: the recovery is sent to all who were notified, even during maintenance. If the
    /// alert was suppressed and never sent, it is closed silently.
    fn recover(&mut self) {
        if self.state.notified.is_none() {
            let _ = self.suppress().or_else(|| self.flap());
        }
        self.close();
    }

    fn close(&mut self) {
        let suppressed = self.state.suppressed.clone();
        let text = match &suppressed {
            Some(by) if self.state.notified.is_none() => by.meanwhile(),
            _ => String::new(),
        };
        self.note(NoteKind::Recovered, text);
        self.end_unreachable(self.alert.ended.unwrap_or(self.now));
        self.state.closed = true;
        self.state.snoozed_until = None;
        self.state.reminder_at = None;
        self.state.paused_at = None;
        if self.state.resolved.is_some() || self.is_closed_elsewhere() {
            return;
        }
        if self.alert.recovery == Report::Replaced {
            if self.state.notified.is_some() {
                self.notify.push(Notification::Replaced);
            }
        } else if self.state.notified.is_some() {
            self.notify.push(Notification::Closed);
        } else if suppressed.is_none() {
            self.send_opening();
            self.state.reminder_at = None;
            self.notify.push(Notification::Closed);
        }
    }

    /// Whether nobody is notified of the recovery here: a node of an earlier version reports it, or
    /// nobody was to be notified of its opening.
    fn is_closed_elsewhere(&self) -> bool {
        self.alert.kind != AlertKind::Flapping && self.alert.recovery == Report::Elsewhere
    }

    /// Rule 3: nobody is notified while something suppresses the alert. Returns when to decide
    /// again.
    fn suppress(&mut self) -> Option<Millis> {
        let by = self.suppressor()?;
        let (until, is_path) = (by.until, by.is_path);
        self.apply(by);
        if is_path {
            self.begin_unreachable();
        }
        Some(self.end_of(until))
    }

    pub(super) fn apply(&mut self, by: Suppressor) {
        let Suppressor { reason, id, name, until, .. } = by;
        let since = self.state.suppressed.as_ref().map_or(self.now, |by| by.since);
        let by = Suppressed { reason, id, name, since, until };
        if self.state.suppressed.as_ref().is_none_or(|before| before.id != by.id) {
            self.note(NoteKind::Suppressed, by.describe());
        }
        self.state.suppressed = Some(by);
        self.state.suppression_end = None;
        self.state.doubt_since = None;
    }

    /// When a suppression may have ended.
    fn end_of(&self, until: Option<Millis>) -> Millis {
        let unknown = self.now.after(UNKNOWN_END_INTERVAL);
        until.filter(|until| *until > self.now).unwrap_or(unknown)
    }

    /// Rule 4: after the suppression, a check decides whether there is anything to report.
    /// Returns when to decide again, unless the alert is released or the monitor inactive.
    fn await_release(&mut self) -> Option<Millis> {
        let by = self.state.suppressed.clone()?;
        let ended = by.until.filter(|until| *until <= self.now).unwrap_or(self.now);
        let ended = *self.state.suppression_end.get_or_insert(ended);
        if self.context.last_check.is_some_and(|at| at >= ended) {
            self.state.suppressed = None;
            self.release(by);
            return None;
        }
        if !self.context.isactive {
            return None;
        }
        self.ask.push(self.alert.monitor);
        Some(self.now.after(RECHECK_INTERVAL))
    }

    fn release(&mut self, by: Suppressed) {
        let ended = self.state.suppression_end.take().unwrap_or(self.now);
        self.note(NoteKind::Released, format!("{} is over", by.describe()));
        self.end_unreachable(ended);
        self.state.released = Some(Released { by, ended });
    }

    /// Rule 5: the fact is sent to all linked notifiers. Reminders count from here.
    fn send_opening(&mut self) {
        self.notify.push(Notification::Opened);
        self.note(NoteKind::Notified, "");
        self.state.notified = Some(self.now);
        self.state.reminder_at = self.next_reminder();
    }

    fn next_reminder(&self) -> Option<Millis> {
        self.reminder_interval().map(|span| self.now.after(span))
    }

    /// Reminders are about outages.
    fn reminder_interval(&self) -> Option<Duration> {
        self.context.pace.interval.filter(|_| self.alert.kind == AlertKind::Outage)
    }

    /// An outage soon after an acknowledged one is acknowledged by the same person.
    fn acknowledge_again(&mut self) {
        let Some(AcknowledgedOutage { ended, acknowledged }) = &self.context.previous else {
            return;
        };
        let is_soon = self.alert.started.since(*ended) <= ACKNOWLEDGED_AGAIN;
        if is_soon && self.state.acknowledged.is_none() && self.state.snoozed_until.is_none() {
            self.notes.push(Note {
                kind: NoteKind::Acknowledged,
                text: "as the outage before".to_owned(),
                user: acknowledged.user,
                name: acknowledged.name.clone(),
                via: acknowledged.via.clone(),
            });
            self.state.acknowledged = Some(Acknowledged { at: self.now, ..acknowledged.clone() });
            self.state.unreported = self.context.policy.is_some();
        }
    }

    /// Rule 6: follow-ups pause while the monitor is covered or a parent is down, and continue
    /// afterwards where they stopped. Returns when to decide again.
    fn pause(&mut self) -> Option<Millis> {
        if let Some(Suppressor { reason, id, name, until, .. }) = self.pausing() {
            if self.state.paused_at.is_none() {
                self.state.paused_at = Some(self.now);
                let by = Suppressed { reason, id, name, since: self.now, until };
                self.note(NoteKind::Paused, by.describe());
            }
            self.pause_escalation(self.state.paused_at.unwrap_or(self.now));
            return Some(self.end_of(until));
        }
        if let Some(since) = self.state.paused_at.take() {
            self.pause_escalation(since);
            let span = self.now.since(since);
            self.state.reminder_at = self.state.reminder_at.map(|at| at.after(span));
            self.note(NoteKind::Resumed, "");
        }
        None
    }

    /// The same while the team is suspended, until it is resumed.
    fn pause_with_team(&mut self) -> bool {
        let Some(suspended) = self.context.suspended_at else { return false };
        if self.state.paused_at.is_none() {
            let notified = self.state.notified.unwrap_or(suspended);
            self.state.paused_at = Some(suspended.max(notified));
            self.note(NoteKind::Paused, "");
        }
        self.pause_escalation(self.state.paused_at.unwrap_or(self.now));
        true
    }

    /// Rules 7 and 8: escalation steps and reminders that are due, unless somebody has responded.
    /// Returns when the next one is.
    fn follow_up(&mut self) -> Option<Millis> {
        if let Some(due) = self.respect_acknowledgement() {
            return [due, self.report_by_step()].into_iter().flatten().min();
        }
        let woken = match self.state.snoozed_until {
            Some(until) if until > self.now => return Some(until),
            until => until,
        };
        if self.alert.kind == AlertKind::Degraded {
            self.wake(woken);
            return None;
        }
        if !self.context.isactive {
            // What follows is decided when it is active again.
            self.stop_escalation(self.now);
            return None;
        }
        let (step, woken) = self.escalate(woken);
        if self.alert.kind == AlertKind::Flapping {
            // It is not reminded of.
            self.wake(woken);
            return step;
        }
        let reminder = self.remind(woken);
        [step, reminder].into_iter().flatten().min()
    }

    /// A snooze has ended, and nothing is sent because of it.
    fn wake(&mut self, woken: Option<Millis>) {
        if woken.is_some() {
            self.state.snoozed_until = None;
            self.note(NoteKind::Woke, "");
        }
    }

    /// Sends a reminder that is due. Returns when the next one is.
    fn remind(&mut self, woken: Option<Millis>) -> Option<Millis> {
        let interval = self.reminder_interval();
        let due = match (woken, interval) {
            // After the snooze, one reminder is sent in any case.
            (Some(until), _) => until,
            (None, None) => {
                self.state.reminder_at = None;
                return None;
            }
            (None, Some(interval)) => {
                *self.state.reminder_at.get_or_insert(self.now.after(interval))
            }
        };
        if due > self.now {
            return Some(due);
        }
        if !self.context.down {
            return Some(self.now.after(RECHECK_INTERVAL));
        }
        let pace = Pace { interval: interval.or(Some(RECHECK_INTERVAL)), ..self.context.pace };
        let decided = reminder::decide(&pace, self.context.last_check, due, self.now)?;
        if !decided.send {
            if woken.is_none() {
                self.state.reminder_at = Some(decided.next);
            }
            return Some(decided.next);
        }
        self.wake(woken);
        self.notify.push(Notification::Reminder(due));
        self.state.reminder_at = interval.map(|_| decided.next);
        self.state.reminder_at
    }

    /// Applies the order of a user. What follows from it is decided by the rules afterwards.
    fn obey(&mut self, order: &Order) {
        let Order { by, action } = order;
        let now = self.now;
        let (kind, text) = match action {
            Action::Acknowledge { comment } => {
                if self.state.acknowledged.is_some() {
                    return;
                }
                self.state.acknowledged = Some(Acknowledged {
                    at: now,
                    user: by.user,
                    name: by.name.clone(),
                    via: by.via.clone(),
                });
                self.state.unreported = false;
                self.state.snoozed_until = None;
                self.state.reminder_at = None;
                self.stop_escalation(now);
                if self.state.notified.is_some() {
                    self.notify.push(Notification::Acknowledged);
                }
                (NoteKind::Acknowledged, comment.clone())
            }
            Action::Unacknowledge => {
                if !self.end_acknowledgement() {
                    return;
                }
                if self.state.notified.is_some() {
                    self.state.reminder_at = self.next_reminder();
                }
                (NoteKind::Unacknowledged, String::new())
            }
            Action::Snooze { until, comment } => {
                self.end_acknowledgement();
                self.stop_escalation(now);
                self.state.snoozed_until = Some(*until);
                (NoteKind::Snoozed, comment.clone())
            }
            Action::Assign(assignee) => {
                let user = assignee.as_ref().map(|one| one.user);
                if self.state.assignee == user {
                    return;
                }
                self.state.assignee = user;
                self.notify.extend(user.map(Notification::Assigned));
                let name = assignee.as_ref().map_or("nobody", |one| one.name.as_str());
                (NoteKind::Assigned, name.to_owned())
            }
            Action::Comment(text) => {
                if self.state.notified.is_some() {
                    self.notify.push(Notification::Commented);
                }
                (NoteKind::Commented, text.clone())
            }
            Action::Severity(severity) => {
                let before = self.alert.severity(&self.state);
                // The route of an alert that is not reported yet follows this order already.
                let is_routed = self.state.notified.is_none()
                    && self.state.severity.is_none()
                    && self.state.route.as_ref().is_some_and(|route| route.severity.is_some());
                if before == *severity && !is_routed {
                    return;
                }
                self.state.severity = Some(*severity);
                if *severity > before && self.state.notified.is_some() {
                    self.notify.push(Notification::Raised);
                }
                (NoteKind::Severity, severity.to_string())
            }
            Action::Resolve { comment } => {
                self.state.resolved =
                    Some(Resolved { at: now, user: by.user, name: by.name.clone() });
                self.state.snoozed_until = None;
                self.state.reminder_at = None;
                self.state.paused_at = None;
                if self.state.notified.is_some() {
                    self.notify.push(Notification::Resolved);
                }
                (NoteKind::Resolved, comment.clone())
            }
        };
        self.notes.push(Note {
            kind,
            text,
            user: by.user,
            name: by.name.clone(),
            via: by.via.clone(),
        });
    }
}

#[cfg(test)]
mod tests;
