//! The monitors that maintenance pauses: no connection to their targets is made. As long
//! as there are none, a check costs no more than reading a flag.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use tokio::sync::{Mutex, MutexGuard};
use wakeful_core::id::MonitorId;
use wakeful_core::observation::{Fault, FaultKind};

use super::{Scheduler, ShardState};

#[derive(Default)]
pub(crate) struct Pauses {
    any: AtomicBool,
    /// The name of the window that pauses each.
    windows: RwLock<HashMap<MonitorId, Arc<str>>>,
    turn: Mutex<()>,
}

impl Pauses {
    /// What is recorded instead of a check, if the monitor is paused.
    pub(crate) fn fault(&self, id: MonitorId) -> Option<Fault> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let windows = self.windows.read().unwrap_or_else(PoisonError::into_inner);
        let name = windows.get(&id)?;
        Some(Fault::new(FaultKind::Maintenance, format!("maintenance: {name}")))
    }

    /// Held while covers are read and applied, so that none is applied after a later state of it.
    pub(crate) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// The monitors that are paused.
    pub(crate) fn monitors(&self) -> Vec<MonitorId> {
        let windows = self.windows.read().unwrap_or_else(PoisonError::into_inner);
        windows.keys().copied().collect()
    }

    /// Pauses a monitor, or no longer; true if it was paused before.
    fn set(&self, id: MonitorId, window: Option<&str>) -> bool {
        let mut windows = self.windows.write().unwrap_or_else(PoisonError::into_inner);
        let before = match window {
            Some(name) => windows.insert(id, name.into()),
            None => windows.remove(&id),
        };
        self.any.store(!windows.is_empty(), Ordering::Release);
        before.is_some()
    }
}

impl Scheduler {
    pub(crate) fn pauses(&self) -> &Pauses {
        &self.pauses
    }

    /// Maintenance of a monitor has begun, changed or ended: it is paused, with the name of
    /// the window, or checked right away, so that statistics are exact. The deadline of a
    /// push monitor restarts when it is no longer paused.
    pub(crate) fn set_cover(&self, id: MonitorId, pausing_window: Option<&str>) {
        let was_paused = self.pauses.set(id, pausing_window);
        if pausing_window.is_some() {
            return;
        }
        let now = self.clock.now();
        let shard = self.shard(id);
        let mut monitors = shard.lock();
        let ShardState { entries, wheel, .. } = &mut *monitors;
        let Some(entry) = entries.get_mut(id).filter(|entry| entry.active) else { return };
        if !entry.is_push() {
            entry.check_soon(now);
        } else if was_paused {
            entry.set_due(entry.first_due(now));
        }
        shard.arm(entry, wheel);
    }
}
