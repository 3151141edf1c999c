//! Erases what the log says about people who were deleted, and deletes the logs of deleted teams.

use uuid::Uuid;
use wakeful_core::audit::{Action, Person};
use wakeful_core::id::UserId;

use super::INVITATION_FIELD;
use crate::dialect::{Tx, read, within, write};
use crate::notifications::deliveries::Bound;
use crate::{Result, Store};

/// How many entries are erased at a time.
const ERASE_BATCH: i64 = 500;

/// Has what identifies a user erased from all entries; their hashes remain valid. It may be a lot
/// of entries, so that is done in parts after the transaction, by `erase_part`.
pub(crate) async fn erase(tx: &mut Tx, user: UserId) -> Result<()> {
    let joined: Vec<String> = within!(*tx, |db| {
        sqlx::query_scalar(
            "select person from audit
             where object_id = $1 and action = $2 and person is not null",
        )
        .bind(user.to_string())
        .bind(Action::MemberJoin.as_str())
        .fetch_all(db)
        .await
    })?;
    let invitations = joined.iter().filter_map(|person| accepted_invitation(person));
    for id in std::iter::once(user.to_string()).chain(invitations) {
        within!(*tx, |db| {
            sqlx::query("insert into audit_erasures (id) values ($1) on conflict do nothing")
                .bind(id)
                .execute(db)
                .await?;
        });
    }
    Ok(())
}

/// The invitation by which a person has joined a team.
fn accepted_invitation(person: &str) -> Option<String> {
    let person: Person = serde_json::from_str(person).ok()?;
    let change = person.changes.into_iter().find(|change| change.field == INVITATION_FIELD)?;
    Some(change.to?.as_str()?.to_owned())
}

impl Store {
    /// Erases a part of what was left to erase of deleted people, or deletes a part of the logs of
    /// deleted teams; true if there may be more.
    pub async fn erase_part(&self) -> Result<bool> {
        let person: Option<String> = read!(self, |db| {
            sqlx::query_scalar("select id from audit_erasures limit 1").fetch_optional(db).await
        })?;
        if let Some(id) = person {
            let erased = write!(self, |db| {
                sqlx::query(
                    "update audit set person = null, salt = null
                     where (chain, seq) in (
                         select chain, seq from audit
                         where (actor_id = $1 or object_id = $1) and person is not null
                         limit $2)",
                )
                .bind(id.as_str())
                .bind(ERASE_BATCH)
                .execute(db)
                .await
                .map(|done| done.rows_affected())
            })?;
            return self.end_erasure("delete from audit_erasures where id = $1", id, erased).await;
        }
        let team: Option<Uuid> = read!(self, |db| {
            sqlx::query_scalar("select id from audit_graves limit 1").fetch_optional(db).await
        })?;
        let Some(id) = team else { return Ok(false) };
        let deleted = write!(self, |db| {
            sqlx::query(
                "delete from audit where (chain, seq) in (
                     select chain, seq from audit where chain = $1 limit $2)",
            )
            .bind(id)
            .bind(ERASE_BATCH)
            .execute(db)
            .await
            .map(|done| done.rows_affected())
        })?;
        self.end_erasure("delete from audit_graves where id = $1", id, deleted).await
    }

    /// Notes that an erasure is complete once a part was not full.
    async fn end_erasure<T: Bound>(&self, done: &'static str, id: T, rows: u64) -> Result<bool> {
        if rows < ERASE_BATCH.cast_unsigned() {
            write!(self, |db| sqlx::query(done).bind(id).execute(db).await.map(drop))?;
        }
        Ok(true)
    }
}
