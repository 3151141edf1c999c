//! The request of an http check and the responses it accepts. The password is
//! separate: it is never serialized with the rest, so that the store can
//! encrypt it.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;

use super::connect::ConnectOptions;
use super::request::{RequestOptions, Secrets};
use crate::Invalid;
use crate::monitors::headers::Headers;
use crate::monitors::reject_nul;
use crate::monitors::status_codes::StatusCodes;
use crate::monitors::url::HttpUrl;
use crate::named_enum;
use crate::secret::Secret;
use crate::stored_as_text::stored_as_text;

pub const MAX_REDIRECTS: u8 = 10;
const MAX_PASSWORD_LENGTH: usize = 1_024;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpSpec {
    pub url: HttpUrl,
    pub method: Method,
    pub accepted: StatusCodes,
    /// Text the body must contain; empty when any body is accepted.
    pub keyword: Keyword,
    pub body: Body,
    pub headers: Headers,
    pub authentication: Authentication,
    pub username: Username,
    #[serde(skip, default = "Secret::empty")]
    pub password: Secret,
    pub ignore_tls_error: bool,
    pub certificate_expiry_notification: bool,
    pub max_redirects: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Box<RequestOptions>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect: Option<Box<ConnectOptions>>,
}

impl HttpSpec {
    /// A plain GET of the URL: the defaults of the contract.
    pub fn new(url: HttpUrl) -> Self {
        Self {
            url,
            method: Method::Get,
            accepted: StatusCodes::default(),
            keyword: Keyword::default(),
            body: Body::default(),
            headers: Headers::default(),
            authentication: Authentication::default(),
            username: Username::default(),
            password: Secret::empty(),
            ignore_tls_error: false,
            certificate_expiry_notification: false,
            max_redirects: MAX_REDIRECTS,
            options: None,
            connect: None,
        }
    }

    pub(super) fn endpoint(&self) -> Option<(String, u16)> {
        let url = self.url.url();
        Some((url.host_str()?.to_owned(), url.port_or_known_default()?))
    }

    /// Removes what only those who may edit the monitor may see.
    pub(super) fn redact(&mut self) {
        self.username = Username::default();
        self.password = Secret::empty();
        self.headers = Headers::default();
        self.body = Body::default();
        if let Some(options) = &mut self.options {
            options.redact();
        }
    }

    /// Whether a node or probe of the first versions would send another request.
    pub fn has_options(&self) -> bool {
        self.options.is_some() || !self.authentication.kind.is_plain()
    }

    /// The authorities that it trusts in addition to those of the system.
    pub fn ca(&self) -> &str {
        self.options.as_ref().map_or("", |options| &options.ca)
    }

    pub(super) fn secrets(&self) -> Secrets {
        self.options.as_ref().map(|options| options.secrets()).unwrap_or_default()
    }

    /// `None` if one of them is damaged.
    pub(super) fn set_secrets(&mut self, secrets: &Secrets) -> Option<()> {
        if secrets.is_empty() && self.options.is_none() {
            return Some(());
        }
        self.options.get_or_insert_default().set_secrets(secrets)
    }

    /// Removes the part that is stored encrypted: the password and other secrets, and headers
    /// and body, which may contain tokens.
    pub(super) fn take_sealed_part(&mut self) -> Option<Secret> {
        let password = std::mem::replace(&mut self.password, Secret::empty());
        let (headers, body) = (std::mem::take(&mut self.headers), std::mem::take(&mut self.body));
        let secrets = self.secrets();
        let _ = self.set_secrets(&Secrets::new());
        if headers == Headers::default() && body == Body::default() && secrets.is_empty() {
            return Some(password).filter(|password| !password.expose().is_empty());
        }
        let sealed = Sealed { password: password.expose().to_owned(), headers, body, secrets };
        let json = serde_json::to_string(&sealed).expect("texts only");
        Some(Secret::new(format!("{SEALED_PREFIX}{json}")))
    }

    pub(super) fn restore_sealed_part(&mut self, sealed: &Secret) -> Option<()> {
        let Some(json) = sealed.expose().strip_prefix(SEALED_PREFIX) else {
            self.password = sealed.clone();
            return Some(());
        };
        let Sealed { password, headers, body, secrets } = serde_json::from_str(json).ok()?;
        self.password = Secret::new(password);
        (self.headers, self.body) = (headers, body);
        self.set_secrets(&secrets)
    }
}

/// The encrypted part when there is more than a password.
#[derive(Serialize, Deserialize)]
struct Sealed {
    password: String,
    headers: Headers,
    body: Body,
    #[serde(default, skip_serializing_if = "Secrets::is_empty")]
    secrets: Secrets,
}

/// Marks `Sealed`; no password begins with it.
const SEALED_PREFIX: char = '\n';

/// The password as sent, if it is valid.
pub fn password(text: &str) -> Result<Secret, Invalid> {
    match bounded(text, MAX_PASSWORD_LENGTH)? {
        text if text.chars().any(char::is_control) => {
            Err(Invalid::new("must not contain control characters"))
        }
        text => Ok(Secret::new(text)),
    }
}

/// How many redirects are followed; 0 follows none.
pub fn max_redirects(number: u64) -> Result<u8, Invalid> {
    u8::try_from(number)
        .ok()
        .filter(|number| *number <= MAX_REDIRECTS)
        .ok_or_else(|| Invalid::new(format!("must be a whole number from 0 to {MAX_REDIRECTS}")))
}

fn bounded(text: &str, longest: usize) -> Result<&str, Invalid> {
    if text.chars().count() <= longest {
        Ok(text)
    } else {
        Err(Invalid::new(format!("must have at most {longest} characters")))
    }
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Method {
        Get = "GET",
        Head = "HEAD",
        Post = "POST",
        Put = "PUT",
        Patch = "PATCH",
        Delete = "DELETE",
        Options = "OPTIONS",
    }
}

impl Method {
    /// The method a text names, in any letter case.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        let known = Self::ALL.iter().find(|known| known.as_str().eq_ignore_ascii_case(text));
        known
            .copied()
            .ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|method| method.as_str())))
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How the check authenticates: the kind, and the word as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authentication {
    pub kind: AuthenticationKind,
    as_sent: String,
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AuthenticationKind {
        None = "none",
        Basic = "basic",
        Bearer = "bearer",
        Digest = "digest",
        Ntlm = "ntlm",
        Oauth2 = "oauth2",
    }
}

impl AuthenticationKind {
    /// Whether the first versions know it.
    fn is_plain(self) -> bool {
        matches!(self, Self::None | Self::Basic | Self::Ntlm)
    }
}

impl Authentication {
    /// The kind a text names, in any letter case; an empty text means none.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let word = text.trim();
        if word.is_empty() {
            return Ok(Self::default());
        }
        let same = |kind: &&AuthenticationKind| kind.as_str().eq_ignore_ascii_case(word);
        let kind = AuthenticationKind::ALL.iter().find(same);
        let known = AuthenticationKind::ALL.iter().map(|kind| kind.as_str());
        let kind = kind.ok_or_else(|| Invalid::one_of(known))?;
        Ok(Self { kind: *kind, as_sent: text.to_owned() })
    }

    pub fn as_sent(&self) -> &str {
        &self.as_sent
    }
}

impl Default for Authentication {
    fn default() -> Self {
        Self { kind: AuthenticationKind::None, as_sent: "none".to_owned() }
    }
}

impl fmt::Display for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_sent)
    }
}

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name(String);

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

texts! {
    /// A text to search for in the page, case-sensitive.
    Keyword,
    /// The body of the request.
    Body,
    /// The user name of the check; `DOMAIN\user` or `user@domain` for ntlm.
    Username,
}

impl Keyword {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        reject_nul(text)?;
        bounded(text, 1_024).map(|text| Self(text.to_owned()))
    }
}

impl Body {
    const MAX_BYTES: usize = 262_144;

    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.len() > Self::MAX_BYTES {
            return Err(Invalid::new(format!("must have at most {} bytes", Self::MAX_BYTES)));
        }
        Self::parse_stored(text)
    }

    /// Bodies that were saved when the limit counted characters remain valid.
    fn parse_stored(text: &str) -> Result<Self, Invalid> {
        reject_nul(text)?;
        Ok(Self(text.to_owned()))
    }
}

impl Username {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        match bounded(text, 256)? {
            // RFC 7617 ends the name at the colon, and Windows names have none.
            text if text.contains(|c: char| c == ':' || c.is_control()) => {
                Err(Invalid::new("must not contain colons or control characters"))
            }
            text => Ok(Self(text.to_owned())),
        }
    }
}

stored_as_text!(Method, Authentication, Keyword, Username);
stored_as_text!(Body => Self::parse_stored);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_known_in_any_case() {
        for method in Method::ALL {
            assert_eq!(Method::parse(&method.as_str().to_lowercase()), Ok(*method));
        }
        for text in ["", "TRACE", "CONNECT", "GET /", "GET\r\n\r\nPOST"] {
            assert!(Method::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn authentication_is_echoed_as_sent() {
        for (text, kind) in [
            ("None", AuthenticationKind::None),
            ("BASIC", AuthenticationKind::Basic),
            ("Ntlm", AuthenticationKind::Ntlm),
            ("Digest", AuthenticationKind::Digest),
        ] {
            let parsed = Authentication::parse(text).expect("known");
            assert_eq!((parsed.kind, parsed.as_sent()), (kind, text));
        }
        assert_eq!(Authentication::parse(" ").expect("known").as_sent(), "none");
        assert!(Authentication::parse("kerberos").is_err());
    }

    #[test]
    fn texts_are_bounded_in_length() {
        for (refused, longest) in [
            (
                Keyword::parse(&"é".repeat(1_025)).is_err(),
                Keyword::parse(&"é".repeat(1_024)).is_ok(),
            ),
            (Body::parse(&"a".repeat(262_145)).is_err(), Body::parse(&"a".repeat(262_144)).is_ok()),
            (Username::parse(&"a".repeat(257)).is_err(), Username::parse(&"a".repeat(256)).is_ok()),
            (password(&"a".repeat(1_025)).is_err(), password(&"a".repeat(1_024)).is_ok()),
            (max_redirects(11).is_err(), max_redirects(10).is_ok()),
            (max_redirects(256).is_err(), max_redirects(0).is_ok()),
        ] {
            assert!(refused && longest);
        }
    }

    #[test]
    fn text_that_the_database_cannot_store_is_refused() {
        assert!(Keyword::parse("a\0b").is_err());
        assert!(Body::parse("a\0b").is_err());
        assert!(Body::parse("line\r\nline\t").is_ok());
    }

    #[test]
    fn a_username_with_a_colon_is_refused() {
        assert!(Username::parse(r"DOMAIN\ann").is_ok());
        assert!(Username::parse("ann@example.com").is_ok());
        assert!(Username::parse("ann:x").is_err());
        assert!(Username::parse("ann\r\n").is_err());
        assert!(password("a:b c").is_ok());
        assert!(password("a\nb").is_err());
    }
}
