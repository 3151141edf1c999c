//! The webhook of an Alertmanager: a monitor is down while a group of its alerts is firing.

use reqwest::Method;
use serde_json::{Value, json};
use wakeful_testkit::{App, User, both_databases, concurrently, until};

async fn job(app: &App, user: &User) -> (String, String) {
    let body = json!({"type": "api", "name": "prometheus", "heartbeat_interval": 86400,
        "isactive": true, "upside_down_mode": false});
    let saved = user.client.post("monitor/save", &body).await.ok();
    let url = saved["monitor"]["push_url"].as_str().unwrap().strip_prefix(&app.url).unwrap();
    (format!("{url}/alertmanager"), saved["monitor"]["monitorid"].as_str().unwrap().to_owned())
}

fn webhook(status: &str, key: &str) -> Value {
    json!({"version": "4", "groupKey": format!("{{}}:{{alertname=\"{key}\"}}"), "status": status,
        "truncatedAlerts": 0, "receiver": "wakeful", "groupLabels": {"alertname": key},
        "commonLabels": {"alertname": key, "severity": "page"}, "commonAnnotations": {},
        "externalURL": "http://alertmanager:9093", "alerts": [{"status": status,
            "labels": {"alertname": key}, "annotations": {}, "startsAt": "2026-11-15T09:30:00Z",
            "endsAt": "0001-01-01T00:00:00Z", "generatorURL": "", "fingerprint": "c0ffee"}]})
}

/// Waits until the monitor has this status and all of this in its message.
async fn becomes(user: &User, id: &str, status: &str, parts: &[&str]) {
    until(&format!("the monitor to be {status}: {parts:?}"), || async {
        let monitor = user.client.get(&format!("monitor/{id}/get")).await.ok()["monitor"].clone();
        let message = monitor["last_message"].as_str().unwrap_or_default();
        let is_so = monitor["status"] == status && parts.iter().all(|part| message.contains(part));
        is_so.then_some(())
    })
    .await;
}

both_databases! {
    async fn a_monitor_is_down_while_a_group_is_firing(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (path, id) = job(&app, &ann).await;
        let second = app.second_node().await;
        let send = async |node: &App, body: Value| {
            node.anonymous().call(Method::POST, &path, Some(&body)).await
        };
        let taken = async |body: Value| {
            let answer = send(&app, body).await;
            assert_eq!((answer.status, answer.json()), (200, json!({"ok": true})));
        };
        taken(webhook("resolved", "Slow")).await;
        becomes(&ann, &id, "up", &["no alerts are firing"]).await;
        taken(webhook("firing", "Slow")).await;
        taken(webhook("firing", "Full")).await;
        taken(webhook("firing", "Slow")).await;
        becomes(&ann, &id, "down", &["firing: ", "Slow", "Full"]).await;
        taken(webhook("resolved", "Slow")).await;
        becomes(&ann, &id, "down", &["firing: Full"]).await;
        taken(webhook("resolved", "Full")).await;
        becomes(&ann, &id, "up", &[]).await;

        // Concurrent reports lose nothing, whichever node they arrive at.
        let keys = || (0..10).map(|key| format!("Key{key}"));
        let all = |wanted: &'static str| keys().enumerate().map(move |(at, key)| (at, webhook(wanted, &key)));
        let nodes = [app.anonymous(), second.anonymous()];
        for wanted in ["firing", "resolved"] {
            let requests = all(wanted).map(|(at, body)| (nodes[at % 2].clone(), path.clone(), body));
            let answers = concurrently(requests, |(client, path, body)| async move {
                client.call(Method::POST, &path, Some(&body)).await.status
            });
            assert_eq!(answers.await, [200; 10]);
            let is = if wanted == "firing" { "down" } else { "up" };
            becomes(&ann, &id, is, &[]).await;
        }
        assert_eq!(app.database.number("select count(*) from inbound").await, 0);

        // What others may send.
        let mut other = webhook("firing", "Slow");
        other["version"] = json!("5");
        let refused = send(&app, other).await;
        assert_eq!((refused.status, refused.wrong_fields()), (422, vec!["version".to_owned()]));
        assert_eq!(send(&app, json!({"status": "burning", "groupKey": 7})).await.wrong_fields(),
            ["version", "status", "groupKey"]);
        let json = Some("application/json");
        app.anonymous().raw(Method::POST, &path, json, "[1]").await.refused(422, "invalid_fields");
        app.anonymous().raw(Method::POST, &path, json, "{\"version\"").await.refused(400, "malformed_json");
        app.anonymous().raw(Method::POST, &path, Some("text/plain"), "x").await.refused(415, "unsupported_media_type");
        let unknown = app.anonymous().call(Method::POST, "/api/push/guess/alertmanager", Some(&webhook("firing", "x"))).await;
        assert_eq!(unknown.status, 404);
        // A great many alerts in a group are no problem.
        let mut large = webhook("firing", "Many");
        let alert = large["alerts"][0].clone();
        large["alerts"] = json!(vec![alert; 1_000]);
        taken(large).await;
        // No more groups than this, and one of them may still be resolved.
        let team = "insert into inbound (monitor_id, key, text, since, seen)
            with recursive n(i) as (select 1 union all select i + 1 from n where i < 999)
            select m.id, 'key ' || n.i, 'Group', 9999999999999, 9999999999999 from n, monitors m";
        app.database.execute(team).await;
        let full = send(&app, webhook("firing", "One")).await;
        assert_eq!(full.wrong_fields(), ["groupKey"]);
        taken(webhook("firing", "Many")).await;
        becomes(&ann, &id, "down", &["and 995 more"]).await;
        ann.client.post("monitor/save", &json!({"monitorid": id, "isactive": false})).await.ok();
        assert_eq!(send(&app, webhook("resolved", "Many")).await.status, 404);
        ann.client.delete(&format!("monitor/{id}/delete")).await.ok();
    }
}
