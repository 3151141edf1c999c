//! reauthenticate, reauthenticate/start, and the calls that need a session whose user has entered
//! their credentials recently.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use wakeful_testkit::{
    App, Authenticator, Client, DatabaseKind, PASSWORD, Setup, User, both_databases, until,
};

use crate::every_route::{Operation, UNKNOWN, operations};
use crate::page_session::browser;
use crate::permissions::NOT_TRIED;

const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// The calls of the reference that the contract marks: only the web app must reauthenticate.
const PAGE: &[&str] = &[
    "DELETE /api/v1/user/delete",
    "POST /api/v1/integrations/apikey/save",
    "POST /api/v1/mfa/setup",
    "POST /api/v1/settings/save",
    "POST /api/v1/team/delete",
    "POST /api/v1/team/save",
    "POST /api/v1/user/delete",
];

/// Those that every session must be fresh for.
const ALWAYS: &[&str] = &[
    "DELETE /api/v1/audit/stream/{streamid}/delete",
    "DELETE /api/v1/service/{serviceid}/delete",
    "GET /api/v1/user/export",
    "POST /api/v1/admin/retry",
    "POST /api/v1/admin/team",
    "POST /api/v1/admin/team/delete",
    "POST /api/v1/admin/team/owner",
    "POST /api/v1/admin/user",
    "POST /api/v1/admin/user/delete",
    "POST /api/v1/admin/user/mfareset",
    "POST /api/v1/admin/user/reset",
    "POST /api/v1/audit/stream/save",
    "POST /api/v1/member/mfareset",
    "POST /api/v1/recovery/renew",
    "POST /api/v1/service/{serviceid}/key/save",
    "POST /api/v1/team/remove",
    "POST /api/v1/team/settings",
];

fn marked(which: &str) -> BTreeSet<String> {
    let operations = operations();
    let marked = operations.iter().filter(|operation| operation.reauthentication == which);
    marked.map(Operation::name).collect()
}

async fn reauthenticate(client: &Client, password: &str) -> wakeful_testkit::Answer {
    client.post("reauthenticate", &json!({"password": password})).await
}

/// Whether a call was refused because the session is not fresh.
fn is_stale(answer: &wakeful_testkit::Answer) -> bool {
    answer.status == 403 && answer.json()["code"] == "reauthentication_required"
}

/// A token that an API key pair was exchanged for.
async fn token_of_key(app: &App, user: &User) -> (Client, String) {
    let keys = user.new_keys(&app.anonymous()).await;
    let token = keys.client.get("authenticated").await.ok()["token"].as_str().unwrap().to_owned();
    (keys.client, token)
}

#[test]
fn the_marked_calls_are_those_of_the_contract() {
    let named = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let (page, always): (BTreeSet<String>, BTreeSet<String>) = (named(PAGE), named(ALWAYS));
    assert_eq!((marked("page"), marked("always")), (page, always));
}

both_databases! {
    async fn every_marked_operation_needs_a_fresh_session_before_the_body_is_read(setup: Setup) {
        let app = setup.start().await;
        let (page, _) = browser(&app, "ann@example.com").await;
        let ann = User::logged_in(&app.anonymous(), "ann@example.com").await;
        let key = ann.new_keys(&app.anonymous()).await.client;
        app.clock.advance(LIFETIME);
        let mut operations = operations();
        // Those that end the sessions come last.
        operations.sort_by_key(|operation| operation.path.contains("/logout"));
        for operation in operations.iter().filter(|operation| operation.protected) {
            let (name, path) = (operation.name(), operation.path_with(UNKNOWN));
            let call = async |client: &Client| {
                client.raw(operation.method.clone(), &path, Some("application/json"), "{").await
            };
            let which = operation.reauthentication.as_str();
            if which.is_empty() && NOT_TRIED.contains(&name.as_str()) {
                continue;
            }
            let answer = call(&page).await;
            assert_eq!(is_stale(&answer), !which.is_empty(), "cookie: {name}: {}", answer.text);
            if is_stale(&answer) {
                let ways = &answer.refused(403, "reauthentication_required")["ways"];
                assert_eq!(*ways, json!([{"method": "password", "mfacode": false}]), "{name}");
            }
            if NOT_TRIED.contains(&name.as_str()) {
                continue;
            }
            let answer = call(&ann.client).await;
            assert_eq!(is_stale(&answer), which == "always", "token: {name}: {}", answer.text);
            if !which.is_empty() {
                let answer = call(&key).await;
                // No key has the permission to administer the installation.
                let code = if operation.permission == "operate" { "forbidden" } else { "key_scope" };
                let refused = answer.status == 403 && answer.json()["code"] == code;
                assert_eq!(refused, which == "always", "key: {name}: {}", answer.text);
            }
        }
        // A program of the reference notices nothing, not even with the last of them.
        key.post_nothing("user/delete").await.ok();
    }

    async fn a_session_is_fresh_for_fifteen_minutes_and_no_other_with_it(setup: Setup) {
        let app = setup.start().await;
        let (page, cookie) = browser(&app, "ann@example.com").await;
        let other = User::logged_in(&app.anonymous(), "ann@example.com").await;
        let until = page.get("users/me").await.ok()["reauthenticated_until"].clone();
        assert_eq!(until, "2026-11-15T09:45:00.000Z");
        let new_key = async || page.post("integrations/apikey/save", &json!({"name": "k"})).await;
        app.clock.advance(LIFETIME - Duration::from_millis(1));
        new_key().await.ok();
        app.clock.advance(Duration::from_millis(1));
        new_key().await.refused(403, "reauthentication_required");

        let started = page.post_nothing("reauthenticate/start").await;
        assert_eq!(started.ok()["ways"], json!([{"method": "password", "mfacode": false}]));
        assert_eq!(started.keys(), ["success", "ways"]);
        assert_eq!(reauthenticate(&page, "").await.wrong_fields(), ["password"]);
        reauthenticate(&page, "wrong horse 9").await.refused(401, "bad_credentials");
        new_key().await.refused(403, "reauthentication_required");
        // Another site cannot send the web app's header.
        let elsewhere = app.anonymous().with("cookie", &cookie);
        reauthenticate(&elsewhere, PASSWORD).await.refused(401, "not_authenticated");
        let answer = reauthenticate(&page, PASSWORD).await;
        assert_eq!(answer.keys(), ["reauthenticated_until", "success"]);
        assert_eq!(answer.ok()["reauthenticated_until"], "2026-11-15T10:00:00.000Z");
        assert_eq!(page.get("users/me").await.ok()["reauthenticated_until"], "2026-11-15T10:00:00.000Z");
        new_key().await.ok();

        let rename = json!({"name": "Shop"});
        other.client.post("team/settings", &rename).await.refused(403, "reauthentication_required");
        page.post("team/settings", &rename).await.ok();
        other.reauthenticate().await;
        other.client.post("team/settings", &rename).await.ok();
        app.clock.advance(LIFETIME);
        new_key().await.refused(403, "reauthentication_required");
    }

    async fn api_keys_and_their_sessions_can_never_reauthenticate(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (key, token) = token_of_key(&app, &ann).await;
        let by_token = app.anonymous().with_token(&token);
        // A token in the cookie is held to the rules of the web app, wherever it came from.
        let by_cookie =
            app.anonymous().with("x-wakeful-page", "1").with("cookie", &format!("wakeful={token}"));
        for client in [&key, &by_token, &by_cookie] {
            assert_eq!(client.get("users/me").await.ok()["reauthenticated_until"], Value::Null);
            client.post_nothing("reauthenticate/start").await.refused(403, "key_scope");
            reauthenticate(client, PASSWORD).await.refused(403, "key_scope");
            client.post("team/settings", &json!({"name": "Shop"})).await.refused(403, "key_scope");
        }
        let new_key = json!({"name": "another"});
        by_cookie.post("integrations/apikey/save", &new_key).await.refused(403, "key_scope");
        for client in [&key, &by_token] {
            client.post("integrations/apikey/save", &new_key).await.ok();
        }
        let listed = ann.client.get("sessions").await.ok();
        let mut methods: Vec<&Value> =
            listed["sessions"].as_array().unwrap().iter().map(|session| &session["method"]).collect();
        methods.sort_by_key(ToString::to_string);
        assert_eq!(methods, ["key", "password"]);
        // A node of an earlier version does not write how a session was opened.
        app.database.execute("update sessions set method = 'password', reauthenticated_at = null").await;
        by_token.post("team/settings", &json!({"name": "Shop"})).await.refused(403, "key_scope");
        ann.client.post("team/settings", &json!({"name": "Shop"})).await.ok();
        app.clock.advance(LIFETIME);
        ann.client.post("team/settings", &json!({"name": "Shop"})).await
            .refused(403, "reauthentication_required");
    }

    async fn a_session_that_a_later_version_has_opened_works_and_is_never_fresh(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        app.database.execute("update sessions set method = 'passkey'").await;
        let me = ann.client.get("users/me").await.ok();
        assert_eq!(me["reauthenticated_until"], Value::Null);
        let listed = ann.client.get("sessions").await.ok();
        assert_eq!(listed["sessions"][0]["method"], "other");
        ann.client.get("monitors").await.ok();
        let answer = ann.client.post("team/settings", &json!({"name": "Shop"})).await;
        assert_eq!(answer.status, 403, "{}", answer.text);
    }

    async fn a_second_factor_is_asked_for_and_its_codes_work_once(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (authenticator, recovery) = Authenticator::enable(&ann, &app.clock).await;
        app.clock.advance(LIFETIME);
        let answer = ann.client.post_nothing("recovery/renew").await;
        let ways = &answer.refused(403, "reauthentication_required")["ways"];
        assert_eq!(*ways, json!([{"method": "password", "mfacode": true}]));
        let enter = async |password: &str, code: Value| {
            let body = json!({"password": password, "mfacode": code});
            ann.client.post("reauthenticate", &body).await
        };
        let code = authenticator.code(&app.clock);
        enter(PASSWORD, Value::Null).await.refused(401, "mfa_required");
        enter("wrong horse 9", json!(code)).await.refused(401, "bad_credentials");
        enter(PASSWORD, json!(authenticator.wrong_code(&app.clock))).await.refused(401, "mfa_invalid");
        ann.client.post_nothing("recovery/renew").await.refused(403, "reauthentication_required");
        enter(PASSWORD, json!(code)).await.ok();
        enter(PASSWORD, json!(code)).await.refused(401, "mfa_invalid");
        // A recovery code works, too, until there are new ones.
        enter(PASSWORD, json!(recovery[0])).await.ok();
        let renewed = ann.client.post_nothing("recovery/renew").await;
        assert_eq!(renewed.keys(), ["message", "recovery_codes", "success"]);
        let renewed = renewed.ok()["recovery_codes"].as_array().unwrap().clone();
        assert_eq!(renewed.len(), 10);
        enter(PASSWORD, json!(recovery[1])).await.refused(401, "mfa_invalid");
        enter(PASSWORD, renewed[0].clone()).await.ok();
        let log = async || {
            let log = ann.client.get("audit?action=reauthentication").await.ok();
            log["entries"].as_array().unwrap().clone()
        };
        until("the failures to be recorded", async || (log().await.len() == 4).then_some(())).await;
        let entry = log().await[0].clone();
        assert_eq!(entry["action"], "reauthentication.failed");
        assert_eq!((&entry["actor"]["id"], &entry["via"]["kind"]), (&json!(ann.userid), &json!("session")));
        assert_eq!(entry["object"]["name"], "ann@example.com");

        let bob = app.sign_up("bob@example.com").await;
        bob.client.post_nothing("recovery/renew").await.refused(409, "mfa_not_set_up");
    }

    async fn guessing_is_limited_as_at_a_login(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for _ in 0..10 {
            reauthenticate(&ann.client, "a guess").await.refused(401, "bad_credentials");
        }
        reauthenticate(&ann.client, PASSWORD).await.refused(429, "too_many_requests");
        // Both count together.
        app.anonymous().log_in(&ann.email, PASSWORD).await.refused(429, "too_many_requests");
        app.clock.advance(Duration::from_secs(60));
        ann.reauthenticate().await;
    }

    async fn a_suspended_member_cannot_reauthenticate(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let change = |suspended: bool| json!({"userid": bob.userid, "suspended": suspended});
        ann.client.post("member/save", &change(true)).await.ok();
        reauthenticate(&bob.client, PASSWORD).await.refused(403, "suspended");
        bob.client.post("team/settings", &json!({"name": "Mine"})).await.refused(403, "suspended");
        ann.client.post("member/save", &change(false)).await.ok();
        bob.reauthenticate().await;
    }

    async fn appointing_an_owner_needs_a_fresh_session_of_an_owner(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let change = |role: &str| json!({"userid": bob.userid, "role": role});
        app.clock.advance(LIFETIME);
        // Other roles do not need it.
        ann.client.post("member/save", &change("admin")).await.ok();
        ann.client.post("member/save", &change("owner")).await.refused(403, "reauthentication_required");
        let key = ann.new_keys(&app.anonymous()).await.client;
        key.post("member/save", &change("owner")).await.refused(403, "key_scope");
        bob.reauthenticate().await;
        bob.client.post("member/save", &change("owner")).await.refused(403, "forbidden");
        ann.reauthenticate().await;
        ann.client.post("member/save", &change("owner")).await.ok();
        assert_eq!(bob.client.get("users/me").await.ok()["role"], "owner");
    }

    async fn inviting_an_owner_needs_a_fresh_session_of_an_owner(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let invite = |role: &str| json!({"email": "eve@example.com", "role": role, "mail": false});
        let admin = crate::permissions::member(&app, &ann, wakeful_core::access::Role::Admin).await;
        app.clock.advance(LIFETIME);
        // Other roles do not need it.
        ann.client.post("invitation/save", &invite("admin")).await.ok();
        let refused = ann.client.post("invitation/save", &invite("owner")).await;
        let ways = &refused.refused(403, "reauthentication_required")["ways"];
        assert_eq!(*ways, json!([{"method": "password", "mfacode": false}]));
        let key = ann.new_keys(&app.anonymous()).await.client;
        key.post("invitation/save", &invite("owner")).await.refused(403, "key_scope");
        admin.reauthenticate().await;
        admin.client.post("invitation/save", &invite("owner")).await.refused(403, "forbidden");
        ann.reauthenticate().await;
        let saved = ann.client.post("invitation/save", &invite("owner")).await.ok();
        // Neither does a new link come without it.
        let renew = json!({"invitationid": saved["invitationid"], "mail": false});
        app.clock.advance(LIFETIME);
        ann.client.post("invitation/save", &renew).await.refused(403, "reauthentication_required");
        key.post("invitation/save", &renew).await.refused(403, "key_scope");
        admin.client.post("invitation/save", &renew).await.refused(403, "forbidden");
        ann.reauthenticate().await;
        ann.client.post("invitation/save", &renew).await.ok();
    }

    async fn a_password_that_was_changed_makes_no_session_fresh(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        app.clock.advance(LIFETIME);
        let new = "another horse 7";
        let body = json!({"email": ann.email, "password1": new, "password2": new});
        // At the same time, either both succeed, or the old password no longer works.
        let (saved, entered) = tokio::join!(
            ann.client.post("settings/save", &body), reauthenticate(&ann.client, PASSWORD));
        saved.ok();
        if entered.status != 200 {
            entered.refused(401, "bad_credentials");
        }
        reauthenticate(&ann.client, PASSWORD).await.refused(401, "bad_credentials");
        reauthenticate(&ann.client, new).await.ok();
    }

    async fn a_session_opened_with_an_invitation_is_fresh_too(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let body = json!({"email": "bob@example.com", "role": "owner", "mail": false});
        let saved = ann.client.post("invitation/save", &body).await.ok();
        let token = saved["link"].as_str().unwrap().rsplit_once('=').unwrap().1.to_owned();
        let body = json!({"token": token, "password": PASSWORD, "name": "Bob"});
        let joined = app.anonymous().post("invitation/accept", &body).await.ok();
        let bob = app.anonymous().with_token(joined["token"].as_str().unwrap());
        assert_eq!(bob.get("sessions").await.ok()["sessions"][0]["method"], "link");
        bob.post("team/settings", &json!({"name": "Shop"})).await.ok();
        app.clock.advance(LIFETIME);
        bob.post("team/settings", &json!({"name": "Shop"})).await.refused(403, "reauthentication_required");
        reauthenticate(&bob, PASSWORD).await.ok();
        bob.post("team/settings", &json!({"name": "Shop"})).await.ok();
    }

    async fn a_team_resets_the_second_factor_of_the_accounts_it_manages(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let admin = crate::permissions::member(&app, &ann, wakeful_core::access::Role::Admin).await;
        let reset = async |by: &User, userid: &str| {
            by.client.post("member/mfareset", &json!({"userid": userid})).await
        };
        reset(&ann, &bob.userid).await.refused(409, "mfa_not_set_up");
        for unknown in [UNKNOWN, "rubbish"] {
            reset(&ann, unknown).await.refused(404, "not_found");
        }
        Authenticator::enable(&bob, &app.clock).await;
        Authenticator::enable(&ann, &app.clock).await;
        // Otherwise, a stolen session could remove its own second factor.
        assert_eq!(reset(&ann, &ann.userid).await.wrong_fields(), ["userid"]);
        reset(&admin, &bob.userid).await.refused(403, "forbidden");
        let listed = ann.client.get("team/members").await.ok();
        let of_bob = listed["members"].as_array().unwrap().iter()
            .find(|member| member["userid"] == bob.userid.as_str()).unwrap().clone();
        assert_eq!((&of_bob["managed"], &of_bob["mfa"]), (&json!(true), &json!(true)));
        reset(&ann, &bob.userid).await.ok();
        let mails = app.mails("bob@example.com", 1).await;
        assert!(mails[0].contains("Subject: Your second factor was removed"), "{}", mails[0]);
        assert!(mails[0].contains("by ann@example.com"), "{}", mails[0]);
        bob.log_in(&app.anonymous()).await;
        assert_eq!(app.database.rows("recovery_codes").await, 10, "only those of ann");

        // Nobody but its holder manages an account that is in another team.
        let eve = app.sign_up("eve@example.com").await;
        crate::invitations::join(&ann, &eve, "viewer").await;
        Authenticator::enable(&eve, &app.clock).await;
        reset(&ann, &eve.userid).await.refused(403, "account_not_managed");
        let listed = eve.client.get("team/members").await.ok();
        for field in ["mfa", "last_seen"] {
            assert_eq!(listed["members"][0].get(field), None, "not for those who do not manage members");
        }
    }
}

#[tokio::test]
async fn reauthentication_survives_a_restart() {
    let app = Setup::on(DatabaseKind::Sqlite).start().await;
    let ann = app.sign_up("ann@example.com").await;
    app.clock.advance(LIFETIME);
    let app = app.restart().await;
    let client = app.anonymous().with_token(&ann.token);
    client
        .post("team/remove", &json!({"name": "ann"}))
        .await
        .refused(403, "reauthentication_required");
    reauthenticate(&client, PASSWORD).await.ok();
    let app = app.restart().await;
    let client = app.anonymous().with_token(&ann.token);
    client.post("team/remove", &json!({"name": "ann"})).await.ok();
}
