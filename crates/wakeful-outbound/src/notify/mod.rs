//! Notification: one file per kind of notifier, listed here or in `kinds/`, and the texts. Each
//! kind returns an `Outcome`; when to retry is decided elsewhere.

pub mod account;
pub mod call;
pub mod digest;
pub mod email;
pub mod email_template;
pub mod exchange;
pub mod hidden;
mod job_ping;
pub mod kinds;
pub mod renderers;
pub mod scene;
pub mod signed_post;
pub mod statuspage;
pub mod template;
pub mod webhook;
pub mod webpush;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::time::Duration;
use wakeful_core::Invalid;
use wakeful_core::id::TeamId;
use wakeful_core::monitors::spec::HttpUrl;
use wakeful_core::notifications::event::Event;
use wakeful_core::notifications::notifier::{Channel, Kind, ServiceSpec, Subject, Template};
use wakeful_core::notifications::recipients::Recipients;
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::one_line::one_line;
use wakeful_core::time::Millis;

use crate::net::Net;
use crate::net::guard::Guard;

pub use account::ServiceMail;
pub use job_ping::{FailedPing, send_job_ping};

/// How long an attempt may take.
pub const fn timeout(kind: Kind) -> Duration {
    match kind {
        Kind::Email => email::TIMEOUT,
        Kind::Webhook => signed_post::TIMEOUT,
        Kind::Account => account::TIMEOUT,
        // A service that is known.
        _ => call::TIMEOUT,
    }
}

/// An event and what belongs to it.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    pub event: &'a Event,
    /// The page with its details.
    pub link: &'a str,
    /// Where the first message about the alert is, if the service has one.
    pub thread: Option<&'a Thread>,
    /// The recipients that have not received it yet, if others have.
    pub left: Option<&'a [String]>,
    /// For type webpush.
    pub browsers: Option<&'a webpush::Browsers<'a>>,
}

/// Sends one event. `mail` is the service's own mail.
pub fn deliver<'a>(
    net: &'a Net,
    mail: ServiceMail<'a>,
    team: TeamId,
    channel: &'a Channel,
    message: Message<'a>,
    now: Millis,
) -> BoxFuture<'a, Attempt> {
    let Message { event, link, browsers, .. } = message;
    match channel {
        Channel::Email(spec) => email::deliver_event(net, team, spec, event, link, now).boxed(),
        Channel::Webhook(hook) => {
            webhook::deliver(net, team, hook, event, link, now).map(Attempt::from).boxed()
        }
        Channel::Account(spec) => {
            account::deliver_event(net, mail, team, spec, event, link, now).boxed()
        }
        Channel::Service(spec) => call::deliver(net, spec, message, now).boxed(),
        Channel::Webpush => webpush::deliver(net, browsers, event, link, now).boxed(),
    }
}

/// The outcome of a message, and what else the receiver has responded.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub outcome: Outcome,
    /// Of an email, or of a service that sends to each separately, if it has responded to them.
    pub recipients: Option<Recipients>,
    /// Where later messages about the alert belong.
    pub thread: Option<Thread>,
    /// The settings that the service wants to be used from now on.
    pub moved: Option<ServiceSpec>,
    /// How long nothing else may be sent.
    pub pause: Option<Duration>,
    /// When the message has to be sent again.
    pub keepalive: Option<Duration>,
    /// For type webpush.
    pub push: webpush::PushReport,
}

impl From<Outcome> for Attempt {
    fn from(outcome: Outcome) -> Self {
        let (thread, moved, pause, keepalive) = (None, None, None, None);
        let push = webpush::PushReport::default();
        Self { outcome, recipients: None, thread, moved, pause, keepalive, push }
    }
}

/// The fields whose values would fail at the first message.
pub fn refused_fields(guard: &Guard, channel: &Channel) -> Vec<(&'static str, Invalid)> {
    let validated = match channel {
        Channel::Email(spec) => email::validate(guard, spec),
        Channel::Webhook(hook) => webhook::validate(guard, hook),
        // The addresses are not settings of the notifier.
        Channel::Account(_) | Channel::Webpush => Vec::new(),
        Channel::Service(spec) => {
            spec.urls().map(|(field, url)| (field.path, guard.validate_url(&url))).collect()
        }
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
    /// Without its secrets.
    Service(ServiceSpec),
    Webpush,
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
    /// What is sent to a known service.
    pub requests: Vec<PreviewRequest>,
}

/// A request that is not sent, without its secrets.
#[derive(Clone, Debug)]
pub struct PreviewRequest {
    pub method: String,
    pub url: String,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

/// A preview for users who are editing a notifier. A template that fails is reported with
/// its field; a real message would be sent in the standard format instead.
pub fn preview(
    channel: &PreviewChannel,
    event: &Event,
    link: &str,
    now: Millis,
) -> Result<Preview, (&'static str, Invalid)> {
    match channel {
        PreviewChannel::Email { subject } => {
            email::preview(subject, event, link).map_err(|why| ("email.subject", why))
        }
        PreviewChannel::Webhook { template, url } => {
            let url = url.as_ref().map(HttpUrl::url);
            webhook::preview(template, event, link, url).map_err(|why| ("webhook.template", why))
        }
        PreviewChannel::Service(spec) => {
            call::preview(spec, event, link, now).map_err(|why| ("type", Invalid::new(why)))
        }
        PreviewChannel::Webpush => Ok(webpush::preview(event, link)),
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
