//! Memberships: where a team stands, and how a change of that is written. The
//! new state, the try that paid for it, the invoice and the mail are one
//! transaction. The tries themselves are in `payments.rs`.

use sqlx::Error;
use uuid::Uuid;
use wakeful_core::billing::{Charge, State};
use wakeful_core::id::{AttemptId, InvoiceId, MembershipId, MethodId, TeamId};
use wakeful_core::time::Millis;

use crate::dialect::{from_row, read, within, write};
use crate::methods::{finish, hold_team};
use crate::{Mail, Result, Store, StoreError, TeamStore, mails};

#[derive(Clone, Debug)]
pub struct StoredMembership {
    pub id: MembershipId,
    pub state: State,
    pub method: Option<MethodId>,
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

/// A change of a membership with all that belongs to it.
#[derive(Clone)]
pub struct Settlement<'a> {
    pub team: TeamId,
    /// The id that a first membership gets.
    pub id: MembershipId,
    pub state: &'a State,
    pub method: Option<MethodId>,
    /// The method to show: it was attached for this.
    pub show_method: bool,
    /// Of the state that the change was decided on; 0: there was none.
    pub revision: i64,
    /// The try that this settles, its new state and the processor's id.
    pub attempt: Option<(AttemptId, &'static str, &'a str)>,
    pub invoice: Option<InvoiceEntry<'a>>,
    pub mails: &'a [Mail],
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    Done,
    /// The membership changed meanwhile: decide again.
    Stale,
    /// Another caller settled this try.
    Already,
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
    /// Claims a membership about which something is to be done.
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

    /// Writes a change of a membership and all that belongs to it, or nothing.
    pub async fn settle(&self, settlement: &Settlement<'_>, now: Millis) -> Result<Settled> {
        let mails: Vec<_> =
            settlement.mails.iter().map(|mail| mails::sealed(&self.keyring, mail)).collect();
        let text = serde_json::to_string(settlement.state).expect("plain fields");
        let team = settlement.team;
        let plan = settlement.state.held.as_ref().map_or("none", |held| held.plan.as_str());
        let mut tx = self.begin().await?;
        let settled = within!(tx, |db| {
            let there = sqlx::query("select 1 from teams where id = $1")
                .bind(team.uuid())
                .fetch_optional(&mut *db)
                .await?;
            if there.is_none() {
                return Ok(Settled::NoTeam);
            }
            hold_team!(db, team, now)?;
            if let Some((id, state, receipt)) = settlement.attempt {
                let done = sqlx::query(
                    "update payment_attempts set state = $2, receipt = $3, lease_until = 0
                     where id = $1 and state = 'waiting'",
                )
                .bind(id.uuid())
                .bind(state)
                .bind(receipt)
                .execute(&mut *db)
                .await?;
                if done.rows_affected() == 0 {
                    return Ok(Settled::Already);
                }
            }
            if settlement.show_method
                && let Some(method) = settlement.method
            {
                finish!(db, team, method)?;
            }
            let done = sqlx::query(
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
            .bind(team.uuid())
            .bind(settlement.id.uuid())
            .bind(plan)
            .bind(text.as_str())
            .bind(settlement.method.map(MethodId::uuid))
            .bind(settlement.state.due().map(|at| at.0))
            .bind(now.0)
            .bind(settlement.revision)
            .execute(&mut *db)
            .await?;
            if done.rows_affected() == 0 {
                return Ok(Settled::Stale);
            }
            if let Some(entry) = &settlement.invoice {
                enter!(db, team, entry, now)?;
            }
            // What is still open and no longer asked for.
            if settlement.state.word() != "past_due" {
                sqlx::query(
                    "update invoices set state = 'void' where team_id = $1 and state = 'open'",
                )
                .bind(team.uuid())
                .execute(&mut *db)
                .await?;
            }
            for mail in &mails {
                mails::insert!(db, mail, now)?;
            }
            Ok::<_, Error>(Settled::Done)
        });
        let settled = settled?;
        if settled == Settled::Done {
            tx.commit().await?;
        }
        Ok(settled)
    }
}

/// Writes an invoice: the open one of the same period, or a new one.
macro_rules! enter {
    ($db:expr, $team:expr, $entry:expr, $now:expr) => {{
        let charge = $entry.charge;
        let paid = ($entry.state == "paid").then_some($now.0);
        let done = sqlx::query(
            "update invoices
             set state = $4, paid = $5, price = $6, credit = $7, amount = $8, note = $9,
                 last4 = $10, period_until = $11
             where team_id = $1 and state = 'open' and plan = $2 and period_from = $3",
        )
        .bind($team.uuid())
        .bind(charge.plan.as_str())
        .bind(charge.period.from.0)
        .bind($entry.state)
        .bind(paid)
        .bind(charge.price.as_cents())
        .bind(charge.credit_used.as_cents())
        .bind(charge.amount.as_cents())
        .bind($entry.note)
        .bind($entry.last4)
        .bind(charge.period.until.0)
        .execute(&mut *$db)
        .await?;
        if done.rows_affected() == 0 {
            // At most one is open: what another period left goes first.
            sqlx::query("update invoices set state = 'void' where team_id = $1 and state = 'open'")
                .bind($team.uuid())
                .execute(&mut *$db)
                .await?;
            sqlx::query(
                "insert into invoices
                 (id, team_id, serial, plan, period_from, period_until, price, credit, amount,
                  state, note, last4, created, paid)
                 values ($1, $2,
                     (select coalesce(max(serial), 0) + 1 from invoices where team_id = $2),
                     $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            )
            .bind($entry.id.uuid())
            .bind($team.uuid())
            .bind(charge.plan.as_str())
            .bind(charge.period.from.0)
            .bind(charge.period.until.0)
            .bind(charge.price.as_cents())
            .bind(charge.credit_used.as_cents())
            .bind(charge.amount.as_cents())
            .bind($entry.state)
            .bind($entry.note)
            .bind($entry.last4)
            .bind($now.0)
            .bind(paid)
            .execute(&mut *$db)
            .await?;
        }
        Ok::<_, Error>(())
    }};
}
use enter;
