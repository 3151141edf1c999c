//! The part of the alert step about escalation: steps that are due, and what stops and resumes
//! them.

use super::{Decision, Note, NoteKind, Notification, RECHECK_INTERVAL};
use crate::alerting::alert::AlertKind;
use crate::escalation::{Advance, Policy, Position};
use crate::notifications::event::format_duration;
use crate::time::Millis;
use std::time::Duration;

/// The policy of an alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyContext {
    pub policy: Policy,
    /// The names of those that each step reaches now; empty: nobody.
    pub reached: Vec<Vec<String>>,
}

impl PolicyContext {
    fn names(&self, step: u32) -> &[String] {
        self.reached.get(step as usize).map_or(&[], Vec::as_slice)
    }
}

impl Decision<'_> {
    /// Whether the monitor is known to be down still, or to be checked while it flaps: follow-ups
    /// need a recent check.
    fn is_confirmed(&self) -> bool {
        let max_age = self.context.pace.max_check_age;
        let checked = self.context.last_check.is_some_and(|at| self.now.since(at) <= max_age);
        checked && (self.context.down || self.alert.kind == AlertKind::Flapping)
    }

    /// Nothing is repeated after somebody has responded, unless the policy limits for how long.
    /// `Some` is when to decide again.
    pub(super) fn respect_acknowledgement(&mut self) -> Option<Option<Millis>> {
        let acknowledged = self.state.acknowledged.as_ref()?;
        self.state.reminder_at = None;
        let seconds = self.context.policy.as_ref().map_or(0, |one| one.policy.ack_timeout);
        let timeout = Duration::from_secs(seconds.into());
        let end = acknowledged.at.after(timeout);
        if timeout.is_zero() {
            return Some(None);
        }
        if end > self.now {
            return Some(Some(end));
        }
        let text = format!("still open {} after the acknowledgement", format_duration(timeout));
        self.end_acknowledgement();
        self.state.reminder_at = self.next_reminder();
        self.note(NoteKind::Unacknowledged, text);
        None
    }

    /// The steps continue where the acknowledgement has stopped them. False if there was none.
    pub(super) fn end_acknowledgement(&mut self) -> bool {
        let Some(before) = self.state.acknowledged.take() else { return false };
        if !std::mem::take(&mut self.state.unreported) {
            // An earlier version has not recorded that they stopped.
            self.stop_escalation(before.at);
        }
        true
    }

    /// No time passes for the steps from then on, until the next ones are decided about. Several
    /// reasons may overlap.
    pub(super) fn stop_escalation(&mut self, at: Millis) {
        self.state.escalation = self.state.escalation.map(|position| position.stopped(at));
    }

    /// The same while follow-ups are paused. An acknowledgement before the pause has stopped the
    /// steps earlier, which an earlier version has not recorded.
    pub(super) fn pause_escalation(&mut self, since: Millis) {
        let acknowledged = self.state.acknowledged.as_ref().filter(|_| !self.state.unreported);
        let at = acknowledged.map_or(since, |by| by.at.min(since));
        self.stop_escalation(at);
    }

    /// An outage that opened acknowledged is a fact, also for those that only the policy notifies:
    /// its steps are taken until one of them has reported it. Returns when the next one is due.
    pub(super) fn report_by_step(&mut self) -> Option<Millis> {
        if !self.state.unreported || self.state.acknowledged.is_none() {
            return None;
        }
        if !self.context.isactive {
            self.stop_escalation(self.now);
            return None;
        }
        let (due, _) = self.escalate(None);
        let is_report = |one: &Notification| {
            matches!(one, Notification::Escalated { .. } | Notification::Everybody { .. })
        };
        if !self.notify.iter().any(is_report) {
            return due;
        }
        self.state.unreported = false;
        self.stop_escalation(self.now);
        None
    }

    /// Takes the steps that are due. Returns when the next one is, and the end of a snooze
    /// that a reminder still has to report.
    pub(super) fn escalate(&mut self, woken: Option<Millis>) -> (Option<Millis>, Option<Millis>) {
        let Some(context) = &self.context.policy else {
            if let Some(position) = self.state.escalation.take() {
                self.state.restarts = position.restarts + 1;
            }
            return (None, woken);
        };
        let policy = &context.policy;
        let mut position = self.position(policy);
        if woken.is_some() {
            if !self.is_confirmed() {
                return (Some(self.now.after(RECHECK_INTERVAL)), None);
            }
            position = position.restarted(policy, self.now);
            self.state.snoozed_until = None;
            self.note(NoteKind::Woke, "");
        }
        self.state.escalation = Some(position);
        let next = policy.next(&position).map(|(due, ..)| due);
        if next.is_none_or(|due| due > self.now) {
            return (next, None);
        }
        if !self.is_confirmed() {
            return (Some(self.now.after(RECHECK_INTERVAL)), None);
        }
        let advance = policy.advance(&position, |step| !context.names(step).is_empty(), self.now);
        self.state.escalation = Some(advance.position);
        self.notify_of_steps(context, &advance, woken.is_some());
        (policy.next(&advance.position).map(|(due, ..)| due), None)
    }

    /// Where the escalation is; it begins now if it has not begun by this policy.
    fn position(&self, policy: &Policy) -> Position {
        match self.state.escalation {
            None => {
                Position { restarts: self.state.restarts, ..Position::start(policy.id, self.now) }
            }
            Some(before) if before.policy != policy.id => {
                Position { restarts: before.restarts + 1, ..Position::start(policy.id, self.now) }
            }
            Some(before) => before.resumed(self.now),
        }
    }

    /// Several steps become one message to all their recipients.
    fn notify_of_steps(&mut self, context: &PolicyContext, advance: &Advance, woken: bool) {
        let restarts = advance.position.restarts;
        let mut steps = 0_u16;
        let mut last = None;
        for taken in &advance.taken {
            let number = taken.step + 1;
            if taken.reached {
                steps |= 1_u16.checked_shl(taken.step).unwrap_or(0);
                last = Some(taken);
                let names = context.names(taken.step).join(", ");
                self.note(NoteKind::Escalated, format!("step {number}: {names}"));
            } else {
                self.note(NoteKind::Nobody, format!("step {number}"));
            }
        }
        if let Some(last) = last {
            let (round, step) = (last.round, last.step);
            self.notify.push(Notification::Escalated { round, step, steps, restarts, woken });
        }
        if advance.everybody {
            let round = advance.position.round;
            self.note(NoteKind::Escalated, "no step has reached anybody: every member of the team");
            self.notify.push(Notification::Everybody { round, restarts });
        }
    }
}

impl Note {
    #[cfg(test)]
    pub(super) fn summary(&self) -> String {
        format!("{} {}", self.kind.as_str(), self.text)
    }
}
