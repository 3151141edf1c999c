//! Notifiers of type webhook.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::notifications::notifier::{
    Channel, Keys, SigningSecret, Template, WebhookSpec, webhook,
};
use wakeful_core::template::UserTemplate;
use wakeful_engine::{Engine, PreviewChannel};

use super::validated;
use crate::dto::Fields;
use crate::dto::enums::WebhookTemplate;

/// The webhook that messages are posted to.
#[derive(ToSchema)]
#[schema(as = SaveWebhook)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveWebhook {
    /// http or https; required.
    url: Option<String>,
    /// The signing secret: `whsec_` and base64. If omitted, the stored one is retained, or a
    /// new one is created.
    secret: Option<String>,
    /// A JSON object as text, or `Name: value` lines.
    headers: Option<String>,
    template: Option<WebhookTemplate>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = NotifierWebhook)]
pub(crate) struct WebhookBody {
    url: String,
    /// Null if it was removed, because the caller may not edit.
    headers: Option<String>,
    #[schema(value_type = WebhookTemplate)]
    template: String,
    /// The signing secret; shown only when it is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    secret: Option<String>,
}

pub(super) fn read(fields: &mut Fields, old: Option<&Channel>, engine: &Engine) -> Option<Channel> {
    let old = spec(old);
    let url = fields.optional("url", validated(webhook::url, |url| engine.validate_url(url)));
    let url = url.or_else(|| old.map(|old| old.url.clone()));
    let url = fields.require("url", url);
    let headers = fields.optional("headers", webhook::headers);
    let template = fields.optional("template", Template::parse);
    let secret = fields.optional("secret", SigningSecret::parse);
    let keys = old.map(|old| &old.keys);
    Some(Channel::Webhook(WebhookSpec {
        url: url?,
        headers: headers.or_else(|| old.map(|old| old.headers.clone())).unwrap_or_default(),
        template: template
            .or_else(|| old.map(|old| old.template.clone()))
            .unwrap_or(Template::Standard),
        keys: Keys::changed(secret, keys, || engine.new_signing_secret()),
    }))
}

pub(super) fn custom_template(fields: &mut Fields) -> Option<(&'static str, UserTemplate)> {
    let template = fields.optional("template", Template::parse)?;
    Some(("webhook.template", template.custom()?.clone()))
}

pub(super) fn preview(fields: &mut Fields, old: Option<&Channel>) -> PreviewChannel {
    let old = spec(old);
    let template = fields.optional("template", Template::parse);
    let template = template.or_else(|| old.map(|old| old.template.clone()));
    // A URL that is still being typed must not prevent the preview.
    let typed = fields.optional_text("url").map(|text| webhook::url(&text).ok());
    PreviewChannel::Webhook {
        template: template.unwrap_or(Template::Standard),
        url: typed.unwrap_or_else(|| old.map(|old| old.url.clone())),
    }
}

fn spec(channel: Option<&Channel>) -> Option<&WebhookSpec> {
    match channel {
        Some(Channel::Webhook(hook)) => Some(hook),
        _ => None,
    }
}

impl WebhookBody {
    pub(super) fn of(hook: &WebhookSpec, secret: Option<String>, redacted: bool) -> Self {
        Self {
            url: hook.url.to_string(),
            headers: (!redacted).then(|| hook.headers.as_str().to_owned()),
            template: hook.template.to_string(),
            secret,
        }
    }
}
