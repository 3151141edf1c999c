//! The target of a monitor: one file per kind with its typed spec, valid by
//! construction, and the list of all kinds here. Specs are stored as JSON tagged
//! by the kind, without their secrets, which are stored encrypted.

pub mod api;
pub mod client_certificate;
pub mod connect;
pub mod dns;
pub mod domain;
pub mod group;
pub mod http;
pub mod ping;
pub mod proxy;
pub mod request;
pub mod tcp;
pub mod tls;

use serde::{Deserialize, Serialize};

use crate::Invalid;
use crate::named_enum;
use crate::secret::Secret;

pub use crate::monitors::headers::Headers;
pub use crate::monitors::hostname::{Host, Hostname};
pub use crate::monitors::status_codes::{CodeRange, StatusCodes};
pub use crate::monitors::url::HttpUrl;
pub use api::ApiSpec;
pub use client_certificate::ClientCertificate;
pub use connect::{ConnectOptions, IpFamily};
pub use dns::{DnsSpec, RecordType, Resolver};
pub use domain::DomainSpec;
pub use group::GroupSpec;
pub use http::{Authentication, AuthenticationKind, Body, HttpSpec, Keyword, Method, Username};
pub use ping::{Echoes, PingSpec};
pub use proxy::{Proxy, ProxyScheme};
pub use request::{ClientAuth, HttpVersion, Oauth2, RequestOptions, Secrets};
pub use tcp::TcpSpec;
pub use tls::{Starttls, TlsSpec};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Spec {
    Api(ApiSpec),
    Dns(DnsSpec),
    Domain(DomainSpec),
    Group(GroupSpec),
    Http(HttpSpec),
    /// Created by `Spec::http_keyword`, which requires the keyword.
    HttpKeyword(HttpSpec),
    Ping(PingSpec),
    Tcp(TcpSpec),
    Tls(TlsSpec),
}

/// How the JSON of most specs begins.
const HTTP_PREFIX: &str = r#"{"type":"http","#;

impl Spec {
    /// A spec as stored. serde buffers the fields of a tagged enum before it reads them, which
    /// takes most of the time, so the most frequent type is read directly.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        if text.starts_with(HTTP_PREFIX) {
            return serde_json::from_str(text).map(Self::Http);
        }
        serde_json::from_str(text)
    }

    pub fn http_keyword(http: HttpSpec) -> Result<Self, Invalid> {
        if http.keyword.is_empty() {
            Err(Invalid::new("must be set for a monitor of type http_keyword"))
        } else {
            Ok(Self::HttpKeyword(http))
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Self::Api(_) => Kind::Api,
            Self::Dns(_) => Kind::Dns,
            Self::Domain(_) => Kind::Domain,
            Self::Group(_) => Kind::Group,
            Self::Http(_) => Kind::Http,
            Self::HttpKeyword(_) => Kind::HttpKeyword,
            Self::Ping(_) => Kind::Ping,
            Self::Tcp(_) => Kind::Tcp,
            Self::Tls(_) => Kind::Tls,
        }
    }

    /// The target as shown to users; empty for api, which only listens, and for groups.
    pub fn target(&self) -> String {
        match self {
            Self::Api(_) | Self::Group(_) => String::new(),
            Self::Dns(dns) => dns.target(),
            Self::Domain(domain) => domain.hostname.to_string(),
            Self::Http(http) | Self::HttpKeyword(http) => http.url.to_string(),
            Self::Ping(ping) => ping.hostname.to_string(),
            Self::Tcp(tcp) => tcp.hostname.with_port(tcp.port),
            Self::Tls(tls) => tls.hostname.with_port(tls.port),
        }
    }

    /// The host and the port that a check connects to.
    pub fn endpoint(&self) -> Option<(String, u16)> {
        match self {
            // The registry of a domain is no target.
            Self::Api(_) | Self::Domain(_) | Self::Group(_) => None,
            Self::Dns(dns) => Some(dns.endpoint()),
            Self::Http(http) | Self::HttpKeyword(http) => http.endpoint(),
            Self::Ping(ping) => Some((ping.hostname.host().to_string(), 0)),
            Self::Tcp(tcp) => Some((tcp.hostname.host().to_string(), tcp.port)),
            Self::Tls(tls) => Some((tls.hostname.host().to_string(), tls.port)),
        }
    }

    pub fn group(&self) -> Option<&GroupSpec> {
        match self {
            Self::Group(group) => Some(group),
            _ => None,
        }
    }

    pub fn http(&self) -> Option<&HttpSpec> {
        match self {
            Self::Http(http) | Self::HttpKeyword(http) => Some(http),
            _ => None,
        }
    }

    pub fn hostname(&self) -> Option<&Hostname> {
        match self {
            Self::Dns(dns) => Some(&dns.hostname),
            Self::Domain(domain) => Some(&domain.hostname),
            Self::Ping(ping) => Some(&ping.hostname),
            Self::Tcp(tcp) => Some(&tcp.hostname),
            Self::Tls(tls) => Some(&tls.hostname),
            Self::Api(_) | Self::Group(_) | Self::Http(_) | Self::HttpKeyword(_) => None,
        }
    }

    pub fn port(&self) -> Option<u16> {
        match self {
            Self::Dns(dns) => dns.port,
            Self::Ping(ping) => ping.port,
            Self::Tcp(tcp) => Some(tcp.port),
            Self::Tls(tls) => Some(tls.port),
            Self::Api(_)
            | Self::Domain(_)
            | Self::Group(_)
            | Self::Http(_)
            | Self::HttpKeyword(_) => None,
        }
    }

    /// How it connects, if that differs from the defaults.
    pub fn connect(&self) -> Option<&ConnectOptions> {
        match self {
            Self::Http(http) | Self::HttpKeyword(http) => http.connect.as_deref(),
            Self::Ping(ping) => ping.connect.as_deref(),
            Self::Tcp(tcp) => tcp.connect.as_deref(),
            Self::Tls(tls) => tls.connect.as_deref(),
            Self::Api(_) | Self::Dns(_) | Self::Domain(_) | Self::Group(_) => None,
        }
    }

    /// The certificate that it presents.
    pub fn client_certificate(&self) -> Option<&ClientCertificate> {
        match self {
            Self::Http(http) | Self::HttpKeyword(http) => {
                http.options.as_ref().and_then(|options| options.client_certificate.as_ref())
            }
            Self::Tls(tls) => tls.client_certificate.as_deref(),
            _ => None,
        }
    }

    /// Whether its checks see the certificate of the target.
    pub fn sees_certificates(&self) -> bool {
        matches!(self, Self::Http(_) | Self::HttpKeyword(_) | Self::Tls(_))
    }

    /// Whether it warns before the certificate or the registration of its target expires.
    pub fn warns_of_expiry(&self) -> bool {
        match self {
            Self::Http(http) | Self::HttpKeyword(http) => http.certificate_expiry_notification,
            Self::Tls(tls) => tls.certificate_expiry_notification,
            Self::Domain(domain) => domain.expiry_notification,
            _ => false,
        }
    }

    /// Whether a node or probe of the first versions would check it in the same way.
    pub fn is_plain(&self) -> bool {
        self.http().is_none_or(|http| !http.has_options())
            && self.connect().is_none()
            && !matches!(self.kind(), Kind::Tls | Kind::Domain)
    }

    /// The password, which is not serialized.
    pub fn secret(&self) -> Option<&Secret> {
        self.http().map(|http| &http.password).filter(|password| !password.expose().is_empty())
    }

    pub fn set_secret(&mut self, secret: Secret) {
        if let Self::Http(http) | Self::HttpKeyword(http) = self {
            http.password = secret;
        }
    }

    /// The other secrets, which are not serialized either.
    pub fn secrets(&self) -> Secrets {
        match self {
            Self::Http(http) | Self::HttpKeyword(http) => http.secrets(),
            Self::Tls(tls) => tls.secrets(),
            _ => Secrets::new(),
        }
    }

    /// `None` if one of them is damaged.
    pub fn set_secrets(&mut self, secrets: &Secrets) -> Option<()> {
        match self {
            Self::Http(http) | Self::HttpKeyword(http) => http.set_secrets(secrets),
            Self::Tls(tls) => {
                tls.set_secrets(secrets);
                Some(())
            }
            _ => Some(()),
        }
    }

    /// The spec without the part that is stored encrypted, and that part, if there is one.
    pub fn split(mut self) -> (Self, Option<Secret>) {
        let sealed = match &mut self {
            Self::Http(http) | Self::HttpKeyword(http) => http.take_sealed_part(),
            Self::Tls(tls) => {
                let secrets = tls.secrets();
                tls.set_secrets(&Secrets::new());
                let json = serde_json::to_string(&secrets).expect("texts only");
                (!secrets.is_empty()).then(|| Secret::new(json))
            }
            _ => None,
        };
        (self, sealed)
    }

    /// Removes what only those who may edit the monitor may see.
    pub(super) fn redact(&mut self) {
        match self {
            Self::Http(http) | Self::HttpKeyword(http) => http.redact(),
            Self::Tls(tls) => tls.set_secrets(&Secrets::new()),
            _ => {}
        }
    }

    /// Restores the decrypted part; `None` if it is damaged.
    pub fn restore(&mut self, sealed: &Secret) -> Option<()> {
        match self {
            Self::Http(http) | Self::HttpKeyword(http) => http.restore_sealed_part(sealed),
            Self::Tls(tls) => {
                tls.set_secrets(&serde_json::from_str(sealed.expose()).ok()?);
                Some(())
            }
            _ => Some(()),
        }
    }
}

named_enum! {
    /// The kind of a monitor: `type` in the API.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Kind {
        Api = "api",
        Dns = "dns",
        Domain = "domain",
        Group = "group",
        Http = "http",
        HttpKeyword = "http_keyword",
        Ping = "ping",
        Tcp = "tcp",
        Tls = "tls",
    }
}

impl Kind {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let known = Self::ALL.iter().find(|known| known.as_str() == text.trim());
        known.copied().ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|kind| kind.as_str())))
    }
}

/// A port given as text, as in the API.
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
    use crate::selector::{Selector, SelectorParts};
    use std::time::Duration;

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
        let everything = SelectorParts { everything: true, ..SelectorParts::default() };
        let everything = Selector::new(everything).expect("a selector");
        vec![
            (Spec::Api(ApiSpec::with_grace(Some(Duration::from_secs(7)))), ""),
            (Spec::Dns(dns), "MX example.com @ [::1]:53"),
            (Spec::Domain(DomainSpec::of(host("example.com"))), "example.com"),
            (Spec::Group(GroupSpec::new(everything)), ""),
            (Spec::Http(http("https://a.example/x")), "https://a.example/x"),
            (
                Spec::http_keyword(HttpSpec { keyword, ..http("http://b.example") })
                    .expect("valid"),
                "http://b.example",
            ),
            (Spec::Ping(PingSpec::of(host("::1"))), "::1"),
            (Spec::Tcp(TcpSpec::of(host("::1"), 80)), "[::1]:80"),
            (Spec::Tls(TlsSpec::of(host("a.example"), 443)), "a.example:443"),
        ]
    }

    #[test]
    fn every_kind_has_a_name_and_a_target() {
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
    fn a_stored_spec_is_tagged_by_its_kind_and_read_back() {
        for (spec, _) in one_of_each() {
            let text = serde_json::to_string(&spec).expect("serializes");
            let tag = format!(r#"{{"type":"{}""#, spec.kind().as_str());
            assert!(text.starts_with(&tag), "{text}");
            assert_eq!(serde_json::from_str::<Spec>(&text).expect("reads"), spec);
            assert_eq!(Spec::from_json(&text).expect("reads"), spec);
            assert_eq!(text.starts_with(HTTP_PREFIX), spec.kind() == Kind::Http);
        }
        assert!(Spec::from_json(r#"{"type":"http","url":"x"}"#).is_err());
    }

    #[test]
    fn the_password_is_not_in_the_stored_spec() {
        let mut spec = Spec::Http(HttpSpec {
            password: http::password("hunter2").expect("a password"),
            ..http("https://a.example")
        });
        let text = serde_json::to_string(&spec).expect("serializes");
        assert!(!text.contains("hunter2"), "{text}");
        assert!(!format!("{spec:?}").contains("hunter2"));

        let stored = std::mem::replace(&mut spec, serde_json::from_str(&text).expect("reads"));
        assert_eq!(spec.secret(), None);
        spec.set_secret(stored.secret().expect("a password").clone());
        assert_eq!(spec, stored);
    }

    #[test]
    fn a_spec_without_options_is_stored_as_it_always_was() {
        let text = |spec: &Spec| serde_json::to_string(spec).expect("serializes");
        assert_eq!(
            text(&Spec::Http(http("https://a.example/x"))),
            r#"{"type":"http","url":"https://a.example/x","method":"GET","accepted":"200-299","keyword":"","body":"","headers":"","authentication":"none","username":"","ignore_tls_error":false,"certificate_expiry_notification":false,"max_redirects":10}"#
        );
        assert_eq!(
            text(&Spec::Tcp(TcpSpec::of(host("::1"), 80))),
            r#"{"type":"tcp","hostname":"::1","port":80}"#
        );
        assert_eq!(
            text(&Spec::Ping(PingSpec::of(host("::1")))),
            r#"{"type":"ping","hostname":"::1"}"#
        );
        let password = http::password("hunter2").expect("a password");
        let spec = Spec::Http(HttpSpec { password, ..http("https://a.example") });
        assert_eq!(spec.split().1.expect("a secret").expose(), "hunter2");
        let body = Body::parse("x").expect("a body");
        let spec = Spec::Http(HttpSpec { body, ..http("https://a.example") });
        let sealed = spec.split().1.expect("a secret");
        assert_eq!(sealed.expose(), "\n{\"password\":\"\",\"headers\":\"\",\"body\":\"x\"}");
    }

    #[test]
    fn secrets_are_stored_apart_from_the_spec() {
        let proxy = Some(Proxy::parse("http://a:sentinel@p.example").expect("a proxy"));
        let token = request::token("sentinel").expect("a token");
        let options = RequestOptions { proxy, token, ..RequestOptions::default() };
        let certificate = ClientCertificate {
            chain: "PEM".to_owned(),
            subject: "CN=a".to_owned(),
            not_after: crate::time::Millis(1),
            fingerprint: "00".to_owned(),
            key: Secret::new("sentinel"),
        };
        for spec in [
            Spec::Http(HttpSpec { options: options.boxed(), ..http("https://a.example") }),
            Spec::Tls(TlsSpec {
                client_certificate: Some(Box::new(certificate)),
                ..TlsSpec::of(host("a.example"), 443)
            }),
        ] {
            let (mut stored, sealed) = spec.clone().split();
            let text = serde_json::to_string(&stored).expect("serializes");
            assert!(!text.contains("sentinel"), "{text}");
            assert_eq!(serde_json::from_str::<Spec>(&text).expect("reads"), stored);
            stored.restore(&sealed.expect("secrets")).expect("valid");
            assert_eq!(stored, spec);
        }
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
