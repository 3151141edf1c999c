//! Groups: their check reads the status of their members from the store. A group is evaluated
//! at its interval, and immediately when a member changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::group::{self, Counts, Member, TeamGraph, is_member};
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::monitors::Monitor;
use wakeful_core::monitors::spec::GroupSpec;
use wakeful_core::observation::{Fault, FaultKind};
use wakeful_core::selector::Selector;
use wakeful_core::verdict::Input;
use wakeful_store::{MemberCandidate, StoredGroup};

use crate::{Engine, Result};

/// How long the members of a team are used for its other groups, unless one of them changes.
const MEMBERS_LIFETIME: Duration = Duration::from_secs(1);
/// With more teams than this, those that have not been used for a while are removed.
const MAX_TEAMS: usize = 1_000;

/// The monitors of a team, and which of them are groups.
struct TeamMembers {
    candidates: HashMap<MonitorId, MemberCandidate>,
    graph: TeamGraph,
}

impl TeamMembers {
    fn of(&self, group: MonitorId, spec: &GroupSpec) -> Vec<Member> {
        let members = self.graph.members(group, &spec.members);
        let found = members.iter().filter_map(|id| self.candidates.get(id));
        found.map(MemberCandidate::member).collect()
    }
}

/// The members of teams that were read a moment ago: a team with many groups reads them once.
#[derive(Default)]
pub(crate) struct RecentMembers(Mutex<HashMap<TeamId, RecentTeam>>);

struct RecentTeam {
    /// Changes when a member does, so that what was read before is not used.
    version: u64,
    read: Option<(Instant, Arc<TeamMembers>)>,
}

impl RecentMembers {
    fn lock(&self) -> MutexGuard<'_, HashMap<TeamId, RecentTeam>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was read a moment ago, or else the version that is read now.
    fn get(&self, team: TeamId) -> std::result::Result<Arc<TeamMembers>, u64> {
        let mut teams = self.lock();
        if teams.len() >= MAX_TEAMS {
            teams.retain(|_, one| one.read.as_ref().is_some_and(|(at, _)| is_recent(*at)));
        }
        let entry = teams.entry(team).or_insert(RecentTeam { version: 0, read: None });
        match &entry.read {
            Some((at, members)) if is_recent(*at) => Ok(Arc::clone(members)),
            _ => Err(entry.version),
        }
    }

    fn put(&self, team: TeamId, version: u64, members: &Arc<TeamMembers>) {
        let mut teams = self.lock();
        if let Some(entry) = teams.get_mut(&team).filter(|entry| entry.version == version) {
            entry.read = Some((Instant::now(), Arc::clone(members)));
        }
    }

    /// A member of the team has changed.
    pub(crate) fn forget(&self, team: TeamId) {
        if let Some(entry) = self.lock().get_mut(&team) {
            entry.version += 1;
            entry.read = None;
        }
    }
}

fn is_recent(at: Instant) -> bool {
    at.elapsed() < MEMBERS_LIFETIME
}

impl Engine {
    /// Evaluates a group.
    pub(crate) async fn check_group(&self, team: TeamId, id: MonitorId, spec: &GroupSpec) -> Input {
        match self.members_of(team).await {
            Ok(all) => match group::judge(spec.rule, &spec.weights, &all.of(id, spec)) {
                Ok(seen) => Input::Observation(seen),
                Err(fault) => Input::Fault(fault),
            },
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
        groups: &[(MonitorId, GroupSpec)],
    ) -> Result<HashMap<MonitorId, Counts>> {
        let mut counts = HashMap::new();
        if groups.is_empty() {
            return Ok(counts);
        }
        let all = self.members_of(team).await?;
        for (id, spec) in groups {
            counts.insert(*id, group::counts(spec.rule, &spec.weights, &all.of(*id, spec)));
        }
        Ok(counts)
    }

    /// The ids of the members of a group.
    pub(super) async fn member_ids(&self, group: &Monitor) -> Result<Vec<MonitorId>> {
        let Some(spec) = group.spec.group() else { return Ok(Vec::new()) };
        let all = self.members_of(group.team).await?;
        Ok(all.graph.members(group.id, &spec.members).into_iter().collect())
    }

    async fn members_of(&self, team: TeamId) -> Result<Arc<TeamMembers>> {
        let recent = &self.0.recent_members;
        let version = match recent.get(team) {
            Ok(members) => return Ok(members),
            Err(version) => version,
        };
        let candidates = self.store().member_candidates(team).await?;
        let groups = self.store().groups(team).await?;
        let graph = TeamGraph {
            monitors: candidates.iter().map(|one| one.monitor.clone()).collect(),
            groups: selectors(&groups),
            children: HashMap::new(),
        };
        let candidates = candidates.into_iter().map(|one| (one.monitor.id, one)).collect();
        let members = Arc::new(TeamMembers { candidates, graph });
        recent.put(team, version, &members);
        Ok(members)
    }

    /// Has the groups checked that contain monitors whose status has just changed. After a
    /// failure, that happens at their next check.
    pub(crate) async fn check_groups_of(&self, changed: impl Iterator<Item = &Monitor>) {
        let mut by_team: HashMap<TeamId, Vec<&Monitor>> = HashMap::new();
        for monitor in changed {
            by_team.entry(monitor.team).or_default().push(monitor);
        }
        for (team, monitors) in by_team {
            self.0.recent_members.forget(team);
            let groups = match self.store().groups(team).await {
                Ok(groups) => groups,
                Err(error) => {
                    tracing::warn!(team.id = %team, error = %ErrorChain(&error), "reading the groups of team {team} failed, they are evaluated at their next check");
                    continue;
                }
            };
            let selectors = selectors(&groups);
            let contains = |group: &&StoredGroup| {
                group.isactive
                    && monitors.iter().any(|one| {
                        one.id != group.id
                            && is_member(&selectors, &group.spec.members, one.id, &one.tags)
                    })
            };
            for group in groups.iter().filter(contains) {
                self.request_check(team, group.id);
            }
        }
    }
}

fn selectors(groups: &[StoredGroup]) -> HashMap<MonitorId, Selector> {
    groups.iter().map(|group| (group.id, group.spec.members.clone())).collect()
}
