//! A message that crashes every process that sends it is given up after three crashes.
//! Then the service runs again, and all other messages arrive.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_testkit::{Client, DatabaseKind, Receiver, User, until};

use crate::process::{Installation, Server};

const GAVE_UP: &str = "gave up after three crashes";

async fn job(client: &Client, name: &str, notifier: &str) -> String {
    let body = json!({"name": name, "type": "api", "isactive": true, "heartbeat_interval": 86400,
        "upside_down_mode": false, "notifiers": notifier});
    let made = client.post("monitor/save", &body).await.ok();
    made["monitor"]["monitorid"].as_str().unwrap().to_owned()
}

/// Calls a server that may die before it responds.
async fn post(server: &Server, token: &str, path: &str, body: &Value) {
    let url = format!("{}/api/v1/{path}", server.url);
    let _ = reqwest::Client::new().post(url).bearer_auth(token).json(body).send().await;
}

async fn a_delivery_that_crashes_the_process(kind: DatabaseKind) {
    let installation = Installation::new(kind).await.without_limits();
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let receiver = Receiver::start().await;
    let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
    let made = ann.client.post("notifier/save", &body).await.json();
    let notifier = made["notifierid"].as_str().unwrap();
    let mut jobs = Vec::new();
    for name in ["sound 1", "sound 2", "sound 3", "poison"] {
        jobs.push(job(&ann.client, name, notifier).await);
    }
    server.stop().await;

    // The other messages are being sent during each crash, for as long as possible.
    receiver.answer_after(Duration::from_millis(1_200));
    let installation = installation.dying_of("while-sending", "poison");
    let server = installation.serve().await;
    for id in &jobs {
        post(&server, &ann.token, &format!("monitor/notify/{id}"), &json!({"status": "down"}))
            .await;
    }
    server.died().await;
    installation.crash().await;
    installation.crash().await;

    let server = installation.serve().await;
    let client = server.anonymous().with_token(&ann.token);
    let all = until("all to end", || async {
        let all = client.get(&format!("notifier/{notifier}/deliveries")).await.ok();
        let all = all["deliveries"].as_array().unwrap().clone();
        all.iter().all(|one| one["state"] != "waiting").then_some(all)
    })
    .await;
    assert_eq!(all.len(), 4);
    for one in &all {
        if one["monitor"]["name"] == "poison" {
            assert_eq!((&one["state"], &one["last_answer"]), (&json!("failed"), &json!(GAVE_UP)));
        } else {
            assert_eq!(one["state"], "delivered", "{one}");
        }
    }
    assert_eq!(installation.log().matches(GAVE_UP).count(), 1, "logged once");
    server.stop().await;
}

#[tokio::test]
async fn a_delivery_that_crashes_the_process_is_given_up_on_sqlite() {
    a_delivery_that_crashes_the_process(DatabaseKind::Sqlite).await;
}

#[tokio::test]
async fn a_delivery_that_crashes_the_process_is_given_up_on_postgres() {
    a_delivery_that_crashes_the_process(DatabaseKind::Postgres).await;
}

#[tokio::test]
async fn a_mail_that_crashes_the_process_is_given_up() {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let mails = installation.data().join("mail");
    let written = || std::fs::read_dir(&mails).map_or(0, Iterator::count);
    until("the welcome mail", || async { (written() == 1).then_some(()) }).await;
    server.stop().await;

    let installation = installation.dying_of("while-mailing", "assword");
    let server = installation.serve().await;
    post(&server, &ann.token, "password/lost", &json!({"email": ann.email})).await;
    server.died().await;
    installation.crash().await;
    installation.crash().await;

    let server = installation.serve().await;
    User::sign_up(&server.anonymous(), "bob@example.com").await;
    until("the next mail", || async { (written() == 2).then_some(()) }).await;
    let given_up = format!("select count(*) from mails where last_error = '{GAVE_UP}'");
    assert_eq!(installation.number(&given_up).await, 1);
    assert_eq!(installation.log().matches(GAVE_UP).count(), 1, "logged once");
    server.stop().await;
}
