//! What happened is told, whatever happens to the process that tells it.

use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};
use wakeful_testkit::{Client, Engine, Receiver, User};

use crate::home::{Home, Server, random_below};

const MONITORS: usize = 5;
const CHANGES: usize = 60;
/// A node that is alone takes up at once what a crash left behind.
const TOLD_WITHIN: Duration = Duration::from_secs(20);

async fn monitor(client: &Client, name: &str, notifier: &Value) -> String {
    let body = json!({"name": name, "type": "api", "heartbeat_interval": 86400, "isactive": true,
        "upside_down_mode": false, "notifiers": notifier});
    let json = client.post("monitor/save", &body).await.ok();
    json["monitor"]["monitorid"].as_str().unwrap().to_owned()
}

fn client(server: &Server, ann: &User) -> Client {
    server.anonymous().with_token(&ann.token)
}

#[tokio::test]
async fn no_change_of_status_goes_untold_through_kill_9() {
    let home = Home::new(Engine::Sqlite).await.without_limits();
    let mut server = home.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let receiver = Receiver::start().await;
    receiver.takes(Duration::from_millis(20));
    let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
    let made = ann.client.post("notifier/save", &body).await.json();
    let mut monitors = Vec::new();
    for number in 0..MONITORS {
        monitors.push(monitor(&ann.client, &format!("job {number}"), &made["notifierid"]).await);
    }

    let mut said: HashMap<String, Vec<String>> = HashMap::new();
    let mut kills = 0;
    for change in 0..CHANGES {
        let id = &monitors[change % MONITORS];
        let told = said.entry(id.clone()).or_default();
        let status = if told.len().is_multiple_of(2) { "down" } else { "up" };
        let path = format!("monitor/notify/{id}");
        client(&server, &ann).post(&path, &json!({"status": status})).await.ok();
        told.push(format!("monitor.{status}"));
        if change % 6 == 5 {
            tokio::time::sleep(Duration::from_millis(random_below(60))).await;
            server.kill().await;
            kills += 1;
            server = home.serve().await;
        }
    }

    let begun = Instant::now();
    let ids =
        || receiver.hooks().iter().map(wakeful_testkit::Hook::id).collect::<HashSet<String>>();
    while ids().len() < CHANGES && begun.elapsed() < TOLD_WITHIN {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(ids().len(), CHANGES, "after {kills} kills");
    let mut heard: HashMap<String, Vec<String>> = HashMap::new();
    let mut known = HashSet::new();
    for hook in receiver.hooks() {
        if known.insert(hook.id()) {
            let told = hook.json();
            let monitor = told["data"]["monitor"]["monitorid"].as_str().unwrap().to_owned();
            heard.entry(monitor).or_default().push(told["type"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(heard, said, "each monitor's news in order");
    let again = receiver.count() - CHANGES;
    println!(
        "{CHANGES} changes, {kills} kills, {again} sent twice, {:?} to the last",
        begun.elapsed()
    );
}
