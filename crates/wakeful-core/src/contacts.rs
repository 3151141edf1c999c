//! Contact rules: how a user is notified, in which order and after which delay.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::audit::View;
use crate::id::NotifierId;
use crate::severity::Severity;

/// The most rules of a user.
pub const MAX_RULES: usize = 20;
/// The longest delay, in seconds.
pub const MAX_AFTER: u32 = 86_400;

/// One way to notify a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContactRule {
    pub to: ContactTarget,
    /// Seconds after the user was notified first.
    #[serde(default)]
    pub after: u32,
    /// Only for alerts that are at least this urgent.
    #[serde(default = "lowest")]
    pub min_severity: Severity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContactTarget {
    /// By email to the address of the account.
    Account,
    Notifier(NotifierId),
}

fn lowest() -> Severity {
    Severity::Info
}

impl ContactRule {
    /// The rule of a user without rules.
    pub const DEFAULT: Self =
        Self { to: ContactTarget::Account, after: 0, min_severity: Severity::Info };
}

/// The rules of a user, for the audit log.
pub fn view(rules: Option<&[ContactRule]>) -> View {
    let shown = |rule: &ContactRule| {
        let notifier = match rule.to {
            ContactTarget::Account => "account".to_owned(),
            ContactTarget::Notifier(id) => id.to_string(),
        };
        json!({"notifierid": notifier, "after": rule.after, "min_severity": rule.min_severity})
    };
    let rules = rules.unwrap_or(&[ContactRule::DEFAULT]);
    View::default().with("rules", rules.iter().map(shown).collect::<Vec<Value>>())
}

/// The rules that apply to an alert; a user without rules gets an email.
pub fn applicable(rules: Option<&[ContactRule]>, severity: Severity) -> Vec<ContactRule> {
    let rules = rules.unwrap_or(&[ContactRule::DEFAULT]);
    rules.iter().copied().filter(|rule| severity >= rule.min_severity).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Millis;

    #[test]
    fn a_rule_applies_from_its_severity_on() {
        let notifier = ContactTarget::Notifier(NotifierId::new(Millis(0), [1; 10]));
        let rules = [
            ContactRule::DEFAULT,
            ContactRule { to: notifier, after: 300, min_severity: Severity::Critical },
        ];
        assert_eq!(applicable(Some(&rules), Severity::Warning), rules[..1]);
        assert_eq!(applicable(Some(&rules), Severity::Critical), rules);
        assert_eq!(applicable(None, Severity::Info), [ContactRule::DEFAULT]);
    }

    #[test]
    fn a_rule_is_stored_and_read_again() {
        for rule in [
            ContactRule::DEFAULT,
            ContactRule {
                to: ContactTarget::Notifier(NotifierId::new(Millis(0), [1; 10])),
                after: 60,
                min_severity: Severity::Warning,
            },
        ] {
            let text = serde_json::to_string(&rule).expect("plain data");
            assert_eq!(serde_json::from_str::<ContactRule>(&text).expect("readable"), rule);
        }
    }
}
