//! The credentials that authorize new sessions, new API keys and changes to a
//! user. They are checked again in the transaction that writes, with the user's
//! row locked. Everything that revokes credentials locks that row too, so a new
//! credential is either deleted by the revocation or refused after it.

use wakeful_core::id::{ApiKeyId, SessionId, TeamId, UserId};

use crate::dialect::{Tx, within};
use crate::{Result, StoreError};

/// The credential that a caller has authenticated with.
#[derive(Clone, Copy, Debug)]
pub enum Credential<'a> {
    /// The password behind this stored hash, and a second factor if the account
    /// required one.
    Password {
        hash: &'a str,
        mfa_enabled: bool,
    },
    Session(SessionId),
    ApiKey(ApiKeyId),
}

/// A user, the team they act in, and the credential they have authenticated with.
#[derive(Clone, Copy, Debug)]
pub struct Authority<'a> {
    pub user: UserId,
    pub team: TeamId,
    pub credential: Credential<'a>,
}

impl Credential<'_> {
    pub(crate) fn session(self) -> Option<SessionId> {
        match self {
            Self::Session(id) => Some(id),
            Self::Password { .. } | Self::ApiKey(_) => None,
        }
    }

    pub(crate) fn api_key(self) -> Option<ApiKeyId> {
        match self {
            Self::ApiKey(id) => Some(id),
            Self::Password { .. } | Self::Session(_) => None,
        }
    }
}

/// Locks a user's row until the transaction ends; false when there is no such user.
pub(crate) async fn lock_user(tx: &mut Tx, user: UserId) -> Result<bool> {
    Ok(within!(*tx, |db| {
        sqlx::query("update users set modified = modified where id = $1")
            .bind(user.uuid())
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
    })?)
}

/// Locks a user's row until the transaction ends. Fails with `StoreError::Gone` if the
/// credential does not, or no longer, belong to this user, or if the user is suspended or is not,
/// or no longer, an active member of the team.
pub(crate) async fn confirm(tx: &mut Tx, caller: Authority<'_>) -> Result<()> {
    if lock_user(tx, caller.user).await? && is_valid(tx, caller).await? {
        Ok(())
    } else {
        Err(StoreError::Gone)
    }
}

/// Whether the credential belongs to this user; the user's row must be locked.
pub(crate) async fn is_valid(tx: &mut Tx, caller: Authority<'_>) -> Result<bool> {
    let Authority { user, team, credential } = caller;
    let found: i64 = within!(*tx, |db| match credential {
        Credential::Password { hash, mfa_enabled } => {
            sqlx::query_scalar(
                "select count(*) from users
                 where id = $1 and password_hash = $2 and mfa_enabled = $3
                 and suspended_at is null",
            )
            .bind(user.uuid())
            .bind(hash)
            .bind(mfa_enabled)
            .fetch_one(db)
            .await
        }
        Credential::Session(id) => {
            sqlx::query_scalar(
                "select count(*) from sessions s
                 join users u on u.id = s.user_id
                 join members m on m.team_id = $3 and m.user_id = s.user_id
                 where s.id = $2 and s.user_id = $1 and m.suspended_at is null
                 and u.suspended_at is null",
            )
            .bind(user.uuid())
            .bind(id.uuid())
            .bind(team.uuid())
            .fetch_one(db)
            .await
        }
        Credential::ApiKey(id) => {
            sqlx::query_scalar(
                "select count(*) from api_keys k
                 join users u on u.id = k.user_id
                 join members m on m.team_id = k.team_id and m.user_id = k.user_id
                 where k.id = $2 and k.user_id = $1 and k.team_id = $3
                 and m.suspended_at is null and u.suspended_at is null",
            )
            .bind(user.uuid())
            .bind(id.uuid())
            .bind(team.uuid())
            .fetch_one(db)
            .await
        }
    })?;
    Ok(found == 1)
}
