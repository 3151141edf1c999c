//! Notification by Discord: the webhook of a channel, which can edit its own messages.

use url::Url;

use super::service::{Ability, Descriptor, Field, made_of, no_rules, parameter};
use super::{BuiltinTemplate, Kind};
use crate::Invalid;

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    kind: Kind::Discord,
    label: "Discord",
    fields: &[
        Field::url("discord.webhook_url", "The URL of the channel's webhook.").secret().required(),
        Field::text("discord.thread_id", "The id of a thread in that channel.").parsed(id),
        Field::text("discord.mention", "The id of the role to mention in critical outages.")
            .parsed(id),
        Field::text("discord.username", "The name that messages are shown with.")
            .parsed(|text| made_of(text, 80, |_| true, "must have at most 80 characters")),
        Field::on_recovery("discord.on_recovery"),
    ],
    can: &[Ability::Edit, Ability::Acknowledge, Ability::Digest],
    is_for_programs: false,
    check: no_rules,
    replaces: Some(BuiltinTemplate::Discord),
    from_url: |url: &Url| {
        let mut address = url.clone();
        address.set_query(None);
        let thread = parameter(url, "thread_id").map(|id| ("thread_id", id));
        std::iter::once(("webhook_url", address.to_string())).chain(thread).collect()
    },
};

fn id(text: &str) -> Result<(), Invalid> {
    made_of(text, 20, |c| c.is_ascii_digit(), "must be an id of Discord: digits only")
}
