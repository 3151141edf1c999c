//! The name of a domain monitor, whose registration is checked.

use serde::{Deserialize, Serialize};

use crate::Invalid;
use crate::monitors::hostname::{Host, Hostname};
use crate::monitors::url::HttpUrl;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainSpec {
    pub hostname: Hostname,
    /// Whether warnings are sent before the registration expires.
    pub expiry_notification: bool,
    /// The RDAP server to query instead of that of the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<HttpUrl>,
}

impl DomainSpec {
    pub fn of(hostname: Hostname) -> Self {
        Self { hostname, expiry_notification: true, server: None }
    }
}

/// A name below a zone; an address is not registered.
pub fn domain_name(text: &str) -> Result<Hostname, Invalid> {
    let name = Hostname::parse(text)?;
    match name.host() {
        Host::Name(name) if name.trim_end_matches('.').contains('.') => {}
        _ => return Err(Invalid::new("must be the name of a domain such as example.com")),
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_a_name_below_a_zone() {
        for text in ["example.com", "www.example.co.uk", "bücher.example"] {
            assert!(domain_name(text).is_ok(), "{text}");
        }
        for text in ["", "com", "com.", "127.0.0.1", "::1", "https://example.com"] {
            assert!(domain_name(text).is_err(), "{text}");
        }
    }
}
