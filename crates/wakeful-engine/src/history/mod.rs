//! What a team reads of its past: heartbeats and alerts, newest first, and the
//! figures that they come to.

mod figures;
pub mod keeper;
mod pieces;
mod report;
mod shelf;

pub use figures::{Series, Source, Stats, Summary};
pub use report::{Report, ReportLine};

use wakeful_core::id::{AlertId, MonitorId};
use wakeful_core::verdict::Heartbeat;
use wakeful_store::{ListedAlert, Place, Span};

use crate::caller::Caller;
use crate::monitors::{Page, and_one};
use crate::{Engine, Error, Result};

impl Engine {
    /// The heartbeats of a span, newest first.
    pub async fn heartbeats(
        &self,
        caller: &Caller,
        monitor: MonitorId,
        span: &Span,
    ) -> Result<Page<Heartbeat, Place>> {
        let asked = Span { limit: and_one(span.limit), ..*span };
        let found = self.store().team(caller.team).heartbeats(monitor, &asked).await?;
        let page = Page::of(found.ok_or(Error::NotFound("monitor"))?, span.limit, |(at, _)| *at);
        let items = page.items.into_iter().map(|(_, heartbeat)| heartbeat).collect();
        Ok(Page { items, next: page.next })
    }

    /// The team's alerts, or those of one monitor, newest first.
    pub async fn alerts(
        &self,
        caller: &Caller,
        monitor: Option<MonitorId>,
        before: Option<AlertId>,
        limit: Option<u32>,
    ) -> Result<Page<ListedAlert, AlertId>> {
        let team = self.store().team(caller.team);
        let found = match monitor {
            None => team.alerts(before, and_one(limit)).await?,
            Some(monitor) => {
                let found = team.monitor_alerts(monitor, before, and_one(limit)).await?;
                found.ok_or(Error::NotFound("monitor"))?
            }
        };
        Ok(Page::of(found, limit, |listed| listed.alert.id))
    }
}
