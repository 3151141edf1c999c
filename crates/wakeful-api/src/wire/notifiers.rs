//! Notifiers as they are saved and shown. With a stored notifier beside it,
//! fields left out keep their value; the settings of a type that is new must be
//! complete.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::id::{AlertId, DeliveryId, EventId, MonitorId, NotifierId};
use wakeful_core::monitor::Name;
use wakeful_core::monitor::spec::{Hostname, HttpUrl, port};
use wakeful_core::notice;
use wakeful_core::notifier::email::credential;
use wakeful_core::notifier::{
    Channel, EmailSpec, Kind, Mailbox, Mailboxes, Notifier, Security, SigningSecret, Subject,
    Template, WebhookSpec, webhook,
};
use wakeful_core::secret::Secret;
use wakeful_core::template::UserTemplate;
use wakeful_core::time::Millis;
use wakeful_engine::{
    ChannelDraft, Engine, ListedDelivery, NotifierDraft, NotifierView, Preview, PreviewChannel,
    PreviewDraft, vet_recipients, vet_sender,
};

use super::fields::{Fields, Wire};
use super::monitors::{TextOrList, TextOrNumber};

/// A notifier to make (no `notifierid`) or to change.
#[derive(ToSchema)]
#[schema(as = SaveNotifier)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveNotifier {
    notifierid: Option<String>,
    /// Required for a new notifier.
    #[schema(min_length = 1, max_length = 255)]
    name: Option<String>,
    /// email or webhook; required for a new notifier.
    r#type: Option<String>,
    /// Required when type is email.
    email: Option<SaveEmail>,
    /// Required when type is webhook.
    webhook: Option<SaveWebhook>,
    /// Whether anything is sent by it; left out: as it is.
    isactive: Option<bool>,
}

/// The mail server, and the mail itself.
#[derive(ToSchema)]
#[schema(as = SaveEmail)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveEmail {
    /// Required.
    hostname: Option<String>,
    /// 25, or 587 with tls, when left out.
    #[schema(value_type = Option<TextOrNumber>)]
    port: (),
    /// none or tls: from the first byte on port 465, by STARTTLS on others.
    security: Option<String>,
    ignore_tls_errors: Option<bool>,
    /// Empty: no authentication.
    username: Option<String>,
    password: Option<String>,
    /// Required.
    from_email: Option<String>,
    /// One address or several with commas; required.
    #[schema(value_type = Option<TextOrList>)]
    to_email: (),
    #[schema(value_type = Option<TextOrList>)]
    to_cc: (),
    #[schema(value_type = Option<TextOrList>)]
    to_bcc: (),
    /// A template with the webhook's fields; empty: written by Wakeful.
    subject: Option<String>,
}

/// Where messages are posted.
#[derive(ToSchema)]
#[schema(as = SaveWebhook)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveWebhook {
    /// http or https; required.
    url: Option<String>,
    /// What signs the messages: whsec_ and base64. Left out: as it is, or a new one.
    secret: Option<String>,
    /// A JSON object as text, or `Name: value` lines.
    headers: Option<String>,
    /// Empty, slack, discord, teams, telegram, ntfy, pagerduty, uptime_kuma, or
    /// a template of your own.
    template: Option<String>,
}

/// What the fields say, laid over the stored notifier; `None` when some are
/// wrong. The engine is asked about each part, so that all are told at once.
pub(crate) fn draft(
    fields: &mut Fields,
    stored: Option<&Notifier>,
    engine: &Engine,
) -> Option<NotifierDraft> {
    let name = fields.optional("name", Name::parse);
    let name = name.or_else(|| stored.map(|old| old.name.clone()));
    let name = fields.require("name", name);
    let kind = fields.optional("type", Kind::parse);
    let kind = kind.or_else(|| stored.map(|old| old.channel.kind()));
    let kind = fields.require("type", kind);
    let isactive = fields.optional_flag("isactive");
    let channel = match kind? {
        Kind::Email => {
            let old = stored.and_then(|old| match &old.channel {
                Channel::Email(spec) => Some(spec),
                Channel::Webhook(_) => None,
            });
            fields.within("email", |fields| email(fields, old, engine)).map(ChannelDraft::Email)
        }
        Kind::Webhook => {
            let old = stored.and_then(|old| match &old.channel {
                Channel::Webhook(hook) => Some(hook),
                Channel::Email(_) => None,
            });
            fields.within("webhook", |fields| hook(fields, old, engine))
        }
    };
    Some(NotifierDraft { name: name?, channel: channel?, isactive })
}

/// The templates of the user's own in a request, with the fields they are in.
pub(crate) fn own_templates(fields: &mut Fields) -> Vec<(&'static str, UserTemplate)> {
    let kind = fields.optional("type", Kind::parse);
    let subject = fields.within("email", |fields| fields.optional("subject", Subject::parse));
    let subject = subject.filter(|_| kind != Some(Kind::Webhook));
    let template = fields.within("webhook", |fields| fields.optional("template", Template::parse));
    let template = template.filter(|_| kind != Some(Kind::Email));
    let mut own = Vec::new();
    if let Some(template) = subject.as_ref().and_then(Subject::template) {
        own.push(("email.subject", template.clone()));
    }
    if let Some(Template::Own(template)) = template {
        own.push(("webhook.template", template));
    }
    own
}

/// A parser whose value must also pass `vet`.
fn vetted<T>(
    parse: impl FnOnce(&str) -> Result<T, Invalid>,
    vet: impl FnOnce(&T) -> Result<(), Invalid>,
) -> impl FnOnce(&str) -> Result<T, Invalid> {
    |text| parse(text).and_then(|value| vet(&value).map(|()| value))
}

fn email(fields: &mut Fields, old: Option<&EmailSpec>, engine: &Engine) -> Option<EmailSpec> {
    let hostname = fields.optional("hostname", Hostname::parse);
    let hostname = hostname.or_else(|| old.map(|old| old.hostname.clone()));
    let hostname = fields.require("hostname", hostname);
    let security = fields.optional("security", Security::parse);
    let security = security.or_else(|| old.map(|old| old.security.clone())).unwrap_or_default();
    let port = fields.optional_text_or_number("port", port).or_else(|| old.map(|old| old.port));
    let port = port.unwrap_or_else(|| security.usual_port());
    let allowed = hostname.as_ref().map_or(Ok(()), |host| engine.vet_server(host, port));
    fields.believe("hostname", allowed);
    let ignore_tls_errors = fields.optional_flag("ignore_tls_errors");
    let username = fields.optional("username", credential);
    let password = fields.optional("password", credential);
    let from_email = fields.optional("from_email", vetted(Mailbox::parse, vet_sender));
    let from_email = from_email.or_else(|| old.map(|old| old.from_email.clone()));
    let from_email = fields.require("from_email", from_email);
    let to_email = addresses(fields, "to_email", Mailboxes::parse_some);
    let to_email = to_email.or_else(|| old.map(|old| old.to_email.clone()));
    let to_email = fields.require("to_email", to_email);
    let to_cc = addresses(fields, "to_cc", Mailboxes::parse);
    let to_bcc = addresses(fields, "to_bcc", Mailboxes::parse);
    let subject = fields.optional("subject", Subject::parse);
    Some(EmailSpec {
        hostname: hostname?,
        port,
        security,
        ignore_tls_errors: ignore_tls_errors
            .unwrap_or_else(|| old.is_some_and(|old| old.ignore_tls_errors)),
        username: username.or_else(|| old.map(|old| old.username.clone())).unwrap_or_default(),
        password: password
            .map(Secret::new)
            .or_else(|| old.map(|old| old.password.clone()))
            .unwrap_or_else(|| Secret::new("")),
        from_email: from_email?,
        to_email: to_email?,
        to_cc: to_cc.or_else(|| old.map(|old| old.to_cc.clone())).unwrap_or_default(),
        to_bcc: to_bcc.or_else(|| old.map(|old| old.to_bcc.clone())).unwrap_or_default(),
        subject: subject.or_else(|| old.map(|old| old.subject.clone())).unwrap_or_default(),
    })
}

/// Addresses with commas between them, or an array of them.
fn addresses(
    fields: &mut Fields,
    field: &str,
    parse: impl FnOnce(&str) -> Result<Mailboxes, Invalid>,
) -> Option<Mailboxes> {
    let items = fields.optional_items(field, None)?;
    fields.believe(field, vetted(parse, vet_recipients)(&items.join(",")))
}

fn hook(fields: &mut Fields, old: Option<&WebhookSpec>, engine: &Engine) -> Option<ChannelDraft> {
    let url = fields.optional("url", vetted(webhook::url, |url| engine.vet_url(url)));
    let url = url.or_else(|| old.map(|old| old.url.clone()));
    let url = fields.require("url", url);
    let headers = fields.optional("headers", webhook::headers);
    let template = fields.optional("template", Template::parse);
    let secret = fields.optional("secret", SigningSecret::parse);
    Some(ChannelDraft::Webhook {
        url: url?,
        headers: headers.or_else(|| old.map(|old| old.headers.clone())).unwrap_or_default(),
        template: template
            .or_else(|| old.map(|old| old.template.clone()))
            .unwrap_or(Template::Standard),
        secret,
    })
}

/// A notifier as it is returned.
#[derive(Serialize, ToSchema)]
#[schema(as = Notifier)]
pub(crate) struct NotifierBody {
    #[schema(value_type = String, format = Uuid)]
    notifierid: NotifierId,
    name: String,
    /// email or webhook.
    r#type: &'static str,
    /// For type email.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    email: Option<EmailBody>,
    /// For type webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    webhook: Option<WebhookBody>,
    /// Whether anything is sent by it.
    isactive: bool,
    /// Why it was turned off; empty while it is on.
    disabled_reason: String,
    #[schema(value_type = Option<String>, format = DateTime)]
    disabled: Option<Millis>,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    #[schema(value_type = String, format = DateTime)]
    modified: Millis,
}

#[derive(Serialize, ToSchema)]
#[schema(as = NotifierEmail)]
pub(crate) struct EmailBody {
    hostname: String,
    port: u16,
    security: String,
    ignore_tls_errors: bool,
    username: String,
    password: String,
    from_email: String,
    to_email: String,
    to_cc: String,
    to_bcc: String,
    subject: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = NotifierWebhook)]
pub(crate) struct WebhookBody {
    url: String,
    headers: String,
    template: String,
    /// What signs the messages; shown when it is made and never again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    secret: Option<String>,
}

impl NotifierBody {
    pub(crate) fn of(view: &NotifierView) -> Self {
        let secret = view.secret.as_ref().map(|secret| secret.expose().to_owned());
        Self::with(&view.notifier, secret)
    }

    pub(crate) fn listed(notifier: &Notifier) -> Self {
        Self::with(notifier, None)
    }

    fn with(notifier: &Notifier, secret: Option<String>) -> Self {
        let (email, webhook) = match &notifier.channel {
            Channel::Email(spec) => (Some(EmailBody::of(spec)), None),
            Channel::Webhook(hook) => (None, Some(WebhookBody::of(hook, secret))),
        };
        let disabled = notifier.disabled.as_ref();
        Self {
            notifierid: notifier.id,
            name: notifier.name.to_string(),
            r#type: notifier.channel.kind().as_str(),
            email,
            webhook,
            isactive: disabled.is_none(),
            disabled_reason: disabled.map(|off| off.why.clone()).unwrap_or_default(),
            disabled: disabled.map(|off| off.at),
            created: notifier.created,
            modified: notifier.modified,
        }
    }
}

impl EmailBody {
    fn of(spec: &EmailSpec) -> Self {
        Self {
            hostname: spec.hostname.to_string(),
            port: spec.port,
            security: spec.security.to_string(),
            ignore_tls_errors: spec.ignore_tls_errors,
            username: spec.username.clone(),
            password: spec.password.expose().to_owned(),
            from_email: spec.from_email.to_string(),
            to_email: spec.to_email.to_string(),
            to_cc: spec.to_cc.to_string(),
            to_bcc: spec.to_bcc.to_string(),
            subject: spec.subject.to_string(),
        }
    }
}

impl WebhookBody {
    fn of(hook: &WebhookSpec, secret: Option<String>) -> Self {
        Self {
            url: hook.url.to_string(),
            headers: hook.headers.as_str().to_owned(),
            template: hook.template.to_string(),
            secret,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct NotifierList {
    pub(crate) success: bool,
    pub(crate) notifiers: Vec<NotifierBody>,
    /// Only with `limit`: where the next page begins, null at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}

/// Which notifier to try.
#[derive(ToSchema)]
pub(crate) struct TestNotifier {
    #[schema(min_length = 1, pattern = r"\S")]
    pub(crate) notifierid: String,
}

impl Wire for TestNotifier {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { notifierid: fields.text("notifierid")? })
    }
}

/// As much of a notifier as decides what its messages look like.
#[derive(ToSchema)]
pub(crate) struct PreviewNotifier {
    name: Option<String>,
    /// email or webhook.
    #[schema(value_type = String)]
    r#type: Kind,
    /// Only `subject` is read.
    #[schema(value_type = Option<SaveEmail>)]
    email: Subject,
    /// Only `template` and `url` are read.
    #[schema(value_type = Option<SaveWebhook>)]
    webhook: (Template, Option<HttpUrl>),
    /// monitor.down, monitor.up, monitor.certificate_expiring or notifier.test.
    event: Option<String>,
}

impl Wire for PreviewNotifier {
    fn read(fields: &mut Fields) -> Option<Self> {
        let kind = fields.parse("type", Kind::parse);
        let name = fields.optional_text("name");
        let event = fields.optional_text("event");
        let email = fields.within("email", |fields| fields.optional("subject", Subject::parse));
        let webhook = fields.within("webhook", |fields| {
            let template = fields.optional("template", Template::parse);
            // An address that is half typed is no reason to show nothing.
            let url = fields.optional_text("url").and_then(|text| webhook::url(&text).ok());
            (template.unwrap_or(Template::Standard), url)
        });
        Some(Self { name, r#type: kind?, email: email.unwrap_or_default(), webhook, event })
    }
}

impl From<PreviewNotifier> for PreviewDraft {
    fn from(wire: PreviewNotifier) -> Self {
        let (template, url) = wire.webhook;
        Self {
            name: wire.name.unwrap_or_else(|| "new".into()),
            channel: match wire.r#type {
                Kind::Email => PreviewChannel::Email { subject: wire.email },
                Kind::Webhook => PreviewChannel::Webhook { template, url },
            },
            event: wire.event.unwrap_or_else(|| notice::DOWN.into()),
        }
    }
}

/// A message about an invented monitor, as a receiver would get it.
#[derive(Serialize, ToSchema)]
pub(crate) struct NotifierPreview {
    success: bool,
    /// Of a mail, otherwise null.
    subject: Option<String>,
    content_type: &'static str,
    body: String,
    /// The HTML part of a mail, otherwise null.
    html: Option<String>,
}

impl From<Preview> for NotifierPreview {
    fn from(preview: Preview) -> Self {
        let Preview { subject, content_type, body, html } = preview;
        Self { success: true, subject, content_type, body, html }
    }
}

/// A message on its way to one notifier.
#[derive(Serialize, ToSchema)]
#[schema(as = NotifierDelivery)]
pub(crate) struct DeliveryItem {
    #[schema(value_type = String, format = Uuid)]
    deliveryid: DeliveryId,
    #[schema(value_type = String, format = Uuid)]
    eventid: EventId,
    #[schema(value_type = Option<String>, format = Uuid)]
    alertid: Option<AlertId>,
    monitor: DeliveryMonitor,
    /// monitor.down, monitor.up or monitor.certificate_expiring.
    r#type: String,
    /// waiting, delivered or failed.
    state: String,
    attempts: i64,
    last_answer: String,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    /// Null: delivered or given up.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_try: Option<Millis>,
    #[schema(value_type = Option<String>, format = DateTime)]
    finished: Option<Millis>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct DeliveryMonitor {
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    name: String,
}

impl DeliveryItem {
    pub(crate) fn of(listed: ListedDelivery) -> Self {
        Self {
            deliveryid: listed.id,
            eventid: listed.event,
            alertid: listed.alert,
            monitor: DeliveryMonitor { monitorid: listed.monitor, name: listed.monitor_name },
            r#type: listed.kind,
            state: listed.state,
            attempts: listed.attempts,
            last_answer: listed.last_answer,
            created: listed.created,
            next_try: listed.next_try,
            finished: listed.finished,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct DeliveryList {
    pub(crate) success: bool,
    pub(crate) deliveries: Vec<DeliveryItem>,
    /// Only with `limit`: where the next page begins, null at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}
