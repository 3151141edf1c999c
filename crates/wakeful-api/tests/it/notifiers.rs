//! notifiers, notifier/save, test, delete, rotate, deliveries; delivery/resend.

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use wakeful_outbound::net::guard::Policy;
use wakeful_testkit::{
    App, Client, Receiver, Setup, SmtpSecurity, SmtpServer, both_databases, concurrently, until,
};

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

/// An api monitor with these notifiers.
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

async fn deliveries(client: &Client, notifier: &Value) -> Vec<Value> {
    let json = client.get(&path(notifier, "deliveries")).await.ok();
    json["deliveries"].as_array().unwrap().clone()
}

/// The deliveries of a notifier, once there are `count` and all have been delivered.
async fn delivered(client: &Client, notifier: &Value, count: usize) -> Vec<Value> {
    until("all delivered", || async {
        let all = deliveries(client, notifier).await;
        let done = all.len() == count && all.iter().all(|one| one["state"] == "delivered");
        done.then_some(all)
    })
    .await
}

/// The health of the team's first notifier, as listed.
async fn health(client: &Client) -> Value {
    client.get("notifiers").await.ok()["notifiers"][0]["health"].clone()
}

/// Waits until a delivery has failed this often and waits for its next attempt.
async fn wait_for_attempt(app: &App, client: &Client, notifier: &Value, attempts: u32) {
    let now = app.engine.now().to_string();
    until(&format!("attempt {attempts}"), || async {
        let oldest = deliveries(client, notifier).await.pop()?;
        let waits = oldest["next_try"].as_str().is_some_and(|next| next > now.as_str());
        (waits && oldest["attempts"] == attempts).then_some(())
    })
    .await;
}

/// The peak memory of this process in bytes; 0 if unknown.
pub(crate) fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok());
    kilobytes.unwrap_or(0) << 10
}

both_databases! {
    async fn a_preview_shows_the_message_and_sends_nothing(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let preview = async |body: Value| ann.client.post("notifier/preview", &body).await;

        let answer = preview(json!({"type": "webhook"})).await;
        assert_eq!(answer.keys(), ["body", "content_type", "html", "subject", "success", "text"]);
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
        assert_eq!(json["text"], json["body"]);
    }

    async fn a_preview_takes_omitted_settings_from_the_saved_notifier(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let eve = app.sign_up("eve@example.com").await;
        let mut mail = email(25);
        mail["email"]["subject"] = json!("saved {{ name }}");
        let id = save(&ann.client, &mail).await["notifierid"].clone();
        let subject = async |body: Value| {
            ann.client.post("notifier/preview", &body).await.ok()["subject"].clone()
        };
        assert_eq!(subject(json!({"notifierid": id})).await, "saved Storefront");
        let changed = json!({"notifierid": id, "email": {"subject": "new {{ name }}"}});
        assert_eq!(subject(changed).await, "new Storefront");
        let other = json!({"notifierid": id, "type": "webhook"});
        assert_eq!(subject(other).await, Value::Null);
        eve.client.post("notifier/preview", &json!({"notifierid": id})).await.refused(404, "not_found");
    }

    async fn a_preview_reports_the_errors_of_a_template(setup: Setup) {
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

    async fn a_malicious_template_is_rejected(setup: Setup) {
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
                // An unclosed comment hides the rest from the template engine too.
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

    async fn slow_templates_delay_neither_health_checks_nor_other_teams(
        setup: Setup
    ) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let eve = app.sign_up("eve@example.com").await;
        // As much work as possible: loops that end only when rendering is aborted.
        let characters = "abcdefghij".repeat(100);
        let heavy = format!(
            "{{% for a in '{characters}' %}}{{% for b in '{characters}' %}}{{{{ b|upper }}}}{{% endfor %}}{{% endfor %}}"
        );
        let body = json!({"name": "hook", "type": "webhook",
            "webhook": {"url": "http://127.0.0.1:9/", "template": heavy}});
        let requests = (0..64).map(|_| (eve.client.clone(), body.clone()));
        let crowd = concurrently(requests, |(client, body)| async move {
            client.post("notifier/preview", &body).await.status
        });
        let others = async {
            for _ in 0..5 {
                let begun = Instant::now();
                assert_eq!(app.anonymous().get("/healthz").await.status, 200);
                assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
                ann.client.post("notifier/preview", &json!({"type": "webhook"})).await.ok();
            }
        };
        let (statuses, ()) = tokio::join!(crowd, others);
        assert!(statuses.iter().all(|status| [200, 422, 503].contains(status)), "{statuses:?}");
        assert!(statuses.contains(&503), "the renders of one team are limited: {statuses:?}");
    }

    async fn an_email_notifier_is_returned_as_it_is_stored(setup: Setup) {
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
        assert_eq!(again, saved, "a returned notifier can be saved unchanged");
    }

    async fn the_secret_of_a_webhook_is_shown_only_when_it_is_created(setup: Setup) {
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

    async fn a_partial_update_retains_the_rest_and_the_type_may_change(setup: Setup) {
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
        assert!(secret.starts_with("whsec_"), "new, and therefore shown: {hook}");
        let again = save(&ann.client, &json!({"notifierid": id, "name": "other"})).await;
        assert!(again["webhook"].get("secret").is_none(), "{again}");
    }

    async fn all_invalid_fields_are_reported_at_once(setup: Setup) {
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

    async fn another_teams_notifier_is_not_found(setup: Setup) {
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
        receiver.wait_for_hooks(1).await;
        let sent = ann.client.get(&path(&anns, "deliveries")).await.ok();
        let delivery = sent["deliveries"][0]["deliveryid"].as_str().unwrap();
        eve.client.post_nothing(&format!("delivery/{delivery}/resend")).await.refused(404, "not_found");
        assert_eq!(ann.client.get("notifiers").await.ok()["notifiers"][0]["name"], "hook");
        assert_eq!(receiver.count(), 1);
    }

    async fn a_test_returns_the_receivers_response(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = save(&ann.client, &webhook(&receiver.url)).await;
        let id = json!({"notifierid": made["notifierid"]});
        assert_eq!(ann.client.post("notifier/test", &id).await.ok()["message"], "taken");
        let hook = &receiver.hooks()[0];
        assert_eq!(hook.json()["type"], "notifier.test");
        assert_eq!(hook.json()["data"]["eventid"], hook.id());
        receiver.answer_with(500, "", &format!("broken\r\n{}", "x".repeat(5_000)));
        let error = ann.client.post("notifier/test", &id).await.refused(502, "not_delivered");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("500") && message.contains("broken") && message.len() < 1_200, "{message}");
        receiver.answer_with(302, "location: http://127.0.0.1:1/\r\n", "");
        ann.client.post("notifier/test", &id).await.refused(502, "not_delivered");
        assert_eq!(receiver.count(), 3);
        let inbox = SmtpServer::start(SmtpSecurity::Plain).await;
        let mail = save(&ann.client, &email(inbox.port)).await;
        let id = json!({"notifierid": mail["notifierid"]});
        let response = ann.client.post("notifier/test", &id).await.ok();
        assert_eq!(response["message"], "250 2.0.0 taken as 1");
        let mail = &inbox.mails()[0];
        assert_eq!((mail.user.as_str(), mail.password.as_str()), ("user", "s3cret-sentinel"));
        assert_eq!(mail.to, ["ann@example.com", "bob@example.com"]);
        for _ in 0..6 {
            ann.client.post("notifier/test", &id).await.ok();
        }
        ann.client.post("notifier/test", &id).await.refused(429, "too_many_requests");
    }

    async fn a_notifier_that_is_not_saved_can_be_tested(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (receiver, other) = (Receiver::start().await, Receiver::start().await);
        let inbox = SmtpServer::start(SmtpSecurity::Plain).await;
        let test = async |body: &Value| ann.client.post("notifier/test", body).await;
        assert_eq!(test(&webhook(&receiver.url)).await.ok()["message"], "taken");
        assert_eq!(receiver.hooks()[0].json()["type"], "notifier.test");
        let answer = test(&email(inbox.port)).await.ok();
        assert_eq!(answer["recipients"], json!({"accepted": 2, "total": 2, "refused": []}));
        assert_eq!(ann.client.get("notifiers").await.ok()["notifiers"], json!([]), "nothing is saved");
        // Changes of a saved notifier are tested with its other settings, and are not saved.
        let made = save(&ann.client, &email(inbox.port)).await;
        let mut changed = json!({"notifierid": made["notifierid"], "email": {"to_email": "eve@example.com"}});
        test(&changed).await.ok();
        let mail = &inbox.mails()[1];
        assert_eq!((mail.to.as_slice(), mail.password.as_str()), (&["eve@example.com".to_owned()][..], "s3cret-sentinel"));
        assert_eq!(health(&ann.client).await["state"], "unused", "something else was tested");
        changed = json!({"notifierid": made["notifierid"], "type": "webhook", "webhook": {"url": other.url}});
        changed["email"] = Value::Null;
        test(&changed).await.ok();
        assert_eq!(other.count(), 1);
        assert_eq!(ann.client.get("notifiers").await.ok()["notifiers"], json!([made]));
        // The settings as they are saved count as a test of the notifier.
        test(&made).await.ok();
        assert_eq!(health(&ann.client).await["state"], "healthy");
        assert_eq!(test(&json!({})).await.wrong_fields(), ["notifierid"]);
        assert_eq!(test(&json!({"type": "webhook"})).await.wrong_fields(), ["name", "webhook.url"]);
    }

    async fn a_test_of_an_unsaved_notifier_obeys_the_rules_of_a_saved_one(setup: Setup) {
        let app = Setup { egress: Policy::Public, ..setup }.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let eve = app.sign_up("eve@example.com").await;
        let receiver = Receiver::start().await;
        let port = receiver.url.split(':').nth(2).unwrap();
        let test = async |body: &Value| ann.client.post("notifier/test", body).await;
        assert_eq!(test(&webhook(&receiver.url)).await.wrong_fields(), ["webhook.url"]);
        assert_eq!(test(&email(25)).await.wrong_fields(), ["email.hostname"]);
        let mut hook = webhook("https://example.com/");
        hook["webhook"]["template"] = json!("{% set a = text ~ text %}{{ a }}");
        hook["webhook"]["headers"] = json!("webhook-id: mine");
        assert_eq!(test(&hook).await.wrong_fields(), ["webhook.headers", "webhook.template"]);
        let mut mail = email(25);
        mail["email"]["hostname"] = json!("mail.example.com");
        mail["email"]["subject"] = json!("{{ name");
        mail["email"]["to_email"] = json!("ann@example.com\r\nBcc: eve@example.com");
        assert_eq!(test(&mail).await.wrong_fields(), ["email.to_email", "email.subject"]);
        // The settings of a saved notifier cannot be moved to a denied address, nor those of
        // another team be used.
        let made = save(&ann.client, &webhook("https://example.com/")).await;
        let moved = json!({"notifierid": made["notifierid"], "webhook": {"url": receiver.url}});
        assert_eq!(test(&moved).await.wrong_fields(), ["webhook.url"]);
        let theirs = json!({"notifierid": made["notifierid"], "webhook": {"url": "https://example.com/x"}});
        eve.client.post("notifier/test", &theirs).await.refused(404, "not_found");
        // A name is resolved when connecting, and the limit is the team's.
        let inside = webhook(&format!("http://inside.test:{port}"));
        for _ in 0..10 {
            test(&inside).await.refused(502, "not_delivered");
        }
        test(&inside).await.refused(429, "too_many_requests");
        test(&json!({"notifierid": made["notifierid"]})).await.refused(429, "too_many_requests");
        assert_eq!(receiver.count(), 0);
    }

    async fn a_webhook_that_has_failed_for_ten_minutes_is_failing_until_it_delivers(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = save(&ann.client, &webhook(&receiver.url)).await;
        assert_eq!(made["health"], json!({"state": "unused", "since": null, "error": null}));
        let job = monitor(&ann.client, "job", &[&made]).await;
        receiver.answer_with(503, "", "not now");
        let begun = app.engine.now();
        report(&ann.client, &job, "down").await;
        let mut attempts = 1;
        while app.engine.now().since(begun) < Duration::from_secs(600) {
            wait_for_attempt(&app, &ann.client, &made, attempts).await;
            let health = health(&ann.client).await;
            let failing = json!({"state": "failing", "since": begun.to_string(),
                "error": "503 Service Unavailable: not now"});
            assert_eq!(health, failing, "attempt {attempts}");
            app.clock.advance(Duration::from_secs(150));
            attempts += 1;
        }
        // The newest error is shown, also after a restart.
        receiver.answer_with(500, "", "worse");
        app.clock.advance(Duration::from_secs(1_800));
        until("the next attempt", || async {
            (health(&ann.client).await["error"] == "500 Internal Server Error: worse").then_some(())
        }).await;
        let app = app.restart().await;
        let ann = ann.log_in(&app.anonymous()).await;
        assert_eq!(health(&ann.client).await["since"], begun.to_string());
        receiver.answer_with(200, "", "taken");
        app.clock.advance(Duration::from_secs(3_600 * 2));
        let healthy = until("a success", || async {
            Some(health(&ann.client).await).filter(|health| health["state"] == "healthy")
        }).await;
        assert_eq!(healthy["error"], Value::Null);
        assert!(healthy["since"].as_str().unwrap() > begun.to_string().as_str(), "{healthy}");
    }

    async fn another_receiver_is_unused_and_a_notifier_that_is_turned_off_is_off(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = save(&ann.client, &webhook(&receiver.url)).await;
        let id = &made["notifierid"];
        ann.client.post("notifier/test", &json!({"notifierid": id})).await.ok();
        let since = app.engine.now().to_string();
        let healthy = json!({"state": "healthy", "since": since, "error": null});
        assert_eq!(health(&ann.client).await, healthy);
        app.clock.advance(Duration::from_secs(60));
        let rotated = ann.client.post_nothing(&path(&made, "rotate")).await.json();
        assert_eq!(rotated["health"], healthy, "the receiver is the same");
        receiver.answer_with(500, "", "no");
        ann.client.post("notifier/test", &json!({"notifierid": id})).await.refused(502, "not_delivered");
        assert_eq!(health(&ann.client).await, healthy, "a failed test is shown where it was made");
        let off = save(&ann.client, &json!({"notifierid": id, "isactive": false})).await;
        let now = app.engine.now().to_string();
        assert_eq!(off["health"], json!({"state": "off", "since": now, "error": null}));
        let moved = json!({"notifierid": id, "isactive": true, "webhook": {"url": format!("{}/x", receiver.url)}});
        let moved = save(&ann.client, &moved).await;
        assert_eq!(moved["health"]["state"], "unused");
        assert_eq!(health(&ann.client).await, moved["health"]);
    }

    async fn a_new_monitor_without_notifiers_gets_the_default_ones_of_its_team(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let eve = app.sign_up("eve@example.com").await;
        let mut default = webhook("http://127.0.0.1:1/");
        default["isdefault"] = json!(true);
        let theirs = save(&eve.client, &default).await;
        let one = save(&ann.client, &default).await;
        app.clock.advance(Duration::from_millis(1));
        let two = save(&ann.client, &default).await;
        let other = save(&ann.client, &webhook("http://127.0.0.1:1/")).await;
        assert_eq!((&one["isdefault"], &other["isdefault"]), (&json!(true), &json!(false)));
        let monitor = async |client: &Client, change: Value| -> Vec<Value> {
            let mut body = json!({"name": "job", "type": "api", "heartbeat_interval": 60, "isactive": true,
                "upside_down_mode": false});
            body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            let saved = client.post("monitor/save", &body).await.ok()["monitor"].clone();
            let linked = saved["notifiers"].as_array().unwrap().iter();
            linked.map(|one| one["notifierid"].clone()).chain([saved["monitorid"].clone()]).collect()
        };
        let linked = monitor(&ann.client, json!({})).await;
        assert_eq!(linked[..2], [one["notifierid"].clone(), two["notifierid"].clone()]);
        assert_eq!(linked.len(), 3, "no other notifier: {linked:?}");
        assert_eq!(monitor(&eve.client, json!({})).await[0], theirs["notifierid"]);
        for none in [json!([]), json!("")] {
            assert_eq!(monitor(&ann.client, json!({"notifiers": none})).await.len(), 1, "none was chosen");
        }
        let named = monitor(&ann.client, json!({"notifiers": other["notifierid"]})).await;
        assert_eq!((&named[0], named.len()), (&other["notifierid"], 2));
        // A change of a monitor is not a new one.
        let id = monitor(&ann.client, json!({"notifiers": []})).await[0].clone();
        assert_eq!(monitor(&ann.client, json!({"monitorid": id, "name": "renamed"})).await.len(), 1);
        // Other saves retain the mark, and it can be removed.
        let renamed = save(&ann.client, &json!({"notifierid": two["notifierid"], "name": "x"})).await;
        assert_eq!(renamed["isdefault"], true);
        save(&ann.client, &json!({"notifierid": two["notifierid"], "isdefault": false})).await;
        assert_eq!(monitor(&ann.client, json!({})).await.len(), 2);
    }

    async fn a_refused_recipient_is_named_in_the_test_the_delivery_and_the_alert(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let inbox = SmtpServer::start(SmtpSecurity::Plain).await;
        inbox.reply_to("RCPT TO:<bob@example.com>", "550 5.1.1 no such user");
        let made = save(&ann.client, &email(inbox.port)).await;
        let expected = json!({"accepted": 1, "total": 2,
            "refused": [{"address": "bob@example.com", "answer": "550 5.1.1 no such user"}]});
        let id = json!({"notifierid": made["notifierid"]});
        let tested = ann.client.post("notifier/test", &id).await.ok();
        assert_eq!(tested["recipients"], expected, "{tested}");
        let job = monitor(&ann.client, "job", &[&made]).await;
        report(&ann.client, &job, "down").await;
        let delivered = delivered(&ann.client, &made, 1).await;
        assert_eq!(delivered[0]["recipients"], expected, "{}", delivered[0]);
        let alert = ann.client.get(&format!("monitor/{job}/alerts")).await.ok();
        assert_eq!(alert["alerts"][0]["deliveries"][0]["recipients"], expected, "{alert}");
    }

    async fn recipients_are_counted_across_retries_and_a_resend_starts_over(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let inbox = SmtpServer::start(SmtpSecurity::Plain).await;
        inbox.reply_to("RCPT TO:<bob@example.com>", "450 4.2.0 greylisted");
        inbox.reply_to("RCPT TO:<gone@example.com>", "550 5.1.1 no such user");
        let mut body = email(inbox.port);
        body["email"]["to_cc"] = json!("gone@example.com");
        let made = save(&ann.client, &body).await;
        let job = monitor(&ann.client, "job", &[&made]).await;
        report(&ann.client, &job, "down").await;
        let waiting = until("the first attempt", || async {
            let listed = deliveries(&ann.client, &made).await.remove(0);
            listed["next_try"].is_string().then_some(listed).filter(|one| one.get("recipients").is_some())
        }).await;
        assert_eq!((&waiting["state"], &waiting["recipients"]["accepted"]), (&json!("waiting"), &json!(1)));
        let refused = |one: &Value| -> Vec<String> {
            let refused = one["recipients"]["refused"].as_array().unwrap();
            refused.iter().map(|one| format!("{} {}", one["address"], one["answer"]).replace('"', "")).collect()
        };
        let gone = "gone@example.com 550 5.1.1 no such user";
        assert_eq!(refused(&waiting), ["bob@example.com 450 4.2.0 greylisted", gone]);
        inbox.stop_replying_to("RCPT TO:<bob@example.com>");
        app.clock.advance(Duration::from_secs(60));
        let done = delivered(&ann.client, &made, 1).await.remove(0);
        assert_eq!((&done["recipients"]["accepted"], &done["recipients"]["total"]), (&json!(2), &json!(3)));
        assert_eq!(refused(&done), [gone]);
        inbox.stop_replying_to("RCPT TO:<gone@example.com>");
        let again = format!("delivery/{}/resend", done["deliveryid"].as_str().unwrap());
        ann.client.post_nothing(&again).await.ok();
        let resent = delivered(&ann.client, &made, 1).await.remove(0);
        assert_eq!(resent["recipients"], json!({"accepted": 3, "total": 3, "refused": []}));
    }

    async fn a_mail_that_nobody_accepted_names_all_and_a_webhook_has_no_recipients(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let inbox = SmtpServer::start(SmtpSecurity::Plain).await;
        inbox.reply_to("RCPT", "550 5.7.1 relaying denied");
        let receiver = Receiver::start().await;
        let mail = save(&ann.client, &email(inbox.port)).await;
        let hook = save(&ann.client, &webhook(&receiver.url)).await;
        let job = monitor(&ann.client, "job", &[&mail, &hook]).await;
        report(&ann.client, &job, "down").await;
        let failed = until("the refusal", || async {
            let listed = deliveries(&ann.client, &mail).await.remove(0);
            (listed["state"] == "failed").then_some(listed)
        }).await;
        assert_eq!((&failed["recipients"]["accepted"], &failed["recipients"]["total"]), (&json!(0), &json!(2)));
        assert_eq!(failed["recipients"]["refused"].as_array().unwrap().len(), 2);
        let hooked = delivered(&ann.client, &hook, 1).await.remove(0);
        assert!(hooked.get("recipients").is_none(), "{hooked}");
        let tested = ann.client.post("notifier/test", &json!({"notifierid": hook["notifierid"]})).await;
        assert_eq!(tested.keys(), ["message", "success"]);
    }

    async fn a_denied_address_is_rejected_and_never_connected_to(setup: Setup) {
        let app = Setup { egress: Policy::Public, ..setup }.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let answer = ann.client.post("notifier/save", &webhook(&receiver.url)).await;
        assert_eq!(answer.wrong_fields(), ["webhook.url"]);
        let answer = ann.client.post("notifier/save", &email(25)).await;
        assert_eq!(answer.wrong_fields(), ["email.hostname"]);
        // A name is known to be internal only once it is resolved.
        let port = receiver.url.split(':').nth(2).unwrap();
        let made = save(&ann.client, &webhook(&format!("http://inside.test:{port}"))).await;
        let id = json!({"notifierid": made["notifierid"]});
        ann.client.post("notifier/test", &id).await.refused(502, "not_delivered");
        assert_eq!(receiver.count(), 0);
    }

    async fn a_linked_notifier_is_not_deleted_and_its_monitors_are_named(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let made = save(&ann.client, &webhook("http://127.0.0.1:1/")).await;
        let job = monitor(&ann.client, "nightly job", &[&made]).await;
        let error = ann.client.delete(&path(&made, "delete")).await.refused(409, "notifier_linked");
        assert!(error["message"].as_str().unwrap().contains("nightly job"), "{error}");
        let unlinked = json!({"monitorid": job, "notifiers": ""});
        ann.client.post("monitor/save", &unlinked).await.ok();
        ann.client.delete(&path(&made, "delete")).await.ok();
        ann.client.delete(&path(&made, "delete")).await.refused(404, "not_found");
        assert_eq!(ann.client.get("notifiers").await.ok()["notifiers"], json!([]));
    }

    async fn deliveries_are_listed_and_can_be_resent(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let made = save(&ann.client, &webhook(&receiver.url)).await;
        let job = monitor(&ann.client, "job", &[&made]).await;
        report(&ann.client, &job, "down").await;
        app.clock.advance(Duration::from_secs(5));
        report(&ann.client, &job, "up").await;
        receiver.wait_for_hooks(2).await;
        let all = delivered(&ann.client, &made, 2).await;
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
        let hooks = receiver.wait_for_hooks(3).await;
        assert_eq!(hooks[2].id(), hooks[0].id(), "the same event");
        assert_eq!(hooks[2].body, hooks[0].body);
    }
}
