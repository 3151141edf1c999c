//! The queue of the service's own mail. A mail is written in the transaction that
//! causes it, sealed (reset links are secrets), and claimed with a lease.

use serde::{Deserialize, Serialize};
use uuid::Uuid;
use wakeful_core::id::{MailId, NodeId};
use wakeful_core::time::Millis;

use crate::claims::{count_claim, crashes_before};
use crate::dialect::{Tx, from_row, within, write};
use crate::{Keyring, Result, Store, StoreError};

const COLUMN: &str = "mails.content";

/// One message to one address.
#[derive(Clone, Serialize, Deserialize)]
pub struct Mail {
    #[serde(skip, default = "nil_id")]
    pub id: MailId,
    pub to: String,
    pub reply_to: Option<String>,
    pub subject: String,
    pub text: String,
}

fn nil_id() -> MailId {
    Uuid::nil().into()
}

/// A mail that only this caller may send until the lease ends.
pub struct ClaimedMail {
    pub mail: Mail,
    pub attempts: i64,
    /// The number of other processes that claimed it and ended without an outcome.
    pub crashes: u32,
}

pub(crate) struct SealedMail {
    pub(crate) id: MailId,
    pub(crate) content: Vec<u8>,
}

pub(crate) fn sealed(keyring: &Keyring, mail: &Mail) -> SealedMail {
    let plain = serde_json::to_vec(mail).expect("a mail is plain text fields");
    SealedMail { id: mail.id, content: keyring.seal(&context(mail.id), &plain) }
}

fn context(id: MailId) -> String {
    format!("{COLUMN}:{id}")
}

struct Row {
    id: Uuid,
    content: Vec<u8>,
    attempts: i64,
    claims: i64,
}

from_row!(Row, |row| Self {
    id: row.try_get("id")?,
    content: row.try_get("content")?,
    attempts: row.try_get("attempts")?,
    claims: row.try_get("claims")?,
});

impl Store {
    pub async fn add_mail(&self, mail: &Mail, now: Millis) -> Result<()> {
        let mail = sealed(&self.keyring, mail);
        let mut tx = self.begin().await?;
        insert(&mut tx, &mail, now).await?;
        tx.commit().await
    }

    /// Claims the mail that has waited longest, until the lease ends.
    pub async fn claim_mail(&self, now: Millis, lease: Millis) -> Result<Option<ClaimedMail>> {
        let row: Option<Row> = write!(self, |db| {
            // The lease is checked twice: PostgreSQL evaluates only the outer
            // condition again when another worker was first.
            sqlx::query_as(concat!(
                "update mails
                 set lease_until = $2, attempts = attempts + 1, ",
                count_claim!("$3"),
                " where id = (
                     select id from mails
                     where next_try <= $1 and lease_until <= $1
                     order by next_try
                     limit 1)
                 and lease_until <= $1
                 returning id, content, attempts, claims"
            ))
            .bind(now.0)
            .bind(lease.0)
            .bind(self.node.map(NodeId::uuid))
            .fetch_optional(db)
            .await
        })?;
        let Some(row) = row else { return Ok(None) };
        let id = MailId::from(row.id);
        let plain =
            self.keyring.open(&context(id), &row.content).ok_or(StoreError::Sealed(COLUMN))?;
        let mail: Mail = serde_json::from_slice(&plain).map_err(|_| StoreError::Sealed(COLUMN))?;
        let crashes = crashes_before(row.claims);
        Ok(Some(ClaimedMail { mail: Mail { id, ..mail }, attempts: row.attempts, crashes }))
    }

    /// Deletes a mail that has been sent.
    pub async fn mail_sent(&self, id: MailId) -> Result<()> {
        write!(self, |db| {
            sqlx::query("delete from mails where id = $1")
                .bind(id.uuid())
                .execute(db)
                .await
                .map(|_| ())
        })?;
        Ok(())
    }

    /// Schedules another attempt for a failed mail, or none when `next_try` is `None`.
    pub async fn mail_failed(&self, id: MailId, why: &str, next_try: Option<Millis>) -> Result<()> {
        write!(self, |db| {
            sqlx::query(
                "update mails set next_try = $2, lease_until = 0, last_error = $3, claims = 0
                 where id = $1",
            )
            .bind(id.uuid())
            .bind(next_try.map(|at| at.0))
            .bind(why)
            .execute(db)
            .await
            .map(|_| ())
        })?;
        Ok(())
    }
}

pub(crate) async fn insert(tx: &mut Tx, mail: &SealedMail, now: Millis) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query("insert into mails (id, content, created, next_try) values ($1, $2, $3, $3)")
            .bind(mail.id.uuid())
            .bind(&mail.content[..])
            .bind(now.0)
            .execute(db)
            .await?;
    });
    Ok(())
}
