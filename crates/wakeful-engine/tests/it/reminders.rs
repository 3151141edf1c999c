//! Tests of reminders during an outage: at their interval, in order, across restarts, and
//! none after the recovery.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;
use wakeful_engine::alerting::processor::process_due;
use wakeful_testkit::{App, Client, Hook, Receiver, both_databases, until};

use crate::delivery_fixture::{DeliveryFixture, hook, report};

const TEN_MINUTES: Duration = Duration::from_secs(600);

/// A monitor with a reminder every ten minutes.
async fn reminding_monitor<R>(fixture: &DeliveryFixture<R>, name: &str) -> String {
    let id = fixture.monitor(name).await;
    set(&fixture.ann.client, &id, &json!({"resend_interval": 600})).await;
    id
}

async fn set(client: &Client, monitor: &str, change: &Value) {
    let mut body = json!({"monitorid": monitor});
    body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    client.post("monitor/save", &body).await.ok();
}

async fn later(app: &App, span: Duration) -> usize {
    app.clock.advance(span);
    process_due(&app.engine).await.unwrap().reminders
}

fn kinds(hooks: &[Hook]) -> Vec<String> {
    hooks.iter().map(|hook| hook.json()["type"].as_str().unwrap().to_owned()).collect()
}

both_databases! {
    async fn reminders_are_sent_during_an_outage_and_never_after(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        let site = reminding_monitor(&fixture, "site").await;
        fixture.report(&site, "down").await;
        fixture.all_are("delivered").await;
        assert_eq!(later(&fixture.app, Duration::from_secs(599)).await, 0, "too early");
        assert_eq!(later(&fixture.app, Duration::from_secs(1)).await, 1);
        fixture.receiver.wait_for_hooks(2).await;
        fixture.all_are("delivered").await;
        assert_eq!(later(&fixture.app, TEN_MINUTES).await, 1);
        fixture.receiver.wait_for_hooks(3).await;
        fixture.all_are("delivered").await;
        fixture.report(&site, "up").await;
        let hooks = fixture.receiver.wait_for_hooks(4).await;
        assert_eq!(later(&fixture.app, TEN_MINUTES * 10).await, 0, "it is over");

        let expected = ["monitor.down", "monitor.reminder", "monitor.reminder", "monitor.up"];
        assert_eq!(kinds(&hooks), expected);
        let ids: HashSet<String> = hooks.iter().map(Hook::id).collect();
        assert_eq!(ids.len(), 4, "each one is a separate event");
        let reminder = hooks[2].json();
        assert_eq!(reminder["text"], "[site] still down after 20 min: reported down");
        let data = &reminder["data"];
        assert_eq!((&data["status"], &data["previous_status"]), (&json!("down"), &json!("down")));
        assert_eq!(data["down_seconds"], 1_200);
        assert_eq!(data["alertid"], hooks[0].json()["data"]["alertid"]);
    }

    async fn by_default_there_are_no_reminders(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        let site = fixture.monitor("site").await;
        fixture.report(&site, "down").await;
        fixture.all_are("delivered").await;
        assert_eq!(later(&fixture.app, TEN_MINUTES * 100).await, 0);
        // An interval set during the outage counts from then; removed, there are no more.
        set(&fixture.ann.client, &site, &json!({"resend_interval": 60})).await;
        assert_eq!(later(&fixture.app, Duration::from_secs(59)).await, 0);
        assert_eq!(later(&fixture.app, Duration::from_secs(1)).await, 1);
        set(&fixture.ann.client, &site, &json!({"name": "another name"})).await;
        fixture.all_are("delivered").await;
        assert_eq!(later(&fixture.app, Duration::from_secs(60)).await, 1, "the interval is unchanged");
        set(&fixture.ann.client, &site, &json!({"resend_interval": 0})).await;
        assert_eq!(later(&fixture.app, TEN_MINUTES).await, 0);
    }

    async fn a_deactivated_monitor_sends_no_reminders(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        let site = reminding_monitor(&fixture, "site").await;
        fixture.report(&site, "down").await;
        fixture.all_are("delivered").await;
        set(&fixture.ann.client, &site, &json!({"isactive": false})).await;
        assert_eq!(later(&fixture.app, TEN_MINUTES * 2).await, 0);
        set(&fixture.ann.client, &site, &json!({"isactive": true})).await;
        assert_eq!(later(&fixture.app, Duration::from_secs(599)).await, 0, "it counts from then");
        assert_eq!(later(&fixture.app, Duration::from_secs(1)).await, 1);
    }

    async fn an_unreachable_receiver_does_not_collect_reminders(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        let site = reminding_monitor(&fixture, "site").await;
        fixture.report(&site, "down").await;
        fixture.all_are("delivered").await;
        fixture.receiver.answer_with(503, "", "");
        for _ in 0..5 {
            later(&fixture.app, TEN_MINUTES).await;
            until("an attempt", || async {
                let all = fixture.deliveries().await;
                all.iter().any(|one| one["last_answer"] == "503 Service Unavailable").then_some(())
            }).await;
        }
        assert_eq!(fixture.deliveries().await.len(), 2, "one reminder waits, not five");
        // The recovery overtakes the waiting reminder.
        until("the reminder to wait for its retry", || async {
            let due = fixture.app.store.due_deliveries(fixture.app.engine.now(), 9, 9).await.unwrap();
            let all = fixture.deliveries().await;
            (due.is_empty() && all.iter().any(|one| one["state"] == "waiting")).then_some(())
        }).await;
        fixture.receiver.answer_with(200, "", "");
        let before = fixture.receiver.count();
        fixture.advance(Duration::from_secs(1));
        fixture.report(&site, "up").await;
        let hooks = fixture.receiver.wait_for_hooks(before + 1).await;
        assert_eq!(hooks[before].json()["type"], "monitor.up");
        let all = fixture.deliveries().await;
        let given_up = all.iter().find(|one| one["type"] == "monitor.reminder").unwrap();
        assert_eq!(given_up["state"], "failed");
        assert!(fixture.notifier_is_on().await);
    }

    async fn a_reminder_whose_worker_died_is_not_sent_after_the_recovery(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        let site = reminding_monitor(&fixture, "site").await;
        fixture.report(&site, "down").await;
        fixture.all_are("delivered").await;
        let DeliveryFixture { app, ann, receiver, .. } = fixture;
        let app = app.restart_with(|setup| setup.run_delivery = false).await;
        let client = app.anonymous().with_token(&ann.token);
        later(&app, TEN_MINUTES).await;
        let now = app.engine.now();
        let due = app.store.due_deliveries(now, 10, 10).await.unwrap();
        let lease = now.after(Duration::from_secs(60));
        app.store.claim_deliveries(&[due[0].id], now, lease).await.unwrap();
        report(&client, &site, "up").await;
        app.clock.advance(Duration::from_secs(61));
        let app = app.restart_with(|setup| setup.run_delivery = true).await;
        let hooks = receiver.wait_for_hooks(2).await;
        assert_eq!(kinds(&hooks), ["monitor.down", "monitor.up"]);
        app.stop().await;
    }

    async fn a_restart_and_a_second_node_change_nothing(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        let site = reminding_monitor(&fixture, "site").await;
        fixture.report(&site, "down").await;
        fixture.all_are("delivered").await;
        let DeliveryFixture { app, receiver, .. } = fixture;
        app.clock.advance(TEN_MINUTES * 7);
        let app = app.restart().await;
        let beside = app.second_node().await;
        let (here, there) = tokio::join!(process_due(&app.engine), process_due(&beside.engine));
        let written = here.unwrap().reminders + there.unwrap().reminders;
        assert_eq!(written, 1, "one replaces all missed ones");
        receiver.wait_for_hooks(2).await;
        assert_eq!(process_due(&app.engine).await.unwrap().reminders, 0);
        beside.stop().await;
    }

    async fn a_recovery_is_sent_to_notifiers_that_only_got_reminders(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        let client = &fixture.ann.client;
        let second = Receiver::start().await;
        let two = hook(&fixture.ann, &second).await;
        let site = reminding_monitor(&fixture, "site").await;
        fixture.report(&site, "down").await;
        fixture.all_are("delivered").await;
        set(client, &site, &json!({"notifiers": two["notifierid"]})).await;
        assert_eq!(later(&fixture.app, TEN_MINUTES).await, 1);
        second.wait_for_hooks(1).await;
        set(client, &site, &json!({"notifiers": ""})).await;
        fixture.report(&site, "up").await;
        assert_eq!(kinds(&fixture.receiver.wait_for_hooks(2).await), ["monitor.down", "monitor.up"]);
        assert_eq!(kinds(&second.wait_for_hooks(2).await), ["monitor.reminder", "monitor.up"]);
    }

    async fn reminder_mails_join_the_thread_of_the_outage_and_many_become_a_digest(setup: Setup) {
        let fixture = DeliveryFixture::email(setup).await;
        let site = reminding_monitor(&fixture, "site").await;
        fixture.report(&site, "down").await;
        fixture.all_are("delivered").await;
        later(&fixture.app, TEN_MINUTES).await;
        let mails = fixture.receiver.wait_for_mails(2).await;
        fixture.all_are("delivered").await;
        assert_eq!(mails[1].header("subject"), "[Down] site is still down after 10 min");
        assert_eq!(mails[1].header("in-reply-to"), mails[0].header("message-id"));
        for number in 0..20 {
            let id = reminding_monitor(&fixture, &format!("job-{number:02}")).await;
            fixture.report(&id, "down").await;
        }
        fixture.advance(Duration::from_secs(120));
        fixture.all_are("delivered").await;
        fixture.advance(Duration::from_secs(120));
        let before = fixture.receiver.mails().len();
        assert_eq!(later(&fixture.app, TEN_MINUTES).await, 21);
        fixture.all_are("delivered").await;
        let mails = fixture.receiver.mails().split_off(before);
        assert_eq!(mails.len(), 1, "more than six at once are one mail");
        assert_eq!(mails[0].header("subject"), "[Wakeful] 21 changes: 21 still down");
    }
}
