//! Streams: webhooks that receive a team's audit log. Entries are sent from the log itself; a
//! stream moves its cursor with a condition, so that each node can only continue where the last
//! success has left it.

use uuid::Uuid;
use wakeful_core::audit::{
    Action, Audited, Batch, MAX_BATCH_ENTRIES, MAX_STREAMS_PER_TEAM, Object, ObjectKind, Stream,
    StreamTarget, diff,
};
use wakeful_core::backoff::MAX_CRASHES;
use wakeful_core::id::{NodeId, StreamId, TeamId};
use wakeful_core::monitors::spec::HttpUrl;
use wakeful_core::notifications::notifier::SigningSecret;
use wakeful_core::time::Millis;

use super::log::StoredEntry;
use crate::accounts::credentials;
use crate::accounts::team::lock_team;
use crate::claims::{count_claim, crashes, crashes_before, undo_claim};
use crate::dialect::{Tx, from_row, read, within, write, write_lazily};
use crate::mail::{self, sealed};
use crate::{
    AuditContext, Authority, Keyring, Mail, NewEntry, Result, Store, StoreError, TeamStore,
};

const SECRET: &str = "audit_streams.secret";

macro_rules! columns {
    () => {
        "id, team_id, secret, cursor, batch_end, attempts, failing_since, last_error, disabled_at,
         created"
    };
}

/// A change to a stream; what is `None` stays as it is.
#[derive(Clone, Debug)]
pub struct StreamChange {
    pub id: StreamId,
    pub url: Option<HttpUrl>,
    pub secret: Option<SigningSecret>,
    pub isactive: Option<bool>,
}

/// A stream with entries that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueStream {
    pub id: StreamId,
    pub team: TeamId,
    /// The number of other processes that claimed entries of it and ended without an outcome.
    pub crashes: u32,
}

from_row!(DueStream, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    crashes: u32::try_from(row.try_get::<i64, _>("crashes")?).unwrap_or(0),
});

/// The time at which streams are due. A retry later than `latest` was scheduled before the clock
/// was set back.
#[derive(Clone, Copy, Debug)]
pub struct StreamTime {
    pub now: Millis,
    pub latest: Millis,
}

/// Entries that only this caller may send until the lease ends.
#[derive(Clone, Debug)]
pub struct ClaimedBatch {
    pub stream: Stream,
    /// `None` if too many other processes claimed them and ended without an outcome.
    pub batch: Option<Batch>,
    pub lease: Millis,
}

/// What follows a failed attempt.
#[derive(Clone, Copy)]
pub enum AfterFailure<'a> {
    RetryAt(Millis),
    /// The stream is disabled, and these mails are sent.
    Disable(&'a [Mail]),
}

struct Row {
    id: StreamId,
    team: TeamId,
    secret: Vec<u8>,
    cursor: i64,
    batch_end: Option<i64>,
    attempts: i64,
    failing_since: Option<i64>,
    last_error: String,
    disabled_at: Option<i64>,
    created: i64,
}

from_row!(Row, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    secret: row.try_get("secret")?,
    cursor: row.try_get("cursor")?,
    batch_end: row.try_get("batch_end")?,
    attempts: row.try_get("attempts")?,
    failing_since: row.try_get("failing_since")?,
    last_error: row.try_get("last_error")?,
    disabled_at: row.try_get("disabled_at")?,
    created: row.try_get("created")?,
});

impl Row {
    fn into_stream(self, keyring: &Keyring) -> Result<Stream> {
        let plain =
            keyring.open(&context(self.id), &self.secret).ok_or(StoreError::Sealed(SECRET))?;
        let text = std::str::from_utf8(&plain).map_err(|_| StoreError::Sealed(SECRET))?;
        let target =
            StreamTarget::from_sealed_part(text).ok_or(StoreError::Damaged("audit_streams"))?;
        Ok(Stream {
            id: self.id,
            team: self.team,
            target,
            cursor: self.cursor,
            attempts: u32::try_from(self.attempts).unwrap_or(u32::MAX),
            failing_since: self.failing_since.map(Millis),
            last_error: self.last_error,
            disabled_at: self.disabled_at.map(Millis),
            created: Millis(self.created),
        })
    }
}

fn context(id: StreamId) -> String {
    format!("{SECRET}:{id}")
}

fn seal(keyring: &Keyring, stream: &Stream) -> Vec<u8> {
    keyring.seal(&context(stream.id), stream.target.sealed_part().expose().as_bytes())
}

impl TeamStore<'_> {
    /// The team's streams, oldest first.
    pub async fn streams(&self) -> Result<Vec<Stream>> {
        let rows: Vec<Row> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from audit_streams where team_id = $1 order by id"
            ))
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?;
        rows.into_iter().map(|row| row.into_stream(&self.store.keyring)).collect()
    }

    pub async fn stream(&self, id: StreamId) -> Result<Option<Stream>> {
        let row: Option<Row> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from audit_streams where id = $1 and team_id = $2"
            ))
            .bind(id.uuid())
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        row.map(|row| row.into_stream(&self.store.keyring)).transpose()
    }

    /// Adds a stream, which begins with the entry about its own creation; false if the team has
    /// `MAX_STREAMS_PER_TEAM`. Fails with `StoreError::Gone` if the caller's credential is no
    /// longer valid.
    pub async fn add_stream(
        &self,
        stream: &Stream,
        caller: Authority<'_>,
        by: &AuditContext,
    ) -> Result<bool> {
        let secret = seal(&self.store.keyring, stream);
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, stream.created).await?;
        credentials::confirm(&mut tx, caller).await?;
        let added = within!(tx, |db| {
            sqlx::query(
                "insert into audit_streams (id, team_id, secret, cursor, disabled_at, created)
                 select $1, $2, $3, 0, $4, $5
                 where (select count(*) from audit_streams where team_id = $2) < $6",
            )
            .bind(stream.id.uuid())
            .bind(self.team.uuid())
            .bind(&secret[..])
            .bind(stream.disabled_at.map(|at| at.0))
            .bind(stream.created.0)
            .bind(i64::from(MAX_STREAMS_PER_TEAM))
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !added {
            return Ok(false);
        }
        self.record_stream(&mut tx, by, None, Some(stream)).await?;
        // The head is locked since the entry was written.
        within!(tx, |db| {
            sqlx::query(
                "update audit_streams
                 set cursor = (select h.seq - 1 from audit_heads h where h.id = $2)
                 where id = $1",
            )
            .bind(stream.id.uuid())
            .bind(self.team.uuid())
            .execute(db)
            .await?;
        });
        tx.commit().await?;
        Ok(true)
    }

    /// Changes a stream, and returns it as it was and as it is; `None` if the team has no such
    /// stream. One with another URL or secret, and one that is turned on, is tried at once. Fails
    /// with `StoreError::Gone` if the caller's credential is no longer valid.
    pub async fn change_stream(
        &self,
        change: &StreamChange,
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<Option<(Stream, Stream)>> {
        let mut tx = self.begin().await?;
        let Some(before) = self.lock_stream(&mut tx, change.id, caller, now).await? else {
            return Ok(None);
        };
        let after = changed(&before, change, now);
        if after == before {
            return Ok(Some((before, after)));
        }
        let turned_on = before.disabled_at.is_some() && after.disabled_at.is_none();
        let reset = turned_on || before.target != after.target;
        let secret = seal(&self.store.keyring, &after);
        within!(tx, |db| {
            sqlx::query(
                "update audit_streams
                 set secret = $2, disabled_at = $3,
                     attempts = case when $4 then 0 else attempts end,
                     failing_since = case when $4 then null else failing_since end,
                     last_error = case when $4 then '' else last_error end,
                     next_try = case when $4 then 0 else next_try end,
                     lease_until = case when $4 then 0 else lease_until end,
                     claims = case when $4 then 0 else claims end
                 where id = $1",
            )
            .bind(change.id.uuid())
            .bind(&secret[..])
            .bind(after.disabled_at.map(|at| at.0))
            .bind(reset)
            .execute(db)
            .await?;
        });
        self.record_stream(&mut tx, by, Some(&before), Some(&after)).await?;
        tx.commit().await?;
        Ok(Some((before, after)))
    }

    /// Deletes a stream; false if the team has no such stream. Fails with `StoreError::Gone` if
    /// the caller's credential is no longer valid.
    pub async fn delete_stream(
        &self,
        id: StreamId,
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        let Some(before) = self.lock_stream(&mut tx, id, caller, now).await? else {
            return Ok(false);
        };
        within!(tx, |db| {
            sqlx::query("delete from audit_streams where id = $1")
                .bind(id.uuid())
                .execute(db)
                .await?;
        });
        self.record_stream(&mut tx, by, Some(&before), None).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Confirms the caller, and reads a stream that is about to be changed. The lock on the team
    /// excludes other changes.
    async fn lock_stream(
        &self,
        tx: &mut Tx,
        id: StreamId,
        caller: Authority<'_>,
        now: Millis,
    ) -> Result<Option<Stream>> {
        lock_team(tx, self.team, now).await?;
        credentials::confirm(tx, caller).await?;
        let row: Option<Row> = within!(*tx, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from audit_streams where id = $1 and team_id = $2"
            ))
            .bind(id.uuid())
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        row.map(|row| row.into_stream(&self.store.keyring)).transpose()
    }

    async fn record_stream(
        &self,
        tx: &mut Tx,
        by: &AuditContext,
        before: Option<&Stream>,
        after: Option<&Stream>,
    ) -> Result<()> {
        let Some(stream) = after.or(before) else { return Ok(()) };
        let object = Object::new(ObjectKind::Stream, &stream.id, &stream.target.origin());
        let [from, to] = [before, after].map(|stream| stream.map(Audited::view));
        let changes = diff(from.as_ref(), to.as_ref());
        self.store.write_entry(tx, by, &NewEntry::new(Action::AuditStream, object, changes)).await
    }
}

fn changed(before: &Stream, change: &StreamChange, now: Millis) -> Stream {
    let mut after = before.clone();
    if let Some(url) = &change.url {
        after.target.url = url.clone();
    }
    if let Some(secret) = &change.secret {
        after.target.secret = secret.clone();
    }
    match change.isactive {
        Some(true) => after.disabled_at = None,
        Some(false) => after.disabled_at = before.disabled_at.or(Some(now)),
        None => {}
    }
    after
}

impl Store {
    /// The number of entries that streams still have to deliver, those of disabled ones aside.
    pub async fn pending_stream_entries(&self) -> Result<i64> {
        Ok(read!(self, |db| {
            sqlx::query_scalar(
                "select cast(coalesce(sum(h.seq - s.cursor), 0) as bigint)
                 from audit_streams s
                 join audit_heads h on h.id = s.team_id
                 where s.disabled_at is null and s.cursor < h.seq",
            )
            .fetch_one(db)
            .await
        })?)
    }

    /// The streams with entries to send now, those that work first.
    pub async fn due_streams(&self, at: StreamTime) -> Result<Vec<DueStream>> {
        Ok(read!(self, |db| {
            sqlx::query_as(concat!(
                "select d.id, d.team_id, ",
                crashes!("$3"),
                " from audit_streams d
                 join audit_heads h on h.id = d.team_id
                 where d.disabled_at is null
                 and (d.next_try <= $1 or d.next_try > $2)
                 and (d.lease_until <= $1 or d.lease_until > $2)
                 and d.cursor < h.seq
                 order by d.attempts, d.next_try",
            ))
            .bind(at.now.0)
            .bind(at.latest.0)
            .bind(self.node.map(NodeId::uuid))
            .fetch_all(db)
            .await
        })?)
    }

    /// Claims the next entries of a stream until the lease ends. Those of an earlier attempt are
    /// claimed again as they were, so that the receiver gets the same request. `None` if there
    /// are none, or if they are claimed or wait for their next attempt.
    pub async fn claim_batch(
        &self,
        id: StreamId,
        at: StreamTime,
        lease: Millis,
    ) -> Result<Option<ClaimedBatch>> {
        let row: Option<Row> = read!(self, |db| {
            sqlx::query_as(concat!("select ", columns!(), " from audit_streams where id = $1"))
                .bind(id.uuid())
                .fetch_optional(db)
                .await
        })?;
        let Some(row) = row else { return Ok(None) };
        let batch_end = row.batch_end;
        let stream = row.into_stream(&self.keyring)?;
        // Counted before the entries are read: whatever crashes a process counts.
        let claims: Option<i64> = write_lazily!(self, |db| {
            sqlx::query_scalar(concat!(
                "update audit_streams set lease_until = $3, ",
                count_claim!("$6"),
                " where id = $1 and cursor = $2 and disabled_at is null
                 and (next_try <= $4 or next_try > $5)
                 and (lease_until <= $4 or lease_until > $5)
                 and cursor < (select h.seq from audit_heads h where h.id = audit_streams.team_id)
                 returning claims",
            ))
            .bind(id.uuid())
            .bind(stream.cursor)
            .bind(lease.0)
            .bind(at.now.0)
            .bind(at.latest.0)
            .bind(self.node.map(NodeId::uuid))
            .fetch_optional(db)
            .await
        })?;
        let Some(claims) = claims else { return Ok(None) };
        let mut claimed = ClaimedBatch { stream, batch: None, lease };
        if crashes_before(claims) >= MAX_CRASHES {
            return Ok(Some(claimed));
        }
        let mut entries = self.entries_to_send(&claimed.stream, batch_end).await?;
        if entries.is_empty() && batch_end.is_some() {
            // Those of the earlier attempt have expired.
            entries = self.entries_to_send(&claimed.stream, None).await?;
        }
        claimed.batch = Batch::of(entries.iter().map(|stored| (&stored.entry, &stored.hash)));
        let Some(batch) = &claimed.batch else {
            self.release_batch(&claimed).await?;
            self.skip_expired_entries(&claimed.stream).await?;
            return Ok(None);
        };
        let last = batch.last;
        if batch_end != Some(last) {
            write_lazily!(self, |db| {
                sqlx::query(
                    "update audit_streams set batch_end = $4
                     where id = $1 and cursor = $2 and lease_until = $3",
                )
                .bind(id.uuid())
                .bind(claimed.stream.cursor)
                .bind(lease.0)
                .bind(last)
                .execute(db)
                .await
                .map(|_| ())
            })?;
        }
        Ok(Some(claimed))
    }

    /// Undoes a claim whose entries were not sent.
    pub async fn release_batch(&self, claimed: &ClaimedBatch) -> Result<()> {
        write!(self, |db| {
            sqlx::query(concat!(
                "update audit_streams set ",
                undo_claim!(),
                " where id = $1 and lease_until = $2 and claimed_by = $3"
            ))
            .bind(claimed.stream.id.uuid())
            .bind(claimed.lease.0)
            .bind(self.node.map(NodeId::uuid))
            .execute(db)
            .await
            .map(|_| ())
        })?;
        Ok(())
    }

    /// The entries after the cursor, up to `end`.
    async fn entries_to_send(&self, stream: &Stream, end: Option<i64>) -> Result<Vec<StoredEntry>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select audit.*, cast(null as text) as actor from audit
                 where chain = $1 and seq > $2 and seq <= $3
                 order by seq
                 limit $4",
            )
            .bind(stream.team.uuid())
            .bind(stream.cursor)
            .bind(end.unwrap_or(i64::MAX))
            .bind(i64::try_from(MAX_BATCH_ENTRIES).unwrap_or(i64::MAX))
            .fetch_all(db)
            .await
        })?)
    }

    /// Moves the cursor behind entries that expired before they could be sent.
    async fn skip_expired_entries(&self, stream: &Stream) -> Result<()> {
        write!(self, |db| {
            sqlx::query(
                "update audit_streams
                 set cursor = (select h.first_seq - 1 from audit_heads h where h.id = $3),
                     batch_end = null
                 where id = $1 and cursor = $2
                 and cursor < (select h.first_seq - 1 from audit_heads h where h.id = $3)",
            )
            .bind(stream.id.uuid())
            .bind(stream.cursor)
            .bind(stream.team.uuid())
            .execute(db)
            .await
            .map(|_| ())
        })?;
        Ok(())
    }

    /// Moves the cursor behind entries that were delivered, unless it has been moved.
    pub async fn batch_delivered(&self, id: StreamId, cursor: i64, last: i64) -> Result<()> {
        write!(self, |db| {
            sqlx::query(
                "update audit_streams
                 set cursor = $3, batch_end = null, attempts = 0, failing_since = null,
                     next_try = 0, lease_until = 0, last_error = '', claims = 0
                 where id = $1 and cursor = $2",
            )
            .bind(id.uuid())
            .bind(cursor)
            .bind(last)
            .execute(db)
            .await
            .map(|_| ())
        })?;
        Ok(())
    }

    /// Records a failed attempt; false if the claim has ended, or if the stream was changed
    /// meanwhile.
    pub async fn batch_failed(
        &self,
        claimed: &ClaimedBatch,
        why: &str,
        next: AfterFailure<'_>,
        now: Millis,
    ) -> Result<bool> {
        let (next_try, disabled_at, mails) = match next {
            AfterFailure::RetryAt(at) => (at, None, &[][..]),
            AfterFailure::Disable(mails) => (now, Some(now), mails),
        };
        let mails: Vec<_> = mails.iter().map(|mail| sealed(&self.keyring, mail)).collect();
        let mut tx = self.begin().await?;
        let recorded = within!(tx, |db| {
            sqlx::query(
                "update audit_streams
                 set attempts = attempts + 1, failing_since = coalesce(failing_since, $4),
                     last_error = $5, next_try = $6, lease_until = 0,
                     disabled_at = coalesce(disabled_at, $7), claims = 0
                 where id = $1 and cursor = $2 and lease_until = $3",
            )
            .bind(claimed.stream.id.uuid())
            .bind(claimed.stream.cursor)
            .bind(claimed.lease.0)
            .bind(now.0)
            .bind(why)
            .bind(next_try.0)
            .bind(disabled_at.map(|at| at.0))
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if recorded {
            for mail in &mails {
                mail::insert(&mut tx, mail, now).await?;
            }
            tx.commit().await?;
        }
        Ok(recorded)
    }
}
