//! Maintenance is recorded once, wherever the process dies.

use serde_json::json;
use wakeful_testkit::{DatabaseKind, User, until};

use crate::process::Installation;

#[tokio::test]
async fn maintenance_is_recorded_once_wherever_the_process_dies() {
    for place in ["before-exclusion", "after-exclusion"] {
        let installation = Installation::new(DatabaseKind::Sqlite).await.with_failpoint(place, 1);
        let server = installation.serve().await;
        let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
        let job = json!({"type": "api", "name": "job", "heartbeat_interval": 86400,
            "isactive": true, "upside_down_mode": false, "tags": "db"});
        let job = ann.client.post("monitor/save", &job).await.ok();
        let id = job["monitor"]["monitorid"].as_str().unwrap().to_owned();
        let window = json!({"name": "Move", "tags": "db", "starts": "2020-01-01T00:00:00Z"});
        // The process dies before it responds.
        let _ = reqwest::Client::new()
            .post(format!("{}/api/v1/maintenance/save", server.url))
            .bearer_auth(&ann.token)
            .json(&window)
            .send()
            .await;
        server.died().await;
        let installation = installation.without_failpoint();
        let server = installation.serve().await;
        let client = server.anonymous().with_token(&ann.token);
        until("the monitor to be covered", async || {
            let list = client.get("monitors?maintenance=true").await.ok();
            (list["monitors"].as_array().unwrap().len() == 1).then_some(())
        })
        .await;
        let list = client.get("maintenances").await.ok();
        assert_eq!(list["maintenances"].as_array().unwrap().len(), 1, "{place}");
        client.post(&format!("monitor/notify/{id}"), &json!({"status": "down"})).await.ok();
        let beats = client.get(&format!("monitor/{id}/heartbeats")).await.ok();
        assert_eq!(beats["heartbeats"][0]["standing"], "maintenance", "{place}");
        let window = list["maintenances"][0]["maintenanceid"].as_str().unwrap();
        client.post_nothing(&format!("maintenance/{window}/end")).await.ok();
        let list = client.get("monitors?maintenance=true").await.ok();
        assert_eq!(list["monitors"], json!([]), "{place}: one exclusion, which has ended");
        server.stop().await;
    }
}
