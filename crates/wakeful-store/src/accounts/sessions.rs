//! Sessions, identified by a bearer token. Only the token's digest is stored. It
//! is looked up on every request, so ending a session takes effect at once on
//! all nodes.

use uuid::Uuid;
use wakeful_core::access::{Scope, UserKind};
use wakeful_core::accounts::reauthentication::SessionMethod;
use wakeful_core::audit::{Action, Object, ObjectKind};
use wakeful_core::id::{ApiKeyId, MonitorFilterId, SessionId, TeamId, UserId};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use crate::accounts::members::Joined;
use crate::accounts::{credentials, members};
use crate::dialect::{Tx, from_row, read, within, write};
use crate::{AuditContext, Authority, Credential, Membership, NewEntry, Result, Store};

/// For each user, the limit on sessions opened with a password, and for each
/// API key, the limit on sessions opened with that key.
const MAX_SESSIONS: i64 = 200;
/// A database older than that limit may contain many more.
const EVICTION_BATCH: i64 = 1_000;

#[derive(Clone, Debug)]
pub struct NewSession {
    pub id: SessionId,
    pub user: UserId,
    /// The team that it acts in.
    pub team: TeamId,
    pub method: SessionMethod,
    pub digest: Digest,
    pub address: String,
    pub agent: String,
}

/// A session as it appears in its owner's list.
#[derive(Clone, Debug)]
pub struct Session {
    pub id: SessionId,
    pub created: Millis,
    pub last_used: Millis,
    /// The client's IP address; empty for sessions older than this column.
    pub address: String,
    /// The client's `User-Agent`.
    pub agent: String,
    /// The team that it acts in.
    pub team: TeamId,
    pub method: SessionMethod,
}

from_row!(Session, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    created: Millis(row.try_get("created")?),
    last_used: Millis(row.try_get("last_used")?),
    address: row.try_get("address")?,
    agent: row.try_get("agent")?,
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    method: SessionMethod::stored(&row.try_get::<String, _>("method")?),
});

/// A session with the user it belongs to.
#[derive(Clone, Debug)]
pub struct FoundSession {
    pub id: SessionId,
    pub user: UserId,
    /// The team that was asked for, or else the one that the session acts in.
    pub team: TeamId,
    /// The only team that it can act in, if it was opened with an API key.
    pub key_team: Option<TeamId>,
    pub email: String,
    /// As given at sign-up, or by the team for a service account.
    pub name: String,
    pub kind: UserKind,
    /// Whether the user administers the installation.
    pub is_admin: bool,
    /// Whether the user cannot sign in.
    pub user_suspended: bool,
    pub mfa_enabled: bool,
    pub email_verified: bool,
    pub membership: Option<Membership>,
    pub method: SessionMethod,
    /// When the user last entered their credentials in it.
    pub reauthenticated_at: Millis,
    pub scope: Scope,
    /// The monitors that the API key is limited to, if it was opened with one.
    pub filter: Option<MonitorFilterId>,
    /// When that API key expires.
    pub expires: Option<Millis>,
    pub created: Millis,
    pub last_used: Millis,
}

from_row!(FoundSession, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    user: row.try_get::<Uuid, _>("user_id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    key_team: row.try_get::<Option<Uuid>, _>("key_team_id")?.map(TeamId::from),
    email: row.try_get("email")?,
    name: row.try_get("name")?,
    kind: members::read_kind(row.try_get("kind")?)?,
    is_admin: row.try_get("is_admin")?,
    user_suspended: row.try_get::<Option<i64>, _>("user_suspended_at")?.is_some(),
    mfa_enabled: row.try_get("mfa_enabled")?,
    email_verified: row.try_get::<Option<i64>, _>("email_verified")?.is_some(),
    membership: Joined::from_row(row)?.0,
    method: SessionMethod::stored(row.try_get("method")?),
    reauthenticated_at: Millis(row.try_get("reauthenticated_at")?),
    scope: members::read_scope(row.try_get("scope")?)?,
    filter: row.try_get::<Option<Uuid>, _>("key_filter_id")?.map(MonitorFilterId::from),
    expires: row.try_get::<Option<i64>, _>("expires")?.map(Millis),
    created: Millis(row.try_get("created")?),
    last_used: Millis(row.try_get("last_used")?),
});

impl Store {
    /// Adds a session. Fails with `StoreError::Gone` if the credential it is based on is no
    /// longer valid. Beyond `MAX_SESSIONS`, the least recently used sessions end. Without `by`, it
    /// is not recorded.
    pub async fn add_session(
        &self,
        session: &NewSession,
        credential: Credential<'_>,
        by: Option<&AuditContext>,
        now: Millis,
    ) -> Result<()> {
        let api_key = credential.api_key();
        let mut tx = self.begin().await?;
        let caller = Authority { user: session.user, team: session.team, credential };
        credentials::confirm(&mut tx, caller).await?;
        within!(tx, |db| {
            sqlx::query(
                "delete from sessions
                 where id in (select id from sessions
                              where user_id = $1 and api_key_id is not distinct from $2
                              order by last_used desc, id desc
                              limit $3 offset $4)",
            )
            .bind(session.user.uuid())
            .bind(api_key.map(ApiKeyId::uuid))
            .bind(EVICTION_BATCH)
            .bind(MAX_SESSIONS - 1)
            .execute(db)
            .await?;
        });
        insert(&mut tx, session, api_key, now).await?;
        if let Some(by) = by {
            let entry = NewEntry::new(Action::LoginOk, object(session.id), Vec::new());
            self.write_entry(&mut tx, by, &entry).await?;
        }
        tx.commit().await
    }

    /// A session with the user's membership in its team, or in the one that is asked for.
    pub async fn session(
        &self,
        digest: Digest,
        team: Option<TeamId>,
    ) -> Result<Option<FoundSession>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select s.id, s.user_id, coalesce($2, k.team_id, s.team_id, u.team_id) as team_id,
                        k.team_id as key_team_id, u.email, u.name, u.kind, u.mfa_enabled,
                        u.email_verified, u.is_admin, u.suspended_at as user_suspended_at, m.role,
                        m.suspended_at, m.filter_id, t.mfa, t.personal_keys,
                        t.name as team_name, t.suspended_at as team_suspended_at,
                        case when s.api_key_id is null then s.method else 'key' end as method,
                        coalesce(s.reauthenticated_at, s.created) as reauthenticated_at,
                        s.scope, k.filter_id as key_filter_id, k.expires, s.created, s.last_used
                 from sessions s
                 join users u on u.id = s.user_id
                 left join api_keys k on k.id = s.api_key_id
                 left join members m on m.user_id = u.id
                     and m.team_id = coalesce($2, k.team_id, s.team_id, u.team_id)
                 left join teams t on t.id = m.team_id
                 where s.digest = $1",
            )
            .bind(&digest.0[..])
            .bind(team.map(TeamId::uuid))
            .fetch_optional(db)
            .await
        })?)
    }

    /// A user's valid sessions, the most recently used first.
    pub async fn sessions(
        &self,
        user: UserId,
        idle: Millis,
        created: Millis,
    ) -> Result<Vec<Session>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select s.id, s.created, s.last_used, s.address, s.agent,
                        coalesce(s.team_id, u.team_id) as team_id,
                        case when s.api_key_id is null then s.method else 'key' end as method
                 from sessions s
                 join users u on u.id = s.user_id
                 where s.user_id = $1 and s.last_used > $2 and s.created > $3
                 order by s.last_used desc, s.id desc",
            )
            .bind(user.uuid())
            .bind(idle.0)
            .bind(created.0)
            .fetch_all(db)
            .await
        })?)
    }

    /// Records that a session is used, and that its user was seen.
    pub async fn touch_session(&self, id: SessionId, now: Millis) -> Result<()> {
        let mut tx = self.begin().await?;
        within!(tx, |db| {
            sqlx::query("update sessions set last_used = $2 where id = $1 and last_used < $2")
                .bind(id.uuid())
                .bind(now.0)
                .execute(&mut *db)
                .await?;
            sqlx::query(
                "update users set last_seen = $2
                 where id = (select user_id from sessions where id = $1)
                 and coalesce(last_seen, 0) < $2",
            )
            .bind(id.uuid())
            .bind(now.0)
            .execute(db)
            .await?;
        });
        tx.commit().await
    }

    /// Makes a session fresh, for a user who has entered their credentials again; false if the
    /// password or the second factor has changed since they were verified. Fails with
    /// `StoreError::Gone` if the session has ended or its user may no longer act in the team.
    pub async fn reauthenticate_session(
        &self,
        session: SessionId,
        user: UserId,
        team: TeamId,
        entered: Credential<'_>,
        now: Millis,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        let credential = Credential::Session(session);
        credentials::confirm(&mut tx, Authority { user, team, credential }).await?;
        if !credentials::is_valid(&mut tx, Authority { user, team, credential: entered }).await? {
            return Ok(false);
        }
        // A session of an API key never becomes fresh, even with the password.
        let updated = within!(tx, |db| {
            sqlx::query(
                "update sessions set reauthenticated_at = $2
                 where id = $1 and api_key_id is null",
            )
            .bind(session.uuid())
            .bind(now.0)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        tx.commit().await?;
        Ok(updated)
    }

    /// Ends one session of this user; false when the user has no such session.
    pub async fn end_session(
        &self,
        user: UserId,
        id: SessionId,
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        let ended = within!(tx, |db| {
            sqlx::query("delete from sessions where id = $1 and user_id = $2")
                .bind(id.uuid())
                .bind(user.uuid())
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?;
        if ended {
            let entry = NewEntry::new(Action::SessionEnd, object(id), Vec::new());
            self.write_entry(&mut tx, by, &entry).await?;
            tx.commit().await?;
        }
        Ok(ended)
    }

    /// Ends all sessions of a user, but not the API keys.
    pub async fn end_sessions(&self, user: UserId, by: &AuditContext) -> Result<()> {
        let mut tx = self.begin().await?;
        within!(tx, |db| {
            sqlx::query("delete from sessions where user_id = $1")
                .bind(user.uuid())
                .execute(db)
                .await?;
        });
        let all = Object::new(ObjectKind::Session, &"", "");
        self.write_entry(&mut tx, by, &NewEntry::new(Action::SessionEnd, all, Vec::new())).await?;
        tx.commit().await
    }

    /// Deletes sessions that were last used, or created, before these times.
    pub async fn prune_sessions(&self, idle: Millis, created: Millis) -> Result<u64> {
        Ok(write!(self, |db| {
            sqlx::query("delete from sessions where last_used < $1 or created < $2")
                .bind(idle.0)
                .bind(created.0)
                .execute(db)
                .await
                .map(|done| done.rows_affected())
        })?)
    }
}

fn object(id: SessionId) -> Object {
    Object::new(ObjectKind::Session, &id, "")
}

/// Inserts a session. A session of an API key has the scope of the key, and ends when
/// the key is deleted.
pub(crate) async fn insert(
    tx: &mut Tx,
    session: &NewSession,
    api_key: Option<ApiKeyId>,
    now: Millis,
) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "insert into sessions
             (id, digest, user_id, created, last_used, address, agent, api_key_id, team_id, scope,
              method, reauthenticated_at)
             values ($1, $2, $3, $4, $4, $5, $6, $7, $8,
                     coalesce((select scope from api_keys where id = $7), 'full'), $9, $4)",
        )
        .bind(session.id.uuid())
        .bind(&session.digest.0[..])
        .bind(session.user.uuid())
        .bind(now.0)
        .bind(session.address.as_str())
        .bind(session.agent.as_str())
        .bind(api_key.map(ApiKeyId::uuid))
        .bind(session.team.uuid())
        .bind(session.method.as_str())
        .execute(&mut *db)
        .await?;
        sqlx::query("update users set last_seen = $2 where id = $1")
            .bind(session.user.uuid())
            .bind(now.0)
            .execute(db)
            .await?;
    });
    Ok(())
}
