//! Status pages on two nodes while NATS is stopped and a node dies: every view succeeds, and every
//! node shows a change soon.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_testkit::{Database, DatabaseKind, NatsServer, Stopwatch, User, Visitors, until};

use super::testbed::KEY;
use crate::process::{Installation, Server};

const LEASE: u64 = 3;
/// How old a page may be on any node.
const MAX_AGE: Duration = Duration::from_secs(5);

async fn status_at(server: &Server) -> Value {
    let answer = server.anonymous().get("/status/acme/index.json").await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["sections"][0]["components"][0]["status"].clone()
}

/// Reports the status at the first node, and waits until all of them show it.
async fn change(ann: &User, monitor: &str, status: &str, nodes: &[&Server], most: Duration) {
    let shown = if status == "up" { "operational" } else { "major_outage" };
    let path = format!("monitor/notify/{monitor}");
    let client = nodes[0].anonymous().with_token(&ann.token);
    let clock = Stopwatch::start();
    until("the report", || async {
        let answer = client.post(&path, &json!({"status": status})).await;
        (answer.status == 200).then_some(())
    })
    .await;
    for node in nodes {
        until("the change on the page", || async {
            (status_at(node).await == shown).then_some(())
        })
        .await;
    }
    assert!(clock.elapsed() <= most, "{status} after {:?}", clock.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_pages_stay_up_and_current_while_nats_is_stopped_and_a_node_dies() {
    let database = Database::new(DatabaseKind::Postgres).await;
    let mut nats = NatsServer::start().await;
    let node = async || {
        Installation::new(DatabaseKind::Sqlite)
            .await
            .without_limits()
            .set("DATABASE_URL", database.url())
            .set("DATABASE_ALLOW_UNSAFE", "true")
            .set("NATS_URL", &nats.url())
            .set("SECRETS_MASTER_KEY", KEY)
            .set("CLUSTER_KEY", KEY)
            .set("NODES_LEASE_SECONDS", &LEASE.to_string())
    };
    let installations = [node().await, node().await];
    let (first, second) = (installations[0].serve().await, installations[1].serve().await);
    let ann = User::sign_up(&first.anonymous(), "ann@example.com").await;
    let body = json!({"name": "job", "type": "api", "heartbeat_interval": 86_400, "isactive": true,
        "upside_down_mode": false});
    let saved = ann.client.post("monitor/save", &body).await.ok();
    let monitor = saved["monitor"]["monitorid"].as_str().unwrap();
    let page = json!({"name": "Acme", "slug": "acme", "published": true,
        "sections": [{"components": [{"name": "Job", "monitors": [monitor]}]}]});
    ann.client.post("statuspage/save", &page).await.ok();
    for server in [&first, &second] {
        until("the page", || async {
            let answer = server.anonymous().get("/status/acme/index.json").await;
            (answer.status == 200).then_some(())
        })
        .await;
    }
    let visitors = |server: &Server| Visitors::start(&server.anonymous(), "/status/acme", 2);
    let visitors = [visitors(&first), visitors(&second)];
    let both = [&first, &second];
    change(&ann, monitor, "down", &both, MAX_AGE).await;
    change(&ann, monitor, "up", &both, MAX_AGE).await;

    nats.kill().await;
    // A report to the node that does not own the monitor waits for the connection.
    let until_sent = Duration::from_secs(LEASE);
    change(&ann, monitor, "down", &both, MAX_AGE + until_sent).await;
    nats.start_again().await;
    change(&ann, monitor, "up", &both, MAX_AGE + until_sent).await;

    let [of_first, of_second] = visitors;
    of_second.leave(50).await;
    second.kill().await;
    // The first node takes over the monitors of the other when its lease has ended.
    change(&ann, monitor, "down", &[&first], MAX_AGE + Duration::from_secs(2 * LEASE)).await;
    of_first.leave(50).await;
    first.stop().await;
}
