//! Notification: one file per kind of notifier, listed here, and the texts. Each
//! kind returns an `Outcome`; when to retry is decided elsewhere.

pub mod account;
pub mod email;
pub mod email_template;
pub mod renderers;
pub mod signed_post;
pub mod template;
pub mod webhook;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use std::time::Duration;
use wakeful_core::Invalid;
use wakeful_core::id::TeamId;
use wakeful_core::monitors::spec::HttpUrl;
use wakeful_core::notifications::event::Event;
use wakeful_core::notifications::notifier::{Channel, Kind, Subject, Template};
use wakeful_core::notifications::recipients::Recipients;
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::one_line::one_line;
use wakeful_core::time::Millis;

use crate::net::Net;
use crate::net::guard::Guard;

pub use account::ServiceMail;

/// How long an attempt may take.
pub const fn timeout(kind: Kind) -> Duration {
    match kind {
        Kind::Email => email::TIMEOUT,
        Kind::Webhook => signed_post::TIMEOUT,
        Kind::Account => account::TIMEOUT,
    }
}

/// Sends one event. `link` is the page of the monitor, and `mail` the service's own mail.
pub fn deliver<'a>(
    net: &'a Net,
    mail: ServiceMail<'a>,
    team: TeamId,
    channel: &'a Channel,
    event: &'a Event,
    link: &'a str,
    now: Millis,
) -> BoxFuture<'a, Attempt> {
    match channel {
        Channel::Email(spec) => email::deliver_event(net, team, spec, event, link, now).boxed(),
        Channel::Webhook(hook) => {
            webhook::deliver(net, team, hook, event, link, now).map(Attempt::from).boxed()
        }
        Channel::Account(spec) => {
            account::deliver_event(net, mail, team, spec, event, link, now).boxed()
        }
    }
}

/// The outcome of a message and, if it is an email and the server has responded to them, its
/// recipients.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub outcome: Outcome,
    pub recipients: Option<Recipients>,
}

impl From<Outcome> for Attempt {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, recipients: None }
    }
}

/// The fields whose values would fail at the first message.
pub fn refused_fields(guard: &Guard, channel: &Channel) -> Vec<(&'static str, Invalid)> {
    let validated = match channel {
        Channel::Email(spec) => email::validate(guard, spec),
        Channel::Webhook(hook) => webhook::validate(guard, hook),
        // The address of an account is not a setting of the notifier.
        Channel::Account(_) => Vec::new(),
    };
    validated.into_iter().filter_map(|(field, result)| Some((field, result.err()?))).collect()
}

type Validated = Vec<(&'static str, Result<(), Invalid>)>;

/// The settings of a notifier that affect its messages.
#[derive(Clone, Debug)]
pub enum PreviewChannel {
    /// Of type email, or with the standard subject of type account.
    Email {
        subject: Subject,
    },
    Webhook {
        template: Template,
        url: Option<HttpUrl>,
    },
}

/// A message that is not sent.
#[derive(Clone, Debug)]
pub struct Preview {
    /// Set for an email.
    pub subject: Option<String>,
    pub content_type: &'static str,
    pub body: String,
    /// The HTML part of an email.
    pub html: Option<String>,
}

/// A preview for users who are editing a notifier. A template that fails is reported with
/// its field; a real message would be sent in the standard format instead.
pub fn preview(
    channel: &PreviewChannel,
    event: &Event,
    link: &str,
) -> Result<Preview, (&'static str, Invalid)> {
    match channel {
        PreviewChannel::Email { subject } => {
            email::preview(subject, event, link).map_err(|why| ("email.subject", why))
        }
        PreviewChannel::Webhook { template, url } => {
            let url = url.as_ref().map(HttpUrl::url);
            webhook::preview(template, event, link, url).map_err(|why| ("webhook.template", why))
        }
    }
}

/// How much of a receiver's response is stored and shown.
const MAX_ANSWER_LENGTH: usize = 1_024;

/// A receiver's response without characters that could disturb a page or a log.
fn sanitize(text: &str) -> String {
    one_line(text, MAX_ANSWER_LENGTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_shortened_and_has_no_control_characters() {
        assert_eq!(sanitize(" a\r\n\tb\u{1b}[31m\0 "), "a   b [31m");
        assert_eq!(sanitize(&"é".repeat(5_000)).chars().count(), MAX_ANSWER_LENGTH);
    }
}
