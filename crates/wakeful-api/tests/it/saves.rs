//! Two who save one thing at the same moment: neither undoes the other.

use serde_json::{Value, json};
use wakeful_core::id::{NotifierId, TeamId};
use wakeful_core::notifier::Channel;
use wakeful_testkit::{Answer, App, Client, User, both_engines, together};

const ROUNDS: usize = 20;

/// Sends all of these together; each of them must be taken.
async fn all_taken(client: &Client, calls: Vec<(String, Value)>) -> Vec<Value> {
    let calls = calls.into_iter().map(|(path, body)| (client.clone(), path, body));
    let answers =
        together(calls, |(client, path, body)| async move { client.post(&path, &body).await });
    let answers = answers.await;
    for answer in &answers {
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    answers.iter().map(Answer::json).collect()
}

/// What is saved of one thing, a few fields at a time.
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

/// What signs the messages of a notifier now.
async fn signs(app: &App, ann: &User, id: &Value) -> String {
    let team = TeamId::parse(&ann.team).unwrap();
    let id = NotifierId::parse(id.as_str().unwrap()).unwrap();
    let notifier = app.store.team(team).notifier(id).await.unwrap().unwrap();
    match notifier.channel {
        Channel::Webhook(hook) => hook.keys.current.expose().to_owned(),
        Channel::Email(_) => panic!("a webhook"),
    }
}

both_engines! {
    async fn partial_saves_of_a_monitor_at_once_are_all_kept(setup: Setup) {
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
            all_taken(&ann.client, parts("monitor/save", ("monitorid", &id), &wanted)).await;
            let now = listed(&ann.client, "monitors", ("monitorid", &id)).await;
            assert_eq!((&now["name"], &now["tags"]), (&json!(name), &json!([tag])));
            assert_eq!((&now["isactive"], &now["retries"]), (&json!(round % 2 == 1), &json!(round)));
        }
    }

    async fn partial_saves_of_a_notifier_at_once_are_all_kept(setup: Setup) {
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
            all_taken(&ann.client, parts("notifier/save", ("notifierid", &id), &wanted)).await;
            let now = listed(&ann.client, "notifiers", ("notifierid", &id)).await;
            assert_eq!((&now["name"], &now["webhook"]["url"]), (&json!(name), &json!(url)));
            assert_eq!(now["isactive"], round % 2 == 1);
        }
    }

    async fn a_secret_that_was_shown_signs_whatever_else_is_saved_at_that_moment(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = webhook(&ann.client).await;
        for round in 0..ROUNDS {
            let name = json!(format!("name {round}"));
            let rotate = format!("notifier/{}/rotate", id.as_str().unwrap());
            let mut calls = parts("notifier/save", ("notifierid", &id), &[json!({"name": name})]);
            calls.push((rotate, json!({})));
            let answers = all_taken(&ann.client, calls).await;
            let shown = answers.iter().find_map(|answer| answer["webhook"]["secret"].as_str());
            assert_eq!(signs(&app, &ann, &id).await, shown.unwrap());
            let now = listed(&ann.client, "notifiers", ("notifierid", &id)).await;
            assert_eq!(now["name"], name);
        }
    }
}
