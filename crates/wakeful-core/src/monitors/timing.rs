//! The times of a monitor: their allowed ranges and their defaults. All are
//! whole seconds in the API.

use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::time::Duration;

use super::Kind;
use crate::Invalid;

const TIMEOUT_RANGE: RangeInclusive<u64> = 1..=300;
const RETRY_INTERVAL_RANGE: RangeInclusive<u64> = 1..=3_600;
const RETRIES_RANGE: RangeInclusive<u64> = 0..=100;
const RESEND_INTERVAL_RANGE: RangeInclusive<u64> = 1..=2_592_000;
const GRACE_RANGE: RangeInclusive<u64> = 0..=31_536_000;
const MAX_RUNTIME_RANGE: RangeInclusive<u64> = 1..=31_536_000;

/// Seconds between checks: 1 second to 30 days, or to a year between the reports to an api
/// monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Interval(u32);

impl Interval {
    pub const MIN_SECONDS: u32 = 1;
    pub const MAX_SECONDS: u32 = 2_592_000;
    pub const MIN_OF_DOMAINS: u32 = 3_600;
    /// For api monitors.
    pub const MAX_OF_API: u32 = 31_536_000;
    /// For a check without a monitor.
    pub const DEFAULT: Self = Self(60);
    pub const DEFAULT_OF_GROUPS: Self = Self(30);

    pub fn new(seconds: u64) -> Result<Self, Invalid> {
        Self::within(Self::MIN_SECONDS, Self::MAX_SECONDS, seconds)
    }

    /// The interval of a domain monitor: registries limit queries.
    pub fn of_domain(seconds: u64) -> Result<Self, Invalid> {
        Self::within(Self::MIN_OF_DOMAINS, Self::MAX_SECONDS, seconds)
    }

    /// The shortest interval of the monitors of a type, by its name.
    pub fn min_of(kind: &str) -> Self {
        Self(if kind == Kind::Domain.as_str() { Self::MIN_OF_DOMAINS } else { Self::MIN_SECONDS })
    }

    /// The interval of an api monitor, or a stored one.
    pub fn of_api(seconds: u64) -> Result<Self, Invalid> {
        Self::within(Self::MIN_SECONDS, Self::MAX_OF_API, seconds)
    }

    fn within(min: u32, max: u32, seconds: u64) -> Result<Self, Invalid> {
        u32::try_from(seconds)
            .ok()
            .filter(|seconds| (min..=max).contains(seconds))
            .map(Self)
            .ok_or_else(|| {
                Invalid::new(format!("must be a whole number of seconds from {min} to {max}"))
            })
    }

    pub fn seconds(self) -> u32 {
        self.0
    }

    pub fn duration(self) -> Duration {
        Duration::from_secs(self.0.into())
    }
}

impl TryFrom<u64> for Interval {
    type Error = Invalid;

    fn try_from(seconds: u64) -> Result<Self, Invalid> {
        Self::of_api(seconds)
    }
}

impl From<Interval> for u64 {
    fn from(interval: Interval) -> Self {
        interval.0.into()
    }
}

pub fn timeout(seconds: u64) -> Result<Duration, Invalid> {
    within(&TIMEOUT_RANGE, seconds)
}

pub fn retry_interval(seconds: u64) -> Result<Duration, Invalid> {
    within(&RETRY_INTERVAL_RANGE, seconds)
}

/// The time between reminders while an outage lasts.
pub fn resend_interval(seconds: u64) -> Result<Duration, Invalid> {
    within(&RESEND_INTERVAL_RANGE, seconds)
}

pub fn grace(seconds: u64) -> Result<Duration, Invalid> {
    within(&GRACE_RANGE, seconds)
}

/// How long a run of a job may take.
pub fn max_runtime(seconds: u64) -> Result<Duration, Invalid> {
    within(&MAX_RUNTIME_RANGE, seconds)
}

/// The number of re-checks that confirm a failure.
pub fn retries(number: u64) -> Result<u16, Invalid> {
    u16::try_from(number).ok().filter(|_| RETRIES_RANGE.contains(&number)).ok_or_else(|| {
        Invalid::new(format!(
            "must be a whole number from {} to {}",
            RETRIES_RANGE.start(),
            RETRIES_RANGE.end()
        ))
    })
}

fn within(range: &RangeInclusive<u64>, seconds: u64) -> Result<Duration, Invalid> {
    if range.contains(&seconds) {
        Ok(Duration::from_secs(seconds))
    } else {
        Err(Invalid::new(format!(
            "must be a whole number of seconds from {} to {}",
            range.start(),
            range.end()
        )))
    }
}

/// How long a check may take: as set, but never longer than the interval.
pub fn effective_timeout(set: Option<Duration>, interval: Interval) -> Duration {
    match set {
        Some(set) => set.min(interval.duration()),
        None => default_timeout(interval),
    }
}

/// 80 % of the interval, at least 1 s, at most 30 s.
fn default_timeout(interval: Interval) -> Duration {
    (interval.duration() * 4 / 5).clamp(Duration::from_secs(1), Duration::from_secs(30))
}

/// The smaller of 5 s and the interval.
pub(super) fn default_retry_interval(interval: Interval) -> Duration {
    interval.duration().min(Duration::from_secs(5))
}

/// 10 % of the interval, at least 5 s.
pub(super) fn default_grace(interval: Interval) -> Duration {
    (interval.duration() / 10).max(Duration::from_secs(5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_a_second_to_thirty_days() {
        assert_eq!(Interval::new(1).expect("an interval").seconds(), 1);
        assert_eq!(Interval::new(2_592_000).expect("an interval").seconds(), 2_592_000);
        assert_eq!(Interval::of_api(31_536_000).expect("an interval").seconds(), 31_536_000);
        assert!(Interval::of_api(31_536_001).is_err());
        for seconds in [0, 2_592_001, u64::MAX] {
            assert!(Interval::new(seconds).is_err(), "{seconds}");
        }
        assert!(serde_json::from_str::<Interval>("0").is_err());
        assert_eq!(serde_json::from_str::<Interval>("60").ok(), Interval::new(60).ok());
    }

    #[test]
    fn every_time_has_an_allowed_range() {
        for (good, bad) in [
            ([timeout(1), timeout(300)], [timeout(0), timeout(301)]),
            (
                [retry_interval(1), retry_interval(3_600)],
                [retry_interval(0), retry_interval(3_601)],
            ),
            (
                [resend_interval(1), resend_interval(2_592_000)],
                [resend_interval(0), resend_interval(2_592_001)],
            ),
            ([grace(0), grace(31_536_000)], [grace(31_536_001), grace(u64::MAX)]),
            ([max_runtime(1), max_runtime(31_536_000)], [max_runtime(0), max_runtime(31_536_001)]),
        ] {
            assert!(good.iter().all(Result::is_ok), "{good:?}");
            assert!(bad.iter().all(Result::is_err), "{bad:?}");
        }
        assert_eq!((retries(0), retries(100)), (Ok(0), Ok(100)));
        assert!(retries(101).is_err());
        assert!(retries(65_536).is_err());
    }
}
