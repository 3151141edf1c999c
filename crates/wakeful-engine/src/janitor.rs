//! The loop that deletes expired rows: sessions, keys, links, counters, messages and
//! alerts, reminds of keys that expire soon, and reports the heads of the audit log. Missing a
//! round does no harm.

use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::statuspages::subscriber::{DELIVERIES_RETAINED, REMEMBERED_FOR};

use crate::monitors::add_ping_urls;
use crate::{Engine, Result};

const SWEEP_INTERVAL: Duration = Duration::from_secs(600);
/// Longer than the longest window of a limit, but not much: failed logins leave a row
/// for each name that was tried.
const LIMIT_RETENTION: Duration = Duration::from_secs(2 * 3600);

/// Longer than a caller waits for a request to another node, and longer than a slot
/// can be without an owner.
const REQUEST_RETENTION: Duration = Duration::from_secs(600);

/// How long an expired API key is still listed.
const EXPIRED_KEY_RETENTION: Duration = Duration::from_secs(30 * 86_400);

/// How long drafts of incidents that were discarded are retained.
const DISCARDED_RETENTION: Duration = Duration::from_secs(7 * 86_400);

/// How many entries of its audit log a team keeps at most.
const MAX_AUDIT_ENTRIES: i64 = 200_000;

/// Between two batches, so that checks and callers come first.
const BATCH_PAUSE: Duration = Duration::from_millis(20);

/// How many small batches of heartbeats of deleted monitors one round deletes.
const MAX_GRAVE_BATCHES: u32 = 1_000;

pub async fn run(engine: Engine, shutdown: CancellationToken) {
    loop {
        // The leader does it for all nodes; two leaders at a handover do no harm.
        if engine.cluster().is_leader() {
            report(sweep(&engine).await);
        }
        tokio::select! {
            () = wait(&engine) => {}
            () = shutdown.cancelled() => return,
        }
    }
}

/// Until the next round. What was deleted meanwhile is deleted from the store.
async fn wait(engine: &Engine) {
    let next = Instant::now() + SWEEP_INTERVAL;
    loop {
        tokio::select! {
            () = sleep_until(next) => return,
            () = engine.0.rows_left.notified() => {}
        }
        if engine.cluster().is_leader() {
            report(delete_rest(engine).await);
        }
    }
}

fn report(swept: Result<()>) {
    if let Err(error) = swept {
        tracing::warn!(error = %ErrorChain(&error), "deleting expired rows failed, retrying in {} s", SWEEP_INTERVAL.as_secs());
    }
}

/// Deletes what is left of deleted teams, monitors and notifiers.
async fn delete_rest(engine: &Engine) -> Result<()> {
    let mut any = false;
    while engine.store().delete_part().await? {
        any = true;
        sleep(BATCH_PAUSE).await;
    }
    // A team that was deleted from the command line is still in memory.
    if any { engine.refresh_suspensions().await } else { Ok(()) }
}

/// One round.
pub async fn sweep(engine: &Engine) -> Result<()> {
    let now = engine.now();
    let settings = engine.settings();
    let store = engine.store();
    store
        .prune_sessions(now.before(settings.session_idle), now.before(settings.session_max))
        .await?;
    store.prune_password_resets(now).await?;
    store.prune_api_keys(now.before(EXPIRED_KEY_RETENTION)).await?;
    engine.remind_of_expiring_keys().await?;
    engine.report_audit_heads().await?;
    engine.recheck_domains().await?;
    store.prune_audit(now.before(settings.audit), MAX_AUDIT_ENTRIES).await?;
    delete_rest(engine).await?;
    engine.erase_deleted().await?;
    store.give_up_for_disabled(now).await?;
    store.prune_discarded_incidents(now.before(DISCARDED_RETENTION)).await?;
    store.prune_subscribers(now, now.before(REMEMBERED_FOR)).await?;
    while store.prune_statuspage_events(now.before(DELIVERIES_RETAINED)).await? {
        sleep(BATCH_PAUSE).await;
    }
    store.prune_verifications(now).await?;
    store.prune_invitations(now).await?;
    store.prune_pending_signups(now).await?;
    store.prune_rate_limits(now.before(LIMIT_RETENTION)).await?;
    store.prune_sent_mails(now.before(SWEEP_INTERVAL)).await?;
    store.delete_orphaned_heartbeats(MAX_GRAVE_BATCHES).await?;
    // Messages are retained as long as single heartbeats, alerts as long as daily roll-ups.
    let cutoffs = settings.history.limits(None, now);
    while store.prune_deliveries(cutoffs.heartbeats).await? {
        sleep(BATCH_PAUSE).await;
    }
    while store.prune_evidence(now.before(settings.evidence)).await? {
        sleep(BATCH_PAUSE).await;
    }
    while store.prune_pings(now.before(settings.evidence)).await? {
        sleep(BATCH_PAUSE).await;
    }
    add_ping_urls(engine).await?;
    while store.prune_alerts(cutoffs.days).await? {
        sleep(BATCH_PAUSE).await;
    }
    let database = store.lease_time().await?;
    store.prune_node_requests(database.before(REQUEST_RETENTION)).await?;
    Ok(())
}
