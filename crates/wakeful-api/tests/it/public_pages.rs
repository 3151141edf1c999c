//! Status pages for their visitors: who may see them, and their headers.

use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use wakeful_testkit::{Answer, App, Client, User, both_databases, concurrently, until};

use crate::subscribers::post_form;

pub(crate) async fn save(user: &User, page: Value) -> Value {
    user.client.post("statuspage/save", &page).await.ok()["statuspage"].clone()
}

/// Waits until a page is served as it was saved.
pub(crate) async fn served(
    client: &Client,
    path: &str,
    wanted: impl Fn(&Answer) -> bool,
) -> Answer {
    until(&format!("{path} to be served"), || async {
        let answer = client.get(path).await;
        wanted(&answer).then_some(answer)
    })
    .await
}

pub(crate) fn browser(app: &App) -> Client {
    app.anonymous().with("accept", "text/html")
}

/// The status of an attempt to unlock the page `locked`.
async fn enter(client: Client, form: &'static str) -> u16 {
    post_form(&client, "/status/locked/login", form).await.status
}

both_databases! {
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
        // A key of a member sees what its scope permits.
        for (scope, status) in [("viewer", 200), ("push", 401), ("audit", 401)] {
            let key = json!({"name": scope, "scope": scope});
            let key = ann.client.post("integrations/apikey/save", &key).await.ok();
            let text = |field: &str| key[field].as_str().unwrap();
            let keys = app.anonymous().with_keys(text("apikey"), text("enckey"));
            assert_eq!(keys.get("/status/members").await.status, status, "{scope}");
        }
    }
    async fn parallel_guesses_of_a_password_do_not_exceed_the_limit(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = json!({"name": "Acme", "slug": "locked", "published": true,
            "access": "password", "password": "open sesame"});
        save(&ann, page).await;
        served(&browser(&app), "/status/locked", |answer| answer.status == 401).await;
        let right = "password=open+sesame";
        // More correct ones than the limit, of which none counts.
        for _ in 0..12 {
            assert_eq!(enter(browser(&app), right).await, 303);
        }
        let clients = (0..30).map(|_| browser(&app));
        let guesses = concurrently(clients, |client| enter(client, "password=x")).await;
        let wrong = guesses.iter().filter(|status| **status == 401).count();
        let refused = guesses.iter().filter(|status| **status == 429).count();
        assert_eq!((wrong, refused), (10, 20), "{guesses:?}");
        assert_eq!(enter(browser(&app), right).await, 429);
        app.clock.advance(Duration::from_secs(61));
        assert_eq!(enter(browser(&app), right).await, 303);
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
