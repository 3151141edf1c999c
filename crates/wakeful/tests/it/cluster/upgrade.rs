//! A rolling upgrade: nodes of an earlier version are replaced one by one. With
//! `WAKEFUL_TEST_OLDER`, the path of a binary, they are of that version; otherwise they are of this
//! one and announce an earlier one.

use serde_json::json;
use wakeful_testkit::Client;

use super::testbed::{NODES, Testbed};

/// Every node has monitors checked by the others, whatever their version is.
async fn check_at_every_node(testbed: &Testbed) {
    let listed = testbed.client(0).get("monitors?type=tcp&limit=6").await.ok();
    for monitor in listed["monitors"].as_array().unwrap() {
        let path = format!("monitor/{}/check", monitor["monitorid"].as_str().unwrap());
        for node in 0..NODES {
            let checked = testbed.client(node).post(&path, &json!({})).await.ok();
            assert_eq!(checked["heartbeat"]["status"], "up", "asked at {node}: {checked}");
        }
    }
}

/// Saves a monitor with a setting that earlier versions do not know.
async fn save_new_kind(client: &Client) -> wakeful_testkit::Answer {
    let body = json!({"type": "ping", "name": "new", "hostname": "127.0.0.1", "isactive": false,
        "heartbeat_interval": 60, "upside_down_mode": false, "degraded": {"slow": 500}});
    client.post("monitor/save", &body).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_of_an_earlier_version_are_upgraded_one_by_one_and_nothing_is_missed() {
    let mut testbed = Testbed::build_earlier().await;
    testbed.wait_until_balanced().await;

    testbed.begin_trial().await;
    testbed.nodes[0].upgrade().await;
    let nodes = testbed.nodes[0].listed().await;
    let current = concat!("\t", env!("CARGO_PKG_VERSION"), "\tlive\t");
    assert_eq!(
        (nodes.matches("\tlive\t").count(), nodes.matches(current).count()),
        (NODES, 1),
        "{nodes}"
    );
    save_new_kind(&testbed.client(0)).await.refused(409, "older_node");
    check_at_every_node(&testbed).await;
    let down = testbed.take_targets_down().await;
    testbed.nodes[1].upgrade().await;
    save_new_kind(&testbed.client(1)).await.refused(409, "older_node");
    let up = testbed.bring_targets_up().await;
    testbed.nodes[2].upgrade().await;
    let saved = save_new_kind(&testbed.client(2)).await.ok();
    let id = saved["monitor"]["monitorid"].as_str().unwrap();
    testbed.client(0).delete(&format!("monitor/{id}/delete")).await.ok();
    check_at_every_node(&testbed).await;
    testbed.end_trial("a rolling upgrade", down, up).await;
}
