//! The state of an alert: who was notified, who responded, and what happens next. It is stored
//! as JSON with the alert; a field that is added later has its default in older rows.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use uuid::Uuid;

use crate::escalation::Position;
use crate::id::{NotifierId, PolicyId, UserId};
use crate::named_enum;
use crate::serde_millis;
use crate::severity::Severity;
use crate::time::Millis;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AlertState {
    /// What withholds its notification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<Suppressed>,
    /// When the suppression ended; a check since then releases the alert.
    #[serde(with = "serde_millis::maybe_instant", skip_serializing_if = "Option::is_none")]
    pub suppression_end: Option<Millis>,
    /// What withheld its notification, and when that ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub released: Option<Released>,
    /// Since when the verdict about a parent is awaited.
    #[serde(with = "serde_millis::maybe_instant", skip_serializing_if = "Option::is_none")]
    pub doubt_since: Option<Millis>,
    /// The monitor counts as unreachable: a parent is the path to it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unreachable: bool,
    /// When notifications were sent.
    #[serde(with = "serde_millis::maybe_instant", skip_serializing_if = "Option::is_none")]
    pub notified: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<Acknowledged>,
    /// It opened acknowledged, and no step of its policy has reported it yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unreported: bool,
    #[serde(with = "serde_millis::maybe_instant", skip_serializing_if = "Option::is_none")]
    pub snoozed_until: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee: Option<UserId>,
    /// The severity that a user has set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// When the next reminder is due.
    #[serde(with = "serde_millis::maybe_instant", skip_serializing_if = "Option::is_none")]
    pub reminder_at: Option<Millis>,
    /// What the routing rules said when it was reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Routed>,
    /// Where its escalation is; `None` before the first step is planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub escalation: Option<Position>,
    /// How often escalations that ended without a policy have begun: the next one continues to
    /// count, because its messages are different ones.
    #[serde(skip_serializing_if = "is_zero")]
    pub restarts: u32,
    /// Since when follow-ups are paused.
    #[serde(with = "serde_millis::maybe_instant", skip_serializing_if = "Option::is_none")]
    pub paused_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<Resolved>,
    /// It has ended, and what follows from that is done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What suppresses an alert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppressed {
    pub reason: Reason,
    /// The window, the parent, the group, or the alert about flapping.
    pub id: Uuid,
    pub name: String,
    #[serde(with = "serde_millis::instant")]
    pub since: Millis,
    /// When it ends, if that is known.
    #[serde(
        default,
        with = "serde_millis::maybe_instant",
        skip_serializing_if = "Option::is_none"
    )]
    pub until: Option<Millis>,
}

named_enum! {
    /// Why an alert is suppressed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Reason {
        Flapping = "flapping",
        Maintenance = "maintenance",
        Dependency = "dependency",
        Group = "group",
    }
}

/// What the routing rules say about an alert.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Routed {
    /// In addition to those of the monitor.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notifiers: Vec<NotifierId>,
    /// Instead of the monitor's policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// What `severity` replaces. The rules match this one when they are evaluated again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_severity: Option<Severity>,
}

/// What suppressed an alert until it was released.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Released {
    pub by: Suppressed,
    #[serde(with = "serde_millis::instant")]
    pub ended: Millis,
}

/// Who acknowledged an alert, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acknowledged {
    #[serde(with = "serde_millis::instant")]
    pub at: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserId>,
    pub name: String,
    pub via: String,
}

/// Who resolved an alert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolved {
    #[serde(with = "serde_millis::instant")]
    pub at: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserId>,
    pub name: String,
}

named_enum! {
    /// The status of an alert, as lists and filters show it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum AlertStatus {
        Suppressed = "suppressed",
        Open = "open",
        Acknowledged = "acknowledged",
        Snoozed = "snoozed",
        Resolved = "resolved",
        Over = "over",
    }
}

impl AlertStatus {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.as_str() == text)
    }
}

impl AlertState {
    /// The severity that a user or else a rule has set.
    pub fn severity_set(&self) -> Option<Severity> {
        self.severity.or_else(|| self.route.as_ref()?.severity)
    }

    /// `ended`: the outage is over, or it is a warning, which has no duration.
    pub fn status(&self, ended: bool) -> AlertStatus {
        if self.suppressed.is_some() && !self.closed && self.resolved.is_none() {
            AlertStatus::Suppressed
        } else if ended {
            AlertStatus::Over
        } else if self.resolved.is_some() {
            AlertStatus::Resolved
        } else if self.snoozed_until.is_some() {
            AlertStatus::Snoozed
        } else if self.acknowledged.is_some() {
            AlertStatus::Acknowledged
        } else {
            AlertStatus::Open
        }
    }

    /// The same state after the clock was set back by this much: what is due later stays due
    /// after the same time.
    #[must_use]
    pub fn shifted_back(mut self, by: Duration, now: Millis) -> Self {
        // While follow-ups are paused, what is left until the reminder counts from their pause.
        let is_paused = self.paused_at.is_some();
        let times = [
            (&mut self.suppression_end, false),
            (&mut self.doubt_since, false),
            (&mut self.snoozed_until, false),
            (&mut self.reminder_at, is_paused),
            (&mut self.paused_at, is_paused),
        ];
        for (at, always) in times {
            if let Some(at) = at
                && (always || *at > now)
            {
                *at = at.before(by);
            }
        }
        // The timeout of the acknowledgement ends so long after this time.
        if let Some(acknowledged) = &mut self.acknowledged {
            acknowledged.at = acknowledged.at.before(by);
        }
        // The next step is due so long after this time.
        if let Some(position) = &mut self.escalation {
            position.from = position.from.before(by);
            position.stopped_since = position.stopped_since.map(|at| at.before(by));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::MaintenanceId;

    #[test]
    fn a_state_is_stored_and_read_again() {
        let user = UserId::new(Millis(1), [1; 10]);
        let suppressed = Suppressed {
            reason: Reason::Maintenance,
            id: MaintenanceId::new(Millis(1), [2; 10]).uuid(),
            name: "Backups".to_owned(),
            since: Millis(5),
            until: None,
        };
        let state = AlertState {
            suppressed: Some(suppressed.clone()),
            released: Some(Released { by: suppressed, ended: Millis(6) }),
            notified: Some(Millis(7)),
            acknowledged: Some(Acknowledged {
                at: Millis(8),
                user: Some(user),
                name: "Ann".to_owned(),
                via: "web".to_owned(),
            }),
            severity: Some(Severity::Info),
            escalation: Some(Position::start(PolicyId::new(Millis(1), [3; 10]), Millis(9))),
            closed: true,
            ..AlertState::default()
        };
        let text = serde_json::to_string(&state).expect("plain data");
        assert_eq!(serde_json::from_str::<AlertState>(&text).expect("readable"), state);
        assert_eq!(serde_json::to_string(&AlertState::default()).expect("plain data"), "{}");
        let older: AlertState = serde_json::from_str(r#"{"unknown": 1}"#).expect("readable");
        assert_eq!(older, AlertState::default());
    }

    #[test]
    fn every_status_has_a_name() {
        for status in AlertStatus::ALL {
            assert_eq!(AlertStatus::parse(status.as_str()), Some(*status));
        }
        assert_eq!(AlertStatus::parse("closed"), None);
    }

    #[test]
    fn after_the_clock_was_set_back_nothing_waits_longer() {
        let state = AlertState {
            notified: Some(Millis(1_000)),
            reminder_at: Some(Millis(9_000)),
            snoozed_until: Some(Millis(500)),
            ..AlertState::default()
        };
        let shifted = state.clone().shifted_back(Duration::from_secs(3), Millis(2_000));
        assert_eq!(shifted, AlertState { reminder_at: Some(Millis(6_000)), ..state });
    }
}
