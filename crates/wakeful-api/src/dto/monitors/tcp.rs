//! Monitors of type tcp.

use wakeful_core::monitors::spec::{Kind, Spec, TcpSpec, port};

use super::request::hostname;
use super::{SpecFields, connect};
use crate::dto::Fields;

pub(super) fn read(fields: &mut Fields, old: Option<&Spec>) -> Option<Spec> {
    let hostname = hostname(fields, old);
    let previous = old.filter(|old| old.kind() != Kind::Ping).and_then(Spec::port);
    let port = fields.optional_text_or_number("port", port).or(previous);
    let port = fields.require("port", port);
    let hostname = hostname?;
    let connect = connect::read(fields, old, Some(hostname.host()));
    Some(Spec::Tcp(TcpSpec { hostname, port: port?, connect }))
}

pub(super) fn show(tcp: &TcpSpec) -> SpecFields<'_> {
    SpecFields {
        hostname: Some(tcp.hostname.as_str()),
        port: Some(tcp.port.to_string()),
        ..SpecFields::default()
    }
}

#[cfg(test)]
pub(super) fn examples() -> Vec<serde_json::Value> {
    vec![serde_json::json!({"type": "tcp", "hostname": "localhost", "port": 22})]
}
