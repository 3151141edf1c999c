//! Notification by email: the SMTP server, its transport security, the sender
//! and the recipients.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

use crate::Invalid;
use crate::monitors::spec::Hostname;
use crate::named_enum;
use crate::notifications::notifier::address::{Mailbox, Mailboxes};
use crate::secret::Secret;
use crate::stored_as_text::stored_as_text;
use crate::template::UserTemplate;

const MAX_SUBJECT_LENGTH: usize = 1_000;
const MAX_CREDENTIAL_LENGTH: usize = 1_024;

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

/// How the connection to the server is secured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Plain,
    /// Starts in clear text and must be upgraded before anything is sent.
    StartTls,
    /// TLS from the first byte.
    Tls,
}

impl EmailSpec {
    pub fn transport(&self) -> Transport {
        match (self.security.kind, self.port) {
            (SecurityKind::None, _) => Transport::Plain,
            (SecurityKind::Tls, 465) => Transport::Tls,
            (SecurityKind::Tls, _) => Transport::StartTls,
        }
    }

    /// Removes what only those who may edit the notifier may see.
    pub(super) fn redact(&mut self) {
        self.username.clear();
        self.password = no_password();
    }

    pub(super) fn from_parts(open: &str, sealed: &Secret) -> Option<Self> {
        let email: Self = serde_json::from_str(open).ok()?;
        Some(Self { password: sealed.clone(), ..email })
    }

    /// All recipients of the email.
    pub fn recipients(&self) -> impl Iterator<Item = &Mailbox> {
        self.to_email.iter().chain(self.to_cc.iter()).chain(self.to_bcc.iter())
    }
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SecurityKind {
        None = "none",
        Tls = "tls",
    }
}

/// A kind of security in any letter case, stored as sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Security {
    as_sent: String,
    kind: SecurityKind,
}

impl Default for Security {
    fn default() -> Self {
        let kind = SecurityKind::None;
        Self { as_sent: kind.as_str().to_owned(), kind }
    }
}

impl Security {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let word = text.trim();
        let same = |kind: &&SecurityKind| kind.as_str().eq_ignore_ascii_case(word);
        let kind = SecurityKind::ALL.iter().find(same);
        let kind = kind.ok_or_else(|| Invalid::new("must be none or tls"))?;
        Ok(Self { as_sent: word.to_owned(), kind: *kind })
    }

    /// The submission port when none is given.
    pub fn default_port(&self) -> u16 {
        match self.kind {
            SecurityKind::None => 25,
            SecurityKind::Tls => 587,
        }
    }
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_sent)
    }
}

stored_as_text!(Security);

/// The subject of an email: a one-line template, or empty to use Wakeful's. The
/// text is stored as it was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    as_sent: String,
    template: Option<UserTemplate>,
}

impl Subject {
    /// The template is not validated here because that takes a while.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.chars().count() > MAX_SUBJECT_LENGTH {
            return Err(Invalid::new(format!("must have at most {MAX_SUBJECT_LENGTH} characters")));
        }
        one_line(text).map(Self::stored)
    }

    /// As stored. The template is validated before it is used.
    fn stored(as_sent: String) -> Self {
        let source = as_sent.trim();
        let template = (!source.is_empty()).then(|| UserTemplate::stored(source));
        Self { as_sent, template }
    }

    /// `None` when Wakeful writes the subject.
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
    if text.chars().count() > MAX_CREDENTIAL_LENGTH {
        return Err(Invalid::new(format!("must have at most {MAX_CREDENTIAL_LENGTH} characters")));
    }
    one_line(text)
}

fn one_line(text: &str) -> Result<String, Invalid> {
    if text.chars().any(char::is_control) {
        Err(Invalid::new("must not contain line ends or other control characters"))
    } else {
        Ok(text.to_owned())
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
    fn tls_is_implicit_on_port_465_and_starttls_elsewhere() {
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
    fn a_stored_subject_that_is_no_longer_allowed_is_shown_but_not_rendered() {
        let stored: Subject = serde_json::from_str(r#""{{ text ~ text }}""#).expect("a text");
        assert_eq!(stored.to_string(), "{{ text ~ text }}");
        assert!(stored.template().expect("a template").validated().is_err());
    }

    #[test]
    fn to_cc_and_bcc_are_all_recipients() {
        let all: Vec<String> = spec().recipients().map(ToString::to_string).collect();
        assert_eq!(all, ["ann@example.com", "boss@example.com"]);
    }
}
