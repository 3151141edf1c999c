//! The monitors of a team, each with its linked notifiers.

use futures_util::TryStreamExt as _;
use std::collections::HashMap;
use uuid::Uuid;
use wakeful_core::id::MonitorId;

use super::row::{Row, columns, tables};
use super::visible::is_visible;
use super::{LinkedNotifier, MonitorQuery, StoredMonitor, json};
use crate::dialect::{either, from_row, read};
use crate::{Result, TeamStore};

struct Link {
    monitor: MonitorId,
    linked: LinkedNotifier,
}

from_row!(Link, |row| Self {
    monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
    linked: LinkedNotifier {
        id: row.try_get::<Uuid, _>("id")?.into(),
        name: row.try_get("name")?,
        kind: row.try_get("kind")?,
    },
});

/// The conditions of a filter, for a query over `tables`. `$members` reads the ids in $11.
macro_rules! matches {
    (sqlite) => {
        $crate::monitors::list::matches!("select unhex(value) from json_each($11)")
    };
    (postgres) => {
        $crate::monitors::list::matches!(
            "select cast(value as uuid) from json_array_elements_text(cast($11 as json))"
        )
    };
    ($members:literal) => {
        concat!(
            " where m.team_id = $1
             and m.id > $2
             and s.monitor_id = m.id
             and (cast($3 as text) is null or m.kind = $3)
             and (cast($4 as text) is null or s.status = $4
                  or ($4 = 'degraded' and s.status = 'up'
                      and s.degraded like '%\"degraded\":%'))
             and (cast($5 as text) is null
                  or replace(',' || substr(m.tags, 2), $5, '') <> ',' || substr(m.tags, 2))
             and (cast($6 as text) is null or m.search like $6 escape '!')
             and (cast($9 as boolean) is null
                  or $9 = exists (select 1 from exclusions e
                                  where e.monitor_id = m.id and e.to_at is null
                                  and e.kind = 'maintenance'))
             and (cast($10 as text) is null or m.severity = $10)
             and (cast($11 as text) is null or m.id in (",
            $members,
            "))
             and ",
            $crate::monitors::visible::is_visible!("8"),
            " order by m.id
             limit $7"
        )
    };
}
pub(super) use matches;

/// Binds a filter, and that of the caller, as $1 to $11 of `matches`.
macro_rules! with_filter {
    ($statement:expr, $store:expr, $filter:expr) => {
        $statement
            .bind($store.team.uuid())
            .bind($filter.after.map_or(uuid::Uuid::nil(), |after| after.uuid()))
            .bind($filter.kind.map(|kind| kind.as_str()))
            .bind($filter.status.map(|status| status.as_str()))
            .bind($crate::monitors::list::tag_pattern($filter))
            .bind($crate::monitors::list::search_pattern($filter))
            .bind($filter.limit.map_or(i64::MAX, i64::from))
            .bind($store.filter)
            .bind($filter.maintenance)
            .bind($filter.severity.map(|severity| severity.as_str()))
            .bind($filter.members.as_deref().map($crate::monitors::id_array))
    };
}
pub(super) use with_filter;

impl TeamStore<'_> {
    pub async fn monitor(
        &self,
        id: MonitorId,
    ) -> Result<Option<(StoredMonitor, Vec<LinkedNotifier>)>> {
        let row: Option<Row> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from ",
                tables!(),
                " where m.id = $1 and m.team_id = $2 and s.monitor_id = m.id and ",
                is_visible!("3")
            ))
            .bind(id.uuid())
            .bind(self.team.uuid())
            .bind(self.filter)
            .fetch_optional(db)
            .await
        })?;
        let Some(mut row) = row else { return Ok(None) };
        let links = self.links(id, id).await?.remove(&id).unwrap_or_default();
        let mut stored = row.with_links(&self.store.keyring, &links)?;
        stored.monitor.depends_on =
            self.dependencies(id, id).await?.remove(&id).unwrap_or_default();
        Ok(Some((stored, links)))
    }

    /// The ids of all monitors that the caller can see.
    pub async fn monitor_ids(&self) -> Result<Vec<MonitorId>> {
        let ids: Vec<Uuid> = read!(self.store, |db| {
            sqlx::query_scalar(concat!(
                "select m.id from monitors m where m.team_id = $1 and ",
                is_visible!("2")
            ))
            .bind(self.team.uuid())
            .bind(self.filter)
            .fetch_all(db)
            .await
        })?;
        Ok(ids.into_iter().map(MonitorId::from).collect())
    }

    /// The team's monitors in the order they were created, each with its notifiers.
    pub async fn monitors(
        &self,
        filter: &MonitorQuery,
    ) -> Result<Vec<(StoredMonitor, Vec<LinkedNotifier>)>> {
        let mut found = self.monitors_without_dependencies(filter).await?;
        let Some((first, last)) = ends(&found) else { return Ok(found) };
        let mut dependencies = self.dependencies(first, last).await?;
        for (stored, _) in &mut found {
            stored.monitor.depends_on = dependencies.remove(&stored.monitor.id).unwrap_or_default();
        }
        Ok(found)
    }

    /// The same for a team without dependencies, see `has_dependencies`.
    pub async fn monitors_without_dependencies(
        &self,
        filter: &MonitorQuery,
    ) -> Result<Vec<(StoredMonitor, Vec<LinkedNotifier>)>> {
        let mut found = self.matching(filter).await?;
        let Some((first, last)) = ends(&found) else { return Ok(found) };
        let mut links = self.links(first, last).await?;
        if links.is_empty() {
            return Ok(found);
        }
        for (stored, linked) in &mut found {
            *linked = links.remove(&stored.monitor.id).unwrap_or_default();
            stored.monitor.notifiers = linked.iter().map(|link| link.id).collect();
        }
        Ok(found)
    }

    /// The matching monitors, with room for their notifiers. Rows are decoded one by one,
    /// so that a long list is not in memory twice.
    async fn matching(
        &self,
        filter: &MonitorQuery,
    ) -> Result<Vec<(StoredMonitor, Vec<LinkedNotifier>)>> {
        let mut found = Vec::new();
        let sql = either!(
            self.store,
            sqlite: concat!("select ", columns!(), " from ", tables!(), matches!(sqlite)),
            postgres: concat!("select ", columns!(), " from ", tables!(), matches!(postgres))
        );
        read!(self.store, |db| {
            let select = sqlx::query_as::<_, Row>(sql);
            let mut rows = with_filter!(select, self, filter).fetch(db);
            while let Some(mut row) = rows.try_next().await? {
                let stored = row.with_links(&self.store.keyring, &[]);
                found.push((stored.or_else(|why| row.unreadable(why))?, Vec::new()));
            }
        });
        Ok(found)
    }

    /// The notifiers of the team's monitors from `first` to `last`, in order.
    pub(super) async fn links(
        &self,
        first: MonitorId,
        last: MonitorId,
    ) -> Result<HashMap<MonitorId, Vec<LinkedNotifier>>> {
        let rows: Vec<Link> = read!(self.store, |db| {
            sqlx::query_as(
                "select l.monitor_id, n.id, n.name, n.kind
                 from monitor_notifiers l
                 join notifiers n on n.id = l.notifier_id
                 where n.team_id = $1 and l.monitor_id between $2 and $3
                 order by l.monitor_id, l.position",
            )
            .bind(self.team.uuid())
            .bind(first.uuid())
            .bind(last.uuid())
            .fetch_all(db)
            .await
        })?;
        let mut links: HashMap<MonitorId, Vec<LinkedNotifier>> = HashMap::new();
        for Link { monitor, linked } in rows {
            links.entry(monitor).or_default().push(linked);
        }
        Ok(links)
    }
}

/// The first and the last of monitors in the order of their ids.
fn ends(found: &[(StoredMonitor, Vec<LinkedNotifier>)]) -> Option<(MonitorId, MonitorId)> {
    let ((first, _), (last, _)) = found.first().zip(found.last())?;
    Some((first.monitor.id, last.monitor.id))
}

/// In the JSON, a tag follows a comma, or the bracket, which `matches` turns into one. A
/// quote inside a tag follows a backslash instead.
pub(super) fn tag_pattern(filter: &MonitorQuery) -> Option<String> {
    filter.tag.as_deref().map(|tag| format!(",{}", json(tag)))
}

pub(super) fn search_pattern(filter: &MonitorQuery) -> Option<String> {
    filter.q.as_deref().map(like)
}

/// The pattern of a search for a part of the text in `search`.
pub(crate) fn like(part: &str) -> String {
    format!("%{}%", escaped(&part.to_lowercase()))
}

/// Escapes the wildcards of `like`.
fn escaped(text: &str) -> String {
    text.replace('!', "!!").replace('%', "!%").replace('_', "!_")
}
