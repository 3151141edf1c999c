//! A monitor: what is watched, how often, and who is told. What its checks have
//! come to is not here but in `verdict::State`.

pub mod dns;
pub mod headers;
pub mod hostname;
pub mod http;
pub mod spec;
pub mod status_codes;
pub mod tags;
pub mod timing;
pub mod url;

use std::fmt;
use std::time::Duration;

use crate::Invalid;
use crate::id::{MonitorId, NotifierId, TeamId};
use crate::region::{Quorum, Regions};
use crate::secret::Secret;
use crate::time::Millis;

pub use spec::{Kind, Spec};
pub use tags::Tags;
pub use timing::Interval;

/// Stores a type as its text and reads it back through its own `parse`, so that
/// nothing enters by deserialising that could not enter by the front door.
macro_rules! stored_as_text {
    ($($name:ty),+ $(,)?) => {$(
        crate::monitor::stored_as_text!($name => Self::parse);
    )+};
    // With a function of its own for what is stored already.
    ($name:ty => $read:path) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(from)?;
                $read(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use stored_as_text;

pub const DEFAULT_RETRIES: u16 = 1;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitor {
    pub id: MonitorId,
    pub team: TeamId,
    pub name: Name,
    pub spec: Spec,
    pub isactive: bool,
    pub heartbeat_interval: Interval,
    /// As set; `timeout()` is what holds.
    pub timeout: Option<Duration>,
    pub retries: u16,
    /// As set; `retry_interval()` is what holds.
    pub retry_interval: Option<Duration>,
    /// How often people are told again while it is down; nothing: they are not.
    pub resend_interval: Option<Duration>,
    pub upside_down_mode: bool,
    pub tags: Tags,
    pub notifiers: Vec<NotifierId>,
    /// Where it is checked from.
    pub regions: Regions,
    /// How many of them must agree before it counts as down.
    pub quorum: Quorum,
    /// What the push address ends with.
    pub push_token: Option<Secret>,
    pub created: Millis,
    pub modified: Millis,
}

impl Monitor {
    /// How long a check may take. Never longer than the interval: the next
    /// check must not find this one running.
    pub fn timeout(&self) -> Duration {
        let interval = self.heartbeat_interval.duration();
        match self.timeout {
            Some(set) => set.min(interval),
            None => timing::default_timeout(self.heartbeat_interval),
        }
    }

    /// How long after a failing check it is confirmed.
    pub fn retry_interval(&self) -> Duration {
        self.retry_interval
            .unwrap_or_else(|| timing::default_retry_interval(self.heartbeat_interval))
    }

    /// How late a report to an api monitor may be.
    pub fn grace(&self) -> Duration {
        let set = match &self.spec {
            Spec::Api(api) => api.grace,
            _ => None,
        };
        set.unwrap_or_else(|| timing::default_grace(self.heartbeat_interval))
    }

    /// Whether the change from `before` asks for a check at once: it was made
    /// active, or looks at something else or in another way.
    pub fn wants_check_after(&self, before: &Self) -> bool {
        self.isactive
            && (!before.isactive
                || self.spec != before.spec
                || self.upside_down_mode != before.upside_down_mode
                || self.regions != before.regions)
    }
}

/// What people call a monitor: 1 to 255 characters, not unique, kept as sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// In characters.
    pub const MAX_LENGTH: usize = 255;

    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.trim().is_empty() || text.chars().count() > Self::MAX_LENGTH {
            return Err(Invalid::new("must have 1 to 255 characters"));
        }
        no_nul(text)?;
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// PostgreSQL has no NUL in its texts, and nobody types one.
fn no_nul(text: &str) -> Result<(), Invalid> {
    match text.contains('\0') {
        true => Err(Invalid::new("must not hold the NUL character")),
        false => Ok(()),
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

stored_as_text!(Name);

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
            upside_down_mode: false,
            tags: Tags::default(),
            notifiers: Vec::new(),
            regions: Regions::default(),
            quorum: Quorum::default(),
            push_token: None,
            created: Millis(0),
            modified: Millis(0),
        }
    }

    const fn secs(number: u64) -> Duration {
        Duration::from_secs(number)
    }

    #[test]
    fn what_is_not_set_follows_from_the_interval() {
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
    fn what_is_set_wins_and_a_check_ends_before_the_next() {
        let set = Monitor {
            timeout: Some(secs(45)),
            retry_interval: Some(secs(20)),
            spec: Spec::Api(ApiSpec { grace: Some(secs(1)) }),
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
    fn a_new_target_or_an_activation_asks_for_a_check_at_once() {
        let before = monitor(60);
        let moved = PingSpec::of(Hostname::parse("127.0.0.1").expect("a host"));
        let sleeping = Monitor { isactive: false, ..before.clone() };
        assert!(
            Monitor { spec: Spec::Ping(moved.clone()), ..before.clone() }
                .wants_check_after(&before)
        );
        assert!(Monitor { upside_down_mode: true, ..before.clone() }.wants_check_after(&before));
        assert!(before.wants_check_after(&sleeping));
        assert!(!Monitor { spec: Spec::Ping(moved), ..sleeping }.wants_check_after(&before));
        let renamed = Monitor { name: Name::parse("other").expect("a name"), ..before.clone() };
        assert!(!renamed.wants_check_after(&before));
    }

    #[test]
    fn a_name_has_1_to_255_characters_and_is_kept_as_sent() {
        for text in ["x", " Café ☕ ", &"é".repeat(255)] {
            assert_eq!(Name::parse(text).expect("a name").as_str(), text);
        }
        for text in ["", "   ", "a\0b", &"é".repeat(256)] {
            assert!(Name::parse(text).is_err(), "{text:?}");
        }
    }
}
