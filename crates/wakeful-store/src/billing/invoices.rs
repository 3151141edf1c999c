//! Invoices: one for each period of a plan that has been charged or is due.

use uuid::Uuid;
use wakeful_core::billing::{InvoiceState, Money};
use wakeful_core::id::{InvoiceId, TeamId};
use wakeful_core::time::Millis;

use crate::dialect::{from_row, read};
use crate::{Result, TeamStore};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invoice {
    pub id: InvoiceId,
    pub team: TeamId,
    /// Sequential within the team.
    pub serial: i64,
    pub plan: String,
    pub from: Millis,
    pub until: Millis,
    pub price: Money,
    pub credit: Money,
    pub amount: Money,
    pub state: InvoiceState,
    pub note: String,
    pub last4: String,
    pub created: Millis,
    pub paid: Option<Millis>,
}

from_row!(Invoice, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    serial: row.try_get("serial")?,
    plan: row.try_get("plan")?,
    from: Millis(row.try_get("period_from")?),
    until: Millis(row.try_get("period_until")?),
    price: Money::cents(row.try_get("price")?),
    credit: Money::cents(row.try_get("credit")?),
    amount: Money::cents(row.try_get("amount")?),
    state: InvoiceState::parse(row.try_get("state")?)
        .ok_or_else(|| sqlx::Error::Decode("not a state of an invoice".into()))?,
    note: row.try_get("note")?,
    last4: row.try_get("last4")?,
    created: Millis(row.try_get("created")?),
    paid: row.try_get::<Option<i64>, _>("paid")?.map(Millis),
});

impl Invoice {
    /// The printed invoice number: the end of the team's id and the serial.
    pub fn number(&self) -> String {
        let team = self.team.uuid().simple().to_string().to_uppercase();
        format!("{}-{:04}", &team[team.len() - 8..], self.serial)
    }
}

impl TeamStore<'_> {
    /// The team's invoices, newest first.
    pub async fn invoices(&self) -> Result<Vec<Invoice>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(
                "select id, team_id, serial, plan, period_from, period_until, price, credit,
                        amount, state, note, last4, created, paid
                 from invoices
                 where team_id = $1
                 order by serial desc",
            )
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?)
    }
}
