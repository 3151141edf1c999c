//! What an http check sends and what it accepts. The password stands apart: it
//! is never serialised with the rest, so that the store can seal it.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;

use crate::Invalid;
use crate::monitor::headers::Headers;
use crate::monitor::status_codes::StatusCodes;
use crate::monitor::url::HttpUrl;
use crate::monitor::{no_nul, stored_as_text};
use crate::secret::Secret;

pub const MOST_REDIRECTS: u8 = 10;
const LONGEST_PASSWORD: usize = 1_024;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpSpec {
    pub url: HttpUrl,
    pub method: Method,
    pub accepted: StatusCodes,
    /// What the body must hold; empty when anything will do.
    pub keyword: Keyword,
    pub body: Body,
    pub headers: Headers,
    pub authentication: Authentication,
    pub username: Username,
    #[serde(skip, default = "no_password")]
    pub password: Secret,
    pub ignore_tls_error: bool,
    pub certificate_expiry_notification: bool,
    pub max_redirects: u8,
}

impl HttpSpec {
    /// A plain GET of the address: the defaults of the contract.
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
            password: no_password(),
            ignore_tls_error: false,
            certificate_expiry_notification: false,
            max_redirects: MOST_REDIRECTS,
        }
    }
}

/// The password as sent, when it is one that can be used.
pub fn password(text: &str) -> Result<Secret, Invalid> {
    match bounded(text, LONGEST_PASSWORD)? {
        text if text.chars().any(char::is_control) => {
            Err(Invalid::new("must not hold control characters"))
        }
        text => Ok(Secret::new(text)),
    }
}

/// How many redirects are followed; 0 is none.
pub fn max_redirects(number: u64) -> Result<u8, Invalid> {
    u8::try_from(number)
        .ok()
        .filter(|number| *number <= MOST_REDIRECTS)
        .ok_or_else(|| Invalid::new(format!("must be a whole number from 0 to {MOST_REDIRECTS}")))
}

fn no_password() -> Secret {
    Secret::new("")
}

fn bounded(text: &str, longest: usize) -> Result<&str, Invalid> {
    match text.chars().count() <= longest {
        true => Ok(text),
        false => Err(Invalid::new(format!("must have at most {longest} characters"))),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

impl Method {
    pub const ALL: &[Self] =
        &[Self::Get, Self::Head, Self::Post, Self::Put, Self::Patch, Self::Delete, Self::Options];

    /// The method a text names, in any letter case.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        let known = Self::ALL.iter().find(|known| known.as_str().eq_ignore_ascii_case(text));
        known.copied().ok_or_else(|| {
            Invalid::new("must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
        })
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How the check proves who it is: the kind, and the word as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authentication {
    pub kind: AuthenticationKind,
    as_sent: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthenticationKind {
    None,
    Basic,
    Ntlm,
}

impl Authentication {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let kind = match text.trim().to_ascii_lowercase().as_str() {
            "" => return Ok(Self::default()),
            "none" => AuthenticationKind::None,
            "basic" => AuthenticationKind::Basic,
            "ntlm" => AuthenticationKind::Ntlm,
            _ => return Err(Invalid::new("must be none, basic or ntlm")),
        };
        Ok(Self { kind, as_sent: text.to_owned() })
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
    /// A text to look for in the page, letter case and all.
    Keyword,
    /// What is sent along with the request.
    Body,
    /// Who the check says it is; `DOMAIN\user` or `user@domain` for ntlm.
    Username,
}

impl Keyword {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        no_nul(text)?;
        bounded(text, 1_024).map(|text| Self(text.to_owned()))
    }
}

impl Body {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        no_nul(text)?;
        bounded(text, 262_144).map(|text| Self(text.to_owned()))
    }
}

impl Username {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        match bounded(text, 256)? {
            // RFC 7617 ends the name at the colon, and Windows names have none.
            text if text.contains(|c: char| c == ':' || c.is_control()) => {
                Err(Invalid::new("must not hold colons or control characters"))
            }
            text => Ok(Self(text.to_owned())),
        }
    }
}

stored_as_text!(Method, Authentication, Keyword, Body, Username);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_known_in_any_letter_case() {
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
        ] {
            let parsed = Authentication::parse(text).expect("known");
            assert_eq!((parsed.kind, parsed.as_sent()), (kind, text));
        }
        assert_eq!(Authentication::parse(" ").expect("known").as_sent(), "none");
        assert!(Authentication::parse("digest").is_err());
    }

    #[test]
    fn texts_have_bounds() {
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
    fn what_the_database_cannot_hold_is_refused() {
        assert!(Keyword::parse("a\0b").is_err());
        assert!(Body::parse("a\0b").is_err());
        assert!(Body::parse("line\r\nline\t").is_ok());
    }

    #[test]
    fn a_username_that_would_be_cut_at_its_colon_is_refused() {
        assert!(Username::parse(r"DOMAIN\ann").is_ok());
        assert!(Username::parse("ann@example.com").is_ok());
        assert!(Username::parse("ann:x").is_err());
        assert!(Username::parse("ann\r\n").is_err());
        assert!(password("a:b c").is_ok());
        assert!(password("a\nb").is_err());
    }
}
