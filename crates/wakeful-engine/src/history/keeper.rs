//! The loops that keep the past small: one folds the heartbeats of each monitor
//! into blocks every hour, one lets go of what is older than the settings and the
//! team's plan say. Both take one monitor at a time and rest in between; both
//! may run on several nodes, where the same work done twice changes nothing.

use std::collections::HashMap;
use std::time::Duration;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use wakeful_core::chain::Chain;
use wakeful_core::history::DAY;
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::time::Millis;
use wakeful_store::Limits;

use crate::{Engine, Result};

/// Heartbeats stay fresh for this long: late ones find their place cheaply.
const FRESH: Duration = Duration::from_secs(15 * 60);
/// A monitor is folded when its oldest fresh heartbeat is older than this.
const DUE: Duration = Duration::from_secs(75 * 60);
const FOLD_EVERY: Duration = Duration::from_secs(300);
const LET_GO_EVERY: Duration = Duration::from_secs(3600);
/// How many heartbeats one step folds.
const STEP: u32 = 4_096;
const PAGE: u32 = 500;
/// Between two monitors, so that checks and callers come first.
const REST: Duration = Duration::from_millis(2);
/// How many pages the file gives back at a time, and how many it may keep.
const PAGES: u32 = 256;
const SPARE_PAGES: i64 = 1_024;

/// For how many days each part of the past is kept.
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
    /// What is older than this goes, when a plan keeps no more than `most` days.
    pub fn limits(&self, most: Option<u32>, now: Millis) -> Limits {
        let before = |days: u32| now.before(DAY * days.min(most.unwrap_or(u32::MAX)));
        Limits {
            heartbeats: before(self.raw_days),
            phases: before(self.phase_days),
            hours: before(self.hour_days),
            days: before(self.day_days),
        }
    }
}

/// Both loops, until told to stop.
pub async fn run(engine: Engine, shutdown: CancellationToken) {
    tokio::join!(
        every(FOLD_EVERY, &shutdown, "heartbeats could not be folded", || fold(&engine, &shutdown)),
        every(LET_GO_EVERY, &shutdown, "old heartbeats could not be let go", || {
            let_go(&engine, &shutdown)
        }),
    );
}

async fn every<F: Future<Output = Result<u64>>>(
    span: Duration,
    shutdown: &CancellationToken,
    trouble: &str,
    round: impl Fn() -> F,
) {
    while !shutdown.is_cancelled() {
        if let Err(error) = round().await {
            tracing::warn!(error = %Chain(&error), "{trouble}");
        }
        tokio::select! {
            () = sleep(span) => {}
            () = shutdown.cancelled() => {}
        }
    }
}

/// Folds what is due of all monitors; how many heartbeats.
pub async fn fold(engine: &Engine, shutdown: &CancellationToken) -> Result<u64> {
    let (mut after, mut folded) = (None, 0);
    loop {
        let now = engine.now();
        let page = engine.store().foldable(after, now.before(DUE), PAGE).await?;
        for monitor in page.monitors {
            // One that cannot be folded must not keep the others from it.
            match fold_one(engine, monitor, shutdown).await {
                Ok(count) => folded += count,
                Err(error) => {
                    tracing::warn!(monitor.id = %monitor, error = %Chain(&error), "heartbeats of monitor {monitor} could not be folded");
                }
            }
            sleep(REST).await;
        }
        after = page.last;
        if after.is_none() || shutdown.is_cancelled() {
            metrics::counter!("wakeful_heartbeats_folded_total").increment(folded);
            return Ok(folded);
        }
    }
}

async fn fold_one(
    engine: &Engine,
    monitor: MonitorId,
    shutdown: &CancellationToken,
) -> Result<u64> {
    let now = engine.now();
    let kept = kept(engine, now);
    let mut folded = 0;
    // Whoever meets another at the same monitor comes back in the next round.
    while !shutdown.is_cancelled() {
        let step = engine.store().fold(monitor, now.before(FRESH), kept, STEP).await?;
        folded += step.heartbeats as u64;
        if !step.more || step.heartbeats == 0 {
            break;
        }
        sleep(REST).await;
    }
    Ok(folded)
}

/// From when on heartbeats are folded and not let go: of a day whose heartbeats
/// are partly gone nothing can be counted anew.
fn kept(engine: &Engine, now: Millis) -> Millis {
    engine.settings().history.limits(None, now).heartbeats.after(DAY)
}

/// Folds all that is known of a monitor whose interval is about to change: what
/// was seen so far counts for the interval it was seen at.
pub(crate) async fn settle(engine: &Engine, monitor: MonitorId) -> Result<()> {
    let now = engine.now();
    let kept = kept(engine, now);
    let mut more = true;
    while more {
        let step = engine.store().fold(monitor, now, kept, STEP).await?;
        more = step.more && step.heartbeats > 0;
    }
    Ok(())
}

/// Lets go of what is old enough of all monitors; how many rows.
pub async fn let_go(engine: &Engine, shutdown: &CancellationToken) -> Result<u64> {
    let (mut after, mut gone) = (None, 0);
    engine.forget_kept_days().await?;
    let mut plans: HashMap<TeamId, Option<u32>> = HashMap::new();
    loop {
        let page = engine.store().monitors_after(after, PAGE).await?;
        let Some((last, _)) = page.last() else { break };
        after = Some(*last);
        for (monitor, team) in page {
            let days = match plans.get(&team) {
                Some(days) => *days,
                None => *plans.entry(team).or_insert(engine.kept_days(team).await?),
            };
            let limits = engine.settings().history.limits(days, engine.now());
            loop {
                let rows = engine.store().let_go(monitor, &limits).await?;
                gone += rows;
                if shutdown.is_cancelled() {
                    return Ok(gone);
                }
                sleep(REST).await;
                if rows == 0 {
                    break;
                }
            }
        }
    }
    shrink(engine, shutdown).await?;
    Ok(gone)
}

/// Gives empty pages of the file back, but for some that are soon used again.
async fn shrink(engine: &Engine, shutdown: &CancellationToken) -> Result<()> {
    let mut empty = engine.store().empty_pages().await?;
    while empty > SPARE_PAGES && !shutdown.is_cancelled() {
        let left = engine.store().shrink(PAGES).await?;
        // A file that was made without the setting gives nothing back.
        if left >= empty {
            break;
        }
        empty = left;
        sleep(REST).await;
    }
    Ok(())
}
