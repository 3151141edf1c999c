//! Calls that acknowledge an alert, and alerts of an Alertmanager that are repeated while they
//! last.

use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::notifications::notifier::Kind;
use wakeful_engine::notifications::keepalive::repeat_due;
use wakeful_testkit::fakes::{FakeService, OPTED_OUT, Trouble};
use wakeful_testkit::{both_databases, until};

use crate::channels::{all_sent, first_alert, monitor, report, save};

const FORM: Option<&str> = Some("application/x-www-form-urlencoded");

/// The action that a call of the fake waits for, as a path.
fn pressed_path(fake: &FakeService) -> Option<String> {
    let requests = fake.requests();
    let call = requests.iter().find(|one| one.path.ends_with("Calls.json"))?;
    let form = reqwest::Url::parse(&format!("http://x/?{}", call.body)).ok()?;
    let twiml = form.query_pairs().find(|(name, _)| name == "Twiml")?.1.into_owned();
    let (_, rest) = twiml.split_once("action=\"")?;
    let (url, _) = rest.split_once('"')?;
    Some(url[url.find("/api/")?..].to_owned())
}

both_databases! {
    async fn pressing_1_in_a_call_acknowledges_and_every_number_is_accounted_for(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let fake = FakeService::start(Kind::Twilio).await;
        let mut body = fake.notifier("phones");
        body["twilio"]["to"] = json!(format!("+15005550006, {OPTED_OUT}"));
        body["twilio"]["via"] = json!("both");
        let notifiers = [save(&ann.client, &body).await];
        assert!(!notifiers[0]["events"].to_string().contains("alert.acknowledged"));
        let shop = monitor(&ann.client, &notifiers).await;
        report(&ann.client, &shop, "down").await;
        all_sent(&ann.client, &notifiers, 1).await;
        let path = format!("notifier/{}/deliveries", notifiers[0]["notifierid"].as_str().unwrap());
        let sent = ann.client.get(&path).await.ok()["deliveries"][0].clone();
        assert_eq!(sent["recipients"]["total"], 4, "a message and a call each: {sent}");
        assert_eq!(sent["recipients"]["accepted"], 2, "{sent}");
        let path = pressed_path(&fake).unwrap();
        let press = async |path: &str, body: &str| {
            app.anonymous().raw(Method::POST, path, FORM, body.to_owned()).await
        };
        let other = press(&path, "CallSid=CA1&Digits=2").await;
        assert_eq!((other.status, other.header("content-type")), (200, "text/xml; charset=utf-8"));
        assert!(other.text.starts_with("<Response><Say>") && other.text.contains("not acknowledged"));
        assert_eq!(first_alert(&ann.client).await["acknowledged"], Value::Null);
        // Nobody has pressed anything, and a flipped bit.
        assert!(press(&path, "").await.text.contains("not acknowledged"));
        press(&path.replace("/call", "x/call"), "Digits=1").await.refused(404, "not_found");
        press(&path.replace("/call", "/pushover"), "acknowledged=1").await.refused(404, "not_found");
        for _ in 0..2 {
            assert!(press(&path, "Digits=1").await.text.contains("is acknowledged"));
        }
        let by = first_alert(&ann.client).await["acknowledged"].clone();
        assert_eq!((&by["name"], &by["via"]), (&json!("phones"), &json!("twilio")));
        report(&ann.client, &shop, "up").await;
        until("the alert to be over", || async {
            press(&path, "Digits=1").await.text.contains("already over").then_some(())
        })
        .await;
        let huge = format!("Digits={}", "1".repeat(70_000));
        assert!([400, 413].contains(&press(&path, &huge).await.status));
        let mut limited = None;
        for _ in 0..40 {
            limited = Some(press(&path, "Digits=1").await).filter(|answer| answer.status == 429);
            if limited.is_some() {
                break;
            }
        }
        limited.unwrap().refused(429, "too_many_requests");
    }

    async fn an_alert_is_repeated_until_it_is_over_by_one_node_and_after_a_restart(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let fake = FakeService::start(Kind::Alertmanager).await;
        let notifiers = [save(&ann.client, &fake.notifier("prometheus")).await];
        let shop = monitor(&ann.client, &notifiers).await;
        assert_eq!(repeat_due(&app.engine).await.unwrap(), 0);
        report(&ann.client, &shop, "down").await;
        all_sent(&ann.client, &notifiers, 1).await;
        let first = fake.conversation()[0].state.clone();
        assert_eq!(repeat_due(&app.engine).await.unwrap(), 0, "not yet due");
        app.clock.advance(Duration::from_secs(301));
        // Two nodes share the work, and the second is as good as the first after a restart.
        let second = app.second_node().await;
        let (one, other) = tokio::join!(repeat_due(&app.engine), repeat_due(&second.engine));
        assert_eq!(one.unwrap() + other.unwrap(), 1);
        let lasting = fake.conversation();
        assert!(lasting.len() == 1 && lasting[0].state > first, "{lasting:?} {first}");
        app.clock.advance(Duration::from_secs(301));
        fake.next(Trouble::Limited);
        assert_eq!(repeat_due(&app.engine).await.unwrap(), 0);
        assert_eq!(repeat_due(&app.engine).await.unwrap(), 0, "the lease is the pause");
        app.clock.advance(Duration::from_secs(61));
        assert_eq!(repeat_due(&second.engine).await.unwrap(), 1);
        // A monitor that is renamed meanwhile leaves no alert behind.
        ann.client.post("monitor/save", &json!({"monitorid": shop, "name": "Store"})).await.ok();
        report(&ann.client, &shop, "up").await;
        all_sent(&ann.client, &notifiers, 2).await;
        let ended = fake.conversation();
        assert!(ended.len() == 1 && ended[0].text.contains("up again"), "{ended:?}");
        let end = ended[0].state.clone();
        app.clock.advance(Duration::from_secs(61));
        assert_eq!(repeat_due(&app.engine).await.unwrap(), 1, "the end is sent twice");
        assert_eq!(fake.conversation()[0].state, end);
        app.clock.advance(Duration::from_secs(3_600));
        assert_eq!(repeat_due(&app.engine).await.unwrap(), 0);
        assert_eq!(app.database.number("select count(*) from threads where keepalive_at is not null").await, 0);
        // Down, acknowledged and resolved by a user: it is over for the Alertmanager, too.
        report(&ann.client, &shop, "down").await;
        all_sent(&ann.client, &notifiers, 3).await;
        let alert = first_alert(&ann.client).await["alertid"].as_str().unwrap().to_owned();
        ann.client.post(&format!("alert/{alert}/resolve"), &json!({})).await.ok();
        all_sent(&ann.client, &notifiers, 4).await;
        app.clock.advance(Duration::from_secs(301));
        assert_eq!(repeat_due(&app.engine).await.unwrap(), 1);
        app.clock.advance(Duration::from_secs(301));
        assert_eq!(repeat_due(&app.engine).await.unwrap(), 0);
    }
}
