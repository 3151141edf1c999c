//! Monitors as their team reads them, each with the notifiers it is linked to.

use futures_util::TryStreamExt as _;
use std::collections::HashMap;
use uuid::Uuid;
use wakeful_core::id::MonitorId;
use wakeful_core::monitor::Kind;
use wakeful_core::verdict::Status;

use super::row::{Row, columns, tables};
use super::{Linked, MonitorFilter, StoredMonitor, json};
use crate::dialect::{from_row, read};
use crate::{Result, TeamStore};

struct Link {
    monitor: MonitorId,
    linked: Linked,
}

from_row!(Link, |row| Self {
    monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
    linked: Linked {
        id: row.try_get::<Uuid, _>("id")?.into(),
        name: row.try_get("name")?,
        kind: row.try_get("kind")?,
    },
});

impl TeamStore<'_> {
    pub async fn monitor(&self, id: MonitorId) -> Result<Option<(StoredMonitor, Vec<Linked>)>> {
        let row: Option<Row> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from ",
                tables!(),
                " where m.id = $1 and m.team_id = $2 and s.monitor_id = m.id"
            ))
            .bind(id.uuid())
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        let Some(row) = row else { return Ok(None) };
        let links = self.links(id, id).await?.remove(&id).unwrap_or_default();
        Ok(Some((row.whole(&self.store.keyring, &links)?, links)))
    }

    /// The team's monitors in the order they were made, each with its notifiers.
    pub async fn monitors(
        &self,
        filter: &MonitorFilter,
    ) -> Result<Vec<(StoredMonitor, Vec<Linked>)>> {
        let found = self.unlinked(filter).await?;
        let (Some(first), Some(last)) = (found.first(), found.last()) else {
            return Ok(Vec::new());
        };
        let mut links = self.links(first.monitor.id, last.monitor.id).await?;
        let link = |mut stored: StoredMonitor| {
            let links = links.remove(&stored.monitor.id).unwrap_or_default();
            stored.monitor.notifiers = links.iter().map(|link| link.id).collect();
            (stored, links)
        };
        Ok(found.into_iter().map(link).collect())
    }

    /// Those that match, without their notifiers, each understood as soon as it
    /// is read: a long list is not held twice.
    async fn unlinked(&self, filter: &MonitorFilter) -> Result<Vec<StoredMonitor>> {
        // A tag stands in the JSON behind a comma (or the bracket, which is made
        // one here): a quote inside a tag has a backslash before it instead.
        let tag = filter.tag.as_deref().map(|tag| format!(",{}", json(tag)));
        let q = filter.q.as_deref().map(|q| format!("%{}%", escaped(&q.to_lowercase())));
        let mut found = Vec::new();
        read!(self.store, |db| {
            let mut rows = sqlx::query_as::<_, Row>(concat!(
                "select ",
                columns!(),
                " from ",
                tables!(),
                " where m.team_id = $1
                 and m.id > $2
                 and s.monitor_id = m.id
                 and (cast($3 as text) is null or m.kind = $3)
                 and (cast($4 as text) is null or s.status = $4)
                 and (cast($5 as text) is null
                      or replace(',' || substr(m.tags, 2), $5, '') <> ',' || substr(m.tags, 2))
                 and (cast($6 as text) is null or m.search like $6 escape '!')
                 order by m.id
                 limit $7"
            ))
            .bind(self.team.uuid())
            .bind(filter.after.map_or(Uuid::nil(), MonitorId::uuid))
            .bind(filter.kind.map(Kind::as_str))
            .bind(filter.status.map(Status::as_str))
            .bind(tag)
            .bind(q)
            .bind(filter.limit.map_or(i64::MAX, i64::from))
            .fetch(db);
            while let Some(row) = rows.try_next().await? {
                found.push(row.whole(&self.store.keyring, &[])?);
            }
        });
        Ok(found)
    }

    /// The notifiers of the team's monitors from one id to another, in order.
    async fn links(
        &self,
        first: MonitorId,
        last: MonitorId,
    ) -> Result<HashMap<MonitorId, Vec<Linked>>> {
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
        let mut links: HashMap<MonitorId, Vec<Linked>> = HashMap::new();
        for Link { monitor, linked } in rows {
            links.entry(monitor).or_default().push(linked);
        }
        Ok(links)
    }
}

/// A text in which `like` finds no wildcards.
fn escaped(text: &str) -> String {
    text.replace('!', "!!").replace('%', "!%").replace('_', "!_")
}
