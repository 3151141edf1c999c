//! Tests of delivery over real sockets: messages arrive in order and at least once, exactly
//! once if nothing fails, and no team is delayed by another team's receivers.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::alerting::alert::{Alert, AlertKind};
use wakeful_core::heartbeat::{Beat, Heartbeat, Phases};
use wakeful_core::id::{AlertId, EventId, MonitorId, NotifierId};
use wakeful_core::monitors::Monitor;
use wakeful_core::notifications::notifier::Kind;
use wakeful_core::time::Millis;
use wakeful_core::verdict::{State, Status};
use wakeful_engine::alerting::processor::process_due;
use wakeful_engine::{janitor, notifications::delivery};
use wakeful_store::{DeliveryClaim, NewEvent, Record};
use wakeful_testkit::{
    DatabaseKind, HttpsServer, Receiver, Setup, SmtpSecurity, SmtpServer, both_databases, system,
    until, whole,
};

use crate::delivery_fixture::{DeliveryFixture, HOUR, all_are, hook, job, mail, report};

both_databases! {
    async fn an_outage_and_its_recovery_arrive_in_order_with_the_fields_of_the_contract(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        let site = fixture.monitor("site").await;
        let payload = json!({"message": "503 Service Unavailable", "load_time": 12.5, "deploy": 7});
        let body = json!({"status": "down", "payload": payload});
        fixture.ann.client.post(&format!("monitor/notify/{site}"), &body).await.ok();
        fixture.all_are("delivered").await;
        fixture.advance(Duration::from_secs(61));
        fixture.report(&site, "up").await;
        let hooks = fixture.receiver.wait_for_hooks(2).await;
        let (down, up) = (hooks[0].json(), hooks[1].json());
        assert_eq!((&down["type"], &up["type"]), (&json!("monitor.down"), &json!("monitor.up")));
        assert_eq!(down["text"], "[site] down: 503 Service Unavailable");
        let data = &down["data"];
        assert_eq!(data["eventid"], hooks[0].id());
        assert_eq!(data["monitor"]["monitorid"], site.as_str());
        assert_eq!((&data["status"], &data["message"]), (&json!("down"), &json!("503 Service Unavailable")));
        assert_eq!((&data["load_time"], &data["payload"]), (&json!(12.5), &payload));
        assert_eq!(up["data"]["down_seconds"], 61);
        assert_eq!(up["data"]["alertid"], data["alertid"]);
        assert_ne!(hooks[0].id(), hooks[1].id());
        assert!(hooks[0].header("user-agent").starts_with("Wakeful/"));
        assert_eq!(hooks[0].header("content-type"), "application/json");
        let alerts = fixture.ann.client.get("alerts").await.ok();
        assert_eq!(alerts["alerts"][0]["deliveries"].as_array().unwrap().len(), 2);
    }

    async fn every_kind_of_notifier_is_sent(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (receiver, inbox) = (Receiver::start().await, SmtpServer::start(SmtpSecurity::Plain).await);
        // Those of known services and of browsers have tests of their own, in the crate of the API.
        let is_personal = |kind: &Kind| *kind == Kind::Webpush;
        for kind in Kind::ALL.iter().filter(|kind| kind.service().is_none() && !is_personal(kind)) {
            let notifier = match kind {
                Kind::Email => mail(&ann, &inbox).await,
                Kind::Webhook => hook(&ann, &receiver).await,
                Kind::Account => {
                    app.verify(&ann).await;
                    ann.client.post("notifier/save", &json!({"type": "account"})).await.json()
                }
                service => panic!("{service} is a service"),
            };
            let site = job(&ann.client, kind.as_str(), &notifier).await;
            report(&ann.client, &site, "down").await;
            all_are(&ann.client, &notifier, "delivered").await;
        }
        assert_eq!((receiver.count(), inbox.mails().len()), (1, 1));
        assert_eq!(app.mails("ann@example.com", 2).await.len(), 2, "welcome and outage");
    }

    async fn a_failing_receiver_is_retried_with_the_same_id_until_it_accepts(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        fixture.receiver.answer_with(503, "", "not now");
        let site = fixture.monitor("site").await;
        fixture.report(&site, "down").await;
        for attempt in 1..=3 {
            let all = fixture.tried(attempt).await;
            assert_eq!(all[0]["state"], "waiting");
            assert_eq!(all[0]["last_answer"], "503 Service Unavailable: not now");
            fixture.advance(Duration::from_secs(150));
        }
        fixture.receiver.answer_with(200, "", "");
        let all = fixture.all_are("delivered").await;
        assert_eq!(all[0]["last_answer"], "200 OK");
        let hooks = fixture.receiver.hooks();
        let ids: HashSet<String> = hooks.iter().map(wakeful_testkit::Hook::id).collect();
        assert_eq!(ids.len(), 1);
        assert!(hooks.len() >= 4);
        assert_ne!(hooks[0].header("webhook-timestamp"), hooks[3].header("webhook-timestamp"));
        assert_ne!(hooks[0].header("webhook-signature"), hooks[3].header("webhook-signature"));
    }

    async fn after_the_last_retry_it_is_given_up_and_shown(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        fixture.receiver.answer_with(500, "", "");
        let site = fixture.monitor("site").await;
        fixture.report(&site, "down").await;
        for attempt in 1..=9 {
            let all = fixture.tried(attempt).await;
            fixture.advance_to_next_try(&all[0]);
        }
        let all = fixture.all_are("failed").await;
        assert_eq!((&all[0]["attempts"], &all[0]["next_try"]), (&json!(10), &Value::Null));
        assert_eq!(fixture.receiver.count(), 10);
    }

    async fn an_outage_that_ended_before_delivery_is_one_message(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        fixture.receiver.answer_with(503, "", "");
        let site = fixture.monitor("site").await;
        fixture.report(&site, "down").await;
        fixture.tried(1).await;
        fixture.advance(Duration::from_secs(2));
        fixture.report(&site, "up").await;
        fixture.receiver.answer_with(200, "", "");
        fixture.advance(Duration::from_secs(60));
        fixture.all_are("delivered").await;
        let hooks = fixture.receiver.hooks();
        assert_eq!(hooks.len(), 2);
        let event = hooks[1].json();
        assert_eq!(event["type"], "monitor.up");
        assert!(event["text"].as_str().unwrap().starts_with("[site] was down from 2026-"), "{event}");
        assert_eq!(event["data"]["down_eventid"], hooks[0].id());
        assert_eq!(event["data"]["eventid"], hooks[1].id());
    }

    async fn a_notified_outage_is_followed_by_its_recovery(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (old, new) = (Receiver::start().await, Receiver::start().await);
        let (before, after) = (hook(&ann, &old).await, hook(&ann, &new).await);
        let site = job(&ann.client, "site", &before).await;
        report(&ann.client, &site, "down").await;
        old.wait_for_hooks(1).await;
        let moved = json!({"monitorid": site, "notifiers": after["notifierid"]});
        ann.client.post("monitor/save", &moved).await.ok();
        report(&ann.client, &site, "up").await;
        assert_eq!(old.wait_for_hooks(2).await[1].json()["type"], "monitor.up");
        new.wait_for_hooks(1).await;
        report(&ann.client, &site, "down").await;
        assert_eq!(new.wait_for_hooks(2).await[1].json()["type"], "monitor.down");
        assert_eq!(old.count(), 2, "it is no longer linked");
    }

    async fn later_messages_wait_for_earlier_ones(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        fixture.receiver.answer_after(Duration::from_millis(300));
        let site = fixture.monitor("site").await;
        let mut reported = Vec::new();
        for round in 0..6 {
            let status = if round % 2 == 0 { "down" } else { "up" };
            fixture.report(&site, status).await;
            reported.push(format!("monitor.{status}"));
        }
        let hooks = fixture.receiver.wait_for_hooks(6).await;
        let received: Vec<String> =
            hooks.iter().map(|hook| hook.json()["type"].as_str().unwrap().to_owned()).collect();
        assert_eq!(received, reported);
        assert_eq!(fixture.receiver.most_at_once(), 1);
    }

    async fn a_410_disables_the_notifier_and_notifies_its_team(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        fixture.app.mails("ann@example.com", 1).await;
        fixture.receiver.answer_with(410, "", "bye");
        let (one, two) = (fixture.monitor("one").await, fixture.monitor("two").await);
        fixture.report(&one, "down").await;
        let all = fixture.all_are("failed").await;
        assert_eq!(all[0]["last_answer"], "410 Gone: bye");
        let mails = fixture.app.mails("ann@example.com", 2).await;
        assert!(mails.iter().any(|mail| mail.contains("Subject: Notifier hook was turned off")));
        fixture.report(&two, "down").await;
        let off = fixture.ann.client.get("notifiers").await.ok()["notifiers"][0].clone();
        assert_eq!(off["isactive"], false);
        assert!(off["disabled_reason"].as_str().unwrap().contains("410"), "{off}");
        assert_eq!(fixture.receiver.count(), 1, "nothing more was sent");
        fixture.receiver.answer_with(200, "", "");
        let on = json!({"notifierid": fixture.notifier_id(), "isactive": true});
        fixture.ann.client.post("notifier/save", &on).await;
        fixture.report(&two, "up").await;
        assert_eq!(fixture.receiver.wait_for_hooks(2).await[1].json()["type"], "monitor.up");
    }

    async fn five_days_of_failures_disable_it_and_one_success_prevents_that(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        fixture.app.mails("ann@example.com", 1).await;
        fixture.receiver.answer_with(500, "", "");
        let site = fixture.monitor("site").await;
        fixture.report(&site, "down").await;
        fixture.tried(1).await;
        fixture.advance(119 * HOUR);
        fixture.receiver.answer_with(200, "", "");
        fixture.all_are("delivered").await;
        fixture.receiver.answer_with(500, "", "");
        fixture.report(&site, "up").await;
        for attempt in 1..=5 {
            until(&format!("failure {attempt}"), || async {
                let all = fixture.deliveries().await;
                fixture.waits_after(&all[0], attempt).then_some(())
            }).await;
            assert!(fixture.notifier_is_on().await, "{attempt}");
            fixture.advance(24 * HOUR);
        }
        until("the notifier to be off", || async {
            (!fixture.notifier_is_on().await).then_some(())
        }).await;
        assert_eq!(fixture.receiver.count(), 8);
        fixture.app.mails("ann@example.com", 2).await;
    }

    async fn a_failure_of_last_week_does_not_count_against_a_receiver(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        fixture.receiver.answer_with(503, "", "");
        let site = fixture.monitor("site").await;
        fixture.report(&site, "down").await;
        fixture.tried(1).await;
        fixture.advance(144 * HOUR);
        fixture.tried(2).await;
        assert!(fixture.notifier_is_on().await);
        fixture.receiver.answer_with(200, "", "");
        fixture.advance(HOUR);
        fixture.all_are("delivered").await;
        assert!(fixture.notifier_is_on().await);
    }

    async fn a_successful_test_resets_the_failure_streak(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        let id = NotifierId::parse(fixture.notifier_id()).unwrap();
        let fails = async || {
            let now = fixture.app.engine.now();
            let nothing = DeliveryClaim { ids: &[], lease: now };
            let store = &fixture.app.store;
            let since = store.deliveries_failed(id, nothing, "503", None, now).await.unwrap();
            now.since(since.unwrap())
        };
        let body = json!({"notifierid": fixture.notifier_id()});
        assert_eq!(fails().await, Duration::ZERO);
        fixture.advance(HOUR);
        fixture.receiver.answer_with(503, "", "");
        assert_eq!(fixture.ann.client.post("notifier/test", &body).await.status, 502);
        assert_eq!(fails().await, HOUR, "a failed test resets nothing");
        fixture.receiver.answer_with(200, "", "");
        fixture.ann.client.post("notifier/test", &body).await.ok();
        fixture.advance(HOUR);
        assert_eq!(fails().await, Duration::ZERO);
    }

    async fn a_reenabled_notifier_sends_nothing_from_before(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        fixture.receiver.answer_with(500, "", "");
        let site = fixture.monitor("site").await;
        let turn = async |on: bool| {
            let body = json!({"notifierid": fixture.notifier_id(), "isactive": on});
            assert_eq!(fixture.ann.client.post("notifier/save", &body).await.status, 200);
        };
        fixture.report(&site, "down").await;
        fixture.tried(1).await;
        turn(false).await;
        let all = fixture.all_are("failed").await;
        let again = format!("delivery/{}/resend", all[0]["deliveryid"].as_str().unwrap());
        fixture.ann.client.post_nothing(&again).await.refused(409, "notifier_off");
        fixture.advance(HOUR);
        fixture.report(&site, "up").await;
        fixture.receiver.answer_with(200, "", "");
        turn(true).await;
        fixture.advance(HOUR);
        fixture.report(&site, "down").await;
        let hooks = fixture.receiver.wait_for_hooks(2).await;
        let down = fixture.deliveries().await[0]["eventid"].clone();
        assert_eq!(hooks[1].json()["data"]["eventid"], down, "only the new event is sent");
        fixture.ann.client.post_nothing(&again).await.ok();
        assert_eq!(fixture.receiver.wait_for_hooks(3).await[2].id(), hooks[0].id(), "except on request");
    }

    async fn each_certificate_warning_is_sent_once(setup: Setup) {
        const DAY: Duration = Duration::from_secs(86_400);
        let fixture = DeliveryFixture::webhook(setup).await;
        let site = HttpsServer::until("127.0.0.1", fixture.app.engine.now().after(30 * DAY)).await;
        let body = json!({"name": "site", "type": "http", "heartbeat_interval": 2_592_000,
            "isactive": true, "upside_down_mode": false, "notifiers": fixture.notifier_id(),
            "http": {"url": site.url, "ignore_tls_error": true,
                "certificate_expiry_notification": true}});
        let json = fixture.ann.client.post("monitor/save", &body).await.ok();
        let check = format!("monitor/{}/check", json["monitor"]["monitorid"].as_str().unwrap());
        let mut expected = 0;
        for days in 1..=30 {
            fixture.advance(DAY);
            for _ in 0..2 {
                fixture.ann.client.post_nothing(&check).await.ok();
            }
            expected += usize::from([21, 14, 7, 3, 1, 0].contains(&(30 - days)));
            assert_eq!(fixture.deliveries().await.len(), expected, "day {days}");
        }
        fixture.all_are("delivered").await;
        let hooks = fixture.receiver.hooks();
        assert_eq!(hooks.len(), 6);
        for hook in hooks {
            assert_eq!(hook.json()["type"], "monitor.certificate_expiring");
        }
    }

    async fn a_clock_that_is_set_forward_sends_nothing_twice(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        receiver.answer_after(Duration::from_secs(4));
        let notifier = hook(&ann, &receiver).await;
        let site = job(&ann.client, "site", &notifier).await;
        report(&ann.client, &site, "down").await;
        receiver.wait_for_hooks(1).await;
        app.clock.advance(Duration::from_secs(120));
        // Another message causes a poll of the outbox.
        let other = Receiver::start().await;
        let beside = hook(&ann, &other).await;
        let second = job(&ann.client, "second", &beside).await;
        for (count, status) in [(1, "down"), (2, "up")] {
            report(&ann.client, &second, status).await;
            other.wait_for_hooks(count).await;
        }
        all_are(&ann.client, &notifier, "delivered").await;
        assert_eq!(receiver.count(), 1);
    }

    async fn a_change_the_store_rejected_is_sent_before_the_next(setup: Setup) {
        let kind = setup.database_kind;
        let fixture = DeliveryFixture::webhook(setup).await;
        let site = fixture.monitor("site").await;
        let (refuse, allow) = match kind {
            DatabaseKind::Sqlite => (
                "create trigger refuse before insert on alerts
                 begin select raise(abort, 'refused'); end",
                "drop trigger refuse",
            ),
            DatabaseKind::Postgres => (
                "create function refuse() returns trigger language plpgsql
                     as 'begin raise exception $m$refused$m$; end';
                 create trigger refuse before insert on alerts
                     for each row execute function refuse()",
                "drop trigger refuse on alerts",
            ),
        };
        fixture.app.database.execute(refuse).await;
        let path = format!("monitor/notify/{site}");
        fixture.ann.client.post(&path, &json!({"status": "down"})).await.refused(503, "unavailable");
        fixture.app.database.execute(allow).await;
        fixture.report(&site, "up").await;
        let hooks = fixture.receiver.wait_for_hooks(2).await;
        let kinds: Vec<Value> = hooks.iter().map(|hook| hook.json()["type"].clone()).collect();
        assert_eq!(kinds, ["monitor.down", "monitor.up"]);
        let alerts = fixture.ann.client.get("alerts").await.ok();
        assert_eq!(alerts["alerts"].as_array().unwrap().len(), 1);
        assert!(alerts["alerts"][0]["ended"].is_string(), "{alerts}");
    }

    async fn messages_and_alerts_are_deleted_after_retention(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        let (over, open) = (fixture.monitor("over").await, fixture.monitor("open").await);
        fixture.report(&over, "down").await;
        fixture.report(&open, "down").await;
        fixture.receiver.wait_for_hooks(2).await;
        fixture.report(&over, "up").await;
        fixture.all_are("delivered").await;
        let sweep = async || {
            janitor::sweep(&fixture.app.engine).await.unwrap();
            let database = &fixture.app.database;
            (database.rows("deliveries").await, database.rows("alerts").await)
        };
        fixture.receiver.wait_for_hooks(3).await;
        assert_eq!(sweep().await, (3, 2));
        fixture.advance(HOUR * 24 * 366);
        assert_eq!(sweep().await, (1, 2), "deliveries of an ongoing outage are retained");
        fixture.advance(HOUR * 24 * 3_650);
        assert_eq!(sweep().await, (1, 1));
        // A refused deletion deletes nothing.
        let path = format!("notifier/{}/delete", fixture.notifier_id());
        let again = fixture.ann.log_in(&fixture.app.anonymous()).await;
        again.client.delete(&path).await.refused(409, "notifier_linked");
        assert_eq!(sweep().await, (1, 1));
    }

    async fn a_row_whose_worker_died_is_sent_when_its_lease_ends(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        // For as long as an attempt may take: however slow this machine is, no response arrives first.
        fixture.receiver.answer_after(Duration::from_secs(60));
        let site = fixture.monitor("site").await;
        fixture.report(&site, "down").await;
        fixture.receiver.wait_for_hooks(1).await;
        // Another worker must not claim the row while it is being sent.
        let now = fixture.app.engine.now();
        assert_eq!(fixture.app.store.due_deliveries(now, 10, 10).await.unwrap(), []);
        let later = now.after(Duration::from_secs(61));
        let due = fixture.app.store.due_deliveries(later, 10, 10).await.unwrap();
        assert_eq!(due.len(), 1, "its lease has ended by then");
        let claimed = fixture.app.store.claim_deliveries(&[due[0].id], later, later).await.unwrap();
        assert_eq!(claimed[0].event.to_string(), fixture.receiver.hooks()[0].id());
    }

    async fn a_stored_template_that_is_not_allowed_is_not_rendered(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (receiver, inbox) = (Receiver::start().await, SmtpServer::start(SmtpSecurity::Plain).await);
        // Older versions accepted these: the text behind the comment was not checked, and
        // because of the condition it was not rendered.
        let doublings = "{% set a = a ~ a %}".repeat(40);
        let bomb = format!(
            "{{#}}#}}{{% if status == 'down' %}}{{% set a = text %}}{doublings}{{{{ a }}}}{{% endif %}}"
        );
        let deep = format!("{{#-}}#}}{{{{ {}1 }}}}", "-".repeat(16_000));
        for (template, site) in [(bomb.as_str(), "one"), (deep.as_str(), "two")] {
            let notifier = hook(&ann, &receiver).await;
            let config = Value::from(template).to_string().replace('\'', "''");
            app.database
                .execute(&format!("update notifiers set config = '{config}' where kind = 'webhook'"))
                .await;
            let shown = ann.client.get("notifiers").await.ok();
            assert_eq!(shown["notifiers"][0]["webhook"]["template"], template, "it is shown");
            let site = job(&ann.client, site, &notifier).await;
            report(&ann.client, &site, "down").await;
            all_are(&ann.client, &notifier, "delivered").await;
        }
        for hook in receiver.wait_for_hooks(2).await {
            assert_eq!(hook.json()["type"], "monitor.down", "in the standard format");
        }
        let notifier = mail(&ann, &inbox).await;
        app.database
            .execute(&format!(
                "update notifiers
                 set config = replace(config, '\"subject\":\"\"', '\"subject\":{}')
                 where kind = 'email'",
                Value::from(bomb).to_string().replace('\'', "''")
            ))
            .await;
        let site = job(&ann.client, "three", &notifier).await;
        report(&ann.client, &site, "down").await;
        all_are(&ann.client, &notifier, "delivered").await;
        let subject = inbox.wait_for_mails(1).await[0].header("subject");
        assert!(subject.starts_with("[Down] three"), "{subject}");
    }

    async fn a_message_that_crashed_three_processes_is_given_up(setup: Setup) {
        let fixture = DeliveryFixture::webhook(setup).await;
        fixture.receiver.answer_with(503, "", "not now");
        let (bad, good) = (fixture.monitor("bad").await, fixture.monitor("good").await);
        fixture.report(&bad, "down").await;
        fixture.tried(1).await;
        // Three other processes have claimed it and crashed.
        fixture.app.database.execute("update deliveries set claims = 3, claimed_by = null").await;
        fixture.receiver.answer_with(200, "", "");
        fixture.report(&bad, "up").await;
        fixture.report(&good, "down").await;
        fixture.advance(Duration::from_secs(61));
        let all = until("all to be finished", || async {
            let all = fixture.deliveries().await;
            all.iter().all(|one| one["state"] != "waiting").then_some(all)
        })
        .await;
        let failed: Vec<&Value> = all.iter().filter(|one| one["state"] == "failed").collect();
        assert_eq!(failed.len(), 1, "{all:?}");
        assert_eq!(failed[0]["last_answer"], "gave up after three crashes");
        assert_eq!(failed[0]["type"], "monitor.down");
        let alerts = fixture.ann.client.get("alerts").await.ok();
        assert!(alerts.to_string().contains("gave up after three crashes"), "{alerts}");
        // A user can send it again.
        let path = format!("delivery/{}/resend", failed[0]["deliveryid"].as_str().unwrap());
        fixture.ann.client.post_nothing(&path).await.ok();
        fixture.all_are("delivered").await;
    }

    async fn a_storm_reaches_a_webhook_a_few_at_a_time(setup: Setup) {
        const STORM: u16 = 2_000;
        let fixture = DeliveryFixture::webhook(setup).await;
        let first = fixture.monitor("first").await;
        let first = MonitorId::parse(&first).unwrap();
        let known = fixture.app.store.monitors_by_id(&[first]).await.unwrap();
        let team = fixture.app.store.team(&whole(known[0].monitor.team));
        let mut records = Vec::new();
        for number in 0..STORM {
            let [high, low] = number.to_be_bytes();
            let random = [high, low, 1, 1, 1, 1, 1, 1, 1, 1];
            let id = MonitorId::new(fixture.app.engine.now(), random);
            let notifiers = vec![NotifierId::parse(fixture.notifier_id()).unwrap()];
            let monitor = Monitor { id, notifiers, push_token: None, ..known[0].monitor.clone() };
            team.add_monitor(&monitor, &system()).await.unwrap();
            records.push(down(&monitor, random, fixture.app.engine.now()));
        }
        fixture.app.store.record(&records).await.unwrap();
        process_due(&fixture.app.engine).await.unwrap();
        fixture.receiver.wait_for_hooks(usize::from(STORM / 2)).await;
        let hooks = fixture.receiver.wait_for_hooks(usize::from(STORM)).await;

        let ids: HashSet<String> = hooks.iter().map(wakeful_testkit::Hook::id).collect();
        assert_eq!((hooks.len(), ids.len()), (usize::from(STORM), usize::from(STORM)));
        assert!(fixture.receiver.most_at_once() <= 10, "{}", fixture.receiver.most_at_once());
    }

    async fn a_team_with_receivers_that_hang_delays_no_other_team(setup: Setup) {
        let app = setup.start().await;
        let noisy = app.sign_up("noisy@example.com").await;
        let ann = app.sign_up("ann@example.com").await;
        let (hanging, fine) = (Receiver::start().await, Receiver::start().await);
        hanging.answer_after(Duration::from_secs(60));
        for _ in 0..8 {
            let notifier = hook(&noisy, &hanging).await;
            for number in 0..15 {
                let site = job(&noisy.client, &format!("noisy {number}"), &notifier).await;
                report(&noisy.client, &site, "down").await;
            }
        }
        hanging.wait_for_hooks(50).await;
        let notifier = hook(&ann, &fine).await;
        let site = job(&ann.client, "site", &notifier).await;
        let began = tokio::time::Instant::now();
        report(&ann.client, &site, "down").await;
        fine.wait_for_hooks(1).await;
        let took = began.elapsed();
        assert!(took < Duration::from_secs(8), "{took:?}");
        assert!(hanging.most_at_once() <= 50, "{}", hanging.most_at_once());
    }

    async fn four_workers_send_each_of_2_000_rows_once_to_receivers_that_are_slow(setup: Setup) {
        const TEAMS: usize = 5;
        const NOTIFIERS: usize = 8;
        const MONITORS: u8 = 50;
        let app = setup.start().await;
        let receiver = Receiver::start().await;
        receiver.answer_after(Duration::from_secs(3));
        let mut records = Vec::new();
        for team in 0..TEAMS {
            let ann = app.sign_up(&format!("ann{team}@example.com")).await;
            let mut notifiers = Vec::new();
            for _ in 0..NOTIFIERS {
                let notifier = hook(&ann, &receiver).await;
                notifiers.push(NotifierId::parse(notifier["notifierid"].as_str().unwrap()).unwrap());
            }
            let first = job(&ann.client, "first", &json!({})).await;
            let first = MonitorId::parse(&first).unwrap();
            let known = app.store.monitors_by_id(&[first]).await.unwrap();
            let monitor = known[0].monitor.clone();
            let store = app.store.team(&whole(monitor.team));
            for number in 0..MONITORS {
                let random = [u8::try_from(team).unwrap(), number, 1, 1, 1, 1, 1, 1, 1, 1];
                let id = MonitorId::new(app.engine.now(), random);
                let notifiers = notifiers.clone();
                let monitor = Monitor { id, notifiers, push_token: None, ..monitor.clone() };
                store.add_monitor(&monitor, &system()).await.unwrap();
                records.push(down(&monitor, random, app.engine.now()));
            }
        }
        let rows = records.len() * NOTIFIERS;
        assert_eq!(rows, 2_000);
        let stop = CancellationToken::new();
        let mut workers = tokio::task::JoinSet::new();
        for _ in 0..3 {
            workers.spawn(delivery::run(app.engine.clone(), stop.clone(), Duration::ZERO));
        }
        app.store.record(&records).await.unwrap();
        process_due(&app.engine).await.unwrap();
        receiver.wait_for_hooks(200).await;
        // The clock advances by more than any attempt may take, and still no other worker
        // claims the messages.
        app.clock.advance(Duration::from_secs(45));
        for share in [rows / 2, rows] {
            receiver.wait_for_hooks(share).await;
        }
        for max in [rows / 2, 0] {
            until("all outcomes to be recorded", || async {
                let waiting = app.store.count_waiting(u32::MAX).await.ok()?;
                (usize::try_from(waiting).unwrap() <= max).then_some(())
            }).await;
        }
        stop.cancel();
        while workers.join_next().await.is_some() {}
        let ids: Vec<(String, String)> = receiver
            .hooks()
            .iter()
            .map(|hook| (hook.id(), hook.header("webhook-signature").to_owned()))
            .collect();
        let distinct: HashSet<&(String, String)> = ids.iter().collect();
        assert_eq!((ids.len(), distinct.len()), (rows, rows));
    }
}

/// The record of an outage, with its event.
fn down(monitor: &Monitor, random: [u8; 10], now: Millis) -> Record {
    let (event, alert) = (EventId::new(now, random), AlertId::new(now, random));
    let body = json!({"type": "monitor.down", "timestamp": now, "text": "[first] down: storm",
        "data": {"eventid": event, "alertid": alert, "monitor": {"monitorid": monitor.id,
            "name": "first", "type": "api", "target": "", "tags": []}, "status": "down",
            "previous_status": "up", "message": "storm", "load_time": null, "down_since": now,
            "down_seconds": 0, "payload": null}});
    let heartbeat = Heartbeat {
        at: now,
        status: Beat::Down,
        message: "storm".into(),
        load_time: None,
        phases: Phases::default(),
        regions: Vec::new(),
        readings: Default::default(),
    };
    Record {
        monitor: monitor.id,
        seq: 1,
        heartbeat,
        state: State { status: Status::Down, ..State::default() },
        opens: vec![Alert {
            id: alert,
            team: monitor.team,
            monitor: monitor.id,
            kind: AlertKind::Outage,
            severity: monitor.severity,
            cause: "storm".into(),
            reason: None,
            started: now,
            ended: None,
        }],
        closes: None,
        events: vec![NewEvent { id: event, kind: "monitor.down", alert, body: body.to_string() }],
        certificate: None,
        evidence: Vec::new(),
        grant: None,
    }
}

#[tokio::test]
async fn a_clock_that_is_set_back_delays_no_message() {
    // Nodes that share a store follow its clock and not their own.
    let fixture = DeliveryFixture::webhook(Setup::on(DatabaseKind::Sqlite)).await;
    let (app, ann) = (&fixture.app, &fixture.ann);
    fixture.receiver.answer_with(503, "", "not now");
    let inbox = SmtpServer::start(SmtpSecurity::Plain).await;
    let email_notifier = mail(ann, &inbox).await;
    let site = fixture.monitor("site").await;
    fixture.report(&site, "down").await;
    fixture.tried(1).await;
    // As many mails as a recipient gets in a minute.
    let post = job(&ann.client, "post", &email_notifier).await;
    for count in 1..=6 {
        fixture.report(&post, if count % 2 == 1 { "down" } else { "up" }).await;
        inbox.wait_for_mails(count).await;
    }
    all_are(&ann.client, &email_notifier, "delivered").await;
    fixture.receiver.answer_with(200, "", "");
    app.clock.set_back(HOUR);
    until("the retries to be moved", || async {
        let now = app.engine.now();
        let sql = format!("select count(*) from deliveries where next_try > {}", now.0 + 60_000);
        (app.database.number(&sql).await == 0).then_some(())
    })
    .await;
    fixture.advance(Duration::from_secs(10));
    fixture.report(&post, "down").await;
    inbox.wait_for_mails(7).await;
    fixture.all_are("delivered").await;
    assert_eq!(fixture.receiver.count(), 2);
}
