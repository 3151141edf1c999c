//! Memberships and the tries to charge for them. A try is written with its key
//! before the processor is asked, and there is one at a time for a team; its
//! outcome, the new state, the invoice and the mail are one transaction.

use sqlx::Error;
use uuid::Uuid;
use wakeful_core::billing::{Charge, State};
use wakeful_core::id::{AttemptId, InvoiceId, MembershipId, MethodId, MonitorId, TeamId};
use wakeful_core::time::Millis;

use crate::dialect::{from_row, read, within, write};
use crate::methods::{finish, hold_team};
use crate::{Mail, Result, Store, StoreError, TeamStore, mails};

#[derive(Clone, Debug)]
pub struct StoredMembership {
    pub id: MembershipId,
    pub state: State,
    pub method: Option<MethodId>,
    /// Since when more is used than the plan allows.
    pub over_since: Option<Millis>,
    pub revision: i64,
}

struct Row {
    id: Uuid,
    state: String,
    method_id: Option<Uuid>,
    over_since: Option<i64>,
    revision: i64,
}

from_row!(Row, |row| Self {
    id: row.try_get("id")?,
    state: row.try_get("state")?,
    method_id: row.try_get("method_id")?,
    over_since: row.try_get("over_since")?,
    revision: row.try_get("revision")?,
});

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
pub enum Begun {
    Done,
    /// The membership changed meanwhile: decide again.
    Stale,
    /// Another try has no outcome yet.
    UnderWay,
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

/// How much of its plan a team uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    pub active_monitors: i64,
    /// Active monitors with an interval below the plan's.
    pub too_often: i64,
    pub users: i64,
}

impl TeamStore<'_> {
    pub async fn membership(&self) -> Result<Option<StoredMembership>> {
        let row: Option<Row> = read!(self.store, |db| {
            sqlx::query_as(
                "select id, state, method_id, over_since, revision
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
                over_since: row.over_since.map(Millis),
                revision: row.revision,
            })
        })
        .transpose()
    }

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

    /// How much the team uses, given the shortest interval of its plan.
    pub async fn usage(&self, shortest_interval: u32) -> Result<Use> {
        let (active_monitors, too_often, users): (i64, i64, i64) = read!(self.store, |db| {
            sqlx::query_as(
                "select (select count(*) from monitors where team_id = $1 and isactive),
                        (select count(*) from monitors
                         where team_id = $1 and isactive and heartbeat_interval < $2),
                        (select count(*) from users where team_id = $1)",
            )
            .bind(self.team.uuid())
            .bind(i64::from(shortest_interval))
            .fetch_one(db)
            .await
        })?;
        Ok(Use { active_monitors, too_often, users })
    }

    /// Notes since when the team uses too much; nothing when it no longer does.
    pub async fn set_over_since(&self, since: Option<Millis>) -> Result<()> {
        write!(self.store, |db| {
            sqlx::query("update memberships set over_since = $2 where team_id = $1")
                .bind(self.team.uuid())
                .bind(since.map(|at| at.0))
                .execute(db)
                .await
                .map(|_| ())
        })?;
        Ok(())
    }

    /// Sets inactive what is over the limits: the newest monitors, all but the
    /// `most` oldest, and those with too short an interval. Answers which.
    pub async fn rest_newest(
        &self,
        most: u32,
        shortest_interval: u32,
        now: Millis,
    ) -> Result<Vec<MonitorId>> {
        let ids: Vec<Uuid> = write!(self.store, |db| {
            sqlx::query_scalar(
                "update monitors
                 set isactive = false, revision = revision + 1, modified = $3
                 where team_id = $1 and isactive and (
                     heartbeat_interval < $4
                     or id not in (
                         select id from monitors
                         where team_id = $1 and isactive and heartbeat_interval >= $4
                         order by id
                         limit $2))
                 returning id",
            )
            .bind(self.team.uuid())
            .bind(i64::from(most))
            .bind(now.0)
            .bind(i64::from(shortest_interval))
            .fetch_all(db)
            .await
        })?;
        Ok(ids.into_iter().map(Into::into).collect())
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

    /// Teams that hold or held a plan, in pages, for the watch over limits.
    pub async fn members_after(&self, after: TeamId, most: u32) -> Result<Vec<TeamId>> {
        let teams: Vec<Uuid> = read!(self, |db| {
            sqlx::query_scalar(
                "select team_id from memberships where team_id > $1 order by team_id limit $2",
            )
            .bind(after.uuid())
            .bind(i64::from(most))
            .fetch_all(db)
            .await
        })?;
        Ok(teams.into_iter().map(Into::into).collect())
    }

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
