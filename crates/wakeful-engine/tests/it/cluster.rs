//! Tests of two nodes in one process on one PostgreSQL: open pages receive results of the
//! other node, and edits on one node are followed by the other.

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::timeout;
use wakeful_engine::bus::nats::{Nats, NatsSettings, connect};
use wakeful_engine::{Event, LiveEvents};
use wakeful_testkit::{
    App, DatabaseKind, Hook, NatsServer, Receiver, Setup, TestClock, User, until,
};

/// Enough that one node hardly ever owns all of them.
const MONITORS: usize = 16;
const LONG: Duration = Duration::from_secs(15);

async fn joined(server: &NatsServer) -> Nats {
    let nats = connect(&NatsSettings::at(server.url()), "wakeful-test").await.unwrap();
    until("a connection", || async { nats.is_connected().then_some(()) }).await;
    nats
}

async fn two_nodes(nats: Option<Nats>) -> (App, App, User) {
    let mut setup = Setup::on(DatabaseKind::Postgres);
    setup.settings.nats = nats;
    setup.settings.lease = Duration::from_secs(3);
    setup.run_scheduler = true;
    let one = setup.start().await;
    let two = one.second_node().await;
    let ann = one.sign_up("ann@example.com").await;
    // Each node owns about half of the slots.
    both_hold_slots(&one).await;
    (one, two, ann)
}

/// Two nodes without a bus that follow the database's clock; the second node's own clock is
/// two minutes behind.
async fn two_clocks() -> (App, App, User) {
    let mut setup = Setup::on(DatabaseKind::Postgres);
    setup.settings.lease = Duration::from_secs(3);
    setup.run_scheduler = true;
    let one = setup.start().await;
    let now = one.store.lease_time().await.unwrap();
    one.clock.set(now);
    one.engine.follow_shared_clock().await.unwrap();
    let two = one.second_node_with(TestClock::at(now.before(Duration::from_secs(120)))).await;
    two.engine.follow_shared_clock().await.unwrap();
    let ann = two.sign_up("ann@example.com").await;
    both_hold_slots(&one).await;
    (one, two, ann)
}

async fn both_hold_slots(app: &App) {
    until("both to hold slots", || async {
        let held =
            app.database.number("select count(distinct owner) from slots where owner is not null");
        (held.await == 2).then_some(())
    })
    .await;
}

async fn save(ann: &User, name: &str) -> String {
    let body = json!({"name": name, "type": "api", "heartbeat_interval": 86400, "isactive": true,
        "upside_down_mode": false, "notifiers": ""});
    let saved = ann.client.post("monitor/save", &body).await.ok();
    saved["monitor"]["monitorid"].as_str().unwrap().to_owned()
}

async fn page(app: &App, ann: &User) -> LiveEvents {
    let caller = app.engine.caller_by_token(&ann.token, None).await.unwrap();
    app.engine.subscribe(&caller.authorize().unwrap()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_receives_results_of_another_node_and_the_bus_carries_nothing_in_clear() {
    let server = NatsServer::start().await;
    let listener = joined(&server).await;
    let mut everything = listener.subscribe(">").await.unwrap();
    let (one, two, ann) = two_nodes(Some(joined(&server).await)).await;
    let mut pages = page(&two, &ann).await;
    let mut waiting = HashSet::new();
    for number in 0..MONITORS {
        let id = save(&ann, &format!("telltale {number}")).await;
        let report = json!({"status": "down", "payload": {"message": "telltale failure"}});
        ann.client.post(&format!("monitor/notify/{id}"), &report).await.ok();
        waiting.insert(id);
    }
    // Events of the second node's own monitors use its channels, the others NATS.
    let receiving = async {
        while !waiting.is_empty() {
            if let Some(Event::Heartbeat { monitor, .. }) = pages.next().await {
                waiting.remove(&monitor.to_string());
            }
        }
    };
    timeout(LONG, receiving).await.expect("all events arrive");

    let mut messages = 0;
    while let Ok(Some(message)) = timeout(Duration::from_millis(200), everything.next()).await {
        let text = String::from_utf8_lossy(&message.payload).into_owned();
        for word in ["telltale", "edited", "heartbeat"] {
            assert!(!text.contains(word), "in clear on {}: {word}", message.subject);
        }
        messages += 1;
    }
    assert!(messages > 0, "the nodes exchanged messages");
    one.stop().await;
    two.stop().await;
}

/// Sends a report for each of these monitors, and waits until the page has received events of
/// all. Returns the number of heartbeats it received.
async fn reported(ann: &User, pages: &mut LiveEvents, monitors: &[String]) -> usize {
    for id in monitors {
        let path = format!("monitor/notify/{id}");
        ann.client.post(&path, &json!({"status": "down"})).await.ok();
    }
    let mut waiting: HashSet<&String> = monitors.iter().collect();
    let mut received = 0;
    let receiving = async {
        while !waiting.is_empty() {
            if let Some(Event::Heartbeat { monitor, .. }) = pages.next().await {
                received += 1;
                let id = monitor.to_string();
                waiting.retain(|one| **one != id);
            }
        }
    };
    timeout(LONG, receiving).await.expect("all events arrive");
    received
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_between_nodes_cannot_be_replayed_on_the_bus() {
    let server = NatsServer::start().await;
    let listener = joined(&server).await;
    let mut messages = listener.subscribe("wakeful.nodes").await.unwrap();
    let (one, two, ann) = two_nodes(Some(joined(&server).await)).await;
    let mut pages = page(&two, &ann).await;
    let mut monitors = Vec::new();
    for number in 0..MONITORS {
        monitors.push(save(&ann, &format!("job {number}")).await);
    }
    assert_eq!(reported(&ann, &mut pages, &monitors).await, MONITORS);
    let mut recorded = Vec::new();
    while let Ok(Some(message)) = timeout(Duration::from_millis(200), messages.next()).await {
        recorded.push(message.payload.to_vec());
    }
    assert!(!recorded.is_empty(), "the nodes exchanged messages");
    // Replayed at once, and when they are old.
    for later in [Duration::ZERO, Duration::from_secs(61)] {
        one.clock.advance(later);
        for message in &recorded {
            assert!(listener.publish("wakeful.nodes".into(), message.clone()).await);
        }
        listener.client().flush().await.unwrap();
        assert_eq!(reported(&ann, &mut pages, &monitors).await, MONITORS, "{later:?}");
    }
    one.stop().await;
    two.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_bus_edits_are_found_and_pages_are_refreshed() {
    let (one, two, ann) = two_nodes(None).await;
    let mut pages = page(&two, &ann).await;
    let refresh = async { while !matches!(pages.next().await, Some(Event::Missed)) {} };
    timeout(LONG, refresh).await.expect("the page is refreshed");
    for number in 0..MONITORS {
        let id = save(&ann, &format!("job {number}")).await;
        // The owner accepts the report, and finds the edit.
        ann.client.post(&format!("monitor/notify/{id}"), &json!({"status": "up"})).await.ok();
        let found: Value = ann.client.get(&format!("monitor/{id}/get")).await.ok();
        assert_eq!(found["monitor"]["status"], "up");
    }
    until("each monitor to be loaded by one node", || async {
        let loaded = one.engine.monitor_count() + two.engine.monitor_count();
        (loaded == MONITORS).then_some(())
    })
    .await;
    assert!(one.engine.monitor_count() > 0 && two.engine.monitor_count() > 0);
    one.stop().await;
    let all = until("the other to take over", || async {
        (two.engine.monitor_count() == MONITORS).then_some(two.engine.monitor_count())
    });
    assert_eq!(all.await, MONITORS);
    two.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_whose_clocks_differ_send_each_message_once() {
    let (one, two, ann) = two_clocks().await;
    let receiver = Receiver::start().await;
    // Long enough for the other node to poll more than once meanwhile.
    receiver.answer_after(Duration::from_secs(3));
    let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
    let hook = ann.client.post("notifier/save", &body).await.json();
    for number in 0..MONITORS {
        let body = json!({"name": format!("job {number}"), "type": "api", "isactive": true,
            "heartbeat_interval": 86400, "upside_down_mode": false,
            "notifiers": hook["notifierid"]});
        let saved = ann.client.post("monitor/save", &body).await.ok();
        let id = saved["monitor"]["monitorid"].as_str().unwrap();
        ann.client.post(&format!("monitor/notify/{id}"), &json!({"status": "down"})).await.ok();
    }
    until("all to be delivered", || async {
        let left = one.database.number("select count(*) from deliveries where state = 'waiting'");
        (left.await == 0).then_some(())
    })
    .await;
    let sent: HashSet<String> = receiver.hooks().iter().map(Hook::id).collect();
    assert_eq!((sent.len(), receiver.count()), (MONITORS, MONITORS));
    one.stop().await;
    two.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_monitor_saved_on_a_node_with_a_slow_clock_is_loaded_by_its_owner() {
    let (one, two, ann) = two_clocks().await;
    for number in 0..MONITORS {
        save(&ann, &format!("job {number}")).await;
    }
    until("each monitor to be loaded by one node", || async {
        let loaded = one.engine.monitor_count() + two.engine.monitor_count();
        (loaded == MONITORS).then_some(())
    })
    .await;
    assert!(one.engine.monitor_count() > 0 && two.engine.monitor_count() > 0);
    one.stop().await;
    two.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stalled_node_finds_monitors_saved_meanwhile() {
    let (one, two, ann) = two_nodes(None).await;
    for number in 0..MONITORS {
        save(&ann, &format!("job {number}")).await;
        // To both nodes, this is a minute without a round.
        one.clock.advance(Duration::from_secs(60));
    }
    until("each monitor to be loaded by one node", || async {
        let loaded = one.engine.monitor_count() + two.engine.monitor_count();
        (loaded == MONITORS).then_some(())
    })
    .await;
    one.stop().await;
    two.stop().await;
}
