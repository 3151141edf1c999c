//! What status pages must not show: the monitors of a team, its drafts, and who wrote what carry
//! a word that visitors never get. Every public route of its pages is fetched in every way.

use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use wakeful_engine::statuspages::auto_incidents;
use wakeful_testkit::{Answer, App, Client, User, both_databases};

use crate::public_pages::{browser, save, served};
use crate::subscribers::{link, post_form, text};

/// In everything that is nobody's business.
const SENTINEL: &str = "sentinel";
/// One pixel.
const IMAGE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A component with a monitor that is down, and everything about it that could leak.
async fn watched_by_a_secret_monitor(app: &App, user: &User) -> Value {
    let push = json!({"type": "api", "name": "sentinel-name", "heartbeat_interval": 60,
        "isactive": true, "upside_down_mode": false, "tags": ["sentinel-tag"],
        "description": "sentinel-description"});
    let push = user.client.post("monitor/save", &push).await.ok()["monitor"].clone();
    let path = push["push_url"].as_str().unwrap().strip_prefix(&app.url).unwrap().to_owned();
    let report = app.anonymous().get(&format!("{path}?status=down&msg=sentinel-message")).await;
    assert_eq!(report.status, 200, "{}", report.text);
    let http = json!({"type": "http", "name": "sentinel-http", "heartbeat_interval": 60,
        "isactive": false, "upside_down_mode": false, "tags": ["sentinel-tag"],
        "http": {"url": "https://sentinel-target.example/?q=sentinel-query",
            "headers": "{\"X-Secret\": \"sentinel-header\"}"}});
    let http = user.client.post("monitor/save", &http).await.ok()["monitor"].clone();
    json!({"name": "Shop", "alias": "shop",
        "monitors": [{"monitorid": push["monitorid"]}, {"monitorid": http["monitorid"]}]})
}

/// What the team has written: an incident of today and one of the past with its postmortem,
/// planned maintenance, and a draft. Returns their ids, and those of the rules' incidents.
async fn write_incidents(app: &App, user: &User, pages: &[Value]) -> Vec<String> {
    let client = &user.client;
    let components: Vec<Value> = pages
        .iter()
        .map(|page| json!({"componentid": component(page), "status": "major_outage"}))
        .collect();
    let at = |seconds: i64| wakeful_core::time::Millis(app.engine.now().0 + seconds * 1_000);
    let at = |seconds: i64| at(seconds).to_string();
    let open = json!({"title": "Checkout is slow", "components": components,
        "update": {"body": "We are **looking** into it."}});
    let past = json!({"title": "Lost orders", "components": components, "started": at(-7_200),
        "resolved": at(-3_600), "update": {"body": "All is well again."}});
    let planned = json!({"kind": "maintenance", "title": "Database upgrade",
        "components": components, "scheduled_for": at(86_400), "scheduled_until": at(90_000),
        "update": {"body": "Ten minutes."}});
    let draft = json!({"title": "sentinel-draft", "state": "draft", "components": components,
        "update": {"body": "sentinel-text"}});
    let mut saved = Vec::new();
    for incident in [open, past, planned, draft] {
        let incident = client.post("incident/save", &incident).await.ok()["incident"].clone();
        saved.push(text(&incident["incidentid"]));
    }
    let more = json!({"status": "identified", "body": "A slow disk."});
    client.post(&format!("incident/{}/update/save", saved[0]), &more).await.ok();
    let report = json!({"body": "A full disk.", "published": true});
    client.post(&format!("incident/{}/postmortem/save", saved[1]), &report).await.ok();
    let unseen = json!({"body": "sentinel-postmortem", "published": false});
    client.post(&format!("incident/{}/postmortem/save", saved[0]), &unseen).await.ok();
    auto_incidents::apply_rules(&app.engine).await.unwrap();
    let all = client.get("incidents?limit=100").await.ok()["incidents"].clone();
    let by_rules = all.as_array().unwrap().iter().filter(|incident| incident["source"] == "rule");
    let by_rules: Vec<String> = by_rules.map(|incident| text(&incident["incidentid"])).collect();
    assert!(!by_rules.is_empty(), "{all}");
    saved.extend(by_rules);
    saved
}

fn component(page: &Value) -> &str {
    page["sections"][0]["components"][0]["componentid"].as_str().unwrap()
}

/// What the parts of routes stand for.
struct Known {
    component: String,
    incidents: Vec<String>,
    /// Their paths below that of the page.
    images: Vec<String>,
    /// Of a subscription that waits for its confirmation, and of one that does not.
    tokens: [String; 2],
}

/// The addresses of a route for a page; fails for a route that nobody has thought of here.
fn addresses(route: &str, slug: &str, known: &Known) -> Vec<String> {
    let route = route.replace("{slug}", slug);
    let base = format!("/status/{slug}");
    let tail = route.strip_prefix(&base).unwrap_or(&route);
    let below = |tails: &[String]| tails.iter().map(|tail| format!("{base}{tail}")).collect();
    let component = known.component.as_str();
    let badges =
        ["status", "uptime/24h", "uptime/90d", "uptime/365d", "response/24h", "certificate"];
    let all_badges = |start: &str| {
        let all = badges.iter().flat_map(|badge| {
            ["svg", "json"].map(|kind| format!("{base}{start}/badge/{badge}.{kind}"))
        });
        all.collect::<Vec<String>>()
    };
    match tail {
        "/embed" => vec![format!("{base}/embed"), format!("{base}/embed?component=shop&lang=de")],
        _ if tail.starts_with("/api/status-page/") => vec![tail.to_owned()],
        "/api/badge/{id}/{*path}" => {
            let kinds = [
                "status",
                "uptime",
                "uptime/720",
                "ping/30d",
                "avg-response",
                "cert-exp",
                "response",
                "x",
            ];
            kinds.map(|kind| format!("/api/badge/{component}/{kind}?label=x")).into()
        }
        "/api/statuspage/domain" => vec![format!("{tail}?domain=status.example.com")],
        "/status" => vec![tail.to_owned()],
        ""
        | "/robots.txt"
        | "/favicon.ico"
        | "/embed.js"
        | "/"
        | "/history"
        | "/feed.atom"
        | "/feed.rss"
        | "/feed.json"
        | "/rss"
        | "/history.atom"
        | "/history.rss"
        | "/maintenance.ics"
        | "/index.json"
        | "/live.json"
        | "/api/v2/summary.json"
        | "/api/v2/status.json"
        | "/api/v2/components.json"
        | "/api/v2/incidents.json"
        | "/api/v2/incidents/unresolved.json"
        | "/api/v2/scheduled-maintenances.json"
        | "/api/v2/scheduled-maintenances/upcoming.json"
        | "/api/v2/scheduled-maintenances/active.json"
        | "/style.css"
        | "/manifest.webmanifest"
        | "/login"
        | "/logout"
        | "/subscribe"
        | "/api/v2/subscribers.json" => {
            vec![format!("{base}{tail}"), format!("{base}{tail}?lang=de")]
        }
        "/component/{id}" | "/component/{id}/feed.atom" => {
            below(&["shop", component].map(|id| tail.replace("{id}", id)))
        }
        "/incident/{id}" | "/incidents/{id}" => {
            let others = ["0198c6c0-0000-7000-8000-000000000000", "x"];
            let ids = known.incidents.iter().map(String::as_str).chain(others);
            below(&ids.map(|id| tail.replace("{id}", id)).collect::<Vec<String>>())
        }
        "/history/{id}" => {
            below(&["2026-11", "2026-01", "x"].map(|month| tail.replace("{id}", month)))
        }
        "/badge/{*path}" => all_badges(""),
        "/component/{id}/badge/{*path}" => all_badges("/component/shop"),
        "/image/{id}" => {
            let kinds = ["logo", "logo_dark", "favicon", "x"];
            let plain = kinds.map(|kind| format!("/image/{kind}"));
            below(&[&plain[..], &known.images].concat())
        }
        "/confirm/{token}" | "/manage/{token}" | "/unsubscribe/{token}" => {
            let tokens = known.tokens.iter().map(String::as_str).chain(["x"]);
            below(&tokens.map(|token| tail.replace("{token}", token)).collect::<Vec<String>>())
        }
        "/status/assets/{file}" => vec!["/status/assets/x".to_owned()],
        other => panic!("this test must visit {other}"),
    }
}

#[track_caller]
fn assert_clean(path: &str, answer: &Answer) {
    let headers = format!("{:?}", answer.headers);
    for text in [&answer.text, &headers] {
        assert!(!text.to_lowercase().contains(SENTINEL), "{path}: {text}");
    }
}

/// A browser that has entered the password of a page.
async fn unlocked(app: &App) -> Client {
    let client = browser(app);
    let answer = post_form(&client, "/status/locked/login", "password=open+sesame").await;
    assert_eq!(answer.status, 303, "{}", answer.text);
    let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
    client.with("cookie", &cookie)
}

both_databases! {
    async fn no_public_route_shows_what_a_monitor_does(setup: Setup) {
        let app = setup.start().await;
        let author = app.sign_up("sentinel@example.com").await;
        let client = &author.client;
        let watched = watched_by_a_secret_monitor(&app, &author).await;
        // The rule does not allow its template to name the cause.
        let template = json!({"name": "sentinel-template", "title": "{{ components }} down {{ cause }}",
            "body": "{{ components }}: {{ cause }}."});
        let template = client.post("incidenttemplate/save", &template).await.ok();
        let rule = json!({"name": "sentinel-rule", "after": 30, "mode": "publish",
            "templateid": template["incidenttemplate"]["templateid"]});
        let slugs = ["acme", "locked", "hidden", "inside", "deleted"];
        let mut pages = Vec::new();
        let mut images = Vec::new();
        for slug in slugs {
            let mut page = json!({"name": "Acme", "slug": slug, "published": true, "rules": [rule],
                "display": {"response_times": true, "certificates": true, "outages": true},
                "subscribe": {"email": true, "choose": true, "webhook": true},
                "sections": [{"name": "Core", "components": [watched]}]});
            let more = match slug {
                "locked" => json!({"access": "password", "password": "open sesame"}),
                "hidden" => json!({"published": false}),
                "inside" => json!({"allowed_networks": ["10.9.8.0/24"]}),
                _ => json!({}),
            };
            page.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let saved = save(&author, page).await;
            let path = format!("statuspage/{}/image", text(&saved["pageid"]));
            for kind in ["logo", "logo_dark", "favicon"] {
                let image = client.post(&path, &json!({"kind": kind, "data": IMAGE})).await.ok();
                let start = format!("{}/status/{slug}", app.url);
                images.push(text(&image["url"]).strip_prefix(&start).unwrap().to_owned());
            }
            pages.push(saved);
        }
        images.sort();
        images.dedup();
        assert_eq!(images.len(), 3, "{images:?}");
        let anonymous = app.anonymous();
        served(&anonymous, "/status/acme/index.json", |answer| {
            answer.status == 200 && answer.text.contains("major_outage")
        })
        .await;
        let import = json!({"consent": true, "subscribers": [{"address": "wim@example.com"}]});
        let path = format!("statuspage/{}/subscribers/import", text(&pages[0]["pageid"]));
        client.post(&path, &import).await.ok();
        app.clock.advance(Duration::from_secs(60));
        let incidents = write_incidents(&app, &author, &pages).await;
        client.delete(&format!("statuspage/{}/delete", text(&pages[4]["pageid"]))).await.ok();
        let subscription = "email=vic@example.com&incidents=on";
        assert_eq!(post_form(&anonymous, "/status/acme/subscribe", subscription).await.status, 200);
        let mails = [app.mails("vic@example.com", 1).await, app.mails("wim@example.com", 1).await];
        for mail in mails.iter().flatten() {
            assert!(!mail.to_lowercase().contains(SENTINEL), "{mail}");
        }
        let token = |mail: &str, kind: &str| link(&app, mail, kind).rsplit('/').next().unwrap().to_owned();
        let tokens = [token(&mails[0][0], "confirm"), token(&mails[1][0], "manage")];
        let known = |component: &str| Known {
            component: component.to_owned(),
            incidents: incidents.clone(),
            images: images.clone(),
            tokens: tokens.clone(),
        };
        served(&anonymous, "/status/acme/index.json", |answer| {
            ["Checkout is slow", "Shop down", "Lost orders", "Database upgrade"]
                .iter()
                .all(|title| answer.text.contains(title))
        })
        .await;
        served(&anonymous, "/status/locked", |answer| answer.status == 401).await;
        let unlocked = unlocked(&app).await;

        // What is searched is not empty.
        let of_acme = known(component(&pages[0]));
        for (path, shown) in [
            ("/feed.atom", "A slow disk."),
            ("/component/shop/feed.atom", "A slow disk."),
            ("/feed.json", "Shop down"),
            ("/history.rss", "A full disk."),
            ("/maintenance.ics", "Database upgrade"),
            ("/history/2026-11", "Lost orders"),
            (format!("/incident/{}", incidents[0]).as_str(), "<strong>looking</strong>"),
            (format!("/incident/{}", incidents[1]).as_str(), "A full disk."),
            (format!("/incident/{}", incidents[2]).as_str(), "Ten minutes."),
            ("/api/v2/incidents.json", "Checkout is slow"),
            ("/embed", "Shop"),
            (of_acme.images[0].as_str(), "PNG"),
            (format!("/confirm/{}", tokens[0]).as_str(), "<button"),
            (format!("/manage/{}", tokens[1]).as_str(), "Shop"),
            (format!("/unsubscribe/{}", tokens[1]).as_str(), "<button"),
        ] {
            let answer = browser(&app).get(&format!("/status/acme{path}")).await;
            assert_eq!(answer.status, 200, "{path}: {}", answer.text);
            assert!(answer.text.contains(shown), "{path}: {}", answer.text);
        }
        let draft = format!("/status/acme/incident/{}", incidents[3]);
        assert_eq!(browser(&app).get(&draft).await.status, 404);

        let mut visited = 0;
        for slug in slugs.into_iter().chain(["unknown"]) {
            let page = slugs.iter().position(|one| *one == slug).map_or(&pages[0], |at| &pages[at]);
            let known = known(component(page));
            for path in wakeful_api::statuspage_routes().iter().flat_map(|route| addresses(route, slug, &known)) {
                for client in [&anonymous, &browser(&app), &unlocked] {
                    let answer = client.get(&path).await;
                    assert!(answer.status < 500, "{path}: {}", answer.text);
                    assert_clean(&path, &answer);
                    visited += 1;
                }
                if !matches!(slug, "hidden" | "inside" | "deleted") {
                    continue;
                }
                let other = path.replace(slug, "unknown");
                for client in [&anonymous, &browser(&app)] {
                    let (found, unknown) = (client.get(&path).await, client.get(&other).await);
                    assert_eq!(found.shape(), unknown.shape(), "{path}");
                }
            }
        }
        assert!(visited > 1_000, "{visited}");
        // A badge does not reveal which components there are.
        let unknown = anonymous.get("/api/badge/0198c6c0-0000-7000-8000-000000000000/status").await;
        for page in &pages[2..] {
            let badge = anonymous.get(&format!("/api/badge/{}/status", component(page))).await;
            assert_eq!(badge.shape(), unknown.shape());
        }
        let front = unlocked.get("/status/locked").await;
        assert_eq!(front.status, 200, "{}", front.text);
        assert!(front.text.contains("Shop") && front.text.contains("Checkout is slow"), "{}", front.text);

        // The forms, with what is wrong and with what is right.
        for (path, form) in [
            ("/status/locked/login", "password=wrong"),
            ("/status/locked/subscribe", subscription),
            ("/status/acme/subscribe", "email=nobody&incidents=on"),
            ("/status/acme/subscribe", "email=xen@example.com&incidents=on"),
            (format!("/status/acme/manage/{}", tokens[1]).as_str(), "language=de"),
            (format!("/status/acme/manage/{}", tokens[1]).as_str(), "language=de&incidents=on"),
            (format!("/status/acme/confirm/{}", tokens[0]).as_str(), ""),
            (format!("/status/acme/unsubscribe/{}", tokens[1]).as_str(), ""),
        ] {
            let answer = post_form(&browser(&app), path, form).await;
            assert!(answer.status < 500, "{path}: {}", answer.text);
            assert_clean(path, &answer);
        }
        let call = json!({"subscriber": {"email": "nobody"}});
        for slug in ["acme", "locked", "hidden"] {
            let path = format!("/status/{slug}/api/v2/subscribers.json");
            assert_clean(&path, &anonymous.call(Method::POST, &path, Some(&call)).await);
        }
    }
}
