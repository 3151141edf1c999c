//! What an operator wants to know of a database: whether it is sound, how big
//! its tables are, and how much of the past it holds. It only reads.

use uuid::Uuid;
use wakeful_core::history::pack;
use wakeful_core::history::rollup::{self, Depth};
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;

use crate::dialect::{Pool, either, read};
use crate::{Result, Store};

/// So many rows are looked at in one step.
const STEP: i64 = 200;

#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    /// With its indexes.
    pub bytes: i64,
}

/// What is kept of the past.
#[derive(Clone, Copy, Debug, Default)]
pub struct Holdings {
    pub fresh: i64,
    pub packed: i64,
    pub blocks: i64,
    pub oldest_fresh: Option<Millis>,
    pub newest_fresh: Option<Millis>,
    pub oldest_packed: Option<Millis>,
    pub oldest_phases: Option<Millis>,
    pub oldest_hour: Option<Millis>,
    pub oldest_day: Option<Millis>,
}

/// Whose it is, from when, its bytes, and those of its phases.
type Part = (Uuid, i64, Vec<u8>, Option<Vec<u8>>);

/// A part of the past that the disk changed.
#[derive(Clone, Debug)]
pub struct Harm {
    pub monitor: MonitorId,
    pub at: Millis,
    pub what: &'static str,
}

impl Store {
    /// What the database says of itself; nothing when it is sound.
    pub async fn integrity(&self) -> Result<Vec<String>> {
        let Pool::Sqlite { readers, .. } = &self.pool else {
            self.ping().await?;
            return Ok(Vec::new());
        };
        let told: Vec<String> =
            sqlx::query_scalar("pragma integrity_check(20)").fetch_all(readers).await?;
        Ok(told.into_iter().filter(|line| line != "ok").collect())
    }

    /// The tables, the largest first.
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

    /// How much of the past is there, and from when on.
    pub async fn holdings(&self) -> Result<Holdings> {
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
        Ok(Holdings {
            fresh: counts.0,
            packed: counts.1,
            blocks: counts.2,
            oldest_fresh: ends.0.map(Millis),
            newest_fresh: ends.1.map(Millis),
            oldest_packed: ends.2.map(Millis),
            oldest_phases: ends.3.map(Millis),
            oldest_hour: ends.4.map(Millis),
            oldest_day: ends.5.map(Millis),
        })
    }

    /// Reads every block and roll-up and tells those that are damaged.
    pub async fn harm(&self) -> Result<Vec<Harm>> {
        let mut harm = Vec::new();
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
                let rows: Vec<Part> = read!(self, |db| {
                    sqlx::query_as(sql).bind(last.0).bind(last.1).bind(STEP).fetch_all(db).await
                })?;
                let Some((monitor, at, ..)) = rows.last() else { break };
                last = (*monitor, *at);
                let hurt = rows.iter().filter(|(_, _, data, phases)| {
                    !is_whole(what, data, phases.as_deref().unwrap_or_default())
                });
                harm.extend(hurt.map(|(monitor, at, ..)| Harm {
                    monitor: (*monitor).into(),
                    at: Millis(*at),
                    what,
                }));
            }
        }
        Ok(harm)
    }

    /// The database's own time, where it has one.
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
        return rollup::unpack(data, Depth::Whole).is_ok();
    }
    match pack::unpack(data) {
        Ok(mut entries) => pack::unpack_phases(phases, &mut entries).is_ok(),
        Err(_) => false,
    }
}
