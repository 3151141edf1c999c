//! audit, audit/export, audit/verify: each change leaves one entry, no entry has a secret, and
//! what was changed in the database is detected.

use data_encoding::{BASE64, HEXLOWER};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::time::Duration;
use wakeful_core::time::Clock as _;
use wakeful_testkit::fakes::FakePush;
use wakeful_testkit::{App, Authenticator, Hook, Receiver, User, both_databases, until};

use crate::every_route::{Operation, operations};
use crate::payment_methods::card;

/// Operations that change nothing that the audit log is about, and why.
const QUIET: &[(&str, &str)] = &[
    ("POST /api/action/{token}/call", "like /api/action/{token}; see phones_and_repeats.rs"),
    ("POST /api/action/{token}/pushover", "like /api/action/{token}; see channels.rs"),
    ("POST /api/v1/audit/stream/test", "sends"),
    ("POST /api/v1/authenticated", "reads"),
    ("POST /api/v1/contactus", "a message to the operator"),
    ("POST /api/v1/delivery/{deliveryid}/resend", "sends"),
    ("POST /api/v1/email/send", "sends a link, which is recorded when it is used"),
    ("POST /api/v1/invitation/read", "reads"),
    ("POST /api/v1/maintenance/try", "reads"),
    ("POST /api/v1/membership/preview", "reads"),
    ("POST /api/v1/mfa/setup", "has no effect until it is confirmed"),
    ("POST /api/v1/monitor/notify/{monitorid}", "a heartbeat"),
    ("POST /api/v1/monitor/schedule", "reads"),
    ("POST /api/v1/monitor/try", "a check"),
    ("POST /api/v1/monitor/{monitorid}/check", "a check"),
    ("POST /api/v1/notifier/preview", "reads"),
    ("POST /api/v1/statuspage/preview", "reads"),
    (
        "POST /api/v1/statuspage/{pageid}/domain/check",
        "recorded when it finds the record; see page_domains.rs",
    ),
    ("POST /api/v1/statuspage/{pageid}/subscriber/test", "sends"),
    (
        "POST /api/v1/incident/{incidentid}/update/{updateid}/resend",
        "only if something failed; sends",
    ),
    ("POST /api/v1/notifier/test", "sends"),
    ("POST /api/v1/password/lost", "sends a link, which is recorded when it is used"),
    ("POST /api/v1/payment/callback/stripe", "triggers a lookup"),
    ("POST /api/v1/reauthenticate", "only failures are recorded; see reauthentication.rs"),
    ("POST /api/v1/reauthenticate/start", "reads"),
    ("POST /api/v1/routing/try", "reads"),
    ("POST /api/v1/team/switch", "chooses what a session shows"),
    ("POST /api/v1/team/remove", "deletes the log; see teams.rs"),
    ("POST /api/membership/save", "the same handler as /api/v1/membership/save"),
    ("DELETE /api/v1/user/delete", "the same handler as POST"),
];

/// Swaps the entries 3 and 4.
const SWAP: &str = "update audit set seq = 99 where seq = 3;
    update audit set seq = 3 where seq = 4; update audit set seq = 4 where seq = 99";

/// Stands for every secret that a request contains.
const SENTINEL: &str = "Sentinel-9b1f4c";

/// The audit log of a team, read after each call.
struct Log {
    reader: User,
    last: i64,
    covered: BTreeSet<String>,
}

impl Log {
    async fn of(reader: &User) -> Self {
        let mut log = Self { reader: reader.clone(), last: 0, covered: BTreeSet::new() };
        log.last = log.newest().await["seq"].as_i64().unwrap();
        log
    }

    async fn newest(&self) -> Value {
        self.reader.client.get("audit?limit=1").await.ok()["entries"][0].clone()
    }

    /// Returns the one entry that the operation has left.
    async fn one(&mut self, operation: &str, action: &str) -> Value {
        let entry = self.newest().await;
        assert_eq!(entry["seq"], self.last + 1, "{operation}: {entry}");
        assert_eq!(entry["action"], action, "{operation}: {entry}");
        self.last += 1;
        self.covered.insert(operation.to_owned());
        entry
    }
}

fn monitor(monitorid: Option<&str>, name: &str) -> Value {
    json!({"monitorid": monitorid, "type": "http", "name": name, "heartbeat_interval": 60,
        "isactive": false, "upside_down_mode": false, "http": {"url": "http://127.0.0.1:1/",
        "authentication": "basic", "username": "u", "password": SENTINEL,
        "headers": format!("x-key: {SENTINEL}"), "body": SENTINEL, "method": "post"}})
}

/// Makes each change once, as an owner.
async fn make_every_change(app: &App, ann: &User, log: &mut Log) {
    let receiver = Receiver::start().await;
    app.verify(ann).await;
    log.one("POST /api/v1/email/verify", "member.verify").await;
    change_monitors(ann, log, &receiver).await;
    change_maintenance(ann, log).await;
    change_on_call(ann, log).await;
    change_statuspages(ann, log).await;
    change_browsers(app, ann, log).await;
    change_alerts(app, ann, log, &receiver).await;
    change_streams(ann, log, &receiver).await;
    change_people(app, ann, log).await;
    change_teams(app, ann, log).await;
    change_keys(app, ann, log).await;
    pay(ann, log).await;
    change_credentials(app, ann, log).await;
}

async fn change_statuspages(ann: &User, log: &mut Log) {
    let client = &ann.client;
    let page = json!({"name": "Acme", "access": "password", "password": SENTINEL,
        "sections": [{"components": [{"name": "API"}]}]});
    let saved = client.post("statuspage/save", &page).await.ok()["statuspage"].clone();
    let id = saved["pageid"].as_str().unwrap();
    let entry = log.one("POST /api/v1/statuspage/save", "statuspage.create").await;
    assert_eq!(entry["object"], json!({"kind": "statuspage", "id": id, "name": "Acme"}));
    client.post("statuspage/save", &saved).await.ok();
    let entry = log.newest().await;
    assert_eq!(entry["seq"], log.last, "what is sent back unchanged changes nothing: {entry}");
    client.post("statuspage/save", &json!({"pageid": id, "published": true})).await.ok();
    let entry = log.one("POST /api/v1/statuspage/save", "statuspage.update").await;
    assert_eq!(entry["changes"], json!([{"field": "published", "from": false, "to": true}]));
    let image = json!({"kind": "logo", "data": "iVBORw0KGgo="});
    client.post(&format!("statuspage/{id}/image"), &image).await.ok();
    log.one("POST /api/v1/statuspage/{pageid}/image", "statuspage.update").await;
    client.delete(&format!("statuspage/{id}/image/logo/delete")).await.ok();
    let delete = "DELETE /api/v1/statuspage/{pageid}/image/{kind}/delete";
    log.one(delete, "statuspage.update").await;
    let token = client.post(&format!("statuspage/{id}/token/rotate"), &json!({})).await.ok();
    let entry = log.one("POST /api/v1/statuspage/{pageid}/token/rotate", "statuspage.update").await;
    assert!(!entry.to_string().contains(token["access_token"].as_str().unwrap()));
    let component = saved["sections"][0]["components"][0]["componentid"].as_str().unwrap();
    let status = json!({"status": "partial_outage"});
    client.post(&format!("component/{component}/status"), &status).await.ok();
    log.one("POST /api/v1/component/{componentid}/status", "statuspage.component").await;
    let incident = json!({"title": "Outage", "state": "draft", "update": {"body": "x"},
        "components": [{"componentid": component}]});
    let incident = client.post("incident/save", &incident).await.ok()["incident"].clone();
    let incidentid = incident["incidentid"].as_str().unwrap();
    log.one("POST /api/v1/incident/save", "incident.create").await;
    for (call, body, action) in [
        ("publish", json!({}), "incident.publish"),
        ("postmortem/save", json!({"body": "y"}), "incident.postmortem"),
        ("update/save", json!({"body": "z", "status": "identified"}), "incident.post"),
    ] {
        client.post(&format!("incident/{incidentid}/{call}"), &body).await.ok();
        log.one(&format!("POST /api/v1/incident/{{incidentid}}/{call}"), action).await;
    }
    let update = incident["updates"][0]["updateid"].as_str().unwrap();
    client.delete(&format!("incident/{incidentid}/update/{update}/delete")).await.ok();
    let delete = "DELETE /api/v1/incident/{incidentid}/update/{updateid}/delete";
    log.one(delete, "incident.post").await;
    client.delete(&format!("incident/{incidentid}/delete")).await.ok();
    log.one("DELETE /api/v1/incident/{incidentid}/delete", "incident.delete").await;
    let template = json!({"name": "outage", "title": "Outage", "body": "{{ components }}"});
    let saved = client.post("incidenttemplate/save", &template).await.ok();
    let templateid = saved["incidenttemplate"]["templateid"].as_str().unwrap();
    log.one("POST /api/v1/incidenttemplate/save", "incidenttemplate.create").await;
    client.delete(&format!("incidenttemplate/{templateid}/delete")).await.ok();
    let delete = "DELETE /api/v1/incidenttemplate/{templateid}/delete";
    log.one(delete, "incidenttemplate.delete").await;
    let subscriber = json!({"address": format!("{SENTINEL}@example.com"), "consent": true});
    let path = format!("statuspage/{id}/subscriber/save");
    let saved = client.post(&path, &subscriber).await.ok()["subscriber"].clone();
    log.one("POST /api/v1/statuspage/{pageid}/subscriber/save", "subscriber.create").await;
    let change = json!({"subscriberid": saved["subscriberid"], "language": "de"});
    client.post(&path, &change).await.ok();
    log.one("POST /api/v1/statuspage/{pageid}/subscriber/save", "subscriber.update").await;
    let import = json!({"subscribers": [{"address": "a@b.example"}], "consent": true});
    client.post(&format!("statuspage/{id}/subscribers/import"), &import).await.ok();
    log.one("POST /api/v1/statuspage/{pageid}/subscribers/import", "subscriber.import").await;
    let subscriberid = saved["subscriberid"].as_str().unwrap();
    client.delete(&format!("statuspage/{id}/subscriber/{subscriberid}/delete")).await.ok();
    let delete = "DELETE /api/v1/statuspage/{pageid}/subscriber/{subscriberid}/delete";
    log.one(delete, "subscriber.delete").await;
    client.delete(&format!("statuspage/{id}/delete")).await.ok();
    log.one("DELETE /api/v1/statuspage/{pageid}/delete", "statuspage.delete").await;
}

async fn change_alerts(app: &App, ann: &User, log: &mut Log, receiver: &Receiver) {
    let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
    let hook = ann.client.post("notifier/save", &hook).await.json()["notifierid"].clone();
    let job = json!({"type": "api", "name": "job", "heartbeat_interval": 86400, "isactive": true,
        "upside_down_mode": false, "notifiers": hook});
    let job = ann.client.post("monitor/save", &job).await.ok()["monitor"]["monitorid"].clone();
    let path = format!("monitor/notify/{}", job.as_str().unwrap());
    ann.client.post(&path, &json!({"status": "down"})).await.ok();
    log.last = log.newest().await["seq"].as_i64().unwrap();
    let hooks = receiver.wait_for_hooks(receiver.count().max(1)).await;
    let down = hooks.iter().map(Hook::json).find(|hook| hook["type"] == "monitor.down");
    let down = down.expect("the outage was sent");
    let alert = down["data"]["alertid"].as_str().unwrap().to_owned();
    for (call, body, action) in [
        ("acknowledge", json!({"comment": "on it"}), "alert.acknowledge"),
        ("unacknowledge", json!({}), "alert.unacknowledge"),
        ("snooze", json!({"seconds": 60}), "alert.snooze"),
        ("assign", json!({"userid": ann.userid}), "alert.assign"),
        ("comment", json!({"text": "x"}), "alert.comment"),
        ("severity", json!({"severity": "info"}), "alert.severity"),
    ] {
        ann.client.post(&format!("alert/{alert}/{call}"), &body).await.ok();
        let entry = log.one(&format!("POST /api/v1/alert/{{alertid}}/{call}"), action).await;
        assert_eq!(
            (&entry["object"]["id"], &entry["object"]["name"]),
            (&json!(alert), &json!("job"))
        );
    }
    for (call, body, action) in [
        ("acknowledge", json!({"alertids": [alert]}), "alert.acknowledge"),
        ("snooze", json!({"alertids": [alert], "seconds": 60}), "alert.snooze"),
    ] {
        let changed = ann.client.post(&format!("alerts/{call}"), &body).await.ok();
        assert_eq!(changed["done"], 1, "{changed}");
        log.one(&format!("POST /api/v1/alerts/{call}"), action).await;
    }
    let url = down["data"]["action_url"].as_str().unwrap();
    let token = url.rsplit('/').next().unwrap();
    let body = json!({"action": "comment", "text": "x", "name": "Bob"});
    app.anonymous().call(Method::POST, &format!("/api/action/{token}"), Some(&body)).await.ok();
    let entry = log.one("POST /api/action/{token}", "alert.comment").await;
    assert_eq!((&entry["actor"]["name"], &entry["via"]["kind"]), (&json!("hook"), &json!("link")));
    ann.client.post(&format!("alert/{alert}/resolve"), &json!({})).await.ok();
    log.one("POST /api/v1/alert/{alertid}/resolve", "alert.resolve").await;
    for status in ["up", "down"] {
        app.clock.advance(Duration::from_secs(1));
        ann.client.post(&path, &json!({"status": status})).await.ok();
    }
    let open = until("the next outage", async || {
        let list = ann.client.get("alerts?status=open").await.ok();
        list["alerts"].get(0).map(|alert| alert["alertid"].clone())
    })
    .await;
    ann.client.post("alerts/resolve", &json!({"alertids": [open]})).await.ok();
    log.one("POST /api/v1/alerts/resolve", "alert.resolve").await;
}

async fn change_monitors(ann: &User, log: &mut Log, receiver: &Receiver) {
    let hook = json!({"name": "hook", "type": "webhook", "webhook":
        {"url": format!("{}/{SENTINEL}", receiver.url), "headers": format!("x-key: {SENTINEL}")}});
    let notifier = ann.client.post("notifier/save", &hook).await.json()["notifierid"].clone();
    let entry = log.one("POST /api/v1/notifier/save", "notifier.create").await;
    assert_eq!((&entry["object"]["id"], &entry["object"]["name"]), (&notifier, &json!("hook")));
    let notifier = notifier.as_str().unwrap();
    ann.client.post_nothing(&format!("notifier/{notifier}/rotate")).await.json();
    let entry = log.one("POST /api/v1/notifier/{notifierid}/rotate", "notifier.update").await;
    assert_eq!(entry["changes"], json!([{"field": "webhook.secret", "to": "changed"}]));
    ann.client.delete(&format!("notifier/{notifier}/delete")).await.ok();
    log.one("DELETE /api/v1/notifier/{notifierid}/delete", "notifier.delete").await;

    let saved = ann.client.post("monitor/save", &monitor(None, "site")).await.ok();
    let id = saved["monitor"]["monitorid"].as_str().unwrap().to_owned();
    let entry = log.one("POST /api/v1/monitor/save", "monitor.create").await;
    assert_eq!(entry["actor"]["name"], "ann@example.com");
    assert_eq!(entry["via"]["kind"], "session");
    assert_eq!(entry["from"]["address"], "127.0.0.1");
    assert_eq!(entry["request"].as_str().unwrap().len(), 16);
    ann.client.post("monitor/save", &monitor(Some(&id), "shop")).await.ok();
    let entry = log.one("POST /api/v1/monitor/save", "monitor.update").await;
    assert_eq!(entry["changes"], json!([{"field": "name", "from": "site", "to": "shop"}]));
    ann.client.post("monitor/save", &monitor(Some(&id), "shop")).await.ok();
    assert_eq!(log.newest().await["seq"], log.last, "a save without a change is none");

    let change = json!({"ids": [id], "tags_add": ["eu"]});
    ann.client.post("monitors/change", &change).await.ok();
    let entry = log.one("POST /api/v1/monitors/change", "monitor.update").await;
    assert_eq!(entry["changes"], json!([{"field": "tags_add", "to": ["eu"]}]));
    let pinned = json!([{"source": "body", "comparison": "unchanged", "target": "pinned"}]);
    let pinned = json!({"monitorid": id, "type": "http", "assertions": pinned,
        "http": {"url": "http://127.0.0.1:9/"}});
    ann.client.post("monitor/save", &pinned).await.ok();
    log.one("POST /api/v1/monitor/save", "monitor.update").await;
    ann.client.post_nothing(&format!("monitor/{id}/accept")).await.ok();
    let entry = log.one("POST /api/v1/monitor/{monitorid}/accept", "monitor.update").await;
    assert_eq!(entry["changes"][0]["field"], "assertions", "{entry}");
    let push = json!({"type": "api", "name": "job", "heartbeat_interval": 86400, "isactive": true,
        "upside_down_mode": false});
    let job = ann.client.post("monitor/save", &push).await.ok();
    let job = job["monitor"]["monitorid"].as_str().unwrap().to_owned();
    log.one("POST /api/v1/monitor/save", "monitor.create").await;
    ann.client.post_nothing(&format!("monitor/{job}/push/rotate")).await.ok();
    let entry = log.one("POST /api/v1/monitor/{monitorid}/push/rotate", "monitor.update").await;
    assert_eq!(entry["changes"], json!([{"field": "push_url", "to": "changed"}]));
    ann.client.post_nothing("team/pingkey/rotate").await.ok();
    let entry = log.one("POST /api/v1/team/pingkey/rotate", "team.update").await;
    assert_eq!(entry["changes"], json!([{"field": "ping_key", "to": "changed"}]));
    ann.client.delete(&format!("monitor/{job}/delete")).await.ok();
    let entry = log.one("DELETE /api/v1/monitor/{monitorid}/delete", "monitor.delete").await;
    assert_eq!(entry["object"]["name"], "job");
    let other = ann.client.post("monitor/save", &monitor(None, "other")).await.ok();
    log.one("POST /api/v1/monitor/save", "monitor.create").await;
    let both = json!({"ids": [id, other["monitor"]["monitorid"]]});
    ann.client.post("monitors/delete", &both).await.ok();
    let entry = log.one("POST /api/v1/monitors/delete", "monitor.delete").await;
    assert_eq!(entry["object"]["kind"], "monitors");
    assert_eq!(entry["changes"][0], json!({"field": "count", "to": 2}));
    let names = entry["changes"][1]["to"].as_array().unwrap();
    assert!(names.contains(&json!("shop")) && names.contains(&json!("other")), "{names:?}");
}

async fn change_maintenance(ann: &User, log: &mut Log) {
    let window = json!({"name": "Backups", "tags": "db", "starts": "2026-11-15T09:00:00Z",
        "duration": 86400});
    let saved = ann.client.post("maintenance/save", &window).await.ok()["maintenance"].clone();
    let id = saved["maintenanceid"].as_str().unwrap();
    let entry = log.one("POST /api/v1/maintenance/save", "maintenance.create").await;
    assert_eq!(entry["object"], json!({"kind": "maintenance", "id": id, "name": "Backups"}));
    let change = json!({"maintenanceid": id, "grace": 60});
    ann.client.post("maintenance/save", &change).await.ok();
    let entry = log.one("POST /api/v1/maintenance/save", "maintenance.update").await;
    assert_eq!(entry["changes"], json!([{"field": "grace", "from": 0, "to": 60}]));
    ann.client.post("maintenance/save", &change).await.ok();
    assert_eq!(log.newest().await["seq"], log.last, "a save without a change is none");
    let until = json!({"until": "2026-11-17T00:00:00Z"});
    ann.client.post(&format!("maintenance/{id}/extend"), &until).await.ok();
    log.one("POST /api/v1/maintenance/{maintenanceid}/extend", "maintenance.extend").await;
    ann.client.post_nothing(&format!("maintenance/{id}/end")).await.ok();
    log.one("POST /api/v1/maintenance/{maintenanceid}/end", "maintenance.end").await;
    ann.client.delete(&format!("maintenance/{id}/delete")).await.ok();
    log.one("DELETE /api/v1/maintenance/{maintenanceid}/delete", "maintenance.delete").await;
}

async fn change_on_call(ann: &User, log: &mut Log) {
    let policy = json!({"name": "Production", "steps": [{"notify": [{"userid": ann.userid}]}]});
    let saved = ann.client.post("policy/save", &policy).await.ok()["policy"].clone();
    let id = saved["policyid"].as_str().unwrap();
    let entry = log.one("POST /api/v1/policy/save", "policy.create").await;
    assert_eq!(entry["object"], json!({"kind": "policy", "id": id, "name": "Production"}));
    let change = json!({"policyid": id, "repeat": 2});
    ann.client.post("policy/save", &change).await.ok();
    let entry = log.one("POST /api/v1/policy/save", "policy.update").await;
    assert_eq!(entry["changes"], json!([{"field": "repeat", "from": 0, "to": 2}]));
    ann.client.post("policy/save", &change).await.ok();
    assert_eq!(log.newest().await["seq"], log.last, "a save without a change is none");
    let rules = json!({"rules": [{"name": "all", "everything": true, "severity": "info"}]});
    ann.client.post("routing/save", &rules).await.ok();
    log.one("POST /api/v1/routing/save", "routing.update").await;
    ann.client.post("routing/save", &json!({"rules": []})).await.ok();
    log.one("POST /api/v1/routing/save", "routing.update").await;
    ann.client.delete(&format!("policy/{id}/delete")).await.ok();
    log.one("DELETE /api/v1/policy/{policyid}/delete", "policy.delete").await;
    let schedule = json!({"name": "Ops", "time_zone": "UTC", "layers": []});
    let saved = ann.client.post("schedule/save", &schedule).await.ok()["schedule"].clone();
    let id = saved["scheduleid"].as_str().unwrap();
    log.one("POST /api/v1/schedule/save", "schedule.create").await;
    let change = json!({"scheduleid": id, "name": "Nights"});
    ann.client.post("schedule/save", &change).await.ok();
    log.one("POST /api/v1/schedule/save", "schedule.update").await;
    let replacement = json!({"userid": ann.userid, "starts": "2026-11-16T00:00",
        "ends": "2026-11-17T00:00"});
    let path = format!("schedule/{id}/override");
    let added = ann.client.post(&path, &replacement).await.ok();
    log.one("POST /api/v1/schedule/{scheduleid}/override", "schedule.override").await;
    let overrideid = added["overrideid"].as_str().unwrap();
    ann.client.delete(&format!("override/{overrideid}/delete")).await.ok();
    log.one("DELETE /api/v1/override/{overrideid}/delete", "schedule.override").await;
    ann.client.post_nothing(&format!("schedule/{id}/feed")).await.ok();
    log.one("POST /api/v1/schedule/{scheduleid}/feed", "schedule.feed").await;
    ann.client.delete(&format!("schedule/{id}/delete")).await.ok();
    log.one("DELETE /api/v1/schedule/{scheduleid}/delete", "schedule.delete").await;
    let contacts = json!({"rules": [{"notifierid": "account", "after": 60}]});
    ann.client.post("contacts/save", &contacts).await.ok();
    let entry = log.one("POST /api/v1/contacts/save", "member.contacts").await;
    let person = json!({"kind": "person", "id": ann.userid, "name": "ann@example.com"});
    assert_eq!(entry["object"], person);
    let rules =
        |after: u32| json!([{"notifierid": "account", "after": after, "min_severity": "info"}]);
    let changes = json!([{"field": "rules", "from": rules(0), "to": rules(60)}]);
    assert_eq!(entry["changes"], changes);
    ann.client.post("contacts/save", &contacts).await.ok();
    assert_eq!(log.newest().await["seq"], log.last, "a save without a change is none");
    let feed = ann.client.post_nothing("contacts/feed").await.ok();
    let entry = log.one("POST /api/v1/contacts/feed", "member.feed").await;
    assert_eq!(entry["object"], person);
    let token = feed["url"].as_str().unwrap().rsplit('/').next().unwrap();
    assert!(!entry.to_string().contains(token), "{entry}");
}

async fn change_browsers(app: &App, ann: &User, log: &mut Log) {
    let push = FakePush::start(app.clock.now()).await;
    let subscribe =
        async |name: &str| ann.client.post("webpush/subscribe", &push.subscribe(name)).await.ok();
    // The first one also creates the notifier.
    subscribe(&format!("first-{SENTINEL}")).await;
    log.last = log.newest().await["seq"].as_i64().unwrap();
    let saved = subscribe(SENTINEL).await;
    let id = saved["subscriptionid"].as_str().unwrap();
    let entry = log.one("POST /api/v1/webpush/subscribe", "webpush.subscribe").await;
    assert_eq!(entry["object"], json!({"kind": "browser", "id": id, "name": ""}));
    ann.client.delete(&format!("webpush/{id}/delete")).await.ok();
    log.one("DELETE /api/v1/webpush/{subscriptionid}/delete", "webpush.delete").await;
}

async fn change_streams(ann: &User, log: &mut Log, receiver: &Receiver) {
    let origin = receiver.url.trim_end_matches("/hook");
    let url = format!("{}/{SENTINEL}", receiver.url);
    let saved = ann.client.post("audit/stream/save", &json!({"url": url})).await.ok();
    let id = saved["streamid"].as_str().unwrap();
    let entry = log.one("POST /api/v1/audit/stream/save", "audit.stream").await;
    assert_eq!(entry["object"], json!({"kind": "stream", "id": id, "name": origin}));
    assert!(!entry.to_string().contains(saved["secret"].as_str().unwrap()), "{entry}");
    let secret = BASE64.encode(&[7; 32]);
    let change = json!({"streamid": id, "secret": format!("whsec_{secret}"), "isactive": false});
    ann.client.post("audit/stream/save", &change).await.ok();
    let entry = log.one("POST /api/v1/audit/stream/save", "audit.stream").await;
    let expected = json!([{"field": "isactive", "from": true, "to": false},
        {"field": "secret", "to": "changed"}]);
    assert_eq!(entry["changes"], expected);
    ann.client.post("audit/stream/save", &change).await.ok();
    assert_eq!(log.newest().await["seq"], log.last, "a save without a change is none");
    ann.client.delete(&format!("audit/stream/{id}/delete")).await.ok();
    let entry = log.one("DELETE /api/v1/audit/stream/{streamid}/delete", "audit.stream").await;
    assert_eq!(entry["changes"][0], json!({"field": "isactive", "from": false}));
}

async fn change_people(app: &App, ann: &User, log: &mut Log) {
    let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
    // Bob was added, and has logged in.
    log.last += 1;
    let entry = log.one("POST /api/v1/login", "login.ok").await;
    assert_eq!(entry["actor"]["name"], "bob@example.com");
    log.covered.insert("POST /api/v1/team/save".into());
    let joined = ann.client.get("audit?action=member.join").await.ok()["entries"][0].clone();
    assert_eq!(joined["object"]["name"], "bob@example.com");
    Authenticator::enable(&bob, &app.clock).await;
    log.one("POST /api/v1/mfa/enable", "mfa.enable").await;
    ann.client.post("member/mfareset", &json!({"userid": bob.userid})).await.ok();
    let entry = log.one("POST /api/v1/member/mfareset", "mfa.reset").await;
    assert_eq!(
        (&entry["actor"]["id"], &entry["object"]["id"]),
        (&json!(ann.userid), &json!(bob.userid))
    );
    let change = json!({"userid": bob.userid, "role": "viewer"});
    ann.client.post("member/save", &change).await.ok();
    let entry = log.one("POST /api/v1/member/save", "member.role").await;
    assert_eq!(entry["changes"][0]["to"], "viewer");
    ann.client.post("team/revoke", &json!({"userids": [bob.userid]})).await.ok();
    log.one("POST /api/v1/team/revoke", "member.revoke").await;
    ann.client.post("team/delete", &json!({"userids": [bob.userid]})).await.ok();
    let entry = log.one("POST /api/v1/team/delete", "member.remove").await;
    assert_eq!(entry["object"], json!({"kind": "person", "id": bob.userid, "name": null}));
    let of_bob = ann.client.get(&format!("audit?actor={}", bob.userid)).await.ok();
    let names = of_bob["entries"].as_array().unwrap().iter().map(|entry| &entry["actor"]["name"]);
    assert!(names.clone().count() > 0 && names.clone().all(Value::is_null), "{of_bob}");
    let text = ann.client.get("audit/export").await.text;
    assert!(!text.contains("bob@example.com"), "erased with the account");
    log.one("GET /api/v1/audit/export", "audit.export").await;
}

async fn change_teams(app: &App, ann: &User, log: &mut Log) {
    let settings = json!({"name": "Shop", "default_role": "editor"});
    ann.client.post("team/settings", &settings).await.ok();
    let entry = log.one("POST /api/v1/team/settings", "team.update").await;
    let expected = json!([{"field": "default_role", "from": "owner", "to": "editor"},
        {"field": "name", "from": "ann", "to": "Shop"}]);
    assert_eq!(entry["changes"], expected);
    let invitation = json!({"email": "cem@example.com", "role": "viewer", "mail": false});
    let saved = ann.client.post("invitation/save", &invitation).await.ok();
    let entry = log.one("POST /api/v1/invitation/save", "member.invite").await;
    assert_eq!(entry["object"]["name"], "cem@example.com");
    let token = saved["link"].as_str().unwrap().rsplit_once('=').unwrap().1.to_owned();
    assert!(!entry.to_string().contains(&token));
    let password = format!("{SENTINEL}-cem-1");
    let body = json!({"token": token, "password": password, "name": "Cem"});
    let joined = app.anonymous().post("invitation/accept", &body).await.ok();
    let entry = log.one("POST /api/v1/invitation/accept", "member.join").await;
    assert_eq!(entry["actor"]["name"], "cem@example.com");
    let cem = app.anonymous().with_token(joined["token"].as_str().unwrap());
    let other = cem.post("team/new", &json!({"name": "Cem's own"})).await.ok();
    log.covered.insert("POST /api/v1/team/new".into());
    let there = cem.with("x-wakeful-team", other["groupid"].as_str().unwrap());
    let entries = there.get("audit").await.ok()["entries"].clone();
    assert_eq!(entries[0]["action"], "team.create");
    cem.post_nothing("team/leave").await.ok();
    let entry = log.one("POST /api/v1/team/leave", "member.leave").await;
    assert_eq!(entry["object"]["name"], "cem@example.com");
    // The account remains, and what the log says about it is erased with it.
    cem.post_nothing("user/delete").await.ok();
    let text = ann.client.get("audit/export").await.text;
    assert!(!text.contains("cem@example.com"), "erased with the account");
    log.one("GET /api/v1/audit/export", "audit.export").await;
    let saved = ann.client.post("invitation/save", &invitation).await.ok();
    log.one("POST /api/v1/invitation/save", "member.invite").await;
    let id = saved["invitationid"].as_str().unwrap();
    ann.client.delete(&format!("invitation/{id}/delete")).await.ok();
    log.one("DELETE /api/v1/invitation/{invitationid}/delete", "member.uninvite").await;
}

async fn change_keys(app: &App, ann: &User, log: &mut Log) {
    let service = json!({"name": "deploy", "role": "editor"});
    let service = ann.client.post("service/save", &service).await.ok()["serviceid"].clone();
    log.one("POST /api/v1/service/save", "service.create").await;
    let service = service.as_str().unwrap();
    let key = json!({"name": "ci"});
    let made = ann.client.post(&format!("service/{service}/key/save"), &key).await.ok();
    let entry = log.one("POST /api/v1/service/{serviceid}/key/save", "key.create").await;
    assert!(!entry.to_string().contains(made["apikey"].as_str().unwrap()));
    let keys = (made["apikey"].as_str().unwrap(), made["enckey"].as_str().unwrap());
    let program = app.anonymous().with_keys(keys.0, keys.1);
    let saved = program.post("monitor/save", &monitor(None, "by a program")).await.ok();
    let entry = log.one("POST /api/v1/monitor/save", "monitor.create").await;
    let actor = json!({"kind": "service", "id": service, "name": "deploy"});
    assert_eq!((&entry["actor"], &entry["via"]["kind"]), (&actor, &json!("key")));
    let id = saved["monitor"]["monitorid"].as_str().unwrap();
    program.delete(&format!("monitor/{id}/delete")).await.ok();
    log.one("DELETE /api/v1/monitor/{monitorid}/delete", "monitor.delete").await;
    let id = made["apikeyid"].as_str().unwrap();
    ann.client.delete(&format!("team/key/{id}/delete")).await.ok();
    log.one("DELETE /api/v1/team/key/{apikeyid}/delete", "key.delete").await;
    ann.client.delete(&format!("service/{service}/delete")).await.ok();
    log.one("DELETE /api/v1/service/{serviceid}/delete", "service.delete").await;
    let own = ann.client.post("integrations/apikey/save", &json!({"name": "own"})).await.ok();
    log.one("POST /api/v1/integrations/apikey/save", "key.create").await;
    let id = own["apikeyid"].as_str().unwrap();
    let path = format!("integrations/apikey/{id}/delete");
    ann.client.delete(&path).await.ok();
    log.one("DELETE /api/v1/integrations/apikey/{apikeyid}/delete", "key.delete").await;
}

async fn pay(ann: &User, log: &mut Log) {
    let saved = ann.client.post("paymentmethod/save", &card("4242424242424242")).await.ok();
    let entry = log.one("POST /api/v1/paymentmethod/save", "card.create").await;
    assert_eq!(entry["object"]["name"], "4242");
    let method = json!({"methodid": saved["methodid"]});
    ann.client.post("paymentmethod/default", &method).await.ok();
    log.one("POST /api/v1/paymentmethod/default", "card.update").await;
    let choice = json!({"plan": "starter", "method": saved["methodid"]});
    ann.client.post("membership/save", &choice).await.ok();
    let entry = log.one("POST /api/v1/membership/save", "plan.change").await;
    assert_eq!(entry["changes"], json!([{"field": "plan", "from": "none", "to": "starter"}]));
    ann.client.post_nothing("membership/stop").await.ok();
    log.one("POST /api/v1/membership/stop", "plan.change").await;
    ann.client.post("paymentmethod/delete", &method).await.ok();
    log.one("POST /api/v1/paymentmethod/delete", "card.delete").await;
}

async fn change_credentials(app: &App, ann: &User, log: &mut Log) {
    let setup = ann.client.post_nothing("mfa/setup").await.ok();
    let authenticator = Authenticator::scan(&setup);
    let code = authenticator.code(&app.clock);
    ann.client.post("mfa/enable", &json!({"mfacode": code})).await.ok();
    log.one("POST /api/v1/mfa/enable", "mfa.enable").await;
    ann.client.post_nothing("recovery/renew").await.ok();
    log.one("POST /api/v1/recovery/renew", "mfa.renew").await;
    app.clock.advance(Duration::from_secs(30));
    let body = json!({"password": ann.password, "mfacode": authenticator.code(&app.clock)});
    ann.client.post("mfa/disable", &body).await.ok();
    log.one("POST /api/v1/mfa/disable", "mfa.disable").await;
    app.anonymous().log_in(&ann.email, SENTINEL).await.refused(401, "bad_credentials");
    until("the failed login to be recorded", async || {
        (log.newest().await["seq"] != log.last).then_some(())
    })
    .await;
    log.one("POST /api/v1/login", "login.failed").await;
    let again = ann.log_in(&app.anonymous()).await;
    let entry = log.one("POST /api/v1/login", "login.ok").await;
    let session = entry["object"]["id"].as_str().unwrap();
    ann.client.delete(&format!("session/{session}/delete")).await.ok();
    log.one("DELETE /api/v1/session/{sessionid}/delete", "session.end").await;
    assert!(!again.client.is_authenticated().await);
    let again = ann.log_in(&app.anonymous()).await;
    log.one("POST /api/v1/login", "login.ok").await;
    again.client.post_nothing("logout").await.ok();
    log.one("POST /api/v1/logout", "session.end").await;
    let settings = json!({"email": "ann@example.org"});
    ann.client.post("settings/save", &settings).await.ok();
    let entry = log.one("POST /api/v1/settings/save", "member.update").await;
    let expected = json!([{"field": "email", "from": "ann@example.com", "to": "ann@example.org"}]);
    assert_eq!(entry["changes"], expected);
}

both_databases! {
    async fn each_change_leaves_one_entry_without_secrets(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let first = ann.client.get("audit").await.ok();
        assert_eq!(first["entries"].as_array().unwrap().len(), 1, "{first}");
        assert_eq!(first["entries"][0]["action"], "team.create");
        let mut log = Log::of(&ann).await;
        log.covered.insert("POST /api/v1/signup".into());
        make_every_change(&app, &ann, &mut log).await;

        // Those that end the reader's session are read with another.
        let email = "ann@example.org";
        let password = format!("{SENTINEL}-new-1");
        let body = json!({"email": email, "password1": password, "password2": password,
            "tokenid": ann.token});
        app.anonymous().post("password/update", &body).await.ok();
        let entry = log.one("POST /api/v1/password/update", "member.update").await;
        assert_eq!(entry["changes"], json!([{"field": "password", "to": "changed"}]));
        let ann = User { email: email.into(), password, ..ann };
        log.reader.client.post_nothing("logoutall").await.ok();
        log.reader = ann.log_in(&app.anonymous()).await;
        log.last += 1;
        log.one("POST /api/v1/logoutall", "login.ok").await;

        for format in ["jsonl", "csv"] {
            let text = log.reader.client.get(&format!("audit/export?format={format}")).await.text;
            assert!(text.contains("monitor.create"), "{text}");
            assert!(!text.contains(SENTINEL), "{format}");
        }
        let verified = log.reader.client.get("audit/verify").await.ok();
        assert_eq!((&verified["ok"], &verified["entries"]), (&json!(true), &json!(log.last + 2)));

        let body = json!({"password": ann.password});
        log.reader.client.post("user/delete", &body).await.ok();
        log.covered.insert("POST /api/v1/user/delete".into());
        let quiet = QUIET.iter().map(|(operation, _)| (*operation).to_owned());
        let known: BTreeSet<String> = log.covered.into_iter().chain(quiet).collect();
        let operations = operations();
        // Those of administrators are in another chain; see admin.rs.
        let of_teams = operations.iter().filter(|operation| operation.permission != "operate");
        let changing = of_teams.map(Operation::name).filter(|name| {
            !name.starts_with("GET ") && !name.contains("/api/push/")
        });
        let missing: Vec<String> = changing.filter(|name| !known.contains(name)).collect();
        assert!(missing.is_empty(), "no test of their entries: {missing:?}");
    }

    async fn a_new_password_with_a_mailed_link_is_recorded(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let token = app.request_password_reset(&ann, 0).await;
        let ann = User { password: "another horse 7".into(), ..ann };
        let body = json!({"email": ann.email, "password1": ann.password,
            "password2": ann.password, "tokenid": token});
        app.anonymous().post("password/update", &body).await.ok();
        let ann = ann.log_in(&app.anonymous()).await;
        let log = ann.client.get("audit").await.ok();
        let actions: Vec<&Value> =
            log["entries"].as_array().unwrap().iter().map(|entry| &entry["action"]).collect();
        assert_eq!(actions, ["login.ok", "password.reset", "team.create"]);
    }

    async fn strangers_cannot_fill_the_log_with_failed_logins(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.failed_logins_per_minute = 100_000;
        setup.settings.limits.failed_logins_per_network = 100_000;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for _ in 0..70 {
            app.anonymous().log_in(&ann.email, "a guess").await.refused(401, "bad_credentials");
        }
        let count = async || {
            let log = ann.client.get("audit?action=login.failed&limit=1000").await.ok();
            log["entries"].as_array().unwrap().len()
        };
        until("60 entries", async || (count().await >= 60).then_some(())).await;
        // The next hour has its own.
        app.clock.advance(Duration::from_secs(3_601));
        app.anonymous().log_in(&ann.email, "a guess").await.refused(401, "bad_credentials");
        until("the entry of the next hour", async || (count().await > 60).then_some(())).await;
        assert_eq!(count().await, 61);
    }

    async fn an_export_can_be_verified_by_anybody(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for name in ["site", "=cmd|' /C calc'!A0", "größe"] {
            ann.client.post("monitor/save", &monitor(None, name)).await.ok();
        }
        let text = ann.client.get("audit/export?format=jsonl").await.text;
        let mut previous = [0; 32];
        let mut lines = 0;
        for line in text.lines() {
            let mut entry: Value = serde_json::from_str(line).unwrap();
            let fields = entry.as_object_mut().unwrap();
            let hash = fields.remove("hash").unwrap();
            let (person, salt) = (fields.remove("person").unwrap(), fields.remove("salt").unwrap());
            let salt = HEXLOWER.decode(salt.as_str().unwrap().as_bytes()).unwrap();
            let of_person = Sha256::digest([&salt[..], person.to_string().as_bytes()].concat());
            assert_eq!(fields["person_hash"], HEXLOWER.encode(&of_person));
            let canonical = entry.to_string();
            let bytes = [b"wakeful-audit-1", &previous[..], canonical.as_bytes()].concat();
            previous = Sha256::digest(bytes).into();
            assert_eq!(hash, HEXLOWER.encode(&previous));
            lines += 1;
        }
        assert_eq!(lines, 5, "{text}");
        let verified = ann.client.get("audit/verify").await.ok();
        assert_eq!(verified["head"], HEXLOWER.encode(&previous));
        let csv = ann.client.get("audit/export?format=csv").await;
        assert_eq!(csv.header("content-type"), "text/csv; charset=utf-8");
        assert!(csv.text.contains("\"'=cmd|' /C calc'!A0\""), "{}", csv.text);
    }

    async fn changed_deleted_and_swapped_entries_are_detected(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for name in ["one", "two", "three"] {
            ann.client.post("monitor/save", &monitor(None, name)).await.ok();
        }
        let verify = async || ann.client.get("audit/verify").await.ok();
        assert_eq!(verify().await["ok"], true);
        let rows = &app.database;
        for (tamper, repair, broken) in [
            ("update audit set object_name = 'x' where seq = 3",
             "update audit set object_name = 'two' where seq = 3", 3),
            ("update audit set person = replace(person, 'ann', 'eve') where seq = 2",
             "update audit set person = replace(person, 'eve', 'ann') where seq = 2", 2),
            (SWAP,
             SWAP, 3),
            ("update audit_heads set seq = 3", "update audit_heads set seq = 4", 4),
        ] {
            rows.execute(tamper).await;
            let found = verify().await;
            assert_eq!((&found["ok"], &found["broken_at"]), (&json!(false), &json!(broken)), "{tamper}");
            rows.execute(repair).await;
            assert_eq!(verify().await["ok"], true, "{repair}");
        }
        rows.execute("delete from audit where seq = 4").await;
        assert_eq!(verify().await["broken_at"], 4, "the end is missing");
        // Also if the head agrees: it is sealed with a key that is not in the database.
        rows.execute("update audit_heads set seq = 3, hash = (select hash from audit where seq = 3)").await;
        assert_eq!(verify().await["ok"], false);
        // The next entry does not vouch for what was changed, and neither does the janitor.
        ann.client.post("monitor/save", &monitor(None, "four")).await.ok();
        assert_eq!(verify().await["ok"], false);
        app.sweep().await;
        assert_eq!(verify().await["ok"], false);
        rows.execute("delete from audit_heads where seq > 0").await;
        assert_eq!(verify().await["broken_at"], 1, "entries without a head");
    }

    async fn a_caller_who_is_removed_while_exporting_reads_no_further(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let long = "x".repeat(8_000);
        let copies = format!("with recursive n(n) as (select 100 union all select n + 1 from n where n < 5000)
            insert into audit select chain, n, at, action, actor_kind, actor_id, via_kind, via_id, object_kind,
            object_id, '{long}', request, changes, person, salt, person_hash, hash, 0
            from audit, n where seq = 1 and object_kind = 'team'");
        app.database.execute(&copies).await;
        let url = format!("{}/api/v1/audit/export", app.url);
        let mut response =
            reqwest::Client::new().get(url).bearer_auth(&bob.token).send().await.unwrap();
        let mut read = response.chunk().await.unwrap().unwrap().len();
        ann.client.post("team/delete", &json!({"userids": [bob.userid]})).await.ok();
        let cut_off = loop {
            match response.chunk().await {
                Ok(Some(chunk)) => read += chunk.len(),
                Ok(None) => break false,
                Err(_) => break true,
            }
        };
        assert!(cut_off, "{read} bytes");
        assert!(read < 4_900 * long.len(), "{read} bytes");
    }

    async fn a_key_cannot_fill_the_log_with_logins(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let push = json!({"name": "job", "scope": "push"});
        let keys = ann.client.post("integrations/apikey/save", &push).await.ok();
        let pair = json!({"apikey": keys["apikey"], "enckey": keys["enckey"]});
        for _ in 0..70 {
            app.anonymous().post("authenticated", &pair).await.ok();
        }
        let log = ann.client.get("audit?action=login.ok&limit=1000").await.ok();
        assert_eq!(log["entries"].as_array().unwrap().len(), 60);
    }

    async fn who_removed_a_member_is_known_afterwards(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let admin = ann.colleague(&app.anonymous(), "admin@example.com").await;
        let bob = admin.colleague(&app.anonymous(), "bob@example.com").await;
        let takeover = json!({"userid": bob.userid, "email": bob.email,
            "password1": "known to admin 7", "password2": "known to admin 7"});
        admin.client.post("team/save", &takeover).await.ok();
        admin.client.post("team/delete", &json!({"userids": [bob.userid]})).await.ok();
        let log = ann.client.get(&format!("audit?object={}", bob.userid)).await.ok();
        let entries = log["entries"].as_array().unwrap();
        assert_eq!(entries.len(), 3, "{log}");
        for entry in entries {
            assert_eq!(entry["object"]["name"], Value::Null, "erased");
            assert_eq!(entry["actor"]["name"], "admin@example.com", "{entry}");
        }
    }

    async fn the_address_of_a_personal_notifier_is_not_in_the_log(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let personal = json!({"type": "account", "name": "bob@example.com"});
        bob.client.post("notifier/save", &personal).await.json();
        bob.client.post_nothing("user/delete").await.ok();
        let text = ann.client.get("audit/export").await.text;
        assert!(text.contains("notifier.create") && !text.contains("bob@example.com"), "{text}");
    }

    async fn the_log_of_a_deleted_team_is_deleted(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        app.sign_up("eve@example.com").await;
        ann.client.post("monitor/save", &monitor(None, "site")).await.ok();
        ann.client.post_nothing("user/delete").await.ok();
        // What remains is Eve's first entry, and the installation's about its first administrator and the team.
        assert_eq!(app.database.rows("audit").await, 3);
        assert_eq!(app.database.rows("audit_heads").await, 2);
        for done in ["audit_erasures", "audit_graves"] {
            assert_eq!(app.database.rows(done).await, 0, "{done}");
        }
    }

    async fn only_owners_and_admins_read_the_log_of_their_own_team(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let eve = app.sign_up("eve@example.com").await;
        ann.client.post("monitor/save", &monitor(None, "hidden")).await.ok();
        let text = eve.client.get("audit/export").await.text;
        assert!(!text.contains("hidden") && !text.contains("ann@"), "{text}");
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        for (role, status) in [("admin", 200), ("editor", 403), ("viewer", 403), ("billing", 403)] {
            let change = json!({"userid": bob.userid, "role": role});
            ann.client.post("member/save", &change).await.ok();
            for path in ["audit", "audit/export", "audit/verify"] {
                assert_eq!(bob.client.get(path).await.status, status, "{role} {path}");
            }
        }
        let collector = json!({"name": "collector", "scope": "audit"});
        let keys = ann.client.post("integrations/apikey/save", &collector).await.ok();
        let (apikey, enckey) = (keys["apikey"].as_str().unwrap(), keys["enckey"].as_str().unwrap());
        let collector = app.anonymous().with_keys(apikey, enckey);
        assert_eq!(collector.get("audit").await.status, 200);
        assert_eq!(collector.get("monitors").await.status, 403);
    }

    async fn the_log_is_filtered_and_read_in_pages(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for name in ["alpha", "beta_1", "beta%2"] {
            app.clock.advance(Duration::from_secs(60));
            ann.client.post("monitor/save", &monitor(None, name)).await.ok();
        }
        let names = async |query: &str| -> Vec<String> {
            let list = ann.client.get(&format!("audit?{query}")).await.ok();
            let entries = list["entries"].as_array().unwrap().iter();
            entries.map(|entry| entry["object"]["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names("action=monitor").await, ["beta%2", "beta_1", "alpha"]);
        assert_eq!(names("action=monitor.create&q=BETA").await, ["beta%2", "beta_1"]);
        assert_eq!(names("q=beta_").await, ["beta_1"], "not a pattern");
        assert_eq!(names("q=%25").await, ["beta%2"], "not a pattern");
        assert_eq!(names("action=monitor.delete").await, [""; 0]);
        let all = ann.client.get("audit").await.ok();
        let at = all["entries"][1]["at"].as_str().unwrap();
        assert_eq!(names(&format!("from={at}")).await, ["beta%2", "beta_1"]);
        assert_eq!(names(&format!("action=monitor&to={at}")).await, ["alpha"]);
        let object = all["entries"][0]["object"]["id"].as_str().unwrap();
        assert_eq!(names(&format!("object={object}")).await, ["beta%2"]);
        let page = ann.client.get("audit?limit=3").await.ok();
        assert_eq!(page["entries"].as_array().unwrap().len(), 3);
        let next = page["next_cursor"].as_str().unwrap();
        let page = ann.client.get(&format!("audit?limit=3&cursor={next}")).await.ok();
        assert_eq!(page["entries"][0]["action"], "team.create");
        assert_eq!(page["next_cursor"], Value::Null);
        for wrong in ["from=yesterday", "limit=0", "cursor=x", "from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z"] {
            assert_eq!(ann.client.get(&format!("audit?{wrong}")).await.status, 422, "{wrong}");
        }
        assert_eq!(ann.client.get("audit/export?format=xml").await.wrong_fields(), ["format"]);
    }

    async fn the_head_of_a_log_is_reported_once_a_day_if_it_has_new_entries(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let reported = async || app.database.number("select max(reported_seq) from audit_heads").await;
        assert_eq!(reported().await, 0);
        app.sweep().await;
        assert_eq!(reported().await, 1, "at the first sweep");
        ann.client.post("monitor/save", &monitor(None, "site")).await.ok();
        app.sweep().await;
        assert_eq!(reported().await, 1, "on the same day");
        app.clock.advance(Duration::from_secs(86_400));
        app.sweep().await;
        assert_eq!(reported().await, 2);
    }

    async fn entries_expire_and_the_rest_can_still_be_verified(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        ann.client.post("monitor/save", &monitor(None, "old")).await.ok();
        app.clock.advance(Duration::from_secs(364 * 86_400));
        let ann = ann.log_in(&app.anonymous()).await;
        ann.client.post("monitor/save", &monitor(None, "new")).await.ok();
        app.clock.advance(Duration::from_secs(2 * 86_400));
        app.sweep().await;
        let verified = ann.client.get("audit/verify").await.ok();
        assert_eq!((&verified["ok"], &verified["first"], &verified["entries"]),
            (&json!(true), &json!(3), &json!(2)));
        // An attacker who deletes more of the beginning cannot seal the head.
        let rows = &app.database;
        rows.execute("update audit_heads set first_seq = 4, first_prev = (select hash from audit where seq = 3)").await;
        rows.execute("delete from audit where seq = 3").await;
        assert_eq!(ann.client.get("audit/verify").await.ok()["ok"], false);
    }
}
