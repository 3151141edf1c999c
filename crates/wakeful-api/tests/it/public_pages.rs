//! Status pages for their visitors: every public route, what it must not show, who may see
//! it, and its headers.

use reqwest::Method;
use serde_json::{Value, json};
use wakeful_testkit::{Answer, App, Client, User, both_databases, until};

/// In everything about a monitor that is nobody's business.
const SENTINEL: &str = "sentinel";

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

async fn save(user: &User, page: Value) -> Value {
    user.client.post("statuspage/save", &page).await.ok()["statuspage"].clone()
}

/// Waits until a page is served as it was saved.
async fn served(client: &Client, path: &str, wanted: impl Fn(&Answer) -> bool) -> Answer {
    until(&format!("{path} to be served"), || async {
        let answer = client.get(path).await;
        wanted(&answer).then_some(answer)
    })
    .await
}

fn browser(app: &App) -> Client {
    app.anonymous().with("accept", "text/html")
}

/// The addresses of a route for a page with this component; fails for a route that nobody
/// has thought of here.
fn addresses(route: &str, slug: &str, component: &str) -> Vec<String> {
    let route = route.replace("{slug}", slug);
    let base = format!("/status/{slug}");
    let tail = route.strip_prefix(&base).unwrap_or(&route);
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
        "/component/{id}" => ["shop", component].map(|id| format!("{base}/component/{id}")).into(),
        "/component/{id}/feed.atom" => vec![format!("{base}/component/{component}/feed.atom")],
        "/incident/{id}" | "/incidents/{id}" => {
            let unknown = "0198c6c0-0000-7000-8000-000000000000";
            vec![tail.replace("{id}", unknown), tail.replace("{id}", "x")]
                .into_iter()
                .map(|tail| format!("{base}{tail}"))
                .collect()
        }
        "/history/{id}" => vec![format!("{base}/history/2026-01"), format!("{base}/history/x")],
        "/badge/{*path}" => all_badges(""),
        "/component/{id}/badge/{*path}" => all_badges("/component/shop"),
        "/image/{id}" => {
            ["logo", "logo_dark", "favicon", "x"].map(|kind| format!("{base}/image/{kind}")).into()
        }
        "/confirm/{token}" | "/manage/{token}" | "/unsubscribe/{token}" => {
            vec![format!("{base}{}", tail.replace("{token}", "x"))]
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

both_databases! {
    async fn no_public_route_shows_what_a_monitor_does(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let component = watched_by_a_secret_monitor(&app, &ann).await;
        let page = |slug: &str, more: Value| {
            let mut page = json!({"name": "Acme", "slug": slug, "published": true,
                "display": {"response_times": true, "certificates": true, "outages": true},
                "sections": [{"name": "Core", "components": [component.clone()]}]});
            page.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            page
        };
        let saved = save(&ann, page("open", json!({}))).await;
        save(&ann, page("locked", json!({"access": "password", "password": "open sesame"}))).await;
        let hidden = save(&ann, page("hidden", json!({"published": false}))).await;
        let inside = save(&ann, page("inside", json!({"allowed_networks": ["10.9.8.0/24"]}))).await;
        let deleted = save(&ann, page("deleted", json!({}))).await;
        ann.client.delete(&format!("statuspage/{}/delete", deleted["pageid"].as_str().unwrap())).await.ok();
        let id = saved["sections"][0]["components"][0]["componentid"].as_str().unwrap();
        let anonymous = app.anonymous();
        served(&anonymous, "/status/open/index.json", |answer| {
            answer.status == 200 && answer.text.contains("major_outage")
        })
        .await;
        served(&anonymous, "/status/locked", |answer| answer.status == 401).await;
        let unlocked = {
            let form = "password=open+sesame";
            let kind = Some("application/x-www-form-urlencoded");
            let answer = browser(&app).raw(Method::POST, "/status/locked/login", kind, form).await;
            assert_eq!(answer.status, 303, "{}", answer.text);
            let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
            browser(&app).with("cookie", &cookie)
        };
        let mut visited = 0;
        for route in wakeful_api::statuspage_routes() {
            for slug in ["open", "locked", "hidden", "inside", "deleted", "unknown"] {
                for path in addresses(&route, slug, id) {
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
        }
        assert!(visited > 500, "{visited}");
        // A badge does not reveal which components there are.
        let unknown = anonymous.get("/api/badge/0198c6c0-0000-7000-8000-000000000000/status").await;
        for page in [&hidden, &inside, &deleted] {
            let id = page["sections"][0]["components"][0]["componentid"].as_str().unwrap();
            let badge = anonymous.get(&format!("/api/badge/{id}/status")).await;
            assert_eq!(badge.shape(), unknown.shape());
        }
        let front = unlocked.get("/status/locked").await;
        assert_eq!(front.status, 200, "{}", front.text);
        assert!(front.text.contains("Shop"), "{}", front.text);
    }

    async fn the_first_visitors_of_a_new_page_wait_until_it_is_built(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for number in 0..3 {
            let slug = format!("new-{number}");
            save(&ann, json!({"name": "New", "slug": slug, "published": true})).await;
            // It is unknown until the list of pages has been read.
            served(&browser(&app), &format!("/status/{slug}"), |answer| {
                assert_ne!(answer.status, 503, "{}", answer.text);
                answer.status == 200
            })
            .await;
        }
    }

    async fn a_page_has_the_right_headers_and_is_not_sent_twice(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = json!({"name": "Acme", "slug": "acme", "published": true, "indexed": true,
            "appearance": {"custom_css": "h1 { color: teal }", "accent": "#00aaff"},
            "sections": [{"name": "", "components": [{"name": "Shop"}]}]});
        save(&ann, page).await;
        let client = browser(&app);
        let front = served(&client, "/status/acme", |answer| answer.status == 200).await;
        assert!(front.text.contains("<h1>All Systems Operational</h1>"), "{}", front.text);
        assert_eq!(
            front.header("cache-control"),
            "public, max-age=10, stale-while-revalidate=60, stale-if-error=86400"
        );
        let policy = front.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'self'"), "{policy}");
        assert_eq!(front.header("x-robots-tag"), "");
        assert_eq!(front.header("set-cookie"), "");
        let again = client.with("if-none-match", front.header("etag")).get("/status/acme").await;
        assert_eq!((again.status, again.text.as_str()), (304, ""));
        assert_eq!(again.header("etag"), front.header("etag"));
        let packed = client.with("accept-encoding", "gzip");
        let packed = packed.get("/status/ACME").await;
        assert_eq!(packed.header("content-encoding"), "gzip");
        assert_eq!(packed.header("vary"), "accept-encoding");

        let summary = client.get("/status/acme/api/v2/summary.json").await;
        assert_eq!(summary.json()["status"]["indicator"], "none");
        assert_eq!(summary.header("access-control-allow-origin"), "*");
        assert_eq!(summary.header("cross-origin-resource-policy"), "cross-origin");
        let feed = client.get("/status/acme/feed.atom").await;
        assert!(feed.header("cache-control").starts_with("public, max-age=60"), "{feed:?}");
        assert!(feed.header("content-type").starts_with("application/atom+xml"));
        let badge = client.get("/status/acme/badge/status.svg?label=x%3Cy&style=plastic").await;
        assert_eq!(badge.header("content-type"), "image/svg+xml");
        assert!(badge.text.contains("x&lt;y: operational"), "{}", badge.text);
        assert!(badge.header("content-security-policy").ends_with("sandbox"));
        let style = front.text.split("href=\"").find(|part| part.contains("style.css")).unwrap();
        let style = client.get(style.split('"').next().unwrap()).await;
        assert!(style.text.contains("@layer custom{\nh1 { color: teal }"), "{}", style.text);
        assert_eq!(style.header("cache-control"), "public, max-age=31536000, immutable");
        let script = front.text.split("src=\"").nth(1).unwrap().split('"').next().unwrap();
        assert_eq!(client.get(script).await.status, 200, "{script}");

        let wrong = app.anonymous().post_nothing("/status/acme/index.json").await;
        wrong.refused(405, "method_not_allowed");
        for path in ["/status", "/status/acme/nothing/here", "/status/other"] {
            let missing = client.get(path).await;
            assert_eq!(missing.status, 404, "{path}");
            assert!(missing.text.contains("<h1>Not found</h1>"), "{path}: {}", missing.text);
            app.anonymous().get(path).await.refused(404, "not_found");
        }
    }

    async fn locked_pages_open_with_a_password_a_token_or_a_membership(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let eve = app.sign_up("eve@example.com").await;
        let page = |slug: &str, access: &str| {
            json!({"name": "Acme", "slug": slug, "published": true, "access": access,
                "sections": [{"name": "", "components": [{"name": "Shop"}]}]})
        };
        let mut with_password = page("password", "password");
        with_password["password"] = json!("open sesame");
        save(&ann, with_password).await;
        let by_token = save(&ann, page("token", "token")).await;
        save(&ann, page("members", "members")).await;
        let client = browser(&app);
        for slug in ["password", "token", "members"] {
            let path = format!("/status/{slug}");
            let locked = served(&client, &path, |answer| answer.status == 401).await;
            assert_eq!(locked.header("cache-control"), "private, no-store");
            assert_eq!(locked.header("x-robots-tag"), "noindex");
            assert!(!locked.text.contains("Shop"), "{}", locked.text);
            let data = app.anonymous().get(&format!("{path}/index.json")).await;
            data.refused(401, "page_locked");
            let badge = client.get(&format!("{path}/badge/status.svg")).await;
            assert!(badge.text.contains("N/A"), "{}", badge.text);
        }

        let basic = |password: &str| {
            let value = data_encoding::BASE64.encode(format!("x:{password}").as_bytes());
            app.anonymous().with("authorization", &format!("Basic {value}"))
        };
        let feed = basic("open sesame").get("/status/password/feed.atom").await;
        assert_eq!(feed.status, 200, "{}", feed.text);
        assert_eq!(feed.header("access-control-allow-origin"), "");
        basic("wrong").get("/status/password/feed.json").await.refused(401, "page_locked");
        let form = Some("application/x-www-form-urlencoded");
        for _ in 0..9 {
            let answer = client.raw(Method::POST, "/status/password/login", form, "password=x").await;
            assert_eq!(answer.status, 401);
            assert!(answer.text.contains("The password is wrong."), "{}", answer.text);
        }
        let limited = client.raw(Method::POST, "/status/password/login", form, "password=x").await;
        assert_eq!(limited.status, 429);
        assert!(limited.text.contains("Too many attempts."), "{}", limited.text);

        let token = by_token["access_token"].as_str().unwrap();
        let data = app.anonymous().get(&format!("/status/token/index.json?token={token}")).await;
        assert_eq!(data.status, 200, "{}", data.text);
        let opened = client.get(&format!("/status/token/history?token={token}")).await;
        assert_eq!((opened.status, opened.header("location")), (303, "/status/token/history"));
        let cookie = opened.header("set-cookie");
        assert!(cookie.contains("; Path=/status/token;") && cookie.contains("HttpOnly"), "{cookie}");
        let unlocked = client.with("cookie", cookie.split(';').next().unwrap());
        let front = unlocked.get("/status/token").await;
        assert!(front.text.contains("Shop") && front.text.contains("/logout"), "{}", front.text);
        assert_eq!(unlocked.get("/status/password").await.status, 401, "another page");
        let out = unlocked.post_nothing("/status/token/logout").await;
        assert!(out.header("set-cookie").contains("Max-Age=0"), "{out:?}");
        let id = by_token["pageid"].as_str().unwrap();
        ann.client.post_nothing(&format!("statuspage/{id}/token/rotate")).await.ok();
        served(&unlocked, "/status/token", |answer| answer.status == 401).await;

        assert_eq!(ann.client.get("/status/members").await.status, 200);
        assert_eq!(eve.client.get("/status/members").await.status, 401);
    }
    async fn the_networks_of_a_site_share_their_guesses_of_a_password(setup: Setup) {
        let app = setup.start_behind_proxy().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = json!({"name": "Acme", "slug": "locked", "published": true,
            "access": "password", "password": "open sesame"});
        save(&ann, page).await;
        served(&browser(&app), "/status/locked", |answer| answer.status == 401).await;
        let form = Some("application/x-www-form-urlencoded");
        let guess = async |from: &str| {
            let client = app.caller_from(from);
            client.raw(Method::POST, "/status/locked/login", form, "password=x").await.status
        };
        for network in 0..4 {
            let from = format!("2001:db8:1:{network}::1");
            for _ in 0..10 {
                assert_eq!(guess(&from).await, 401);
            }
            assert_eq!(guess(&from).await, 429);
        }
        assert_eq!(guess("2001:db8:1:4::1").await, 429, "the fifth network of the site");
        assert_eq!(guess("2001:db8:2:4::1").await, 401, "another site");
    }
}
