//! notifiers, notifier/save, test, delete, rotate, deliveries; delivery/resend.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_outbound::net::guard::Policy;
use wakeful_testkit::{Client, Inbox, Line, Receiver, Setup, both_engines, until};

fn webhook(url: &str) -> Value {
    json!({"name": "hook", "type": "webhook", "webhook": {"url": url}})
}

fn email(port: u16) -> Value {
    json!({"name": "mail", "type": "email", "email": {"hostname": "127.0.0.1", "port": port,
        "security": "None", "ignore_tls_errors": false, "username": "user",
        "password": "s3cret-sentinel", "from_email": "wakeful@example.com",
        "to_email": "ann@example.com, Bob <bob@example.com>", "to_cc": "", "to_bcc": "",
        "subject": ""}})
}

async fn save(client: &Client, body: &Value) -> Value {
    let answer = client.post("notifier/save", body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let json = answer.json();
    assert!(json.get("success").is_none(), "the notifier itself: {json}");
    json
}

fn path(notifier: &Value, what: &str) -> String {
    format!("notifier/{}/{what}", notifier["notifierid"].as_str().unwrap())
}

/// An api monitor that tells by these notifiers.
async fn monitor(client: &Client, name: &str, notifiers: &[&Value]) -> String {
    let ids: Vec<&Value> = notifiers.iter().map(|notifier| &notifier["notifierid"]).collect();
    let body = json!({"name": name, "type": "api", "heartbeat_interval": 86400, "isactive": true,
        "upside_down_mode": false, "notifiers": ids});
    let json = client.post("monitor/save", &body).await.ok();
    json["monitor"]["monitorid"].as_str().unwrap().to_owned()
}

async fn report(client: &Client, monitor: &str, status: &str) {
    client.post(&format!("monitor/notify/{monitor}"), &json!({"status": status})).await.ok();
}

/// The bytes that this process has used at most so far; 0 where that is not known.
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok());
    kilobytes.unwrap_or(0) << 10
}

both_engines! {
    async fn a_preview_shows_the_message_and_sends_nothing(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let preview = async |body: Value| ann.client.post("notifier/preview", &body).await;

        let answer = preview(json!({"type": "webhook"})).await;
        assert_eq!(answer.keys(), ["body", "content_type", "html", "subject", "success"]);
        let json = answer.ok();
        assert_eq!(json["content_type"], "application/json");
        let body: Value = serde_json::from_str(json["body"].as_str().unwrap()).unwrap();
        assert_eq!(body["type"], "monitor.down");
        assert_eq!(body["text"], "[Storefront] down: 503 Service Unavailable");

        let own = json!({"type": "webhook", "event": "monitor.up",
            "webhook": {"template": "{{ name }} is {{ status }} after {{ lasted }}", "url": "https://"}});
        let json = preview(own).await.ok();
        assert_eq!(json["body"], "Storefront is up after 4 min");
        assert_eq!(json["content_type"], "text/plain; charset=utf-8");

        let mail = json!({"type": "email", "email": {"subject": "{{ name }}: {{ message }}"}});
        let json = preview(mail).await.ok();
        assert_eq!(json["subject"], "Storefront: 503 Service Unavailable");
        assert!(json["html"].as_str().unwrap().contains("Storefront"));
        assert!(json["body"].as_str().unwrap().contains("https://shop.example.com/"));
    }

    async fn a_preview_tells_what_is_wrong_with_a_template(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for (body, field) in [
            (json!({"type": "webhook", "webhook": {"template": "{{ name"}}), "webhook.template"),
            (json!({"type": "email", "email": {"subject": "{% for %}"}}), "email.subject"),
            (json!({"type": "email", "event": "monitor.sideways"}), "event"),
            (json!({}), "type"),
        ] {
            let answer = ann.client.post("notifier/preview", &body).await;
            assert_eq!(answer.wrong_fields(), [field], "{}", answer.text);
        }
    }

    async fn a_template_that_attacks_the_engine_is_refused(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let doublings = |times| "{% set a = a ~ a %}".repeat(times);
        let mut attacks: Vec<String> = ["-", "1-", "1/", "1~", "not ", "(", "[", "{1:"]
            .iter()
            .map(|part| format!("{{{{ {}1 }}}}", part.repeat(16_300 / part.len())))
            .collect();
        attacks.extend([
            format!("{{{{ text{} }}}}", "()".repeat(8_000)),
            format!("{{{{ text{} }}}}", ".a".repeat(8_000)),
            format!("{{{{ text{} }}}}", "|upper".repeat(2_500)),
            format!("{{% for {}", "(".repeat(16_300)),
            format!("{{% if 1 %}}{}{{% endif %}}", "{%elif 1%}".repeat(1_600)),
            format!("{{% set a = text %}}{}{{{{ a }}}}", doublings(22)),
            format!("{{% set a = text %}}{}{{{{ a }}}}", doublings(40)),
            "{{ 'a' * 90000000 }}".to_owned(),
            "{% with a = text ~ text %}{{ a }}{% endwith %}".to_owned(),
            "{% filter upper %}{{ text }}{% endfilter %}".to_owned(),
            "{% for a in text %}{{ loop.cycle() }}{% endfor %}".to_owned(),
        ]);
        for hidden in ["{#}", "{#-}", "{#} #}", "{#-} #}"] {
            let condition = "{% if status == 'sideways' %}";
            let bomb = format!("{{% set a = text %}}{}{{{{ a }}}}", doublings(40));
            attacks.push(format!("{hidden}{condition}{bomb}{{% endif %}}"));
            attacks.push(format!("{hidden}{{{{ {}1 }}}}", "-".repeat(16_000)));
        }
        let memory = peak_memory();
        for template in &attacks {
            let start = &template[..template.len().min(60)];
            let hook = json!({"name": "hook", "type": "webhook",
                "webhook": {"url": "http://127.0.0.1:9/", "template": template}});
            for path in ["notifier/save", "notifier/preview"] {
                let answer = ann.client.post(path, &hook).await;
                // A comment that is not closed hides the rest from the engine, too.
                if answer.status == 200 {
                    assert!(template.starts_with("{#") && !template.contains("#}"), "{start}");
                    continue;
                }
                assert_eq!(answer.wrong_fields(), ["webhook.template"], "{path} {start}");
            }
            let mut mail = email(25);
            mail["email"]["subject"] = json!(template[..template.len().min(1_000)]);
            for path in ["notifier/save", "notifier/preview"] {
                let answer = ann.client.post(path, &mail).await;
                if answer.status != 200 {
                    assert_eq!(answer.wrong_fields(), ["email.subject"], "{path} {start}");
                }
            }
        }
        let grown = peak_memory().saturating_sub(memory);
        assert!(grown < 128 << 20, "{} MiB", grown >> 20);
    }

    async fn an_email_notifier_is_answered_as_it_is_stored(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let body = email(25);
        let saved = save(&ann.client, &body).await;
        assert_eq!(saved["email"], body["email"], "the password too, as the reference says");
        assert_eq!((&saved["name"], &saved["type"]), (&json!("mail"), &json!("email")));
        assert_eq!(saved["isactive"], true);
        let list = ann.client.get("notifiers").await.ok();
        assert_eq!(list["notifiers"], json!([saved]));
        app.clock.advance(Duration::from_secs(1));
        let again = save(&ann.client, &saved).await;
        assert_eq!(again, saved, "what is read can be saved back");
    }

    async fn the_secret_of_a_webhook_is_shown_when_it_is_made(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let made = save(&ann.client, &webhook("https://example.com/t0ken")).await;
        let secret = made["webhook"]["secret"].as_str().unwrap();
        assert!(secret.starts_with("whsec_") && secret.len() == 6 + 44, "{secret}");
        assert_eq!(made["webhook"]["url"], "https://example.com/t0ken");
        let listed = ann.client.get("notifiers").await.ok()["notifiers"][0].clone();
        assert!(listed["webhook"].get("secret").is_none(), "{listed}");
        app.clock.advance(Duration::from_secs(1));
        let back = save(&ann.client, &listed).await;
        assert_eq!(back, listed);
        let rotated = ann.client.post_nothing(&path(&made, "rotate")).await.json();
        let new = rotated["webhook"]["secret"].as_str().unwrap();
        assert!(new.starts_with("whsec_") && new != secret);
        let mail = save(&ann.client, &email(25)).await;
        ann.client.post_nothing(&path(&mail, "rotate")).await.refused(409, "notifier_unsigned");
    }

    async fn a_partial_update_keeps_the_rest_and_the_type_may_change(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let made = save(&ann.client, &email(2525)).await;
        let id = &made["notifierid"];
        let change = json!({"notifierid": id, "email": {"to_cc": ["c@example.com", "d@example.com"]}});
        let after = save(&ann.client, &change).await;
        assert_eq!(after["email"]["to_cc"], "c@example.com,d@example.com");
        for field in ["hostname", "port", "password", "to_email", "from_email", "security"] {
            assert_eq!(after["email"][field], made["email"][field], "{field}");
        }
        assert_eq!(after["name"], "mail");
        let half = json!({"notifierid": id, "type": "webhook"});
        let answer = ann.client.post("notifier/save", &half).await;
        assert_eq!(answer.wrong_fields(), ["webhook.url"]);
        let whole = json!({"notifierid": id, "type": "Webhook", "webhook": {"url": "http://127.0.0.1:1/"}});
        let hook = save(&ann.client, &whole).await;
        assert_eq!(hook["type"], "webhook");
        assert!(hook.get("email").is_none());
        let secret = hook["webhook"]["secret"].as_str().unwrap();
        assert!(secret.starts_with("whsec_"), "made just now, so shown: {hook}");
        let again = save(&ann.client, &json!({"notifierid": id, "name": "other"})).await;
        assert!(again["webhook"].get("secret").is_none(), "{again}");
    }

    async fn every_wrong_field_is_told_at_once(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let wrong = |body: Value| {
            let client = ann.client.clone();
            async move { client.post("notifier/save", &body).await.wrong_fields() }
        };
        assert_eq!(wrong(json!({})).await, ["name", "type"]);
        let fields = ["email.hostname", "email.from_email", "email.to_email"];
        assert_eq!(wrong(json!({"name": "x", "type": "email"})).await, fields);
        let mut body = email(25);
        body["email"]["security"] = json!("ssl");
        body["email"]["to_email"] = json!("ann@example.com\r\nBcc: eve@example.com");
        body["email"]["subject"] = json!("a\nb");
        body["email"]["port"] = json!(70000);
        let fields = ["email.security", "email.port", "email.to_email", "email.subject"];
        assert_eq!(wrong(body).await, fields);
        let mut body = webhook("ftp://example.com/");
        body["webhook"]["headers"] = json!("webhook-id: mine");
        body["webhook"]["template"] = json!("slak");
        body["webhook"]["secret"] = json!("short");
        let fields = ["webhook.url", "webhook.headers", "webhook.template", "webhook.secret"];
        assert_eq!(wrong(body).await, fields);
        let mut body = webhook("https://example.com/");
        body["webhook"]["template"] = json!("{% set x = text ~ text %}{{ x }}");
        assert_eq!(wrong(body).await, ["webhook.template"]);
        let mut body = email(25);
        body["email"]["subject"] = json!("{{ text | nonsense }}");
        assert_eq!(wrong(body).await, ["email.subject"]);
        assert_eq!(wrong(webhook("http://169.254.169.254/latest/meta-data")).await, ["webhook.url"]);
        let mut body = webhook("http://169.254.169.254/latest/meta-data");
        body["name"] = json!("");
        body["webhook"]["headers"] = json!("webhook-id: mine");
        body["webhook"]["template"] = json!("{{ name");
        let fields = ["name", "webhook.url", "webhook.headers", "webhook.template"];
        assert_eq!(wrong(body).await, fields);
        let mut body = email(25);
        body["email"]["hostname"] = json!("169.254.169.254");
        body["email"]["from_email"] = json!("\"a b\"@example.com");
        body["email"]["to_email"] = json!("ann@example.com, x@xn--ä.example");
        body["email"]["subject"] = json!("{{ name");
        let fields = ["email.hostname", "email.from_email", "email.to_email", "email.subject"];
        assert_eq!(wrong(body).await, fields);
        assert_eq!(ann.client.get("notifiers").await.ok()["notifiers"], json!([]));
    }

    async fn another_teams_notifier_answers_as_one_that_does_not_exist(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let eve = app.sign_up("eve@example.com").await;
        let receiver = Receiver::start().await;
        let anns = save(&ann.client, &webhook(&receiver.url)).await;
        let nobodys = json!({"notifierid": "01a1dd16-3e86-7039-aa0a-37292a4ffff7"});
        for notifier in [&anns, &nobodys] {
            let id = json!({"notifierid": notifier["notifierid"], "name": "stolen"});
            eve.client.post("notifier/save", &id).await.refused(404, "not_found");
            eve.client.post("notifier/test", &id).await.refused(404, "not_found");
            eve.client.delete(&path(notifier, "delete")).await.refused(404, "not_found");
            eve.client.post_nothing(&path(notifier, "rotate")).await.refused(404, "not_found");
            eve.client.get(&path(notifier, "deliveries")).await.refused(404, "not_found");
        }
        let body = json!({"name": "x", "type": "api", "heartbeat_interval": 60, "isactive": true,
            "upside_down_mode": false, "notifiers": anns["notifierid"]});
        assert_eq!(eve.client.post("monitor/save", &body).await.wrong_fields(), ["notifiers"]);
        let job = monitor(&ann.client, "job", &[&anns]).await;
        report(&ann.client, &job, "down").await;
        receiver.received(1).await;
        let sent = ann.client.get(&path(&anns, "deliveries")).await.ok();
        let delivery = sent["deliveries"][0]["deliveryid"].as_str().unwrap();
        eve.client.post_nothing(&format!("delivery/{delivery}/resend")).await.refused(404, "not_found");
        assert_eq!(ann.client.get("notifiers").await.ok()["notifiers"][0]["name"], "hook");
        assert_eq!(receiver.count(), 1);
    }

    async fn a_test_answers_what_the_receiver_said(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = save(&ann.client, &webhook(&receiver.url)).await;
        let id = json!({"notifierid": made["notifierid"]});
        assert_eq!(ann.client.post("notifier/test", &id).await.ok()["message"], "taken");
        let hook = &receiver.hooks()[0];
        assert_eq!(hook.json()["type"], "notifier.test");
        assert_eq!(hook.json()["data"]["eventid"], hook.id());
        receiver.answers(500, "", &format!("broken\r\n{}", "x".repeat(5_000)));
        let told = ann.client.post("notifier/test", &id).await.refused(502, "not_delivered");
        let told = told["message"].as_str().unwrap();
        assert!(told.contains("500") && told.contains("broken") && told.len() < 1_200, "{told}");
        receiver.answers(302, "location: http://127.0.0.1:1/\r\n", "");
        ann.client.post("notifier/test", &id).await.refused(502, "not_delivered");
        assert_eq!(receiver.count(), 3);
        let inbox = Inbox::start(Line::Plain).await;
        let mail = save(&ann.client, &email(inbox.port)).await;
        let id = json!({"notifierid": mail["notifierid"]});
        let told = ann.client.post("notifier/test", &id).await.ok();
        assert_eq!(told["message"], "250 2.0.0 taken as 1");
        let letter = &inbox.letters()[0];
        assert_eq!((letter.user.as_str(), letter.password.as_str()), ("user", "s3cret-sentinel"));
        assert_eq!(letter.to, ["ann@example.com", "bob@example.com"]);
        for _ in 0..6 {
            ann.client.post("notifier/test", &id).await.ok();
        }
        ann.client.post("notifier/test", &id).await.refused(429, "too_many_requests");
    }

    async fn a_denied_address_is_refused_and_never_reached(setup: Setup) {
        let app = Setup { egress: Policy::Public, ..setup }.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let answer = ann.client.post("notifier/save", &webhook(&receiver.url)).await;
        assert_eq!(answer.wrong_fields(), ["webhook.url"]);
        let answer = ann.client.post("notifier/save", &email(25)).await;
        assert_eq!(answer.wrong_fields(), ["email.hostname"]);
        // A name is only known to be inside when it is looked up.
        let port = receiver.url.split(':').nth(2).unwrap();
        let made = save(&ann.client, &webhook(&format!("http://inside.test:{port}"))).await;
        let id = json!({"notifierid": made["notifierid"]});
        ann.client.post("notifier/test", &id).await.refused(502, "not_delivered");
        assert_eq!(receiver.count(), 0);
    }

    async fn a_linked_notifier_stays_and_names_its_monitors(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let made = save(&ann.client, &webhook("http://127.0.0.1:1/")).await;
        let job = monitor(&ann.client, "nightly job", &[&made]).await;
        let told = ann.client.delete(&path(&made, "delete")).await.refused(409, "notifier_linked");
        assert!(told["message"].as_str().unwrap().contains("nightly job"), "{told}");
        let unlinked = json!({"monitorid": job, "notifiers": ""});
        ann.client.post("monitor/save", &unlinked).await.ok();
        ann.client.delete(&path(&made, "delete")).await.ok();
        ann.client.delete(&path(&made, "delete")).await.refused(404, "not_found");
        assert_eq!(ann.client.get("notifiers").await.ok()["notifiers"], json!([]));
    }

    async fn what_was_sent_is_listed_and_can_be_sent_again(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = save(&ann.client, &webhook(&receiver.url)).await;
        let job = monitor(&ann.client, "job", &[&made]).await;
        report(&ann.client, &job, "down").await;
        app.clock.advance(Duration::from_secs(5));
        report(&ann.client, &job, "up").await;
        receiver.received(2).await;
        let all = until("both delivered", || async {
            let json = ann.client.get(&path(&made, "deliveries")).await.ok();
            let all = json["deliveries"].as_array().unwrap().clone();
            all.iter().all(|one| one["state"] == "delivered").then_some(all)
        }).await;
        let kinds: Vec<&str> = all.iter().map(|one| one["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["monitor.up", "monitor.down"]);
        assert_eq!(all[1]["monitor"], json!({"monitorid": job, "name": "job"}));
        assert_eq!((&all[1]["attempts"], &all[1]["last_answer"]), (&json!(1), &json!("taken")));
        let page = ann.client.get(&path(&made, "deliveries?limit=1")).await.ok();
        let cursor = page["next_cursor"].as_str().unwrap();
        let rest = ann.client.get(&path(&made, &format!("deliveries?limit=1&cursor={cursor}"))).await.ok();
        assert_eq!((&page["deliveries"][0], &rest["deliveries"][0]), (&all[0], &all[1]));
        let again = format!("delivery/{}/resend", all[1]["deliveryid"].as_str().unwrap());
        ann.client.post_nothing(&again).await.ok();
        let hooks = receiver.received(3).await;
        assert_eq!(hooks[2].id(), hooks[0].id(), "the same event");
        assert_eq!(hooks[2].body, hooks[0].body);
    }
}
