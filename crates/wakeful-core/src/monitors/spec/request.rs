//! The options of an http request that most monitors do not use. They share one box, so that a
//! monitor without them does not grow.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

use super::client_certificate::ClientCertificate;
use super::http::AuthenticationKind;
use super::proxy::Proxy;
use crate::Invalid;
use crate::monitors::url::HttpUrl;
use crate::named_enum;
use crate::secret::Secret;
use crate::stored_as_text::stored_as_text;

const MAX_TOKEN_BYTES: usize = 8_192;
/// The longest authorities, in bytes.
pub const MAX_CA_BYTES: usize = 65_536;
const MAX_OAUTH2_LENGTH: usize = 1_024;
/// What `max_body` can be, in bytes.
const MIN_BODY: u64 = 1_024;
const MAX_BODY: u64 = 10 << 20;

/// The secrets of a spec other than its password, by the path of their field.
pub type Secrets = BTreeMap<String, String>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestOptions {
    /// Sent as `Authorization: Bearer`.
    #[serde(skip, default = "Secret::empty")]
    pub token: Secret,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth2: Option<Oauth2>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_certificate: Option<ClientCertificate>,
    /// Authorities to trust in addition to those of the system, as PEM.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ca: String,
    /// Whether cookies are sent to later hops of the same check.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cookies: bool,
    #[serde(skip)]
    pub proxy: Option<Proxy>,
    #[serde(default, skip_serializing_if = "HttpVersion::is_auto")]
    pub version: HttpVersion,
    /// Whether the URL is different for each check, so that no cache responds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cache_buster: bool,
    /// How many bytes of a body are read; `None` for the default of the type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_body: Option<u32>,
}

impl Default for RequestOptions {
    fn default() -> Self {
        Self {
            token: Secret::empty(),
            oauth2: None,
            client_certificate: None,
            ca: String::new(),
            cookies: false,
            proxy: None,
            version: HttpVersion::Auto,
            cache_buster: false,
            max_body: None,
        }
    }
}

/// Client credentials (RFC 6749, section 4.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Oauth2 {
    pub token_url: HttpUrl,
    pub client_id: String,
    #[serde(skip, default = "Secret::empty")]
    pub client_secret: Secret,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub audience: String,
    #[serde(default)]
    pub client_auth: ClientAuth,
}

const TOKEN: &str = "token";
const CLIENT_SECRET: &str = "oauth2.client_secret";
pub(super) const CLIENT_KEY: &str = "client_key";
const PROXY: &str = "proxy";

impl RequestOptions {
    /// `None` if they are the defaults.
    pub fn boxed(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }

    pub(super) fn secrets(&self) -> Secrets {
        let oauth2 = self.oauth2.as_ref().map(|oauth2| oauth2.client_secret.clone());
        let key = self.client_certificate.as_ref().map(|certificate| certificate.key.clone());
        [
            (TOKEN, Some(self.token.clone())),
            (CLIENT_SECRET, oauth2),
            (CLIENT_KEY, key),
            (PROXY, self.proxy.as_ref().map(Proxy::url)),
        ]
        .into_iter()
        .filter_map(|(path, secret)| Some((path.to_owned(), secret?.expose().to_owned())))
        .filter(|(_, secret)| !secret.is_empty())
        .collect()
    }

    /// `None` if one of them is damaged.
    pub(super) fn set_secrets(&mut self, secrets: &Secrets) -> Option<()> {
        let secret = |path: &str| Secret::new(secrets.get(path).map_or("", String::as_str));
        self.token = secret(TOKEN);
        if let Some(oauth2) = &mut self.oauth2 {
            oauth2.client_secret = secret(CLIENT_SECRET);
        }
        if let Some(certificate) = &mut self.client_certificate {
            certificate.key = secret(CLIENT_KEY);
        }
        let proxy = secrets.get(PROXY).map(|url| Proxy::parse(url)).transpose();
        self.proxy = proxy.ok()?;
        Some(())
    }

    /// Removes what only those who may edit the monitor may see.
    pub(super) fn redact(&mut self) {
        let _ = self.set_secrets(&Secrets::new());
        if let Some(oauth2) = &mut self.oauth2 {
            oauth2.client_id.clear();
        }
    }

    /// The fields that are missing or do not fit the way the check authenticates.
    pub fn problems(&self, kind: AuthenticationKind) -> Vec<(&'static str, &'static str)> {
        let mut problems = Vec::new();
        if kind == AuthenticationKind::Bearer && self.token.expose().is_empty() {
            problems.push(("token", "must be set for bearer authentication"));
        }
        if kind == AuthenticationKind::Oauth2 {
            match &self.oauth2 {
                None => problems.push(("oauth2", "must be set for oauth2 authentication")),
                Some(oauth2) if oauth2.client_secret.expose().is_empty() => {
                    problems.push((CLIENT_SECRET, "must be set for oauth2 authentication"));
                }
                Some(_) => {}
            }
        }
        if kind == AuthenticationKind::Ntlm && self.version == HttpVersion::Http2 {
            problems.push(("version", "must be auto or 1.1 for ntlm authentication"));
        }
        problems
    }
}

named_enum! {
    /// The version of HTTP that a response must have.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum HttpVersion {
        #[default]
        Auto = "auto",
        Http11 = "1.1",
        /// Without TLS: by prior knowledge.
        Http2 = "2",
    }
}

impl HttpVersion {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let known = Self::ALL.iter().copied().find(|known| known.as_str() == text.trim());
        known.ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|version| version.as_str())))
    }

    fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}

impl fmt::Display for HttpVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

named_enum! {
    /// How the client authenticates to the token endpoint.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum ClientAuth {
        #[default]
        Basic = "basic",
        /// In the body.
        Post = "post",
    }
}

impl ClientAuth {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let known = Self::ALL.iter().copied().find(|known| known.as_str() == text.trim());
        known.ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|auth| auth.as_str())))
    }
}

impl fmt::Display for ClientAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

stored_as_text!(HttpVersion, ClientAuth);

/// A token that can be sent in a header.
pub fn token(text: &str) -> Result<Secret, Invalid> {
    let text = text.trim();
    if text.len() > MAX_TOKEN_BYTES {
        return Err(Invalid::new(format!("must have at most {MAX_TOKEN_BYTES} bytes")));
    }
    if text.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(Secret::new(text))
    } else {
        Err(Invalid::new("must not contain spaces or characters other than ASCII"))
    }
}

/// A text in the request for a token.
pub fn oauth2_text(text: &str) -> Result<String, Invalid> {
    if text.chars().count() > MAX_OAUTH2_LENGTH {
        return Err(Invalid::new(format!("must have at most {MAX_OAUTH2_LENGTH} characters")));
    }
    if text.chars().any(char::is_control) {
        return Err(Invalid::new("must not contain control characters"));
    }
    Ok(text.to_owned())
}

/// How many bytes of a body are read.
pub fn max_body(number: u64) -> Result<u32, Invalid> {
    u32::try_from(number)
        .ok()
        .filter(|number| (MIN_BODY..=MAX_BODY).contains(&u64::from(*number)))
        .ok_or_else(|| {
            Invalid::new(format!("must be a whole number from {MIN_BODY} to {MAX_BODY}"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_serialized_and_all_are_restored() {
        let options = RequestOptions {
            token: token("sentinel-token").expect("a token"),
            oauth2: Some(Oauth2 {
                token_url: HttpUrl::parse("https://id.example/token").expect("a URL"),
                client_id: "wakeful".to_owned(),
                client_secret: Secret::new("sentinel-secret"),
                scope: String::new(),
                audience: String::new(),
                client_auth: ClientAuth::Post,
            }),
            client_certificate: Some(ClientCertificate {
                chain: "PEM".to_owned(),
                subject: "CN=a".to_owned(),
                not_after: crate::time::Millis(1),
                fingerprint: "00".to_owned(),
                key: Secret::new("sentinel-key"),
            }),
            proxy: Some(Proxy::parse("http://ann:sentinel-pw@p.example").expect("a proxy")),
            version: HttpVersion::Http2,
            max_body: Some(2_048),
            ..RequestOptions::default()
        };
        let text = serde_json::to_string(&options).expect("serializes");
        assert!(!text.contains("sentinel") && !text.contains("p.example"), "{text}");
        assert!(!format!("{options:?}").contains("sentinel"));
        let mut read: RequestOptions = serde_json::from_str(&text).expect("reads");
        assert_eq!(options.secrets().len(), 4);
        read.set_secrets(&options.secrets()).expect("valid");
        assert_eq!(read, options);
        read.redact();
        assert!(read.secrets().is_empty());
        assert_eq!(serde_json::to_string(&RequestOptions::default()).expect("serializes"), "{}");
    }

    #[test]
    fn numbers_and_tokens_are_bounded() {
        assert!(max_body(1_024).is_ok() && max_body(10_485_760).is_ok());
        assert!(max_body(1_023).is_err() && max_body(10_485_761).is_err());
        assert!(token(&"a".repeat(8_192)).is_ok() && token(&"a".repeat(8_193)).is_err());
        for text in ["a b", "a\nb", "ä"] {
            assert!(token(text).is_err(), "{text:?}");
        }
        assert!(HttpVersion::parse("3").is_err());
    }
}
