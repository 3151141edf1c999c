//! The maintenance clock: begins and ends maintenance, and announces it. Every node looks for
//! windows that are due; the rows, in `store/alerting/maintenance_clock.rs`, decide which node
//! applies them. Each node also follows what was recorded, here or by another node, for the monitors
//! that it checks: it pauses them, or checks them right away. When the loop starts, also again
//! after a panic, it first compares all monitors that are paused with those that are to be.

use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::time::Millis;
use wakeful_store::ChangedCover;

use crate::due_work::{DueWorkReader, POLL_INTERVAL};
use crate::notifications::delivery::survive::survived;
use crate::{Engine, Event, Result, failpoint};

const TEAM_BATCH: u32 = 100;
/// The steps that one team gets before the next.
const MAX_STEPS: usize = 50;
/// The steps in which something else changes the monitors or windows before one leaves the rest
/// to the next round.
const MAX_OUTDATED: usize = 5;
/// How long a transaction that records maintenance may take: changes are read again for so
/// long.
const OVERLAP: Duration = Duration::from_secs(30);
/// How long what was recorded counts as work: a little longer, because it is looked for only
/// from time to time.
pub(crate) const LOOKBACK: Duration = Duration::from_secs(40);
/// How many late exclusions are counted again in one round.
const RECOUNT_BATCH: u32 = 50;

/// Applies maintenance until shutdown.
pub async fn run(engine: Engine, shutdown: CancellationToken) {
    let mut follower = Follower::default();
    let mut due_work = DueWorkReader::default();
    while !shutdown.is_cancelled() {
        let is_done = round(&engine, &mut follower).await;
        // After a failure, everything is tried again.
        let due = async { while !due_work.next(&engine).await.maintenance && is_done {} };
        tokio::select! {
            () = due => {}
            () = engine.0.maintenance_changed.notified() => {}
            () = shutdown.cancelled() => {}
        }
    }
}

/// Whether all parts of a round succeeded. One that fails does not keep the others from running.
async fn round(engine: &Engine, follower: &mut Follower) -> bool {
    let is_applied = succeeds(apply_due(engine)).await;
    let is_followed = log_failure(&follower.follow(engine).await);
    let is_recounted = succeeds(recount_late(engine)).await;
    is_applied && is_followed && is_recounted
}

/// Whether a part of a round succeeds. A panic is a failure, too.
async fn succeeds(part: impl Future<Output = Result<()>>) -> bool {
    let Ok(done) = survived(part).await else {
        tracing::error!(
            "applying maintenance failed because of a bug in Wakeful, retrying in {} s",
            POLL_INTERVAL.as_secs()
        );
        return false;
    };
    log_failure(&done)
}

fn log_failure(done: &Result<()>) -> bool {
    if let Err(error) = done {
        tracing::warn!(error = %ErrorChain(error), "applying maintenance failed, retrying in {} s", POLL_INTERVAL.as_secs());
    }
    done.is_ok()
}

/// Applies the windows that are due, team by team. A team that fails does not delay the others.
pub async fn apply_due(engine: &Engine) -> Result<()> {
    let now = engine.now();
    for team in engine.store().teams_with_due_maintenance(now, TEAM_BATCH).await? {
        match survived(engine.apply_maintenance(team)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(team.id = %team, error = %ErrorChain(&error), "applying the maintenance of team {team} failed, retrying in {} s", POLL_INTERVAL.as_secs());
            }
            Err(_) => {
                tracing::error!(team.id = %team, "applying the maintenance of team {team} failed because of a bug in Wakeful, retrying in {} s", POLL_INTERVAL.as_secs());
            }
        }
    }
    Ok(())
}

/// Counts heartbeats again that were compacted before their exclusion was recorded.
pub async fn recount_late(engine: &Engine) -> Result<()> {
    for late in engine.store().late_exclusions(RECOUNT_BATCH).await? {
        engine.store().recount(&late).await?;
    }
    Ok(())
}

impl Engine {
    /// Applies the windows of a team that are due. If that takes too long, the next round of the
    /// clock continues.
    pub(crate) async fn apply_maintenance(&self, team: TeamId) -> Result<()> {
        let mut outdated = 0;
        for _ in 0..MAX_STEPS {
            let Ok(_turn) = self.maintenance_turn(team).await else { break };
            failpoint::here("before-exclusion");
            let step = self.store().apply_maintenance(team, self.now()).await?;
            failpoint::here("after-exclusion");
            for window in &step.windows {
                self.bus().publish_event(team, || Event::Maintenance(*window));
            }
            if !step.windows.is_empty() {
                self.0.recent_members.forget(team);
                self.0.maintenance_changed.notify_one();
            }
            outdated += usize::from(step.is_outdated);
            if !step.more || outdated == MAX_OUTDATED {
                break;
            }
        }
        Ok(())
    }

    /// Pauses the monitors that maintenance pauses, and no others.
    pub(crate) async fn load_pauses(&self) -> Result<()> {
        let _turn = self.scheduler().pauses().turn().await;
        let covers = self.store().pausing_covers().await?;
        let pausing: HashSet<MonitorId> = covers.iter().map(|cover| cover.monitor).collect();
        for monitor in self.scheduler().pauses().monitors() {
            if !pausing.contains(&monitor) {
                self.scheduler().set_cover(monitor, None);
            }
        }
        for cover in covers {
            self.scheduler().set_cover(cover.monitor, Some(&cover.window));
        }
        Ok(())
    }
}

/// Follows the covers that were recorded. What is known was applied already.
#[derive(Default)]
pub(crate) struct Follower {
    since: Option<Millis>,
    known: HashMap<(MonitorId, Millis), Option<Millis>>,
}

impl Follower {
    async fn follow(&mut self, engine: &Engine) -> Result<()> {
        let now = engine.now();
        let since = match self.since {
            Some(since) => since,
            // What was recorded while nothing was followed, for example during a restart of the
            // loop, may be older than what is read below.
            None => {
                engine.load_pauses().await?;
                now
            }
        };
        let _turn = engine.scheduler().pauses().turn().await;
        let changed = engine.store().covers_changed_since(since.before(OVERLAP)).await?;
        // Those that began are applied after those that ended at the same time.
        let (begun, ended): (Vec<_>, Vec<_>) =
            changed.iter().partition(|cover: &&ChangedCover| cover.to.is_none());
        for cover in ended.iter().chain(&begun) {
            if self.known.get(&(cover.monitor, cover.from)) == Some(&cover.to) {
                continue;
            }
            let window = Some(cover.window.as_str()).filter(|_| cover.pauses && cover.to.is_none());
            engine.scheduler().set_cover(cover.monitor, window);
        }
        self.known = changed.iter().map(|one| ((one.monitor, one.from), one.to)).collect();
        self.since = Some(now.max(since));
        Ok(())
    }
}
