//! API key pairs: their owner creates, renames, lists and deletes them. Both keys are shown
//! once; the identity behind the API key is sealed with the Enc key.

use wakeful_core::access::{Scope, permission};
use wakeful_core::accounts::MAX_API_KEYS_PER_USER;
use wakeful_core::id::ApiKeyId;
use wakeful_core::seal::Key;
use wakeful_core::secret::Secret;
use wakeful_core::token::{Digest, Kind};
use wakeful_store::NewApiKey;

pub use wakeful_store::ApiKey;

use crate::accounts::auth::{ApiKeyIdentity, seal_context};
use crate::caller::Authorized;
use crate::{Engine, Error, Result, random};

/// How much of the API key a list shows, to distinguish keys.
const PREFIX_LEN: usize = "wka_".len() + 6;

#[derive(Clone, Debug)]
pub struct NewKeyPair {
    pub id: ApiKeyId,
    pub apikey: Secret,
    pub enckey: Secret,
}

impl Engine {
    pub async fn api_keys(&self, caller: &Authorized<permission::Myself>) -> Result<Vec<ApiKey>> {
        Ok(self.store().api_keys(caller.user()).await?)
    }

    pub async fn create_api_key(
        &self,
        caller: &Authorized<permission::Myself>,
        name: &str,
        scope: Scope,
    ) -> Result<NewKeyPair> {
        if scope != Scope::Full {
            self.require_roles_on_all_nodes().await?;
        }
        let id = ApiKeyId::new(self.now(), random::bytes());
        let apikey = Kind::ApiKey.issue(random::bytes());
        let enc: [u8; 32] = random::bytes();
        let sealed_identity = ApiKeyIdentity { user: caller.user(), team: caller.team(), scope };
        let plain = serde_json::to_vec(&sealed_identity).expect("an identity is plain data");
        let key = NewApiKey {
            id,
            user: caller.user(),
            name: name.to_owned(),
            scope,
            prefix: apikey.expose()[..PREFIX_LEN].to_owned(),
            digest: Digest::of(apikey.expose()),
            sealed_identity: Key::new(enc).seal(random::bytes(), &seal_context(id), &plain),
        };
        if !self.store().add_api_key(&key, caller.credential(), self.now()).await? {
            return Err(Error::FixedLimit { max: MAX_API_KEYS_PER_USER, of: "API keys per user" });
        }
        Ok(NewKeyPair { id, apikey, enckey: Kind::EncKey.issue(enc) })
    }

    /// Renames one of the caller's keys; its permissions remain.
    pub async fn rename_api_key(
        &self,
        caller: &Authorized<permission::Myself>,
        id: ApiKeyId,
        name: &str,
    ) -> Result<()> {
        if self.store().rename_api_key(caller.user(), id, name).await? {
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
        if self.store().delete_api_key(caller.user(), id).await? {
            Ok(())
        } else {
            Err(Error::NotFound("API key"))
        }
    }
}
