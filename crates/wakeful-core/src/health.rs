//! Degraded: a monitor that is up although something about it is not as it should be. Pure rules:
//! how slow is too slow, and how many of the last checks must be affected before the monitor
//! counts as degraded, and how few before it counts as restored.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::Invalid;
use crate::history::rollup::LoadTimes;
use crate::observation::Warning;
use crate::reason::Reason;
use crate::serde_millis;
use crate::time::Millis;

/// The longest window, in checks.
pub const MAX_WINDOW: u8 = 32;
const DEFAULT_OVER: u8 = 3;
const DEFAULT_OF: u8 = 5;
/// The longest fixed limit: no check takes longer.
const MAX_SLOW_MS: u32 = 3_600_000;
/// The factor of the usual time, in hundredths.
const FACTORS: std::ops::RangeInclusive<u16> = 120..=2_000;
/// More than the regions of a monitor.
const MAX_REGIONS: u8 = 32;
/// Fewer checks, or a shorter span, say too little about what is usual.
const MIN_BASELINE_CHECKS: u64 = 1_000;
const MIN_BASELINE_SPAN: Duration = Duration::from_secs(24 * 3_600);
/// Differences below this are not worth a message, however fast the target usually is.
const MIN_MARGIN: Duration = Duration::from_millis(50);

/// When a monitor that is up counts as degraded, as its user has set it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Degraded {
    /// In milliseconds; 0: off.
    #[serde(skip_serializing_if = "is_zero")]
    pub slow: u32,
    /// The multiple of the usual time, in hundredths; 0: off.
    #[serde(skip_serializing_if = "is_none")]
    pub factor: u16,
    pub over: u8,
    pub of: u8,
    /// How many regions must fail although the quorum is not reached; 0: off.
    pub regions: u8,
    pub notify: bool,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_none(number: &u16) -> bool {
    *number == 0
}

impl Default for Degraded {
    fn default() -> Self {
        Self { slow: 0, factor: 0, over: DEFAULT_OVER, of: DEFAULT_OF, regions: 0, notify: true }
    }
}

impl Degraded {
    pub fn parse_slow(millis: u64) -> Result<u32, Invalid> {
        let slow = u32::try_from(millis).ok().filter(|slow| *slow <= MAX_SLOW_MS);
        slow.ok_or_else(|| Invalid::new("must be 0 to 3600000"))
    }

    /// A factor in hundredths.
    pub fn parse_factor(factor: f64) -> Result<u16, Invalid> {
        let hundredths = (factor * 100.0).round();
        let known = (hundredths == 0.0)
            || (hundredths >= f64::from(*FACTORS.start())
                && hundredths <= f64::from(*FACTORS.end()));
        if known { Ok(hundredths as u16) } else { Err(Invalid::new("must be 0 or 1.2 to 20")) }
    }

    pub fn parse_window(of: u64) -> Result<u8, Invalid> {
        let of = u8::try_from(of).ok().filter(|of| (1..=MAX_WINDOW).contains(of));
        of.ok_or_else(|| Invalid::new("must be 1 to 32"))
    }

    pub fn parse_regions(regions: u64) -> Result<u8, Invalid> {
        let regions = u8::try_from(regions).ok().filter(|regions| *regions <= MAX_REGIONS);
        regions.ok_or_else(|| Invalid::new("must be 0 to 32"))
    }

    /// The factor as a number.
    pub fn factor(&self) -> f64 {
        f64::from(self.factor) / 100.0
    }

    /// What its checks are judged by.
    pub fn watch(&self, usual: Option<Usual>) -> Watch {
        let Self { over, of, notify, .. } = *self;
        Watch { over, of, notify, limit: limit(self, usual) }
    }
}

/// How long the checks of the last week took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usual {
    /// Microseconds.
    pub p50: u64,
    pub p95: u64,
}

/// What is usual for a monitor; `None` if there are too few checks, or too short a span of them.
pub fn baseline(week: &LoadTimes, span: Duration) -> Option<Usual> {
    if week.load.count < MIN_BASELINE_CHECKS || span < MIN_BASELINE_SPAN {
        return None;
    }
    let time = |share| week.percentile(share).map(|micros| micros as u64);
    Some(Usual { p50: time(0.5)?, p95: time(0.95)? })
}

/// From when on a check is slow, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowLimit {
    pub above: Duration,
    pub reason: Reason,
}

impl SlowLimit {
    /// What to say about a check above it: without the time it took, which is in its heartbeat.
    fn warning(&self) -> Warning {
        let words = match self.reason {
            Reason::SlowerThanUsual => "slower than usual".to_owned(),
            _ => format!("slower than {} ms", self.above.as_millis()),
        };
        Warning { reason: self.reason, words }
    }
}

/// The smaller of the fixed limit and the multiple of the usual time.
pub fn limit(policy: &Degraded, usual: Option<Usual>) -> Option<SlowLimit> {
    let fixed = (policy.slow > 0).then(|| SlowLimit {
        above: Duration::from_millis(policy.slow.into()),
        reason: Reason::Slow,
    });
    let multiple = usual.filter(|_| policy.factor > 0).map(|usual| SlowLimit {
        above: Duration::from_micros(usual.p95.saturating_mul(policy.factor.into()) / 100)
            .max(Duration::from_micros(usual.p50) + MIN_MARGIN),
        reason: Reason::SlowerThanUsual,
    });
    fixed.into_iter().chain(multiple).min_by_key(|limit| limit.above)
}

/// What the checks of a monitor are judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// So many of the last `of` checks must be affected.
    pub over: u8,
    pub of: u8,
    pub limit: Option<SlowLimit>,
    pub notify: bool,
}

impl Default for Watch {
    /// For the warnings of assertions, which count without any settings.
    fn default() -> Self {
        Self { over: DEFAULT_OVER, of: DEFAULT_OF, limit: None, notify: true }
    }
}

impl Watch {
    /// The warning about a check that took this long, if it was too slow.
    pub fn slow(&self, load_time: Option<Duration>) -> Option<Warning> {
        let limit = self.limit.as_ref()?;
        load_time.filter(|time| *time > limit.above).map(|_| limit.warning())
    }

    fn mask(&self) -> u32 {
        u32::MAX >> (32 - u32::from(self.of.clamp(1, MAX_WINDOW)))
    }
}

/// The last checks of a monitor, as long as one of them was affected or the monitor is degraded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// A bit for each check, the last one first: 1 for one that was affected.
    recent: u32,
    /// The times of the affected ones, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    affected: Vec<i64>,
    /// Since when the monitor is degraded, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded: Option<Degradation>,
}

/// A span in which a monitor is degraded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Degradation {
    #[serde(with = "serde_millis::instant")]
    pub since: Millis,
    pub cause: String,
    pub reason: Reason,
}

/// A change of health: to be recorded at once, and possibly notified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthChange {
    pub kind: HealthChangeKind,
    pub degradation: Degradation,
    /// Whether it is notified; of one that an outage replaces, only the services that keep an
    /// incident open.
    pub notify: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthChangeKind {
    Degraded,
    Restored,
    /// The monitor has gone down: the outage replaces it.
    WentDown,
}

impl HealthChange {
    fn new(kind: HealthChangeKind, degradation: Degradation, watch: &Watch) -> Self {
        Self { kind, degradation, notify: watch.notify }
    }
}

/// One more check of a monitor that is up: `warning` is what is wrong with it, if anything.
pub fn row(
    row: Option<&Row>,
    warning: Option<&Warning>,
    watch: &Watch,
    at: Millis,
) -> (Option<Box<Row>>, Option<HealthChange>) {
    if row.is_none() && warning.is_none() {
        return (None, None);
    }
    let mut next = row.cloned().unwrap_or_default();
    next.recent = ((next.recent << 1) | u32::from(warning.is_some())) & watch.mask();
    next.affected.extend(warning.map(|_| at.0));
    let ones = next.recent.count_ones() as usize;
    let dropped = next.affected.len().saturating_sub(ones);
    next.affected.drain(..dropped);
    let over = usize::from(watch.over);
    let change = match (next.degraded.take(), warning) {
        (None, Some(warning)) if ones >= over => {
            let since = next.affected.first().copied().map_or(at, Millis);
            let Warning { reason, words } = warning.clone();
            let degradation = Degradation { since, cause: words, reason };
            next.degraded = Some(degradation.clone());
            Some(HealthChange::new(HealthChangeKind::Degraded, degradation, watch))
        }
        (Some(degradation), None) if ones <= over.saturating_sub(1) / 2 => {
            // What follows is dated from here, so that no two degradations overlap.
            next.affected.fill(at.0);
            Some(HealthChange::new(HealthChangeKind::Restored, degradation, watch))
        }
        (degraded, _) => {
            next.degraded = degraded;
            None
        }
    };
    (next.into_state(), change)
}

/// The target reports itself that it is degraded, which takes effect at once, or no longer.
pub fn report(
    row: Option<&Row>,
    warning: Option<&Warning>,
    watch: &Watch,
    at: Millis,
) -> (Option<Box<Row>>, Option<HealthChange>) {
    let before = row.and_then(|row| row.degraded.clone());
    match (before, warning) {
        (None, Some(warning)) => {
            let Warning { reason, words } = warning.clone();
            let degradation = Degradation { since: at, cause: words, reason };
            let next = Row { degraded: Some(degradation.clone()), ..Row::default() };
            let change = HealthChange::new(HealthChangeKind::Degraded, degradation, watch);
            (Some(Box::new(next)), Some(change))
        }
        (Some(degradation), None) => {
            (None, Some(HealthChange::new(HealthChangeKind::Restored, degradation, watch)))
        }
        (Some(_), Some(_)) => (row.cloned().map(Box::new), None),
        (None, None) => (None, None),
    }
}

/// The monitor has gone down: the row starts again from empty.
pub fn went_down(row: Option<&Row>, watch: &Watch) -> Option<HealthChange> {
    let degradation = row?.degraded.clone()?;
    Some(HealthChange::new(HealthChangeKind::WentDown, degradation, watch))
}

impl Row {
    /// A row without any affected check takes no space.
    fn into_state(self) -> Option<Box<Self>> {
        (self.recent != 0 || self.degraded.is_some()).then(|| Box::new(self))
    }
}

#[cfg(test)]
mod tests;
