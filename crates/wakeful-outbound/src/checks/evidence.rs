//! Collects the evidence of a check that is not healthy, without credentials.

use data_encoding::BASE64;
use http::HeaderMap;
use std::net::SocketAddr;
use wakeful_core::assert::Judged;
use wakeful_core::evidence::{
    CertificateEvidence, ConnectionEvidence, Evidence, HopEvidence, MAX_ADDRESSES, MAX_BODY_BYTES,
    MAX_TRANSCRIPT_BYTES, RequestEvidence, ResolvedEvidence, ResponseEvidence, TlsEvidence,
    bounded_headers, bounded_transcript, visible_text,
};
use wakeful_core::monitors::spec::{HttpSpec, Spec};
use wakeful_core::redact::Redactor;
use wakeful_core::secret::Secret;

use super::CheckRequest;
use super::dns::DnsFacts;
use super::http::{HttpFacts, may_cross_origins, version_text};
use crate::net::tls::fingerprint_and_key;
use crate::net::{Net, TlsTrace, Trace};

/// Removes the secrets of a monitor from a text, and those that a check has obtained.
pub(super) fn redactor(spec: &Spec, obtained: &[Secret]) -> Redactor {
    let mut secrets: Vec<String> = spec.http().map(secrets).unwrap_or_default();
    secrets.extend(spec.secrets().into_values());
    secrets.extend(obtained.iter().map(|secret| secret.expose().to_owned()));
    Redactor::new(secrets.iter().map(String::as_str))
}

/// The password, and every header that describes the sender and not the request.
fn secrets(http: &HttpSpec) -> Vec<String> {
    let mut secrets = Vec::new();
    let password = http.password.expose();
    if !password.is_empty() {
        let pair = format!("{}:{password}", &*http.username);
        secrets.push(BASE64.encode(pair.as_bytes()));
        secrets.extend([password.to_owned(), pair]);
    }
    secrets.extend(http.url.url().password().map(str::to_owned));
    let proxy = http.options.as_ref().and_then(|options| options.proxy.as_ref());
    if let Some(proxy) = proxy {
        let pair = format!("{}:{}", proxy.username, proxy.password.expose());
        secrets.extend([proxy.password.expose().to_owned(), pair]);
    }
    for (name, value) in http.headers.iter() {
        if !may_cross_origins(name) {
            // `Bearer` and the like are no secret.
            secrets.extend(value.split_once(' ').map(|(_, token)| token.trim().to_owned()));
            secrets.push(value.trim().to_owned());
        }
    }
    secrets
}

pub(super) fn collect(
    net: &Net,
    request: &CheckRequest<'_>,
    trace: &mut Trace,
    dns: Option<&DnsFacts>,
    judged: Judged,
) -> Option<Box<Evidence>> {
    let redactor = redactor(request.spec, &trace.secrets);
    let mut http = trace.http.take();
    if let Some(http) = &mut http {
        http.decode_start();
    }
    let tls = trace.tls.as_ref();
    let leaf = tls.and_then(|tls| tls.leaf.as_ref());
    let shown = |addr: &SocketAddr| addr.ip().to_canonical().to_string();
    let hops = std::mem::take(&mut trace.hops)
        .into_iter()
        .map(|hop| HopEvidence { location: redactor.text(&hop.location), ..hop });
    let evidence = Evidence {
        region: None,
        request: http.as_ref().map_or_else(
            || request.spec.http().map(|http| describe_spec(http, &redactor)),
            |http| Some(describe_request(http, &redactor)),
        ),
        resolved: (!trace.resolved.is_empty()).then(|| ResolvedEvidence {
            by: Some(trace.resolver.map_or_else(|| "system".to_owned(), |addr| addr.to_string())),
            addresses: trace.resolved.iter().take(MAX_ADDRESSES).map(shown).collect(),
            ttl: trace.ttl,
        }),
        connection: (trace.address.is_some() || trace.proxy.is_some()).then(|| {
            ConnectionEvidence {
                address: trace.address.map(|addr| addr.to_string()),
                proxy: trace.proxy.clone(),
                http_version: http.as_ref().map(|http| version_text(http.version).to_owned()),
                tls: tls.map(|tls| {
                    let (version, cipher, alpn) = describe_tls(tls);
                    TlsEvidence { version, cipher, alpn }
                }),
            }
        }),
        certificate: trace.certificate.as_ref().map(|certificate| {
            let (fingerprint, key) = leaf.map(fingerprint_and_key).unwrap_or_default();
            CertificateEvidence { certificate: certificate.clone(), fingerprint, key }
        }),
        hops: hops.collect(),
        response: http.as_ref().map(|http| describe_response(http, &redactor)),
        transcript: match dns {
            Some(dns) => describe_transcript(dns.transcript(net.clock().now()), &redactor),
            None => describe_transcript(std::mem::take(&mut trace.transcript), &redactor),
        },
        phases: trace.phases,
        // Redacted when they were judged.
        assertions: judged.results,
    };
    evidence.at_level(request.evidence).map(Box::new)
}

/// The version, the cipher and the application protocol of a session.
pub(super) fn describe_tls(tls: &TlsTrace) -> (String, String, Option<String>) {
    let version = match tls.version {
        Some(rustls::ProtocolVersion::TLSv1_2) => "1.2".to_owned(),
        Some(rustls::ProtocolVersion::TLSv1_3) => "1.3".to_owned(),
        other => other.map(|version| format!("{version:?}")).unwrap_or_default(),
    };
    let cipher = tls.cipher.map(|cipher| format!("{cipher:?}")).unwrap_or_default();
    let alpn = tls.alpn.as_ref().map(|alpn| String::from_utf8_lossy(alpn).into_owned());
    (version, cipher, alpn)
}

/// The request of a check that received no response.
fn describe_spec(http: &HttpSpec, redactor: &Redactor) -> RequestEvidence {
    RequestEvidence {
        method: http.method.to_string(),
        url: describe_url(http.url.url(), redactor),
        headers: Vec::new(),
        body_bytes: http.body.len() as u64,
    }
}

fn describe_request(http: &HttpFacts, redactor: &Redactor) -> RequestEvidence {
    RequestEvidence {
        method: http.request.method.to_string(),
        url: describe_url(&http.request.url, redactor),
        headers: describe_headers(&http.request.headers, redactor),
        body_bytes: http.request.body.len() as u64,
    }
}

fn describe_url(url: &url::Url, redactor: &Redactor) -> String {
    let mut url = url.clone();
    let _ = url.set_username("").and_then(|()| url.set_password(None));
    redactor.text(url.as_str())
}

fn describe_headers(headers: &HeaderMap, redactor: &Redactor) -> Vec<(String, String)> {
    let described = headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        (name.as_str().to_owned(), redactor.header(name.as_str(), &value))
    });
    bounded_headers(described.collect())
}

fn describe_transcript(
    lines: impl IntoIterator<Item = String>,
    redactor: &Redactor,
) -> Vec<String> {
    // Redacted before it is cut, as a body is.
    let mut room = 2 * MAX_TRANSCRIPT_BYTES;
    let described = lines.into_iter().map_while(|mut line| {
        line.truncate(line.floor_char_boundary(room));
        room -= line.len();
        // A name at the beginning of a line is that of a value.
        let (who, said) = line.split_once(": ")?;
        Some(format!("{who}: {}", redactor.text(said)))
    });
    bounded_transcript(described.collect())
}

fn describe_response(http: &HttpFacts, redactor: &Redactor) -> ResponseEvidence {
    let text = http.text();
    // Redacted before it is cut, so that no part of a secret remains at the end.
    let mut end = text.len().min(2 * MAX_BODY_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let body = visible_text(redactor.text(&text[..end]).as_bytes());
    ResponseEvidence {
        status: http.status.as_u16(),
        headers: describe_headers(&http.headers, redactor),
        truncated: http.is_capped || text.len() > MAX_BODY_BYTES,
        body,
        body_bytes: http.body_bytes as u64,
    }
}
