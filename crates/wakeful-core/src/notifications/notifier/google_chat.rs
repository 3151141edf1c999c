//! Notification by Google Chat: the webhook of a space.

use super::Kind;
use super::service::{Ability, Descriptor, Field, no_rules, nothing};

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    kind: Kind::GoogleChat,
    label: "Google Chat",
    fields: &[Field::url("google_chat.url", "The URL of a webhook of the space.")
        .secret()
        .required()],
    can: &[Ability::Thread, Ability::Acknowledge, Ability::Digest],
    is_for_programs: false,
    check: no_rules,
    replaces: None,
    from_url: nothing,
};
