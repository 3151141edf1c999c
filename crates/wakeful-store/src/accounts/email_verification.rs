//! Links that verify an email address: stored as a digest, for a single use and only while
//! the account has the address that the link was mailed to.

use sqlx::Error;
use uuid::Uuid;
use wakeful_core::audit::{Action, Object, ObjectKind};
use wakeful_core::email_address;
use wakeful_core::id::UserId;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use crate::dialect::{Tx, read, within, write};
use crate::{Account, AuditContext, Mail, NewEntry, Result, Store, StoreError, mail};

/// A link to store.
#[derive(Clone, Copy, Debug)]
pub struct NewVerification {
    pub digest: Digest,
    pub expires: Millis,
}

impl Store {
    /// Stores a link and the mail that contains it. Earlier links stay valid. Fails with
    /// `StoreError::Gone` if the account has been deleted or its address has changed.
    pub async fn add_verification(
        &self,
        account: &Account,
        link: NewVerification,
        mail: &Mail,
        now: Millis,
    ) -> Result<()> {
        let mail = mail::sealed(&self.keyring, mail);
        let email_key = email_address::key(&account.email);
        let mut tx = self.begin().await?;
        let locked = within!(tx, |db| {
            sqlx::query("update users set modified = modified where id = $1 and email_key = $2")
                .bind(account.user.uuid())
                .bind(email_key.as_str())
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?;
        if !locked {
            return Err(StoreError::Gone);
        }
        insert(&mut tx, account.user, &email_key, link).await?;
        mail::insert(&mut tx, &mail, now).await?;
        tx.commit().await
    }

    /// Uses a link: verifies the address, deletes all links of the user, and makes the waiting
    /// messages of the user's personal notifier due. `None` when the link is unknown, expired
    /// or used, or when the address has changed since it was mailed.
    pub async fn verify_email(&self, digest: Digest, by: &AuditContext) -> Result<Option<UserId>> {
        let now = by.at();
        let mut tx = self.begin().await?;
        let user = within!(tx, |db| {
            let found: Option<Uuid> = sqlx::query_scalar(
                "update users set modified = modified
                 where id = (select user_id from verifications where digest = $1)
                 and email_key = (select email_key from verifications where digest = $1)
                 returning id",
            )
            .bind(&digest.0[..])
            .fetch_optional(&mut *db)
            .await?;
            let Some(user) = found else { return Ok(None) };
            // With the user's row locked, only one caller finds the link.
            let spent = sqlx::query("delete from verifications where digest = $1 and expires > $2")
                .bind(&digest.0[..])
                .bind(now.0)
                .execute(&mut *db)
                .await?;
            if spent.rows_affected() == 0 {
                return Ok(None);
            }
            Ok::<_, Error>(UserId::from(user))
        })?;
        mark_verified(&mut tx, user, now).await?;
        let person = Object::new(ObjectKind::Person, &user, "");
        self.write_entry(&mut tx, by, &NewEntry::new(Action::MemberVerify, person, Vec::new()))
            .await?;
        tx.commit().await?;
        Ok(Some(user))
    }

    /// The account that a link was mailed to.
    pub async fn account_of_verification(&self, digest: Digest) -> Result<Option<Account>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select u.id, u.team_id, u.email, u.password_hash, u.mfa_enabled, u.email_verified,
                        u.suspended_at
                 from verifications v
                 join users u on u.id = v.user_id
                 where v.digest = $1",
            )
            .bind(&digest.0[..])
            .fetch_optional(db)
            .await
        })?)
    }

    pub async fn prune_verifications(&self, now: Millis) -> Result<u64> {
        Ok(write!(self, |db| {
            sqlx::query("delete from verifications where expires <= $1")
                .bind(now.0)
                .execute(db)
                .await
                .map(|done| done.rows_affected())
        })?)
    }
}

pub(crate) async fn insert(
    tx: &mut Tx,
    user: UserId,
    email_key: &str,
    link: NewVerification,
) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "insert into verifications (digest, user_id, email_key, expires)
             values ($1, $2, $3, $4)",
        )
        .bind(&link.digest.0[..])
        .bind(user.uuid())
        .bind(email_key)
        .bind(link.expires.0)
        .execute(db)
        .await?;
    });
    Ok(())
}

/// Marks the address of a user, whose row is locked, as verified, if it is still this one and was
/// not verified before.
pub(crate) async fn verify(tx: &mut Tx, user: UserId, email_key: &str, now: Millis) -> Result<()> {
    let is_open: i64 = within!(*tx, |db| {
        sqlx::query_scalar(
            "select count(*) from users
             where id = $1 and email_key = $2 and email_verified is null",
        )
        .bind(user.uuid())
        .bind(email_key)
        .fetch_one(db)
        .await
    })?;
    if is_open == 1 { mark_verified(tx, user, now).await } else { Ok(()) }
}

/// Marks the address of a user as verified and deletes the links. The messages that waited for
/// it are sent now, and not at their next attempt.
pub(crate) async fn mark_verified(tx: &mut Tx, user: UserId, now: Millis) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query("update users set email_verified = $2, modified = $2 where id = $1")
            .bind(user.uuid())
            .bind(now.0)
            .execute(&mut *db)
            .await?;
        sqlx::query("delete from verifications where user_id = $1")
            .bind(user.uuid())
            .execute(&mut *db)
            .await?;
        sqlx::query(
            "update deliveries set next_try = $2
             where notifier_id in (select id from notifiers where user_id = $1)
             and state = 'waiting' and next_try > $2 and lease_until <= $2",
        )
        .bind(user.uuid())
        .bind(now.0)
        .execute(db)
        .await?;
    });
    Ok(())
}
