//! An email address: trimmed, stored as written, compared without letter case.

use std::fmt;

use crate::Invalid;

/// RFC 5321: 256 octets of path less the angle brackets.
const MAX_LENGTH: usize = 254;

#[derive(Clone, Debug)]
pub struct EmailAddress(String);

impl EmailAddress {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        if text.len() > MAX_LENGTH {
            return Err(Invalid::new(format!("must have at most {MAX_LENGTH} characters")));
        }
        let plain =
            email_address::Options::default().without_display_text().without_domain_literal();
        match email_address::EmailAddress::parse_with_options(text, plain) {
            Ok(_) if !text.chars().any(char::is_control) => Ok(Self(text.to_owned())),
            _ => Err(Invalid::new("must be an email address such as you@example.com")),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The unique key: the same for every spelling of one address.
    pub fn key(&self) -> String {
        key(&self.0)
    }
}

/// The key of an address as typed, valid or not.
pub fn key(text: &str) -> String {
    text.trim().to_lowercase()
}

/// The same for addresses that usually belong to one person: without letter case, and without
/// what follows a plus sign before the domain.
pub fn inbox(text: &str) -> String {
    let key = key(text);
    match key.rsplit_once('@') {
        Some((local, domain)) => {
            let name = local.split('+').next().filter(|name| !name.is_empty()).unwrap_or(local);
            format!("{name}@{domain}")
        }
        None => key,
    }
}

impl fmt::Display for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_trimmed_and_compared_without_case() {
        let email = EmailAddress::parse("  Ann@Example.COM ").expect("an address");
        assert_eq!(email.as_str(), "Ann@Example.COM");
        assert_eq!(email.key(), "ann@example.com");
    }

    #[test]
    fn addresses_with_a_plus_sign_share_an_inbox() {
        assert_eq!(inbox("Ann+a+b@Example.com"), "ann@example.com");
        assert_eq!(inbox("ann@example.com"), "ann@example.com");
        assert_eq!(inbox("+a@example.com"), "+a@example.com");
    }

    #[test]
    fn an_invalid_address_is_refused() {
        let long = format!("{}@example.com", "a".repeat(300));
        for text in [
            "",
            "ann",
            "ann@",
            "@example.com",
            "a b@example.com",
            "Ann <ann@example.com>",
            "ann@example.com\r\nBcc: x@y.z",
            "ann@[127.0.0.1]",
            &long,
        ] {
            assert!(EmailAddress::parse(text).is_err(), "{text:?}");
        }
    }
}
