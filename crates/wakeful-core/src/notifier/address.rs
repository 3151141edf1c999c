//! Addresses as people write them into a mail: `ann@example.com` or
//! `Ann <ann@example.com>`, several with commas. Nothing that could end a
//! header line gets through.

use std::fmt;

use crate::Invalid;
use crate::email::Email;
use crate::monitor::stored_as_text;

const LONGEST: usize = 4_096;
const MOST: usize = 50;

/// One address, with a name before it or without.
#[derive(Clone, Debug)]
pub struct Mailbox {
    as_sent: String,
    pub name: Option<String>,
    pub email: Email,
}

impl Mailbox {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        if text.chars().any(char::is_control) {
            return Err(Invalid::new("must not hold line ends or other control characters"));
        }
        let (name, address) = match text.strip_suffix('>').and_then(|rest| rest.split_once('<')) {
            Some((name, address)) => (name.trim().trim_matches('"').trim(), address),
            None => ("", text),
        };
        let name = (!name.is_empty()).then(|| name.to_owned());
        Ok(Self { as_sent: text.to_owned(), name, email: Email::parse(address)? })
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

/// Any number of addresses; the text is kept as sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mailboxes {
    as_sent: String,
    list: Vec<Mailbox>,
}

impl Mailboxes {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.len() > LONGEST {
            return Err(Invalid::new(format!("must have at most {LONGEST} characters")));
        }
        let list = parts(text).map(Mailbox::parse).collect::<Result<Vec<_>, _>>()?;
        if list.len() > MOST {
            return Err(Invalid::new(format!("must have at most {MOST} addresses")));
        }
        Ok(Self { as_sent: text.trim().to_owned(), list })
    }

    /// As `parse`, where at least one address is needed.
    pub fn parse_some(text: &str) -> Result<Self, Invalid> {
        let boxes = Self::parse(text)?;
        match boxes.list.is_empty() {
            true => Err(Invalid::new("must hold at least one address")),
            false => Ok(boxes),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Mailbox> {
        self.list.iter()
    }

    pub fn as_str(&self) -> &str {
        &self.as_sent
    }
}

/// The parts between commas, but for commas inside quotes.
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
    fn addresses_come_alone_or_with_a_name_one_or_several() {
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
    fn what_would_break_out_of_a_header_is_refused() {
        let many = "a@example.com,".repeat(MOST + 1);
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
