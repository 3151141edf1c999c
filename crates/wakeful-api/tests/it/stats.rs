//! monitor/{id}/stats, series, monitors/summary: the statistics are the same before and
//! after compaction.

use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::id::MonitorId;
use wakeful_core::time::{Clock as _, Millis};
use wakeful_engine::history::compactor;
use wakeful_testkit::{App, Client, User, both_databases};

async fn monitor(client: &Client) -> String {
    let body = json!({"name": "site", "type": "api", "heartbeat_interval": 60, "isactive": true,
        "upside_down_mode": false, "tags": "shop"});
    let json = client.post("monitor/save", &body).await.ok();
    json["monitor"]["monitorid"].as_str().unwrap().to_owned()
}

/// Reports `(seconds to wait before, status, load time)`, one after the other.
async fn report(app: &App, user: &User, id: &str, reports: &[(u64, &str, f64)]) {
    for (wait, status, load_time) in reports {
        app.clock.advance(Duration::from_secs(*wait));
        let body = json!({"status": status, "payload": {"load_time": load_time}});
        user.client.post(&format!("monitor/notify/{id}"), &body).await.ok();
    }
}

/// Up for two minutes, down for half a minute, up again.
const MINUTES: &[(u64, &str, f64)] =
    &[(0, "up", 10.0), (60, "up", 20.0), (60, "down", 5.0), (30, "up", 30.0), (60, "up", 40.0)];

async fn compact(app: &App, id: &str) {
    let (id, now) = (MonitorId::parse(id).unwrap(), app.clock.now());
    let compacted = app.store.compact(id, now, Millis(0), 10_000).await.unwrap();
    assert!(compacted.heartbeats > 0);
}

fn without_times(mut stats: Value) -> Value {
    for field in ["from", "to"] {
        stats.as_object_mut().unwrap().remove(field);
    }
    stats
}

both_databases! {
    async fn stats_show_uptime_outages_and_load_times(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = monitor(&ann.client).await;
        report(&app, &ann, &id, MINUTES).await;
        let stats = ann.client.get(&format!("monitor/{id}/stats")).await.ok();
        assert_eq!(stats["monitorid"], id.as_str());
        let spans = stats["spans"].as_array().unwrap();
        let names: Vec<&str> = spans.iter().map(|span| span["span"].as_str().unwrap()).collect();
        assert_eq!(names, ["24h", "7d", "30d", "90d", "365d"]);
        for span in spans {
            assert_eq!(span["checks"], json!({"up": 4, "degraded": 0, "down": 1, "pending": 0, "unknown": 0, "maintenance": 0}));
            // 60 + 60 + 60 s up, 30 s down: 180 of 210.
            assert_eq!((&span["uptime"], &span["uptime_checks"]), (&json!(85.7142), &json!(80.0)));
            assert_eq!((&span["seconds"]["up"], &span["seconds"]["down"]), (&json!(180), &json!(30)));
            assert_eq!((&span["outages"], &span["longest_outage"], &span["mean_time_to_recover"]),
                (&json!(1), &json!(30), &json!(30)));
            let load = &span["load_time"];
            assert_eq!((&load["mean"], &load["min"], &load["max"]), (&json!(25.0), &json!(10.0), &json!(40.0)));
            assert!((load["p50"].as_f64().unwrap() - 20.0).abs() <= 0.2, "{load}");
            assert!((load["p99"].as_f64().unwrap() - 40.0).abs() <= 0.4, "{load}");
            assert_eq!(span["phases"]["resolve"], Value::Null);
        }
        // The standard periods start at a full hour: here 24 and a half hours ago.
        assert_eq!(spans[0]["from"], "2026-11-14T09:00:00.000Z");
        assert_eq!(spans[0]["seconds"]["no_data"], 24 * 3600 + 1800);
    }

    async fn a_changed_interval_does_not_change_past_statistics(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = monitor(&ann.client).await;
        report(&app, &ann, &id, MINUTES).await;
        let span = "from=2026-11-15T09:31:30Z&to=2026-11-15T09:33:00Z";
        let path = format!("monitor/{id}/stats?{span}");
        let before = ann.client.get(&path).await.ok();
        let change = json!({"monitorid": id, "heartbeat_interval": 1});
        ann.client.post("monitor/save", &change).await.ok();
        assert_eq!(ann.client.get(&path).await.ok(), before);
    }

    async fn stats_are_the_same_before_and_after_compaction(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = monitor(&ann.client).await;
        report(&app, &ann, &id, MINUTES).await;
        let span = "from=2026-11-15T09:31:30Z&to=2026-11-15T09:33:00Z";
        let paths = [
            format!("monitor/{id}/stats?{span}"),
            format!("monitor/{id}/series?{span}&points=30"),
            format!("monitor/{id}/series?from=2026-11-15T00:00:00Z&to=2026-11-17T00:00:00Z&points=24"),
            format!("monitor/{id}/series?from=2026-11-10T00:00:00Z&to=2026-11-17T00:00:00Z&points=3"),
            format!("monitors/summary?ids={id},rubbish"),
            format!("monitor/{id}/heartbeats?limit=3"),
        ];
        let mut recent = Vec::new();
        for path in &paths {
            recent.push(ann.client.get(path).await.ok());
        }
        let stats = &recent[0]["spans"][0];
        assert_eq!((&stats["span"], &stats["uptime"]), (&Value::Null, &json!(66.6666)));
        assert_eq!(stats["seconds"]["no_data"], 0);
        assert_eq!((&recent[2]["step"], &recent[2]["source"]), (&json!(7200), &json!("hour")));
        assert_eq!((&recent[3]["step"], &recent[3]["source"]), (&json!(3 * 86_400), &json!("day")));
        assert_eq!(recent[4]["summaries"].as_array().unwrap().len(), 1);
        compact(&app, &id).await;
        assert_eq!(app.database.rows("heartbeats").await, 0);
        for (path, recent) in paths.iter().zip(&recent) {
            assert_eq!(ann.client.get(path).await.ok(), *recent, "{path}");
        }
        // A late heartbeat in a compacted minute counts at once.
        let usual = ann.client.get(&format!("monitor/{id}/stats")).await.ok();
        report(&app, &ann, &id, &[(60, "up", 40.0)]).await;
        let more = ann.client.get(&format!("monitor/{id}/stats")).await.ok();
        for (usual, more) in usual["spans"].as_array().unwrap().iter().zip(more["spans"].as_array().unwrap()) {
            let (usual, more) = (without_times(usual.clone()), without_times(more.clone()));
            assert_eq!(more["checks"]["up"], usual["checks"]["up"].as_u64().unwrap() + 1);
            assert_eq!(more["seconds"]["up"], usual["seconds"]["up"].as_u64().unwrap() + 60);
        }
    }

    async fn heartbeats_compacted_while_stats_are_computed_count_once(setup: Setup) {
        const BEATS: usize = 80;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = monitor(&ann.client).await;
        for _ in 0..BEATS {
            report(&app, &ann, &id, &[(60, "up", 10.0)]).await;
        }
        let (monitor, now) = (MonitorId::parse(&id).unwrap(), app.clock.now());
        let path = format!("monitor/{id}/stats?from=2026-11-15T00:00:00Z&to=2026-11-16T00:00:00Z");
        // Each time a little later during the read.
        for turn in 0..BEATS {
            let folding = async {
                for _ in 0..turn * 4 {
                    tokio::task::yield_now().await;
                }
                app.store.compact(monitor, now, Millis(0), 1).await.unwrap();
            };
            let (stats, ()) = tokio::join!(async { ann.client.get(&path).await.ok() }, folding);
            assert_eq!(stats["spans"][0]["checks"]["up"], BEATS, "turn {turn}: {stats}");
        }
        assert_eq!(app.database.rows("heartbeats").await, 0);
    }

    async fn a_long_range_is_the_same_by_fortnights_and_by_days(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = monitor(&ann.client).await;
        let started = app.clock.now();
        // A heartbeat every five hours for a hundred days; the last ones are not compacted.
        for number in 0..480 {
            let status = if number % 50 == 9 { "down" } else { "up" };
            report(&app, &ann, &id, &[(0, status, 10.0 + f64::from(number % 37))]).await;
            app.clock.advance(Duration::from_secs(5 * 3600));
            if number == 470 {
                compact(&app, &id).await;
            }
        }
        let ann = ann.log_in(&app.anonymous()).await;
        let at = |hours: u64| started.after(Duration::from_secs(hours * 3600 + 7));
        let mut paths = vec![format!("monitor/{id}/stats"), format!("monitors/summary?ids={id}")];
        for (from, to) in [(0, 2_400), (100, 2_000), (700, 1_300), (333, 900), (24, 720)] {
            paths.push(format!("monitor/{id}/stats?from={}&to={}", at(from), at(to)));
        }
        let fortnights = "select count(*) from rollups where grain = 3";
        assert_eq!(app.database.number(fortnights).await, 7);
        let mut results = Vec::new();
        for path in &paths {
            results.push(ann.client.get(path).await.ok());
        }
        assert_eq!(results[0]["spans"][4]["checks"]["up"], 470);
        assert_eq!(results[2]["spans"][0]["checks"]["down"], 10);
        // A late heartbeat counts at once, even in a fortnight that is over.
        let late = format!(
            "insert into heartbeats (monitor_id, at, seq, status, message, load_time)
             select monitor_id, {}, 9999, 'up', '', 500000 from folds",
            at(800).0
        );
        app.database.execute(&late).await;
        let mut with_late = Vec::new();
        for path in &paths {
            with_late.push(ann.client.get(path).await.ok());
        }
        for (results, with_late) in results[2..6].iter().zip(&with_late[2..6]) {
            let (results, with_late) = (&results["spans"][0], &with_late["spans"][0]);
            assert_eq!(with_late["checks"]["up"], results["checks"]["up"].as_u64().unwrap() + 1);
            assert_eq!(with_late["load_time"]["max"], 500.0);
        }
        app.database.execute("delete from rollups where grain = 3").await;
        for (path, results) in paths.iter().zip(&with_late) {
            assert_eq!(ann.client.get(path).await.ok(), *results, "{path}");
        }
        compact(&app, &id).await;
        assert_eq!(app.database.number(fortnights).await, 7);
        for (path, results) in paths.iter().zip(&with_late) {
            assert_eq!(ann.client.get(path).await.ok(), *results, "{path}");
        }
    }

    async fn pages_of_heartbeats_cover_recent_and_compacted_ones(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = monitor(&ann.client).await;
        report(&app, &ann, &id, MINUTES).await;
        compact(&app, &id).await;
        report(&app, &ann, &id, &[(60, "up", 50.0), (60, "up", 60.0)]).await;
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = ann.client.get(&format!("monitor/{id}/heartbeats?limit=2{cursor}")).await.ok();
            seen.extend(page["heartbeats"].as_array().unwrap().iter().map(|beat| beat["load_time"].as_f64().unwrap()));
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(seen, [60.0, 50.0, 40.0, 30.0, 5.0, 20.0, 10.0]);
    }

    async fn all_invalid_query_parameters_are_reported(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = monitor(&ann.client).await;
        let wrong = [
            (format!("monitor/{id}/stats?from=2026-11-15T09:00:00Z"), vec!["to"]),
            (format!("monitor/{id}/stats?from=x&to=2026-11-15T09:00:00Z"), vec!["from"]),
            (format!("monitor/{id}/stats?from=2026-11-15T09:00:00Z&to=2026-11-15T09:00:00Z"), vec!["to"]),
            (format!("monitor/{id}/series?points=0"), vec!["points"]),
            (format!("monitor/{id}/heartbeats?from=2026-11-15T10:00:00Z&to=2026-11-15T09:00:00Z"), vec!["to"]),
            (format!("monitor/{id}/series?points=1001&from=y"), vec!["from", "points"]),
            ("monitors/summary".to_owned(), vec!["ids"]),
            (format!("monitors/summary?beats=101&ids={}", "x,".repeat(201)), vec!["ids", "beats"]),
        ];
        for (path, fields) in wrong {
            assert_eq!(ann.client.get(&path).await.wrong_fields(), fields, "{path}");
        }
        let nothing = ann.client.get(&format!("monitor/{id}/stats")).await.ok();
        assert_eq!((&nothing["spans"][0]["uptime"], &nothing["spans"][0]["load_time"]), (&Value::Null, &Value::Null));
        assert_eq!(ann.client.get(&format!("monitor/{id}/series")).await.ok()["points"], json!([]));
        let eve = app.sign_up("eve@example.com").await;
        assert_eq!(eve.client.get(&format!("monitors/summary?ids={id}")).await.ok()["summaries"], json!([]));
    }

    async fn a_monthly_report_is_available_as_json_csv_and_html(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = monitor(&ann.client).await;
        let other = json!({"name": "=<b>other", "type": "api", "heartbeat_interval": 60,
            "isactive": true, "upside_down_mode": false});
        ann.client.post("monitor/save", &other).await.ok();
        report(&app, &ann, &id, MINUTES).await;
        let json = ann.client.get("report?month=2026-11&tag=shop").await.ok();
        assert_eq!((&json["month"], &json["tag"]), (&json!("2026-11"), &json!("shop")));
        assert_eq!((&json["from"], &json["to"]), (&json!("2026-11-01T00:00:00.000Z"), &json!("2026-11-15T09:33:30.000Z")));
        let line = &json["monitors"][0];
        assert_eq!((&line["monitorid"], &line["name"], &line["type"]), (&json!(id), &json!("site"), &json!("api")));
        assert_eq!((&line["uptime"], &line["outages"], &line["downtime"]), (&json!(85.7142), &json!(1), &json!(30)));
        assert_eq!((&line["longest_outage"], &line["mean_time_to_recover"]), (&json!(30), &json!(30)));
        assert_eq!(json["total"], json!({"monitors": 1, "uptime": 85.7142, "outages": 1, "downtime": 30, "maintenance": 0}));
        let all = ann.client.get("report").await.ok();
        assert_eq!(all["total"]["monitors"], 2);
        let csv = ann.client.get("report?format=csv").await;
        assert_eq!(csv.status, 200);
        assert_eq!(csv.text.lines().count(), 3);
        assert!(csv.text.contains("\"'=<b>other\""), "{}", csv.text);
        let csv = ann.client.with("accept", "text/csv").get("report?tag=shop").await;
        assert!(csv.text.contains(",85.7142,1,30,30,30,"), "{}", csv.text);
        let page = ann.client.with("accept", "text/html,*/*;q=0.8").get("report").await;
        assert!(page.text.contains("=&lt;b&gt;other") && page.text.contains("85.714 %"), "{}", page.text);
        // A monitor that did not exist then is not in the report.
        let before = ann.client.get("report?month=2026-10").await.ok();
        assert_eq!((&before["monitors"], &before["total"]["uptime"]), (&json!([]), &Value::Null));
        assert_eq!(ann.client.get("report?month=2026-13&format=pdf").await.wrong_fields(), ["month", "format"]);
    }

    async fn a_report_can_cover_any_days(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = monitor(&ann.client).await;
        report(&app, &ann, &id, MINUTES).await;
        let json = ann.client.get("report?from=2026-11-15&to=2026-11-15").await.ok();
        assert_eq!((&json["month"], &json["team"]), (&Value::Null, &json!("ann")));
        assert_eq!((&json["from"], &json["to"]), (&json!("2026-11-15T00:00:00.000Z"), &json!("2026-11-15T09:33:30.000Z")));
        assert_eq!(json["total"]["downtime"], 30);
        let open = ann.client.get("report?from=2026-11-14").await.ok();
        assert_eq!((&open["from"], &open["to"], &open["total"]), (&json!("2026-11-14T00:00:00.000Z"), &json["to"], &json["total"]));
        let csv = ann.client.get("report?from=2026-11-01&to=2026-11-30&format=csv").await;
        assert!(csv.header("content-disposition").contains("wakeful-2026-11-01_2026-11-30.csv"));
        for (query, fields) in [
            ("from=2026-11-16&to=2026-11-15", vec!["to"]),
            ("from=2024-01-01&to=2026-01-01", vec!["to"]),
            ("to=2026-11-15", vec!["from"]),
            ("month=2026-11&from=2026-11-01", vec!["month"]),
            ("from=2026-11&to=yesterday&sort=tags&lang=fr", vec!["from", "to", "sort", "lang"]),
        ] {
            assert_eq!(ann.client.get(&format!("report?{query}")).await.wrong_fields(), fields, "{query}");
        }
    }

    async fn a_report_is_sorted_by_name_or_by_the_lowest_uptime(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for (name, statuses) in [("b", &["up", "down"][..]), ("C", &["up", "up"][..]), ("a", &[][..])] {
            let body = json!({"name": name, "type": "api", "heartbeat_interval": 60,
                "isactive": true, "upside_down_mode": false});
            let id = ann.client.post("monitor/save", &body).await.ok()["monitor"]["monitorid"].as_str().unwrap().to_owned();
            let steps: Vec<(u64, &str, f64)> = statuses.iter().map(|status| (30, *status, 1.0)).collect();
            report(&app, &ann, &id, &steps).await;
        }
        let names = async |query: &str| {
            let json = ann.client.get(&format!("report?{query}")).await.ok();
            let names = json["monitors"].as_array().unwrap().iter().map(|line| line["name"].as_str().unwrap().to_owned());
            names.collect::<String>()
        };
        assert_eq!((names("").await, names("sort=name").await, names("sort=uptime").await),
            ("abC".into(), "abC".into(), "bCa".into()));
    }

    async fn the_page_of_a_report_is_in_the_language_of_the_reader(setup: Setup) {
        let app = setup.start().await;
        let body = json!({"email": "ann@example.com", "password": "correct horse 9", "name": "Käse & {rows}"});
        let token = app.anonymous().post("signup", &body).await.ok()["token"].as_str().unwrap().to_owned();
        let client = app.anonymous().with_token(&token);
        monitor(&client).await;
        let page = client.with("accept-language", "de-CH, en;q=0.5").get("report?format=html&month=2026-11&tag=shop").await;
        assert_eq!((page.header("content-language"), page.status), ("de", 200));
        for text in ["<html lang=\"de\">", "<main>", "<title>Verfügbarkeitsbericht · November 2026</title>",
            "Käse &amp; &#123;rows}", "1. November 2026 bis 15. November 2026 (UTC)", "Tag: <bdi>shop</bdi>", "Ausfallzeit"] {
            assert!(page.text.contains(text), "{text} is not in {}", page.text);
        }
        let page = client.with("accept-language", "de").get("report?format=html&lang=en&from=2026-11-02&to=2026-11-02").await;
        assert_eq!(page.header("content-language"), "en");
        assert!(page.text.contains("<title>Uptime report · 2 November 2026</title>"), "{}", page.text);
        assert!(!page.text.contains("<script") && page.text.contains("No data"), "{}", page.text);
    }

    async fn a_plan_retains_no_more_days_than_it_allows(setup: Setup) {
        let mut setup = setup;
        setup.settings.billing.limits = true;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = monitor(&ann.client).await;
        let going = CancellationToken::new();
        report(&app, &ann, &id, MINUTES).await;
        app.clock.advance(Duration::from_secs(3 * 3600));
        assert_eq!(compactor::compact(&app.engine, &going).await.unwrap(), 5);
        assert_eq!(compactor::delete_expired(&app.engine, &going).await.unwrap(), 0);
        // The plan None retains thirty days; the settings would retain a year.
        app.clock.advance(Duration::from_secs(40 * 24 * 3600));
        let ann = ann.log_in(&app.anonymous()).await;
        report(&app, &ann, &id, &[(0, "up", 7.0)]).await;
        app.clock.advance(Duration::from_secs(3 * 3600));
        assert_eq!(compactor::compact(&app.engine, &going).await.unwrap(), 1);
        assert!(compactor::delete_expired(&app.engine, &going).await.unwrap() > 0);
        let span = "from=2026-11-01T00:00:00Z&to=2027-01-30T00:00:00Z";
        let beats = ann.client.get(&format!("monitor/{id}/heartbeats?{span}")).await.ok();
        assert_eq!(beats["heartbeats"].as_array().unwrap().len(), 1);
        let stats = ann.client.get(&format!("monitor/{id}/stats?{span}")).await.ok();
        assert_eq!(stats["spans"][0]["checks"]["up"], 1);
    }
}
