//! Personal notifiers: `personal` of notifier/save and of notifiers. Nobody but their user sees
//! them, and only contact rules use them.

use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use wakeful_testkit::{Client, Receiver, both_databases, until};

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

async fn listed(client: &Client, query: &str) -> Vec<String> {
    let list = client.get(&format!("notifiers{query}")).await.ok();
    let list = list["notifiers"].as_array().unwrap().iter();
    list.map(|notifier| text(&notifier["name"])).collect()
}

both_databases! {
    async fn only_its_user_sees_a_personal_notifier_and_only_contact_rules_use_it(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        app.verify(&ann).await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let client = &ann.client;
        let receiver = Receiver::start().await;
        let hook = |name: &str| json!({"name": name, "type": "webhook", "webhook": {"url": receiver.url}});
        assert_eq!(client.post("notifier/save", &hook("team")).await.status, 200);
        let mut body = hook("phone");
        body["personal"] = json!(true);
        let phone = client.post("notifier/save", &body).await.json();
        assert_eq!(phone["personal"], true);
        let id = text(&phone["notifierid"]);
        assert_eq!(listed(client, "").await, ["team"]);
        assert_eq!(listed(client, "?personal=true").await, ["phone"]);
        assert_eq!(listed(client, "?personal=false").await, ["team"]);
        client.get("notifiers?personal=yes").await.refused(422, "invalid_fields");

        // To others it does not exist.
        assert_eq!(listed(&bob.client, "?personal=true").await, [""; 0]);
        let change = json!({"notifierid": id, "name": "mine"});
        bob.client.post("notifier/save", &change).await.refused(404, "not_found");
        bob.client.post("notifier/test", &json!({"notifierid": id})).await.refused(404, "not_found");
        bob.client.post("notifier/preview", &json!({"notifierid": id})).await.refused(404, "not_found");
        bob.client.get(&format!("notifier/{id}/deliveries")).await.refused(404, "not_found");
        bob.client.post_nothing(&format!("notifier/{id}/rotate")).await.refused(404, "not_found");
        bob.client.delete(&format!("notifier/{id}/delete")).await.refused(404, "not_found");
        let rules = json!({"rules": [{"notifierid": id}]});
        assert_eq!(bob.client.post("contacts/save", &rules).await.wrong_fields(), ["rules"]);

        // It cannot be linked to anything, nor become one of the team.
        let monitor = json!({"type": "api", "name": "job", "heartbeat_interval": 86400,
            "isactive": true, "upside_down_mode": false, "notifiers": id});
        assert_eq!(client.post("monitor/save", &monitor).await.wrong_fields(), ["notifiers"]);
        let window = json!({"name": "w", "everything": true, "starts": "2026-12-01T10:00:00Z",
            "duration": 600, "announce": {"notifiers": id, "start": true}});
        assert_eq!(client.post("maintenance/save", &window).await.wrong_fields(), ["announce.notifiers"]);
        let rules = json!({"rules": [{"name": "r", "everything": true, "notifiers": id}], "revision": 0});
        assert_eq!(client.post("routing/save", &rules).await.status, 422);
        let policy = json!({"name": "p", "steps": [{"after": 0, "notify": [{"notifierid": id}]}]});
        assert_eq!(client.post("policy/save", &policy).await.status, 422);
        let change = json!({"notifierid": id, "personal": false});
        assert_eq!(client.post("notifier/save", &change).await.wrong_fields(), ["personal"]);
        let change = json!({"notifierid": id, "isdefault": true});
        assert_eq!(client.post("notifier/save", &change).await.wrong_fields(), ["isdefault"]);
        let account = json!({"type": "account", "personal": true});
        assert_eq!(client.post("notifier/save", &account).await.wrong_fields(), ["personal"]);

        // Contact rules use it. Others see that Ann was notified, and not how.
        client.post("contacts/save", &json!({"rules": [{"notifierid": id}]})).await.ok();
        let policy = json!({"name": "p", "steps": [{"after": 0, "notify": [{"userid": ann.userid}]}]});
        let policy = client.post("policy/save", &policy).await.ok()["policy"]["policyid"].clone();
        let mut job = monitor;
        job["notifiers"] = json!("");
        job["policyid"] = policy;
        let job = text(&client.post("monitor/save", &job).await.ok()["monitor"]["monitorid"]);
        client.post(&format!("monitor/notify/{job}"), &json!({"status": "down"})).await.ok();
        let sent = receiver.wait_for_hooks(1).await[0].json();
        assert_eq!(sent["type"], "monitor.down");
        let alert = text(&sent["data"]["alertid"]);
        assert!(text(&sent["data"]["link"]).ends_with(&format!("/alert/{alert}")), "{sent}");
        let seen = bob.client.get(&format!("alert/{alert}/get")).await.ok();
        assert_eq!(seen["alert"]["deliveries"][0]["name"], "ann@example.com");
        // The link in the message identifies her.
        let token = text(&sent["data"]["action_url"]).rsplit('/').next().unwrap().to_owned();
        let (path, order) = (format!("/api/action/{token}"), json!({"action": "acknowledge"}));
        app.anonymous().call(Method::POST, &path, Some(&order)).await.ok();
        let seen = bob.client.get(&format!("alert/{alert}/get")).await.ok();
        assert_eq!(seen["alert"]["acknowledged"]["userid"], ann.userid.as_str(), "{seen}");

        let audit = client.get("audit?action=notifier.create").await.ok();
        let entry = audit["entries"].as_array().unwrap().iter()
            .find(|entry| entry["object"]["id"] == id.as_str()).unwrap_or_else(|| panic!("{audit}"));
        assert!(!entry.to_string().contains("phone"), "{entry}");

        // Twenty at most.
        for number in 1..20 {
            let mut body = hook(&format!("phone {number}"));
            body["personal"] = json!(true);
            assert_eq!(client.post("notifier/save", &body).await.status, 200);
        }
        client.post("notifier/save", &body).await.refused(409, "limit_reached");
        client.delete(&format!("notifier/{id}/delete")).await.ok();
        assert_eq!(listed(client, "?personal=true").await.len(), 19);
        // Those of somebody who leaves the team are deleted.
        assert_eq!(bob.client.post("notifier/save", &body).await.status, 200);
        assert_eq!(app.database.rows("notifiers").await, 21);
        client.post("team/delete", &json!({"userids": [bob.userid]})).await.ok();
        assert_eq!(app.database.rows("notifiers").await, 20);
        app.stop().await;
    }

    async fn what_is_queued_for_a_suspended_member_is_not_sent(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let receiver = Receiver::start().await;
        receiver.answer_with(503, "", "");
        let phone = json!({"name": "phone", "type": "webhook", "webhook": {"url": receiver.url}, "personal": true});
        let phone = text(&bob.client.post("notifier/save", &phone).await.json()["notifierid"]);
        bob.client.post("contacts/save", &json!({"rules": [{"notifierid": phone}]})).await.ok();
        let policy = json!({"name": "p", "steps": [{"after": 0, "notify": [{"userid": bob.userid}]}]});
        let policy = ann.client.post("policy/save", &policy).await.ok()["policy"]["policyid"].clone();
        let job = json!({"type": "api", "name": "job", "heartbeat_interval": 86400, "isactive": true,
            "upside_down_mode": false, "notifiers": "", "policyid": policy});
        let job = text(&ann.client.post("monitor/save", &job).await.ok()["monitor"]["monitorid"]);
        ann.client.post(&format!("monitor/notify/{job}"), &json!({"status": "down"})).await.ok();
        receiver.wait_for_hooks(1).await;
        let failed = "select count(*) from deliveries where last_answer <> '' and next_try is not null";
        until("the failure", || async { (app.database.number(failed).await == 1).then_some(()) }).await;
        ann.client.post("member/save", &json!({"userid": bob.userid, "suspended": true})).await.ok();
        receiver.answer_with(200, "", "");
        app.clock.advance(Duration::from_secs(600));
        let refused = "select count(*) from deliveries where state = 'failed'
            and last_answer = 'the user is suspended or no longer a member of the team'";
        until("the refusal", || async { (app.database.number(refused).await == 1).then_some(()) }).await;
        assert_eq!(receiver.count(), 1);
        app.stop().await;
    }
}
