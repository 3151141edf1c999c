//! Memberships: the billing state of a team. A change of state, the payment
//! attempt that paid for it, the invoice and the mail are written in one
//! transaction. The attempts themselves are in `payment_attempts.rs`.

use uuid::Uuid;
use wakeful_core::audit::{Action, Change, Object, ObjectKind};
use wakeful_core::billing::{Charge, MembershipState, State};
use wakeful_core::id::{InvoiceId, MembershipId, PaymentAttemptId, PaymentMethodId, TeamId};
use wakeful_core::time::Millis;

use crate::accounts::team::lock_team;
use crate::billing::payment_methods;
use crate::dialect::{Tx, from_row, read, within, write};
use crate::{AuditContext, Mail, NewEntry, Result, Store, StoreError, TeamStore, mail};

const NO_PLAN: &str = "none";

#[derive(Clone, Debug)]
pub struct StoredMembership {
    pub id: MembershipId,
    pub state: State,
    pub method: Option<PaymentMethodId>,
    pub revision: i64,
}

struct Row {
    id: Uuid,
    state: String,
    method_id: Option<Uuid>,
    revision: i64,
}

from_row!(Row, |row| Self {
    id: row.try_get("id")?,
    state: row.try_get("state")?,
    method_id: row.try_get("method_id")?,
    revision: row.try_get("revision")?,
});

/// A change of a membership with everything that is written along with it.
#[derive(Clone)]
pub struct Settlement<'a> {
    pub team: TeamId,
    /// The id for a new membership.
    pub id: MembershipId,
    pub state: &'a State,
    pub method: Option<PaymentMethodId>,
    /// Whether to make `method` visible, because it was attached for this change.
    pub show_method: bool,
    /// The revision of the state that the change is based on; 0 for no membership.
    pub revision: i64,
    /// The attempt that this settles.
    pub attempt: Option<AttemptOutcome<'a>>,
    pub invoice: Option<InvoiceEntry<'a>>,
    pub mails: &'a [Mail],
    /// Who made the change; `None` if it became due, or if the attempt says it.
    pub by: Option<&'a AuditContext>,
}

/// The outcome of a payment attempt.
#[derive(Clone, Copy, Debug)]
pub struct AttemptOutcome<'a> {
    pub id: PaymentAttemptId,
    /// `paid` or `declined`.
    pub state: &'static str,
    /// The processor's id of the charge; empty when it was declined.
    pub receipt: &'a str,
}

#[derive(Clone, Debug)]
pub struct InvoiceEntry<'a> {
    pub id: InvoiceId,
    pub charge: &'a Charge,
    /// `open` or `paid`.
    pub state: &'static str,
    pub note: &'a str,
    pub last4: &'a str,
}

impl InvoiceEntry<'_> {
    fn paid_at(&self, now: Millis) -> Option<i64> {
        (self.state == "paid").then_some(now.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettleOutcome {
    Done,
    /// The membership has changed in the meantime: decide again.
    Stale,
    /// Another caller has settled this attempt.
    AlreadySettled,
    NoTeam,
}

impl TeamStore<'_> {
    pub async fn membership(&self) -> Result<Option<StoredMembership>> {
        let row: Option<Row> = read!(self.store, |db| {
            sqlx::query_as(
                "select id, state, method_id, revision
                 from memberships
                 where team_id = $1",
            )
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        row.map(|row| {
            Ok(StoredMembership {
                id: row.id.into(),
                state: serde_json::from_str(&row.state)
                    .map_err(|_| StoreError::Damaged("memberships.state"))?,
                method: row.method_id.map(Into::into),
                revision: row.revision,
            })
        })
        .transpose()
    }
}

impl Store {
    /// Claims a membership that is due.
    pub async fn claim_due_membership(&self, now: Millis, lease: Millis) -> Result<Option<TeamId>> {
        let team: Option<Uuid> = write!(self, |db| {
            sqlx::query_scalar(
                "update memberships
                 set lease_until = $2
                 where team_id = (
                     select team_id from memberships
                     where due <= $1 and lease_until <= $1
                     order by due
                     limit 1)
                 and due <= $1 and lease_until <= $1
                 returning team_id",
            )
            .bind(now.0)
            .bind(lease.0)
            .fetch_optional(db)
            .await
        })?;
        Ok(team.map(Into::into))
    }

    /// Writes a change of a membership and everything that belongs to it in one
    /// transaction.
    pub async fn settle(&self, settlement: &Settlement<'_>, now: Millis) -> Result<SettleOutcome> {
        let mails: Vec<_> =
            settlement.mails.iter().map(|mail| mail::sealed(&self.keyring, mail)).collect();
        let team = settlement.team;
        let mut tx = self.begin().await?;
        if !lock_team(&mut tx, team, now).await? {
            return Ok(SettleOutcome::NoTeam);
        }
        if let Some(attempt) = &settlement.attempt
            && !close_attempt(&mut tx, attempt).await?
        {
            return Ok(SettleOutcome::AlreadySettled);
        }
        if settlement.show_method
            && let Some(method) = settlement.method
        {
            payment_methods::finish(&mut tx, team, method).await?;
        }
        let plan_before = plan(&mut tx, team).await?;
        if !save(&mut tx, settlement, now).await? {
            return Ok(SettleOutcome::Stale);
        }
        if let Some(entry) = &settlement.invoice {
            enter_invoice(&mut tx, team, entry, now).await?;
        }
        // Invoices that are still open are no longer due.
        if settlement.state.membership_state() != MembershipState::PastDue {
            void_open_invoice(&mut tx, team).await?;
        }
        for mail in &mails {
            mail::insert(&mut tx, mail, now).await?;
        }
        if let Some(by) = settlement.by {
            self.record_plan(&mut tx, by, plan_before, plan_of(settlement.state)).await?;
        }
        tx.commit().await?;
        Ok(SettleOutcome::Done)
    }

    /// Records that someone has chosen or canceled a plan. A canceled one is served until the
    /// end of the period.
    pub(crate) async fn record_plan(
        &self,
        tx: &mut Tx,
        by: &AuditContext,
        from: String,
        to: &str,
    ) -> Result<()> {
        let change = Change::new("plan", Some(from.into()), Some(to.into()));
        let object = Object::new(ObjectKind::Plan, &"", to);
        self.write_entry(tx, by, &NewEntry::new(Action::PlanChange, object, vec![change])).await
    }
}

/// The plan that a team has chosen.
pub(crate) async fn plan(tx: &mut Tx, team: TeamId) -> Result<String> {
    let plan: Option<String> = within!(*tx, |db| {
        sqlx::query_scalar("select plan from memberships where team_id = $1")
            .bind(team.uuid())
            .fetch_optional(db)
            .await
    })?;
    Ok(plan.unwrap_or_else(|| NO_PLAN.to_owned()))
}

fn plan_of(state: &State) -> &str {
    state.subscription.as_ref().map_or(NO_PLAN, |held| held.plan.as_str())
}

/// Ends the attempt of a settlement; false when another caller has ended it.
async fn close_attempt(tx: &mut Tx, attempt: &AttemptOutcome<'_>) -> Result<bool> {
    Ok(within!(*tx, |db| {
        sqlx::query(
            "update payment_attempts set state = $2, receipt = $3, lease_until = 0
             where id = $1 and state = 'waiting'",
        )
        .bind(attempt.id.uuid())
        .bind(attempt.state)
        .bind(attempt.receipt)
        .execute(db)
        .await
        .map(|done| done.rows_affected() == 1)
    })?)
}

/// Writes the new state of a membership; false when the membership no longer has
/// the revision that the change is based on.
async fn save(tx: &mut Tx, settlement: &Settlement<'_>, now: Millis) -> Result<bool> {
    let state = serde_json::to_string(settlement.state).expect("plain fields");
    let plan = plan_of(settlement.state);
    Ok(within!(*tx, |db| {
        sqlx::query(
            "insert into memberships
             (team_id, id, plan, state, method_id, due, revision, created, modified)
             select $1, $2, $3, $4, (select id from payment_methods where id = $5), $6, 1, $7, $7
             where $8 = 0 or exists (select 1 from memberships where team_id = $1)
             on conflict (team_id) do update
             set plan = excluded.plan, state = excluded.state,
                 method_id = excluded.method_id, due = excluded.due,
                 modified = excluded.modified, lease_until = 0,
                 revision = memberships.revision + 1
             where memberships.revision = $8",
        )
        .bind(settlement.team.uuid())
        .bind(settlement.id.uuid())
        .bind(plan)
        .bind(state.as_str())
        .bind(settlement.method.map(PaymentMethodId::uuid))
        .bind(settlement.state.due().map(|at| at.0))
        .bind(now.0)
        .bind(settlement.revision)
        .execute(db)
        .await
        .map(|done| done.rows_affected() == 1)
    })?)
}

/// Updates the open invoice of the same period, or inserts a new one.
async fn enter_invoice(
    tx: &mut Tx,
    team: TeamId,
    entry: &InvoiceEntry<'_>,
    now: Millis,
) -> Result<()> {
    if !update_open_invoice(tx, team, entry, now).await? {
        // At most one invoice may be open: void the one of another period first.
        void_open_invoice(tx, team).await?;
        insert_invoice(tx, team, entry, now).await?;
    }
    Ok(())
}

/// Updates the open invoice of the same period; false when there is none.
async fn update_open_invoice(
    tx: &mut Tx,
    team: TeamId,
    entry: &InvoiceEntry<'_>,
    now: Millis,
) -> Result<bool> {
    let charge = entry.charge;
    Ok(within!(*tx, |db| {
        sqlx::query(
            "update invoices
             set state = $4, paid = $5, price = $6, credit = $7, amount = $8, note = $9,
                 last4 = $10, period_until = $11
             where team_id = $1 and state = 'open' and plan = $2 and period_from = $3",
        )
        .bind(team.uuid())
        .bind(charge.plan.as_str())
        .bind(charge.period.from.0)
        .bind(entry.state)
        .bind(entry.paid_at(now))
        .bind(charge.price.as_cents())
        .bind(charge.credit_used.as_cents())
        .bind(charge.amount.as_cents())
        .bind(entry.note)
        .bind(entry.last4)
        .bind(charge.period.until.0)
        .execute(db)
        .await
        .map(|done| done.rows_affected() > 0)
    })?)
}

async fn insert_invoice(
    tx: &mut Tx,
    team: TeamId,
    entry: &InvoiceEntry<'_>,
    now: Millis,
) -> Result<()> {
    let charge = entry.charge;
    within!(*tx, |db| {
        sqlx::query(
            "insert into invoices
             (id, team_id, serial, plan, period_from, period_until, price, credit, amount,
              state, note, last4, created, paid)
             values ($1, $2,
                 (select coalesce(max(serial), 0) + 1 from invoices where team_id = $2),
                 $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        )
        .bind(entry.id.uuid())
        .bind(team.uuid())
        .bind(charge.plan.as_str())
        .bind(charge.period.from.0)
        .bind(charge.period.until.0)
        .bind(charge.price.as_cents())
        .bind(charge.credit_used.as_cents())
        .bind(charge.amount.as_cents())
        .bind(entry.state)
        .bind(entry.note)
        .bind(entry.last4)
        .bind(now.0)
        .bind(entry.paid_at(now))
        .execute(db)
        .await?;
    });
    Ok(())
}

async fn void_open_invoice(tx: &mut Tx, team: TeamId) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query("update invoices set state = 'void' where team_id = $1 and state = 'open'")
            .bind(team.uuid())
            .execute(db)
            .await?;
    });
    Ok(())
}
