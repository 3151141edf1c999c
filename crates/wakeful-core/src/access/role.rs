//! The role of a member in a team. A membership has exactly one.

use super::permission::{Permission, Permissions};
use crate::{Invalid, named_enum};

named_enum! {
    /// From the highest to the lowest; `billing` is outside this order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Role {
        Owner = "owner",
        Admin = "admin",
        Editor = "editor",
        Responder = "responder",
        Viewer = "viewer",
        Billing = "billing",
    }
}

impl Role {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        Self::parse_if(text, |_| true)
    }

    /// A role that a service account can have.
    pub fn parse_for_service(text: &str) -> Result<Self, Invalid> {
        Self::parse_if(text, Self::may_be_service)
    }

    fn parse_if(text: &str, allowed: fn(Self) -> bool) -> Result<Self, Invalid> {
        let allowed = || Self::ALL.iter().copied().filter(|role| allowed(*role));
        let found = allowed().find(|role| role.as_str() == text);
        found.ok_or_else(|| Invalid::one_of(allowed().map(Self::as_str)))
    }

    /// Whether a member with this role can be limited to some monitors.
    pub const fn may_have_filter(self) -> bool {
        matches!(self, Self::Responder | Self::Viewer)
    }

    /// Whether a service account can have this role.
    pub const fn may_be_service(self) -> bool {
        matches!(self, Self::Admin | Self::Editor | Self::Responder | Self::Viewer)
    }

    pub const fn permissions(self) -> Permissions {
        use Permission::{Bills, Edit, Known, Myself, Operate, Pay, Report, Respond, View};
        match self {
            // The installation is administered by a person, not by a role.
            Self::Owner => Permissions::ALL.without(Operate),
            Self::Admin => Self::Owner.permissions().without(Pay).without(Permission::Own),
            Self::Editor => Permissions::of(&[View, Report, Respond, Edit, Myself, Known]),
            Self::Responder => Permissions::of(&[View, Report, Respond, Myself, Known]),
            Self::Viewer => Permissions::of(&[View, Myself, Known]),
            Self::Billing => Permissions::of(&[Bills, Pay, Myself, Known]),
        }
    }

    /// Whether a member with this role may give, take or change the other role.
    pub fn may_assign(self, other: Self) -> bool {
        let (own, wanted) = (self.permissions(), other.permissions());
        own.contains(Permission::Own)
            || (own.contains(Permission::People) && own.and(wanted) == wanted)
    }

    /// The roles that have a permission, for error messages.
    pub fn with(permission: Permission) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |role| role.permissions().contains(permission))
    }

    /// The lower of this role and the caller's own: a caller cannot give more than they have.
    #[must_use]
    pub fn at_most(self, own: Self) -> Self {
        if own.may_assign(self) { self } else { own }
    }
}

#[cfg(test)]
mod tests {
    use super::Role::{Admin, Billing, Editor, Owner, Responder, Viewer};
    use super::*;

    #[test]
    fn roles_have_the_permissions_of_the_table() {
        let table = [
            (Permission::View, &[Owner, Admin, Editor, Responder, Viewer][..]),
            (Permission::Report, &[Owner, Admin, Editor, Responder]),
            (Permission::Respond, &[Owner, Admin, Editor, Responder]),
            (Permission::Edit, &[Owner, Admin, Editor]),
            (Permission::People, &[Owner, Admin]),
            (Permission::Audit, &[Owner, Admin]),
            (Permission::Bills, &[Owner, Admin, Billing]),
            (Permission::Pay, &[Owner, Billing]),
            (Permission::Own, &[Owner]),
            (Permission::Myself, Role::ALL),
            (Permission::Known, Role::ALL),
            (Permission::Operate, &[]),
        ];
        assert_eq!(table.len(), Permission::ALL.len());
        for (permission, roles) in table {
            assert_eq!(Role::with(permission).collect::<Vec<_>>(), roles, "{permission:?}");
        }
    }

    #[test]
    fn nobody_assigns_a_role_above_their_own() {
        for role in Role::ALL {
            assert!(Owner.may_assign(*role), "{role:?}");
            assert!(!Editor.may_assign(*role) && !Viewer.may_assign(*role), "{role:?}");
            assert!(!Billing.may_assign(*role) && !Responder.may_assign(*role), "{role:?}");
        }
        let by_admin: Vec<Role> =
            Role::ALL.iter().copied().filter(|role| Admin.may_assign(*role)).collect();
        // `billing` may pay, which an admin may not.
        assert_eq!(by_admin, [Admin, Editor, Responder, Viewer]);
        assert_eq!(Owner.at_most(Admin), Admin);
        assert_eq!(Viewer.at_most(Admin), Viewer);
    }

    #[test]
    fn names_are_read_back() {
        for role in Role::ALL {
            assert_eq!(Role::parse(role.as_str()), Ok(*role));
        }
        assert_eq!(Role::parse_for_service("admin"), Ok(Admin));
        assert_eq!(
            Role::parse_for_service("owner").unwrap_err().to_string(),
            "must be one of admin, editor, responder, viewer"
        );
        let error = Role::parse("Owner").unwrap_err();
        assert_eq!(
            error.to_string(),
            "must be one of owner, admin, editor, responder, viewer, billing"
        );
    }
}
