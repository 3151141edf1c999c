//! Waiting for a state that another task or process brings about.

use std::time::Duration;

const LONGEST: Duration = Duration::from_secs(20);

/// Looks again and again until there is something, and fails when there is
/// nothing for too long.
pub async fn until<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> T {
    let begun = tokio::time::Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(begun.elapsed() < LONGEST, "waited {LONGEST:?} for {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
