//! Several nodes and probes as real processes, and everything that can befall
//! them: no change goes untold, none is told twice, nothing is told that did not
//! happen.

mod jobs;
#[expect(clippy::print_stdout, reason = "the figures of a trial are for reading")]
mod town;

use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;
use wakeful_testkit::Engine;

use crate::home::Home;
use town::{EU, NODES, Town, US};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_killed_frozen_or_restarted_is_replaced_and_nothing_is_missed() {
    let mut town = Town::build(false).await;
    town.shared_fairly().await;

    town.begin_trial().await;
    town.seats[0].kill().await;
    let down = town.victims_fall().await;
    let up = town.victims_rise().await;
    town.seats[0].start().await;
    town.end_trial("kill -9 of a node", down, up).await;
    town.shared_fairly().await;

    town.begin_trial().await;
    town.seats[1].server().signal("STOP").await;
    let down = town.victims_fall().await;
    sleep(2 * town.lease()).await;
    town.seats[1].server().signal("CONT").await;
    let up = town.victims_rise().await;
    town.end_trial("a node frozen for two leases", down, up).await;
    println!("  the frozen node was refused {} results", town.figures(1).await.1);

    town.begin_trial().await;
    for node in 0..NODES {
        town.seats[node].stop().await;
        town.seats[node].start().await;
    }
    let down = town.victims_fall().await;
    for node in 0..NODES {
        town.seats[node].stop().await;
        town.seats[node].start().await;
    }
    let up = town.victims_rise().await;
    town.end_trial("two rolling restarts", down, up).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_cut_off_is_replaced_and_comes_back() {
    let mut town = Town::build(false).await;
    for (name, bus, database) in [
        ("a node cut from the bus", true, false),
        ("a node cut from the database", false, true),
        ("a node cut from both", true, true),
    ] {
        town.shared_fairly().await;
        town.begin_trial().await;
        let seat = &town.seats[2];
        if bus {
            seat.bus.cut();
        }
        if database {
            seat.database.cut();
        }
        let down = town.victims_fall().await;
        if database {
            sleep(2 * town.lease()).await;
        }
        town.seats[2].bus.mend();
        town.seats[2].database.mend();
        let up = town.victims_rise().await;
        town.end_trial(name, down, up).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_probe_that_is_killed_or_frozen_is_nobodys_outage() {
    let mut town = Town::build(false).await;

    town.begin_trial().await;
    town.kill_probe(US).await;
    let down = town.victims_fall().await;
    let up = town.victims_rise().await;
    town.start_probe(US).await;
    town.end_trial("kill -9 of the only probe of a region", down, up).await;

    town.begin_trial().await;
    town.signal_probe(EU, "STOP").await;
    let down = town.victims_fall().await;
    let up = town.victims_rise().await;
    town.signal_probe(EU, "CONT").await;
    town.probes_are_heard().await;
    town.end_trial("one of two probes of a region frozen", down, up).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nats_and_postgres_go_and_come_and_nothing_is_missed() {
    let mut town = Town::build(true).await;

    town.begin_trial().await;
    town.nats.kill().await;
    let down = town.victims_fall().await;
    town.nats.start_again().await;
    let up = town.victims_rise().await;
    town.end_trial("NATS stopped, and back with nothing of what it held", down, up).await;

    town.begin_trial().await;
    let mut postgres = town.postgres.take().unwrap();
    postgres.stop().await;
    let coming_back = async {
        sleep(Duration::from_secs(2)).await;
        postgres.begin().await;
        postgres
    };
    let (down, postgres) = tokio::join!(town.victims_fall(), coming_back);
    town.postgres = Some(postgres);
    let up = town.victims_rise().await;
    town.end_trial("PostgreSQL restarted", down, up).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_takes_reports_checks_now_and_shows_what_others_found() {
    let town = Town::build(false).await;
    town.shared_fairly().await;
    let body = json!({"name": "job", "type": "api", "heartbeat_interval": 86400, "isactive": true,
        "upside_down_mode": false, "notifiers": ""});
    for number in 0..4 {
        let saved = town.client(number % NODES).post("monitor/save", &body).await.ok();
        let id = saved["monitor"]["monitorid"].as_str().unwrap().to_owned();
        for node in 0..NODES {
            let status = if node % 2 == 0 { "down" } else { "up" };
            let path = format!("monitor/notify/{id}");
            town.client(node).post(&path, &json!({"status": status})).await.ok();
            let other = (node + 1) % NODES;
            let seen = town.client(other).get(&format!("monitor/{id}/get")).await.ok();
            assert_eq!(seen["monitor"]["status"], status, "reported to {node}, read at {other}");
        }
    }
    let nodes = town.seats[1].listed().await;
    assert_eq!(nodes.lines().filter(|line| line.contains("\tlives\t34")).count(), NODES, "{nodes}");
    let listed = town.client(0).get("monitors?type=tcp&limit=6").await.ok();
    for one in listed["monitors"].as_array().unwrap() {
        let id = one["monitorid"].as_str().unwrap();
        for node in 0..NODES {
            let path = format!("monitor/{id}/check");
            let checked = town.client(node).post(&path, &json!({})).await.ok();
            assert_eq!(checked["heartbeat"]["status"], "up", "asked at {node}");
        }
    }
}

#[tokio::test]
async fn a_postgres_that_may_lose_what_it_confirmed_is_refused_unless_chosen() {
    let home = Home::new(Engine::Postgres).await.set("DATABASE_ALLOW_UNSAFE", "false");
    let refused = home.run(&["serve", "--listen", "127.0.0.1:0"]).await.refused();
    assert!(refused.starts_with("PostgreSQL runs with fsync = off"), "{refused}");
    let home = home.set("DATABASE_ALLOW_UNSAFE", "true");
    home.serve().await.stop().await;
    assert!(home.log().contains("the database is PostgreSQL 1"), "{}", home.log());
}
