//! TLS: up when the handshake completes and the certificate is trusted, from the start of the
//! connection or after STARTTLS.

use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, SignatureScheme};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::client::TlsStream;
use wakeful_core::monitors::spec::TlsSpec;
use wakeful_core::reason::Reason;

use super::TargetAnswer;
use crate::net::error::ProbeError;
use crate::net::starttls::request_tls;
use crate::net::tls::{Offer, TlsProfile, Trust, explain_tls};
use crate::net::{Deadline, Net, Trace};

/// How long a server may take to refuse a certificate after the handshake.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);

pub(super) async fn check(
    net: &Net,
    spec: &TlsSpec,
    deadline: Deadline,
    trace: &mut Trace,
) -> Result<TargetAnswer, ProbeError> {
    let began = Instant::now();
    let trust = if spec.ignore_tls_error { Trust::Ignored } else { Trust::Required };
    let requested = Arc::new(AtomicBool::new(false));
    trace.profile = Some(profile(net, spec, trust, &requested)?);
    let host = spec.hostname.host();
    let mut tcp = net.connect_to(host.into(), spec.port, deadline, trace).await?;
    request_tls(&mut tcp, spec.starttls, trace).await?;
    let name = spec.expected_name();
    let secured = net.tls().secure(tcp, &name, trust, Offer::Nothing, net.clock(), trace).await;
    let was_requested = requested.load(Ordering::Relaxed);
    let has_none = spec.client_certificate.is_none();
    let stream = secured.map_err(|error| match error {
        ProbeError::Down(contact, Reason::TlsHandshake, _) if was_requested && has_none => {
            ProbeError::Down(contact, Reason::TlsClientCertificate, requires_certificate())
        }
        other => other,
    })?;
    let took = began.elapsed();
    if was_requested {
        refusal(stream, deadline).await?;
    }
    let message = if spec.ignore_tls_error {
        "the TLS handshake completed"
    } else {
        "the certificate is trusted"
    };
    Ok(TargetAnswer { load_time: Some(took), ..TargetAnswer::up(message) })
}

/// In TLS 1.3, a server that refuses our certificate, or requires one, says so after the
/// handshake. It has read ours when it sees the end of the connection.
async fn refusal(mut stream: TlsStream<TcpStream>, deadline: Deadline) -> Result<(), ProbeError> {
    let left = deadline.at().saturating_duration_since(Instant::now());
    let reading = async {
        stream.shutdown().await?;
        let mut bytes = [0; 1_024];
        let mut received = 0;
        loop {
            match stream.read(&mut bytes).await? {
                0 => return Ok(()),
                count => received += count,
            }
            if received > 65_536 {
                return Ok(());
            }
        }
    };
    match tokio::time::timeout(REFUSAL_TIMEOUT.min(left / 2), reading).await {
        Ok(Err(error)) => explain_tls(&error).map_or(Ok(()), Err),
        Ok(Ok(())) | Err(_) => Ok(()),
    }
}

fn requires_certificate() -> String {
    "the server requires a client certificate".to_owned()
}

/// Records whether the server requests a certificate.
fn profile(
    net: &Net,
    spec: &TlsSpec,
    trust: Trust,
    requested: &Arc<AtomicBool>,
) -> Result<Arc<TlsProfile>, ProbeError> {
    let base = net.tls().profile(trust, spec.client_certificate.as_deref(), "")?;
    let base = base.map_or_else(|| net.tls().config(trust), |profile| Arc::clone(&profile.config));
    let resolver = Recording {
        inner: Arc::clone(&base.client_auth_cert_resolver),
        requested: Arc::clone(requested),
    };
    let mut config = ClientConfig::clone(&base);
    config.client_auth_cert_resolver = Arc::new(resolver);
    Ok(Arc::new(TlsProfile { config: Arc::new(config), authorities: None }))
}

#[derive(Debug)]
struct Recording {
    inner: Arc<dyn ResolvesClientCert>,
    requested: Arc<AtomicBool>,
}

impl ResolvesClientCert for Recording {
    fn resolve(&self, issuers: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.requested.store(true, Ordering::Relaxed);
        self.inner.resolve(issuers, schemes)
    }

    fn has_certs(&self) -> bool {
        self.inner.has_certs()
    }
}
