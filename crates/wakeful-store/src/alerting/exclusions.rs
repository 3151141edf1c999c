//! When monitors were covered by maintenance, or unreachable: read for statistics, and
//! followed by the node that checks the monitor.

use uuid::Uuid;
use wakeful_core::history::{Exclusion, ExclusionKind, Exclusions};
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;

use crate::dialect::{from_row, read};
use crate::{Result, Store};

/// A monitor that was covered, or whose cover has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedCover {
    pub monitor: MonitorId,
    pub from: Millis,
    /// `None` while it lasts.
    pub to: Option<Millis>,
    pub pauses: bool,
    /// The name of the window; empty if it was deleted.
    pub window: String,
}

from_row!(ChangedCover, |row| Self {
    monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
    from: Millis(row.try_get("from_at")?),
    to: row.try_get::<Option<i64>, _>("to_at")?.map(Millis),
    pauses: row.try_get("pauses")?,
    window: row.try_get::<Option<String>, _>("name")?.unwrap_or_default(),
});

struct Row(Exclusion);

from_row!(Row, |row| Self(Exclusion {
    from: Millis(row.try_get("from_at")?),
    to: row.try_get::<Option<i64>, _>("to_at")?.map(Millis),
    kind: match row.try_get::<&str, _>("kind")? {
        "unreachable" => ExclusionKind::Unreachable,
        _ => ExclusionKind::Maintenance,
    },
}));

impl Store {
    /// What does not count as usual in the statistics of a monitor.
    pub(crate) async fn exclusions(&self, monitor: MonitorId) -> Result<Exclusions> {
        let rows: Vec<Row> = read!(self, |db| {
            sqlx::query_as(
                "select from_at, to_at, kind from exclusions
                 where monitor_id = $1 and not counts
                 order by from_at",
            )
            .bind(monitor.uuid())
            .fetch_all(db)
            .await
        })?;
        Ok(Exclusions::new(rows.into_iter().map(|Row(exclusion)| exclusion)))
    }

    /// The covers that began or ended since then, in that order.
    pub async fn covers_changed_since(&self, since: Millis) -> Result<Vec<ChangedCover>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select e.monitor_id, e.from_at, e.to_at, e.pauses, w.name
                 from exclusions e left join maintenances w on w.id = e.maintenance_id
                 where e.changed >= $1 and e.kind = 'maintenance'
                 order by e.changed, e.from_at",
            )
            .bind(since.0)
            .fetch_all(db)
            .await
        })?)
    }

    /// The covers that last and pause checks.
    pub async fn pausing_covers(&self) -> Result<Vec<ChangedCover>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select e.monitor_id, e.from_at, e.to_at, e.pauses, w.name
                 from exclusions e left join maintenances w on w.id = e.maintenance_id
                 where e.to_at is null and e.pauses and e.kind = 'maintenance'",
            )
            .fetch_all(db)
            .await
        })?)
    }
}
