//! Accounts seen from outside any team: who has this email, and the making of
//! a team with its first user.

use sqlx::Error;
use uuid::Uuid;
use wakeful_core::email::Email;
use wakeful_core::id::{ApiKeyId, TeamId, UserId};
use wakeful_core::time::Millis;

use crate::dialect::{from_row, read, within, write};
use crate::{Mail, NewSession, Result, Store, mails, sessions};

/// What letting a user in needs to know.
#[derive(Clone, Debug)]
pub struct Account {
    pub user: UserId,
    pub team: TeamId,
    pub email: String,
    pub password_hash: String,
    pub mfa_enabled: bool,
}

from_row!(Account, |row| Self {
    user: row.try_get::<Uuid, _>("id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    email: row.try_get("email")?,
    password_hash: row.try_get("password_hash")?,
    mfa_enabled: row.try_get("mfa_enabled")?,
});

/// A user to be made.
#[derive(Clone, Debug)]
pub struct NewAccount {
    pub user: UserId,
    pub email: Email,
    pub name: String,
    pub password_hash: String,
}

impl Store {
    /// The account of an address, compared without letter case.
    pub async fn account_by_email(&self, email_key: &str) -> Result<Option<Account>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select id, team_id, email, password_hash, mfa_enabled
                 from users
                 where email_key = $1",
            )
            .bind(email_key)
            .fetch_optional(db)
            .await
        })?)
    }

    /// The account of a user who is already known to be the caller.
    pub async fn account(&self, user: UserId) -> Result<Option<Account>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select id, team_id, email, password_hash, mfa_enabled
                 from users
                 where id = $1",
            )
            .bind(user.uuid())
            .fetch_optional(db)
            .await
        })?)
    }

    /// Replaces the hash of a password by another of the same password, unless
    /// the password was changed meanwhile.
    pub async fn renew_hash(&self, account: &Account, hash: &str) -> Result<()> {
        write!(self, |db| {
            sqlx::query("update users set password_hash = $3 where id = $1 and password_hash = $2")
                .bind(account.user.uuid())
                .bind(account.password_hash.as_str())
                .bind(hash)
                .execute(db)
                .await
                .map(drop)
        })?;
        Ok(())
    }

    /// Makes a team, its first user, their session and the mail that greets
    /// them, all or nothing. `Taken` when the address has an account.
    pub async fn sign_up(
        &self,
        team: TeamId,
        account: &NewAccount,
        session: &NewSession,
        welcome: &Mail,
        now: Millis,
    ) -> Result<()> {
        let welcome = mails::sealed(&self.keyring, welcome);
        let mut tx = self.begin().await?;
        within!(tx, |db| {
            sqlx::query("insert into teams (id, created, modified) values ($1, $2, $2)")
                .bind(team.uuid())
                .bind(now.0)
                .execute(&mut *db)
                .await?;
            insert!(db, team, account, now)?;
            sessions::insert!(db, session, None::<ApiKeyId>, now)?;
            mails::insert!(db, welcome, now)?;
            Ok::<_, Error>(())
        })?;
        tx.commit().await
    }
}

/// Inserts a user into a team, inside a transaction.
macro_rules! insert {
    ($db:expr, $team:expr, $account:expr, $now:expr) => {
        sqlx::query(
            "insert into users
             (id, team_id, email, email_key, name, password_hash, created, modified)
             values ($1, $2, $3, $4, $5, $6, $7, $7)",
        )
        .bind($account.user.uuid())
        .bind($team.uuid())
        .bind($account.email.as_str())
        .bind($account.email.key())
        .bind($account.name.as_str())
        .bind($account.password_hash.as_str())
        .bind($now.0)
        .execute(&mut *$db)
        .await
        .map(|_| ())
    };
}
pub(crate) use insert;
