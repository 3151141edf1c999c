//! The history of a team's monitors: heartbeats and alerts, newest first, and their
//! statistics.

mod cache;
pub mod compactor;
mod report;
mod spans;
mod stats;

pub use report::*;
pub use stats::*;
pub use wakeful_store::{Delivery, HeartbeatKey, HeartbeatRange, ListedAlert};

use wakeful_core::access::permission;
use wakeful_core::history::Entry;
use wakeful_core::id::{AlertId, MonitorId};

use crate::caller::Authorized;
use crate::{Engine, Error, Page, Result, limit_plus_one};

impl Engine {
    /// The heartbeats of a span, newest first.
    pub async fn heartbeats(
        &self,
        caller: &Authorized<permission::View>,
        monitor: MonitorId,
        span: &HeartbeatRange,
    ) -> Result<Page<Entry, HeartbeatKey>> {
        let range = HeartbeatRange { limit: limit_plus_one(span.limit), ..*span };
        let team = self.store().team(caller.team_access());
        let past = team.history(monitor).await?.ok_or(Error::NotFound("monitor"))?;
        let found = past.newest(&range).await?;
        let key = |entry: &Entry| HeartbeatKey { at: entry.heartbeat.at, seq: entry.seq };
        Ok(Page::of(found, span.limit, key))
    }

    /// The team's alerts, or those of one monitor, newest first.
    pub async fn alerts(
        &self,
        caller: &Authorized<permission::View>,
        monitor: Option<MonitorId>,
        before: Option<AlertId>,
        limit: Option<u32>,
    ) -> Result<Page<ListedAlert, AlertId>> {
        let team = self.store().team(caller.team_access());
        let found = match monitor {
            None => team.alerts(before, limit_plus_one(limit)).await?,
            Some(monitor) => {
                let found = team.monitor_alerts(monitor, before, limit_plus_one(limit)).await?;
                found.ok_or(Error::NotFound("monitor"))?
            }
        };
        Ok(Page::of(found, limit, |listed| listed.alert.id))
    }
}
