//! Payment methods: the part of a card that may be stored. A method is written
//! before it is attached at the processor and stays hidden until then. When its
//! row is deleted, for any reason, a trigger queues its removal at the processor.

use sqlx::Error;
use uuid::Uuid;
use wakeful_core::audit::{Action, Object, ObjectKind, View};
use wakeful_core::id::{PaymentMethodId, TeamId};
use wakeful_core::time::Millis;

use crate::accounts::team::lock_team;
use crate::audit::Snapshot;
use crate::dialect::{Tx, from_row, read, within, write};
use crate::{AuditContext, Result, Store, StoreError, TeamStore};

/// A payment method to store.
#[derive(Clone, Debug)]
pub struct NewPaymentMethod {
    pub id: PaymentMethodId,
    pub processor: &'static str,
    /// Its id at the processor.
    pub reference: String,
    pub last4: String,
    pub expiry_month: u8,
    pub expiry_year: u16,
    pub cardholder_name: String,
}

/// A payment method as listed to its team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentMethod {
    pub id: PaymentMethodId,
    pub processor: String,
    pub reference: String,
    pub last4: String,
    pub expiry_month: i64,
    pub expiry_year: i64,
    pub cardholder_name: String,
    pub isdefault: bool,
}

from_row!(PaymentMethod, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    processor: row.try_get("processor")?,
    reference: row.try_get("reference")?,
    last4: row.try_get("last4")?,
    expiry_month: row.try_get("expiry_month")?,
    expiry_year: row.try_get("expiry_year")?,
    cardholder_name: row.try_get("cardholder_name")?,
    isdefault: row.try_get("isdefault")?,
});

/// An object to remove at a processor, claimed by this caller.
#[derive(Clone, Debug)]
pub struct ProcessorRemoval {
    pub reference: String,
    pub processor: String,
    pub kind: String,
    pub tries: i64,
}

from_row!(ProcessorRemoval, |row| Self {
    reference: row.try_get("reference")?,
    processor: row.try_get("processor")?,
    kind: row.try_get("kind")?,
    tries: row.try_get("tries")?,
});

impl TeamStore<'_> {
    /// The team's payment methods in the order they were added.
    pub async fn payment_methods(&self) -> Result<Vec<PaymentMethod>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(
                "select id, processor, reference, last4, expiry_month, expiry_year,
                        cardholder_name, isdefault
                 from payment_methods
                 where team_id = $1 and ready
                 order by id",
            )
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?)
    }

    pub async fn payment_method(&self, id: PaymentMethodId) -> Result<Option<PaymentMethod>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(
                "select id, processor, reference, last4, expiry_month, expiry_year,
                        cardholder_name, isdefault
                 from payment_methods
                 where team_id = $1 and id = $2 and ready",
            )
            .bind(self.team.uuid())
            .bind(id.uuid())
            .fetch_optional(db)
            .await
        })?)
    }

    /// The team's id at a processor.
    pub async fn customer(&self, processor: &str) -> Result<Option<String>> {
        Ok(read!(self.store, |db| {
            sqlx::query_scalar(
                "select reference from payment_customers where team_id = $1 and processor = $2",
            )
            .bind(self.team.uuid())
            .bind(processor)
            .fetch_optional(db)
            .await
        })?)
    }

    pub async fn save_customer(&self, processor: &str, reference: &str) -> Result<()> {
        write!(self.store, |db| {
            sqlx::query(
                "insert into payment_customers (team_id, processor, reference)
                 values ($1, $2, $3)
                 on conflict (team_id) do update set processor = $2, reference = $3",
            )
            .bind(self.team.uuid())
            .bind(processor)
            .bind(reference)
            .execute(db)
            .await
            .map(|_| ())
        })?;
        Ok(())
    }

    /// Stores a method before it is attached; false if the processor's id is already in
    /// use. Fails with `StoreError::Gone` if the team has been deleted.
    pub async fn begin_payment_method(
        &self,
        method: &NewPaymentMethod,
        now: Millis,
    ) -> Result<bool> {
        let written = write!(self.store, |db| {
            sqlx::query(
                "insert into payment_methods
                 (id, team_id, processor, reference, last4, expiry_month, expiry_year,
                  cardholder_name, created)
                 values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            )
            .bind(method.id.uuid())
            .bind(self.team.uuid())
            .bind(method.processor)
            .bind(method.reference.as_str())
            .bind(method.last4.as_str())
            .bind(i64::from(method.expiry_month))
            .bind(i64::from(method.expiry_year))
            .bind(method.cardholder_name.as_str())
            .bind(now.0)
            .execute(db)
            .await
            .map(|_| ())
        });
        match written.map_err(StoreError::from) {
            Ok(()) => Ok(true),
            Err(StoreError::Taken) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Makes an attached method visible; the first one becomes the default.
    pub async fn finish_payment_method(
        &self,
        id: PaymentMethodId,
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, by.at()).await?;
        let found = finish(&mut tx, self.team, id).await?;
        self.record_card(&mut tx, by, Action::CardCreate, id, None).await?;
        tx.commit().await?;
        Ok(found)
    }

    /// Makes a method the default; false when the team has no such method.
    pub async fn set_default_payment_method(
        &self,
        id: PaymentMethodId,
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, by.at()).await?;
        let before = snapshot(&mut tx, self.team, id).await?;
        let found = within!(tx, |db| {
            // Clear the old default first: the index allows one at any moment.
            sqlx::query(
                "update payment_methods set isdefault = false
                 where team_id = $1 and isdefault and id <> $2",
            )
            .bind(self.team.uuid())
            .bind(id.uuid())
            .execute(&mut *db)
            .await?;
            sqlx::query(
                "update payment_methods set isdefault = true
                 where team_id = $1 and id = $2 and ready",
            )
            .bind(self.team.uuid())
            .bind(id.uuid())
            .execute(&mut *db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if found {
            self.record_card(&mut tx, by, Action::CardUpdate, id, before).await?;
            tx.commit().await?;
        }
        Ok(found)
    }

    /// Deletes a method, attached or not; false when there is no such method.
    /// The newest remaining method becomes the default. `by` is `None` for a method that was
    /// not used.
    pub async fn delete_payment_method(
        &self,
        id: PaymentMethodId,
        by: Option<&AuditContext>,
        now: Millis,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, now).await?;
        let before = snapshot(&mut tx, self.team, id).await?;
        let found = within!(tx, |db| {
            let done = sqlx::query("delete from payment_methods where team_id = $1 and id = $2")
                .bind(self.team.uuid())
                .bind(id.uuid())
                .execute(&mut *db)
                .await?;
            sqlx::query(
                "update payment_methods set isdefault = true
                 where id = (
                     select id from payment_methods
                     where team_id = $1 and ready
                     order by id desc limit 1)
                 and not exists (
                     select 1 from payment_methods where team_id = $1 and isdefault)",
            )
            .bind(self.team.uuid())
            .execute(&mut *db)
            .await?;
            Ok::<_, Error>(done.rows_affected() == 1)
        })?;
        if let Some(by) = by.filter(|_| found) {
            self.record_card(&mut tx, by, Action::CardDelete, id, before).await?;
        }
        tx.commit().await?;
        Ok(found)
    }

    /// Records a change of a card, which is written already.
    async fn record_card(
        &self,
        tx: &mut Tx,
        by: &AuditContext,
        action: Action,
        id: PaymentMethodId,
        before: Option<Snapshot>,
    ) -> Result<()> {
        let after = snapshot(tx, self.team, id).await?;
        self.store.write_change(tx, by, action, before, after).await
    }
}

async fn snapshot(tx: &mut Tx, team: TeamId, id: PaymentMethodId) -> Result<Option<Snapshot>> {
    let row: Option<(String, bool)> = within!(*tx, |db| {
        sqlx::query_as(
            "select last4, isdefault from payment_methods where team_id = $1 and id = $2",
        )
        .bind(team.uuid())
        .bind(id.uuid())
        .fetch_optional(db)
        .await
    })?;
    Ok(row.map(|(last4, isdefault)| Snapshot {
        object: Object::new(ObjectKind::Card, &id, &last4),
        view: View::default().with("last4", last4).with("isdefault", isdefault),
    }))
}

impl Store {
    /// Deletes methods that were stored before `oldest` and never attached,
    /// except those with a payment in progress.
    pub async fn prune_unattached_payment_methods(&self, oldest: Millis) -> Result<u64> {
        Ok(write!(self, |db| {
            sqlx::query(
                "delete from payment_methods
                 where not ready and created < $1
                 and not exists (
                     select 1 from payment_attempts
                     where method_id = payment_methods.id and state = 'waiting')",
            )
            .bind(oldest.0)
            .execute(db)
            .await
            .map(|done| done.rows_affected())
        })?)
    }

    /// Deletes a method that no longer exists at the processor.
    pub async fn delete_detached_payment_method(&self, reference: &str) -> Result<bool> {
        Ok(write!(self, |db| {
            sqlx::query("delete from payment_methods where reference = $1")
                .bind(reference)
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?)
    }

    pub async fn claim_removal(
        &self,
        processor: &str,
        now: Millis,
        lease: Millis,
    ) -> Result<Option<ProcessorRemoval>> {
        Ok(write!(self, |db| {
            sqlx::query_as(
                "update payment_removals
                 set lease_until = $3, tries = tries + 1
                 where reference = (
                     select reference from payment_removals
                     where processor = $1 and next_try <= $2 and lease_until <= $2
                     order by kind desc, next_try
                     limit 1)
                 and lease_until <= $2
                 returning reference, processor, kind, tries",
            )
            .bind(processor)
            .bind(now.0)
            .bind(lease.0)
            .fetch_optional(db)
            .await
        })?)
    }

    /// Deletes a completed removal; with `next_try`, schedules another attempt.
    pub async fn finish_removal(&self, reference: &str, next_try: Option<Millis>) -> Result<()> {
        write!(self, |db| {
            match next_try {
                None => {
                    sqlx::query("delete from payment_removals where reference = $1")
                        .bind(reference)
                        .execute(db)
                        .await
                }
                Some(at) => {
                    sqlx::query(
                        "update payment_removals set next_try = $2, lease_until = 0
                         where reference = $1",
                    )
                    .bind(reference)
                    .bind(at.0)
                    .execute(db)
                    .await
                }
            }
            .map(|_| ())
        })?;
        Ok(())
    }
}

/// Makes a method visible, in a transaction that has locked the team; false when
/// the team has no such method.
pub(crate) async fn finish(tx: &mut Tx, team: TeamId, id: PaymentMethodId) -> Result<bool> {
    Ok(within!(*tx, |db| {
        sqlx::query(
            "update payment_methods
             set ready = true,
                 isdefault = isdefault or not exists (
                     select 1 from payment_methods where team_id = $1 and isdefault)
             where team_id = $1 and id = $2",
        )
        .bind(team.uuid())
        .bind(id.uuid())
        .execute(db)
        .await
        .map(|done| done.rows_affected() == 1)
    })?)
}
