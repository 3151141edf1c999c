//! Limits that are the same for all plans: no account can fill the memory or the disk of the
//! service.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::statuspages::snapshot::{self, ComponentStatus};
use wakeful_core::time::Millis;
use wakeful_engine::statuspages::auto_incidents;
use wakeful_testkit::{Answer, Client, DatabaseKind, both_databases, concurrently, until};

use crate::statuspages::{component, job, page, report, shown, status, text};

const LONGEST_BODY: usize = 262_144;
/// Together with the one that there is, as many ended incidents as a team may have, but one.
const MORE_INCIDENTS: [&str; 2] = [
    "with recursive numbers(number) as
         (select 1 union all select number + 1 from numbers where number < 4998)
     insert into incidents (id, team_id, kind, title, state, status, impact, settings, source,
                            started, resolved, created, modified)
     select randomblob(16), team_id, kind, title, state, status, impact, settings, source, started,
            resolved, created, modified
     from incidents, numbers",
    "insert into incidents (id, team_id, kind, title, state, status, impact, settings, source,
                            started, resolved, created, modified)
     select gen_random_uuid(), team_id, kind, title, state, status, impact, settings, source,
            started, resolved, created, modified
     from incidents, generate_series(1, 4998)",
];

/// Adds 500 incidents to the ended one of a page, as many as are read for it, and then the pages
/// of all of them.
const NEWER_INCIDENTS: [&str; 2] = [
    "with recursive numbers(number) as
         (select 1 union all select number + 1 from numbers where number < 500)
     insert into incidents (id, team_id, kind, title, state, status, impact, settings, source,
                            started, resolved, created, modified)
     select randomblob(16), team_id, kind, title, state, status, impact, settings, source, started,
            resolved, created, modified
     from incidents, numbers
     where resolved is not null",
    "insert into incidents (id, team_id, kind, title, state, status, impact, settings, source,
                            started, resolved, created, modified)
     select gen_random_uuid(), team_id, kind, title, state, status, impact, settings, source,
            started, resolved, created, modified
     from incidents, generate_series(1, 500)
     where resolved is not null",
];
const THEIR_PAGES: &str = "insert into incident_pages (incident_id, page_id, is_whole)
     select i.id, p.id, IS_WHOLE from incidents i, statuspages p
     where i.id not in (select incident_id from incident_pages)";

/// An incident that was over when it was written.
fn past_incident(page: &Value) -> Value {
    json!({"title": "API down", "pageids": [page["pageid"]], "started": "2025-01-01T00:00:00Z",
        "resolved": "2025-01-01T01:00:00Z", "update": {"body": "A disk was full."}})
}

fn monitor(body: &str) -> Value {
    json!({"type": "http", "name": "site", "heartbeat_interval": 3_600, "isactive": true,
        "upside_down_mode": false,
        "http": {"url": "http://127.0.0.1:1/", "method": "POST", "body": body}})
}

/// Repeats a call while the database is too busy for it: "nothing was changed, try again".
async fn save_patiently(client: Client, path: &'static str, body: Value) -> Answer {
    let saved = || async {
        let answer = client.post(path, &body).await;
        (answer.status != 503).then_some(answer)
    };
    until("the database has time", saved).await
}

both_databases! {
    async fn a_body_is_limited_in_bytes(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        ann.client.post("monitor/save", &monitor(&"a".repeat(LONGEST_BODY))).await.ok();
        let long = "🔥".repeat(LONGEST_BODY / 4 + 1);
        let refused = ann.client.post("monitor/save", &monitor(&long)).await;
        refused.refused(422, "invalid_fields");
        assert_eq!(refused.json()["message"], "http.body must have at most 262144 bytes.");
    }

    async fn the_long_bodies_of_a_team_have_16_mib_in_total_even_concurrently(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let long = "x".repeat(LONGEST_BODY);
        let filler = ann.client.post("monitor/save", &monitor("")).await.ok();
        // Leaves room for one.
        app.database.execute(match app.database.kind() {
            DatabaseKind::Sqlite => "update monitors set secret = zeroblob(16300000)",
            DatabaseKind::Postgres => "update monitors set secret = convert_to(repeat('0', 16300000), 'UTF8')",
        }).await;
        let calls = (0..4).map(|_| (ann.client.clone(), monitor(&long)));
        let answers =
            concurrently(calls, |(client, body)| save_patiently(client, "monitor/save", body)).await;
        let (saved, refused): (Vec<_>, Vec<_>) =
            answers.iter().partition(|answer| answer.status == 200);
        assert_eq!((saved.len(), refused.len()), (1, 3));
        for answer in refused {
            answer.refused(422, "invalid_fields");
            assert_eq!(answer.wrong_fields(), ["http.body"]);
        }

        // Short ones are not limited, and neither are other teams.
        ann.client.post("monitor/save", &monitor("short")).await.ok();
        let bob = app.sign_up("bob@example.com").await;
        bob.client.post("monitor/save", &monitor(&long)).await.ok();

        // What is not longer than before can be saved, and what is shorter makes room.
        let id = &saved[0].json()["monitor"]["monitorid"];
        ann.client.post("monitor/save", &json!({"monitorid": id, "name": "renamed"})).await.ok();
        ann.client.post("monitor/save", &json!({"monitorid": id, "http": {"body": ""}})).await.ok();
        ann.client.post("monitor/save", &monitor(&long)).await.ok();
        ann.client.post("monitor/save", &json!({"monitorid": id, "http": {"body": long}})).await
            .refused(422, "invalid_fields");
        let path = format!("monitor/{}/delete", filler["monitor"]["monitorid"].as_str().unwrap());
        ann.client.delete(&path).await.ok();
        ann.client.post("monitor/save", &json!({"monitorid": id, "http": {"body": long}})).await.ok();
    }

    async fn a_user_has_at_most_50_api_keys(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for number in 0..50 {
            let body = json!({"name": format!("key {number}")});
            ann.client.post("integrations/apikey/save", &body).await.ok();
        }
        let refused = ann.client.post("integrations/apikey/save", &json!({"name": "one more"})).await;
        refused.refused(409, "limit_reached");
        assert_eq!(refused.json()["message"],
            "The limit of 50 API keys per user is reached; delete one that is not needed.");
    }

    async fn a_team_has_at_most_200_groups_even_concurrently(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let group = json!({"type": "group", "name": "g", "isactive": true, "group": {"tags": "none"}});
        let mut answers = Vec::new();
        for _ in 0..29 {
            let calls = (0..7).map(|_| (ann.client.clone(), group.clone()));
            let saving =
                concurrently(calls, |(client, body)| save_patiently(client, "monitor/save", body));
            answers.extend(saving.await);
        }
        let (saved, refused): (Vec<_>, Vec<_>) =
            answers.iter().partition(|answer| answer.status == 200);
        let texts: Vec<&str> = refused.iter().map(|answer| answer.text.as_str()).collect();
        assert_eq!((saved.len(), refused.len()), (200, 3), "{texts:?}");
        for answer in refused {
            answer.refused(422, "invalid_fields");
            assert_eq!(answer.json()["message"],
                "group cannot be added: the team already has 200 groups.");
        }
        // Those that exist can still be changed.
        let id = &saved[0].json()["monitor"]["monitorid"];
        ann.client.post("monitor/save", &json!({"monitorid": id, "group": {"tags": "other"}})).await.ok();
    }

    async fn a_team_has_at_most_1000_notifiers(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": "http://127.0.0.1:1/"}});
        for _ in 0..10 {
            let calls = (0..100).map(|_| (ann.client.clone(), hook.clone()));
            let answers =
                concurrently(calls, |(client, body)| save_patiently(client, "notifier/save", body));
            assert!(answers.await.iter().all(|answer| answer.status == 200));
        }
        ann.client.post("notifier/save", &hook).await.refused(409, "limit_reached");
    }
    async fn the_texts_of_an_incident_have_256_kib_in_total(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = page(&ann, json!([])).await;
        let long = "é".repeat(10_000);
        let incident = ann.client.post("incident/save", &past_incident(&page)).await.ok()["incident"].clone();
        let id = text(&incident["incidentid"]);
        let (post, postmortem) =
            (format!("incident/{id}/update/save"), format!("incident/{id}/postmortem/save"));
        let update = json!({"body": long, "notify": false});
        let mut newest = Value::Null;
        for _ in 0..13 {
            newest = ann.client.post(&post, &update).await.ok()["incident"]["updates"][0].clone();
        }
        let refused = ann.client.post(&post, &update).await;
        assert_eq!(refused.wrong_fields(), ["body"]);
        assert_eq!(refused.refused(422, "invalid_fields")["message"],
            "body must be shorter: all texts of an incident together have at most 262144 bytes.");
        let refused = ann.client.post(&postmortem, &json!({"body": long})).await;
        refused.refused(422, "invalid_fields");
        assert_eq!(refused.wrong_fields(), ["body"]);
        // What still fits, and what is shorter than before, is saved.
        ann.client.post(&postmortem, &json!({"body": "A disk was full."})).await.ok();
        let shorter = json!({"updateid": newest["updateid"], "body": "Shorter."});
        ann.client.post(&post, &shorter).await.ok();
        ann.client.post(&post, &json!({"body": "é".repeat(9_000), "notify": false})).await.ok();
        // Translations count as well.
        let longest = json!({"body": "🔥".repeat(10_000)});
        let languages = ["de", "fr", "es", "nl", "pt", "ja"];
        let mut translated = past_incident(&page);
        translated["update"] = longest.clone();
        for language in languages {
            translated["update"]["texts"][language] = longest.clone();
        }
        let refused = ann.client.post("incident/save", &translated).await;
        refused.refused(422, "invalid_fields");
        assert_eq!(refused.wrong_fields(), ["update.body"]);
    }

    async fn a_snapshot_has_few_long_incidents_and_the_others_are_read_when_requested(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = page(&ann, json!([])).await;
        let long = json!({"body": "🔥".repeat(10_000)});
        let mut oldest = String::new();
        for day in (1..=12).rev() {
            let mut incident = past_incident(&page);
            incident["title"] = json!(format!("Outage {day}"));
            incident["started"] = json!(format!("2025-01-{day:02}T00:00:00Z"));
            incident["resolved"] = json!(format!("2025-01-{day:02}T01:00:00Z"));
            incident["update"] = long.clone();
            for language in ["de", "fr", "es", "nl", "pt"] {
                incident["update"]["texts"][language] = long.clone();
            }
            let saved = ann.client.post("incident/save", &incident).await.ok();
            oldest = text(&saved["incident"]["incidentid"]);
        }
        let snapshot = shown(&app, "acme", "the newest incidents", |now| now.has_more_past).await;
        let titles: Vec<&str> = snapshot.past.iter().map(|one| one.title.text.as_str()).collect();
        assert!(titles.starts_with(&["Outage 12", "Outage 11"]) && titles.len() < 12, "{titles:?}");
        let path = format!("/status/acme/incident/{oldest}");
        let read = || async {
            let answer = app.anonymous().get(&path).await;
            (answer.status == 200).then_some(answer.text)
        };
        assert!(until("the oldest", read).await.contains("Outage 1"));
    }

    async fn what_is_open_is_shortened_in_a_snapshot_and_read_when_requested(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = page(&ann, json!([])).await;
        let mut long = json!({"body": "🔥".repeat(10_000)});
        for language in ["de", "fr", "es", "nl", "pt"] {
            long["texts"][language] = json!({"body": "🔥".repeat(10_000)});
        }
        let mut oldest = String::new();
        for day in (1..=12).rev() {
            let incident = json!({"title": format!("Outage {day}"), "pageids": [page["pageid"]],
                "started": format!("2025-01-{day:02}T00:00:00Z"), "update": long});
            let saved = ann.client.post("incident/save", &incident).await.ok();
            oldest = text(&saved["incident"]["incidentid"]);
        }
        let snapshot = shown(&app, "acme", "all incidents", |now| now.incidents.len() == 12).await;
        let short = snapshot.incidents.iter().filter(|one| one.is_short).count();
        assert!((1..12).contains(&short), "{short} are short");
        let bytes: usize = snapshot.incidents.iter().map(snapshot::Incident::text_bytes).sum();
        assert!(bytes <= 2 << 20, "{bytes} bytes of text");
        let front = app.anonymous().get("/status/acme").await.text;
        for day in 1..=12 {
            assert!(front.contains(&format!("Outage {day}</a>")), "Outage {day}");
        }
        let path = format!("/status/acme/incident/{oldest}");
        let read = || async {
            let answer = app.anonymous().get(&path).await;
            (answer.status == 200).then_some(answer.text)
        };
        assert!(until("the oldest", read).await.contains("🔥🔥🔥"));
    }

    async fn incidents_that_began_at_the_same_time_are_all_read(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = page(&ann, json!([])).await;
        // One more than are read at once, and than a snapshot has.
        let calls = (0..101).map(|_| (ann.client.clone(), past_incident(&page)));
        let answers =
            concurrently(calls, |(client, body)| save_patiently(client, "incident/save", body));
        assert!(answers.await.iter().all(|answer| answer.status == 200));
        let snapshot = shown(&app, "acme", "all incidents", |now| now.has_more_past).await;
        let mut ids: Vec<_> = snapshot.past.iter().map(|one| one.id).collect();
        ids.dedup();
        assert_eq!(ids.len(), 100);
    }

    async fn the_history_has_what_is_too_old_for_a_snapshot(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = page(&ann, json!([])).await;
        let hour = Duration::from_secs(3_600);
        let ended = |title: &str, started: Millis| {
            json!({"title": title, "pageids": [page["pageid"]], "started": started.to_string(),
                "resolved": started.after(hour).to_string(), "update": {"body": "A disk was full."}})
        };
        let now = app.engine.now();
        // Written when the page was created, about what had happened before.
        let imported = Millis::parse("2024-05-02T00:00:00Z").unwrap();
        for incident in [ended("Imported", imported), ended("Earlier today", now.before(hour * 3))] {
            ann.client.post("incident/save", &incident).await.ok();
        }
        let newer = (0..100).map(|_| (ann.client.clone(), ended("Later", now.before(hour * 2))));
        let answers =
            concurrently(newer, |(client, body)| save_patiently(client, "incident/save", body));
        assert!(answers.await.iter().all(|answer| answer.status == 200));
        shown(&app, "acme", "the newest incidents", |now| {
            now.has_more_past && now.past.iter().all(|one| one.title.text == "Later")
        })
        .await;
        let visitor = app.anonymous();
        for (path, expected) in [
            ("history", "Earlier today"),
            ("history/2024-06", "href=\"/status/acme/history/2024-05\""),
            ("history/2024-05", "Imported"),
        ] {
            let read = || async {
                let answer = visitor.get(&format!("/status/acme/{path}")).await;
                answer.text.contains(expected).then_some(())
            };
            until(expected, read).await;
        }
    }

    async fn an_open_incident_is_shown_however_many_have_ended_since_it_began(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = page(&ann, json!([{"name": "API"}])).await;
        let open = json!({"title": "Slow", "started": "2024-01-01T00:00:00Z",
            "components": [{"componentid": component(&page, 0), "status": "partial_outage"}],
            "update": {"body": "We are looking into it."}});
        ann.client.post("incident/save", &open).await.ok();
        let past = ann.client.post("incident/save", &past_incident(&page)).await.ok();
        let (sql, is_whole) = match app.database.kind() {
            DatabaseKind::Sqlite => (NEWER_INCIDENTS[0], "1"),
            DatabaseKind::Postgres => (NEWER_INCIDENTS[1], "true"),
        };
        app.database.execute(sql).await;
        app.database.execute(&THEIR_PAGES.replace("IS_WHOLE", is_whole)).await;
        // Has the page built again.
        let renamed = json!({"incidentid": past["incident"]["incidentid"], "title": "Over"});
        ann.client.post("incident/save", &renamed).await.ok();
        let snapshot = shown(&app, "acme", "all incidents", |now| now.has_more_past).await;
        let titles: Vec<&str> =
            snapshot.incidents.iter().map(|one| one.title.text.as_str()).collect();
        assert_eq!(titles, ["Slow"]);
        assert_eq!(status(&snapshot, "API"), ComponentStatus::PartialOutage);
        assert_eq!(snapshot.past.len(), 100);
    }

    async fn a_team_creates_few_incidents_in_an_hour(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.incidents_per_hour = 3;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = page(&ann, json!([])).await;
        let calls = (0..5).map(|_| (ann.client.clone(), past_incident(&page)));
        let answers =
            concurrently(calls, |(client, body)| save_patiently(client, "incident/save", body)).await;
        let (saved, refused): (Vec<_>, Vec<_>) =
            answers.iter().partition(|answer| answer.status == 200);
        assert!(saved.len() <= 3, "{}", saved.len());
        for answer in refused {
            answer.refused(429, "too_many_requests");
        }
        for _ in saved.len()..3 {
            ann.client.post("incident/save", &past_incident(&page)).await.ok();
        }
        ann.client.post("incident/save", &past_incident(&page)).await.refused(429, "too_many_requests");
        // What exists can be changed, and deleting it makes no room.
        let id = text(&saved[0].json()["incident"]["incidentid"]);
        ann.client.post("incident/save", &json!({"incidentid": id, "title": "Web down"})).await.ok();
        ann.client.delete(&format!("incident/{id}/delete")).await.ok();
        ann.client.post("incident/save", &past_incident(&page)).await.refused(429, "too_many_requests");
        app.clock.advance(Duration::from_secs(3_601));
        ann.client.post("incident/save", &past_incident(&page)).await.ok();
    }

    async fn a_team_stores_at_most_5000_incidents_of_people_and_of_rules(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let monitor = job(&ann.client, "one", "").await;
        let page = page(&ann, json!([{"name": "API", "monitors": [monitor]}])).await;
        let rules = json!({"pageid": page["pageid"],
            "rules": [{"name": "outages", "after": 30, "components": [component(&page, 0)]}]});
        ann.client.post("statuspage/save", &rules).await.ok();
        let first = ann.client.post("incident/save", &past_incident(&page)).await.ok();
        app.database.execute(match app.database.kind() {
            DatabaseKind::Sqlite => MORE_INCIDENTS[0],
            DatabaseKind::Postgres => MORE_INCIDENTS[1],
        }).await;
        let calls = (0..3).map(|_| (ann.client.clone(), past_incident(&page)));
        let answers =
            concurrently(calls, |(client, body)| save_patiently(client, "incident/save", body)).await;
        let (saved, refused): (Vec<_>, Vec<_>) =
            answers.iter().partition(|answer| answer.status == 200);
        assert_eq!((saved.len(), refused.len()), (1, 2));
        for answer in refused {
            assert_eq!(answer.refused(409, "limit_reached")["message"],
                "The limit of 5000 incidents per team is reached; delete one that is not needed.");
        }
        // Deleting one makes room.
        let path = format!("incident/{}/delete", text(&first["incident"]["incidentid"]));
        ann.client.delete(&path).await.ok();
        ann.client.post("incident/save", &past_incident(&page)).await.ok();
        ann.client.post("incident/save", &past_incident(&page)).await.refused(409, "limit_reached");
        // Rules have room of their own; when it is used up, the oldest makes place for the newest.
        let stored = "select count(*) from incidents i join teams t on t.id = i.team_id
             where t.deleted_at is null and i.source = 'rule'";
        report(&ann.client, &monitor, "down").await;
        app.clock.advance(Duration::from_secs(40));
        auto_incidents::apply_rules(&app.engine).await.unwrap();
        assert_eq!(app.database.number(stored).await, 1);
        report(&ann.client, &monitor, "up").await;
        app.clock.advance(Duration::from_secs(5));
        auto_incidents::apply_rules(&app.engine).await.unwrap();
        app.database.execute("update incidents set source = 'rule' where source = 'person'").await;
        report(&ann.client, &monitor, "down").await;
        app.clock.advance(Duration::from_secs(40));
        auto_incidents::apply_rules(&app.engine).await.unwrap();
        let newest = ann.client.get("incidents?limit=1&state=draft").await.ok();
        assert_eq!(newest["incidents"][0]["source"], "rule");
        assert_eq!(app.database.number(stored).await, 5_000);
    }
}
