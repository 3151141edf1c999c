//! The times of sent messages, for the rate limit: of mails per recipient, and of messages to
//! services per notifier.

use sqlx::Error;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use crate::dialect::{read, within, write};
use crate::{Result, Store};

macro_rules! sent_sql {
    () => {
        "select at from sent_mails
         where recipient = $1 and at > $2 and at <= $3
         order by at"
    };
}
pub(super) use sent_sql;

impl Store {
    /// Records a mail to each of these recipients.
    pub async fn record_sent_mail(&self, recipients: &[Digest], now: Millis) -> Result<()> {
        let mut tx = self.begin().await?;
        within!(tx, |db| {
            for recipient in recipients {
                sqlx::query("insert into sent_mails (recipient, at) values ($1, $2)")
                    .bind(&recipient.0[..])
                    .bind(now.0)
                    .execute(&mut *db)
                    .await?;
            }
            Ok::<_, Error>(())
        })?;
        tx.commit().await
    }

    /// The times of the messages sent to this recipient after `since`, oldest first.
    /// Times in the future, from before the clock was set back, are ignored.
    pub async fn messages_sent_between(
        &self,
        recipient: Digest,
        since: Millis,
        now: Millis,
    ) -> Result<Vec<Millis>> {
        let rows: Vec<i64> = read!(self, |db| {
            sqlx::query_scalar(sent_sql!())
                .bind(&recipient.0[..])
                .bind(since.0)
                .bind(now.0)
                .fetch_all(db)
                .await
        })?;
        Ok(rows.into_iter().map(Millis).collect())
    }

    /// Deletes the records of messages sent before `oldest`.
    pub async fn prune_sent_mails(&self, oldest: Millis) -> Result<u64> {
        Ok(write!(self, |db| {
            sqlx::query("delete from sent_mails where at < $1")
                .bind(oldest.0)
                .execute(db)
                .await
                .map(|done| done.rows_affected())
        })?)
    }
}
