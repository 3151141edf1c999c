//! An installation is transferred completely to another database, in both directions,
//! even if the copy is killed in between.

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};
use std::collections::BTreeMap;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use wakeful_testkit::{Client, Database, DatabaseKind, PASSWORD, User};

use crate::process::{Installation, signal};

/// Creates data of many kinds: accounts, keys, monitors, alerts, heartbeats.
async fn fill(client: &Client) {
    let hook =
        json!({"name": "hook", "type": "webhook", "webhook": {"url": "http://127.0.0.1:9/"}});
    let notifier = client.post("notifier/save", &hook).await.json()["notifierid"].clone();
    client.post("integrations/apikey/save", &json!({"name": "k"})).await.ok();
    for number in 0..3 {
        let body = json!({"name": format!("job {number} äöü"), "type": "api", "tags": "a,b",
            "heartbeat_interval": 86400, "isactive": true, "upside_down_mode": false,
            "notifiers": notifier, "regions": "local,eu", "quorum": 1});
        let saved = client.post("monitor/save", &body).await.ok();
        let id = saved["monitor"]["monitorid"].as_str().unwrap().to_owned();
        for status in ["up", "down", "up", "down"] {
            let path = format!("monitor/notify/{id}");
            let payload = json!({"status": status, "payload": {"message": "☂", "load_time": 1.5}});
            client.post(&path, &payload).await.ok();
        }
    }
}

/// The data that a user sees.
async fn visible_data(client: &Client) -> Vec<Value> {
    let mut seen = Vec::new();
    for path in ["monitors", "notifiers", "integrations/apikeys", "team/get"] {
        seen.push(client.get(path).await.ok());
    }
    for monitor in seen[0]["monitors"].as_array_mut().unwrap() {
        // The port changes with each start; the token does not.
        // The port is another one after each start.
        for url in ["push_url", "ping_url"] {
            let token = monitor[url].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
            monitor[url] = token.into();
        }
    }
    let monitors = seen[0]["monitors"].as_array().unwrap().clone();
    for monitor in monitors {
        let path = format!("monitor/{}/heartbeats", monitor["monitorid"].as_str().unwrap());
        seen.push(client.get(&path).await.ok());
    }
    // Deliveries are still being retried, so only the alerts themselves are compared.
    let alerts = client.get("alerts").await.ok()["alerts"].clone();
    let happened =
        alerts.as_array().unwrap().iter().map(|alert| {
            json!([alert["alertid"], alert["cause"], alert["started"], alert["ended"]])
        });
    seen.extend(happened);
    seen
}

/// Adds a row to every empty table, so that a table that is not copied is noticed.
async fn fill_empty_tables(installation: &Installation) -> BTreeMap<String, i64> {
    let mut db = SqliteConnection::connect(&format!("sqlite:{}", installation.file().display()))
        .await
        .unwrap();
    let tables: Vec<String> = sqlx::query_scalar(
        "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'",
    )
    .fetch_all(&mut db)
    .await
    .unwrap();
    let mut counts = BTreeMap::new();
    // A table may reference one that comes later in the list.
    for _ in 0..tables.len() {
        for table in &tables {
            let count = format!("select count(*) from {table}");
            let mut rows: i64 =
                sqlx::query_scalar(AssertSqlSafe(count.clone())).fetch_one(&mut db).await.unwrap();
            if rows == 0 {
                put_one(&mut db, table).await;
                rows = sqlx::query_scalar(AssertSqlSafe(count)).fetch_one(&mut db).await.unwrap();
            }
            counts.insert(table.clone(), rows);
        }
        if counts.values().all(|rows| *rows > 0) {
            break;
        }
    }
    db.close().await.unwrap();
    counts
}

async fn put_one(db: &mut SqliteConnection, table: &str) {
    let columns: Vec<(String, String)> =
        sqlx::query_as("select name, type from pragma_table_xinfo($1) where hidden = 0")
            .bind(table)
            .fetch_all(&mut *db)
            .await
            .unwrap();
    let parents: Vec<(String, String, Option<String>)> =
        sqlx::query_as("select \"from\", \"table\", \"to\" from pragma_foreign_key_list($1)")
            .bind(table)
            .fetch_all(&mut *db)
            .await
            .unwrap();
    let values: Vec<String> = columns
        .iter()
        .map(|(name, kind)| {
            let parent = parents.iter().find(|(from, ..)| from == name);
            match (parent, kind.as_str()) {
                (Some((_, table, to)), _) => {
                    let to = to.as_deref().unwrap_or("id");
                    format!("(select {to} from {table} limit 1)")
                }
                (None, "INTEGER") => "1".to_owned(),
                (None, "REAL") => "1.5".to_owned(),
                (None, "BLOB") => "x'00112233445566778899aabbccddeeff'".to_owned(),
                (None, _) => "'1'".to_owned(),
            }
        })
        .collect();
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let sql = format!(
        "insert or ignore into {table} ({}) values ({})",
        names.join(", "),
        values.join(", ")
    );
    // A row that violates a constraint is tried again when more tables have rows.
    let _ = sqlx::query(AssertSqlSafe(sql)).execute(db).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_installation_is_transferred_to_postgres_and_back_unchanged() {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    fill(&ann.client).await;
    let before = visible_data(&ann.client).await;
    server.stop().await;

    let postgres = Database::new(DatabaseKind::Postgres).await;
    let output = installation.run(&["migrate", "--to", postgres.url()]).await.ok();
    assert!(output.contains("Copied and verified"), "{output}");
    let again = installation.run(&["migrate", "--to", postgres.url()]).await.refused();
    assert!(again.contains("is not empty"), "{again}");

    // The tests' server runs without fsync.
    let up = installation.set("DATABASE_URL", postgres.url()).set("DATABASE_ALLOW_UNSAFE", "true");
    let server = up.serve().await;
    let client = server.anonymous().with_token(&ann.token);
    assert_eq!(visible_data(&client).await, before);
    let login = json!({"email": "ann@example.com", "password": PASSWORD});
    server.anonymous().post("login", &login).await.ok();
    let busy = tempfile::tempdir().unwrap();
    let folder = busy.path().join("data");
    let busy = up.run(&["migrate", "--to", folder.to_str().unwrap()]).await.refused();
    assert!(busy.contains("another wakeful is connected to the source"), "{busy}");
    assert!(!folder.exists(), "the folder was created");
    server.stop().await;

    up.run(&["migrate", "--to", folder.to_str().unwrap()]).await.ok();
    let down = up.set("DATABASE_URL", "").set("DATA", folder.to_str().unwrap());
    let server = down.serve().await;
    let client = server.anonymous().with_token(&ann.token);
    assert_eq!(visible_data(&client).await, before);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_table_is_copied() {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    fill(&ann.client).await;
    server.stop().await;
    let counts = fill_empty_tables(&installation).await;
    let empty: Vec<_> = counts.iter().filter(|(_, rows)| **rows == 0).collect();
    assert!(empty.is_empty(), "the test cannot insert a row into these: {empty:?}");
    let postgres = Database::new(DatabaseKind::Postgres).await;
    installation.run(&["migrate", "--to", postgres.url()]).await.ok();
    for (table, rows) in counts {
        assert_eq!(postgres.rows(&table).await, rows, "{table}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_transfer_resumes_where_it_stopped() {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    fill(&ann.client).await;
    server.stop().await;
    let mut db = SqliteConnection::connect(&format!("sqlite:{}", installation.file().display()))
        .await
        .unwrap();
    let many = "insert into heartbeats (monitor_id, at, seq, status, message)
         with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
         select m.id, i, -i, 'up', 'ok' from n, (select id from monitors limit 1) m";
    sqlx::query(many).execute(&mut db).await.unwrap();
    let heartbeats: i64 =
        sqlx::query_scalar("select count(*) from heartbeats").fetch_one(&mut db).await.unwrap();
    db.close().await.unwrap();

    let postgres = Database::new(DatabaseKind::Postgres).await;
    let mut command = installation.command(&["migrate", "--to", postgres.url()]);
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.contains("copying heartbeats") {
            break;
        }
    }
    signal("KILL", child.id().unwrap()).await;
    child.wait().await.unwrap();
    let came = postgres.rows("heartbeats").await;
    assert!((1..heartbeats).contains(&came), "{came} of {heartbeats}");

    let half = Installation::new(DatabaseKind::Sqlite).await.set("DATABASE_URL", postgres.url());
    let refused =
        half.set("SECRETS_MASTER_KEY", &key(&installation)).run(&["migrate"]).await.refused();
    assert!(refused.contains("is not finished"), "{refused}");
    installation.run(&["migrate", "--to", postgres.url()]).await.ok();
    assert_eq!(postgres.rows("heartbeats").await, heartbeats);
    assert_eq!(postgres.number("select count(*) from meta where name = 'copy'").await, 0);
}

fn key(installation: &Installation) -> String {
    std::fs::read_to_string(installation.data().join("master.key")).unwrap().trim().to_owned()
}
