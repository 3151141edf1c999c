//! The certificate that a target showed last, as it is returned.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::time::Millis;
use wakeful_engine::ShownCertificate;

#[derive(Serialize, ToSchema)]
#[schema(as = Certificate)]
pub(crate) struct CertificateBody {
    /// Whose it is, as a distinguished name; may be empty.
    subject: String,
    /// Who signed it.
    issuer: String,
    /// The first ten of the names and addresses it is good for.
    names: Vec<String>,
    #[schema(value_type = String, format = DateTime)]
    expires: Millis,
    /// Whether it is good for this target: signed by somebody we trust, in date, for its name.
    trusted: bool,
    /// When it was first seen.
    #[schema(value_type = String, format = DateTime)]
    since: Millis,
}

impl From<ShownCertificate> for CertificateBody {
    fn from(shown: ShownCertificate) -> Self {
        let ShownCertificate { certificate, since } = shown;
        Self {
            subject: certificate.subject,
            issuer: certificate.issuer,
            names: certificate.names,
            expires: certificate.not_after,
            trusted: certificate.trusted,
            since,
        }
    }
}
