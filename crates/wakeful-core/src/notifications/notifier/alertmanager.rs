//! Notification by Alertmanager: alerts with labels, which last as long as they are repeated.

use super::Kind;
use super::service::{Ability, Descriptor, Field, no_rules, nothing};
use super::webhook;
use crate::Invalid;
use crate::monitors::spec::Headers;

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    kind: Kind::Alertmanager,
    label: "Alertmanager",
    fields: &[
        Field::server("alertmanager.url", "", "The address of the Alertmanager, without /api.")
            .required(),
        Field::text(
            "alertmanager.headers",
            "Headers such as Authorization: Bearer abc, separated by semicolons.",
        )
        .secret()
        .parsed(|text| headers(text).map(drop)),
    ],
    can: &[Ability::Thread],
    is_for_programs: true,
    check: no_rules,
    replaces: None,
    from_url: nothing,
};

/// The headers in the field of that name; an object takes those that contain a semicolon.
pub fn headers(text: &str) -> Result<Headers, Invalid> {
    if text.trim_start().starts_with('{') {
        return webhook::headers(text);
    }
    webhook::headers(&text.replace(';', "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_headers_are_one_text() {
        let all = headers("Authorization: Bearer abc; X-Scope-OrgID: ops").expect("valid");
        let expected = [("Authorization", "Bearer abc"), ("X-Scope-OrgID", "ops")];
        assert_eq!(all.iter().collect::<Vec<_>>(), expected);
        assert!(super::headers("no header").is_err());
        assert!(super::headers("Host: example.org").is_err());
        let object = super::headers(r#"{"Cookie": "a=1; b=2"}"#).expect("valid");
        assert_eq!(object.iter().collect::<Vec<_>>(), [("Cookie", "a=1; b=2")]);
    }
}
