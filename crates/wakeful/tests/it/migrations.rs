//! The schema survives kill -9 at any moment of its making, and many processes
//! that start together make it once.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use wakeful_testkit::{Engine, User};

use crate::durability::integrity;
use crate::home::{Home, ran};

const KILLS: u32 = 20;
const TOGETHER: usize = 6;

/// The steps that ran, each as often as it stands in the history.
async fn history(home: &Home) -> Vec<String> {
    const NAMES: &str = "select name from schema_migrations order by name";
    match home.engine() {
        Engine::Sqlite => {
            let file = SqliteConnectOptions::new().filename(home.file());
            let mut db = file.connect().await.unwrap();
            let names = sqlx::query_scalar(NAMES).fetch_all(&mut db).await.unwrap();
            db.close().await.unwrap();
            names
        }
        Engine::Postgres => {
            let mut db = PgConnection::connect(home.database_url()).await.unwrap();
            let names = sqlx::query_scalar(NAMES).fetch_all(&mut db).await.unwrap();
            db.close().await.unwrap();
            names
        }
    }
}

async fn assert_made_once(home: &Home) {
    let history = history(home).await;
    let distinct: BTreeSet<&String> = history.iter().collect();
    assert!(!history.is_empty());
    assert_eq!(distinct.len(), history.len(), "{history:?}");
    if home.engine() == Engine::Sqlite {
        assert_eq!(integrity(&home.file()).await, "ok");
    }
}

async fn a_killed_migration_can_be_run_again(engine: Engine) {
    let whole = Home::new(engine).await;
    let begun = Instant::now();
    whole.run(&["migrate"]).await.ok();
    let takes = begun.elapsed();
    for kill in 0..KILLS {
        let home = Home::new(engine).await;
        let mut child = home.command(&["migrate"]).spawn().unwrap();
        tokio::time::sleep(takes * kill / KILLS).await;
        child.kill().await.unwrap();
        let server = home.serve().await;
        assert_made_once(&home).await;
        server.stop().await;
    }
}

#[tokio::test]
async fn a_killed_migration_can_be_run_again_on_sqlite() {
    a_killed_migration_can_be_run_again(Engine::Sqlite).await;
}

#[tokio::test]
async fn a_killed_migration_can_be_run_again_on_postgres() {
    a_killed_migration_can_be_run_again(Engine::Postgres).await;
}

async fn migrate_together(home: &Home) {
    let mut all = JoinSet::new();
    for _ in 0..TOGETHER {
        all.spawn(ran(home.command(&["migrate"])));
    }
    for one in all.join_all().await {
        one.ok();
    }
    assert_made_once(home).await;
}

#[tokio::test]
async fn migrations_that_start_together_run_once_on_sqlite() {
    for _ in 0..3 {
        migrate_together(&Home::new(Engine::Sqlite).await).await;
    }
}

#[tokio::test]
async fn migrations_that_start_together_run_once_on_postgres() {
    for _ in 0..3 {
        migrate_together(&Home::new(Engine::Postgres).await).await;
    }
}

#[tokio::test]
async fn servers_that_start_together_on_postgres_share_the_database() {
    let home = Arc::new(Home::new(Engine::Postgres).await);
    let mut starts = JoinSet::new();
    for _ in 0..TOGETHER {
        let home = home.clone();
        starts.spawn(async move { home.serve().await });
    }
    let servers = starts.join_all().await;
    assert_made_once(&home).await;
    let ann = User::sign_up(&servers[0].anonymous(), "ann@example.com").await;
    for server in servers {
        let me = server.anonymous().with_token(&ann.token).get("users/me").await.ok();
        assert_eq!(me["userid"], ann.userid.as_str());
        server.stop().await;
    }
}

#[tokio::test]
async fn a_second_server_on_the_same_sqlite_file_is_refused() {
    let home = Home::new(Engine::Sqlite).await;
    let first = home.serve().await;
    let begun = Instant::now();
    let why = home.run(&["serve", "--listen", "127.0.0.1:0"]).await.refused();
    assert!(why.starts_with("another wakeful is running on "), "{why}");
    assert!(begun.elapsed() < Duration::from_secs(10));
    first.anonymous().get("/readyz").await.ok();
    // A lock goes with its process, however it ended.
    first.kill().await;
    home.serve().await.stop().await;
}
