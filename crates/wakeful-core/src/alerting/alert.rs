//! An alert: an outage, from its first failing check to its recovery, or a
//! certificate that is about to expire, which is reported once and has no
//! duration. A monitor that is degraded has one for as long as it is.

use std::time::Duration;

use crate::certificate::ExpiryWarning;
use crate::flapping::Flaps;
use crate::health::Degradation;
use crate::id::{AlertId, MonitorId, TeamId};
use crate::monitors::Monitor;
use crate::named_enum;
use crate::notifications::event;
use crate::reason::Reason;
use crate::severity::Severity;
use crate::time::Millis;
use crate::verdict::Change;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    pub id: AlertId,
    pub team: TeamId,
    pub monitor: MonitorId,
    pub kind: AlertKind,
    /// When it opened; a user may have set another one.
    pub severity: Severity,
    pub cause: String,
    /// Why the first check of an outage failed; `None` if that is not known.
    pub reason: Option<Reason>,
    pub started: Millis,
    /// `None` while the outage lasts.
    pub ended: Option<Millis>,
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum AlertKind {
        Outage = "outage",
        Certificate = "certificate",
        /// The registration of a domain expires.
        Domain = "domain",
        /// The monitor goes down again and again.
        Flapping = "flapping",
        /// The monitor is up, but not as it should be.
        Degraded = "degraded",
        /// A value that must not change has changed.
        Change = "change",
    }
}

impl AlertKind {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == text)
    }

    /// The type of the event that reports an alert of this kind.
    #[must_use]
    pub fn opening_event(self) -> &'static str {
        match self {
            Self::Outage => event::DOWN,
            Self::Certificate => event::CERTIFICATE,
            Self::Domain => event::DOMAIN,
            Self::Flapping => event::FLAPPING,
            Self::Degraded => event::DEGRADED,
            Self::Change => event::CHANGED,
        }
    }

    /// Whether its alerts are followed by the steps of a policy.
    #[must_use]
    pub fn is_escalated(self) -> bool {
        matches!(self, Self::Outage | Self::Flapping)
    }

    /// The severity of a new alert of this kind, for a monitor with this severity: what is not an
    /// outage is a warning. A certificate becomes more urgent when it is about to expire.
    #[must_use]
    pub fn first_severity(self, monitor: Severity) -> Severity {
        match self {
            Self::Outage | Self::Flapping => monitor,
            Self::Certificate | Self::Domain | Self::Degraded | Self::Change => Severity::Warning,
        }
    }
}

impl Alert {
    /// The alert that a change of status opens, if any.
    pub fn of_change(id: AlertId, monitor: &Monitor, change: &Change) -> Option<Self> {
        let outage = change.outage.as_ref().filter(|_| change.opens_alert())?;
        Some(Self {
            id,
            team: monitor.team,
            monitor: monitor.id,
            kind: AlertKind::Outage,
            severity: monitor.severity,
            cause: outage.cause.clone(),
            reason: outage.reason,
            started: outage.started,
            ended: None,
        })
    }

    pub fn of_warning(
        id: AlertId,
        monitor: &Monitor,
        warning: &ExpiryWarning,
        now: Millis,
    ) -> Self {
        Self {
            id,
            team: monitor.team,
            monitor: monitor.id,
            kind: warning.alert_kind(),
            severity: warning.severity(monitor.severity),
            cause: warning.message.clone(),
            reason: Some(warning.reason()),
            started: now,
            ended: Some(now),
        }
    }

    /// The alert about a monitor that is degraded. However important the monitor is, it is up.
    pub fn of_degradation(id: AlertId, monitor: &Monitor, degradation: &Degradation) -> Self {
        Self {
            id,
            team: monitor.team,
            monitor: monitor.id,
            kind: AlertKind::Degraded,
            severity: AlertKind::Degraded.first_severity(monitor.severity),
            cause: degradation.cause.clone(),
            reason: Some(degradation.reason),
            started: degradation.since,
            ended: None,
        }
    }

    /// The alert about a value that has changed, which is over at once.
    pub fn of_new_value(id: AlertId, monitor: &Monitor, cause: &str, now: Millis) -> Self {
        Self {
            id,
            team: monitor.team,
            monitor: monitor.id,
            kind: AlertKind::Change,
            severity: AlertKind::Change.first_severity(monitor.severity),
            cause: cause.to_owned(),
            reason: Some(Reason::Changed),
            started: now,
            ended: Some(now),
        }
    }

    /// The alert about a monitor that flaps, in place of one more outage.
    pub fn of_flapping(id: AlertId, monitor: &Monitor, flaps: &Flaps, now: Millis) -> Self {
        Self {
            id,
            team: monitor.team,
            monitor: monitor.id,
            kind: AlertKind::Flapping,
            severity: monitor.severity,
            cause: flaps.describe(),
            reason: None,
            started: now,
            ended: None,
        }
    }

    /// How long the outage lasted, or has lasted so far.
    pub fn length(&self, now: Millis) -> Duration {
        self.ended.unwrap_or(now).since(self.started)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::ExpiryKind;
    use crate::monitors::spec::{ApiSpec, Spec};
    use crate::monitors::{DEFAULT_RETRIES, Interval, Name, Tags};
    use crate::verdict::{Input, Policy, Report, State, step};

    fn monitor() -> Monitor {
        Monitor {
            id: MonitorId::new(Millis(0), [1; 10]),
            team: TeamId::new(Millis(0), [2; 10]),
            name: Name::parse("job").expect("a name"),
            spec: Spec::Api(ApiSpec::default()),
            isactive: true,
            heartbeat_interval: Interval::new(60).expect("an interval"),
            timeout: None,
            retries: DEFAULT_RETRIES,
            retry_interval: None,
            resend_interval: None,
            severity: Default::default(),
            policy: None,
            upside_down_mode: false,
            tags: Tags::default(),
            notifiers: Vec::new(),
            depends_on: Vec::new(),
            flapping: Default::default(),
            regions: Default::default(),
            quorum: Default::default(),
            assertions: Default::default(),
            evidence: Default::default(),
            degraded: None,
            slo: None,
            push_token: None,
            ping_uuid: None,
            description: Default::default(),
            created: Millis(0),
            modified: Millis(0),
        }
    }

    #[test]
    fn an_outage_opens_one_alert_and_recovery_none() {
        let (monitor, id) = (monitor(), AlertId::new(Millis(0), [3; 10]));
        let policy = Policy::of(&monitor);
        let report = |status| Input::Report(Report::parse(status).expect("known"));
        let down = step(&State::default(), report("down"), &policy, Millis(5_000));
        let alert = Alert::of_change(id, &monitor, &down.change.expect("a change")).expect("opens");
        assert_eq!((alert.kind, alert.cause.as_str()), (AlertKind::Outage, "reported down"));
        assert_eq!((alert.started, alert.ended), (Millis(5_000), None));
        assert_eq!(alert.length(Millis(9_000)), Duration::from_secs(4));

        let up = step(&down.state, report("up"), &policy, Millis(9_000));
        let change = up.change.expect("a change");
        assert!(change.closes_alert());
        assert_eq!(Alert::of_change(id, &monitor, &change), None);
    }

    #[test]
    fn a_certificate_warning_has_no_duration() {
        let (monitor, id) = (monitor(), AlertId::new(Millis(0), [3; 10]));
        let warning = ExpiryWarning {
            of: ExpiryKind::Certificate,
            days: 7,
            not_after: Millis(9),
            message: "soon".to_owned(),
        };
        let alert = Alert::of_warning(id, &monitor, &warning, Millis(5));
        assert_eq!((alert.kind, alert.ended), (AlertKind::Certificate, Some(Millis(5))));
        assert_eq!(alert.length(Millis(99)), Duration::ZERO);
    }

    #[test]
    fn every_kind_has_a_name() {
        for kind in AlertKind::ALL {
            assert_eq!(AlertKind::parse(kind.as_str()), Some(*kind));
        }
        assert_eq!(AlertKind::parse("other"), None);
    }
}
