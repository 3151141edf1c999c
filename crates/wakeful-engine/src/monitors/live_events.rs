//! The live events of the monitors that a caller can see.

use std::collections::HashSet;
use wakeful_core::access::{TeamAccess, permission};
use wakeful_core::id::MonitorId;

use crate::bus::{Event, Subscription};
use crate::{Authorized, Engine, Result};

pub struct LiveEvents {
    engine: Engine,
    access: TeamAccess,
    subscription: Subscription,
    /// With a monitor filter, those that match it.
    visible: Option<HashSet<MonitorId>>,
    /// Events were missed, so `visible` may be wrong.
    stale: bool,
    /// An event that is being filtered, so that it is not lost if the caller stops waiting.
    pending: Option<Event>,
}

impl Engine {
    /// Subscribes to the events of the caller's monitors.
    pub async fn subscribe(&self, caller: &Authorized<permission::View>) -> Result<LiveEvents> {
        let access = *caller.team_access();
        // Before the set is loaded, so that no change is missed.
        let subscription = self.bus().subscribe(access.team());
        let visible = match access.filter() {
            None => None,
            Some(_) => Some(self.visible(&access).await?),
        };
        Ok(LiveEvents {
            engine: self.clone(),
            access,
            subscription,
            visible,
            stale: false,
            pending: None,
        })
    }

    async fn visible(&self, access: &TeamAccess) -> Result<HashSet<MonitorId>> {
        Ok(self.store().team(access).monitor_ids().await?.into_iter().collect())
    }
}

impl LiveEvents {
    /// The next event; `None` when there will be no more.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if self.pending.is_none() {
                self.pending = Some(self.subscription.next().await?);
            }
            let filtered = self.filter().await;
            self.pending = None;
            if filtered.is_some() {
                return filtered;
            }
        }
    }

    /// What the caller sees of the pending event. A monitor that no longer matches the filter
    /// is deleted for the caller.
    async fn filter(&mut self) -> Option<Event> {
        let event = self.pending.clone()?;
        let Some(visible) = &mut self.visible else { return Some(event) };
        self.stale |= matches!(event, Event::Missed);
        if self.stale {
            // Until the set is known again, the caller sees nothing.
            *visible = self.engine.visible(&self.access).await.ok()?;
            self.stale = false;
            return Some(Event::Missed);
        }
        match event {
            // Everybody in the team sees status pages.
            Event::Missed | Event::Statuspage(_) | Event::Incident(_) => Some(event),
            Event::Heartbeat { monitor, .. } | Event::Alert { monitor, .. } => {
                visible.contains(&monitor).then_some(event)
            }
            Event::Maintenance(id) => {
                match self.engine.store().team(&self.access).covers_visible_monitor(id).await {
                    Ok(true) => Some(event),
                    Ok(false) => None,
                    Err(_) => Some(Event::Missed),
                }
            }
            Event::Deleted(id) => visible.remove(&id).then_some(event),
            Event::Saved(id) => {
                match self.engine.store().team(&self.access).has_monitor(id).await {
                    Ok(true) => {
                        visible.insert(id);
                        Some(event)
                    }
                    Ok(false) => visible.remove(&id).then_some(Event::Deleted(id)),
                    Err(_) => {
                        self.stale = true;
                        Some(Event::Missed)
                    }
                }
            }
        }
    }
}
