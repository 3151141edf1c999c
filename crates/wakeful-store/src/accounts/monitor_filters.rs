//! The monitor filters of members and API keys. `monitors/visible.rs` applies them.

use std::collections::HashMap;
use uuid::Uuid;
use wakeful_core::access::MonitorFilter;
use wakeful_core::audit::View;
use wakeful_core::id::{MonitorFilterId, MonitorId, TeamId};
use wakeful_core::monitors::Tags;

use crate::dialect::{Tx, read, within};
use crate::{Result, Store, StoreError, TeamStore};

/// A filter with its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMonitorFilter {
    pub id: MonitorFilterId,
    pub filter: MonitorFilter,
}

/// Adds a filter; false if it names a monitor that the team does not have.
pub(crate) async fn insert(tx: &mut Tx, team: TeamId, new: &StoredMonitorFilter) -> Result<bool> {
    within!(*tx, |db| {
        sqlx::query("insert into monitor_filters (id, team_id) values ($1, $2)")
            .bind(new.id.uuid())
            .bind(team.uuid())
            .execute(&mut *db)
            .await?;
        match &new.filter {
            MonitorFilter::Tags(tags) => {
                for tag in tags.iter() {
                    sqlx::query("insert into monitor_filter_tags (filter_id, tag) values ($1, $2)")
                        .bind(new.id.uuid())
                        .bind(tag)
                        .execute(&mut *db)
                        .await?;
                }
            }
            MonitorFilter::Monitors(monitors) => {
                for monitor in monitors {
                    let added = sqlx::query(
                        "insert into monitor_filter_monitors (filter_id, monitor_id)
                         select $1, id from monitors where id = $2 and team_id = $3",
                    )
                    .bind(new.id.uuid())
                    .bind(monitor.uuid())
                    .bind(team.uuid())
                    .execute(&mut *db)
                    .await?;
                    if added.rows_affected() == 0 {
                        return Ok(false);
                    }
                }
            }
        }
    });
    Ok(true)
}

/// Adds a filter to what the audit log shows of its member or API key.
pub(crate) async fn audited(tx: &mut Tx, view: View, filter: Uuid) -> Result<View> {
    let (tags, monitors): (Vec<String>, Vec<Uuid>) = within!(*tx, |db| {
        let tags = sqlx::query_scalar(
            "select tag from monitor_filter_tags where filter_id = $1 order by tag",
        )
        .bind(filter)
        .fetch_all(&mut *db)
        .await?;
        let monitors = sqlx::query_scalar(
            "select monitor_id from monitor_filter_monitors
             where filter_id = $1 order by monitor_id",
        )
        .bind(filter)
        .fetch_all(db)
        .await?;
        (tags, monitors)
    });
    let monitors: Vec<String> = monitors.iter().map(ToString::to_string).collect();
    Ok(view.with("tags", tags).with("monitors", monitors))
}

impl TeamStore<'_> {
    /// All monitor filters of the team, by id.
    pub async fn monitor_filters(&self) -> Result<HashMap<MonitorFilterId, MonitorFilter>> {
        self.store.monitor_filters_of(self.team).await
    }
}

impl Store {
    /// All monitor filters of a team, by id.
    pub(crate) async fn monitor_filters_of(
        &self,
        team: TeamId,
    ) -> Result<HashMap<MonitorFilterId, MonitorFilter>> {
        let tags: Vec<(Uuid, String)> = read!(self, |db| {
            sqlx::query_as(
                "select t.filter_id, t.tag
                 from monitor_filters f
                 join monitor_filter_tags t on t.filter_id = f.id
                 where f.team_id = $1
                 order by t.filter_id, t.tag",
            )
            .bind(team.uuid())
            .fetch_all(db)
            .await
        })?;
        // The outer join keeps a filter whose monitors have all been deleted.
        let monitors: Vec<(Uuid, Option<Uuid>)> = read!(self, |db| {
            sqlx::query_as(
                "select f.id, m.monitor_id
                 from monitor_filters f
                 left join monitor_filter_monitors m on m.filter_id = f.id
                 where f.team_id = $1
                 and not exists (select 1 from monitor_filter_tags t where t.filter_id = f.id)
                 order by f.id, m.monitor_id",
            )
            .bind(team.uuid())
            .fetch_all(db)
            .await
        })?;
        let mut by_tag: HashMap<MonitorFilterId, Vec<String>> = HashMap::new();
        for (filter, tag) in tags {
            by_tag.entry(filter.into()).or_default().push(tag);
        }
        let mut filters = HashMap::new();
        for (id, tags) in by_tag {
            let tags = Tags::of(tags.iter().map(String::as_str))
                .map_err(|_| StoreError::Damaged("monitor_filter_tags"))?;
            filters.insert(id, MonitorFilter::Tags(tags));
        }
        for (filter, monitor) in monitors {
            let none = || MonitorFilter::Monitors(Vec::new());
            let entry = filters.entry(MonitorFilterId::from(filter)).or_insert_with(none);
            if let MonitorFilter::Monitors(monitors) = entry {
                monitors.extend(monitor.map(MonitorId::from));
            }
        }
        Ok(filters)
    }
}
