//! Authentication: by a password with a second factor, a bearer token, or an API key pair. A
//! wrong email and a wrong password take the same time and get the same response.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::time::Duration;
use wakeful_core::access::{Scope, UserKind, permission};
use wakeful_core::accounts::password;
use wakeful_core::accounts::reauthentication::SessionMethod;
use wakeful_core::audit::{Action, Object, ObjectKind};
use wakeful_core::email_address;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{ApiKeyId, MonitorFilterId, SessionId, TeamId, UserId};
use wakeful_core::one_line::one_line;
use wakeful_core::seal::Key;
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;
use wakeful_core::token::{Digest, Kind};
use wakeful_store::{Account, AuditContext, Credential, Membership, NewEntry, NewSession};

pub use wakeful_store::Session;

use crate::accounts::rate_limit::Limit;
use crate::accounts::signup::SignedIn;
use crate::caller::{Authorized, Caller, Identity, Via, audit_of_account};
use crate::{Engine, Error, Result, random};

/// How stale `last_used` may be: it is written once a minute, not with each request.
const TOUCH_INTERVAL: Duration = Duration::from_secs(60);
/// How much of the user agent is stored with a session.
const MAX_USER_AGENT_CHARS: usize = 200;

#[derive(Clone, Debug)]
pub struct Credentials {
    pub email: String,
    pub password: Secret,
    pub mfacode: Option<String>,
}

/// Whose credentials are verified: those of an address, at a login, or those of a caller who
/// enters them again.
#[derive(Clone, Copy)]
pub(super) enum Claimant<'a> {
    Address(&'a str),
    Caller(&'a Caller),
}

impl Claimant<'_> {
    fn email_key(self) -> String {
        email_address::key(match self {
            Self::Address(email) => email,
            Self::Caller(caller) => caller.email(),
        })
    }
}

/// Where a request comes from.
#[derive(Clone, Debug)]
pub struct Origin {
    pub address: IpAddr,
    /// The user agent of the client.
    pub agent: String,
    /// The id of the request.
    pub request: String,
}

impl Origin {
    /// As much of the user agent as is stored.
    pub(crate) fn short_agent(&self) -> String {
        one_line(&self.agent, MAX_USER_AGENT_CHARS)
    }
}

#[derive(Clone, Debug)]
pub struct KeyPair {
    pub apikey: Secret,
    pub enckey: Secret,
}

/// The data that is sealed with an Enc key.
#[derive(Serialize, Deserialize, PartialEq)]
pub(crate) struct ApiKeyIdentity {
    pub(crate) user: UserId,
    pub(crate) team: TeamId,
    // Keys of earlier versions have none of these.
    #[serde(default)]
    pub(crate) scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) filter: Option<MonitorFilterId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<i64>,
}

impl Engine {
    /// Logs a user in by email, password and, if enabled, a second factor.
    pub async fn log_in(&self, credentials: &Credentials, from: &Origin) -> Result<SignedIn> {
        let outcome = self.log_in_once(credentials, from).await;
        metrics::counter!("wakeful_logins_total", "result" => result_label(&outcome)).increment(1);
        let (account, token) = outcome?;
        if password::is_outdated(&account.password_hash) {
            self.rehash_password(&account, &credentials.password, from.address).await;
        }
        Ok(SignedIn { user: account.user, team: account.team, email: account.email, token })
    }

    async fn log_in_once(
        &self,
        credentials: &Credentials,
        from: &Origin,
    ) -> Result<(Account, Secret)> {
        let Credentials { email, password, mfacode } = credentials;
        let claimant = Claimant::Address(email);
        let mut account =
            self.verify_credentials(claimant, password, mfacode.as_deref(), from).await?;
        // The team that the session acts in.
        account.team = self.store().login_team(account.user).await?.unwrap_or(account.team);
        match self.open_session_of(&account, from).await {
            Err(Error::NotAuthenticated) => {}
            token => return Ok((account, token?)),
        }
        // The password was changed or the account deleted since it was verified,
        // or another login has rehashed the same password with the current parameters.
        let outdated = password::is_outdated(&account.password_hash);
        let current = self.store().account(account.user).await?;
        let current = current.filter(|now| outdated && now.mfa_enabled == account.mfa_enabled);
        if let Some(current) = current {
            let account = Account { team: account.team, ..current };
            let permit = self.0.hasher.acquire(from.address).await?;
            if permit.verify(&credentials.password, Some(&account.password_hash)).await {
                return match self.open_session_of(&account, from).await {
                    Err(Error::NotAuthenticated) => Err(Error::BadCredentials),
                    token => Ok((account, token?)),
                };
            }
        }
        Err(Error::BadCredentials)
    }

    /// Opens a session for an account whose password was verified.
    async fn open_session_of(&self, account: &Account, from: &Origin) -> Result<Secret> {
        let credential =
            Credential::Password { hash: &account.password_hash, mfa_enabled: account.mfa_enabled };
        let by = audit_of_account(account, from, self.now());
        self.open_session(account.user, account.team, credential, from, Some(&by)).await
    }

    /// Hashes a correct password with the current parameters. The login succeeds even if this
    /// fails; the next one tries again.
    async fn rehash_password(&self, account: &Account, password: &Secret, from: IpAddr) {
        let Ok(permit) = self.0.hasher.acquire(from).await else { return };
        let hash = permit.hash(password).await;
        if let Err(error) = self.store().rehash_password(account, &hash).await {
            tracing::warn!(error = %ErrorChain(&error), "rehashing a password failed, retrying at the next login");
        }
    }

    /// Verifies the password and, if enabled, the second factor. Failures are limited, and those
    /// of accounts that exist are recorded.
    pub(super) async fn verify_credentials(
        &self,
        claimant: Claimant<'_>,
        password: &Secret,
        mfacode: Option<&str>,
        from: &Origin,
    ) -> Result<Account> {
        let limits = &self.failed_login_limit(&claimant.email_key(), from.address);
        self.check_limit(limits).await?;
        let permit = self.0.hasher.acquire(from.address).await?;
        // Checked again with the permit: many concurrent attempts can pass the first check,
        // but only a few hold a permit at a time.
        self.check_limit(limits).await?;
        let account = match claimant {
            Claimant::Address(_) => self.store().account_by_email(&claimant.email_key()).await?,
            Claimant::Caller(caller) => self.store().account(caller.user()).await?,
        };
        let stored = account.as_ref().map(|account| account.password_hash.as_str());
        let correct = permit.verify(password, stored).await;
        let Some(account) = account else {
            return Err(self.record_failure(limits, Error::BadCredentials).await?);
        };
        if !correct {
            self.record_failed_login(claimant, &account, from);
            return Err(self.record_failure(limits, Error::BadCredentials).await?);
        }
        if account.mfa_enabled {
            let code = mfacode.ok_or(Error::MfaRequired)?;
            match self.consume_mfa_code(account.user, code).await {
                Err(Error::MfaInvalid) => {
                    self.record_failed_login(claimant, &account, from);
                    return Err(self.record_failure(limits, Error::MfaInvalid).await?);
                }
                other => other?,
            }
        }
        // Shown only to those who know the password.
        if account.suspended {
            return Err(Error::AccountSuspended);
        }
        Ok(account)
    }

    /// Records a wrong password or code for an account that exists, in the background: the
    /// response must not take longer than for one that does not.
    fn record_failed_login(&self, claimant: Claimant<'_>, account: &Account, from: &Origin) {
        let (by, action) = match claimant {
            Claimant::Address(_) => {
                (audit_of_account(account, from, self.now()), Action::LoginFailed)
            }
            Claimant::Caller(caller) => (self.audit(caller), Action::ReauthenticationFailed),
        };
        let person = Object::new(ObjectKind::Person, &account.user, &account.email);
        let entry = NewEntry::new(action, person, Vec::new());
        let (engine, account) = (self.clone(), account.clone());
        let limit = self.login_entry_limit(&account.user.to_string());
        self.0.tasks.spawn(async move {
            let written = match engine.count_attempt(&limit).await {
                Ok(()) => {
                    let user = account.user;
                    engine.store().write_entry_about(user, &by, &entry).await.map_err(Error::from)
                }
                Err(Error::Limited { .. }) => Ok(()),
                Err(error) => Err(error),
            };
            if let Err(error) = written {
                tracing::warn!(error = %ErrorChain(&error), "recording a failed login in the audit log failed");
            }
        });
    }

    /// Counts a failure and returns it, or the limit that concurrent attempts have exceeded.
    pub(crate) async fn record_failure(&self, limits: &[Limit], mut why: Error) -> Result<Error> {
        for limit in limits {
            match self.count_attempt(limit).await {
                Ok(()) => {}
                Err(limited @ Error::Limited { .. }) => why = limited,
                Err(error) => return Err(error),
            }
        }
        Ok(why)
    }

    /// What the audit log says about who makes a change now.
    pub(crate) fn audit(&self, caller: &Caller) -> AuditContext {
        caller.audit(self.now())
    }

    /// The caller behind a bearer token, in the team of the session or in another one of theirs.
    pub async fn caller_by_token(&self, token: &str, team: Option<TeamId>) -> Result<Caller> {
        if Kind::Bearer.decode(token).is_none() {
            return Err(Error::NotAuthenticated);
        }
        let found = self.store().session(Digest::of(token), team).await?;
        let session = found.ok_or(Error::NotAuthenticated)?;
        let now = self.now();
        if now.since(session.last_used) >= self.settings().session_idle
            || now.since(session.created) >= self.settings().session_max
            || is_expired(session.expires, now)
        {
            return Err(Error::NotAuthenticated);
        }
        if needs_touch(session.last_used, now) {
            self.store().touch_session(session.id, now).await?;
        }
        if session.key_team.is_some_and(|of_key| of_key != session.team) {
            return Err(Error::NotFound("team"));
        }
        if session.user_suspended {
            return Err(Error::AccountSuspended);
        }
        let member = active_member(session.membership, team)?;
        let own_session = session.key_team.is_none() && session.kind == UserKind::Person;
        if session.method == SessionMethod::Key {
            require_key_allowed(session.kind, &member)?;
        }
        Ok(Caller::new(Identity {
            user: session.user,
            team: session.team,
            filter: single_filter(member.filter, session.filter, session.scope)?,
            email: session.email,
            name: session.name,
            kind: session.kind,
            role: member.role,
            scope: session.scope,
            via: Via::Session(session.id),
            is_admin: session.is_admin && own_session,
            team_suspended: member.team_suspended,
            fresh_until: session.method.fresh_until(session.reauthenticated_at),
            mfa_enabled: session.mfa_enabled,
            email_verified: session.email_verified,
            team_name: member.team_name,
            mfa: member.mfa,
        }))
    }

    /// The same for the token in the web app's cookie.
    pub async fn caller_by_cookie(&self, token: &str, team: Option<TeamId>) -> Result<Caller> {
        Ok(self.caller_by_token(token, team).await?.by_cookie())
    }

    /// The caller behind an API key pair. The identity comes from the data that the Enc key
    /// opens, not from the row. A key acts in one team; asking for another one fails.
    pub async fn caller_by_keys(
        &self,
        pair: &KeyPair,
        from: IpAddr,
        team: Option<TeamId>,
    ) -> Result<Caller> {
        let enckey = Kind::EncKey.decode(pair.enckey.expose()).ok_or(Error::NotAuthenticated)?;
        let found = self.store().api_key(Digest::of(pair.apikey.expose())).await?;
        let found = found.ok_or(Error::NotAuthenticated)?;
        let opened = Key::new(enckey).open(&seal_context(found.id), &found.sealed_identity);
        let opened = opened.ok_or(Error::NotAuthenticated)?;
        let sealed_identity: ApiKeyIdentity =
            serde_json::from_slice(&opened).map_err(|_| Error::NotAuthenticated)?;
        let copied = ApiKeyIdentity {
            user: found.user,
            team: found.team,
            scope: found.scope,
            filter: found.filter,
            expires: found.expires.map(|at| at.0),
        };
        let now = self.now();
        if copied != sealed_identity || is_expired(found.expires, now) {
            return Err(Error::NotAuthenticated);
        }
        if found.last_used.is_none_or(|used| needs_touch(used, now)) {
            self.store().touch_api_key(found.id, from, now).await?;
        }
        if team.is_some_and(|team| team != sealed_identity.team) {
            return Err(Error::NotFound("team"));
        }
        if found.user_suspended {
            return Err(Error::AccountSuspended);
        }
        let member = active_member(found.membership, None)?;
        require_key_allowed(found.kind, &member)?;
        Ok(Caller::new(Identity {
            user: sealed_identity.user,
            team: sealed_identity.team,
            filter: single_filter(member.filter, sealed_identity.filter, sealed_identity.scope)?,
            email: found.email,
            name: found.name,
            kind: found.kind,
            role: member.role,
            scope: sealed_identity.scope,
            via: Via::ApiKey(found.id),
            is_admin: false,
            team_suspended: member.team_suspended,
            fresh_until: None,
            mfa_enabled: found.mfa_enabled,
            email_verified: found.email_verified,
            team_name: member.team_name,
            mfa: member.mfa,
        }))
    }

    /// Exchanges an API key pair for a token.
    pub async fn log_in_by_keys(&self, pair: &KeyPair, from: &Origin) -> Result<Secret> {
        let limits = self.failed_login_limit(pair.apikey.expose(), from.address);
        self.check_limit(&limits).await?;
        let opened = match self.caller_by_keys(pair, from.address, None).await {
            Ok(caller) => self.issue_token(&caller.authorize()?, from).await,
            Err(error) => Err(error),
        };
        match opened {
            Err(Error::NotAuthenticated) => {
                Err(self.record_failure(&limits, Error::BadCredentials).await?)
            }
            opened => opened,
        }
    }

    /// Issues a token to a caller with an API key pair; it is valid no longer than the key.
    pub async fn issue_token(
        &self,
        caller: &Authorized<permission::Known>,
        from: &Origin,
    ) -> Result<Secret> {
        let by = caller.audit(self.now());
        let (user, team) = (caller.user(), caller.team());
        // A program that never reuses its token must not push other entries out of the log.
        let by = match caller.via() {
            Via::ApiKey(key) => {
                match self.count_attempt(&self.login_entry_limit(&key.to_string())).await {
                    Err(Error::Limited { .. }) => None,
                    counted => counted.map(|()| Some(by))?,
                }
            }
            Via::Session(_) => Some(by),
        };
        self.open_session(user, team, caller.credential(), from, by.as_ref()).await
    }

    /// The caller's sessions, the last used one first.
    pub async fn sessions(&self, caller: &Authorized<permission::Myself>) -> Result<Vec<Session>> {
        let now = self.now();
        let (idle, created) =
            (now.before(self.settings().session_idle), now.before(self.settings().session_max));
        Ok(self.store().sessions(caller.user(), idle, created).await?)
    }

    /// Ends one of the caller's sessions, the current one or another.
    pub async fn end_session(
        &self,
        caller: &Authorized<permission::Myself>,
        session: SessionId,
    ) -> Result<()> {
        if self.store().end_session(caller.user(), session, &self.audit(caller)).await? {
            Ok(())
        } else {
            Err(Error::NotFound("session"))
        }
    }

    /// Ends the caller's current session. An API key has none.
    pub async fn log_out(&self, caller: &Authorized<permission::Known>) -> Result<()> {
        match caller.via() {
            Via::Session(session) => {
                self.store().end_session(caller.user(), session, &self.audit(caller)).await?;
            }
            Via::ApiKey(_) => {}
        }
        Ok(())
    }

    /// Ends all of the caller's sessions; API keys remain.
    pub async fn log_out_everywhere(&self, caller: &Authorized<permission::Myself>) -> Result<()> {
        Ok(self.store().end_sessions(caller.user(), &self.audit(caller)).await?)
    }

    async fn open_session(
        &self,
        user: UserId,
        team: TeamId,
        credential: Credential<'_>,
        from: &Origin,
        by: Option<&AuditContext>,
    ) -> Result<Secret> {
        let method = match credential {
            Credential::Password { .. } => SessionMethod::Password,
            Credential::ApiKey(_) | Credential::Session(_) => SessionMethod::Key,
        };
        let (token, session) = self.new_session(user, team, method, from);
        self.store().add_session(&session, credential, by, self.now()).await?;
        Ok(token)
    }

    pub(crate) fn new_session(
        &self,
        user: UserId,
        team: TeamId,
        method: SessionMethod,
        from: &Origin,
    ) -> (Secret, NewSession) {
        let token = Kind::Bearer.issue(random::bytes());
        let id = SessionId::new(self.now(), random::bytes());
        let session = NewSession {
            id,
            user,
            team,
            method,
            digest: Digest::of(token.expose()),
            address: from.address.to_string(),
            agent: from.short_agent(),
        };
        (token, session)
    }
}

/// A membership that is not suspended. A team that was asked for is unknown to those who are
/// not in it.
fn active_member(membership: Option<Membership>, asked: Option<TeamId>) -> Result<Membership> {
    match membership {
        None if asked.is_some() => Err(Error::NotFound("team")),
        None => Err(Error::NoTeam),
        Some(Membership { suspended: true, .. }) => Err(Error::Suspended),
        Some(member) => Ok(member),
    }
}

/// Fails for the API key of a person if only service accounts may have keys.
fn require_key_allowed(holder: UserKind, member: &Membership) -> Result<()> {
    match holder {
        UserKind::Person if !member.personal_keys => Err(Error::PersonalKeysOff),
        UserKind::Person | UserKind::Service => Ok(()),
    }
}

/// The filter of the member or of the API key. A statement applies one, so a key with its own
/// is refused once its holder has one, too.
fn single_filter(
    of_member: Option<MonitorFilterId>,
    of_key: Option<MonitorFilterId>,
    scope: Scope,
) -> Result<Option<MonitorFilterId>> {
    match (of_member, of_key) {
        (Some(_), Some(_)) => Err(Error::KeyScope(scope)),
        (of_member, of_key) => Ok(of_member.or(of_key)),
    }
}

fn is_expired(expires: Option<Millis>, now: Millis) -> bool {
    expires.is_some_and(|at| at <= now)
}

pub(crate) fn seal_context(id: ApiKeyId) -> String {
    format!("api_keys.stands_for:{id}")
}

fn needs_touch(used: Millis, now: Millis) -> bool {
    now.since(used) >= TOUCH_INTERVAL
}

fn result_label<T>(outcome: &Result<T>) -> &'static str {
    match outcome {
        Ok(_) => "ok",
        Err(Error::BadCredentials) => "bad_credentials",
        Err(Error::MfaRequired) => "mfa_required",
        Err(Error::MfaInvalid) => "mfa_invalid",
        Err(Error::Limited { .. }) => "limited",
        Err(_) => "error",
    }
}
