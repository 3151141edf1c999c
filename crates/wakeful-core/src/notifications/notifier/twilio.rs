//! Notification by Twilio: text messages and calls to phone numbers. Who is called can
//! acknowledge the alert with a key.

use super::Kind;
use super::service::{Ability, Descriptor, Field, FieldError, ServiceSpec};
use super::service::{each, is_phone, made_of, nothing};
use crate::Invalid;

/// The most phone numbers of a notifier.
const MAX_NUMBERS: usize = 10;
/// A prefix that says what it is, and 32 hexadecimal digits.
const SID_LENGTH: usize = 34;

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    kind: Kind::Twilio,
    label: "Twilio",
    fields: &[
        Field::text("twilio.account_sid", "The SID of the account, which begins with AC.")
            .required()
            .parsed(|text| sid(text, &["AC"])),
        Field::text("twilio.key", "The SID of an API key, which begins with SK.")
            .required()
            .parsed(|text| sid(text, &["SK", "AC"])),
        Field::text("twilio.secret", "The secret of that key.").secret().required(),
        Field::text("twilio.from", "The phone number that sends and calls.").parsed(sender),
        Field::text(
            "twilio.messaging_service_sid",
            "Instead of a number that sends: the SID of a messaging service, which begins with MG.",
        )
        .parsed(|text| sid(text, &["MG"])),
        Field::text("twilio.to", "The phone numbers of the recipients, separated by commas.")
            .required()
            .parsed(|text| {
                let why = "must be phone numbers such as +4915112345678, separated by commas";
                each(text, MAX_NUMBERS, is_phone, why)
            }),
        Field::choice(
            "twilio.via",
            &["sms", "call", "both"],
            "Text messages, calls, or both. Only critical outages and escalation steps are called.",
        ),
        Field::server("twilio.api_url", "https://api.twilio.com", "The address of the API."),
    ],
    can: &[Ability::Acknowledge, Ability::Digest],
    is_for_programs: false,
    check,
    replaces: None,
    from_url: nothing,
};

fn check(spec: &ServiceSpec) -> Result<(), FieldError> {
    let is_set = |name| !spec.get(name).is_empty();
    if !is_set("from") && spec.get("via") != "sms" {
        Err(("from", Invalid::new("is required for calls")))
    } else if !is_set("from") && !is_set("messaging_service_sid") {
        Err(("from", Invalid::new("is required, or messaging_service_sid instead")))
    } else if spec.get("via") != "sms" && !is_phone(spec.get("from")) {
        Err(("from", Invalid::new("must be a phone number for calls")))
    } else {
        Ok(())
    }
}

fn sid(text: &str, prefixes: &[&str]) -> Result<(), Invalid> {
    let first = prefixes.first().copied().unwrap_or_default();
    let why = format!("must be a SID: {first} and {} more characters", SID_LENGTH - 2);
    let begins = prefixes.iter().any(|prefix| text.starts_with(prefix));
    if !begins || text.len() != SID_LENGTH {
        return Err(Invalid::new(why));
    }
    made_of(text, SID_LENGTH, |c| c.is_ascii_alphanumeric(), &why)
}

/// A phone number, a short code, or a name that the receivers see.
fn sender(text: &str) -> Result<(), Invalid> {
    let why = "must be a phone number such as +4915112345678, a short code, or a sender's name";
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == ' ';
    if is_phone(text) { Ok(()) } else { made_of(text, 11, is_name, why) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(pairs: &[(&str, &str)]) -> Result<ServiceSpec, Vec<FieldError>> {
        let sid = |prefix: &str| format!("{prefix}{}", "0a".repeat(16));
        let base = [("account_sid", sid("AC")), ("key", sid("SK")), ("secret", "s".to_owned())];
        let sent = |field: &Field| {
            let own = pairs.iter().find(|(name, _)| *name == field.name());
            let own = own.map(|(_, text)| (*text).to_owned());
            let base = || base.iter().find(|(name, _)| *name == field.name());
            own.or_else(|| base().map(|(_, text)| text.clone()))
        };
        ServiceSpec::changed(&DESCRIPTOR, sent, None)
    }

    #[test]
    fn calls_need_a_number_and_messages_a_number_or_a_service() {
        let to = ("to", "+4915112345678, +15005550006");
        let service = format!("MG{}", "1f".repeat(16));
        let service = ("messaging_service_sid", service.as_str());
        assert!(saved(&[to, ("from", "+15005550001"), ("via", "both")]).is_ok());
        assert!(saved(&[to, ("from", "Wakeful")]).is_ok());
        assert!(saved(&[to, service]).is_ok());
        for wrong in [
            &[to][..],
            &[to, service, ("via", "call")],
            &[to, ("from", "Wakeful"), ("via", "both")],
        ] {
            assert_eq!(saved(wrong).expect_err("incomplete")[0].0, "from", "{wrong:?}");
        }
    }

    #[test]
    fn recipients_are_a_few_different_phone_numbers() {
        let numbers = |count: usize| {
            let all: Vec<String> = (0..count).map(|one| format!("+4915100000{one:02}")).collect();
            all.join(",")
        };
        assert!(saved(&[("from", "+15005550001"), ("to", &numbers(10))]).is_ok());
        for to in [&numbers(11), "0151 1", "+4915112345678,,", "+49", "+15005550001,+15005550001"] {
            let errors = saved(&[("from", "+15005550001"), ("to", to)]).expect_err("invalid");
            assert_eq!(errors[0].0, "to", "{to}");
        }
        let errors = saved(&[("account_sid", "AC1"), ("key", "x"), ("to", "+15005550006")]);
        let names: Vec<&str> = errors.expect_err("invalid").iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["account_sid", "key"]);
    }
}
