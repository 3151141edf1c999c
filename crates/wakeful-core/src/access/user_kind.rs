//! Whether a user is a person or a service account.

use super::permission::{Permission, Permissions};
use crate::{Invalid, named_enum};

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum UserKind {
        Person = "person",
        /// For programs: it has API keys, but no password, no email and no sessions of its own.
        Service = "service",
    }
}

impl UserKind {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let found = Self::ALL.iter().copied().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|kind| kind.as_str())))
    }

    /// What a user of this kind may do at most, whatever the role.
    pub const fn permissions(self) -> Permissions {
        match self {
            Self::Person => Permissions::ALL,
            Self::Service => Permissions::ALL.without(Permission::Myself),
        }
    }
}
