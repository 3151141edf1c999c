//! API key pairs: their owner creates, renames, lists and deletes them. Both keys are shown
//! once; the identity behind the API key is sealed with the Enc key.

use std::collections::{HashMap, HashSet};
use wakeful_core::Invalid;
use wakeful_core::access::{Expiry, MonitorFilter, Permission, Scope, TeamAccess, permission};
use wakeful_core::accounts::MAX_API_KEYS_PER_USER;
use wakeful_core::id::{ApiKeyId, TeamId, UserId};
use wakeful_core::seal::Key;
use wakeful_core::secret::Secret;
use wakeful_core::token::{Digest, Kind};
use wakeful_store::{AddKeyOutcome, MemberOutcome, NewApiKey};

pub use wakeful_store::{ApiKey, TeamApiKey};

use crate::accounts::auth::{ApiKeyIdentity, seal_context};
use crate::accounts::services::service_error;
use crate::accounts::team::{require_done, unknown_monitors};
use crate::caller::{Authorized, Caller, Reauthenticated};
use crate::mail::templates;
use crate::{Engine, Error, Result, random};

/// How much of the API key a list shows, to distinguish keys.
const PREFIX_LEN: usize = "wka_".len() + 6;

/// How many reminders of expiring keys one round queues.
const REMINDER_BATCH: u32 = 1_000;

/// What a new key may do.
#[derive(Clone, Debug)]
pub struct ApiKeyDraft {
    pub name: String,
    pub scope: Scope,
    pub filter: Option<MonitorFilter>,
    pub expires: Option<Expiry>,
}

/// A key with the monitors that it is limited to.
#[derive(Clone, Debug)]
pub struct ApiKeyView {
    pub key: ApiKey,
    pub filter: Option<MonitorFilter>,
}

/// A key of the team, with its holder and the monitors that it is limited to.
#[derive(Clone, Debug)]
pub struct TeamApiKeyView {
    pub held: TeamApiKey,
    pub filter: Option<MonitorFilter>,
}

#[derive(Clone, Debug)]
pub struct NewKeyPair {
    pub id: ApiKeyId,
    pub apikey: Secret,
    pub enckey: Secret,
}

impl Engine {
    /// The caller's keys of all teams. With a key, only those of its own team.
    #[expect(clippy::disallowed_methods, reason = "the caller's keys of other teams")]
    pub async fn api_keys(
        &self,
        caller: &Authorized<permission::Myself>,
    ) -> Result<Vec<ApiKeyView>> {
        let keys = self.store().api_keys(caller.user(), caller.team_of_key()).await?;
        let limited: HashSet<TeamId> =
            keys.iter().filter(|key| key.filter.is_some()).map(|key| key.team).collect();
        let mut filters = HashMap::new();
        for team in limited {
            filters.extend(self.store().team(&TeamAccess::whole(team)).monitor_filters().await?);
        }
        let view = |key: ApiKey| {
            let filter = key.filter.and_then(|id| filters.remove(&id));
            ApiKeyView { key, filter }
        };
        Ok(keys.into_iter().map(view).collect())
    }

    /// The keys of all users of the team.
    pub async fn team_api_keys(
        &self,
        caller: &Authorized<permission::People>,
    ) -> Result<Vec<TeamApiKeyView>> {
        let keys = self.store().team(caller.team_access()).api_keys().await?;
        let limited = keys.iter().any(|held| held.key.filter.is_some());
        let mut filters = self.monitor_filters(caller, limited).await?;
        let view = |held: TeamApiKey| {
            let filter = held.key.filter.and_then(|id| filters.remove(&id));
            TeamApiKeyView { held, filter }
        };
        Ok(keys.into_iter().map(view).collect())
    }

    /// Deletes a key of any user of the team, unless their role is above the caller's own.
    pub async fn delete_team_api_key(
        &self,
        caller: &Authorized<permission::People>,
        id: ApiKeyId,
    ) -> Result<()> {
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        match team.delete_api_key(id, caller.authority(), &by, self.now()).await? {
            MemberOutcome::NoUser => Err(Error::NotFound("API key")),
            outcome => require_done(outcome),
        }
    }

    pub async fn create_api_key(
        &self,
        caller: &Reauthenticated<permission::Myself>,
        draft: ApiKeyDraft,
    ) -> Result<NewKeyPair> {
        self.create_key_for(caller, caller.user(), draft).await
    }

    /// Creates a key whose holder is the caller or a service account.
    pub(super) async fn create_key_for(
        &self,
        caller: &Caller,
        holder: UserId,
        draft: ApiKeyDraft,
    ) -> Result<NewKeyPair> {
        let ApiKeyDraft { name, scope, filter, expires } = draft;
        let settings = self.store().team(caller.team_access()).settings().await?;
        let settings = settings.ok_or(Error::NotFound("team"))?;
        if holder == caller.user() && !settings.personal_keys {
            return Err(Error::PersonalKeysOff);
        }
        let expires = expires.or(settings.key_days.limit().map(Expiry::Days));
        if scope != Scope::Full || filter.is_some() || expires.is_some() {
            self.require_roles_on_all_nodes().await?;
        }
        if filter.is_some() {
            self.check_key_filter(caller, scope)?;
        }
        let expires =
            expires.map(|expiry| expiry.resolve(self.now(), settings.key_days)).transpose();
        let expires = expires.map_err(|Invalid(why)| refused("expires", &why))?;
        let id = ApiKeyId::new(self.now(), random::bytes());
        let apikey = Kind::ApiKey.issue(random::bytes());
        let enc: [u8; 32] = random::bytes();
        let filter = filter.map(|filter| self.new_filter(filter));
        let sealed_identity = ApiKeyIdentity {
            user: holder,
            team: caller.team(),
            scope,
            filter: filter.as_ref().map(|filter| filter.id),
            expires: expires.map(|at| at.0),
        };
        let plain = serde_json::to_vec(&sealed_identity).expect("an identity is plain data");
        let key = NewApiKey {
            id,
            user: holder,
            team: caller.team(),
            name,
            scope,
            filter,
            expires,
            prefix: apikey.expose()[..PREFIX_LEN].to_owned(),
            digest: Digest::of(apikey.expose()),
            sealed_identity: Key::new(enc).seal(random::bytes(), &seal_context(id), &plain),
        };
        let by = self.audit(caller);
        match self.store().add_api_key(&key, caller.authority(), &by, self.now()).await? {
            AddKeyOutcome::Done => Ok(NewKeyPair { id, apikey, enckey: Kind::EncKey.issue(enc) }),
            AddKeyOutcome::Full => {
                Err(Error::FixedLimit { max: MAX_API_KEYS_PER_USER, of: "API keys per user" })
            }
            AddKeyOutcome::UnknownMonitors => Err(unknown_monitors()),
            AddKeyOutcome::Refused(why) => Err(service_error(why)),
        }
    }

    /// Emails the holders of keys that expire soon; for the keys of service accounts, the
    /// members who manage these.
    pub(crate) async fn remind_of_expiring_keys(&self) -> Result<()> {
        for key in self.store().expiring_keys(self.now(), REMINDER_BATCH).await? {
            let recipients = if key.email.is_empty() {
                self.emails_of_members_with(key.team, Permission::People).await?
            } else {
                vec![key.email.clone()]
            };
            let mails: Vec<_> = recipients
                .iter()
                .map(|email| self.new_mail(email, templates::key_expires(self.settings(), &key)))
                .collect();
            self.store().remind_of_expiry(&key, &mails, self.now()).await?;
        }
        Ok(())
    }

    fn check_key_filter(&self, caller: &Caller, scope: Scope) -> Result<()> {
        if !scope.may_have_filter() {
            let why = "must be editor, responder, viewer or push for a key that is limited to \
                       some monitors";
            return Err(refused("scope", why));
        }
        if caller.team_access().filter().is_some() {
            let why = "cannot be limited further: your keys have the limit of your membership";
            return Err(refused("scope", why));
        }
        Ok(())
    }

    /// Renames one of the caller's keys; its permissions remain.
    pub async fn rename_api_key(
        &self,
        caller: &Authorized<permission::Myself>,
        id: ApiKeyId,
        name: &str,
    ) -> Result<()> {
        if self
            .store()
            .rename_api_key(caller.user(), caller.team_of_key(), id, name, &self.audit(caller))
            .await?
        {
            Ok(())
        } else {
            Err(Error::NotFound("API key"))
        }
    }

    pub async fn delete_api_key(
        &self,
        caller: &Authorized<permission::Myself>,
        id: ApiKeyId,
    ) -> Result<()> {
        if self
            .store()
            .delete_api_key(caller.user(), caller.team_of_key(), id, &self.audit(caller))
            .await?
        {
            Ok(())
        } else {
            Err(Error::NotFound("API key"))
        }
    }
}

fn refused(field: &'static str, why: &str) -> Error {
    Error::Refused { field, why: why.to_owned() }
}
