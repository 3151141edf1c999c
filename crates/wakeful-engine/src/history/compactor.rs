//! The loops that keep the history small: one compacts the heartbeats of each monitor into
//! blocks every hour, the other deletes history that is older than the settings and the
//! team's plan allow. Both process one monitor at a time and pause in between. Both may run
//! on several nodes: doing the same work twice changes nothing.

use std::collections::HashMap;
use std::time::Duration;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::history::DAY;
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::time::Millis;
use wakeful_store::RetentionLimits;

use crate::bus::Edit;
use crate::{Engine, Result};

/// Heartbeats are compacted after this time: until then, adding a late one is cheap.
const COMPACTION_DELAY: Duration = Duration::from_secs(15 * 60);
/// A monitor is compacted when its oldest recent heartbeat is older than this.
const COMPACTION_AGE: Duration = Duration::from_secs(75 * 60);
const COMPACTION_INTERVAL: Duration = Duration::from_secs(300);
const RETENTION_INTERVAL: Duration = Duration::from_secs(3600);
/// How many heartbeats one step compacts.
const HEARTBEAT_BATCH: u32 = 4_096;
const MONITOR_BATCH: u32 = 500;
/// Between two monitors, so that checks and callers come first.
const MONITOR_PAUSE: Duration = Duration::from_millis(2);
/// How many free pages the database file releases at a time, and how many may remain.
const VACUUM_BATCH: u32 = 256;
const MAX_FREE_PAGES: i64 = 1_024;

/// For how many days each part of the history is retained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub raw_days: u32,
    pub phase_days: u32,
    pub hour_days: u32,
    pub day_days: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { raw_days: 365, phase_days: 3, hour_days: 1_095, day_days: 3_650 }
    }
}

impl Settings {
    /// The times before which history is deleted, when the plan retains at most `max_days`.
    pub fn limits(&self, max_days: Option<u32>, now: Millis) -> RetentionLimits {
        let before = |days: u32| now.before(DAY * days.min(max_days.unwrap_or(u32::MAX)));
        RetentionLimits {
            heartbeats: before(self.raw_days),
            phases: before(self.phase_days),
            hours: before(self.hour_days),
            days: before(self.day_days),
        }
    }
}

/// Runs both loops until shutdown.
pub async fn run(engine: Engine, shutdown: CancellationToken) {
    tokio::join!(
        run_every(COMPACTION_INTERVAL, &shutdown, "compacting heartbeats failed, retrying", || {
            compact(&engine, &shutdown)
        }),
        run_every(
            RETENTION_INTERVAL,
            &shutdown,
            "deleting expired history failed, retrying",
            || { delete_expired(&engine, &shutdown) }
        ),
    );
}

async fn run_every<F: Future<Output = Result<u64>>>(
    span: Duration,
    shutdown: &CancellationToken,
    failure: &str,
    round: impl Fn() -> F,
) {
    while !shutdown.is_cancelled() {
        if let Err(error) = round().await {
            tracing::warn!(error = %ErrorChain(&error), "{failure}");
        }
        tokio::select! {
            () = sleep(span) => {}
            () = shutdown.cancelled() => {}
        }
    }
}

/// Compacts all monitors that are due; returns the number of heartbeats.
pub async fn compact(engine: &Engine, shutdown: &CancellationToken) -> Result<u64> {
    let (mut after, mut compacted) = (None, 0);
    loop {
        let now = engine.now();
        let page = engine
            .store()
            .compaction_candidates(after, now.before(COMPACTION_AGE), MONITOR_BATCH)
            .await?;
        for monitor in page.monitors {
            // A failure must not stop the compaction of the other monitors.
            match compact_monitor(engine, monitor, shutdown).await {
                Ok(count) => compacted += count,
                Err(error) => {
                    tracing::warn!(monitor.id = %monitor, error = %ErrorChain(&error), "compacting heartbeats of monitor {monitor} failed, retrying later");
                }
            }
            sleep(MONITOR_PAUSE).await;
        }
        after = page.last;
        if after.is_none() || shutdown.is_cancelled() {
            metrics::counter!("wakeful_heartbeats_folded_total").increment(compacted);
            return Ok(compacted);
        }
    }
}

async fn compact_monitor(
    engine: &Engine,
    monitor: MonitorId,
    shutdown: &CancellationToken,
) -> Result<u64> {
    let now = engine.now();
    let oldest = oldest_compacted(engine, now);
    let (mut compacted, mut compared) = (0, None);
    // If another node compacts the same monitor, this one continues in the next round.
    while !shutdown.is_cancelled() {
        let step = engine
            .store()
            .compact(monitor, now.before(COMPACTION_DELAY), oldest, HEARTBEAT_BATCH)
            .await?;
        compacted += step.heartbeats as u64;
        compared = compared.or(step.compared);
        if !step.more || step.heartbeats == 0 {
            break;
        }
        sleep(MONITOR_PAUSE).await;
    }
    if let Some(team) = compared
        && engine.store().update_baseline(monitor, now).await?
    {
        engine.bus().publish_edit(Edit::new(team, monitor));
    }
    Ok(compacted)
}

/// The time from which heartbeats are compacted instead of deleted: the roll-up of a day
/// cannot be computed again once some of its heartbeats are deleted.
fn oldest_compacted(engine: &Engine, now: Millis) -> Millis {
    engine.settings().history.limits(None, now).heartbeats.after(DAY)
}

/// Compacts all heartbeats of a monitor whose interval is about to change, so that they
/// count with the interval they were recorded at.
pub(crate) async fn compact_now(engine: &Engine, monitor: MonitorId) -> Result<()> {
    let now = engine.now();
    let oldest = oldest_compacted(engine, now);
    let mut more = true;
    while more {
        let step = engine.store().compact(monitor, now, oldest, HEARTBEAT_BATCH).await?;
        more = step.more && step.heartbeats > 0;
    }
    Ok(())
}

/// Deletes the expired history of all monitors; returns the number of rows.
pub async fn delete_expired(engine: &Engine, shutdown: &CancellationToken) -> Result<u64> {
    let (mut after, mut deleted) = (None, 0);
    engine.clear_retention_limits().await?;
    let mut plans: HashMap<TeamId, Option<u32>> = HashMap::new();
    loop {
        let page = engine.store().monitors_after(after, MONITOR_BATCH).await?;
        let Some((last, _)) = page.last() else { break };
        after = Some(*last);
        for (monitor, team) in page {
            let days = match plans.get(&team) {
                Some(days) => *days,
                None => *plans.entry(team).or_insert(engine.retention_days(team).await?),
            };
            let limits = engine.settings().history.limits(days, engine.now());
            loop {
                let rows = engine.store().delete_expired(monitor, &limits).await?;
                deleted += rows;
                if shutdown.is_cancelled() {
                    return Ok(deleted);
                }
                sleep(MONITOR_PAUSE).await;
                if rows == 0 {
                    break;
                }
            }
        }
    }
    shrink(engine, shutdown).await?;
    Ok(deleted)
}

/// Releases free pages of the database file, except for some that are soon used again.
async fn shrink(engine: &Engine, shutdown: &CancellationToken) -> Result<()> {
    let mut empty = engine.store().empty_pages().await?;
    while empty > MAX_FREE_PAGES && !shutdown.is_cancelled() {
        let left = engine.store().shrink(VACUUM_BATCH).await?;
        // A file that was created without incremental vacuum releases nothing.
        if left >= empty {
            break;
        }
        empty = left;
        sleep(MONITOR_PAUSE).await;
    }
    Ok(())
}
