//! monitors, monitor/save, get, delete, notify, check, try, and push URLs.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use wakeful_core::monitors::spec::Kind;
use wakeful_outbound::net::guard::Policy;
use wakeful_testkit::{Client, Hook, HttpsServer, Receiver, both_databases, until};

fn monitor(extra: &Value) -> Value {
    let mut body = json!({"name": "site", "heartbeat_interval": 60, "isactive": true,
        "upside_down_mode": false});
    body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    body
}

fn api_monitor() -> Value {
    monitor(&json!({"type": "api"}))
}

async fn saved(client: &Client, body: &Value) -> Value {
    let json = client.post("monitor/save", body).await.ok();
    assert!(json["message"].is_string());
    json["monitor"].clone()
}

fn path(monitor: &Value, what: &str) -> String {
    format!("monitor/{}/{what}", monitor["monitorid"].as_str().unwrap())
}

/// The names in a list.
fn names(list: &Value) -> Vec<String> {
    let monitors = list["monitors"].as_array().unwrap();
    monitors.iter().map(|monitor| monitor["name"].as_str().unwrap().to_owned()).collect()
}

/// A web server that never responds, and how often it was called.
async fn silent_server() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    #[expect(clippy::disallowed_methods, reason = "it ends with the test's runtime")]
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            held.push(stream);
        }
    });
    (format!("http://{address}"), calls)
}

/// A web server that sends every client the same response.
async fn web_server(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    #[expect(clippy::disallowed_methods, reason = "it ends with the test's runtime")]
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut seen = [0; 4096];
            let _ = stream.read(&mut seen).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    format!("http://{address}/")
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";

both_databases! {
    async fn a_list_has_the_same_text_for_a_monitor_as_a_single_response(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bodies = [
            json!({"type": "http", "isactive": false, "http": {"url": "http://127.0.0.1:9/"}}),
            json!({"type": "tcp", "isactive": false, "hostname": "127.0.0.1", "port": 9,
                "timeout": 7, "tags": "a, b"}),
            api_monitor(),
        ];
        let mut expected = Vec::new();
        for body in &bodies {
            let made = saved(&ann.client, &monitor(body)).await;
            let single = ann.client.get(&path(&made, "get")).await.text;
            let text = single.strip_prefix(r#"{"success":true,"monitor":"#);
            let text = text.and_then(|text| text.strip_suffix(r#","certificate":null}"#));
            expected.push(text.unwrap_or_else(|| panic!("{single}")).to_owned());
        }
        // In the order of the ids, with which the texts begin.
        expected.sort();
        let list = ann.client.get("monitors").await.text;
        assert_eq!(list, format!(r#"{{"success":true,"monitors":[{}]}}"#, expected.join(",")));
    }

    async fn rows_have_the_fields_that_a_list_shows(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let body = json!({"type": "tcp", "name": "port", "heartbeat_interval": 60, "isactive": false,
            "hostname": "127.0.0.1", "port": 9, "upside_down_mode": false, "tags": "a, b"});
        let saved = ann.client.post("monitor/save", &body).await.ok();
        let rows = ann.client.get("monitors/rows").await;
        assert_eq!(rows.keys(), ["monitors", "success"]);
        assert_eq!(rows.ok()["monitors"], json!([{"health": "pending",
            "monitorid": saved["monitor"]["monitorid"], "type": "tcp", "isactive": false,
            "name": "port", "target": "127.0.0.1:9", "tags": ["a", "b"], "heartbeat_interval": 60,
            "status": "pending", "status_since": null, "last_check": null, "last_message": "",
            "load_time": null, "notifiers": [],
        }]));
        let none = ann.client.get("monitors/rows?tag=c&limit=5").await.ok();
        assert_eq!(none, json!({"success": true, "monitors": [], "next_cursor": null}));
    }

    async fn a_saved_monitor_has_every_field_of_the_reference(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let body = monitor(&json!({"type": "http", "tags": "a, b", "http": {
            "url": "https://example.com/", "accepted_status_codes": "200-299, 301"}}));
        let saved = saved(&ann.client, &body).await;
        for field in ["monitorid", "type", "isactive", "name", "http", "notifiers",
            "heartbeat_interval", "upside_down_mode", "tags", "status", "last_check",
            "last_message", "load_time", "created", "modified", "dns", "hostname", "port"] {
            assert!(saved.get(field).is_some(), "{field}");
        }
        assert_eq!(saved["status"], "pending");
        assert_eq!(saved["load_time"], Value::Null);
        assert_eq!(saved["tags"], json!(["a", "b"]));
        assert_eq!(saved["http"]["accepted_status_codes"], json!(["200-299", "301"]));
        assert_eq!(saved["created"].as_str().unwrap().len(), "2026-11-15T09:30:00.123Z".len());
        let got = ann.client.get(&path(&saved, "get")).await.ok();
        assert_eq!(got["monitor"], saved);
        let list = ann.client.get("monitors").await.ok();
        assert_eq!(list["monitors"], json!([saved]));
        assert!(list.get("next_cursor").is_none());
    }

    async fn the_last_certificate_of_a_target_is_shown(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let site = HttpsServer::start("127.0.0.1", 2027).await;
        let body = monitor(&json!({"type": "http", "http": {"url": site.url,
            "ignore_tls_error": true}}));
        let made = saved(&ann.client, &body).await;
        let certificate = || async { ann.client.get(&path(&made, "get")).await.ok()["certificate"].clone() };
        let check = || async {
            let seen = ann.client.post(&path(&made, "check"), &json!({})).await.ok();
            seen["heartbeat"]["at"].clone()
        };
        assert_eq!(certificate().await, Value::Null);
        let first = check().await;
        let shown = json!({"subject": "CN=127.0.0.1", "issuer": "CN=127.0.0.1",
            "names": ["127.0.0.1"], "expires": "2027-12-31T00:00:00.000Z", "trusted": false, "chain": [],
            "since": first});
        assert_eq!(certificate().await, shown);

        // The same certificate retains the time when it was first seen.
        app.clock.advance(Duration::from_secs(60));
        check().await;
        assert_eq!(certificate().await, shown);
        let list = ann.client.get("monitors").await.ok()["monitors"].clone();
        assert!(list[0].get("certificate").is_none(), "a list has none");

        site.show_certificate("127.0.0.1", 2031);
        let second = check().await;
        assert_ne!(first, second);
        let renewed = certificate().await;
        assert_eq!(renewed["expires"], "2031-12-31T00:00:00.000Z");
        assert_eq!(renewed["since"], second);
    }

    async fn the_last_certificate_of_a_tls_monitor_is_shown(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let site = HttpsServer::start("127.0.0.1", 2027).await;
        let body = monitor(&json!({"type": "tls", "hostname": "127.0.0.1", "port": site.port}));
        let made = saved(&ann.client, &body).await;
        let certificate = || async { ann.client.get(&path(&made, "get")).await.ok()["certificate"].clone() };
        assert_eq!(certificate().await, Value::Null);
        let seen = ann.client.post(&path(&made, "check"), &json!({})).await.ok();
        assert_eq!(seen["heartbeat"]["reason"], "tls_self_signed");
        let shown = certificate().await;
        assert_eq!(shown["names"], json!(["127.0.0.1"]));
        assert_eq!(shown["expires"], "2027-12-31T00:00:00.000Z");
        assert_eq!(shown["trusted"], false);
        assert_eq!(shown["since"], seen["heartbeat"]["at"]);

        let change = json!({"monitorid": made["monitorid"], "port": 1});
        saved(&ann.client, &change).await;
        assert_eq!(certificate().await, Value::Null, "of another target");
    }

    async fn a_certificate_of_another_target_or_team_is_not_shown(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let site = HttpsServer::start("127.0.0.1", 2027).await;
        let body = monitor(&json!({"type": "http", "http": {"url": site.url}}));
        let made = saved(&ann.client, &body).await;
        let seen = ann.client.post(&path(&made, "check"), &json!({})).await.ok();
        assert_eq!(seen["heartbeat"]["status"], "down", "not trusted, but still returned");
        assert_eq!(ann.client.get(&path(&made, "get")).await.ok()["certificate"]["trusted"], false);
        let eve = app.sign_up("eve@example.com").await;
        assert_eq!(eve.client.get(&path(&made, "get")).await.status, 404);

        let change = json!({"monitorid": made["monitorid"], "name": "renamed"});
        saved(&ann.client, &change).await;
        assert!(ann.client.get(&path(&made, "get")).await.ok()["certificate"].is_object());
        let change = json!({"monitorid": made["monitorid"], "http": {"url": "http://127.0.0.1:1/"}});
        saved(&ann.client, &change).await;
        let got = ann.client.get(&path(&made, "get")).await.ok();
        assert_eq!(got["certificate"], Value::Null);
    }

    async fn a_returned_monitor_can_be_saved_back_and_changes_nothing(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for kind in Kind::ALL {
            let mut extra = match kind {
                Kind::Api => json!({"grace": 9}),
                Kind::Dns => json!({"hostname": "example.com", "port": "53",
                    "dns": {"resolver_server": "127.0.0.1", "record_type": "A"}}),
                Kind::Domain => json!({"hostname": "www.example.com", "heartbeat_interval": 3600,
                    "domain": {"server": "http://127.0.0.1:1/rdap"}}),
                Kind::Group => json!({"group": {"tags": "web", "rule": "percent:50"}}),
                Kind::Http | Kind::HttpKeyword => json!({"http": {"url": "http://127.0.0.1:1/",
                    "username": "u", "password": "p", "authentication_type": "Basic",
                    "headers": "X-A: 1", "keyword": "ok"}}),
                Kind::Ping => json!({"hostname": "127.0.0.1"}),
                Kind::Tcp => json!({"hostname": "127.0.0.1", "port": "1"}),
                Kind::Tls => json!({"hostname": "127.0.0.1", "tls": {"starttls": "imap"}}),
            };
            extra["type"] = kind.as_str().into();
            let before = saved(&ann.client, &monitor(&extra)).await;
            app.clock.advance(Duration::from_secs(1));
            let after = saved(&ann.client, &before).await;
            assert_eq!(after, before, "`modified` must not change");
            let change = json!({"monitorid": before["monitorid"], "name": "other"});
            assert_ne!(saved(&ann.client, &change).await["modified"], before["modified"]);
        }
    }

    async fn a_password_dropped_for_another_server_is_reported(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let body = monitor(&json!({"type": "http", "http": {"url": "http://127.0.0.1:1/",
            "username": "u", "password": "p"}}));
        let made = saved(&ann.client, &body).await;
        let reports_deletion = async |http: Value| {
            let change = json!({"monitorid": made["monitorid"], "http": http});
            let answer = ann.client.post("monitor/save", &change).await.ok();
            answer["message"].as_str().unwrap().contains("The stored password was deleted")
        };
        assert!(!reports_deletion(json!({"url": "http://127.0.0.1:1/other"})).await, "the same server");
        assert!(!reports_deletion(json!({"url": "http://127.0.0.1:2/", "password": "q"})).await, "sent again");
        assert!(reports_deletion(json!({"url": "http://127.0.0.1:3/"})).await);
        assert!(!reports_deletion(json!({"url": "http://127.0.0.1:4/"})).await, "there was no password left");
        reports_deletion(json!({"password": "r"})).await;
        assert!(!reports_deletion(json!({"url": "http://127.0.0.1:5/", "password": ""})).await, "removed");
    }

    async fn an_invalid_number_is_rejected_with_the_valid_range(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let why = async |path: &str, body: &Value| {
            let answer = ann.client.post(path, body).await.refused(422, "invalid_fields");
            answer["errors"][0]["message"].as_str().unwrap().to_owned()
        };
        for wrong in [json!(-1), json!(1.5), json!("x"), json!(true), json!(0)] {
            let mut body = monitor(&json!({"type": "tcp", "hostname": "127.0.0.1", "port": 1}));
            body["heartbeat_interval"] = wrong.clone();
            let message = why("monitor/save", &body).await;
            assert_eq!(message, "must be a whole number of seconds from 1 to 2592000", "{wrong}");
            let body = json!({"type": "email", "name": "mail", "email": {"hostname": "127.0.0.1",
                "from_email": "a@example.com", "to_email": "b@example.com", "port": wrong}});
            assert_eq!(why("notifier/save", &body).await, "must be a whole number from 1 to 65535", "{wrong}");
        }
        for wrong in [json!(-5), json!(12.0), json!(true), json!(0), json!(13), json!("x"), json!([1])] {
            let mut body = crate::payment_methods::card("4242424242424242");
            body["expiryMonth"] = wrong.clone();
            assert_eq!(why("paymentmethod/save", &body).await, "must be a month from 1 to 12", "{wrong}");
        }
        let mut body = crate::payment_methods::card("4242424242424242");
        body["zipCode"] = json!(true);
        assert_eq!(why("paymentmethod/save", &body).await, "must be a string or a whole number");
    }

    async fn a_password_of_a_monitor_is_stored_and_never_shown(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let body = monitor(&json!({"type": "http", "http": {"url": "http://127.0.0.1:1/",
            "username": "u", "password": "s3cret-sentinel"}}));
        let answer = ann.client.post("monitor/save", &body).await;
        assert!(!answer.text.contains("s3cret-sentinel"), "{}", answer.text);
    }

    async fn a_partial_update_retains_the_other_fields(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let before = saved(&ann.client, &monitor(&json!({"type": "tcp", "hostname": "localhost",
            "port": 22, "tags": ["x"]}))).await;
        let change = json!({"monitorid": before["monitorid"], "isactive": false});
        let after = saved(&ann.client, &change).await;
        assert_eq!(after["isactive"], false);
        for field in ["name", "hostname", "port", "tags", "type", "heartbeat_interval", "created"] {
            assert_eq!(after[field], before[field], "{field}");
        }
    }

    async fn an_unknown_notifier_is_reported_as_an_invalid_field(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let mut body = api_monitor();
        body["notifiers"] = json!("01a1dd16-3e86-7039-aa0a-37292a4ffff7");
        assert_eq!(ann.client.post("monitor/save", &body).await.wrong_fields(), ["notifiers"]);
        assert_eq!(ann.client.get("monitors").await.ok()["monitors"], json!([]));
    }

    async fn another_teams_monitor_is_not_found(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let eve = app.sign_up("eve@example.com").await;
        let anns = saved(&ann.client, &api_monitor()).await;
        let nobodys = json!({"monitorid": "01a1dd16-3e86-7039-aa0a-37292a4ffff7"});
        let report = json!({"status": "down"});
        for what in ["get", "heartbeats", "alerts"] {
            let foreign = eve.client.get(&path(&anns, what)).await;
            let unknown = eve.client.get(&path(&nobodys, what)).await;
            assert_eq!(foreign.status, 404, "{what}");
            assert_eq!(foreign.text, unknown.text, "{what}");
        }
        eve.client.delete(&path(&anns, "delete")).await.refused(404, "not_found");
        eve.client.post_nothing(&path(&anns, "check")).await.refused(404, "not_found");
        let notify = format!("monitor/notify/{}", anns["monitorid"].as_str().unwrap());
        eve.client.post(&notify, &report).await.refused(404, "not_found");
        let mut stolen = anns.clone();
        stolen["name"] = json!("stolen");
        eve.client.post("monitor/save", &stolen).await.refused(404, "not_found");
        eve.client.post("monitor/try", &stolen).await.refused(404, "not_found");
        assert_eq!(eve.client.get("monitors").await.ok()["monitors"], json!([]));
        assert_eq!(ann.client.get(&path(&anns, "get")).await.ok()["monitor"], anns);
    }

    async fn a_large_payload_of_a_report_is_not_passed_on(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let hook = ann.client.post("notifier/save", &hook).await.json()["notifierid"].clone();
        for (size, is_passed_on) in [(8_000, true), (9_000, false), (1_000_000, false)] {
            let mut body = api_monitor();
            body["notifiers"] = hook.clone();
            let made = saved(&ann.client, &body).await;
            let notify = format!("monitor/notify/{}", made["monitorid"].as_str().unwrap());
            let report = json!({"status": "down", "payload": {"message": "full", "x": "a".repeat(size)}});
            ann.client.post(&notify, &report).await.ok();
            let of_this = |hook: &Value| hook["data"]["monitor"]["monitorid"] == made["monitorid"];
            let event = until("the notification", async || {
                receiver.hooks().iter().map(Hook::json).find(of_this)
            })
            .await;
            assert_eq!(event["data"]["message"], "full");
            assert_eq!(event["data"]["payload"].is_object(), is_passed_on, "{size}");
        }
    }

    async fn notify_records_one_heartbeat_with_that_status(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let made = saved(&ann.client, &api_monitor()).await;
        let notify = format!("monitor/notify/{}", made["monitorid"].as_str().unwrap());
        let report = json!({"status": "Up", "payload": {"message": "all well", "load_time": 12.5}});
        ann.client.post(&notify, &report).await.ok();
        let seen = ann.client.get(&path(&made, "get")).await.ok()["monitor"].clone();
        assert_eq!(seen["status"], "up");
        assert_eq!(seen["last_message"], "all well");
        assert_eq!(seen["load_time"], 12.5);
        app.clock.advance(std::time::Duration::from_secs(1));
        ann.client.post(&notify, &json!({"status": "DOWN"})).await.ok();
        let beats = ann.client.get(&path(&made, "heartbeats")).await.ok()["heartbeats"].clone();
        let statuses: Vec<&str> =
            beats.as_array().unwrap().iter().map(|beat| beat["status"].as_str().unwrap()).collect();
        assert_eq!(statuses, ["down", "up"]);
        let alerts = ann.client.get("alerts").await.ok()["alerts"].clone();
        assert_eq!(alerts.as_array().unwrap().len(), 1);
        assert_eq!(alerts[0]["monitor"]["monitorid"], made["monitorid"]);
        assert_eq!(alerts[0]["ended"], Value::Null);
        assert_eq!(ann.client.post(&notify, &json!({"status": "sideways"})).await.wrong_fields(), ["status"]);
        let wrong = json!({"payload": "text"});
        let wrong = ann.client.post(&notify, &wrong).await.wrong_fields();
        assert_eq!(wrong, ["status", "payload"]);
        app.clock.advance(std::time::Duration::from_secs(1));
        let odd = json!({"status": "up", "payload": {"load_time": "x", "message": {"de": "gut"}}});
        ann.client.post(&notify, &odd).await.ok();
        let seen = ann.client.get(&path(&made, "get")).await.ok()["monitor"].clone();
        assert_eq!((&seen["status"], &seen["load_time"]), (&json!("up"), &Value::Null));
    }

    async fn a_host_that_could_be_read_as_an_option_or_a_command_is_rejected(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for host in ["-oProxyCommand.example", "a.-b.example", "`id`.example"] {
            let url = format!("http://{host}/");
            for (field, body) in [
                ("http.url", monitor(&json!({"type": "http", "http": {"url": url}}))),
                ("hostname", monitor(&json!({"type": "tcp", "hostname": host, "port": "1"}))),
                ("hostname", monitor(&json!({"type": "ping", "hostname": host}))),
                ("hostname", monitor(&json!({"type": "dns", "hostname": host,
                    "dns": {"resolver_server": "127.0.0.1", "record_type": "A"}}))),
            ] {
                let answer = ann.client.post("monitor/save", &body).await;
                assert_eq!(answer.wrong_fields(), [field], "{host}: {}", answer.text);
                assert!(answer.text.contains("hyphen"), "{}", answer.text);
            }
            let hook = json!({"name": "x", "type": "webhook", "webhook": {"url": url}});
            let answer = ann.client.post("notifier/save", &hook).await;
            assert_eq!(answer.wrong_fields(), ["webhook.url"], "{}", answer.text);
            let mail = json!({"name": "x", "type": "email", "email": {"hostname": host, "port": 25,
                "security": "none", "from_email": "a@example.com", "to_email": "b@example.com"}});
            let answer = ann.client.post("notifier/save", &mail).await;
            assert_eq!(answer.wrong_fields(), ["email.hostname"], "{}", answer.text);
        }
        let underscore = monitor(&json!({"type": "dns", "hostname": "_dmarc.a-b.example",
            "dns": {"resolver_server": "127.0.0.1", "record_type": "TXT"}}));
        saved(&ann.client, &underscore).await;
    }

    async fn notify_on_an_inactive_monitor_is_a_conflict(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let mut body = api_monitor();
        body["isactive"] = json!(false);
        let made = saved(&ann.client, &body).await;
        let notify = format!("monitor/notify/{}", made["monitorid"].as_str().unwrap());
        ann.client.post(&notify, &json!({"status": "up"})).await.refused(409, "monitor_inactive");
    }

    async fn a_push_url_records_reports_in_the_usual_format(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let made = saved(&ann.client, &api_monitor()).await;
        let push_url = made["push_url"].as_str().unwrap();
        let push = push_url.strip_prefix(&app.url).unwrap();
        let answer = app.anonymous().get(&format!("{push}?status=up&msg=fine&ping=7.5")).await;
        assert_eq!((answer.status, answer.json()), (200, json!({"ok": true})));
        let seen = ann.client.get(&path(&made, "get")).await.ok()["monitor"].clone();
        assert_eq!((&seen["status"], &seen["last_message"]), (&json!("up"), &json!("fine")));
        assert_eq!(seen["load_time"], 7.5);
        let answer = app.anonymous().get(&format!("{push}?ping=")).await;
        assert_eq!(answer.status, 200, "an empty ping is ignored: {}", answer.text);
        for odd in ["NaN", "abc", "-1", "100000000000"] {
            let answer = app.anonymous().get(&format!("{push}?ping={odd}")).await;
            assert_eq!(answer.status, 200, "the report counts: {}", answer.text);
        }
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            let method = method.parse().unwrap();
            let answer = reqwest::Client::new().request(method, push_url).send().await.unwrap();
            assert_eq!(answer.status(), 200);
        }
        let wrong = app.anonymous().get("/api/push/nobodys-token?status=up").await;
        assert_eq!(wrong.status, 404);
        assert_eq!(wrong.json(), json!({"ok": false, "msg": "Monitor not found or not active."}));
    }

    async fn a_rotated_push_url_stops_working(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let made = saved(&ann.client, &api_monitor()).await;
        let push = |url: &Value| url.as_str().unwrap().strip_prefix(&app.url).unwrap().to_owned();
        let leaked = push(&made["push_url"]);
        assert_eq!(app.anonymous().get(&leaked).await.status, 200);

        let rotated = ann.client.post_nothing(&path(&made, "push/rotate")).await.ok();
        assert!(rotated["success"] == true && rotated["message"].is_string(), "{rotated}");
        let new = push(&rotated["push_url"]);
        assert_ne!(new, leaked);
        let old = app.anonymous().get(&format!("{leaked}?status=down")).await;
        let unknown = app.anonymous().get("/api/push/nobodys-token?status=down").await;
        assert_eq!((old.status, old.json()), (404, unknown.json()));
        assert_eq!(app.anonymous().get(&format!("{new}?msg=new")).await.status, 200);
        let seen = ann.client.get(&path(&made, "get")).await.ok()["monitor"].clone();
        assert_eq!((&seen["status"], &seen["last_message"]), (&json!("up"), &json!("new")));
        assert_eq!(seen["push_url"], rotated["push_url"]);
        // Nothing else has changed, and saving an earlier read does not restore the URL.
        for field in ["name", "notifiers", "heartbeat_interval", "created", "isactive"] {
            assert_eq!(seen[field], made[field], "{field}");
        }
        let mut round_trip = made.clone();
        round_trip["name"] = json!("renamed");
        let after = saved(&ann.client, &round_trip).await;
        assert_eq!(after["push_url"], rotated["push_url"]);
        assert_eq!(app.anonymous().get(&leaked).await.status, 404);
    }

    async fn only_the_own_team_can_rotate_a_push_url(setup: Setup) {
        let app = setup.start().await;
        let (ann, eve) =
            (app.sign_up("ann@example.com").await, app.sign_up("eve@example.com").await);
        let made = saved(&ann.client, &api_monitor()).await;
        let rotate = path(&made, "push/rotate");
        let others = eve.client.post_nothing(&rotate).await;
        let nobodys = "monitor/01a1dd16-3e86-7039-aa0a-000000000000/push/rotate";
        let unknown = eve.client.post_nothing(nobodys).await;
        assert_eq!((others.status, others.json()), (404, unknown.json()));
        app.anonymous().post_nothing(&rotate).await.refused(401, "not_authenticated");
        let push = made["push_url"].as_str().unwrap().strip_prefix(&app.url).unwrap();
        assert_eq!(app.anonymous().get(push).await.status, 200);

        let tcp = json!({"type": "tcp", "hostname": "127.0.0.1", "port": "1"});
        let tcp = saved(&ann.client, &monitor(&tcp)).await;
        let refused = ann.client.post_nothing(&path(&tcp, "push/rotate")).await;
        refused.refused(409, "no_push_url");
    }

    async fn check_runs_one_check_and_returns_its_heartbeat(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let url = web_server(OK).await;
        let body = monitor(&json!({"type": "http", "http": {"url": url}}));
        let made = saved(&ann.client, &body).await;
        let seen = ann.client.post_nothing(&path(&made, "check")).await.ok()["heartbeat"].clone();
        assert_eq!((&seen["status"], &seen["message"]), (&json!("up"), &json!("200 OK")));
        assert!(seen["load_time"].as_f64().unwrap() > 0.0);
        assert!(seen["phases"]["connect"].as_f64().is_some(), "{seen}");
        let now = ann.client.get(&path(&made, "get")).await.ok()["monitor"].clone();
        assert_eq!(now["status"], "up");
        assert_eq!(now["last_message"], "200 OK");
        let push = saved(&ann.client, &api_monitor()).await;
        ann.client.post_nothing(&path(&push, "check")).await.refused(409, "monitor_passive");
    }

    async fn a_check_can_be_tried_before_the_monitor_is_saved(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let url = web_server(OK).await;
        let body = json!({"type": "http_keyword", "http": {"url": url, "keyword": "goodbye"}});
        let seen = ann.client.post("monitor/try", &body).await.ok()["heartbeat"].clone();
        assert_eq!(seen["status"], "down");
        assert!(seen["message"].as_str().unwrap().contains("keyword \"goodbye\" not found"), "{seen}");
        assert_eq!(ann.client.get("monitors").await.ok()["monitors"], json!([]));
        let wrong = json!({"type": "http", "http": {"url": "file:///etc/passwd"}});
        assert_eq!(ann.client.post("monitor/try", &wrong).await.wrong_fields(), ["http.url"]);
    }

    async fn a_trial_has_the_timeout_of_the_check(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (silent, _) = silent_server().await;
        let http = json!({"type": "http", "http": {"url": silent}});
        let tried = async |settings: Value| {
            let mut body = http.clone();
            body.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
            let start = Instant::now();
            let seen = ann.client.post("monitor/try", &body).await.ok()["heartbeat"].clone();
            assert_eq!(seen["status"], "down", "{seen}");
            // The default would be much longer, even if the machine pauses.
            let took = start.elapsed();
            assert!((Duration::from_secs(1)..Duration::from_secs(9)).contains(&took), "{took:?}");
        };
        // It follows from the interval, is as set, and never longer than the interval.
        tried(json!({"heartbeat_interval": 1})).await;
        tried(json!({"heartbeat_interval": 60, "timeout": 1})).await;
        tried(json!({"heartbeat_interval": 1, "timeout": 300})).await;
        // A stored monitor has its own.
        let made = saved(&ann.client, &monitor(&json!({"type": "http", "http": {"url": silent},
            "isactive": false, "timeout": 1}))).await;
        tried(json!({"monitorid": made["monitorid"]})).await;
        let wrong = json!({"type": "http", "http": {"url": silent}, "heartbeat_interval": 0, "timeout": 301});
        assert_eq!(ann.client.post("monitor/try", &wrong).await.wrong_fields(), ["heartbeat_interval", "timeout"]);
    }

    async fn a_monitor_that_cannot_be_checked_says_why(setup: Setup) {
        let mut setup = setup;
        setup.egress = Policy::Public;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let url = web_server(OK).await;
        let made = saved(&ann.client, &monitor(&json!({"type": "http", "http": {"url": url}}))).await;
        assert!(made.get("blocked").is_none(), "{made}");
        ann.client.post_nothing(&path(&made, "check")).await.ok();
        let shown = || async {
            let one = ann.client.get(&path(&made, "get")).await.ok()["monitor"]["blocked"].clone();
            let row = ann.client.get("monitors/rows").await.ok()["monitors"][0]["blocked"].clone();
            assert_eq!(one, row);
            one
        };
        let why = shown().await;
        assert!(why.as_str().unwrap().contains("network policy"), "{why}");
        // A paused monitor is not checked anyway.
        let pause = |isactive: bool| json!({"monitorid": made["monitorid"], "isactive": isactive});
        saved(&ann.client, &pause(false)).await;
        assert_eq!(shown().await, Value::Null);
        saved(&ann.client, &pause(true)).await;
        assert_eq!(shown().await, why);
        // It survives a restart, and is over with the next check that runs.
        let app = app.restart_with(|setup| setup.egress = Policy::Private).await;
        let client = ann.log_in(&app.anonymous()).await.client;
        let blocked = || async { client.get(&path(&made, "get")).await.ok()["monitor"]["blocked"].clone() };
        assert_eq!(blocked().await, why);
        client.post_nothing(&path(&made, "check")).await.ok();
        assert_eq!(blocked().await, Value::Null);
    }

    async fn a_team_leaves_slots_for_the_checks_of_others(setup: Setup) {
        let app = setup.start().await;
        let (ann, eve) = (app.sign_up("ann@example.com").await, app.sign_up("eve@example.com").await);
        let (silent, calls) = silent_server().await;
        let mut trying = JoinSet::new();
        for _ in 0..40 {
            let (client, url) = (eve.client.clone(), silent.clone());
            trying.spawn(async move {
                client.post("monitor/try", &json!({"type": "http", "http": {"url": url}})).await
            });
        }
        let busy = || async { (calls.load(Ordering::Relaxed) >= 8).then_some(()) };
        until("eight checks", busy).await;
        let url = web_server(OK).await;
        let check = json!({"type": "http", "http": {"url": url}});
        let quick = ann.client.post("monitor/try", &check);
        let quick = tokio::time::timeout(Duration::from_secs(20), quick).await;
        assert_eq!(quick.expect("it does not wait").ok()["heartbeat"]["status"], "up");
        let made = saved(&ann.client, &monitor(&check)).await;
        let path = path(&made, "check");
        let check = ann.client.post_nothing(&path);
        let check = tokio::time::timeout(Duration::from_secs(20), check).await;
        assert_eq!(check.expect("it does not wait").ok()["heartbeat"]["status"], "up");
        // Those that took half a second have made room for as many others.
        assert!(calls.load(Ordering::Relaxed) <= 16);
        trying.shutdown().await;
    }

    async fn lists_are_returned_whole_or_in_pages_and_filtered(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for number in 0..5 {
            let body = monitor(&json!({"type": "tcp", "hostname": "localhost", "port": number + 1,
                "name": format!("Door {number}"), "tags": if number < 2 { "front" } else { "back" }}));
            saved(&ann.client, &body).await;
            app.clock.advance(std::time::Duration::from_millis(1));
        }
        saved(&ann.client, &api_monitor()).await;
        let first = ann.client.get("monitors?limit=4").await.ok();
        let cursor = first["next_cursor"].as_str().unwrap();
        let second = ann.client.get(&format!("monitors?limit=4&cursor={cursor}")).await.ok();
        assert_eq!([names(&first), names(&second)].concat(), names(&ann.client.get("monitors").await.ok()));
        assert_eq!(second["next_cursor"], Value::Null);
        assert_eq!(names(&ann.client.get("monitors?tag=front").await.ok()), ["Door 0", "Door 1"]);
        assert_eq!(names(&ann.client.get("monitors?type=api").await.ok()), ["site"]);
        assert_eq!(names(&ann.client.get("monitors?q=DOOR%203").await.ok()), ["Door 3"]);
        assert_eq!(names(&ann.client.get("monitors?status=up").await.ok()), Vec::<String>::new());
        assert_eq!(names(&ann.client.get("monitors?status=pending&unknown=1").await.ok()).len(), 6);
        let wrong = ann.client.get("monitors?limit=0&type=x&status=y&cursor=z").await;
        assert_eq!(wrong.wrong_fields(), ["type", "status", "limit", "cursor"]);
    }

    async fn a_long_list_is_streamed_in_chunks_and_arrives_whole(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let made: Vec<String> = (0..300).map(|number| format!("Door {number}")).collect();
        for name in &made {
            let body = monitor(&json!({"type": "tcp", "hostname": "localhost", "port": 9,
                "isactive": false, "name": name}));
            saved(&ann.client, &body).await;
            app.clock.advance(std::time::Duration::from_millis(1));
        }
        for list in ["monitors", "monitors/rows"] {
            let whole = ann.client.get(list).await;
            assert_eq!(whole.keys(), ["monitors", "success"]);
            assert_eq!(names(&whole.ok()), made);
            let first = ann.client.get(&format!("{list}?limit=200")).await.ok();
            assert_eq!(names(&first), made[..200]);
            let cursor = first["next_cursor"].as_str().unwrap();
            let second = ann.client.get(&format!("{list}?limit=256&cursor={cursor}")).await.ok();
            assert_eq!((names(&second), &second["next_cursor"]), (made[200..].to_vec(), &Value::Null));
        }
    }

    async fn delete_removes_the_monitor_permanently(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let made = saved(&ann.client, &api_monitor()).await;
        ann.client.delete(&path(&made, "delete")).await.ok();
        ann.client.get(&path(&made, "get")).await.refused(404, "not_found");
        ann.client.delete(&path(&made, "delete")).await.refused(404, "not_found");
    }
}
