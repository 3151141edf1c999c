//! Service level objectives: how much of the time a monitor should be up, and how much of the
//! budget for outages is left.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::Invalid;
use crate::history::{HistoryStatus, PerStatus};

const MAX_DAYS: u64 = 365;
/// In thousandths of a percent.
const TARGETS: std::ops::RangeInclusive<u32> = 90_000..=99_999;
const DEFAULT_DAYS: u16 = 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slo {
    /// In thousandths of a percent.
    pub target: u32,
    pub days: u16,
    /// Whether degraded time counts as down.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub degraded_is_down: bool,
}

impl Slo {
    pub fn of(target: u32) -> Self {
        Self { target, days: DEFAULT_DAYS, degraded_is_down: false }
    }

    pub fn parse_target(percent: f64) -> Result<u32, Invalid> {
        let target = (percent * 1_000.0).round();
        let is_known = target >= f64::from(*TARGETS.start()) && target <= f64::from(*TARGETS.end());
        if is_known { Ok(target as u32) } else { Err(Invalid::new("must be 90 to 99.999")) }
    }

    pub fn parse_days(days: u64) -> Result<u16, Invalid> {
        let days = Some(days).filter(|days| (1..=MAX_DAYS).contains(days));
        let days = days.and_then(|days| u16::try_from(days).ok());
        days.ok_or_else(|| Invalid::new("must be 1 to 365"))
    }

    /// The target as a percentage.
    pub fn percent(&self) -> f64 {
        f64::from(self.target) / 1_000.0
    }

    pub fn window(&self) -> Duration {
        Duration::from_secs(u64::from(self.days) * 24 * 3_600)
    }

    /// The share of the time that may be lost.
    fn allowed(&self) -> f64 {
        f64::from(100_000 - self.target.min(100_000)) / 100_000.0
    }

    /// The milliseconds that count as lost, and those that count at all. What is unknown or
    /// excluded counts as neither.
    fn lost(&self, millis: &PerStatus) -> (u64, u64) {
        let degraded = millis[HistoryStatus::Degraded];
        let down = millis[HistoryStatus::Down];
        let counted = millis.up() + down;
        (if self.degraded_is_down { down + degraded } else { down }, counted)
    }

    /// What has been attained within the window.
    pub fn report(&self, window: &PerStatus, hour: &PerStatus, six_hours: &PerStatus) -> SloReport {
        let (lost, counted) = self.lost(window);
        let budget = self.window().as_secs_f64() * self.allowed();
        let spent = lost as f64 / 1_000.0;
        SloReport {
            attained: (counted > 0).then(|| 100.0 - lost as f64 * 100.0 / counted as f64),
            budget,
            spent,
            left: budget - spent,
            burn_hour: self.burn(hour),
            burn_six_hours: self.burn(six_hours),
        }
    }

    /// How many times faster than allowed the budget is spent; `None` without data.
    fn burn(&self, millis: &PerStatus) -> Option<f64> {
        let (lost, counted) = self.lost(millis);
        (counted > 0).then(|| lost as f64 / counted as f64 / self.allowed())
    }
}

/// In seconds, except for the shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SloReport {
    /// A percentage; `None` without data.
    pub attained: Option<f64>,
    pub budget: f64,
    pub spent: f64,
    /// Negative if more was spent.
    pub left: f64,
    pub burn_hour: Option<f64>,
    pub burn_six_hours: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(shares: &[(HistoryStatus, u64)]) -> PerStatus {
        let mut millis = PerStatus::default();
        for (status, seconds) in shares {
            millis[*status] = seconds * 1_000;
        }
        millis
    }

    #[test]
    fn the_budget_is_spent_by_outages_and_on_request_by_degraded_time() {
        use HistoryStatus as H;
        let month = millis(&[
            (H::Up, 90_000),
            (H::Degraded, 9_000),
            (H::Down, 1_000),
            (H::Unknown, 50_000),
            (H::Pending, 7_000),
            (H::Maintenance, 70_000),
        ]);
        let hour = millis(&[(H::Up, 3_564), (H::Down, 36)]);
        let report = |slo: Slo| slo.report(&month, &hour, &PerStatus::default());
        let plain = report(Slo::of(99_900));
        assert_eq!(plain.attained, Some(99.0));
        assert!((plain.budget - 2_592.0).abs() < 1e-6, "{plain:?}");
        assert!((plain.spent - 1_000.0).abs() < 1e-6 && (plain.left - 1_592.0).abs() < 1e-6);
        assert!((plain.burn_hour.expect("data") - 10.0).abs() < 1e-6);
        assert_eq!(plain.burn_six_hours, None);
        let strict = report(Slo { degraded_is_down: true, ..Slo::of(99_900) });
        assert_eq!(strict.attained, Some(90.0));
        assert!(strict.left < 0.0);
    }

    #[test]
    fn settings_are_bounded() {
        assert_eq!(Slo::parse_target(99.9), Ok(99_900));
        assert_eq!(Slo::parse_target(99.999), Ok(99_999));
        for percent in [89.9, 100.0, f64::NAN, f64::INFINITY, -1.0] {
            assert!(Slo::parse_target(percent).is_err(), "{percent}");
        }
        assert!(Slo::parse_days(0).is_err() && Slo::parse_days(366).is_err());
        assert_eq!(Slo::parse_days(365), Ok(365));
    }
}
