//! A monitor: its target, schedule and notifiers. The results of its checks are
//! in `verdict::State`.

mod audited;
pub mod bulk;
pub mod headers;
pub mod hostname;
pub mod spec;
pub mod status_codes;
pub mod tags;
pub mod timing;
pub mod url;

use std::fmt;
use std::time::Duration;

use crate::Invalid;
use crate::assert::Assertions;
use crate::dependency::Dependency;
use crate::evidence::EvidenceLevel;
use crate::flapping::FlapLimit;
use crate::health::Degraded;
use crate::id::{MonitorId, NotifierId, PolicyId, TeamId};
use crate::region::{Quorum, Regions};
use crate::secret::Secret;
use crate::severity::Severity;
use crate::slo::Slo;
use crate::stored_as_text::stored_as_text;
use crate::time::Millis;

pub(crate) use audited::with_headers;
use headers::Headers;
pub use spec::{Kind, Spec};
pub use tags::Tags;
pub use timing::Interval;

pub const DEFAULT_RETRIES: u16 = 1;

/// The most notifiers of a monitor: each change of its status is stored once for each.
pub const MAX_NOTIFIERS: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitor {
    pub id: MonitorId,
    pub team: TeamId,
    pub name: Name,
    pub spec: Spec,
    pub isactive: bool,
    pub heartbeat_interval: Interval,
    /// As set; `timeout()` is the effective value.
    pub timeout: Option<Duration>,
    pub retries: u16,
    /// As set; `retry_interval()` is the effective value.
    pub retry_interval: Option<Duration>,
    /// How often reminders are sent while it is down; `None` sends no
    /// reminders.
    pub resend_interval: Option<Duration>,
    /// How urgent its alerts are.
    pub severity: Severity,
    /// How its outages are escalated.
    pub policy: Option<PolicyId>,
    pub upside_down_mode: bool,
    pub tags: Tags,
    pub notifiers: Vec<NotifierId>,
    /// The monitors it depends on, in the order of their ids.
    pub depends_on: Vec<Dependency>,
    pub flapping: FlapLimit,
    /// The regions it is checked from.
    pub regions: Regions,
    /// How many of them must agree before it counts as down.
    pub quorum: Quorum,
    /// What the result of a check must be like, beyond what the spec demands.
    pub assertions: Assertions,
    /// How much of what its checks see is stored.
    pub evidence: EvidenceLevel,
    /// When it counts as degraded although it is up; `None`: only when its assertions say so.
    pub degraded: Option<Box<Degraded>>,
    pub slo: Option<Slo>,
    /// The last part of the push URL.
    pub push_token: Option<Secret>,
    /// The UUID in the ping URL of an api monitor.
    pub ping_uuid: Option<Secret>,
    /// What it is for; empty for most.
    pub description: Description,
    pub created: Millis,
    pub modified: Millis,
}

impl Monitor {
    /// How long a check may take. Never longer than the interval: the next
    /// check must not start before this one has ended.
    pub fn timeout(&self) -> Duration {
        timing::effective_timeout(self.timeout, self.heartbeat_interval)
    }

    /// How long after a failing check it is repeated.
    pub fn retry_interval(&self) -> Duration {
        self.retry_interval
            .unwrap_or_else(|| timing::default_retry_interval(self.heartbeat_interval))
    }

    /// Removes what only those who may edit the monitor may see.
    pub fn redact(&mut self) {
        self.spec.redact();
        self.push_token = None;
        self.ping_uuid = None;
    }

    /// How late a report to an api monitor may be.
    pub fn grace(&self) -> Duration {
        grace(&self.spec, self.heartbeat_interval)
    }

    /// How long a run that was reported to an api monitor may take.
    pub fn max_runtime(&self) -> Duration {
        let set = match &self.spec {
            Spec::Api(api) => api.max_runtime,
            _ => None,
        };
        set.unwrap_or_else(|| self.grace())
    }

    /// Whether the change from `before` requires an immediate check: the
    /// monitor was activated, or its target or the way it is checked has
    /// changed.
    pub fn needs_immediate_check(&self, before: &Self) -> bool {
        self.isactive
            && (!before.isactive
                || self.spec != before.spec
                || self.assertions != before.assertions
                || self.upside_down_mode != before.upside_down_mode
                || self.regions != before.regions)
    }
}

/// The display name of a monitor: 1 to 255 characters, not unique, stored as
/// sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    pub const MAX_LENGTH: usize = 255; // characters

    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.trim().is_empty() || text.chars().count() > Self::MAX_LENGTH {
            return Err(Invalid::new("must have 1 to 255 characters"));
        }
        reject_nul(text)?;
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A note about a monitor: at most 2,000 characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description(String);

impl Description {
    pub const MAX_LENGTH: usize = 2_000; // characters

    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.chars().count() > Self::MAX_LENGTH {
            return Err(Invalid::new("must have at most 2000 characters"));
        }
        reject_nul(text)?;
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// PostgreSQL cannot store NUL in text, and no user types one.
fn reject_nul(text: &str) -> Result<(), Invalid> {
    if text.contains('\0') {
        Err(Invalid::new("must not contain the NUL character"))
    } else {
        Ok(())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

stored_as_text!(Name);

/// How late a report to a monitor with these settings may be.
pub(crate) fn grace(spec: &Spec, interval: Interval) -> Duration {
    let set = match spec {
        Spec::Api(api) => api.grace,
        _ => None,
    };
    set.unwrap_or_else(|| timing::default_grace(interval))
}

#[cfg(test)]
mod tests {
    use super::spec::{ApiSpec, Hostname, PingSpec};
    use super::*;

    fn monitor(seconds: u64) -> Monitor {
        Monitor {
            id: MonitorId::new(Millis(0), [1; 10]),
            team: TeamId::new(Millis(0), [2; 10]),
            name: Name::parse("site").expect("a name"),
            spec: Spec::Ping(PingSpec::of(Hostname::parse("::1").expect("a host"))),
            isactive: true,
            heartbeat_interval: Interval::new(seconds).expect("an interval"),
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
            flapping: FlapLimit::default(),
            regions: Regions::default(),
            quorum: Quorum::default(),
            assertions: Vec::new(),
            evidence: EvidenceLevel::default(),
            degraded: None,
            slo: None,
            push_token: None,
            ping_uuid: None,
            description: Description::default(),
            created: Millis(0),
            modified: Millis(0),
        }
    }

    const fn secs(number: u64) -> Duration {
        Duration::from_secs(number)
    }

    #[test]
    fn unset_times_follow_from_the_interval() {
        for (interval, timeout, retry, grace) in [
            (1, secs(1), secs(1), secs(5)),
            (2, Duration::from_millis(1_600), secs(2), secs(5)),
            (5, secs(4), secs(5), secs(5)),
            (20, secs(16), secs(5), secs(5)),
            (60, secs(30), secs(5), secs(6)),
            (2_592_000, secs(30), secs(5), secs(259_200)),
        ] {
            let monitor = monitor(interval);
            assert_eq!(monitor.timeout(), timeout, "{interval}");
            assert_eq!(monitor.retry_interval(), retry, "{interval}");
            assert_eq!(monitor.grace(), grace, "{interval}");
        }
    }

    #[test]
    fn set_times_take_precedence_and_a_check_ends_before_the_next() {
        let set = Monitor {
            timeout: Some(secs(45)),
            retry_interval: Some(secs(20)),
            spec: Spec::Api(ApiSpec::with_grace(Some(secs(1)))),
            ..monitor(60)
        };
        assert_eq!(
            (set.timeout(), set.retry_interval(), set.grace()),
            (secs(45), secs(20), secs(1))
        );
        let short = Monitor { timeout: Some(secs(45)), ..monitor(10) };
        assert_eq!(short.timeout(), secs(10));
    }

    #[test]
    fn a_new_target_or_an_activation_requires_an_immediate_check() {
        let before = monitor(60);
        let moved = PingSpec::of(Hostname::parse("127.0.0.1").expect("a host"));
        let sleeping = Monitor { isactive: false, ..before.clone() };
        assert!(
            Monitor { spec: Spec::Ping(moved.clone()), ..before.clone() }
                .needs_immediate_check(&before)
        );
        assert!(
            Monitor { upside_down_mode: true, ..before.clone() }.needs_immediate_check(&before)
        );
        assert!(before.needs_immediate_check(&sleeping));
        assert!(!Monitor { spec: Spec::Ping(moved), ..sleeping }.needs_immediate_check(&before));
        let renamed = Monitor { name: Name::parse("other").expect("a name"), ..before.clone() };
        assert!(!renamed.needs_immediate_check(&before));
    }

    #[test]
    fn a_name_has_1_to_255_characters_and_is_stored_as_sent() {
        for text in ["x", " Café ☕ ", &"é".repeat(255)] {
            assert_eq!(Name::parse(text).expect("a name").as_str(), text);
        }
        for text in ["", "   ", "a\0b", &"é".repeat(256)] {
            assert!(Name::parse(text).is_err(), "{text:?}");
        }
    }
}
