//! Password resets: one live token a user, kept as a digest, good once.

use sqlx::Error;
use uuid::Uuid;
use wakeful_core::id::UserId;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use crate::dialect::{within, write};
use crate::{Mail, Result, Store, mails};

impl Store {
    /// Makes a reset token in place of an earlier one, with the mail that brings
    /// it, unless somebody else does.
    pub async fn add_reset(
        &self,
        user: UserId,
        digest: Digest,
        expires: Millis,
        mail: Option<&Mail>,
        now: Millis,
    ) -> Result<()> {
        let mail = mail.map(|mail| mails::sealed(&self.keyring, mail));
        let mut tx = self.begin().await?;
        within!(tx, |db| {
            sqlx::query(
                "insert into resets (digest, user_id, expires)
                 values ($1, $2, $3)
                 on conflict (user_id) do update
                 set digest = excluded.digest, expires = excluded.expires",
            )
            .bind(&digest.0[..])
            .bind(user.uuid())
            .bind(expires.0)
            .execute(&mut *db)
            .await?;
            if let Some(mail) = &mail {
                mails::insert!(db, mail, now)?;
            }
            Ok::<_, Error>(())
        })?;
        tx.commit().await
    }

    /// Spends a reset token: sets the password and ends every session. Nothing
    /// when the token is unknown, old, spent, or not that of this address.
    pub async fn reset_password(
        &self,
        digest: Digest,
        email_key: &str,
        password_hash: &str,
        now: Millis,
    ) -> Result<Option<UserId>> {
        let mut tx = self.begin().await?;
        let user = within!(tx, |db| {
            let spent: Option<Uuid> = sqlx::query_scalar(
                "delete from resets
                 where digest = $1
                 and expires > $2
                 and user_id = (select id from users where email_key = $3)
                 returning user_id",
            )
            .bind(&digest.0[..])
            .bind(now.0)
            .bind(email_key)
            .fetch_optional(&mut *db)
            .await?;
            let Some(user) = spent else { return Ok(None) };
            sqlx::query("update users set password_hash = $2, modified = $3 where id = $1")
                .bind(user)
                .bind(password_hash)
                .bind(now.0)
                .execute(&mut *db)
                .await?;
            sqlx::query("delete from sessions where user_id = $1")
                .bind(user)
                .execute(&mut *db)
                .await?;
            Ok::<_, Error>(UserId::from(user))
        })?;
        tx.commit().await?;
        Ok(Some(user))
    }

    /// Whether a token would reset this address's password now; it stays unspent.
    pub async fn reset_is_live(
        &self,
        digest: Digest,
        email_key: &str,
        now: Millis,
    ) -> Result<bool> {
        let found: Option<i64> = crate::dialect::read!(self, |db| {
            sqlx::query_scalar(
                "select r.expires
                 from resets r
                 join users u on u.id = r.user_id
                 where r.digest = $1 and r.expires > $2 and u.email_key = $3",
            )
            .bind(&digest.0[..])
            .bind(now.0)
            .bind(email_key)
            .fetch_optional(db)
            .await
        })?;
        Ok(found.is_some())
    }

    pub async fn sweep_resets(&self, now: Millis) -> Result<u64> {
        Ok(write!(self, |db| {
            sqlx::query("delete from resets where expires <= $1")
                .bind(now.0)
                .execute(db)
                .await
                .map(|done| done.rows_affected())
        })?)
    }
}
