//! What checks of outages saw: compressed and encrypted, because it contains parts of pages.
//! It is written with the change that it belongs to, and bounded for each monitor.

use uuid::Uuid;
use wakeful_core::evidence::{EvidenceContent, EvidenceLevel, EvidenceOf, EvidenceRecord};
use wakeful_core::id::{AlertId, EvidenceId, MonitorId};
use wakeful_core::time::Millis;

use crate::dialect::{Tx, from_row, read, within, write};
use crate::monitors::json;
use crate::{Keyring, Record, Result, Store, StoreError, TeamStore};

const COLUMN: &str = "evidence.data";
/// The size of one record, compressed.
const MAX_RECORD_BYTES: usize = 32 * 1024;
/// A record that takes more than this is damaged.
const MAX_PLAIN_BYTES: usize = 1 << 20;
const COMPRESSION_LEVEL: i32 = 3;
/// How many alerts of a monitor have evidence.
const MAX_ALERTS: i64 = 20;
/// The evidence that a list returns: that of all alerts, and a failure that was not confirmed.
const MAX_LISTED: i64 = 4 * MAX_ALERTS + 1;
/// The number of rows that one statement deletes.
const DELETE_BATCH: i64 = 500;

struct Row {
    id: Uuid,
    monitor: Uuid,
    alert: Option<Uuid>,
    kind: String,
    at: i64,
    data: Vec<u8>,
}

from_row!(Row, |row| Self {
    id: row.try_get("id")?,
    monitor: row.try_get("monitor_id")?,
    alert: row.try_get("alert_id")?,
    kind: row.try_get("kind")?,
    at: row.try_get("at")?,
    data: row.try_get("data")?,
});

impl Row {
    fn open(self, keyring: &Keyring) -> Result<EvidenceRecord> {
        let id = EvidenceId::from(self.id);
        let packed = keyring.open(&context(id), &self.data).ok_or(StoreError::Sealed(COLUMN))?;
        let damaged = || StoreError::Damaged("evidence");
        let plain = zstd::bulk::decompress(&packed, MAX_PLAIN_BYTES).map_err(|_| damaged())?;
        Ok(EvidenceRecord {
            id,
            monitor: self.monitor.into(),
            alert: self.alert.map(AlertId::from),
            of: EvidenceOf::parse(&self.kind).ok_or_else(damaged)?,
            at: Millis(self.at),
            content: serde_json::from_slice(&plain).map_err(|_| damaged())?,
        })
    }
}

fn context(id: EvidenceId) -> String {
    format!("{COLUMN}:{id}")
}

/// The record as stored; without the body if it would be too long otherwise, and `None` if that
/// does not help.
fn seal(keyring: &Keyring, record: &EvidenceRecord) -> Option<Vec<u8>> {
    let pack = |content: &EvidenceContent| {
        let packed = zstd::bulk::compress(json(content).as_bytes(), COMPRESSION_LEVEL).ok()?;
        (packed.len() <= MAX_RECORD_BYTES).then_some(packed)
    };
    let packed = pack(&record.content).or_else(|| {
        let mut content = record.content.clone();
        content.evidence = content.evidence.at_level(EvidenceLevel::Head)?;
        pack(&content)
    })?;
    Some(keyring.seal(&context(record.id), &packed))
}

/// Writes the evidence of these records, unless their monitors were deleted meanwhile. Only the
/// latest failure that was not confirmed, and the evidence of the latest alerts, remain.
pub(crate) async fn write_evidence(
    keyring: &Keyring,
    tx: &mut Tx,
    records: &[Record],
) -> std::result::Result<(), sqlx::Error> {
    for record in records.iter().flat_map(|record| &record.evidence) {
        let Some(data) = seal(keyring, record) else { continue };
        within!(*tx, |db| {
            sqlx::query(
                "insert into evidence (id, monitor_id, alert_id, kind, at, data)
                 select $1, m.id, $3, $4, $5, $6 from monitors m where m.id = $2
                 on conflict do nothing",
            )
            .bind(record.id.uuid())
            .bind(record.monitor.uuid())
            .bind(record.alert.map(AlertId::uuid))
            .bind(record.of.as_str())
            .bind(record.at.0)
            .bind(&data[..])
            .execute(&mut *db)
            .await?;
            match record.of {
                EvidenceOf::Blip => {
                    sqlx::query(
                        "delete from evidence
                         where monitor_id = $1 and alert_id is null and id <> $2",
                    )
                    .bind(record.monitor.uuid())
                    .bind(record.id.uuid())
                    .execute(db)
                    .await?;
                }
                EvidenceOf::First | EvidenceOf::Degraded | EvidenceOf::Change => {
                    sqlx::query(
                        "delete from evidence
                         where monitor_id = $1 and alert_id in (
                             select e.alert_id from evidence e
                             where e.monitor_id = $1 and e.alert_id is not null
                             group by e.alert_id
                             order by max(e.at) desc
                             limit 1000 offset $2)",
                    )
                    .bind(record.monitor.uuid())
                    .bind(MAX_ALERTS)
                    .execute(db)
                    .await?;
                }
                EvidenceOf::Confirming | EvidenceOf::Last | EvidenceOf::Recovery => {}
            }
            Ok::<_, sqlx::Error>(())
        })?;
    }
    Ok(())
}

impl TeamStore<'_> {
    /// The evidence of an alert, oldest first. The caller has read the alert.
    pub async fn evidence_of_alert(
        &self,
        monitor: MonitorId,
        alert: AlertId,
    ) -> Result<Vec<EvidenceRecord>> {
        let rows: Vec<Row> = read!(self.store, |db| {
            sqlx::query_as(
                "select e.id, e.monitor_id, e.alert_id, e.kind, e.at, e.data
                 from evidence e
                 join monitors m on m.id = e.monitor_id
                 where e.alert_id = $1 and e.monitor_id = $2 and m.team_id = $3
                 order by e.at,
                     case e.kind when 'first' then 0 when 'confirming' then 1 when 'last' then 2 else 3 end, e.id
                 limit $4",
            )
            .bind(alert.uuid())
            .bind(monitor.uuid())
            .bind(self.team.uuid())
            .bind(MAX_LISTED)
            .fetch_all(db)
            .await
        })?;
        rows.into_iter().map(|row| row.open(&self.store.keyring)).collect()
    }

    /// The latest evidence of a monitor, newest first; `None` when the team has no such monitor.
    pub async fn evidence_of_monitor(
        &self,
        monitor: MonitorId,
        limit: u32,
    ) -> Result<Option<Vec<EvidenceRecord>>> {
        if !self.has_monitor(monitor).await? {
            return Ok(None);
        }
        let rows: Vec<Row> = read!(self.store, |db| {
            sqlx::query_as(
                "select id, monitor_id, alert_id, kind, at, data
                 from evidence
                 where monitor_id = $1
                 order by at desc,
                     case kind when 'first' then 0 when 'confirming' then 1 when 'last' then 2 else 3 end desc, id desc
                 limit $2",
            )
            .bind(monitor.uuid())
            .bind(i64::from(limit).min(MAX_LISTED))
            .fetch_all(db)
            .await
        })?;
        let opened = rows.into_iter().map(|row| row.open(&self.store.keyring));
        opened.collect::<Result<_>>().map(Some)
    }
}

impl Store {
    /// Deletes evidence from before `oldest`; true when there is more.
    pub async fn prune_evidence(&self, oldest: Millis) -> Result<bool> {
        Ok(write!(self, |db| {
            sqlx::query(
                "delete from evidence where id in (
                     select id from evidence where at < $1 order by at limit $2)",
            )
            .bind(oldest.0)
            .bind(DELETE_BATCH)
            .execute(db)
            .await
            .map(|done| done.rows_affected() >= DELETE_BATCH.cast_unsigned())
        })?)
    }
}
