//! What a monitor watches: one typed spec per kind, valid from the moment it
//! exists. Specs are stored as JSON tagged by the kind's word, their secret
//! apart: `secret` gives it to be sealed, `put_secret` puts it back.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::Invalid;
use crate::number;
use crate::secret::Secret;

pub use crate::monitor::dns::{DnsSpec, RecordType, Resolver};
pub use crate::monitor::headers::Headers;
pub use crate::monitor::hostname::{Host, Hostname};
pub use crate::monitor::http::{
    Authentication, AuthenticationKind, Body, HttpSpec, Keyword, Method, Username,
};
pub use crate::monitor::status_codes::StatusCodes;
pub use crate::monitor::url::HttpUrl;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Spec {
    Api(ApiSpec),
    Dns(DnsSpec),
    Http(HttpSpec),
    /// Made by `Spec::http_keyword`, which insists on the keyword.
    HttpKeyword(HttpSpec),
    Ping(PingSpec),
    Tcp(TcpSpec),
}

impl Spec {
    pub fn http_keyword(http: HttpSpec) -> Result<Self, Invalid> {
        match http.keyword.is_empty() {
            true => Err(Invalid::new("must be set for a monitor of type http_keyword")),
            false => Ok(Self::HttpKeyword(http)),
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Self::Api(_) => Kind::Api,
            Self::Dns(_) => Kind::Dns,
            Self::Http(_) => Kind::Http,
            Self::HttpKeyword(_) => Kind::HttpKeyword,
            Self::Ping(_) => Kind::Ping,
            Self::Tcp(_) => Kind::Tcp,
        }
    }

    /// What is watched, for people; empty for api, which only listens.
    pub fn target(&self) -> String {
        match self {
            Self::Api(_) => String::new(),
            Self::Dns(dns) => format!("{} {} @ {}", dns.record_type, dns.hostname, dns.server()),
            Self::Http(http) | Self::HttpKeyword(http) => http.url.to_string(),
            Self::Ping(ping) => ping.hostname.to_string(),
            Self::Tcp(tcp) => tcp.hostname.with_port(tcp.port),
        }
    }

    pub fn http(&self) -> Option<&HttpSpec> {
        match self {
            Self::Http(http) | Self::HttpKeyword(http) => Some(http),
            _ => None,
        }
    }

    pub fn dns(&self) -> Option<&DnsSpec> {
        match self {
            Self::Dns(dns) => Some(dns),
            _ => None,
        }
    }

    pub fn hostname(&self) -> Option<&Hostname> {
        match self {
            Self::Dns(dns) => Some(&dns.hostname),
            Self::Ping(ping) => Some(&ping.hostname),
            Self::Tcp(tcp) => Some(&tcp.hostname),
            Self::Api(_) | Self::Http(_) | Self::HttpKeyword(_) => None,
        }
    }

    pub fn port(&self) -> Option<u16> {
        match self {
            Self::Dns(dns) => dns.port,
            Self::Ping(ping) => ping.port,
            Self::Tcp(tcp) => Some(tcp.port),
            _ => None,
        }
    }

    /// What serialising leaves out and the store seals: the http password, if any.
    pub fn secret(&self) -> Option<&Secret> {
        self.http().map(|http| &http.password).filter(|password| !password.expose().is_empty())
    }

    /// Puts the unsealed secret back where `secret` found it.
    pub fn put_secret(&mut self, secret: Secret) {
        if let Self::Http(http) | Self::HttpKeyword(http) = self {
            http.password = secret;
        }
    }
}

/// The word for a kind of monitor: `type` in the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Api,
    Dns,
    Http,
    HttpKeyword,
    Ping,
    Tcp,
}

impl Kind {
    pub const ALL: &[Self] =
        &[Self::Api, Self::Dns, Self::Http, Self::HttpKeyword, Self::Ping, Self::Tcp];

    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let known = Self::ALL.iter().find(|known| known.as_str() == text.trim());
        known
            .copied()
            .ok_or_else(|| Invalid::new("must be one of api, dns, http, http_keyword, ping, tcp"))
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Dns => "dns",
            Self::Http => "http",
            Self::HttpKeyword => "http_keyword",
            Self::Ping => "ping",
            Self::Tcp => "tcp",
        }
    }
}

/// Passive: the target reports to us, and is late after interval and grace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiSpec {
    #[serde(with = "number::micros", default, skip_serializing_if = "Option::is_none")]
    pub grace: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PingSpec {
    pub hostname: Hostname,
    /// An echo has none: it is kept for who sends one, and returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

impl PingSpec {
    pub fn of(hostname: Hostname) -> Self {
        Self { hostname, port: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpSpec {
    pub hostname: Hostname,
    pub port: u16,
}

/// A port as people write it: `port` is text in the API.
pub fn port(text: &str) -> Result<u16, Invalid> {
    let text = text.trim();
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    digits
        .then(|| text.parse().ok())
        .flatten()
        .filter(|port| *port != 0)
        .ok_or_else(|| Invalid::new("must be a whole number from 1 to 65535"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Hostname {
        Hostname::parse(text).expect("a host")
    }

    fn http(url: &str) -> HttpSpec {
        HttpSpec::new(HttpUrl::parse(url).expect("an address"))
    }

    fn one_of_each() -> Vec<(Spec, &'static str)> {
        let keyword = Keyword::parse("ok").expect("a keyword");
        let dns = DnsSpec {
            hostname: host("example.com"),
            port: None,
            resolver_server: Resolver::parse("::1").expect("a resolver"),
            record_type: RecordType::Mx,
        };
        vec![
            (Spec::Api(ApiSpec { grace: Some(Duration::from_secs(7)) }), ""),
            (Spec::Dns(dns), "MX example.com @ [::1]:53"),
            (Spec::Http(http("https://a.example/x")), "https://a.example/x"),
            (
                Spec::http_keyword(HttpSpec { keyword, ..http("http://b.example") })
                    .expect("valid"),
                "http://b.example",
            ),
            (Spec::Ping(PingSpec::of(host("::1"))), "::1"),
            (Spec::Tcp(TcpSpec { hostname: host("::1"), port: 80 }), "[::1]:80"),
        ]
    }

    #[test]
    fn every_kind_has_its_word_and_its_target() {
        let specs = one_of_each();
        assert_eq!(specs.iter().map(|(spec, _)| spec.kind()).collect::<Vec<_>>(), Kind::ALL);
        for (spec, target) in specs {
            assert_eq!(spec.target(), target);
            assert_eq!(Kind::parse(spec.kind().as_str()), Ok(spec.kind()));
        }
        for text in ["", "HTTP", "push", "http keyword"] {
            assert!(Kind::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_stored_spec_is_tagged_by_its_word_and_read_back() {
        for (spec, _) in one_of_each() {
            let text = serde_json::to_string(&spec).expect("serialises");
            let tag = format!(r#"{{"type":"{}""#, spec.kind().as_str());
            assert!(text.starts_with(&tag), "{text}");
            assert_eq!(serde_json::from_str::<Spec>(&text).expect("reads"), spec);
        }
    }

    #[test]
    fn the_password_is_not_in_the_stored_spec() {
        let mut spec = Spec::Http(HttpSpec {
            password: crate::monitor::http::password("hunter2").expect("a password"),
            ..http("https://a.example")
        });
        let text = serde_json::to_string(&spec).expect("serialises");
        assert!(!text.contains("hunter2"), "{text}");
        assert!(!format!("{spec:?}").contains("hunter2"));

        let stored = std::mem::replace(&mut spec, serde_json::from_str(&text).expect("reads"));
        assert_eq!(spec.secret(), None);
        spec.put_secret(stored.secret().expect("a password").clone());
        assert_eq!(spec, stored);
    }

    #[test]
    fn a_keyword_monitor_needs_its_keyword() {
        assert!(Spec::http_keyword(http("https://a.example")).is_err());
    }

    #[test]
    fn a_port_is_a_number_from_1_to_65535() {
        assert_eq!(port(" 443 "), Ok(443));
        assert_eq!(port("65535"), Ok(65_535));
        for text in ["", "0", "65536", "-1", "+1", "http", "1.5"] {
            assert!(port(text).is_err(), "{text:?}");
        }
    }
}
