//! policies, schedules, oncall, contacts, routing and calendar feeds: who is notified of an outage,
//! when, and how.

use futures_util::poll;
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::notifications::notifier::Kind;
use wakeful_engine::alerting::processor::{self, process_due};
use wakeful_testkit::fakes::FakeService;
use wakeful_testkit::{Answer, App, DatabaseKind, Receiver, Setup, User, both_databases, until};

/// A team with a job and a webhook that is not linked to it.
struct Scene {
    app: App,
    ann: User,
    receiver: Receiver,
    hook: String,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

impl Scene {
    async fn new(setup: Setup) -> Self {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        app.verify(&ann).await;
        let receiver = Receiver::start().await;
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let hook = text(&ann.client.post("notifier/save", &hook).await.json()["notifierid"]);
        Self { app, ann, receiver, hook }
    }

    /// Saves an escalation policy and returns its id.
    async fn policy(&self, body: &Value) -> String {
        text(&self.ann.client.post("policy/save", body).await.ok()["policy"]["policyid"])
    }

    /// Saves a job with these settings and returns its id.
    async fn job(&self, settings: &Value) -> String {
        let mut body = json!({"type": "api", "name": "job", "heartbeat_interval": 86400,
            "isactive": true, "upside_down_mode": false, "notifiers": ""});
        body.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        text(&self.ann.client.post("monitor/save", &body).await.ok()["monitor"]["monitorid"])
    }

    async fn report(&self, monitor: &str, status: &str) {
        let path = format!("monitor/notify/{monitor}");
        self.ann.client.post(&path, &json!({"status": status})).await.ok();
    }

    /// Advances the clock and takes the steps that are due then.
    async fn later(&self, seconds: u64) {
        self.app.clock.advance(Duration::from_secs(seconds));
        process_due(&self.app.engine).await.unwrap();
    }

    /// The newest alert with its timeline, once it was decided about.
    async fn alert(&self) -> Value {
        let id = until("a decision", async || {
            let list = self.ann.client.get("alerts").await.ok();
            let newest = list["alerts"].get(0)?.clone();
            (newest["notified"] != Value::Null).then(|| text(&newest["alertid"]))
        })
        .await;
        self.ann.client.get(&format!("alert/{id}/get")).await.ok()
    }

    async fn act(&self, call: &str, body: &Value) -> Answer {
        let alert = text(&self.alert().await["alert"]["alertid"]);
        self.ann.client.post(&format!("alert/{alert}/{call}"), body).await
    }

    /// The messages so far: the notifier and the type of each, in order.
    async fn messages(&self) -> Vec<String> {
        let alert = self.alert().await["alert"].clone();
        let mut all = alert["deliveries"].as_array().unwrap().clone();
        all.sort_by_key(|one| text(&one["created"]));
        let show = |one: &Value| format!("{} {}", text(&one["name"]), text(&one["type"]));
        all.iter().map(show).collect()
    }

    /// Waits until these notifiers have sent everything.
    async fn delivered(&self, names: &[&str]) {
        until("the deliveries", async || {
            let alert = self.alert().await["alert"].clone();
            let all = alert["deliveries"].as_array().unwrap().clone();
            let of_these = |one: &&Value| names.contains(&one["name"].as_str().unwrap());
            all.iter().filter(of_these).all(|one| one["state"] == "delivered").then_some(())
        })
        .await;
    }

    async fn notes(&self, kind: &str) -> Vec<String> {
        let detail = self.alert().await;
        let entries = detail["timeline"].as_array().unwrap().iter();
        entries.filter(|entry| entry["kind"] == kind).map(|entry| text(&entry["text"])).collect()
    }
}

/// Nodes that share a store follow its clock and not their own.
#[tokio::test]
async fn a_clock_that_is_set_back_delays_no_escalation_step() {
    let scene = Scene::new(Setup::on(DatabaseKind::Sqlite)).await;
    let to_hook = json!([{"notifierid": scene.hook}]);
    let policy = scene
        .policy(&json!({"name": "x", "steps": [
        {"after": 0, "notify": to_hook}, {"after": 600, "notify": to_hook}]}))
        .await;
    let job = scene.job(&json!({"policyid": policy})).await;
    scene.report(&job, "down").await;
    scene.receiver.wait_for_hooks(1).await;
    scene.delivered(&["hook"]).await;
    let shutdown = CancellationToken::new();
    let mut processor = Box::pin(processor::run(scene.app.engine.clone(), shutdown.clone()));
    // It notes the time when it begins.
    assert!(poll!(&mut processor).is_pending());
    scene.app.clock.set_back(Duration::from_secs(3_600));
    let shifted = until("the alert to be due earlier", async || {
        let limit = scene.app.engine.now().0 + 600_000;
        let sql = format!("select count(*) from alerts where due > {limit}");
        (scene.app.database.number(&sql).await == 0).then_some(())
    });
    tokio::select! {
        () = &mut processor => panic!("it runs until shutdown"),
        () = shifted => {}
    }
    shutdown.cancel();
    processor.await;
    scene.report(&job, "down").await;
    scene.later(599).await;
    assert_eq!(scene.messages().await, ["hook monitor.down"], "never early");
    scene.later(1).await;
    let hooks = scene.receiver.wait_for_hooks(2).await;
    assert_eq!(hooks[1].json()["type"], "alert.escalated");
}

both_databases! {
    async fn an_acknowledgement_by_link_stops_a_step_that_is_due_a_second_later(setup: Setup) {
        let scene = Scene::new(setup).await;
        let to_hook = json!([{"notifierid": scene.hook}]);
        let policy = scene.policy(&json!({"name": "x", "steps": [
            {"after": 0, "notify": to_hook}, {"after": 600, "notify": to_hook}]})).await;
        let job = scene.job(&json!({"policyid": policy})).await;
        scene.report(&job, "down").await;
        let down = scene.receiver.wait_for_hooks(1).await[0].json();
        let url = text(&down["data"]["action_url"]);
        scene.later(599).await;
        let order = json!({"action": "acknowledge", "name": "Bob"});
        let path = &url[url.find("/api/").unwrap()..];
        scene.app.anonymous().call(reqwest::Method::POST, path, Some(&order)).await.ok();
        scene.report(&job, "down").await;
        scene.later(1).await;
        scene.later(600).await;
        let messages = scene.messages().await;
        assert!(!messages.contains(&"hook alert.escalated".to_owned()), "{messages:?}");
        assert_eq!(scene.notes("escalated").await, ["step 1: hook"]);
    }

    async fn escalation_pauses_while_the_team_is_suspended(setup: Setup) {
        let scene = Scene::new(setup).await;
        let to_hook = json!([{"notifierid": scene.hook}]);
        let policy = scene.policy(&json!({"name": "x", "steps": [
            {"after": 0, "notify": to_hook}, {"after": 600, "notify": to_hook}]})).await;
        let job = scene.job(&json!({"policyid": policy})).await;
        scene.report(&job, "down").await;
        let down = scene.receiver.wait_for_hooks(1).await[0].json();
        scene.delivered(&["hook"]).await;
        let suspend = async |suspended: bool| {
            let body = json!({"groupid": scene.ann.team, "suspended": suspended});
            scene.ann.client.post("admin/team", &body).await.ok();
        };
        scene.later(300).await;
        suspend(true).await;
        // Nor does the link in the message change anything.
        let url = text(&down["data"]["action_url"]);
        let (path, order) =
            (&url[url.find("/api/").unwrap()..], json!({"action": "comment", "name": "Bob", "text": "on it"}));
        let act = async || {
            scene.app.anonymous().call(reqwest::Method::POST, path, Some(&order)).await
        };
        act().await.refused(403, "suspended");
        assert_eq!(scene.app.anonymous().call(reqwest::Method::GET, path, None).await.status, 200);
        scene.later(3_600).await;
        assert_eq!(scene.messages().await, ["hook monitor.down"]);
        assert_eq!(scene.notes("paused").await.len(), 1);
        scene.ann.reauthenticate().await;
        suspend(false).await;
        scene.later(0).await;
        assert_eq!(scene.notes("resumed").await.len(), 1);
        scene.later(299).await;
        assert_eq!(scene.messages().await, ["hook monitor.down"], "half of the time is left");
        scene.later(1).await;
        let hooks = scene.receiver.wait_for_hooks(2).await;
        assert_eq!(hooks[1].json()["type"], "alert.escalated");
        act().await.ok();
    }

    async fn an_outage_is_escalated_step_by_step_until_somebody_responds(setup: Setup) {
        let scene = Scene::new(setup).await;
        let (ann, hook) = (&scene.ann, &scene.hook);
        let policy = scene.policy(&json!({"name": "Production", "repeat": 1, "every": 1800, "steps": [
            {"after": 0, "notify": [{"notifierid": hook}]},
            {"after": 600, "notify": [{"userid": ann.userid}, {"notifierid": hook}]},
            {"after": 900, "notify": [{"everybody": true}]}]})).await;
        let job = scene.job(&json!({"policyid": policy})).await;
        scene.report(&job, "down").await;
        let hooks = scene.receiver.wait_for_hooks(1).await;
        assert_eq!(hooks[0].json()["type"], "monitor.down", "the first message is the outage");
        let alert = scene.alert().await["alert"].clone();
        assert_eq!(alert["policyid"], policy.as_str());
        let next = &alert["next_step"];
        assert_eq!((&next["step"], &next["notifies"]),
            (&json!(2), &json!(["ann@example.com", "hook"])));
        scene.later(599).await;
        assert_eq!(scene.messages().await, ["hook monitor.down"], "never early");
        scene.report(&job, "down").await;
        scene.later(1).await;
        let hooks = scene.receiver.wait_for_hooks(2).await;
        let event = hooks[1].json();
        assert_eq!((&event["type"], &event["data"]["step"]), (&json!("alert.escalated"), &json!(2)));
        assert!(event["data"]["action_url"].is_string(), "it can be acknowledged");
        let mut messages = scene.messages().await;
        messages.sort();
        assert_eq!(messages,
            ["ann@example.com monitor.down", "hook alert.escalated", "hook monitor.down"]);
        assert_eq!(scene.notes("escalated").await,
            ["step 1: hook", "step 2: ann@example.com, hook"]);
        // The notifier that was created for Ann is not one of the team's.
        let list = ann.client.get("notifiers").await.ok();
        assert_eq!(list["notifiers"].as_array().unwrap().len(), 1);
        scene.delivered(&["ann@example.com", "hook"]).await;
        scene.act("acknowledge", &json!({})).await.ok();
        assert_eq!(scene.alert().await["alert"]["next_step"], Value::Null);
        let before = scene.messages().await.len();
        scene.report(&job, "down").await;
        scene.later(10_000).await;
        assert_eq!(scene.messages().await.len(), before);
        // Everybody who knows of it learns of its end.
        scene.report(&job, "up").await;
        let ups = until("the recovery", async || {
            let all = scene.messages().await;
            let ups: Vec<String> = all.into_iter().filter(|one| one.ends_with("monitor.up")).collect();
            (ups.len() == 2).then_some(ups)
        }).await;
        assert!(ups.contains(&"ann@example.com monitor.up".to_owned()), "{ups:?}");
    }

    async fn a_policy_that_was_removed_and_added_again_takes_all_its_steps(setup: Setup) {
        let scene = Scene::new(setup).await;
        let to_hook = json!([{"notifierid": scene.hook}]);
        let policy = scene.policy(&json!({"name": "x", "steps": [
            {"after": 0, "notify": to_hook}, {"after": 600, "notify": to_hook}]})).await;
        let job = scene.job(&json!({"policyid": policy})).await;
        scene.report(&job, "down").await;
        scene.receiver.wait_for_hooks(1).await;
        scene.report(&job, "down").await;
        scene.later(600).await;
        scene.receiver.wait_for_hooks(2).await;
        for policy in ["", policy.as_str()] {
            scene.job(&json!({"monitorid": job, "policyid": policy})).await;
            scene.later(1).await;
        }
        scene.receiver.wait_for_hooks(3).await;
        scene.report(&job, "down").await;
        scene.later(600).await;
        let hooks = scene.receiver.wait_for_hooks(4).await;
        let steps: Vec<Value> = hooks[1..].iter().map(|hook| hook.json()["data"]["step"].clone()).collect();
        assert_eq!(steps, [2, 1, 2]);
    }

    async fn a_step_that_reaches_nobody_is_noted_and_the_next_one_is_taken(setup: Setup) {
        let scene = Scene::new(setup).await;
        let schedule = json!({"name": "Empty", "time_zone": "UTC", "layers": []});
        let schedule = scene.ann.client.post("schedule/save", &schedule).await.ok();
        let schedule = text(&schedule["schedule"]["scheduleid"]);
        let policy = scene.policy(&json!({"name": "p", "steps": [
            {"notify": [{"scheduleid": schedule}]},
            {"after": 3600, "notify": [{"notifierid": scene.hook}]}]})).await;
        let job = scene.job(&json!({"policyid": policy})).await;
        scene.report(&job, "down").await;
        scene.receiver.wait_for_hooks(1).await;
        assert_eq!(scene.notes("nobody").await, ["step 1"]);
        assert_eq!(scene.notes("escalated").await, ["step 2: hook"]);
        // Without the second step, every member gets an email.
        scene.report(&job, "up").await;
        scene.receiver.wait_for_hooks(2).await;
        let body = json!({"policyid": policy, "steps": [{"notify": [{"scheduleid": schedule}]}]});
        scene.ann.client.post("policy/save", &body).await.ok();
        scene.app.clock.advance(Duration::from_secs(3_600));
        scene.report(&job, "down").await;
        assert_eq!(scene.messages().await, ["ann@example.com monitor.down"]);
        let path = format!("schedule/{schedule}/delete");
        let refused = scene.ann.client.delete(&path).await;
        refused.refused(409, "schedule_linked");
        assert!(refused.text.contains('p'), "{}", refused.text);
    }

    async fn a_step_reaches_nobody_if_the_rules_of_its_notifiers_let_no_message_through(setup: Setup) {
        let scene = Scene::new(setup).await;
        let client = &scene.ann.client;
        // The clock of a test starts at 09:30Z.
        let quiet = json!({"time_zone": "UTC", "hours": [{"from": "09:00", "to": "10:00"}],
            "except": "critical", "then": "drop"});
        let mut others = Vec::new();
        for (name, rules) in [("ends", json!({"events": ["monitor.up"]})), ("quiet", json!({"quiet": quiet})),
            ("facts", json!({"events": ["monitor.down", "monitor.up"]}))] {
            let mut body = json!({"name": name, "type": "webhook", "webhook": {"url": scene.receiver.url}});
            body.as_object_mut().unwrap().extend(rules.as_object().unwrap().clone());
            others.push(client.post("notifier/save", &body).await.json()["notifierid"].clone());
        }
        let to = |notifier: &Value| json!([{"notifierid": notifier}]);
        let hook = json!(scene.hook);
        let policy = scene.policy(&json!({"name": "x", "steps": [
            {"notify": to(&others[0])}, {"after": 3600, "notify": to(&others[1])},
            {"after": 3600, "notify": to(&others[2])}, {"after": 600, "notify": to(&others[2])},
            {"after": 3600, "notify": to(&hook)}]})).await;
        let job = scene.job(&json!({"policyid": policy, "severity": "warning"})).await;
        let tried = client.post("routing/try", &json!({"monitorid": job})).await.ok();
        let notified: Vec<(String, String)> = tried["notified"].as_array().unwrap().iter()
            .map(|one| (text(&one["notifier"]), text(&one["at"]))).collect();
        let expected = [("facts", "09:30:00"), ("hook", "09:40:00")]
            .map(|(name, at)| (name.to_owned(), format!("2026-11-15T{at}.000Z")));
        assert_eq!(notified, expected);
        scene.report(&job, "down").await;
        assert_eq!(scene.messages().await, ["facts monitor.down"]);
        assert_eq!(scene.notes("nobody").await, ["step 1", "step 2"]);
        assert_eq!(scene.notes("escalated").await, ["step 3: facts"]);
        // It has the outage, and gets no escalation.
        assert_eq!(scene.alert().await["alert"]["next_step"]["notifies"], json!([]));
        scene.app.clock.advance(Duration::from_secs(600));
        scene.report(&job, "down").await;
        scene.later(0).await;
        assert_eq!(scene.messages().await, ["facts monitor.down", "hook monitor.down"]);
        assert_eq!(scene.notes("nobody").await, ["step 1", "step 2", "step 4"]);
    }

    async fn an_outage_soon_after_an_acknowledged_one_is_reported_by_a_step(setup: Setup) {
        let scene = Scene::new(setup).await;
        let to_hook = json!([{"notifierid": scene.hook}]);
        let policy = scene.policy(&json!({"name": "x", "steps": [
            {"after": 0, "notify": to_hook}, {"after": 600, "notify": to_hook}]})).await;
        let job = scene.job(&json!({"policyid": policy})).await;
        scene.report(&job, "down").await;
        scene.receiver.wait_for_hooks(1).await;
        scene.delivered(&["hook"]).await;
        scene.act("acknowledge", &json!({})).await.ok();
        // The clock must not pass the lease of a message that is being sent.
        scene.delivered(&["hook"]).await;
        scene.app.clock.advance(Duration::from_secs(60));
        scene.report(&job, "up").await;
        scene.receiver.wait_for_hooks(3).await;
        scene.delivered(&["hook"]).await;
        scene.app.clock.advance(Duration::from_secs(180));
        scene.report(&job, "down").await;
        let hooks = scene.receiver.wait_for_hooks(4).await;
        assert_eq!(hooks[3].json()["type"], "monitor.down");
        let alert = scene.alert().await["alert"].clone();
        assert_eq!((&alert["status"], &alert["next_step"]), (&json!("acknowledged"), &Value::Null));
        scene.app.clock.advance(Duration::from_secs(600));
        scene.report(&job, "down").await;
        scene.later(0).await;
        assert_eq!(scene.messages().await, ["hook monitor.down"], "the next step is a follow-up");
        assert_eq!(scene.notes("escalated").await, ["step 1: hook"]);
    }

    async fn flapping_is_escalated_by_the_policy_of_the_monitor(setup: Setup) {
        let scene = Scene::new(setup).await;
        let to_hook = json!([{"notifierid": scene.hook}]);
        let policy = scene.policy(&json!({"name": "x", "steps": [
            {"after": 0, "notify": to_hook}, {"after": 60, "notify": to_hook}]})).await;
        let job = scene.job(&json!({"policyid": policy, "flap_outages": 2, "flap_within": 600})).await;
        for (status, count) in [("down", 1), ("up", 2)] {
            scene.report(&job, status).await;
            scene.receiver.wait_for_hooks(count).await;
            scene.app.clock.advance(Duration::from_secs(10));
        }
        scene.report(&job, "down").await;
        scene.later(1).await;
        let hooks = scene.receiver.wait_for_hooks(3).await;
        assert_eq!(hooks[2].json()["type"], "monitor.flapping");
        // It is up when the next step is due.
        scene.report(&job, "up").await;
        scene.later(60).await;
        let event = scene.receiver.wait_for_hooks(4).await[3].json();
        assert_eq!((&event["type"], &event["data"]["step"]), (&json!("alert.escalated"), &json!(2)));
        let text = text(&event["text"]);
        assert!(text.starts_with("[job] still flapping after "), "{text}");
        assert!(text.contains(", step 2: 2 outages in "), "{text}");
        let tried = json!({"monitorid": job, "kind": "flapping"});
        let tried = scene.ann.client.post("routing/try", &tried).await.ok();
        assert_eq!(tried["notified"][0]["why"], "step 1 of x");
        scene.later(300).await;
        let hooks = scene.receiver.wait_for_hooks(5).await;
        assert_eq!(hooks[4].json()["type"], "monitor.steady");
    }

    async fn the_steps_of_a_flapping_monitor_wait_while_it_is_off(setup: Setup) {
        let scene = Scene::new(setup).await;
        let to_hook = json!([{"notifierid": scene.hook}]);
        let policy = scene.policy(&json!({"name": "x", "steps": [
            {"after": 0, "notify": to_hook}, {"after": 120, "notify": to_hook}]})).await;
        let job = scene.job(&json!({"policyid": policy, "flap_outages": 2, "flap_within": 3600})).await;
        for status in ["down", "up", "down"] {
            scene.report(&job, status).await;
            scene.later(1).await;
        }
        let hooks = scene.receiver.wait_for_hooks(3).await;
        assert_eq!(hooks[2].json()["type"], "monitor.flapping");
        for (isactive, seconds) in [(false, 600), (true, 60)] {
            let body = json!({"monitorid": job, "isactive": isactive});
            scene.ann.client.post("monitor/save", &body).await.ok();
            scene.later(0).await;
            scene.later(seconds).await;
        }
        assert_eq!(scene.receiver.count(), 3, "half of the time has passed");
        scene.later(70).await;
        let event = scene.receiver.wait_for_hooks(4).await[3].json();
        assert_eq!((&event["type"], &event["data"]["step"]), (&json!("alert.escalated"), &json!(2)));
    }

    async fn members_who_may_not_see_a_monitor_are_not_notified_of_its_outages(setup: Setup) {
        let scene = Scene::new(setup).await;
        let (app, ann) = (&scene.app, &scene.ann);
        let join = async |email: &str, role: &str| {
            let user = app.sign_up(email).await;
            app.verify(&user).await;
            crate::invitations::join(ann, &user, role).await;
            user.userid
        };
        let web = join("web@example.com", "viewer").await;
        ann.client.post("member/save", &json!({"userid": web, "tags": "web"})).await.ok();
        let bills = join("bills@example.com", "billing").await;
        let hidden = json!([{"userid": web}, {"userid": bills}]);
        let policy = scene.policy(&json!({"name": "p", "steps": [
            {"notify": hidden}, {"after": 3600, "notify": [{"everybody": true}]}]})).await;
        let job = scene.job(&json!({"policyid": policy, "tags": "db"})).await;
        scene.report(&job, "down").await;
        assert_eq!(scene.messages().await, ["ann@example.com monitor.down"]);
        assert_eq!(scene.notes("nobody").await, ["step 1"]);
        assert_eq!(scene.notes("escalated").await, ["step 2: ann@example.com"]);
        scene.report(&job, "up").await;
        until("the recovery", async || {
            let all = scene.messages().await;
            all.contains(&"ann@example.com monitor.up".to_owned()).then_some(())
        }).await;
        // No step reaches anybody.
        let body = json!({"policyid": policy, "steps": [{"notify": hidden}]});
        ann.client.post("policy/save", &body).await.ok();
        app.clock.advance(Duration::from_secs(60));
        scene.report(&job, "down").await;
        assert_eq!(scene.messages().await, ["ann@example.com monitor.down"]);
        // A trial says the same.
        let tried = ann.client.post("routing/try", &json!({"monitorid": job})).await.ok();
        assert!(!tried.to_string().contains("web@example.com"), "{tried}");
        app.clock.advance(Duration::from_secs(60));
        let site = scene.job(&json!({"policyid": policy, "tags": "web, db"})).await;
        scene.report(&site, "down").await;
        assert_eq!(scene.messages().await, ["web@example.com monitor.down"]);
    }

    async fn a_policy_is_validated_and_cannot_be_deleted_while_it_is_used(setup: Setup) {
        let scene = Scene::new(setup).await;
        let client = &scene.ann.client;
        let to = json!([{"everybody": true}]);
        for (body, field) in [
            (json!({"steps": [{"notify": to}]}), "name"),
            (json!({"name": "x"}), "steps"),
            (json!({"name": "x", "steps": []}), "steps"),
            (json!({"name": "x", "steps": [{"notify": []}]}), "steps.0.notify"),
            (json!({"name": "x", "steps": [{"notify": to, "after": 86_401}]}), "steps.0.after"),
            (json!({"name": "x", "steps": [{"notify": [{}]}]}), "steps.0.notify.0.notifierid"),
            (json!({"name": "x", "steps": [{"notify": to}], "repeat": 10}), "repeat"),
            (json!({"name": "x", "steps": [{"notify": to}], "every": 59}), "every"),
            (json!({"name": "x", "steps": [{"notify": [{"userid": scene.hook}]}]}), "steps"),
            (json!({"name": "x", "steps": vec![json!({"notify": to}); 11]}), "steps"),
        ] {
            let refused = client.post("policy/save", &body).await;
            refused.refused(422, "invalid_fields");
            assert_eq!(refused.json()["errors"][0]["field"], field, "{body}");
        }
        let policy = scene.policy(&json!({"name": "x", "steps": [{"notify": to}]})).await;
        let job = scene.job(&json!({"policyid": policy})).await;
        let path = format!("policy/{policy}/delete");
        let refused = client.delete(&path).await;
        refused.refused(409, "policy_linked");
        assert!(refused.text.contains("job"), "{}", refused.text);
        let body = json!({"monitorid": job, "policyid": ""});
        assert_eq!(client.post("monitor/save", &body).await.ok()["monitor"]["policyid"], Value::Null);
        let rules = json!({"rules": [{"name": "by rule", "everything": true, "policyid": policy}]});
        client.post("routing/save", &rules).await.ok();
        let refused = client.delete(&path).await;
        refused.refused(409, "policy_linked");
        assert!(refused.text.contains("by rule"), "{}", refused.text);
        let in_use = json!({"policyid": policy, "steps": [{"notify": [{"notifierid": scene.hook}]}]});
        client.post("policy/save", &in_use).await.ok();
        let hook = format!("notifier/{}/delete", scene.hook);
        client.delete(&hook).await.refused(409, "notifier_linked");
        client.post("routing/save", &json!({"rules": []})).await.ok();
        client.delete(&path).await.ok();
        client.delete(&hook).await.ok();
        let body = json!({"monitorid": job, "policyid": policy});
        client.post("monitor/save", &body).await.refused(422, "invalid_fields");
    }

    async fn a_user_is_notified_by_contact_rules_each_after_its_delay(setup: Setup) {
        let scene = Scene::new(setup).await;
        let client = &scene.ann.client;
        let default = json!([{"notifierid": "account", "after": 0, "min_severity": "info"}]);
        assert_eq!(client.get("contacts").await.ok()["rules"], default);
        let rules = json!({"rules": [{"notifierid": "account"},
            {"notifierid": scene.hook, "after": 300, "min_severity": "critical"}]});
        let saved = client.post("contacts/save", &rules).await.ok();
        assert_eq!(saved["rules"][1]["after"], 300);
        client.post("contacts/save", &json!({"rules": []})).await.refused(422, "invalid_fields");
        let policy = scene.policy(
            &json!({"name": "x", "steps": [{"notify": [{"userid": scene.ann.userid}]}]})).await;
        let job = scene.job(&json!({"policyid": policy})).await;
        scene.report(&job, "down").await;
        let alert = scene.alert().await["alert"].clone();
        let all = alert["deliveries"].as_array().unwrap();
        assert_eq!(all.len(), 2);
        let by_hook = all.iter().find(|one| one["name"] == "hook").unwrap();
        assert_eq!(by_hook["state"], "waiting", "it waits for its delay");
        // Responding cancels what has not been sent.
        scene.delivered(&["ann@example.com"]).await;
        scene.act("acknowledge", &json!({})).await.ok();
        scene.later(600).await;
        let alert = scene.alert().await["alert"].clone();
        let all = alert["deliveries"].as_array().unwrap();
        let by_hook = all.iter().find(|one| one["name"] == "hook").unwrap();
        assert_eq!(by_hook["last_answer"], "not sent: acknowledged by ann@example.com");
        assert_eq!(scene.receiver.count(), 0);
        // The hook did not get the outage, so it does not get the recovery.
        scene.report(&job, "up").await;
        until("the recovery", async || {
            let all = scene.messages().await;
            all.contains(&"ann@example.com monitor.up".to_owned()).then_some(())
        }).await;
        assert!(!scene.messages().await.contains(&"hook monitor.up".to_owned()));
        // An assignment follows the rules, too.
        scene.app.clock.advance(Duration::from_secs(3_600));
        scene.report(&job, "down").await;
        let bob = scene.ann.colleague(&scene.app.anonymous(), "bob@example.com").await;
        let body = json!({"rules": [{"notifierid": scene.hook}]});
        bob.client.post("contacts/save", &body).await.ok();
        scene.act("assign", &json!({"userid": bob.userid})).await.ok();
        let hooks = scene.receiver.wait_for_hooks(1).await;
        assert!(hooks.iter().any(|hook| hook.json()["type"] == "alert.assigned"));
    }

    async fn schedules_say_who_is_on_call(setup: Setup) {
        let scene = Scene::new(setup).await;
        let client = &scene.ann.client;
        let bob = scene.ann.colleague(&scene.app.anonymous(), "bob@example.com").await;
        // The clock of a test starts at 2026-11-15T09:30Z, a Sunday.
        let body = json!({"name": "Ops", "time_zone": "Europe/Berlin", "layers": [
            {"name": "week", "users": [scene.ann.userid, bob.userid], "starts": "2026-11-09T09:00",
             "every": 1, "unit": "week"}]});
        let saved = client.post("schedule/save", &body).await.ok()["schedule"].clone();
        let id = text(&saved["scheduleid"]);
        assert_eq!(saved["layers"][0]["starts"], "2026-11-09T09:00");
        let list = client.get("schedules").await.ok();
        assert_eq!(list["schedules"], json!([saved]));
        let now = client.get("oncall").await.ok()["oncall"][0].clone();
        assert_eq!(now["now"]["email"], "ann@example.com");
        assert_eq!(now["until"], "2026-11-16T08:00:00.000Z");
        assert_eq!(now["next"]["email"], "bob@example.com");
        assert_eq!(now["gap"], false);
        let later = client.get("oncall?at=2026-11-16T08:00:00Z").await.ok()["oncall"][0].clone();
        assert_eq!(later["now"]["email"], "bob@example.com");
        let replacement = json!({"userid": bob.userid, "starts": "2026-11-15T10:00",
            "ends": "2026-11-15T12:00"});
        let added = client.post(&format!("schedule/{id}/override"), &replacement).await.ok();
        let whole = client.get(&format!("schedule/{id}/get?to=2026-11-17T00:00:00Z")).await.ok();
        let shifts = whole["shifts"].as_array().unwrap();
        let emails: Vec<&Value> = shifts.iter().map(|shift| &shift["email"]).collect();
        assert_eq!(emails, ["bob@example.com", "ann@example.com", "bob@example.com"]);
        assert_eq!(shifts[0]["override"], added["overrideid"]);
        assert_eq!(shifts[1]["layer"], 0);
        assert_eq!(whole["overrides"][0]["starts"], "2026-11-15T09:00:00.000Z");
        for query in ["from=x", "to=2027-11-17T00:00:00Z", "to=2020-01-01T00:00:00Z",
            "from=9999-01-01T00:00:00Z&to=9999-02-01T00:00:00Z"] {
            let refused = client.get(&format!("schedule/{id}/get?{query}")).await;
            refused.refused(422, "invalid_fields");
        }
        for (body, field) in [
            (json!({"name": "x", "layers": []}), "time_zone"),
            (json!({"name": "x", "time_zone": "Mars/Base", "layers": []}), "time_zone"),
            (json!({"name": "x", "time_zone": "UTC", "layers": [{"users": "", "starts": "now"}]}),
                "layers.0.starts"),
            (json!({"name": "x", "time_zone": "UTC", "layers": [
                {"users": "", "starts": "2026-01-05T09:00", "every": 53}]}), "layers.0.every"),
            (json!({"name": "x", "time_zone": "UTC", "layers": [{"users": "",
                "starts": "2026-01-05T09:00", "hours": [{"from": "22:00", "to": "22:00"}]}]}),
                "layers.0.hours.0.to"),
            (json!({"name": "x", "time_zone": "UTC", "layers": [
                {"users": [scene.hook], "starts": "2026-01-05T09:00"}]}), "layers"),
        ] {
            let refused = client.post("schedule/save", &body).await;
            refused.refused(422, "invalid_fields");
            assert_eq!(refused.json()["errors"][0]["field"], field, "{body}");
        }
        // A step notifies the user on call at that time.
        let policy = scene.policy(
            &json!({"name": "x", "steps": [{"notify": [{"scheduleid": id}]}]})).await;
        let job = scene.job(&json!({"policyid": policy})).await;
        scene.report(&job, "down").await;
        scene.alert().await;
        assert_eq!(scene.notes("nobody").await, ["step 1"], "Bob's address is not verified");
        // A member who leaves is replaced by the next one.
        client.post("team/delete", &json!({"userids": [bob.userid]})).await.ok();
        let whole = client.get(&format!("schedule/{id}/get")).await.ok();
        assert_eq!(whole["schedule"]["layers"][0]["users"], json!([scene.ann.userid]));
        assert_eq!(whole["overrides"], json!([]));
        assert!(whole["shifts"].as_array().unwrap().iter().all(|one| one["email"] == "ann@example.com"));
    }

    async fn calendars_are_read_by_their_url_only(setup: Setup) {
        let scene = Scene::new(setup).await;
        let client = &scene.ann.client;
        let body = json!({"name": "Ops; nights", "time_zone": "UTC", "layers": [
            {"users": [scene.ann.userid], "starts": "2026-11-09T09:00", "every": 1}]});
        let id = text(&client.post("schedule/save", &body).await.ok()["schedule"]["scheduleid"]);
        let feed = async || {
            let url = text(&client.post_nothing(&format!("schedule/{id}/feed")).await.ok()["url"]);
            url[url.find("/api/").unwrap()..].to_owned()
        };
        let anonymous = scene.app.anonymous();
        let first = feed().await;
        let read = anonymous.call(reqwest::Method::GET, &first, None).await;
        assert_eq!(read.status, 200, "{}", read.text);
        assert!(read.text.starts_with("BEGIN:VCALENDAR\r\n"), "{}", read.text);
        assert!(read.text.contains("X-WR-CALNAME:Ops\\; nights\r\n"), "{}", read.text);
        assert!(read.text.contains("SUMMARY:ann@example.com: Ops\\; nights\r\n"), "{}", read.text);
        assert!(read.text.contains("DTSTART:20261109T090000Z\r\n"), "{}", read.text);
        let own = text(&client.post_nothing("contacts/feed").await.ok()["url"]);
        let own = anonymous.call(reqwest::Method::GET, &own[own.find("/api/").unwrap()..], None).await;
        assert!(own.text.contains("SUMMARY:ann@example.com"), "{}", own.text);
        let second = feed().await;
        assert_ne!(first, second);
        for path in [first.as_str(), "/api/calendar/wkc_x.ics", "/api/calendar/x", &second[..second.len() - 4]] {
            let refused = anonymous.call(reqwest::Method::GET, path, None).await;
            refused.refused(404, "not_found");
        }
        assert_eq!(client.get("schedules").await.ok()["schedules"][0]["feed"], true);
        // Two were read before.
        for _ in 2..60 {
            assert_eq!(anonymous.call(reqwest::Method::GET, &second, None).await.status, 200);
        }
        let read = anonymous.call(reqwest::Method::GET, &second, None).await;
        read.refused(429, "too_many_requests");
    }

    async fn the_calendar_of_a_suspended_member_or_user_cannot_be_read(setup: Setup) {
        let scene = Scene::new(setup).await;
        let bob = scene.ann.colleague(&scene.app.anonymous(), "bob@example.com").await;
        let url = text(&bob.client.post_nothing("contacts/feed").await.ok()["url"]);
        let path = &url[url.find("/api/").unwrap()..];
        let anonymous = scene.app.anonymous();
        let read = async || anonymous.call(reqwest::Method::GET, path, None).await;
        assert_eq!(read().await.status, 200);
        for call in ["member/save", "admin/user"] {
            let change = |suspended: bool| json!({"userid": bob.userid, "suspended": suspended});
            scene.ann.client.post(call, &change(true)).await.ok();
            read().await.refused(404, "not_found");
            scene.ann.client.post(call, &change(false)).await.ok();
            assert_eq!(read().await.status, 200);
        }
    }

    async fn less_urgent_messages_wait_for_the_end_of_the_quiet_hours(setup: Setup) {
        let scene = Scene::new(setup).await;
        let client = &scene.ann.client;
        let save = async |body: Value| {
            let mut whole = json!({"notifierid": scene.hook});
            whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
            client.post("notifier/save", &whole).await
        };
        let saved = save(json!({})).await.json();
        assert_eq!((&saved["min_severity"], &saved["quiet"]), (&json!("info"), &Value::Null));
        assert!(saved["events"].as_array().unwrap().contains(&json!("alert.escalated")));
        for body in [json!({"min_severity": "x"}), json!({"events": ["x"]}), json!({"events": []}),
            json!({"quiet": {"hours": [{"from": "00:00", "to": "24:00"}]}}),
            json!({"quiet": {"hours": [{"from": "1", "to": "2"}]}}),
            json!({"quiet": {"time_zone": "x", "hours": []}})] {
            save(body).await.refused(422, "invalid_fields");
        }
        // The clock of a test starts at 09:30Z.
        let quiet = json!({"time_zone": "UTC", "hours": [{"days": [], "from": "09:00", "to": "10:00"}],
            "except": "critical", "then": "hold"});
        let saved = save(json!({"quiet": quiet, "min_severity": "warning"})).await.json();
        assert_eq!(saved["quiet"], quiet);
        assert_eq!(save(saved.clone()).await.json(), saved, "sent back, it changes nothing");
        let job = |severity| json!({"notifiers": scene.hook, "severity": severity, "name": severity});
        let (urgent, later, never) = (scene.job(&job("critical")).await,
            scene.job(&job("warning")).await, scene.job(&job("info")).await);
        let tried = client.post("routing/try", &json!({"monitorid": later})).await.ok();
        assert_eq!(tried["notified"][0]["waits_until"], "2026-11-15T10:00:00.000Z");
        for one in [&never, &later, &urgent] {
            scene.report(one, "down").await;
        }
        let name = |hook: &wakeful_testkit::Hook| text(&hook.json()["data"]["monitor"]["name"]);
        assert_eq!(name(&scene.receiver.wait_for_hooks(1).await[0]), "critical");
        // A third outage becomes urgent while it waits.
        let raised = scene.job(&json!({"notifiers": scene.hook, "severity": "warning",
            "name": "raised"})).await;
        scene.app.clock.advance(Duration::from_secs(1));
        scene.report(&raised, "down").await;
        scene.act("severity", &json!({"severity": "critical"})).await.ok();
        process_due(&scene.app.engine).await.unwrap();
        scene.app.clock.advance(Duration::from_secs(1));
        assert_eq!(name(&scene.receiver.wait_for_hooks(2).await[1]), "raised");
        // It is over before the end: one message says so.
        scene.report(&later, "up").await;
        scene.app.clock.advance(Duration::from_secs(1_800));
        let hooks = scene.receiver.wait_for_hooks(3).await;
        assert_eq!(name(&hooks[2]), "warning");
        let saved = save(json!({"quiet": {"hours": []}, "events": ["monitor.up"]})).await.json();
        assert_eq!((&saved["quiet"], &saved["events"]), (&Value::Null, &json!(["monitor.up"])));
    }

    async fn the_end_of_an_outage_that_was_sent_arrives_silently_or_after_the_quiet_hours(setup: Setup) {
        let scene = Scene::new(setup).await;
        let client = &scene.ann.client;
        // The clock of a test starts at 09:30Z.
        let quiet = json!({"time_zone": "UTC", "hours": [{"from": "10:00", "to": "11:00"}],
            "except": "critical", "then": "drop"});
        let fake = FakeService::start(Kind::Ntfy).await;
        let mut phone = fake.notifier("phone");
        phone["quiet"] = quiet.clone();
        let phone = client.post("notifier/save", &phone).await.json()["notifierid"].clone();
        assert_eq!(client.post("notifier/save", &json!({"notifierid": scene.hook, "quiet": quiet})).await.status, 200);
        let linked = json!([scene.hook, phone]);
        let job = scene.job(&json!({"notifiers": linked, "severity": "warning"})).await;
        scene.report(&job, "down").await;
        scene.receiver.wait_for_hooks(1).await;
        let pushed = async |count: usize| {
            until("the messages to the phone", async || {
                (fake.requests().len() >= count).then_some(())
            })
            .await;
            fake.requests().iter().map(|one| one.json()["priority"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(pushed(1).await, [4]);
        scene.app.clock.advance(Duration::from_secs(1_800));
        scene.report(&job, "up").await;
        assert_eq!(pushed(2).await, [4, 2], "without a sound");
        assert_eq!(scene.receiver.count(), 1);
        // Another outage is dropped; this monitor's end is, too.
        let other = scene.job(&json!({"notifiers": linked, "severity": "warning", "name": "other"})).await;
        scene.app.clock.advance(Duration::from_secs(60));
        scene.report(&other, "down").await;
        assert_eq!(scene.messages().await, [""; 0]);
        scene.app.clock.advance(Duration::from_secs(3_600));
        let hooks = scene.receiver.wait_for_hooks(2).await;
        assert_eq!(hooks[1].json()["type"], "monitor.up");
        scene.report(&other, "up").await;
        scene.report(&job, "down").await;
        let hooks = scene.receiver.wait_for_hooks(3).await;
        let sent: Vec<Value> = hooks.iter().map(wakeful_testkit::Hook::json).collect();
        assert_eq!((&sent[2]["type"], &sent[2]["data"]["monitor"]["name"]), (&json!("monitor.down"), &json!("job")));
        assert_eq!(pushed(3).await, [4, 2, 4]);
    }

    async fn a_higher_severity_releases_what_quiet_hours_hold_and_no_delay(setup: Setup) {
        let scene = Scene::new(setup).await;
        let client = &scene.ann.client;
        let rules = json!({"rules": [{"notifierid": scene.hook, "after": 300}]});
        client.post("contacts/save", &rules).await.ok();
        let policy = scene.policy(
            &json!({"name": "x", "steps": [{"notify": [{"userid": scene.ann.userid}]}]})).await;
        // The clock of a test starts at 09:30Z.
        for (hours, before, after) in [
            (json!({"from": "09:00", "to": "10:00"}), "10:00:00", "09:35:01"),
            (json!({"from": "12:00", "to": "13:00"}), "09:35:02", "09:35:02"),
        ] {
            scene.app.clock.advance(Duration::from_secs(1));
            let quiet = json!({"time_zone": "UTC", "hours": [hours], "except": "critical", "then": "hold"});
            assert_eq!(client.post("notifier/save", &json!({"notifierid": scene.hook, "quiet": quiet})).await.status, 200);
            let job = scene.job(&json!({"policyid": policy, "severity": "warning"})).await;
            scene.report(&job, "down").await;
            let first_try = async || text(&scene.alert().await["alert"]["deliveries"][0]["next_try"]);
            assert_eq!(first_try().await, format!("2026-11-15T{before}.000Z"));
            scene.act("severity", &json!({"severity": "critical"})).await.ok();
            process_due(&scene.app.engine).await.unwrap();
            assert_eq!(first_try().await, format!("2026-11-15T{after}.000Z"), "after its delay");
            scene.act("resolve", &json!({})).await.ok();
        }
        assert_eq!(scene.receiver.count(), 0);
    }

    async fn routing_rules_add_notifiers_and_set_policy_and_severity(setup: Setup) {
        let scene = Scene::new(setup).await;
        let client = &scene.ann.client;
        assert_eq!(client.get("routing").await.ok()["revision"], 0);
        let policy = scene.policy(
            &json!({"name": "x", "steps": [{"after": 60, "notify": [{"everybody": true}]}]})).await;
        let rules = json!({"revision": 0, "rules": [
            {"name": "lab", "tags": "lab", "severity": "info", "stop": true},
            {"name": "shop", "tags": "shop*", "severities": "critical", "policyid": policy,
             "notifiers": scene.hook, "severity": "warning"}]});
        let saved = client.post("routing/save", &rules).await.ok();
        assert_eq!((&saved["revision"], &saved["rules"][1]["tags"]), (&json!(1), &json!(["shop*"])));
        client.post("routing/save", &rules).await.refused(409, "changed_meanwhile");
        for rule in [json!({"name": "x"}), json!({"tags": "x"}), json!({"name": "x", "tags": "x",
            "severities": "fatal"}), json!({"name": "x", "tags": "x", "kinds": ["x"]}),
            json!({"name": "x", "tags": "x", "notifiers": policy})] {
            let refused = client.post("routing/save", &json!({"rules": [rule]})).await;
            refused.refused(422, "invalid_fields");
        }
        let job = scene.job(&json!({"tags": "shop-de"})).await;
        let tried = client.post("routing/try", &json!({"monitorid": job})).await.ok();
        assert_eq!((&tried["rules"], &tried["severity"]), (&json!(["shop"]), &json!("warning")));
        let notified: Vec<(String, String)> = tried["notified"].as_array().unwrap().iter()
            .map(|one| (text(&one["notifier"]), text(&one["why"]))).collect();
        let expected = [("hook", "rule shop"), ("ann@example.com", "step 1 of x")];
        assert_eq!(notified, expected.map(|(one, why)| (one.to_owned(), why.to_owned())));
        assert_eq!(tried["notified"][1]["at"], "2026-11-15T09:31:00.000Z");
        let other = json!({"monitorid": job, "severity": "info", "kind": "certificate"});
        let tried = client.post("routing/try", &other).await.ok();
        assert_eq!((&tried["rules"], &tried["notified"]), (&json!([]), &json!([])));
        scene.report(&job, "down").await;
        let hooks = scene.receiver.wait_for_hooks(1).await;
        assert_eq!(hooks[0].json()["data"]["severity"], "warning");
        let alert = scene.alert().await["alert"].clone();
        assert_eq!((&alert["severity"], &alert["policyid"]), (&json!("warning"), &json!(policy)));
        assert_eq!(alert["next_step"]["notifies"], json!(["ann@example.com"]));
        scene.report(&job, "up").await;
        let hooks = scene.receiver.wait_for_hooks(2).await;
        assert_eq!(hooks[1].json()["type"], "monitor.up");
        // Only the first rule matches, and it notifies nobody.
        let lab = scene.job(&json!({"name": "lab", "tags": "lab,shop"})).await;
        scene.app.clock.advance(Duration::from_secs(60));
        scene.report(&lab, "down").await;
        let alert = scene.alert().await["alert"].clone();
        assert_eq!((&alert["severity"], &alert["policyid"]), (&json!("info"), &Value::Null));
        assert_eq!(alert["deliveries"], json!([]));
        // A rule for a group applies to its members. Two reasons are one message.
        let web = scene.job(&json!({"name": "web", "tags": "web", "notifiers": scene.hook})).await;
        let group = scene.job(&json!({"type": "group", "name": "all", "group": {"tags": "web"}})).await;
        let rule = |groups: &str| json!({"rules": [{"name": "web", "groups": [groups],
            "notifiers": scene.hook, "severity": "info"}]});
        client.post("routing/save", &rule(&web)).await.refused(422, "invalid_fields");
        let saved = client.post("routing/save", &rule(&group)).await.ok();
        assert_eq!(saved["rules"][0]["groups"], json!([group]));
        let tried = client.post("routing/try", &json!({"monitorid": web})).await.ok();
        assert_eq!(tried["notified"].as_array().unwrap().len(), 1, "{tried}");
        assert_eq!(tried["notified"][0]["why"], "linked to the monitor; rule web");
        scene.app.clock.advance(Duration::from_secs(60));
        scene.report(&web, "down").await;
        assert_eq!(scene.alert().await["alert"]["severity"], "info");
    }
}
