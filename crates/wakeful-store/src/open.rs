//! Opening the database: the URL selects the database, the connections are set up
//! for durability, the schema is migrated, and the keyring is verified to be the
//! one this database was sealed with.

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _};
use std::fs::OpenOptions;
use std::num::NonZero;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::audit::chain::MAX_CHAIN_BYTES;
use crate::dialect::{Pool, read, write};
use crate::write_turns::WriteTurns;
use crate::{Keyring, Result, Store, StoreError, migrate};

/// How long a SQLite statement waits for another process's lock. Together with the
/// waits for a turn and for a connection, a caller gets a response within eight seconds.
const BUSY_TIMEOUT: Duration = Duration::from_millis(3_500);
/// How long a caller waits for a free connection before it gets `Unavailable`.
pub(crate) const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(2);

/// The page cache in KiB, negative as SQLite expects it: for the connection with
/// the bulk writes, which return to the same pages, and for each of the others.
const RELAXED_WRITER_CACHE: &str = "-2048";
const SMALL_CACHE: &str = "-512";
/// Pages of the write-ahead log after which a commit checkpoints it: 64 MiB.
/// Usually `checkpoint_wal` does it before, without delaying commits.
const WAL_AUTOCHECKPOINT_PAGES: &str = "16384";

/// On a single core too, a slow query must leave readers for the others.
const MIN_READERS: u32 = 4;

/// Rows that SQLite's thread reads ahead of the caller: each switch between the
/// two costs as much as many rows.
const ROW_BUFFER_SIZE: usize = 1_024;

/// The location of the database.
#[derive(Clone, Debug)]
pub enum Location {
    Sqlite(PathBuf),
    Postgres(Box<PgConnectOptions>),
}

impl Location {
    /// Parses a URL. The error is a sentence about the accepted forms.
    pub fn parse(url: &str) -> std::result::Result<Self, String> {
        if let Some(path) = url.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return match path {
                "" => Err("must name a file after sqlite:".into()),
                path => Ok(Self::Sqlite(path.into())),
            };
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            // The driver's own message may repeat the URL, including the password.
            return url.parse().map(|options| Self::Postgres(Box::new(options))).map_err(|_| {
                "must be a PostgreSQL URL such as postgres://user:password@host/database".into()
            });
        }
        Err("must start with sqlite: or postgres://".into())
    }

    /// The server of the database; `None` for a file.
    pub fn server(&self) -> Option<String> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(options) => {
                Some(format!("{}:{}", options.get_host(), options.get_port()))
            }
        }
    }

    /// Whether a Wakeful database of any version exists there. Creates nothing.
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
    /// Opens the database, migrates its schema and verifies the keyring.
    pub async fn open(options: &Options, keyring: Keyring) -> Result<Self> {
        let store = Self::open_unchecked(options, keyring).await?;
        store.refuse_unfinished_transfer().await?;
        Ok(store)
    }

    /// Like `open`, but also accepts a database with an unfinished transfer.
    pub(crate) async fn open_unchecked(options: &Options, keyring: Keyring) -> Result<Self> {
        if let Location::Sqlite(path) = &options.location {
            make_private(path);
        }
        migrate::run(&options.location).await?;
        let pool = match &options.location {
            Location::Sqlite(path) => {
                let one = || file_pool(1).max_lifetime(None).idle_timeout(None);
                let with = |cache| sqlite(path).pragma("cache_size", cache);
                // Statement journals are small; on disk, each would be a file.
                let writing = |cache| with(cache).pragma("temp_store", "memory");
                let lazy = writing(RELAXED_WRITER_CACHE).synchronous(SqliteSynchronous::Normal);
                // Readers are read-only, so that a write sent through the wrong
                // pool fails in every test instead of waiting for the lock.
                let reader =
                    with(SMALL_CACHE).pragma("query_only", "on").row_buffer_size(ROW_BUFFER_SIZE);
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
                    .acquire_timeout(ACQUIRE_TIMEOUT)
                    .connect_with(postgres(connect))
                    .await?,
            ),
        };
        let store = Self {
            pool,
            keyring: Arc::new(keyring),
            outbox: Arc::default(),
            node: None,
            audit_log: None,
            max_audit_bytes: MAX_CHAIN_BYTES,
            write_turns: Arc::new(match &options.location {
                Location::Sqlite(_) => WriteTurns::of_one_writer(),
                Location::Postgres(_) => WriteTurns::of_connections(options.max_connections),
            }),
        };
        store.verify_keyring().await?;
        Ok(store)
    }

    /// The first start seals a known value; every later start must open it.
    async fn verify_keyring(&self) -> Result<()> {
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
        let stored: Vec<u8> = read!(self, |db| {
            sqlx::query_scalar("select value from meta where name = $1")
                .bind(NAME)
                .fetch_one(db)
                .await
        })?;
        match self.keyring.open("meta.value:keyring", &stored) {
            Some(_) => Ok(()),
            None => Err(StoreError::Sealed("this database")),
        }
    }
}

/// Creates the file of a new database with a private mode; the files that SQLite
/// adds inherit it. Errors are ignored: opening the database reports them.
fn make_private(path: &Path) {
    let _ = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
}

pub(crate) fn sqlite(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        .pragma("journal_size_limit", "67108864")
        .pragma("wal_autocheckpoint", WAL_AUTOCHECKPOINT_PAGES)
}

/// The number of connections that read a file. They are bound by the CPU, and each
/// has its own cache, statements and thread: more of them would be slower and need
/// more memory.
fn readers(max: u32) -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    u32::try_from(2 * cores).unwrap_or(u32::MAX).max(MIN_READERS).min(max)
}

/// Connections to a file do not drop, so they need no test before use.
fn file_pool(max: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(max)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
}

fn postgres(connect: &PgConnectOptions) -> PgConnectOptions {
    connect.clone().application_name("wakeful").options([
        // Whatever the server's default is, committed data must be durable.
        ("synchronous_commit", "on"),
        ("statement_timeout", "5s"),
        ("lock_timeout", "3s"),
        // Compiling a plan takes longer than running any of our queries.
        ("jit", "off"),
        // A node that stalls within a transaction locks its slots for this long.
        ("idle_in_transaction_session_timeout", "5s"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_selects_the_database_and_unknown_schemes_are_refused() {
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
        let store = Store::open(&Options { location, max_connections: 8 }, keyring).await.unwrap();
        let Pool::Sqlite { writer, lazy, readers } = &store.pool else {
            panic!("another database")
        };
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
        let vacuum: i64 =
            sqlx::query_scalar("pragma auto_vacuum").fetch_one(readers).await.unwrap();
        assert_eq!(vacuum, 2, "incremental");
        // A reader opens while another process writes.
        let writing = writer.begin_with("begin immediate").await.unwrap();
        let mut open = Vec::new();
        for _ in 0..super::readers(8) {
            open.push(readers.acquire().await.unwrap());
        }
        drop(writing);
    }

    #[test]
    fn a_refused_url_does_not_repeat_its_password() {
        let error = Location::parse("postgres://ann:hunter2@h:port/d").expect_err("no such port");
        assert!(!error.contains("hunter2"), "{error}");
    }
}
