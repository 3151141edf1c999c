//! Rate limit counters. They are stored, so a restart does not reset them, and
//! each has its own key, so that one account never uses up another's limit.

use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use crate::dialect::{from_row, read, write, write_lazily};
use crate::{Result, Store};

/// The number of hits since the window began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hits {
    pub count: i64,
    pub started: Millis,
}

from_row!(Hits, |row| Self {
    count: row.try_get("hits")?,
    started: Millis(row.try_get("started")?),
});

impl Store {
    /// Adds hits to the window that began after `oldest`, or to a new window. Losing some in a
    /// power failure does no harm.
    pub async fn record_hits(
        &self,
        key: Digest,
        count: u32,
        oldest: Millis,
        now: Millis,
    ) -> Result<Hits> {
        Ok(write_lazily!(self, |db| {
            // A window can lie in the future when the clock was set back.
            sqlx::query_as(
                "insert into limits (digest, started, hits)
                 values ($1, $2, $4)
                 on conflict (digest) do update
                 set hits = case when limits.started > $3 and limits.started <= $2
                                 then limits.hits + $4 else $4 end,
                     started = case when limits.started > $3 and limits.started <= $2
                                    then limits.started else $2 end
                 returning hits, started",
            )
            .bind(&key.0[..])
            .bind(now.0)
            .bind(oldest.0)
            .bind(i64::from(count))
            .fetch_one(db)
            .await
        })?)
    }

    /// The hits of the window that began after `oldest`.
    pub async fn hits(&self, key: Digest, oldest: Millis, now: Millis) -> Result<Option<Hits>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select hits, started
                 from limits
                 where digest = $1 and started > $2 and started <= $3",
            )
            .bind(&key.0[..])
            .bind(oldest.0)
            .bind(now.0)
            .fetch_optional(db)
            .await
        })?)
    }

    /// Removes hits, after attempts that do not count.
    pub async fn undo_hits(&self, key: Digest, count: u32) -> Result<()> {
        write_lazily!(self, |db| {
            sqlx::query("update limits set hits = hits - $2 where digest = $1 and hits >= $2")
                .bind(&key.0[..])
                .bind(i64::from(count))
                .execute(db)
                .await
                .map(drop)
        })?;
        Ok(())
    }

    pub async fn prune_rate_limits(&self, oldest: Millis) -> Result<u64> {
        Ok(write!(self, |db| {
            sqlx::query("delete from limits where started < $1")
                .bind(oldest.0)
                .execute(db)
                .await
                .map(|done| done.rows_affected())
        })?)
    }
}
