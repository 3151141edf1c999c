//! Monitors of type dns.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::monitors::spec::{DnsSpec, Kind, RecordType, Resolver, Spec};

use super::SpecFields;
use super::request::{hostname, optional_port};
use crate::dto::Fields;
use crate::dto::enums::DnsRecordType;

/// The DNS query and the resolver.
#[derive(ToSchema)]
#[schema(as = SaveDns)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveDns {
    /// `ip` or `ip:port`.
    resolver_server: Option<String>,
    record_type: Option<DnsRecordType>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = MonitorDns)]
pub(crate) struct DnsBody<'a> {
    resolver_server: &'a str,
    #[schema(value_type = DnsRecordType)]
    record_type: &'static str,
}

pub(super) fn read(fields: &mut Fields, old: Option<&Spec>) -> Option<Spec> {
    let hostname = hostname(fields, old);
    // The default is the port of the resolver.
    let port = optional_port(fields, old.filter(|old| old.kind() == Kind::Dns));
    let old = match old {
        Some(Spec::Dns(dns)) => Some(dns),
        _ => None,
    };
    fields.within("dns", |fields| {
        let resolver = fields.optional("resolver_server", Resolver::parse);
        let resolver = resolver.or_else(|| old.map(|old| old.resolver_server.clone()));
        let resolver = fields.require("resolver_server", resolver);
        let record_type = fields.optional("record_type", RecordType::parse);
        let record_type = record_type.or_else(|| old.map(|old| old.record_type));
        let record_type = fields.require("record_type", record_type);
        Some(Spec::Dns(DnsSpec {
            hostname: hostname?,
            port,
            resolver_server: resolver?,
            record_type: record_type?,
        }))
    })
}

pub(super) fn show(dns: &DnsSpec) -> SpecFields<'_> {
    SpecFields {
        dns: Some(DnsBody {
            resolver_server: dns.resolver_server.as_str(),
            record_type: dns.record_type.as_str(),
        }),
        hostname: Some(dns.hostname.as_str()),
        port: dns.port.map(|port| port.to_string()),
        ..SpecFields::default()
    }
}

#[cfg(test)]
pub(super) fn examples() -> Vec<serde_json::Value> {
    vec![serde_json::json!({"type": "dns", "hostname": "example.com", "port": "5353",
        "dns": {"resolver_server": "9.9.9.9", "record_type": "AAAA"}})]
}
