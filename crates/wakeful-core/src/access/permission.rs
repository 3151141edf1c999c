//! Permissions, sets of them, and a type for each, which operations name in their signatures.

use std::fmt;

/// Declares the permissions, and a type for each that stands for it in signatures.
macro_rules! permissions {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal),+ $(,)?) => {
        crate::named_enum! {
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub enum Permission {
                $($(#[doc = $doc])+ $name = $text),+
            }
        }

        impl Permission {
            /// What it allows: its comment here, for documents.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc),+).trim_start()),+
                }
            }
        }

        $(
            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}

            impl Need for $name {
                const PERMISSION: Permission = Permission::$name;
            }
        )+
    };
}

/// The permission that an operation needs, as a type.
pub trait Need: Send + Sync + 'static {
    const PERMISSION: Permission;
}

permissions! {
    /// See monitors, their history, alerts and live events, and notifiers without secrets.
    View = "view",
    /// Report a heartbeat.
    Report = "report",
    /// Check now, test a notifier, resend a delivery.
    Respond = "respond",
    /// Save and delete monitors and notifiers, and see their secrets.
    Edit = "edit",
    /// Add, change and remove the members of the team.
    People = "people",
    /// Read the audit log.
    Audit = "audit",
    /// See the plan, invoices, and the last digits of cards.
    Bills = "bills",
    /// Change the plan and cards.
    Pay = "pay",
    /// Manage owners, policies, streams of the audit log, and the team itself.
    Own = "own",
    /// Manage one's own account and see the members of the team.
    Myself = "myself",
    /// See who one is, and log out: every valid credential has it.
    Known = "known",
    /// Administer the installation.
    Operate = "operate",
}

impl Permission {
    /// Whether it is needed to change something in the team, and not only to read or to manage
    /// one's own account. A team that is suspended stays as it is.
    pub const fn changes_team(self) -> bool {
        match self {
            Self::Report | Self::Respond | Self::Edit | Self::People | Self::Pay | Self::Own => {
                true
            }
            Self::View | Self::Audit | Self::Bills | Self::Myself | Self::Known | Self::Operate => {
                false
            }
        }
    }
}

/// A set of permissions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Permissions(u16);

impl Permissions {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self((1 << Permission::ALL.len()) - 1);

    pub const fn of(list: &[Permission]) -> Self {
        let mut set = Self::NONE;
        let mut index = 0;
        while index < list.len() {
            set = set.with(list[index]);
            index += 1;
        }
        set
    }

    pub const fn with(self, permission: Permission) -> Self {
        Self(self.0 | bit(permission))
    }

    pub const fn without(self, permission: Permission) -> Self {
        Self(self.0 & !bit(permission))
    }

    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub const fn contains(self, permission: Permission) -> bool {
        self.0 & bit(permission) != 0
    }

    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.iter().copied().filter(move |permission| self.contains(*permission))
    }
}

const fn bit(permission: Permission) -> u16 {
    1 << permission as u16
}

impl fmt::Debug for Permissions {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_set().entries(self.iter().map(Permission::as_str)).finish()
    }
}
