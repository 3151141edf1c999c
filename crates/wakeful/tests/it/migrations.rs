//! Migrations survive kill -9 at any moment, and run once even if many processes start
//! together.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use wakeful_testkit::{DatabaseKind, User};

use crate::durability::integrity;
use crate::process::{Installation, run_command};

const KILLS: u32 = 8;
const TOGETHER: usize = 6;

/// The migrations that ran, as recorded in the database.
async fn history(installation: &Installation) -> Vec<String> {
    const NAMES: &str = "select name from schema_migrations order by name";
    match installation.database_kind() {
        DatabaseKind::Sqlite => {
            let file = SqliteConnectOptions::new().filename(installation.file());
            let mut db = file.connect().await.unwrap();
            let names = sqlx::query_scalar(NAMES).fetch_all(&mut db).await.unwrap();
            db.close().await.unwrap();
            names
        }
        DatabaseKind::Postgres => {
            let mut db = PgConnection::connect(installation.database_url()).await.unwrap();
            let names = sqlx::query_scalar(NAMES).fetch_all(&mut db).await.unwrap();
            db.close().await.unwrap();
            names
        }
    }
}

async fn assert_made_once(installation: &Installation) {
    let history = history(installation).await;
    let distinct: BTreeSet<&String> = history.iter().collect();
    assert!(!history.is_empty());
    assert_eq!(distinct.len(), history.len(), "{history:?}");
    if installation.database_kind() == DatabaseKind::Sqlite {
        assert_eq!(integrity(&installation.file()).await, "ok");
    }
}

async fn a_killed_migration_can_be_run_again(kind: DatabaseKind) {
    let whole = Installation::new(kind).await;
    let begun = Instant::now();
    whole.run(&["migrate"]).await.ok();
    let takes = begun.elapsed();
    for kill in 0..KILLS {
        let installation = Installation::new(kind).await;
        let mut child = installation.command(&["migrate"]).spawn().unwrap();
        tokio::time::sleep(takes * kill / KILLS).await;
        child.kill().await.unwrap();
        let server = installation.serve().await;
        assert_made_once(&installation).await;
        server.stop().await;
    }
}

#[tokio::test]
async fn a_killed_migration_can_be_run_again_on_sqlite() {
    a_killed_migration_can_be_run_again(DatabaseKind::Sqlite).await;
}

#[tokio::test]
async fn a_killed_migration_can_be_run_again_on_postgres() {
    a_killed_migration_can_be_run_again(DatabaseKind::Postgres).await;
}

async fn migrate_together(installation: &Installation) {
    let mut all = JoinSet::new();
    for _ in 0..TOGETHER {
        all.spawn(run_command(installation.command(&["migrate"])));
    }
    for one in all.join_all().await {
        one.ok();
    }
    assert_made_once(installation).await;
}

#[tokio::test]
async fn migrations_that_start_together_run_once_on_sqlite() {
    for _ in 0..3 {
        migrate_together(&Installation::new(DatabaseKind::Sqlite).await).await;
    }
}

#[tokio::test]
async fn migrations_that_start_together_run_once_on_postgres() {
    for _ in 0..3 {
        migrate_together(&Installation::new(DatabaseKind::Postgres).await).await;
    }
}

#[tokio::test]
async fn servers_that_start_together_on_postgres_share_the_database() {
    let installation = Arc::new(Installation::new(DatabaseKind::Postgres).await);
    let mut starts = JoinSet::new();
    for _ in 0..TOGETHER {
        let installation = installation.clone();
        starts.spawn(async move { installation.serve().await });
    }
    let servers = starts.join_all().await;
    assert_made_once(&installation).await;
    let ann = User::sign_up(&servers[0].anonymous(), "ann@example.com").await;
    for server in servers {
        let me = server.anonymous().with_token(&ann.token).get("users/me").await.ok();
        assert_eq!(me["userid"], ann.userid.as_str());
        server.stop().await;
    }
}

#[tokio::test]
async fn a_second_server_on_the_same_sqlite_file_is_rejected() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let first = installation.serve().await;
    let begun = Instant::now();
    let why = installation.run(&["serve", "--listen", "127.0.0.1:0"]).await.refused();
    assert!(why.starts_with("another wakeful is running on "), "{why}");
    assert!(begun.elapsed() < Duration::from_secs(10));
    first.anonymous().get("/readyz").await.ok();
    // The lock is released when its process ends, for whatever reason.
    first.kill().await;
    installation.serve().await.stop().await;
}
