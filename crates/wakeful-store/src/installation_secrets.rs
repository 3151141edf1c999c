//! Secrets of the whole installation: created once, sealed, and used by all nodes.

use zeroize::Zeroizing;

use crate::dialect::{read, write};
use crate::{Result, Store, StoreError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstallationSecret {
    /// Signs push messages.
    PushKey,
    /// What the addresses of subscribers are looked up by is computed with it.
    SubscriberDigest,
}

impl InstallationSecret {
    pub(crate) const ALL: [Self; 2] = [Self::PushKey, Self::SubscriberDigest];

    /// Of its row in `meta`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::PushKey => "webpush_key",
            Self::SubscriberDigest => "subscriber_key",
        }
    }

    pub(crate) fn context(self) -> String {
        format!("meta.value:{}", self.name())
    }
}

impl Store {
    /// The stored secret, or else `candidate`, which is then stored. If several nodes store
    /// one, the first is used by all.
    pub(crate) async fn installation_secret(
        &self,
        secret: InstallationSecret,
        candidate: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>> {
        if let Some(stored) = self.stored_secret(secret).await? {
            return Ok(stored);
        }
        let sealed = self.keyring.seal(&secret.context(), candidate);
        write!(self, |db| {
            sqlx::query(
                "insert into meta (name, value) values ($1, $2) on conflict (name) do nothing",
            )
            .bind(secret.name())
            .bind(sealed)
            .execute(db)
            .await
            .map(|_| ())
        })?;
        self.stored_secret(secret).await?.ok_or(StoreError::Damaged("meta"))
    }

    async fn stored_secret(
        &self,
        secret: InstallationSecret,
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let stored: Option<Vec<u8>> = read!(self, |db| {
            sqlx::query_scalar("select value from meta where name = $1")
                .bind(secret.name())
                .fetch_optional(db)
                .await
        })?;
        let open = |sealed: Vec<u8>| {
            let plain = self.keyring.open(&secret.context(), &sealed);
            plain.ok_or(StoreError::Sealed("meta.value"))
        };
        stored.map(open).transpose()
    }
}
