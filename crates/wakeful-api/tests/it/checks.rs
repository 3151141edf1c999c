//! Assertions of monitors, the reasons of alerts, and what their checks saw.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use wakeful_testkit::{Hook, Receiver, Setup, both_databases, until};

/// A page with a queue, which can be broken. Every response has a secret in it.
async fn queue_page() -> (String, Arc<AtomicBool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let is_broken = Arc::new(AtomicBool::new(false));
    let broken = is_broken.clone();
    #[expect(clippy::disallowed_methods, reason = "it ends with the test's runtime")]
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut seen = [0; 4096];
            let _ = stream.read(&mut seen).await;
            let depth = if broken.load(Ordering::Relaxed) { 1834 } else { 12 };
            let body = format!(r#"{{"queue": {{"depth": {depth}}}, "api_key": "sentinel-4711"}}"#);
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nSet-Cookie: s=sentinel-4711\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (format!("http://{address}/"), is_broken)
}

fn monitor(url: &str, extra: &Value) -> Value {
    let mut body = json!({"type": "http", "name": "queue", "heartbeat_interval": 86400,
        "isactive": true, "upside_down_mode": false, "retries": 0, "http": {"url": url}});
    body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    body
}

/// What is wrong with a field.
fn error_of<'a>(errors: &'a Value, field: &str) -> Option<&'a str> {
    let found = errors.as_array().unwrap().iter().find(|error| error["field"] == field);
    found.and_then(|error| error["message"].as_str())
}

both_databases! {
    async fn an_assertion_makes_an_alert_with_its_evidence(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (url, is_broken) = queue_page().await;
        let receiver = Receiver::start().await;
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let hook = ann.client.post("notifier/save", &hook).await.json()["notifierid"].clone();
        let assertions = json!([
            {"source": "json", "property": "$.queue.depth", "comparison": "less_than", "target": 1000},
            {"source": "status", "comparison": "equals", "target": "200", "fails_as": "degraded"},
            {"source": "json", "property": "$.api_key", "comparison": "exists"}]);
        let body = monitor(&url, &json!({"assertions": assertions, "notifiers": hook}));

        let tried = ann.client.post("monitor/try", &body).await.ok();
        assert_eq!(tried["heartbeat"]["status"], "up");
        assert!(tried["heartbeat"].get("reason").is_none());
        let results = tried["evidence"]["assertions"].as_array().unwrap().clone();
        assert_eq!(results.len(), 3);
        assert_eq!((&results[0]["passed"], &results[0]["found"]), (&json!(true), &json!("12")));
        assert_eq!(results[2]["found"], "[redacted]");

        let saved = ann.client.post("monitor/save", &body).await.ok()["monitor"].clone();
        let depth = &saved["assertions"][0];
        assert_eq!(*depth, json!({"source": "json", "property": "$.queue.depth",
            "comparison": "less_than", "target": "1000", "fails_as": "down", "match": "all",
            "chart": false}));
        assert_eq!((&saved["evidence"], &saved["reason"]), (&json!("full"), &Value::Null));
        let id = saved["monitorid"].as_str().unwrap();
        // What was read can be sent back.
        let same = json!({"monitorid": id, "assertions": saved["assertions"], "evidence": "full"});
        let same = ann.client.post("monitor/save", &same).await.ok()["monitor"].clone();
        assert_eq!(same["assertions"], saved["assertions"]);

        let check = format!("monitor/{id}/check");
        assert_eq!(ann.client.post(&check, &json!({})).await.ok()["heartbeat"]["status"], "up");
        is_broken.store(true, Ordering::Relaxed);
        let failed = ann.client.post(&check, &json!({})).await.ok();
        assert_eq!(failed["heartbeat"]["reason"], "assertion");
        assert_eq!(failed["message"], "json $.queue.depth is 1834, expected less than 1000");
        let down = receiver.wait_for_hooks(1).await[0].json();
        assert_eq!(down["data"]["reason"], "assertion");
        let shown = &down["data"]["evidence"];
        assert_eq!(shown["status_code"], 200);
        assert!(shown["excerpt"].as_str().unwrap().contains("1834"), "{shown}");
        assert!(shown["address"].as_str().unwrap().starts_with("127.0.0.1:"), "{shown}");
        let read = ann.client.get(&format!("monitor/{id}/get")).await.ok()["monitor"].clone();
        assert_eq!(read["reason"], "assertion");
        ann.client.post(&check, &json!({})).await.ok();
        is_broken.store(false, Ordering::Relaxed);
        ann.client.post(&check, &json!({})).await.ok();

        let alert = down["data"]["alertid"].as_str().unwrap();
        let detail = until("the evidence", async || {
            let detail = ann.client.get(&format!("alert/{alert}/get")).await.ok();
            (detail["evidence"].as_array().unwrap().len() == 3).then_some(detail)
        })
        .await;
        assert_eq!(detail["alert"]["reason"], "assertion");
        let kinds: Vec<&str> = detail["evidence"].as_array().unwrap().iter()
            .map(|one| one["of"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["first", "last", "recovery"]);
        let first = &detail["evidence"][0];
        assert_eq!(first["reason"], "assertion");
        assert_eq!(first["request"]["method"], "GET");
        assert_eq!(first["response"]["status"], 200);
        assert_eq!(first["assertions"][0]["passed"], false);
        assert!(first["response"]["body"].as_str().unwrap().contains("[redacted]"));
        let list = ann.client.get(&format!("monitor/{id}/evidence?limit=2")).await.ok();
        assert_eq!(list["evidence"][0]["of"], "recovery");
        assert_eq!(list["evidence"].as_array().unwrap().len(), 2);
        // No credential of the page is anywhere.
        let hooks: Vec<Value> = receiver.hooks().iter().map(Hook::json).collect();
        let all = format!("{tried}{failed}{detail}{list}{hooks:?}{read}");
        assert!(!all.contains("sentinel"), "{all}");
        // Another team sees nothing of it.
        let bob = app.sign_up("bob@example.com").await;
        assert_eq!(bob.client.get(&format!("monitor/{id}/evidence")).await.status, 404);
    }

    async fn an_upside_down_alert_has_the_evidence_of_the_check_that_opened_it(setup: Setup) {
        let app = Setup { run_scheduler: true, ..setup }.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (page, receiver) = (Receiver::start().await, Receiver::start().await);
        page.answer_with(200, "", "up again");
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let hook = ann.client.post("notifier/save", &hook).await.json()["notifierid"].clone();
        let body = monitor(&page.url, &json!({"upside_down_mode": true, "notifiers": hook}));
        let saved = ann.client.post("monitor/save", &body).await.ok()["monitor"].clone();
        // Its first check is not requested: that would have evidence in any case.
        let event = receiver.wait_for_hooks(1).await[0].json();
        assert_eq!(event["type"], "monitor.down");
        assert_eq!(event["data"]["evidence"]["status_code"], 200, "{event}");
        assert_eq!(event["data"]["evidence"]["excerpt"], "up again");
        let list = format!("monitor/{}/evidence", saved["monitorid"].as_str().unwrap());
        let seen = ann.client.get(&list).await.ok()["evidence"].clone();
        assert_eq!(seen[0]["of"], "first", "{seen}");
    }

    async fn a_page_that_changes_is_reported_and_a_pinned_one_must_be_accepted(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (page, receiver) = (Receiver::start().await, Receiver::start().await);
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let hook = ann.client.post("notifier/save", &hook).await.json()["notifierid"].clone();
        let same = json!([{"source": "body", "comparison": "unchanged"}]);
        let body = monitor(&page.url, &json!({"assertions": same, "notifiers": hook}));
        let id = ann.client.post("monitor/save", &body).await.ok()["monitor"]["monitorid"].clone();
        let id = id.as_str().unwrap();
        let check = async || ann.client.post(&format!("monitor/{id}/check"), &json!({})).await.ok()["heartbeat"].clone();
        assert_eq!(check().await["health"], "up");
        let judged = async || {
            let checked = ann.client.post(&format!("monitor/{id}/check"), &json!({})).await.ok();
            let one = &checked["evidence"]["assertions"][0];
            json!([one["passed"], one["fails_as"], one["message"]])
        };
        assert_eq!(judged().await, json!([true, "down", ""]));
        page.answer_with(200, "", "another page");
        let beat = check().await;
        assert_eq!((&beat["status"], &beat["health"]), (&json!("up"), &json!("degraded")));
        assert_eq!(check().await["health"], "up", "reported once");
        let event = receiver.wait_for_hooks(1).await[0].json();
        assert_eq!((&event["type"], &event["data"]["reason"]), (&json!("monitor.changed"), &json!("changed")));
        let alerts = ann.client.get("alerts?kind=change").await.ok()["alerts"].clone();
        assert_eq!(alerts[0]["cause"], "body has changed");
        assert_eq!(event["data"]["evidence"]["excerpt"], "another page");
        let alert = format!("alert/{}/get", alerts[0]["alertid"].as_str().unwrap());
        let seen = ann.client.get(&alert).await.ok()["evidence"][0].clone();
        assert_eq!((&seen["of"], &seen["reason"]), (&json!("change"), &json!("changed")));
        assert_eq!(seen["response"]["body"], "another page");
        // A change is reported once, whatever the assertion fails as.
        let result = &seen["assertions"][0];
        assert_eq!((&result["passed"], &result["fails_as"]), (&json!(false), &json!("degraded")));
        assert_eq!(result["message"], "body has changed");

        let accept = format!("monitor/{id}/accept");
        ann.client.post_nothing(&accept).await.refused(409, "nothing_to_accept");
        let pinned = json!([{"source": "body", "comparison": "unchanged", "target": "pinned"}]);
        let change = json!({"monitorid": id, "assertions": pinned});
        let saved = ann.client.post("monitor/save", &change).await.ok()["monitor"].clone();
        assert_eq!(check().await["status"], "up");
        page.answer_with(200, "", "defaced");
        for _ in 0..2 {
            let beat = check().await;
            assert_eq!((&beat["status"], &beat["reason"]), (&json!("down"), &json!("changed")));
        }
        assert_eq!(judged().await, json!([false, "down", "body has changed"]));
        ann.client.post_nothing(&accept).await.ok();
        assert_eq!(check().await["status"], "up");
        // What was read can be sent back, and accepts nothing.
        page.answer_with(200, "", "once again");
        let again = json!({"monitorid": id, "assertions": saved["assertions"]});
        ann.client.post("monitor/save", &again).await.ok();
        assert_eq!(check().await["status"], "down");
        let wrong = json!([{"source": "body", "comparison": "unchanged", "target": "x"}]);
        let wrong = ann.client.post("monitor/save", &json!({"monitorid": id, "assertions": wrong})).await;
        assert_eq!(wrong.wrong_fields(), ["assertions.0.target"]);
    }

    async fn each_mistake_in_an_assertion_is_reported_at_its_field(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let wrong = json!([
            {"source": "json", "property": "queue", "comparison": "exists"},
            {"source": "json", "property": "$..a..b", "comparison": "exists"},
            {"source": "record", "comparison": "equals", "target": "1.2.3.4"},
            {"source": "status", "property": "x", "comparison": "less_than", "target": true},
            {"source": "weather", "comparison": "equals"},
            {"source": "body", "comparison": "resembles", "fails_as": "up", "match": "some"}]);
        let body = monitor("http://127.0.0.1:9/", &json!({"assertions": wrong, "evidence": "all"}));
        for call in ["monitor/save", "monitor/try"] {
            let answer = ann.client.post(call, &body).await;
            assert_eq!(answer.status, 422);
            let errors = answer.json()["errors"].clone();
            for (field, why) in [
                ("assertions.0.property", "is not a valid RFC 9535 JSONPath"),
                ("assertions.1.property", "must have at most one `..`"),
                ("assertions.2.source", "is not supported for http monitors"),
                ("assertions.3.property", "must be empty for this source"),
                ("assertions.3.target", "must be a number"),
                ("assertions.4.source", "must be one of status, "),
                ("assertions.5.comparison", "must be one of equals, "),
                ("assertions.5.fails_as", "must be one of down, degraded"),
                ("assertions.5.match", "must be one of all, any"),
            ] {
                let found = error_of(&errors, field);
                assert!(found.is_some_and(|text| text.starts_with(why)), "{field}: {errors}");
            }
        }
        let too_many = vec![json!({"source": "status", "comparison": "exists"}); 21];
        let body = monitor("http://127.0.0.1:9/", &json!({"assertions": too_many}));
        assert_eq!(ann.client.post("monitor/save", &body).await.status, 422);

        // A change of the type never drops assertions.
        let one = json!({"assertions": [{"source": "status", "comparison": "equals", "target": 200}],
            "isactive": false});
        let saved = ann.client.post("monitor/save", &monitor("http://127.0.0.1:9/", &one)).await.ok();
        let id = saved["monitor"]["monitorid"].clone();
        let moved = json!({"monitorid": id, "type": "tcp", "hostname": "127.0.0.1", "port": 9});
        let answer = ann.client.post("monitor/save", &moved).await;
        assert_eq!(answer.status, 422);
        let errors = answer.json()["errors"].clone();
        assert!(error_of(&errors, "assertions.0.source").is_some(), "{errors}");
        let mut without = moved;
        without["assertions"] = json!([]);
        assert_eq!(ann.client.post("monitor/save", &without).await.ok()["monitor"]["assertions"], json!([]));
        let api = json!({"type": "api", "name": "job", "heartbeat_interval": 60, "isactive": true,
            "upside_down_mode": false, "assertions": [{"source": "status", "comparison": "exists"}]});
        assert_eq!(ann.client.post("monitor/save", &api).await.status, 422);
    }
}
