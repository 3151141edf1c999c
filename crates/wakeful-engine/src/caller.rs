//! The authenticated caller and what they may do. Operations on a team's data take an
//! `Authorized` with the permission they need, so none can be reached without it.
//!
//! A handler that may only view cannot delete:
//!
//! ```compile_fail,E0308
//! use wakeful_core::access::permission;
//! use wakeful_core::id::MonitorId;
//! use wakeful_engine::{Authorized, Engine};
//!
//! async fn delete(engine: &Engine, by: &Authorized<permission::View>, id: MonitorId) {
//!     let _ = engine.delete_monitor(by, id).await;
//! }
//! ```
//!
//! With the permission of the operation, it compiles:
//!
//! ```
//! use wakeful_core::access::permission;
//! use wakeful_core::id::MonitorId;
//! use wakeful_engine::{Authorized, Engine};
//!
//! async fn delete(engine: &Engine, by: &Authorized<permission::Edit>, id: MonitorId) {
//!     let _ = engine.delete_monitor(by, id).await;
//! }
//! ```
//!
//! Only the engine creates an `Authorized`:
//!
//! ```compile_fail,E0451
//! use std::marker::PhantomData;
//! use wakeful_core::access::permission;
//! use wakeful_engine::{Authorized, Caller};
//!
//! fn forge(caller: Caller) -> Authorized<permission::Edit> {
//!     Authorized { caller, need: PhantomData }
//! }
//! ```

use std::marker::PhantomData;
use std::ops::Deref;
use wakeful_core::access::{Need, Permission, Permissions, Role, Scope, TeamAccess, UserKind};
use wakeful_core::id::{ApiKeyId, MonitorFilterId, SessionId, TeamId, UserId};
use wakeful_store::{Authority, Credential};

use crate::{Error, Result};

#[derive(Clone, Debug)]
pub struct Caller {
    user: UserId,
    team_access: TeamAccess,
    email: String,
    kind: UserKind,
    role: Role,
    scope: Scope,
    via: Via,
}

/// How the caller authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Via {
    Session(SessionId),
    ApiKey(ApiKeyId),
}

/// The identity behind valid credentials, for `Caller::new`.
pub(crate) struct Identity {
    pub(crate) user: UserId,
    pub(crate) team: TeamId,
    /// The monitors that the member or the API key is limited to.
    pub(crate) filter: Option<MonitorFilterId>,
    pub(crate) email: String,
    pub(crate) kind: UserKind,
    pub(crate) role: Role,
    pub(crate) scope: Scope,
    pub(crate) via: Via,
}

impl Caller {
    /// Only for `auth.rs`, which has verified the credentials.
    #[expect(clippy::disallowed_methods, reason = "the only place that knows the caller's filter")]
    pub(crate) fn new(identity: Identity) -> Self {
        let Identity { user, team, filter, email, kind, role, scope, via } = identity;
        let team_access = TeamAccess::of_caller(team, filter);
        Self { user, team_access, email, kind, role, scope, via }
    }

    pub fn user(&self) -> UserId {
        self.user
    }

    pub fn team(&self) -> TeamId {
        self.team_access.team()
    }

    /// What the caller can access in the team.
    pub fn team_access(&self) -> &TeamAccess {
        &self.team_access
    }

    pub fn email(&self) -> &str {
        &self.email
    }

    pub fn role(&self) -> Role {
        self.role
    }

    /// The scope of the API key; `full` for a session.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    pub fn via(&self) -> Via {
        self.via
    }

    pub fn kind(&self) -> UserKind {
        self.kind
    }

    /// The permissions that the role, the scope and the kind of user include.
    pub fn permissions(&self) -> Permissions {
        self.of_holder().and(self.scope.permissions())
    }

    /// What the user may do, whatever the scope of the key.
    fn of_holder(&self) -> Permissions {
        self.role.permissions().and(self.kind.permissions())
    }

    pub fn may(&self, permission: Permission) -> bool {
        self.permissions().contains(permission)
    }

    /// The caller with proof of a permission, or why they do not have it.
    pub fn authorize<N: Need>(self) -> Result<Authorized<N>> {
        self.require(N::PERMISSION)?;
        Ok(Authorized { caller: self, need: PhantomData })
    }

    /// Why the caller does not have a permission, unless they do.
    pub fn require(&self, permission: Permission) -> Result<()> {
        if self.may(permission) {
            Ok(())
        } else if self.of_holder().contains(permission) {
            Err(Error::KeyScope(self.scope))
        } else if self.role.permissions().contains(permission) {
            Err(Error::NotForServices)
        } else {
            Err(Error::Forbidden(permission))
        }
    }

    /// Checked again by the store before it changes the credentials of others.
    pub(crate) fn authority(&self) -> Authority<'static> {
        Authority { user: self.user, credential: self.credential() }
    }

    /// Checked again by the store before it writes a credential for the caller.
    pub(crate) fn credential(&self) -> Credential<'static> {
        match self.via {
            Via::Session(id) => Credential::Session(id),
            Via::ApiKey(id) => Credential::ApiKey(id),
        }
    }
}

/// A caller who has a permission.
#[derive(Clone, Debug)]
pub struct Authorized<N: Need> {
    caller: Caller,
    need: PhantomData<N>,
}

impl<N: Need> Authorized<N> {
    /// The same caller with proof of another permission.
    pub fn authorize<Other: Need>(self) -> Result<Authorized<Other>> {
        self.caller.authorize()
    }
}

impl<N: Need> Deref for Authorized<N> {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.caller
    }
}
