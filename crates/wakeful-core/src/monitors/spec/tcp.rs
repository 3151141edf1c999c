//! The host and the port of a tcp monitor.

use serde::{Deserialize, Serialize};

use crate::monitors::hostname::Hostname;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpSpec {
    pub hostname: Hostname,
    pub port: u16,
}
