//! The name or address of a target as users write it: a DNS name (also one in
//! another script), an IPv4 or an IPv6 address with or without brackets. It is
//! parsed once, by the URL standard's host parser, and connections use the
//! parsed form.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use crate::Invalid;
use crate::stored_as_text::stored_as_text;

/// RFC 1035, without the length byte of the root.
const MAX_LENGTH: usize = 253;
const MAX_LABEL_LENGTH: usize = 63;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hostname {
    as_sent: String,
    host: Host,
}

/// The host to resolve or connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// A name in its ASCII form, lower-case.
    Name(String),
    Address(IpAddr),
}

impl Hostname {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let hostname = Self::parse_stored(text)?;
        hostname.host.check_new()?;
        Ok(hostname)
    }

    /// Like `parse`, without the rules that were added after hostnames had been
    /// stored.
    fn parse_stored(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Invalid::new("must be a name or an address"));
        }
        // The host parser would decode percent signs and drop tabs and line breaks.
        if text.contains(|c: char| c == '%' || c.is_control()) {
            return Err(not_a_host());
        }
        Ok(Self { as_sent: text.to_owned(), host: Host::parse(text)? })
    }

    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The text as sent, trimmed.
    pub fn as_str(&self) -> &str {
        &self.as_sent
    }

    /// Host and port as written in a URL, IPv6 in brackets.
    pub fn with_port(&self, port: u16) -> String {
        match self.host {
            Host::Address(ip) => std::net::SocketAddr::new(ip, port).to_string(),
            Host::Name(_) => format!("{}:{port}", self.as_sent),
        }
    }
}

impl Host {
    fn parse(text: &str) -> Result<Self, Invalid> {
        if let Ok(bare) = text.parse::<Ipv6Addr>() {
            return Ok(Self::Address(bare.into()));
        }
        ::url::Host::parse(text).map_err(|_| not_a_host()).and_then(Self::checked)
    }

    /// A parsed host whose labels fit into a DNS query.
    pub(crate) fn checked(host: ::url::Host<String>) -> Result<Self, Invalid> {
        match host {
            ::url::Host::Ipv4(ip) => Ok(Self::Address(ip.into())),
            ::url::Host::Ipv6(ip) => Ok(Self::Address(ip.into())),
            ::url::Host::Domain(name) => {
                check_labels(&name)?;
                Ok(Self::Name(name))
            }
        }
    }

    /// Rejects names that another program could interpret as an option or a
    /// command. For new names only: stored ones must stay readable.
    pub(crate) fn check_new(&self) -> Result<(), Invalid> {
        let Self::Name(name) = self else { return Ok(()) };
        if name.contains('`') || name.split('.').any(|label| label.starts_with('-')) {
            return Err(Invalid::new(
                "must not have a part that starts with a hyphen or contains a backtick",
            ));
        }
        Ok(())
    }
}

fn check_labels(name: &str) -> Result<(), Invalid> {
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.len() > MAX_LENGTH {
        return Err(Invalid::new(format!("must have at most {MAX_LENGTH} characters")));
    }
    if name.split('.').any(|label| label.is_empty() || label.len() > MAX_LABEL_LENGTH) {
        return Err(Invalid::new(format!(
            "has a part between its dots that is empty or longer than {MAX_LABEL_LENGTH} characters"
        )));
    }
    Ok(())
}

fn not_a_host() -> Invalid {
    Invalid::new(
        "must be a name such as example.com or an IP address, without scheme, port or path",
    )
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(ip) => ip.fmt(f),
        }
    }
}

impl fmt::Display for Hostname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_sent)
    }
}

stored_as_text!(Hostname => Self::parse_stored);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_parsed_into_the_form_to_connect_to() {
        for (text, host) in [
            ("example.com", "example.com"),
            ("  Example.COM ", "example.com"),
            ("localhost", "localhost"),
            ("example.com.", "example.com."),
            ("_dmarc.example.com", "_dmarc.example.com"),
            ("a-b.example", "a-b.example"),
            ("a-.example", "a-.example"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("127.0.0.1", "127.0.0.1"),
            ("0x7f.1", "127.0.0.1"),
            ("::1", "::1"),
            ("[2001:db8::1]", "2001:db8::1"),
        ] {
            let name = Hostname::parse(text).unwrap_or_else(|why| panic!("{text:?}: {why}"));
            let seen = match name.host() {
                Host::Name(name) => name.clone(),
                Host::Address(ip) => ip.to_string(),
            };
            assert_eq!(seen, host, "{text:?}");
            assert_eq!(name.as_str(), text.trim());
        }
    }

    #[test]
    fn a_host_that_cannot_be_resolved_is_refused() {
        let label = format!("{}.example", "a".repeat(64));
        let long = ["a".repeat(60).as_str(); 5].join(".");
        for text in [
            "",
            "   ",
            ".",
            "a..b",
            ".example.com",
            "http://example.com",
            "example.com:80",
            "example.com/path",
            "user@example.com",
            "exa mple.com",
            "exa\tmple.com",
            "example.com\r\nx",
            "ex%61mple.com",
            "fe80::1%eth0",
            "[::1",
            "1.2.3.4.5",
            "256.1.1.1",
            "a\0b",
            "$(reboot)|x",
            "-oProxyCommand=x",
            "-a.example",
            "a.-b.example",
            "a.example.-b",
            "`id`.example",
            "a`b",
            &label,
            &long,
        ] {
            assert!(Hostname::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_stored_name_stays_readable_when_rules_are_added() {
        for text in ["-a.example", "a`b.example"] {
            let why = Hostname::parse(text).expect_err(text).to_string();
            assert!(why.contains("hyphen") && why.contains("backtick"), "{why}");
            let stored = format!("\"{text}\"");
            let read: Hostname = serde_json::from_str(&stored).expect("stored before the rule");
            assert_eq!(read.as_str(), text);
        }
        assert!(serde_json::from_str::<Hostname>("\"a b\"").is_err());
    }

    #[test]
    fn an_ipv6_address_with_a_port_is_bracketed() {
        assert_eq!(Hostname::parse("::1").expect("a host").with_port(80), "[::1]:80");
        assert_eq!(Hostname::parse("a.example").expect("a host").with_port(80), "a.example:80");
    }
}
