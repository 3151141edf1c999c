//! Proving who calls: a password with a second factor, a Bearer Token, or an
//! API key pair. A wrong email and a wrong password cost the same time and get
//! the same answer.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::time::Duration;
use wakeful_core::chain::Chain;
use wakeful_core::email;
use wakeful_core::id::{ApiKeyId, SessionId, TeamId, UserId};
use wakeful_core::password;
use wakeful_core::seal::Key;
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;
use wakeful_core::token::{Digest, Kind};
use wakeful_store::{Account, Credential, NewSession, Session};

use crate::accounts::SignedIn;
use crate::attempts::Limit;
use crate::caller::{Caller, Via};
use crate::{Engine, Error, Result, random};

/// How stale `last_used` may be: a write a minute, not one a request.
const TOUCH_EVERY: Duration = Duration::from_secs(60);
/// How much of a client's name is kept with its session.
const LONGEST_AGENT: usize = 200;

#[derive(Clone, Debug)]
pub struct Credentials {
    pub email: String,
    pub password: Secret,
    pub mfacode: Option<String>,
}

/// Where a login comes from.
#[derive(Clone, Debug)]
pub struct Origin {
    pub address: IpAddr,
    /// What the client calls itself.
    pub agent: String,
}

#[derive(Clone, Debug)]
pub struct KeyPair {
    pub apikey: Secret,
    pub enckey: Secret,
}

/// What is sealed under an Enc key.
#[derive(Serialize, Deserialize)]
pub(crate) struct StandsFor {
    pub(crate) user: UserId,
    pub(crate) team: TeamId,
    pub(crate) scope: Scope,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    /// All that the user may do.
    Full,
}

impl Engine {
    /// Lets a user in by email, password and, where it is on, a second factor.
    pub async fn log_in(&self, credentials: &Credentials, from: &Origin) -> Result<SignedIn> {
        let outcome = self.log_in_once(credentials, from).await;
        metrics::counter!("wakeful_logins_total", "result" => result_label(&outcome)).increment(1);
        let (account, token) = outcome?;
        if password::is_outdated(&account.password_hash) {
            self.hash_anew(&account, &credentials.password, from.address).await;
        }
        Ok(SignedIn { user: account.user, team: account.team, email: account.email, token })
    }

    async fn log_in_once(
        &self,
        credentials: &Credentials,
        from: &Origin,
    ) -> Result<(Account, Secret)> {
        let limits = self.failed_logins(&email::key(&credentials.email), from.address);
        let account = self.prove(credentials, &limits, from.address).await?;
        match self.open_session_of(&account, from).await {
            Err(Error::NotAuthenticated) => {}
            token => return Ok((account, token?)),
        }
        // The password was changed or the account deleted since it was verified,
        // or another login has stored the same password under today's parameters.
        let outdated = password::is_outdated(&account.password_hash);
        let current = self.store().account(account.user).await?;
        let current = current.filter(|now| outdated && now.mfa_enabled == account.mfa_enabled);
        if let Some(account) = current {
            let turn = self.0.hasher.turn(from.address).await?;
            if turn.verify(&credentials.password, Some(&account.password_hash)).await {
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
        self.open_session(account.user, credential, from).await
    }

    /// Stores a right password under today's parameters. Who logs in is let in
    /// whether or not that works: the next time will do.
    async fn hash_anew(&self, account: &Account, password: &Secret, from: IpAddr) {
        let Ok(turn) = self.0.hasher.turn(from).await else { return };
        let hash = turn.hash(password).await;
        if let Err(error) = self.store().renew_hash(account, &hash).await {
            tracing::warn!(error = %Chain(&error), "a password is hashed anew at the next login");
        }
    }

    async fn prove(
        &self,
        credentials: &Credentials,
        limits: &[Limit],
        from: IpAddr,
    ) -> Result<Account> {
        self.allow(limits).await?;
        let turn = self.0.hasher.turn(from).await?;
        // Asked again with the turn in hand: many who try at once pass the
        // first question together, but only a few are here at any time.
        self.allow(limits).await?;
        let account = self.store().account_by_email(&email::key(&credentials.email)).await?;
        let stored = account.as_ref().map(|account| account.password_hash.as_str());
        let right = turn.verify(&credentials.password, stored).await;
        let Some(account) = account.filter(|_| right) else {
            return Err(self.failed(limits, Error::BadCredentials).await?);
        };
        if account.mfa_enabled {
            let code = credentials.mfacode.as_deref().ok_or(Error::MfaRequired)?;
            match self.use_code(account.user, code).await {
                Err(Error::MfaInvalid) => {
                    return Err(self.failed(limits, Error::MfaInvalid).await?);
                }
                other => other?,
            }
        }
        Ok(account)
    }

    /// Counts a failure and gives it back as the answer.
    pub(crate) async fn failed(&self, limits: &[Limit], why: Error) -> Result<Error> {
        for limit in limits {
            match self.count(limit).await {
                Ok(()) | Err(Error::Limited { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(why)
    }

    /// Whether this is the password of a user who is already let in.
    pub(crate) async fn prove_password(
        &self,
        caller: &Caller,
        password: &Secret,
        from: IpAddr,
    ) -> Result<()> {
        let limits = self.failed_logins(&email::key(&caller.email), from);
        self.allow(&limits).await?;
        let turn = self.0.hasher.turn(from).await?;
        self.allow(&limits).await?;
        let account = self.store().account(caller.user).await?;
        let stored = account.as_ref().map(|account| account.password_hash.as_str());
        if turn.verify(password, stored).await {
            return Ok(());
        }
        Err(self.failed(&limits, Error::BadCredentials).await?)
    }

    /// The caller behind a Bearer Token.
    pub async fn caller_by_token(&self, token: &str) -> Result<Caller> {
        if Kind::Bearer.decode(token).is_none() {
            return Err(Error::NotAuthenticated);
        }
        let found = self.store().session(Digest::of(token)).await?;
        let session = found.ok_or(Error::NotAuthenticated)?;
        let now = self.now();
        if now.since(session.last_used) >= self.settings().session_idle
            || now.since(session.created) >= self.settings().session_max
        {
            return Err(Error::NotAuthenticated);
        }
        if stale(session.last_used, now) {
            self.store().touch_session(session.id, now).await?;
        }
        Ok(Caller {
            user: session.user,
            team: session.team,
            email: session.email,
            via: Via::Session(session.id),
        })
    }

    /// The caller behind an API key pair. Who it is comes out of what opens
    /// under the Enc key, not out of the row.
    pub async fn caller_by_keys(&self, pair: &KeyPair) -> Result<Caller> {
        let enckey = Kind::EncKey.decode(pair.enckey.expose()).ok_or(Error::NotAuthenticated)?;
        let found = self.store().api_key(Digest::of(pair.apikey.expose())).await?;
        let found = found.ok_or(Error::NotAuthenticated)?;
        let opened = Key::new(enckey).open(&context(found.id), &found.stands_for);
        let opened = opened.ok_or(Error::NotAuthenticated)?;
        let stands_for: StandsFor =
            serde_json::from_slice(&opened).map_err(|_| Error::NotAuthenticated)?;
        if stands_for.user != found.user || stands_for.team != found.team {
            return Err(Error::NotAuthenticated);
        }
        let now = self.now();
        if found.last_used.is_none_or(|used| stale(used, now)) {
            self.store().touch_api_key(found.id, now).await?;
        }
        Ok(Caller {
            user: stands_for.user,
            team: stands_for.team,
            email: found.email,
            via: Via::ApiKey(found.id),
        })
    }

    /// Trades an API key pair given in a body for a token.
    pub async fn log_in_by_keys(&self, pair: &KeyPair, from: &Origin) -> Result<Secret> {
        let limits = self.failed_logins(pair.apikey.expose(), from.address);
        self.allow(&limits).await?;
        let opened = match self.caller_by_keys(pair).await {
            Ok(caller) => self.issue_token(&caller, from).await,
            Err(error) => Err(error),
        };
        match opened {
            Err(Error::NotAuthenticated) => {
                Err(self.failed(&limits, Error::BadCredentials).await?)
            }
            opened => opened,
        }
    }

    /// Issues a token to a caller who came with an API key pair; it ends with the key.
    pub async fn issue_token(&self, caller: &Caller, from: &Origin) -> Result<Secret> {
        self.open_session(caller.user, caller.credential(), from).await
    }

    /// The caller's sessions, the one used last first.
    pub async fn sessions(&self, caller: &Caller) -> Result<Vec<Session>> {
        let now = self.now();
        let (idle, made) =
            (now.before(self.settings().session_idle), now.before(self.settings().session_max));
        Ok(self.store().sessions(caller.user, idle, made).await?)
    }

    /// Ends one of the caller's sessions, this one or another.
    pub async fn end_session(&self, caller: &Caller, session: SessionId) -> Result<()> {
        match self.store().end_session(caller.user, session).await? {
            true => Ok(()),
            false => Err(Error::NotFound("session")),
        }
    }

    /// Ends the session that the caller came with. An API key has none.
    pub async fn log_out(&self, caller: &Caller) -> Result<()> {
        match caller.via {
            Via::Session(session) => {
                self.store().end_session(caller.user, session).await?;
            }
            Via::ApiKey(_) => {}
        }
        Ok(())
    }

    /// Ends all of the caller's sessions; API keys stay.
    pub async fn log_out_everywhere(&self, caller: &Caller) -> Result<()> {
        Ok(self.store().end_sessions(caller.user).await?)
    }

    async fn open_session(
        &self,
        user: UserId,
        credential: Credential<'_>,
        from: &Origin,
    ) -> Result<Secret> {
        let (token, session) = self.new_session(user, from);
        self.store().add_session(&session, credential, self.now()).await?;
        Ok(token)
    }

    pub(crate) fn new_session(&self, user: UserId, from: &Origin) -> (Secret, NewSession) {
        let token = Kind::Bearer.issue(random::bytes());
        let id = SessionId::new(self.now(), random::bytes());
        let session = NewSession {
            id,
            user,
            digest: Digest::of(token.expose()),
            address: from.address.to_string(),
            agent: from.agent.chars().filter(|c| !c.is_control()).take(LONGEST_AGENT).collect(),
        };
        (token, session)
    }
}

pub(crate) fn context(id: ApiKeyId) -> String {
    format!("api_keys.stands_for:{id}")
}

fn stale(used: Millis, now: Millis) -> bool {
    now.since(used) >= TOUCH_EVERY
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
