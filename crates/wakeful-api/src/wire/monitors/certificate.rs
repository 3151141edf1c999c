//! The certificate that a target showed last, as it is returned.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::observation::Signer;
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
    /// What the target sent along to prove it, from whoever signed it upwards; five at most.
    chain: Vec<SignerBody>,
    /// When it was first seen.
    #[schema(value_type = String, format = DateTime)]
    since: Millis,
}

/// A certificate of the chain.
#[derive(Serialize, ToSchema)]
#[schema(as = Signer)]
pub(crate) struct SignerBody {
    subject: String,
    issuer: String,
    #[schema(value_type = String, format = DateTime)]
    expires: Millis,
}

impl From<Signer> for SignerBody {
    fn from(Signer { subject, issuer, not_after }: Signer) -> Self {
        Self { subject, issuer, expires: not_after }
    }
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
            chain: certificate.chain.into_iter().map(SignerBody::from).collect(),
            since,
        }
    }
}
