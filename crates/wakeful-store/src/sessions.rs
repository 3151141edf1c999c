//! Sessions: who holds a Bearer Token. Only the token's digest is kept, and it
//! is looked up on every request, so a session that ends is ended everywhere.

use uuid::Uuid;
use wakeful_core::id::{SessionId, TeamId, UserId};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use crate::dialect::{from_row, read, within, write};
use crate::{Credential, Result, Store, StoreError, credentials};

/// For each user, of the sessions opened with a password and of those opened
/// with an API key.
const MAX_SESSIONS: i64 = 200;
/// A database from before that limit may hold many more.
const EVICTION_BATCH: i64 = 1_000;

#[derive(Clone, Debug)]
pub struct NewSession {
    pub id: SessionId,
    pub user: UserId,
    pub digest: Digest,
    pub address: String,
    pub agent: String,
}

/// A session as its owner sees it in a list.
#[derive(Clone, Debug)]
pub struct Session {
    pub id: SessionId,
    pub created: Millis,
    pub last_used: Millis,
    /// Where it was opened from; empty for one that is older than this note.
    pub address: String,
    /// What the client called itself.
    pub agent: String,
}

from_row!(Session, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    created: Millis(row.try_get("created")?),
    last_used: Millis(row.try_get("last_used")?),
    address: row.try_get("address")?,
    agent: row.try_get("agent")?,
});

/// A session with the user it belongs to.
#[derive(Clone, Debug)]
pub struct FoundSession {
    pub id: SessionId,
    pub user: UserId,
    pub team: TeamId,
    pub email: String,
    pub created: Millis,
    pub last_used: Millis,
}

from_row!(FoundSession, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    user: row.try_get::<Uuid, _>("user_id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    email: row.try_get("email")?,
    created: Millis(row.try_get("created")?),
    last_used: Millis(row.try_get("last_used")?),
});

impl Store {
    /// Adds a session if the credential it is based on is still valid, otherwise
    /// `Gone`. A user with too many loses the ones that were not used for longest.
    pub async fn add_session(
        &self,
        session: &NewSession,
        credential: Credential<'_>,
        now: Millis,
    ) -> Result<()> {
        let api_key = credential.api_key();
        let mut tx = self.begin().await?;
        within!(tx, |db| {
            if !credentials::confirm!(db, session.user, credential)? {
                return Err(StoreError::Gone);
            }
            sqlx::query(
                "delete from sessions
                 where id in (select id from sessions
                              where user_id = $1 and (api_key_id is null) = $2
                              order by last_used desc, id desc
                              limit $3 offset $4)",
            )
            .bind(session.user.uuid())
            .bind(api_key.is_none())
            .bind(EVICTION_BATCH)
            .bind(MAX_SESSIONS - 1)
            .execute(&mut *db)
            .await?;
            insert!(db, session, api_key, now)
        })?;
        tx.commit().await
    }

    pub async fn session(&self, digest: Digest) -> Result<Option<FoundSession>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select s.id, s.user_id, u.team_id, u.email, s.created, s.last_used
                 from sessions s
                 join users u on u.id = s.user_id
                 where s.digest = $1",
            )
            .bind(&digest.0[..])
            .fetch_optional(db)
            .await
        })?)
    }

    /// A user's sessions that are good still, the one used last first.
    pub async fn sessions(&self, user: UserId, idle: Millis, made: Millis) -> Result<Vec<Session>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select id, created, last_used, address, agent
                 from sessions
                 where user_id = $1 and last_used > $2 and created > $3
                 order by last_used desc, id desc",
            )
            .bind(user.uuid())
            .bind(idle.0)
            .bind(made.0)
            .fetch_all(db)
            .await
        })?)
    }

    pub async fn touch_session(&self, id: SessionId, now: Millis) -> Result<()> {
        write!(self, |db| {
            sqlx::query("update sessions set last_used = $2 where id = $1 and last_used < $2")
                .bind(id.uuid())
                .bind(now.0)
                .execute(db)
                .await
                .map(|_| ())
        })?;
        Ok(())
    }

    /// Ends one session of this user; false when the user has no such session.
    pub async fn end_session(&self, user: UserId, id: SessionId) -> Result<bool> {
        Ok(write!(self, |db| {
            sqlx::query("delete from sessions where id = $1 and user_id = $2")
                .bind(id.uuid())
                .bind(user.uuid())
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?)
    }

    /// Ends all sessions of a user; API keys stay.
    pub async fn end_sessions(&self, user: UserId) -> Result<()> {
        write!(self, |db| {
            sqlx::query("delete from sessions where user_id = $1")
                .bind(user.uuid())
                .execute(db)
                .await
                .map(|_| ())
        })?;
        Ok(())
    }

    /// Forgets sessions that were last used, or made, before these times.
    pub async fn sweep_sessions(&self, idle: Millis, made: Millis) -> Result<u64> {
        Ok(write!(self, |db| {
            sqlx::query("delete from sessions where last_used < $1 or created < $2")
                .bind(idle.0)
                .bind(made.0)
                .execute(db)
                .await
                .map(|done| done.rows_affected())
        })?)
    }
}

/// Inserts a session, inside a transaction. With an API key it ends with the key.
macro_rules! insert {
    ($db:expr, $session:expr, $api_key:expr, $now:expr) => {
        sqlx::query(
            "insert into sessions
             (id, digest, user_id, created, last_used, address, agent, api_key_id)
             values ($1, $2, $3, $4, $4, $5, $6, $7)",
        )
        .bind($session.id.uuid())
        .bind(&$session.digest.0[..])
        .bind($session.user.uuid())
        .bind($now.0)
        .bind($session.address.as_str())
        .bind($session.agent.as_str())
        .bind($api_key.map(wakeful_core::id::ApiKeyId::uuid))
        .execute(&mut *$db)
        .await
        .map(|_| ())
    };
}
pub(crate) use insert;
