//! Waits for a state that another task or process brings about.

use std::time::Duration;

use crate::stopwatch::Stopwatch;

const MAX_WAIT: Duration = Duration::from_secs(20);

/// Polls until there is a result, and fails after a timeout.
pub async fn until<T, F: Future<Output = Option<T>>>(what: &str, probe: impl FnMut() -> F) -> T {
    until_within(MAX_WAIT, what, probe).await
}

/// The same for what takes longer.
pub async fn until_within<T, F: Future<Output = Option<T>>>(
    limit: Duration,
    what: &str,
    mut probe: impl FnMut() -> F,
) -> T {
    let started = Stopwatch::start();
    loop {
        if let Some(found) = probe().await {
            return found;
        }
        assert!(started.elapsed() < limit, "waited {limit:?} for {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
