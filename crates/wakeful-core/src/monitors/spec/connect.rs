//! How a check connects to its target: over which address family, with which resolver, and to
//! which address.

use serde::{Deserialize, Serialize};
use std::fmt;

use crate::Invalid;
use crate::monitors::hostname::{Host, Hostname};
use crate::monitors::spec::dns::Resolver;
use crate::named_enum;
use crate::stored_as_text::stored_as_text;

/// The settings that differ from the defaults. Nearly all monitors have none, which takes no
/// memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectOptions {
    #[serde(default, skip_serializing_if = "IpFamily::is_any")]
    pub ip_family: IpFamily,
    /// Queried instead of the resolvers of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolver: Option<Resolver>,
    /// Connected to instead of the target, whose name is still sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_to: Option<Hostname>,
}

impl ConnectOptions {
    /// `None` if they are the defaults.
    pub fn boxed(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }

    /// Whether the address of the target is of the family that is required.
    pub fn check_host(&self, host: Option<&Host>) -> Result<(), Invalid> {
        let host = self.connect_to.as_ref().map(Hostname::host).or(host);
        let Some(Host::Address(ip)) = host else { return Ok(()) };
        match (self.ip_family, ip.to_canonical().is_ipv4()) {
            (IpFamily::V4, false) => Err(Invalid::new("must be any or 6 for this address")),
            (IpFamily::V6, true) => Err(Invalid::new("must be any or 4 for this address")),
            (IpFamily::Both, _) => Err(Invalid::new("must be any for an address")),
            _ => Ok(()),
        }
    }
}

named_enum! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum IpFamily {
        /// Whichever connects first.
        #[default]
        Any = "any",
        V4 = "4",
        V6 = "6",
        /// Each of them is checked.
        Both = "both",
    }
}

impl IpFamily {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let known = Self::ALL.iter().copied().find(|known| known.as_str() == text.trim());
        known.ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|family| family.as_str())))
    }

    fn is_any(&self) -> bool {
        *self == Self::Any
    }
}

impl fmt::Display for IpFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

stored_as_text!(IpFamily);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_from_the_defaults_is_stored() {
        assert_eq!(ConnectOptions::default().boxed(), None);
        let options = ConnectOptions { ip_family: IpFamily::V6, ..ConnectOptions::default() };
        let text = serde_json::to_string(&options).expect("serializes");
        assert_eq!(text, r#"{"ip_family":"6"}"#);
        assert_eq!(serde_json::from_str::<ConnectOptions>(&text).expect("reads"), options);
        for text in ["", "ipv4", "46"] {
            assert!(IpFamily::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn an_address_must_be_of_the_required_family() {
        let check = |family, host: &str, connect_to: Option<&str>| {
            let host = Hostname::parse(host).expect("a host");
            let connect_to = connect_to.map(|text| Hostname::parse(text).expect("a host"));
            let options = ConnectOptions { ip_family: family, resolver: None, connect_to };
            options.check_host(Some(host.host())).is_ok()
        };
        for (family, host, connect_to, expected) in [
            (IpFamily::Any, "::1", None, true),
            (IpFamily::V4, "127.0.0.1", None, true),
            (IpFamily::V4, "::1", None, false),
            (IpFamily::V6, "127.0.0.1", None, false),
            (IpFamily::V6, "127.0.0.1", Some("::1"), true),
            (IpFamily::V4, "a.example", Some("::1"), false),
            (IpFamily::Both, "a.example", None, true),
            (IpFamily::Both, "::1", None, false),
        ] {
            assert_eq!(check(family, host, connect_to), expected, "{family} {host}");
        }
    }
}
