//! The input of a verdict: from a check, from the target, or from missing
//! reports.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::Invalid;
use crate::evidence::Evidence;
use crate::observation::{Fault, Observation, sanitize};
use crate::reason::Reason;
use crate::serde_millis;

/// The input of a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    Observation(Observation),
    Fault(Fault),
    Report(Report),
    /// An api monitor received no report for this long: interval and grace.
    Missed(Duration),
    /// A run that was reported to an api monitor has not ended within this time.
    Overran(Duration),
}

impl Input {
    /// What the check saw, if it was collected.
    pub fn evidence(&self) -> Option<&Evidence> {
        match self {
            Self::Observation(seen) => seen.evidence.as_deref(),
            _ => None,
        }
    }
}

/// A report of the target through notify or the push URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub up: bool,
    /// Up, but not as it should be.
    #[serde(default)]
    pub degraded: bool,
    pub message: String,
    #[serde(with = "serde_millis::micros")]
    pub load_time: Option<Duration>,
    /// Why it is down; `None`: because the target says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

impl Report {
    /// The statuses that a target can report.
    pub const STATUSES: &[&str] = &["up", "degraded", "down"];

    /// Parses the status of a report, in any letter case.
    pub fn parse(status: &str) -> Result<Self, Invalid> {
        let status = status.trim().to_ascii_lowercase();
        if !Self::STATUSES.contains(&status.as_str()) {
            return Err(Invalid::new("must be up, degraded or down"));
        }
        Ok(Self {
            up: status != "down",
            degraded: status == "degraded",
            message: format!("reported {status}"),
            load_time: None,
            reason: None,
        })
    }

    #[must_use]
    pub fn with_message(self, message: &str) -> Self {
        Self { message: sanitize(message), ..self }
    }

    #[must_use]
    pub fn with_load_time(self, load_time: Duration) -> Self {
        Self { load_time: Some(load_time), ..self }
    }
}
