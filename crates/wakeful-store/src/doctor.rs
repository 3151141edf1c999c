//! Diagnostics for the operator: the integrity of the database, the size of its
//! tables, and the extent of its history. Read-only.

use uuid::Uuid;
use wakeful_core::history::block_codec;
use wakeful_core::history::rollup::{self, Detail};
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;

use crate::dialect::{Pool, either, read};
use crate::{Result, Store};

/// The rows read in one step.
const BATCH_ROWS: i64 = 200;

#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    /// Including indexes.
    pub bytes: i64,
}

/// The extent of the stored history.
#[derive(Clone, Copy, Debug, Default)]
pub struct HistoryInventory {
    pub recent: i64,
    pub compacted: i64,
    pub blocks: i64,
    pub oldest_recent: Option<Millis>,
    pub newest_recent: Option<Millis>,
    pub oldest_compacted: Option<Millis>,
    pub oldest_phases: Option<Millis>,
    pub oldest_hour: Option<Millis>,
    pub oldest_day: Option<Millis>,
}

/// The monitor, the start time, the packed bytes, and those of the phases.
type PartRow = (Uuid, i64, Vec<u8>, Option<Vec<u8>>);

/// A part of the history that is damaged on disk.
#[derive(Clone, Debug)]
pub struct DamagedPart {
    pub monitor: MonitorId,
    pub at: Millis,
    pub what: &'static str,
}

impl Store {
    /// The problems that the database's own check finds; empty when it is intact.
    pub async fn integrity(&self) -> Result<Vec<String>> {
        let Pool::Sqlite { readers, .. } = &self.pool else {
            self.ping().await?;
            return Ok(Vec::new());
        };
        let lines: Vec<String> =
            sqlx::query_scalar("pragma integrity_check(20)").fetch_all(readers).await?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    }

    /// The tables, largest first.
    pub async fn tables(&self) -> Result<Vec<Table>> {
        let sql = either!(
            self,
            sqlite: "select m.tbl_name, cast(sum(s.pgsize) as integer) as bytes
                 from dbstat s
                 join sqlite_schema m on m.name = s.name
                 group by m.tbl_name
                 order by bytes desc",
            postgres: "select c.relname::text, pg_total_relation_size(c.oid) as bytes
                 from pg_class c
                 where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
                 order by bytes desc"
        );
        let rows: Vec<(String, i64)> = read!(self, |db| sqlx::query_as(sql).fetch_all(db).await)?;
        Ok(rows.into_iter().map(|(name, bytes)| Table { name, bytes }).collect())
    }

    /// How much history is stored, and since when.
    pub async fn history_inventory(&self) -> Result<HistoryInventory> {
        let counts: (i64, i64, i64) = read!(self, |db| {
            sqlx::query_as(
                "select (select count(*) from heartbeats),
                        (select cast(coalesce(sum(count), 0) as bigint) from blocks),
                        (select count(*) from blocks)",
            )
            .fetch_one(db)
            .await
        })?;
        type Ends = (Option<i64>, Option<i64>, Option<i64>, Option<i64>, Option<i64>, Option<i64>);
        let ends: Ends = read!(self, |db| {
            sqlx::query_as(
                "select (select min(at) from heartbeats),
                        (select max(at) from heartbeats),
                        (select min(from_at) from blocks),
                        (select min(from_at) from blocks where phases is not null),
                        (select min(at) from rollups where grain = 1),
                        (select min(at) from rollups where grain = 2)",
            )
            .fetch_one(db)
            .await
        })?;
        Ok(HistoryInventory {
            recent: counts.0,
            compacted: counts.1,
            blocks: counts.2,
            oldest_recent: ends.0.map(Millis),
            newest_recent: ends.1.map(Millis),
            oldest_compacted: ends.2.map(Millis),
            oldest_phases: ends.3.map(Millis),
            oldest_hour: ends.4.map(Millis),
            oldest_day: ends.5.map(Millis),
        })
    }

    /// Reads every block and roll-up and returns the damaged ones.
    pub async fn find_damage(&self) -> Result<Vec<DamagedPart>> {
        let mut damage = Vec::new();
        for (what, sql) in [
            (
                "heartbeats",
                "select monitor_id, from_at, data, phases from blocks
                 where (monitor_id, from_at) > ($1, $2)
                 order by monitor_id, from_at
                 limit $3",
            ),
            (
                "hours",
                "select monitor_id, at, data, null as phases from rollups
                 where grain = 1 and (monitor_id, at) > ($1, $2)
                 order by monitor_id, at
                 limit $3",
            ),
            (
                "days",
                "select monitor_id, at, data, null as phases from rollups
                 where grain = 2 and (monitor_id, at) > ($1, $2)
                 order by monitor_id, at
                 limit $3",
            ),
            (
                "fortnights",
                "select monitor_id, at, data, null as phases from rollups
                 where grain = 3 and (monitor_id, at) > ($1, $2)
                 order by monitor_id, at
                 limit $3",
            ),
        ] {
            let mut last = (Uuid::nil(), i64::MIN);
            loop {
                let rows: Vec<PartRow> = read!(self, |db| {
                    sqlx::query_as(sql)
                        .bind(last.0)
                        .bind(last.1)
                        .bind(BATCH_ROWS)
                        .fetch_all(db)
                        .await
                })?;
                let Some((monitor, at, ..)) = rows.last() else { break };
                last = (*monitor, *at);
                let damaged = rows.iter().filter(|(_, _, data, phases)| {
                    !is_whole(what, data, phases.as_deref().unwrap_or_default())
                });
                damage.extend(damaged.map(|(monitor, at, ..)| DamagedPart {
                    monitor: (*monitor).into(),
                    at: Millis(*at),
                    what,
                }));
            }
        }
        Ok(damage)
    }

    /// The time on the database server's clock; `None` for SQLite.
    pub async fn database_time(&self) -> Result<Option<Millis>> {
        let Pool::Postgres(pool) = &self.pool else { return Ok(None) };
        let now: i64 = sqlx::query_scalar(
            "select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)",
        )
        .fetch_one(pool)
        .await?;
        Ok(Some(Millis(now)))
    }
}

fn is_whole(what: &str, data: &[u8], phases: &[u8]) -> bool {
    if what != "heartbeats" {
        return rollup::unpack(data, Detail::Full).is_ok();
    }
    match block_codec::unpack(data) {
        Ok(mut entries) => block_codec::unpack_phases(phases, &mut entries).is_ok(),
        Err(_) => false,
    }
}
