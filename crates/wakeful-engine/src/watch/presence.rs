//! Whether somebody listens to reports: a mark in the store that is renewed while
//! we do. Who starts reads from it for how long nobody did, because what was
//! reported meanwhile is lost, and silence that it may have broken proves nothing.

use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::chain::Chain;

use crate::Engine;

/// After a crash the mark is this old at most.
const EVERY: Duration = Duration::from_secs(10);

/// Finds out when somebody listened last. When the store does not say, nobody
/// has for long.
pub(super) async fn arrive(engine: &Engine) {
    if let Ok(Some(at)) = engine.store().listened_until().await {
        let at = at.0.max(0).cast_unsigned();
        engine.watch().deaf_since.store(at, Ordering::Release);
    }
}

/// Renews the mark until told to stop, and then once more.
pub(super) async fn keep(engine: Engine, stop: CancellationToken) {
    loop {
        let last = stop.is_cancelled();
        if let Err(error) = engine.store().note_listening(engine.now()).await {
            tracing::debug!(error = %Chain(&error), "that we listen is noted later");
        }
        if last {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            () = stop.cancelled() => {}
        }
    }
}
