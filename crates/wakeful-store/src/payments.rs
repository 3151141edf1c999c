//! Tries to charge. One is written with its key before the processor is asked,
//! there is one at a time for a team, and whoever goes on with it claims it by
//! a lease. How it ends for the membership is written in `memberships.rs`.

use sqlx::Error;
use uuid::Uuid;
use wakeful_core::billing::Charge;
use wakeful_core::id::{AttemptId, MethodId, TeamId};
use wakeful_core::time::Millis;

use crate::dialect::{from_row, read, within, write};
use crate::methods::hold_team;
use crate::{Result, Store, StoreError, TeamStore};

/// A try to charge, written before it is made.
#[derive(Clone, Debug)]
pub struct NewAttempt {
    pub id: AttemptId,
    pub team: TeamId,
    pub method: MethodId,
    /// Asked for by a member who waits for the answer, and not by the clock.
    pub by_person: bool,
    pub processor: String,
    pub customer: String,
    /// The method's id at the processor.
    pub reference: String,
    pub last4: String,
    pub charge: Charge,
}

impl NewAttempt {
    /// The try as its maker goes on with it.
    pub fn begun(self, now: Millis) -> Attempt {
        Attempt { new: self, refund: false, receipt: String::new(), tries: 1, created: now }
    }
}

/// A try that this caller, and no other, may go on with until the lease ends.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub new: NewAttempt,
    /// Whether only a refund is left to do.
    pub refund: bool,
    /// The processor's id of the charge, once paid.
    pub receipt: String,
    pub tries: i64,
    pub created: Millis,
}

struct AttemptRow {
    id: Uuid,
    team_id: Uuid,
    method_id: Uuid,
    by_person: bool,
    processor: String,
    customer: String,
    reference: String,
    last4: String,
    charge: String,
    state: String,
    receipt: String,
    tries: i64,
    created: i64,
}

from_row!(AttemptRow, |row| Self {
    id: row.try_get("id")?,
    team_id: row.try_get("team_id")?,
    method_id: row.try_get("method_id")?,
    by_person: row.try_get("by_person")?,
    processor: row.try_get("processor")?,
    customer: row.try_get("customer")?,
    reference: row.try_get("reference")?,
    last4: row.try_get("last4")?,
    charge: row.try_get("charge")?,
    state: row.try_get("state")?,
    receipt: row.try_get("receipt")?,
    tries: row.try_get("tries")?,
    created: row.try_get("created")?,
});

impl AttemptRow {
    fn attempt(self) -> Result<Attempt> {
        let charge = serde_json::from_str(&self.charge)
            .map_err(|_| StoreError::Damaged("payment_attempts.charge"))?;
        Ok(Attempt {
            new: NewAttempt {
                id: self.id.into(),
                team: self.team_id.into(),
                method: self.method_id.into(),
                by_person: self.by_person,
                processor: self.processor,
                customer: self.customer,
                reference: self.reference,
                last4: self.last4,
                charge,
            },
            refund: self.state == "refund",
            receipt: self.receipt,
            tries: self.tries,
            created: Millis(self.created),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    Done,
    /// The membership changed meanwhile: decide again.
    Stale,
    /// Another try has no outcome yet.
    UnderWay,
}

impl TeamStore<'_> {
    /// Whether a try to charge the team has no outcome yet.
    pub async fn payment_under_way(&self) -> Result<bool> {
        let found: Option<i64> = read!(self.store, |db| {
            sqlx::query_scalar(
                "select created from payment_attempts where team_id = $1 and state = 'waiting'",
            )
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        Ok(found.is_some())
    }
}

impl Store {
    /// Writes a try before the processor is asked, if the membership is still
    /// the one that it was decided on.
    pub async fn begin_attempt(
        &self,
        attempt: &NewAttempt,
        revision: i64,
        now: Millis,
        lease: Millis,
    ) -> Result<Begun> {
        let charge = serde_json::to_string(&attempt.charge).expect("plain fields");
        let mut tx = self.begin().await?;
        let begun = within!(tx, |db| {
            // Held first, so that what follows sees what others have settled.
            hold_team!(db, attempt.team, now)?;
            let done = sqlx::query(
                "insert into payment_attempts
                 (id, team_id, method_id, by_person, processor, customer, reference, last4,
                  charge, state, tries, next_try, lease_until, created)
                 select $1, $2, $3, $4, $5, $6, $7, $8, $9, 'waiting', 1, $10, $11, $10
                 where $12 = coalesce((select revision from memberships where team_id = $2), 0)
                 on conflict do nothing",
            )
            .bind(attempt.id.uuid())
            .bind(attempt.team.uuid())
            .bind(attempt.method.uuid())
            .bind(attempt.by_person)
            .bind(attempt.processor.as_str())
            .bind(attempt.customer.as_str())
            .bind(attempt.reference.as_str())
            .bind(attempt.last4.as_str())
            .bind(charge.as_str())
            .bind(now.0)
            .bind(lease.0)
            .bind(revision)
            .execute(&mut *db)
            .await?;
            let waiting = sqlx::query(
                "select 1 from payment_attempts where team_id = $1 and state = 'waiting'",
            )
            .bind(attempt.team.uuid())
            .fetch_optional(&mut *db)
            .await?;
            Ok::<_, Error>(match (done.rows_affected(), waiting) {
                (1, _) => Begun::Done,
                (_, Some(_)) => Begun::UnderWay,
                (_, None) => Begun::Stale,
            })
        })?;
        if begun == Begun::Done {
            tx.commit().await?;
        }
        Ok(begun)
    }

    /// Claims a try that nobody is at: its answer was lost, or its node.
    pub async fn claim_attempt(&self, now: Millis, lease: Millis) -> Result<Option<Attempt>> {
        let row: Option<AttemptRow> = write!(self, |db| {
            sqlx::query_as(
                "update payment_attempts
                 set lease_until = $2, tries = tries + 1
                 where id = (
                     select id from payment_attempts
                     where state in ('waiting', 'refund') and next_try <= $1
                     and lease_until <= $1
                     order by next_try
                     limit 1)
                 and state in ('waiting', 'refund') and lease_until <= $1
                 returning id, team_id, method_id, by_person, processor, customer, reference,
                     last4, charge, state, receipt, tries, created",
            )
            .bind(now.0)
            .bind(lease.0)
            .fetch_optional(db)
            .await
        })?;
        row.map(AttemptRow::attempt).transpose()
    }

    /// Leaves a try for later: the processor gave no clear answer.
    pub async fn attempt_unclear(&self, id: AttemptId, next_try: Millis) -> Result<()> {
        write!(self, |db| {
            sqlx::query(
                "update payment_attempts set next_try = $2, lease_until = 0
                 where id = $1 and state in ('waiting', 'refund')",
            )
            .bind(id.uuid())
            .bind(next_try.0)
            .execute(db)
            .await
            .map(|_| ())
        })?;
        Ok(())
    }

    /// Wakes the try that a callback speaks of, and nothing more.
    pub async fn wake_attempt(&self, id: AttemptId, now: Millis) -> Result<()> {
        self.attempt_unclear(id, now).await
    }

    /// Ends a try that changes no membership; false when another caller did.
    pub async fn end_attempt(
        &self,
        id: AttemptId,
        state: &'static str,
        receipt: &str,
    ) -> Result<bool> {
        Ok(write!(self, |db| {
            sqlx::query(
                "update payment_attempts
                 set state = $2, receipt = case when $3 = '' then receipt else $3 end,
                     lease_until = 0
                 where id = $1 and state in ('waiting', 'refund')",
            )
            .bind(id.uuid())
            .bind(state)
            .bind(receipt)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?)
    }
}
