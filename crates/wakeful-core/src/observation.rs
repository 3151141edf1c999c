//! What a check brings back: an `Observation` of the target, or a `Fault` when
//! we could not look. The two are different types so that no rule can take our
//! own trouble for the target's: a fault never becomes a verdict.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

use crate::number;
use crate::region::RegionBeat;
use crate::time::Millis;

/// Longer messages are cut: they are for people, and every heartbeat holds one.
const LONGEST_MESSAGE: usize = 1_000;
/// The same for each name in a certificate, of which so many are kept.
const LONGEST_NAME: usize = 255;
const MOST_NAMES: usize = 10;
const MOST_SIGNERS: usize = 5;
/// No check takes nearly as long.
const MAX_SPAN: Duration = Duration::from_secs(3_600);
/// The last moment of the year 9999, which is as far as a certificate can reach.
const MAX_EXPIRY: Millis = Millis(253_402_300_799_999);

/// The target was looked at. Down is a result like any other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    pub up: bool,
    pub message: String,
    #[serde(with = "number::micros", default, skip_serializing_if = "Option::is_none")]
    pub load_time: Option<Duration>,
    #[serde(default)]
    pub phases: Phases,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Box<Certificate>>,
    pub evidence: Evidence,
    /// What each region saw; empty when only the owner looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<RegionBeat>,
}

impl Observation {
    /// The target answered as it should, `load_time` after the check began.
    pub fn up(load_time: Duration, message: impl AsRef<str>) -> Self {
        Self {
            up: true,
            message: tidy(message.as_ref()),
            load_time: Some(load_time),
            phases: Phases::default(),
            certificate: None,
            evidence: Evidence::Answered,
            regions: Vec::new(),
        }
    }

    /// The target did not answer as it should; `evidence` says what was heard.
    pub fn down(evidence: Evidence, message: impl AsRef<str>) -> Self {
        Self {
            up: false,
            message: tidy(message.as_ref()),
            load_time: None,
            phases: Phases::default(),
            certificate: None,
            evidence,
            regions: Vec::new(),
        }
    }

    /// A wrong answer took time too.
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

    /// What another machine reported, bounded as if it had been observed here. It
    /// reports for its own region only.
    #[must_use]
    pub fn sanitized(self) -> Self {
        Self {
            message: tidy(&self.message),
            load_time: self.load_time.map(|span| span.min(MAX_SPAN)),
            phases: self.phases.sanitized(),
            certificate: self.certificate.map(|certificate| Box::new(certificate.tidied())),
            evidence: if self.up { Evidence::Answered } else { self.evidence },
            regions: Vec::new(),
            ..self
        }
    }
}

/// Where the time of a check went. A phase that was not reached is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Phases {
    #[serde(with = "number::micros", skip_serializing_if = "Option::is_none")]
    pub resolve: Option<Duration>,
    #[serde(with = "number::micros", skip_serializing_if = "Option::is_none")]
    pub connect: Option<Duration>,
    #[serde(with = "number::micros", skip_serializing_if = "Option::is_none")]
    pub tls: Option<Duration>,
    #[serde(with = "number::micros", skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<Duration>,
    #[serde(with = "number::micros", skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Duration>,
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

/// The certificate the target showed, whether or not it is trusted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Certificate {
    pub subject: String,
    pub issuer: String,
    /// The first of the names and addresses it is good for; newer certificates
    /// say it here alone and have no subject.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    #[serde(with = "number::instant")]
    pub not_after: Millis,
    pub trusted: bool,
    /// What was sent along to prove it, in the order it was sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<Signer>,
}

/// The certificate of somebody who signs others.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Signer {
    pub subject: String,
    pub issuer: String,
    #[serde(with = "number::instant")]
    pub not_after: Millis,
}

impl Certificate {
    /// What a target says in it may hold anything and be of any length.
    #[must_use]
    pub fn tidied(self) -> Self {
        let brief = |text: String| cut(&text, LONGEST_NAME);
        let expiry = |at: Millis| at.clamp(Millis(0), MAX_EXPIRY);
        Self {
            subject: brief(self.subject),
            issuer: brief(self.issuer),
            names: self.names.into_iter().take(MOST_NAMES).map(brief).collect(),
            chain: (self.chain.into_iter().take(MOST_SIGNERS))
                .map(|Signer { subject, issuer, not_after }| Signer {
                    subject: brief(subject),
                    issuer: brief(issuer),
                    not_after: expiry(not_after),
                })
                .collect(),
            not_after: expiry(self.not_after),
            ..self
        }
    }

    /// Whose it is, in a few words.
    pub fn holder(&self) -> &str {
        match self.subject.is_empty() {
            true => self.names.first().map_or("", String::as_str),
            false => &self.subject,
        }
    }
}

/// What an observation says about our own network. Any byte from the target,
/// and a refusal or reset too, proves that it works; silence proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The target, or a name server about it, sent something.
    Answered,
    /// The connection was refused or reset.
    Refused,
    /// Nothing came before the deadline.
    Silence,
    /// The network said there is no way (ENETUNREACH, EHOSTUNREACH).
    Unreachable,
}

impl Evidence {
    /// Whether something came from outside, so that our own network must work.
    pub fn proves_network(self) -> bool {
        matches!(self, Self::Answered | Self::Refused)
    }
}

/// We could not look: nothing is known about the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub kind: FaultKind,
    pub message: String,
    /// What each region saw, when that did not settle it; empty when only the
    /// owner looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<RegionBeat>,
}

impl Fault {
    pub fn new(kind: FaultKind, message: impl AsRef<str>) -> Self {
        Self { kind, message: tidy(message.as_ref()), regions: Vec::new() }
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

/// Why we could not look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The egress policy denies the address.
    Egress,
    /// The operating system denies the socket, as for ping without the right.
    Permission,
    /// Out of file handles, memory or ports.
    Resources,
    /// Our own network is down.
    Network,
    /// The monitor or the service is set up in a way that cannot be checked.
    Config,
    /// No probe of a region answered.
    Probe,
    /// A defect of Wakeful.
    Internal,
}

impl FaultKind {
    pub const ALL: &[Self] = &[
        Self::Egress,
        Self::Permission,
        Self::Resources,
        Self::Network,
        Self::Config,
        Self::Probe,
        Self::Internal,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Egress => "egress",
            Self::Permission => "permission",
            Self::Resources => "resources",
            Self::Network => "network",
            Self::Config => "config",
            Self::Probe => "probe",
            Self::Internal => "internal",
        }
    }
}

/// One line of bounded length: what a target sends may hold anything.
pub(crate) fn tidy(message: &str) -> String {
    cut(message, LONGEST_MESSAGE)
}

fn cut(text: &str, longest: usize) -> String {
    let line: String =
        text.chars().take(longest).map(|c| if c.is_control() { ' ' } else { c }).collect();
    line.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_of_bounded_length() {
        let seen = Observation::down(Evidence::Answered, "503\r\nX: y\u{1b}[31m\0 ");
        assert_eq!(seen.message, "503  X: y [31m");
        let long = Observation::up(Duration::ZERO, "é".repeat(5_000));
        assert_eq!(long.message.chars().count(), LONGEST_MESSAGE);
        assert_eq!(Fault::new(FaultKind::Internal, "a\nb").message, "a b");
    }

    #[test]
    fn a_certificate_that_says_too_much_is_cut() {
        let certificate = Certificate {
            subject: "CN=a\0b".into(),
            issuer: "x".repeat(70_000),
            names: vec!["n".repeat(300); 1_000],
            not_after: Millis(0),
            trusted: false,
            chain: vec![
                Signer {
                    subject: "s".repeat(300),
                    issuer: "\n".into(),
                    not_after: Millis(1)
                };
                100
            ],
        };
        let kept = certificate.tidied();
        assert_eq!((kept.subject.as_str(), kept.issuer.len()), ("CN=a b", LONGEST_NAME));
        assert_eq!((kept.names.len(), kept.names[9].len()), (MOST_NAMES, LONGEST_NAME));
        assert_eq!((kept.chain.len(), kept.chain[4].subject.len()), (MOST_SIGNERS, LONGEST_NAME));
    }

    #[test]
    fn what_another_machine_reports_is_bounded() {
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
                    Signer {
                        subject: String::new(),
                        issuer: String::new(),
                        not_after: Millis(i64::MIN),
                    };
                    100
                ],
            })),
            evidence: Evidence::Silence,
            regions: Vec::new(),
        };
        let seen = reported.sanitized();
        assert_eq!(seen.message.chars().count(), LONGEST_MESSAGE);
        assert!(!seen.message.contains(char::is_control));
        assert_eq!((seen.load_time, seen.phases.transfer), (Some(MAX_SPAN), Some(MAX_SPAN)));
        assert_eq!(seen.evidence, Evidence::Answered);
        let certificate = seen.certificate.expect("a certificate");
        assert_eq!(certificate.subject, "CN=a  b");
        assert_eq!(
            (certificate.names.len(), certificate.names[0].len()),
            (MOST_NAMES, LONGEST_NAME)
        );
        assert_eq!(certificate.not_after, MAX_EXPIRY);
        assert_eq!(certificate.chain.len(), MOST_SIGNERS);
        assert_eq!(certificate.chain[0].not_after, Millis(0));
    }

    #[test]
    fn a_refusal_proves_our_network_and_silence_does_not() {
        assert!(Evidence::Answered.proves_network());
        assert!(Evidence::Refused.proves_network());
        assert!(!Evidence::Silence.proves_network());
        assert!(!Evidence::Unreachable.proves_network());
    }

    #[test]
    fn an_observation_travels_as_json_without_loss() {
        let seen = Observation::down(Evidence::Silence, "no answer")
            .with_load_time(Duration::from_micros(1_234))
            .with_phases(Phases { connect: Some(Duration::from_micros(7)), ..Phases::default() })
            .with_certificate(Some(Certificate {
                subject: "example.com".into(),
                issuer: "CA".into(),
                names: vec!["example.com".into()],
                not_after: Millis(1_763_199_000_123),
                trusted: true,
                chain: vec![Signer {
                    subject: "CA".into(),
                    issuer: "Root".into(),
                    not_after: Millis(1_863_199_000_123),
                }],
            }));
        let text = serde_json::to_string(&seen).expect("serialises");
        assert!(text.contains(r#""load_time":1234,"phases":{"connect":7}"#), "{text}");
        assert_eq!(serde_json::from_str::<Observation>(&text).expect("reads"), seen);

        let bare = r#"{"up":true,"message":"","evidence":"answered"}"#;
        assert_eq!(serde_json::from_str::<Observation>(bare).expect("reads").load_time, None);
    }
}
