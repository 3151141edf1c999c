//! How the monitors of a team are connected: groups and dependencies. It is read only where
//! something depends on it, because most teams have neither.

use std::collections::HashMap;
use uuid::Uuid;
use wakeful_core::group::{Member, Reach, TeamGraph};
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::maintenance::{CoveredMonitor, Window};
use wakeful_core::monitors::Spec;
use wakeful_core::monitors::spec::GroupSpec;
use wakeful_core::routing::Rule;
use wakeful_core::time::Millis;
use wakeful_core::verdict::Status;

use crate::dialect::{Tx, from_row, read, within};
use crate::history::run_blocking;
use crate::{Result, Store};

const HAS_CONNECTIONS: &str = "select exists (select 1 from dependencies where team_id = $1)
     or exists (select 1 from monitors where team_id = $1 and kind = 'group')";
const SELECT_MONITORS: &str = "select id, tags from monitors where team_id = $1 order by id";
const SELECT_GROUPS: &str = "select id, name, isactive, spec from monitors
     where team_id = $1 and kind = 'group'
     order by id";
const SELECT_DEPENDENCIES: &str =
    "select child_id, parent_id from dependencies where team_id = $1 order by child_id, parent_id";

/// A group of a team.
#[derive(Clone, Debug)]
pub struct StoredGroup {
    pub id: MonitorId,
    pub name: String,
    pub isactive: bool,
    pub spec: GroupSpec,
}

/// A monitor that may be a member of a group, with what its group depends on.
#[derive(Clone, Debug)]
pub struct MemberCandidate {
    pub monitor: CoveredMonitor,
    pub name: String,
    pub isactive: bool,
    pub status: Status,
    /// Maintenance covers it.
    pub is_covered: bool,
    pub last_check: Option<Millis>,
    /// Failures are being confirmed, or are.
    pub is_failing: bool,
}

impl MemberCandidate {
    /// As a member of its group.
    pub fn member(&self) -> Member {
        Member {
            id: self.monitor.id,
            name: self.name.clone(),
            status: self.status,
            isactive: self.isactive,
            is_covered: self.is_covered,
        }
    }
}

/// A monitor whose tags are not read yet.
struct MonitorRow {
    id: MonitorId,
    tags: String,
}

from_row!(MonitorRow, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    tags: row.try_get("tags")?,
});

impl MonitorRow {
    fn read(self) -> CoveredMonitor {
        CoveredMonitor { id: self.id, tags: serde_json::from_str(&self.tags).unwrap_or_default() }
    }
}

/// A group whose spec is not read yet: that of a large one takes a while.
struct GroupRow {
    id: MonitorId,
    name: String,
    isactive: bool,
    spec: String,
}

from_row!(GroupRow, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    name: row.try_get("name")?,
    isactive: row.try_get("isactive")?,
    spec: row.try_get("spec")?,
});

impl GroupRow {
    /// `None` if it cannot be read.
    fn read(self) -> Option<StoredGroup> {
        let Self { id, name, isactive, spec } = self;
        match serde_json::from_str(&spec).ok()? {
            Spec::Group(spec) => Some(StoredGroup { id, name, isactive, spec }),
            _ => None,
        }
    }
}

/// A candidate whose tags are not read yet.
struct CandidateRow {
    tags: String,
    candidate: MemberCandidate,
}

from_row!(CandidateRow, |row| Self {
    tags: row.try_get("tags")?,
    candidate: MemberCandidate {
        monitor: CoveredMonitor {
            id: row.try_get::<Uuid, _>("id")?.into(),
            tags: Default::default(),
        },
        name: row.try_get("name")?,
        isactive: row.try_get("isactive")?,
        status: Status::parse(row.try_get("status")?).unwrap_or_default(),
        is_covered: row.try_get("is_covered")?,
        last_check: row.try_get::<Option<i64>, _>("last_check")?.map(Millis),
        is_failing: row.try_get("is_failing")?,
    },
});

impl CandidateRow {
    fn read(self) -> MemberCandidate {
        let Self { tags, mut candidate } = self;
        candidate.monitor.tags = serde_json::from_str(&tags).unwrap_or_default();
        candidate
    }
}

fn graph(
    monitors: Vec<MonitorRow>,
    groups: Vec<GroupRow>,
    dependencies: Vec<(Uuid, Uuid)>,
) -> TeamGraph {
    let mut children: HashMap<MonitorId, Vec<MonitorId>> = HashMap::new();
    for (child, parent) in dependencies {
        children.entry(parent.into()).or_default().push(child.into());
    }
    let groups = groups.into_iter().filter_map(GroupRow::read);
    TeamGraph {
        monitors: monitors.into_iter().map(MonitorRow::read).collect(),
        groups: groups.map(|group| (group.id, group.spec.members)).collect(),
        children,
    }
}

impl Store {
    /// The windows of a team with what they cover through groups and dependencies.
    pub async fn resolve_windows(
        &self,
        team: TeamId,
        mut windows: Vec<Window>,
    ) -> Result<Vec<Window>> {
        if windows.is_empty() {
            return Ok(windows);
        }
        let Some(graph) = self.team_graph(team).await? else { return Ok(windows) };
        let resolved = run_blocking(move || {
            let index = graph.index();
            let mut reach = Reach::new(&graph, &index);
            windows.iter_mut().for_each(|window| window.resolve(&mut reach));
            windows
        });
        Ok(resolved.await)
    }

    /// The rules of a team with the members of the groups in them. Nothing is read if there are
    /// none.
    pub async fn resolve_rules(&self, team: TeamId, rules: Vec<Rule>) -> Result<Vec<Rule>> {
        if rules.iter().all(|rule| rule.selector.groups().is_empty()) {
            return Ok(rules);
        }
        Ok(match self.team_graph(team).await? {
            Some(graph) => {
                let resolved = run_blocking(move || {
                    let index = graph.index();
                    let mut reach = Reach::new(&graph, &index);
                    rules.into_iter().map(|rule| rule.resolved(&mut reach)).collect()
                });
                resolved.await
            }
            None => rules,
        })
    }

    /// The monitors of a team, without its groups and dependencies.
    pub(crate) async fn covered_monitors(&self, team: TeamId) -> Result<Vec<CoveredMonitor>> {
        let rows: Vec<MonitorRow> = read!(self, |db| {
            sqlx::query_as(SELECT_MONITORS).bind(team.uuid()).fetch_all(db).await
        })?;
        Ok(run_blocking(move || rows.into_iter().map(MonitorRow::read).collect()).await)
    }

    /// `None` if the team has neither groups nor dependencies.
    pub async fn team_graph(&self, team: TeamId) -> Result<Option<TeamGraph>> {
        let team = team.uuid();
        let is_connected: bool = read!(self, |db| {
            sqlx::query_scalar(HAS_CONNECTIONS).bind(team).fetch_one(db).await
        })?;
        if !is_connected {
            return Ok(None);
        }
        let monitors: Vec<MonitorRow> =
            read!(self, |db| sqlx::query_as(SELECT_MONITORS).bind(team).fetch_all(db).await)?;
        let groups: Vec<GroupRow> =
            read!(self, |db| sqlx::query_as(SELECT_GROUPS).bind(team).fetch_all(db).await)?;
        let dependencies: Vec<(Uuid, Uuid)> =
            read!(self, |db| sqlx::query_as(SELECT_DEPENDENCIES).bind(team).fetch_all(db).await)?;
        Ok(Some(run_blocking(move || graph(monitors, groups, dependencies)).await))
    }

    /// The groups of a team.
    pub async fn groups(&self, team: TeamId) -> Result<Vec<StoredGroup>> {
        let rows: Vec<GroupRow> = read!(self, |db| {
            sqlx::query_as(SELECT_GROUPS).bind(team.uuid()).fetch_all(db).await
        })?;
        Ok(run_blocking(move || rows.into_iter().filter_map(GroupRow::read).collect()).await)
    }

    /// Whether a team has groups.
    pub async fn has_groups(&self, team: TeamId) -> Result<bool> {
        Ok(read!(self, |db| {
            sqlx::query_scalar(
                "select exists (select 1 from monitors where team_id = $1 and kind = 'group')",
            )
            .bind(team.uuid())
            .fetch_one(db)
            .await
        })?)
    }

    /// All monitors of a team, which may be members of its groups.
    pub async fn member_candidates(&self, team: TeamId) -> Result<Vec<MemberCandidate>> {
        let rows: Vec<CandidateRow> = read!(self, |db| {
            sqlx::query_as(
                "select m.id, m.tags, m.name, m.isactive, s.status, s.last_check,
                        s.failing is not null as is_failing,
                        exists (select 1 from exclusions e
                                where e.monitor_id = m.id and e.to_at is null
                                and e.kind = 'maintenance') as is_covered
                 from monitors m join monitor_states s on s.monitor_id = m.id
                 where m.team_id = $1
                 order by m.id",
            )
            .bind(team.uuid())
            .fetch_all(db)
            .await
        })?;
        Ok(run_blocking(move || rows.into_iter().map(CandidateRow::read).collect()).await)
    }
}

/// Like `Store::team_graph`, within a transaction.
pub(crate) async fn team_graph_within(tx: &mut Tx, team: TeamId) -> Result<Option<TeamGraph>> {
    let team = team.uuid();
    let is_connected: bool =
        within!(*tx, |db| sqlx::query_scalar(HAS_CONNECTIONS).bind(team).fetch_one(db).await)?;
    if !is_connected {
        return Ok(None);
    }
    let monitors: Vec<MonitorRow> =
        within!(*tx, |db| sqlx::query_as(SELECT_MONITORS).bind(team).fetch_all(db).await)?;
    let groups: Vec<GroupRow> =
        within!(*tx, |db| sqlx::query_as(SELECT_GROUPS).bind(team).fetch_all(db).await)?;
    let dependencies: Vec<(Uuid, Uuid)> =
        within!(*tx, |db| sqlx::query_as(SELECT_DEPENDENCIES).bind(team).fetch_all(db).await)?;
    Ok(Some(graph(monitors, groups, dependencies)))
}
