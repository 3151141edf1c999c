//! Notification by Gotify: a server and the token of an application.

use super::Kind;
use super::service::{Ability, Descriptor, Field, made_of, no_rules, nothing};
use crate::Invalid;

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    kind: Kind::Gotify,
    label: "Gotify",
    fields: &[
        Field::server("gotify.server", "", "The address of your server.").required(),
        Field::text("gotify.token", "The token of an application on that server.")
            .secret()
            .required()
            .parsed(token),
    ],
    can: &[Ability::Acknowledge, Ability::Digest],
    is_for_programs: false,
    check: no_rules,
    replaces: None,
    from_url: nothing,
};

fn token(text: &str) -> Result<(), Invalid> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    made_of(text, 255, is_allowed, "must be the token of an application")
}
