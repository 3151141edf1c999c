//! monitors/change and monitors/delete: many monitors in one transaction.

use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpListener;
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_engine::alerting::processor::process_due;
use wakeful_engine::janitor;
use wakeful_testkit::{
    Answer, App, Client, User, both_databases, concurrently, system, until, whole,
};

/// A monitor that reports its status, so that no check runs.
fn job(name: &str, extra: &Value) -> Value {
    let mut body = json!({"type": "api", "name": name, "heartbeat_interval": 60, "isactive": true,
        "upside_down_mode": false});
    body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    body
}

async fn saved(client: &Client, body: &Value) -> String {
    let saved = client.post("monitor/save", body).await.ok();
    saved["monitor"]["monitorid"].as_str().unwrap().to_owned()
}

async fn webhook(client: &Client, name: &str) -> String {
    let body = json!({"name": name, "type": "webhook", "webhook": {"url": "http://127.0.0.1:1/"}});
    client.post("notifier/save", &body).await.json()["notifierid"].as_str().unwrap().to_owned()
}

async fn get(client: &Client, id: &str) -> Value {
    client.get(&format!("monitor/{id}/get")).await.ok()["monitor"].clone()
}

async fn list(client: &Client) -> Value {
    client.get("monitors").await.ok()["monitors"].clone()
}

/// The list by name: ids created in the same millisecond have no defined order.
async fn sorted_list(client: &Client) -> Value {
    let mut list = list(client).await.as_array().unwrap().clone();
    list.sort_by_key(|one| one["name"].as_str().unwrap().to_owned());
    list.into()
}

async fn change(client: &Client, body: &Value) -> Value {
    client.post("monitors/change", body).await.ok()
}

/// The numbers of an answer.
fn numbers(answer: &Value, affected: &str) -> (u64, u64) {
    (answer["matched"].as_u64().unwrap(), answer[affected].as_u64().unwrap())
}

fn refused_field(answer: &Answer) -> String {
    answer.refused(422, "invalid_fields");
    answer.wrong_fields().join(" ")
}

/// Adds this many copies of a monitor to the store.
async fn multiply(app: &App, user: &User, id: &str, number: usize) {
    let team = app.store.team(&whole(TeamId::parse(&user.team).unwrap()));
    let (stored, _) = team.monitor(MonitorId::parse(id).unwrap()).await.unwrap().unwrap();
    for copy in 0..number {
        let mut random = [0; 10];
        random[..8].copy_from_slice(&(copy as u64).to_be_bytes());
        let id = MonitorId::new(stored.monitor.created, random);
        let monitor = wakeful_core::monitors::Monitor {
            id,
            push_token: None,
            ping_uuid: None,
            ..stored.monitor.clone()
        };
        team.add_monitor(&monitor, &system()).await.unwrap();
    }
}

both_databases! {
    async fn a_change_affects_the_monitors_that_match_the_filter(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for (name, tags, isactive) in [("web one", "web", true), ("web two", "web", false), ("mail", "mx", true)] {
            saved(&ann.client, &job(name, &json!({"tags": tags, "isactive": isactive}))).await;
        }
        let before = sorted_list(&ann.client).await;
        let pause = json!({"filter": {"tag": "web"}, "isactive": false});
        let mut dry = pause.clone();
        dry["dry_run"] = json!(true);
        let answer = change(&ann.client, &dry).await;
        assert_eq!((numbers(&answer, "changed"), &answer["message"]),
            ((2, 1), &json!("1 of 2 monitors would change.")));
        assert_eq!(sorted_list(&ann.client).await, before, "a dry run writes nothing");

        let answer = change(&ann.client, &pause).await;
        assert_eq!((numbers(&answer, "changed"), &answer["message"]),
            ((2, 1), &json!("Changed 1 monitor.")));
        let after = sorted_list(&ann.client).await;
        let active = |list: &Value| -> Vec<bool> {
            list.as_array().unwrap().iter().map(|one| one["isactive"].as_bool().unwrap()).collect()
        };
        assert_eq!(active(&after), [true, false, false]);
        assert_ne!(after[1]["revision"], before[1]["revision"]);
        assert_eq!((&after[0], &after[2]), (&before[0], &before[2]), "they had it already, or do not match");
        assert_eq!(numbers(&change(&ann.client, &pause).await, "changed"), (2, 0));

        for (filter, matched) in [
            (json!({"all": true}), 3), (json!({"search": "WEB"}), 2), (json!({"type": "api", "tag": "mx"}), 1),
            (json!({"status": "pending"}), 3), (json!({"status": "down"}), 0), (json!({"type": "http"}), 0),
        ] {
            let body = json!({"filter": filter, "retries": 9, "dry_run": true});
            assert_eq!(numbers(&change(&ann.client, &body).await, "changed"), (matched, matched), "{filter}");
        }
    }

    async fn a_change_sets_every_setting_and_leaves_the_others(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (first, second, third) = (webhook(&ann.client, "a").await, webhook(&ann.client, "b").await, webhook(&ann.client, "c").await);
        let id = saved(&ann.client, &job("job", &json!({"tags": ["Old", "a,b"], "notifiers": [first, second],
            "grace": 7, "timeout": 20, "retry_interval": 3}))).await;
        let before = get(&ann.client, &id).await;
        app.clock.advance(Duration::from_secs(1));
        let body = json!({"ids": [id, id], "heartbeat_interval": 300, "retries": 4, "retry_interval": 0,
            "resend_interval": 600, "timeout": 45, "tags_add": ["new", "a,b"], "tags_remove": "Old, none",
            "notifiers_add": [third, second], "notifiers_remove": [first]});
        assert_eq!(numbers(&change(&ann.client, &body).await, "changed"), (1, 1), "duplicates count once");
        let after = get(&ann.client, &id).await;
        let mut expected = before.clone();
        for (field, value) in [("heartbeat_interval", json!(300)), ("retries", json!(4)), ("retry_interval", Value::Null),
            ("resend_interval", json!(600)), ("timeout", json!(45)), ("tags", json!(["a,b", "new"])),
            ("modified", after["modified"].clone()), ("revision", json!(before["revision"].as_i64().unwrap() + 1)),
            ("notifiers", json!([before["notifiers"][1], after["notifiers"][1]]))] {
            expected[field] = value;
        }
        assert_eq!(after, expected);
        assert_eq!(after["notifiers"][1]["notifierid"], json!(third));
        assert_ne!(after["modified"], before["modified"]);
        // The search uses the new tags.
        for (q, found) in [("new", 1), ("old", 0), ("job", 1)] {
            let rows = ann.client.get(&format!("monitors/rows?q={q}")).await.ok();
            assert_eq!(rows["monitors"].as_array().unwrap().len(), found, "{q}");
        }
    }

    async fn an_unknown_id_changes_and_deletes_nothing(setup: Setup) {
        let app = setup.start().await;
        let (ann, eve) = (app.sign_up("ann@example.com").await, app.sign_up("eve@example.com").await);
        let (mine, hers) = (saved(&ann.client, &job("a", &json!({}))).await, saved(&eve.client, &job("e", &json!({}))).await);
        let before = (list(&ann.client).await, list(&eve.client).await);
        for wrong in [hers.as_str(), "019a8f3e-0000-7000-8000-000000000000", "rubbish", ""] {
            let body = json!({"ids": [mine, wrong], "isactive": false});
            ann.client.post("monitors/change", &body).await.refused(404, "not_found");
            ann.client.post("monitors/delete", &json!({"ids": [mine, wrong]})).await.refused(404, "not_found");
        }
        // A filter never reaches another team.
        ann.client.post("monitors/change", &json!({"filter": {"all": true}, "retries": 1, "dry_run": true})).await.ok();
        let answer = ann.client.post("monitors/delete", &json!({"filter": {"all": true}, "dry_run": true})).await.ok();
        assert_eq!(numbers(&answer, "deleted"), (1, 1));
        assert_eq!((list(&ann.client).await, list(&eve.client).await), before);
    }

    async fn requests_that_could_select_too_much_are_rejected(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = saved(&ann.client, &job("a", &json!({}))).await;
        let before = list(&ann.client).await;
        for (which, field) in [
            (json!({}), "ids"),
            (json!({"ids": [id], "filter": {"all": true}}), "ids"),
            (json!({"ids": []}), "ids"),
            (json!({"ids": vec![id.as_str(); 1_001]}), "ids"),
            (json!({"ids": id}), "ids"),
            (json!({"ids": [7]}), "ids"),
            (json!({"filter": {}}), "filter.all"),
            (json!({"filter": {"all": false}}), "filter.all"),
            (json!({"filter": {"all": true, "tag": "x"}}), "filter.all"),
            (json!({"filter": {"tags": "x"}}), "filter.tags filter.all"),
            (json!({"filter": {"status": "down", "tagg": "x"}}), "filter.tagg"),
            (json!({"filter": {"search": " "}}), "filter.search"),
            (json!({"filter": {"tag": ""}}), "filter.tag"),
            (json!({"filter": {"status": "paused"}}), "filter.status"),
            (json!({"filter": [true]}), "filter filter.all"),
        ] {
            let mut body = which.clone();
            assert_eq!(refused_field(&ann.client.post("monitors/delete", &body).await), field, "{which}");
            body["isactive"] = json!(false);
            assert_eq!(refused_field(&ann.client.post("monitors/change", &body).await), field, "{which}");
        }
        assert_eq!(list(&ann.client).await, before);
        // As many as allowed.
        let body = json!({"ids": vec![id.as_str(); 1_000], "isactive": false});
        assert_eq!(numbers(&change(&ann.client, &body).await, "changed"), (1, 1));
    }

    async fn settings_of_a_bulk_change_are_validated(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        saved(&ann.client, &job("a", &json!({}))).await;
        let before = list(&ann.client).await;
        let many = |number: usize| (0..number).map(|at| format!("t{at}")).collect::<Vec<_>>();
        let unknown = "019a8f3e-0000-7000-8000-000000000000";
        let notifiers: Vec<String> = (0..51).map(|at| format!("019a8f3e-0000-7000-8000-0000000000{at:02}")).collect();
        for (settings, field) in [
            (json!({}), "body"),
            (json!({"isactive": "no"}), "isactive body"),
            (json!({"heartbeat_interval": 0, "retries": 101, "timeout": 301}), "heartbeat_interval timeout retries body"),
            (json!({"retry_interval": 3_601, "resend_interval": -1}), "retry_interval resend_interval body"),
            (json!({"tags_add": many(51)}), "tags_add body"),
            (json!({"tags_remove": ["x".repeat(65)]}), "tags_remove body"),
            (json!({"notifiers_add": ["rubbish"]}), "notifiers_add body"),
            (json!({"notifiers_add": [unknown]}), "notifiers_add"),
            (json!({"notifiers_remove": [unknown]}), "notifiers_remove"),
            (json!({"notifiers_add": notifiers}), "notifiers_add body"),
            (json!({"dry_run": 1, "retries": 3}), "dry_run"),
        ] {
            let mut body = settings.clone();
            body["filter"] = json!({"all": true});
            assert_eq!(refused_field(&ann.client.post("monitors/change", &body).await), field, "{settings}");
        }
        assert_eq!(list(&ann.client).await, before);
    }

    async fn a_setting_that_does_not_suit_one_monitor_names_it_and_changes_none(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        saved(&ann.client, &job("slow", &json!({"heartbeat_interval": 60}))).await;
        saved(&ann.client, &job("fast", &json!({"heartbeat_interval": 10, "tags": (0..50).collect::<Vec<i32>>().iter().map(ToString::to_string).collect::<Vec<_>>()}))).await;
        let before = list(&ann.client).await;
        for settings in [json!({"timeout": 30}), json!({"tags_add": ["one more"]})] {
            let mut body = settings.clone();
            body["filter"] = json!({"all": true});
            let refused = ann.client.post("monitors/change", &body).await.refused(422, "invalid_fields");
            let message = refused["message"].as_str().unwrap();
            assert!(message.contains("\"fast\""), "{message}");
        }
        assert_eq!(list(&ann.client).await, before);
    }

    async fn a_job_that_reports_once_a_year_and_a_domain_are_changed_with_others(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        saved(&ann.client, &job("yearly", &json!({"heartbeat_interval": 31_536_000}))).await;
        let domain = json!({"type": "domain", "hostname": "a.example", "name": "domain", "isactive": false,
            "heartbeat_interval": 3_600, "upside_down_mode": false});
        saved(&ann.client, &domain).await;
        let all = |change: Value| {
            let mut body = json!({"filter": {"all": true}});
            body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            body
        };
        let paused = change(&ann.client, &all(json!({"isactive": false, "tags_add": "x"}))).await;
        assert_eq!(numbers(&paused, "changed"), (2, 2));
        let answer = ann.client.post("monitors/change", &all(json!({"heartbeat_interval": 60}))).await;
        assert_eq!(refused_field(&answer), "heartbeat_interval");
        assert!(answer.text.contains("must be at least 3600 s for the monitor"), "{}", answer.text);
    }

    async fn resuming_many_monitors_respects_the_plan(setup: Setup) {
        let mut setup = setup;
        setup.settings.billing.limits = true;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let first = saved(&ann.client, &job("job", &json!({"isactive": false}))).await;
        multiply(&app, &ann, &first, 50).await;
        let resume = json!({"filter": {"all": true}, "isactive": true});
        for dry_run in [true, false] {
            let mut body = resume.clone();
            body["dry_run"] = json!(dry_run);
            ann.client.post("monitors/change", &body).await.refused(403, "plan_limit");
        }
        assert!(list(&ann.client).await.as_array().unwrap().iter().all(|one| one["isactive"] == false));
        let body = json!({"ids": [first], "isactive": true, "heartbeat_interval": 30});
        ann.client.post("monitors/change", &body).await.refused(403, "plan_limit");
        // Deleting one makes room for the others, and pausing is always allowed.
        ann.client.post("monitors/delete", &json!({"ids": [first]})).await.ok();
        assert_eq!(numbers(&change(&ann.client, &resume).await, "changed"), (50, 50));
        let pause = json!({"filter": {"all": true}, "isactive": false});
        assert_eq!(numbers(&change(&ann.client, &pause).await, "changed"), (50, 50));
    }

    async fn the_scheduler_follows_a_bulk_change(setup: Setup) {
        let mut setup = setup;
        setup.run_scheduler = true;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let tcp = json!({"type": "tcp", "name": "port", "hostname": "127.0.0.1", "port": port,
            "heartbeat_interval": 3_600, "isactive": false, "upside_down_mode": false});
        let ids = [saved(&ann.client, &tcp).await, saved(&ann.client, &tcp).await];
        change(&ann.client, &json!({"ids": ids, "isactive": true})).await;
        for id in &ids {
            until("a resumed monitor is checked at once", || async {
                (get(&ann.client, id).await["status"] == "up").then_some(())
            }).await;
        }
        change(&ann.client, &json!({"ids": ids, "isactive": false})).await;
        let check = format!("monitor/{}/check", ids[0]);
        ann.client.post(&check, &json!({})).await.refused(409, "monitor_inactive");
    }

    async fn a_bulk_change_reschedules_reminders(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = saved(&ann.client, &job("job", &json!({}))).await;
        ann.client.post(&format!("monitor/notify/{id}"), &json!({"status": "down"})).await.ok();
        let due = |seconds: u64| {
            let (clock, engine, store) = (app.clock.clone(), app.engine.clone(), app.store.clone());
            async move {
                use wakeful_core::time::Clock as _;
                process_due(&engine).await.unwrap();
                let at = clock.now().after(Duration::from_secs(seconds));
                store.due_alerts(at, 10).await.unwrap().len()
            }
        };
        assert_eq!(due(1_000).await, 0);
        change(&ann.client, &json!({"ids": [id], "resend_interval": 600})).await;
        assert_eq!((due(599).await, due(600).await), (0, 1));
        change(&ann.client, &json!({"ids": [id], "isactive": false})).await;
        app.clock.advance(Duration::from_secs(60));
        change(&ann.client, &json!({"ids": [id], "isactive": true})).await;
        assert_eq!((due(599).await, due(600).await), (0, 1), "counted from the resumption");
        change(&ann.client, &json!({"ids": [id], "resend_interval": 0})).await;
        assert_eq!(due(10_000).await, 0);
    }

    async fn deleted_monitors_are_gone_with_everything_that_belongs_to_them(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let hook = webhook(&ann.client, "hook").await;
        let mut ids = Vec::new();
        for name in ["a", "b", "c"] {
            ids.push(saved(&ann.client, &job(name, &json!({"notifiers": [hook]}))).await);
        }
        for id in &ids {
            ann.client.post(&format!("monitor/notify/{id}"), &json!({"status": "down"})).await.ok();
        }
        assert_eq!(ann.client.get("alerts").await.ok()["alerts"].as_array().unwrap().len(), 3);
        let answer = ann.client.post("monitors/delete", &json!({"ids": ids[..2]})).await.ok();
        assert_eq!((numbers(&answer, "deleted"), &answer["message"]),
            ((2, 2), &json!("Deleted 2 monitors including history.")));
        for id in &ids[..2] {
            ann.client.get(&format!("monitor/{id}/get")).await.refused(404, "not_found");
            ann.client.get(&format!("monitor/{id}/heartbeats")).await.refused(404, "not_found");
        }
        assert_eq!(ann.client.get("alerts").await.ok()["alerts"].as_array().unwrap().len(), 1);
        let deliveries = ann.client.get(&format!("notifier/{hook}/deliveries")).await.ok();
        assert_eq!(deliveries["deliveries"].as_array().unwrap().len(), 1);
        let answer = ann.client.post("monitors/delete", &json!({"filter": {"status": "down"}})).await.ok();
        assert_eq!(numbers(&answer, "deleted"), (1, 1));
        ann.client.delete(&format!("notifier/{hook}/delete")).await.ok();
    }

    async fn a_change_of_too_many_rows_is_refused(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let tags: Vec<String> = (0..50).map(|number| format!("tag {number}")).collect();
        let id = saved(&ann.client, &job("job", &json!({"tags": tags}))).await;
        multiply(&app, &ann, &id, 291).await;
        let mut change = json!({"filter": {"all": true}, "tags_remove": "tag 1", "tags_add": "other"});
        for dry_run in [true, false] {
            change["dry_run"] = json!(dry_run);
            let refused = ann.client.post("monitors/change", &change).await;
            assert_eq!(refused.wrong_fields(), ["filter"], "{}", refused.text);
        }
        let change = json!({"filter": {"all": true}, "retries": 7});
        assert_eq!(numbers(&ann.client.post("monitors/change", &change).await.ok(), "changed"), (292, 292));
    }

    async fn concurrent_bulk_changes_and_saves_are_all_stored(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = saved(&ann.client, &job("job", &json!({}))).await;
        multiply(&app, &ann, &id, 20).await;
        let all = json!({"all": true});
        let calls = [
            ("monitors/change", json!({"filter": all, "retries": 7})),
            ("monitors/change", json!({"filter": all, "tags_add": "x"})),
            ("monitors/change", json!({"filter": all, "isactive": false})),
            ("monitor/save", json!({"monitorid": id, "name": "renamed"})),
        ];
        let calls = calls.into_iter().map(|(path, body)| (ann.client.clone(), path, body));
        let answers = concurrently(calls, |(client, path, body)| async move { client.post(path, &body).await });
        for answer in answers.await {
            assert_eq!(answer.status, 200, "{}", answer.text);
        }
        for one in list(&ann.client).await.as_array().unwrap() {
            assert_eq!((&one["retries"], &one["tags"], &one["isactive"]), (&json!(7), &json!(["x"]), &json!(false)));
        }
        assert_eq!(get(&ann.client, &id).await["name"], "renamed");
    }

    async fn a_deletion_leaves_what_others_have_deleted_to_the_janitor(setup: Setup) {
        let app = setup.start().await;
        let (ann, bob) = (app.sign_up("ann@example.com").await, app.sign_up("bob@example.com").await);
        let theirs = MonitorId::parse(&saved(&bob.client, &job("theirs", &json!({}))).await).unwrap();
        let own = saved(&ann.client, &job("own", &json!({}))).await;
        let hook = webhook(&ann.client, "hook").await;
        // As if a process had ended in the middle of it.
        let team = whole(TeamId::parse(&bob.team).unwrap());
        assert!(app.store.team(&team).delete_monitors(&[theirs], None, &system()).await.unwrap());
        ann.client.delete(&format!("monitor/{own}/delete")).await.ok();
        ann.client.delete(&format!("notifier/{hook}/delete")).await.ok();
        let rows = async || (app.database.rows("monitors").await, app.database.rows("notifiers").await);
        assert_eq!(rows().await, (1, 0));
        janitor::sweep(&app.engine).await.unwrap();
        assert_eq!(rows().await, (0, 0));
    }

    async fn the_interval_of_a_job_with_a_schedule_stays_as_it_is(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keywords = json!({"failure": "\"schedule\":"});
        let scheduled = json!({"api": {"schedule": "0 2 * * *", "keywords": keywords}});
        let nightly = saved(&ann.client, &job("nightly", &scheduled)).await;
        let plain = saved(&ann.client, &job("plain", &json!({"api": {"keywords": keywords}}))).await;
        let both = json!({"ids": [nightly, plain], "heartbeat_interval": 120, "tags_add": "night"});
        assert_eq!(numbers(&change(&ann.client, &both).await, "changed"), (2, 2));
        for (id, interval) in [(&nightly, 86_400), (&plain, 120)] {
            let read = get(&ann.client, id).await;
            assert_eq!((&read["heartbeat_interval"], &read["tags"]), (&json!(interval), &json!(["night"])));
        }
        let again = json!({"ids": [nightly, plain], "heartbeat_interval": 180});
        assert_eq!(numbers(&change(&ann.client, &again).await, "changed"), (2, 1));
        assert_eq!(get(&ann.client, &nightly).await["heartbeat_interval"], 86_400);
    }

    async fn a_filter_may_match_any_number_of_monitors(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let hook = webhook(&ann.client, "hook").await;
        let id = saved(&ann.client, &job("job", &json!({"tags": "web"}))).await;
        multiply(&app, &ann, &id, 1_999).await;
        for settings in [json!({"isactive": false}), json!({"isactive": true}), json!({"heartbeat_interval": 120}),
            json!({"tags_add": "x", "tags_remove": "web"}), json!({"notifiers_add": [hook]})] {
            let mut body = settings;
            body["filter"] = json!({"all": true});
            assert_eq!(numbers(&change(&ann.client, &body).await, "changed"), (2_000, 2_000));
        }
        let answer = ann.client.post("monitors/delete", &json!({"filter": {"tag": "x"}})).await.ok();
        assert_eq!(numbers(&answer, "deleted"), (2_000, 2_000));
        assert_eq!(list(&ann.client).await, json!([]));
    }
}
