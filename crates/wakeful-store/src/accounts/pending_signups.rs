//! Sign-ups whose address must be verified before the account is created. A link is mailed to the
//! address; using it creates the account.

use wakeful_core::audit::{Action, Object, ObjectKind};
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use crate::accounts::{account, email_verification, teams};
use crate::dialect::{from_row, read, within, write};
use crate::{
    AuditContext, Mail, NewAccount, NewEntry, NewVerification, Result, Store, StoreError, mail,
};

/// An account that is created when its address has been verified.
#[derive(Clone, Debug)]
pub struct PendingSignup {
    pub email: String,
    pub name: String,
    pub password_hash: String,
}

from_row!(PendingSignup, |row| Self {
    email: row.try_get("email")?,
    name: row.try_get("name")?,
    password_hash: row.try_get("password_hash")?,
});

impl Store {
    /// Stores a sign-up and the mail with its link. Earlier ones with the same address stay valid:
    /// otherwise someone else could replace the password of the person who reads the mail.
    pub async fn add_pending_signup(
        &self,
        account: &NewAccount,
        link: NewVerification,
        mail: &Mail,
        now: Millis,
    ) -> Result<()> {
        let mail = mail::sealed(&self.keyring, mail);
        let mut tx = self.begin().await?;
        within!(tx, |db| {
            sqlx::query(
                "insert into pending_signups
                 (digest, email, email_key, name, password_hash, expires)
                 values ($1, $2, $3, $4, $5, $6)",
            )
            .bind(&link.digest.0[..])
            .bind(account.email.as_str())
            .bind(account.email.key())
            .bind(account.name.as_str())
            .bind(account.password_hash.as_str())
            .bind(link.expires.0)
            .execute(db)
            .await?;
        });
        mail::insert(&mut tx, &mail, now).await?;
        tx.commit().await
    }

    /// The sign-up with this link.
    pub async fn pending_signup(
        &self,
        digest: Digest,
        now: Millis,
    ) -> Result<Option<PendingSignup>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select email, name, password_hash from pending_signups
                 where digest = $1 and expires > $2",
            )
            .bind(&digest.0[..])
            .bind(now.0)
            .fetch_optional(db)
            .await
        })?)
    }

    /// Uses a link: creates the account, with a team of its own; false if the link was used
    /// meanwhile. Fails with `StoreError::Taken` if the address has an account by now.
    pub async fn finish_signup(
        &self,
        digest: Digest,
        team: TeamId,
        user: UserId,
        by: &AuditContext,
    ) -> Result<bool> {
        let now = by.at();
        let mut tx = self.begin().await?;
        let pending: Option<PendingSignup> = within!(tx, |db| {
            sqlx::query_as(
                "delete from pending_signups where digest = $1 and expires > $2
                 returning email, name, password_hash",
            )
            .bind(&digest.0[..])
            .bind(now.0)
            .fetch_optional(db)
            .await
        })?;
        let Some(PendingSignup { email, name, password_hash }) = pending else {
            return Ok(false);
        };
        let email =
            EmailAddress::parse(&email).map_err(|_| StoreError::Damaged("pending_signups"))?;
        within!(tx, |db| {
            sqlx::query("delete from pending_signups where email_key = $1")
                .bind(email.key())
                .execute(db)
                .await?;
        });
        let account = NewAccount { user, email, name, password_hash };
        let team_name = wakeful_core::accounts::default_team_name(&account.name, &account.email);
        teams::insert(&mut tx, team, &team_name, now).await?;
        account::insert(&mut tx, team, &account, Some(team), now).await?;
        self.appoint_if_first(&mut tx, user, by).await?;
        email_verification::mark_verified(&mut tx, user, now).await?;
        let created = Object::new(ObjectKind::Team, &team, "");
        let entry = NewEntry::new(Action::TeamCreate, created, Vec::new());
        self.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(true)
    }

    pub async fn prune_pending_signups(&self, now: Millis) -> Result<u64> {
        Ok(write!(self, |db| {
            sqlx::query("delete from pending_signups where expires <= $1")
                .bind(now.0)
                .execute(db)
                .await
                .map(|done| done.rows_affected())
        })?)
    }
}
