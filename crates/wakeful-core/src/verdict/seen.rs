//! What can come in about a target, from a check, from the target, or from
//! hearing nothing.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::Status;
use crate::Invalid;
use crate::number;
use crate::observation::{Fault, Observation, tidy};

/// What came in about a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    Observation(Observation),
    Fault(Fault),
    Report(Report),
    /// An api monitor heard nothing for this long: interval and grace.
    Missed(Duration),
}

/// What the target says of itself through notify or the push address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub up: bool,
    pub message: String,
    #[serde(with = "number::micros")]
    pub load_time: Option<Duration>,
}

impl Report {
    /// Reads the status of a report: `up` or `down` in any letter case.
    pub fn parse(status: &str) -> Result<Self, Invalid> {
        let up = match status.trim().to_ascii_lowercase().as_str() {
            "up" => true,
            "down" => false,
            _ => return Err(Invalid::new("must be up or down")),
        };
        let word = if up { Status::Up } else { Status::Down }.as_str();
        Ok(Self { up, message: format!("reported {word}"), load_time: None })
    }

    #[must_use]
    pub fn with_message(self, message: &str) -> Self {
        Self { message: tidy(message), ..self }
    }

    #[must_use]
    pub fn with_load_time(self, load_time: Duration) -> Self {
        Self { load_time: Some(load_time), ..self }
    }
}
