//! webpush/key, webpush/subscribe, webpush/{id}/delete: the caller's browsers, and the messages
//! that contact rules send to them.

use reqwest::Method;
use serde_json::{Value, json};
use wakeful_core::time::Clock as _;
use wakeful_outbound::net::guard::Policy;
use wakeful_testkit::fakes::{FakePush, Trouble};
use wakeful_testkit::{Client, Setup, both_databases, until};

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

async fn browsers(client: &Client) -> Vec<Value> {
    client.get("webpush/key").await.ok()["subscriptions"].as_array().unwrap().clone()
}

both_databases! {
    async fn a_user_is_notified_in_every_browser_and_acknowledges_there(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (client, push) = (&ann.client, FakePush::start(app.clock.now()).await);
        let key = client.get("webpush/key").await.ok();
        assert_eq!((&key["subscriptions"], &key["notifierid"]), (&json!([]), &Value::Null));
        assert_eq!(text(&key["key"]).len(), 87, "65 bytes in base64url");
        let desktop = client.with("user-agent", "Firefox").post("webpush/subscribe", &push.subscribe("desktop")).await.ok();
        let phone = client.post("webpush/subscribe", &push.subscribe("phone")).await.ok();
        assert_eq!(desktop["notifierid"], phone["notifierid"], "one notifier for all browsers");
        let notifier = text(&phone["notifierid"]);
        let mine = client.get("notifiers?personal=true").await.ok()["notifiers"][0].clone();
        assert_eq!((&mine["type"], &mine["personal"], &mine["name"]), (&json!("webpush"), &json!(true), &json!("Push")));
        let tested = client.post("notifier/test", &json!({"notifierid": notifier})).await.ok();
        assert_eq!(tested["message"], "accepted for 2 of 2 browsers");
        let shown = client.post("notifier/preview", &json!({"notifierid": notifier})).await.ok();
        assert!(text(&shown["body"]).contains("Storefront"), "{shown}");

        let rules = json!({"rules": [{"notifierid": notifier}]});
        client.post("contacts/save", &rules).await.ok();
        let policy = json!({"name": "p", "steps": [{"after": 0, "notify": [{"userid": ann.userid}]}]});
        let policy = client.post("policy/save", &policy).await.ok()["policy"]["policyid"].clone();
        let job = json!({"type": "api", "name": "job", "heartbeat_interval": 86400, "isactive": true,
            "upside_down_mode": false, "policyid": policy});
        let job = text(&client.post("monitor/save", &job).await.ok()["monitor"]["monitorid"]);
        let report = async |status: &str| {
            client.post(&format!("monitor/notify/{job}"), &json!({"status": status})).await.ok()
        };
        let received = async |name: &'static str, count: usize| {
            let push = &push;
            until("the push message", || async move {
                push.messages(name).get(count - 1).cloned()
            }).await
        };
        push.next("desktop", Trouble::ResponseLost);
        report("down").await;
        let down = received("phone", 2).await;
        assert_eq!(down.data["title"], "job is down");
        assert!(down.contact.starts_with("mailto:"), "{}", down.contact);
        // Only the browser whose response was lost gets it again.
        until("the same message again", || async {
            app.clock.advance(std::time::Duration::from_secs(1));
            push.messages("desktop").get(2).cloned()
        })
        .await;
        assert_eq!(push.messages("phone").len(), 2);
        let action = text(&down.data["action"]);
        let path = &action[action.find("/api/action/").unwrap()..];
        app.anonymous().call(Method::POST, path, Some(&json!({"action": "acknowledge"}))).await.ok();
        let alert = client.get("alerts").await.ok()["alerts"][0].clone();
        assert_eq!(alert["acknowledged"]["userid"], ann.userid.as_str(), "{alert}");
        received("phone", 3).await;
        push.next("phone", Trouble::Gone);
        report("up").await;
        let up = received("desktop", 5).await;
        assert_eq!((&up.data["title"], &up.data["tag"]), (&json!("job is up again"), &down.data["tag"]));
        until("the browser that is gone is deleted", || async {
            (browsers(client).await.len() == 1).then_some(())
        }).await;
        let left = browsers(client).await[0].clone();
        assert_eq!((&left["agent"], &left["subscriptionid"]), (&json!("Firefox"), &desktop["subscriptionid"]));
        assert!(!left["last_used"].is_null() && left["service"] == "127.0.0.1", "{left}");

        // Without a browser nobody is reached this way, so the members of the team get an email.
        app.verify(&ann).await;
        client.delete(&format!("webpush/{}/delete", text(&left["subscriptionid"]))).await.ok();
        client.post("notifier/test", &json!({"notifierid": notifier})).await.refused(502, "not_delivered");
        let mails = app.mails("ann@example.com", 1).await.len();
        // An outage soon after an acknowledged one counts as acknowledged.
        app.clock.advance(std::time::Duration::from_secs(11 * 60));
        report("down").await;
        app.mails("ann@example.com", mails + 1).await;
        app.stop().await;
    }

    async fn many_outages_are_a_few_push_messages(setup: Setup) {
        const JOBS: usize = 40;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (client, push) = (&ann.client, FakePush::start(app.clock.now()).await);
        let phone = client.post("webpush/subscribe", &push.subscribe("phone")).await.ok();
        client.post("contacts/save", &json!({"rules": [{"notifierid": phone["notifierid"]}]})).await.ok();
        let policy = json!({"name": "p", "steps": [{"after": 0, "notify": [{"userid": ann.userid}]}]});
        let policy = client.post("policy/save", &policy).await.ok()["policy"]["policyid"].clone();
        for number in 0..JOBS {
            let job = json!({"type": "api", "name": format!("job {number}"), "heartbeat_interval": 86400,
                "isactive": true, "upside_down_mode": false, "policyid": policy});
            let job = text(&client.post("monitor/save", &job).await.ok()["monitor"]["monitorid"]);
            client.post(&format!("monitor/notify/{job}"), &json!({"status": "down"})).await.ok();
        }
        let titles = || -> Vec<String> { push.messages("phone").iter().map(|one| text(&one.data["title"])).collect() };
        let outages = |title: &String| match title.split_once(" changes") {
            Some((count, _)) => count.parse().unwrap(),
            None => 1,
        };
        until("every outage", || async {
            app.clock.advance(std::time::Duration::from_secs(1));
            (titles().iter().map(outages).sum::<usize>() == JOBS).then_some(())
        })
        .await;
        assert!(titles().len() <= 8, "{:?}", titles());
        app.stop().await;
    }

    async fn subscriptions_are_validated_limited_and_only_their_users(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let (client, push) = (&ann.client, FakePush::start(app.clock.now()).await);
        let subscribe = async |body: &Value| client.post("webpush/subscribe", body).await;
        let valid = push.subscribe("s3nt1nel");
        let with = |path: &str, value: Value| {
            let mut body = valid.clone();
            *body.pointer_mut(path).unwrap() = value;
            body
        };
        assert_eq!(subscribe(&json!({})).await.wrong_fields(), ["endpoint", "keys.p256dh", "keys.auth"]);
        for (path, value, wrong) in [
            ("/endpoint", json!("http://push.example.com/x"), "endpoint"),
            ("/endpoint", json!(format!("https://push.example.com/{}", "x".repeat(2_048))), "endpoint"),
            ("/endpoint", json!(7), "endpoint"),
            ("/keys/auth", json!("AAAA"), "keys.auth"),
            ("/keys/p256dh", json!("AAAA"), "keys.p256dh"),
            // Not a point of the curve.
            ("/keys/p256dh", json!(format!("B{}", "A".repeat(86))), "keys.p256dh"),
        ] {
            assert_eq!(subscribe(&with(path, value)).await.wrong_fields(), [wrong]);
        }
        let first = text(&subscribe(&valid).await.ok()["subscriptionid"]);
        // The same browser again, with another key.
        let again = push.subscribe("s3nt1nel");
        assert_eq!(subscribe(&again).await.ok()["subscriptionid"], first.as_str());
        for number in 2..=10 {
            subscribe(&push.subscribe(&format!("b{number}"))).await.ok();
        }
        subscribe(&push.subscribe("b11")).await.refused(409, "limit_reached");
        let mine = browsers(client).await;
        assert_eq!(mine.len(), 10);
        let digest = <sha2::Sha256 as sha2::Digest>::digest(text(&valid["endpoint"]));
        let digest = data_encoding::HEXLOWER.encode(&digest);
        assert!(mine.iter().any(|one| one["fingerprint"] == digest.as_str()), "{mine:?}");
        let export = client.get("user/export").await;
        assert_eq!(export.ok()["push_subscriptions"].as_array().unwrap().len(), 10);
        for sentinel in ["s3nt1nel", &text(&again["keys"]["p256dh"])] {
            assert!(!export.text.contains(sentinel));
            assert!(!app.database.contains_bytes(sentinel.as_bytes()).await, "{sentinel}");
            assert!(!client.get("audit").await.text.contains(sentinel));
        }

        // To others they do not exist, and theirs are their own.
        assert_eq!(browsers(&bob.client).await, [Value::Null; 0]);
        bob.client.delete(&format!("webpush/{first}/delete")).await.refused(404, "not_found");
        let theirs = bob.client.post("webpush/subscribe", &again).await.ok();
        assert_ne!(theirs["subscriptionid"], first.as_str());
        client.delete(&format!("webpush/{first}/delete")).await.ok();
        client.delete(&format!("webpush/{first}/delete")).await.refused(404, "not_found");
        assert_eq!((browsers(client).await.len(), browsers(&bob.client).await.len()), (9, 1));
        let rows = "select count(*) from push_subscriptions";
        client.post("team/delete", &json!({"userids": [bob.userid]})).await.ok();
        assert_eq!(app.database.number(rows).await, 9, "deleted with the account");

        // The notifier is personal, and there is one.
        let save = async |body: Value| client.post("notifier/save", &body).await;
        let renamed = save(json!({"type": "webpush", "name": "Browsers"})).await.json();
        assert_eq!(renamed["personal"], true);
        let id = &renamed["notifierid"];
        assert_eq!(save(json!({"type": "webpush", "name": "x", "personal": false})).await.wrong_fields(), ["personal"]);
        assert_eq!(save(json!({"notifierid": id, "type": "ntfy", "ntfy": {"topic": "a"}})).await.wrong_fields(), ["type"]);
        save(json!({"notifierid": id, "isactive": false})).await;
        assert_eq!(client.get("notifiers?personal=true").await.ok()["notifiers"].as_array().unwrap().len(), 1);
        // Subscribing turns it on again.
        subscribe(&push.subscribe("b2")).await.ok();
        let mine = client.get("notifiers?personal=true").await.ok()["notifiers"][0].clone();
        assert_eq!((&mine["name"], &mine["isactive"]), (&json!("Browsers"), &json!(true)));
        app.stop().await;
    }

    async fn a_browser_at_an_address_that_is_not_allowed_is_refused(setup: Setup) {
        let app = Setup { egress: Policy::Public, ..setup }.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let push = FakePush::start(app.clock.now()).await;
        let mut body = push.subscribe("phone");
        for endpoint in [text(&body["endpoint"]), "https://169.254.169.254/x".to_owned()] {
            body["endpoint"] = json!(endpoint);
            let answer = ann.client.post("webpush/subscribe", &body).await;
            assert_eq!(answer.wrong_fields(), ["endpoint"], "{endpoint}: {}", answer.text);
        }
    }
}
