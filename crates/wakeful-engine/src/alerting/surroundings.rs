//! What decisions about alerts depend on besides the alerts and their monitors: maintenance
//! windows, the monitors that they depend on, groups and recent outages. It is read once for all
//! alerts that are decided about together, and only for teams that have such things.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use wakeful_core::alerting::step::{Flapping, QuietGroup};
use wakeful_core::dependency::{Dependency, Parent, ParentMember};
use wakeful_core::flapping::FlapLimit;
use wakeful_core::group::is_member;
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::maintenance::{Cover, CoveredMonitor, Window, cover_of_alerts};
use wakeful_core::monitors::Tags;
use wakeful_core::selector::Selector;
use wakeful_core::time::Millis;
use wakeful_core::verdict::Status;
use wakeful_store::{
    Affected, DueAlert, MAX_AFFECTED_NAMES, MemberCandidate, RecentOutages, Store, StoredGroup,
    StoredMonitor,
};

use crate::Result;
use crate::notifications::events::flapping_alert_id;

/// What the alerts of some monitors depend on.
#[derive(Default)]
pub(super) struct Surroundings {
    windows: HashMap<TeamId, Vec<Window>>,
    /// Those that also cover what depends on a covered monitor.
    dependent_windows: HashMap<TeamId, Vec<Window>>,
    dependencies: HashMap<MonitorId, Vec<Dependency>>,
    parents: HashMap<MonitorId, StoredMonitor>,
    /// The members that count, of parents that are groups.
    parent_members: HashMap<MonitorId, Vec<ParentMember>>,
    affected: HashMap<MonitorId, Affected>,
    outages: HashMap<MonitorId, RecentOutages>,
    groups: HashMap<TeamId, TeamGroups>,
    quiet_members: HashMap<MonitorId, Affected>,
}

/// The groups of a team.
#[derive(Default)]
struct TeamGroups {
    selectors: HashMap<MonitorId, Selector>,
    /// Those that report the outages of their members.
    quiet: Vec<StoredGroup>,
}

impl TeamGroups {
    fn of(groups: Vec<StoredGroup>) -> Self {
        let selectors = groups.iter().map(|group| (group.id, group.spec.members.clone())).collect();
        let is_quiet = |group: &StoredGroup| group.isactive && group.spec.members_quiet;
        Self { selectors, quiet: groups.into_iter().filter(is_quiet).collect() }
    }

    fn contains(&self, group: &StoredGroup, id: MonitorId, tags: &Tags) -> bool {
        group.id != id && is_member(&self.selectors, &group.spec.members, id, tags)
    }
}

impl Surroundings {
    pub(super) async fn of(
        store: &Store,
        alerts: &[DueAlert],
        monitors: &HashMap<MonitorId, StoredMonitor>,
        now: Millis,
    ) -> Result<Self> {
        let (mut windows, mut groups) = (HashMap::new(), HashMap::new());
        for team in teams_of(alerts, |alert| alert.has_windows) {
            windows.insert(team, store.windows_for_alerts(team, now).await?);
        }
        let connected = teams_of(alerts, |alert| alert.is_connected);
        for team in &connected {
            groups.insert(*team, TeamGroups::of(store.groups(*team).await?));
        }
        let children: Vec<MonitorId> = monitors
            .values()
            .map(|stored| &stored.monitor)
            .filter(|monitor| connected.contains(&monitor.team))
            .map(|monitor| monitor.id)
            .collect();
        let dependencies = store.parents_of(&children).await?;
        let parents = parents(store, monitors, &dependencies).await?;
        let dependent_windows =
            if parents.is_empty() { HashMap::new() } else { dependent(&windows) };
        let parent_members = parent_members(store, &parents, &groups).await?;
        let mut unreported: Vec<MonitorId> = alerts
            .iter()
            .filter(|alert| alert.is_connected)
            // A step may report the outage to somebody else later.
            .filter(|alert| alert.state.notified.is_none() || alert.state.escalation.is_some())
            .map(|alert| alert.facts.monitor)
            .collect();
        unreported.sort_unstable();
        unreported.dedup();
        let affected = store.affected_by(&unreported, None).await?;
        let limits: Vec<(MonitorId, Millis)> = monitors
            .values()
            .map(|stored| &stored.monitor)
            .filter(|monitor| monitor.flapping.is_set())
            .map(|monitor| (monitor.id, now.before(2 * monitor.flapping.within)))
            .collect();
        let outages = store.recent_outages(&limits).await?;
        let quiet_members = quiet_members(store, &unreported, &groups, monitors).await?;
        Ok(Self {
            windows,
            dependent_windows,
            dependencies,
            parents,
            parent_members,
            affected,
            outages,
            groups,
            quiet_members,
        })
    }

    /// With these windows of the team instead of those that are about to begin or end.
    pub(super) fn with_windows(mut self, team: TeamId, windows: Vec<Window>) -> Self {
        self.windows = HashMap::from([(team, windows)]);
        self.dependent_windows = dependent(&self.windows);
        self
    }

    pub(super) fn cover(&self, stored: &StoredMonitor, now: Millis) -> Option<Cover> {
        let monitor = &stored.monitor;
        cover_of_alerts(self.windows.get(&monitor.team)?, monitor.id, &monitor.tags, now)
    }

    /// The parents of a monitor.
    pub(super) fn parents(&self, child: MonitorId, now: Millis) -> Vec<Parent> {
        let dependencies = self.dependencies.get(&child).into_iter().flatten();
        let parents = dependencies.filter_map(|Dependency { parent, kind }| {
            let stored = self.parents.get(parent)?;
            let is_covered = self.cover_of_dependents(stored, now).is_some();
            let parent = Parent::of(*kind, &stored.monitor, &stored.state, is_covered);
            Some(match self.parent_members.get(&parent.id) {
                Some(members) => parent.with_members(members),
                None => parent,
            })
        });
        parents.collect()
    }

    /// The suppressing windows of a monitor that also cover what depends on it.
    fn cover_of_dependents(&self, stored: &StoredMonitor, now: Millis) -> Option<Cover> {
        let monitor = &stored.monitor;
        let windows = self.dependent_windows.get(&monitor.team)?;
        cover_of_alerts(windows, monitor.id, &monitor.tags, now).filter(|cover| cover.suppresses)
    }

    /// The group that reports the outages of a monitor instead.
    pub(super) fn quiet_group(&self, stored: &StoredMonitor) -> Option<QuietGroup> {
        let monitor = &stored.monitor;
        let groups = self.groups.get(&monitor.team)?;
        let found =
            groups.quiet.iter().find(|group| groups.contains(group, monitor.id, &monitor.tags))?;
        Some(QuietGroup { id: found.id, name: found.name.clone() })
    }

    /// The members that are down, of a group that reports them.
    pub(super) fn quiet_members(&self, group: MonitorId) -> Option<&Affected> {
        self.quiet_members.get(&group)
    }

    /// What depends on a monitor, directly or not.
    pub(super) fn affected(&self, monitor: MonitorId) -> Option<&Affected> {
        self.affected.get(&monitor)
    }

    pub(super) fn flapping(&self, alert: &DueAlert, stored: &StoredMonitor) -> Option<Flapping> {
        let monitor = &stored.monitor;
        let limit = Some(monitor.flapping).filter(FlapLimit::is_set)?;
        let outages = self.outages.get(&monitor.id);
        Some(Flapping {
            limit,
            starts: outages.map(|outages| outages.starts.clone()).unwrap_or_default(),
            changed: stored.state.since,
            open: outages.and_then(|outages| outages.flapping),
            next: flapping_alert_id(monitor.id, alert.facts.started),
        })
    }
}

fn teams_of(alerts: &[DueAlert], which: impl Fn(&DueAlert) -> bool) -> HashSet<TeamId> {
    alerts.iter().filter(|alert| which(alert)).map(|alert| alert.team).collect()
}

fn dependent(windows: &HashMap<TeamId, Vec<Window>>) -> HashMap<TeamId, Vec<Window>> {
    let of_team = |(team, windows): (&TeamId, &Vec<Window>)| {
        (*team, windows.iter().filter(|window| window.dependents).cloned().collect())
    };
    windows.iter().map(of_team).collect()
}

/// The monitors that others of these depend on.
async fn parents(
    store: &Store,
    monitors: &HashMap<MonitorId, StoredMonitor>,
    dependencies: &HashMap<MonitorId, Vec<Dependency>>,
) -> Result<HashMap<MonitorId, StoredMonitor>> {
    let mut ids: Vec<MonitorId> =
        dependencies.values().flatten().map(|dependency| dependency.parent).collect();
    ids.sort_unstable();
    ids.dedup();
    let (known, other): (Vec<MonitorId>, Vec<MonitorId>) =
        ids.into_iter().partition(|id| monitors.contains_key(id));
    let mut found: HashMap<MonitorId, StoredMonitor> =
        known.iter().map(|id| (*id, monitors[id].clone())).collect();
    if !other.is_empty() {
        let others = store.monitors_by_id(&other).await?;
        found.extend(others.into_iter().map(|stored| (stored.monitor.id, stored)));
    }
    Ok(found)
}

/// The members of those of these monitors that are groups.
async fn parent_members(
    store: &Store,
    parents: &HashMap<MonitorId, StoredMonitor>,
    groups: &HashMap<TeamId, TeamGroups>,
) -> Result<HashMap<MonitorId, Vec<ParentMember>>> {
    let mut found = HashMap::new();
    let mut of_team: HashMap<TeamId, Vec<MemberCandidate>> = HashMap::new();
    for stored in parents.values().filter(|stored| stored.monitor.spec.group().is_some()) {
        let (team, id) = (stored.monitor.team, stored.monitor.id);
        let candidates = match of_team.entry(team) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(store.member_candidates(team).await?),
        };
        let (Some(groups), Some(selector)) =
            (groups.get(&team), stored.monitor.spec.group().map(|group| &group.members))
        else {
            continue;
        };
        let mut members = Vec::new();
        for one in candidates.iter() {
            let CoveredMonitor { id: member, tags } = &one.monitor;
            let belongs = is_member(&groups.selectors, selector, *member, tags);
            if belongs && *member != id && one.member().counts() {
                members.push(ParentMember {
                    id: *member,
                    is_failing: one.is_failing && one.status == Status::Up,
                    last_check: one.last_check,
                });
            }
        }
        found.insert(id, members);
    }
    Ok(found)
}

/// The members that are down, of those of these monitors that are groups and report them.
async fn quiet_members(
    store: &Store,
    unreported: &[MonitorId],
    groups: &HashMap<TeamId, TeamGroups>,
    monitors: &HashMap<MonitorId, StoredMonitor>,
) -> Result<HashMap<MonitorId, Affected>> {
    let mut found = HashMap::new();
    for id in unreported {
        let Some(team) = monitors.get(id).map(|stored| stored.monitor.team) else { continue };
        let Some(groups) = groups.get(&team) else { continue };
        let Some(group) = groups.quiet.iter().find(|group| group.id == *id) else { continue };
        let members = store.member_candidates(team).await?;
        let is_down_member = |one: &&MemberCandidate| {
            one.isactive
                && one.status == Status::Down
                && groups.contains(group, one.monitor.id, &one.monitor.tags)
        };
        let mut names: Vec<String> =
            members.iter().filter(is_down_member).map(|one| one.name.clone()).collect();
        let count = names.len();
        names.truncate(MAX_AFFECTED_NAMES);
        found.insert(*id, Affected { count, names });
    }
    Ok(found)
}
