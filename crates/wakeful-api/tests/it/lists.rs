//! The rules for all lists: without a query they return all items; with `limit`, pages
//! that contain each item once and in the same order.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use wakeful_testkit::{App, Receiver, User, both_databases, until};

use crate::payment_methods::card;

/// Responses with an array that are not lists.
const NO_LISTS: &[&str] = &[
    // Lists, whose pages are tested in admin.rs.
    "/api/v1/admin/deliveries",
    "/api/v1/admin/settings",
    "/api/v1/admin/overview",
    "/api/v1/contacts",
    // At most 200 updates.
    "/api/v1/incident/{incidentid}/deliveries",
    // A list, whose pages are tested in subscribers.rs.
    "/api/v1/statuspage/{pageid}/subscribers",
    "/api/v1/maintenance/{maintenanceid}/get",
    // At most 50 schedules.
    "/api/v1/oncall",
    "/api/v1/routing",
    "/api/v1/schedule/{scheduleid}/get",
    "/api/v1/alert/{alertid}/get",
    // The latest 81 at most.
    "/api/v1/monitor/{monitorid}/evidence",
    // The latest 100 at most.
    "/api/v1/monitor/{monitorid}/pings",
    "/api/v1/monitor/{monitorid}/series",
    "/api/v1/monitor/{monitorid}/stats",
    "/api/v1/monitors/summary",
    // One of each type.
    "/api/v1/notifier/kinds",
    "/api/v1/report",
    "/api/v1/user/export",
    "/api/v1/users/me",
    // At most ten browsers.
    "/api/v1/webpush/key",
];

/// Every list: its template, its path with ids, and the field of the items.
fn lists(monitorid: &str, notifierid: &str) -> Vec<(&'static str, String, &'static str)> {
    let path = |template: &'static str, elements| {
        let path = template.replace("{monitorid}", monitorid).replace("{notifierid}", notifierid);
        (template, path, elements)
    };
    vec![
        path("/api/v1/admin/audit", "entries"),
        path("/api/v1/admin/teams", "teams"),
        path("/api/v1/admin/users", "users"),
        path("/api/v1/alerts", "alerts"),
        path("/api/v1/audit", "entries"),
        path("/api/v1/audit/streams", "streams"),
        path("/api/v1/incidents", "incidents"),
        path("/api/v1/incidenttemplates", "incidenttemplates"),
        path("/api/v1/integrations/apikeys", "apikeys"),
        path("/api/v1/invitations", "invitations"),
        path("/api/v1/maintenances", "maintenances"),
        path("/api/v1/membership/invoices", "invoices"),
        path("/api/v1/membership/plans", "plans"),
        path("/api/v1/monitor/{monitorid}/alerts", "alerts"),
        path("/api/v1/monitor/{monitorid}/heartbeats", "heartbeats"),
        path("/api/v1/monitors", "monitors"),
        path("/api/v1/monitors/rows", "monitors"),
        path("/api/v1/notifier/{notifierid}/deliveries", "deliveries"),
        path("/api/v1/notifiers", "notifiers"),
        path("/api/v1/paymentmethods/get", "paymentMethods"),
        path("/api/v1/policies", "policies"),
        path("/api/v1/regions", "regions"),
        path("/api/v1/schedules", "schedules"),
        path("/api/v1/services", "services"),
        path("/api/v1/sessions", "sessions"),
        path("/api/v1/statuspages", "statuspages"),
        path("/api/v1/team/get", "message"),
        path("/api/v1/team/keys", "apikeys"),
        path("/api/v1/team/members", "members"),
        path("/api/v1/teams", "teams"),
    ]
}

/// The paths whose response has an array at the top level.
fn with_an_array(document: &Value) -> BTreeSet<String> {
    let is_one = |operation: &Value| {
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        let Some(reference) = schema["$ref"].as_str() else { return false };
        let answer = document.pointer(reference.trim_start_matches('#')).unwrap();
        let fields = answer["properties"].as_object().into_iter().flatten();
        fields.into_iter().any(|(_, field)| field["type"] == "array")
    };
    let paths = document["paths"].as_object().unwrap();
    let gets = paths.iter().filter(|(_, item)| item.get("get").is_some_and(is_one));
    gets.map(|(path, _)| path.clone()).collect()
}

#[test]
fn every_list_is_tested_here_and_documents_its_pages() {
    let document = serde_json::to_value(wakeful_api::document()).unwrap();
    let known = lists("", "").into_iter().map(|(template, ..)| template);
    let known: BTreeSet<String> =
        known.chain(NO_LISTS.iter().copied()).map(str::to_owned).collect();
    assert_eq!(with_an_array(&document), known);
    for (template, ..) in lists("", "") {
        let get = &document["paths"][template]["get"];
        let names: Vec<&str> = get["parameters"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        assert!(names.contains(&"limit") && names.contains(&"cursor"), "{template}: {names:?}");
        assert!(get["responses"].get("422").is_some(), "{template}");
    }
}

/// Creates at least two items of each kind; returns a monitor and its notifier.
async fn populate(app: &App, ann: &User, receiver: &Receiver) -> (String, String) {
    let client = &ann.client;
    let tick = || app.clock.advance(Duration::from_secs(1));
    ann.colleague(&app.anonymous(), "bob@example.com").await;
    let mut hooks = Vec::new();
    for name in ["a", "b", "c"] {
        ann.new_keys(&app.anonymous()).await;
        client.post("service/save", &json!({"name": name, "role": "viewer"})).await.ok();
        let stream = json!({"url": receiver.url, "isactive": false});
        client.post("audit/stream/save", &stream).await.ok();
        ann.log_in(&app.anonymous()).await;
        client.post("team/new", &json!({"name": name})).await.ok();
        let invitation = json!({"email": format!("{name}@example.com"), "role": "viewer"});
        client.post("invitation/save", &invitation).await.ok();
        client.post("paymentmethod/save", &card("4242424242424242")).await.ok();
        let hook = json!({"name": name, "type": "webhook", "webhook": {"url": receiver.url}});
        let saved = client.post("notifier/save", &hook).await.json();
        hooks.push(saved["notifierid"].as_str().unwrap().to_owned());
        tick();
    }
    for name in ["backups", "upgrade", "move"] {
        let window =
            json!({"name": name, "tags": "x", "starts": "2026-12-01T10:00", "duration": 600});
        client.post("maintenance/save", &window).await.ok();
        let policy = json!({"name": name, "steps": [{"notify": [{"everybody": true}]}]});
        client.post("policy/save", &policy).await.ok();
        let schedule = json!({"name": name, "time_zone": "UTC", "layers": []});
        client.post("schedule/save", &schedule).await.ok();
        let page = client.post("statuspage/save", &json!({"name": name})).await.ok();
        let incident = json!({"title": name, "update": {"body": "x"},
            "pageids": [page["statuspage"]["pageid"]]});
        client.post("incident/save", &incident).await.ok();
        let template = json!({"name": name, "title": name, "body": name});
        client.post("incidenttemplate/save", &template).await.ok();
        tick();
    }
    for plan in ["starter", "pro", "business"] {
        let method =
            client.get("paymentmethods/get").await.ok()["paymentMethods"][0]["methodid"].clone();
        client.post("membership/save", &json!({"plan": plan, "method": method})).await.ok();
        tick();
    }
    let mut monitors = Vec::new();
    for regions in ["eu", "us", "eu, as"] {
        let body = json!({"type": "api", "name": "job", "heartbeat_interval": 86400, "isactive": true,
            "upside_down_mode": false, "regions": regions, "notifiers": hooks[0]});
        let saved = client.post("monitor/save", &body).await.ok();
        monitors.push(saved["monitor"]["monitorid"].as_str().unwrap().to_owned());
    }
    for status in ["down", "up", "down", "up"] {
        tick();
        client
            .post(&format!("monitor/notify/{}", monitors[0]), &json!({"status": status}))
            .await
            .ok();
    }
    client.post("admin/retry", &json!({})).await.ok();
    (monitors[0].clone(), hooks[0].clone())
}

both_databases! {
    async fn pages_of_every_list_contain_each_item_once_and_in_order(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let (monitorid, notifierid) = populate(&app, &ann, &receiver).await;
        // Wait until nothing changes any more.
        let deliveries = format!("notifier/{notifierid}/deliveries");
        until("all deliveries", async || {
            let list = ann.client.get(&deliveries).await.ok();
            let list = list["deliveries"].as_array().unwrap().clone();
            let done = list.iter().filter(|delivery| delivery["state"] == "delivered").count();
            (list.len() >= 4 && done == list.len()).then_some(())
        })
        .await;
        for (template, path, elements) in lists(&monitorid, &notifierid) {
            let all = ann.client.get(&path).await.ok();
            let whole = all[elements].as_array().unwrap();
            assert!(whole.len() >= 2, "{template}: {whole:?}");
            // These always return a page.
            let pages = ["/heartbeats", "/audit", "/admin/teams", "/admin/users"];
            if !pages.iter().any(|always| template.ends_with(always)) {
                assert!(all.get("next_cursor").is_none(), "{template}");
            }
            for limit in [1, 2, 1000] {
                let (mut walked, mut cursor) = (Vec::new(), String::new());
                for _ in 0..=whole.len() {
                    let page = ann.client.get(&format!("{path}?limit={limit}{cursor}")).await.ok();
                    let items = page[elements].as_array().unwrap();
                    assert!(items.len() <= limit && !items.is_empty(), "{template}");
                    walked.extend(items.iter().cloned());
                    match page["next_cursor"].as_str() {
                        Some(next) => cursor = format!("&cursor={next}"),
                        None => {
                            assert_eq!(page.get("next_cursor"), Some(&Value::Null), "{template}");
                            break;
                        }
                    }
                }
                assert_eq!(&walked, whole, "{template} by {limit}");
            }
        }
    }

    async fn a_wrong_limit_or_cursor_of_any_list_is_422(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let (monitorid, notifierid) = populate(&app, &ann, &receiver).await;
        for (template, path, _) in lists(&monitorid, &notifierid) {
            for limit in ["0", "1001", "x", "-1", "1.5", ""] {
                let answer = ann.client.get(&format!("{path}?limit={limit}")).await;
                assert_eq!(answer.wrong_fields(), ["limit"], "{template} {limit}");
            }
            // For regions, any word is a valid cursor.
            if template != "/api/v1/regions" {
                let answer = ann.client.get(&format!("{path}?limit=0&cursor=x")).await;
                assert_eq!(answer.wrong_fields(), ["limit", "cursor"], "{template}");
            }
        }
    }
}
