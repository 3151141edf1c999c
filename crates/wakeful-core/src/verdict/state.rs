//! What is kept of a monitor's verdicts: the state they have come to, and the
//! heartbeats they leave behind.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::certificate::Given;
use crate::number;
use crate::observation::Phases;
use crate::region::RegionBeat;
use crate::time::Millis;

/// The status of a monitor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// No verdict yet.
    #[default]
    Pending,
    Up,
    Down,
}

impl Status {
    pub const ALL: &[Self] = &[Self::Pending, Self::Up, Self::Down];

    /// The status a word stands for, as stored or asked for in a list.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.as_str() == text)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

/// Everything a verdict remembers of a monitor: small, stored, read at start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub status: Status,
    /// When the status became what it is.
    #[serde(with = "number::maybe_instant", skip_serializing_if = "Option::is_none")]
    pub since: Option<Millis>,
    #[serde(with = "number::maybe_instant", skip_serializing_if = "Option::is_none")]
    pub last_check: Option<Millis>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_message: String,
    #[serde(with = "number::micros", skip_serializing_if = "Option::is_none")]
    pub load_time: Option<Duration>,
    /// The failures in a row, until one passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing: Option<Failing>,
    #[serde(skip_serializing_if = "Given::is_empty")]
    pub warned: Given,
}

/// A row of failing checks, confirmed when the status is down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failing {
    pub checks: u16,
    /// The time of the first one: when the outage began, as far as we know.
    #[serde(with = "number::instant")]
    pub started: Millis,
    /// The message of the first one.
    pub cause: String,
}

impl State {
    /// The state to go on with when checks begin anew, after a pause or for a
    /// changed target: an old doubt must not confirm a new failure.
    #[must_use]
    pub fn renewed(self) -> Self {
        let failing = self.failing.filter(|_| self.status == Status::Down);
        Self { failing, ..self }
    }
}

/// One line of a monitor's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    #[serde(with = "number::instant")]
    pub at: Millis,
    pub status: Beat,
    pub message: String,
    #[serde(with = "number::micros")]
    pub load_time: Option<Duration>,
    pub phases: Phases,
    /// What each region saw; empty when only the owner looked.
    pub regions: Vec<RegionBeat>,
}

/// What one heartbeat says, confirmed or not; upside down is already applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Beat {
    Up,
    Down,
    /// We could not look.
    Unknown,
}

impl Beat {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Unknown => "unknown",
        }
    }
}
