//! What a check saw, as it is returned.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::assert::AssertionResult;
use wakeful_core::evidence::{
    CertificateEvidence, ConnectionEvidence, Evidence, EvidenceContent, EvidenceRecord,
    ResponseEvidence,
};
use wakeful_core::id::{AlertId, EvidenceId};
use wakeful_core::reason;
use wakeful_core::time::Millis;

use super::enums::{EvidenceOf, FailsAs, Reason};
use super::history::PhasesBody;
use super::monitors::certificate::SignerBody;

/// What a check saw. Parts that it did not reach are null. Credentials are replaced by
/// `[redacted]`.
#[derive(Serialize, ToSchema)]
#[schema(as = Evidence)]
pub(crate) struct EvidenceBody {
    request: Option<RequestBody>,
    resolved: Option<ResolvedBody>,
    connection: Option<ConnectionBody>,
    certificate: Option<ShownCertificateBody>,
    /// The redirects that were followed.
    hops: Vec<HopBody>,
    response: Option<ResponseBody>,
    /// What was sent (`C:`) and received (`S:`), for protocols of few lines.
    transcript: Vec<String>,
    phases: PhasesBody,
    assertions: Vec<AssertionResultBody>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = EvidenceRequest)]
pub(crate) struct RequestBody {
    method: String,
    url: String,
    /// Pairs of name and value.
    headers: Vec<Vec<String>>,
    body_bytes: u64,
}

#[derive(Serialize, ToSchema)]
#[schema(as = EvidenceResolved)]
pub(crate) struct ResolvedBody {
    /// The resolver of the monitor, or `system`; null in evidence of earlier versions.
    by: Option<String>,
    addresses: Vec<String>,
    /// The lowest time to live of the addresses, in seconds; null if it is not known.
    ttl: Option<u32>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = EvidenceConnection)]
pub(crate) struct ConnectionBody {
    address: Option<String>,
    /// The host and port of the proxy that was used.
    proxy: Option<String>,
    /// `1.0`, `1.1` or `2`.
    http_version: Option<String>,
    tls: Option<TlsBody>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = EvidenceTls)]
pub(crate) struct TlsBody {
    version: String,
    cipher: String,
    alpn: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = EvidenceCertificate)]
pub(crate) struct ShownCertificateBody {
    subject: String,
    issuer: String,
    names: Vec<String>,
    #[schema(value_type = String, format = DateTime)]
    expires: Millis,
    trusted: bool,
    chain: Vec<SignerBody>,
    /// The SHA-256 of the certificate, as hex.
    fingerprint: String,
    /// The kind and size of its key, such as `rsa 2048`.
    key: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = EvidenceHop)]
pub(crate) struct HopBody {
    status: u16,
    location: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = EvidenceResponse)]
pub(crate) struct ResponseBody {
    status: u16,
    /// Pairs of name and value.
    headers: Vec<Vec<String>>,
    /// The first 4 KiB as text; other bytes are `·`.
    body: String,
    /// How many bytes were read, after decoding.
    body_bytes: u64,
    truncated: bool,
}

/// The result of an assertion.
#[derive(Serialize, ToSchema)]
#[schema(as = AssertionResult)]
pub(crate) struct AssertionResultBody {
    /// Its place among the assertions of the monitor, from 0.
    index: usize,
    passed: bool,
    #[schema(value_type = FailsAs)]
    fails_as: &'static str,
    /// The beginning of the value found; null if there was none.
    found: Option<String>,
    /// What is wrong; empty if it passed.
    message: String,
}

/// Evidence with the check that it is of.
#[derive(Serialize, ToSchema)]
#[schema(as = EvidenceRecord)]
pub(crate) struct EvidenceRecordBody {
    #[schema(value_type = String, format = Uuid)]
    evidenceid: EvidenceId,
    #[schema(value_type = Option<String>, format = Uuid)]
    alertid: Option<AlertId>,
    #[schema(value_type = String, format = DateTime)]
    at: Millis,
    #[schema(value_type = EvidenceOf)]
    of: &'static str,
    /// Where the check ran; null if the service itself checked.
    region: Option<String>,
    /// Null if the check passed.
    #[schema(value_type = Option<Reason>)]
    reason: Option<&'static str>,
    message: String,
    #[serde(flatten)]
    evidence: EvidenceBody,
}

/// The latest evidence of a monitor.
#[derive(Serialize, ToSchema)]
pub(crate) struct EvidenceList {
    success: bool,
    /// Newest first.
    evidence: Vec<EvidenceRecordBody>,
}

impl EvidenceList {
    pub(crate) fn of(records: Vec<EvidenceRecord>) -> Self {
        let evidence = records.into_iter().map(EvidenceRecordBody::of).collect();
        Self { success: true, evidence }
    }
}

impl EvidenceRecordBody {
    pub(crate) fn of(record: EvidenceRecord) -> Self {
        let EvidenceRecord { id, alert, of, at, content, .. } = record;
        let EvidenceContent { region, reason, message, evidence, .. } = content;
        Self {
            evidenceid: id,
            alertid: alert,
            at,
            of: of.as_str(),
            region: region.map(|region| region.to_string()),
            reason: reason.map(reason::Reason::as_str),
            message,
            evidence: EvidenceBody::of(evidence),
        }
    }
}

impl EvidenceBody {
    pub(crate) fn of(evidence: Evidence) -> Self {
        Self {
            request: evidence.request.map(|request| RequestBody {
                method: request.method,
                url: request.url,
                headers: pairs(request.headers),
                body_bytes: request.body_bytes,
            }),
            resolved: evidence.resolved.map(|resolved| ResolvedBody {
                by: resolved.by,
                addresses: resolved.addresses,
                ttl: resolved.ttl,
            }),
            connection: evidence.connection.map(connection),
            certificate: evidence.certificate.map(certificate),
            hops: (evidence.hops.into_iter())
                .map(|hop| HopBody { status: hop.status, location: hop.location })
                .collect(),
            response: evidence.response.map(response),
            transcript: evidence.transcript,
            phases: PhasesBody::of(&evidence.phases),
            assertions: evidence.assertions.into_iter().map(AssertionResultBody::of).collect(),
        }
    }
}

impl AssertionResultBody {
    fn of(result: AssertionResult) -> Self {
        let AssertionResult { index, passed, fails_as, found, message, .. } = result;
        Self { index, passed, fails_as: fails_as.as_str(), found, message }
    }
}

fn connection(connection: ConnectionEvidence) -> ConnectionBody {
    ConnectionBody {
        address: connection.address,
        proxy: connection.proxy,
        http_version: connection.http_version,
        tls: connection.tls.map(|tls| TlsBody {
            version: tls.version,
            cipher: tls.cipher,
            alpn: tls.alpn,
        }),
    }
}

fn certificate(shown: CertificateEvidence) -> ShownCertificateBody {
    let CertificateEvidence { certificate, fingerprint, key } = shown;
    ShownCertificateBody {
        subject: certificate.subject,
        issuer: certificate.issuer,
        names: certificate.names,
        expires: certificate.not_after,
        trusted: certificate.trusted,
        chain: certificate.chain.into_iter().map(SignerBody::from).collect(),
        fingerprint,
        key,
    }
}

fn response(response: ResponseEvidence) -> ResponseBody {
    ResponseBody {
        status: response.status,
        headers: pairs(response.headers),
        body: response.body,
        body_bytes: response.body_bytes,
        truncated: response.truncated,
    }
}

fn pairs(headers: Vec<(String, String)>) -> Vec<Vec<String>> {
    headers.into_iter().map(|(name, value)| vec![name, value]).collect()
}
