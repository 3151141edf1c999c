//! How claims are counted, in every queue: a process that claims a row and ends without an outcome
//! may have crashed because of it. Each outcome resets the count, and a regular stop undoes it.
//! What has crashed several processes in a row is given up (`MAX_CRASHES`).

use uuid::Uuid;
use wakeful_core::id::NodeId;

use crate::dialect::{Tx, within, write};
use crate::{Result, Store};

/// The queues with a lease in a column of its own, with a condition that lets their claims be
/// found by an index. The messages that are repeated (`keepalives.rs`) have none.
macro_rules! each_queue {
    ($prefix:expr, $condition:literal) => {
        [
            concat!("update deliveries", $prefix, $condition, " and next_try is not null"),
            concat!("update mails", $prefix, $condition, " and next_try is not null"),
            concat!(
                "update statuspage_deliveries",
                $prefix,
                $condition,
                " and next_try is not null"
            ),
            concat!("update statuspage_events", $prefix, $condition, " and completed is null"),
            concat!("update audit_streams", $prefix, $condition),
        ]
    };
}

/// Claims without an outcome, excluding the caller's own.
pub(crate) fn crashes_before(claims: i64) -> u32 {
    u32::try_from(claims - 1).unwrap_or(0)
}

/// Counts a node's claim of a row. A node that claims a row again has not ended in
/// between, so it counts once.
macro_rules! count_claim {
    ($node:literal) => {
        concat!(
            "claims = case when claims > 0 and claimed_by = ",
            $node,
            " then claims else claims + 1 end, claimed_by = ",
            $node
        )
    };
}
pub(crate) use count_claim;

/// Claims of the row `d` by other nodes.
macro_rules! crashes_of {
    ($node:literal) => {
        concat!(
            "case when d.claims > 0 and d.claimed_by = ",
            $node,
            " then d.claims - 1 else d.claims end"
        )
    };
}
pub(crate) use crashes_of;

/// The same as a column.
macro_rules! crashes {
    ($node:literal) => {
        concat!($crate::claims::crashes_of!($node), " as crashes")
    };
}
pub(crate) use crashes;

/// Undoes the count of a claim of this node.
macro_rules! undo_count {
    () => {
        "claims = case when claims > 0 then claims - 1 else 0 end, claimed_by = null"
    };
}
pub(crate) use undo_count;

/// Undoes a claim of this node, as if it had not been made.
macro_rules! undo_claim {
    () => {
        concat!("lease_until = 0, ", $crate::claims::undo_count!())
    };
}
pub(crate) use undo_claim;

impl Store {
    /// Undoes all claims of this node when it shuts down: other nodes may send the
    /// messages, and it does not count as a crash.
    pub async fn release_claims(&self) -> Result<()> {
        let mut tx = self.begin().await?;
        let node = self.node.map(NodeId::uuid);
        within!(tx, |db| {
            for sql in each_queue!(
                concat!(" set ", undo_claim!()),
                " where claimed_by = $1 and claims > 0"
            ) {
                sqlx::query(sql).bind(node).execute(&mut *db).await?;
            }
            Ok::<_, sqlx::Error>(())
        })?;
        tx.commit().await
    }

    /// Ends the leases of a dead process; its claims still count. Only for a single
    /// node: no other process is sending what it finds claimed at startup.
    pub async fn release_all_claims(&self) -> Result<u64> {
        let mut released = write!(self, |db| {
            sqlx::query(
                "update payment_attempts set lease_until = 0
                 where state in ('waiting', 'refund') and lease_until > 0",
            )
            .execute(db)
            .await
            .map(|done| done.rows_affected())
        })?;
        for sql in each_queue!(" set lease_until = 0", " where lease_until > 0") {
            released += write!(self, |db| {
                sqlx::query(sql).execute(db).await.map(|done| done.rows_affected())
            })?;
        }
        Ok(released)
    }
}

/// Ends the leases of a dead node; its claims still count.
pub(crate) async fn end_leases(tx: &mut Tx, node: Uuid) -> Result<()> {
    within!(*tx, |db| {
        for sql in each_queue!(" set lease_until = 0", " where claimed_by = $1 and lease_until > 0")
        {
            sqlx::query(sql).bind(node).execute(&mut *db).await?;
        }
        Ok::<_, sqlx::Error>(())
    })?;
    Ok(())
}
