//! TLS to third parties. The handshake accepts any certificate; it is verified
//! right after the handshake and before any data is sent, so that the expiry
//! and the name of a bad certificate are known, too.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::SingleCertAndKey;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, Error, InvalidMessage,
    PeerIncompatible, RootCertStore, SignatureScheme,
};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::monitors::spec::ClientCertificate;
use wakeful_core::observation::{Certificate, ChainCertificate, Contact, FaultKind};
use wakeful_core::reason::Reason;
use wakeful_core::time::{Clock, Millis};
use x509_parser::prelude::{FromDer as _, GeneralName, X509Certificate};

use super::client_auth::{authorities, identity_of};
use super::error::ProbeError;
use super::tls_error::{alert, certificate_error, tls_error};
use super::{Stage, TlsTrace, Trace, add};

const DAY: Duration = Duration::from_secs(86_400);
/// How many names of a certificate are read; some have hundreds.
const MAX_NAMES: usize = 10;
/// How many certificates of a chain are read; three are usual.
const MAX_CHAIN_LENGTH: usize = 5;
/// How many profiles of checks are cached.
const MAX_PROFILES: usize = 256;

/// Whether a certificate must be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    Required,
    Ignored,
}

/// The protocols to offer by ALPN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// For protocols without ALPN.
    Nothing,
    Http1,
    Http2AndHttp1,
}

/// The trusted authorities, and the configuration of handshakes.
pub struct Tls {
    verifier: Arc<WebPkiServerVerifier>,
    strict: Arc<ClientConfig>,
    lenient: Arc<ClientConfig>,
    profiles: Mutex<ProfileCache>,
}

/// Those used last, by a hash of what they are made of.
type ProfileCache = HashMap<[u8; 32], (Arc<TlsProfile>, Instant)>;

/// How the connections of a check are secured that has a certificate or authorities of its own.
pub(crate) struct TlsProfile {
    pub(crate) config: Arc<ClientConfig>,
    /// Trusted in addition to those of the system.
    pub(crate) authorities: Option<Arc<WebPkiServerVerifier>>,
}

impl Tls {
    /// The system's authorities, so that private ones count; when it has none,
    /// as in a bare container, those of the Mozilla program.
    pub fn from_system() -> Self {
        let found = rustls_native_certs::load_native_certs();
        for error in &found.errors {
            tracing::warn!(error = %ErrorChain(error), "reading a system root certificate failed, skipping it");
        }
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        }
        Self::with_roots(roots)
    }

    /// These authorities, at least one, and no others.
    pub fn with_roots(roots: RootCertStore) -> Self {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
        Self {
            verifier: verifier.expect("a store with at least one root and no revocation lists"),
            strict: client(&provider, Trust::Required),
            lenient: client(&provider, Trust::Ignored),
            profiles: Mutex::default(),
        }
    }

    pub(crate) fn config(&self, trust: Trust) -> Arc<ClientConfig> {
        match trust {
            Trust::Required => self.strict.clone(),
            Trust::Ignored => self.lenient.clone(),
        }
    }

    /// The profile of a check that presents a certificate or trusts further authorities; `None`
    /// for all others. The last ones are cached: to parse a key takes longer than to use it.
    pub(crate) fn profile(
        &self,
        trust: Trust,
        certificate: Option<&ClientCertificate>,
        ca: &str,
    ) -> Result<Option<Arc<TlsProfile>>, ProbeError> {
        if certificate.is_none() && ca.is_empty() {
            return Ok(None);
        }
        let mut hash = Sha256::new();
        let (chain, private) = certificate.map_or(("", ""), |one| (&one.chain, one.key.expose()));
        for part in [chain, private, ca, if trust == Trust::Required { "strict" } else { "" }] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        let key: [u8; 32] = hash.finalize().into();
        let now = Instant::now();
        if let Some((profile, used)) = self.lock_profiles().get_mut(&key) {
            *used = now;
            return Ok(Some(Arc::clone(profile)));
        }
        let damaged = |what: &str| {
            let message = format!("the {what} of this monitor cannot be read");
            ProbeError::fault(FaultKind::Config, message)
        };
        let mut config = self.config(trust);
        if let Some(certificate) = certificate {
            let identity = identity_of(certificate).ok_or_else(|| damaged("client certificate"))?;
            let mut own = ClientConfig::clone(&config);
            own.client_auth_cert_resolver = Arc::new(SingleCertAndKey::from(identity));
            config = Arc::new(own);
        }
        let authorities = match ca {
            "" => None,
            ca => Some(authorities(ca).ok_or_else(|| damaged("authority"))?),
        };
        let profile = Arc::new(TlsProfile { config, authorities });
        let mut profiles = self.lock_profiles();
        if profiles.len() >= MAX_PROFILES {
            let oldest = profiles.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| *key);
            oldest.map(|oldest| profiles.remove(&oldest));
        }
        profiles.insert(key, (Arc::clone(&profile), now));
        Ok(Some(profile))
    }

    fn lock_profiles(&self) -> MutexGuard<'_, ProfileCache> {
        self.profiles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Performs the handshake, records the certificate, and fails when the
    /// certificate is not trusted but must be.
    pub(crate) async fn secure(
        &self,
        tcp: TcpStream,
        host: &str,
        trust: Trust,
        offer: Offer,
        clock: &dyn Clock,
        trace: &mut Trace,
    ) -> Result<TlsStream<TcpStream>, ProbeError> {
        trace.stage = Stage::Securing;
        let began = Instant::now();
        let name = server_name(host)?;
        // Handshake messages are small and wait for each other.
        tcp.set_nodelay(true).map_err(|error| ProbeError::from_io(&error))?;
        let alpn = match offer {
            Offer::Nothing => Vec::new(),
            Offer::Http1 => vec![b"http/1.1".to_vec()],
            Offer::Http2AndHttp1 => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        };
        let profile = trace.profile.clone();
        let config =
            profile.as_ref().map_or_else(|| self.config(trust), |own| Arc::clone(&own.config));
        let stream = TlsConnector::from(config)
            .with_alpn(alpn)
            .connect(name.clone(), tcp)
            .await
            .map_err(|error| explain(&error))?;
        add(&mut trace.phases.tls, began.elapsed());

        let shown = stream.get_ref().1.peer_certificates().unwrap_or_default();
        let now = clock.now();
        let mut judged = verify(&self.verifier, shown, &name, now);
        if let Err(Error::InvalidCertificate(CertificateError::UnknownIssuer)) = judged
            && let Some(own) = profile.as_ref().and_then(|profile| profile.authorities.as_ref())
        {
            judged = verify(own, shown, &name, now);
        }
        trace.certificate = describe(shown, judged.is_ok());
        let session = stream.get_ref().1;
        trace.tls = Some(Box::new(TlsTrace {
            version: session.protocol_version(),
            cipher: session.negotiated_cipher_suite().map(|suite| suite.suite()),
            alpn: session.alpn_protocol().map(<[u8]>::to_vec),
            leaf: shown.first().cloned(),
        }));
        match (judged, trust) {
            (Err(error), Trust::Required) => {
                let (reason, message) = explain_distrust(&error, shown, host, now);
                Err(ProbeError::answered(reason, message))
            }
            _ => Ok(stream),
        }
    }
}

fn verify(
    verifier: &WebPkiServerVerifier,
    shown: &[CertificateDer<'static>],
    name: &ServerName<'_>,
    now: Millis,
) -> Result<(), Error> {
    let (leaf, between) = shown.split_first().ok_or(Error::NoCertificatesPresented)?;
    let now = Duration::from_millis(now.0.max(0).cast_unsigned());
    let at = UnixTime::since_unix_epoch(now);
    verifier.verify_server_cert(leaf, between, name, &[], at).map(drop)
}

fn client(provider: &Arc<CryptoProvider>, trust: Trust) -> Arc<ClientConfig> {
    let accept = AcceptAny { algorithms: provider.signature_verification_algorithms, trust };
    let mut config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("the provider knows TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(accept))
        .with_no_client_auth();
    // Every check performs a full handshake, so that its time is meaningful.
    config.resumption = Resumption::disabled();
    Arc::new(config)
}

/// Accepts any certificate. The handshake must still be signed with its key,
/// unless errors are ignored: a certificate that cannot be parsed is an error,
/// too.
#[derive(Debug)]
struct AcceptAny {
    algorithms: WebPkiSupportedAlgorithms,
    trust: Trust,
}

impl ServerCertVerifier for AcceptAny {
    fn verify_server_cert(
        &self,
        _leaf: &CertificateDer<'_>,
        _between: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.trust {
            Trust::Ignored => Ok(HandshakeSignatureValid::assertion()),
            Trust::Required => {
                rustls::crypto::verify_tls12_signature(message, leaf, signed, &self.algorithms)
            }
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.trust {
            Trust::Ignored => Ok(HandshakeSignatureValid::assertion()),
            Trust::Required => {
                rustls::crypto::verify_tls13_signature(message, leaf, signed, &self.algorithms)
            }
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

fn server_name(host: &str) -> Result<ServerName<'static>, ProbeError> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let name = bare.strip_suffix('.').unwrap_or(bare).to_owned();
    ServerName::try_from(name)
        .map_err(|_| ProbeError::fault(FaultKind::Config, format!("{host} cannot be a TLS name")))
}

/// The certificate of the target, with its chain.
fn describe(shown: &[CertificateDer<'_>], trusted: bool) -> Option<Certificate> {
    let (leaf, chain) = shown.split_first()?;
    let (_, leaf) = X509Certificate::from_der(leaf).ok()?;
    let ChainCertificate { subject, issuer, not_after } = describe_issuer(&leaf);
    let certificate = Certificate {
        subject,
        issuer,
        names: names(&leaf).take(MAX_NAMES).collect(),
        not_after,
        trusted,
        chain: (chain.iter().take(MAX_CHAIN_LENGTH))
            .filter_map(|sent| Some(describe_issuer(&X509Certificate::from_der(sent).ok()?.1)))
            .collect(),
    };
    Some(certificate.sanitized())
}

fn describe_issuer(certificate: &X509Certificate<'_>) -> ChainCertificate {
    ChainCertificate {
        subject: certificate.subject().to_string(),
        issuer: certificate.issuer().to_string(),
        not_after: expiry(certificate),
    }
}

fn expiry(certificate: &X509Certificate<'_>) -> Millis {
    Millis(certificate.validity().not_after.timestamp().saturating_mul(1_000))
}

/// Why a certificate is not trusted, for the person who must fix it.
fn explain_distrust(
    error: &Error,
    shown: &[CertificateDer<'_>],
    host: &str,
    now: Millis,
) -> (Reason, String) {
    let Error::InvalidCertificate(why) = error else {
        return (Reason::TlsUntrusted, format!("certificate not accepted: {}", tls_error(error)));
    };
    let leaf = shown.first().and_then(|leaf| X509Certificate::from_der(leaf).ok());
    if let Some((_, leaf)) = &leaf {
        let ends = expiry(leaf);
        if ends < now {
            let message = format!("certificate expired {} ago", days(now.since(ends)));
            return (Reason::TlsExpired, message);
        }
    }
    let self_signed = leaf.as_ref().is_some_and(|(_, leaf)| leaf.subject() == leaf.issuer());
    let reason = match why {
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            let others = leaf.as_ref().map(|(_, leaf)| first_names(leaf)).unwrap_or_default();
            let message = format!("certificate is not for {host} but for {}", others.join(", "));
            return (Reason::TlsName, message);
        }
        _ if self_signed => {
            return (Reason::TlsSelfSigned, "certificate is self-signed".to_owned());
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => Reason::TlsExpired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            Reason::TlsNotYetValid
        }
        _ => Reason::TlsUntrusted,
    };
    (reason, certificate_error(why).to_owned())
}

/// The first few names the certificate is for; old certificates have only the
/// subject.
fn first_names(leaf: &X509Certificate<'_>) -> Vec<String> {
    let names: Vec<String> = names(leaf).take(3).collect();
    if names.is_empty() { vec![leaf.subject().to_string()] } else { names }
}

fn names(leaf: &X509Certificate<'_>) -> impl Iterator<Item = String> {
    let found = leaf.subject_alternative_name().ok().flatten();
    let names = found.into_iter().flat_map(|names| names.value.general_names.iter());
    names.filter_map(name_text)
}

fn name_text(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress([a, b, c, d]) => Some(Ipv4Addr::new(*a, *b, *c, *d).to_string()),
        GeneralName::IPAddress(octets) => {
            <[u8; 16]>::try_from(*octets).ok().map(|octets| Ipv6Addr::from(octets).to_string())
        }
        _ => None,
    }
}

/// The SHA-256 of a certificate as hex, and the kind and size of its key.
pub(crate) fn fingerprint_and_key(leaf: &CertificateDer<'_>) -> (String, String) {
    use x509_parser::public_key::PublicKey;
    let fingerprint = data_encoding::HEXLOWER.encode(&Sha256::digest(leaf));
    let key =
        X509Certificate::from_der(leaf).ok().map(|(_, leaf)| match leaf.public_key().parsed() {
            Ok(PublicKey::RSA(key)) => format!("rsa {}", key.key_size()),
            Ok(PublicKey::EC(point)) => format!("ec p{}", point.key_size()),
            Ok(PublicKey::DSA(_)) => "dsa".to_owned(),
            _ if leaf.public_key().algorithm.algorithm.to_id_string() == "1.3.101.112" => {
                "ed25519".to_owned()
            }
            _ => "unknown".to_owned(),
        });
    (fingerprint, key.unwrap_or_default())
}

fn days(span: Duration) -> String {
    match span.as_secs() / DAY.as_secs() {
        0 => "less than a day".to_owned(),
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}

/// Why the handshake failed.
fn explain(error: &io::Error) -> ProbeError {
    if let Some(failure) = explain_tls(error) {
        return failure;
    }
    match ProbeError::from_io(error) {
        ProbeError::Down(contact, reason, message) => {
            // A reset is one; a peer that speaks another protocol closes the connection.
            let reason = if contact == Contact::Refused { reason } else { Reason::TlsHandshake };
            ProbeError::Down(contact, reason, format!("{message} during the TLS handshake"))
        }
        ours => ours,
    }
}

/// The TLS error inside an I/O error, if any. In TLS 1.3 the server's alerts
/// arrive only after the handshake.
pub(crate) fn explain_tls(error: &io::Error) -> Option<ProbeError> {
    let tls = error.get_ref()?.downcast_ref::<Error>()?;
    let (reason, message) = match tls {
        Error::AlertReceived(AlertDescription::ProtocolVersion)
        | Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        ) => {
            (Reason::TlsVersion, "the server only supports TLS versions older than 1.2".to_owned())
        }
        Error::AlertReceived(AlertDescription::HandshakeFailure)
        | Error::PeerIncompatible(PeerIncompatible::NoCipherSuitesInCommon) => {
            let message = "no TLS version and cipher in common with the server".to_owned();
            (Reason::TlsHandshake, message)
        }
        Error::AlertReceived(AlertDescription::UnrecognisedName) => {
            let message = "the server does not recognize this name (TLS alert)".to_owned();
            (Reason::TlsName, message)
        }
        Error::AlertReceived(
            AlertDescription::CertificateRequired | AlertDescription::AccessDenied,
        ) => {
            let message = "the server requires a client certificate".to_owned();
            (Reason::TlsClientCertificate, message)
        }
        // A server says nothing about its own certificate.
        Error::AlertReceived(
            AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA,
        ) => {
            let message = "the server does not accept the client certificate".to_owned();
            (Reason::TlsClientCertificate, message)
        }
        Error::AlertReceived(received) => {
            (Reason::TlsHandshake, format!("the server refused TLS: {}", alert(*received)))
        }
        Error::InvalidMessage(InvalidMessage::UnknownProtocolVersion) => {
            (Reason::TlsVersion, "the server only supports other TLS versions".to_owned())
        }
        Error::InvalidMessage(_) => {
            (Reason::TlsHandshake, "the server does not speak TLS on this port".to_owned())
        }
        other => (Reason::TlsHandshake, format!("TLS failed: {}", tls_error(other))),
    };
    Some(ProbeError::answered(reason, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_of_a_certificate_is_shown_in_days() {
        assert_eq!(days(Duration::from_secs(60)), "less than a day");
        assert_eq!(days(DAY), "1 day");
        assert_eq!(days(DAY * 3 + DAY / 2), "3 days");
    }

    #[test]
    fn a_tls_name_has_neither_brackets_nor_a_trailing_dot() {
        assert!(matches!(server_name("[::1]"), Ok(ServerName::IpAddress(_))));
        let Ok(ServerName::DnsName(name)) = server_name("one.example.") else { panic!("no name") };
        assert_eq!(name.as_ref(), "one.example");
        assert!(server_name("spaces in it").is_err());
    }
}
