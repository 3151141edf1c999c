//! Databases with all tables and no rows, to be copied. They are named after the migrations, so
//! that a change of these makes new ones, and shared by all test processes.

use sqlx::{Connection as _, Executor as _, PgConnection, SqliteConnection};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use super::{Database, DatabaseKind, on_server, server, url};

/// A number that nothing else in a test locks.
const LOCK: i64 = 0x57_41_4b_45_54;
/// The value of the first start: only the keyring that sealed it can open the database.
const FORGET_KEYRING: &str = "delete from meta where name = 'keyring'";

/// The SQLite file. It is next to the binary of the test.
pub(super) async fn file() -> PathBuf {
    let binary = std::env::current_exe().unwrap();
    let file = binary.with_file_name(format!("{}.db", name()));
    if !file.exists() {
        let database = Database::new(DatabaseKind::Sqlite).await;
        database.open().await.close().await;
        let mut db = SqliteConnection::connect(database.url()).await.unwrap();
        db.execute(FORGET_KEYRING).await.unwrap();
        db.execute("pragma wal_checkpoint(truncate)").await.unwrap();
        db.close().await.unwrap();
        // Renaming is atomic; others may make the same file at the same time.
        let copy = file.with_extension(std::process::id().to_string());
        std::fs::copy(database.path(), &copy).unwrap();
        std::fs::rename(copy, &file).unwrap();
    }
    file
}

/// The name of the PostgreSQL database.
pub(super) async fn named_database() -> String {
    let name = name();
    let mut db = PgConnection::connect(&server()).await.unwrap();
    let exists = |name: &str| format!("select 1 from pg_database where datname = '{name}'");
    let found = db.fetch_optional(sqlx::AssertSqlSafe(exists(&name))).await.unwrap();
    if found.is_none() {
        sqlx::query("select pg_advisory_lock($1)").bind(LOCK).execute(&mut db).await.unwrap();
        // Another process may have made it meanwhile.
        let found = db.fetch_optional(sqlx::AssertSqlSafe(exists(&name))).await.unwrap();
        if found.is_none() {
            make(&name).await;
        }
    }
    db.close().await.unwrap();
    name
}

async fn make(name: &str) {
    let unfinished = format!("{name}_unfinished");
    on_server(format!("drop database if exists {unfinished} with (force)")).await.unwrap();
    on_server(format!("create database {unfinished}")).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let database = Database { kind: DatabaseKind::Postgres, folder, url: url(&unfinished) };
    database.open().await.close().await;
    let mut db = PgConnection::connect(database.url()).await.unwrap();
    db.execute(FORGET_KEYRING).await.unwrap();
    db.close().await.unwrap();
    on_server(format!("alter database {unfinished} rename to {name}")).await.unwrap();
}

fn name() -> String {
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wakeful-store/migrations");
    let mut hasher = DefaultHasher::new();
    for folder in ["sqlite", "postgres"] {
        let files = std::fs::read_dir(migrations.join(folder)).unwrap();
        let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        for file in files {
            file.file_name().hash(&mut hasher);
            std::fs::read(&file).unwrap().hash(&mut hasher);
        }
    }
    format!("wakeful_tables_{:016x}", hasher.finish())
}
