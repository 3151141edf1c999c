//! What the installation knows about a person, for their own export.

use uuid::Uuid;
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::time::Millis;

use crate::accounts::api_keys::ApiKey;
use crate::dialect::{from_row, read};
use crate::{Result, Store, StoredEntry};

/// A key with its team.
#[derive(Clone, Debug)]
pub struct KeyOfUser {
    pub key: ApiKey,
    pub team: TeamId,
}

from_row!(KeyOfUser, |row| Self {
    key: ApiKey::from_row(row)?,
    team: row.try_get::<Uuid, _>("team_id")?.into(),
});

/// The data of an account that are stored with it.
#[derive(Clone, Debug)]
pub struct AccountData {
    pub created: Millis,
    pub modified: Millis,
    pub last_seen: Option<Millis>,
    pub email_verified: Option<Millis>,
}

from_row!(AccountData, |row| Self {
    created: Millis(row.try_get("created")?),
    modified: Millis(row.try_get("modified")?),
    last_seen: row.try_get::<Option<i64>, _>("last_seen")?.map(Millis),
    email_verified: row.try_get::<Option<i64>, _>("email_verified")?.map(Millis),
});

/// A message that was sent with the contact form.
#[derive(Clone, Debug)]
pub struct SentContact {
    pub name: String,
    pub email: String,
    pub subject: String,
    pub message: String,
    pub created: Millis,
}

from_row!(SentContact, |row| Self {
    name: row.try_get("name")?,
    email: row.try_get("email")?,
    subject: row.try_get("subject")?,
    message: row.try_get("message")?,
    created: Millis(row.try_get("created")?),
});

/// An entry of any chain.
#[derive(Clone, Debug)]
pub struct EntryOfUser {
    /// Nil for the chain of the installation.
    pub chain: TeamId,
    pub stored: StoredEntry,
}

from_row!(EntryOfUser, |row| Self {
    chain: row.try_get::<Uuid, _>("chain")?.into(),
    stored: StoredEntry::from_row(row)?,
});

impl Store {
    pub async fn account_data(&self, user: UserId) -> Result<Option<AccountData>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select created, modified, last_seen, email_verified from users where id = $1",
            )
            .bind(user.uuid())
            .fetch_optional(db)
            .await
        })?)
    }

    /// The keys of a user in all teams.
    pub async fn keys_of_user(&self, user: UserId) -> Result<Vec<KeyOfUser>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select id, name, prefix, scope, filter_id, expires, created, last_used,
                        last_address, team_id
                 from api_keys
                 where user_id = $1
                 order by id",
            )
            .bind(user.uuid())
            .fetch_all(db)
            .await
        })?)
    }

    /// The newest messages of the contact form from this address.
    pub async fn contacts_from(&self, email_key: &str, limit: u32) -> Result<Vec<SentContact>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select name, email, subject, message, created
                 from contacts
                 where lower(email) = $1
                 order by id desc
                 limit $2",
            )
            .bind(email_key)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?)
    }

    /// The entries that a user has left in the audit logs, chain by chain, after this one.
    pub async fn entries_of_user(
        &self,
        user: UserId,
        after: Option<(TeamId, i64)>,
        limit: u32,
    ) -> Result<Vec<EntryOfUser>> {
        let (chain, seq) = after.map_or((Uuid::nil(), 0), |(chain, seq)| (chain.uuid(), seq));
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select a.*, cast(null as text) as actor from audit a
                 where a.actor_id = $1 and (a.chain, a.seq) > ($2, $3)
                 order by a.chain, a.seq
                 limit $4",
            )
            .bind(user.to_string())
            .bind(chain)
            .bind(seq)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?)
    }
}
