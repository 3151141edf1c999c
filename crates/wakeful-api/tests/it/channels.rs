//! Notifiers that send to known services: settings, secrets, threads, and what comes back.

use reqwest::Method;
use serde_json::{Value, json};
use std::collections::HashSet;
use wakeful_core::notifications::notifier::Kind;
use wakeful_outbound::net::guard::Policy;
use wakeful_testkit::fakes::{FakeService, SENTINEL, Trouble};
use wakeful_testkit::{Client, Receiver, Setup, both_databases, until};

pub(crate) async fn save(client: &Client, body: &Value) -> Value {
    let answer = client.post("notifier/save", body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(!answer.text.contains(SENTINEL), "{}", answer.text);
    answer.json()
}

/// An api monitor with these notifiers.
pub(crate) async fn monitor(client: &Client, notifiers: &[Value]) -> String {
    let ids: Vec<&Value> = notifiers.iter().map(|notifier| &notifier["notifierid"]).collect();
    let body = json!({"name": "Shop", "type": "api", "heartbeat_interval": 86400, "isactive": true,
        "upside_down_mode": false, "notifiers": ids});
    let json = client.post("monitor/save", &body).await.ok();
    json["monitor"]["monitorid"].as_str().unwrap().to_owned()
}

pub(crate) async fn report(client: &Client, monitor: &str, status: &str) {
    client.post(&format!("monitor/notify/{monitor}"), &json!({"status": status})).await.ok();
}

/// Waits until each of these notifiers has sent this many messages.
pub(crate) async fn all_sent(client: &Client, notifiers: &[Value], count: usize) {
    for notifier in notifiers {
        let path = format!("notifier/{}/deliveries", notifier["notifierid"].as_str().unwrap());
        until(&format!("{count} messages of {}", notifier["type"]), || async {
            let answer = client.get(&path).await;
            assert!(!answer.text.contains(SENTINEL), "{}", answer.text);
            let all = answer.ok()["deliveries"].as_array().unwrap().clone();
            let sent = all.iter().filter(|one| one["state"] == "delivered").count();
            (sent >= count).then_some(())
        })
        .await;
    }
}

pub(crate) async fn first_alert(client: &Client) -> Value {
    client.get("alerts").await.ok()["alerts"][0].clone()
}

both_databases! {
    async fn every_service_is_saved_tested_previewed_and_follows_an_alert(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let kinds = ann.client.get("notifier/kinds").await.ok()["kinds"].as_array().unwrap().clone();
        let (mut fakes, mut notifiers) = (Vec::new(), Vec::new());
        for kind in &kinds {
            let name = kind["type"].as_str().unwrap();
            let fake = FakeService::start(Kind::parse(name).unwrap()).await;
            let saved = save(&ann.client, &fake.notifier(name)).await;
            let secrets: Vec<&Value> = kind["fields"].as_array().unwrap().iter()
                .filter(|field| field["secret"] == true && fake.settings().get(field["name"].as_str().unwrap()).is_some())
                .map(|field| &field["name"]).collect();
            assert_eq!(saved[name]["secrets_set"], json!(secrets), "{saved}");
            let id = &saved["notifierid"];
            // An omitted secret is retained.
            save(&ann.client, &json!({"notifierid": id, "name": format!("{name} ops")})).await;
            let preview = ann.client.post("notifier/preview", &json!({"notifierid": id})).await;
            assert!(!preview.text.contains(SENTINEL), "{}", preview.text);
            let request = &preview.ok()["requests"][0];
            assert!(request["url"].as_str().unwrap().starts_with(&fake.url), "{request}");
            assert!(request["body"].as_str().unwrap().contains("Storefront"), "{request}");
            if name == "gotify" {
                fake.next(Trouble::TokenRejected);
                let answer = ann.client.post("notifier/test", &json!({"notifierid": id})).await;
                answer.refused(502, "not_delivered");
                assert!(answer.text.contains("check the token") && !answer.text.contains(SENTINEL));
                ann.client.post("notifier/test", &json!({"notifierid": id})).await.ok();
                fake.delete_messages();
            }
            fakes.push(fake);
            notifiers.push(saved);
        }
        let shop = monitor(&ann.client, &notifiers).await;
        report(&ann.client, &shop, "down").await;
        all_sent(&ann.client, &notifiers, 1).await;
        let alert = first_alert(&ann.client).await["alertid"].as_str().unwrap().to_owned();
        let threads = "select count(*) from threads";
        assert_eq!(app.database.number(threads).await, 6, "slack, discord, telegram, matrix, signal and alertmanager");
        ann.client.post(&format!("alert/{alert}/acknowledge"), &json!({})).await.ok();
        let follows: Vec<Value> = notifiers.iter().zip(&kinds)
            .filter(|(_, kind)| kind["can"].as_array().unwrap().iter().any(|can| can == "thread" || can == "edit"))
            .map(|(notifier, _)| notifier.clone()).collect();
        all_sent(&ann.client, &follows, 2).await;
        report(&ann.client, &shop, "up").await;
        all_sent(&ann.client, &follows, 3).await;
        all_sent(&ann.client, &notifiers, 2).await;
        for fake in &fakes {
            let (kind, all) = (fake.kind, fake.conversation());
            let last = if all[0].is_edited { &all[0] } else { all.last().unwrap() };
            match kind {
                Kind::Pagerduty => assert_eq!(last.state, "resolved"),
                Kind::Opsgenie => assert_eq!(last.state, "closed"),
                Kind::Alertmanager => assert!(all.len() == 1 && last.text.contains("up again"), "{all:?}"),
                _ => assert!(last.text.contains("Shop is up again"), "{kind}: {all:?}"),
            }
            let link = format!("/alert/{alert}");
            let first = &fake.requests().iter().map(|one| one.body.clone()).collect::<Vec<_>>().concat();
            // A form is encoded, and a text message has the link to acknowledge.
            let link = if kind == Kind::Twilio { "%2Fa%2Fwkt_" } else { &link };
            assert!(first.contains(link), "{kind}: {first}");
        }
        assert!(!app.database.contains_bytes(SENTINEL.as_bytes()).await);
        let log = ann.client.get("audit").await;
        assert!(log.text.contains("slack.channel") && !log.text.contains(SENTINEL), "{}", log.text);
        ann.client.delete(&format!("monitor/{shop}/delete")).await.ok();
        for notifier in &notifiers {
            ann.client.delete(&format!("notifier/{}/delete", notifier["notifierid"].as_str().unwrap())).await.ok();
        }
        assert_eq!(app.database.number(threads).await, 0);
    }

    async fn a_raised_severity_is_sent_to_the_service_that_pages_by_it_and_to_nobody_else(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let kinds = [Kind::Pagerduty, Kind::Opsgenie, Kind::Alertmanager, Kind::Slack];
        let (mut fakes, mut notifiers) = (Vec::new(), Vec::new());
        for kind in kinds {
            let fake = FakeService::start(kind).await;
            notifiers.push(save(&ann.client, &fake.notifier(kind.as_str())).await);
            fakes.push(fake);
        }
        let hook = Receiver::start().await;
        let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": hook.url}});
        notifiers.push(save(&ann.client, &body).await);
        // It is notified of critical outages only.
        let urgent = FakeService::start(Kind::Pagerduty).await;
        let mut body = urgent.notifier("urgent");
        body["min_severity"] = json!("critical");
        let urgent_notifier = save(&ann.client, &body).await;
        let all = [&notifiers[..], std::slice::from_ref(&urgent_notifier)].concat();
        let shop = monitor(&ann.client, &all).await;
        let body = json!({"monitorid": shop, "severity": "warning"});
        ann.client.post("monitor/save", &body).await.ok();
        report(&ann.client, &shop, "down").await;
        all_sent(&ann.client, &notifiers, 1).await;
        let alert = first_alert(&ann.client).await["alertid"].as_str().unwrap().to_owned();
        let severity = async |severity: &str| {
            let body = json!({"severity": severity});
            ann.client.post(&format!("alert/{alert}/severity"), &body).await.ok();
        };
        let pagers = [notifiers[0].clone(), urgent_notifier.clone()];
        ann.client.post(&format!("alert/{alert}/acknowledge"), &json!({})).await.ok();
        all_sent(&ann.client, &pagers[..1], 2).await;
        severity("critical").await;
        all_sent(&ann.client, &pagers[..1], 3).await;
        all_sent(&ann.client, &pagers[1..], 1).await;
        // A lowered severity pages nobody; those who know of the alert follow it when it is raised.
        severity("info").await;
        severity("warning").await;
        all_sent(&ann.client, &pagers[..1], 4).await;
        all_sent(&ann.client, &pagers[1..], 2).await;
        report(&ann.client, &shop, "up").await;
        all_sent(&ann.client, &pagers[..1], 5).await;
        all_sent(&ann.client, &pagers[1..], 3).await;
        all_sent(&ann.client, &notifiers[1..], 3).await;

        let sent = |fake: &FakeService| {
            let all = fake.requests();
            let events = all.iter().map(|request| {
                let body = request.json();
                assert_eq!(body["dedup_key"], alert.as_str(), "{body}");
                let severity = body["payload"]["severity"].as_str().unwrap_or_default();
                format!("{} {severity}", body["event_action"].as_str().unwrap()).trim().to_owned()
            });
            events.collect::<Vec<String>>()
        };
        assert_eq!(sent(&fakes[0]),
            ["trigger warning", "acknowledge", "trigger critical", "trigger warning", "resolve"]);
        assert_eq!(sent(&urgent), ["trigger critical", "trigger warning", "resolve"]);
        for fake in [&fakes[0], &urgent] {
            let shown = fake.conversation();
            assert_eq!((shown.len(), shown[0].state.as_str()), (1, "resolved"), "{shown:?}");
            let ids: HashSet<String> = fake.requests().iter()
                .filter_map(|one| Some(one.json()["payload"]["custom_details"]["eventid"].as_str()?.to_owned()))
                .collect();
            assert_eq!(ids.len(), sent(fake).iter().filter(|one| one.starts_with("trigger")).count());
        }
        let kinds: Vec<String> = hook.hooks().iter()
            .map(|one| one.json()["type"].as_str().unwrap().to_owned()).collect();
        assert_eq!(kinds, ["monitor.down", "alert.acknowledged", "monitor.up"]);
        assert_eq!(fakes[1].requests().len(), 3, "opened, acknowledged, closed");
        assert_eq!(fakes[2].requests().len(), 2, "an alert and its end");
        // The outage, its acknowledgement, its recovery, and the first message with it.
        let texts: Vec<String> = fakes[3].conversation().into_iter().map(|one| one.text).collect();
        assert_eq!(texts.len(), 3, "{texts:?}");
    }

    async fn a_raised_severity_is_sent_once_to_a_pager_that_only_a_routing_rule_names(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let hook = Receiver::start().await;
        let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": hook.url}});
        let hook_notifier = save(&ann.client, &body).await;
        // The rule of the first one matches every alert, that of the second one critical alerts.
        let fakes = [FakeService::start(Kind::Pagerduty).await, FakeService::start(Kind::Pagerduty).await];
        let mut body = fakes[0].notifier("urgent");
        body["min_severity"] = json!("critical");
        let pagers = [
            save(&ann.client, &body).await,
            save(&ann.client, &fakes[1].notifier("escalation")).await,
        ];
        let rules = json!({"rules": [
            {"name": "all", "everything": true, "notifiers": pagers[0]["notifierid"]},
            {"name": "critical", "everything": true, "severities": "critical",
             "notifiers": [pagers[1]["notifierid"], hook_notifier["notifierid"]]}]});
        ann.client.post("routing/save", &rules).await.ok();
        let shop = monitor(&ann.client, std::slice::from_ref(&hook_notifier)).await;
        let body = json!({"monitorid": shop, "severity": "info"});
        ann.client.post("monitor/save", &body).await.ok();
        report(&ann.client, &shop, "down").await;
        all_sent(&ann.client, std::slice::from_ref(&hook_notifier), 1).await;
        let alert = first_alert(&ann.client).await["alertid"].as_str().unwrap().to_owned();
        for severity in ["warning", "critical", "critical"] {
            let body = json!({"severity": severity});
            ann.client.post(&format!("alert/{alert}/severity"), &body).await.ok();
        }
        all_sent(&ann.client, &pagers, 1).await;
        report(&ann.client, &shop, "up").await;
        all_sent(&ann.client, &pagers, 2).await;
        all_sent(&ann.client, std::slice::from_ref(&hook_notifier), 2).await;
        for fake in &fakes {
            let sent: Vec<String> = fake.requests().iter().map(|request| {
                let body = request.json();
                assert_eq!(body["dedup_key"], alert.as_str(), "{body}");
                let severity = body["payload"]["severity"].as_str().unwrap_or_default();
                format!("{} {severity}", body["event_action"].as_str().unwrap())
            }).collect();
            assert_eq!(sent, ["trigger critical", "resolve "]);
            let shown = fake.conversation();
            assert_eq!((shown.len(), shown[0].state.as_str()), (1, "resolved"), "{shown:?}");
        }
        let kinds: Vec<String> = hook.hooks().iter()
            .map(|one| one.json()["type"].as_str().unwrap().to_owned()).collect();
        assert_eq!(kinds, ["monitor.down", "monitor.up"], "it knows of the outage already");
    }

    async fn an_outage_is_routed_by_the_severity_that_a_user_sets_before_it_is_reported(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let fake = FakeService::start(Kind::Pagerduty).await;
        let pager = save(&ann.client, &fake.notifier("duty")).await;
        let rules = json!({"rules": [{"name": "critical", "everything": true,
            "severities": "critical", "notifiers": pager["notifierid"]}]});
        ann.client.post("routing/save", &rules).await.ok();
        let shop = monitor(&ann.client, &[]).await;
        let body = json!({"monitorid": shop, "severity": "info"});
        ann.client.post("monitor/save", &body).await.ok();
        report(&ann.client, &shop, "down").await;
        let alert = until("a decision", async || {
            let alert = first_alert(&ann.client).await;
            alert["notified"].is_string().then(|| alert["alertid"].as_str().unwrap().to_owned())
        }).await;
        // As if no decision had been written yet.
        app.database.execute("update alerts set state = '{}'").await;
        let body = json!({"severity": "critical"});
        ann.client.post(&format!("alert/{alert}/severity"), &body).await.ok();
        all_sent(&ann.client, std::slice::from_ref(&pager), 1).await;
        assert_eq!(fake.requests()[0].json()["payload"]["severity"], "critical");
    }

    async fn a_button_acknowledges_and_a_receiver_that_is_gone_turns_the_notifier_off(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        app.mails("ann@example.com", 1).await;
        let (ntfy, pushover) = (FakeService::start(Kind::Ntfy).await, FakeService::start(Kind::Pushover).await);
        let slack = FakeService::start(Kind::Slack).await;
        let mut notifiers = Vec::new();
        for fake in [&ntfy, &pushover] {
            notifiers.push(save(&ann.client, &fake.notifier(fake.kind.as_str())).await);
        }
        let shop = monitor(&ann.client, &notifiers).await;
        report(&ann.client, &shop, "down").await;
        all_sent(&ann.client, &notifiers, 1).await;
        let action = ntfy.requests()[0].json()["actions"][0].clone();
        let path = |url: &Value| {
            let url = url.as_str().unwrap();
            url[url.find("/api/").unwrap()..].to_owned()
        };
        let body: Value = serde_json::from_str(action["body"].as_str().unwrap()).unwrap();
        // The button of another kind asks for a name.
        let callback = path(&pushover.requests()[0].json()["callback"]);
        let plain = callback.strip_suffix("/pushover").unwrap();
        app.anonymous().call(Method::POST, plain, Some(&body)).await.refused(422, "invalid_fields");
        let form = Some("application/x-www-form-urlencoded");
        let not_yet = app.anonymous().raw(Method::POST, &callback, form, "receipt=r&acknowledged=0").await;
        assert_eq!(not_yet.wrong_fields(), ["acknowledged"]);
        let of_ntfy = format!("{}/pushover", path(&action["url"]));
        app.anonymous().raw(Method::POST, &of_ntfy, form, "acknowledged=1").await.refused(404, "not_found");
        let done = "receipt=r&acknowledged=1&acknowledged_by=uQiRzpo4DXghDmr9QzzfQu27cmVRsG&acknowledged_at=1";
        app.anonymous().raw(Method::POST, &callback, form, done).await.ok();
        let by = first_alert(&ann.client).await["acknowledged"].clone();
        assert_eq!((&by["name"], &by["via"]), (&json!("pushover"), &json!("pushover")));
        let entry = ann.client.get("audit?limit=1").await.ok()["entries"][0].clone();
        assert_eq!((&entry["action"], &entry["actor"]["name"]), (&json!("alert.acknowledge"), &json!("pushover")));
        let id = first_alert(&ann.client).await["alertid"].as_str().unwrap().to_owned();
        ann.client.post_nothing(&format!("alert/{id}/unacknowledge")).await.ok();
        app.anonymous().call(Method::POST, &path(&action["url"]), Some(&body)).await.ok();
        let by = first_alert(&ann.client).await["acknowledged"].clone();
        assert_eq!((&by["name"], &by["via"]), (&json!("ntfy"), &json!("ntfy")));

        let saved = save(&ann.client, &slack.notifier("slack")).await;
        let other = monitor(&ann.client, std::slice::from_ref(&saved)).await;
        slack.next(Trouble::Gone);
        report(&ann.client, &other, "down").await;
        let mails = app.mails("ann@example.com", 2).await;
        assert!(mails.iter().any(|mail| mail.contains("Subject: Notifier slack was turned off")));
        let list = ann.client.get("notifiers").await.ok();
        let off = list["notifiers"].as_array().unwrap().iter().find(|one| one["type"] == "slack").unwrap().clone();
        assert_eq!(off["isactive"], false);
        assert!(off["disabled_reason"].as_str().unwrap().contains("is_archived"), "{off}");
    }

    async fn a_comment_is_posted_to_the_threads_of_those_who_want_it(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (slack, other) = (FakeService::start(Kind::Slack).await, FakeService::start(Kind::Slack).await);
        let events = json!(["monitor.down", "alert.commented"]);
        let mut wants = slack.notifier("wants");
        wants["events"] = events.clone();
        let wants = save(&ann.client, &wants).await;
        assert_eq!(wants["events"], events);
        let usual = save(&ann.client, &other.notifier("usual")).await;
        assert!(!usual["events"].to_string().contains("alert.commented"), "{usual}");
        let both = [wants, usual];
        let shop = monitor(&ann.client, &both).await;
        report(&ann.client, &shop, "down").await;
        all_sent(&ann.client, &both, 1).await;
        let alert = first_alert(&ann.client).await["alertid"].as_str().unwrap().to_owned();
        let comment = json!({"text": "A disk is full."});
        ann.client.post(&format!("alert/{alert}/comment"), &comment).await.ok();
        all_sent(&ann.client, &both[..1], 2).await;
        let shown = slack.conversation();
        assert_eq!(shown[1].reply_to.as_ref(), Some(&shown[0].id), "{shown:?}");
        assert!(shown[1].text.contains("comment by ann@example.com"), "{shown:?}");
        assert!(shown[1].text.contains("A disk is full."), "{shown:?}");
        assert!(!shown[0].is_edited && other.conversation().len() == 1);
    }

    async fn the_settings_of_a_service_are_validated_converted_and_bound_to_their_server(setup: Setup) {
        let app = Setup { egress: Policy::Public, ..setup }.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let post = async |body: Value| ann.client.post("notifier/save", &body).await;
        let new = |kind: &str, settings: Value| {
            let mut body = json!({"name": "ops", "type": kind});
            body[kind] = settings;
            body
        };
        for (kind, settings, wrong) in [
            ("slack", json!({}), &["slack.token"][..]),
            ("slack", json!({"token": "xoxb-1"}), &["slack.channel"]),
            ("slack", json!({"token": "hello", "chanel": "x"}), &["slack.chanel", "slack.token"]),
            ("telegram", json!({"token": "x", "chat_id": "y"}), &["telegram.token", "telegram.chat_id"]),
            ("ntfy", json!({"topic": "a b", "server": "ftp://x"}), &["ntfy.server", "ntfy.topic"]),
            ("ntfy", json!({"topic": "a", "server": "http://127.0.0.1/"}), &["ntfy.server"]),
            ("discord", json!({"webhook_url": "http://169.254.169.254/"}), &["discord.webhook_url"]),
            ("pushover", json!({"emergency": "yes"}), &["pushover.emergency", "pushover.token", "pushover.user"]),
            ("teams", json!({"url": 7}), &["teams.url"]),
            ("gotify", json!([]), &["gotify", "gotify.server", "gotify.token"]),
            ("twilio", json!({"to": "+1", "via": "fax"}), &["twilio.to", "twilio.via", "twilio.account_sid",
                "twilio.key", "twilio.secret"]),
            ("signal", json!({"server": "http://10.0.0.1/", "number": "+15005550006", "recipients": "ann.42"}),
                &["signal.server"]),
            ("alertmanager", json!({"url": "http://169.254.169.254/", "headers": "X: 1"}), &["alertmanager.url"]),
            ("alertmanager", json!({"headers": "Host: x"}), &["alertmanager.headers", "alertmanager.url"]),
        ] {
            let answer = post(new(kind, settings.clone())).await;
            assert_eq!(answer.wrong_fields(), wrong, "{settings}: {}", answer.text);
        }
        let events = |saved: &Value| saved["events"].to_string();
        let ntfy = post(new("ntfy", json!({"topic": "a", "token": "tk_1"}))).await.json();
        assert_eq!(ntfy["ntfy"], json!({"server": "https://ntfy.sh", "topic": "a", "username": "",
            "email": "", "call": "", "secrets_set": ["token"]}));
        assert!(events(&ntfy).contains("alert.acknowledged"), "{ntfy}");
        let id = &ntfy["notifierid"];
        let moved = post(json!({"notifierid": id, "ntfy": {"server": "https://ntfy.example.com"}})).await.json();
        assert_eq!(moved["ntfy"]["secrets_set"], json!([]));

        // A webhook with a built-in template becomes the real kind.
        let hook = json!({"name": "old", "type": "webhook", "webhook": {"template": "telegram",
            "url": "https://api.telegram.org/bot12:abc/sendMessage?chat_id=-55"}});
        let hook = post(hook).await.json();
        let (id, before) = (&hook["notifierid"], events(&hook));
        let converted = post(json!({"notifierid": id, "type": "telegram"})).await.json();
        assert_eq!(converted["telegram"], json!({"chat_id": "-55", "thread_id": "", "on_recovery": "both",
            "api_url": "https://api.telegram.org", "secrets_set": ["token"]}), "{converted}");
        assert!(converted.get("webhook").is_none());
        assert_ne!(events(&converted), before, "it can show more");
        let typed = json!({"type": "pushover", "pushover": {"emergency": true}, "event": "monitor.up"});
        let preview = ann.client.post("notifier/preview", &typed).await.ok();
        assert_eq!(preview["requests"].as_array().unwrap().len(), 2, "cancels, and sends: {preview}");
    }
}
