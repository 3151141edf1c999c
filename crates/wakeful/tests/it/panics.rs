//! A background loop that panics starts again, or ends the process if it has state in memory.

use serde_json::json;
use std::net::TcpListener;
use std::time::Duration;
use wakeful_testkit::{DatabaseKind, Receiver, Stopwatch, User, until};

use crate::process::{Installation, run_command};

const METRICS_TOKEN: &str = "count-the-panics";

#[tokio::test]
async fn a_loop_that_panics_starts_again_and_is_counted() {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let installation =
        installation.set("SERVER_METRICS_TOKEN", METRICS_TOKEN).dying_of("panic-in", "mail");
    let server = installation.serve().await;
    User::sign_up(&server.anonymous(), "ann@example.com").await;
    let mails = installation.data().join("mail");
    let written = || std::fs::read_dir(&mails).map_or(0, Iterator::count);
    until("the welcome mail", || async { (written() == 1).then_some(()) }).await;
    let log = installation.log();
    let restarts = log.matches("background loop mail panicked, starting it again in 1 s");
    assert_eq!(restarts.count(), 1, "{log}");
    let metrics = server.anonymous().with_token(METRICS_TOKEN).get("/metrics").await;
    let counted = "wakeful_loop_panics_total{loop=\"mail\"} 1";
    assert!(metrics.text.contains(counted), "{}", metrics.text);
    server.stop().await;
}

#[tokio::test]
async fn a_panic_in_a_loop_with_state_in_memory_ends_the_process() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let installation = installation.dying_of("panic-in", "change_writer");
    let ended = run_command(installation.command(&["serve", "--listen", "127.0.0.1:0"])).await;
    assert_eq!(ended.code, Some(70), "{ended:?}");
    let why = "background loop change_writer panicked and cannot start again, exiting";
    assert!(ended.stderr.contains(why), "{ended:?}");
    // The next process starts, because nothing holds what the dead one had locked.
    let installation = installation.without_failpoint();
    installation.serve().await.stop().await;
}

#[tokio::test]
async fn a_status_page_that_cannot_be_built_delays_no_other() {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let installation = installation.dying_of("panic-building", "broken");
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    for slug in ["broken", "sound"] {
        let page = json!({"name": "Acme", "slug": slug, "published": true,
            "sections": [{"components": [{"name": "API"}]}]});
        ann.client.post("statuspage/save", &page).await.ok();
    }
    // Pages in use are built first, in the order in which they were created.
    let visitor = server.anonymous();
    until("the sound page", || async {
        assert_ne!(visitor.get("/status/broken").await.status, 200);
        (visitor.get("/status/sound").await.status == 200).then_some(())
    })
    .await;
    let log = installation.log();
    assert!(log.contains("failed because of a bug in Wakeful, retrying in 3 s"), "{log}");
    assert!(!log.contains("background loop statuspage_builder panicked"), "{log}");
    server.stop().await;
}

#[tokio::test]
async fn a_status_page_that_takes_too_long_delays_no_other_team() {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let installation = installation.dying_of("hang-building", "endless");
    let server = installation.serve().await;
    let page = |slug: &str, component: serde_json::Value| {
        json!({"name": "Acme", "slug": slug, "published": true,
            "sections": [{"components": [component]}]})
    };
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    for number in 0..3 {
        let endless = page(&format!("endless-{number}"), json!({"name": "API"}));
        ann.client.post("statuspage/save", &endless).await.ok();
    }
    let bob = User::sign_up(&server.anonymous(), "bob@example.com").await;
    let monitor = json!({"name": "job", "type": "api", "heartbeat_interval": 86_400,
        "isactive": true, "upside_down_mode": false});
    let saved = bob.client.post("monitor/save", &monitor).await.ok();
    let monitor = saved["monitor"]["monitorid"].as_str().unwrap();
    let sound = page("sound", json!({"name": "Job", "monitors": [monitor]}));
    bob.client.post("statuspage/save", &sound).await.ok();
    let visitor = server.anonymous();
    let clock = Stopwatch::start();
    for (status, shown) in [("up", "operational"), ("down", "major_outage")] {
        let report = json!({"status": status});
        bob.client.post(&format!("monitor/notify/{monitor}"), &report).await.ok();
        until("the sound page with the status", || async {
            let answer = visitor.get("/status/sound/index.json").await;
            let is_shown = answer.status == 200
                && answer.json()["sections"][0]["components"][0]["status"] == shown;
            is_shown.then_some(())
        })
        .await;
    }
    // A build is given up after twenty seconds, so none of them was waited for.
    assert!(clock.elapsed() < Duration::from_secs(15), "{:?}", clock.elapsed());
    server.stop().await;
}

#[tokio::test]
async fn an_alert_that_cannot_be_decided_about_is_logged_once_and_delays_no_other() {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let installation = installation
        .set("SERVER_METRICS_TOKEN", METRICS_TOKEN)
        .dying_of("panic-deciding", "broken");
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let receiver = Receiver::start().await;
    let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
    let hook = ann.client.post("notifier/save", &hook).await.json()["notifierid"].clone();
    // Nothing listens there.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for name in ["broken", "sound"] {
        let monitor = json!({"name": name, "type": "tcp", "hostname": "127.0.0.1",
            "port": port.to_string(), "heartbeat_interval": 1, "retries": 1, "isactive": true,
            "upside_down_mode": false, "notifiers": hook});
        ann.client.post("monitor/save", &monitor).await.ok();
    }
    let metrics = server.anonymous().with_token(METRICS_TOKEN);
    until("further attempts", || async {
        let text = metrics.get("/metrics").await.text;
        let name = "wakeful_decision_panics_total ";
        let count = text.lines().find_map(|line| line.strip_prefix(name)?.parse::<u32>().ok());
        count.filter(|count| *count >= 3)
    })
    .await;
    let hooks = receiver.wait_for_hooks(1).await;
    assert!(hooks.iter().all(|hook| hook.json()["data"]["monitor"]["name"] == "sound"));
    let log = installation.log();
    let logged = log.matches("failed because of a bug in Wakeful, retrying every 1 s");
    assert_eq!(logged.count(), 1, "{log}");
    assert!(!log.contains("background loop alert_processor panicked"), "{log}");
    server.stop().await;
}
