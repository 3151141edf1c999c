//! The announcements of maintenance windows and of handovers: `announce` of maintenance/save and
//! schedule/save.

use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_engine::alerting::handovers::{self, announce_due};
use wakeful_engine::alerting::maintenance_clock::apply_due;
use wakeful_testkit::{App, Client, Receiver, Setup, User, both_databases, until};

/// The clock of a test starts at 2026-11-15T09:30Z, a Sunday.
const MINUTE: Duration = Duration::from_secs(60);

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

async fn hook(client: &Client, name: &str, receiver: &Receiver, more: &Value) -> String {
    let mut body = json!({"name": name, "type": "webhook", "webhook": {"url": receiver.url}});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    text(&client.post("notifier/save", &body).await.json()["notifierid"])
}

async fn start(setup: Setup) -> (App, User, Receiver) {
    let app = setup.start().await;
    let ann = app.sign_up("ann@example.com").await;
    (app, ann, Receiver::start().await)
}

async fn advance(app: &App, span: Duration) {
    app.clock.advance(span);
    apply_due(&app.engine).await.unwrap();
}

async fn hand_over(app: &App, span: Duration) {
    app.clock.advance(span);
    announce_due(&app.engine).await.unwrap();
}

/// The messages so far, once there are this many: the type and the text of each.
async fn messages(receiver: &Receiver, count: usize) -> Vec<(String, String)> {
    let hooks = receiver.wait_for_hooks(count).await;
    assert_eq!(hooks.len(), count);
    let show = |hook: &Value| (text(&hook["type"]), text(&hook["text"]));
    hooks.iter().map(|hook| show(&hook.json())).collect()
}

async fn save(client: &Client, body: &Value) -> Value {
    client.post("maintenance/save", body).await.ok()["maintenance"].clone()
}

both_databases! {
    async fn each_occurrence_of_a_window_is_announced_once(setup: Setup) {
        let (app, ann, receiver) = start(setup).await;
        let client = &ann.client;
        for name in ["web", "db"] {
            client.post("monitor/save", &json!({"type": "api", "name": name, "tags": "shop",
                "heartbeat_interval": 60, "isactive": true, "upside_down_mode": false})).await.ok();
        }
        let hook_id = hook(client, "ops", &receiver, &json!({"min_severity": "critical"})).await;
        let deaf = hook(client, "deaf", &receiver, &json!({"events": ["monitor.down"]})).await;
        let night = json!({"hours": [{"from": "09:00", "to": "11:00"}]});
        let asleep = hook(client, "asleep", &receiver, &json!({"quiet": night})).await;
        let window = save(client, &json!({"name": "Upgrade", "tags": "shop", "starts": "2026-11-15T11:00",
            "time_zone": "Europe/Berlin", "duration": 600, "rrule": "FREQ=DAILY",
            "announce": {"notifiers": [hook_id, deaf, asleep], "before": [900, 300], "start": true,
                "end": true}})).await;
        assert_eq!(window["announce"]["before"], json!([900, 300]));
        for id in [&hook_id, &deaf] {
            let refused = client.delete(&format!("notifier/{id}/delete")).await;
            let message = text(&refused.refused(409, "notifier_linked")["message"]);
            assert!(message.contains("Upgrade"), "{message}");
        }
        assert_eq!(receiver.count(), 0);
        // The clock of another node looks at the same time.
        let other = app.second_node().await;
        for minutes in [15, 1, 10, 4, 1, 10, 1] {
            app.clock.advance(minutes * MINUTE);
            let (one, two) = tokio::join!(apply_due(&app.engine), apply_due(&other.engine));
            one.unwrap();
            two.unwrap();
            // The clock must not pass the lease of a message that is being sent.
            until("the messages to be delivered", async || {
                let list = client.get(&format!("notifier/{hook_id}/deliveries")).await.ok();
                let mut all = list["deliveries"].as_array().unwrap().iter();
                all.all(|one| one["state"] == "delivered").then_some(())
            })
            .await;
        }
        let sent = messages(&receiver, 4).await;
        assert_eq!(sent[0], ("maintenance.scheduled".to_owned(), "[Upgrade] maintenance starts at \
            2026-11-15 11:00 (Europe/Berlin) and lasts 10 min; it covers 2 monitors".to_owned()));
        assert_eq!(sent[1].0, "maintenance.scheduled");
        assert_eq!(sent[2].0, "maintenance.started");
        assert_eq!(sent[3], ("maintenance.ended".to_owned(), "[Upgrade] maintenance has ended, which \
            started at 2026-11-15 11:00 (Europe/Berlin)".to_owned()));
        let event = receiver.hooks()[0].json();
        let data = &event["data"];
        assert_eq!(data["maintenance"], json!({"maintenanceid": window["maintenanceid"],
            "name": "Upgrade", "description": "", "starts": "2026-11-15T10:00:00.000Z",
            "ends": "2026-11-15T10:10:00.000Z"}));
        assert_eq!(data["affected"], json!({"count": 2, "names": ["db", "web"]}));
        assert_eq!(data["monitor"], Value::Null);
        let page = format!("/maintenance/{}", text(&window["maintenanceid"]));
        assert!(text(&data["link"]).ends_with(&page), "{data}");
        // In quiet hours, the start and the end wait; what would come after the start is left out.
        let held = client.get(&format!("notifier/{asleep}/deliveries")).await.ok();
        let held: Vec<_> = held["deliveries"].as_array().unwrap().iter().map(|one| {
            (text(&one["type"]), one["monitor"].clone(), text(&one["next_try"]))
        }).collect();
        let expected = |kind: &str| (kind.to_owned(), Value::Null, "2026-11-15T11:00:00.000Z".to_owned());
        assert_eq!(held, [expected("maintenance.ended"), expected("maintenance.started")]);
        assert_eq!(client.get(&format!("notifier/{deaf}/deliveries")).await.ok()["deliveries"], json!([]));
        // They can be sent again, like any other message.
        let all = client.get(&format!("notifier/{hook_id}/deliveries")).await.ok();
        let delivery = text(&all["deliveries"][0]["deliveryid"]);
        client.post_nothing(&format!("delivery/{delivery}/resend")).await.ok();
        messages(&receiver, 5).await;
        client.delete(&format!("maintenance/{}/delete", text(&window["maintenanceid"]))).await.ok();
        client.delete(&format!("notifier/{deaf}/delete")).await.ok();
        other.stop().await;
        app.stop().await;
    }

    async fn a_window_that_is_moved_ended_or_deleted_is_announced_as_it_happens(setup: Setup) {
        let (app, ann, receiver) = start(setup).await;
        let client = &ann.client;
        let hook = hook(client, "ops", &receiver, &json!({})).await;
        // It begins sooner than the announcement: that is sent now.
        let window = save(client, &json!({"name": "Move", "everything": true,
            "starts": "2026-11-15T10:00:00Z", "duration": 3600,
            "announce": {"notifiers": hook, "before": [86400, 3600], "start": true, "end": true}})).await;
        let id = text(&window["maintenanceid"]);
        messages(&receiver, 1).await;
        // A change of something else announces nothing; another start is announced again.
        save(client, &json!({"maintenanceid": id, "description": "all day"})).await;
        save(client, &json!({"maintenanceid": id, "starts": "2026-11-15T09:50:00Z"})).await;
        let sent = messages(&receiver, 2).await;
        assert!(sent[1].1.contains("2026-11-15 09:50 (UTC)"), "{sent:?}");
        advance(&app, 20 * MINUTE).await;
        client.post("maintenance/save", &json!({"maintenanceid": id, "grace": 60})).await.ok();
        client.post(&format!("maintenance/{id}/extend"), &json!({"until": "2026-11-15T12:00:00Z"})).await.ok();
        advance(&app, 60 * MINUTE).await;
        client.post_nothing(&format!("maintenance/{id}/end")).await.ok();
        advance(&app, 60 * MINUTE).await;
        let kinds: Vec<String> =
            messages(&receiver, 4).await.into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds[2..], ["maintenance.started", "maintenance.ended"]);
        // After a restart nothing is sent again.
        let app = app.restart().await;
        advance(&app, MINUTE).await;
        let client = &ann.log_in(&app.anonymous()).await.client;
        // One that is deleted while it runs has ended; one that has not begun says nothing.
        for starts in ["2026-11-15T11:00:00Z", "2026-12-15T11:00:00Z"] {
            let window = save(client, &json!({"name": "w", "everything": true, "starts": starts,
                "duration": 36000, "announce": {"notifiers": hook, "end": true}})).await;
            client.delete(&format!("maintenance/{}/delete", text(&window["maintenanceid"]))).await.ok();
        }
        let sent = messages(&receiver, 5).await;
        assert!(sent[4].1.starts_with("[w] maintenance has ended"), "{sent:?}");
        app.stop().await;
    }

    async fn handovers_are_announced_to_notifiers_and_to_both_people(setup: Setup) {
        let (app, ann, receiver) = start(setup).await;
        app.verify(&ann).await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        bob.client.post("email/send", &json!({})).await.ok();
        app.verify(&bob).await;
        let client = &ann.client;
        let hook = hook(client, "ops", &receiver, &json!({})).await;
        let unknown = "00000000-0000-7000-8000-000000000000";
        let schedule = |announce: Value| json!({"name": "Ops", "time_zone": "Europe/Berlin",
            "layers": [{"users": [ann.userid, bob.userid], "starts": "2026-11-14T11:00",
                "every": 1, "unit": "day"}], "announce": announce});
        let refused = client.post("schedule/save", &schedule(json!({"notifiers": unknown}))).await;
        assert_eq!(refused.wrong_fields(), ["announce.notifiers"]);
        let saved = client.post("schedule/save", &schedule(json!({"notifiers": hook, "people": true})))
            .await.ok()["schedule"].clone();
        assert_eq!(saved["announce"], json!({"notifiers": [hook], "people": true}));
        let id = text(&saved["scheduleid"]);
        let refused = client.delete(&format!("notifier/{hook}/delete")).await;
        let message = text(&refused.refused(409, "notifier_linked")["message"]);
        assert!(message.contains("Ops"), "{message}");
        hand_over(&app, MINUTE).await;
        assert_eq!(receiver.count(), 0, "Ann was on call before");
        let earlier = (app.mails_now("ann@example.com").len(), app.mails_now("bob@example.com").len());
        // At 10:00 in UTC it is Bob's turn. Two nodes notice.
        let other = app.second_node().await;
        app.clock.advance(30 * MINUTE);
        apply_due(&app.engine).await.unwrap();
        assert_eq!(receiver.count(), 0, "maintenance does not wait for handovers");
        let (one, two) = tokio::join!(announce_due(&app.engine), announce_due(&other.engine));
        one.unwrap();
        two.unwrap();
        other.stop().await;
        let sent = messages(&receiver, 1).await;
        assert_eq!(sent[0], ("oncall.handover".to_owned(), "[Ops] bob@example.com is on call until \
            2026-11-16 11:00 (Europe/Berlin), after ann@example.com".to_owned()));
        let event = receiver.hooks()[0].json();
        let handover = &event["data"]["oncall"];
        assert_eq!((&handover["scheduleid"], &handover["previous"]["userid"], &handover["next"]["userid"]),
            (&json!(id), &json!(ann.userid), &json!(bob.userid)));
        for (email, earlier) in [("ann@example.com", earlier.0), ("bob@example.com", earlier.1)] {
            let mails = app.mails(email, earlier + 1).await;
            assert!(mails[earlier].contains("Subject: [On call] Ops"), "{}", mails[earlier]);
        }
        // An override takes effect at once, and so does its end.
        let body = json!({"userid": ann.userid, "starts": "2026-11-15T10:00:00Z", "ends": "2026-11-15T12:00:00Z"});
        let replacement = client.post(&format!("schedule/{id}/override"), &body).await.ok();
        hand_over(&app, MINUTE).await;
        client.delete(&format!("override/{}/delete", text(&replacement["overrideid"]))).await.ok();
        hand_over(&app, MINUTE).await;
        let sent = messages(&receiver, 3).await;
        assert!(sent[1].1.starts_with("[Ops] ann@example.com is on call until 2026-11-15 13:00"), "{sent:?}");
        assert!(sent[2].1.starts_with("[Ops] bob@example.com is on call until 2026-11-16 11:00"), "{sent:?}");
        // A schedule without users has a gap. Without announcements, nothing is sent.
        client.post("schedule/save", &json!({"scheduleid": id, "announce": {"people": false}, "layers": []}))
            .await.ok();
        app.clock.advance(MINUTE);
        let stop = CancellationToken::new();
        let sent = async {
            let sent = messages(&receiver, 4).await;
            stop.cancel();
            sent
        };
        let (sent, ()) = tokio::join!(sent, handovers::run(app.engine.clone(), stop.clone()));
        assert_eq!(sent[3].1, "[Ops] nobody is on call");
        client.post("schedule/save", &schedule(json!({"notifiers": ""}))).await.ok();
        client.post("schedule/save", &json!({"scheduleid": id, "announce": {"notifiers": ""}})).await.ok();
        hand_over(&app, 24 * 60 * MINUTE).await;
        until("no more messages", async || {
            let list = client.get(&format!("notifier/{hook}/deliveries")).await.ok();
            let all = list["deliveries"].as_array().unwrap();
            (all.len() == 4 && all.iter().all(|one| one["state"] == "delivered")).then_some(())
        })
        .await;
        app.stop().await;
    }
}
