//! Signals alerts that became due through this store. It names them as long as they are few,
//! which saves a query.

use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use wakeful_core::id::AlertId;

use crate::Store;

/// Beyond this, the alerts are queried, longest overdue first.
const MAX_KNOWN: usize = 500;

#[derive(Default)]
pub(crate) struct AlertSignal {
    notify: Notify,
    pending: Mutex<PendingAlerts>,
}

#[derive(Default)]
struct PendingAlerts {
    known: Vec<AlertId>,
    /// There are more alerts than the known ones.
    more: bool,
}

impl AlertSignal {
    /// Signals that some alerts are due.
    pub(crate) fn notify_any(&self) {
        self.lock().more = true;
        self.notify.notify_one();
    }

    /// Signals that these alerts are due.
    pub(crate) fn notify_of(&self, due: Vec<AlertId>) {
        let mut pending = self.lock();
        if pending.known.len() + due.len() > MAX_KNOWN {
            pending.more = true;
        } else {
            pending.known.extend(due);
        }
        drop(pending);
        self.notify.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, PendingAlerts> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Waits until alerts become due through this store, and returns them, or `None` when the
    /// caller has to query. Alerts that other nodes write are not signaled here.
    pub async fn wait_for_alerts(&self) -> Option<Vec<AlertId>> {
        self.alerts.notify.notified().await;
        let PendingAlerts { known, more } = std::mem::take(&mut *self.alerts.lock());
        (!more).then_some(known)
    }
}
