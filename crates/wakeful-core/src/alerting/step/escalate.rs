//! The part of the alert step about escalation: steps that are due, and what stops and resumes
//! them.

use super::{Decision, Note, NoteKind, Notification, RECHECK_INTERVAL};
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
    /// Whether the monitor is known to be down still: follow-ups need a recent check.
    fn is_still_down(&self) -> bool {
        let max_age = self.context.pace.max_check_age;
        let checked = self.context.last_check.is_some_and(|at| self.now.since(at) <= max_age);
        self.context.down && checked
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
        let at = acknowledged.at;
        let text = format!("still open {} after the acknowledgement", format_duration(timeout));
        self.state.acknowledged = None;
        self.resume_escalation(at);
        self.state.reminder_at = self.next_reminder();
        self.note(NoteKind::Unacknowledged, text);
        None
    }

    /// The steps continue where they stopped at that time.
    pub(super) fn resume_escalation(&mut self, stopped: Millis) {
        self.shift_escalation(self.now.since(stopped));
    }

    pub(super) fn shift_escalation(&mut self, by: Duration) {
        self.state.escalation = self.state.escalation.map(|position| position.shifted(by));
    }

    /// The monitor is inactive: the steps stop.
    pub(super) fn stop_escalation(&mut self) {
        if let Some(position) = &mut self.state.escalation {
            position.inactive_since.get_or_insert(self.now);
        }
    }

    /// Takes the steps that are due. Returns when the next one is, and the end of a snooze
    /// that a reminder still has to report.
    pub(super) fn escalate(&mut self, woken: Option<Millis>) -> (Option<Millis>, Option<Millis>) {
        let Some(context) = &self.context.policy else {
            self.state.escalation = None;
            return (None, woken);
        };
        let policy = &context.policy;
        let mut position = self.position(policy);
        if woken.is_some() {
            if !self.is_still_down() {
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
        if !self.is_still_down() {
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
            None => Position::start(policy.id, self.now),
            Some(before) if before.policy != policy.id => {
                Position { restarts: before.restarts + 1, ..Position::start(policy.id, self.now) }
            }
            Some(before) => match before.inactive_since {
                None => before,
                Some(since) => {
                    Position { inactive_since: None, ..before.shifted(self.now.since(since)) }
                }
            },
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
