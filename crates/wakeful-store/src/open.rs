//! Opening the database: the engine is chosen by the URL, the connections are
//! set up for durability, the schema is brought up to date, and the keyring is
//! proved to be the one this database was sealed under.

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions as _, Connection as _};
use std::fs::OpenOptions;
use std::num::NonZero;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::dialect::{Pool, read, write};
use crate::{Keyring, Result, Store, StoreError, migrate};

/// How long a SQLite statement waits for another process's lock. With the wait
/// for a connection a caller is answered within six seconds.
const BUSY: Duration = Duration::from_millis(3_500);
/// How long a caller waits for a free connection before it is told to come back.
const ACQUIRE: Duration = Duration::from_secs(2);

/// Kibibytes of pages kept at hand, as SQLite wants to be told: by the one who
/// writes the bulk and comes back to the same ones, and by each of the others.
const CACHE: &str = "-8192";
const SMALL_CACHE: &str = "-1024";
/// Pages of the log after which whoever commits folds it in: 64 MiB. Before it
/// comes to that, `fold_log` has done so beside them.
const LOG: &str = "16384";

/// On a single core, too, one that is slow leaves some for the others.
const LEAST_READERS: u32 = 4;

/// Rows that SQLite's thread reads ahead of whoever asked for them: each time
/// the two wait for one another costs as much as many rows.
const ROWS_AHEAD: usize = 1_024;

/// Where the data is.
#[derive(Clone, Debug)]
pub enum Location {
    Sqlite(PathBuf),
    Postgres(Box<PgConnectOptions>),
}

impl Location {
    /// The place a URL names, or one sentence on what is accepted.
    pub fn parse(url: &str) -> std::result::Result<Self, String> {
        if let Some(path) = url.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return match path {
                "" => Err("sqlite: needs the path of a file behind it".into()),
                path => Ok(Self::Sqlite(path.into())),
            };
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            // The driver's own words may repeat the URL, password included.
            return url.parse().map(|options| Self::Postgres(Box::new(options))).map_err(|_| {
                "is not a PostgreSQL URL such as postgres://user:password@host/database".into()
            });
        }
        Err("must start with sqlite: or postgres://".into())
    }

    /// Whether a database of ours is there, of whatever version. Nothing is made.
    pub async fn is_in_use(&self) -> Result<bool> {
        match self {
            Self::Sqlite(path) => Ok(path.metadata().is_ok_and(|file| file.len() > 0)),
            Self::Postgres(options) => {
                let mut db = options.connect().await?;
                let found =
                    sqlx::query_scalar("select to_regclass('schema_migrations') is not null")
                        .fetch_one(&mut db)
                        .await?;
                db.close().await?;
                Ok(found)
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct Options {
    pub location: Location,
    pub max_connections: u32,
}

impl Store {
    /// Opens the database, brings its schema up to date and checks the keys.
    pub async fn open(options: &Options, keyring: Keyring) -> Result<Self> {
        let store = Self::open_unmarked(options, keyring).await?;
        store.refuse_half_a_copy().await?;
        Ok(store)
    }

    /// As `open`, also when a copy into it is not finished.
    pub(crate) async fn open_unmarked(options: &Options, keyring: Keyring) -> Result<Self> {
        if let Location::Sqlite(path) = &options.location {
            make_private(path);
        }
        migrate::run(&options.location).await?;
        let pool = match &options.location {
            Location::Sqlite(path) => {
                let one = || file_pool(1).max_lifetime(None).idle_timeout(None);
                let with = |cache| sqlite(path).pragma("cache_size", cache);
                // What undoes half a statement is small, and would be a file for each.
                let writing = |cache| with(cache).pragma("temp_store", "memory");
                let lazy = writing(CACHE).synchronous(SqliteSynchronous::Normal);
                // The pool of readers may not write, so a writing statement sent
                // through the wrong door fails in every test instead of waiting.
                let reader =
                    with(SMALL_CACHE).pragma("query_only", "on").row_buffer_size(ROWS_AHEAD);
                Pool::Sqlite {
                    writer: one().connect_with(writing(SMALL_CACHE)).await?,
                    lazy: one().connect_with(lazy).await?,
                    readers: file_pool(readers(options.max_connections))
                        .connect_with(reader)
                        .await?,
                }
            }
            Location::Postgres(connect) => Pool::Postgres(
                PgPoolOptions::new()
                    .max_connections(options.max_connections)
                    .acquire_timeout(ACQUIRE)
                    .connect_with(postgres(connect))
                    .await?,
            ),
        };
        let store = Self { pool, keyring: Arc::new(keyring), outbox: Arc::default(), node: None };
        store.prove_keyring().await?;
        Ok(store)
    }

    /// The first start seals a known word; every later one must open it.
    async fn prove_keyring(&self) -> Result<()> {
        const NAME: &str = "keyring";
        let sealed = self.keyring.seal("meta.value:keyring", b"wakeful");
        write!(self, |db| {
            sqlx::query(
                "insert into meta (name, value) values ($1, $2) on conflict (name) do nothing",
            )
            .bind(NAME)
            .bind(sealed)
            .execute(db)
            .await
            .map(|_| ())
        })?;
        let kept: Vec<u8> = read!(self, |db| {
            sqlx::query_scalar("select value from meta where name = $1")
                .bind(NAME)
                .fetch_one(db)
                .await
        })?;
        match self.keyring.open("meta.value:keyring", &kept) {
            Some(_) => Ok(()),
            None => Err(StoreError::Sealed("this database")),
        }
    }
}

/// Makes the file of a new database so that only its owner reads it; the files
/// that SQLite puts beside it take after it. What cannot be made here is told by
/// the attempt to open it.
fn make_private(path: &Path) {
    let _ = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
}

pub(crate) fn sqlite(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        // Must come before the first table; it lets a file give back space in small steps.
        .auto_vacuum(SqliteAutoVacuum::Incremental)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY)
        .pragma("journal_size_limit", "67108864")
        .pragma("wal_autocheckpoint", LOG)
}

/// How many read a file at one time. They wait for the processor and hardly for
/// anything else, and each has pages, statements and a thread of its own: more
/// than these would be slower and take memory.
fn readers(most: u32) -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    u32::try_from(2 * cores).unwrap_or(u32::MAX).max(LEAST_READERS).min(most)
}

/// A file does not hang up, so its connections need not be tried before use.
fn file_pool(most: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(most)
        .acquire_timeout(ACQUIRE)
        .test_before_acquire(false)
}

fn postgres(connect: &PgConnectOptions) -> PgConnectOptions {
    connect.clone().application_name("wakeful").options([
        // Whatever the server's default is: what is confirmed must be kept.
        ("synchronous_commit", "on"),
        ("statement_timeout", "5s"),
        ("lock_timeout", "3s"),
        // Compiling a plan takes longer than any of ours runs.
        ("jit", "off"),
        // One that goes silent halfway holds the slots it writes under for so long.
        ("idle_in_transaction_session_timeout", "5s"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_chooses_the_engine_and_others_are_refused() {
        assert!(
            matches!(Location::parse("sqlite:/tmp/x.db"), Ok(Location::Sqlite(path)) if path == Path::new("/tmp/x.db"))
        );
        assert!(
            matches!(Location::parse("sqlite://rel.db"), Ok(Location::Sqlite(path)) if path == Path::new("rel.db"))
        );
        assert!(matches!(Location::parse("postgres://a:b@h/d"), Ok(Location::Postgres(_))));
        for url in ["", "mysql://x", "sqlite:", "wakeful.db"] {
            assert!(Location::parse(url).is_err(), "{url}");
        }
    }

    #[tokio::test]
    async fn sqlite_runs_durably_and_its_readers_cannot_write() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::Sqlite(folder.path().join("wakeful.db"));
        let keyring = Keyring::load_or_create(&folder.path().join("master.key")).unwrap();
        let store = Store::open(&Options { location, max_connections: 2 }, keyring).await.unwrap();
        let Pool::Sqlite { writer, lazy, readers } = &store.pool else { panic!("another engine") };
        for (pool, full, query_only) in [(writer, 2_i64, 0_i64), (lazy, 1, 0), (readers, 2, 1)] {
            let mode: String =
                sqlx::query_scalar("pragma journal_mode").fetch_one(pool).await.unwrap();
            assert_eq!(mode, "wal");
            for (pragma, value) in
                [("synchronous", full), ("foreign_keys", 1), ("query_only", query_only)]
            {
                let pragma = sqlx::AssertSqlSafe(format!("pragma {pragma}"));
                let set: i64 = sqlx::query_scalar(pragma).fetch_one(pool).await.unwrap();
                assert_eq!(set, value);
            }
        }
        let write = "insert into meta (name, value) values ('x', x'00')";
        let refused = sqlx::query(write).execute(readers).await.unwrap_err();
        assert!(refused.to_string().contains("readonly"), "{refused}");
        sqlx::query(write).execute(writer).await.unwrap();
    }

    #[test]
    fn a_refused_url_does_not_repeat_its_password() {
        let error = Location::parse("postgres://ann:hunter2@h:port/d").expect_err("no such port");
        assert!(!error.contains("hunter2"), "{error}");
    }
}
