//! API key pairs: made, named, listed and removed by their owner. Both keys are shown
//! once; what the API key stands for is sealed under the Enc key.

use wakeful_core::id::ApiKeyId;
use wakeful_core::seal::Key;
use wakeful_core::secret::Secret;
use wakeful_core::token::{Digest, Kind};
use wakeful_store::{ApiKey, NewApiKey};

use crate::auth::{Scope, StandsFor, context};
use crate::caller::Caller;
use crate::{Engine, Error, Result, random};

/// How much of the API key a list shows, so that people can tell keys apart.
const SHOWN: usize = "wka_".len() + 6;

#[derive(Clone, Debug)]
pub struct NewKeyPair {
    pub id: ApiKeyId,
    pub apikey: Secret,
    pub enckey: Secret,
}

impl Engine {
    pub async fn api_keys(&self, caller: &Caller) -> Result<Vec<ApiKey>> {
        Ok(self.store().api_keys(caller.user).await?)
    }

    pub async fn new_api_key(&self, caller: &Caller, name: &str) -> Result<NewKeyPair> {
        let id = ApiKeyId::new(self.now(), random::bytes());
        let apikey = Kind::ApiKey.issue(random::bytes());
        let enc: [u8; 32] = random::bytes();
        let stands_for = StandsFor { user: caller.user, team: caller.team, scope: Scope::Full };
        let plain = serde_json::to_vec(&stands_for).expect("ids and a word");
        let key = NewApiKey {
            id,
            user: caller.user,
            name: name.to_owned(),
            prefix: apikey.expose()[..SHOWN].to_owned(),
            digest: Digest::of(apikey.expose()),
            stands_for: Key::new(enc).seal(random::bytes(), &context(id), &plain),
        };
        self.store().add_api_key(&key, caller.credential(), self.now()).await?;
        Ok(NewKeyPair { id, apikey, enckey: Kind::EncKey.issue(enc) })
    }

    /// Gives a key of the caller another name; what it opens stays as it is.
    pub async fn rename_api_key(&self, caller: &Caller, id: ApiKeyId, name: &str) -> Result<()> {
        match self.store().rename_api_key(caller.user, id, name).await? {
            true => Ok(()),
            false => Err(Error::NotFound("API key")),
        }
    }

    pub async fn delete_api_key(&self, caller: &Caller, id: ApiKeyId) -> Result<()> {
        match self.store().delete_api_key(caller.user, id).await? {
            true => Ok(()),
            false => Err(Error::NotFound("API key")),
        }
    }
}
