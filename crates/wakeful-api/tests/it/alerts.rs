//! alert, alerts and action links: reading alerts, responding to them, and what notifiers get.

use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::action_link::{ActionLink, Subject};
use wakeful_core::id::{AlertId, UserId};
use wakeful_engine::alerting::processor::process_due;
use wakeful_testkit::{
    Answer, App, Client, DatabaseKind, Hook, Receiver, User, both_databases, until,
};

/// A team with a job that is down, and a webhook that was notified of it.
struct Outage {
    app: App,
    ann: User,
    receiver: Receiver,
    monitor: String,
    alert: String,
    /// `monitor.down`, as the webhook got it.
    down: Value,
}

impl Outage {
    async fn begin(setup: wakeful_testkit::Setup) -> Self {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let hook = ann.client.post("notifier/save", &hook).await.json()["notifierid"].clone();
        let body = json!({"type": "api", "name": "job", "heartbeat_interval": 86400,
            "isactive": true, "upside_down_mode": false, "notifiers": hook, "tags": "shop",
            "severity": "warning", "resend_interval": 600});
        let saved = ann.client.post("monitor/save", &body).await.ok();
        assert_eq!(saved["monitor"]["severity"], "warning");
        let monitor = saved["monitor"]["monitorid"].as_str().unwrap().to_owned();
        report(&ann.client, &monitor, "down").await;
        let down = receiver.wait_for_hooks(1).await[0].json();
        let alert = down["data"]["alertid"].as_str().unwrap().to_owned();
        let outage = Self { app, ann, receiver, monitor, alert, down };
        outage.delivered().await;
        outage
    }

    async fn post(&self, call: &str, body: &Value) -> Answer {
        self.ann.client.post(&format!("alert/{}/{call}", self.alert), body).await
    }

    async fn get(&self) -> Value {
        self.ann.client.get(&format!("alert/{}/get", self.alert)).await.ok()
    }

    /// Waits until everything is delivered.
    async fn delivered(&self) {
        until("the deliveries", async || {
            let alert = self.get().await["alert"].clone();
            let all = alert["deliveries"].as_array().unwrap().clone();
            all.iter().all(|one| one["state"] == "delivered").then_some(())
        })
        .await;
    }

    /// Advances the clock and sends the reminders that are due then; returns their number.
    async fn later(&self, seconds: u64) -> usize {
        self.app.clock.advance(Duration::from_secs(seconds));
        process_due(&self.app.engine).await.unwrap().reminders
    }

    fn token(&self) -> String {
        let url = self.down["data"]["action_url"].as_str().unwrap();
        url.rsplit('/').next().unwrap().to_owned()
    }

    async fn link(&self, method: Method, token: &str, body: Option<&Value>) -> Answer {
        self.app.anonymous().call(method, &format!("/api/action/{token}"), body).await
    }

    fn kinds(&self) -> Vec<String> {
        let hooks = self.receiver.hooks();
        hooks.iter().map(|hook| hook.json()["type"].as_str().unwrap().to_owned()).collect()
    }
}

async fn report(client: &Client, monitor: &str, status: &str) {
    client.post(&format!("monitor/notify/{monitor}"), &json!({"status": status})).await.ok();
}

fn timeline(detail: &Value) -> Vec<String> {
    let entries = detail["timeline"].as_array().unwrap();
    entries.iter().map(|entry| entry["kind"].as_str().unwrap().to_owned()).collect()
}

both_databases! {
    async fn acknowledging_stops_reminders_and_is_in_the_timeline(setup: Setup) {
        let outage = Outage::begin(setup).await;
        assert_eq!(outage.down["data"]["severity"], "warning");
        let alert = outage.get().await["alert"].clone();
        assert_eq!((&alert["status"], &alert["severity"]), (&json!("open"), &json!("warning")));
        assert_eq!(outage.later(600).await, 1);
        outage.receiver.wait_for_hooks(2).await;
        outage.delivered().await;
        let answer = outage.post("acknowledge", &json!({"comment": "on it"})).await.ok();
        let by = &answer["alert"]["acknowledged"];
        assert_eq!((&by["name"], &by["via"]), (&json!("ann@example.com"), &json!("web")));
        assert_eq!(by["userid"], outage.ann.userid.as_str());
        let again = outage.post("acknowledge", &json!({})).await.ok();
        assert_eq!(again["alert"]["acknowledged"], *by, "acknowledging twice changes nothing");
        assert_eq!(outage.later(6_000).await, 0);
        let event = outage.receiver.wait_for_hooks(3).await[2].json();
        assert_eq!(event["type"], "alert.acknowledged");
        assert_eq!(event["data"]["acknowledged_by"], "ann@example.com");
        outage.post("unacknowledge", &json!({})).await.ok();
        outage.delivered().await;
        report(&outage.ann.client, &outage.monitor, "down").await;
        assert_eq!(outage.later(600).await, 1);
        outage.receiver.wait_for_hooks(4).await;
        outage.delivered().await;
        report(&outage.ann.client, &outage.monitor, "up").await;
        outage.receiver.wait_for_hooks(5).await;
        assert_eq!(outage.kinds(), ["monitor.down", "monitor.reminder", "alert.acknowledged",
            "monitor.reminder", "monitor.up"]);
        let detail = outage.get().await;
        assert_eq!(detail["alert"]["status"], "over");
        let kinds = timeline(&detail);
        let notes: Vec<&str> =
            kinds.iter().map(String::as_str).filter(|kind| *kind != "delivery").collect();
        assert_eq!(notes, ["opened", "notified", "acknowledged", "unacknowledged", "recovered"]);
        assert_eq!(kinds.iter().filter(|kind| *kind == "delivery").count(), 5);
        let noted = detail["timeline"].as_array().unwrap().iter();
        let mut noted = noted.filter(|entry| entry["kind"] == "acknowledged");
        assert_eq!(noted.next().unwrap()["text"], "on it");
        outage.post("acknowledge", &json!({})).await.refused(409, "alert_over");
        outage.app.clock.advance(Duration::from_secs(1));
        outage.post("comment", &json!({"text": "it was the disk"})).await.ok();
        assert_eq!(timeline(&outage.get().await).last().unwrap(), "commented");
    }

    async fn snoozing_ends_with_a_reminder_and_resolving_is_final(setup: Setup) {
        let outage = Outage::begin(setup).await;
        for body in [json!({}), json!({"seconds": 59}), json!({"seconds": 60, "until": "x"}),
            json!({"until": "2020-01-01T00:00:00Z"})] {
            outage.post("snooze", &body).await.refused(422, "invalid_fields");
        }
        let answer = outage.post("snooze", &json!({"seconds": 3600})).await.ok();
        assert_eq!(answer["alert"]["status"], "snoozed");
        assert_eq!(outage.later(3_599).await, 0);
        report(&outage.ann.client, &outage.monitor, "down").await;
        assert_eq!(outage.later(1).await, 1);
        outage.receiver.wait_for_hooks(2).await;
        outage.delivered().await;
        let answer = outage.post("severity", &json!({"severity": "info"})).await.ok();
        assert_eq!(answer["alert"]["severity"], "info");
        outage.post("severity", &json!({"severity": "fatal"})).await.refused(422, "invalid_fields");
        let answer = outage.post("resolve", &json!({"comment": "known"})).await.ok();
        assert_eq!(answer["alert"]["status"], "resolved");
        outage.receiver.wait_for_hooks(3).await;
        assert_eq!(outage.later(6_000).await, 0);
        report(&outage.ann.client, &outage.monitor, "up").await;
        let over = until("the recovery", async || {
            let detail = outage.get().await;
            (timeline(&detail).last().unwrap() == "recovered").then_some(detail)
        })
        .await;
        assert_eq!(over["alert"]["status"], "over");
        assert_eq!(over["alert"]["resolved"]["name"], "ann@example.com");
        // The next outage is reported as usual.
        outage.app.clock.advance(Duration::from_secs(1));
        report(&outage.ann.client, &outage.monitor, "down").await;
        outage.receiver.wait_for_hooks(4).await;
        assert_eq!(outage.kinds(),
            ["monitor.down", "monitor.reminder", "alert.resolved", "monitor.down"]);
    }

    async fn an_outage_soon_after_an_acknowledged_one_is_sent_and_acknowledged(setup: Setup) {
        let outage = Outage::begin(setup).await;
        outage.post("acknowledge", &json!({})).await.ok();
        // The clock must not pass the lease of a message that is being sent.
        outage.delivered().await;
        outage.app.clock.advance(Duration::from_secs(60));
        report(&outage.ann.client, &outage.monitor, "up").await;
        outage.receiver.wait_for_hooks(3).await;
        outage.delivered().await;
        outage.app.clock.advance(Duration::from_secs(180));
        report(&outage.ann.client, &outage.monitor, "down").await;
        outage.receiver.wait_for_hooks(4).await;
        assert_eq!(outage.kinds(),
            ["monitor.down", "alert.acknowledged", "monitor.up", "monitor.down"]);
        let list = outage.ann.client.get("alerts?status=acknowledged").await.ok();
        assert_eq!(list["alerts"][0]["acknowledged"]["name"], "ann@example.com");
        assert_eq!(outage.later(6_000).await, 0);
    }

    async fn alerts_are_listed_by_status_severity_kind_monitor_tag_and_assignee(setup: Setup) {
        let outage = Outage::begin(setup).await;
        let count = async |query: &str| {
            let list = outage.ann.client.get(&format!("alerts?{query}")).await.ok();
            list["alerts"].as_array().unwrap().len()
        };
        let by_monitor = format!("monitorid={}", outage.monitor);
        for query in ["status=open", "severity=warning", "kind=outage", &by_monitor, "tag=shop", "q=JO"] {
            assert_eq!(count(query).await, 1, "{query}");
        }
        for query in ["status=over", "status=suppressed", "severity=critical", "kind=certificate",
            "tag=sho", "assignee=me", "q=x"] {
            assert_eq!(count(query).await, 0, "{query}");
        }
        outage.post("assign", &json!({"userid": outage.ann.userid})).await.ok();
        assert_eq!(count("assignee=me&status=open&tag=shop").await, 1);
        let list = outage.ann.client.get("alerts").await.ok();
        assert_eq!(list["alerts"][0]["assignee"]["name"], "ann@example.com");
        outage.post("assign", &json!({"userid": ""})).await.ok();
        assert_eq!(count("assignee=me").await, 0);
        for query in ["status=x", "severity=x", "kind=x", "assignee=x"] {
            outage.ann.client.get(&format!("alerts?{query}")).await.refused(422, "invalid_fields");
        }
        let stranger = json!({"userid": "01997b1e-0000-7000-8000-000000000000"});
        outage.post("assign", &stranger).await.refused(422, "invalid_fields");
        outage.post("assign", &json!({"userid": "x"})).await.refused(422, "invalid_fields");
        let ids = json!({"alertids": [outage.alert, "x"], "comment": "all"});
        let changed = outage.ann.client.post("alerts/acknowledge", &ids).await.ok();
        assert_eq!(changed["done"], 1);
        assert_eq!(changed["skipped"], json!([{"alertid": "x", "code": "not_found"}]));
        outage.ann.client.post("alerts/resolve", &ids).await.ok();
        let ids = json!({"alertids": [outage.alert], "seconds": 60});
        let changed = outage.ann.client.post("alerts/snooze", &ids).await.ok();
        assert_eq!(changed["skipped"][0]["code"], "alert_over");
    }

    async fn a_link_acts_on_its_alert_only_when_it_is_posted(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.action_links_per_minute = 5;
        let outage = Outage::begin(setup).await;
        let token = outage.token();
        let shown = outage.link(Method::GET, &token, None).await.ok();
        assert_eq!((&shown["name"], &shown["status"]), (&json!("job"), &json!("open")));
        assert_eq!((&shown["cause"], &shown["person"]), (&json!("reported down"), &Value::Null));
        assert_eq!(outage.get().await["alert"]["status"], "open", "reading it does nothing");
        let acknowledge = json!({"action": "acknowledge"});
        let unnamed = outage.link(Method::POST, &token, Some(&acknowledge)).await;
        unnamed.refused(422, "invalid_fields");
        let named = json!({"action": "acknowledge", "name": "Bob", "text": "mine"});
        for _ in 0..2 {
            let done = outage.link(Method::POST, &token, Some(&named)).await.ok();
            assert_eq!(done["acknowledged_by"], "Bob");
        }
        let by = outage.get().await["alert"]["acknowledged"].clone();
        assert_eq!((&by["name"], &by["via"], &by["userid"]), (&json!("Bob"), &json!("link"), &Value::Null));
        for body in [json!({"action": "assign", "name": "Bob"}), json!({"action": "snooze", "name": "Bob"}),
            json!({"action": "snooze", "name": "Bob", "seconds": 86_401}), json!({"action": "comment", "name": "Bob"})] {
            outage.link(Method::POST, &token, Some(&body)).await.refused(422, "invalid_fields");
        }
        // A week after its end, the link has expired.
        report(&outage.ann.client, &outage.monitor, "up").await;
        outage.link(Method::GET, &token, None).await.ok();
        outage.app.clock.advance(Duration::from_secs(7 * 86_400));
        outage.link(Method::GET, &token, None).await.ok();
        outage.link(Method::POST, &token, Some(&named)).await.refused(409, "alert_over");
        outage.app.clock.advance(Duration::from_secs(1));
        let expired = outage.link(Method::GET, &token, None).await;
        expired.refused(404, "not_found");
        let changed = token.replacen(&token[30..31], if &token[30..31] == "A" { "B" } else { "A" }, 1);
        for token in [changed.as_str(), "wkt_x", "x", &format!("{token}A")] {
            assert_eq!(outage.link(Method::GET, token, None).await.shape(), expired.shape());
        }
        outage.link(Method::GET, "x", None).await.refused(429, "too_many_requests");
    }

    async fn a_webhook_can_acknowledge_in_its_response(setup: Setup) {
        let outage = Outage::begin(setup).await;
        outage.receiver.answer_with(200, "", r#"{"acknowledge": true, "by": "pager", "comment": "ok"}"#);
        assert_eq!(outage.later(600).await, 1);
        let by = until("the acknowledgement", async || {
            let alert = outage.get().await["alert"].clone();
            (alert["status"] == "acknowledged").then(|| alert["acknowledged"].clone())
        })
        .await;
        assert_eq!((&by["name"], &by["via"]), (&json!("pager"), &json!("webhook")));
    }

    async fn nobody_can_add_to_a_timeline_without_end(setup: Setup) {
        let outage = Outage::begin(setup).await;
        let comment = json!({"text": "still looking"});
        let mut added = 0;
        while outage.post("comment", &comment).await.status == 200 {
            added += 1;
            assert!(added <= 500);
        }
        outage.post("acknowledge", &json!({"comment": "mine"})).await.ok();
        let entries = "select count(*) from alert_events";
        let before = outage.app.database.number(entries).await;
        for (call, body) in [
            ("comment", comment),
            ("snooze", json!({"seconds": 60})),
            ("unacknowledge", json!({})),
            ("severity", json!({"severity": "info"})),
            ("assign", json!({"userid": outage.ann.userid})),
        ] {
            assert_eq!(outage.post(call, &body).await.status, 422, "{call}");
        }
        let ids = json!({"alertids": [outage.alert], "seconds": 60});
        let changed = outage.ann.client.post("alerts/snooze", &ids).await.ok();
        let full = json!([{"alertid": outage.alert, "code": "limit_reached"}]);
        assert_eq!((&changed["done"], &changed["skipped"]), (&json!(0), &full));
        assert_eq!(outage.app.database.number(entries).await, before);
        outage.post("acknowledge", &json!({})).await.ok();
        outage.post("resolve", &json!({})).await.ok();
    }

    async fn a_link_to_a_person_works_as_long_as_that_person_can_access_the_monitor(setup: Setup) {
        let outage = Outage::begin(setup).await;
        let bob = outage.ann.colleague(&outage.app.anonymous(), "bob@example.com").await;
        let subject = Subject::User(UserId::parse(&bob.userid).unwrap());
        let link = ActionLink { alert: AlertId::parse(&outage.alert).unwrap(), subject };
        let token = outage.app.store.action_token(&link);
        let limit = async |role: &str, tags: &str| {
            let body = json!({"userid": bob.userid, "role": role, "tags": tags});
            outage.ann.client.post("member/save", &body).await.ok();
        };
        let comment = json!({"action": "comment", "text": "mine"});
        let statuses = async || {
            let read = outage.link(Method::GET, &token, None).await;
            let written = outage.link(Method::POST, &token, Some(&comment)).await;
            (read.status, written.status)
        };
        for (role, tags, status) in [("responder", "shop", 200), ("responder", "print", 404),
            ("responder", "shop", 200), ("viewer", "shop", 404), ("responder", "shop", 200)] {
            limit(role, tags).await;
            assert_eq!(statuses().await, (status, status), "{role} {tags}");
        }
        // Ann is the first account, so she administers the installation.
        for call in ["member/save", "admin/user"] {
            for (suspended, status) in [(true, 404), (false, 200)] {
                let body = json!({"userid": bob.userid, "suspended": suspended});
                outage.ann.client.post(call, &body).await.ok();
                assert_eq!(statuses().await, (status, status), "{call} {suspended}");
            }
        }
        outage.ann.client.post("team/delete", &json!({"userids": [bob.userid]})).await.ok();
        assert_eq!(statuses().await, (404, 404));
    }

    async fn an_assigned_user_is_notified(setup: Setup) {
        let outage = Outage::begin(setup).await;
        let body = json!({"email": "bob@example.com", "password1": wakeful_testkit::PASSWORD,
            "password2": wakeful_testkit::PASSWORD, "role": "responder"});
        outage.ann.client.post("team/save", &body).await.ok();
        let bob = User::logged_in(&outage.app.anonymous(), "bob@example.com").await;
        bob.client.post("email/send", &json!({})).await.ok();
        outage.app.verify(&bob).await;
        let assigned = outage.post("assign", &json!({"userid": bob.userid})).await.ok();
        assert_eq!(assigned["alert"]["status"], "open", "it does not acknowledge");
        until("the mail", async || {
            let mails = outage.app.mails_now("bob@example.com");
            mails.iter().any(|mail| mail.contains("was assigned to you")).then_some(())
        })
        .await;
        let list = bob.client.get("alerts?assignee=me").await.ok();
        assert_eq!(list["alerts"].as_array().unwrap().len(), 1);
    }

    async fn an_alert_is_assigned_only_to_members_who_may_see_its_monitor(setup: Setup) {
        let outage = Outage::begin(setup).await;
        let add = async |email: &str, limit: Value| {
            let mut body = json!({"email": email, "password1": wakeful_testkit::PASSWORD,
                "password2": wakeful_testkit::PASSWORD});
            body.as_object_mut().unwrap().extend(limit.as_object().unwrap().clone());
            outage.ann.client.post("team/save", &body).await.ok()["userid"].clone()
        };
        let bob = add("bob@example.com", json!({"role": "responder", "tags": "shop"})).await;
        outage.post("assign", &json!({"userid": bob})).await.ok();
        let eve = add("eve@example.com", json!({"role": "responder", "tags": "other"})).await;
        let pay = add("pay@example.com", json!({"role": "billing"})).await;
        for userid in [&eve, &pay] {
            let refused = outage.post("assign", &json!({"userid": userid})).await;
            assert_eq!(refused.wrong_fields(), ["userid"]);
            assert!(refused.text.contains("must be a member who may see the monitor"), "{}", refused.text);
        }
        let suspend = "update users set suspended_at = 1 where email = 'bob@example.com'";
        outage.app.database.execute(suspend).await;
        assert_eq!(outage.post("assign", &json!({"userid": bob})).await.wrong_fields(), ["userid"]);
        assert_eq!(outage.get().await["alert"]["assignee"]["userid"], bob);
    }

    async fn an_outage_is_decided_once_by_several_nodes_and_again_after_a_lost_decision(setup: Setup) {
        let outage = Outage::begin(setup).await;
        let beside = outage.app.second_node().await;
        outage.app.clock.advance(Duration::from_secs(600));
        report(&outage.ann.client, &outage.monitor, "down").await;
        let (here, there) = tokio::join!(process_due(&outage.app.engine), process_due(&beside.engine));
        assert_eq!(here.unwrap().reminders + there.unwrap().reminders, 1);
        let hooks: Vec<Hook> = outage.receiver.wait_for_hooks(2).await;
        assert_eq!(hooks.len(), 2);
        beside.stop().await;
    }

    async fn alerts_of_the_previous_version_lose_nothing_and_repeat_nothing(setup: Setup) {
        let outage = Outage::begin(setup).await;
        let due = outage.app.database.number("select due from alerts").await;
        // As that version writes an outage: with its deliveries, and the time of the reminder.
        let old = format!("update alerts set state = '{{}}', status = 'open', due = null, revision = 0, \
            opened_event = null, remind_at = {due}");
        outage.app.database.execute(&old).await;
        assert_eq!(outage.later(599).await, 0);
        assert_eq!(outage.later(1).await, 1, "its reminder is sent at its time");
        assert_eq!(outage.later(0).await, 0, "and once");
        outage.receiver.wait_for_hooks(2).await;
        outage.delivered().await;
        // The same with the statement of the upgrade.
        let due = outage.app.database.number("select due from alerts").await;
        let old = format!("update alerts set state = '{{}}', status = 'open', due = null, revision = 0, \
            opened_event = null, remind_at = {due}");
        outage.app.database.execute(&old).await;
        outage.app.database.execute(upgrade(outage.app.database.kind())).await;
        assert_eq!(outage.app.database.number("select count(*) from alerts where remind_at is null").await, 1);
        report(&outage.ann.client, &outage.monitor, "down").await;
        assert_eq!(outage.later(599).await, 0);
        assert_eq!(outage.later(1).await, 1);
        outage.receiver.wait_for_hooks(3).await;
        outage.delivered().await;
        let alert = outage.get().await["alert"].clone();
        assert_eq!(alert["status"], "open");
        assert!(alert["notified"].is_string(), "{alert}");
        report(&outage.ann.client, &outage.monitor, "up").await;
        outage.receiver.wait_for_hooks(4).await;
        assert_eq!(outage.later(6_000).await, 0);
        assert_eq!(outage.kinds(),
            ["monitor.down", "monitor.reminder", "monitor.reminder", "monitor.up"]);
    }
}

/// The statement of the migration that open outages are upgraded with.
fn upgrade(database: DatabaseKind) -> &'static str {
    let migration = match database {
        DatabaseKind::Sqlite => {
            include_str!("../../../wakeful-store/migrations/sqlite/0034_alerting.sql")
        }
        DatabaseKind::Postgres => {
            include_str!("../../../wakeful-store/migrations/postgres/0034_alerting.sql")
        }
    };
    let mut statements = migration.split_inclusive(';');
    statements.find(|statement| statement.contains("set state = ")).unwrap()
}
