//! The server of a tls monitor, and how its connection becomes encrypted.

use serde::{Deserialize, Serialize};
use std::fmt;

use super::client_certificate::ClientCertificate;
use super::connect::ConnectOptions;
use super::request::{CLIENT_KEY, Secrets};
use crate::Invalid;
use crate::monitors::hostname::Hostname;
use crate::named_enum;
use crate::secret::Secret;
use crate::stored_as_text::stored_as_text;

pub const DEFAULT_PORT: u16 = 443;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsSpec {
    pub hostname: Hostname,
    pub port: u16,
    /// The name that is sent and that the certificate must have; `None`: the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_name: Option<Hostname>,
    pub starttls: Starttls,
    pub ignore_tls_error: bool,
    pub certificate_expiry_notification: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_certificate: Option<Box<ClientCertificate>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect: Option<Box<ConnectOptions>>,
}

impl TlsSpec {
    /// With the defaults of the contract.
    pub fn of(hostname: Hostname, port: u16) -> Self {
        Self {
            hostname,
            port,
            server_name: None,
            starttls: Starttls::None,
            ignore_tls_error: false,
            certificate_expiry_notification: true,
            client_certificate: None,
            connect: None,
        }
    }

    /// The name that the certificate must have.
    pub fn expected_name(&self) -> String {
        self.server_name.as_ref().unwrap_or(&self.hostname).host().to_string()
    }

    pub(super) fn secrets(&self) -> Secrets {
        let key = self.client_certificate.as_ref().map(|certificate| certificate.key.expose());
        let key = key.filter(|key| !key.is_empty());
        key.map(|key| (CLIENT_KEY.to_owned(), key.to_owned())).into_iter().collect()
    }

    pub(super) fn set_secrets(&mut self, secrets: &Secrets) {
        if let Some(certificate) = &mut self.client_certificate {
            certificate.key = Secret::new(secrets.get(CLIENT_KEY).map_or("", String::as_str));
        }
    }
}

named_enum! {
    /// The protocol in which a server is asked to encrypt the connection.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Starttls {
        /// The connection is encrypted from the start.
        #[default]
        None = "none",
        Smtp = "smtp",
        Imap = "imap",
        Pop3 = "pop3",
        Postgresql = "postgresql",
        Mysql = "mysql",
        Ldap = "ldap",
    }
}

impl Starttls {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let known = Self::ALL.iter().copied().find(|known| known.as_str() == text.trim());
        known.ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|known| known.as_str())))
    }
}

impl fmt::Display for Starttls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

stored_as_text!(Starttls);
