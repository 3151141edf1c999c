//! Notification by Slack: with the token of an app, which allows threads and edits, or by an
//! incoming webhook.

use url::Url;

use super::service::{Ability, Descriptor, Field, FieldError, ServiceSpec, made_of};
use super::{BuiltinTemplate, Kind};
use crate::Invalid;

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    kind: Kind::Slack,
    label: "Slack",
    fields: &[
        Field::text("slack.token", "The bot token of your Slack app, with the scope chat:write.")
            .secret()
            .parsed(token),
        Field::text("slack.channel", "The id of the channel, such as C024BE91L.").parsed(channel),
        Field::url("slack.webhook_url", "Instead of a token: the URL of an incoming webhook.")
            .secret(),
        Field::text(
            "slack.mention",
            "Mentioned in critical outages: here, channel, or the id of a user or user group.",
        )
        .parsed(mention),
        Field::on_recovery("slack.on_recovery"),
        Field::server("slack.api_url", "https://slack.com/api", "The address of Slack's API."),
    ],
    can: &[Ability::Thread, Ability::Edit, Ability::Acknowledge, Ability::Digest],
    is_for_programs: false,
    check,
    replaces: Some(BuiltinTemplate::Slack),
    from_url: |url: &Url| vec![("webhook_url", url.to_string())],
};

/// A token sends to a channel, and a webhook has one.
fn check(spec: &ServiceSpec) -> Result<(), FieldError> {
    let is_set = |name| !spec.get(name).is_empty();
    if !is_set("token") && !is_set("webhook_url") {
        Err(("token", Invalid::new("is required, or webhook_url instead")))
    } else if is_set("token") && !is_set("channel") {
        Err(("channel", Invalid::new("is required with a token")))
    } else {
        Ok(())
    }
}

fn token(text: &str) -> Result<(), Invalid> {
    let why = "must be the token of a Slack app, which begins with xoxb-";
    if text.starts_with("xox") {
        made_of(text, 255, |c| c.is_ascii_alphanumeric() || c == '-', why)
    } else {
        Err(Invalid::new(why))
    }
}

fn channel(text: &str) -> Result<(), Invalid> {
    let is_allowed = |c: char| c.is_alphanumeric() || "#-_.".contains(c);
    made_of(text, 80, is_allowed, "must be the id or the name of a channel")
}

fn mention(text: &str) -> Result<(), Invalid> {
    let why = "must be here, channel, everyone, or the id of a user or user group";
    made_of(text, 30, |c| c.is_ascii_alphanumeric(), why)
}
