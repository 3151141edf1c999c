//! Notification by ntfy: a server and a topic. A later message about the same alert replaces
//! the earlier one.

use url::Url;

use super::service::{Ability, Descriptor, Field, FieldError, ServiceSpec, is_phone, made_of};
use super::{BuiltinTemplate, Kind};
use crate::Invalid;
use crate::email_address::EmailAddress;

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    kind: Kind::Ntfy,
    label: "ntfy",
    fields: &[
        Field::server("ntfy.server", "https://ntfy.sh", "The address of the server."),
        Field::text("ntfy.topic", "The topic. On a public server, choose a name nobody can guess.")
            .required()
            .private()
            .parsed(topic),
        Field::text("ntfy.token", "An access token, if the topic is protected.").secret(),
        Field::text("ntfy.username", "A user name, instead of a token."),
        Field::text("ntfy.password", "The password of that user.").secret(),
        Field::text("ntfy.email", "An address that the server also sends outages to.")
            .parsed(|text| EmailAddress::parse(text).map(drop)),
        Field::text("ntfy.call", "A phone number that the server calls in critical outages.")
            .parsed(phone),
    ],
    can: &[Ability::Thread, Ability::Edit, Ability::Acknowledge, Ability::Digest],
    is_for_programs: false,
    check,
    replaces: Some(BuiltinTemplate::Ntfy),
    from_url: |url: &Url| {
        let topic = url.path_segments().and_then(|mut parts| parts.rfind(|part| !part.is_empty()));
        let topic = topic.map(|topic| ("topic", topic.to_owned()));
        let server = ("server", url.origin().ascii_serialization());
        std::iter::once(server).chain(topic).collect()
    },
};

fn check(spec: &ServiceSpec) -> Result<(), FieldError> {
    let is_set = |name| !spec.get(name).is_empty();
    if is_set("token") && is_set("username") {
        Err(("username", Invalid::new("must be empty with a token")))
    } else if is_set("username") != is_set("password") {
        Err(("password", Invalid::new("is required with a user name, and only then")))
    } else {
        Ok(())
    }
}

fn topic(text: &str) -> Result<(), Invalid> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    made_of(text, 64, is_allowed, "must have 1 to 64 letters, digits, hyphens and underscores")
}

fn phone(text: &str) -> Result<(), Invalid> {
    let why = "must be a phone number such as +4915112345678, or yes for the one of the account";
    if is_phone(text) || text == "yes" { Ok(()) } else { Err(Invalid::new(why)) }
}
