//! The browsers of users that receive push messages, and the key pair that the installation sends
//! them with. Addresses and keys are sealed; a digest recognizes an address.

use std::time::Duration;
use uuid::Uuid;
use wakeful_core::audit::{Action, Object, ObjectKind};
use wakeful_core::id::{PushSubscriptionId, UserId};
use wakeful_core::notifications::notifier::webpush::MAX_SUBSCRIPTIONS;
use wakeful_core::notifications::notifier::{PushReceiver, PushSubscription};
use wakeful_core::time::Millis;
use zeroize::Zeroizing;

use crate::accounts::credentials::lock_user;
use crate::dialect::{either, from_row, read, within, write, write_lazily};
use crate::installation_secrets::InstallationSecret;
use crate::monitors::json;
use crate::{AuditContext, Keyring, NewEntry, Result, Store, StoreError};

const ENDPOINT: &str = "push_subscriptions.endpoint";
const KEYS: &str = "push_subscriptions.keys";
/// A browser that was used less than this ago is not written again.
const LAST_USED_STEP: Duration = Duration::from_secs(86_400);

/// The outcome of adding a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddSubscriptionOutcome {
    /// It has this id; the one it had before if it is known.
    Done(PushSubscriptionId),
    /// The user has `MAX_SUBSCRIPTIONS`.
    Full,
    /// The user has been deleted.
    Missing,
}

struct Row {
    id: PushSubscriptionId,
    endpoint: Vec<u8>,
    keys: Vec<u8>,
    agent: String,
    created: i64,
    last_used: Option<i64>,
}

from_row!(Row, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    endpoint: row.try_get("endpoint")?,
    keys: row.try_get("keys")?,
    agent: row.try_get("agent")?,
    created: row.try_get("created")?,
    last_used: row.try_get("last_used")?,
});

impl Row {
    fn open(self, keyring: &Keyring) -> Result<PushSubscription> {
        let open = |column, sealed: &[u8]| {
            let plain = keyring.open(&context(column, self.id), sealed);
            let plain = plain.ok_or(StoreError::Sealed(column))?;
            let text = std::str::from_utf8(&plain).map_err(|_| StoreError::Sealed(column))?;
            Ok::<_, StoreError>(Zeroizing::new(text.to_owned()))
        };
        let endpoint = open(ENDPOINT, &self.endpoint)?;
        let receiver = PushReceiver::from_parts(&endpoint, &open(KEYS, &self.keys)?);
        Ok(PushSubscription {
            id: self.id,
            receiver: receiver.ok_or(StoreError::Damaged("push_subscriptions"))?,
            agent: self.agent,
            created: Millis(self.created),
            last_used: self.last_used.map(Millis),
        })
    }
}

fn context(column: &str, id: PushSubscriptionId) -> String {
    format!("{column}:{id}")
}

impl Store {
    /// The browsers of a user, oldest first.
    pub async fn push_subscriptions(&self, user: UserId) -> Result<Vec<PushSubscription>> {
        let rows: Vec<Row> = read!(self, |db| {
            sqlx::query_as(
                "select id, endpoint, keys, agent, created, last_used
                 from push_subscriptions where user_id = $1 order by id",
            )
            .bind(user.uuid())
            .fetch_all(db)
            .await
        })?;
        rows.into_iter().map(|row| row.open(&self.keyring)).collect()
    }

    /// Adds a browser of a user, or renews the keys of one that is known.
    pub async fn add_push_subscription(
        &self,
        user: UserId,
        new: &PushSubscription,
        by: &AuditContext,
    ) -> Result<AddSubscriptionOutcome> {
        let mut tx = self.begin().await?;
        if !lock_user(&mut tx, user).await? {
            return Ok(AddSubscriptionOutcome::Missing);
        }
        let digest = new.receiver.digest();
        let known: Option<Uuid> = within!(tx, |db| {
            sqlx::query_scalar(
                "select id from push_subscriptions where user_id = $1 and digest = $2",
            )
            .bind(user.uuid())
            .bind(&digest.0[..])
            .fetch_optional(db)
            .await
        })?;
        let id = known.map_or(new.id, PushSubscriptionId::from);
        let endpoint = new.receiver.endpoint.as_str();
        let endpoint = self.keyring.seal(&context(ENDPOINT, id), endpoint.as_bytes());
        let keys = new.receiver.keys();
        let keys = self.keyring.seal(&context(KEYS, id), keys.expose().as_bytes());
        let written = within!(tx, |db| {
            sqlx::query(
                "insert into push_subscriptions
                 (id, user_id, digest, endpoint, keys, agent, created)
                 select $1, $2, $3, $4, $5, $6, $7
                 where $9 or (select count(*) from push_subscriptions where user_id = $2) < $8
                 on conflict (id) do update
                 set endpoint = excluded.endpoint, keys = excluded.keys, agent = excluded.agent",
            )
            .bind(id.uuid())
            .bind(user.uuid())
            .bind(&digest.0[..])
            .bind(&endpoint[..])
            .bind(&keys[..])
            .bind(new.agent.as_str())
            .bind(new.created.0)
            .bind(i64::from(MAX_SUBSCRIPTIONS))
            .bind(known.is_some())
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !written {
            return Ok(AddSubscriptionOutcome::Full);
        }
        if known.is_none() {
            let entry = NewEntry::new(Action::WebpushSubscribe, object(id), Vec::new());
            self.write_entry(&mut tx, by, &entry).await?;
        }
        tx.commit().await?;
        Ok(AddSubscriptionOutcome::Done(id))
    }

    /// Deletes a browser of a user; false if there is no such browser.
    pub async fn delete_push_subscription(
        &self,
        user: UserId,
        id: PushSubscriptionId,
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        let deleted = within!(tx, |db| {
            sqlx::query("delete from push_subscriptions where id = $1 and user_id = $2")
                .bind(id.uuid())
                .bind(user.uuid())
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?;
        if deleted {
            let entry = NewEntry::new(Action::WebpushDelete, object(id), Vec::new());
            self.write_entry(&mut tx, by, &entry).await?;
            tx.commit().await?;
        }
        Ok(deleted)
    }

    /// Deletes browsers that no longer receive messages, as their push services said.
    pub async fn delete_gone_subscriptions(&self, ids: &[PushSubscriptionId]) -> Result<()> {
        let sql = either!(
            self,
            sqlite: "delete from push_subscriptions
                 where id in (select unhex(value) from json_each($1))",
            postgres: "delete from push_subscriptions where id in (
                 select cast(value as uuid) from json_array_elements_text(cast($1 as json)))"
        );
        write!(self, |db| { sqlx::query(sql).bind(id_list(ids)).execute(db).await.map(|_| ()) })?;
        Ok(())
    }

    /// Records that messages to browsers were accepted, once a day.
    pub async fn push_subscriptions_used(
        &self,
        ids: &[PushSubscriptionId],
        now: Millis,
    ) -> Result<()> {
        let sql = either!(
            self,
            sqlite: "update push_subscriptions set last_used = $2
                 where id in (select unhex(value) from json_each($1))
                 and (last_used is null or last_used < $3)",
            postgres: "update push_subscriptions set last_used = $2
                 where id in (
                     select cast(value as uuid) from json_array_elements_text(cast($1 as json)))
                 and (last_used is null or last_used < $3)"
        );
        write_lazily!(self, |db| {
            sqlx::query(sql)
                .bind(id_list(ids))
                .bind(now.0)
                .bind(now.before(LAST_USED_STEP).0)
                .execute(db)
                .await
                .map(|_| ())
        })?;
        Ok(())
    }

    /// The private key that push messages are signed with: the stored one, or else `candidate`,
    /// which is then stored. If several nodes store one, the first is used by all.
    pub async fn push_key(&self, candidate: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        self.installation_secret(InstallationSecret::PushKey, candidate).await
    }
}

/// Nobody but its user sees more of it.
fn object(id: PushSubscriptionId) -> Object {
    Object::new(ObjectKind::Browser, &id, "")
}

fn id_list(ids: &[PushSubscriptionId]) -> String {
    json(&ids.iter().map(|id| id.uuid().simple().to_string()).collect::<Vec<_>>())
}
