//! `wakeful serve --demo`: a full dashboard at once, without a connection to any other machine.

use serde_json::{Value, json};
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::Path;
use std::time::Duration;
use wakeful_testkit::{Client, DatabaseKind, Stopwatch};

use crate::process::{Installation, Server};

/// As the startup message says.
const EMAIL: &str = "demo@example.com";
const PASSWORD: &str = "wakeful demo 1";

async fn log_in(server: &Server) -> Client {
    let login = json!({"email": EMAIL, "password": PASSWORD});
    let token = server.anonymous().post("login", &login).await.ok();
    server.anonymous().with_token(token["token"].as_str().unwrap())
}

/// The monitors by name and status.
async fn statuses(caller: &Client) -> Vec<(String, String)> {
    let list = caller.get("monitors").await.ok();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let monitors = list["monitors"].as_array().unwrap().iter();
    monitors.map(|monitor| (text(&monitor["name"]), text(&monitor["status"]))).collect()
}

/// Every target is on this machine.
async fn assert_on_loopback(caller: &Client) {
    let list = caller.get("monitors").await.ok();
    for monitor in list["monitors"].as_array().unwrap() {
        let Some(url) = monitor["http"]["url"].as_str() else { continue };
        let host = url.strip_prefix("http://").unwrap().trim_end_matches('/');
        let (label, port) = host.split_once(".localhost:").unwrap();
        assert!(!label.is_empty());
        let address: Vec<SocketAddr> =
            format!("localhost:{port}").to_socket_addrs().unwrap().collect();
        assert!(address.iter().all(|address| address.ip().is_loopback()), "{url}");
    }
}

async fn the_demo_has_a_month_of_history(kind: DatabaseKind) {
    // A mail server that is not reached, and egress that would be open.
    let installation = Installation::new(kind)
        .await
        .set("MAIL_HOST", "192.0.2.1")
        .set("NETWORK_EGRESS", "private");
    let clock = Stopwatch::start();
    let server = installation.serve_with(&["--demo"]).await;
    let ann = log_in(&server).await;
    let found = statuses(&ann).await;
    // Without optimization, as here, it takes most of that.
    let most = Duration::from_secs(if kind == DatabaseKind::Sqlite { 10 } else { 20 });
    assert!(clock.elapsed() < most, "{:?}", clock.elapsed());
    assert_eq!(found.len(), 13, "{found:?}");
    let down: Vec<&str> =
        found.iter().filter(|(_, status)| status == "down").map(|(name, _)| &**name).collect();
    assert_eq!(down, ["Image CDN"]);
    assert_on_loopback(&ann).await;
    let report = ann.get("report?month=2000-01").await;
    assert_eq!(report.status, 200, "{report:?}");
    let alerts = ann.get("alerts").await.ok();
    let alerts = alerts["alerts"].as_array().unwrap();
    assert!(alerts.len() > 10, "{}", alerts.len());
    assert_eq!(alerts.iter().filter(|alert| alert["ended"].is_null()).count(), 1);
    // The site answers as it did in the past: a check confirms the status.
    for (name, status) in [("Storefront", "up"), ("Image CDN", "down")] {
        let list = ann.get("monitors").await.ok();
        let list = list["monitors"].as_array().unwrap();
        let monitor = list.iter().find(|monitor| monitor["name"] == name).unwrap();
        let id = monitor["monitorid"].as_str().unwrap();
        let checked = ann.post(&format!("monitor/{id}/check"), &json!({})).await.ok();
        assert_eq!(checked["heartbeat"]["status"], status, "{checked}");
    }
    server.stop().await;
    assert!(installation.log().contains("because of --demo"), "{}", installation.log());

    // The same demo continues.
    let server = installation.serve_with(&["--demo"]).await;
    assert_eq!(statuses(&log_in(&server).await).await.len(), 13);
    server.stop().await;
}

#[tokio::test]
async fn the_demo_has_a_month_of_history_on_sqlite() {
    the_demo_has_a_month_of_history(DatabaseKind::Sqlite).await;
}

#[tokio::test]
async fn the_demo_has_a_month_of_history_on_postgres() {
    the_demo_has_a_month_of_history(DatabaseKind::Postgres).await;
}

#[tokio::test]
async fn the_demo_is_refused_where_other_data_is() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    installation.serve().await.stop().await;
    let refused = |data: &Path| {
        format!(
            "--demo needs a new data folder, but {} is already in use: choose another one with --data, or start without --demo",
            data.display()
        )
    };
    let why = installation.run(&["serve", "--demo", "--listen", "127.0.0.1:0"]).await.refused();
    assert_eq!(why, refused(&installation.data()));

    let other = Installation::new(DatabaseKind::Sqlite).await;
    std::fs::write(other.data().join("thesis.txt"), "mine").unwrap();
    let why = other.run(&["serve", "--demo", "--listen", "127.0.0.1:0"]).await.refused();
    assert_eq!(why, refused(&other.data()));
    assert!(!other.file().exists());
}
