//! Signals new rows in the outbox that were added through this store. It names
//! the rows as long as they are few, which saves a query.

use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

use super::DueDelivery;
use crate::Store;

/// Beyond this, the rows are queried, in an order that is fair to all notifiers.
const MAX_KNOWN: usize = 50;

#[derive(Default)]
pub(crate) struct OutboxSignal {
    notify: Notify,
    pending: Mutex<PendingDeliveries>,
}

#[derive(Default)]
struct PendingDeliveries {
    known: Vec<DueDelivery>,
    /// There are more rows than the known ones.
    more: bool,
}

impl OutboxSignal {
    /// Signals that some rows were added.
    pub(crate) fn notify_any(&self) {
        self.lock().more = true;
        self.notify.notify_one();
    }

    /// Signals that these rows were added.
    pub(crate) fn notify_of(&self, new: Vec<DueDelivery>) {
        let mut pending = self.lock();
        if pending.known.len() + new.len() > MAX_KNOWN {
            pending.more = true;
        } else {
            pending.known.extend(new);
        }
        drop(pending);
        self.notify.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, PendingDeliveries> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Waits until rows are added to the outbox through this store, and returns
    /// them, or `None` when the caller has to query. Rows that other nodes add are
    /// not signaled here.
    pub async fn wait_for_outbox(&self) -> Option<Vec<DueDelivery>> {
        self.outbox.notify.notified().await;
        let PendingDeliveries { known, more } = std::mem::take(&mut *self.outbox.lock());
        (!more).then_some(known)
    }
}
