//! regions, and the fields of monitors that refer to them.

use serde_json::{Value, json};
use wakeful_testkit::both_databases;

fn monitor(extra: &Value) -> Value {
    let mut body = json!({"name": "site", "type": "tcp", "hostname": "127.0.0.1", "port": 9,
        "heartbeat_interval": 3600, "isactive": true, "upside_down_mode": false});
    body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    body
}

both_databases! {
    async fn a_monitor_is_checked_locally_unless_it_names_regions(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await.client;
        for (sent, regions, quorum) in [
            (json!({}), json!(["local"]), "majority"),
            (json!({"regions": ""}), json!(["local"]), "majority"),
            (json!({"regions": []}), json!(["local"]), "majority"),
            (json!({"regions": "EU, us,,eu", "quorum": "ALL"}), json!(["eu", "us"]), "all"),
            (json!({"regions": ["local", "eu"], "quorum": 2}), json!(["local", "eu"]), "2"),
        ] {
            let saved = ann.post("monitor/save", &monitor(&sent)).await.ok()["monitor"].clone();
            assert_eq!((&saved["regions"], &saved["quorum"]), (&regions, &json!(quorum)), "{sent}");
            // A returned monitor can be sent back and changes nothing.
            let again = ann.post("monitor/save", &saved).await.ok()["monitor"].clone();
            assert_eq!((&again["regions"], &again["quorum"]), (&regions, &json!(quorum)));
            let id = &saved["monitorid"];
            let partial = ann.post("monitor/save", &json!({"monitorid": id, "name": "x"})).await.ok();
            assert_eq!(partial["monitor"]["regions"], regions);
        }
    }

    async fn invalid_regions_and_quorums_are_rejected(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await.client;
        for (sent, field) in [
            (json!({"regions": "eu west"}), "regions"),
            (json!({"regions": 7}), "regions"),
            (json!({"regions": (0..17).map(|n| format!("r{n}")).collect::<Vec<_>>()}), "regions"),
            (json!({"quorum": "most"}), "quorum"),
            (json!({"quorum": 0}), "quorum"),
            (json!({"regions": "eu,us", "quorum": 3}), "quorum"),
        ] {
            let refused = ann.post("monitor/save", &monitor(&sent)).await;
            assert_eq!(refused.wrong_fields(), [field], "{sent}");
        }
    }

    async fn fewer_regions_than_a_stored_number_means_all_of_them(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await.client;
        let sent = monitor(&json!({"regions": "eu,us,ap", "quorum": 3}));
        let id = ann.post("monitor/save", &sent).await.ok()["monitor"]["monitorid"].clone();
        let fewer = json!({"monitorid": id, "regions": "eu,us"});
        assert_eq!(ann.post("monitor/save", &fewer).await.ok()["monitor"]["quorum"], "all");
    }

    async fn a_region_without_probes_is_reported(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await.client;
        let bob = app.sign_up("bob@example.com").await.client;
        let sent = monitor(&json!({"regions": "eu"}));
        let saved = ann.post("monitor/save", &sent).await.ok()["monitor"].clone();
        let regions = ann.get("regions").await.ok()["regions"].clone();
        assert_eq!(regions[0]["region"], "local");
        assert_eq!((&regions[0]["live"], &regions[0]["problem"]), (&json!(1), &Value::Null));
        assert_eq!((&regions[1]["region"], &regions[1]["live"]), (&json!("eu"), &json!(0)));
        assert_eq!(regions[1]["monitors"], 1);
        let why = "probes cannot connect: nats.url and cluster.key are not set";
        assert_eq!(regions[1]["problem"], why);
        // Another team does not see the regions of these monitors.
        assert_eq!(bob.get("regions").await.ok()["regions"].as_array().unwrap().len(), 1);

        let id = saved["monitorid"].as_str().unwrap();
        let checked = ann.post(&format!("monitor/{id}/check"), &json!({})).await.ok();
        assert_eq!(checked["heartbeat"]["status"], "unknown");
        let monitor = ann.get(&format!("monitor/{id}/get")).await.ok()["monitor"].clone();
        assert_eq!((&monitor["status"], &monitor["last_message"]), (&json!("pending"), &json!(why)));
        app.anonymous().get("regions").await.refused(401, "not_authenticated");
    }
}
