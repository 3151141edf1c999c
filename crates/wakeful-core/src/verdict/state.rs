//! The stored state of a monitor's verdicts.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

use crate::certificate::IssuedWarnings;
use crate::health::{Degradation, Row};
use crate::named_enum;
use crate::push::PushState;
use crate::reason::Reason;
use crate::serde_millis;
use crate::time::Millis;

named_enum! {
    /// The status of a monitor.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Status {
        /// No verdict yet.
        #[default]
        Pending = "pending",
        Up = "up",
        Down = "down",
    }
}

impl Status {
    /// Parses a status, as stored or as the filter of a list.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.as_str() == text)
    }
}

/// The complete state of a monitor's verdicts: small, stored, loaded at start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub status: Status,
    /// When the status last changed.
    #[serde(with = "serde_millis::maybe_instant", skip_serializing_if = "Option::is_none")]
    pub since: Option<Millis>,
    #[serde(with = "serde_millis::maybe_instant", skip_serializing_if = "Option::is_none")]
    pub last_check: Option<Millis>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_message: String,
    /// Whether the last check could not be performed; `last_message` is the reason.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blocked: bool,
    #[serde(with = "serde_millis::micros", skip_serializing_if = "Option::is_none")]
    pub load_time: Option<Duration>,
    /// The current streak of failures, until a check passes; `None` for most monitors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing: Option<Box<FailureStreak>>,
    #[serde(skip_serializing_if = "IssuedWarnings::is_empty")]
    pub warned: IssuedWarnings,
    /// The last checks, if one of them was affected by something; `None` for most monitors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degraded: Option<Box<Row>>,
    /// The runs of a job; `None` for most monitors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub push: Option<Box<PushState>>,
    /// The values that must not change; `None` for most monitors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<Box<KnownValues>>,
}

/// The hashes of values that must not change, by the keys of their assertions.
pub type KnownValues = BTreeMap<String, String>;

named_enum! {
    /// The health of a monitor: its status, and whether it is degraded.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Health {
        Pending = "pending",
        Up = "up",
        Degraded = "degraded",
        Down = "down",
    }
}

/// A streak of failing checks, confirmed when the status is down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureStreak {
    pub checks: u16,
    /// The time of the first one: when the outage began, as far as known.
    #[serde(with = "serde_millis::instant")]
    pub started: Millis,
    /// The message of the first one.
    pub cause: String,
    /// Why the first one failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

impl State {
    /// Since when it is degraded, and why, if it is.
    pub fn degradation(&self) -> Option<&Degradation> {
        self.degraded.as_ref().and_then(|row| row.degraded.as_ref())
    }

    pub fn health(&self) -> Health {
        match self.status {
            Status::Pending => Health::Pending,
            Status::Down => Health::Down,
            Status::Up if self.degradation().is_some() => Health::Degraded,
            Status::Up => Health::Up,
        }
    }

    /// Why it is down or degraded, if it is and that is known.
    pub fn reason(&self) -> Option<Reason> {
        match self.status {
            Status::Down => self.failing.as_ref().and_then(|failing| failing.reason),
            _ => self.degradation().map(|degradation| degradation.reason),
        }
    }

    /// Takes over another state. The message of most checks is that of the one before, and its memory
    /// stays as it is.
    pub fn copy_from(&mut self, other: &Self) {
        let last_message = std::mem::take(&mut self.last_message);
        let State {
            status,
            since,
            last_check,
            last_message: new_message,
            blocked,
            load_time,
            failing,
            warned,
            degraded,
            push,
            known,
        } = other;
        *self = Self {
            status: *status,
            since: *since,
            last_check: *last_check,
            last_message: if last_message == *new_message {
                last_message
            } else {
                new_message.clone()
            },
            blocked: *blocked,
            load_time: *load_time,
            failing: failing.clone(),
            warned: warned.clone(),
            degraded: degraded.clone(),
            push: push.clone(),
            known: known.clone(),
        };
    }

    /// The state to continue with when checks restart, after a pause or for a
    /// changed target: unconfirmed failures from before must not confirm a new
    /// one.
    #[must_use]
    pub fn without_unconfirmed_failures(self) -> Self {
        let failing = self.failing.filter(|_| self.status == Status::Down);
        Self { failing, ..self }
    }
}
