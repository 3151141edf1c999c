//! Monitors of type domain.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::monitors::spec::domain::domain_name;
use wakeful_core::monitors::spec::{DomainSpec, HttpUrl, Spec};

use super::SpecFields;
use crate::dto::Fields;

/// The registration of a domain.
#[derive(ToSchema)]
#[schema(as = SaveDomain)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveDomain {
    /// Whether warnings are sent 60, 30, 14, 7, 3, 1 and 0 days before the registration expires;
    /// true unless set.
    expiry_notification: Option<bool>,
    /// The base URL of an RDAP server to query instead of that of the registry.
    server: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = MonitorDomain)]
pub(crate) struct DomainBody<'a> {
    expiry_notification: bool,
    /// Empty for the server of the registry.
    server: &'a str,
}

pub(super) fn read(fields: &mut Fields, old: Option<&Spec>) -> Option<Spec> {
    let previous = old.and_then(Spec::hostname).map(|name| name.as_str().to_owned());
    let hostname = if fields.has("hostname") {
        fields.optional("hostname", domain_name)
    } else {
        previous.and_then(|name| fields.accept("hostname", domain_name(&name)))
    };
    let hostname = fields.require("hostname", hostname);
    let old = match old {
        Some(Spec::Domain(domain)) => Some(domain),
        _ => None,
    };
    fields.within("domain", |fields| {
        let expiry = fields.optional_flag("expiry_notification");
        let server = fields.optional("server", |text| match text.trim() {
            "" => Ok(None),
            text => HttpUrl::parse(text).map(Some),
        });
        Some(Spec::Domain(DomainSpec {
            hostname: hostname?,
            expiry_notification: expiry.unwrap_or(old.is_none_or(|old| old.expiry_notification)),
            server: server.unwrap_or_else(|| old.and_then(|old| old.server.clone())),
        }))
    })
}

pub(super) fn show(domain: &DomainSpec) -> SpecFields<'_> {
    SpecFields {
        domain: Some(DomainBody {
            expiry_notification: domain.expiry_notification,
            server: domain.server.as_ref().map_or("", HttpUrl::as_str),
        }),
        hostname: Some(domain.hostname.as_str()),
        ..SpecFields::default()
    }
}

#[cfg(test)]
pub(super) fn examples() -> Vec<serde_json::Value> {
    vec![serde_json::json!({"type": "domain", "hostname": "example.com",
        "heartbeat_interval": 3600, "domain": {"server": "https://rdap.example/"}})]
}
