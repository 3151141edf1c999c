//! The certificate that a check presents to its target, and the private key of it, which is
//! stored encrypted. Both are parsed when a monitor is saved.

use serde::{Deserialize, Serialize};

use crate::secret::Secret;
use crate::serde_millis;
use crate::time::Millis;

/// The longest chain and the longest key, in bytes.
pub const MAX_PEM_BYTES: usize = 16_384;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientCertificate {
    /// The certificate and its issuers, as PEM.
    pub chain: String,
    pub subject: String,
    #[serde(with = "serde_millis::instant")]
    pub not_after: Millis,
    /// The SHA-256 of the certificate, as hex.
    pub fingerprint: String,
    /// PEM.
    #[serde(skip, default = "Secret::empty")]
    pub key: Secret,
}
