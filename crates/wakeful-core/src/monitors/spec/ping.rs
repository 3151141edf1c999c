//! The host of a ping monitor.

use serde::{Deserialize, Serialize};

use crate::monitors::hostname::Hostname;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PingSpec {
    pub hostname: Hostname,
    /// Ping does not use it: it is stored and returned for clients that send
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

impl PingSpec {
    pub fn of(hostname: Hostname) -> Self {
        Self { hostname, port: None }
    }
}
