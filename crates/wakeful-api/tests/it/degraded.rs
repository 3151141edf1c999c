//! Monitors that are up, but not as they should be: their health, alerts and statistics.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use wakeful_testkit::{App, Client, Receiver, both_databases};

async fn report(app: &App, client: &Client, monitor: &str, status: &str) {
    app.clock.advance(Duration::from_secs(1));
    client.post(&format!("monitor/notify/{monitor}"), &json!({"status": status})).await.ok();
}

async fn get(client: &Client, monitor: &str) -> Value {
    client.get(&format!("monitor/{monitor}/get")).await.ok()["monitor"].clone()
}

/// The ids in a list of monitors.
async fn listed(client: &Client, status: &str) -> Vec<String> {
    let list = client.get(&format!("monitors?status={status}")).await.ok()["monitors"].clone();
    let ids = list.as_array().unwrap().iter();
    ids.map(|one| one["monitorid"].as_str().unwrap().to_owned()).collect()
}

/// The kinds of events that a webhook got, in order.
async fn kinds(receiver: &Receiver, count: usize) -> Vec<String> {
    let hooks = receiver.wait_for_hooks(count).await;
    hooks.iter().map(|hook| hook.json()["type"].as_str().unwrap().to_owned()).collect()
}

both_databases! {
    async fn a_degraded_monitor_is_up_and_has_an_alert_of_its_own(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let hook = ann.client.post("notifier/save", &hook).await.json()["notifierid"].clone();
        let duty = Receiver::start().await;
        duty.answer_with(202, "", r#"{"status": "success"}"#);
        let service = json!({"name": "duty", "type": "pagerduty", "pagerduty": {
            "routing_key": "0".repeat(32), "api_url": duty.url.replace("/hook", "")}});
        let service = ann.client.post("notifier/save", &service).await.json()["notifierid"].clone();
        let body = json!({"type": "api", "name": "job", "heartbeat_interval": 86400,
            "isactive": true, "upside_down_mode": false, "notifiers": [hook, service],
            "slo": {"target": 99.9, "degraded": "down"}});
        let saved = ann.client.post("monitor/save", &body).await.ok()["monitor"].clone();
        assert_eq!((&saved["health"], &saved["degraded"]), (&json!("pending"), &Value::Null));
        assert_eq!(saved["slo"], json!({"target": 99.9, "days": 30, "degraded": "down"}));
        let id = saved["monitorid"].as_str().unwrap();

        report(&app, &ann.client, id, "up").await;
        report(&app, &ann.client, id, "degraded").await;
        let shown = get(&ann.client, id).await;
        assert_eq!((&shown["status"], &shown["health"]), (&json!("up"), &json!("degraded")));
        assert_eq!(shown["degraded_cause"], "reported degraded");
        assert_eq!((&shown["reason"], shown["degraded_since"].is_string()), (&json!("reported"), true));
        for (status, expected) in [("up", 1), ("degraded", 1), ("down", 0), ("pending", 0)] {
            assert_eq!(listed(&ann.client, status).await.len(), expected, "{status}");
        }
        let rows = ann.client.get("monitors/rows").await;
        let row = rows.ok()["monitors"][0].clone();
        assert_eq!((&row["health"], &row["reason"]), (&json!("degraded"), &json!("reported")));

        let degraded = receiver.wait_for_hooks(1).await[0].json();
        assert_eq!(degraded["type"], "monitor.degraded");
        let data = &degraded["data"];
        assert_eq!((&data["status"], &data["health"]), (&json!("up"), &json!("degraded")));
        assert_eq!((&data["severity"], &data["reason"]), (&json!("warning"), &json!("reported")));
        assert!(data["degraded_since"].is_string() && data["down_since"].is_null());
        assert!(data["action_url"].is_string(), "it can be acknowledged");
        let alerts = ann.client.get("alerts?kind=degraded").await.ok()["alerts"].clone();
        assert_eq!((&alerts[0]["severity"], &alerts[0]["ended"]), (&json!("warning"), &Value::Null));
        assert_eq!(alerts[0]["alertid"], data["alertid"]);

        // The outage replaces it, and its notification is enough.
        report(&app, &ann.client, id, "down").await;
        let shown = get(&ann.client, id).await;
        assert_eq!((&shown["health"], &shown["degraded_since"]), (&json!("down"), &Value::Null));
        let alerts = ann.client.get("alerts?kind=degraded").await.ok()["alerts"].clone();
        assert!(alerts[0]["ended"].is_string(), "{alerts}");
        report(&app, &ann.client, id, "up").await;
        report(&app, &ann.client, id, "degraded").await;
        report(&app, &ann.client, id, "up").await;
        let expected = ["monitor.degraded", "monitor.down", "monitor.up", "monitor.degraded", "monitor.restored"];
        assert_eq!(kinds(&receiver, 5).await, expected);
        assert_eq!(get(&ann.client, id).await["health"], "up");
        assert!(listed(&ann.client, "degraded").await.is_empty());
        // A service that keeps incidents gets the end of each, also of the one that the outage
        // has replaced.
        let mut incidents: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for request in duty.wait_for_hooks(6).await {
            let word = |field: &str| request.json()[field].as_str().unwrap().to_owned();
            incidents.entry(word("dedup_key")).or_default().push(word("event_action"));
        }
        assert_eq!(incidents.len(), 3, "{incidents:?}");
        assert!(incidents.values().all(|actions| *actions == ["trigger", "resolve"]), "{incidents:?}");

        // Old clients see nothing new.
        let beats = ann.client.get(&format!("monitor/{id}/heartbeats")).await.ok()["heartbeats"].clone();
        let words = |field: &str| -> Vec<String> {
            let beats = beats.as_array().unwrap().iter().rev();
            beats.map(|beat| beat[field].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(words("status"), ["up", "up", "down", "up", "up", "up"]);
        assert_eq!(words("health"), ["up", "degraded", "down", "up", "degraded", "up"]);
        assert_eq!(words("standing"), ["up", "up", "down", "up", "up", "up"]);
        let stats = ann.client.get(&format!("monitor/{id}/stats?apdex=500")).await.ok();
        let checks = &stats["spans"][0]["checks"];
        assert_eq!((&checks["up"], &checks["degraded"], &checks["down"]), (&json!(5), &json!(2), &json!(1)));
        assert!(stats["spans"][0]["healthy"].is_number() || stats["spans"][0]["healthy"].is_null());
        assert_eq!(stats["spans"][0]["apdex"], 0.0);
        assert_eq!(stats["slo"]["budget_seconds"], 2592.0);
    }

    async fn one_slow_check_that_makes_a_monitor_degraded_has_evidence(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (page, receiver) = (Receiver::start().await, Receiver::start().await);
        page.answer_after(Duration::from_millis(20));
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let hook = ann.client.post("notifier/save", &hook).await.json()["notifierid"].clone();
        let body = json!({"type": "http", "name": "page", "heartbeat_interval": 86400,
            "isactive": true, "upside_down_mode": false, "http": {"url": page.url},
            "notifiers": hook, "degraded": {"slow": 5, "over": 1, "of": 1}});
        let saved = ann.client.post("monitor/save", &body).await.ok()["monitor"].clone();
        let id = saved["monitorid"].as_str().unwrap();
        ann.client.post(&format!("monitor/{id}/check"), &json!({})).await.ok();
        let event = receiver.wait_for_hooks(1).await[0].json();
        assert_eq!((&event["type"], &event["data"]["reason"]), (&json!("monitor.degraded"), &json!("slow")));
        assert_eq!(event["data"]["evidence"]["status_code"], 200);
        let evidence = ann.client.get(&format!("monitor/{id}/evidence")).await.ok()["evidence"].clone();
        assert_eq!((&evidence[0]["of"], &evidence[0]["reason"]), (&json!("degraded"), &json!("slow")));
        assert_eq!(evidence[0]["message"], "200 OK; slower than 5 ms");
        assert!(evidence[0]["phases"]["first_byte"].as_f64() > Some(5.0), "{evidence}");
    }

    async fn warnings_of_checks_make_a_monitor_degraded(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let body = json!({"type": "http", "name": "page", "heartbeat_interval": 86400,
            "isactive": true, "upside_down_mode": false, "http": {"url": receiver.url},
            "assertions": [{"source": "response_time", "comparison": "at_least", "target": 86400000,
                "fails_as": "degraded", "chart": true}],
            "degraded": {"over": 2, "of": 3, "factor": 1.25}});
        let saved = ann.client.post("monitor/save", &body).await.ok()["monitor"].clone();
        assert_eq!(saved["degraded"], json!({"slow": 0, "factor": 1.25, "over": 2, "of": 3,
            "regions": 0, "notify": true}));
        let id = saved["monitorid"].as_str().unwrap();
        let check = format!("monitor/{id}/check");
        ann.client.post(&check, &json!({})).await.ok();
        assert_eq!(get(&ann.client, id).await["health"], "up", "one of two");
        let checked = ann.client.post(&check, &json!({})).await.ok();
        let beat = &checked["heartbeat"];
        assert_eq!((&beat["status"], &beat["health"]), (&json!("up"), &json!("degraded")));
        assert_eq!(beat["reason"], "slow");
        assert_eq!(beat["message"], "200 OK; response_time is less than 86400000");
        assert!(beat["readings"][0].is_number(), "{beat}");
        let shown = get(&ann.client, id).await;
        assert_eq!((&shown["health"], &shown["reason"]), (&json!("degraded"), &json!("slow")));
        let alerts = ann.client.get("alerts?kind=degraded").await.ok()["alerts"].clone();
        let alert = alerts[0]["alertid"].as_str().unwrap();
        let alert = ann.client.get(&format!("alert/{alert}/get")).await.ok();
        let evidence = alert["alert"]["evidence"].as_array().or(alert["evidence"].as_array());
        assert_eq!(evidence.unwrap()[0]["of"], "degraded", "{alert}");
        let series = ann.client.get(&format!("monitor/{id}/series")).await.ok();
        let point = &series["points"][0];
        assert!(point["degraded"].as_u64() >= Some(1), "{point}");
        assert!(point["reading"][0]["mean"].is_number(), "{point}");

        // A partial save changes only what it names; `{}` turns it off.
        let save = async |part: Value| {
            let mut body = json!({"monitorid": id});
            body.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
            ann.client.post("monitor/save", &body).await
        };
        let slow = save(json!({"degraded": {"slow": 500}})).await.ok()["monitor"]["degraded"].clone();
        assert_eq!((&slow["slow"], &slow["over"]), (&json!(500), &json!(2)));
        let same = save(json!({"name": "x", "degraded": null})).await.ok();
        assert_eq!(same["monitor"]["degraded"], slow);
        assert_eq!(save(json!({"degraded": {}})).await.ok()["monitor"]["degraded"], Value::Null);
        let wrong = save(json!({"degraded": {"slow": -1, "factor": 1.1, "over": 9, "of": 33},
            "slo": {"days": 0}})).await;
        assert_eq!(wrong.status, 422);
        let fields: Vec<String> = wrong.json()["errors"].as_array().unwrap().iter()
            .map(|error| error["field"].as_str().unwrap().to_owned()).collect();
        assert_eq!(fields, ["degraded.slow", "degraded.factor", "degraded.of", "degraded.over",
            "slo.days", "slo.target"]);
    }
}
