//! Certificates that users enter: the one that a check presents, with its key, and the
//! authorities that it trusts.

use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys, RootCertStore};
use sha2::Digest as _;
use std::sync::Arc;
use wakeful_core::Invalid;
use wakeful_core::monitors::spec::ClientCertificate;
use wakeful_core::monitors::spec::client_certificate::MAX_PEM_BYTES;
use wakeful_core::monitors::spec::request::MAX_CA_BYTES;
use wakeful_core::one_line::one_line;
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;
use x509_parser::prelude::{FromDer as _, X509Certificate};

const MAX_SUBJECT_LENGTH: usize = 200;

/// Reads a certificate with its issuers and its private key, both as PEM. The error has the
/// field that is wrong.
pub fn read_client_certificate(
    chain: &str,
    key: &Secret,
) -> Result<ClientCertificate, (&'static str, Invalid)> {
    const CERTIFICATE: &str = "client_certificate";
    const KEY: &str = "client_key";
    if chain.len() > MAX_PEM_BYTES {
        let why = format!("must have at most {MAX_PEM_BYTES} bytes");
        return Err((CERTIFICATE, Invalid::new(why)));
    }
    let no_certificate = || Invalid::new("must be a certificate in PEM format");
    let certificates = certificates(chain).ok_or_else(|| (CERTIFICATE, no_certificate()))?;
    let leaf = certificates.first().ok_or_else(|| (CERTIFICATE, no_certificate()))?;
    let (_, parsed) =
        X509Certificate::from_der(leaf).map_err(|_| (CERTIFICATE, no_certificate()))?;
    let described = ClientCertificate {
        chain: chain.trim().to_owned(),
        subject: one_line(&parsed.subject().to_string(), MAX_SUBJECT_LENGTH),
        not_after: Millis(parsed.validity().not_after.timestamp().saturating_mul(1_000)),
        fingerprint: data_encoding::HEXLOWER.encode(&sha2::Sha256::digest(leaf)),
        key: key.clone(),
    };
    if key.expose().is_empty() {
        return Err((KEY, Invalid::new("must be set with a client certificate")));
    }
    if key.expose().len() > MAX_PEM_BYTES {
        return Err((KEY, Invalid::new(format!("must have at most {MAX_PEM_BYTES} bytes"))));
    }
    let no_key = Invalid::new("must be a private key in PEM format, without a passphrase");
    let Some(identity) = identity(certificates, key) else { return Err((KEY, no_key)) };
    match identity.keys_match() {
        // The key does not reveal its public part.
        Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(described),
        Err(_) => Err((KEY, Invalid::new("does not match the certificate"))),
    }
}

/// The certificate and its key, for handshakes; `None` if they are damaged.
pub(super) fn identity_of(certificate: &ClientCertificate) -> Option<CertifiedKey> {
    identity(certificates(&certificate.chain)?, &certificate.key)
}

fn identity(chain: Vec<CertificateDer<'static>>, key: &Secret) -> Option<CertifiedKey> {
    let key = PrivateKeyDer::from_pem_slice(key.expose().as_bytes()).ok()?;
    let key = rustls::crypto::aws_lc_rs::sign::any_supported_type(&key).ok()?;
    Some(CertifiedKey::new(chain, key))
}

fn certificates(pem: &str) -> Option<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<_, _>>().ok()
}

/// Authorities to trust, as PEM.
pub fn read_authorities(pem: &str) -> Result<String, Invalid> {
    if pem.len() > MAX_CA_BYTES {
        return Err(Invalid::new(format!("must have at most {MAX_CA_BYTES} bytes")));
    }
    if pem.trim().is_empty() {
        return Ok(String::new());
    }
    match authorities(pem) {
        Some(_) => Ok(pem.trim().to_owned()),
        None => Err(Invalid::new("must be certificates of authorities in PEM format")),
    }
}

/// A verifier that trusts only these authorities.
pub(super) fn authorities(pem: &str) -> Option<Arc<WebPkiServerVerifier>> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem)? {
        roots.add(certificate).ok()?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build().ok()
}
