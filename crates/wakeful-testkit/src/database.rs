//! A new database for one test: a file, or a separate database on the
//! PostgreSQL server that `scripts/with-postgres` started.

use sqlx::{Connection as _, Executor as _, PgConnection};
use std::path::PathBuf;
use wakeful_core::access::TeamAccess;
use wakeful_core::id::TeamId;
use wakeful_core::time::Millis;
use wakeful_store::{AuditContext, Keyring, Location, Options, Store};

mod template;

/// Everything in a team, for tests that use the store directly.
#[expect(clippy::disallowed_methods, reason = "a test has no caller")]
pub fn whole(team: TeamId) -> TeamAccess {
    TeamAccess::whole(team)
}

/// Changes that no caller asked for, in no team.
pub fn system() -> AuditContext {
    system_at(Millis(1_790_000_000_000))
}

#[expect(clippy::disallowed_methods, reason = "a test has no caller")]
pub fn system_at(at: Millis) -> AuditContext {
    AuditContext::of_system(at)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseKind {
    Sqlite,
    Postgres,
}

pub struct Database {
    kind: DatabaseKind,
    folder: tempfile::TempDir,
    url: String,
}

impl Database {
    pub async fn new(kind: DatabaseKind) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = match kind {
            DatabaseKind::Sqlite => {
                format!("sqlite:{}", folder.path().join("wakeful.db").display())
            }
            DatabaseKind::Postgres => postgres(None).await,
        };
        Self { kind, folder, url }
    }

    /// One that has the tables already, which is faster: a copy of a database that the first test
    /// makes.
    pub async fn migrated(kind: DatabaseKind) -> Self {
        match kind {
            DatabaseKind::Sqlite => {
                let database = Self::new(kind).await;
                std::fs::copy(template::file().await, database.path()).unwrap();
                database
            }
            DatabaseKind::Postgres => {
                let name = template::named_database().await;
                Self { kind, folder: tempfile::tempdir().unwrap(), url: postgres(Some(name)).await }
            }
        }
    }

    pub fn kind(&self) -> DatabaseKind {
        self.kind
    }

    /// The value for `--database-url`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A folder that is deleted with the test.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// The file of a SQLite database.
    pub(crate) fn path(&self) -> String {
        self.url.strip_prefix("sqlite:").unwrap().to_owned()
    }

    /// The key file.
    pub fn key_file(&self) -> PathBuf {
        self.folder.path().join("master.key")
    }

    pub fn options(&self) -> Options {
        Options { location: Location::parse(&self.url).unwrap(), max_connections: 8 }
    }

    pub fn keyring(&self) -> Keyring {
        Keyring::load_or_create(&self.key_file()).unwrap()
    }

    pub async fn open(&self) -> Store {
        Store::open(&self.options(), self.keyring()).await.unwrap()
    }
}

/// Hundreds of tests share the server's disk, so each drops its database.
impl Drop for Database {
    fn drop(&mut self) {
        if self.kind == DatabaseKind::Postgres {
            let (_, name) = self.url.rsplit_once('/').unwrap();
            let drop = format!("drop database if exists {name} with (force)");
            // The test's own runtime may be the one that drops this, and cannot wait here.
            let dropped = std::thread::spawn(move || {
                let runtime =
                    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(on_server(drop))
            });
            // A test may have ended the server it was given; its databases go with it.
            let _ = dropped.join();
        }
    }
}

async fn postgres(template: Option<String>) -> String {
    let name = format!("t_{}", uuid::Uuid::from_bytes(random()).simple());
    let template = template.map(|template| format!(" template {template}")).unwrap_or_default();
    on_server(format!("create database {name}{template}")).await.unwrap();
    url(&name)
}

fn url(name: &str) -> String {
    let server = server();
    let (server, _) = server.rsplit_once('/').unwrap();
    format!("{server}/{name}")
}

async fn on_server(statement: String) -> Result<(), sqlx::Error> {
    let mut db = PgConnection::connect(&server()).await?;
    db.execute(sqlx::AssertSqlSafe(statement)).await?;
    db.close().await
}

fn server() -> String {
    std::env::var("WAKEFUL_TEST_POSTGRES").unwrap_or_else(|_| {
        panic!("WAKEFUL_TEST_POSTGRES is not set: run `make test`, or the test under scripts/with-postgres")
    })
}

pub(crate) fn random() -> [u8; 16] {
    use std::hash::{BuildHasher as _, RandomState};
    let half = |salt: u8| RandomState::new().hash_one(salt).to_ne_bytes();
    [half(1), half(2)].concat().try_into().unwrap()
}
