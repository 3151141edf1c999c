//! Two nodes in one process on one PostgreSQL: what one finds out, the pages
//! at the other hear of; an edit at one is followed by the other.

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::timeout;
use wakeful_engine::bus::nats::{Nats, NatsSettings, connect};
use wakeful_engine::{Event, Subscription};
use wakeful_testkit::{App, Engine, Hook, NatsServer, Receiver, Setup, TestClock, User, until};

/// So many that hardly ever all of them are one node's.
const MONITORS: usize = 16;
const LONG: Duration = Duration::from_secs(15);

async fn joined(server: &NatsServer) -> Nats {
    let nats = connect(&NatsSettings::at(server.url()), "wakeful-test").await.unwrap();
    until("a connection", || async { nats.is_connected().then_some(()) }).await;
    nats
}

async fn two_nodes(nats: Option<Nats>) -> (App, App, User) {
    let mut setup = Setup::on(Engine::Postgres);
    setup.settings.nats = nats;
    setup.settings.lease = Duration::from_secs(3);
    setup.watch = true;
    let one = setup.start().await;
    let two = one.beside().await;
    let ann = one.sign_up("ann@example.com").await;
    // Each watches about half of what there is.
    both_hold_slots(&one).await;
    (one, two, ann)
}

/// Two nodes without a bus, of which the second is two minutes behind, and both
/// go by the database's clock.
async fn two_clocks() -> (App, App, User) {
    let mut setup = Setup::on(Engine::Postgres);
    setup.settings.lease = Duration::from_secs(3);
    setup.watch = true;
    let one = setup.start().await;
    let now = one.store.lease_time().await.unwrap();
    one.clock.set(now);
    one.engine.follow_clock().await.unwrap();
    let two = one.beside_with(TestClock::at(now.before(Duration::from_secs(120)))).await;
    two.engine.follow_clock().await.unwrap();
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

async fn page(app: &App, ann: &User) -> Subscription {
    let caller = app.engine.caller_by_token(&ann.token).await.unwrap();
    app.engine.subscribe(&caller)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_hears_of_what_another_node_finds_out_and_the_bus_carries_nothing_in_clear() {
    let server = NatsServer::start().await;
    let listener = joined(&server).await;
    let mut everything = listener.subscribe(">").await.unwrap();
    let (one, two, ann) = two_nodes(Some(joined(&server).await)).await;
    let mut pages = page(&two, &ann).await;
    let mut waiting = HashSet::new();
    for number in 0..MONITORS {
        let id = save(&ann, &format!("telltale {number}")).await;
        let report = json!({"status": "down", "payload": {"message": "telltale trouble"}});
        ann.client.post(&format!("monitor/notify/{id}"), &report).await.ok();
        waiting.insert(id);
    }
    // Those that the second node holds come by its own channel, the others over NATS.
    let hearing = async {
        while !waiting.is_empty() {
            if let Some(Event::Heartbeat { monitor, .. }) = pages.next().await {
                waiting.remove(&monitor.to_string());
            }
        }
    };
    timeout(LONG, hearing).await.expect("all are heard of");

    let mut letters = 0;
    while let Ok(Some(message)) = timeout(Duration::from_millis(200), everything.next()).await {
        let text = String::from_utf8_lossy(&message.payload).into_owned();
        for word in ["telltale", "edited", "heartbeat"] {
            assert!(!text.contains(word), "in clear on {}: {word}", message.subject);
        }
        letters += 1;
    }
    assert!(letters > 0, "the nodes have talked");
    one.stop().await;
    two.stop().await;
}

/// Reports on each of these, and waits until the page has heard of all; how
/// many heartbeats it was told of meanwhile.
async fn reported(ann: &User, pages: &mut Subscription, monitors: &[String]) -> usize {
    for id in monitors {
        let path = format!("monitor/notify/{id}");
        ann.client.post(&path, &json!({"status": "down"})).await.ok();
    }
    let mut waiting: HashSet<&String> = monitors.iter().collect();
    let mut told = 0;
    let hearing = async {
        while !waiting.is_empty() {
            if let Some(Event::Heartbeat { monitor, .. }) = pages.next().await {
                told += 1;
                let id = monitor.to_string();
                waiting.retain(|one| **one != id);
            }
        }
    };
    timeout(LONG, hearing).await.expect("all are heard of");
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nodes_told_each_other_cannot_be_told_again_by_who_runs_the_bus() {
    let server = NatsServer::start().await;
    let listener = joined(&server).await;
    let mut letters = listener.subscribe("wakeful.nodes").await.unwrap();
    let (one, two, ann) = two_nodes(Some(joined(&server).await)).await;
    let mut pages = page(&two, &ann).await;
    let mut monitors = Vec::new();
    for number in 0..MONITORS {
        monitors.push(save(&ann, &format!("job {number}")).await);
    }
    assert_eq!(reported(&ann, &mut pages, &monitors).await, MONITORS);
    let mut recorded = Vec::new();
    while let Ok(Some(letter)) = timeout(Duration::from_millis(200), letters.next()).await {
        recorded.push(letter.payload.to_vec());
    }
    assert!(!recorded.is_empty(), "the nodes have talked");
    // At once, and when they are old.
    for later in [Duration::ZERO, Duration::from_secs(61)] {
        one.clock.advance(later);
        for letter in &recorded {
            assert!(listener.publish("wakeful.nodes".into(), letter.clone()).await);
        }
        listener.client().flush().await.unwrap();
        assert_eq!(reported(&ann, &mut pages, &monitors).await, MONITORS, "{later:?}");
    }
    one.stop().await;
    two.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_bus_edits_are_found_and_pages_are_told_to_look() {
    let (one, two, ann) = two_nodes(None).await;
    let mut pages = page(&two, &ann).await;
    let looking = async { while !matches!(pages.next().await, Some(Event::Missed)) {} };
    timeout(LONG, looking).await.expect("told to look");
    for number in 0..MONITORS {
        let id = save(&ann, &format!("job {number}")).await;
        // Whoever holds it takes the report, and finds the edit.
        ann.client.post(&format!("monitor/notify/{id}"), &json!({"status": "up"})).await.ok();
        let found: Value = ann.client.get(&format!("monitor/{id}/get")).await.ok();
        assert_eq!(found["monitor"]["status"], "up");
    }
    until("each to be watched by one node", || async {
        let watched = one.engine.watched() + two.engine.watched();
        (watched == MONITORS).then_some(())
    })
    .await;
    assert!(one.engine.watched() > 0 && two.engine.watched() > 0);
    one.stop().await;
    let all = until("the other to take over", || async {
        (two.engine.watched() == MONITORS).then_some(two.engine.watched())
    });
    assert_eq!(all.await, MONITORS);
    two.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_whose_clocks_differ_send_each_message_once() {
    let (one, two, ann) = two_clocks().await;
    let receiver = Receiver::start().await;
    // Long enough for the other node to look more than once meanwhile.
    receiver.takes(Duration::from_secs(3));
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
async fn what_is_saved_at_a_node_that_is_behind_is_watched_by_its_holder() {
    let (one, two, ann) = two_clocks().await;
    for number in 0..MONITORS {
        save(&ann, &format!("job {number}")).await;
    }
    until("each to be watched by one node", || async {
        let watched = one.engine.watched() + two.engine.watched();
        (watched == MONITORS).then_some(())
    })
    .await;
    assert!(one.engine.watched() > 0 && two.engine.watched() > 0);
    one.stop().await;
    two.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_was_held_up_finds_what_was_saved_meanwhile() {
    let (one, two, ann) = two_nodes(None).await;
    for number in 0..MONITORS {
        save(&ann, &format!("job {number}")).await;
        // To both nodes that is a minute in which they did no round.
        one.clock.advance(Duration::from_secs(60));
    }
    until("each to be watched by one node", || async {
        let watched = one.engine.watched() + two.engine.watched();
        (watched == MONITORS).then_some(())
    })
    .await;
    one.stop().await;
    two.stop().await;
}
