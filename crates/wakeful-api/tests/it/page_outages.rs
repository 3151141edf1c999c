//! Status pages under load while something goes wrong: the clock is set back, or many visitors
//! come because of an outage.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_engine::statuspages::auto_incidents;
use wakeful_testkit::{App, Client, Receiver, Stopwatch, User, Visitors, both_databases, until};

/// How old a page may be.
const MAX_AGE: Duration = Duration::from_secs(5);
/// How long a notification may take.
const ON_TIME: Duration = Duration::from_secs(5);
const HOUR: Duration = Duration::from_secs(3_600);

/// A published page with a component for each of these monitors.
async fn page(app: &App, ann: &User, monitors: &[(&str, &str)], more: Value) {
    let components: Vec<Value> =
        monitors.iter().map(|(name, id)| json!({"name": name, "monitors": [id]})).collect();
    let mut page = json!({"name": "Acme", "slug": "acme", "published": true,
        "sections": [{"components": components}]});
    page.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    ann.client.post("statuspage/save", &page).await.ok();
    until("the page", || async {
        (app.anonymous().get("/status/acme").await.status == 200).then_some(())
    })
    .await;
}

async fn save(client: &Client, monitor: &Value) -> String {
    let saved = client.post("monitor/save", monitor).await.ok();
    saved["monitor"]["monitorid"].as_str().unwrap().to_owned()
}

/// Waits until the page shows this status of a component, and no longer than a page may be old.
async fn shows(app: &App, component: usize, status: &str) {
    let clock = Stopwatch::start();
    until(status, || async {
        let index = app.anonymous().get("/status/acme/index.json").await.json();
        (index["sections"][0]["components"][component]["status"] == status).then_some(())
    })
    .await;
    assert!(clock.elapsed() <= MAX_AGE, "{status} after {:?}", clock.elapsed());
}

both_databases! {
    async fn pages_stay_up_and_current_when_the_clock_is_set_back(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let job = json!({"type": "api", "name": "job", "heartbeat_interval": 86_400,
            "isactive": true, "upside_down_mode": false});
        let job = save(&ann.client, &job).await;
        page(&app, &ann, &[("Job", &job)], json!({})).await;
        let visitors = Visitors::start(&app.anonymous(), "/status/acme", 4);
        let change = async |status: &str| {
            let path = format!("monitor/notify/{job}");
            ann.client.post(&path, &json!({"status": status})).await.ok();
            shows(&app, 0, if status == "up" { "operational" } else { "major_outage" }).await;
        };
        change("up").await;
        change("down").await;
        app.clock.set_back(HOUR);
        change("up").await;
        app.clock.advance(Duration::from_secs(60));
        change("down").await;
        // It is set right again.
        app.clock.advance(HOUR);
        change("up").await;
        visitors.leave(100).await;
    }

    async fn a_surge_of_views_delays_no_alert_and_changes_no_status(setup: Setup) {
        let mut setup = setup;
        setup.run_scheduler = true;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let client = &ann.client;
        let (shop, api, hook) = (Receiver::start().await, Receiver::start().await, Receiver::start().await);
        let notifier = json!({"name": "hook", "type": "webhook", "webhook": {"url": hook.url}});
        let notifier = client.post("notifier/save", &notifier).await.json()["notifierid"].clone();
        let site = |name: &str, target: &Receiver| json!({"type": "http", "name": name,
            "heartbeat_interval": 3_600, "isactive": true, "upside_down_mode": false, "retries": 0,
            "notifiers": notifier, "http": {"url": target.url}});
        let mut monitors = vec![save(client, &site("api", &api)).await];
        for number in 0..4 {
            monitors.push(save(client, &site(&format!("shop-{number}"), &shop)).await);
        }
        let named: Vec<(&str, &str)> = ["API", "Shop", "Cart", "Search", "Account"].into_iter()
            .zip(monitors.iter().map(String::as_str)).collect();
        let check = async |monitor: &str| {
            client.post(&format!("monitor/{monitor}/check"), &json!({})).await.ok();
        };
        for monitor in &monitors {
            check(monitor).await;
        }
        let rules = json!({"rules": [{"name": "outages", "after": 30, "mode": "publish"}]});
        page(&app, &ann, &named, rules).await;
        for component in 0..named.len() {
            shows(&app, component, "operational").await;
        }

        let visitors = Visitors::start(&app.anonymous(), "/status/acme", 24);
        until("the surge", || async { (visitors.views() > 200).then_some(()) }).await;
        api.answer_with(503, "", "");
        let down = Stopwatch::start();
        check(&monitors[0]).await;
        hook.wait_for_hooks(1).await;
        assert!(down.elapsed() <= ON_TIME, "{:?}", down.elapsed());
        shows(&app, 0, "major_outage").await;
        let checked = shop.count();
        for _ in 0..5 {
            app.clock.advance(Duration::from_secs(10));
            for monitor in &monitors {
                check(monitor).await;
            }
            auto_incidents::apply_rules(&app.engine).await.unwrap();
        }
        assert!(shop.count() >= checked + 20, "they were checked meanwhile");
        until("the incident", || async {
            let unresolved = app.anonymous().get("/status/acme/api/v2/incidents/unresolved.json").await;
            (unresolved.json()["incidents"].as_array().unwrap().len() == 1).then_some(())
        })
        .await;
        visitors.leave(500).await;

        let incidents = client.get("incidents").await.ok()["incidents"].clone();
        assert_eq!(incidents.as_array().unwrap().len(), 1, "{incidents}");
        assert_eq!(incidents[0]["updates"].as_array().unwrap().len(), 1, "{incidents}");
        let front = app.anonymous().with("accept", "text/html").get("/status/acme").await;
        assert_eq!(front.text.matches("API is not available.").count(), 1, "{}", front.text);
        let alerts = client.get("alerts").await.ok()["alerts"].clone();
        assert_eq!(alerts.as_array().unwrap().len(), 1, "{alerts}");
        assert_eq!((hook.count(), &hook.hooks()[0].json()["type"]), (1, &json!("monitor.down")));
        for (component, status) in ["major_outage", "operational", "operational", "operational", "operational"].into_iter().enumerate() {
            shows(&app, component, status).await;
        }
    }
}
