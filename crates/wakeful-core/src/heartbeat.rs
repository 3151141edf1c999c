//! A heartbeat: the stored result of one check, with the results of each region
//! and the duration of its phases.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::named_enum;
use crate::region::Region;
use crate::serde_millis;
use crate::time::Millis;

/// One entry of a monitor's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    #[serde(with = "serde_millis::instant")]
    pub at: Millis,
    pub status: Beat,
    pub message: String,
    #[serde(with = "serde_millis::micros")]
    pub load_time: Option<Duration>,
    pub phases: Phases,
    /// The result of each region; empty when only the owning node checked.
    pub regions: Vec<RegionBeat>,
    /// Numbers that the check has measured, for charts.
    #[serde(default, skip_serializing_if = "Readings::is_empty")]
    pub readings: Readings,
}

/// Up to two numbers of one check, in thousandths: loss and jitter of a ping, or the number that
/// an assertion charts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Readings(pub [Option<i64>; 2]);

impl Readings {
    /// Greater numbers are not stored: their thousandths must be exact.
    const MAX: f64 = 1e12;

    /// The readings of these numbers; one that is not finite or too large is left out.
    pub fn of(numbers: [Option<f64>; 2]) -> Self {
        let thousandths = |number: f64| {
            (number.is_finite() && number.abs() <= Self::MAX)
                .then(|| (number * 1_000.0).round() as i64)
        };
        Self(numbers.map(|number| number.and_then(thousandths)))
    }

    pub fn is_empty(&self) -> bool {
        self.0 == [None, None]
    }

    /// The readings of another machine, with the same bounds as those made here.
    #[must_use]
    pub fn sanitized(self) -> Self {
        const MAX: i64 = 1_000_000_000_000_000;
        Self(self.0.map(|reading| reading.map(|number| number.clamp(-MAX, MAX))))
    }
}

named_enum! {
    /// The status of one heartbeat, confirmed or not; upside-down mode is
    /// already applied.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Beat {
        Up = "up",
        /// Up, with something that is not as it should be.
        Degraded = "degraded",
        Down = "down",
        /// The check could not be performed.
        Unknown = "unknown",
    }
}

/// The result of one region in one check; upside-down mode is already applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionBeat {
    pub region: Region,
    pub status: Beat,
    #[serde(with = "serde_millis::micros", default, skip_serializing_if = "Option::is_none")]
    pub load_time: Option<Duration>,
    /// Empty when the check passed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl Beat {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|beat| beat.as_str() == text)
    }

    /// Whether the target is up, degraded or not.
    pub fn is_up(self) -> bool {
        matches!(self, Self::Up | Self::Degraded)
    }

    /// As programs know it that know nothing of degraded targets.
    #[must_use]
    pub fn plain(self) -> Self {
        if self == Self::Degraded { Self::Up } else { self }
    }
}

impl RegionBeat {
    #[must_use]
    pub fn reversed(self) -> Self {
        let status = match self.status {
            Beat::Up | Beat::Degraded => Beat::Down,
            Beat::Down => Beat::Up,
            Beat::Unknown => Beat::Unknown,
        };
        Self { status, ..self }
    }
}

/// How the time of a check was spent. A phase that was not reached is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Phases {
    #[serde(with = "serde_millis::micros", skip_serializing_if = "Option::is_none")]
    pub resolve: Option<Duration>,
    #[serde(with = "serde_millis::micros", skip_serializing_if = "Option::is_none")]
    pub connect: Option<Duration>,
    #[serde(with = "serde_millis::micros", skip_serializing_if = "Option::is_none")]
    pub tls: Option<Duration>,
    #[serde(with = "serde_millis::micros", skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<Duration>,
    #[serde(with = "serde_millis::micros", skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Duration>,
}
