//! Reminders of an outage that lasts: at their pace, in order, through whatever
//! happens to the process, and none once it is over.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;
use wakeful_engine::reminders::remind;
use wakeful_testkit::{App, Client, Hook, Inbox, Line, Receiver, User, both_engines, until};

use crate::deliver::{all_are, deliveries, hook, job, report};
use crate::mail::mail;

const TEN_MINUTES: Duration = Duration::from_secs(600);

/// A monitor of whose outages people are reminded every ten minutes.
async fn nagging(user: &User, name: &str, notifier: &Value) -> String {
    let id = job(&user.client, name, notifier).await;
    set(&user.client, &id, &json!({"resend_interval": 600})).await;
    id
}

async fn set(client: &Client, monitor: &str, change: &Value) {
    let mut body = json!({"monitorid": monitor});
    body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    client.post("monitor/save", &body).await.ok();
}

async fn later(app: &App, span: Duration) -> usize {
    app.clock.advance(span);
    remind(&app.engine).await.unwrap()
}

fn kinds(hooks: &[Hook]) -> Vec<String> {
    hooks.iter().map(|hook| hook.json()["type"].as_str().unwrap().to_owned()).collect()
}

both_engines! {
    async fn while_it_lasts_people_are_reminded_and_never_after(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = hook(&ann, &receiver).await;
        let site = nagging(&ann, "site", &made).await;
        report(&ann.client, &site, "down").await;
        all_are(&ann.client, &made, "delivered").await;
        assert_eq!(later(&app, Duration::from_secs(599)).await, 0, "too early");
        assert_eq!(later(&app, Duration::from_secs(1)).await, 1);
        receiver.received(2).await;
        all_are(&ann.client, &made, "delivered").await;
        assert_eq!(later(&app, TEN_MINUTES).await, 1);
        receiver.received(3).await;
        all_are(&ann.client, &made, "delivered").await;
        report(&ann.client, &site, "up").await;
        let hooks = receiver.received(4).await;
        assert_eq!(later(&app, TEN_MINUTES * 10).await, 0, "it is over");

        let heard = ["monitor.down", "monitor.reminder", "monitor.reminder", "monitor.up"];
        assert_eq!(kinds(&hooks), heard);
        let ids: HashSet<String> = hooks.iter().map(Hook::id).collect();
        assert_eq!(ids.len(), 4, "each is an event of its own");
        let told = hooks[2].json();
        assert_eq!(told["text"], "[site] still down after 20 min: reported down");
        let data = &told["data"];
        assert_eq!((&data["status"], &data["previous_status"]), (&json!("down"), &json!("down")));
        assert_eq!(data["down_seconds"], 1_200);
        assert_eq!(data["alertid"], hooks[0].json()["data"]["alertid"]);
    }

    async fn by_default_nobody_is_reminded(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = hook(&ann, &receiver).await;
        let site = job(&ann.client, "site", &made).await;
        report(&ann.client, &site, "down").await;
        all_are(&ann.client, &made, "delivered").await;
        assert_eq!(later(&app, TEN_MINUTES * 100).await, 0);
        // Set during the outage, it counts from then; taken away, it is gone.
        set(&ann.client, &site, &json!({"resend_interval": 60})).await;
        assert_eq!(later(&app, Duration::from_secs(59)).await, 0);
        assert_eq!(later(&app, Duration::from_secs(1)).await, 1);
        set(&ann.client, &site, &json!({"name": "another name"})).await;
        all_are(&ann.client, &made, "delivered").await;
        assert_eq!(later(&app, Duration::from_secs(60)).await, 1, "the pace is as it was");
        set(&ann.client, &site, &json!({"resend_interval": 0})).await;
        assert_eq!(later(&app, TEN_MINUTES).await, 0);
    }

    async fn a_monitor_that_is_switched_off_reminds_nobody(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = hook(&ann, &receiver).await;
        let site = nagging(&ann, "site", &made).await;
        report(&ann.client, &site, "down").await;
        all_are(&ann.client, &made, "delivered").await;
        set(&ann.client, &site, &json!({"isactive": false})).await;
        assert_eq!(later(&app, TEN_MINUTES * 2).await, 0);
        set(&ann.client, &site, &json!({"isactive": true})).await;
        assert_eq!(later(&app, Duration::from_secs(599)).await, 0, "it counts from then");
        assert_eq!(later(&app, Duration::from_secs(1)).await, 1);
    }

    async fn who_cannot_be_reached_is_not_heaped_with_reminders(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = hook(&ann, &receiver).await;
        let site = nagging(&ann, "site", &made).await;
        report(&ann.client, &site, "down").await;
        all_are(&ann.client, &made, "delivered").await;
        receiver.answers(503, "", "");
        for _ in 0..5 {
            later(&app, TEN_MINUTES).await;
            until("an attempt", || async {
                let all = deliveries(&ann.client, &made).await;
                all.iter().any(|one| one["last_answer"] == "503 Service Unavailable").then_some(())
            }).await;
        }
        assert_eq!(deliveries(&ann.client, &made).await.len(), 2, "one reminder waits, not five");
        // The end of the outage overtakes what waits to remind of it.
        until("the reminder to rest", || async {
            let due = app.store.due_deliveries(app.engine.now(), 9, 9).await.unwrap();
            let all = deliveries(&ann.client, &made).await;
            (due.is_empty() && all.iter().any(|one| one["state"] == "waiting")).then_some(())
        }).await;
        receiver.answers(200, "", "");
        let before = receiver.count();
        app.clock.advance(Duration::from_secs(1));
        report(&ann.client, &site, "up").await;
        let hooks = receiver.received(before + 1).await;
        assert_eq!(hooks[before].json()["type"], "monitor.up");
        let all = deliveries(&ann.client, &made).await;
        let given_up = all.iter().find(|one| one["type"] == "monitor.reminder").unwrap();
        assert_eq!(given_up["state"], "failed");
        let notifier = ann.client.get("notifiers").await.ok()["notifiers"][0].clone();
        assert_eq!(notifier["isactive"], true);
    }

    async fn a_reminder_whose_worker_died_is_not_sent_after_the_recovery(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = hook(&ann, &receiver).await;
        let site = nagging(&ann, "site", &made).await;
        report(&ann.client, &site, "down").await;
        all_are(&ann.client, &made, "delivered").await;
        let app = app.restart_with(|setup| setup.deliver = false).await;
        let client = app.anonymous().with_token(&ann.token);
        later(&app, TEN_MINUTES).await;
        let now = app.engine.now();
        let due = app.store.due_deliveries(now, 10, 10).await.unwrap();
        let lease = now.after(Duration::from_secs(60));
        app.store.claim_deliveries(&[due[0].id], now, lease).await.unwrap();
        report(&client, &site, "up").await;
        app.clock.advance(Duration::from_secs(61));
        let app = app.restart_with(|setup| setup.deliver = true).await;
        let hooks = receiver.received(2).await;
        assert_eq!(kinds(&hooks), ["monitor.down", "monitor.up"]);
        app.stop().await;
    }

    async fn a_restart_and_a_second_node_change_nothing(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = hook(&ann, &receiver).await;
        let site = nagging(&ann, "site", &made).await;
        report(&ann.client, &site, "down").await;
        all_are(&ann.client, &made, "delivered").await;
        app.clock.advance(TEN_MINUTES * 7);
        let app = app.restart().await;
        let beside = app.beside().await;
        let (here, there) = tokio::join!(remind(&app.engine), remind(&beside.engine));
        assert_eq!(here.unwrap() + there.unwrap(), 1, "one stands for all that were missed");
        receiver.received(2).await;
        assert_eq!(remind(&app.engine).await.unwrap(), 0);
        beside.stop().await;
    }

    async fn who_was_only_reminded_is_told_of_the_end_too(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (first, second) = (Receiver::start().await, Receiver::start().await);
        let (one, two) = (hook(&ann, &first).await, hook(&ann, &second).await);
        let site = nagging(&ann, "site", &one).await;
        report(&ann.client, &site, "down").await;
        all_are(&ann.client, &one, "delivered").await;
        set(&ann.client, &site, &json!({"notifiers": two["notifierid"]})).await;
        assert_eq!(later(&app, TEN_MINUTES).await, 1);
        second.received(1).await;
        set(&ann.client, &site, &json!({"notifiers": ""})).await;
        report(&ann.client, &site, "up").await;
        assert_eq!(kinds(&first.received(2).await), ["monitor.down", "monitor.up"]);
        assert_eq!(kinds(&second.received(2).await), ["monitor.reminder", "monitor.up"]);
    }

    async fn an_inbox_is_reminded_beneath_the_first_letter_and_in_digests(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let inbox = Inbox::start(Line::Plain).await;
        let made = mail(&ann, &inbox).await;
        let site = nagging(&ann, "site", &made).await;
        report(&ann.client, &site, "down").await;
        all_are(&ann.client, &made, "delivered").await;
        later(&app, TEN_MINUTES).await;
        let letters = inbox.taken(2).await;
        all_are(&ann.client, &made, "delivered").await;
        assert_eq!(letters[1].header("subject"), "[Down] site is still down after 10 min");
        assert_eq!(letters[1].header("in-reply-to"), letters[0].header("message-id"));
        for number in 0..20 {
            let id = nagging(&ann, &format!("job-{number:02}"), &made).await;
            report(&ann.client, &id, "down").await;
        }
        app.clock.advance(Duration::from_secs(120));
        all_are(&ann.client, &made, "delivered").await;
        app.clock.advance(Duration::from_secs(120));
        let before = inbox.letters().len();
        assert_eq!(later(&app, TEN_MINUTES).await, 21);
        all_are(&ann.client, &made, "delivered").await;
        let letters = inbox.letters().split_off(before);
        assert_eq!(letters.len(), 1, "more than six at once are one letter");
        assert_eq!(letters[0].header("subject"), "[Wakeful] 21 changes: 21 still down");
    }
}
