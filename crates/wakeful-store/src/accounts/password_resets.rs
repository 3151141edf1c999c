//! Password resets: one valid token per user, stored as a digest, for a single
//! use and only with the address it was mailed to.

use sqlx::Error;
use uuid::Uuid;
use wakeful_core::audit::{Action, Object, ObjectKind};
use wakeful_core::email_address;
use wakeful_core::id::UserId;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use crate::accounts::{email_verification, leaving};
use crate::dialect::{read, within, write};
use crate::{Account, AuditContext, Mail, NewEntry, Result, Store, StoreError, mail};

impl Store {
    /// Creates a reset token that replaces any earlier one. `mail` delivers it;
    /// without one, the caller delivers it. `by` is the operator who asked for it, if one did. Fails with `StoreError::Gone` if the account has
    /// been deleted or its address has changed.
    pub async fn add_password_reset(
        &self,
        account: &Account,
        digest: Digest,
        expires: Millis,
        mail: Option<&Mail>,
        by: Option<&AuditContext>,
        now: Millis,
    ) -> Result<()> {
        let mail = mail.map(|mail| mail::sealed(&self.keyring, mail));
        let email_key = email_address::key(&account.email);
        let mut tx = self.begin().await?;
        within!(tx, |db| {
            let locked = sqlx::query(
                "update users set modified = modified where id = $1 and email_key = $2",
            )
            .bind(account.user.uuid())
            .bind(email_key.as_str())
            .execute(&mut *db)
            .await?;
            if locked.rows_affected() == 0 {
                return Err(StoreError::Gone);
            }
            sqlx::query(
                "insert into resets (digest, user_id, expires, email_key, mailed)
                 values ($1, $2, $3, $4, $5)
                 on conflict (user_id) do update
                 set digest = excluded.digest, expires = excluded.expires,
                     email_key = excluded.email_key, mailed = excluded.mailed",
            )
            .bind(&digest.0[..])
            .bind(account.user.uuid())
            .bind(expires.0)
            .bind(email_key.as_str())
            .bind(mail.is_some())
            .execute(&mut *db)
            .await?;
        });
        if let Some(mail) = &mail {
            mail::insert(&mut tx, mail, now).await?;
        }
        if let Some(by) = by {
            let person = Object::new(ObjectKind::Person, &account.user, &account.email);
            let entry = NewEntry::new(Action::PasswordLink, person, Vec::new());
            let teams = leaving::teams_of(&mut tx, account.user).await?;
            self.write_administration(&mut tx, by, &entry, &teams).await?;
        }
        tx.commit().await
    }

    /// Consumes a reset token: sets the password, ends all sessions, and deletes all API keys and
    /// the URLs of the user's calendars. A mailed token also verifies the address. `None` when the token is unknown, expired, used, or was not
    /// mailed to this address, or when the address has changed since.
    pub async fn reset_password(
        &self,
        digest: Digest,
        email_key: &str,
        password_hash: &str,
        by: &AuditContext,
    ) -> Result<Option<UserId>> {
        let now = by.at();
        let mut tx = self.begin().await?;
        let (user, mailed) = within!(tx, |db| {
            let found: Option<Uuid> = sqlx::query_scalar(
                "update users set password_hash = $3, modified = $4
                 where email_key = $2 and id = (select user_id from resets where digest = $1)
                 returning id",
            )
            .bind(&digest.0[..])
            .bind(email_key)
            .bind(password_hash)
            .bind(now.0)
            .fetch_optional(&mut *db)
            .await?;
            let Some(user) = found else { return Ok(None) };
            // With the user's row locked, only one caller finds the token.
            let spent: Option<bool> = sqlx::query_scalar(
                "delete from resets
                 where digest = $1 and user_id = $2 and email_key = $3 and expires > $4
                 returning mailed",
            )
            .bind(&digest.0[..])
            .bind(user)
            .bind(email_key)
            .bind(now.0)
            .fetch_optional(&mut *db)
            .await?;
            let Some(mailed) = spent else { return Ok(None) };
            for revoke in [
                "delete from sessions where user_id = $1",
                "delete from api_keys where user_id = $1",
                "update contact_rules set feed_digest = null where user_id = $1",
            ] {
                sqlx::query(revoke).bind(user).execute(&mut *db).await?;
            }
            Ok::<_, Error>((UserId::from(user), mailed))
        })?;
        if mailed {
            email_verification::mark_verified(&mut tx, user, now).await?;
        }
        let person = Object::new(ObjectKind::Person, &user, email_key);
        let entry = NewEntry::new(Action::PasswordReset, person, Vec::new());
        self.write_entry_in_teams(&mut tx, by, user, &entry).await?;
        tx.commit().await?;
        Ok(Some(user))
    }

    /// Whether a token is valid for this address now. Does not consume it.
    pub async fn is_password_reset_valid(
        &self,
        digest: Digest,
        email_key: &str,
        now: Millis,
    ) -> Result<bool> {
        let found: Option<i64> = read!(self, |db| {
            sqlx::query_scalar(
                "select r.expires
                 from resets r
                 join users u on u.id = r.user_id
                 where r.digest = $1 and r.expires > $2
                 and r.email_key = $3 and u.email_key = $3",
            )
            .bind(&digest.0[..])
            .bind(now.0)
            .bind(email_key)
            .fetch_optional(db)
            .await
        })?;
        Ok(found.is_some())
    }

    pub async fn prune_password_resets(&self, now: Millis) -> Result<u64> {
        Ok(write!(self, |db| {
            sqlx::query("delete from resets where expires <= $1")
                .bind(now.0)
                .execute(db)
                .await
                .map(|done| done.rows_affected())
        })?)
    }
}
