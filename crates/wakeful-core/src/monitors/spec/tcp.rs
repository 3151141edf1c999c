//! The host and the port of a tcp monitor.

use serde::{Deserialize, Serialize};

use super::connect::ConnectOptions;
use crate::monitors::hostname::Hostname;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpSpec {
    pub hostname: Hostname,
    pub port: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect: Option<Box<ConnectOptions>>,
}

impl TcpSpec {
    pub fn of(hostname: Hostname, port: u16) -> Self {
        Self { hostname, port, connect: None }
    }
}
