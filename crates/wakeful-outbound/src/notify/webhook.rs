//! Notification by webhook: an event in the format of its receiver, as a signed POST.

use futures_util::future::BoxFuture;
use url::Url;
use wakeful_core::Invalid;
use wakeful_core::id::TeamId;
use wakeful_core::notifications::event::Event;
use wakeful_core::notifications::notifier::{Template, WebhookSpec};
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::time::Millis;

use super::signed_post::{PreparedPost, SignedPost, content_type};
use super::template::{self, TemplateContext};
use super::{Preview, Validated};
use crate::net::Net;
use crate::net::guard::Guard;

const NO_EQUIVALENT: &str = "nothing to send: the receiver has no equivalent of this event";

/// Sends an event to its receiver. `link` is the page of the monitor.
pub fn deliver<'a>(
    net: &'a Net,
    team: TeamId,
    hook: &'a WebhookSpec,
    event: &'a Event,
    link: &'a str,
    now: Millis,
) -> BoxFuture<'a, Outcome> {
    Box::pin(async move {
        if skips(&hook.template, event) {
            return Outcome::Delivered(NO_EQUIVALENT.to_owned());
        }
        match composed(net, team, hook, event, link, now).await {
            Ok(message) => message.send(net, now).await,
            Err(why) => Outcome::Refused(why),
        }
    })
}

pub(super) fn validate(guard: &Guard, hook: &WebhookSpec) -> Validated {
    vec![("webhook.url", guard.validate_url(&hook.url))]
}

fn skips(template: &Template, event: &Event) -> bool {
    matches!(template, Template::Builtin(builtin) if builtin.skips(&event.kind))
}

/// The body, empty if nothing is sent; `url` is its target, if known yet.
pub(super) fn preview(
    template: &Template,
    event: &Event,
    link: &str,
    url: Option<&Url>,
) -> Result<Preview, Invalid> {
    let body = if skips(template, event) {
        String::new()
    } else {
        render_body(template, event, link, url)?
    };
    let (content_type, requests) = (content_type(&body), Vec::new());
    Ok(Preview { subject: None, content_type, body, html: None, requests })
}

/// The message, with a custom template rendered on another thread: that may
/// take a while, and others wait on this one.
async fn composed(
    net: &Net,
    team: TeamId,
    hook: &WebhookSpec,
    event: &Event,
    link: &str,
    now: Millis,
) -> Result<PreparedPost, String> {
    if !matches!(hook.template, Template::Custom(_)) {
        return prepared(hook, event, link, now);
    }
    let (hook, event, link) = (hook.clone(), event.clone(), link.to_owned());
    let composing = net.renderers().render(team, move || prepared(&hook, &event, &link, now));
    composing.await.unwrap_or_else(|| Err("the message could not be composed".to_owned()))
}

fn prepared(
    hook: &WebhookSpec,
    event: &Event,
    link: &str,
    now: Millis,
) -> Result<PreparedPost, String> {
    let message = SignedPost {
        url: target(hook),
        headers: &hook.headers,
        id: event.data.eventid.to_string(),
        body: body(hook, event, link),
        secrets: hook.keys.signing(now).collect(),
    };
    message.prepare(now)
}

/// The target: the URL as set, unless the receiver expects JSON at its root.
fn target(hook: &WebhookSpec) -> Url {
    let mut url = hook.url.url().clone();
    if let Template::Builtin(builtin) = &hook.template
        && builtin.posts_to_root()
    {
        url.set_path("/");
    }
    url
}

/// The body in the receiver's format. When its template fails for this event,
/// it is tried without the payload of the target, which may be too large. When
/// that fails, too, the event is sent in our own format: better an odd message
/// than none.
fn body(hook: &WebhookSpec, event: &Event, link: &str) -> String {
    let render_body =
        |event: &Event| render_body(&hook.template, event, link, Some(hook.url.url()));
    let tried = render_body(event).or_else(|why| match event.data.payload {
        None => Err(why),
        Some(_) => render_body(&event.without_payload()),
    });
    tried.unwrap_or_else(|why| {
        let id = event.data.eventid;
        tracing::warn!(event.id = %id, "rendering the template for event {id} failed, using the standard format: {why}");
        event.body()
    })
}

/// The event in the format of a template.
fn render_body(
    template: &Template,
    event: &Event,
    link: &str,
    url: Option<&Url>,
) -> Result<String, Invalid> {
    let context = || TemplateContext::of(event, link, url);
    match template {
        Template::Standard => Ok(event.body()),
        Template::Builtin(ready) => template::render_for_receiver(*ready, &context()),
        Template::Custom(own) => template::render(own, &context()),
    }
}
