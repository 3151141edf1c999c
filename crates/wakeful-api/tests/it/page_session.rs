//! The web app's session: the cookie and its permissions.

use serde_json::json;
use std::collections::BTreeMap;
use wakeful_engine::SignupMode;
use wakeful_testkit::{Answer, App, Client, DatabaseKind, Setup, both_databases};

const PASSWORD: &str = "correct horse 9";

/// A browser with the web app open: it sends the web app's header and the cookie.
pub(crate) async fn browser(app: &App, email: &str) -> (Client, String) {
    app.sign_up(email).await;
    let page = app.anonymous().with("x-wakeful-page", "1");
    let answer = page.post("login", &json!({"email": email, "password": PASSWORD})).await;
    answer.ok();
    let cookie = pair(&answer);
    (page.with("cookie", &cookie), cookie)
}

/// `name=value` of the only cookie that a response sets.
#[track_caller]
fn pair(answer: &Answer) -> String {
    let line = answer.header("set-cookie");
    line.split(';').next().unwrap().to_owned()
}

both_databases! {
    async fn login_sets_a_cookie_that_scripts_and_other_sites_cannot_use(setup: Setup) {
        let app = setup.start().await;
        app.sign_up("ann@example.com").await;
        let body = json!({"email": "ann@example.com", "password": PASSWORD});
        let answer = app.anonymous().with("x-wakeful-page", "1").post("login", &body).await;
        assert_eq!(answer.ok()["token"], "", "scripts can read the body");
        let set = answer.header("set-cookie");
        let (token, rest) = set.strip_prefix("wakeful=").unwrap().split_once(';').unwrap();
        assert!(token.starts_with("wk_"));
        assert_eq!(rest, " Path=/; Max-Age=15552000; HttpOnly; SameSite=Strict");
        assert_eq!(answer.headers.get_all("set-cookie").iter().count(), 1);
    }

    async fn signup_sets_a_cookie_too(setup: Setup) {
        let app = setup.start().await;
        let page = app.anonymous().with("x-wakeful-page", "1");
        let answer = page.post("signup", &json!({"email": "ann@example.com", "password": PASSWORD})).await;
        answer.ok();
        let me = app.anonymous().with("cookie", &pair(&answer)).get("users/me").await.ok();
        assert_eq!(me["email"], "ann@example.com");
    }

    async fn session_returns_the_user_or_null_without_an_error(setup: Setup) {
        let app = setup.start().await;
        let (page, cookie) = browser(&app, "ann@example.com").await;
        let answer = page.get("session").await;
        assert_eq!(answer.keys(), ["first_signup", "success", "user"]);
        assert_eq!(answer.ok()["user"], page.get("users/me").await.ok());
        page.post("logout", &json!({})).await.ok();
        for guest in [app.anonymous(), page, app.anonymous().with("cookie", &cookie), app.anonymous().with_token("wk_x")] {
            let json = guest.get("session").await.ok();
            assert_eq!((&json["user"], &json["first_signup"]), (&json!(null), &json!(false)));
        }
    }

    async fn only_the_first_visitor_is_invited_to_sign_up(setup: Setup) {
        let app = setup.start().await;
        let first = app.anonymous().get("session").await.ok();
        assert_eq!((&first["first_signup"], &first["mail_server"]), (&json!(true), &json!(false)));
        let ann = app.sign_up("ann@example.com").await;
        assert_eq!(app.anonymous().get("session").await.ok()["first_signup"], false);
        assert_eq!(ann.client.get("session").await.ok()["first_signup"], false);
    }

    async fn nobody_is_invited_while_sign_up_is_closed(setup: Setup) {
        let mut setup = setup;
        setup.settings.signup = SignupMode::Closed;
        let app = setup.start().await;
        assert_eq!(app.anonymous().get("session").await.ok()["first_signup"], false);
    }

    async fn only_the_web_app_gets_a_cookie(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let body = json!({"email": ann.email, "password": PASSWORD});
        for client in [app.anonymous(), app.anonymous().with("x-wakeful-page", "0")] {
            let answer = client.post("login", &body).await;
            answer.ok();
            assert_eq!(answer.header("set-cookie"), "");
        }
        let wrong = json!({"email": ann.email, "password": "wrong horse 9"});
        let answer = app.anonymous().with("x-wakeful-page", "1").post("login", &wrong).await;
        answer.refused(401, "bad_credentials");
        assert_eq!(answer.header("set-cookie"), "");
    }

    async fn changes_with_a_cookie_require_the_web_apps_header(setup: Setup) {
        let app = setup.start().await;
        let (page, cookie) = browser(&app, "ann@example.com").await;
        let stranger = app.anonymous().with("cookie", &cookie);
        stranger.get("users/me").await.ok();
        let body = json!({"name": "deploy"});
        stranger.post("integrations/apikey/save", &body).await.refused(401, "not_authenticated");
        stranger.post_nothing("logout").await.refused(401, "not_authenticated");
        stranger.with("x-wakeful-page", "yes").post_nothing("logout").await.refused(401, "not_authenticated");
        page.post("integrations/apikey/save", &body).await.ok();
        let key = page.get("integrations/apikeys").await.ok()["apikeys"][0]["apikeyid"].as_str().unwrap().to_owned();
        let delete = format!("integrations/apikey/{key}/delete");
        stranger.delete(&delete).await.refused(401, "not_authenticated");
        page.delete(&delete).await.ok();
    }

    async fn logging_out_ends_the_session_and_clears_the_cookie(setup: Setup) {
        let app = setup.start().await;
        for (email, path) in [("a@example.com", "logout"), ("b@example.com", "logoutall"), ("c@example.com", "user/delete")] {
            let (page, _) = browser(&app, email).await;
            let answer = page.post_nothing(path).await;
            answer.ok();
            assert_eq!(
                answer.header("set-cookie"),
                "wakeful=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict",
                "{path}"
            );
            page.get("users/me").await.refused(401, "not_authenticated");
        }
    }

    async fn a_bearer_token_takes_precedence_over_the_cookie(setup: Setup) {
        let app = setup.start().await;
        let (page, _) = browser(&app, "ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        let me = page.with_token(&bob.token).get("users/me").await.ok();
        assert_eq!(me["email"], "bob@example.com");
        page.with_token("wk_rubbish").get("users/me").await.refused(401, "not_authenticated");
        page.with("x-api-key", "wka_x").get("users/me").await.refused(401, "not_authenticated");
    }

    async fn invalid_and_duplicate_cookies_are_ignored(setup: Setup) {
        let app = setup.start().await;
        let (_, cookie) = browser(&app, "ann@example.com").await;
        let sent = |line: &str| app.anonymous().with("cookie", line);
        sent(&format!("theme=dark; {cookie}; other=1")).get("users/me").await.ok();
        for line in ["wakeful=", "wakeful=wk_rubbish", "wakeful", &format!("{cookie}; wakeful=wk_x"), &format!("x{cookie}")] {
            sent(line).get("users/me").await.refused(401, "not_authenticated");
        }
    }

    async fn the_token_in_the_cookie_is_never_returned(setup: Setup) {
        let app = setup.start().await;
        let (page, cookie) = browser(&app, "ann@example.com").await;
        page.get("authenticated").await.refused(401, "not_authenticated");
        let signed_up = json!({"email": "ben@example.com", "password": PASSWORD});
        let answer = app.anonymous().with("x-wakeful-page", "1").post("signup", &signed_up).await;
        assert_eq!(answer.ok()["token"], "");
        let me = page.get("users/me").await;
        assert!(!me.text.contains(cookie.split_once('=').unwrap().1), "{}", me.text);
    }

    async fn over_tls_the_cookie_is_bound_to_the_host(setup: Setup) {
        let mut setup = setup;
        setup.api.https = true;
        let app = setup.start().await;
        let (page, cookie) = browser(&app, "ann@example.com").await;
        assert!(cookie.starts_with("__Host-wakeful=wk_"), "{cookie}");
        let answer = page.post_nothing("logout").await;
        assert!(answer.header("set-cookie").ends_with("; Secure"));
        let plain = cookie.replace("__Host-", "");
        app.anonymous().with("cookie", &plain).get("users/me").await.refused(401, "not_authenticated");
    }
}

#[tokio::test]
async fn an_unknown_path_is_the_web_app_for_browsers_and_404_for_programs() {
    let app = Setup::on(DatabaseKind::Sqlite).start().await;
    let browser = app.anonymous().with("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    for path in ["/", "/monitor/x/edit", "/login"] {
        let answer = browser.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.header("content-type").starts_with("text/html"), "{path}");
        assert!(answer.header("content-security-policy").contains("script-src 'self'"), "{path}");
    }
    let program = app.anonymous().with("accept", "application/json");
    program.get("/monitor/x").await.refused(404, "no_such_path");
    browser.get("/api/v1/nothing").await.refused(404, "no_such_path");
    browser.get("/api").await.refused(404, "no_such_path");
    browser.get("/assets/gone.js").await.refused(404, "no_such_path");
    browser.post_nothing("/login").await.refused(404, "no_such_path");
}

/// The directives of a content security policy by name.
fn policy(answer: &Answer) -> BTreeMap<String, String> {
    let parts = answer.header("content-security-policy").split(';');
    let part = |part: &str| part.trim().split_once(' ').map(|(name, to)| (name.into(), to.into()));
    parts.filter_map(part).collect()
}

#[tokio::test]
async fn the_policy_allows_stripe_only_for_billing_and_only_if_stripe_is_configured() {
    let html = "text/html,application/xhtml+xml,*/*;q=0.8";
    let app = Setup::on(DatabaseKind::Sqlite).start().await;
    let plain = policy(&app.anonymous().with("accept", html).get("/billing").await);
    assert_eq!(plain, policy(&app.anonymous().with("accept", html).get("/").await));
    assert!(plain.values().all(|to| !to.contains("stripe")), "{plain:?}");

    let mut setup = Setup::on(DatabaseKind::Sqlite);
    setup.api.stripe_publishable_key = Some("pk_test_1".into());
    let app = setup.start().await;
    let browser = app.anonymous().with("accept", html);
    for path in ["/", "/settings", "/api/v1/monitors", "/billing/x"] {
        assert_eq!(policy(&browser.get(path).await), plain, "{path}");
    }
    let wide = policy(&browser.get("/billing").await);
    let differ: Vec<&str> = wide
        .iter()
        .filter(|(name, to)| plain.get(*name) != Some(to))
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(differ, ["connect-src", "frame-src", "script-src"]);
    assert!(plain.keys().all(|name| wide.contains_key(name)), "no directive is missing");
    assert!(!wide.values().any(|to| to.contains("unsafe") || to == "*"), "{wide:?}");

    let ann = app.sign_up("ann@example.com").await;
    let membership = ann.client.get("membership/get").await.ok();
    assert_eq!(
        (&membership["processor"], &membership["publishable_key"]),
        (&json!("sandbox"), &json!("pk_test_1"))
    );
}
