//! Accounts outside the scope of a team: lookup by email address, and sign-up,
//! which creates a team with its first user.

use uuid::Uuid;
use wakeful_core::accounts::default_team_name;
use wakeful_core::audit::{Action, Object, ObjectKind};
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::time::Millis;

use crate::accounts::{email_verification, sessions, teams};
use crate::dialect::{Tx, from_row, read, within, write};
use crate::{AuditContext, Mail, NewEntry, NewSession, NewVerification, Result, Store, mail};

/// The part of an account that authentication needs.
#[derive(Clone, Debug)]
pub struct Account {
    pub user: UserId,
    pub team: TeamId,
    pub email: String,
    pub password_hash: String,
    pub mfa_enabled: bool,
    pub email_verified: bool,
    /// Whether the user cannot sign in.
    pub suspended: bool,
}

from_row!(Account, |row| Self {
    user: row.try_get::<Uuid, _>("id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    email: row.try_get("email")?,
    password_hash: row.try_get("password_hash")?,
    mfa_enabled: row.try_get("mfa_enabled")?,
    email_verified: row.try_get::<Option<i64>, _>("email_verified")?.is_some(),
    suspended: row.try_get::<Option<i64>, _>("suspended_at")?.is_some(),
});

/// A user to create.
#[derive(Clone, Debug)]
pub struct NewAccount {
    pub user: UserId,
    pub email: EmailAddress,
    pub name: String,
    pub password_hash: String,
}

impl Store {
    /// The account with this address, ignoring case.
    pub async fn account_by_email(&self, email_key: &str) -> Result<Option<Account>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select id, team_id, email, password_hash, mfa_enabled, email_verified, suspended_at
                 from users
                 where email_key = $1 and kind = 'person'",
            )
            .bind(email_key)
            .fetch_optional(db)
            .await
        })?)
    }

    pub async fn account(&self, user: UserId) -> Result<Option<Account>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select id, team_id, email, password_hash, mfa_enabled, email_verified, suspended_at
                 from users
                 where id = $1",
            )
            .bind(user.uuid())
            .fetch_optional(db)
            .await
        })?)
    }

    /// The account of a member of a team, unless the member or the account is suspended.
    pub async fn account_of_member(&self, team: TeamId, user: UserId) -> Result<Option<Account>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select u.id, u.team_id, u.email, u.password_hash, u.mfa_enabled,
                        u.email_verified, u.suspended_at
                 from members m
                 join users u on u.id = m.user_id
                 where m.team_id = $1 and m.user_id = $2
                 and m.suspended_at is null and u.suspended_at is null",
            )
            .bind(team.uuid())
            .bind(user.uuid())
            .fetch_optional(db)
            .await
        })?)
    }

    pub async fn has_accounts(&self) -> Result<bool> {
        let any: Option<i64> = read!(self, |db| {
            sqlx::query_scalar("select cast(1 as bigint) from users limit 1")
                .fetch_optional(db)
                .await
        })?;
        Ok(any.is_some())
    }

    /// Replaces the hash of a password with a new hash of the same password,
    /// unless the password has changed in the meantime.
    pub async fn rehash_password(&self, account: &Account, hash: &str) -> Result<()> {
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

    /// Creates a team, its first user, a session and the welcome mail, with the link in
    /// it, in one transaction. `Taken` when the address already has an account.
    pub async fn sign_up(
        &self,
        team: TeamId,
        account: &NewAccount,
        session: &NewSession,
        welcome: &Mail,
        link: Option<NewVerification>,
        by: &AuditContext,
    ) -> Result<()> {
        let now = by.at();
        let welcome = mail::sealed(&self.keyring, welcome);
        let mut tx = self.begin().await?;
        teams::insert(&mut tx, team, &default_team_name(&account.name, &account.email), now)
            .await?;
        insert(&mut tx, team, account, Some(team), now).await?;
        self.appoint_if_first(&mut tx, account.user, by).await?;
        sessions::insert(&mut tx, session, None, now).await?;
        if let Some(link) = link {
            let email_key = account.email.key();
            email_verification::insert(&mut tx, account.user, &email_key, link).await?;
        }
        mail::insert(&mut tx, &welcome, now).await?;
        let created = Object::new(ObjectKind::Team, &team, "");
        self.write_entry(&mut tx, by, &NewEntry::new(Action::TeamCreate, created, Vec::new()))
            .await?;
        tx.commit().await
    }
}

/// Inserts a user into a team. `managed_by` is the team that may change the account.
pub(crate) async fn insert(
    tx: &mut Tx,
    team: TeamId,
    account: &NewAccount,
    managed_by: Option<TeamId>,
    now: Millis,
) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "insert into users
             (id, team_id, email, email_key, name, password_hash, created, modified, managed_by)
             values ($1, $2, $3, $4, $5, $6, $7, $7, $8)",
        )
        .bind(account.user.uuid())
        .bind(team.uuid())
        .bind(account.email.as_str())
        .bind(account.email.key())
        .bind(account.name.as_str())
        .bind(account.password_hash.as_str())
        .bind(now.0)
        .bind(managed_by.map_or(Uuid::nil(), TeamId::uuid))
        .execute(db)
        .await?;
    });
    Ok(())
}
