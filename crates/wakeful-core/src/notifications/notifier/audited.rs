//! The fields of a notifier in the audit log.

use super::{Channel, EmailSpec, Notifier, ServiceSpec, WebhookSpec};
use crate::audit::{Audited, View};
use crate::monitors::with_headers;
use crate::quiet::Quiet;

impl Audited for Notifier {
    fn view(&self) -> View {
        let view = View::default()
            .with("type", self.channel.kind().as_str())
            .with("isactive", self.disabled.is_none())
            .with("isdefault", self.isdefault)
            .with("min_severity", self.messages.min_severity.as_str())
            .with("events", self.messages.events.clone())
            .with("quiet", self.messages.quiet.as_ref().map(describe))
            .with("group_wait", self.group_wait);
        if let Some(owner) = self.owner {
            // Nobody but its user sees the rest.
            return view.with("personal", true).with("userid", owner.to_string());
        }
        match &self.channel {
            Channel::Email(email) => of_email(view.with("name", self.name.to_string()), email),
            Channel::Webhook(webhook) => {
                of_webhook(view.with("name", self.name.to_string()), webhook)
            }
            Channel::Service(spec) => of_service(view.with("name", self.name.to_string()), spec),
            // It is always personal.
            Channel::Webpush => view,
            // It is named after its user's address, which must not outlive the account.
            Channel::Account(account) => view
                .with_secret("name", self.name.as_str())
                .with("userid", account.user.to_string()),
        }
    }
}

/// Quiet hours as they are stored.
fn describe(quiet: &Quiet) -> String {
    serde_json::to_string(quiet).expect("quiet hours are plain data")
}

fn of_email(view: View, email: &EmailSpec) -> View {
    view.with("email.hostname", email.hostname.to_string())
        .with("email.port", email.port)
        .with("email.security", email.security.to_string())
        .with("email.ignore_tls_errors", email.ignore_tls_errors)
        .with("email.from_email", email.from_email.to_string())
        .with("email.to_email", email.to_email.to_string())
        .with("email.to_cc", email.to_cc.to_string())
        .with("email.to_bcc", email.to_bcc.to_string())
        .with("email.subject", email.subject.to_string())
        .with_secret("email.username", &email.username)
        .with_secret("email.password", email.password.expose())
}

/// The path of a webhook's URL often contains a secret.
fn of_webhook(view: View, webhook: &WebhookSpec) -> View {
    let view = view
        .with("webhook.url", webhook.url.origin().as_str())
        .with("webhook.template", webhook.template.to_string())
        .with_secret("webhook.url.path", webhook.url.as_str())
        .with_secret("webhook.secret", webhook.keys.current.expose());
    with_headers(view, "webhook.headers", &webhook.headers)
}

/// A secret is compared, and never shown.
fn of_service(view: View, spec: &ServiceSpec) -> View {
    spec.descriptor().fields.iter().fold(view, |view, field| {
        let value = spec.get(field.name());
        if field.secret || field.private {
            view.with_secret(field.path, value)
        } else {
            view.with(field.path, value)
        }
    })
}
