//! Notification by Jira Service Management or Opsgenie: the key of an API integration. Its
//! alerts are acknowledged and closed with ours.

use super::Kind;
use super::service::{Ability, Descriptor, Field, made_of, no_rules, nothing};

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    kind: Kind::Opsgenie,
    label: "Jira Service Management / Opsgenie",
    fields: &[
        Field::text("opsgenie.api_key", "The key of an API integration.")
            .secret()
            .required()
            .parsed(|text| {
                let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
                made_of(text, 255, is_allowed, "must be the key of an API integration")
            }),
        Field::server(
            "opsgenie.api_url",
            "https://api.atlassian.com/jsm/ops/integration",
            "The address of the API; for Opsgenie https://api.opsgenie.com or https://api.eu.opsgenie.com.",
        ),
    ],
    can: &[Ability::Thread, Ability::Acknowledge],
    is_for_programs: true,
    check: no_rules,
    replaces: None,
    from_url: nothing,
};
