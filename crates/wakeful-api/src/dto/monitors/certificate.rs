//! The certificate that a target last presented, as it is returned.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::observation::ChainCertificate;
use wakeful_core::time::Millis;
use wakeful_engine::StoredCertificate;

#[derive(Serialize, ToSchema)]
#[schema(as = Certificate)]
pub(crate) struct CertificateBody {
    /// The subject as a distinguished name; may be empty.
    subject: String,
    /// The issuer as a distinguished name.
    issuer: String,
    /// The first ten of the names and addresses that the certificate is valid for.
    names: Vec<String>,
    #[schema(value_type = String, format = DateTime)]
    expires: Millis,
    /// Whether the certificate is valid for this target: signed by a trusted authority,
    /// not expired, and issued for its name.
    trusted: bool,
    /// The intermediate certificates that the target presented, from the issuer upward; five
    /// at most.
    chain: Vec<SignerBody>,
    /// When the certificate was first seen.
    #[schema(value_type = String, format = DateTime)]
    since: Millis,
}

/// A certificate of the chain.
#[derive(Serialize, ToSchema)]
#[schema(as = ChainCertificate)]
pub(crate) struct SignerBody {
    subject: String,
    issuer: String,
    #[schema(value_type = String, format = DateTime)]
    expires: Millis,
}

impl From<ChainCertificate> for SignerBody {
    fn from(ChainCertificate { subject, issuer, not_after }: ChainCertificate) -> Self {
        Self { subject, issuer, expires: not_after }
    }
}

impl From<StoredCertificate> for CertificateBody {
    fn from(shown: StoredCertificate) -> Self {
        let StoredCertificate { certificate, since } = shown;
        Self {
            subject: certificate.subject,
            issuer: certificate.issuer,
            names: certificate.names,
            expires: certificate.not_after,
            trusted: certificate.trusted,
            chain: certificate.chain.into_iter().map(SignerBody::from).collect(),
            since,
        }
    }
}
