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
use wakeful_core::heartbeat::Heartbeat;
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
    ) -> Result<Page<Heartbeat, HeartbeatKey>> {
        let range = HeartbeatRange { limit: limit_plus_one(span.limit), ..*span };
        let found = self.store().team(caller.team_access()).heartbeats(monitor, &range).await?;
        let page = Page::of(found.ok_or(Error::NotFound("monitor"))?, span.limit, |(at, _)| *at);
        let items = page.items.into_iter().map(|(_, heartbeat)| heartbeat).collect();
        Ok(Page { items, next: page.next })
    }
}
