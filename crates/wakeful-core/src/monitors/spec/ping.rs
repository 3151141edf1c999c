//! The host of a ping monitor, and the echoes of one check.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::connect::ConnectOptions;
use crate::Invalid;
use crate::monitors::hostname::Hostname;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PingSpec {
    pub hostname: Hostname,
    /// Ping does not use it: it is stored and returned for clients that send
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    #[serde(default, skip_serializing_if = "Echoes::is_default")]
    pub echoes: Echoes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect: Option<Box<ConnectOptions>>,
}

impl PingSpec {
    pub fn of(hostname: Hostname) -> Self {
        Self { hostname, port: None, echoes: Echoes::default(), connect: None }
    }
}

/// The echoes of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Echoes {
    pub count: u8,
    /// Milliseconds between two of them.
    pub spacing: u16,
    /// The bytes that each carries.
    pub size: u16,
}

impl Default for Echoes {
    fn default() -> Self {
        Self { count: 1, spacing: 200, size: 16 }
    }
}

impl Echoes {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether losses and jitter can be measured.
    pub fn are_several(&self) -> bool {
        self.count > 1
    }

    pub fn spacing(&self) -> Duration {
        Duration::from_millis(self.spacing.into())
    }

    pub fn parse_count(count: u64) -> Result<u8, Invalid> {
        let count = u8::try_from(count).ok().filter(|count| (1..=20).contains(count));
        count.ok_or_else(|| Invalid::new("must be 1 to 20"))
    }

    pub fn parse_spacing(millis: u64) -> Result<u16, Invalid> {
        let millis = u16::try_from(millis).ok().filter(|millis| (20..=1_000).contains(millis));
        millis.ok_or_else(|| Invalid::new("must be 20 to 1000"))
    }

    pub fn parse_size(bytes: u64) -> Result<u16, Invalid> {
        let bytes = u16::try_from(bytes).ok().filter(|bytes| (16..=1_400).contains(bytes));
        bytes.ok_or_else(|| Invalid::new("must be 16 to 1400"))
    }
}
