//! The certificate that a check presents: sent as PEM with its key, and returned as a
//! description, which may be sent back.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::monitors::spec::ClientCertificate;
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;
use wakeful_engine::read_client_certificate;

use crate::dto::Fields;

#[derive(Serialize, ToSchema)]
#[schema(as = ClientCertificate)]
pub(crate) struct ClientCertificateBody<'a> {
    subject: &'a str,
    #[schema(value_type = String, format = DateTime)]
    not_after: Millis,
    /// The SHA-256 of the certificate, as hex.
    fingerprint: &'a str,
}

impl<'a> ClientCertificateBody<'a> {
    pub(super) fn of(certificate: &'a ClientCertificate) -> Self {
        Self {
            subject: &certificate.subject,
            not_after: certificate.not_after,
            fingerprint: &certificate.fingerprint,
        }
    }
}

/// PEM, or the description that was returned.
#[derive(serde::Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum SaveClientCertificate {
    Pem(String),
    Described(serde_json::Map<String, serde_json::Value>),
}

/// The certificate with its key; an empty text removes both. `old` is dropped if it was entered
/// for another server.
pub(super) fn read(
    fields: &mut Fields,
    old: Option<ClientCertificate>,
) -> Option<ClientCertificate> {
    let key = fields.optional("client_key", |text| Ok(Secret::new(text.trim())));
    let is_described = fields.has_object("client_certificate");
    let sent = if is_described { None } else { fields.optional_text("client_certificate") };
    let old = match old {
        None if is_described => {
            let why = "must be sent again as PEM, with its key, for another server";
            fields.refuse("client_certificate", why);
            return None;
        }
        old => old,
    };
    let chain = match (sent, &old) {
        (Some(chain), _) if chain.trim().is_empty() => return None,
        (Some(chain), _) => chain,
        (None, Some(old)) => old.chain.clone(),
        (None, None) => {
            if key.is_some_and(|key| !key.expose().is_empty()) {
                let why = Invalid::new("must be set with a client key");
                fields.accept::<()>("client_certificate", Err(why));
            }
            return None;
        }
    };
    let key = key.or_else(|| old.map(|old| old.key)).unwrap_or_else(Secret::empty);
    match read_client_certificate(&chain, &key) {
        Ok(certificate) => Some(certificate),
        Err((field, why)) => fields.accept(field, Err(why)),
    }
}
