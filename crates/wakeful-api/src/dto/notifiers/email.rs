//! Notifiers of type email.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::monitors::spec::{Hostname, port};
use wakeful_core::notifications::notifier::email::credential;
use wakeful_core::notifications::notifier::{
    Channel, EmailSpec, Mailbox, Mailboxes, Security, Subject,
};
use wakeful_core::secret::Secret;
use wakeful_core::template::UserTemplate;
use wakeful_engine::{Engine, PreviewChannel, validate_recipients, validate_sender};

use super::validated;
use crate::dto::Fields;
use crate::dto::enums::MailSecurity;
use crate::dto::monitors::request::{TextOrList, TextOrNumber};

/// The mail server, and the sender, recipients and subject of the mail.
#[derive(ToSchema)]
#[schema(as = SaveEmail)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveEmail {
    /// Required.
    hostname: Option<String>,
    /// Default: 25, or 587 with tls.
    #[schema(value_type = Option<TextOrNumber>)]
    port: (),
    security: Option<MailSecurity>,
    ignore_tls_errors: Option<bool>,
    /// Empty for no authentication.
    username: Option<String>,
    password: Option<String>,
    /// Required.
    from_email: Option<String>,
    /// Comma-separated addresses or an array; required.
    #[schema(value_type = Option<TextOrList>)]
    to_email: (),
    #[schema(value_type = Option<TextOrList>)]
    to_cc: (),
    #[schema(value_type = Option<TextOrList>)]
    to_bcc: (),
    /// A template with the same fields as in webhooks; empty for the default subject.
    subject: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = NotifierEmail)]
pub(crate) struct EmailBody {
    hostname: String,
    port: u16,
    /// As it was saved: none or tls in any letter case.
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

pub(super) fn read(fields: &mut Fields, old: Option<&Channel>, engine: &Engine) -> Option<Channel> {
    let old = spec(old);
    let hostname = fields.optional("hostname", Hostname::parse);
    let hostname = hostname.or_else(|| old.map(|old| old.hostname.clone()));
    let hostname = fields.require("hostname", hostname);
    let security = fields.optional("security", Security::parse);
    let security = security.or_else(|| old.map(|old| old.security.clone())).unwrap_or_default();
    let port = fields.optional_text_or_number("port", port).or_else(|| old.map(|old| old.port));
    let port = port.unwrap_or_else(|| security.default_port());
    let allowed = hostname.as_ref().map_or(Ok(()), |host| engine.validate_host(host, port));
    fields.accept("hostname", allowed);
    let ignore_tls_errors = fields.optional_flag("ignore_tls_errors");
    let username = fields.optional("username", credential);
    let password = fields.optional("password", credential);
    let from_email = fields.optional("from_email", validated(Mailbox::parse, validate_sender));
    let from_email = from_email.or_else(|| old.map(|old| old.from_email.clone()));
    let from_email = fields.require("from_email", from_email);
    let to_email = addresses(fields, "to_email", Mailboxes::parse_some);
    let to_email = to_email.or_else(|| old.map(|old| old.to_email.clone()));
    let to_email = fields.require("to_email", to_email);
    let to_cc = addresses(fields, "to_cc", Mailboxes::parse);
    let to_bcc = addresses(fields, "to_bcc", Mailboxes::parse);
    let subject = fields.optional("subject", Subject::parse);
    Some(Channel::Email(EmailSpec {
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
    }))
}

pub(super) fn custom_template(fields: &mut Fields) -> Option<(&'static str, UserTemplate)> {
    let subject = fields.optional("subject", Subject::parse)?;
    Some(("email.subject", subject.template()?.clone()))
}

pub(super) fn preview(fields: &mut Fields, old: Option<&Channel>) -> PreviewChannel {
    let subject = fields.optional("subject", Subject::parse);
    let stored = || spec(old).map(|old| old.subject.clone());
    PreviewChannel::Email { subject: subject.or_else(stored).unwrap_or_default() }
}

fn spec(channel: Option<&Channel>) -> Option<&EmailSpec> {
    match channel {
        Some(Channel::Email(spec)) => Some(spec),
        _ => None,
    }
}

/// Comma-separated addresses, or an array of them.
fn addresses(
    fields: &mut Fields,
    field: &str,
    parse: impl FnOnce(&str) -> Result<Mailboxes, Invalid>,
) -> Option<Mailboxes> {
    let items = fields.optional_items(field, None)?;
    fields.accept(field, validated(parse, validate_recipients)(&items.join(",")))
}

impl EmailBody {
    pub(super) fn of(spec: &EmailSpec) -> Self {
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
