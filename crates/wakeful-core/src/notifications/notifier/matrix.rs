//! Notification by Matrix: a room on a homeserver. The messages are not encrypted.

use super::Kind;
use super::service::{Ability, Descriptor, Field, made_of, no_rules, nothing};
use crate::Invalid;

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    kind: Kind::Matrix,
    label: "Matrix",
    fields: &[
        Field::server("matrix.homeserver", "", "The address of the homeserver.").required(),
        Field::text("matrix.access_token", "The access token of a user in the room.")
            .secret()
            .required(),
        Field::text(
            "matrix.room_id",
            "The id of the room, which begins with an exclamation mark. Messages are not encrypted.",
        )
        .required()
        .parsed(room),
        Field::on_recovery("matrix.on_recovery"),
    ],
    can: &[Ability::Thread, Ability::Edit, Ability::Acknowledge, Ability::Digest],
    is_for_programs: false,
    check: no_rules,
    replaces: None,
    from_url: nothing,
};

fn room(text: &str) -> Result<(), Invalid> {
    let why = "must be the id of a room, which begins with an exclamation mark";
    match text.strip_prefix('!') {
        Some(rest) => made_of(rest, 254, |c| !c.is_whitespace(), why),
        None => Err(Invalid::new(why)),
    }
}
