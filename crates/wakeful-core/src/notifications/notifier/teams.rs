//! Notification by Microsoft Teams: the URL of a workflow that posts to a channel or a chat.

use url::Url;

use super::service::{Ability, Descriptor, Field, no_rules};
use super::{BuiltinTemplate, Kind};

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    kind: Kind::Teams,
    label: "Microsoft Teams",
    fields: &[Field::url(
        "teams.url",
        "The URL of a workflow that starts when a Teams webhook request is received.",
    )
    .secret()
    .required()],
    can: &[Ability::Acknowledge, Ability::Digest],
    is_for_programs: false,
    check: no_rules,
    replaces: Some(BuiltinTemplate::Teams),
    from_url: |url: &Url| vec![("url", url.to_string())],
};
