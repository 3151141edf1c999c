//! Payment attempts. An attempt is stored with its idempotency key before the
//! processor is called, a team has at most one at a time, and a node claims it
//! with a lease. `memberships.rs` writes its outcome to the membership.

use sqlx::Error;
use uuid::Uuid;
use wakeful_core::billing::Charge;
use wakeful_core::id::{PaymentAttemptId, PaymentMethodId, TeamId};
use wakeful_core::time::Millis;

use crate::accounts::team::lock_team;
use crate::billing::memberships;
use crate::dialect::{from_row, read, within, write};
use crate::{AuditContext, Result, Store, StoreError, TeamStore};

/// A payment attempt, stored before the processor is called.
#[derive(Clone, Debug)]
pub struct NewPaymentAttempt {
    pub id: PaymentAttemptId,
    pub team: TeamId,
    pub method: PaymentMethodId,
    /// Requested by a member who waits for the response, not by the clock.
    pub by_person: bool,
    pub processor: String,
    pub customer: String,
    /// The method's id at the processor.
    pub reference: String,
    pub last4: String,
    pub charge: Charge,
}

impl NewPaymentAttempt {
    /// The attempt in the form that its creator continues with.
    pub fn into_attempt(self, now: Millis) -> PaymentAttempt {
        PaymentAttempt { new: self, refund: false, receipt: String::new(), tries: 1, created: now }
    }
}

/// An attempt that only this caller may continue until the lease ends.
#[derive(Clone, Debug)]
pub struct PaymentAttempt {
    pub new: NewPaymentAttempt,
    /// Whether only the refund remains.
    pub refund: bool,
    /// The processor's id of the charge, after payment.
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
    fn attempt(self) -> Result<PaymentAttempt> {
        let charge = serde_json::from_str(&self.charge)
            .map_err(|_| StoreError::Damaged("payment_attempts.charge"))?;
        Ok(PaymentAttempt {
            new: NewPaymentAttempt {
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
pub enum BeginOutcome {
    Done,
    /// The membership has changed in the meantime: decide again.
    Stale,
    /// Another attempt has no outcome yet.
    InProgress,
}

impl TeamStore<'_> {
    /// Whether a payment attempt of the team has no outcome yet.
    pub async fn has_pending_payment(&self) -> Result<bool> {
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
    /// Stores an attempt before the processor is called, if the membership still
    /// has the revision that the attempt is based on.
    pub async fn begin_attempt(
        &self,
        attempt: &NewPaymentAttempt,
        revision: i64,
        by: Option<&AuditContext>,
        now: Millis,
        lease: Millis,
    ) -> Result<BeginOutcome> {
        let charge = serde_json::to_string(&attempt.charge).expect("plain fields");
        let mut tx = self.begin().await?;
        // Locked first, so that the statements below see other callers' outcomes.
        lock_team(&mut tx, attempt.team, now).await?;
        let begun = within!(tx, |db| {
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
                (1, _) => BeginOutcome::Done,
                (_, Some(_)) => BeginOutcome::InProgress,
                (_, None) => BeginOutcome::Stale,
            })
        })?;
        if begun == BeginOutcome::Done {
            if let Some(by) = by {
                let before = memberships::plan(&mut tx, attempt.team).await?;
                self.record_plan(&mut tx, by, before, attempt.charge.plan.as_str()).await?;
            }
            tx.commit().await?;
        }
        Ok(begun)
    }

    /// Claims an attempt without a valid lease: its response or its node was lost.
    pub async fn claim_attempt(
        &self,
        now: Millis,
        lease: Millis,
    ) -> Result<Option<PaymentAttempt>> {
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

    /// Postpones an attempt, because the processor gave no definite answer.
    pub async fn postpone_attempt(&self, id: PaymentAttemptId, next_try: Millis) -> Result<()> {
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

    /// Makes the attempt that a callback names due now, and nothing more.
    pub async fn wake_attempt(&self, id: PaymentAttemptId, now: Millis) -> Result<()> {
        self.postpone_attempt(id, now).await
    }

    /// Ends an attempt that changes no membership; false when another caller did.
    pub async fn end_attempt(
        &self,
        id: PaymentAttemptId,
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
