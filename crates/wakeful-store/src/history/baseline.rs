//! What is usual for a monitor that is compared with itself: the times of its last seven whole
//! days, from their roll-ups.

use wakeful_core::health::{self, Usual};
use wakeful_core::history::rollup::{self, Detail, Rollup};
use wakeful_core::history::{DAY, start_of};
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;

use super::Grain;
use crate::dialect::write;
use crate::monitors::json;
use crate::{Result, Store};

const WHOLE_DAYS: u32 = 7;

impl Store {
    /// Computes and stores what is usual; true if it has changed.
    pub async fn update_baseline(&self, monitor: MonitorId, now: Millis) -> Result<bool> {
        let today = start_of(DAY, now);
        let rows =
            self.rollup_rows(Grain::Days, monitor, today.before(DAY * WHOLE_DAYS), today).await?;
        let days = rows.iter().filter_map(|(_, data)| rollup::unpack(data, Detail::Means).ok());
        let week = days.flatten().reduce(|mut week: Rollup, day| {
            week.merge(&day);
            week
        });
        let usual: Option<Usual> =
            week.and_then(|week| health::baseline(&week.times, week.last.at.since(week.first)));
        Ok(write!(self, |db| {
            sqlx::query(
                "update monitor_states set baseline = $2
                 where monitor_id = $1 and coalesce(baseline, '') <> coalesce($2, '')",
            )
            .bind(monitor.uuid())
            .bind(usual.as_ref().map(json))
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?)
    }
}
