//! The query of a dns monitor, and its name server.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, SocketAddr};

use crate::Invalid;
use crate::monitors::hostname::Hostname;
use crate::named_enum;
use crate::stored_as_text::stored_as_text;

const DEFAULT_PORT: u16 = 53;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsSpec {
    pub hostname: Hostname,
    #[serde(default)]
    pub port: Option<u16>,
    pub resolver_server: Resolver,
    pub record_type: RecordType,
}

impl DnsSpec {
    /// The server to query. The port is the monitor's, then the resolver's own,
    /// then 53.
    pub fn server(&self) -> SocketAddr {
        let mut server = self.resolver_server.address();
        if let Some(port) = self.port {
            server.set_port(port);
        }
        server
    }

    pub(super) fn target(&self) -> String {
        format!("{} {} @ {}", self.record_type, self.hostname, self.server())
    }

    pub(super) fn endpoint(&self) -> (String, u16) {
        let server = self.server();
        (server.ip().to_string(), server.port())
    }
}

/// A name server: an IP address, with or without a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolver {
    as_sent: String,
    ip: IpAddr,
    port: Option<u16>,
}

impl Resolver {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        let (ip, port) = read(text).filter(|(_, port)| *port != Some(0)).ok_or_else(|| {
            Invalid::new("must be an IP address, or one with a port such as 1.1.1.1:53 or [::1]:53")
        })?;
        Ok(Self { as_sent: text.to_owned(), ip, port })
    }

    pub fn as_str(&self) -> &str {
        &self.as_sent
    }

    /// With port 53 unless it has another.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::new(self.ip, self.port.unwrap_or(DEFAULT_PORT))
    }
}

fn read(text: &str) -> Option<(IpAddr, Option<u16>)> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Some((address.ip(), Some(address.port())));
    }
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().map(|ip| (ip, None))
}

impl fmt::Display for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_sent)
    }
}

named_enum! {
    /// The record types that a dns monitor can query.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum RecordType {
        A = "A",
        Aaaa = "AAAA",
        Caa = "CAA",
        Cname = "CNAME",
        Mx = "MX",
        Ns = "NS",
        Ptr = "PTR",
        Soa = "SOA",
        Srv = "SRV",
        Txt = "TXT",
    }
}

impl RecordType {
    /// The type a text names, in any letter case.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        let known = Self::ALL.iter().find(|known| known.as_str().eq_ignore_ascii_case(text));
        known.copied().ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|kind| kind.as_str())))
    }
}

impl fmt::Display for RecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

stored_as_text!(Resolver, RecordType);

#[cfg(test)]
mod tests {
    use super::*;

    fn server(resolver: &str, port: Option<u16>) -> String {
        let spec = DnsSpec {
            hostname: Hostname::parse("example.com").expect("a host"),
            port,
            resolver_server: Resolver::parse(resolver).expect("a resolver"),
            record_type: RecordType::A,
        };
        spec.server().to_string()
    }

    #[test]
    fn the_monitors_port_takes_precedence_then_the_resolvers_then_53() {
        assert_eq!(server("1.1.1.1", None), "1.1.1.1:53");
        assert_eq!(server("1.1.1.1:5353", None), "1.1.1.1:5353");
        assert_eq!(server("1.1.1.1:5353", Some(54)), "1.1.1.1:54");
        assert_eq!(server(" ::1 ", None), "[::1]:53");
        assert_eq!(server("[::1]", None), "[::1]:53");
        assert_eq!(server("[::1]:5353", None), "[::1]:5353");
    }

    #[test]
    fn a_resolver_is_an_ip_address() {
        for text in [
            "",
            "dns.example",
            "1.1.1",
            "1.1.1.1:",
            "1.1.1.1:0",
            "1.1.1.1:65536",
            "[::1]:x",
            "1.1.1.1,8.8.8.8",
        ] {
            assert!(Resolver::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn every_record_type_is_known_in_any_case() {
        assert_eq!(RecordType::ALL.len(), 10);
        for kind in RecordType::ALL {
            assert_eq!(RecordType::parse(&kind.as_str().to_lowercase()), Ok(*kind));
        }
        for text in ["", "ANY", "AXFR", "A,AAAA"] {
            assert!(RecordType::parse(text).is_err(), "{text:?}");
        }
    }
}
