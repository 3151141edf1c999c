//! Notification by Pushover: an application and a user or group. In an emergency, a message is
//! repeated until somebody acknowledges it.

use super::Kind;
use super::service::{Ability, Descriptor, Field, made_of, no_rules, nothing};
use crate::Invalid;

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    kind: Kind::Pushover,
    label: "Pushover",
    fields: &[
        Field::text("pushover.token", "The API token of your application.")
            .secret()
            .required()
            .parsed(key),
        Field::text("pushover.user", "Your user key, or the key of a group.")
            .secret()
            .required()
            .parsed(key),
        Field::text("pushover.device", "The name of a device; all of them if it is empty.")
            .parsed(name),
        Field::text("pushover.sound", "The name of a sound.").parsed(name),
        Field::flag(
            "pushover.emergency",
            "Repeats critical outages every minute, for three hours, until acknowledged.",
        ),
        Field::server("pushover.api_url", "https://api.pushover.net", "The address of the API."),
    ],
    can: &[Ability::Thread, Ability::Acknowledge, Ability::Digest],
    is_for_programs: false,
    check: no_rules,
    replaces: None,
    from_url: nothing,
};

fn key(text: &str) -> Result<(), Invalid> {
    let why = "must be a key of 30 characters, a to z and 0 to 9";
    if text.chars().count() == 30 {
        made_of(text, 30, |c| c.is_ascii_alphanumeric(), why)
    } else {
        Err(Invalid::new(why))
    }
}

fn name(text: &str) -> Result<(), Invalid> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_,".contains(c);
    made_of(text, 100, is_allowed, "must have letters, digits, hyphens and underscores only")
}
