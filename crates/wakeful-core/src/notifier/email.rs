//! Telling by mail: which server takes the letter, how the line to it is kept
//! private, from whom and to whom.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

use crate::Invalid;
use crate::monitor::spec::Hostname;
use crate::monitor::stored_as_text;
use crate::notifier::address::{Mailbox, Mailboxes};
use crate::secret::Secret;
use crate::template::UserTemplate;

const LONGEST_SUBJECT: usize = 1_000;
const LONGEST_CREDENTIAL: usize = 1_024;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmailSpec {
    pub hostname: Hostname,
    pub port: u16,
    pub security: Security,
    pub ignore_tls_errors: bool,
    /// Empty: no authentication.
    pub username: String,
    #[serde(skip, default = "no_password")]
    pub password: Secret,
    pub from_email: Mailbox,
    pub to_email: Mailboxes,
    pub to_cc: Mailboxes,
    pub to_bcc: Mailboxes,
    pub subject: Subject,
}

fn no_password() -> Secret {
    Secret::new("")
}

/// How the line to the server is kept private.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Plain,
    /// Starts in the clear and must be upgraded before anything is said.
    StartTls,
    /// TLS from the first byte.
    Tls,
}

impl EmailSpec {
    pub fn transport(&self) -> Transport {
        match (self.security.tls, self.port) {
            (false, _) => Transport::Plain,
            (true, 465) => Transport::Tls,
            (true, _) => Transport::StartTls,
        }
    }

    /// Everybody who gets the mail.
    pub fn recipients(&self) -> impl Iterator<Item = &Mailbox> {
        self.to_email.iter().chain(self.to_cc.iter()).chain(self.to_bcc.iter())
    }
}

/// `none` or `tls` in any letter case, kept as sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Security {
    as_sent: String,
    tls: bool,
}

impl Default for Security {
    fn default() -> Self {
        Self { as_sent: "none".to_owned(), tls: false }
    }
}

impl Security {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let tls = match text.trim().to_ascii_lowercase().as_str() {
            "none" => false,
            "tls" => true,
            _ => return Err(Invalid::new("must be none or tls")),
        };
        Ok(Self { as_sent: text.trim().to_owned(), tls })
    }

    /// Where mail is handed in when no port is given.
    pub fn usual_port(&self) -> u16 {
        if self.tls { 587 } else { 25 }
    }
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_sent)
    }
}

stored_as_text!(Security);

/// The subject of a mail: a template in one line, or empty when Wakeful writes it.
/// The text is stored as it was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    as_sent: String,
    template: Option<UserTemplate>,
}

impl Subject {
    /// The template is not validated here: that takes a while.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.chars().count() > LONGEST_SUBJECT {
            return Err(Invalid::new(format!("must have at most {LONGEST_SUBJECT} characters")));
        }
        one_line(text).map(Self::stored)
    }

    /// As it was stored. The template is validated before it is used.
    fn stored(as_sent: String) -> Self {
        let source = as_sent.trim();
        let template = (!source.is_empty()).then(|| UserTemplate::stored(source));
        Self { as_sent, template }
    }

    /// Nothing when Wakeful writes the subject.
    pub fn template(&self) -> Option<&UserTemplate> {
        self.template.as_ref()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_sent)
    }
}

impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Subject {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::stored)
    }
}

/// A user name or a password.
pub fn credential(text: &str) -> Result<String, Invalid> {
    if text.chars().count() > LONGEST_CREDENTIAL {
        return Err(Invalid::new(format!("must have at most {LONGEST_CREDENTIAL} characters")));
    }
    one_line(text)
}

fn one_line(text: &str) -> Result<String, Invalid> {
    match text.chars().any(char::is_control) {
        true => Err(Invalid::new("must not hold line ends or other control characters")),
        false => Ok(text.to_owned()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn spec() -> EmailSpec {
        EmailSpec {
            hostname: Hostname::parse("mail.example.com").expect("a host"),
            port: 587,
            security: Security::parse("TLS").expect("known"),
            ignore_tls_errors: false,
            username: "wakeful".to_owned(),
            password: Secret::new("hunter2"),
            from_email: Mailbox::parse("Wakeful <wakeful@example.com>").expect("an address"),
            to_email: Mailboxes::parse("ann@example.com").expect("addresses"),
            to_cc: Mailboxes::default(),
            to_bcc: Mailboxes::parse("boss@example.com").expect("addresses"),
            subject: Subject::default(),
        }
    }

    #[test]
    fn tls_is_implicit_on_port_465_and_asked_for_elsewhere() {
        for (security, port, transport) in [
            ("none", 25, Transport::Plain),
            ("None", 465, Transport::Plain),
            ("TLS", 465, Transport::Tls),
            ("tls", 587, Transport::StartTls),
            ("Tls", 25, Transport::StartTls),
        ] {
            let security = Security::parse(security).expect("known");
            let spec = EmailSpec { security, port, ..spec() };
            assert_eq!(spec.transport(), transport, "{} {port}", spec.security);
        }
        assert_eq!(Security::parse(" TLS ").expect("known").to_string(), "TLS");
        assert!(Security::parse("ssl").is_err());
    }

    #[test]
    fn a_subject_and_a_credential_are_one_line() {
        let subject = " [{{ status }}] {{ monitor.name }}";
        assert_eq!(Subject::parse(subject).map(|parsed| parsed.to_string()), Ok(subject.into()));
        assert_eq!(Subject::parse(" ").expect("empty").template(), None);
        for text in ["a\r\nBcc: eve@example.com", "a\nb", "a\0b"] {
            assert!(Subject::parse(text).is_err() && credential(text).is_err(), "{text:?}");
        }
        assert!(Subject::parse(&"x".repeat(1_001)).is_err());
        let joining = Subject::parse("{{ text ~ text }}").expect("one line");
        assert!(joining.template().is_some_and(|template| template.validated().is_err()));
    }

    #[test]
    fn a_stored_subject_that_is_not_allowed_any_more_is_shown_and_not_rendered() {
        let stored: Subject = serde_json::from_str(r#""{{ text ~ text }}""#).expect("a text");
        assert_eq!(stored.to_string(), "{{ text ~ text }}");
        assert!(stored.template().expect("a template").validated().is_err());
    }

    #[test]
    fn everybody_named_gets_the_mail() {
        let all: Vec<String> = spec().recipients().map(ToString::to_string).collect();
        assert_eq!(all, ["ann@example.com", "boss@example.com"]);
    }
}
