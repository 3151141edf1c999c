//! Monitors of type tls.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::monitors::spec::tls::DEFAULT_PORT;
use wakeful_core::monitors::spec::{Hostname, Spec, Starttls, TlsSpec, port};

use super::client_certificate::{ClientCertificateBody, SaveClientCertificate};
use super::request::hostname;
use super::{SpecFields, client_certificate, connect};
use crate::dto::Fields;
use crate::dto::enums::StarttlsProtocol;

/// The handshake and the certificates that count as up.
#[derive(ToSchema)]
#[schema(as = SaveTls)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveTls {
    /// The name that is sent and that the certificate must have; the host unless set.
    server_name: Option<String>,
    /// none unless set.
    starttls: Option<StarttlsProtocol>,
    ignore_tls_error: Option<bool>,
    /// true unless set.
    certificate_expiry_notification: Option<bool>,
    /// The certificate to present, with its issuers, as PEM.
    client_certificate: Option<SaveClientCertificate>,
    /// Its private key as PEM. Stored encrypted and never returned.
    client_key: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = MonitorTls)]
pub(crate) struct TlsBody<'a> {
    /// Empty for the host.
    server_name: &'a str,
    #[schema(value_type = StarttlsProtocol)]
    starttls: &'static str,
    ignore_tls_error: bool,
    certificate_expiry_notification: bool,
    /// The certificate that checks present.
    client_certificate: Option<ClientCertificateBody<'a>>,
}

pub(super) fn read(fields: &mut Fields, old: Option<&Spec>) -> Option<Spec> {
    let hostname = hostname(fields, old);
    let before = match old {
        Some(Spec::Tls(tls)) => Some(tls),
        _ => None,
    };
    let previous = before.map_or(DEFAULT_PORT, |old| old.port);
    let port = fields.optional_text_or_number("port", |text| match text.trim() {
        "" => Ok(DEFAULT_PORT),
        text => port(text),
    });
    let port = port.unwrap_or(previous);
    let connect = connect::read(fields, old, hostname.as_ref().map(Hostname::host));
    let placeholder = Hostname::parse("localhost").expect("a valid host");
    let base = before.cloned().unwrap_or_else(|| TlsSpec::of(placeholder, port));
    let tls = fields.within("tls", |fields| {
        let server_name = fields.optional("server_name", |text| match text.trim() {
            "" => Ok(None),
            text => Hostname::parse(text).map(Some),
        });
        let starttls = fields.optional("starttls", Starttls::parse).unwrap_or(base.starttls);
        let ignore = fields.optional_flag("ignore_tls_error");
        let expiry = fields.optional_flag("certificate_expiry_notification");
        // A stored key belongs to the server that it was entered for.
        let is_moved = hostname.as_ref().is_some_and(|new| *new != base.hostname)
            || port != base.port
            || connect != base.connect;
        let own = base.client_certificate.as_deref().filter(|_| !is_moved).cloned();
        TlsSpec {
            server_name: server_name.unwrap_or(base.server_name),
            starttls,
            ignore_tls_error: ignore.unwrap_or(base.ignore_tls_error),
            certificate_expiry_notification: expiry.unwrap_or(base.certificate_expiry_notification),
            client_certificate: client_certificate::read(fields, own).map(Box::new),
            port,
            connect,
            hostname: base.hostname,
        }
    });
    Some(Spec::Tls(TlsSpec { hostname: hostname?, ..tls }))
}

pub(super) fn show(tls: &TlsSpec) -> SpecFields<'_> {
    SpecFields {
        tls: Some(TlsBody {
            server_name: tls.server_name.as_ref().map_or("", Hostname::as_str),
            starttls: tls.starttls.as_str(),
            ignore_tls_error: tls.ignore_tls_error,
            certificate_expiry_notification: tls.certificate_expiry_notification,
            client_certificate: tls.client_certificate.as_deref().map(ClientCertificateBody::of),
        }),
        hostname: Some(tls.hostname.as_str()),
        port: Some(tls.port.to_string()),
        ..SpecFields::default()
    }
}

#[cfg(test)]
pub(super) fn examples() -> Vec<serde_json::Value> {
    vec![
        serde_json::json!({"type": "tls", "hostname": "example.com"}),
        serde_json::json!({"type": "tls", "hostname": "mail.example.com", "port": 25,
            "ip_family": "4", "resolver": "9.9.9.9", "connect_to": "192.0.2.1",
            "tls": {"starttls": "smtp", "server_name": "example.com",
                "certificate_expiry_notification": false}}),
    ]
}
