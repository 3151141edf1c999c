//! What a team demands of its members, beyond their roles.

use crate::{Invalid, named_enum};

use super::expiry::MAX_DAYS;

named_enum! {
    /// Whether the people in a team need a second factor.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum MfaPolicy {
        #[default]
        Optional = "optional",
        Required = "required",
    }
}

impl MfaPolicy {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let found = Self::ALL.iter().copied().find(|policy| policy.as_str() == text);
        found.ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|policy| policy.as_str())))
    }
}

/// After how many days a team's new API keys expire at the latest; without a number, they need
/// not expire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyDays(Option<u32>);

impl KeyDays {
    /// 0 means no limit.
    pub fn new(days: u64) -> Result<Self, Invalid> {
        match u32::try_from(days) {
            Ok(0) => Ok(Self(None)),
            Ok(days) if days <= MAX_DAYS => Ok(Self(Some(days))),
            _ => Err(Invalid::new(format!(
                "must be a number of days from 1 to {MAX_DAYS}, or 0 for no limit"
            ))),
        }
    }

    pub fn limit(self) -> Option<u32> {
        self.0
    }

    /// As in the API and the database.
    pub fn number(self) -> u32 {
        self.0.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_days_are_no_limit() {
        assert_eq!(KeyDays::new(0).map(KeyDays::limit), Ok(None));
        assert_eq!(KeyDays::new(90).map(KeyDays::limit), Ok(Some(90)));
        assert_eq!(KeyDays::new(3_650).map(KeyDays::number), Ok(3_650));
        for days in [3_651, u64::from(u32::MAX), u64::MAX] {
            assert!(KeyDays::new(days).is_err(), "{days}");
        }
    }

    #[test]
    fn every_policy_is_read_by_its_name() {
        for policy in MfaPolicy::ALL {
            assert_eq!(MfaPolicy::parse(policy.as_str()), Ok(*policy));
        }
        assert!(MfaPolicy::parse("").is_err());
    }
}
