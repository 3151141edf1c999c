//! The scope of an API key: what it may do at most, whatever its holder may.

use serde::{Deserialize, Serialize};

use super::permission::{Permission, Permissions};
use crate::{Invalid, named_enum};

named_enum! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Scope {
        /// Everything that its holder may do.
        #[default]
        Full = "full",
        Editor = "editor",
        Responder = "responder",
        Viewer = "viewer",
        /// Only reports, for a job that reports to its own monitor.
        Push = "push",
        /// Only the audit log, for a log collector.
        Audit = "audit",
    }
}

impl Scope {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let found = Self::ALL.iter().copied().find(|scope| scope.as_str() == text);
        found.ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|scope| scope.as_str())))
    }

    /// Whether a key with this scope can be limited to some monitors. With `full`, it could
    /// create another key without the limit.
    pub const fn may_have_filter(self) -> bool {
        matches!(self, Self::Editor | Self::Responder | Self::Viewer | Self::Push)
    }

    pub const fn permissions(self) -> Permissions {
        use Permission::{Edit, Known, Report, Respond, View};
        match self {
            Self::Full => Permissions::ALL,
            Self::Editor => Permissions::of(&[View, Report, Respond, Edit, Known]),
            Self::Responder => Permissions::of(&[View, Report, Respond, Known]),
            Self::Viewer => Permissions::of(&[View, Known]),
            Self::Push => Permissions::of(&[Report, Known]),
            Self::Audit => Permissions::of(&[Permission::Audit, Known]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_full_key_manages_accounts_people_and_payments() {
        for scope in Scope::ALL {
            let permissions = scope.permissions();
            assert!(permissions.contains(Permission::Known), "{scope:?}");
            for permission in [
                Permission::People,
                Permission::Bills,
                Permission::Pay,
                Permission::Own,
                Permission::Myself,
                Permission::Operate,
            ] {
                assert_eq!(permissions.contains(permission), *scope == Scope::Full, "{scope:?}");
            }
        }
    }

    #[test]
    fn names_are_the_same_in_text_and_in_json() {
        for scope in Scope::ALL {
            assert_eq!(Scope::parse(scope.as_str()), Ok(*scope));
            assert_eq!(serde_json::to_value(scope).unwrap(), scope.as_str());
        }
    }
}
