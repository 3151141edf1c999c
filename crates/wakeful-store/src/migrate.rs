//! Schema migrations. Each one runs in its own transaction together with the row
//! that records it, so a crash leaves it applied or not started. Nodes that start
//! at the same time wait for each other: on SQLite with its write lock, on
//! PostgreSQL with an advisory lock. A released migration is never edited.

use sqlx::sqlite::{SqliteAutoVacuum, SqliteConnectOptions};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, PgConnection, SqliteConnection};
use std::time::Duration;
use wakeful_core::token::Digest;

use crate::open::sqlite;
use crate::{Location, Result, StoreError};

struct Step {
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

macro_rules! steps {
    ($($name:literal),+ $(,)?) => {
        &[$(Step {
            name: $name,
            sqlite: include_str!(concat!("../migrations/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../migrations/postgres/", $name, ".sql")),
        }),+]
    };
}

/// In order; a new migration goes to the end and has a file in both folders.
const STEPS: &[Step] = steps![
    "0001_accounts",
    "0002_monitors",
    "0003_notifiers",
    "0004_billing",
    "0005_monitor_states",
    "0006_history",
    "0007_nodes",
    "0008_regions",
    "0009_reminders",
    "0010_over_since",
    "0011_sessions",
    "0012_certificate",
    "0013_history",
    "0014_notifying",
    "0015_membership",
    "0016_notifier_revision",
    "0017_orphaned",
    "0018_upkeep",
    "0019_left_to",
    "0020_unfinished_claims",
    "0021_credentials",
    "0022_blocked",
    "0023_notifier_health",
    "0024_verified_email",
    "0025_members",
    "0026_long_requests",
    "0027_monitor_filters",
    "0028_service_accounts",
    "0029_audit",
    "0030_teams",
    "0031_audit_streams",
    "0032_reauthentication",
    "0033_administration",
    "0034_alerting",
    "0035_maintenance",
    "0036_dependencies",
    "0037_escalation",
    "0038_turns",
    "0039_threads",
    "0040_announcements",
    "0041_bounds",
    "0042_digests",
    "0043_webpush",
    "0044_alertmanager",
    "0045_statuspages",
    "0046_incidents",
    "0047_assertions",
    "0048_subscribers",
    "0049_statuspage_domain_checks",
    "0050_degraded",
    "0051_jobs",
    "0052_known_values",
    "0054_crashes_and_confirmations",
    "0056_held_messages",
    "0057_messages_by_page",
    "0058_active_subscribers",
    "0059_ended_maintenance",
    "0060_incidents_by_source",
];

const HISTORY: &str = "create table if not exists schema_migrations (
    name text primary key,
    checksum text not null
)";

/// A number that no other program is likely to lock.
const LOCK: i64 = 0x57_41_4b_45_46_55_4c;

/// Updates the schema. Safe to call from many processes at once.
pub(crate) async fn run(location: &Location) -> Result<()> {
    match location {
        Location::Sqlite(path) => {
            // Waits as long as a migration in another process may take.
            let options = sqlite(path)
                .busy_timeout(Duration::from_secs(600))
                // Must be set before the first table; lets the file shrink in small steps. Not
                // set by later connections, because it takes the lock of a writer each time.
                .auto_vacuum(SqliteAutoVacuum::Incremental);
            let mut db = connect(&options).await?;
            sqlite_steps(&mut db).await?;
            db.close().await?;
        }
        Location::Postgres(options) => {
            let mut db = options.connect().await?;
            sqlx::query("select pg_advisory_lock($1)").bind(LOCK).execute(&mut db).await?;
            postgres_steps(&mut db).await?;
            db.close().await?;
        }
    }
    Ok(())
}

/// A new file is switched to write-ahead logging once. At that moment SQLite
/// refuses other connections despite the busy timeout, so they retry.
async fn connect(options: &SqliteConnectOptions) -> Result<SqliteConnection> {
    let mut retries = 0;
    loop {
        match options.connect().await.map_err(StoreError::from) {
            Err(StoreError::Unavailable(_)) if retries < 50 => retries += 1,
            connected => return connected,
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

macro_rules! run_steps {
    ($db:ident, $begin:literal, $sql:ident) => {{
        // A database of this version costs one transaction, as nearly every start has one.
        let mut remaining = Vec::from_iter(STEPS);
        loop {
            let mut tx = $db.begin_with($begin).await?;
            tx.execute(HISTORY).await?;
            let ran: Vec<(String, String)> =
                sqlx::query_as("select name, checksum from schema_migrations order by name")
                    .fetch_all(&mut *tx)
                    .await?;
            remaining = pending(remaining, |step| step.$sql, &ran)?;
            if let Some(step) = remaining.first() {
                tx.execute(sqlx::raw_sql(step.$sql)).await?;
                sqlx::query("insert into schema_migrations (name, checksum) values ($1, $2)")
                    .bind(step.name)
                    .bind(checksum(step.$sql))
                    .execute(&mut *tx)
                    .await?;
                tracing::info!(migration = step.name, "applied migration {}", step.name);
            }
            tx.commit().await?;
            if remaining.is_empty() {
                return Ok(());
            }
        }
    }};
}

async fn sqlite_steps(db: &mut SqliteConnection) -> Result<()> {
    run_steps!(db, "begin immediate", sqlite)
}

async fn postgres_steps(db: &mut PgConnection) -> Result<()> {
    run_steps!(db, "begin", postgres)
}

/// Whether this version would change the schema of a database with these migrations. That
/// of a newer version is refused instead.
pub(crate) fn is_pending(applied: &[String]) -> bool {
    let known = |name: &String| STEPS.iter().any(|step| step.name == name);
    applied.iter().all(known) && applied.len() < STEPS.len()
}

/// Those of these migrations that still have to run; an error when the recorded ones do not
/// match this version.
fn pending<'a>(
    steps: Vec<&'a Step>,
    sql: impl Fn(&Step) -> &str,
    ran: &[(String, String)],
) -> Result<Vec<&'a Step>> {
    if let Some((newer, _)) = ran.iter().find(|(ran, _)| !STEPS.iter().any(|step| step.name == ran))
    {
        return Err(StoreError::Schema(format!(
            "the database has the migration {newer}, which this version does not know: start the newer version"
        )));
    }
    let mut pending = Vec::new();
    for step in steps {
        match ran.iter().find(|(ran, _)| ran == step.name) {
            None => pending.push(step),
            Some((_, stored)) if *stored == checksum(sql(step)) => {}
            Some(_) => {
                return Err(StoreError::Schema(format!(
                    "the migration {} differs from the one applied to this database",
                    step.name
                )));
            }
        }
    }
    Ok(pending)
}

fn checksum(sql: &str) -> String {
    data_encoding::HEXLOWER.encode(&Digest::of(sql).0)
}
