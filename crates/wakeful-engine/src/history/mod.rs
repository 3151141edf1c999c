//! The history of a team's monitors: heartbeats and alerts, newest first, and their
//! statistics.

mod cache;
pub mod compactor;
mod report;
mod spans;
mod stats;
pub(crate) mod tracks;

pub use report::*;
pub use stats::*;
pub use wakeful_store::{Delivery, HeartbeatKey, HeartbeatRange, ListedAlert};

use wakeful_core::access::permission;
use wakeful_core::history::Entry;
use wakeful_core::id::MonitorId;

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
}
