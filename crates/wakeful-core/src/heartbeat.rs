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
}

named_enum! {
    /// The status of one heartbeat, confirmed or not; upside-down mode is
    /// already applied.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Beat {
        Up = "up",
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

impl RegionBeat {
    #[must_use]
    pub fn reversed(self) -> Self {
        let status = match self.status {
            Beat::Up => Beat::Down,
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
