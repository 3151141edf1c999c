//! Addresses as written in mail headers: `ann@example.com` or `Ann
//! <ann@example.com>`, several separated by commas. Text that could end a
//! header line is rejected.

use std::fmt;

use crate::Invalid;
use crate::email_address::EmailAddress;
use crate::stored_as_text::stored_as_text;

const MAX_LENGTH: usize = 4_096;
const MAX_ADDRESSES: usize = 50;

/// One address, with or without a name.
#[derive(Clone, Debug)]
pub struct Mailbox {
    as_sent: String,
    pub name: Option<String>,
    pub email: EmailAddress,
}

impl Mailbox {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        if text.chars().any(char::is_control) {
            return Err(Invalid::new("must not contain line ends or other control characters"));
        }
        let (name, address) = match text.strip_suffix('>').and_then(|rest| rest.split_once('<')) {
            Some((name, address)) => (name.trim().trim_matches('"').trim(), address),
            None => ("", text),
        };
        let name = (!name.is_empty()).then(|| name.to_owned());
        Ok(Self { as_sent: text.to_owned(), name, email: EmailAddress::parse(address)? })
    }

    pub fn as_str(&self) -> &str {
        &self.as_sent
    }
}

impl PartialEq for Mailbox {
    fn eq(&self, other: &Self) -> bool {
        self.as_sent == other.as_sent
    }
}

impl Eq for Mailbox {}

impl fmt::Display for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_sent)
    }
}

/// Any number of addresses; the text is stored as sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mailboxes {
    as_sent: String,
    list: Vec<Mailbox>,
}

impl Mailboxes {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.len() > MAX_LENGTH {
            return Err(Invalid::new(format!("must have at most {MAX_LENGTH} characters")));
        }
        let list = parts(text).map(Mailbox::parse).collect::<Result<Vec<_>, _>>()?;
        if list.len() > MAX_ADDRESSES {
            return Err(Invalid::new(format!("must have at most {MAX_ADDRESSES} addresses")));
        }
        Ok(Self { as_sent: text.trim().to_owned(), list })
    }

    /// Like `parse`, but requires at least one address.
    pub fn parse_some(text: &str) -> Result<Self, Invalid> {
        let boxes = Self::parse(text)?;
        if boxes.list.is_empty() {
            Err(Invalid::new("must contain at least one address"))
        } else {
            Ok(boxes)
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Mailbox> {
        self.list.iter()
    }

    pub fn as_str(&self) -> &str {
        &self.as_sent
    }
}

/// The parts between commas, except for commas inside quotes.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |c| {
        quoted ^= c == '"';
        c == ',' && !quoted
    })
    .filter(|part| !part.trim().is_empty())
}

impl fmt::Display for Mailboxes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_sent)
    }
}

stored_as_text!(Mailbox, Mailboxes);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_or_several_addresses_are_parsed_with_or_without_names() {
        let text = " ann@example.com, \"Lee, Bob\" <bob@example.com>,Çiğdem <c@example.com>,, ";
        let boxes = Mailboxes::parse(text).expect("addresses");
        let seen: Vec<_> =
            boxes.iter().map(|one| (one.name.as_deref(), one.email.as_str())).collect();
        assert_eq!(
            seen,
            [
                (None, "ann@example.com"),
                (Some("Lee, Bob"), "bob@example.com"),
                (Some("Çiğdem"), "c@example.com")
            ]
        );
        assert_eq!(boxes.as_str(), text.trim());
        assert!(Mailboxes::parse("").expect("none").iter().next().is_none());
        assert!(Mailboxes::parse_some(" , ").is_err());
    }

    #[test]
    fn text_that_would_break_out_of_a_header_is_refused() {
        let many = "a@example.com,".repeat(MAX_ADDRESSES + 1);
        for text in [
            "ann",
            "ann@example.com\r\nBcc: eve@example.com",
            "Ann\nBcc: eve@example.com <ann@example.com>",
            "Ann <ann@example.com> <eve@example.com>",
            "Ann <>",
            "<ann@example.com",
            &many,
        ] {
            assert!(Mailboxes::parse(text).is_err(), "{text:?}");
        }
    }
}
