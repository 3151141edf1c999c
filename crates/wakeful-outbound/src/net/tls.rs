//! TLS to a stranger. The handshake accepts any certificate, and what was shown
//! is judged right after it and before a byte is sent: so the expiry and the
//! name of a bad certificate are known, and not only that it is bad.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, Error, InvalidMessage,
    PeerIncompatible, RootCertStore, SignatureScheme,
};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use wakeful_core::observation::{Certificate, FaultKind, Signer};
use wakeful_core::time::{Clock, Millis};
use x509_parser::prelude::{FromDer as _, GeneralName, X509Certificate};

use super::trouble::Trouble;
use super::{Stage, Trace, add};

const DAY: Duration = Duration::from_secs(86_400);
/// How many names of a certificate are read; some have hundreds.
const NAMES: usize = 10;
/// How many certificates of a chain are read; three are usual.
const SIGNERS: usize = 5;

/// Whether a certificate must be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    Required,
    Ignored,
}

/// What to offer by ALPN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// For protocols that know no ALPN.
    Nothing,
    Http1,
    Http2AndHttp1,
}

/// Who is trusted, and how handshakes are made.
pub struct Tls {
    verifier: Arc<WebPkiServerVerifier>,
    strict: Arc<ClientConfig>,
    lenient: Arc<ClientConfig>,
}

impl Tls {
    /// The authorities of the system, so that private ones count; when it has
    /// none, as in a bare container, those of the Mozilla programme.
    pub fn from_system() -> Self {
        let found = rustls_native_certs::load_native_certs();
        for error in &found.errors {
            tracing::warn!(%error, "a trusted certificate of the system cannot be read");
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
        }
    }

    /// Makes the handshake, notes the certificate, and ends it all when the
    /// certificate is not trusted but must be.
    pub(crate) async fn secure(
        &self,
        tcp: TcpStream,
        host: &str,
        trust: Trust,
        offer: Offer,
        clock: &dyn Clock,
        trace: &mut Trace,
    ) -> Result<TlsStream<TcpStream>, Trouble> {
        trace.stage = Stage::Securing;
        let began = Instant::now();
        let name = server_name(host)?;
        // Its flights are small and wait for each other.
        tcp.set_nodelay(true).map_err(|error| Trouble::from_io(&error))?;
        let alpn = match offer {
            Offer::Nothing => Vec::new(),
            Offer::Http1 => vec![b"http/1.1".to_vec()],
            Offer::Http2AndHttp1 => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        };
        let config = match trust {
            Trust::Required => self.strict.clone(),
            Trust::Ignored => self.lenient.clone(),
        };
        let stream = TlsConnector::from(config)
            .with_alpn(alpn)
            .connect(name.clone(), tcp)
            .await
            .map_err(|error| explain(&error))?;
        add(&mut trace.phases.tls, began.elapsed());

        let shown = stream.get_ref().1.peer_certificates().unwrap_or_default();
        let now = clock.now();
        let judged = self.judge(shown, &name, now);
        trace.certificate = describe(shown, judged.is_ok());
        match (judged, trust) {
            (Err(error), Trust::Required) => {
                Err(Trouble::answered(distrust(&error, shown, host, now)))
            }
            _ => Ok(stream),
        }
    }

    fn judge(
        &self,
        shown: &[CertificateDer<'static>],
        name: &ServerName<'_>,
        now: Millis,
    ) -> Result<(), Error> {
        let (leaf, between) = shown.split_first().ok_or(Error::NoCertificatesPresented)?;
        let now = Duration::from_millis(now.0.max(0).cast_unsigned());
        let at = UnixTime::since_unix_epoch(now);
        self.verifier.verify_server_cert(leaf, between, name, &[], at).map(drop)
    }
}

fn client(provider: &Arc<CryptoProvider>, trust: Trust) -> Arc<ClientConfig> {
    let accept = Accept { algorithms: provider.signature_verification_algorithms, trust };
    let mut config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("the provider knows TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(accept))
        .with_no_client_auth();
    // Every check pays for a whole handshake, or its time would mean nothing.
    config.resumption = Resumption::disabled();
    Arc::new(config)
}

/// Takes any certificate. That its key made the handshake is still required,
/// unless errors are ignored: a certificate too odd to read is an error too.
#[derive(Debug)]
struct Accept {
    algorithms: WebPkiSupportedAlgorithms,
    trust: Trust,
}

impl ServerCertVerifier for Accept {
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

fn server_name(host: &str) -> Result<ServerName<'static>, Trouble> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let name = bare.strip_suffix('.').unwrap_or(bare).to_owned();
    ServerName::try_from(name)
        .map_err(|_| Trouble::ours(FaultKind::Config, format!("{host} cannot be a TLS name")))
}

/// What was shown: the certificate of the target, and behind it the chain.
fn describe(shown: &[CertificateDer<'_>], trusted: bool) -> Option<Certificate> {
    let (leaf, chain) = shown.split_first()?;
    let (_, leaf) = X509Certificate::from_der(leaf).ok()?;
    let Signer { subject, issuer, not_after } = signer(&leaf);
    let certificate = Certificate {
        subject,
        issuer,
        names: names(&leaf).take(NAMES).collect(),
        not_after,
        trusted,
        chain: (chain.iter().take(SIGNERS))
            .filter_map(|sent| Some(signer(&X509Certificate::from_der(sent).ok()?.1)))
            .collect(),
    };
    Some(certificate.tidied())
}

fn signer(certificate: &X509Certificate<'_>) -> Signer {
    Signer {
        subject: certificate.subject().to_string(),
        issuer: certificate.issuer().to_string(),
        not_after: expiry(certificate),
    }
}

fn expiry(certificate: &X509Certificate<'_>) -> Millis {
    Millis(certificate.validity().not_after.timestamp().saturating_mul(1_000))
}

/// Why a certificate is not trusted, for a person who must do something about it.
fn distrust(error: &Error, shown: &[CertificateDer<'_>], host: &str, now: Millis) -> String {
    let Error::InvalidCertificate(why) = error else {
        return format!("certificate not accepted: {error}");
    };
    let leaf = shown.first().and_then(|leaf| X509Certificate::from_der(leaf).ok());
    if let Some((_, leaf)) = &leaf {
        let ends = expiry(leaf);
        if ends < now {
            return format!("certificate expired {} ago", days(now.since(ends)));
        }
    }
    let self_signed = leaf.as_ref().is_some_and(|(_, leaf)| leaf.subject() == leaf.issuer());
    match why {
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            let others = leaf.as_ref().map(|(_, leaf)| first_names(leaf)).unwrap_or_default();
            format!("certificate is not for {host} but for {}", others.join(", "))
        }
        _ if self_signed => "certificate is self-signed".to_owned(),
        CertificateError::UnknownIssuer => {
            "certificate is not signed by a trusted authority".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "a certificate of the chain has expired".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "certificate is not valid yet".to_owned()
        }
        CertificateError::Revoked => "certificate is revoked".to_owned(),
        CertificateError::BadEncoding => "certificate cannot be read".to_owned(),
        CertificateError::BadSignature => "certificate has a wrong signature".to_owned(),
        other => format!("certificate not accepted: {other}"),
    }
}

/// The first few names the certificate is for; before there were alternative
/// names it was the subject.
fn first_names(leaf: &X509Certificate<'_>) -> Vec<String> {
    let names: Vec<String> = names(leaf).take(3).collect();
    match names.is_empty() {
        true => vec![leaf.subject().to_string()],
        false => names,
    }
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

fn days(span: Duration) -> String {
    match span.as_secs() / DAY.as_secs() {
        0 => "less than a day".to_owned(),
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}

/// Why the handshake did not come to an end.
fn explain(error: &io::Error) -> Trouble {
    if let Some(trouble) = explain_tls(error) {
        return trouble;
    }
    match Trouble::from_io(error) {
        Trouble::Down(evidence, message) => {
            Trouble::Down(evidence, format!("{message} during the TLS handshake"))
        }
        ours => ours,
    }
}

/// What TLS itself found wrong, when that is what an error hides. In TLS 1.3
/// the server's objections arrive only after the handshake.
pub(super) fn explain_tls(error: &io::Error) -> Option<Trouble> {
    let tls = error.get_ref()?.downcast_ref::<Error>()?;
    Some(Trouble::answered(match tls {
        Error::AlertReceived(AlertDescription::ProtocolVersion)
        | Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        ) => "the server only speaks TLS older than 1.2".to_owned(),
        Error::AlertReceived(AlertDescription::HandshakeFailure)
        | Error::PeerIncompatible(PeerIncompatible::NoCipherSuitesInCommon) => {
            "no TLS version and cipher in common with the server".to_owned()
        }
        Error::AlertReceived(AlertDescription::UnrecognisedName) => {
            "the server does not know this name (TLS alert)".to_owned()
        }
        Error::AlertReceived(
            AlertDescription::CertificateRequired | AlertDescription::AccessDenied,
        ) => "the server asks for a client certificate".to_owned(),
        Error::AlertReceived(alert) => format!("the server refused TLS: {alert:?}"),
        Error::InvalidMessage(InvalidMessage::UnknownProtocolVersion) => {
            "the server only speaks another version of TLS".to_owned()
        }
        Error::InvalidMessage(_) => "the server does not speak TLS on this port".to_owned(),
        other => format!("TLS failed: {other}"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_of_a_certificate_is_told_in_days() {
        assert_eq!(days(Duration::from_secs(60)), "less than a day");
        assert_eq!(days(DAY), "1 day");
        assert_eq!(days(DAY * 3 + DAY / 2), "3 days");
    }

    #[test]
    fn a_tls_name_has_neither_brackets_nor_a_last_dot() {
        assert!(matches!(server_name("[::1]"), Ok(ServerName::IpAddress(_))));
        let Ok(ServerName::DnsName(name)) = server_name("one.example.") else { panic!("no name") };
        assert_eq!(name.as_ref(), "one.example");
        assert!(server_name("spaces in it").is_err());
    }
}
