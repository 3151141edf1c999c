//! How the caller is notified.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::contacts::{ContactRule, ContactTarget, MAX_AFTER, MAX_RULES};
use wakeful_core::id::NotifierId;
use wakeful_core::severity::Severity as SeverityName;
use wakeful_engine::StoredContacts;

use super::enums::Severity;
use super::fields::{Fields, FromFields};
use super::policies::number;

/// The name of the caller's account among notifiers.
const ACCOUNT: &str = "account";

/// How the caller is notified.
#[derive(ToSchema)]
pub(crate) struct SaveContacts {
    #[schema(value_type = Vec<SaveContactRule>, min_items = 1, max_items = 20)]
    pub(crate) rules: Vec<ContactRule>,
}

/// One way to notify the caller.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveContactRule {
    /// The id of a notifier of the team, or `account` for an email to the caller's address.
    notifierid: String,
    /// Seconds to wait. Default: 0.
    #[schema(maximum = 86400)]
    after: Option<u32>,
    /// Only alerts that are at least this urgent. Default: info.
    #[schema(value_type = Option<Severity>)]
    min_severity: (),
}

impl FromFields for SaveContacts {
    fn read(fields: &mut Fields) -> Option<Self> {
        let rules = fields.optional_objects("rules", MAX_RULES, |fields| {
            let to = fields.parse("notifierid", |text| match text.trim() {
                ACCOUNT => Ok(ContactTarget::Account),
                // What is not an id is treated like an unknown one.
                text => Ok(ContactTarget::Notifier(
                    NotifierId::parse(text).unwrap_or(NotifierId::UNKNOWN),
                )),
            });
            let after = number(fields, "after", 0, MAX_AFTER).unwrap_or(0);
            let min_severity = fields.optional("min_severity", SeverityName::parse);
            let min_severity = min_severity.unwrap_or(SeverityName::Info);
            Some(ContactRule { to: to?, after, min_severity })
        });
        if rules.as_ref().is_some_and(Vec::is_empty) {
            fields.refuse("rules", "must not be empty");
        }
        Some(Self { rules: fields.require("rules", rules)? })
    }
}

/// How the caller is notified.
#[derive(Serialize, ToSchema)]
pub(crate) struct Contacts {
    success: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'static str,
    rules: Vec<ContactRuleBody>,
    /// Whether the calendar of the caller's shifts has a URL.
    feed: bool,
}

/// One way to notify the caller.
#[derive(Serialize, ToSchema)]
#[schema(as = ContactRule)]
pub(super) struct ContactRuleBody {
    /// The id of a notifier, or `account` for an email to the caller's address.
    notifierid: String,
    /// Seconds to wait.
    after: u32,
    #[schema(value_type = Severity)]
    min_severity: &'static str,
}

impl ContactRuleBody {
    pub(super) fn all(stored: StoredContacts) -> Vec<Self> {
        let rules = stored.rules.unwrap_or_else(|| vec![ContactRule::DEFAULT]);
        let of = |rule: ContactRule| Self {
            notifierid: match rule.to {
                ContactTarget::Account => ACCOUNT.to_owned(),
                ContactTarget::Notifier(id) => id.to_string(),
            },
            after: rule.after,
            min_severity: rule.min_severity.as_str(),
        };
        rules.into_iter().map(of).collect()
    }
}

impl Contacts {
    pub(crate) fn of(message: &'static str, stored: StoredContacts) -> Self {
        let feed = stored.has_feed;
        Self { success: true, message, rules: ContactRuleBody::all(stored), feed }
    }
}

/// The URL of a calendar.
#[derive(Serialize, ToSchema)]
pub(crate) struct FeedUrl {
    success: bool,
    message: &'static str,
    /// Shown only now. Everyone who has it can read the calendar.
    url: String,
}

impl FeedUrl {
    pub(crate) fn of(url: String) -> Self {
        Self { success: true, message: "Calendar created.", url }
    }
}
