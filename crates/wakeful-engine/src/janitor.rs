//! The loop that forgets what has had its day: sessions, reset tokens, counters,
//! messages and alerts that no longer mean anything. Missing a round costs nothing.

use std::time::Duration;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use wakeful_core::chain::Chain;

use crate::{Engine, Result};

const EVERY: Duration = Duration::from_secs(600);
/// Longer than the longest window of a limit, and no longer than that: failed
/// logins leave a row for each name that was tried.
const LIMITS_LIVE: Duration = Duration::from_secs(2 * 3600);

/// Longer than anybody waits for what was asked of another node, and than a
/// node's slots are without a holder.
const ASKS_LIVE: Duration = Duration::from_secs(600);

/// Between two batches, so that checks and callers come first.
const REST: Duration = Duration::from_millis(20);

/// How many small batches of heartbeats of deleted monitors go in one round.
const GRAVES: u32 = 1_000;

pub async fn run(engine: Engine, shutdown: CancellationToken) {
    loop {
        // One node does it for all; doubled, at a change of hands, it does no harm.
        if engine.cluster().leads()
            && let Err(error) = sweep(&engine).await
        {
            tracing::warn!(error = %Chain(&error), "old rows could not be swept");
        }
        tokio::select! {
            () = sleep(EVERY) => {}
            () = shutdown.cancelled() => return,
        }
    }
}

/// One round.
pub async fn sweep(engine: &Engine) -> Result<()> {
    let now = engine.now();
    let settings = engine.settings();
    let store = engine.store();
    store
        .sweep_sessions(now.before(settings.session_idle), now.before(settings.session_max))
        .await?;
    store.sweep_resets(now).await?;
    store.sweep_limits(now.before(LIMITS_LIVE)).await?;
    store.sweep_sent_mails(now.before(EVERY)).await?;
    store.sweep_graves(GRAVES).await?;
    // Messages stay as long as single heartbeats, alerts as long as days.
    let kept = settings.history.limits(None, now);
    while store.sweep_deliveries(kept.heartbeats).await? {
        sleep(REST).await;
    }
    while store.sweep_alerts(kept.days).await? {
        sleep(REST).await;
    }
    let database = store.lease_time().await?;
    store.sweep_asks(database.before(ASKS_LIVE)).await?;
    Ok(())
}
