//! The last certificate that the target of each monitor presented. It is written
//! only when it changes, which is rare.

use serde::Serialize;
use std::collections::BTreeMap;
use wakeful_core::id::MonitorId;
use wakeful_core::observation::Certificate;
use wakeful_core::time::Millis;

use crate::dialect::{either, read};
use crate::history::record::SimpleUuid;
use crate::monitors::json;
use crate::monitors::visible::is_visible;
use crate::{Record, Result, Store, StoreError, TeamStore};

/// A certificate, and the time it was first seen at the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCertificate {
    pub certificate: Certificate,
    pub since: Millis,
}

#[derive(Serialize)]
struct Row {
    monitor: SimpleUuid,
    since: i64,
    shown: String,
}

impl TeamStore<'_> {
    /// The last certificate that the target of a monitor presented, if any.
    pub async fn certificate(&self, id: MonitorId) -> Result<Option<StoredCertificate>> {
        let row: Option<(i64, String)> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select c.since, c.shown
                 from certificates c
                 join monitors m on m.id = c.monitor_id
                 where c.monitor_id = $1 and m.team_id = $2 and ",
                is_visible!("3")
            ))
            .bind(id.uuid())
            .bind(self.team.uuid())
            .bind(self.filter)
            .fetch_optional(db)
            .await
        })?;
        let Some((since, shown)) = row else { return Ok(None) };
        let certificate =
            serde_json::from_str(&shown).map_err(|_| StoreError::Damaged("certificates"))?;
        Ok(Some(StoredCertificate { certificate, since: Millis(since) }))
    }
}

impl Store {
    /// Stores new certificates. The same certificate reported again, as after a
    /// restart, keeps its time; a late, older one does not replace a newer one.
    pub(crate) fn upsert_certificates(&self) -> &'static str {
        either!(
            self,
            sqlite: "insert into certificates (monitor_id, since, shown)
                 select m.id, r.value ->> 'since', r.value ->> 'shown'
                 from json_each($1) r
                 join monitors m on m.id = unhex(r.value ->> 'monitor')
                 where true
                 on conflict (monitor_id) do update
                 set since = excluded.since, shown = excluded.shown
                 where certificates.shown <> excluded.shown
                 and certificates.since <= excluded.since",
            postgres: "insert into certificates (monitor_id, since, shown)
                 select m.id, r.since, r.shown
                 from json_to_recordset(cast($1 as json))
                      as r(monitor uuid, since bigint, shown text)
                 join monitors m on m.id = r.monitor
                 order by m.id
                 on conflict (monitor_id) do update
                 set since = excluded.since, shown = excluded.shown
                 where certificates.shown <> excluded.shown
                 and certificates.since <= excluded.since"
        )
    }
}

/// The last certificate of each monitor that has one, as JSON.
pub(crate) fn shown_certificates(records: &[Record]) -> String {
    let mut last: BTreeMap<MonitorId, (i64, Row)> = BTreeMap::new();
    for record in records {
        let Some(certificate) = &record.certificate else { continue };
        if last.get(&record.monitor).is_some_and(|(seq, _)| *seq > record.seq) {
            continue;
        }
        let monitor = record.monitor.uuid().into();
        let row = Row { monitor, since: record.heartbeat.at.0, shown: json(certificate) };
        last.insert(record.monitor, (record.seq, row));
    }
    json(&last.into_values().map(|(_, row)| row).collect::<Vec<Row>>())
}
