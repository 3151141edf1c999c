//! Limits that are the same for all plans: no account can fill the memory of the service.

use serde_json::{Value, json};
use wakeful_testkit::{Answer, Client, DatabaseKind, both_databases, concurrently, until};

const LONGEST_BODY: usize = 262_144;

fn monitor(body: &str) -> Value {
    json!({"type": "http", "name": "site", "heartbeat_interval": 3_600, "isactive": true,
        "upside_down_mode": false,
        "http": {"url": "http://127.0.0.1:1/", "method": "POST", "body": body}})
}

/// Repeats a call while the database is too busy for it: "nothing was changed, try again".
async fn save_patiently(client: Client, path: &'static str, body: Value) -> Answer {
    let saved = || async {
        let answer = client.post(path, &body).await;
        (answer.status != 503).then_some(answer)
    };
    until("the database has time", saved).await
}

both_databases! {
    async fn a_body_is_limited_in_bytes(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        ann.client.post("monitor/save", &monitor(&"a".repeat(LONGEST_BODY))).await.ok();
        let long = "🔥".repeat(LONGEST_BODY / 4 + 1);
        let refused = ann.client.post("monitor/save", &monitor(&long)).await;
        refused.refused(422, "invalid_fields");
        assert_eq!(refused.json()["message"], "http.body must have at most 262144 bytes.");
    }

    async fn the_long_bodies_of_a_team_have_16_mib_in_total_even_concurrently(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let long = "x".repeat(LONGEST_BODY);
        let filler = ann.client.post("monitor/save", &monitor("")).await.ok();
        // Leaves room for one.
        app.database.execute(match app.database.kind() {
            DatabaseKind::Sqlite => "update monitors set secret = zeroblob(16300000)",
            DatabaseKind::Postgres => "update monitors set secret = convert_to(repeat('0', 16300000), 'UTF8')",
        }).await;
        let calls = (0..4).map(|_| (ann.client.clone(), monitor(&long)));
        let answers =
            concurrently(calls, |(client, body)| save_patiently(client, "monitor/save", body)).await;
        let (saved, refused): (Vec<_>, Vec<_>) =
            answers.iter().partition(|answer| answer.status == 200);
        assert_eq!((saved.len(), refused.len()), (1, 3));
        for answer in refused {
            answer.refused(422, "invalid_fields");
            assert_eq!(answer.wrong_fields(), ["http.body"]);
        }

        // Short ones are not limited, and neither are other teams.
        ann.client.post("monitor/save", &monitor("short")).await.ok();
        let bob = app.sign_up("bob@example.com").await;
        bob.client.post("monitor/save", &monitor(&long)).await.ok();

        // What is not longer than before can be saved, and what is shorter makes room.
        let id = &saved[0].json()["monitor"]["monitorid"];
        ann.client.post("monitor/save", &json!({"monitorid": id, "name": "renamed"})).await.ok();
        ann.client.post("monitor/save", &json!({"monitorid": id, "http": {"body": ""}})).await.ok();
        ann.client.post("monitor/save", &monitor(&long)).await.ok();
        ann.client.post("monitor/save", &json!({"monitorid": id, "http": {"body": long}})).await
            .refused(422, "invalid_fields");
        let path = format!("monitor/{}/delete", filler["monitor"]["monitorid"].as_str().unwrap());
        ann.client.delete(&path).await.ok();
        ann.client.post("monitor/save", &json!({"monitorid": id, "http": {"body": long}})).await.ok();
    }

    async fn a_user_has_at_most_50_api_keys(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for number in 0..50 {
            let body = json!({"name": format!("key {number}")});
            ann.client.post("integrations/apikey/save", &body).await.ok();
        }
        let refused = ann.client.post("integrations/apikey/save", &json!({"name": "one more"})).await;
        refused.refused(409, "limit_reached");
        assert_eq!(refused.json()["message"],
            "The limit of 50 API keys per user is reached; delete one that is not needed.");
    }

    async fn a_team_has_at_most_200_groups_even_concurrently(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let group = json!({"type": "group", "name": "g", "isactive": true, "group": {"tags": "none"}});
        let mut answers = Vec::new();
        for _ in 0..29 {
            let calls = (0..7).map(|_| (ann.client.clone(), group.clone()));
            let saving =
                concurrently(calls, |(client, body)| save_patiently(client, "monitor/save", body));
            answers.extend(saving.await);
        }
        let (saved, refused): (Vec<_>, Vec<_>) =
            answers.iter().partition(|answer| answer.status == 200);
        let texts: Vec<&str> = refused.iter().map(|answer| answer.text.as_str()).collect();
        assert_eq!((saved.len(), refused.len()), (200, 3), "{texts:?}");
        for answer in refused {
            answer.refused(422, "invalid_fields");
            assert_eq!(answer.json()["message"],
                "group cannot be added: the team already has 200 groups.");
        }
        // Those that exist can still be changed.
        let id = &saved[0].json()["monitor"]["monitorid"];
        ann.client.post("monitor/save", &json!({"monitorid": id, "group": {"tags": "other"}})).await.ok();
    }

    async fn a_team_has_at_most_1000_notifiers(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": "http://127.0.0.1:1/"}});
        for _ in 0..10 {
            let calls = (0..100).map(|_| (ann.client.clone(), hook.clone()));
            let answers =
                concurrently(calls, |(client, body)| save_patiently(client, "notifier/save", body));
            assert!(answers.await.iter().all(|answer| answer.status == 200));
        }
        ann.client.post("notifier/save", &hook).await.refused(409, "limit_reached");
    }
}
