//! Notifiers as they are saved and returned. When a stored notifier is changed, omitted
//! fields retain their values; the settings of a new type must be complete. Each type has
//! a file with its fields in requests and responses; this file lists the types.

mod account;
mod deliveries;
mod email;
mod service;
mod webhook;

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::id::NotifierId;
use wakeful_core::monitors::Name;
use wakeful_core::notifications::event;
use wakeful_core::notifications::message_rules::MessageRules;
use wakeful_core::notifications::notifier::{
    Channel, DeliveryMode, Health, Kind, Notifier, Subject,
};
use wakeful_core::quiet::{Quiet, Then};
use wakeful_core::severity::Severity as SeverityName;
use wakeful_core::template::UserTemplate;
use wakeful_core::time::Millis;
use wakeful_engine::{
    Engine, NotifierDraft, NotifierTest, NotifierView, Preview, PreviewChannel, PreviewDraft,
};

use self::account::AccountBody;
pub(crate) use self::deliveries::{DeliveryItem, DeliveryList, RecipientsBody};
use self::email::{EmailBody, SaveEmail};
pub(crate) use self::service::NotifierKinds;
use self::service::{RequestBody, SaveService, ServiceBody};
use self::webhook::{SaveWebhook, WebhookBody};
use super::enums::{
    EventType, HealthState, KnownEventType, KnownNotifierType, NotifierType, QuietThen, Severity,
};
use super::fields::Fields;
use super::hours::{HoursBody, SaveHours, hours};
use super::policies::number;

/// Seconds.
const MAX_GROUP_WAIT: u32 = 300;

/// A notifier to create (without `notifierid`) or to change.
#[derive(ToSchema)]
#[schema(as = SaveNotifier)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveNotifier {
    notifierid: Option<String>,
    /// Required for a new notifier, except for type account: the default is the address.
    #[schema(min_length = 1, max_length = 255)]
    name: Option<String>,
    /// Required for a new notifier. Type account is the caller's personal notifier: it is
    /// created, or changed if there is one. Its type cannot change. The same is true of type
    /// webpush, which is personal, has no settings, and is also created by `webpush/subscribe`.
    r#type: Option<KnownNotifierType>,
    /// Required for type email.
    email: Option<SaveEmail>,
    /// Required for type webhook.
    webhook: Option<SaveWebhook>,
    /// Required for type slack.
    slack: Option<SaveService>,
    /// Required for type discord.
    discord: Option<SaveService>,
    /// Required for type telegram.
    telegram: Option<SaveService>,
    /// Required for type teams.
    teams: Option<SaveService>,
    /// Required for type ntfy.
    ntfy: Option<SaveService>,
    /// Required for type pushover.
    pushover: Option<SaveService>,
    /// Required for type gotify.
    gotify: Option<SaveService>,
    /// Required for type pagerduty.
    pagerduty: Option<SaveService>,
    /// Required for type google_chat.
    google_chat: Option<SaveService>,
    /// Required for type mattermost.
    mattermost: Option<SaveService>,
    /// Required for type matrix.
    matrix: Option<SaveService>,
    /// Required for type opsgenie.
    opsgenie: Option<SaveService>,
    /// Required for type apprise.
    apprise: Option<SaveService>,
    /// Required for type twilio.
    twilio: Option<SaveService>,
    /// Required for type signal.
    signal: Option<SaveService>,
    /// Required for type alertmanager.
    alertmanager: Option<SaveService>,
    /// Whether the notifier sends messages; unchanged if omitted.
    isactive: Option<bool>,
    /// Whether new monitors use the notifier unless they name their own; unchanged if
    /// omitted, and false for a new notifier.
    isdefault: Option<bool>,
    /// Whether it is a personal notifier of the caller, which nobody else sees and only contact
    /// rules use. Set when it is created; cannot change. Default: false.
    personal: Option<bool>,
    /// Less urgent outages are not reported. Default: info.
    #[schema(value_type = Option<Severity>)]
    min_severity: (),
    /// The types of events that it gets.
    #[schema(value_type = Option<Vec<KnownEventType>>)]
    events: (),
    /// The quiet hours; without `hours` in it, there are none.
    quiet: Option<SaveQuiet>,
    /// Seconds that a message waits for others, to be sent as one with them. Default: 0. Types that
    /// programs read send each event separately.
    #[schema(maximum = 300)]
    group_wait: Option<u32>,
}

/// Quiet hours.
#[derive(ToSchema)]
#[schema(as = SaveQuiet)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveQuiet {
    /// Default: UTC.
    time_zone: Option<String>,
    #[schema(max_items = 14)]
    hours: Option<Vec<SaveHours>>,
    /// Messages of this severity or a higher one are sent nevertheless. Default: critical.
    #[schema(value_type = Option<Severity>)]
    except: (),
    /// Whether other messages are sent at the end, or never. Default: hold.
    #[schema(value_type = Option<QuietThen>)]
    then: (),
}

/// The quiet hours that are sent; `Some(None)` removes them.
fn quiet(fields: &mut Fields) -> Option<Option<Quiet>> {
    if !fields.has("quiet") {
        return None;
    }
    fields.within("quiet", |fields| {
        let zone = fields.optional("time_zone", Zone::parse).unwrap_or_else(Zone::utc);
        let except = fields.optional("except", SeverityName::parse);
        let then = fields.optional("then", Then::parse).unwrap_or_default();
        let is_sent = fields.has("hours");
        let hours = hours(fields, "hours");
        match hours {
            None if is_sent => None,
            None => Some(None),
            Some(hours) if hours.is_empty() => Some(None),
            Some(hours) => {
                let quiet = Quiet::new(zone, hours, except.unwrap_or_default(), then);
                fields.accept("hours", quiet).map(Some)
            }
        }
    })
}

/// The stored notifier with the sent fields applied; `None` if some are invalid. The
/// engine validates each part, so that all errors are reported at once. `account` is the
/// channel of the caller's personal notifier, for a request of that type.
pub(crate) fn draft(
    fields: &mut Fields,
    stored: Option<&Notifier>,
    account: Option<&Channel>,
    engine: &Engine,
) -> Option<NotifierDraft> {
    let name = fields.optional("name", Name::parse);
    let name = name.or_else(|| stored.map(|old| old.name.clone()));
    let name = name.or_else(|| default_name(account?));
    let name = fields.require("name", name);
    let kind = kind(fields, stored);
    let isactive = fields.optional_flag("isactive");
    let old = stored.map(|old| &old.channel);
    let isdefault = fields.optional_flag("isdefault");
    let min_severity = fields.optional("min_severity", SeverityName::parse);
    let events = fields.optional_items("events", None);
    let events =
        events.and_then(|names| fields.accept("events", MessageRules::parse_events(&names)));
    let quiet = quiet(fields);
    let group_wait = group_wait(fields, kind);
    let is_personal = personal(fields, stored, kind, isdefault);
    let channel = match kind? {
        Kind::Email => fields.within("email", |fields| email::read(fields, old, engine)),
        Kind::Webhook => fields.within("webhook", |fields| webhook::read(fields, old, engine)),
        Kind::Account => old.or(account).cloned(),
        Kind::Webpush => Some(Channel::Webpush),
        service => {
            fields.within(service.as_str(), |fields| service::read(fields, service, old, engine))
        }
    };
    let (name, channel, is_personal) = (name?, channel?, is_personal?);
    Some(NotifierDraft {
        name,
        channel,
        is_personal,
        isactive,
        isdefault,
        min_severity,
        events,
        quiet,
        group_wait,
    })
}

/// How long messages wait for others.
fn group_wait(fields: &mut Fields, kind: Option<Kind>) -> Option<u32> {
    let wait = number(fields, "group_wait", 0, MAX_GROUP_WAIT)?;
    if wait > 0 && kind.is_some_and(|kind| kind.delivery_mode() == DeliveryMode::Single) {
        fields.refuse("group_wait", "must be 0 for this type, which sends each event separately");
        return None;
    }
    Some(wait)
}

/// Whether it is a personal notifier, which is decided when it is created.
fn personal(
    fields: &mut Fields,
    stored: Option<&Notifier>,
    kind: Option<Kind>,
    isdefault: Option<bool>,
) -> Option<bool> {
    let sent = fields.optional_flag("personal");
    let is_push = kind == Some(Kind::Webpush);
    let is_personal = stored.map_or(sent.unwrap_or(is_push), |stored| stored.owner.is_some());
    if sent.is_some_and(|sent| sent != is_personal) {
        fields.refuse("personal", "cannot be changed; create another notifier");
        return None;
    }
    if is_personal && kind == Some(Kind::Account) {
        fields.refuse("personal", "must be false for type account");
        return None;
    }
    if is_push && !is_personal {
        fields.refuse("personal", "must be true for type webpush");
        return None;
    }
    if is_personal && isdefault == Some(true) {
        fields.refuse("isdefault", "must be false for a personal notifier");
        return None;
    }
    Some(is_personal)
}

/// The type in a request, or else the stored one. A personal notifier stays one, and no other
/// notifier becomes one.
fn kind(fields: &mut Fields, stored: Option<&Notifier>) -> Option<Kind> {
    let stored = stored.map(|old| old.channel.kind());
    let sent = fields.optional("type", Kind::parse);
    if let (Some(sent), Some(stored)) = (sent, stored)
        && sent != stored
    {
        let is_about = |kind| [sent, stored].contains(&kind);
        if is_about(Kind::Account) {
            fields.refuse("type", "cannot be changed to or from account; create another notifier");
            return None;
        }
        if is_about(Kind::Webpush) {
            fields.refuse("type", "cannot be changed to or from webpush; create another notifier");
            return None;
        }
    }
    fields.require("type", sent.or(stored))
}

/// A personal notifier is named after its address.
fn default_name(account: &Channel) -> Option<Name> {
    Name::parse(&account.account()?.email).ok()
}

/// Whether a request is about the caller's personal notifier.
pub(crate) fn is_account(fields: &mut Fields) -> bool {
    fields.optional("type", Kind::parse) == Some(Kind::Account)
}

/// The custom templates in a request, with the names of their fields. If the request omits the
/// type, the stored type applies, which is not known here: the templates of all types are
/// returned.
pub(crate) fn custom_templates(fields: &mut Fields) -> Vec<(&'static str, UserTemplate)> {
    let sent = fields.optional("type", Kind::parse);
    let kinds = Kind::ALL.iter().filter(|kind| sent.is_none_or(|sent| sent == **kind));
    let templates = kinds.filter_map(|kind| match kind {
        Kind::Email => fields.within("email", email::custom_template),
        Kind::Webhook => fields.within("webhook", webhook::custom_template),
        _ => None,
    });
    templates.collect()
}

/// A parser whose value must also pass `validate`.
fn validated<T>(
    parse: impl FnOnce(&str) -> Result<T, Invalid>,
    validate: impl FnOnce(&T) -> Result<(), Invalid>,
) -> impl FnOnce(&str) -> Result<T, Invalid> {
    |text| parse(text).and_then(|value| validate(&value).map(|()| value))
}

/// A notifier.
#[derive(Serialize, ToSchema)]
#[schema(as = Notifier)]
pub(crate) struct NotifierBody {
    #[schema(value_type = String, format = Uuid)]
    notifierid: NotifierId,
    name: String,
    #[schema(value_type = NotifierType)]
    r#type: &'static str,
    /// For type email.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    email: Option<EmailBody>,
    /// For type webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    webhook: Option<WebhookBody>,
    /// For type account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    account: Option<AccountBody>,
    /// For type slack.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    slack: Option<ServiceBody>,
    /// For type discord.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    discord: Option<ServiceBody>,
    /// For type telegram.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    telegram: Option<ServiceBody>,
    /// For type teams.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    teams: Option<ServiceBody>,
    /// For type ntfy.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ntfy: Option<ServiceBody>,
    /// For type pushover.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pushover: Option<ServiceBody>,
    /// For type gotify.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    gotify: Option<ServiceBody>,
    /// For type pagerduty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pagerduty: Option<ServiceBody>,
    /// For type google_chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    google_chat: Option<ServiceBody>,
    /// For type mattermost.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    mattermost: Option<ServiceBody>,
    /// For type matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    matrix: Option<ServiceBody>,
    /// For type opsgenie.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    opsgenie: Option<ServiceBody>,
    /// For type apprise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    apprise: Option<ServiceBody>,
    /// For type twilio.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    twilio: Option<ServiceBody>,
    /// For type signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    signal: Option<ServiceBody>,
    /// For type alertmanager.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    alertmanager: Option<ServiceBody>,
    /// Whether the notifier sends messages.
    isactive: bool,
    /// Whether new monitors use the notifier unless they name their own.
    isdefault: bool,
    /// Whether it belongs to the caller alone: only contact rules use it.
    personal: bool,
    /// Less urgent outages are not reported.
    #[schema(value_type = Severity)]
    min_severity: &'static str,
    /// The types of events that it gets.
    #[schema(value_type = Vec<EventType>)]
    events: Vec<&'static str>,
    /// Null if it has none.
    quiet: Option<QuietBody>,
    /// Seconds that a message waits for others, to be sent as one with them.
    group_wait: u32,
    health: HealthBody,
    /// Why it was disabled; empty while it is enabled.
    disabled_reason: String,
    #[schema(value_type = Option<String>, format = DateTime)]
    disabled: Option<Millis>,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    #[schema(value_type = String, format = DateTime)]
    modified: Millis,
    /// True if secrets were removed, because the caller may not edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    redacted: Option<bool>,
}

/// The fields of `NotifierBody` that depend on the type.
#[derive(Default)]
struct ChannelFields {
    email: Option<EmailBody>,
    webhook: Option<WebhookBody>,
    account: Option<AccountBody>,
}

impl NotifierBody {
    pub(crate) fn of(view: &NotifierView) -> Self {
        let NotifierView { notifier, redacted, .. } = view;
        let secret = view.secret.as_ref().map(|secret| secret.expose().to_owned());
        let ChannelFields { email, webhook, account } = match &notifier.channel {
            Channel::Email(spec) => {
                ChannelFields { email: Some(EmailBody::of(spec)), ..Default::default() }
            }
            Channel::Webhook(hook) => ChannelFields {
                webhook: Some(WebhookBody::of(hook, secret, *redacted)),
                ..Default::default()
            },
            Channel::Account(spec) => {
                ChannelFields { account: Some(AccountBody::of(spec)), ..Default::default() }
            }
            Channel::Service(_) | Channel::Webpush => ChannelFields::default(),
        };
        let service = |kind| match &notifier.channel {
            Channel::Service(spec) if spec.kind() == kind => Some(ServiceBody::of(spec)),
            _ => None,
        };
        let disabled = notifier.disabled.as_ref();
        Self {
            notifierid: notifier.id,
            name: notifier.name.to_string(),
            r#type: notifier.channel.kind().as_str(),
            email,
            webhook,
            account,
            slack: service(Kind::Slack),
            discord: service(Kind::Discord),
            telegram: service(Kind::Telegram),
            teams: service(Kind::Teams),
            ntfy: service(Kind::Ntfy),
            pushover: service(Kind::Pushover),
            gotify: service(Kind::Gotify),
            pagerduty: service(Kind::Pagerduty),
            google_chat: service(Kind::GoogleChat),
            mattermost: service(Kind::Mattermost),
            matrix: service(Kind::Matrix),
            opsgenie: service(Kind::Opsgenie),
            apprise: service(Kind::Apprise),
            twilio: service(Kind::Twilio),
            signal: service(Kind::Signal),
            alertmanager: service(Kind::Alertmanager),
            isactive: disabled.is_none(),
            isdefault: notifier.isdefault,
            personal: notifier.owner.is_some(),
            min_severity: notifier.messages.min_severity.as_str(),
            events: notifier.messages.event_types(),
            quiet: notifier.messages.quiet.as_ref().map(QuietBody::of),
            group_wait: notifier.group_wait,
            health: HealthBody::of(notifier.health()),
            disabled_reason: disabled.map(|disabled| disabled.why.clone()).unwrap_or_default(),
            disabled: disabled.map(|disabled| disabled.at),
            created: notifier.created,
            modified: notifier.modified,
            redacted: redacted.then_some(true),
        }
    }
}

/// Quiet hours.
#[derive(Serialize, ToSchema)]
#[schema(as = Quiet)]
pub(crate) struct QuietBody {
    time_zone: String,
    hours: Vec<HoursBody>,
    /// Messages of this severity or a higher one are sent nevertheless.
    #[schema(value_type = Severity)]
    except: &'static str,
    /// Whether other messages are sent at the end, or never.
    #[schema(value_type = QuietThen)]
    then: &'static str,
}

impl QuietBody {
    fn of(quiet: &Quiet) -> Self {
        Self {
            time_zone: quiet.zone().name().to_owned(),
            hours: quiet.hours().iter().map(HoursBody::of).collect(),
            except: quiet.except().as_str(),
            then: quiet.then().as_str(),
        }
    }
}

/// Whether the latest messages of a notifier arrived. A test counts only if it succeeds.
#[derive(Serialize, ToSchema)]
#[schema(as = NotifierHealth)]
pub(crate) struct HealthBody {
    #[schema(value_type = HealthState)]
    state: &'static str,
    /// The first of the failed attempts in a row, the first success after a failure, or when
    /// the notifier was disabled; null if it is unused.
    #[schema(value_type = Option<String>, format = DateTime)]
    since: Option<Millis>,
    /// The response to the latest failed attempt; null after a success.
    error: Option<String>,
}

impl HealthBody {
    fn of(health: Health) -> Self {
        Self { state: health.state.as_str(), since: health.since, error: health.error }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct NotifierList {
    pub(crate) success: bool,
    pub(crate) notifiers: Vec<NotifierBody>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}

/// Whether a request has settings of a notifier, and not only its id.
pub(crate) fn has_settings(fields: &Fields) -> bool {
    fields.has("type") || Kind::ALL.iter().any(|kind| fields.has(kind.as_str()))
}

/// The settings of a notifier that determine the content of its messages. They need not be
/// saved; with `notifierid`, omitted ones are those of the saved notifier.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct PreviewNotifier {
    notifierid: Option<String>,
    name: Option<String>,
    /// Required without `notifierid`.
    r#type: Option<KnownNotifierType>,
    /// Only `subject` is read.
    email: Option<SaveEmail>,
    /// Only `template` and `url` are read.
    webhook: Option<SaveWebhook>,
    slack: Option<SaveService>,
    discord: Option<SaveService>,
    telegram: Option<SaveService>,
    teams: Option<SaveService>,
    ntfy: Option<SaveService>,
    pushover: Option<SaveService>,
    gotify: Option<SaveService>,
    pagerduty: Option<SaveService>,
    google_chat: Option<SaveService>,
    mattermost: Option<SaveService>,
    matrix: Option<SaveService>,
    opsgenie: Option<SaveService>,
    apprise: Option<SaveService>,
    twilio: Option<SaveService>,
    signal: Option<SaveService>,
    alertmanager: Option<SaveService>,
    /// Default: monitor.down.
    event: Option<KnownEventType>,
}

/// The settings to preview: those sent, and for the rest the stored ones.
pub(crate) fn preview(fields: &mut Fields, stored: Option<&Notifier>) -> Option<PreviewDraft> {
    let kind = fields.optional("type", Kind::parse);
    let kind = kind.or_else(|| stored.map(|old| old.channel.kind()));
    let kind = fields.require("type", kind);
    let name = fields.optional_text("name");
    let name = name.or_else(|| stored.map(|old| old.name.to_string()));
    let event = fields.optional_text("event");
    let old = stored.map(|old| &old.channel);
    let email = fields.within("email", |fields| email::preview(fields, old));
    let webhook = fields.within("webhook", |fields| webhook::preview(fields, old));
    Some(PreviewDraft {
        name: name.unwrap_or_else(|| "new".into()),
        channel: match kind? {
            Kind::Email => email,
            Kind::Webhook => webhook,
            Kind::Account => PreviewChannel::Email { subject: Subject::default() },
            Kind::Webpush => PreviewChannel::Webpush,
            service => {
                fields.within(service.as_str(), |fields| service::preview(fields, service, old))?
            }
        },
        event: event.unwrap_or_else(|| event::DOWN.into()),
    })
}

/// A message about an example monitor, as a receiver would get it.
#[derive(Serialize, ToSchema)]
pub(crate) struct NotifierPreview {
    success: bool,
    /// The subject of a mail, otherwise null.
    subject: Option<String>,
    content_type: &'static str,
    /// The body of a webhook, or the text of a mail.
    body: String,
    /// The HTML part of a mail, otherwise null.
    html: Option<String>,
    /// The text part of a mail, otherwise null.
    text: Option<String>,
    /// The requests to a known service, with their secrets masked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    requests: Vec<RequestBody>,
}

impl From<Preview> for NotifierPreview {
    fn from(preview: Preview) -> Self {
        let Preview { subject, content_type, body, html, requests } = preview;
        let text = html.is_some().then(|| body.clone());
        let requests = requests.into_iter().map(RequestBody::from).collect();
        Self { success: true, subject, content_type, body, html, text, requests }
    }
}

/// The response to a test.
#[derive(Serialize, ToSchema)]
#[schema(as = NotifierTested)]
pub(crate) struct NotifierTestResult {
    success: bool,
    /// The receiver's response.
    message: String,
    /// For a mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    recipients: Option<RecipientsBody>,
}

impl NotifierTestResult {
    pub(crate) fn of(test: NotifierTest) -> Self {
        let recipients = test.recipients.map(RecipientsBody::of);
        Self { success: true, message: test.answer, recipients }
    }
}
