//! A notifier: how a team is told, by mail or by webhook. What it is set to is
//! valid from the moment it exists. For the store it falls into two parts:
//! JSON that anybody may see, and JSON that is sealed.

pub mod address;
pub mod email;
pub mod webhook;

use serde::{Deserialize, Serialize};
use std::fmt;

use crate::Invalid;
use crate::id::{NotifierId, TeamId};
use crate::monitor::Name;
use crate::secret::Secret;
use crate::time::Millis;

pub use address::{Mailbox, Mailboxes};
pub use email::{EmailSpec, Security, Subject, Transport};
pub use webhook::{Keys, Ready, SigningSecret, Template, WebhookSpec};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notifier {
    pub id: NotifierId,
    pub team: TeamId,
    pub name: Name,
    pub channel: Channel,
    /// Nothing is sent while this is set.
    pub disabled: Option<Disabled>,
    /// Raised by each change, which names the one it was made from.
    pub revision: i64,
    pub created: Millis,
    pub modified: Millis,
}

/// Since when a notifier is off, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disabled {
    pub at: Millis,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Channel {
    Email(EmailSpec),
    Webhook(WebhookSpec),
}

/// The word for a kind of notifier: `type` in the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Email,
    Webhook,
}

impl Kind {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        match text.trim().to_ascii_lowercase().as_str() {
            "email" => Ok(Self::Email),
            "webhook" => Ok(Self::Webhook),
            _ => Err(Invalid::new("must be email or webhook")),
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Webhook => "webhook",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Channel {
    pub fn kind(&self) -> Kind {
        match self {
            Self::Email(_) => Kind::Email,
            Self::Webhook(_) => Kind::Webhook,
        }
    }

    /// What is stored in the clear.
    pub fn open_part(&self) -> String {
        match self {
            Self::Email(email) => json(email),
            Self::Webhook(hook) => json(&hook.template),
        }
    }

    /// What is stored sealed. The address of a webhook is part of it: those of
    /// chat services let anybody write who knows them.
    pub fn sealed_part(&self) -> Secret {
        match self {
            Self::Email(email) => email.password.clone(),
            Self::Webhook(hook) => hook.sealed_part(),
        }
    }

    /// Puts the two parts together again.
    pub fn from_parts(kind: Kind, open: &str, sealed: &Secret) -> Option<Self> {
        Some(match kind {
            Kind::Email => {
                let email: EmailSpec = serde_json::from_str(open).ok()?;
                Self::Email(EmailSpec { password: sealed.clone(), ..email })
            }
            Kind::Webhook => {
                Self::Webhook(WebhookSpec::from_parts(serde_json::from_str(open).ok()?, sealed)?)
            }
        })
    }
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("a channel is plain data")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_a_kind_is_read_in_any_letter_case() {
        for kind in [Kind::Email, Kind::Webhook] {
            assert_eq!(Kind::parse(&kind.as_str().to_uppercase()), Ok(kind));
        }
        assert!(Kind::parse("pigeon").is_err());
    }

    #[test]
    fn a_channel_in_two_parts_is_put_together_again() {
        for channel in [
            Channel::Email(email::tests::spec()),
            Channel::Webhook(webhook::tests::spec("https://hooks.example/t0ken")),
        ] {
            let (open, sealed) = (channel.open_part(), channel.sealed_part());
            for secret in ["hunter2", "t0ken", "whsec_", "Bearer"] {
                assert!(!open.contains(secret), "{open}");
            }
            assert_eq!(Channel::from_parts(channel.kind(), &open, &sealed), Some(channel));
        }
    }
}
