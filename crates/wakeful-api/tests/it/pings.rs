//! pings: jobs report in the format of Healthchecks.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use wakeful_testkit::{Answer, App, Client, User, both_databases};

const RID: &str = "00000000-0000-4000-8000-000000000001";

fn job(extra: &Value) -> Value {
    let mut body = json!({"type": "api", "name": "job", "heartbeat_interval": 3600,
        "isactive": true, "upside_down_mode": false});
    body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    body
}

async fn save(user: &User, body: &Value) -> Value {
    user.client.post("monitor/save", body).await.ok()["monitor"].clone()
}

fn path(app: &App, monitor: &Value) -> String {
    monitor["ping_url"].as_str().unwrap().strip_prefix(&app.url).unwrap().to_owned()
}

async fn ping(app: &App, path: &str, body: &str) -> Answer {
    app.anonymous().raw(Method::POST, path, Some("text/plain"), body.to_owned()).await
}

#[track_caller]
fn says(answer: &Answer, status: u16, text: &str) {
    assert_eq!((answer.status, answer.text.as_str()), (status, text));
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert_eq!(answer.header("ping-body-limit"), "10000");
}

/// What a client of Healthchecks gets for a check that it cannot see.
async fn every_call_says_there_is_no_such_check(client: &Client, check: &str) {
    for (method, path) in [
        (Method::GET, check.to_owned()),
        (Method::POST, check.to_owned()),
        (Method::DELETE, check.to_owned()),
        (Method::POST, format!("{check}/pause")),
        (Method::POST, format!("{check}/resume")),
        (Method::GET, format!("{check}/pings/")),
        (Method::GET, format!("{check}/pings/1/body")),
        (Method::GET, format!("{check}/flips/")),
    ] {
        let refused = client.call(method, &path, None).await;
        assert_eq!(
            (refused.status, refused.json()),
            (404, json!({"error": "No such check."})),
            "{path}"
        );
    }
}

both_databases! {
    async fn pings_are_recorded_with_what_the_job_printed(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let monitor = save(&ann, &job(&json!({"description": "nightly"}))).await;
        let (id, url) = (monitor["monitorid"].as_str().unwrap().to_owned(), path(&app, &monitor));
        assert_eq!(monitor["description"], "nightly");
        let state = async || ann.client.get(&format!("monitor/{id}/get")).await.ok()["monitor"].clone();

        // A start changes no status, and a retry is one ping.
        let start = format!("{url}/start?rid={RID}");
        says(&ping(&app, &start, "").await, 200, "OK");
        says(&ping(&app, &start, "").await, 200, "OK");
        assert_eq!(state().await["status"], "pending");
        says(&ping(&app, &format!("{url}/log"), "halfway").await, 200, "OK");
        assert_eq!(state().await["status"], "pending");
        let long = "x".repeat(30_000);
        says(&ping(&app, &format!("{url}/0?rid={RID}"), &long).await, 200, "OK");
        let up = state().await;
        assert_eq!((&up["status"], &up["last_message"]), (&json!("up"), &json!("reported success")));
        assert!(up["load_time"].is_number(), "{up}");
        says(&ping(&app, &format!("{url}/3"), "disk full: hunter2").await, 200, "OK");
        let down = state().await;
        assert_eq!((&down["status"], &down["reason"]), (&json!("down"), &json!("exit_code")));
        assert_eq!(app.anonymous().get(&url).await.status, 200);
        assert_eq!(state().await["status"], "up");
        says(&app.anonymous().call(Method::HEAD, &format!("{url}/fail"), None).await, 200, "");
        assert_eq!(state().await["reason"], "reported");

        let listed = ann.client.get(&format!("monitor/{id}/pings")).await.ok();
        let pings = listed["pings"].as_array().unwrap();
        let kinds: Vec<&str> = pings.iter().map(|ping| ping["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["fail", "success", "fail", "success", "log", "start"]);
        assert_eq!((&pings[2]["n"], &pings[2]["exit_code"], &pings[2]["bytes"]), (&json!(4), &json!(3), &json!(18)));
        assert_eq!((&pings[3]["rid"], &pings[3]["bytes"]), (&json!(RID), &json!(10_000)));
        assert!(pings[3]["duration"].is_number() && pings[2]["duration"].is_null());
        let body = async |n: u8| ann.client.get(&format!("monitor/{id}/pings/{n}/body")).await;
        assert_eq!(body(4).await.text, "disk full: hunter2");
        assert_eq!(body(3).await.text.len(), 10_000);
        for n in [1, 99] {
            body(n).await.refused(404, "not_found");
        }
        let bob = app.sign_up("bob@example.com").await;
        bob.client.get(&format!("monitor/{id}/pings")).await.refused(404, "not_found");
        bob.client.get(&format!("monitor/{id}/pings/4/body")).await.refused(404, "not_found");

        // One that is not active records pings, and ignores them.
        ann.client.post("monitor/save", &json!({"monitorid": id, "isactive": false})).await.ok();
        says(&ping(&app, &url, "").await, 200, "OK");
        let listed = ann.client.get(&format!("monitor/{id}/pings?limit=1")).await.ok();
        assert_eq!(listed["pings"][0]["type"], "ign");

        for (path, status, text) in [
            (format!("{url}?rid=1"), 400, "invalid uuid format"),
            (format!("{url}/256"), 400, "invalid url format"),
            (format!("{url}/start/again"), 400, "invalid url format"),
            ("/ping/nothing".to_owned(), 400, "invalid url format"),
            (format!("/ping/{RID}"), 404, "not found"),
            ("/ping/AAAAAAAAAAAAAAAAAAAAAA/backup".to_owned(), 404, "not found"),
        ] {
            says(&ping(&app, &path, "").await, status, text);
        }
        let refused = app.anonymous().call(Method::DELETE, &url, None).await;
        says(&refused, 405, "method not allowed");
        // The connection ends with the response, so it is not that of the next requests.
        let other = Client::new(&app.url);
        let long = other.raw(Method::POST, &url, Some("text/plain"), "x".repeat(2 << 20)).await;
        assert_eq!(long.status, 413);
        // The limit for one monitor.
        let mut last = 0;
        for _ in 0..70 {
            last = ping(&app, &format!("{url}/log"), "").await.status;
        }
        assert_eq!(last, 429);
        let kept = ann.client.get(&format!("monitor/{id}/pings?limit=1000")).await.ok();
        assert!(kept["pings"].as_array().unwrap().len() <= 100);
    }

    async fn a_ping_key_and_a_slug_are_a_url_and_create_monitors(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        // The first call creates it; several first calls agree.
        let calls = [(); 4].map(|()| ann.client.get("team/pingkey"));
        let keys: Vec<Value> = join_all(calls).await.into_iter().map(|key| key.ok()).collect();
        assert!(keys.iter().all(|key| key["ping_key"] == keys[0]["ping_key"]), "{keys:?}");
        let first = keys[0].clone();
        let rotated = ann.client.post_nothing("team/pingkey/rotate").await.ok();
        assert_eq!(ann.client.get("team/pingkey").await.ok()["ping_key"], rotated["ping_key"]);
        assert_eq!(rotated["ping_key"].as_str().unwrap().len(), 22);
        let base = |key: &Value| key["ping_url"].as_str().unwrap().strip_prefix(&app.url).unwrap().to_owned();
        let (old, base) = (base(&first), base(&rotated));
        says(&ping(&app, &format!("{base}/backup"), "").await, 404, "not found");
        says(&ping(&app, &format!("{old}/backup?create=1"), "").await, 404, "not found");
        let query = "create=1&schedule=30%202%20*%20*%20*&tz=Europe/Berlin&grace=600";
        says(&ping(&app, &format!("{base}/backup/start?{query}"), "").await, 201, "Created");
        says(&ping(&app, &format!("{base}/backup?{query}"), "").await, 200, "OK");
        let list = ann.client.get("monitors").await.ok();
        let made = &list["monitors"][0];
        assert_eq!((&made["name"], &made["status"], &made["grace"]), (&json!("backup"), &json!("up"), &json!(600)));
        assert_eq!((&made["api"]["schedule"], &made["api"]["tz"]), (&json!("30 2 * * *"), &json!("Europe/Berlin")));
        assert_eq!(list["monitors"].as_array().unwrap().len(), 1);
        // Slugs are unique in the team.
        let taken = ann.client.post("monitor/save", &job(&json!({"api": {"slug": "backup"}}))).await;
        assert_eq!(taken.wrong_fields(), ["api.slug"]);
        let bob = app.sign_up("bob@example.com").await;
        save(&bob, &job(&json!({"api": {"slug": "backup"}}))).await;
        // A deleted one leaves its slug to others.
        let id = made["monitorid"].as_str().unwrap();
        ann.client.delete(&format!("monitor/{id}/delete")).await.ok();
        save(&ann, &job(&json!({"api": {"slug": "backup"}}))).await;
    }

    async fn schedules_and_keywords_are_validated_and_returned(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let api = json!({"schedule": "0 9,10 * * *", "tz": "europe/berlin", "max_runtime": 60,
            "slug": "a", "post_only": true, "keywords": {"failure": "error", "success": "done"}});
        // The interval follows from the schedule.
        let monitor = save(&ann, &job(&json!({"heartbeat_interval": 7, "api": api}))).await;
        let read = &monitor["api"];
        assert_eq!(monitor["heartbeat_interval"], 82_800);
        assert_eq!((&read["tz"], &read["max_runtime"], &read["slug"]), (&json!("Europe/Berlin"), &json!(60), &json!("a")));
        assert_eq!(read["keywords"], json!({"start": "", "success": "done", "failure": "error", "otherwise": "ignore"}));
        let again = save(&ann, &monitor).await;
        assert_eq!(again["revision"], monitor["revision"], "what was read changes nothing");
        let url = path(&app, &monitor);
        assert_eq!(app.anonymous().get(&url).await.status, 200);
        let id = monitor["monitorid"].as_str().unwrap();
        let state = async || ann.client.get(&format!("monitor/{id}/get")).await.ok()["monitor"].clone();
        assert_eq!(state().await["status"], "pending", "only POST counts");
        ping(&app, &url, "an error, but done").await;
        assert_eq!(state().await["status"], "down");
        ping(&app, &url, "who knows").await;
        assert_eq!(state().await["status"], "down");
        ping(&app, &url, "done").await;
        assert_eq!(state().await["status"], "up");

        let next = json!({"schedule": "30 2 * * *\n0 12 1 1 *", "tz": "europe/berlin"});
        let next = ann.client.post("monitor/schedule", &next).await.ok();
        assert_eq!((&next["tz"], next["times"].as_array().unwrap().len()), (&json!("Europe/Berlin"), 5));
        let wrong = ann.client.post("monitor/schedule", &json!({"schedule": "soon", "tz": "Mars"})).await;
        assert_eq!(wrong.wrong_fields(), ["tz", "schedule"]);
        let year = save(&ann, &job(&json!({"heartbeat_interval": 31_536_000, "grace": 31_536_000}))).await;
        assert_eq!(year["heartbeat_interval"], 31_536_000);
        let wrong = async |extra: Value| {
            let answer = ann.client.post("monitor/save", &job(&extra)).await;
            (answer.wrong_fields(), answer.json()["errors"][0]["message"].as_str().unwrap_or_default().to_owned())
        };
        for (extra, field, message) in [
            (json!({"api": {"schedule": "60 * * * *"}}), "api.schedule",
                "is neither a cron nor an OnCalendar expression: it has an invalid minute: \"60\""),
            (json!({"api": {"schedule": "0 0 30 2 *"}}), "api.schedule", "never happens in the next 50 years"),
            (json!({"api": {"tz": "Mars"}}), "api.tz", "is not a time zone"),
            (json!({"api": {"slug": "A B"}}), "api.slug",
                "must have 1 to 100 of the characters a-z, 0-9, _ and -"),
            (json!({"api": {"keywords": {"otherwise": "x"}}}), "api.keywords.otherwise", "must be ignore or fail"),
            (json!({"heartbeat_interval": 31_536_001}), "heartbeat_interval",
                "must be a whole number of seconds from 1 to 31536000"),
            (json!({"description": "x".repeat(2_001)}), "description", "must have at most 2000 characters"),
        ] {
            assert_eq!(wrong(extra).await, (vec![field.to_owned()], message.to_owned()));
        }
    }

    async fn clients_of_healthchecks_see_outages_and_api_monitors_only(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let client = app.anonymous().with("x-api-key", &format!("{}:{}", keys.apikey, keys.enckey));
        let monitor = save(&ann, &job(&json!({"api": {"slug": "backup"}}))).await;
        let (id, url) = (monitor["monitorid"].as_str().unwrap(), path(&app, &monitor));
        let check = url.replace("/ping/", "/api/v3/checks/");
        let flips = async || client.get(&format!("{check}/flips/")).await.json();
        let report = json!({"status": "degraded"});
        ann.client.post(&format!("monitor/notify/{id}"), &report).await.ok();
        assert_eq!(ann.client.get("alerts?kind=degraded").await.ok()["alerts"].as_array().unwrap().len(), 1);
        assert_eq!(flips().await, json!([]));
        ping(&app, &format!("{url}/fail"), "").await;
        let flipped = flips().await;
        assert_eq!((flipped.as_array().unwrap().len(), &flipped[0]["up"]), (1, &json!(0)));

        // To another team it does not exist.
        let bob = app.sign_up("bob@example.com").await;
        let keys = bob.new_keys(&app.anonymous()).await;
        let stranger = app.anonymous().with("x-api-key", &format!("{}:{}", keys.apikey, keys.enckey));
        every_call_says_there_is_no_such_check(&stranger, &check).await;
        let unknown = "/api/v3/checks/00000000-0000-4000-8000-000000000000";
        every_call_says_there_is_no_such_check(&stranger, unknown).await;

        // With another type, it is one of those that do not exist.
        let change = |extra: Value| {
            let mut body = json!({"monitorid": id});
            body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            body
        };
        let tcp = json!({"type": "tcp", "hostname": "127.0.0.1", "port": "1", "isactive": false});
        let saved = ann.client.post("monitor/save", &change(tcp)).await.ok();
        assert_eq!(saved["monitor"]["ping_url"], Value::Null);
        says(&ping(&app, &url, "").await, 404, "not found");
        every_call_says_there_is_no_such_check(&client, &check).await;
        assert_eq!(client.get("/api/v3/checks/").await.json(), json!({"checks": []}));
        let back = json!({"type": "api", "isactive": true, "heartbeat_interval": 3600});
        ann.client.post("monitor/save", &change(back)).await.ok();
        says(&ping(&app, &url, "").await, 200, "OK");
        assert_eq!(client.get(&check).await.status, 200);
    }

    async fn checks_with_unique_fields_are_created_once(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let client = app.anonymous().with("x-api-key", &format!("{}:{}", keys.apikey, keys.enckey));
        let create = async |body: Value| {
            client.raw(Method::POST, "/api/v3/checks/", Some("application/json"), body.to_string()).await
        };
        assert_eq!(create(json!({"name": "other"})).await.status, 201);
        let backup = json!({"name": "backup", "timeout": 3600, "unique": ["name"]});
        let mut statuses: Vec<u16> =
            join_all([(); 8].map(|()| create(backup.clone()))).await.iter().map(|one| one.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 200, 201]);
        // A field that is unknown or not in the request identifies no monitor.
        let unknown = create(json!({"name": "stolen", "unique": ["uuid"]})).await;
        assert_eq!(unknown.status, 400);
        assert_eq!(unknown.json()["error"], "unique must be a list of these names: name, slug, tags, timeout, grace");
        assert_eq!(create(json!({"name": "third", "unique": ["slug"]})).await.status, 201);
        let list = client.get("/api/v3/checks/").await.json();
        let mut names: Vec<&str> =
            list["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names, ["backup", "other", "third"]);
    }

    async fn creating_monitors_by_pings_is_limited(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let key = ann.client.get("team/pingkey").await.ok();
        let base = key["ping_url"].as_str().unwrap().strip_prefix(&app.url).unwrap();
        let mut unknown = 0;
        while ping(&app, &format!("{base}/job"), "").await.status == 404 {
            unknown += 1;
            assert!(unknown < 2_000);
        }
        let refused = ping(&app, &format!("{base}/job?create=1"), "").await;
        says(&refused, 429, "rate limit exceeded");
        // What is refused was not created.
        assert_eq!(ann.client.get("monitors").await.ok()["monitors"], json!([]));
    }

    async fn a_client_of_healthchecks_works(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let pair = format!("{}:{}", keys.apikey, keys.enckey);
        let ping_key = ann.client.post_nothing("team/pingkey/rotate").await.ok();
        let ping_key = ping_key["ping_key"].as_str().unwrap();
        let python = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/venv/bin/python");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/healthchecks.py");
        let run = tokio::process::Command::new(python).args([script, &app.url, &pair, ping_key]).output();
        let run = run.await.expect("Python runs");
        let (out, error) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert_eq!(out, "done\n", "{error}");
        let refused = app.anonymous().get("/api/v3/checks/").await;
        assert_eq!(refused.status, 401);
        assert!(refused.json()["error"].is_string());
        let many = format!(r#"{{"tags": [{}]}}"#, vec![r#"{"a": 0}"#; 20_000].join(","));
        let large = app.anonymous().with("x-api-key", &pair).raw(Method::POST, "/api/v3/checks/",
            Some("application/json"), many).await;
        assert_eq!(large.status, 413, "a body with too many values is refused before it is parsed");
        let wrong = app.anonymous().with("x-api-key", &pair).raw(Method::POST, "/api/v3/checks/",
            Some("application/json"), r#"{"schedule": "x"}"#).await;
        assert_eq!((wrong.status, wrong.json()["error"].as_str().unwrap().starts_with("api.schedule")), (400, true));
    }
}
