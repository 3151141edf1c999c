//! The two writes of every check, for a whole batch: the monitor states and the
//! heartbeats. Rows are bound as values, which takes the databases half the time
//! of JSON. SQLite gets them in statements of a few lengths, so that each is
//! prepared once, and without the columns that are null in most rows;
//! PostgreSQL gets an array for each column.

use sqlx::{Error, PgConnection, SqliteConnection};
use std::sync::LazyLock;
use std::time::Duration;
use uuid::Uuid;
use wakeful_core::certificate::IssuedWarnings;
use wakeful_core::heartbeat::Phases;
use wakeful_core::id::MonitorId;

use crate::Record;
use crate::dialect::{OpenTx, Tx};
use crate::monitors::json;

/// The numbers of rows that a statement for SQLite can take.
const STATEMENT_ROWS: [usize; 5] = [1, 8, 32, 64, 128];

/// Records in the order of writing: neighbors together, and always in the same
/// order, so that two writers of the same rows cannot deadlock.
pub(crate) fn in_order(records: &[Record]) -> Vec<&Record> {
    let mut records: Vec<&Record> = records.iter().collect();
    records.sort_unstable_by_key(|record| (record.monitor, record.seq));
    records
}

/// Writes the states and heartbeats of records in order, skipping monitors deleted
/// in the meantime. Returns the number of new heartbeats.
pub(crate) async fn write(tx: &mut Tx, records: &[&Record]) -> Result<u64, Error> {
    // The states come first: they lock the monitors' rows, so that no monitor
    // can be deleted before its heartbeat is written.
    let states: Vec<StateRow<'_>> = last_of_each(records).map(StateRow::of).collect();
    let heartbeats: Vec<HeartbeatRow<'_>> = records
        .iter()
        .filter(|record| !record.state_only)
        .map(|record| HeartbeatRow::of(record))
        .collect();
    match &mut tx.db {
        OpenTx::Sqlite(db) => {
            let known = sqlite_states(db, &states).await?;
            let all_known = usize::try_from(known).is_ok_and(|known| known == states.len());
            sqlite_heartbeats(db, all_known, &heartbeats).await
        }
        OpenTx::Postgres(db) => {
            postgres_states(db, &states).await?;
            postgres_heartbeats(db, &heartbeats).await
        }
    }
}

/// Prevents the deletion of monitors that are about to be referenced. Otherwise,
/// on PostgreSQL, a deletion that has locked the monitor and waits for its state
/// would deadlock with this transaction. SQLite has one writer at a time.
pub(crate) async fn lock_monitors(tx: &mut Tx, records: &[Record]) -> Result<(), Error> {
    let OpenTx::Postgres(db) = &mut tx.db else { return Ok(()) };
    let ids: Vec<Uuid> = records.iter().map(|record| record.monitor.uuid()).collect();
    sqlx::query("select 1 from monitors where id = any($1) order by id for key share")
        .bind(ids)
        .execute(&mut **db)
        .await
        .map(|_| ())
}

/// Locks monitors that are about to be changed or deleted in the order of their ids:
/// concurrent transactions on PostgreSQL wait for each other instead of deadlocking.
pub(crate) async fn lock_monitors_to_change(tx: &mut Tx, ids: &[MonitorId]) -> Result<(), Error> {
    let OpenTx::Postgres(db) = &mut tx.db else { return Ok(()) };
    let ids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
    sqlx::query("select 1 from monitors where id = any($1) order by id for update")
        .bind(ids)
        .execute(&mut **db)
        .await
        .map(|_| ())
}

/// The last record of each monitor, of records in order.
fn last_of_each<'a>(records: &'a [&'a Record]) -> impl Iterator<Item = &'a Record> {
    records
        .chunk_by(|one, next| one.monitor == next.monitor)
        .filter_map(|of_one| of_one.last().copied())
}

struct StateRow<'a> {
    monitor: Uuid,
    status: &'static str,
    since: Option<i64>,
    last_check: Option<i64>,
    last_message: &'a str,
    blocked: bool,
    load_time: Option<i64>,
    failing: Option<String>,
    warned: Option<String>,
    degraded: Option<String>,
    push: Option<String>,
    known: Option<String>,
    seq: i64,
}

impl<'a> StateRow<'a> {
    fn of(record: &'a Record) -> Self {
        let state = &record.state;
        Self {
            monitor: record.monitor.uuid(),
            status: state.status.as_str(),
            since: state.since.map(|at| at.0),
            last_check: state.last_check.map(|at| at.0),
            last_message: &state.last_message,
            blocked: state.blocked,
            load_time: state.load_time.map(micros),
            failing: state.failing.as_ref().map(json),
            warned: Some(&state.warned).filter(|given| !IssuedWarnings::is_empty(given)).map(json),
            degraded: state.degraded.as_deref().map(json),
            push: state.push.as_ref().map(json),
            known: state.known.as_ref().map(json),
            seq: record.seq,
        }
    }

    /// Whether the columns that few monitors use are null.
    fn is_plain(&self) -> bool {
        let rare = [&self.failing, &self.warned, &self.degraded, &self.push, &self.known];
        rare.into_iter().all(Option::is_none)
    }
}

struct HeartbeatRow<'a> {
    monitor: Uuid,
    at: i64,
    seq: i64,
    status: &'static str,
    message: &'a str,
    load_time: Option<i64>,
    phases: Option<String>,
    regions: Option<String>,
    readings: Option<String>,
}

impl<'a> HeartbeatRow<'a> {
    fn of(record: &'a Record) -> Self {
        let heartbeat = &record.heartbeat;
        let phases = Some(&heartbeat.phases).filter(|phases| **phases != Phases::default());
        Self {
            monitor: record.monitor.uuid(),
            at: heartbeat.at.0,
            seq: record.seq,
            status: heartbeat.status.as_str(),
            message: &heartbeat.message,
            load_time: heartbeat.load_time.map(micros),
            phases: phases.map(json),
            regions: Some(&heartbeat.regions).filter(|regions| !regions.is_empty()).map(json),
            readings: Some(&heartbeat.readings).filter(|one| !one.is_empty()).map(json),
        }
    }

    /// Whether the columns that few monitors use are null.
    fn is_plain(&self) -> bool {
        self.regions.is_none() && self.readings.is_none()
    }
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

/// One statement in each of the lengths of `STATEMENT_ROWS`.
struct Statement([String; STATEMENT_ROWS.len()]);

impl Statement {
    fn new(columns: usize, text: impl Fn(&str) -> String) -> Self {
        let row = format!("({})", vec!["?"; columns].join(", "));
        Self(STATEMENT_ROWS.map(|length| text(&vec![row.as_str(); length].join(", "))))
    }

    /// The shortest statement that takes all rows, or else the longest; and its
    /// length.
    fn fitting(&'static self, rows: usize) -> (&'static str, usize) {
        let place = STATEMENT_ROWS.iter().position(|length| *length >= rows);
        let place = place.unwrap_or(STATEMENT_ROWS.len() - 1);
        (&self.0[place], STATEMENT_ROWS[place])
    }
}

static UPDATE_STATES: LazyLock<Statement> = LazyLock::new(|| {
    update(
        13,
        "failing = r.column9, warned = r.column10, degraded = r.column11, push = r.column12,
         known = r.column13",
    )
});

/// For rows without the columns that few monitors use.
static UPDATE_PLAIN_STATES: LazyLock<Statement> = LazyLock::new(|| {
    update(8, "failing = null, warned = null, degraded = null, push = null, known = null")
});

fn update(columns: usize, rare: &str) -> Statement {
    Statement::new(columns, |values| {
        format!(
            "update monitor_states
             set status = r.column2, since = r.column3, last_check = r.column4,
                 last_message = r.column5, load_time = r.column6, seq = r.column7,
                 blocked = r.column8, {rare}
             from (values {values}) r
             where monitor_states.monitor_id = r.column1 and monitor_states.seq < r.column7"
        )
    })
}

/// Where all monitors exist.
const ALL: &str = "r.column1 is not null";
/// Where some may have been deleted.
const EXISTING: &str = "exists (select 1 from monitor_states s where s.monitor_id = r.column1)";
const RARE_OF_HEARTBEATS: &str = "r.column8, r.column9";

static INSERT_HEARTBEATS: LazyLock<Statement> =
    LazyLock::new(|| insert(9, RARE_OF_HEARTBEATS, ALL));

static INSERT_PLAIN_HEARTBEATS: LazyLock<Statement> =
    LazyLock::new(|| insert(7, "null, null", ALL));

static INSERT_EXISTING_HEARTBEATS: LazyLock<Statement> =
    LazyLock::new(|| insert(9, RARE_OF_HEARTBEATS, EXISTING));

fn insert(columns: usize, rare: &str, condition: &str) -> Statement {
    Statement::new(columns, |values| {
        format!(
            "insert into heartbeats
             (monitor_id, at, seq, status, message, load_time, phases, regions, readings)
             select r.column1, r.column2, r.column3, r.column4, r.column5, r.column6, r.column7,
                    {rare}
             from (values {values}) r
             where {condition}
             on conflict do nothing"
        )
    })
}

/// The order of rows does not matter: SQLite has one writer at a time.
async fn sqlite_states(db: &mut SqliteConnection, rows: &[StateRow<'_>]) -> Result<u64, Error> {
    let (plain, others): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.is_plain());
    let mut written = 0;
    for (statement, rows) in [(&UPDATE_PLAIN_STATES, plain), (&UPDATE_STATES, others)] {
        let mut rest = &*rows;
        while !rest.is_empty() {
            let (sql, length) = statement.fitting(rest.len());
            let (chunk, remaining) = rest.split_at(length.min(rest.len()));
            let mut query = sqlx::query(sql);
            for row in chunk {
                query = query
                    .bind(row.monitor)
                    .bind(row.status)
                    .bind(row.since)
                    .bind(row.last_check)
                    .bind(row.last_message)
                    .bind(row.load_time)
                    .bind(row.seq)
                    .bind(row.blocked);
                if !row.is_plain() {
                    query = query
                        .bind(row.failing.as_deref())
                        .bind(row.warned.as_deref())
                        .bind(row.degraded.as_deref())
                        .bind(row.push.as_deref())
                        .bind(row.known.as_deref());
                }
            }
            // Unbound values are null, which is no monitor's id.
            written += query.execute(&mut *db).await?.rows_affected();
            rest = remaining;
        }
    }
    Ok(written)
}

async fn sqlite_heartbeats(
    db: &mut SqliteConnection,
    all_known: bool,
    rows: &[HeartbeatRow<'_>],
) -> Result<u64, Error> {
    let is_plain = |row: &&HeartbeatRow<'_>| all_known && row.is_plain();
    let (plain, others): (Vec<_>, Vec<_>) = rows.iter().partition(is_plain);
    let of_others = if all_known { &INSERT_HEARTBEATS } else { &INSERT_EXISTING_HEARTBEATS };
    let mut written = 0;
    for (statement, rows) in [(&INSERT_PLAIN_HEARTBEATS, plain), (of_others, others)] {
        let mut rest = &*rows;
        while !rest.is_empty() {
            let (sql, length) = statement.fitting(rest.len());
            let (chunk, remaining) = rest.split_at(length.min(rest.len()));
            let mut query = sqlx::query(sql);
            for row in chunk {
                query = query
                    .bind(row.monitor)
                    .bind(row.at)
                    .bind(row.seq)
                    .bind(row.status)
                    .bind(row.message)
                    .bind(row.load_time)
                    .bind(row.phases.as_deref());
                if !is_plain(row) {
                    query = query.bind(row.regions.as_deref()).bind(row.readings.as_deref());
                }
            }
            written += query.execute(&mut *db).await?.rows_affected();
            rest = remaining;
        }
    }
    Ok(written)
}

/// One column of many rows.
fn column<'a, R, T>(rows: &'a [R], of: impl Fn(&'a R) -> T) -> Vec<T> {
    rows.iter().map(of).collect()
}

async fn postgres_states(db: &mut PgConnection, rows: &[StateRow<'_>]) -> Result<(), Error> {
    sqlx::query(
        "update monitor_states s
         set status = r.status, since = r.since, last_check = r.last_check,
             last_message = r.last_message, load_time = r.load_time, failing = r.failing,
             warned = r.warned, seq = r.seq, blocked = r.blocked, degraded = r.degraded,
             push = r.push, known = r.known
         from unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
              as r(id, status, since, last_check, last_message, load_time, failing, warned, seq,
                   blocked, degraded, push, known)
         where s.monitor_id = r.id and s.seq < r.seq",
    )
    .bind(column(rows, |row| row.monitor))
    .bind(column(rows, |row| row.status))
    .bind(column(rows, |row| row.since))
    .bind(column(rows, |row| row.last_check))
    .bind(column(rows, |row| row.last_message))
    .bind(column(rows, |row| row.load_time))
    .bind(column(rows, |row| row.failing.as_deref()))
    .bind(column(rows, |row| row.warned.as_deref()))
    .bind(column(rows, |row| row.seq))
    .bind(column(rows, |row| row.blocked))
    .bind(column(rows, |row| row.degraded.as_deref()))
    .bind(column(rows, |row| row.push.as_deref()))
    .bind(column(rows, |row| row.known.as_deref()))
    .execute(db)
    .await
    .map(|_| ())
}

async fn postgres_heartbeats(
    db: &mut PgConnection,
    rows: &[HeartbeatRow<'_>],
) -> Result<u64, Error> {
    sqlx::query(
        "insert into heartbeats
         (monitor_id, at, seq, status, message, load_time, phases, regions, readings)
         select r.id, r.at, r.seq, r.status, r.message, r.load_time, r.phases, r.regions,
                r.readings
         from unnest($1, $2, $3, $4, $5, $6, $7, $8, $9)
              as r(id, at, seq, status, message, load_time, phases, regions, readings)
         join monitor_states s on s.monitor_id = r.id
         on conflict do nothing",
    )
    .bind(column(rows, |row| row.monitor))
    .bind(column(rows, |row| row.at))
    .bind(column(rows, |row| row.seq))
    .bind(column(rows, |row| row.status))
    .bind(column(rows, |row| row.message))
    .bind(column(rows, |row| row.load_time))
    .bind(column(rows, |row| row.phases.as_deref()))
    .bind(column(rows, |row| row.regions.as_deref()))
    .bind(column(rows, |row| row.readings.as_deref()))
    .execute(db)
    .await
    .map(|done| done.rows_affected())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_statement_that_fits_is_used() {
        for (rows, length) in [(1, 1), (2, 8), (8, 8), (9, 32), (65, 128), (128, 128), (5_000, 128)]
        {
            assert_eq!(UPDATE_STATES.fitting(rows).1, length, "{rows}");
        }
    }
}
