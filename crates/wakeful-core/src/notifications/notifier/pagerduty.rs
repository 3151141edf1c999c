//! Notification by PagerDuty: the integration key of a service. Its incidents are acknowledged
//! and resolved with our alerts.

use url::Url;

use super::service::{Ability, Descriptor, Field, made_of, no_rules, parameter};
use super::{BuiltinTemplate, Kind};
use crate::Invalid;

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    kind: Kind::Pagerduty,
    label: "PagerDuty",
    fields: &[
        Field::text("pagerduty.routing_key", "The integration key of a service, Events API v2.")
            .secret()
            .required()
            .parsed(key),
        Field::server(
            "pagerduty.api_url",
            "https://events.pagerduty.com",
            "The address of the API; in Europe https://events.eu.pagerduty.com.",
        ),
    ],
    can: &[Ability::Thread, Ability::Acknowledge],
    is_for_programs: true,
    check: no_rules,
    replaces: Some(BuiltinTemplate::PagerDuty),
    from_url: |url: &Url| {
        let key = parameter(url, "routing_key").map(|key| ("routing_key", key));
        let server = ("api_url", url.origin().ascii_serialization());
        std::iter::once(server).chain(key).collect()
    },
};

fn key(text: &str) -> Result<(), Invalid> {
    let why = "must be a key of 32 characters, a to z and 0 to 9";
    if text.chars().count() == 32 {
        made_of(text, 32, |c| c.is_ascii_alphanumeric(), why)
    } else {
        Err(Invalid::new(why))
    }
}
