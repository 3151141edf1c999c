//! Evidence: what a check has seen, for the people who have to find out what is wrong. It is
//! bounded and redacted before it leaves the check.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::assert::{AssertionResult, Fingerprint};
use crate::heartbeat::Phases;
use crate::id::{AlertId, EvidenceId, MonitorId};
use crate::named_enum;
use crate::observation::{Certificate, Observation};
use crate::one_line::one_line;
use crate::reason::Reason;
use crate::region::Region;
use crate::serde_millis;
use crate::time::Millis;

/// How much of a body is shown.
pub const MAX_BODY_BYTES: usize = 4_096;
pub const MAX_HEADER_BYTES: usize = 16_384;
pub const MAX_TRANSCRIPT_BYTES: usize = 4_096;
pub const MAX_ADDRESSES: usize = 16;
/// How much longer than usual a check reads the body of a response that has failed.
pub const MAX_EXTRA_TIME: Duration = Duration::from_secs(1);
/// The length of an excerpt in a notification, in characters.
pub const MAX_EXCERPT_LENGTH: usize = 300;

const MAX_URL_LENGTH: usize = 2_048;
const MAX_HOPS: usize = 16;
const MAX_NAME_LENGTH: usize = 255;
const MAX_VALUE_LENGTH: usize = 4_096;

/// What a check has seen. A part that the check did not reach is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// Which region saw it, if the check ran in several places. Only the owning node sets it.
    #[serde(skip)]
    pub region: Option<Region>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestEvidence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<ResolvedEvidence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection: Option<ConnectionEvidence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<CertificateEvidence>,
    /// The redirects that were followed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<HopEvidence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<ResponseEvidence>,
    /// For protocols of few lines: what was sent and received.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transcript: Vec<String>,
    pub phases: Phases,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assertions: Vec<AssertionResult>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestEvidence {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body_bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedEvidence {
    /// The name server that the monitor names, or `system`: which those are is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    pub addresses: Vec<String>,
    /// The lowest time to live of the addresses, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionEvidence {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The host and port of the proxy that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsEvidence>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsEvidence {
    pub version: String,
    pub cipher: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpn: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertificateEvidence {
    #[serde(flatten)]
    pub certificate: Certificate,
    /// The SHA-256 of the certificate, as hex.
    #[serde(default)]
    pub fingerprint: String,
    /// The kind and size of its key: `rsa 2048`, `ec p256`.
    #[serde(default)]
    pub key: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HopEvidence {
    pub status: u16,
    pub location: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseEvidence {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// The beginning of the body as text; bytes that are none are `·`.
    pub body: String,
    /// How many bytes of the body were read, after decoding.
    pub body_bytes: u64,
    /// Whether `body` is not all of it.
    pub truncated: bool,
}

named_enum! {
    /// How much evidence of a monitor is stored.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum EvidenceLevel {
        #[default]
        Full = "full",
        /// Neither body nor transcript.
        Head = "head",
        None = "none",
    }
}

impl EvidenceLevel {
    pub fn parse(text: &str) -> Result<Self, crate::Invalid> {
        let known = Self::ALL.iter().copied().find(|level| level.as_str() == text.trim());
        known.ok_or_else(|| crate::Invalid::one_of(Self::ALL.iter().map(|level| level.as_str())))
    }
}

named_enum! {
    /// Which check of an alert the evidence is of.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum EvidenceOf {
        /// The first failing one.
        First = "first",
        /// The one that confirmed the outage.
        Confirming = "confirming",
        /// The last failing one.
        Last = "last",
        /// The first that passed again.
        Recovery = "recovery",
        /// A failure that was not confirmed.
        Blip = "blip",
        /// The one that made the monitor degraded.
        Degraded = "degraded",
        /// The one that saw a new value where none was expected.
        Change = "change",
    }
}

impl EvidenceOf {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|of| of.as_str() == text)
    }
}

/// Evidence with the check that it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvidenceRecord {
    pub id: EvidenceId,
    pub monitor: MonitorId,
    /// `None` for a failure that led to no alert.
    pub alert: Option<AlertId>,
    pub of: EvidenceOf,
    pub at: Millis,
    pub content: EvidenceContent,
}

/// The part that is stored encrypted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceContent {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    pub message: String,
    #[serde(with = "serde_millis::micros", default, skip_serializing_if = "Option::is_none")]
    pub load_time: Option<Duration>,
    #[serde(flatten)]
    pub evidence: Evidence,
}

impl EvidenceContent {
    /// The content of an observation that has evidence.
    pub fn of(observation: &Observation) -> Option<Self> {
        let mut evidence = observation.evidence.as_deref()?.clone();
        Some(Self {
            region: evidence.region.take(),
            reason: observation.reason,
            message: observation.message.clone(),
            load_time: observation.load_time,
            evidence,
        })
    }
}

impl Evidence {
    /// Fails the assertions about values that have changed.
    pub fn set_changed(&mut self, changed: &[Fingerprint]) {
        for value in changed {
            let mut results = self.assertions.iter_mut();
            if let Some(result) = results.find(|result| Some(result.index) == value.index) {
                result.set_changed(value);
            }
        }
    }

    /// Without the parts that this level leaves out.
    #[must_use]
    pub fn at_level(mut self, level: EvidenceLevel) -> Option<Self> {
        match level {
            EvidenceLevel::Full => {}
            EvidenceLevel::Head => {
                self.transcript.clear();
                if let Some(response) = &mut self.response {
                    response.truncated |= !response.body.is_empty();
                    response.body.clear();
                }
                // A value found may be a part of the body.
                for result in &mut self.assertions {
                    result.found = None;
                }
            }
            EvidenceLevel::None => return None,
        }
        Some(self)
    }

    /// The evidence of another machine, with the same bounds as that of this one.
    #[must_use]
    pub fn sanitized(self) -> Self {
        let brief = |text: String| one_line(&text, MAX_NAME_LENGTH);
        Self {
            region: None,
            request: self.request.map(|request| RequestEvidence {
                method: brief(request.method),
                url: one_line(&request.url, MAX_URL_LENGTH),
                headers: bounded_headers(request.headers),
                body_bytes: request.body_bytes,
            }),
            resolved: self.resolved.map(|resolved| ResolvedEvidence {
                by: resolved.by.map(brief),
                addresses: resolved.addresses.into_iter().take(MAX_ADDRESSES).map(brief).collect(),
                ttl: resolved.ttl,
            }),
            connection: self.connection.map(|connection| ConnectionEvidence {
                address: connection.address.map(brief),
                proxy: connection.proxy.map(brief),
                http_version: connection.http_version.map(brief),
                tls: connection.tls.map(|tls| TlsEvidence {
                    version: brief(tls.version),
                    cipher: brief(tls.cipher),
                    alpn: tls.alpn.map(brief),
                }),
            }),
            certificate: self.certificate.map(|shown| CertificateEvidence {
                certificate: shown.certificate.sanitized(),
                fingerprint: brief(shown.fingerprint),
                key: brief(shown.key),
            }),
            hops: (self.hops.into_iter().take(MAX_HOPS))
                .map(|hop| HopEvidence { location: one_line(&hop.location, MAX_URL_LENGTH), ..hop })
                .collect(),
            response: self.response.map(|response| ResponseEvidence {
                headers: bounded_headers(response.headers),
                body: visible_text(response.body.as_bytes()),
                ..response
            }),
            transcript: bounded_transcript(self.transcript),
            phases: self.phases,
            assertions: (self.assertions.into_iter().take(crate::assert::MAX_ASSERTIONS))
                .map(AssertionResult::sanitized)
                .collect(),
        }
    }
}

/// As many headers as fit into the bound.
pub fn bounded_headers(headers: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut bytes = 0;
    headers
        .into_iter()
        .map(|(name, value)| (one_line(&name, MAX_NAME_LENGTH), one_line(&value, MAX_VALUE_LENGTH)))
        .take_while(|(name, value)| {
            bytes += name.len() + value.len();
            bytes <= MAX_HEADER_BYTES
        })
        .collect()
}

/// As much of a conversation as fits into the bound.
pub fn bounded_transcript(lines: Vec<String>) -> Vec<String> {
    let mut room = MAX_TRANSCRIPT_BYTES;
    lines
        .into_iter()
        .map_while(|line| {
            let mut line = one_line(&line, room);
            line.truncate(line.floor_char_boundary(room));
            room -= line.len();
            (!line.is_empty()).then_some(line)
        })
        .collect()
}

/// The beginning of a body as text of several lines; other bytes are `·`.
pub fn visible_text(bytes: &[u8]) -> String {
    // Characters may be longer than a byte, so more is never needed.
    let bytes = &bytes[..bytes.len().min(2 * MAX_BODY_BYTES)];
    let mut text = String::with_capacity(bytes.len().min(MAX_BODY_BYTES));
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid().chars().map(|char| match char {
            '\n' | '\t' => char,
            '\r' => ' ',
            char if char.is_control() => '·',
            char => char,
        });
        let invalid = chunk.invalid().iter().map(|_| '·');
        for char in valid.chain(invalid) {
            if text.len() + char.len_utf8() > MAX_BODY_BYTES {
                return text;
            }
            text.push(char);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_shown_as_text_of_bounded_length() {
        assert_eq!(visible_text(b"a\r\nb\tc\0\xff\xfe"), "a \nb\tc···");
        assert_eq!(visible_text("é".repeat(9_000).as_bytes()).len(), MAX_BODY_BYTES);
        assert!(visible_text(&[0xff; 9_000]).len() <= MAX_BODY_BYTES);
    }

    #[test]
    fn a_transcript_is_bounded_as_a_whole() {
        let lines =
            || vec!["S: 220\r\n".into(), format!("S: {}", "é".repeat(2_046)), "C: é".into()];
        let bounded = bounded_transcript(lines());
        assert_eq!(bounded[0], "S: 220");
        let bytes: usize = bounded.iter().map(String::len).sum();
        assert!((MAX_TRANSCRIPT_BYTES - 1..=MAX_TRANSCRIPT_BYTES).contains(&bytes), "{bytes}");
        assert_eq!(
            bounded_transcript(vec!["é".repeat(9_000); 9]).concat().len(),
            MAX_TRANSCRIPT_BYTES
        );
    }

    #[test]
    fn evidence_of_another_machine_is_bounded() {
        let long = "x\n".repeat(50_000);
        let header = (long.clone(), long.clone());
        let evidence = Evidence {
            request: Some(RequestEvidence {
                method: long.clone(),
                url: long.clone(),
                headers: vec![header.clone(); 500],
                body_bytes: 7,
            }),
            resolved: Some(ResolvedEvidence {
                by: Some(long.clone()),
                addresses: vec![long.clone(); 500],
                ttl: Some(60),
            }),
            hops: vec![HopEvidence { status: 301, location: long.clone() }; 500],
            response: Some(ResponseEvidence {
                status: 500,
                headers: vec![header; 500],
                body: long.clone(),
                body_bytes: 7,
                truncated: true,
            }),
            transcript: vec![long; 500],
            ..Evidence::default()
        };
        let text = serde_json::to_string(&evidence.sanitized()).expect("serializes");
        assert!(text.len() < 110_000, "{}", text.len());
    }

    #[test]
    fn a_level_leaves_parts_out() {
        let response = ResponseEvidence { body: "secret".into(), ..ResponseEvidence::default() };
        let evidence = Evidence {
            response: Some(response),
            transcript: vec!["S: 220".into()],
            ..Evidence::default()
        };
        assert_eq!(evidence.clone().at_level(EvidenceLevel::Full), Some(evidence.clone()));
        let head = evidence.clone().at_level(EvidenceLevel::Head).expect("something");
        let response = head.response.expect("a response");
        assert!(response.body.is_empty() && response.truncated && head.transcript.is_empty());
        assert_eq!(evidence.at_level(EvidenceLevel::None), None);
    }
}
