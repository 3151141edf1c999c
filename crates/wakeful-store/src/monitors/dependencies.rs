//! Which monitors depend on which. Changes are checked in the transaction that saves the
//! child, under the lock of the team, so that no cycle can arise from two changes at once.

use std::collections::{HashMap, HashSet};
use uuid::Uuid;
use wakeful_core::dependency::{Dependency, DependencyError, DependencyKind, MAX_DEPTH, validate};
use wakeful_core::group::{MAX_GROUPS, NestingError};
use wakeful_core::id::MonitorId;
use wakeful_core::monitors::spec::GroupSpec;
use wakeful_core::monitors::{Monitor, Spec};

use super::graph::team_graph_within;
use super::visible::is_visible;
use super::{LinkError, SaveOutcome, id_array};
use crate::dialect::{Tx, either, from_row, read, within};
use crate::{Result, Store, TeamStore};

/// The most names of monitors that an event lists.
pub const MAX_AFFECTED_NAMES: usize = 50;

/// The monitors that depend on another one, directly or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Affected {
    pub count: usize,
    /// Not all of them if there are many.
    pub names: Vec<String>,
}

struct Edge {
    child: MonitorId,
    dependency: Dependency,
}

from_row!(Edge, |row| Self {
    child: row.try_get::<Uuid, _>("child_id")?.into(),
    dependency: Dependency {
        parent: row.try_get::<Uuid, _>("parent_id")?.into(),
        kind: DependencyKind::parse(row.try_get("as_kind")?).unwrap_or_default(),
    },
});

impl TeamStore<'_> {
    /// The parents of the team's monitors from `first` to `last` that the caller can see.
    pub(super) async fn dependencies(
        &self,
        first: MonitorId,
        last: MonitorId,
    ) -> Result<HashMap<MonitorId, Vec<Dependency>>> {
        let edges: Vec<Edge> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select d.child_id, d.parent_id, d.as_kind
                 from dependencies d join monitors m on m.id = d.parent_id
                 where d.team_id = $1 and d.child_id between $2 and $3 and ",
                is_visible!("4"),
                " order by d.child_id, d.parent_id"
            ))
            .bind(self.team.uuid())
            .bind(first.uuid())
            .bind(last.uuid())
            .bind(self.filter)
            .fetch_all(db)
            .await
        })?;
        Ok(by_child(edges))
    }

    /// Whether any monitor of the team depends on another one; in most teams none does.
    pub async fn has_dependencies(&self) -> Result<bool> {
        Ok(read!(self.store, |db| {
            sqlx::query_scalar("select exists (select 1 from dependencies where team_id = $1)")
                .bind(self.team.uuid())
                .fetch_one(db)
                .await
        })?)
    }

    /// How many monitors that the caller can see depend directly on each of the team's monitors
    /// from `first` to `last`; only those with any.
    pub async fn dependents(
        &self,
        first: MonitorId,
        last: MonitorId,
    ) -> Result<HashMap<MonitorId, usize>> {
        let counts: Vec<(Uuid, i64)> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select d.parent_id, count(*)
                 from dependencies d join monitors m on m.id = d.child_id
                 where d.team_id = $1 and d.parent_id between $2 and $3 and ",
                is_visible!("4"),
                " group by d.parent_id"
            ))
            .bind(self.team.uuid())
            .bind(first.uuid())
            .bind(last.uuid())
            .bind(self.filter)
            .fetch_all(db)
            .await
        })?;
        let count = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
        Ok(counts.into_iter().map(|(parent, number)| (parent.into(), count(number))).collect())
    }

    /// Replaces the parents of a monitor that the caller can see, in a transaction that has
    /// locked the team. Anything but `Done` must roll it back.
    pub(super) async fn save_dependencies(
        &self,
        tx: &mut Tx,
        monitor: &Monitor,
    ) -> Result<SaveOutcome> {
        let parents: Vec<MonitorId> = monitor.depends_on.iter().map(|one| one.parent).collect();
        let known = self.visible_names(tx, &parents).await?;
        if let Some(unknown) = parents.iter().find(|parent| !known.contains_key(parent)) {
            return Ok(SaveOutcome::InvalidDependencies(LinkError::Unknown(*unknown)));
        }
        within!(*tx, |db| {
            sqlx::query(concat!(
                "delete from dependencies
                 where child_id = $1
                 and exists (select 1 from monitors m where m.id = parent_id and ",
                is_visible!("2"),
                ")"
            ))
            .bind(monitor.id.uuid())
            .bind(self.filter)
            .execute(db)
            .await?;
        });
        // Those that remain are hidden from the caller.
        let hidden = self.store.edges(tx, &[monitor.id], Direction::Up).await?;
        let hidden = hidden.into_iter().map(|(_, parent)| parent);
        let all: Vec<MonitorId> = parents.iter().copied().chain(hidden).collect();
        let above = self.store.edges_beyond(tx, &parents, Direction::Up).await?;
        let below = self.store.edges_beyond(tx, &[monitor.id], Direction::Down).await?;
        match validate(monitor.id, &all, &above, &below) {
            Ok(()) => {}
            Err(DependencyError::TooDeep) => {
                return Ok(SaveOutcome::InvalidDependencies(LinkError::TooDeep));
            }
            Err(DependencyError::Cycle(ids)) => {
                let cycle = self.names_in_order(tx, &ids).await?;
                return Ok(SaveOutcome::InvalidDependencies(LinkError::Cycle(cycle)));
            }
        }
        within!(*tx, |db| {
            for Dependency { parent, kind } in &monitor.depends_on {
                sqlx::query(
                    "insert into dependencies (team_id, child_id, parent_id, as_kind)
                     values ($1, $2, $3, $4)",
                )
                .bind(self.team.uuid())
                .bind(monitor.id.uuid())
                .bind(parent.uuid())
                .bind(kind.as_str())
                .execute(&mut *db)
                .await?;
            }
        });
        Ok(SaveOutcome::Done)
    }

    /// The names of these monitors, as far as the caller may see them.
    async fn names_in_order(&self, tx: &mut Tx, ids: &[MonitorId]) -> Result<Vec<String>> {
        let names = self.visible_names(tx, ids).await?;
        let name = |id: &MonitorId| names.get(id).map_or("another monitor", String::as_str);
        Ok(ids.iter().map(|id| name(id).to_owned()).collect())
    }

    /// Checks the members of a group that was just written, in a transaction that has locked the
    /// team. Anything but `Done` must roll it back.
    pub(super) async fn check_members(
        &self,
        tx: &mut Tx,
        monitor: &Monitor,
        before: Option<&Spec>,
    ) -> Result<SaveOutcome> {
        let Spec::Group(group) = &monitor.spec else { return Ok(SaveOutcome::Done) };
        if before == Some(&monitor.spec) {
            return Ok(SaveOutcome::Done);
        }
        let before = before.and_then(Spec::group);
        if before.is_none() && self.has_too_many_groups(tx).await? {
            return Ok(SaveOutcome::TooManyGroups);
        }
        // Those that were deleted since they were saved may stay.
        let old = before.map(GroupSpec::named_monitors).unwrap_or_default();
        if self.filter.is_some() {
            let visible = self.visible_names(tx, &old).await?;
            let all = self.names(tx, &old, None).await?;
            let selects_others = before.is_some_and(|before| !before.members.only_names());
            if selects_others || visible.len() < all.len() {
                return Ok(SaveOutcome::HiddenMembers);
            }
        }
        let mut new = group.named_monitors();
        new.retain(|id| !old.contains(id));
        let known = self.visible_names(tx, &new).await?;
        if let Some(unknown) = new.iter().find(|id| !known.contains_key(id)) {
            return Ok(SaveOutcome::InvalidMembers(LinkError::Unknown(*unknown)));
        }
        let graph = team_graph_within(tx, self.team).await?.unwrap_or_default();
        Ok(match graph.validate(monitor.id) {
            Ok(()) => SaveOutcome::Done,
            Err(NestingError::TooDeep) => SaveOutcome::InvalidMembers(LinkError::TooDeep),
            Err(NestingError::Cycle(ids)) => {
                let cycle = self.names_in_order(tx, &ids).await?;
                SaveOutcome::InvalidMembers(LinkError::Cycle(cycle))
            }
        })
    }

    /// Whether the team has more groups than it may, with the one that was just written.
    async fn has_too_many_groups(&self, tx: &mut Tx) -> Result<bool> {
        let groups: i64 = within!(*tx, |db| {
            sqlx::query_scalar(
                "select count(*) from monitors where team_id = $1 and kind = 'group'",
            )
            .bind(self.team.uuid())
            .fetch_one(db)
            .await
        })?;
        Ok(groups > MAX_GROUPS as i64)
    }

    /// The names of those of these monitors that the team has and the caller may see.
    async fn visible_names(
        &self,
        tx: &mut Tx,
        ids: &[MonitorId],
    ) -> Result<HashMap<MonitorId, String>> {
        self.names(tx, ids, self.filter).await
    }

    /// The same with another filter, or none.
    async fn names(
        &self,
        tx: &mut Tx,
        ids: &[MonitorId],
        filter: Option<Uuid>,
    ) -> Result<HashMap<MonitorId, String>> {
        let sql = either!(
            self.store,
            sqlite: concat!("select m.id, m.name from monitors m
                 where m.id in (select unhex(value) from json_each($1))
                 and m.team_id = $2 and ", is_visible!("3")),
            postgres: concat!("select m.id, m.name from monitors m
                 where m.id in (
                     select cast(value as uuid) from json_array_elements_text(cast($1 as json)))
                 and m.team_id = $2 and ", is_visible!("3"))
        );
        let rows: Vec<(Uuid, String)> = within!(*tx, |db| {
            sqlx::query_as(sql)
                .bind(id_array(ids))
                .bind(self.team.uuid())
                .bind(filter)
                .fetch_all(db)
                .await
        })?;
        Ok(rows.into_iter().map(|(id, name)| (id.into(), name)).collect())
    }
}

fn by_child(edges: Vec<Edge>) -> HashMap<MonitorId, Vec<Dependency>> {
    let mut found: HashMap<MonitorId, Vec<Dependency>> = HashMap::new();
    for Edge { child, dependency } in edges {
        found.entry(child).or_default().push(dependency);
    }
    found
}

#[derive(Clone, Copy)]
enum Direction {
    /// From children to parents.
    Up,
    /// From parents to children.
    Down,
}

impl Store {
    /// All edges that can be reached from these monitors, level by level. There are at most
    /// `MAX_DEPTH` levels.
    async fn edges_beyond(
        &self,
        tx: &mut Tx,
        from: &[MonitorId],
        direction: Direction,
    ) -> Result<HashMap<MonitorId, Vec<MonitorId>>> {
        let mut found: HashMap<MonitorId, Vec<MonitorId>> = HashMap::new();
        let mut seen: HashSet<MonitorId> = from.iter().copied().collect();
        let mut level: Vec<MonitorId> = from.to_vec();
        for _ in 0..=MAX_DEPTH {
            if level.is_empty() {
                break;
            }
            let mut next = Vec::new();
            for (at, to) in self.edges(tx, &level, direction).await? {
                found.entry(at).or_default().push(to);
                if seen.insert(to) {
                    next.push(to);
                }
            }
            level = next;
        }
        Ok(found)
    }

    async fn edges(
        &self,
        tx: &mut Tx,
        from: &[MonitorId],
        direction: Direction,
    ) -> Result<Vec<(MonitorId, MonitorId)>> {
        let sql = match direction {
            Direction::Up => either!(
                self,
                sqlite: "select child_id, parent_id from dependencies
                     where child_id in (select unhex(value) from json_each($1))",
                postgres: "select child_id, parent_id from dependencies
                     where child_id in (select cast(value as uuid)
                                        from json_array_elements_text(cast($1 as json)))"
            ),
            Direction::Down => either!(
                self,
                sqlite: "select parent_id, child_id from dependencies
                     where parent_id in (select unhex(value) from json_each($1))",
                postgres: "select parent_id, child_id from dependencies
                     where parent_id in (select cast(value as uuid)
                                         from json_array_elements_text(cast($1 as json)))"
            ),
        };
        let rows: Vec<(Uuid, Uuid)> =
            within!(*tx, |db| sqlx::query_as(sql).bind(id_array(from)).fetch_all(db).await)?;
        Ok(rows.into_iter().map(|(from, to)| (from.into(), to.into())).collect())
    }

    /// The parents of these monitors.
    pub async fn parents_of(
        &self,
        children: &[MonitorId],
    ) -> Result<HashMap<MonitorId, Vec<Dependency>>> {
        if children.is_empty() {
            return Ok(HashMap::new());
        }
        let sql = either!(
            self,
            sqlite: "select child_id, parent_id, as_kind from dependencies
                 where child_id in (select unhex(value) from json_each($1))
                 order by child_id, parent_id",
            postgres: "select child_id, parent_id, as_kind from dependencies
                 where child_id in (
                     select cast(value as uuid) from json_array_elements_text(cast($1 as json)))
                 order by child_id, parent_id"
        );
        let edges: Vec<Edge> =
            read!(self, |db| sqlx::query_as(sql).bind(id_array(children)).fetch_all(db).await)?;
        Ok(by_child(edges))
    }

    /// What depends on these monitors, as far as it is visible with this filter; only those that
    /// something depends on.
    pub async fn affected_by(
        &self,
        monitors: &[MonitorId],
        filter: Option<Uuid>,
    ) -> Result<HashMap<MonitorId, Affected>> {
        if monitors.is_empty() {
            return Ok(HashMap::new());
        }
        let sql = either!(
            self,
            sqlite: "select distinct parent_id from dependencies
                 where parent_id in (select unhex(value) from json_each($1))",
            postgres: "select distinct parent_id from dependencies
                 where parent_id in (
                     select cast(value as uuid) from json_array_elements_text(cast($1 as json)))"
        );
        let parents: Vec<Uuid> =
            read!(self, |db| sqlx::query_scalar(sql).bind(id_array(monitors)).fetch_all(db).await)?;
        let mut found = HashMap::new();
        for parent in parents {
            let affected = self.affected_by_one(parent, filter).await?;
            if affected.count > 0 {
                found.insert(MonitorId::from(parent), affected);
            }
        }
        Ok(found)
    }

    async fn affected_by_one(&self, parent: Uuid, filter: Option<Uuid>) -> Result<Affected> {
        let rows: Vec<(String, i64)> = read!(self, |db| {
            sqlx::query_as(concat!(
                "with recursive below (id, depth) as (
                     select child_id, 1 from dependencies where parent_id = $1
                     union
                     select d.child_id, b.depth + 1
                     from dependencies d join below b on b.id = d.parent_id
                     where b.depth < $2)
                 select m.name, count(*) over ()
                 from monitors m
                 where m.id in (select id from below) and ",
                is_visible!("4"),
                " order by m.name, m.id
                 limit $3"
            ))
            .bind(parent)
            .bind(i64::try_from(MAX_DEPTH).unwrap_or(i64::MAX))
            .bind(i64::try_from(MAX_AFFECTED_NAMES).unwrap_or(i64::MAX))
            .bind(filter)
            .fetch_all(db)
            .await
        })?;
        let count = rows.first().map_or(0, |(_, count)| *count);
        Ok(Affected {
            count: usize::try_from(count).unwrap_or(0),
            names: rows.into_iter().map(|(name, _)| name).collect(),
        })
    }
}
