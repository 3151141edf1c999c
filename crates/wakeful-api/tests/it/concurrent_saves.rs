//! Concurrent saves of one object: no save undoes another.

use serde_json::{Value, json};
use wakeful_core::id::{NotifierId, TeamId};
use wakeful_testkit::{Answer, App, Client, User, both_databases, concurrently, whole};

const ROUNDS: usize = 20;

/// Sends all calls at once; each must succeed.
async fn all_accepted(client: &Client, calls: Vec<(String, Value)>) -> Vec<Value> {
    let calls = calls.into_iter().map(|(path, body)| (client.clone(), path, body));
    let answers =
        concurrently(calls, |(client, path, body)| async move { client.post(&path, &body).await });
    let answers = answers.await;
    for answer in &answers {
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    answers.iter().map(Answer::json).collect()
}

/// Partial saves of one object.
fn parts(path: &str, id: (&str, &Value), parts: &[Value]) -> Vec<(String, Value)> {
    let with_id = |part: &Value| {
        let mut body = part.clone();
        body[id.0] = id.1.clone();
        (path.to_owned(), body)
    };
    parts.iter().map(with_id).collect()
}

async fn monitor(client: &Client) -> Value {
    let body = json!({"type": "tcp", "name": "port", "hostname": "127.0.0.1", "port": "1",
        "heartbeat_interval": 60, "isactive": true, "upside_down_mode": false});
    client.post("monitor/save", &body).await.ok()["monitor"]["monitorid"].clone()
}

async fn webhook(client: &Client) -> Value {
    let body =
        json!({"name": "hook", "type": "webhook", "webhook": {"url": "http://127.0.0.1:1/"}});
    client.post("notifier/save", &body).await.json()["notifierid"].clone()
}

async fn listed(client: &Client, list: &str, id: (&str, &Value)) -> Value {
    let answer = client.get(list).await.ok();
    let items = answer[list].as_array().unwrap().clone();
    items.into_iter().find(|item| item[id.0] == *id.1).unwrap()
}

/// The current signing secret of a notifier.
async fn signing_secret(app: &App, ann: &User, id: &Value) -> String {
    let team = TeamId::parse(&ann.team).unwrap();
    let id = NotifierId::parse(id.as_str().unwrap()).unwrap();
    let notifier = app.store.team(&whole(team)).notifier(id).await.unwrap().unwrap();
    notifier.channel.keys().expect("a webhook").current.expose().to_owned()
}

both_databases! {
    async fn concurrent_partial_saves_of_a_monitor_are_all_stored(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = monitor(&ann.client).await;
        for round in 0..ROUNDS {
            let (name, tag) = (format!("name {round}"), format!("tag {round}"));
            let wanted = [
                json!({"name": name}),
                json!({"tags": [tag]}),
                json!({"isactive": round % 2 == 1}),
                json!({"retries": round}),
            ];
            all_accepted(&ann.client, parts("monitor/save", ("monitorid", &id), &wanted)).await;
            let now = listed(&ann.client, "monitors", ("monitorid", &id)).await;
            assert_eq!((&now["name"], &now["tags"]), (&json!(name), &json!([tag])));
            assert_eq!((&now["isactive"], &now["retries"]), (&json!(round % 2 == 1), &json!(round)));
        }
    }

    async fn concurrent_saves_of_a_status_page_and_its_incident_are_all_stored(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = json!({"name": "Acme", "sections": [{"components": [{"name": "API"}]}]});
        let page = ann.client.post("statuspage/save", &page).await.ok()["statuspage"].clone();
        let id = &page["pageid"];
        for round in 0..3 {
            let (name, note) = (format!("name {round}"), format!("note {round}"));
            let wanted = [
                json!({"name": name}),
                json!({"description": note}),
                json!({"display": {"decimals": round}}),
                json!({"subscribe": {"choose": round % 2 == 1}}),
            ];
            all_accepted(&ann.client, parts("statuspage/save", ("pageid", id), &wanted)).await;
            let path = format!("statuspage/{}/get", id.as_str().unwrap());
            let now = ann.client.get(&path).await.ok()["statuspage"].clone();
            assert_eq!((&now["name"], &now["description"]), (&json!(name), &json!(note)));
            assert_eq!(now["display"]["decimals"], round);
            assert_eq!(now["subscribe"]["choose"], round % 2 == 1);
        }
        let component = &page["sections"][0]["components"][0]["componentid"];
        let incident = json!({"title": "Down", "update": {"body": "first"},
            "components": [{"componentid": component, "status": "major_outage"}]});
        let incident = ann.client.post("incident/save", &incident).await.ok()["incident"].clone();
        let path = format!("incident/{}", incident["incidentid"].as_str().unwrap());
        let calls = (0..4).map(|number| (format!("{path}/update/save"), json!({"body": number.to_string()})));
        all_accepted(&ann.client, calls.collect()).await;
        let now = ann.client.get(&format!("{path}/get")).await.ok()["incident"].clone();
        assert_eq!(now["updates"].as_array().unwrap().len(), 5, "{now}");
    }

    async fn a_save_based_on_an_outdated_revision_is_rejected_and_changes_nothing(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = monitor(&ann.client).await;
        let before = listed(&ann.client, "monitors", ("monitorid", &id)).await;
        assert!(before["revision"].is_i64(), "{before}");
        let save = |change: Value| {
            let (path, body) = parts("monitor/save", ("monitorid", &id), &[change]).remove(0);
            async { let (path, body) = (path, body); ann.client.post(&path, &body).await }
        };
        let first = save(json!({"name": "first", "expected_revision": before["revision"]})).await.ok();
        assert!(first["monitor"]["revision"].as_i64() > before["revision"].as_i64());

        let late = json!({"retries": 7, "expected_revision": before["revision"]});
        save(late).await.refused(409, "changed_meanwhile");
        let now = listed(&ann.client, "monitors", ("monitorid", &id)).await;
        assert_eq!(now, first["monitor"]);
        // Also if the change would change nothing.
        let same = json!({"name": "first", "expected_revision": before["revision"]});
        save(same).await.refused(409, "changed_meanwhile");

        save(json!({"retries": 7, "expected_revision": now["revision"]})).await.ok();
        save(json!({"retries": 8})).await.ok();
        // A client may send back a whole monitor that it has read earlier.
        save(json!({"retries": 6, "revision": before["revision"]})).await.ok();
        for wrong in [json!("1"), json!(-1), json!(1.5), json!(u64::MAX)] {
            let refused = save(json!({"retries": 9, "expected_revision": wrong})).await;
            refused.refused(422, "invalid_fields");
        }
    }

    async fn concurrent_saves_of_one_revision_have_one_winner(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = monitor(&ann.client).await;
        let revision = listed(&ann.client, "monitors", ("monitorid", &id)).await["revision"].clone();
        let saves = (0..8).map(|retries| {
            (ann.client.clone(), json!({"monitorid": id, "retries": 10 + retries, "expected_revision": revision}))
        });
        let answers = concurrently(saves, |(client, body)| async move {
            client.post("monitor/save", &body).await.status
        });
        let mut statuses = answers.await;
        statuses.sort_unstable();
        assert_eq!(statuses, [[200].as_slice(), &[409; 7]].concat());
    }

    async fn concurrent_partial_saves_of_a_notifier_are_all_stored(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = webhook(&ann.client).await;
        for round in 0..ROUNDS {
            let (name, url) = (format!("name {round}"), format!("http://127.0.0.1:1/{round}"));
            let wanted = [
                json!({"name": name}),
                json!({"webhook": {"url": url}}),
                json!({"isactive": round % 2 == 1}),
            ];
            all_accepted(&ann.client, parts("notifier/save", ("notifierid", &id), &wanted)).await;
            let now = listed(&ann.client, "notifiers", ("notifierid", &id)).await;
            assert_eq!((&now["name"], &now["webhook"]["url"]), (&json!(name), &json!(url)));
            assert_eq!(now["isactive"], round % 2 == 1);
        }
    }

    async fn a_returned_secret_is_in_use_despite_concurrent_saves(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = webhook(&ann.client).await;
        for round in 0..ROUNDS {
            let name = json!(format!("name {round}"));
            let rotate = format!("notifier/{}/rotate", id.as_str().unwrap());
            let mut calls = parts("notifier/save", ("notifierid", &id), &[json!({"name": name})]);
            calls.push((rotate, json!({})));
            let answers = all_accepted(&ann.client, calls).await;
            let shown = answers.iter().find_map(|answer| answer["webhook"]["secret"].as_str());
            assert_eq!(signing_secret(&app, &ann, &id).await, shown.unwrap());
            let now = listed(&ann.client, "notifiers", ("notifierid", &id)).await;
            assert_eq!(now["name"], name);
        }
    }
}
