//! Monitors of type ping.

use wakeful_core::monitors::spec::{Kind, PingSpec, Spec};

use super::SpecFields;
use super::request::{hostname, optional_port};
use crate::dto::Fields;

pub(super) fn read(fields: &mut Fields, old: Option<&Spec>) -> Option<Spec> {
    let hostname = hostname(fields, old);
    let port = optional_port(fields, old.filter(|old| old.kind() == Kind::Ping));
    hostname.map(|hostname| Spec::Ping(PingSpec { hostname, port }))
}

pub(super) fn show(ping: &PingSpec) -> SpecFields<'_> {
    SpecFields {
        hostname: Some(ping.hostname.as_str()),
        port: ping.port.map(|port| port.to_string()),
        ..SpecFields::default()
    }
}

#[cfg(test)]
pub(super) fn examples() -> Vec<serde_json::Value> {
    vec![
        serde_json::json!({"type": "ping", "hostname": "127.0.0.1", "regions": "eu, us,,EU", "quorum": 2}),
        serde_json::json!({"type": "ping", "hostname": "127.0.0.1", "port": "80"}),
    ]
}
