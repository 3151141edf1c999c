//! Flapping: a monitor that goes down again and again is reported once, as flapping, instead of
//! each time. It is off unless a limit is set, because every change is reported by default.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::Invalid;
use crate::notifications::event::format_duration;
use crate::time::Millis;

const OUTAGES_RANGE: RangeInclusive<u64> = 2..=100;
const WITHIN_RANGE: RangeInclusive<u64> = 10..=604_800;
/// The span that outages are counted in, unless another one is set.
pub const DEFAULT_WITHIN: Duration = Duration::from_secs(3_600);
/// The most outages that are counted.
pub const MAX_OUTAGES: u32 = 100;

/// From how many outages within which span a monitor counts as flapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlapLimit {
    /// 0: flapping is not detected.
    pub outages: u32,
    pub within: Duration,
}

impl Default for FlapLimit {
    fn default() -> Self {
        Self { outages: 0, within: DEFAULT_WITHIN }
    }
}

impl FlapLimit {
    pub fn is_set(&self) -> bool {
        self.outages > 0
    }

    /// How long the status has to stay the same until the monitor counts as steady.
    pub fn quiet_span(&self) -> Duration {
        self.within / 2
    }

    /// The outages that make the monitor flap when one begins at `started`: their number, and
    /// how long ago the first of them began. `starts` are those of all outages that count.
    pub fn reached(&self, starts: &[Millis], started: Millis) -> Option<Flaps> {
        let since = started.before(self.within);
        let counted = || starts.iter().filter(|at| **at > since && **at <= started);
        let outages = u32::try_from(counted().count()).unwrap_or(u32::MAX);
        let first = counted().min()?;
        let is_reached = self.is_set() && starts.contains(&started) && outages >= self.outages;
        is_reached.then(|| Flaps { outages, span: started.since(*first) })
    }
}

/// The number of outages: 0 or 2 to 100.
pub fn outages(number: u64) -> Result<u32, Invalid> {
    let is_allowed = number == 0 || OUTAGES_RANGE.contains(&number);
    u32::try_from(number)
        .ok()
        .filter(|_| is_allowed)
        .ok_or_else(|| Invalid::new("must be 0 or a whole number from 2 to 100"))
}

pub fn within(seconds: u64) -> Result<Duration, Invalid> {
    if WITHIN_RANGE.contains(&seconds) {
        Ok(Duration::from_secs(seconds))
    } else {
        Err(Invalid::new("must be a whole number of seconds from 10 to 604800"))
    }
}

/// The outages that make a monitor flap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flaps {
    pub outages: u32,
    pub span: Duration,
}

impl Flaps {
    /// Such as "4 outages in 31 min".
    pub fn describe(&self) -> String {
        format!("{} outages in {}", self.outages, format_duration(self.span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> Millis {
        Millis(1_790_000_000_000 + minutes * 60_000)
    }

    fn reached(outages: u32, minutes: &[i64]) -> Option<String> {
        let limit = FlapLimit { outages, within: Duration::from_secs(3_600) };
        let starts: Vec<Millis> = minutes.iter().map(|minute| at(*minute)).collect();
        limit.reached(&starts, at(100)).map(|flaps| flaps.describe())
    }

    #[test]
    fn a_monitor_flaps_when_the_nth_outage_within_the_span_begins() {
        let found = Some("4 outages in 31 min".to_owned());
        assert_eq!(reached(4, &[100, 69, 80, 90]), found);
        assert_eq!(reached(4, &[100, 69, 80, 90, 40, 10]), found, "earlier ones do not count");
        assert_eq!(reached(4, &[100, 69, 80]), None);
        assert_eq!(reached(4, &[69, 80, 90, 95]), None, "the outage itself does not count");
        assert_eq!(reached(0, &[100, 69, 80, 90]), None, "it is off by default");
    }

    #[test]
    fn a_limit_has_a_range() {
        assert_eq!((outages(0), outages(2), outages(100)), (Ok(0), Ok(2), Ok(100)));
        assert!(outages(1).is_err() && outages(101).is_err());
        assert!(within(10).is_ok() && within(604_800).is_ok());
        assert!(within(9).is_err() && within(604_801).is_err());
    }
}
