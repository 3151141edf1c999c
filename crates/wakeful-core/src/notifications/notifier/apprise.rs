//! Notification by an Apprise API server, which passes messages on to many other services.

use super::Kind;
use super::service::{Ability, Descriptor, Field, FieldError, ServiceSpec, made_of, nothing};
use crate::Invalid;

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    kind: Kind::Apprise,
    label: "Apprise",
    fields: &[
        Field::server("apprise.server", "", "The address of the Apprise API server.").required(),
        Field::text("apprise.key", "The key of a stored configuration.").parsed(|text| {
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            made_of(text, 128, is_allowed, "must be the key of a configuration")
        }),
        Field::text("apprise.urls", "Instead of a key: the URLs of Apprise, separated by commas.")
            .secret(),
        Field::text("apprise.tag", "Only those with this tag are notified."),
    ],
    can: &[Ability::Acknowledge, Ability::Digest],
    is_for_programs: false,
    check,
    replaces: None,
    from_url: nothing,
};

fn check(spec: &ServiceSpec) -> Result<(), FieldError> {
    match (spec.get("key"), spec.get("urls")) {
        ("", "") => Err(("key", Invalid::new("is required, or urls instead"))),
        (key, urls) if !key.is_empty() && !urls.is_empty() => {
            Err(("urls", Invalid::new("must be empty with a key")))
        }
        _ => Ok(()),
    }
}
