//! Notification by Signal, through a server that runs signal-cli-rest-api.

use super::Kind;
use super::service::{Ability, Descriptor, Field, each, is_phone, no_rules, nothing};
use crate::Invalid;

/// The most recipients of a notifier.
const MAX_RECIPIENTS: usize = 10;

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    kind: Kind::Signal,
    label: "Signal",
    fields: &[
        Field::server("signal.server", "", "The address of a server with signal-cli-rest-api.")
            .required(),
        Field::text("signal.number", "The phone number that is registered there.")
            .required()
            .parsed(|text| {
                let why = "must be a phone number such as +4915112345678";
                if is_phone(text) { Ok(()) } else { Err(Invalid::new(why)) }
            }),
        Field::text(
            "signal.recipients",
            "Phone numbers, user names or ids of groups, separated by commas.",
        )
        .required()
        .parsed(|text| {
            let why = "must be phone numbers, user names or ids of groups, separated by commas";
            each(text, MAX_RECIPIENTS, is_recipient, why)
        }),
    ],
    can: &[Ability::Thread, Ability::Acknowledge, Ability::Digest],
    is_for_programs: false,
    check: no_rules,
    replaces: None,
    from_url: nothing,
};

fn is_recipient(text: &str) -> bool {
    let has_only = |rest: &str, marks: &str| {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || marks.contains(c);
        (1..=128).contains(&rest.len()) && rest.chars().all(is_allowed)
    };
    match text.strip_prefix("group.") {
        Some(id) => has_only(id, "+/=-_"),
        None if text.starts_with('+') => is_phone(text),
        None => has_only(text, "._-"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipient_is_a_number_a_group_or_a_user() {
        for valid in ["+4915112345678", "group.ckRzaEd4VmRzNnJaASAEsasa==", "ann.42"] {
            assert!(is_recipient(valid), "{valid}");
        }
        for invalid in ["+49", "group.", "ann 42", "", "../etc"] {
            assert!(!is_recipient(invalid), "{invalid}");
        }
    }
}
