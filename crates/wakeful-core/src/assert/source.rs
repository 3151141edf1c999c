//! What an assertion can be about, and for which types of monitors.

use serde::{Deserialize, Serialize};

use super::{Match, Path};
use crate::Invalid;
use crate::monitors::Kind;
use crate::named_enum;
use crate::reason::Reason;

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Source {
        /// The status code.
        Status = "status",
        /// How many redirects were followed.
        Redirects = "redirects",
        /// The bytes of the body, after decoding.
        BodySize = "body_size",
        FinalUrl = "final_url",
        HttpVersion = "http_version",
        Header = "header",
        Body = "body",
        Json = "json",
        /// In milliseconds: the whole check, or the phase that the property names.
        ResponseTime = "response_time",
        Tls = "tls",
        Certificate = "certificate",
        /// The address connected to.
        Address = "address",
        /// The response code of a name server.
        Code = "code",
        Record = "record",
        /// How many records there are.
        Records = "records",
        /// The lowest time to live, in seconds.
        Ttl = "ttl",
        Dnssec = "dnssec",
        /// The share of echoes that were lost, in percent.
        Loss = "loss",
        /// The mean difference between neighboring echoes, in milliseconds.
        Jitter = "jitter",
        /// The days until a registration expires.
        DaysLeft = "days_left",
    }
}

const PHASES: &[&str] = &["resolve", "connect", "tls", "first_byte", "transfer"];
const TLS_PROPERTIES: &[&str] = &["version", "cipher", "alpn"];
const CERTIFICATE_PROPERTIES: &[&str] =
    &["days_left", "chain_days_left", "issuer", "subject", "name", "fingerprint", "key", "trusted"];
const DNSSEC_PROPERTIES: &[&str] = &["authenticated", "signature_days_left"];

impl Source {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let known = Self::ALL.iter().copied().find(|source| source.as_str() == text.trim());
        known.ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|source| source.as_str())))
    }

    pub(super) fn is_supported(self, kind: Kind) -> bool {
        let http = matches!(kind, Kind::Http | Kind::HttpKeyword);
        match self {
            Self::Status => http || kind == Kind::Domain,
            Self::Redirects
            | Self::BodySize
            | Self::FinalUrl
            | Self::HttpVersion
            | Self::Header
            | Self::Body
            | Self::Json => http,
            Self::Tls | Self::Certificate => http || kind == Kind::Tls,
            Self::ResponseTime => !matches!(kind, Kind::Api | Kind::Group),
            // What a domain monitor connects to is its registry, and only if nothing is cached.
            Self::Address => http || matches!(kind, Kind::Dns | Kind::Tcp | Kind::Tls | Kind::Ping),
            Self::DaysLeft => kind == Kind::Domain,
            Self::Code | Self::Record | Self::Records | Self::Ttl | Self::Dnssec => {
                kind == Kind::Dns
            }
            Self::Loss | Self::Jitter => kind == Kind::Ping,
        }
    }

    pub(super) fn check_property(self, property: &str, kind: Kind) -> Result<(), Invalid> {
        let one_of = |known: &'static [&'static str]| {
            if known.contains(&property) {
                Ok(())
            } else {
                Err(Invalid::one_of(known.iter().copied()))
            }
        };
        match self {
            Self::Json => Path::parse(property).map(drop),
            Self::Header => check_header_name(property),
            Self::ResponseTime if property.is_empty() => Ok(()),
            Self::ResponseTime if kind == Kind::Ping => {
                one_of(&["resolve", "first_byte", "min", "max"])
            }
            Self::ResponseTime => one_of(PHASES),
            Self::Tls => one_of(TLS_PROPERTIES),
            Self::Certificate => one_of(CERTIFICATE_PROPERTIES),
            Self::Dnssec => one_of(DNSSEC_PROPERTIES),
            _ if property.is_empty() => Ok(()),
            _ => Err(Invalid::new("must be empty for this source")),
        }
    }

    pub(super) fn default_match(self) -> Match {
        match self {
            Self::Header | Self::Record | Self::Certificate => Match::Any,
            _ => Match::All,
        }
    }

    /// Whether its value is too long to be quoted in a message.
    pub(super) fn is_long(self) -> bool {
        self == Self::Body
    }

    /// The reason of a check in which an assertion about this fails.
    pub(super) fn reason(self, property: &str) -> Reason {
        match (self, property) {
            (Self::ResponseTime, _) => Reason::Slow,
            (Self::Loss, _) => Reason::PacketLoss,
            (Self::Certificate, "days_left" | "chain_days_left") => Reason::CertificateExpiring,
            (Self::Certificate, "fingerprint") => Reason::CertificateChanged,
            (Self::DaysLeft, _) => Reason::DomainExpiring,
            (Self::Code | Self::Record | Self::Records | Self::Ttl, _) => Reason::DnsAnswer,
            (Self::Dnssec, _) => Reason::Dnssec,
            (Self::HttpVersion, _) => Reason::HttpVersion,
            _ => Reason::Assertion,
        }
    }
}

fn check_header_name(name: &str) -> Result<(), Invalid> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if !name.is_empty() && name.bytes().all(is_token) {
        Ok(())
    } else {
        Err(Invalid::new("must be the name of a header"))
    }
}
