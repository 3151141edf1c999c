//! What alerts depend on besides their monitor: dependencies, flapping, and groups.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::time::Millis;
use wakeful_engine::alerting::{maintenance_clock, processor};
use wakeful_testkit::{App, Client, Receiver, User, both_databases, until};

use crate::every_route::UNKNOWN;
use crate::monitor_filters;

const MINUTE: Duration = Duration::from_secs(60);

/// A team with a webhook that all its new monitors are linked to.
struct Team {
    app: App,
    ann: User,
    receiver: Receiver,
}

impl Team {
    async fn start(setup: wakeful_testkit::Setup) -> Self {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url},
            "isdefault": true});
        assert_eq!(ann.client.post("notifier/save", &hook).await.status, 200);
        Self { app, ann, receiver }
    }

    fn client(&self) -> &Client {
        &self.ann.client
    }

    /// Saves a push monitor with these additional fields and returns its id.
    async fn job(&self, name: &str, extra: &Value) -> String {
        let body = json!({"type": "api", "name": name, "heartbeat_interval": 60,
            "isactive": true, "upside_down_mode": false});
        self.save(&with(&body, extra)).await
    }

    async fn save(&self, body: &Value) -> String {
        // Their ids are in the order of creation.
        self.app.clock.advance(Duration::from_millis(1));
        let saved = self.client().post("monitor/save", body).await.ok();
        saved["monitor"]["monitorid"].as_str().unwrap().to_owned()
    }

    async fn get(&self, monitor: &str) -> Value {
        self.client().get(&format!("monitor/{monitor}/get")).await.ok()["monitor"].clone()
    }

    /// Reports, a second after the last one.
    async fn report(&self, monitor: &str, status: &str) {
        self.app.clock.advance(Duration::from_secs(1));
        let path = format!("monitor/notify/{monitor}");
        self.client().post(&path, &json!({"status": status})).await.ok();
    }

    async fn later(&self, span: Duration) {
        self.app.clock.advance(span);
        processor::process_due(&self.app.engine).await.unwrap();
    }

    /// The type, the monitor and the whole of each message so far; there are as many as this.
    async fn sent(&self, count: usize) -> Vec<(String, String, Value)> {
        until(&format!("{count} messages"), async || {
            (self.receiver.hooks().len() >= count).then_some(())
        })
        .await;
        let hooks = self.receiver.hooks();
        assert_eq!(hooks.len(), count);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let each = hooks.iter().map(|hook| {
            let sent = hook.json();
            (text(&sent["type"]), text(&sent["data"]["monitor"]["name"]), sent)
        });
        each.collect()
    }

    async fn alert(&self, monitor: &str) -> Value {
        let alerts = self.client().get(&format!("alerts?monitorid={monitor}")).await.ok();
        alerts["alerts"][0].clone()
    }

    /// When the next escalation step of a monitor's alert is due, once that is known or, with
    /// `is_paused`, once its steps have paused. No time passes meanwhile.
    async fn next_step(&self, monitor: &str, is_paused: bool) -> Option<Millis> {
        until("the next step", async || {
            self.later(Duration::ZERO).await;
            let next = self.alert(monitor).await["next_step"]["at"].clone();
            let next = next.as_str().map(|text| Millis::parse(text).unwrap());
            (next.is_none() == is_paused).then_some(next)
        })
        .await
    }
}

fn with(body: &Value, extra: &Value) -> Value {
    let mut body = body.clone();
    body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    body
}

fn refused(answer: &wakeful_testkit::Answer, field: &str) -> String {
    assert_eq!(answer.status, 422, "{}", answer.text);
    let error = answer.json()["errors"][0].clone();
    assert_eq!(error["field"], field, "{error}");
    error["message"].as_str().unwrap().to_owned()
}

both_databases! {
    async fn what_a_monitor_depends_on_is_saved_checked_and_shown(setup: Setup) {
        let team = Team::start(setup).await;
        let client = team.client();
        let router = team.job("router", &json!({})).await;
        let switch = team.job("switch", &json!({"depends_on": router})).await;
        let web = team.job("web", &json!({"depends_on": [
            {"monitorid": switch, "as": "path"}, {"monitorid": router}]})).await;
        let shown = team.get(&web).await;
        assert_eq!(shown["dependents"], 0);
        let mut parents = shown["depends_on"].as_array().unwrap().clone();
        parents.sort_by_key(|one| one["as"].to_string());
        assert_eq!(json!(parents), json!([
            {"monitorid": switch, "as": "path"}, {"monitorid": router, "as": "service"}]));
        assert_eq!(team.get(&router).await["dependents"], 2);
        let listed = client.get("monitors").await.ok();
        assert!(listed["monitors"].as_array().unwrap().contains(&shown), "lists show the same");

        // Other changes leave them as they are.
        client.post("monitor/save", &json!({"monitorid": web, "name": "shop"})).await.ok();
        assert_eq!(team.get(&web).await["depends_on"], shown["depends_on"]);
        client.post("monitor/save", &json!({"monitorid": web, "depends_on": [switch]})).await.ok();
        assert_eq!(team.get(&web).await["depends_on"], json!([{"monitorid": switch, "as": "service"}]));

        let save = async |id: &str, on: &Value| {
            client.post("monitor/save", &json!({"monitorid": id, "depends_on": on})).await
        };
        let cycle = refused(&save(&router, &json!(web)).await, "depends_on");
        assert_eq!(cycle, "would make the monitor depend on itself: router → shop → switch → router");
        let itself = refused(&save(&router, &json!(router)).await, "depends_on");
        assert_eq!(itself, "would make the monitor depend on itself: router → router");
        let bob = team.app.sign_up("bob@example.com").await;
        let body = json!({"type": "api", "name": "other", "heartbeat_interval": 60,
            "isactive": true, "upside_down_mode": false});
        let foreign = bob.client.post("monitor/save", &body).await.ok();
        let foreign = foreign["monitor"]["monitorid"].as_str().unwrap();
        for unknown in [foreign, UNKNOWN] {
            let why = refused(&save(&web, &json!([unknown])).await, "depends_on");
            assert_eq!(why, format!("names an unknown monitor: {unknown}"));
        }
        let mut lowest = web.clone();
        for level in 3..=10 {
            lowest = team.job(&format!("level {level}"), &json!({"depends_on": lowest})).await;
        }
        let deep = client.post("monitor/save", &with(&body, &json!({"depends_on": lowest}))).await;
        assert_eq!(refused(&deep, "depends_on"), "must not have more than 10 monitors above each other");

        client.delete(&format!("monitor/{switch}/delete")).await.ok();
        assert_eq!(team.get(&web).await["depends_on"], json!([]));
        team.app.stop().await;
    }

    async fn a_child_is_hidden_while_its_parent_is_down(setup: Setup) {
        let team = Team::start(setup).await;
        let router = team.job("router", &json!({})).await;
        let web = team.job("web", &json!({"depends_on": router})).await;
        let db = team.job("db", &json!({"depends_on": web})).await;
        for monitor in [&router, &web, &db] {
            team.report(monitor, "up").await;
        }
        team.report(&router, "down").await;
        let sent = team.sent(1).await;
        assert_eq!((sent[0].0.as_str(), sent[0].1.as_str()), ("monitor.down", "router"));
        assert_eq!(sent[0].2["data"]["affected"], json!({"count": 2, "names": ["db", "web"]}));
        assert_eq!(sent[0].2["text"], "[router] down: reported down; 2 monitors depend on it");
        assert_eq!(team.alert(&router).await["affected"], json!({"count": 2, "names": ["db", "web"]}));

        team.report(&web, "down").await;
        team.report(&db, "down").await;
        let alert = team.alert(&web).await;
        assert_eq!((&alert["status"], &alert["suppressed_by"]["reason"]), (&json!("suppressed"), &json!("dependency")));
        assert_eq!((&alert["suppressed_by"]["id"], &alert["suppressed_by"]["name"]), (&json!(router), &json!("router")));
        assert_eq!(team.alert(&db).await["suppressed_by"]["name"], "web");

        // The parent recovers, and so does one of them; the other is still down.
        team.report(&router, "up").await;
        team.later(Duration::from_secs(1)).await;
        team.report(&db, "up").await;
        team.report(&web, "down").await;
        team.later(Duration::from_secs(11)).await;
        let sent = team.sent(3).await;
        assert_eq!((sent[1].0.as_str(), sent[1].1.as_str()), ("monitor.up", "router"));
        assert_eq!((sent[2].0.as_str(), sent[2].1.as_str()), ("monitor.down", "web"));
        let text = sent[2].2["text"].as_str().unwrap();
        assert!(text.contains("; down since ") && text.contains(", hidden while router was down"), "{text}");
        assert_eq!(sent[2].2["data"]["suppressed"]["reason"], "dependency");
        assert_eq!(team.alert(&db).await["status"], "over");

        // The outage was sent before its parent fails: its recovery is sent.
        team.report(&router, "down").await;
        team.report(&web, "up").await;
        let sent = team.sent(5).await;
        let is_recovery = |one: &(String, String, Value)| one.0 == "monitor.up" && one.1 == "web";
        assert!(sent.iter().any(is_recovery));
        team.app.stop().await;
    }

    async fn steps_pause_at_once_when_a_parent_goes_down_and_continue_when_it_is_up_or_off(setup: Setup) {
        let team = Team::start(setup).await;
        let client = team.client();
        let hook = client.get("notifiers").await.ok()["notifiers"][0]["notifierid"].clone();
        let policy = json!({"name": "x", "steps": [{"after": 0, "notify": [{"notifierid": hook}]},
            {"after": 3600, "notify": [{"notifierid": hook}]}]});
        let policy = client.post("policy/save", &policy).await.ok()["policy"]["policyid"].clone();
        let daily = json!({"heartbeat_interval": 86400});
        let (router, switch) = (team.job("router", &daily).await, team.job("switch", &daily).await);
        let web = with(&daily, &json!({"depends_on": [router, switch], "policyid": policy}));
        let web = team.job("web", &web).await;
        team.report(&web, "down").await;
        let first = team.next_step(&web, false).await.unwrap();
        for monitor in [&router, &switch] {
            team.report(monitor, "up").await;
        }
        // Each parent is down for 200 s.
        for monitor in [&router, &switch] {
            team.report(monitor, "down").await;
            assert_eq!(team.next_step(&web, true).await, None);
            team.app.clock.advance(Duration::from_secs(199));
            team.report(monitor, "up").await;
            team.next_step(&web, false).await;
        }
        assert_eq!(team.next_step(&web, false).await, Some(first.after(Duration::from_secs(400))));
        // One that is turned off hides nothing.
        for (monitor, call, off) in [
            (&router, "monitor/save", json!({"monitorid": router, "isactive": false})),
            (&switch, "monitors/change", json!({"ids": [switch], "isactive": false})),
        ] {
            team.report(monitor, "down").await;
            team.next_step(&web, true).await;
            client.post(call, &off).await.ok();
            team.next_step(&web, false).await;
        }
        team.app.stop().await;
    }

    async fn a_rule_that_changes_the_severity_of_a_hidden_alert_still_applies_when_it_is_reported(setup: Setup) {
        let team = Team::start(setup).await;
        let router = team.job("router", &json!({})).await;
        let web = team.job("web", &json!({"depends_on": router})).await;
        let added = Receiver::start().await;
        let body = json!({"name": "added", "type": "webhook", "webhook": {"url": added.url}});
        let notifier = team.client().post("notifier/save", &body).await.json()["notifierid"].clone();
        let rules = json!({"rules": [{"name": "web", "monitors": web, "severities": "critical",
            "severity": "info", "notifiers": notifier}]});
        team.client().post("routing/save", &rules).await.ok();
        for monitor in [&router, &web] {
            team.report(monitor, "up").await;
        }
        team.report(&router, "down").await;
        team.sent(1).await;
        team.report(&web, "down").await;
        let alert = team.alert(&web).await;
        assert_eq!((&alert["status"], &alert["severity"]), (&json!("suppressed"), &json!("info")));
        team.report(&router, "up").await;
        team.later(Duration::from_secs(1)).await;
        team.report(&web, "down").await;
        team.later(Duration::from_secs(11)).await;
        let down = added.wait_for_hooks(1).await[0].json();
        assert_eq!((&down["type"], &down["data"]["severity"]), (&json!("monitor.down"), &json!("info")));
        team.app.stop().await;
    }

    async fn a_child_waits_for_the_verdict_about_its_parent(setup: Setup) {
        let team = Team::start(setup).await;
        let router = team.job("router", &json!({})).await;
        let one = team.job("one", &json!({"depends_on": router})).await;
        let two = team.job("two", &json!({"depends_on": router})).await;
        team.report(&router, "up").await;
        team.report(&one, "down").await;
        team.later(Duration::from_secs(10)).await;
        let alert = team.alert(&one).await;
        assert_eq!((&alert["status"], &alert["notified"]), (&json!("open"), &Value::Null));
        team.report(&router, "up").await;
        team.later(Duration::from_secs(10)).await;
        assert_eq!(team.sent(1).await[0].1, "one", "the parent is up");
        // No report of the parent: interval and grace, and not longer.
        team.report(&two, "down").await;
        team.later(Duration::from_secs(65)).await;
        assert_eq!(team.sent(1).await.len(), 1);
        team.later(Duration::from_secs(2)).await;
        assert_eq!(team.sent(2).await[1].1, "two");
        team.app.stop().await;
    }

    async fn a_child_without_its_path_is_unreachable(setup: Setup) {
        let team = Team::start(setup).await;
        let router = team.job("router", &json!({})).await;
        let on = json!([{"monitorid": router, "as": "path"}]);
        let web = team.job("web", &json!({"depends_on": on})).await;
        for (monitor, status) in [(&router, "up"), (&web, "up"), (&router, "down"), (&web, "down"), (&web, "down")] {
            team.report(monitor, status).await;
        }
        team.report(&router, "up").await;
        team.later(Duration::from_secs(1)).await;
        team.report(&web, "down").await;
        team.later(Duration::from_secs(11)).await;
        team.report(&web, "down").await;
        let list = team.client().get(&format!("monitor/{web}/heartbeats")).await.ok();
        let beats = list["heartbeats"].as_array().unwrap().iter().rev();
        let standings: Vec<&str> = beats.map(|beat| beat["standing"].as_str().unwrap()).collect();
        assert_eq!(standings, ["up", "unknown", "unknown", "down", "down"]);
        team.app.stop().await;
    }

    async fn a_window_covers_what_depends_on_its_monitors_and_the_members_of_groups(setup: Setup) {
        let team = Team::start(setup).await;
        let client = team.client();
        let router = team.job("router", &json!({})).await;
        let web = team.job("web", &json!({"depends_on": router})).await;
        let db = team.job("db", &json!({"depends_on": web})).await;
        let group = team.save(&json!({"type": "group", "name": "all", "isactive": true,
            "group": {"monitors": [web]}})).await;
        let body = json!({"name": "Move", "starts": "2026-11-15T09:00:00Z", "duration": 7200});
        let covered = async |extra: Value| {
            let tried = client.post("maintenance/try", &with(&body, &extra)).await.ok();
            let list = tried["monitors"].as_array().unwrap().iter();
            let mut names: Vec<String> =
                list.map(|one| one["name"].as_str().unwrap().to_owned()).collect();
            names.sort();
            names
        };
        assert_eq!(covered(json!({"monitors": router})).await, ["db", "router", "web"]);
        assert_eq!(covered(json!({"monitors": router, "dependents": false})).await, ["router"]);
        assert_eq!(covered(json!({"groups": group})).await, ["db", "web"]);
        assert_eq!(covered(json!({"groups": group, "dependents": false})).await, ["web"]);
        let wrong = client.post("maintenance/save", &with(&body, &json!({"groups": web}))).await;
        assert!(refused(&wrong, "groups").starts_with("names a monitor that is not a group"));

        let saved = client.post("maintenance/save", &with(&body, &json!({"monitors": router}))).await.ok();
        assert_eq!(saved["maintenance"]["monitors_covered"], 3);
        assert_eq!(team.get(&db).await["maintenance"]["name"], "Move");
        team.report(&router, "up").await;
        team.report(&db, "down").await;
        let alert = team.alert(&db).await;
        assert_eq!((&alert["status"], &alert["suppressed_by"]["name"]), (&json!("suppressed"), &json!("Move")));
        // A monitor that no longer depends on it is no longer covered.
        client.post("monitor/save", &json!({"monitorid": web, "depends_on": ""})).await.ok();
        maintenance_clock::apply_due(&team.app.engine).await.unwrap();
        assert_eq!(team.get(&db).await["maintenance"], Value::Null);
        team.app.stop().await;
    }

    async fn a_monitor_that_flaps_is_reported_once(setup: Setup) {
        let team = Team::start(setup).await;
        let limit = json!({"flap_outages": 3, "flap_within": 600});
        let web = team.job("web", &limit).await;
        assert_eq!(team.get(&web).await["flap_within"], 600);
        for status in ["up", "down", "up", "down", "up"] {
            team.report(&web, status).await;
            team.app.clock.advance(MINUTE);
        }
        assert_eq!(team.sent(4).await.len(), 4);
        team.report(&web, "down").await;
        team.later(Duration::from_secs(1)).await;
        let sent = team.sent(5).await;
        assert_eq!(sent[4].0, "monitor.flapping");
        assert_eq!(sent[4].2["text"], "[web] flapping: 3 outages in 4 min 4 s");
        let action_url = sent[4].2["data"]["action_url"].as_str().unwrap().to_owned();
        let flapping = team.client().get("alerts?kind=flapping").await.ok()["alerts"][0].clone();
        assert_eq!((&flapping["status"], &flapping["cause"]), (&json!("open"), &json!("3 outages in 4 min 4 s")));
        let outage = team.client().get("alerts?kind=outage&status=suppressed").await.ok();
        assert_eq!(outage["alerts"][0]["suppressed_by"]["id"], flapping["alertid"]);
        // A recipient of the message acknowledges all of it.
        let token = action_url.rsplit('/').next().unwrap();
        let order = json!({"action": "acknowledge", "name": "Bob"});
        let path = format!("/api/action/{token}");
        team.app.anonymous().call(reqwest::Method::POST, &path, Some(&order)).await.ok();
        let flapping = team.client().get("alerts?kind=flapping").await.ok()["alerts"][0].clone();
        assert_eq!((&flapping["status"], &flapping["acknowledged"]["name"]), (&json!("acknowledged"), &json!("Bob")));
        assert_eq!(team.sent(6).await[5].0, "alert.acknowledged");
        // Nothing else is sent while it flaps.
        for status in ["up", "down"] {
            team.report(&web, status).await;
            team.later(MINUTE).await;
        }
        team.later(Duration::from_secs(230)).await;
        assert_eq!(team.sent(6).await.len(), 6);
        // Half the span without a change: it is steady, and still down.
        team.later(Duration::from_secs(20)).await;
        let sent = team.sent(7).await;
        assert_eq!(sent[6].0, "monitor.steady");
        assert_eq!(sent[6].2["text"], "[web] steady: down, reported down");
        team.later(Duration::from_secs(1)).await;
        team.report(&web, "down").await;
        team.later(Duration::from_secs(11)).await;
        let sent = team.sent(8).await;
        assert_eq!(sent[7].0, "monitor.down");
        assert!(sent[7].2["text"].as_str().unwrap().ends_with("hidden while it was flapping"));
        assert_eq!(team.client().get("alerts?kind=flapping").await.ok()["alerts"][0]["status"], "over");
        team.app.stop().await;
    }

    async fn a_trial_of_the_routing_says_what_would_suppress_the_alert(setup: Setup) {
        let team = Team::start(setup).await;
        let client = team.client();
        let router = team.job("router", &json!({})).await;
        let web = team.job("web", &json!({"depends_on": router})).await;
        let db = team.job("db", &json!({"depends_on": web})).await;
        let lone = team.job("lone", &json!({"flap_outages": 2, "flap_within": 600})).await;
        let suppressed = async |monitor: &str, extra: Value| {
            let body = with(&json!({"monitorid": monitor}), &extra);
            client.post("routing/try", &body).await.ok()["suppressed_by"].clone()
        };
        let by = |reason: &str, id: &str, name: &str| {
            json!({"reason": reason, "id": id, "name": name, "until": null})
        };
        // Windows cover what depends on their monitors, and the members of groups.
        let members = json!({"type": "group", "name": "all", "isactive": true, "group": {"monitors": [lone]}});
        let group = team.save(&members).await;
        for (name, hour, extra) in [("Move", 12, json!({"monitors": router})), ("Rack", 15, json!({"groups": group}))] {
            let body = json!({"name": name, "starts": format!("2026-11-15T{hour}:00:00Z"), "duration": 3600});
            client.post("maintenance/save", &with(&body, &extra)).await.ok();
        }
        let at = |hour: u32| json!({"at": format!("2026-11-15T{hour}:30:00Z")});
        let moved = suppressed(&db, at(12)).await;
        assert_eq!((&moved["reason"], &moved["name"]), (&json!("maintenance"), &json!("Move")));
        assert_eq!(moved["until"], "2026-11-15T13:00:00.000Z");
        assert_eq!(suppressed(&lone, at(15)).await["name"], "Rack");
        for monitor in [&db, &lone] {
            assert_eq!(suppressed(monitor, json!({})).await, Value::Null);
        }
        // A parent that is down hides it now, but perhaps not tomorrow.
        team.report(&router, "down").await;
        assert_eq!(suppressed(&web, json!({})).await, by("dependency", &router, "router"));
        assert_eq!(suppressed(&web, json!({"at": "2026-11-16T12:00:00Z"})).await, Value::Null);
        assert_eq!(suppressed(&web, json!({"kind": "certificate"})).await, Value::Null);
        for status in ["up", "down", "up", "down"] {
            team.report(&lone, status).await;
        }
        team.later(Duration::from_secs(1)).await;
        let flapping = client.get("alerts?kind=flapping").await.ok()["alerts"][0]["alertid"].clone();
        assert_eq!(suppressed(&lone, json!({})).await, by("flapping", flapping.as_str().unwrap(), ""));
        let quiet = json!({"type": "group", "name": "shop", "isactive": true,
            "group": {"monitors": [db], "members_quiet": true}});
        let quiet = team.save(&quiet).await;
        assert_eq!(suppressed(&db, json!({})).await, by("group", &quiet, "shop"));
        team.app.stop().await;
    }

    async fn a_group_is_up_or_down_by_its_members(setup: Setup) {
        let team = Team::start(setup).await;
        let client = team.client();
        let mut jobs = Vec::new();
        for name in ["a", "b", "c"] {
            jobs.push(team.job(name, &json!({"tags": "web"})).await);
        }
        let group = team.save(&json!({"type": "group", "name": "shop", "isactive": true,
            "group": {"tags": "web", "rule": "at_least:2"}})).await;
        let check = async || {
            let checked = client.post_nothing(&format!("monitor/{group}/check")).await.ok();
            let beat = &checked["heartbeat"];
            (beat["status"].as_str().unwrap().to_owned(), beat["message"].as_str().unwrap().to_owned())
        };
        assert_eq!(check().await.0, "unknown", "no member has reported");
        for job in &jobs {
            team.report(job, "up").await;
        }
        assert_eq!(check().await, ("up".to_owned(), "3 of 3 up".to_owned()));
        team.report(&jobs[0], "down").await;
        assert_eq!(check().await, ("up".to_owned(), "1 of 3 down: a".to_owned()));
        let shown = team.get(&group).await;
        assert_eq!((&shown["heartbeat_interval"], &shown["type"]), (&json!(30), &json!("group")));
        assert_eq!(shown["group"], json!({"monitors": [], "groups": [], "tags": ["web"],
            "all_tags": [], "everything": false, "rule": "at_least:2", "weights": {},
            "members_quiet": false, "total": 3, "up": 2, "down": 1, "left_out": 0,
            "partial": true}));
        team.report(&jobs[1], "down").await;
        client.post("monitor/save", &json!({"monitorid": jobs[2], "isactive": false})).await.ok();
        assert_eq!(check().await, ("down".to_owned(), "2 of 2 down: a, b".to_owned()));
        let sent = team.sent(3).await;
        assert_eq!((sent[2].0.as_str(), sent[2].1.as_str()), ("monitor.down", "shop"), "no re-check is needed");
        let listed = client.get(&format!("monitors?group={group}")).await.ok();
        assert_eq!(listed["monitors"].as_array().unwrap().len(), 3);
        client.get(&format!("monitors?group={UNKNOWN}")).await.refused(404, "not_found");
        let listed = client.get("monitors?severity=info").await.ok();
        assert_eq!(listed["monitors"], json!([]));

        // Groups contain others, but not themselves.
        let outer = team.save(&json!({"type": "group", "name": "outer", "isactive": true,
            "group": {"monitors": [group]}})).await;
        let body = json!({"monitorid": group, "group": {"monitors": [outer]}});
        let cycle = refused(&client.post("monitor/save", &body).await, "group");
        assert_eq!(cycle, "would make the group contain itself: shop → outer → shop");
        let body = json!({"monitorid": group, "group": {"monitors": [UNKNOWN]}});
        refused(&client.post("monitor/save", &body).await, "group");
        let tried = json!({"type": "group", "group": {"tags": "web"}});
        let tried = client.post("monitor/try", &tried).await.ok();
        assert_eq!(tried["heartbeat"]["message"], "2 of 2 down: a, b");
        team.app.stop().await;
    }

    async fn quiet_members_are_reported_through_their_group(setup: Setup) {
        let team = Team::start(setup).await;
        let one = team.job("one", &json!({"tags": "web"})).await;
        let group = team.save(&json!({"type": "group", "name": "shop", "isactive": true,
            "group": {"tags": "web", "members_quiet": true}})).await;
        team.report(&one, "up").await;
        team.report(&one, "down").await;
        let alert = team.alert(&one).await;
        assert_eq!((&alert["status"], &alert["suppressed_by"]["reason"]), (&json!("suppressed"), &json!("group")));
        team.client().post_nothing(&format!("monitor/{group}/check")).await.ok();
        let sent = team.sent(1).await;
        assert_eq!((sent[0].1.as_str(), &sent[0].2["data"]["affected"]), ("shop", &json!({"count": 1, "names": ["one"]})));
        team.app.stop().await;
    }

    async fn a_limited_caller_sees_no_parents_outside_the_filter(setup: Setup) {
        let team = Team::start(setup).await;
        let (hidden, shown) = (team.job("secret", &json!({})).await, team.job("known", &json!({"tags": "mine"})).await);
        let web = team.job("web", &json!({"tags": "mine", "depends_on": [hidden, shown]})).await;
        let key = json!({"name": "key", "scope": "editor", "tags": "mine"});
        let key = monitor_filters::key(&team.app, &team.ann, &key).await;
        let get = async || key.get(&format!("monitor/{web}/get")).await.ok()["monitor"].clone();
        assert_eq!(get().await["depends_on"], json!([{"monitorid": shown, "as": "service"}]));
        let unknown = key.post("monitor/save", &json!({"monitorid": web, "depends_on": hidden})).await;
        assert_eq!(refused(&unknown, "depends_on"), format!("names an unknown monitor: {hidden}"));
        // What it cannot see stays.
        key.post("monitor/save", &json!({"monitorid": web, "depends_on": ""})).await.ok();
        assert_eq!(team.get(&web).await["depends_on"], json!([{"monitorid": hidden, "as": "service"}]));
        team.report(&hidden, "down").await;
        team.report(&web, "down").await;
        let alert = key.get("alerts").await.ok()["alerts"][0].clone();
        let by = &alert["suppressed_by"];
        assert_eq!((&by["reason"], &by["id"], &by["name"]), (&json!("dependency"), &Value::Null, &json!("")));
        let path = format!("alert/{}/get", alert["alertid"].as_str().unwrap());
        assert!(!key.get(&path).await.text.contains("secret"));
        let tried = key.post("routing/try", &json!({"monitorid": web})).await.ok()["suppressed_by"].clone();
        assert_eq!(tried, json!({"reason": "dependency", "id": null, "name": "", "until": null}));
        let group = json!({"type": "group", "name": "g", "isactive": true, "tags": "mine", "group": {"everything": true}});
        refused(&key.post("monitor/save", &group).await, "group");
        refused(&key.post("monitor/try", &group).await, "group");
        for members in [json!({"monitors": [hidden, shown], "weights": {hidden.as_str(): 2, shown.as_str(): 3}}), json!({"everything": true})] {
            let body = json!({"type": "group", "name": "g", "isactive": true, "tags": "mine", "group": members});
            let group = team.save(&body).await;
            for change in [json!({"members_quiet": true, "rule": "at_least:1000"}),
                json!({"monitors": [shown], "everything": false, "weights": {}})] {
                let change = json!({"monitorid": group, "group": change});
                refused(&key.post("monitor/save", &change).await, "group");
            }
            key.post("monitor/save", &json!({"monitorid": group, "name": "renamed"})).await.ok();
            assert_eq!(team.get(&group).await["group"]["members_quiet"], json!(false));
            assert!(!key.get(&format!("monitor/{group}/get")).await.text.contains(&hidden));
        }
        let listed = key.get("monitors").await;
        assert!(listed.text.contains(&format!("\"weights\":{{\"{shown}\":3}}")) && !listed.text.contains(&hidden));
        let rules = json!({"rules": [
            {"name": "hidden rule", "monitors": hidden, "severity": "info"},
            {"name": "other tag", "tags": "theirs", "severity": "info"},
            {"name": "both", "monitors": [hidden, shown], "severity": "info"},
            {"name": "mine", "tags": "mine", "severity": "info"}]});
        team.client().post("routing/save", &rules).await.ok();
        let routing = key.get("routing").await.ok();
        let names: Vec<&str> =
            routing["rules"].as_array().unwrap().iter().map(|rule| rule["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["both", "mine"]);
        assert!(!routing.to_string().contains(&hidden));
        assert_eq!(team.client().get("routing").await.ok()["rules"].as_array().unwrap().len(), 4);
        // What reaches a monitor through a group or a dependency is listed, without their ids.
        let group = json!({"type": "group", "name": "theirs", "isactive": true, "group": {"monitors": [shown]}});
        let group = team.save(&group).await;
        let rules = json!({"rules": [{"name": "members", "groups": group, "severity": "info"}]});
        team.client().post("routing/save", &rules).await.ok();
        let rule = key.get("routing").await.ok()["rules"][0].clone();
        assert_eq!((&rule["name"], &rule["groups"]), (&json!("members"), &json!([])));
        let window = json!({"name": "w", "starts": "2026-11-15T09:00:00Z", "duration": 7200});
        for (select, id) in [(json!({"monitors": hidden, "dependents": true}), &hidden), (json!({"groups": group}), &group)] {
            let saved = team.client().post("maintenance/save", &with(&window, &select)).await.ok();
            let window = saved["maintenance"]["maintenanceid"].as_str().unwrap();
            for path in ["maintenances".to_owned(), format!("maintenance/{window}/get")] {
                let answer = key.get(&path).await;
                assert!(answer.text.contains("\"w\"") && !answer.text.contains(id), "{path}: {}", answer.text);
            }
            team.client().delete(&format!("maintenance/{window}/delete")).await.ok();
        }
        team.client().post("routing/save", &json!({"rules": []})).await.ok();
        let window = with(&window, &json!({"monitors": shown}));
        key.post("maintenance/save", &window).await.ok();
        team.client().post("monitor/save", &json!({"monitorid": hidden, "depends_on": shown})).await.ok();
        key.post("maintenance/save", &window).await.refused(403, "forbidden");
        team.app.stop().await;
    }
}
