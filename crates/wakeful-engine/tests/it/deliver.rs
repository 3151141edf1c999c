//! Telling people, over real sockets: in order, at least once, each once where
//! nothing breaks, and nobody held up by somebody else's receiver.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::id::{AlertId, EventId, MonitorId, NotifierId};
use wakeful_core::monitor::Monitor;
use wakeful_core::observation::Phases;
use wakeful_core::time::Millis;
use wakeful_core::verdict::{Beat, Heartbeat, State, Status};
use wakeful_engine::{deliver, janitor};
use wakeful_store::{NewEvent, Record};
use wakeful_testkit::{
    App, Client, Engine, Inbox, Line, Receiver, Setup, Site, User, both_engines, until,
};

use crate::mail::mail;

pub(crate) const HOUR: Duration = Duration::from_secs(3600);

pub(crate) async fn hook(user: &User, receiver: &Receiver) -> Value {
    let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
    user.client.post("notifier/save", &body).await.json()
}

pub(crate) async fn job(client: &Client, name: &str, notifier: &Value) -> String {
    let body = json!({"name": name, "type": "api", "heartbeat_interval": 2_592_000,
        "isactive": true, "upside_down_mode": false, "notifiers": notifier["notifierid"]});
    let json = client.post("monitor/save", &body).await.ok();
    json["monitor"]["monitorid"].as_str().unwrap().to_owned()
}

pub(crate) async fn report(client: &Client, monitor: &str, status: &str) {
    client.post(&format!("monitor/notify/{monitor}"), &json!({"status": status})).await.ok();
}

pub(crate) async fn deliveries(client: &Client, notifier: &Value) -> Vec<Value> {
    let id = notifier["notifierid"].as_str().unwrap();
    let json = client.get(&format!("notifier/{id}/deliveries")).await.ok();
    json["deliveries"].as_array().unwrap().clone()
}

/// The deliveries, once all of them have this state.
pub(crate) async fn all_are(client: &Client, notifier: &Value, state: &str) -> Vec<Value> {
    until(&format!("all to be {state}"), || async {
        let all = deliveries(client, notifier).await;
        (!all.is_empty() && all.iter().all(|one| one["state"] == state)).then_some(all)
    })
    .await
}

/// The deliveries, once the oldest has failed so many times and waits again.
pub(crate) async fn tried(
    app: &App,
    client: &Client,
    notifier: &Value,
    attempts: i64,
) -> Vec<Value> {
    until(&format!("attempt {attempts}"), || async {
        let all = deliveries(client, notifier).await;
        let now = app.engine.now().to_string();
        let waits = all.last().is_some_and(|one| {
            let ahead = one["next_try"].as_str().is_some_and(|next| next > now.as_str());
            one["attempts"] == attempts && ahead
        });
        waits.then_some(all)
    })
    .await
}

pub(crate) async fn is_on(client: &Client) -> bool {
    let json = client.get("notifiers").await.ok();
    json["notifiers"][0]["isactive"] == true
}

both_engines! {
    async fn an_outage_and_its_end_arrive_in_order_with_the_fields_of_the_contract(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = hook(&ann, &receiver).await;
        let site = job(&ann.client, "site", &made).await;
        let payload = json!({"message": "503 Service Unavailable", "load_time": 12.5, "deploy": 7});
        let body = json!({"status": "down", "payload": payload});
        ann.client.post(&format!("monitor/notify/{site}"), &body).await.ok();
        all_are(&ann.client, &made, "delivered").await;
        app.clock.advance(Duration::from_secs(61));
        report(&ann.client, &site, "up").await;
        let hooks = receiver.received(2).await;
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
        let alerts = ann.client.get("alerts").await.ok();
        assert_eq!(alerts["alerts"][0]["deliveries"].as_array().unwrap().len(), 2);
    }

    async fn a_receiver_that_fails_is_tried_again_with_the_same_id_until_it_takes(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        receiver.answers(503, "", "not now");
        let made = hook(&ann, &receiver).await;
        let site = job(&ann.client, "site", &made).await;
        report(&ann.client, &site, "down").await;
        for attempt in 1..=3 {
            let all = tried(&app, &ann.client, &made, attempt).await;
            assert_eq!(all[0]["state"], "waiting");
            assert_eq!(all[0]["last_answer"], "503 Service Unavailable: not now");
            app.clock.advance(Duration::from_secs(150));
        }
        receiver.answers(200, "", "");
        let all = all_are(&ann.client, &made, "delivered").await;
        assert_eq!(all[0]["last_answer"], "200 OK");
        let hooks = receiver.hooks();
        let ids: HashSet<String> = hooks.iter().map(wakeful_testkit::Hook::id).collect();
        assert_eq!(ids.len(), 1);
        assert!(hooks.len() >= 4);
        assert_ne!(hooks[0].header("webhook-timestamp"), hooks[3].header("webhook-timestamp"));
        assert_ne!(hooks[0].header("webhook-signature"), hooks[3].header("webhook-signature"));
    }

    async fn after_the_last_step_it_is_given_up_and_shown(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        receiver.answers(500, "", "");
        let made = hook(&ann, &receiver).await;
        let site = job(&ann.client, "site", &made).await;
        report(&ann.client, &site, "down").await;
        for attempt in 1..=9 {
            let all = tried(&app, &ann.client, &made, attempt).await;
            let next = Millis::parse(all[0]["next_try"].as_str().unwrap()).unwrap();
            app.clock.advance(next.since(app.engine.now()));
        }
        let all = all_are(&ann.client, &made, "failed").await;
        assert_eq!((&all[0]["attempts"], &all[0]["next_try"]), (&json!(10), &Value::Null));
        assert_eq!(receiver.count(), 10);
    }

    async fn an_outage_that_was_over_before_anybody_could_be_told_is_one_message(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        receiver.answers(503, "", "");
        let made = hook(&ann, &receiver).await;
        let site = job(&ann.client, "site", &made).await;
        report(&ann.client, &site, "down").await;
        tried(&app, &ann.client, &made, 1).await;
        app.clock.advance(Duration::from_secs(2));
        report(&ann.client, &site, "up").await;
        receiver.answers(200, "", "");
        app.clock.advance(Duration::from_secs(60));
        all_are(&ann.client, &made, "delivered").await;
        let hooks = receiver.hooks();
        assert_eq!(hooks.len(), 2);
        let told = hooks[1].json();
        assert_eq!(told["type"], "monitor.up");
        assert!(told["text"].as_str().unwrap().starts_with("[site] was down from 2026-"), "{told}");
        assert_eq!(told["data"]["down_eventid"], hooks[0].id());
        assert_eq!(told["data"]["eventid"], hooks[1].id());
    }

    async fn who_was_told_of_an_outage_is_told_of_its_end(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (old, new) = (Receiver::start().await, Receiver::start().await);
        let (before, after) = (hook(&ann, &old).await, hook(&ann, &new).await);
        let site = job(&ann.client, "site", &before).await;
        report(&ann.client, &site, "down").await;
        old.received(1).await;
        let moved = json!({"monitorid": site, "notifiers": after["notifierid"]});
        ann.client.post("monitor/save", &moved).await.ok();
        report(&ann.client, &site, "up").await;
        assert_eq!(old.received(2).await[1].json()["type"], "monitor.up");
        new.received(1).await;
        report(&ann.client, &site, "down").await;
        assert_eq!(new.received(2).await[1].json()["type"], "monitor.down");
        assert_eq!(old.count(), 2, "it is no longer linked");
    }

    async fn what_comes_later_waits_for_what_came_before(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        receiver.takes(Duration::from_millis(300));
        let made = hook(&ann, &receiver).await;
        let site = job(&ann.client, "site", &made).await;
        let mut said = Vec::new();
        for round in 0..6 {
            let status = if round % 2 == 0 { "down" } else { "up" };
            report(&ann.client, &site, status).await;
            said.push(format!("monitor.{status}"));
        }
        let hooks = receiver.received(6).await;
        let heard: Vec<String> =
            hooks.iter().map(|hook| hook.json()["type"].as_str().unwrap().to_owned()).collect();
        assert_eq!(heard, said);
        assert_eq!(receiver.most_at_once(), 1);
    }

    async fn gone_turns_the_notifier_off_and_its_team_is_told(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        app.mails("ann@example.com", 1).await;
        let receiver = Receiver::start().await;
        receiver.answers(410, "", "bye");
        let made = hook(&ann, &receiver).await;
        let (one, two) = (job(&ann.client, "one", &made).await, job(&ann.client, "two", &made).await);
        report(&ann.client, &one, "down").await;
        let all = all_are(&ann.client, &made, "failed").await;
        assert_eq!(all[0]["last_answer"], "410 Gone: bye");
        let mails = app.mails("ann@example.com", 2).await;
        assert!(mails.iter().any(|mail| mail.contains("Subject: The notifier hook was turned off")));
        report(&ann.client, &two, "down").await;
        let off = ann.client.get("notifiers").await.ok()["notifiers"][0].clone();
        assert_eq!(off["isactive"], false);
        assert!(off["disabled_reason"].as_str().unwrap().contains("410"), "{off}");
        assert_eq!(receiver.count(), 1, "nothing more was sent");
        receiver.answers(200, "", "");
        let on = json!({"notifierid": made["notifierid"], "isactive": true});
        ann.client.post("notifier/save", &on).await;
        report(&ann.client, &two, "up").await;
        assert_eq!(receiver.received(2).await[1].json()["type"], "monitor.up");
    }

    async fn five_days_of_failing_turn_it_off_and_one_success_does_not(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        app.mails("ann@example.com", 1).await;
        let receiver = Receiver::start().await;
        receiver.answers(500, "", "");
        let made = hook(&ann, &receiver).await;
        let site = job(&ann.client, "site", &made).await;
        report(&ann.client, &site, "down").await;
        tried(&app, &ann.client, &made, 1).await;
        app.clock.advance(119 * HOUR);
        receiver.answers(200, "", "");
        all_are(&ann.client, &made, "delivered").await;
        receiver.answers(500, "", "");
        report(&ann.client, &site, "up").await;
        for attempt in 1..=5 {
            until(&format!("failure {attempt}"), || async {
                let all = deliveries(&ann.client, &made).await;
                let now = app.engine.now().to_string();
                let waits = all[0]["next_try"].as_str().is_some_and(|next| next > now.as_str());
                (all[0]["attempts"] == attempt && waits).then_some(())
            }).await;
            assert!(is_on(&ann.client).await, "{attempt}");
            app.clock.advance(24 * HOUR);
        }
        until("the notifier to be off", || async { (!is_on(&ann.client).await).then_some(()) }).await;
        assert_eq!(receiver.count(), 8);
        app.mails("ann@example.com", 2).await;
    }

    async fn a_failure_of_last_week_is_no_mark_against_a_receiver(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        receiver.answers(503, "", "");
        let made = hook(&ann, &receiver).await;
        let site = job(&ann.client, "site", &made).await;
        report(&ann.client, &site, "down").await;
        tried(&app, &ann.client, &made, 1).await;
        app.clock.advance(144 * HOUR);
        tried(&app, &ann.client, &made, 2).await;
        assert!(is_on(&ann.client).await);
        receiver.answers(200, "", "");
        app.clock.advance(HOUR);
        all_are(&ann.client, &made, "delivered").await;
        assert!(is_on(&ann.client).await);
    }

    async fn a_test_that_arrives_makes_up_for_what_failed(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = hook(&ann, &receiver).await;
        let id = NotifierId::parse(made["notifierid"].as_str().unwrap()).unwrap();
        let fails = async || {
            let now = app.engine.now();
            let since = app.store.deliveries_failed(id, &[], now, "503", None, now).await.unwrap();
            now.since(since.unwrap())
        };
        let body = json!({"notifierid": made["notifierid"]});
        assert_eq!(fails().await, Duration::ZERO);
        app.clock.advance(HOUR);
        receiver.answers(503, "", "");
        assert_eq!(ann.client.post("notifier/test", &body).await.status, 502);
        assert_eq!(fails().await, HOUR, "that was no proof");
        receiver.answers(200, "", "");
        ann.client.post("notifier/test", &body).await.ok();
        app.clock.advance(HOUR);
        assert_eq!(fails().await, Duration::ZERO);
    }

    async fn a_notifier_that_was_off_tells_nothing_of_the_time_before(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        receiver.answers(500, "", "");
        let made = hook(&ann, &receiver).await;
        let site = job(&ann.client, "site", &made).await;
        let turn = async |on: bool| {
            let body = json!({"notifierid": made["notifierid"], "isactive": on});
            assert_eq!(ann.client.post("notifier/save", &body).await.status, 200);
        };
        report(&ann.client, &site, "down").await;
        tried(&app, &ann.client, &made, 1).await;
        turn(false).await;
        let all = all_are(&ann.client, &made, "failed").await;
        let again = format!("delivery/{}/resend", all[0]["deliveryid"].as_str().unwrap());
        ann.client.post_nothing(&again).await.refused(409, "notifier_off");
        app.clock.advance(HOUR);
        report(&ann.client, &site, "up").await;
        receiver.answers(200, "", "");
        turn(true).await;
        app.clock.advance(HOUR);
        report(&ann.client, &site, "down").await;
        let hooks = receiver.received(2).await;
        let down = deliveries(&ann.client, &made).await[0]["eventid"].clone();
        assert_eq!(hooks[1].json()["data"]["eventid"], down, "what is told is of now");
        ann.client.post_nothing(&again).await.ok();
        assert_eq!(receiver.received(3).await[2].id(), hooks[0].id(), "unless somebody asks");
    }

    async fn each_warning_about_a_certificate_is_told_once(setup: Setup) {
        const DAY: Duration = Duration::from_secs(86_400);
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = hook(&ann, &receiver).await;
        let site = Site::until("127.0.0.1", app.engine.now().after(30 * DAY)).await;
        let body = json!({"name": "site", "type": "http", "heartbeat_interval": 2_592_000,
            "isactive": true, "upside_down_mode": false, "notifiers": made["notifierid"],
            "http": {"url": site.url, "ignore_tls_error": true,
                "certificate_expiry_notification": true}});
        let json = ann.client.post("monitor/save", &body).await.ok();
        let check = format!("monitor/{}/check", json["monitor"]["monitorid"].as_str().unwrap());
        let mut told = 0;
        for days in 1..=30 {
            app.clock.advance(DAY);
            for _ in 0..2 {
                ann.client.post_nothing(&check).await.ok();
            }
            told += usize::from([21, 14, 7, 3, 1, 0].contains(&(30 - days)));
            assert_eq!(deliveries(&ann.client, &made).await.len(), told, "day {days}");
        }
        all_are(&ann.client, &made, "delivered").await;
        let hooks = receiver.hooks();
        assert_eq!(hooks.len(), 6);
        for hook in hooks {
            assert_eq!(hook.json()["type"], "monitor.certificate_expiring");
        }
    }

    async fn a_clock_that_is_set_forward_sends_nothing_twice(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        receiver.takes(Duration::from_secs(4));
        let made = hook(&ann, &receiver).await;
        let site = job(&ann.client, "site", &made).await;
        report(&ann.client, &site, "down").await;
        receiver.received(1).await;
        app.clock.advance(Duration::from_secs(120));
        // Another message makes the outbox be looked at again.
        let other = Receiver::start().await;
        let beside = hook(&ann, &other).await;
        let second = job(&ann.client, "second", &beside).await;
        for (count, status) in [(1, "down"), (2, "up")] {
            report(&ann.client, &second, status).await;
            other.received(count).await;
        }
        all_are(&ann.client, &made, "delivered").await;
        assert_eq!(receiver.count(), 1);
    }

    async fn a_change_that_the_store_refused_is_told_before_the_next(setup: Setup) {
        let engine = setup.engine;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = hook(&ann, &receiver).await;
        let site = job(&ann.client, "site", &made).await;
        let (refuse, allow) = match engine {
            Engine::Sqlite => (
                "create trigger refuse before insert on alerts
                 begin select raise(abort, 'refused'); end",
                "drop trigger refuse",
            ),
            Engine::Postgres => (
                "create function refuse() returns trigger language plpgsql
                     as 'begin raise exception $m$refused$m$; end';
                 create trigger refuse before insert on alerts
                     for each row execute function refuse()",
                "drop trigger refuse on alerts",
            ),
        };
        app.database.execute(refuse).await;
        let path = format!("monitor/notify/{site}");
        ann.client.post(&path, &json!({"status": "down"})).await.refused(503, "unavailable");
        app.database.execute(allow).await;
        report(&ann.client, &site, "up").await;
        let hooks = receiver.received(2).await;
        let told: Vec<Value> = hooks.iter().map(|hook| hook.json()["type"].clone()).collect();
        assert_eq!(told, ["monitor.down", "monitor.up"]);
        let alerts = ann.client.get("alerts").await.ok();
        assert_eq!(alerts["alerts"].as_array().unwrap().len(), 1);
        assert!(alerts["alerts"][0]["ended"].is_string(), "{alerts}");
    }

    async fn messages_and_alerts_go_when_they_have_had_their_day(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = hook(&ann, &receiver).await;
        let (over, open) = (job(&ann.client, "over", &made).await, job(&ann.client, "open", &made).await);
        report(&ann.client, &over, "down").await;
        report(&ann.client, &open, "down").await;
        receiver.received(2).await;
        report(&ann.client, &over, "up").await;
        all_are(&ann.client, &made, "delivered").await;
        let kept = async || {
            janitor::sweep(&app.engine).await.unwrap();
            (app.database.rows("deliveries").await, app.database.rows("alerts").await)
        };
        receiver.received(3).await;
        assert_eq!(kept().await, (3, 2));
        app.clock.advance(HOUR * 24 * 366);
        assert_eq!(kept().await, (1, 2), "who was told of an outage that goes on stays known");
        app.clock.advance(HOUR * 24 * 3_650);
        assert_eq!(kept().await, (1, 1));
        // A deletion that is refused takes nothing.
        let path = format!("notifier/{}/delete", made["notifierid"].as_str().unwrap());
        ann.log_in(&app.anonymous()).await.client.delete(&path).await.refused(409, "notifier_linked");
        assert_eq!(kept().await, (1, 1));
    }

    async fn a_row_whose_worker_died_is_sent_when_its_lease_ends(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        receiver.takes(Duration::from_secs(3));
        let made = hook(&ann, &receiver).await;
        let site = job(&ann.client, "site", &made).await;
        report(&ann.client, &site, "down").await;
        receiver.received(1).await;
        // Somebody else reads the row while it is on its way, and must leave it.
        let now = app.engine.now();
        assert_eq!(app.store.due_deliveries(now, 10, 10).await.unwrap(), []);
        let later = now.after(Duration::from_secs(61));
        let due = app.store.due_deliveries(later, 10, 10).await.unwrap();
        assert_eq!(due.len(), 1, "its lease has ended by then");
        let claimed = app.store.claim_deliveries(&[due[0].id], later, later).await.unwrap();
        assert_eq!(claimed[0].event.to_string(), receiver.hooks()[0].id());
    }

    async fn a_stored_template_that_is_not_allowed_is_not_rendered(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (receiver, inbox) = (Receiver::start().await, Inbox::start(Line::Plain).await);
        // As it could be saved once: the text behind the comment was not looked at, and
        // the condition kept it from being tried.
        let doublings = "{% set a = a ~ a %}".repeat(40);
        let bomb = format!(
            "{{#}}#}}{{% if status == 'down' %}}{{% set a = text %}}{doublings}{{{{ a }}}}{{% endif %}}"
        );
        let deep = format!("{{#-}}#}}{{{{ {}1 }}}}", "-".repeat(16_000));
        for (template, site) in [(bomb.as_str(), "one"), (deep.as_str(), "two")] {
            let made = hook(&ann, &receiver).await;
            let config = Value::from(template).to_string().replace('\'', "''");
            app.database
                .execute(&format!("update notifiers set config = '{config}' where kind = 'webhook'"))
                .await;
            let shown = ann.client.get("notifiers").await.ok();
            assert_eq!(shown["notifiers"][0]["webhook"]["template"], template, "it is shown");
            let site = job(&ann.client, site, &made).await;
            report(&ann.client, &site, "down").await;
            all_are(&ann.client, &made, "delivered").await;
        }
        for hook in receiver.received(2).await {
            assert_eq!(hook.json()["type"], "monitor.down", "in the standard shape");
        }
        let made = mail(&ann, &inbox).await;
        app.database
            .execute(&format!(
                "update notifiers
                 set config = replace(config, '\"subject\":\"\"', '\"subject\":{}')
                 where kind = 'email'",
                Value::from(bomb).to_string().replace('\'', "''")
            ))
            .await;
        let site = job(&ann.client, "three", &made).await;
        report(&ann.client, &site, "down").await;
        all_are(&ann.client, &made, "delivered").await;
        let subject = inbox.taken(1).await[0].header("subject");
        assert!(subject.starts_with("[Down] three"), "{subject}");
    }

    async fn a_message_that_three_processes_did_not_survive_is_given_up(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        receiver.answers(503, "", "not now");
        let made = hook(&ann, &receiver).await;
        let (bad, good) = (job(&ann.client, "bad", &made).await, job(&ann.client, "good", &made).await);
        report(&ann.client, &bad, "down").await;
        tried(&app, &ann.client, &made, 1).await;
        // Three others claimed it meanwhile, and were not heard of again.
        app.database.execute("update deliveries set claims = 3, claimed_by = null").await;
        receiver.answers(200, "", "");
        report(&ann.client, &bad, "up").await;
        report(&ann.client, &good, "down").await;
        app.clock.advance(Duration::from_secs(61));
        let all = until("the end of all", || async {
            let all = deliveries(&ann.client, &made).await;
            all.iter().all(|one| one["state"] != "waiting").then_some(all)
        })
        .await;
        let failed: Vec<&Value> = all.iter().filter(|one| one["state"] == "failed").collect();
        assert_eq!(failed.len(), 1, "{all:?}");
        assert_eq!(failed[0]["last_answer"], "gave up after three crashes");
        assert_eq!(failed[0]["type"], "monitor.down");
        let alerts = ann.client.get("alerts").await.ok();
        assert!(alerts.to_string().contains("gave up after three crashes"), "{alerts}");
        // A person may try it again.
        let path = format!("delivery/{}/resend", failed[0]["deliveryid"].as_str().unwrap());
        ann.client.post_nothing(&path).await.ok();
        all_are(&ann.client, &made, "delivered").await;
    }

    async fn a_storm_reaches_a_webhook_a_few_at_a_time(setup: Setup) {
        const STORM: u16 = 2_000;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = hook(&ann, &receiver).await;
        let first = job(&ann.client, "first", &made).await;
        let known = app.store.monitors_by_id(&[MonitorId::parse(&first).unwrap()]).await.unwrap();
        let team = app.store.team(known[0].monitor.team);
        let mut records = Vec::new();
        for number in 0..STORM {
            let [high, low] = number.to_be_bytes();
            let unlike = [high, low, 1, 1, 1, 1, 1, 1, 1, 1];
            let id = MonitorId::new(app.engine.now(), unlike);
            let notifiers = vec![NotifierId::parse(made["notifierid"].as_str().unwrap()).unwrap()];
            let monitor = Monitor { id, notifiers, push_token: None, ..known[0].monitor.clone() };
            team.add_monitor(&monitor).await.unwrap();
            records.push(down(&monitor, unlike, app.engine.now()));
        }
        app.store.record(&records).await.unwrap();
        receiver.received(usize::from(STORM / 2)).await;
        let hooks = receiver.received(usize::from(STORM)).await;

        let ids: HashSet<String> = hooks.iter().map(wakeful_testkit::Hook::id).collect();
        assert_eq!((hooks.len(), ids.len()), (usize::from(STORM), usize::from(STORM)));
        assert!(receiver.most_at_once() <= 10, "{}", receiver.most_at_once());
    }

    async fn a_team_with_receivers_that_hang_delays_no_other_team(setup: Setup) {
        let app = setup.start().await;
        let noisy = app.sign_up("noisy@example.com").await;
        let ann = app.sign_up("ann@example.com").await;
        let (hanging, fine) = (Receiver::start().await, Receiver::start().await);
        hanging.takes(Duration::from_secs(60));
        for _ in 0..8 {
            let made = hook(&noisy, &hanging).await;
            for number in 0..15 {
                let site = job(&noisy.client, &format!("noisy {number}"), &made).await;
                report(&noisy.client, &site, "down").await;
            }
        }
        hanging.received(50).await;
        let made = hook(&ann, &fine).await;
        let site = job(&ann.client, "site", &made).await;
        let began = tokio::time::Instant::now();
        report(&ann.client, &site, "down").await;
        fine.received(1).await;
        let took = began.elapsed();
        assert!(took < Duration::from_secs(3), "{took:?}");
        assert!(hanging.most_at_once() <= 50, "{}", hanging.most_at_once());
    }

    async fn four_workers_send_each_of_2_000_rows_once_to_receivers_that_are_slow(setup: Setup) {
        const TEAMS: usize = 5;
        const NOTIFIERS: usize = 8;
        const MONITORS: u8 = 50;
        let app = setup.start().await;
        let receiver = Receiver::start().await;
        receiver.takes(Duration::from_secs(3));
        let mut records = Vec::new();
        for team in 0..TEAMS {
            let ann = app.sign_up(&format!("ann{team}@example.com")).await;
            let mut notifiers = Vec::new();
            for _ in 0..NOTIFIERS {
                let made = hook(&ann, &receiver).await;
                notifiers.push(NotifierId::parse(made["notifierid"].as_str().unwrap()).unwrap());
            }
            let first = job(&ann.client, "first", &json!({})).await;
            let first = MonitorId::parse(&first).unwrap();
            let known = app.store.monitors_by_id(&[first]).await.unwrap();
            let monitor = known[0].monitor.clone();
            let kept = app.store.team(monitor.team);
            for number in 0..MONITORS {
                let unlike = [u8::try_from(team).unwrap(), number, 1, 1, 1, 1, 1, 1, 1, 1];
                let id = MonitorId::new(app.engine.now(), unlike);
                let notifiers = notifiers.clone();
                let monitor = Monitor { id, notifiers, push_token: None, ..monitor.clone() };
                kept.add_monitor(&monitor).await.unwrap();
                records.push(down(&monitor, unlike, app.engine.now()));
            }
        }
        let rows = records.len() * NOTIFIERS;
        assert_eq!(rows, 2_000);
        let stop = CancellationToken::new();
        let mut workers = tokio::task::JoinSet::new();
        for _ in 0..3 {
            workers.spawn(deliver::run(app.engine.clone(), stop.clone(), Duration::ZERO));
        }
        app.store.record(&records).await.unwrap();
        receiver.received(200).await;
        // By the clock more time goes by than any attempt may take, and nobody
        // takes them from who is sending them.
        app.clock.advance(Duration::from_secs(45));
        for share in [rows / 2, rows] {
            receiver.received(share).await;
        }
        for most in [rows / 2, 0] {
            until("what arrived to be on record", || async {
                let waiting = app.store.deliveries_waiting().await.ok()?;
                (usize::try_from(waiting).unwrap() <= most).then_some(())
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

/// The record of an outage, with the event that tells of it.
fn down(monitor: &Monitor, unlike: [u8; 10], now: Millis) -> Record {
    let (event, alert) = (EventId::new(now, unlike), AlertId::new(now, unlike));
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
    };
    Record {
        monitor: monitor.id,
        seq: 1,
        heartbeat,
        state: State { status: Status::Down, ..State::default() },
        opens: Vec::new(),
        closes: None,
        events: vec![NewEvent { id: event, kind: "monitor.down", alert, body: body.to_string() }],
        certificate: None,
        grant: None,
    }
}

#[tokio::test]
async fn a_clock_that_is_set_back_holds_up_no_message() {
    // Nodes that share a store go by its clock and not by their own.
    let app = Setup::on(Engine::Sqlite).start().await;
    let ann = app.sign_up("ann@example.com").await;
    let (receiver, inbox) = (Receiver::start().await, Inbox::start(Line::Plain).await);
    receiver.answers(503, "", "not now");
    let (made, letters) = (hook(&ann, &receiver).await, mail(&ann, &inbox).await);
    let site = job(&ann.client, "site", &made).await;
    report(&ann.client, &site, "down").await;
    tried(&app, &ann.client, &made, 1).await;
    // As many letters as one gets in a minute.
    let post = job(&ann.client, "post", &letters).await;
    for count in 1..=6 {
        report(&ann.client, &post, if count % 2 == 1 { "down" } else { "up" }).await;
        inbox.taken(count).await;
    }
    all_are(&ann.client, &letters, "delivered").await;
    receiver.answers(200, "", "");
    app.clock.set_back(HOUR);
    until("the clock to be looked at", || async {
        let now = app.engine.now();
        let sql = format!("select count(*) from deliveries where next_try > {}", now.0 + 60_000);
        (app.database.number(&sql).await == 0).then_some(())
    })
    .await;
    app.clock.advance(Duration::from_secs(10));
    report(&ann.client, &post, "down").await;
    inbox.taken(7).await;
    all_are(&ann.client, &made, "delivered").await;
    assert_eq!(receiver.count(), 2);
}
