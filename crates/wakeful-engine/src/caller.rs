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
//!
//! Dangerous operations take a `Reauthenticated`: the permission alone is not enough.
//!
//! ```compile_fail,E0308
//! use wakeful_core::access::permission;
//! use wakeful_engine::{Authorized, Engine};
//!
//! async fn remove(engine: &Engine, by: &Authorized<permission::Own>) {
//!     let _ = engine.remove_team(by, "Shop").await;
//! }
//! ```
//!
//! With a recent reauthentication, it compiles:
//!
//! ```
//! use wakeful_core::access::permission;
//! use wakeful_engine::{Authorized, Engine, Result};
//!
//! async fn remove(engine: &Engine, by: Authorized<permission::Own>) -> Result<()> {
//!     let by = engine.require_reauthentication(by)?;
//!     engine.remove_team(&by, "Shop").await
//! }
//! ```
//!
//! Only the engine creates a `Reauthenticated`:
//!
//! ```compile_fail,E0451
//! use wakeful_core::access::permission;
//! use wakeful_engine::{Authorized, Reauthenticated};
//!
//! fn forge(authorized: Authorized<permission::Own>) -> Reauthenticated<permission::Own> {
//!     Reauthenticated { authorized }
//! }
//! ```

use std::marker::PhantomData;
use std::ops::Deref;
use wakeful_core::access::{
    MfaPolicy, Need, Permission, Permissions, Role, Scope, TeamAccess, UserKind,
};
use wakeful_core::accounts::reauthentication::SessionMethod;
use wakeful_core::audit::{self, Actor, ActorKind, Reference};
use wakeful_core::id::{ApiKeyId, MonitorFilterId, NotifierId, SessionId, TeamId, UserId};
use wakeful_core::time::Millis;
use wakeful_store::{Account, AdminAuthority, AuditContext, Authority, Credential};

use crate::accounts::auth::Origin;
use crate::{Engine, Error, Result};

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
    /// Whether the caller administers the installation in this session.
    is_admin: bool,
    team_suspended: bool,
    /// Whether the request only reads, which a suspended team allows.
    reads: bool,
    /// Until when the session counts as fresh; `None` for API keys and their sessions.
    fresh_until: Option<Millis>,
    mfa_enabled: bool,
    email_verified: bool,
    team_name: String,
    /// The team requires a second factor, and the caller has none.
    lacks_factor: bool,
    /// The token is in the web app's cookie.
    by_cookie: bool,
    origin: Option<Origin>,
}

/// How a person can reauthenticate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub method: SessionMethod,
    /// Whether a second factor is needed too.
    pub mfacode: bool,
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
    /// Only for a person in a session of their own, never with an API key.
    pub(crate) is_admin: bool,
    pub(crate) team_suspended: bool,
    pub(crate) fresh_until: Option<Millis>,
    pub(crate) mfa_enabled: bool,
    pub(crate) email_verified: bool,
    pub(crate) team_name: String,
    /// The policy of the team.
    pub(crate) mfa: MfaPolicy,
}

/// What a person who lacks the second factor that the team requires may still do: set it up.
const WITHOUT_FACTOR: Permissions = Permissions::of(&[Permission::Myself, Permission::Known]);

impl Caller {
    /// Only for `auth.rs`, which has verified the credentials.
    #[expect(clippy::disallowed_methods, reason = "the only place that knows the caller's filter")]
    pub(crate) fn new(identity: Identity) -> Self {
        let Identity { kind, mfa_enabled, .. } = identity;
        let required = identity.mfa == MfaPolicy::Required && kind == UserKind::Person;
        Self {
            user: identity.user,
            team_access: TeamAccess::of_caller(identity.team, identity.filter),
            email: identity.email,
            name: identity.name,
            kind,
            role: identity.role,
            scope: identity.scope,
            via: identity.via,
            is_admin: identity.is_admin,
            team_suspended: identity.team_suspended,
            reads: false,
            fresh_until: identity.fresh_until,
            mfa_enabled,
            email_verified: identity.email_verified,
            team_name: identity.team_name,
            lacks_factor: required && !mfa_enabled,
            by_cookie: false,
            origin: None,
        }
    }

    /// The same caller for a request that only reads.
    #[must_use]
    pub fn for_reading(self) -> Self {
        Self { reads: true, ..self }
    }

    /// The same caller, whose token was in the web app's cookie.
    pub(crate) fn by_cookie(self) -> Self {
        Self { by_cookie: true, ..self }
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

    /// As given at sign-up, or by the team for a service account; may be empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the user has opened a link that was emailed to the address.
    pub fn email_verified(&self) -> bool {
        self.email_verified
    }

    /// Whether the user has a second factor.
    pub fn mfa_enabled(&self) -> bool {
        self.mfa_enabled
    }

    pub fn team_name(&self) -> &str {
        &self.team_name
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

    /// The only team that the caller can act in, with an API key or a session opened with one.
    pub(crate) fn team_of_key(&self) -> Option<TeamId> {
        self.fresh_until.is_none().then(|| self.team())
    }

    pub fn kind(&self) -> UserKind {
        self.kind
    }

    /// Whether an administrator of the installation has suspended the team.
    pub fn team_suspended(&self) -> bool {
        self.team_suspended
    }

    /// Whether the caller administers the installation in this session.
    pub fn is_admin(&self) -> bool {
        self.is_admin
    }

    /// Until when dangerous calls are allowed without another reauthentication. `None` for API
    /// keys and the sessions opened with them: these are never enough for such calls.
    pub fn reauthenticated_until(&self) -> Option<Millis> {
        self.fresh_until
    }

    /// Whether the caller has to set up a second factor before anything else in this team.
    pub fn must_set_up_mfa(&self) -> bool {
        self.lacks_factor
    }

    /// How the caller can reauthenticate. Not with an API key.
    pub fn ways_to_reauthenticate(&self) -> Result<Vec<Way>> {
        match self.fresh_until {
            Some(_) => Ok(vec![Way { method: SessionMethod::Password, mfacode: self.mfa_enabled }]),
            None => Err(Error::NotForKeys),
        }
    }

    /// The permissions that the role, the scope and the kind of user include; without a second
    /// factor that the team requires, only those that are needed to set it up. The administration
    /// of the installation comes with the account, whatever a team requires.
    pub fn permissions(&self) -> Permissions {
        let all = self.granted();
        let all = if self.lacks_factor { all.and(WITHOUT_FACTOR) } else { all };
        if self.is_admin { all.with(Permission::Operate) } else { all }
    }

    /// What the caller may do, whatever the team requires.
    fn granted(&self) -> Permissions {
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
            if self.team_suspended && !self.reads && permission.changes_team() {
                return Err(Error::TeamSuspended);
            }
            Ok(())
        } else if self.granted().contains(permission) {
            Err(Error::MfaSetupRequired)
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

    /// Checked again by the store before an administrator changes something.
    pub(crate) fn admin_authority(&self) -> AdminAuthority<'static> {
        AdminAuthority::Admin(self.authority())
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

/// What the audit log says about a job that has created its monitor with the ping key.
pub(crate) fn audit_of_ping_key(team: TeamId, now: Millis) -> AuditContext {
    let actor = Actor {
        kind: ActorKind::System,
        id: String::new(),
        name: String::new(),
        via: Reference { kind: "pingkey".into(), id: String::new() },
    };
    context(team, actor, None, now)
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

/// A caller who has a permission, and has recently entered their credentials where that is
/// required.
#[derive(Clone, Debug)]
pub struct Reauthenticated<N: Need> {
    authorized: Authorized<N>,
}

impl<N: Need> Deref for Reauthenticated<N> {
    type Target = Authorized<N>;

    fn deref(&self) -> &Authorized<N> {
        &self.authorized
    }
}

impl Engine {
    /// The caller, if the session is fresh; never with an API key.
    pub fn require_reauthentication<N: Need>(
        &self,
        authorized: Authorized<N>,
    ) -> Result<Reauthenticated<N>> {
        let ways = authorized.ways_to_reauthenticate()?;
        if authorized.fresh_until.is_some_and(|until| self.now() < until) {
            Ok(Reauthenticated { authorized })
        } else {
            Err(Error::ReauthenticationRequired(ways))
        }
    }

    /// The same for the calls of the reference, which programs make without further ado: only
    /// the sessions of the web app must be fresh.
    pub fn require_reauthentication_in_page<N: Need>(
        &self,
        authorized: Authorized<N>,
    ) -> Result<Reauthenticated<N>> {
        if authorized.by_cookie {
            self.require_reauthentication(authorized)
        } else {
            Ok(Reauthenticated { authorized })
        }
    }
}
