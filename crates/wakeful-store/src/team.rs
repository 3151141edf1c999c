//! One team's data. Every statement here carries the team's id, so an id of
//! another team finds nothing, exactly as an id that does not exist.

use sqlx::Error;
use uuid::Uuid;
use wakeful_core::email::Email;
use wakeful_core::id::{SessionId, TeamId, UserId};
use wakeful_core::time::Millis;

use crate::dialect::{from_row, read, within};
use crate::{Credential, NewAccount, Result, Store, StoreError, accounts, credentials};

pub struct TeamStore<'a> {
    pub(crate) store: &'a Store,
    pub(crate) team: TeamId,
}

/// A user as the team sees them.
#[derive(Clone, Debug)]
pub struct Member {
    pub user: UserId,
    pub email: String,
}

from_row!(Member, |row| Self {
    user: row.try_get::<Uuid, _>("id")?.into(),
    email: row.try_get("email")?,
});

/// What a save changes of a user. A new password ends the user's sessions,
/// except the one that made the change.
#[derive(Clone, Debug)]
pub struct UserChange<'a> {
    pub user: UserId,
    pub email: Email,
    pub password_hash: Option<String>,
    pub caller: UserId,
    /// What the caller has authenticated with.
    pub credential: Credential<'a>,
}

/// What came of adding a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    Done,
    /// The team has as many users as it may.
    Full,
}

impl<'a> TeamStore<'a> {
    pub(crate) fn new(store: &'a Store, team: TeamId) -> Self {
        Self { store, team }
    }

    /// The team's users in the order they came.
    pub async fn members(&self) -> Result<Vec<Member>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as("select id, email from users where team_id = $1 order by id")
                .bind(self.team.uuid())
                .fetch_all(db)
                .await
        })?)
    }

    /// Adds a user, unless the team has `most` already. `Taken` when the address
    /// is not free, `Gone` when the credential of the caller is no longer valid.
    pub async fn add_user(
        &self,
        account: &NewAccount,
        most: Option<u32>,
        (caller, credential): (UserId, Credential<'_>),
        now: Millis,
    ) -> Result<Added> {
        let mut tx = self.store.begin().await?;
        let added = within!(tx, |db| {
            hold_team!(db, self.team, now)?;
            if !credentials::confirm!(db, caller, credential)? {
                return Err(StoreError::Gone);
            }
            if let Some(most) = most {
                let users: i64 =
                    sqlx::query_scalar("select count(*) from users where team_id = $1")
                        .bind(self.team.uuid())
                        .fetch_one(&mut *db)
                        .await?;
                if users >= i64::from(most) {
                    return Ok(Added::Full);
                }
            }
            accounts::insert!(db, self.team, account, now)?;
            Ok::<_, Error>(Added::Done)
        })?;
        tx.commit().await?;
        Ok(added)
    }

    /// Changes a user; false when the team has no such user, `Gone` when the
    /// credential of the caller is no longer valid.
    pub async fn change_user(&self, change: &UserChange<'_>, now: Millis) -> Result<bool> {
        let keep = change.credential.session().filter(|_| change.user == change.caller);
        let mut tx = self.store.begin().await?;
        let changed = within!(tx, |db| {
            // Two users who change each other lock the team first, so that
            // neither waits for the other's row.
            hold_team!(db, self.team, now)?;
            if !credentials::confirm!(db, change.caller, change.credential)? {
                return Err(StoreError::Gone);
            }
            let done = sqlx::query(
                "update users
                 set email = $3, email_key = $4, modified = $6,
                     password_hash = coalesce($5, password_hash)
                 where id = $1 and team_id = $2",
            )
            .bind(change.user.uuid())
            .bind(self.team.uuid())
            .bind(change.email.as_str())
            .bind(change.email.key())
            .bind(change.password_hash.as_deref())
            .bind(now.0)
            .execute(&mut *db)
            .await?;
            if done.rows_affected() == 0 {
                return Ok(false);
            }
            if change.password_hash.is_some() {
                end_other_sessions!(db, change.user, keep)?;
            }
            // A link that was mailed to an earlier address must not work either.
            sqlx::query("delete from resets where user_id = $1 and (email_key <> $2 or $3)")
                .bind(change.user.uuid())
                .bind(change.email.key())
                .bind(change.password_hash.is_some())
                .execute(&mut *db)
                .await?;
            Ok::<_, Error>(true)
        })?;
        tx.commit().await?;
        Ok(changed)
    }

    /// Ends all sessions and removes all API keys of these users, of all or of
    /// none: false when one is not of the team.
    pub async fn revoke(&self, users: &[UserId], now: Millis) -> Result<bool> {
        let mut tx = self.store.begin().await?;
        within!(tx, |db| {
            hold_team!(db, self.team, now)?;
            for user in users {
                let locked = sqlx::query(
                    "update users set modified = modified where id = $1 and team_id = $2",
                )
                .bind(user.uuid())
                .bind(self.team.uuid())
                .execute(&mut *db)
                .await?;
                if locked.rows_affected() == 0 {
                    return Ok(false);
                }
                end_other_sessions!(db, *user, None::<SessionId>)?;
                sqlx::query("delete from api_keys where user_id = $1")
                    .bind(user.uuid())
                    .execute(&mut *db)
                    .await?;
            }
            Ok::<_, Error>(())
        })?;
        tx.commit().await?;
        Ok(true)
    }

    /// Deletes these users, all or none: false when one is not of the team.
    /// The team goes with its last user, and everything of the team with it.
    pub async fn delete_users(&self, users: &[UserId], now: Millis) -> Result<bool> {
        let mut tx = self.store.begin().await?;
        let all = within!(tx, |db| {
            // The team's row is held first, so that two callers who delete the
            // last two users do so one after the other and no empty team stays.
            hold_team!(db, self.team, now)?;
            let mut all = true;
            for user in users {
                let done = sqlx::query("delete from users where id = $1 and team_id = $2")
                    .bind(user.uuid())
                    .bind(self.team.uuid())
                    .execute(&mut *db)
                    .await?;
                all &= done.rows_affected() == 1;
            }
            sqlx::query(
                "delete from teams
                 where id = $1 and not exists (select 1 from users where team_id = $1)",
            )
            .bind(self.team.uuid())
            .execute(&mut *db)
            .await?;
            Ok::<_, Error>(all)
        })?;
        if all {
            tx.commit().await?;
        }
        Ok(all)
    }
}

/// Takes the team's row until the transaction ends.
macro_rules! hold_team {
    ($db:expr, $team:expr, $now:expr) => {
        sqlx::query("update teams set modified = $2 where id = $1")
            .bind($team.uuid())
            .bind($now.0)
            .execute(&mut *$db)
            .await
            .map(|_| ())
    };
}

/// Ends a user's sessions but the one to keep.
macro_rules! end_other_sessions {
    ($db:expr, $user:expr, $keep:expr) => {
        sqlx::query("delete from sessions where user_id = $1 and id <> $2")
            .bind($user.uuid())
            .bind($keep.map_or(Uuid::nil(), SessionId::uuid))
            .execute(&mut *$db)
            .await
            .map(|_| ())
    };
}
use {end_other_sessions, hold_team};
