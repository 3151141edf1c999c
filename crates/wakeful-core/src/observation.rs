//! The result of a check: an `Observation` of the target, or a `Fault` when the
//! check could not be performed. They are different types so that no rule can
//! mistake our own problem for the target's: a fault never becomes a verdict.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

use crate::assert::{Fingerprint, MAX_ASSERTIONS};
use crate::certificate::Expiry;
use crate::evidence::Evidence;
use crate::heartbeat::{Phases, Readings, RegionBeat};
use crate::named_enum;
use crate::one_line::one_line;
use crate::reason::Reason;
use crate::serde_millis;
use crate::time::Millis;

/// Longer messages are truncated: every heartbeat has one, and they are meant
/// for people.
const MAX_MESSAGE_LENGTH: usize = 1_000;
/// The same for each name in a certificate, and the number of names to store.
const MAX_NAME_LENGTH: usize = 255;
const MAX_NAMES: usize = 10;
const MAX_CHAIN_LENGTH: usize = 5;
/// No check takes nearly as long.
const MAX_SPAN: Duration = Duration::from_secs(3_600);
/// The same for warnings: one for each assertion.
const MAX_WARNINGS: usize = 20;
const MAX_WARNING_LENGTH: usize = 300;
/// The last moment of the year 9999, the latest expiry of a certificate.
pub(crate) const MAX_EXPIRY: Millis = Millis(253_402_300_799_999);

/// The target was checked. Down is a result like any other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    pub up: bool,
    pub message: String,
    #[serde(with = "serde_millis::micros", default, skip_serializing_if = "Option::is_none")]
    pub load_time: Option<Duration>,
    #[serde(default)]
    pub phases: Phases,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Box<Certificate>>,
    #[serde(rename = "evidence")]
    pub contact: Contact,
    /// Why it is not healthy; `None` when all is well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What makes a target degraded that is up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// What the check saw, if it was requested or the target is not healthy.
    #[serde(rename = "record", default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Box<Evidence>>,
    /// The result of each region; empty when only the owning node checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<RegionBeat>,
    #[serde(default, skip_serializing_if = "Readings::is_empty")]
    pub readings: Readings,
    /// What expires besides the certificate of the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiry: Option<Box<Expiry>>,
    /// The values of assertions that must not change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fingerprints: Vec<Fingerprint>,
}

impl Observation {
    /// The target responded correctly, `load_time` after the check began.
    pub fn up(load_time: Duration, message: impl AsRef<str>) -> Self {
        Self {
            up: true,
            message: sanitize(message.as_ref()),
            load_time: Some(load_time),
            phases: Phases::default(),
            certificate: None,
            contact: Contact::Answered,
            reason: None,
            warnings: Vec::new(),
            evidence: None,
            regions: Vec::new(),
            readings: Readings::default(),
            expiry: None,
            fingerprints: Vec::new(),
        }
    }

    /// The target did not respond correctly; `contact` says what was received.
    pub fn down(contact: Contact, reason: Reason, message: impl AsRef<str>) -> Self {
        Self {
            up: false,
            message: sanitize(message.as_ref()),
            load_time: None,
            phases: Phases::default(),
            certificate: None,
            contact,
            reason: Some(reason),
            warnings: Vec::new(),
            evidence: None,
            regions: Vec::new(),
            readings: Readings::default(),
            expiry: None,
            fingerprints: Vec::new(),
        }
    }

    /// A wrong response took time, too.
    #[must_use]
    pub fn with_load_time(self, load_time: Duration) -> Self {
        Self { load_time: Some(load_time), ..self }
    }

    #[must_use]
    pub fn with_phases(self, phases: Phases) -> Self {
        Self { phases, ..self }
    }

    #[must_use]
    pub fn with_certificate(self, certificate: Option<Certificate>) -> Self {
        Self { certificate: certificate.map(Box::new), ..self }
    }

    /// The observation of another machine, with the same bounds as one made
    /// here. It covers that machine's region only.
    #[must_use]
    pub fn sanitized(self) -> Self {
        Self {
            message: sanitize(&self.message),
            load_time: self.load_time.map(|span| span.min(MAX_SPAN)),
            phases: self.phases.sanitized(),
            certificate: self.certificate.map(|certificate| Box::new(certificate.sanitized())),
            contact: if self.up { Contact::Answered } else { self.contact },
            warnings: Warning::sanitized(self.warnings),
            evidence: self.evidence.map(|evidence| Box::new(evidence.sanitized())),
            regions: Vec::new(),
            readings: self.readings.sanitized(),
            expiry: self.expiry.map(|expiry| Box::new(expiry.sanitized())),
            fingerprints: (self.fingerprints.into_iter().take(MAX_ASSERTIONS))
                .map(Fingerprint::sanitized)
                .collect(),
            ..self
        }
    }
}

/// Something about a target that is not as it should be, although it is up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    pub reason: Reason,
    pub words: String,
}

impl Warning {
    fn sanitized(warnings: Vec<Self>) -> Vec<Self> {
        let bounded =
            |Self { reason, words }| Self { reason, words: one_line(&words, MAX_WARNING_LENGTH) };
        warnings.into_iter().take(MAX_WARNINGS).map(bounded).collect()
    }
}

impl Phases {
    fn sanitized(self) -> Self {
        let bounded = |span: Option<Duration>| span.map(|span| span.min(MAX_SPAN));
        Self {
            resolve: bounded(self.resolve),
            connect: bounded(self.connect),
            tls: bounded(self.tls),
            first_byte: bounded(self.first_byte),
            transfer: bounded(self.transfer),
        }
    }
}

/// The certificate of the target, whether or not it is trusted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Certificate {
    pub subject: String,
    pub issuer: String,
    /// The first of the names and addresses it is valid for; newer certificates
    /// have only these and no subject.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    #[serde(with = "serde_millis::instant")]
    pub not_after: Millis,
    pub trusted: bool,
    /// The rest of the chain, in the order it was sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<ChainCertificate>,
}

/// The certificate of an issuer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ChainCertificate {
    pub subject: String,
    pub issuer: String,
    #[serde(with = "serde_millis::instant")]
    pub not_after: Millis,
}

impl Certificate {
    /// The fields of a target's certificate may contain anything and be of any
    /// length.
    #[must_use]
    pub fn sanitized(self) -> Self {
        let brief = |text: String| one_line(&text, MAX_NAME_LENGTH);
        let expiry = |at: Millis| at.clamp(Millis(0), MAX_EXPIRY);
        Self {
            subject: brief(self.subject),
            issuer: brief(self.issuer),
            names: self.names.into_iter().take(MAX_NAMES).map(brief).collect(),
            chain: (self.chain.into_iter().take(MAX_CHAIN_LENGTH))
                .map(|ChainCertificate { subject, issuer, not_after }| ChainCertificate {
                    subject: brief(subject),
                    issuer: brief(issuer),
                    not_after: expiry(not_after),
                })
                .collect(),
            not_after: expiry(self.not_after),
            ..self
        }
    }

    /// A short name for the certificate.
    pub fn display_name(&self) -> &str {
        if self.subject.is_empty() {
            self.names.first().map_or("", String::as_str)
        } else {
            &self.subject
        }
    }
}

/// What an observation implies about our own network. Any byte from the target,
/// and also a refusal or reset, proves that it works; silence proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contact {
    /// The target, or a name server for it, responded.
    Answered,
    /// The connection was refused or reset.
    Refused,
    /// No response arrived before the deadline.
    Silence,
    /// The network reported that there is no route (ENETUNREACH, EHOSTUNREACH).
    Unreachable,
}

impl Contact {
    /// Whether something arrived from outside, so that our own network must
    /// work.
    pub fn proves_network(self) -> bool {
        matches!(self, Self::Answered | Self::Refused)
    }
}

/// The check could not be performed: nothing is known about the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub kind: FaultKind,
    pub message: String,
    /// The result of each region, when they did not settle it; empty when only
    /// the owning node checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<RegionBeat>,
}

impl Fault {
    pub fn new(kind: FaultKind, message: impl AsRef<str>) -> Self {
        Self { kind, message: sanitize(message.as_ref()), regions: Vec::new() }
    }

    #[must_use]
    pub fn with_regions(self, regions: Vec<RegionBeat>) -> Self {
        Self { regions, ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

named_enum! {
    /// Why a check could not be performed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FaultKind {
        /// The egress policy blocks the address.
        Egress = "egress",
        /// The operating system denies the socket, as for ping without the
        /// privilege.
        Permission = "permission",
        /// Out of file descriptors, memory or ports.
        Resources = "resources",
        /// Our own network is down.
        Network = "network",
        /// The monitor or the service is configured in a way that cannot be
        /// checked.
        Config = "config",
        /// No probe of a region responded.
        Probe = "probe",
        /// A maintenance window pauses the checks.
        Maintenance = "maintenance",
        /// A bug in Wakeful.
        Internal = "internal",
    }
}

/// One line of bounded length: text from a target may contain anything.
pub(crate) fn sanitize(message: &str) -> String {
    one_line(message, MAX_MESSAGE_LENGTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_of_bounded_length() {
        let observation =
            Observation::down(Contact::Answered, Reason::HttpStatus, "503\r\nX: y\u{1b}[31m\0 ");
        assert_eq!(observation.message, "503  X: y [31m");
        let long = Observation::up(Duration::ZERO, "é".repeat(5_000));
        assert_eq!(long.message.chars().count(), MAX_MESSAGE_LENGTH);
        assert_eq!(Fault::new(FaultKind::Internal, "a\nb").message, "a b");
    }

    #[test]
    fn a_certificate_with_too_much_text_is_truncated() {
        let certificate = Certificate {
            subject: "CN=a\0b".into(),
            issuer: "x".repeat(70_000),
            names: vec!["n".repeat(300); 1_000],
            not_after: Millis(0),
            trusted: false,
            chain: vec![
                ChainCertificate {
                    subject: "s".repeat(300),
                    issuer: "\n".into(),
                    not_after: Millis(1)
                };
                100
            ],
        };
        let shortened = certificate.sanitized();
        assert_eq!(
            (shortened.subject.as_str(), shortened.issuer.len()),
            ("CN=a b", MAX_NAME_LENGTH)
        );
        assert_eq!((shortened.names.len(), shortened.names[9].len()), (MAX_NAMES, MAX_NAME_LENGTH));
        assert_eq!(
            (shortened.chain.len(), shortened.chain[4].subject.len()),
            (MAX_CHAIN_LENGTH, MAX_NAME_LENGTH)
        );
    }

    #[test]
    fn an_observation_from_another_machine_is_bounded() {
        let forever = Some(Duration::MAX);
        let phases = Phases {
            resolve: forever,
            connect: forever,
            tls: forever,
            first_byte: forever,
            transfer: forever,
        };
        let reported = Observation {
            up: true,
            message: format!("200\u{1b}[31m{}", "x".repeat(5_000)),
            load_time: forever,
            phases,
            certificate: Some(Box::new(Certificate {
                subject: "CN=a\r\nb".into(),
                issuer: String::new(),
                names: vec!["n".repeat(300); 1_000],
                not_after: Millis(i64::MAX),
                trusted: true,
                chain: vec![
                    ChainCertificate {
                        subject: String::new(),
                        issuer: String::new(),
                        not_after: Millis(i64::MIN),
                    };
                    100
                ],
            })),
            contact: Contact::Silence,
            reason: None,
            warnings: vec![Warning { reason: Reason::Slow, words: "slow\n".repeat(900) }; 100],
            evidence: None,
            regions: Vec::new(),
            expiry: None,
            fingerprints: Vec::new(),
            readings: Readings([Some(i64::MAX), None]),
        };
        let observation = reported.sanitized();
        assert_eq!(observation.message.chars().count(), MAX_MESSAGE_LENGTH);
        assert!(!observation.message.contains(char::is_control));
        assert_eq!(
            (observation.load_time, observation.phases.transfer),
            (Some(MAX_SPAN), Some(MAX_SPAN))
        );
        assert_eq!(observation.contact, Contact::Answered);
        assert_eq!(observation.warnings.len(), MAX_WARNINGS);
        assert!(observation.warnings[0].words.chars().count() <= MAX_WARNING_LENGTH);
        let certificate = observation.certificate.expect("a certificate");
        assert_eq!(certificate.subject, "CN=a  b");
        assert_eq!(
            (certificate.names.len(), certificate.names[0].len()),
            (MAX_NAMES, MAX_NAME_LENGTH)
        );
        assert_eq!(certificate.not_after, MAX_EXPIRY);
        assert_eq!(certificate.chain.len(), MAX_CHAIN_LENGTH);
        assert_eq!(certificate.chain[0].not_after, Millis(0));
    }

    #[test]
    fn a_refusal_proves_our_network_and_silence_does_not() {
        assert!(Contact::Answered.proves_network());
        assert!(Contact::Refused.proves_network());
        assert!(!Contact::Silence.proves_network());
        assert!(!Contact::Unreachable.proves_network());
    }

    /// What earlier versions wrote and read.
    #[test]
    fn the_bytes_of_a_monitor_without_assertions_are_those_of_earlier_versions() {
        let up = Observation::up(Duration::from_micros(1_234), "200 OK");
        let text =
            r#"{"up":true,"message":"200 OK","load_time":1234,"phases":{},"evidence":"answered"}"#;
        assert_eq!(serde_json::to_string(&up).expect("serializes"), text);
        assert_eq!(serde_json::from_str::<Observation>(text).expect("reads"), up);
        let down = r#"{"up":false,"message":"503","phases":{},"evidence":"answered"}"#;
        let down: Observation = serde_json::from_str(down).expect("reads");
        assert_eq!((down.reason, down.warnings.len(), down.evidence), (None, 0, None));
        let streak = r#"{"checks":2,"started":1794744000000,"cause":"503"}"#;
        let read: crate::verdict::FailureStreak = serde_json::from_str(streak).expect("reads");
        assert_eq!(read.reason, None);
        assert_eq!(serde_json::to_string(&read).expect("serializes"), streak);
    }

    #[test]
    fn an_observation_round_trips_as_json() {
        let observation = Observation::down(Contact::Silence, Reason::NoReply, "no answer")
            .with_load_time(Duration::from_micros(1_234))
            .with_phases(Phases { connect: Some(Duration::from_micros(7)), ..Phases::default() })
            .with_certificate(Some(Certificate {
                subject: "example.com".into(),
                issuer: "CA".into(),
                names: vec!["example.com".into()],
                not_after: Millis(1_763_199_000_123),
                trusted: true,
                chain: vec![ChainCertificate {
                    subject: "CA".into(),
                    issuer: "Root".into(),
                    not_after: Millis(1_863_199_000_123),
                }],
            }));
        let text = serde_json::to_string(&observation).expect("serializes");
        assert!(text.contains(r#""load_time":1234,"phases":{"connect":7}"#), "{text}");
        assert_eq!(serde_json::from_str::<Observation>(&text).expect("reads"), observation);

        let bare = r#"{"up":true,"message":"","evidence":"answered"}"#;
        assert_eq!(serde_json::from_str::<Observation>(bare).expect("reads").load_time, None);
    }
}
