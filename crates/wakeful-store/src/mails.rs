//! The service's own mail, waiting to be sent: written in the transaction that
//! gives the reason for it, sealed (reset links are secrets), claimed by lease.

use serde::{Deserialize, Serialize};
use uuid::Uuid;
use wakeful_core::id::{MailId, NodeId};
use wakeful_core::time::Millis;

use crate::deliveries::{count_claim, crashes_before};
use crate::dialect::{from_row, write};
use crate::{Keyring, Result, Store, StoreError};

const COLUMN: &str = "mails.content";

/// One message to one address.
#[derive(Clone, Serialize, Deserialize)]
pub struct Mail {
    #[serde(skip, default = "nobody")]
    pub id: MailId,
    pub to: String,
    pub reply_to: Option<String>,
    pub subject: String,
    pub text: String,
}

fn nobody() -> MailId {
    Uuid::nil().into()
}

/// A mail that this caller, and no other, may send until the lease ends.
pub struct ClaimedMail {
    pub mail: Mail,
    pub attempts: i64,
    /// Other processes that claimed it before and ended without an outcome.
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
        write!(self, |db| {
            let db = &mut *db.acquire().await?;
            insert!(db, mail, now)
        })?;
        Ok(())
    }

    /// Claims the mail that has waited longest, until the lease ends.
    pub async fn claim_mail(&self, now: Millis, lease: Millis) -> Result<Option<ClaimedMail>> {
        let row: Option<Row> = write!(self, |db| {
            // The lease is asked for twice: PostgreSQL repeats only the outer
            // condition when another worker was first.
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

    /// A mail that arrived is forgotten.
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

    /// A mail that did not arrive waits for `next_try`, or for good when there is none.
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

/// Inserts a sealed mail, inside a transaction or on a connection.
macro_rules! insert {
    ($db:expr, $mail:expr, $now:expr) => {
        sqlx::query("insert into mails (id, content, created, next_try) values ($1, $2, $3, $3)")
            .bind($mail.id.uuid())
            .bind(&$mail.content[..])
            .bind($now.0)
            .execute(&mut *$db)
            .await
            .map(|_| ())
    };
}
pub(crate) use insert;
