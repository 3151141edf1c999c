//! Many clients at the same moment.

use std::sync::Arc;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

/// Runs a future for each of these clients, all started together, and returns
/// their results, in any order.
pub async fn concurrently<C, T, F>(callers: impl IntoIterator<Item = C>, call: fn(C) -> F) -> Vec<T>
where
    C: Send + 'static,
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let callers: Vec<C> = callers.into_iter().collect();
    let start = Arc::new(Barrier::new(callers.len()));
    let mut running = JoinSet::new();
    for caller in callers {
        let start = start.clone();
        running.spawn(async move {
            start.wait().await;
            call(caller).await
        });
    }
    running.join_all().await
}
