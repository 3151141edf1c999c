//! The teams that an administrator of the installation has suspended. Their monitors stay in
//! memory, but nothing is checked or judged. When a team is resumed, the deadlines of its push
//! monitors start again: no report was accepted meanwhile, so silence proves nothing.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::time::Millis;
use wakeful_store::Suspension;

use super::Scheduler;
use super::entry::Entry;
use crate::{Engine, Result};

/// Longer than the longest interval of a monitor: a resumption before that no longer matters.
const MAX_RESUMPTION_AGE: Duration = Duration::from_secs(60 * 86_400);

#[derive(Default)]
pub(super) struct Suspensions {
    /// Whether a team is suspended or was resumed, so that the usual case costs one load.
    any: AtomicBool,
    teams: RwLock<Teams>,
}

#[derive(Default)]
struct Teams {
    suspended: HashSet<TeamId>,
    resumed: HashMap<TeamId, Millis>,
    deleted: HashSet<TeamId>,
}

impl Suspensions {
    pub(super) fn contains(&self, team: TeamId) -> bool {
        self.any.load(Ordering::Acquire) && self.read(|teams| teams.suspended.contains(&team))
    }

    /// When the team was last resumed.
    pub(super) fn resumed_at(&self, team: TeamId) -> Option<Millis> {
        let any = self.any.load(Ordering::Acquire);
        if any { self.read(|teams| teams.resumed.get(&team).copied()) } else { None }
    }

    fn read<T>(&self, read: impl FnOnce(&Teams) -> T) -> T {
        read(&self.teams.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<T>(&self, change: impl FnOnce(&mut Teams) -> T) -> T {
        let mut teams = self.teams.write().unwrap_or_else(PoisonError::into_inner);
        let done = change(&mut teams);
        let any = !teams.suspended.is_empty() || !teams.resumed.is_empty();
        self.any.store(any, Ordering::Release);
        done
    }
}

impl Scheduler {
    /// Whether a team is suspended.
    pub(crate) fn is_suspended(&self, team: TeamId) -> bool {
        self.suspensions.contains(team)
    }

    /// Pauses and resumes teams, so that exactly these are suspended.
    pub(crate) fn apply_suspensions(&self, current: &[Suspension]) {
        let suspended: HashSet<TeamId> =
            current.iter().filter(|one| one.suspended).map(|one| one.team).collect();
        let resumed: HashMap<TeamId, Millis> =
            current.iter().filter_map(|one| Some((one.team, one.resumed_at?))).collect();
        self.remove_deleted(current);
        // A team that is resumed stays suspended until its deadlines start again.
        let (paused, continued) = self.suspensions.change(|teams| {
            let paused: HashSet<TeamId> = suspended.difference(&teams.suspended).copied().collect();
            let continued: HashSet<TeamId> =
                teams.suspended.difference(&suspended).copied().collect();
            teams.suspended.extend(&paused);
            teams.resumed = resumed;
            (paused, continued)
        });
        if paused.is_empty() && continued.is_empty() {
            return;
        }
        let now = self.clock.now();
        for shard in &self.shards {
            for entry in shard.lock().entries.iter_mut() {
                if paused.contains(&entry.team) || continued.contains(&entry.team) {
                    entry.interrupt(self.next_target_version());
                    self.evidence.remove_unconfirmed(entry.id);
                }
                if continued.contains(&entry.team) && entry.active && entry.is_push() {
                    entry.drop_runs();
                    // This is later than the wheel returns it, which then inserts it again.
                    entry.set_due(entry.first_due(now));
                }
            }
        }
        self.suspensions.change(|teams| teams.suspended = suspended);
    }
}

impl Scheduler {
    /// Removes the monitors of teams that were deleted since the last time.
    fn remove_deleted(&self, current: &[Suspension]) {
        let deleted: HashSet<TeamId> =
            current.iter().filter(|one| one.deleted).map(|one| one.team).collect();
        let new: HashSet<TeamId> = self.suspensions.change(|teams| {
            let new = deleted.difference(&teams.deleted).copied().collect();
            teams.deleted = deleted;
            new
        });
        if new.is_empty() {
            return;
        }
        for shard in &self.shards {
            let of_deleted = |entry: &&mut Entry| new.contains(&entry.team);
            let ids: Vec<MonitorId> =
                shard.lock().entries.iter_mut().filter(of_deleted).map(|entry| entry.id).collect();
            ids.into_iter().for_each(|id| self.remove(id));
        }
    }
}

impl Engine {
    /// Reads which teams are suspended.
    pub(crate) async fn refresh_suspensions(&self) -> Result<()> {
        let since = self.now().before(MAX_RESUMPTION_AGE);
        let current = self.store().suspensions(since).await?;
        self.scheduler().apply_suspensions(&current);
        Ok(())
    }
}
