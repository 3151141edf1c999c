//! The credentials that sessions, API keys and changes of a user are based on.
//! They are checked again in the transaction that writes, with the user's row
//! locked. Everything that revokes credentials locks that row too, so a new
//! credential is either seen by the revocation or refused after it.

use wakeful_core::id::{ApiKeyId, SessionId};

/// What a caller has authenticated with.
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

/// Locks a user's row until the transaction ends; false when there is none.
macro_rules! lock_user {
    ($db:expr, $user:expr) => {
        sqlx::query("update users set modified = modified where id = $1")
            .bind($user.uuid())
            .execute(&mut *$db)
            .await
            .map(|done| done.rows_affected() == 1)
    };
}

/// Locks a user's row until the transaction ends; false when the credential is
/// not, or no longer, one of this user.
macro_rules! confirm {
    ($db:expr, $user:expr, $credential:expr) => {
        match $crate::credentials::lock_user!($db, $user) {
            Ok(true) => {
                let found: sqlx::Result<i64> = match $credential {
                    $crate::Credential::Password { hash, mfa_enabled } => {
                        sqlx::query_scalar(
                            "select count(*) from users
                             where id = $1 and password_hash = $2 and mfa_enabled = $3",
                        )
                        .bind($user.uuid())
                        .bind(hash)
                        .bind(mfa_enabled)
                        .fetch_one(&mut *$db)
                        .await
                    }
                    $crate::Credential::Session(id) => {
                        sqlx::query_scalar(
                            "select count(*) from sessions where id = $2 and user_id = $1",
                        )
                        .bind($user.uuid())
                        .bind(id.uuid())
                        .fetch_one(&mut *$db)
                        .await
                    }
                    $crate::Credential::ApiKey(id) => {
                        sqlx::query_scalar(
                            "select count(*) from api_keys where id = $2 and user_id = $1",
                        )
                        .bind($user.uuid())
                        .bind(id.uuid())
                        .fetch_one(&mut *$db)
                        .await
                    }
                };
                found.map(|found| found == 1)
            }
            missing => missing,
        }
    };
}

pub(crate) use {confirm, lock_user};
