//! The outbox: one row for each event and notifier, written together with the
//! decision about the alert it reports. Workers claim rows with a lease, so that two never
//! send the same row at once, and a row whose worker died is free again when the
//! lease ends. The rows of one line (a monitor, a window or a schedule) and notifier
//! form a queue: none is sent before the earlier ones have been delivered or given up.

mod announcements;
mod claim;
mod list;
mod outbox;
mod outcomes;
mod retention;
mod search;
mod sent_mails;

pub(crate) use announcements::withdraw_announcements;
pub(crate) use claim::optional_json;
pub use claim::{ClaimedDelivery, DeliveryClaim, DueGroup, LimitedClaim, MessageLimit};
pub use list::{ListedDelivery, ResendOutcome};
pub use outbox::NewDeliveries;
pub(crate) use outbox::OutboxSignal;
pub(crate) use retention::Bound;
pub use search::{DueDelivery, DueSearch, FoundDeliveries, QueuePosition};

use std::time::Duration;
use uuid::Uuid;
use wakeful_core::id::{DeliveryId, TeamId};
use wakeful_core::time::Millis;

use crate::dialect::{either, read, within};
use crate::monitors::json;
use crate::{Result, Store};

impl Store {
    /// Ids as one text in the format that suits the database. With an array,
    /// PostgreSQL uses the index whatever its statistics say.
    pub(crate) fn id_list(&self, ids: &[DeliveryId]) -> String {
        let ids: Vec<String> = ids.iter().map(|id| id.uuid().simple().to_string()).collect();
        either!(self, sqlite: json(&ids), postgres: ids.join(","))
    }

    /// Moves the next attempts of all waiting rows forward by this much, after the
    /// clock was set back: they would wait for that much longer otherwise.
    pub async fn shift_next_tries(&self, by: Duration, now: Millis) -> Result<()> {
        let mut tx = self.begin().await?;
        within!(tx, |db| {
            for sql in [
                "update deliveries set next_try = next_try - $1, held_from = held_from - $1
                 where next_try > $2 and lease_until <= $2",
                "update mails set next_try = next_try - $1
                 where next_try > $2 and lease_until <= $2",
                "update statuspage_deliveries set next_try = next_try - $1
                 where next_try > $2 and lease_until <= $2",
                "update threads set keepalive_at = keepalive_at - $1 where keepalive_at > $2",
            ] {
                sqlx::query(sql)
                    .bind(i64::try_from(by.as_millis()).unwrap_or(i64::MAX))
                    .bind(now.0)
                    .execute(&mut *db)
                    .await?;
            }
            Ok::<_, sqlx::Error>(())
        })?;
        tx.commit().await
    }

    /// The number of waiting rows. Notes which teams have more than `max`: of these, messages
    /// that no longer matter are not queued (`alerting/crowded.rs`).
    pub async fn count_waiting(&self, max: u32) -> Result<i64> {
        let teams: Vec<(Uuid, i64)> = read!(self, |db| {
            sqlx::query_as(
                "select team_id, count(*) from deliveries
                 where state = 'waiting' and left_to is null
                 group by team_id",
            )
            .fetch_all(db)
            .await
        })?;
        let partly_sent: i64 = read!(self, |db| {
            sqlx::query_scalar(
                "select count(*) from deliveries
                 where state = 'waiting' and left_to is not null",
            )
            .fetch_one(db)
            .await
        })?;
        let crowded = teams.iter().filter(|(_, count)| *count > i64::from(max));
        self.outbox.set_crowded(crowded.map(|(team, _)| TeamId::from(*team)).collect());
        Ok(partly_sent + teams.iter().map(|(_, count)| count).sum::<i64>())
    }
}
