//! maintenances, maintenance/{id}/get, save, try, end, extend, delete: what windows do to the
//! monitors that they cover.

use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_engine::alerting::{maintenance_clock, processor};
use wakeful_engine::history::compactor;
use wakeful_testkit::{App, Client, Receiver, User, both_databases, until};

use crate::events::Stream;
use crate::monitor_filters;

/// The clock of a test starts at 2026-11-15T09:30Z.
const MINUTE: Duration = Duration::from_secs(60);

/// Saves a push monitor with these tags and returns its id.
async fn job(client: &Client, name: &str, tags: &str) -> String {
    save_job(client, None, name, tags).await
}

async fn save_job(client: &Client, id: Option<&str>, name: &str, tags: &str) -> String {
    let body = json!({"monitorid": id, "type": "api", "name": name, "heartbeat_interval": 60,
        "isactive": true, "upside_down_mode": false, "tags": tags});
    let saved = client.post("monitor/save", &body).await.ok();
    saved["monitor"]["monitorid"].as_str().unwrap().to_owned()
}

async fn save(client: &Client, body: &Value) -> Value {
    client.post("maintenance/save", body).await.ok()["maintenance"].clone()
}

fn id(window: &Value) -> &str {
    window["maintenanceid"].as_str().unwrap()
}

async fn report(client: &Client, monitor: &str, status: &str) {
    client.post(&format!("monitor/notify/{monitor}"), &json!({"status": status})).await.ok();
}

async fn advance(app: &App, span: Duration) {
    app.clock.advance(span);
    maintenance_clock::apply_due(&app.engine).await.unwrap();
}

async fn maintenance_of(client: &Client, monitor: &str) -> Value {
    client.get(&format!("monitor/{monitor}/get")).await.ok()["monitor"]["maintenance"].clone()
}

/// What each heartbeat counts as, oldest first.
async fn standings(client: &Client, monitor: &str) -> Vec<String> {
    let list = client.get(&format!("monitor/{monitor}/heartbeats")).await.ok();
    let beats = list["heartbeats"].as_array().unwrap().iter().rev();
    beats.map(|beat| beat["standing"].as_str().unwrap().to_owned()).collect()
}

async fn stats(client: &Client, monitor: &str) -> Value {
    let all = client.get(&format!("monitor/{monitor}/stats")).await.ok();
    all["spans"][0].clone()
}

async fn names(client: &Client, path: &str) -> Vec<String> {
    let list = client.get(path).await.ok();
    let list = list["maintenances"].as_array().unwrap().iter();
    list.map(|window| window["name"].as_str().unwrap().to_owned()).collect()
}

async fn start(setup: wakeful_testkit::Setup) -> (App, User) {
    let app = setup.start().await;
    let ann = app.sign_up("ann@example.com").await;
    (app, ann)
}

both_databases! {
    async fn a_window_is_saved_listed_changed_and_deleted(setup: Setup) {
        let (app, ann) = start(setup).await;
        let client = &ann.client;
        let db = job(client, "db", "db,prod").await;
        job(client, "web", "prod").await;
        let body = json!({"name": "Backups", "tags": "db", "starts": "2026-03-01T02:30",
            "time_zone": "europe/berlin", "duration": 5400, "rrule": "FREQ=WEEKLY;BYDAY=SU,WE",
            "except": ["2026-12-27"]});
        let tried = client.post("maintenance/try", &body).await.ok();
        assert_eq!(tried["occurrences"].as_array().unwrap().len(), 20);
        assert_eq!(tried["monitors"], json!([{"monitorid": db, "name": "db"}]));
        assert_eq!(client.get("maintenances").await.ok()["maintenances"], json!([]));

        let saved = save(client, &body).await;
        assert_eq!(saved["time_zone"], "Europe/Berlin");
        assert_eq!(saved["rrule"], "FREQ=WEEKLY;BYDAY=WE,SU");
        assert_eq!(saved["starts"], "2026-03-01T02:30");
        assert_eq!((&saved["checks"], &saved["counts"], &saved["alerts"]),
            (&json!("run"), &json!("excluded"), &json!("suppress")));
        assert_eq!((&saved["status"], &saved["current"]), (&json!("scheduled"), &Value::Null));
        assert_eq!(saved["next"][0],
            json!({"from": "2026-11-18T01:30:00.000Z", "to": "2026-11-18T03:00:00.000Z"}));
        assert_eq!(saved["next"].as_array().unwrap().len(), 3);
        assert_eq!(saved["monitors_covered"], 1);
        let whole = client.get(&format!("maintenance/{}/get", id(&saved))).await.ok();
        assert_eq!(whole["maintenance"], saved);
        assert_eq!(whole["occurrences"].as_array().unwrap().len(), 10);

        let change = json!({"maintenanceid": id(&saved), "name": "Nightly", "grace": 60});
        let changed = save(client, &change).await;
        assert_eq!((&changed["name"], &changed["grace"]), (&json!("Nightly"), &json!(60)));
        assert_eq!(changed["rrule"], saved["rrule"]);
        let once = json!({"maintenanceid": id(&saved), "rrule": "", "starts": "2026-11-20T10:00:00Z",
            "ends": "2026-11-20T11:00:00Z"});
        let once = save(client, &once).await;
        assert_eq!((&once["duration"], &once["rrule"]), (&json!(3600), &Value::Null));
        assert_eq!(once["next"][0]["from"], "2026-11-20T10:00:00.000Z");
        // What is returned can be sent again.
        assert_eq!(save(client, &once).await["next"], once["next"]);

        let other = save(client, &json!({"name": "Web", "all_tags": ["prod"],
            "starts": "2026-11-15T09:00:00Z"})).await;
        assert_eq!((&other["status"], &other["duration"]), (&json!("running"), &Value::Null));
        assert_eq!(other["current"], json!({"from": "2026-11-15T09:00:00.000Z", "to": null}));
        for (query, expected) in [
            ("status=running", &["Web"][..]),
            ("status=scheduled", &["Nightly"]),
            (&format!("monitorid={db}"), &["Nightly", "Web"]),
            ("from=2026-11-20T10:30:00Z&to=2026-11-20T10:40:00Z", &["Nightly", "Web"]),
            ("from=2026-11-19T10:30:00Z&to=2026-11-20T09:00:00Z", &["Web"]),
        ] {
            let mut found = names(client, &format!("maintenances?{query}")).await;
            found.sort();
            assert_eq!(found, expected, "{query}");
        }
        client.delete(&format!("maintenance/{}/delete", id(&other))).await.ok();
        assert_eq!(names(client, "maintenances").await, ["Nightly"]);
        assert_eq!(maintenance_of(client, &db).await, Value::Null);
        client.get(&format!("maintenance/{}/get", id(&other))).await.refused(404, "not_found");
        app.stop().await;
    }

    async fn invalid_windows_are_rejected_with_all_fields(setup: Setup) {
        let (_app, ann) = start(setup).await;
        let client = &ann.client;
        let refused = client.post("maintenance/save", &json!({})).await;
        assert_eq!(refused.status, 422, "{}", refused.text);
        let fields = refused.json();
        let mut fields: Vec<&str> = fields["errors"].as_array().unwrap().iter()
            .map(|error| error["field"].as_str().unwrap()).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["monitors", "name", "starts"]);
        let valid = json!({"name": "w", "everything": true, "starts": "2026-12-01T10:00",
            "duration": 600});
        for (field, value, reason) in [
            ("name", json!(""), "must have 1 to 255 characters"),
            ("monitors", json!("00000000-0000-7000-8000-000000000000"), "names an unknown monitor"),
            ("groups", json!(["00000000-0000-7000-8000-000000000000"]), "is not a group"),
            ("tags", json!("x".repeat(65)), "at most 64 characters"),
            ("starts", json!("tomorrow"), "must be a time such as"),
            ("time_zone", json!("Berlin"), "must be the name of a time zone"),
            ("duration", json!(59), "must be from 60"),
            ("ends", json!("2026-12-01T09:00"), "must be later than starts"),
            ("ends", json!("2026-12-01T12:00"), "must not be used together with duration"),
            ("rrule", json!("FREQ=HOURLY"), "must have FREQ="),
            ("rrule", json!("FREQ=DAILY;BYHOUR=1"), "has BYHOUR, which is not supported"),
            ("rrule", json!("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"), "never happens"),
            ("cron", json!("* * *"), "must have five fields"),
            ("cron", json!("*/5 * * * *"), "must start at most 48 times a day"),
            ("except", json!(["christmas"]), "must be dates such as"),
            ("checks", json!("stop"), "must be one of run, pause"),
            ("counts", json!("no"), "must be one of excluded, counted"),
            ("alerts", json!("no"), "must be one of suppress, notify"),
            ("grace", json!(86401), "must be from 0 to 86400"),
            ("everything", json!(1), "must be true or false"),
        ] {
            let mut body = valid.clone();
            body[field] = value;
            let refused = client.post("maintenance/save", &body).await;
            assert_eq!(refused.status, 422, "{field}: {}", refused.text);
            let error = refused.json()["errors"][0].clone();
            assert_eq!(error["field"], field, "{}", refused.text);
            let message = error["message"].as_str().unwrap();
            assert!(message.contains(reason), "{field}: {message}");
        }
        for (announce, field) in [
            (json!({"notifiers": "00000000-0000-7000-8000-000000000000"}), "announce.notifiers"),
            (json!({"before": [60, 120, 180, 240]}), "announce.before"),
            (json!({"before": [1]}), "announce.before"),
        ] {
            let mut body = valid.clone();
            body["announce"] = announce;
            let refused = client.post("maintenance/save", &body).await;
            assert_eq!(refused.json()["errors"][0]["field"], field, "{}", refused.text);
        }
        let both = json!({"name": "w", "everything": true, "starts": "2026-12-01T10:00",
            "duration": 600, "rrule": "FREQ=DAILY", "cron": "0 0 * * *"});
        let refused = client.post("maintenance/save", &both).await;
        assert_eq!(refused.json()["errors"][0]["field"], "cron", "{}", refused.text);
    }

    async fn a_window_excludes_the_monitors_it_covers_from_its_start_to_its_end(setup: Setup) {
        let (app, ann) = start(setup).await;
        let client = &ann.client;
        let (db, web) = (job(client, "db", "db").await, job(client, "web", "web").await);
        report(client, &db, "up").await;
        let window = save(client, &json!({"name": "Upgrade", "tags": "d*", "starts": "2026-11-15T09:31:00Z",
            "ends": "2026-11-15T09:41:00Z"})).await;
        assert_eq!(maintenance_of(client, &db).await, Value::Null);
        let mut stream = Stream::open(&app, &ann).await;
        // The clock notices the start ten seconds late.
        advance(&app, Duration::from_secs(70)).await;
        let event = loop {
            let (kind, data) = stream.next().await.expect("an event");
            if kind == "maintenance" {
                break data;
            }
        };
        assert_eq!(event["maintenanceid"], window["maintenanceid"]);
        let cover = maintenance_of(client, &db).await;
        assert_eq!((&cover["name"], &cover["until"]),
            (&json!("Upgrade"), &json!("2026-11-15T09:41:00.000Z")));
        assert_eq!(maintenance_of(client, &web).await, Value::Null);
        for (query, expected) in [("true", "db"), ("false", "web")] {
            for path in ["monitors", "monitors/rows"] {
                let list = client.get(&format!("{path}?maintenance={query}")).await.ok();
                let list = list["monitors"].as_array().unwrap();
                assert_eq!(list.len(), 1, "{path} {query}");
                assert_eq!(list[0]["name"], expected);
            }
        }
        client.get("monitors?maintenance=yes").await.refused(422, "invalid_fields");
        for (status, after) in [("down", 60), ("up", 60)] {
            app.clock.advance(Duration::from_secs(after));
            report(client, &db, status).await;
        }
        advance(&app, 10 * MINUTE).await;
        report(client, &db, "up").await;
        assert_eq!(maintenance_of(client, &db).await, Value::Null);
        assert_eq!(standings(client, &db).await, ["up", "maintenance", "maintenance", "up"]);
        let found = stats(client, &db).await;
        assert_eq!((&found["outages"], &found["longest_outage"]), (&json!(0), &Value::Null));
        assert_eq!((&found["uptime"], &found["checks"]["maintenance"]), (&json!(100.0), &json!(2)));
        assert_eq!(found["seconds"]["maintenance"], 180);
        let report = client.get("report?from=2026-11-15&to=2026-11-15").await.ok();
        let line = report["monitors"].as_array().unwrap().iter()
            .find(|line| line["name"] == "db").unwrap().clone();
        assert_eq!((&line["maintenance"], &line["downtime"]), (&json!(180), &json!(0)));
        assert_eq!(report["total"]["maintenance"], 180);
        app.stop().await;
    }

    async fn the_part_of_an_outage_outside_the_window_counts(setup: Setup) {
        let (app, ann) = start(setup).await;
        let client = &ann.client;
        let db = job(client, "db", "").await;
        report(client, &db, "up").await;
        save(client, &json!({"name": "w", "monitors": db, "starts": "2026-11-15T09:31:00Z",
            "duration": 600})).await;
        advance(&app, 2 * MINUTE).await;
        report(client, &db, "down").await;
        // Nine minutes later the window is over, and it is down for two more.
        for _ in 0..11 {
            advance(&app, MINUTE).await;
            report(client, &db, "down").await;
        }
        report(client, &db, "up").await;
        let found = stats(client, &db).await;
        assert_eq!((&found["outages"], &found["longest_outage"]), (&json!(1), &json!(120)));
        assert_eq!(found["mean_time_to_recover"], 120);
        assert_eq!(found["seconds"]["down"], 120);
        app.stop().await;
    }

    async fn a_mute_covers_a_monitor_without_changing_its_statistics(setup: Setup) {
        let (app, ann) = start(setup).await;
        let client = &ann.client;
        let db = job(client, "db", "").await;
        save(client, &json!({"name": "mute", "monitors": [db], "counts": "counted",
            "starts": "2026-11-15T09:30:00Z", "duration": 3600})).await;
        assert_eq!(maintenance_of(client, &db).await["name"], "mute");
        advance(&app, MINUTE).await;
        report(client, &db, "down").await;
        assert_eq!(standings(client, &db).await, ["down"]);
        app.stop().await;
    }

    async fn an_occurrence_is_ended_and_extended(setup: Setup) {
        let (app, ann) = start(setup).await;
        let client = &ann.client;
        let db = job(client, "db", "").await;
        let window = save(client, &json!({"name": "w", "monitors": db, "cron": "0 10 * * *",
            "starts": "2026-11-01T00:00", "duration": 3600})).await;
        let (end, extend) =
            (format!("maintenance/{}/end", id(&window)), format!("maintenance/{}/extend", id(&window)));
        let until = |at: &str| json!({"until": at});
        client.post_nothing(&end).await.refused(409, "not_running");
        client.post(&extend, &until("2026-11-15T12:00")).await.refused(409, "not_running");
        advance(&app, 40 * MINUTE).await;
        assert_eq!(maintenance_of(client, &db).await["until"], "2026-11-15T11:00:00.000Z");
        for wrong in ["2026-11-15T10:50", "2028-01-01T00:00", "soon"] {
            let refused = client.post(&extend, &until(wrong)).await;
            assert_eq!(refused.json()["errors"][0]["field"], "until", "{}", refused.text);
        }
        let extended = client.post(&extend, &until("2026-11-15T12:00")).await.ok();
        assert_eq!(extended["maintenance"]["current"]["to"], "2026-11-15T12:00:00.000Z");
        advance(&app, 80 * MINUTE).await;
        assert_eq!(maintenance_of(client, &db).await["until"], "2026-11-15T12:00:00.000Z");
        let ended = client.post_nothing(&end).await.ok();
        assert_eq!((&ended["maintenance"]["status"], &ended["maintenance"]["current"]),
            (&json!("scheduled"), &Value::Null));
        assert_eq!(ended["maintenance"]["next"][0]["from"], "2026-11-16T10:00:00.000Z");
        assert_eq!(maintenance_of(client, &db).await, Value::Null);
        client.post_nothing(&end).await.refused(409, "not_running");
        // The next one happens as planned.
        advance(&app, 23 * 60 * MINUTE).await;
        assert_eq!(maintenance_of(client, &db).await["until"], "2026-11-16T11:00:00.000Z");
        app.stop().await;
    }

    async fn the_occurrence_after_an_extension_that_was_ended_happens_as_planned(setup: Setup) {
        let (app, ann) = start(setup).await;
        let client = &ann.client;
        let db = job(client, "db", "db").await;
        let window = save(client, &json!({"name": "w", "tags": "db", "rrule": "FREQ=DAILY",
            "starts": "2026-11-15T10:00:00Z", "duration": 3600})).await;
        advance(&app, 31 * MINUTE).await;
        let until = json!({"until": "2026-11-17T10:30:00Z"});
        client.post(&format!("maintenance/{}/extend", id(&window)), &until).await.ok();
        advance(&app, 60 * MINUTE).await;
        let ended = client.post_nothing(&format!("maintenance/{}/end", id(&window))).await.ok();
        let next = &ended["maintenance"]["next"];
        assert_eq!((&next[0]["from"], &next[1]["from"]),
            (&json!("2026-11-16T10:00:00.000Z"), &json!("2026-11-17T10:00:00.000Z")));
        advance(&app, 23 * 60 * MINUTE).await;
        assert_eq!(maintenance_of(client, &db).await["until"], "2026-11-16T11:00:00.000Z");
        app.stop().await;
    }

    async fn changes_of_windows_and_tags_take_effect_immediately(setup: Setup) {
        let (app, ann) = start(setup).await;
        let client = &ann.client;
        let db = job(client, "db", "").await;
        let window = save(client, &json!({"name": "w", "tags": "db",
            "starts": "2026-11-15T09:00:00Z", "duration": 7200})).await;
        assert_eq!(maintenance_of(client, &db).await, Value::Null);
        app.clock.advance(MINUTE);
        save_job(client, Some(&db), "db", "db").await;
        maintenance_clock::apply_due(&app.engine).await.unwrap();
        report(client, &db, "up").await;
        app.clock.advance(MINUTE);
        save_job(client, Some(&db), "db", "web").await;
        maintenance_clock::apply_due(&app.engine).await.unwrap();
        report(client, &db, "up").await;
        app.clock.advance(MINUTE);
        save(client, &json!({"maintenanceid": id(&window), "tags": "web"})).await;
        report(client, &db, "up").await;
        app.clock.advance(MINUTE);
        save(client, &json!({"maintenanceid": id(&window), "isactive": false})).await;
        report(client, &db, "up").await;
        app.clock.advance(MINUTE);
        save(client, &json!({"maintenanceid": id(&window), "isactive": true})).await;
        report(client, &db, "up").await;
        app.clock.advance(MINUTE);
        client.delete(&format!("maintenance/{}/delete", id(&window))).await.ok();
        report(client, &db, "up").await;
        let expected = ["maintenance", "up", "maintenance", "up", "maintenance", "up"];
        assert_eq!(standings(client, &db).await, expected);
        app.stop().await;
    }

    async fn alerts_are_reported_after_a_change_of_the_window_that_suppresses_them(setup: Setup) {
        let (app, ann) = start(setup).await;
        let client = &ann.client;
        let receiver = Receiver::start().await;
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url},
            "isdefault": true});
        let saved = client.post("notifier/save", &hook).await;
        assert_eq!(saved.status, 200, "{}", saved.text);
        let (db, web) = (job(client, "db", "db").await, job(client, "web", "web").await);
        // The window that began first names what is recorded: the other one changes nothing of it.
        save(client, &json!({"name": "Deployment", "tags": "db", "alerts": "notify",
            "starts": "2026-11-15T09:00:00Z", "duration": 86400})).await;
        let backup = save(client, &json!({"name": "Backup", "tags": "db",
            "starts": "2026-11-15T09:10:00Z", "duration": 7200})).await;
        let update = save(client, &json!({"name": "Update", "tags": "web", "grace": 7200,
            "starts": "2026-11-15T09:00:00Z", "duration": 1920})).await;
        app.clock.advance(MINUTE);
        for monitor in [&db, &web] {
            report(client, monitor, "down").await;
        }
        // `Update` is over, but its grace is not.
        advance(&app, 2 * MINUTE).await;
        until("two suppressed alerts", async || {
            processor::process_due(&app.engine).await.unwrap();
            let found = client.get("alerts?status=suppressed").await.ok();
            (found["alerts"].as_array().unwrap().len() == 2).then_some(())
        })
        .await;
        save(client, &json!({"maintenanceid": id(&backup), "alerts": "notify"})).await;
        client.delete(&format!("maintenance/{}/delete", id(&update))).await.ok();
        processor::process_due(&app.engine).await.unwrap();
        app.clock.advance(MINUTE);
        for monitor in [&db, &web] {
            report(client, monitor, "down").await;
        }
        until("two messages", async || {
            processor::process_due(&app.engine).await.unwrap();
            (receiver.hooks().len() >= 2).then_some(())
        })
        .await;
        let hooks = receiver.hooks();
        let suppressed_by = hooks.iter().map(|hook| {
            let sent = hook.json();
            assert_eq!(sent["type"], "monitor.down", "{sent}");
            sent["data"]["suppressed"]["name"].as_str().unwrap().to_owned()
        });
        let mut by: Vec<String> = suppressed_by.collect();
        by.sort();
        assert_eq!(by, ["Backup", "Update"]);
        app.stop().await;
    }

    async fn a_window_in_the_past_corrects_the_statistics(setup: Setup) {
        let (app, ann) = start(setup).await;
        let client = &ann.client;
        let db = job(client, "db", "").await;
        for status in ["up", "down", "down", "up", "up", "up"] {
            report(client, &db, status).await;
            app.clock.advance(MINUTE);
        }
        app.clock.advance(120 * MINUTE);
        let shutdown = CancellationToken::new();
        assert_eq!(compactor::compact(&app.engine, &shutdown).await.unwrap(), 6);
        assert_eq!(stats(client, &db).await["seconds"]["down"], 120);
        let body = |from: &str, seconds: u64| json!({"name": "w", "monitors": db, "starts": from,
            "duration": seconds, "checks": "pause"});
        for (from, seconds, field) in [
            ("2025-01-01T00:00:00Z", 600, "starts"),
            ("2026-10-01T00:00:00Z", 32 * 86_400, "duration"),
        ] {
            let refused = client.post("maintenance/save", &body(from, seconds)).await;
            assert_eq!(refused.json()["errors"][0]["field"], field, "{}", refused.text);
        }
        let past = save(client, &body("2026-11-15T09:31:00Z", 120)).await;
        assert_eq!((&past["status"], &past["checks"]), (&json!("ended"), &json!("run")));
        maintenance_clock::recount_late(&app.engine).await.unwrap();
        let expected = ["up", "maintenance", "maintenance", "up", "up", "up"];
        assert_eq!(standings(client, &db).await, expected);
        let found = stats(client, &db).await;
        assert_eq!((&found["seconds"]["down"], &found["seconds"]["maintenance"]),
            (&json!(0), &json!(120)));
        assert_eq!((&found["outages"], &found["uptime"]), (&json!(0), &json!(100.0)));
        app.stop().await;
    }

    async fn a_nightly_window_sends_nothing_about_monitors_that_were_down_before(setup: Setup) {
        let (app, ann) = start(setup).await;
        let client = &ann.client;
        let receiver = Receiver::start().await;
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let hook = client.post("notifier/save", &hook).await.json()["notifierid"].clone();
        let mut monitors = Vec::new();
        for number in 0..72 {
            let body = json!({"type": "api", "name": format!("job {number}"), "isactive": true,
                "heartbeat_interval": 86400, "upside_down_mode": false, "tags": "night",
                "notifiers": hook});
            let saved = client.post("monitor/save", &body).await.ok();
            monitors.push(saved["monitor"]["monitorid"].as_str().unwrap().to_owned());
        }
        for monitor in &monitors[..5] {
            report(client, monitor, "down").await;
        }
        let arrived = async |count: usize| {
            until(&format!("{count} messages"), async || {
                (receiver.hooks().len() >= count).then_some(())
            })
            .await;
            processor::process_due(&app.engine).await.unwrap();
            assert_eq!(receiver.hooks().len(), count);
        };
        arrived(5).await;
        save(client, &json!({"name": "Night", "tags": "night", "starts": "2026-11-15T10:00:00Z",
            "duration": 3600})).await;
        advance(&app, 31 * MINUTE).await;
        // One fails and recovers, one fails and stays down, one of the five recovers.
        report(client, &monitors[10], "down").await;
        report(client, &monitors[11], "down").await;
        report(client, &monitors[10], "up").await;
        report(client, &monitors[0], "up").await;
        arrived(6).await;
        let kinds: Vec<String> =
            receiver.hooks().iter().map(|hook| hook.json()["type"].as_str().unwrap().to_owned()).collect();
        assert_eq!(kinds[5], "monitor.up", "its outage was sent before the window");
        let open = client.get("alerts?status=suppressed").await.ok();
        assert_eq!(open["alerts"].as_array().unwrap().len(), 1);
        assert_eq!(open["alerts"][0]["suppressed_by"]["name"], "Night");
        // The one that was over before the window was, and that nobody was notified of.
        let over = client.get(&format!("monitor/{}/alerts", monitors[10])).await.ok()["alerts"][0].clone();
        assert_eq!((&over["suppressed_by"], &over["notified"]), (&json!(null), &json!(null)), "{over}");
        assert_eq!(over["maintenance"]["name"], "Night", "{over}");
        let noticed = client.get(&format!("monitor/{}/alerts", monitors[0])).await.ok()["alerts"][0].clone();
        assert_eq!(noticed["maintenance"], json!(null), "{noticed}");
        // The window ends: nothing is sent until the monitors report again.
        advance(&app, 60 * MINUTE).await;
        arrived(6).await;
        app.clock.advance(MINUTE);
        for monitor in &monitors {
            let status = if monitors[1..5].contains(monitor) || *monitor == monitors[11] { "down" } else { "up" };
            report(client, monitor, status).await;
        }
        app.clock.advance(MINUTE);
        processor::process_due(&app.engine).await.unwrap();
        // Only the outage that began within the window and is still there.
        arrived(7).await;
        let sent = receiver.hooks()[6].json();
        assert_eq!(sent["type"], "monitor.down");
        assert_eq!(sent["data"]["monitor"]["name"], "job 11");
        assert_eq!(sent["data"]["suppressed"]["name"], "Night", "{sent}");
        app.stop().await;
    }

    async fn a_caller_who_is_limited_to_some_monitors_changes_only_their_windows(setup: Setup) {
        let (app, ann) = start(setup).await;
        let (mine, other) = (job(&ann.client, "a", "mine").await, job(&ann.client, "b", "x").await);
        let key = json!({"name": "key", "scope": "editor", "tags": "mine"});
        let key = monitor_filters::key(&app, &ann, &key).await;
        let window = |select: Value| {
            let mut body = json!({"name": "w", "starts": "2026-11-15T09:00:00Z", "duration": 7200});
            body.as_object_mut().unwrap().extend(select.as_object().unwrap().clone());
            body
        };
        let shared = save(&ann.client, &window(json!({"everything": true, "name": "shared"}))).await;
        save(&ann.client, &window(json!({"monitors": other, "name": "hidden"}))).await;
        for select in [json!({"everything": true}), json!({"tags": "mine"})] {
            key.post("maintenance/save", &window(select)).await.refused(403, "forbidden");
        }
        let refused = key.post("maintenance/save", &window(json!({"monitors": other}))).await;
        assert_eq!(refused.json()["errors"][0]["field"], "monitors", "{}", refused.text);
        let own = save(&key, &window(json!({"monitors": mine, "name": "own"}))).await;
        // Ids of the same millisecond have no defined order.
        let mut found = names(&key, "maintenances").await;
        found.sort();
        assert_eq!(found, ["own", "shared"]);
        let list = key.get("maintenances").await.ok();
        assert!(list["maintenances"].as_array().unwrap().iter().all(|one| one["monitors_covered"] == 1));
        for path in ["end", "delete"] {
            let path = format!("maintenance/{}/{path}", id(&shared));
            let answer = if path.ends_with("end") { key.post_nothing(&path).await } else { key.delete(&path).await };
            answer.refused(403, "forbidden");
        }
        key.delete(&format!("maintenance/{}/delete", id(&own))).await.ok();
        app.stop().await;
    }
}
