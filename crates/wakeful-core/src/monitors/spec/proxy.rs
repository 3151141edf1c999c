//! The proxy of a check: http, which is asked to open a tunnel, or SOCKS 5. Its URL may have a
//! user name and a password, so it is stored encrypted as a whole.

use ::url::Url;
use std::fmt;

use crate::Invalid;
use crate::monitors::hostname::{Host, Hostname};
use crate::named_enum;
use crate::redact::percent_encoded;
use crate::secret::Secret;

const MAX_LENGTH: usize = 2_048;
/// RFC 1929.
const MAX_CREDENTIAL_BYTES: usize = 255;

#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    pub scheme: ProxyScheme,
    host: Hostname,
    pub port: u16,
    pub username: String,
    pub password: Secret,
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ProxyScheme {
        Http = "http",
        Socks5 = "socks5",
    }
}

impl Proxy {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        if text.chars().count() > MAX_LENGTH {
            return Err(Invalid::new(format!("must have at most {MAX_LENGTH} characters")));
        }
        let url = Url::parse(text).map_err(|_| not_a_proxy())?;
        let scheme = ProxyScheme::ALL.iter().copied().find(|known| known.as_str() == url.scheme());
        let scheme = scheme.ok_or_else(not_a_proxy)?;
        let has_more =
            !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some();
        if has_more {
            return Err(not_a_proxy());
        }
        let host = Hostname::parse(url.host_str().unwrap_or_default())
            .map_err(|why| Invalid::new(format!("its host {why}")))?;
        let default = match scheme {
            ProxyScheme::Http => 80,
            ProxyScheme::Socks5 => 1_080,
        };
        let port = url.port().unwrap_or(default);
        if port == 0 {
            return Err(Invalid::new("must have a port from 1 to 65535"));
        }
        let username = credential(url.username())?;
        if username.contains(':') {
            return Err(Invalid::new("must not have a colon in its user name"));
        }
        let password = Secret::new(credential(url.password().unwrap_or_default())?);
        Ok(Self { scheme, host, port, username, password })
    }

    pub fn host(&self) -> &Host {
        self.host.host()
    }

    /// The URL without the password.
    pub fn shown(&self) -> String {
        let user = match self.username.as_str() {
            "" => String::new(),
            user => format!("{}@", percent_encoded(user)),
        };
        format!("{}://{user}{}", self.scheme.as_str(), self.server())
    }

    /// The whole URL.
    pub fn url(&self) -> Secret {
        let password = match self.password.expose() {
            "" => return Secret::new(self.shown()),
            password => percent_encoded(password),
        };
        let user = percent_encoded(&self.username);
        Secret::new(format!("{}://{user}:{password}@{}", self.scheme.as_str(), self.server()))
    }

    /// Its host and port.
    pub fn server(&self) -> String {
        self.host.with_port(self.port)
    }

    /// Whether this is the same user of the same proxy, so that a password that was entered for
    /// one may be sent to the other.
    pub fn is_same_user(&self, other: &Self) -> bool {
        self.shown() == other.shown()
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Proxy").field(&self.shown()).finish()
    }
}

fn credential(text: &str) -> Result<String, Invalid> {
    let decoded = percent_decoded(text).ok_or_else(not_a_proxy)?;
    if decoded.len() > MAX_CREDENTIAL_BYTES || decoded.chars().any(char::is_control) {
        return Err(Invalid::new(
            "must have a user name and a password of at most 255 bytes without control characters",
        ));
    }
    Ok(decoded)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digits = [char::from(*high), char::from(*low)];
                let [high, low] = digits.map(|digit| digit.to_digit(16));
                bytes.push(u8::try_from(high? * 16 + low?).ok()?);
                rest = after;
            }
            (b'%', _) => return None,
            (byte, after) => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

fn not_a_proxy() -> Invalid {
    Invalid::new(
        "must be a URL such as http://proxy.example:3128 or socks5://user:password@host:1080",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_shown_without_its_password() {
        for (text, shown) in [
            ("http://proxy.example:3128", "http://proxy.example:3128"),
            (" HTTP://Proxy.example/ ", "http://proxy.example:80"),
            ("socks5://[::1]", "socks5://[::1]:1080"),
            ("socks5://ann:s3cret%3A%40@10.0.0.1:1", "socks5://ann@10.0.0.1:1"),
            ("http://a%20b:x@p.example:8080", "http://a%20b@p.example:8080"),
        ] {
            let proxy = Proxy::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!(proxy.shown(), shown, "{text}");
            assert!(!format!("{proxy:?}").contains("s3cret"));
            assert_eq!(Proxy::parse(proxy.url().expose()), Ok(proxy.clone()), "{text}");
            assert!(Proxy::parse(&proxy.shown()).expect("valid").is_same_user(&proxy));
        }
        let proxy = Proxy::parse("socks5://ann:s3cret%3A%40@10.0.0.1:1").expect("valid");
        assert_eq!(proxy.password.expose(), "s3cret:@");
        let other = Proxy::parse("socks5://bob@10.0.0.1:1").expect("valid");
        assert!(!proxy.is_same_user(&other));
    }

    #[test]
    fn other_urls_are_refused() {
        let long = format!("http://a:{}@p.example", "x".repeat(256));
        for text in [
            "",
            "proxy.example:3128",
            "https://proxy.example",
            "socks4://proxy.example",
            "file:///etc/passwd",
            "http://",
            "http://proxy.example:0",
            "http://proxy.example/path",
            "http://proxy.example/?q",
            "http://a%0d%0ab:x@proxy.example",
            "http://a%3Ab:x@proxy.example",
            "http://a%ff@proxy.example",
            "socks5://-a.example",
            &long,
        ] {
            assert!(Proxy::parse(text).is_err(), "{text:?}");
        }
    }
}
