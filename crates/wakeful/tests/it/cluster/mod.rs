//! Several nodes and probes as real processes under all kinds of failures: every status
//! change is notified, none is notified twice, and there are no false alarms.

mod escalation;
mod jobs;
mod pages;
#[expect(clippy::print_stdout, reason = "prints the figures of a trial")]
mod testbed;
mod upgrade;

use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;
use wakeful_testkit::DatabaseKind;

use crate::process::Installation;
use testbed::{EU, NODES, Testbed, US};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_killed_frozen_or_restarted_is_replaced_and_nothing_is_missed() {
    let mut testbed = Testbed::build(false).await;
    testbed.wait_until_balanced().await;

    testbed.begin_trial().await;
    testbed.nodes[0].kill().await;
    let down = testbed.take_targets_down().await;
    let up = testbed.bring_targets_up().await;
    testbed.nodes[0].start().await;
    testbed.end_trial("kill -9 of a node", down, up).await;
    testbed.wait_until_balanced().await;

    testbed.begin_trial().await;
    testbed.nodes[1].server().signal("STOP").await;
    let down = testbed.take_targets_down().await;
    sleep(2 * testbed.lease()).await;
    testbed.nodes[1].server().signal("CONT").await;
    let up = testbed.bring_targets_up().await;
    testbed.end_trial("a node frozen for two leases", down, up).await;
    println!(
        "  {} results of the frozen node were rejected",
        testbed.slots_and_refusals(1).await.1
    );

    testbed.begin_trial().await;
    for node in 0..NODES {
        testbed.nodes[node].stop().await;
        testbed.nodes[node].start().await;
    }
    let down = testbed.take_targets_down().await;
    for node in 0..NODES {
        testbed.nodes[node].stop().await;
        testbed.nodes[node].start().await;
    }
    let up = testbed.bring_targets_up().await;
    testbed.end_trial("two rolling restarts", down, up).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_cut_off_is_replaced_and_rejoins() {
    let mut testbed = Testbed::build(false).await;
    for (name, bus, database) in [
        ("a node cut from the bus", true, false),
        ("a node cut from the database", false, true),
        ("a node cut from both", true, true),
    ] {
        testbed.wait_until_balanced().await;
        testbed.begin_trial().await;
        let node = &testbed.nodes[2];
        if bus {
            node.bus.cut();
        }
        if database {
            node.database.cut();
        }
        let down = testbed.take_targets_down().await;
        if database {
            sleep(2 * testbed.lease()).await;
        }
        testbed.nodes[2].bus.restore();
        testbed.nodes[2].database.restore();
        let up = testbed.bring_targets_up().await;
        testbed.end_trial(name, down, up).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_or_frozen_probe_is_not_an_outage() {
    let mut testbed = Testbed::build(false).await;

    testbed.begin_trial().await;
    testbed.kill_probe(US).await;
    let down = testbed.take_targets_down().await;
    let up = testbed.bring_targets_up().await;
    testbed.start_probe(US).await;
    testbed.end_trial("kill -9 of the only probe of a region", down, up).await;

    testbed.begin_trial().await;
    testbed.signal_probe(EU, "STOP").await;
    let down = testbed.take_targets_down().await;
    let up = testbed.bring_targets_up().await;
    testbed.signal_probe(EU, "CONT").await;
    testbed.wait_for_probes().await;
    testbed.end_trial("one of two probes of a region frozen", down, up).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nats_and_postgres_restart_and_nothing_is_missed() {
    let mut testbed = Testbed::build(true).await;

    testbed.begin_trial().await;
    testbed.nats.kill().await;
    let down = testbed.take_targets_down().await;
    testbed.nats.start_again().await;
    let up = testbed.bring_targets_up().await;
    testbed.end_trial("NATS restarted without its data", down, up).await;

    testbed.begin_trial().await;
    let mut postgres = testbed.postgres.take().unwrap();
    postgres.stop().await;
    let coming_back = async {
        sleep(Duration::from_secs(2)).await;
        postgres.begin().await;
        postgres
    };
    let (down, postgres) = tokio::join!(testbed.take_targets_down(), coming_back);
    testbed.postgres = Some(postgres);
    let up = testbed.bring_targets_up().await;
    testbed.end_trial("PostgreSQL restarted", down, up).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_accepts_reports_and_on_demand_checks_and_shows_results_of_others() {
    let testbed = Testbed::build(false).await;
    testbed.wait_until_balanced().await;
    let body = json!({"name": "job", "type": "api", "heartbeat_interval": 86400, "isactive": true,
        "upside_down_mode": false, "notifiers": ""});
    for number in 0..4 {
        let saved = testbed.client(number % NODES).post("monitor/save", &body).await.ok();
        let id = saved["monitor"]["monitorid"].as_str().unwrap().to_owned();
        for node in 0..NODES {
            let status = if node % 2 == 0 { "down" } else { "up" };
            let path = format!("monitor/notify/{id}");
            testbed.client(node).post(&path, &json!({"status": status})).await.ok();
            let other = (node + 1) % NODES;
            let seen = testbed.client(other).get(&format!("monitor/{id}/get")).await.ok();
            assert_eq!(seen["monitor"]["status"], status, "reported to {node}, read at {other}");
        }
    }
    let nodes = testbed.nodes[1].listed().await;
    assert_eq!(nodes.lines().filter(|line| line.contains("\tlive\t34")).count(), NODES, "{nodes}");
    let listed = testbed.client(0).get("monitors?type=tcp&limit=6").await.ok();
    for one in listed["monitors"].as_array().unwrap() {
        let id = one["monitorid"].as_str().unwrap();
        for node in 0..NODES {
            let path = format!("monitor/{id}/check");
            let checked = testbed.client(node).post(&path, &json!({})).await.ok();
            assert_eq!(checked["heartbeat"]["status"], "up", "asked at {node}");
            let address = &checked["evidence"]["connection"]["address"];
            assert!(address.is_string(), "asked at {node}: {checked}");
        }
    }
}

#[tokio::test]
async fn a_postgres_that_may_lose_commits_is_rejected_unless_allowed() {
    let installation =
        Installation::new(DatabaseKind::Postgres).await.set("DATABASE_ALLOW_UNSAFE", "false");
    let refused = installation.run(&["serve", "--listen", "127.0.0.1:0"]).await.refused();
    assert!(refused.starts_with("PostgreSQL runs with fsync = off"), "{refused}");
    let installation = installation.set("DATABASE_ALLOW_UNSAFE", "true");
    installation.serve().await.stop().await;
    assert!(installation.log().contains("the database is PostgreSQL 1"), "{}", installation.log());
}
