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
use wakeful_core::audit::{self, Actor, ActorKind, Reference};
use wakeful_core::id::{ApiKeyId, MonitorFilterId, NotifierId, SessionId, TeamId, UserId};
use wakeful_core::time::Millis;
use wakeful_store::{Account, AuditContext, Authority, Credential};

use crate::accounts::auth::Origin;
use crate::{Error, Result};

#[derive(Clone, Debug)]
pub struct Caller {
    user: UserId,
    team_access: TeamAccess,
    email: String,
    name: String,
    kind: UserKind,
    role: Role,
    scope: Scope,
    via: Via,
    origin: Option<Origin>,
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
    pub(crate) name: String,
    pub(crate) kind: UserKind,
    pub(crate) role: Role,
    pub(crate) scope: Scope,
    pub(crate) via: Via,
}

impl Caller {
    /// Only for `auth.rs`, which has verified the credentials.
    #[expect(clippy::disallowed_methods, reason = "the only place that knows the caller's filter")]
    pub(crate) fn new(identity: Identity) -> Self {
        let Identity { user, team, filter, email, name, kind, role, scope, via } = identity;
        let team_access = TeamAccess::of_caller(team, filter);
        Self { user, team_access, email, name, kind, role, scope, via, origin: None }
    }

    /// The same caller with where the request came from, for the audit log.
    #[must_use]
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin: Some(origin), ..self }
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

    /// The name or, without one, the address.
    pub(crate) fn display_name(&self) -> &str {
        if self.name.is_empty() { &self.email } else { &self.name }
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

    /// What the audit log says about who makes a change.
    pub(crate) fn audit(&self, now: Millis) -> AuditContext {
        let (kind, name) = match self.kind {
            UserKind::Person => (ActorKind::Person, &self.email),
            UserKind::Service => (ActorKind::Service, &self.name),
        };
        let via = match self.via {
            Via::Session(id) => Reference { kind: "session".into(), id: id.to_string() },
            Via::ApiKey(id) => Reference { kind: "key".into(), id: id.to_string() },
        };
        let actor = Actor { kind, id: self.user.to_string(), name: name.clone(), via };
        context(self.team(), actor, self.origin.as_ref(), now)
    }

    /// Checked again by the store before it changes the credentials of others.
    pub(crate) fn authority(&self) -> Authority<'static> {
        Authority { user: self.user, team: self.team(), credential: self.credential() }
    }

    /// Checked again by the store before it writes a credential for the caller.
    pub(crate) fn credential(&self) -> Credential<'static> {
        match self.via {
            Via::Session(id) => Credential::Session(id),
            Via::ApiKey(id) => Credential::ApiKey(id),
        }
    }
}

/// What the audit log says about an account that has no session yet.
pub(crate) fn audit_of_account(account: &Account, from: &Origin, now: Millis) -> AuditContext {
    audit_of_person(account.team, account.user, &account.email, from, now)
}

pub(crate) fn audit_of_person(
    team: TeamId,
    user: UserId,
    email: &str,
    from: &Origin,
    now: Millis,
) -> AuditContext {
    let actor = Actor {
        kind: ActorKind::Person,
        id: user.to_string(),
        name: email.to_owned(),
        via: Reference::default(),
    };
    context(team, actor, Some(from), now)
}

/// What the audit log says about a reader of a notifier's channel who used an action link.
pub(crate) fn audit_of_link(
    team: TeamId,
    notifier: NotifierId,
    name: &str,
    from: Option<&Origin>,
    now: Millis,
) -> AuditContext {
    let actor = Actor {
        kind: ActorKind::System,
        id: notifier.to_string(),
        name: name.to_owned(),
        via: Reference { kind: "link".into(), id: notifier.to_string() },
    };
    context(team, actor, from, now)
}

/// What the audit log says about the operator at the command line.
pub(crate) fn audit_of_operator(team: TeamId, now: Millis) -> AuditContext {
    let actor = Actor {
        kind: ActorKind::Operator,
        id: String::new(),
        name: String::new(),
        via: Reference::default(),
    };
    context(team, actor, None, now)
}

#[expect(clippy::disallowed_methods, reason = "the only place that knows who makes a change")]
fn context(team: TeamId, actor: Actor, from: Option<&Origin>, now: Millis) -> AuditContext {
    let origin = from.map_or_else(audit::Origin::default, |from| audit::Origin {
        address: from.address.to_string(),
        agent: from.short_agent(),
        request: from.request.clone(),
    });
    AuditContext::new(team, actor, origin, now)
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
