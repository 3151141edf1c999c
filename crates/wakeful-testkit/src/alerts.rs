//! The alert processor, for tests of the store.

use wakeful_core::time::Millis;
use wakeful_engine::alerting::processor;
use wakeful_store::Store;

/// Decides about the alerts that are due; returns how many decisions were written.
pub async fn process_alerts(store: &Store, now: Millis) -> usize {
    let due = store.due_alerts(now, 500).await.unwrap();
    processor::process(store, due, now).await.unwrap().alerts
}
