//! Groups: their check reads the status of their members from the store. A group is evaluated
//! at its interval, and immediately when a member changes. However many members change and
//! however many groups there are, the members of a team are read by one task at a time, and
//! nothing is computed on the threads that serve requests.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::group::{self, Counts, Member, MemberIndex};
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::monitors::Monitor;
use wakeful_core::monitors::spec::GroupSpec;
use wakeful_core::observation::{Fault, FaultKind};
use wakeful_core::verdict::Input;
use wakeful_store::MemberCandidate;

use crate::{Engine, Result};

/// How long the members of a team are used for its other groups, unless one of them changes.
const MEMBERS_LIFETIME: Duration = Duration::from_secs(1);
/// With more teams than this, those that have not been used for a while are removed.
const MAX_TEAMS: usize = 1_000;
/// How many teams are read or computed at a time.
const MAX_WORKING: usize = 2;
/// After the groups of a team were evaluated because of changes, the next changes wait for so
/// many times as long as that took.
const PAUSE_FACTOR: u32 = 4;
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// The monitors of a team, and which of them are groups.
struct TeamMembers {
    candidates: HashMap<MonitorId, MemberCandidate>,
    index: MemberIndex,
}

impl TeamMembers {
    /// In the order of their ids.
    fn of(&self, group: MonitorId, spec: &GroupSpec) -> Vec<Member> {
        let members = self.index.members(group, &spec.members);
        let found = members.iter().filter_map(|id| self.candidates.get(id));
        let mut members: Vec<Member> = found.map(MemberCandidate::member).collect();
        members.sort_unstable_by_key(|member| member.id);
        members
    }

    /// The active groups that contain one of these monitors.
    fn active_groups_with(&self, monitors: &HashSet<MonitorId>) -> Vec<MonitorId> {
        let mut groups = self.index.groups_with(monitors);
        groups.retain(|id| self.candidates.get(id).is_some_and(|group| group.isactive));
        groups
    }
}

/// The members of teams that were read a moment ago: a team with many groups reads them once.
pub(crate) struct RecentMembers {
    teams: Mutex<Teams>,
    working: Semaphore,
    /// The members that changed since the groups of their team were requested to be checked.
    /// A team that is in it has a task.
    changed: Mutex<HashMap<TeamId, HashSet<MonitorId>>>,
}

#[derive(Default)]
struct Teams {
    /// The last version of any team.
    version: u64,
    by_id: HashMap<TeamId, RecentTeam>,
}

struct RecentTeam {
    /// Increases when a member changes.
    version: u64,
    /// What finding the groups to check needs at least: later changes have their own round.
    version_to_check: u64,
    read: Option<ReadMembers>,
    /// Held while the team is read.
    reading: Arc<tokio::sync::Mutex<()>>,
    /// The time that reading and computing took since the last pause.
    spent: Duration,
}

struct ReadMembers {
    version: u64,
    at: Instant,
    members: Arc<TeamMembers>,
}

/// Which changes the members must include.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Freshness {
    /// All that have been recorded.
    Current,
    /// Those that groups have been requested to be checked for.
    ToCheck,
}

impl Default for RecentMembers {
    fn default() -> Self {
        Self {
            teams: Mutex::default(),
            working: Semaphore::new(MAX_WORKING),
            changed: Mutex::default(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Teams {
    fn entry(&mut self, team: TeamId) -> &mut RecentTeam {
        if self.by_id.len() >= MAX_TEAMS {
            self.by_id.retain(|_, one| {
                let is_used = Arc::strong_count(&one.reading) > 1;
                is_used || one.read.as_ref().is_some_and(|read| is_recent(read.at))
            });
        }
        let version = self.version;
        self.by_id.entry(team).or_insert_with(|| RecentTeam {
            version,
            version_to_check: version,
            read: None,
            reading: Arc::default(),
            spent: Duration::ZERO,
        })
    }
}

impl RecentTeam {
    fn get(&self, version: u64) -> Option<Arc<TeamMembers>> {
        let read = self.read.as_ref()?;
        let is_usable = read.version >= version && is_recent(read.at);
        is_usable.then(|| Arc::clone(&read.members))
    }
}

impl RecentMembers {
    /// A member of the team has changed: what was read before is not used.
    pub(crate) fn forget(&self, team: TeamId) {
        self.increment_version(team, Freshness::ToCheck);
    }

    fn increment_version(&self, team: TeamId, seen_by: Freshness) {
        let mut teams = lock(&self.teams);
        teams.version += 1;
        let version = teams.version;
        // A team that is not in it has nothing to forget, and is read with this version.
        if let Some(entry) = teams.by_id.get_mut(&team) {
            entry.version = version;
            if seen_by == Freshness::ToCheck {
                entry.version_to_check = version;
            }
        }
    }

    fn add_spent(&self, team: TeamId, time: Duration) {
        if let Some(entry) = lock(&self.teams).by_id.get_mut(&team) {
            entry.spent += time;
        }
    }

    /// The pause after what was computed since the last one.
    fn take_pause(&self, team: TeamId) -> Duration {
        let mut teams = lock(&self.teams);
        let spent = teams.by_id.get_mut(&team).map(|entry| std::mem::take(&mut entry.spent));
        (spent.unwrap_or_default() * PAUSE_FACTOR).min(MAX_PAUSE)
    }

    /// Computes something about a team where it does not block requests.
    async fn compute<T: Send + 'static>(
        &self,
        team: TeamId,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let _turn = self.working.acquire().await;
        let timed = move || {
            let begun = Instant::now();
            (work(), begun.elapsed())
        };
        let done = tokio::task::spawn_blocking(timed).await;
        let (result, time) =
            done.unwrap_or_else(|broken| std::panic::resume_unwind(broken.into_panic()));
        self.add_spent(team, time);
        result
    }
}

fn is_recent(at: Instant) -> bool {
    at.elapsed() < MEMBERS_LIFETIME
}

impl Engine {
    /// Evaluates a group.
    pub(crate) async fn check_group(&self, team: TeamId, id: MonitorId, spec: &GroupSpec) -> Input {
        match self.members_of(team, Freshness::Current).await {
            Ok(all) => {
                let spec = spec.clone();
                let judge = move || group::judge(spec.rule, &spec.weights, &all.of(id, &spec));
                match self.0.recent_members.compute(team, judge).await {
                    Ok(seen) => Input::Observation(seen),
                    Err(fault) => Input::Fault(fault),
                }
            }
            Err(error) => {
                tracing::warn!(monitor.id = %id, error = %ErrorChain(&error), "reading the members of group {id} failed, it is evaluated again at its next check");
                let why = "the members of the group cannot be read at present";
                Input::Fault(Fault::new(FaultKind::Resources, why))
            }
        }
    }

    /// How many members of these groups of a team are up and down.
    pub(super) async fn group_counts(
        &self,
        team: TeamId,
        groups: Vec<(MonitorId, GroupSpec)>,
    ) -> Result<HashMap<MonitorId, Counts>> {
        if groups.is_empty() {
            return Ok(HashMap::new());
        }
        let all = self.members_of(team, Freshness::Current).await?;
        let count = move || {
            let counts = groups.iter().map(|(id, spec)| {
                (*id, group::counts(spec.rule, &spec.weights, &all.of(*id, spec)))
            });
            counts.collect()
        };
        Ok(self.0.recent_members.compute(team, count).await)
    }

    /// The ids of the members of a group.
    pub(super) async fn member_ids(&self, group: &Monitor) -> Result<Vec<MonitorId>> {
        let Some(spec) = group.spec.group() else { return Ok(Vec::new()) };
        let all = self.members_of(group.team, Freshness::Current).await?;
        let (id, selector) = (group.id, spec.members.clone());
        let members = move || all.index.members(id, &selector).into_iter().collect();
        Ok(self.0.recent_members.compute(group.team, members).await)
    }

    /// The members of a team. Of several callers, one reads them for all.
    async fn members_of(&self, team: TeamId, freshness: Freshness) -> Result<Arc<TeamMembers>> {
        let recent = &self.0.recent_members;
        let (wanted, reading) = {
            let mut teams = lock(&recent.teams);
            let entry = teams.entry(team);
            let wanted = match freshness {
                Freshness::Current => entry.version,
                Freshness::ToCheck => entry.version_to_check,
            };
            if let Some(members) = entry.get(wanted) {
                return Ok(members);
            }
            (wanted, Arc::clone(&entry.reading))
        };
        let _only_reader = reading.lock().await;
        let version = {
            let mut teams = lock(&recent.teams);
            let entry = teams.entry(team);
            if let Some(members) = entry.get(wanted) {
                return Ok(members);
            }
            entry.version
        };
        let turn = recent.working.acquire().await;
        let begun = Instant::now();
        let candidates = self.store().member_candidates(team).await?;
        let groups = self.store().groups(team).await?;
        recent.add_spent(team, begun.elapsed());
        drop(turn);
        let index = move || {
            let groups = groups.into_iter().map(|group| (group.id, group.spec.members)).collect();
            let index = MemberIndex::new(candidates.iter().map(|one| &one.monitor), groups);
            let candidates = candidates.into_iter().map(|one| (one.monitor.id, one)).collect();
            Arc::new(TeamMembers { candidates, index })
        };
        let members = recent.compute(team, index).await;
        let read = ReadMembers { version, at: Instant::now(), members: Arc::clone(&members) };
        lock(&recent.teams).entry(team).read = Some(read);
        Ok(members)
    }

    /// Has the groups checked that contain monitors whose status has just changed. A task of
    /// their team does it; what changes meanwhile waits for its next round.
    pub(crate) fn check_groups_of<'a>(&self, changed: impl Iterator<Item = &'a Monitor>) {
        let recent = &self.0.recent_members;
        let mut idle = Vec::new();
        let mut teams = HashSet::new();
        let mut waiting = lock(&recent.changed);
        for monitor in changed {
            teams.insert(monitor.team);
            match waiting.entry(monitor.team) {
                Entry::Occupied(mut running) => {
                    running.get_mut().insert(monitor.id);
                }
                Entry::Vacant(new) => {
                    new.insert(HashSet::from([monitor.id]));
                    idle.push(monitor.team);
                }
            }
        }
        for team in teams {
            recent.increment_version(team, Freshness::Current);
        }
        drop(waiting);
        for team in idle {
            let engine = self.clone();
            self.0.tasks.spawn(async move { engine.check_changed_groups(team).await });
        }
    }

    /// Until nothing has changed meanwhile.
    async fn check_changed_groups(&self, team: TeamId) {
        let recent = &self.0.recent_members;
        loop {
            let changed = {
                let mut waiting = lock(&recent.changed);
                match waiting.get_mut(&team).map(std::mem::take) {
                    Some(changed) if !changed.is_empty() => changed,
                    _ => {
                        waiting.remove(&team);
                        return;
                    }
                }
            };
            if let Err(error) = self.request_groups_of(team, changed).await {
                tracing::warn!(team.id = %team, error = %ErrorChain(&error), "reading the groups of team {team} failed, they are evaluated at their next check");
            }
            sleep(recent.take_pause(team)).await;
        }
    }

    async fn request_groups_of(&self, team: TeamId, changed: HashSet<MonitorId>) -> Result<()> {
        if !self.store().has_groups(team).await? {
            return Ok(());
        }
        let recent = &self.0.recent_members;
        {
            let mut teams = lock(&recent.teams);
            let entry = teams.entry(team);
            entry.version_to_check = entry.version;
        }
        let all = self.members_of(team, Freshness::ToCheck).await?;
        let groups = recent.compute(team, move || all.active_groups_with(&changed)).await;
        for group in groups {
            self.request_check(team, group);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::fairness_tests::{engine, job, team};
    use futures_util::future::join_all;
    use tokio::task::JoinSet;
    use wakeful_core::monitors::Spec;
    use wakeful_core::selector::{Selector, SelectorParts};
    use wakeful_core::verdict::Status;
    use wakeful_testkit::{both_databases, system, until, whole};

    both_databases! {
        async fn many_groups_and_changes_read_the_members_of_their_team_once(setup: Setup) {
            let database = setup.database().await;
            let mut tasks = JoinSet::new();
            let engine = engine(&database.open().await, &mut tasks).await;
            let (team, _) = team(engine.store(), 0).await;
            let (member, group) = (job(&engine, team, &[]).await, job(&engine, team, &[]).await);
            let stored = engine.store().monitors_by_id(&[member, group]).await.expect("read");
            let find = |id| stored.iter().find(|one| one.monitor.id == id).expect("stored");
            let (changed, before) = (find(member).monitor.clone(), find(group));
            let parts = SelectorParts { monitors: vec![member], ..SelectorParts::default() };
            let spec = GroupSpec::new(Selector::new(parts).expect("valid"));
            let saved = Monitor { spec: Spec::Group(spec.clone()), ..before.monitor.clone() };
            let team_store = engine.store().team(&whole(team));
            team_store.change_monitor(before, &saved, &system()).await.expect("saved");

            let read = |freshness| engine.members_of(team, freshness);
            let is_one = |all: &[Result<Arc<TeamMembers>>]| {
                let all: Vec<_> = all.iter().map(|one| one.as_ref().expect("read")).collect();
                all.iter().all(|one| Arc::ptr_eq(one, all[0]))
            };
            assert!(is_one(&join_all((0..20).map(|_| read(Freshness::Current))).await));

            // While the team is being read, any number of changes is one task.
            let first = read(Freshness::Current).await.expect("read");
            assert_eq!(first.of(group, &spec).iter().map(|one| one.status).collect::<Vec<_>>(), [Status::Pending]);
            let reading = Arc::clone(&lock(&engine.0.recent_members.teams).entry(team).reading);
            let held = reading.lock().await;
            for _ in 0..100 {
                engine.check_groups_of(std::iter::once(&changed));
            }
            assert_eq!(engine.0.tasks.len(), 1);
            drop(held);
            let is_idle = async || engine.0.tasks.is_empty().then_some(());
            until("the groups to be requested", is_idle).await;
            assert!(lock(&engine.0.recent_members.changed).is_empty());
            let second = read(Freshness::ToCheck).await.expect("read");
            assert!(!Arc::ptr_eq(&first, &second), "what was read before the change is not used");
            assert_eq!(second.active_groups_with(&HashSet::from([member])), [group]);
            // The round of earlier changes does not read later ones; checks and requests do.
            engine.0.recent_members.increment_version(team, Freshness::Current);
            assert!(Arc::ptr_eq(&second, &read(Freshness::ToCheck).await.expect("read")));
            assert!(!Arc::ptr_eq(&second, &read(Freshness::Current).await.expect("read")));
        }
    }
}
