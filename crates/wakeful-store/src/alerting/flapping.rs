//! The recent outages of monitors with a limit on flapping, and the alerts about it.

use std::collections::HashMap;
use uuid::Uuid;
use wakeful_core::flapping::MAX_OUTAGES;
use wakeful_core::id::{AlertId, MonitorId};
use wakeful_core::time::Millis;

use crate::dialect::{either, from_row, read};
use crate::monitors::json;
use crate::{Result, Store};

/// The recent outages of a monitor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecentOutages {
    /// Their starts, newest first, without those during maintenance.
    pub starts: Vec<Millis>,
    /// The open alert about its flapping.
    pub flapping: Option<AlertId>,
}

struct Row {
    monitor: MonitorId,
    alert: AlertId,
    is_flapping: bool,
    started: Millis,
}

from_row!(Row, |row| Self {
    monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
    alert: row.try_get::<Uuid, _>("id")?.into(),
    is_flapping: row.try_get::<&str, _>("kind")? == "flapping",
    started: Millis(row.try_get("started")?),
});

impl Store {
    /// The outages of these monitors that began after the time of each. At most as many as a
    /// limit can have are read for each monitor.
    pub async fn recent_outages(
        &self,
        monitors: &[(MonitorId, Millis)],
    ) -> Result<HashMap<MonitorId, RecentOutages>> {
        if monitors.is_empty() {
            return Ok(HashMap::new());
        }
        let wanted: Vec<serde_json::Value> = monitors
            .iter()
            .map(|(id, since)| {
                serde_json::json!({"id": id.uuid().simple().to_string(), "since": since.0})
            })
            .collect();
        let sql = either!(
            self,
            sqlite: "select monitor_id, id, kind, started
                 from (select a.monitor_id, a.id, a.kind, a.started,
                              row_number() over (partition by a.monitor_id, a.kind
                                                 order by a.id desc) as place
                       from json_each($1) r
                       join alerts a on a.monitor_id = unhex(r.value ->> 'id')
                       where (a.kind = 'flapping' and a.ended is null)
                       or (a.kind = 'outage' and a.started > r.value ->> 'since'
                           and not exists (
                               select 1 from exclusions e
                               where e.monitor_id = a.monitor_id and e.kind = 'maintenance'
                               and e.from_at <= a.started
                               and (e.to_at is null or e.to_at > a.started)))) recent
                 where place <= $2
                 order by monitor_id, started desc",
            postgres: "select monitor_id, id, kind, started
                 from (select a.monitor_id, a.id, a.kind, a.started,
                              row_number() over (partition by a.monitor_id, a.kind
                                                 order by a.id desc) as place
                       from json_to_recordset(cast($1 as json)) as r(id uuid, since bigint)
                       join alerts a on a.monitor_id = r.id
                       where (a.kind = 'flapping' and a.ended is null)
                       or (a.kind = 'outage' and a.started > r.since
                           and not exists (
                               select 1 from exclusions e
                               where e.monitor_id = a.monitor_id and e.kind = 'maintenance'
                               and e.from_at <= a.started
                               and (e.to_at is null or e.to_at > a.started)))) recent
                 where place <= $2
                 order by monitor_id, started desc"
        );
        let rows: Vec<Row> = read!(self, |db| {
            sqlx::query_as(sql).bind(json(&wanted)).bind(i64::from(MAX_OUTAGES)).fetch_all(db).await
        })?;
        let mut found: HashMap<MonitorId, RecentOutages> = HashMap::new();
        for Row { monitor, alert, is_flapping, started } in rows {
            let outages = found.entry(monitor).or_default();
            if is_flapping {
                outages.flapping = Some(alert);
            } else {
                outages.starts.push(started);
            }
        }
        Ok(found)
    }
}
