//! A notifier: how a team is notified. Each kind has a file with its settings, valid by
//! construction; this file lists the kinds. The store saves the settings in two parts:
//! plain JSON, and JSON that is encrypted.

pub mod account;
pub mod address;
pub mod alertmanager;
mod apprise;
mod audited;
pub mod builtin_template;
mod discord;
pub mod email;
mod google_chat;
mod gotify;
pub mod health;
mod matrix;
mod mattermost;
mod ntfy;
mod opsgenie;
mod pagerduty;
mod pushover;
pub mod service;
mod signal;
mod slack;
mod teams;
mod telegram;
mod twilio;
pub mod webhook;
pub mod webpush;

use serde::{Deserialize, Serialize};
use std::fmt;

use crate::Invalid;
use crate::email_address;
use crate::id::{NotifierId, TeamId, UserId};
use crate::monitors::Name;
use crate::named_enum;
use crate::notifications::event;
use crate::notifications::message_rules::MessageRules;
use crate::secret::Secret;
use crate::template::UserTemplate;
use crate::time::Millis;

pub use account::AccountSpec;
pub use address::{Mailbox, Mailboxes};
pub use builtin_template::BuiltinTemplate;
pub use email::{EmailSpec, Security, Subject, Transport};
pub use health::{AttemptRecord, AttemptReset, Health, HealthState};
pub use service::{Ability, Descriptor, ServiceSpec};
pub use webhook::{Keys, SigningSecret, Template, WebhookSpec};
pub use webpush::{PushReceiver, PushSubscription};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notifier {
    pub id: NotifierId,
    pub team: TeamId,
    pub name: Name,
    pub channel: Channel,
    /// The only user who sees it, whose contact rules use it; `None` for those of the team.
    pub owner: Option<UserId>,
    /// Nothing is sent while this is set.
    pub disabled: Option<Disabled>,
    /// Whether a new monitor uses it unless it names its notifiers.
    pub isdefault: bool,
    /// Which messages it gets, and when.
    pub messages: MessageRules,
    /// How long a message waits for others, to be sent as one with them. In seconds.
    pub group_wait: u32,
    pub attempts: AttemptRecord,
    /// Incremented by each change; a change must name the revision it is based
    /// on.
    pub revision: i64,
    pub created: Millis,
    pub modified: Millis,
}

impl Notifier {
    /// The user who its messages reach, if it belongs to one.
    pub fn user(&self) -> Option<UserId> {
        self.owner.or_else(|| self.channel.user())
    }
}

/// When and why a notifier was disabled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disabled {
    pub at: Millis,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Channel {
    Email(EmailSpec),
    Webhook(WebhookSpec),
    Account(AccountSpec),
    Service(ServiceSpec),
    /// To the browsers of its owner.
    Webpush,
}

named_enum! {
    /// The kind of a notifier: `type` in the API.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Kind {
        Email = "email",
        Webhook = "webhook",
        Account = "account",
        Slack = "slack",
        Discord = "discord",
        Telegram = "telegram",
        Teams = "teams",
        Ntfy = "ntfy",
        Pushover = "pushover",
        Gotify = "gotify",
        Pagerduty = "pagerduty",
        GoogleChat = "google_chat",
        Mattermost = "mattermost",
        Matrix = "matrix",
        Opsgenie = "opsgenie",
        Apprise = "apprise",
        Twilio = "twilio",
        Signal = "signal",
        Alertmanager = "alertmanager",
        Webpush = "webpush",
    }
}

/// The delivery mode of a channel, with what a digest needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery<'a> {
    Single,
    Digest(DigestRoute<'a>),
}

/// How the digests of a notifier are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DigestRoute<'a> {
    Mail(MailRoute<'a>),
    /// To a known service that people read.
    Service,
}

/// How the emails of a notifier are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailRoute<'a> {
    /// Through the notifier's own mail server.
    Server(&'a EmailSpec),
    /// Through the service's mail server, to a user.
    Account(&'a AccountSpec),
}

impl MailRoute<'_> {
    /// The keys of all recipients.
    pub fn recipient_keys(self) -> Vec<String> {
        match self {
            Self::Server(spec) => spec.recipients().map(|one| one.email.key()).collect(),
            Self::Account(spec) => vec![email_address::key(&spec.email)],
        }
    }
}

impl Delivery<'_> {
    pub fn mode(self) -> DeliveryMode {
        match self {
            Self::Single => DeliveryMode::Single,
            Self::Digest(_) => DeliveryMode::Digest,
        }
    }
}

/// How the due messages of a notifier are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryMode {
    /// Each event separately, several of them at a time: the receiver is a
    /// program, which wants every event.
    Single,
    /// Everything that is due in one attempt, and one attempt at a time: the
    /// recipient is a person, who wants a digest instead of many messages.
    Digest,
}

impl Kind {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let word = text.trim().to_ascii_lowercase();
        let known = Self::ALL.iter().copied().find(|kind| kind.as_str() == word);
        known.ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|kind| kind.as_str())))
    }

    pub fn delivery_mode(self) -> DeliveryMode {
        match self {
            Self::Email | Self::Account | Self::Webpush => DeliveryMode::Digest,
            Self::Webhook => DeliveryMode::Single,
            service => match service.service() {
                Some(service) if !service.is_for_programs => DeliveryMode::Digest,
                _ => DeliveryMode::Single,
            },
        }
    }

    /// Whether its receiver keeps an incident open until it gets the end of the alert.
    pub fn keeps_incidents(self) -> bool {
        self.service().is_some_and(|service| service.is_for_programs)
    }

    /// Whether its receiver pages people by severity: it gets the opening of an alert again when
    /// the severity is raised.
    pub fn pages_by_severity(self) -> bool {
        self == Self::Pagerduty
    }

    /// Whether a message can arrive without a sound.
    pub fn can_be_silent(self) -> bool {
        matches!(
            self,
            Self::Discord
                | Self::Telegram
                | Self::Ntfy
                | Self::Pushover
                | Self::Gotify
                | Self::Webpush
        )
    }

    /// The settings of a kind that sends to a known service.
    pub fn service(self) -> Option<&'static Descriptor> {
        Some(match self {
            Self::Email | Self::Webhook | Self::Account | Self::Webpush => return None,
            Self::Slack => &slack::DESCRIPTOR,
            Self::Discord => &discord::DESCRIPTOR,
            Self::Telegram => &telegram::DESCRIPTOR,
            Self::Teams => &teams::DESCRIPTOR,
            Self::Ntfy => &ntfy::DESCRIPTOR,
            Self::Pushover => &pushover::DESCRIPTOR,
            Self::Gotify => &gotify::DESCRIPTOR,
            Self::Pagerduty => &pagerduty::DESCRIPTOR,
            Self::GoogleChat => &google_chat::DESCRIPTOR,
            Self::Mattermost => &mattermost::DESCRIPTOR,
            Self::Matrix => &matrix::DESCRIPTOR,
            Self::Opsgenie => &opsgenie::DESCRIPTOR,
            Self::Apprise => &apprise::DESCRIPTOR,
            Self::Twilio => &twilio::DESCRIPTOR,
            Self::Signal => &signal::DESCRIPTOR,
            Self::Alertmanager => &alertmanager::DESCRIPTOR,
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Channel {
    /// The types of events that a new notifier gets. `None`: those that every version knows, and
    /// those that address it. Programs get every type that is not optional.
    pub fn default_events(&self) -> Option<Vec<String>> {
        match self {
            Self::Webhook(hook) if hook.template == Template::Standard => {
                let kinds =
                    event::TYPES.iter().filter(|kind| !event::OPTIONAL_TYPES.contains(kind));
                Some(kinds.map(|kind| (*kind).to_owned()).collect())
            }
            Self::Email(_) | Self::Webhook(_) | Self::Account(_) => None,
            Self::Service(spec) => Some(spec.descriptor().default_events()),
            // A later message replaces the first one.
            Self::Webpush => Some(service::every_event()),
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Self::Email(_) => Kind::Email,
            Self::Webhook(_) => Kind::Webhook,
            Self::Account(_) => Kind::Account,
            Self::Service(spec) => spec.kind(),
            Self::Webpush => Kind::Webpush,
        }
    }

    /// Removes what only those who may edit the notifier may see.
    pub fn redact(&mut self) {
        match self {
            Self::Email(email) => email.redact(),
            Self::Webhook(webhook) => webhook.redact(),
            // Its secrets are never returned.
            Self::Service(spec) => spec.redact(),
            Self::Account(_) | Self::Webpush => {}
        }
    }

    pub fn delivery(&self) -> Delivery<'_> {
        match self {
            Self::Email(email) => Delivery::Digest(DigestRoute::Mail(MailRoute::Server(email))),
            Self::Webhook(_) => Delivery::Single,
            Self::Webpush => Delivery::Digest(DigestRoute::Service),
            Self::Account(account) => {
                Delivery::Digest(DigestRoute::Mail(MailRoute::Account(account)))
            }
            Self::Service(spec) => match spec.kind().delivery_mode() {
                DeliveryMode::Single => Delivery::Single,
                DeliveryMode::Digest => Delivery::Digest(DigestRoute::Service),
            },
        }
    }

    /// Whether both send the same message to the same receiver; only a webhook's
    /// signing secrets may differ.
    pub fn has_same_receiver(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Webhook(one), Self::Webhook(other)) => {
                (&one.url, &one.headers, &one.template)
                    == (&other.url, &other.headers, &other.template)
            }
            (one, other) => one == other,
        }
    }

    /// The part that is stored in clear text.
    pub fn open_part(&self) -> String {
        match self {
            Self::Email(email) => json(email),
            Self::Webhook(hook) => json(&hook.template),
            Self::Account(_) | Self::Webpush => "{}".to_owned(),
            Self::Service(spec) => spec.open_part(),
        }
    }

    /// The part that is stored encrypted. It includes the URL of a webhook:
    /// with the URL of a chat service, anyone can post.
    pub fn sealed_part(&self) -> Secret {
        match self {
            Self::Email(email) => email.password.clone(),
            Self::Webhook(hook) => hook.sealed_part(),
            Self::Account(_) | Self::Webpush => Secret::new(""),
            Self::Service(spec) => spec.sealed_part(),
        }
    }

    /// Combines the two parts, and the user that a personal notifier belongs to.
    pub fn from_parts(
        kind: Kind,
        open: &str,
        sealed: &Secret,
        account: Option<AccountSpec>,
    ) -> Option<Self> {
        Some(match kind {
            Kind::Email => Self::Email(EmailSpec::from_parts(open, sealed)?),
            Kind::Webhook => Self::Webhook(WebhookSpec::from_parts(open, sealed)?),
            Kind::Account => Self::Account(account?),
            Kind::Webpush => Self::Webpush,
            service => Self::Service(ServiceSpec::from_parts(service, open, sealed)?),
        })
    }

    /// The user that a personal notifier belongs to.
    pub fn account(&self) -> Option<&AccountSpec> {
        match self {
            Self::Email(_) | Self::Webhook(_) | Self::Service(_) | Self::Webpush => None,
            Self::Account(account) => Some(account),
        }
    }

    /// The only user who may change the notifier, if it is a personal one.
    pub fn user(&self) -> Option<UserId> {
        self.account().map(|account| account.user)
    }

    /// The user's own template in it, with the name of its field.
    pub fn template(&self) -> Option<(&'static str, &UserTemplate)> {
        match self {
            Self::Email(email) => Some(("email.subject", email.subject.template()?)),
            Self::Webhook(hook) => Some(("webhook.template", hook.template.custom()?)),
            Self::Account(_) | Self::Service(_) | Self::Webpush => None,
        }
    }

    /// The keys that messages are signed with, if the kind signs them.
    pub fn keys(&self) -> Option<&Keys> {
        match self {
            Self::Email(_) | Self::Account(_) | Self::Service(_) | Self::Webpush => None,
            Self::Webhook(hook) => Some(&hook.keys),
        }
    }

    pub fn keys_mut(&mut self) -> Option<&mut Keys> {
        match self {
            Self::Email(_) | Self::Account(_) | Self::Service(_) | Self::Webpush => None,
            Self::Webhook(hook) => Some(&mut hook.keys),
        }
    }
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("a channel is plain data")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_parsed_in_any_case() {
        for kind in Kind::ALL {
            assert_eq!(Kind::parse(&kind.as_str().to_uppercase()), Ok(*kind));
        }
        let why = Kind::parse("pigeon").expect_err("unknown").to_string();
        for kind in Kind::ALL {
            assert!(why.contains(kind.as_str()), "{why}");
        }
    }

    fn example(kind: Kind) -> Channel {
        match kind {
            Kind::Email => Channel::Email(email::tests::spec()),
            Kind::Webhook => Channel::Webhook(webhook::tests::spec("https://hooks.example/t0ken")),
            Kind::Webpush => Channel::Webpush,
            Kind::Account => Channel::Account(AccountSpec {
                user: UserId::from(uuid::Uuid::from_u128(7)),
                email: "Ann@example.com".to_owned(),
                verified: true,
            }),
            service => {
                let descriptor = service.service().expect("a service");
                let sent = |field: &service::Field| {
                    Some(match (field.name(), field.input) {
                        ("token" | "user", _) if service == Kind::Pushover => "t0ken".repeat(6),
                        ("routing_key", _) => "t0kent0kent0kent0kent0kent0ken12".to_owned(),
                        ("token", _) if service == Kind::Slack => "xoxb-t0ken".to_owned(),
                        ("token", _) if service == Kind::Telegram => "12:t0ken".to_owned(),
                        ("chat_id", _) => "-1001".to_owned(),
                        ("room_id", _) => "!room:example.org".to_owned(),
                        ("urls", _) => "json://t0ken@example.org".to_owned(),
                        ("topic" | "channel", _) => "alerts".to_owned(),
                        ("account_sid", _) => format!("AC{}", "0a".repeat(16)),
                        ("key", _) if service == Kind::Twilio => {
                            format!("SK{}", "0b".repeat(16))
                        }
                        ("from" | "to" | "number" | "recipients", _) => "+15005550006".to_owned(),
                        ("headers", _) => "Authorization: Bearer t0ken".to_owned(),
                        (_, input) if input.is_url() && field.secret => {
                            "https://s.example/t0ken".to_owned()
                        }
                        (_, input) if input.is_url() => "https://s.example/".to_owned(),
                        _ if field.secret && field.required => "t0ken".to_owned(),
                        _ => return None,
                    })
                };
                let spec = ServiceSpec::changed(descriptor, sent, None).expect("valid");
                Channel::Service(spec)
            }
        }
    }

    #[test]
    fn a_channel_is_sent_in_the_delivery_mode_of_its_kind() {
        for kind in Kind::ALL {
            let channel = example(*kind);
            assert_eq!((channel.kind(), channel.delivery().mode()), (*kind, kind.delivery_mode()));
        }
    }

    #[test]
    fn a_channel_stored_in_two_parts_round_trips() {
        for channel in Kind::ALL.iter().map(|kind| example(*kind)) {
            let (open, sealed) = (channel.open_part(), channel.sealed_part());
            for secret in ["hunter2", "t0ken", "whsec_", "Bearer"] {
                assert!(!open.contains(secret), "{open}");
            }
            let account = channel.account().cloned();
            assert_eq!(Channel::from_parts(channel.kind(), &open, &sealed, account), Some(channel));
        }
    }
}
