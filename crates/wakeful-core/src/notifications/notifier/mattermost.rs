//! Notification by Mattermost or Rocket.Chat: an incoming webhook.

use super::Kind;
use super::service::{Ability, Descriptor, Field, made_of, no_rules, nothing};

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    kind: Kind::Mattermost,
    label: "Mattermost, Rocket.Chat",
    fields: &[
        Field::url("mattermost.url", "The URL of an incoming webhook.").secret().required(),
        Field::text("mattermost.channel", "Another channel than that of the webhook.")
            .parsed(|text| made_of(text, 80, |_| true, "must have at most 80 characters")),
        Field::text("mattermost.username", "The name that messages are shown with.")
            .parsed(|text| made_of(text, 80, |_| true, "must have at most 80 characters")),
        Field::choice(
            "mattermost.flavour",
            &["mattermost", "rocketchat"],
            "The server that receives the messages.",
        ),
    ],
    can: &[Ability::Acknowledge, Ability::Digest],
    is_for_programs: false,
    check: no_rules,
    replaces: None,
    from_url: nothing,
};
