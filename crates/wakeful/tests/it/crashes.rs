//! What crashes every process that claims it is given up after three crashes, in every queue.
//! Then the service runs again, and everything else arrives.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::notifications::notifier;
use wakeful_testkit::fakes::FakeService;
use wakeful_testkit::{Client, DatabaseKind, Receiver, User, until};

use crate::process::{Installation, Server};

/// Each test on both databases.
macro_rules! on_both {
    ($($body:ident => $sqlite:ident, $postgres:ident;)+) => {$(
        #[tokio::test]
        async fn $sqlite() {
            $body(DatabaseKind::Sqlite).await;
        }

        #[tokio::test]
        async fn $postgres() {
            $body(DatabaseKind::Postgres).await;
        }
    )+};
}

on_both! {
    a_delivery_that_crashes_the_process =>
        a_delivery_that_crashes_the_process_is_given_up_on_sqlite,
        a_delivery_that_crashes_the_process_is_given_up_on_postgres;
    a_mail_that_crashes_the_process =>
        a_mail_that_crashes_the_process_is_given_up_on_sqlite,
        a_mail_that_crashes_the_process_is_given_up_on_postgres;
    a_stream_that_crashes_the_process =>
        a_stream_that_crashes_the_process_is_turned_off_on_sqlite,
        a_stream_that_crashes_the_process_is_turned_off_on_postgres;
    an_update_that_crashes_the_process_before_it_is_sent =>
        an_update_that_crashes_the_process_before_it_is_sent_is_given_up_on_sqlite,
        an_update_that_crashes_the_process_before_it_is_sent_is_given_up_on_postgres;
    an_update_that_crashes_the_process_while_it_is_sent =>
        an_update_that_crashes_the_process_while_it_is_sent_is_given_up_on_sqlite,
        an_update_that_crashes_the_process_while_it_is_sent_is_given_up_on_postgres;
    a_repeated_alert_that_crashes_the_process =>
        a_repeated_alert_that_crashes_the_process_is_given_up_on_sqlite,
        a_repeated_alert_that_crashes_the_process_is_given_up_on_postgres;
}

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

async fn a_mail_that_crashes_the_process(kind: DatabaseKind) {
    let installation = Installation::new(kind).await.without_limits();
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

async fn a_stream_that_crashes_the_process(kind: DatabaseKind) {
    let installation = Installation::new(kind).await.without_limits();
    let server = installation.serve().await;
    let receiver = Receiver::start().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let bob = User::sign_up(&server.anonymous(), "bob@example.com").await;
    for user in [&ann, &bob] {
        user.client.post("audit/stream/save", &json!({"url": receiver.url})).await.ok();
    }
    receiver.wait_for_hooks(2).await;
    server.stop().await;

    // The other stream is sending during each crash, for as long as possible.
    receiver.answer_after(Duration::from_millis(1_200));
    let installation = installation.dying_of("while-streaming", "poison");
    let server = installation.serve().await;
    for (user, name) in [(&bob, "sound"), (&ann, "poison")] {
        let body = json!({"name": name, "type": "api", "isactive": true,
            "heartbeat_interval": 86400, "upside_down_mode": false});
        post(&server, &user.token, "monitor/save", &body).await;
    }
    server.died().await;
    installation.crash().await;
    installation.crash().await;

    let server = installation.serve().await;
    let client = server.anonymous().with_token(&ann.token);
    let stream = until("the stream to be turned off", || async {
        let stream = client.get("audit/streams").await.ok()["streams"][0].clone();
        (stream["disabled"] == true).then_some(stream)
    })
    .await;
    assert_eq!(stream["last_error"], GAVE_UP);
    until("the other stream", || async {
        receiver.hooks().iter().any(|hook| hook.body.contains("sound")).then_some(())
    })
    .await;
    let client = server.anonymous().with_token(&bob.token);
    until("its outcome", || async {
        let stream = client.get("audit/streams").await.ok()["streams"][0].clone();
        (stream["disabled"] == false && stream["last_error"] == "").then_some(())
    })
    .await;
    assert!(receiver.hooks().iter().all(|hook| !hook.body.contains("poison")));
    assert_eq!(installation.log().matches(GAVE_UP).count(), 1, "logged once");
    server.stop().await;
}

/// A page with webhooks, and how to open incidents on it.
struct Page {
    token: String,
    component: Value,
    receiver: Receiver,
    hooks: usize,
}

impl Page {
    async fn begin(installation: &Installation, hooks: usize) -> Self {
        let server = installation.serve().await;
        let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
        let page = json!({"name": "Acme", "published": true,
            "sections": [{"components": [{"name": "API"}]}]});
        let page = ann.client.post("statuspage/save", &page).await.ok()["statuspage"].clone();
        let receiver = Receiver::start().await;
        for number in 0..hooks {
            let hook = json!({"kind": "webhook", "address": format!("{}/{number}", receiver.url)});
            let path = format!("statuspage/{}/subscriber/save", page["pageid"].as_str().unwrap());
            ann.client.post(&path, &hook).await.ok();
        }
        server.stop().await;
        let component = page["sections"][0]["components"][0]["componentid"].clone();
        Self { token: ann.token, component, receiver, hooks }
    }

    async fn open(&self, server: &Server, title: &str) {
        let body = json!({"title": title, "update": {"body": title},
            "components": [{"componentid": self.component, "status": "partial_outage"}]});
        post(server, &self.token, "incident/save", &body).await;
    }

    /// All webhooks got an update, and none got the other one.
    async fn expect(&self, title: &str) {
        until("all webhooks", || async {
            let hooks = self.receiver.hooks();
            let got = hooks.iter().filter(|hook| hook.body.contains(title));
            let paths: std::collections::BTreeSet<&str> = got.map(|hook| &*hook.path).collect();
            (paths.len() == self.hooks).then_some(())
        })
        .await;
        assert!(self.receiver.hooks().iter().all(|hook| !hook.body.contains("poison")));
    }
}

async fn an_update_that_crashes_the_process_before_it_is_sent(kind: DatabaseKind) {
    let installation = Installation::new(kind).await.without_limits();
    let page = Page::begin(&installation, 2).await;
    let installation = installation.dying_of("while-announcing", "poison");
    let server = installation.serve().await;
    page.open(&server, "poison").await;
    server.died().await;
    installation.crash().await;
    installation.crash().await;

    let server = installation.serve().await;
    page.open(&server, "sound").await;
    page.expect("sound").await;
    let open = "select count(*) from statuspage_events where completed is null";
    assert_eq!(installation.number(open).await, 0);
    assert_eq!(installation.log().matches(GAVE_UP).count(), 1, "logged once");
    server.stop().await;
}

async fn an_update_that_crashes_the_process_while_it_is_sent(kind: DatabaseKind) {
    let installation = Installation::new(kind).await.without_limits();
    let page = Page::begin(&installation, 1).await;
    let installation = installation.dying_of("while-sending", "poison");
    let server = installation.serve().await;
    page.open(&server, "poison").await;
    server.died().await;
    installation.crash().await;
    installation.crash().await;

    let server = installation.serve().await;
    page.open(&server, "sound").await;
    page.expect("sound").await;
    let failed =
        format!("select count(*) from statuspage_deliveries where last_answer = '{GAVE_UP}'");
    assert_eq!(installation.number(&failed).await, 1);
    assert_eq!(installation.log().matches(GAVE_UP).count(), 1, "logged once");
    server.stop().await;
}

async fn a_repeated_alert_that_crashes_the_process(kind: DatabaseKind) {
    const DUE: &str = "update threads set keepalive_at = 1 where keepalive_at is not null";
    let installation = Installation::new(kind).await.without_limits();
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let fake = FakeService::start(notifier::Kind::Alertmanager).await;
    let made = ann.client.post("notifier/save", &fake.notifier("prometheus")).await.json();
    for name in ["sound 1", "poison", "sound 2"] {
        let id = job(&ann.client, name, made["notifierid"].as_str().unwrap()).await;
        let path = format!("monitor/notify/{id}");
        ann.client.post(&path, &json!({"status": "down"})).await.ok();
    }
    let lasting = "select count(*) from threads where keepalive_at is not null";
    until("all to be sent", || async { (installation.number(lasting).await == 3).then_some(()) })
        .await;
    server.stop().await;
    let sent = fake.requests().len();

    let installation = installation.dying_of("while-repeating", "poison");
    for _ in 0..3 {
        installation.execute(DUE).await;
        installation.crash().await;
    }
    installation.execute(DUE).await;
    let server = installation.serve().await;
    until("the end of one", || async { (installation.number(lasting).await == 2).then_some(()) })
        .await;
    until("the others to be repeated", || async {
        let repeated: String =
            fake.requests()[sent..].iter().map(|request| request.body.clone()).collect();
        (repeated.contains("sound 1") && repeated.contains("sound 2")).then_some(())
    })
    .await;
    assert!(fake.requests()[sent..].iter().all(|request| !request.body.contains("poison")));
    assert_eq!(installation.log().matches(GAVE_UP).count(), 1, "logged once");
    server.stop().await;
}
