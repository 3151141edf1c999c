//! login, logout, logoutall, authenticated, users/me: issuing tokens, their use, and
//! their end.

use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use wakeful_testkit::{Client, PASSWORD, both_databases, concurrently};

const DAY: Duration = Duration::from_secs(24 * 3600);
const MINUTE: Duration = Duration::from_secs(60);

async fn authenticate(client: &Client, body: &Value) -> wakeful_testkit::Answer {
    client.post("authenticated", body).await
}

/// As many failed logins as are allowed per minute.
async fn fail_ten_times(client: &Client, email: &str) {
    for _ in 0..10 {
        client.log_in(email, "not the password").await.refused(401, "bad_credentials");
    }
}

both_databases! {
    async fn login_returns_the_user_and_a_token(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let body = json!({"email": " ANN@example.com ", "password": ann.password, "mfacode": null});
        let answer = app.anonymous().post("login", &body).await;
        let json = answer.ok();
        assert_eq!(answer.keys(), ["success", "token", "user"]);
        assert_eq!(json["user"], json!({"groupid": ann.team, "userid": ann.userid, "email": ann.email}));
        let token = json["token"].as_str().unwrap();
        assert!(token.starts_with("wk_") && token.len() == 46, "{token}");
        assert_ne!(token, ann.token);
        let me = app.anonymous().with_token(token).get("users/me").await.ok();
        assert_eq!(me["userid"], ann.userid.as_str());
        assert_eq!(me["email"], ann.email.as_str());
    }

    async fn a_wrong_email_and_a_wrong_password_get_the_same_response(setup: Setup) {
        let app = setup.start().await;
        app.sign_up("ann@example.com").await;
        let known = app.anonymous().log_in("ann@example.com", "wrong").await;
        let unknown = app.anonymous().log_in("nobody@example.com", PASSWORD).await;
        let no_address = app.anonymous().log_in("nobody", PASSWORD).await;
        known.refused(401, "bad_credentials");
        assert_eq!(known.shape(), unknown.shape());
        assert_eq!(known.shape(), no_address.shape());
        assert_eq!(known.header("www-authenticate"), "Bearer");
    }

    async fn login_reports_all_invalid_fields_at_once(setup: Setup) {
        let app = setup.start().await;
        for (body, wrong) in [
            (json!({}), vec!["email", "password"]),
            (json!({"email": 1, "password": 2, "mfacode": []}), vec!["email", "password", "mfacode"]),
        ] {
            let answer = app.anonymous().post("login", &body).await;
            assert_eq!(answer.wrong_fields(), wrong);
        }
        let answer = authenticate(&app.anonymous(), &json!({})).await;
        assert_eq!(answer.wrong_fields(), ["username", "password"]);
        let answer = authenticate(&app.anonymous(), &json!({"apikey": "x"})).await;
        assert_eq!(answer.wrong_fields(), ["enckey"]);
    }

    async fn users_me_returns_the_caller(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        for user in [&ann, &bob] {
            let json = user.client.get("users/me").await.ok();
            assert_eq!(json["userid"], user.userid.as_str());
            assert_eq!(json["email"], user.email.as_str());
            assert_eq!(json["mfa"], false);
        }
    }

    async fn logout_ends_this_token_and_no_other(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let again = ann.log_in(&app.anonymous()).await;
        assert_eq!(ann.client.post_nothing("logout").await.ok()["message"], "You are logged out.");
        assert!(!ann.client.is_authenticated().await);
        assert!(again.client.is_authenticated().await);
        ann.client.post_nothing("logout").await.refused(401, "not_authenticated");
    }

    async fn a_user_can_list_their_sessions_and_end_one(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        app.clock.advance(MINUTE);
        let authenticator = app.anonymous().with("user-agent", "Phone/1.0");
        let again = ann.log_in(&authenticator).await;

        let list = ann.client.get("sessions").await;
        assert_eq!(list.keys(), ["sessions", "success"]);
        let list = list.ok()["sessions"].as_array().unwrap().clone();
        assert_eq!(list.len(), 2, "bob's sessions are not listed");
        let here = list.iter().find(|session| session["current"] == true).unwrap();
        let there = list.iter().find(|session| session["current"] == false).unwrap();
        assert_eq!(here["created"], "2026-11-15T09:30:00.000Z");
        assert_eq!(there["agent"], "Phone/1.0");
        assert_eq!(there["address"], "127.0.0.1");
        assert_eq!(there["last_used"], "2026-11-15T09:31:00.000Z");

        let path = format!("session/{}/delete", there["sessionid"].as_str().unwrap());
        bob.client.delete(&path).await.refused(404, "not_found");
        assert!(again.client.is_authenticated().await);
        ann.client.delete(&path).await.ok();
        assert!(!again.client.is_authenticated().await);
        assert!(ann.client.is_authenticated().await);
        ann.client.delete(&path).await.refused(404, "not_found");
    }

    async fn expired_sessions_are_not_listed(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        app.clock.advance(30 * DAY);
        let again = ann.log_in(&app.anonymous()).await;
        let list = again.client.get("sessions").await.ok();
        assert_eq!(list["sessions"].as_array().unwrap().len(), 1);
        assert_eq!(list["sessions"][0]["current"], true);
    }

    async fn logoutall_ends_all_tokens_but_not_api_keys(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let again = ann.log_in(&app.anonymous()).await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        ann.client.post_nothing("logoutall").await.ok();
        assert!(!ann.client.is_authenticated().await);
        assert!(!again.client.is_authenticated().await);
        assert!(keys.client.is_authenticated().await);
        assert!(bob.client.is_authenticated().await);
    }

    async fn logout_with_api_keys_ends_nothing(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        keys.client.post_nothing("logout").await.ok();
        assert!(ann.client.is_authenticated().await);
        assert!(keys.client.is_authenticated().await);
    }

    async fn a_token_ended_on_one_node_is_ended_on_every_other(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let other = app.second_node().await;
        let there = other.anonymous().with_token(&ann.token);
        assert!(there.is_authenticated().await);
        ann.client.post_nothing("logout").await.ok();
        assert!(!there.is_authenticated().await);
    }

    async fn a_token_lives_30_days_after_its_last_use(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        app.clock.advance(30 * DAY - MINUTE);
        assert!(ann.client.is_authenticated().await);
        app.clock.advance(30 * DAY - MINUTE);
        assert!(ann.client.is_authenticated().await);
        app.clock.advance(30 * DAY);
        assert!(!ann.client.is_authenticated().await);
        app.clock.advance(MINUTE);
        app.sweep().await;
        assert_eq!(app.database.rows("sessions").await, 0);
    }

    async fn a_token_lives_180_days_at_most_however_much_it_is_used(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for _ in 0..9 {
            app.clock.advance(20 * DAY - MINUTE);
            assert!(ann.client.is_authenticated().await);
        }
        app.sweep().await;
        assert!(ann.client.is_authenticated().await);
        app.clock.advance(9 * MINUTE);
        assert!(!ann.client.is_authenticated().await);
        let again = ann.log_in(&app.anonymous()).await;
        app.clock.advance(MINUTE);
        app.sweep().await;
        assert!(again.client.is_authenticated().await);
        assert_eq!(app.database.rows("sessions").await, 1);
    }

    async fn the_lifetime_of_tokens_is_a_setting(setup: Setup) {
        let mut setup = setup;
        setup.settings.session_idle = 2 * MINUTE;
        setup.settings.session_max = 3 * MINUTE;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        app.clock.advance(MINUTE);
        assert!(ann.client.is_authenticated().await);
        app.clock.advance(MINUTE);
        assert!(ann.client.is_authenticated().await);
        assert!(!bob.client.is_authenticated().await);
        app.clock.advance(MINUTE);
        assert!(!ann.client.is_authenticated().await);
    }

    async fn the_name_of_the_scheme_is_case_insensitive(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"] {
            let client = app.anonymous().with("authorization", &format!("{scheme} {}", ann.token));
            assert!(client.is_authenticated().await, "{scheme}");
        }
    }

    async fn only_a_single_complete_token_is_accepted(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let token = &ann.token;
        for value in [
            "", " ", "Bearer", "Bearer ", token, &format!("Basic {token}"), &format!("Bearer{token}"),
            &format!("Bearer {token}x"), &format!("Bearer {}", &token[..45]), &format!("Bearer {token} {token}"),
            &format!("Bearer {}", token.to_uppercase()), &format!("Bearer {}", keys.apikey), "Bearer wk_",
        ] {
            let client = app.anonymous().with("authorization", value);
            assert!(!client.is_authenticated().await, "{value}");
            // A valid key pair does not make up for an invalid token.
            let client = keys.client.with("authorization", value);
            assert!(!client.is_authenticated().await, "{value}");
        }
        let twice = app.anonymous().with_token(token).with_token(token);
        assert!(!twice.is_authenticated().await);
    }

    async fn get_authenticated_returns_the_token_that_was_sent(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let answer = ann.client.get("authenticated").await;
        assert_eq!(answer.ok(), json!({"success": true, "token": ann.token}));
        assert_eq!(app.database.rows("sessions").await, 1);
        app.anonymous().get("authenticated").await.refused(401, "not_authenticated");
    }

    async fn get_authenticated_with_a_key_pair_issues_a_new_token(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let mut tokens = vec![ann.token.clone()];
        for _ in 0..2 {
            let answer = keys.client.get("authenticated").await;
            let json = answer.ok();
            assert_eq!(answer.keys(), ["success", "token"]);
            tokens.push(json["token"].as_str().unwrap().to_owned());
        }
        tokens.sort();
        tokens.dedup();
        assert_eq!(tokens.len(), 3);
        for token in tokens {
            let me = app.anonymous().with_token(&token).get("users/me").await.ok();
            assert_eq!(me["userid"], ann.userid.as_str());
        }
    }

    async fn a_token_of_a_key_pair_ends_with_the_key(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for way in ["get", "post"] {
            let keys = ann.new_keys(&app.anonymous()).await;
            let pair = json!({"apikey": keys.apikey, "enckey": keys.enckey});
            let issued = match way {
                "get" => keys.client.get("authenticated").await,
                _ => authenticate(&app.anonymous(), &pair).await,
            };
            let token = issued.ok()["token"].as_str().unwrap().to_owned();
            let client = app.anonymous().with_token(&token);
            assert!(client.is_authenticated().await);
            ann.client.delete(&format!("integrations/apikey/{}/delete", keys.id)).await.ok();
            assert!(!client.is_authenticated().await, "{way}");
        }
        assert!(ann.client.is_authenticated().await);
    }

    async fn a_key_pair_with_too_many_sessions_retains_the_latest(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let mut clients = Vec::new();
        for _ in 0..202 {
            app.clock.advance(Duration::from_millis(1));
            let json = keys.client.get("authenticated").await.ok();
            clients.push(app.anonymous().with_token(json["token"].as_str().unwrap()));
        }
        assert_eq!(app.database.rows("sessions").await, 201, "and the session of the password");
        assert!(!clients[1].is_authenticated().await);
        assert!(clients[2].is_authenticated().await);
        assert!(clients[201].is_authenticated().await);
        assert!(ann.client.is_authenticated().await);
    }

    async fn post_authenticated_accepts_a_user_name_and_password_or_a_key_pair(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        for body in [
            json!({"username": " Ann@example.com", "password": PASSWORD}),
            json!({"apikey": keys.apikey, "enckey": keys.enckey}),
            json!({"apikey": keys.apikey, "enckey": keys.enckey, "username": null, "password": null}),
        ] {
            let answer = authenticate(&app.anonymous(), &body).await;
            let json = answer.ok();
            assert_eq!(answer.keys(), ["success", "token"]);
            let client = app.anonymous().with_token(json["token"].as_str().unwrap());
            assert_eq!(client.get("users/me").await.ok()["userid"], ann.userid.as_str());
        }
    }

    async fn post_authenticated_rejects_the_same_credentials_as_login(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let others = bob.new_keys(&app.anonymous()).await;
        for body in [
            json!({"username": "ann@example.com", "password": "wrong"}),
            json!({"username": "nobody@example.com", "password": PASSWORD}),
            json!({"apikey": keys.apikey, "enckey": others.enckey}),
            json!({"apikey": others.apikey, "enckey": keys.enckey}),
            json!({"apikey": keys.enckey, "enckey": keys.apikey}),
            json!({"apikey": "wka_rubbish", "enckey": "wke_rubbish"}),
        ] {
            authenticate(&app.anonymous(), &body).await.refused(401, "bad_credentials");
        }
    }

    async fn after_ten_failed_logins_per_minute_that_account_alone_gets_429(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        fail_ten_times(&app.anonymous(), "ann@example.com").await;
        app.clock.advance(Duration::from_secs(20));
        let limited = app.anonymous().log_in(" ANN@example.com", PASSWORD).await;
        limited.refused(429, "too_many_requests");
        assert_eq!(limited.header("retry-after"), "40");
        bob.log_in(&app.anonymous()).await;
        // Existing sessions remain valid.
        assert!(ann.client.is_authenticated().await);
        app.clock.advance(Duration::from_secs(39));
        app.anonymous().log_in("ann@example.com", PASSWORD).await.refused(429, "too_many_requests");
        app.clock.advance(Duration::from_secs(1));
        app.anonymous().log_in("ann@example.com", PASSWORD).await.ok();
    }

    async fn the_limit_does_not_reveal_whether_an_account_exists(setup: Setup) {
        let app = setup.start().await;
        app.sign_up("ann@example.com").await;
        fail_ten_times(&app.anonymous(), "ann@example.com").await;
        fail_ten_times(&app.anonymous(), "nobody@example.com").await;
        let known = app.anonymous().log_in("ann@example.com", PASSWORD).await;
        let unknown = app.anonymous().log_in("nobody@example.com", PASSWORD).await;
        known.refused(429, "too_many_requests");
        assert_eq!(known.shape(), unknown.shape());
    }

    async fn logins_that_succeed_are_not_limited(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for _ in 0..12 {
            ann.log_in(&app.anonymous()).await;
        }
    }

    async fn failures_from_one_address_do_not_keep_the_owner_out_at_another(setup: Setup) {
        let app = setup.start_behind_proxy().await;
        let ann = app.sign_up("ann@example.com").await;
        let attacker = app.caller_from("203.0.113.9");
        fail_ten_times(&attacker, "ann@example.com").await;
        attacker.log_in("ann@example.com", PASSWORD).await.refused(429, "too_many_requests");
        ann.log_in(&app.caller_from("198.51.100.1")).await;
        // Addresses that the attacker adds before the proxy's entry have no effect.
        let spoofed = app.caller_from("198.51.100.1, 203.0.113.9");
        spoofed.log_in("ann@example.com", PASSWORD).await.refused(429, "too_many_requests");
    }

    async fn one_password_tried_on_many_accounts_is_limited_by_address(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.failed_logins_per_network = 20;
        let app = setup.start_behind_proxy().await;
        let ann = app.sign_up("ann@example.com").await;
        let attacker = app.caller_from("203.0.113.9");
        for at in 0..20 {
            let email = format!("nobody{at}@example.com");
            attacker.log_in(&email, PASSWORD).await.refused(401, "bad_credentials");
        }
        let limited = attacker.log_in("another@example.com", PASSWORD).await;
        limited.refused(429, "too_many_requests");
        assert_eq!(limited.header("retry-after"), "600");
        let keys = json!({"apikey": "wka_x", "enckey": "wke_x"});
        authenticate(&attacker, &keys).await.refused(429, "too_many_requests");
        // No account is blocked for other addresses, whether it was tried or not.
        let elsewhere = app.caller_from("203.0.113.10");
        elsewhere.log_in("nobody0@example.com", PASSWORD).await.refused(401, "bad_credentials");
        ann.log_in(&elsewhere).await;
        app.clock.advance(10 * MINUTE);
        ann.log_in(&attacker).await;
    }

    async fn the_addresses_of_one_ipv6_network_share_their_failed_logins(setup: Setup) {
        let app = setup.start_behind_proxy().await;
        let ann = app.sign_up("ann@example.com").await;
        for host in 0..10 {
            let attacker = app.caller_from(&format!("2001:db8:1:2:{host}::1"));
            attacker.log_in(&ann.email, "wrong").await.refused(401, "bad_credentials");
        }
        let attacker = app.caller_from("2001:db8:1:2:ffff::1");
        attacker.log_in(&ann.email, "wrong").await.refused(429, "too_many_requests");
        ann.log_in(&app.caller_from("2001:db8:1:3::1")).await;
    }

    async fn the_networks_of_one_ipv6_site_share_a_larger_number_of_failed_logins(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.failed_logins_per_minute = 2;
        let app = setup.start_behind_proxy().await;
        let ann = app.sign_up("ann@example.com").await;
        for network in 0..8 {
            let attacker = app.caller_from(&format!("2001:db8:1:{network}::1"));
            attacker.log_in(&ann.email, "wrong").await.refused(401, "bad_credentials");
        }
        let attacker = app.caller_from("2001:db8:1:8::1");
        attacker.log_in(&ann.email, "wrong").await.refused(429, "too_many_requests");
        ann.log_in(&app.caller_from("2001:db8:2::1")).await;
    }

    async fn a_hundred_clients_of_one_address_do_not_block_logins_of_others(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.failed_logins_per_network = 100_000;
        let app = setup.start_behind_proxy().await;
        let ann = app.sign_up("ann@example.com").await;
        let attacker = app.caller_from("203.0.113.9");
        let calls = (0..100).map(|at| (attacker.clone(), format!("nobody{at}@example.com")));
        let attack =
            concurrently(calls, |(client, email)| async move { client.log_in(&email, "a guess").await });
        // Succeeds at the first attempt during the attack.
        let elsewhere = app.caller_from("203.0.113.10");
        let owner = async {
            for _ in 0..3 {
                ann.log_in(&elsewhere).await;
            }
        };
        let (answers, ()) = tokio::join!(attack, owner);
        let refused: Vec<_> = answers.iter().filter(|answer| answer.status == 429).collect();
        assert!(!refused.is_empty());
        for answer in refused {
            answer.refused(429, "too_many_requests");
            assert_eq!(answer.header("retry-after"), "1");
        }
        assert!(answers.iter().all(|answer| [401, 429].contains(&answer.status)));
    }

    async fn failed_logins_leave_no_rows_behind(setup: Setup) {
        let app = setup.start().await;
        for at in 0..5 {
            app.anonymous().log_in(&format!("nobody{at}@example.com"), "wrong").await.refused(401, "bad_credentials");
        }
        assert_eq!(app.database.rows("limits").await, 6, "one for each account and one for the address");
        app.clock.advance(121 * MINUTE);
        app.sweep().await;
        assert_eq!(app.database.rows("limits").await, 0);
    }

    async fn a_spoofed_forwarded_address_does_not_bypass_the_limit(setup: Setup) {
        let app = setup.start().await;
        app.sign_up("ann@example.com").await;
        for last in 0..10 {
            let client = app.caller_from(&format!("198.51.100.{last}"));
            client.log_in("ann@example.com", "wrong").await.refused(401, "bad_credentials");
        }
        let client = app.caller_from("198.51.100.99");
        client.log_in("ann@example.com", PASSWORD).await.refused(429, "too_many_requests");
    }

    async fn a_restart_or_another_node_does_not_bypass_the_limit(setup: Setup) {
        let app = setup.start().await;
        app.sign_up("ann@example.com").await;
        fail_ten_times(&app.anonymous(), "ann@example.com").await;
        let other = app.second_node().await;
        other.anonymous().log_in("ann@example.com", PASSWORD).await.refused(429, "too_many_requests");
        let app = app.restart().await;
        app.anonymous().log_in("ann@example.com", PASSWORD).await.refused(429, "too_many_requests");
    }

    async fn all_ways_to_log_in_count_toward_the_same_limit(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let anonymous = app.anonymous();
        let token = format!("wkr_{}", "A".repeat(43));
        let update = json!({"email": ann.email, "password1": PASSWORD, "password2": PASSWORD, "tokenid": token});
        let wrong = json!({"username": ann.email, "password": "wrong"});
        let disable = json!({"password": "wrong", "mfacode": "000000"});
        for _ in 0..2 {
            anonymous.log_in(&ann.email, "wrong").await.refused(401, "bad_credentials");
            authenticate(&anonymous, &wrong).await.refused(401, "bad_credentials");
            ann.client.post("mfa/disable", &disable).await.refused(401, "bad_credentials");
            anonymous.post("password/update", &update).await.refused(401, "bad_token");
            anonymous.post("password/update", &update).await.refused(401, "bad_token");
        }
        anonymous.log_in(&ann.email, PASSWORD).await.refused(429, "too_many_requests");
        authenticate(&anonymous, &wrong).await.refused(429, "too_many_requests");
        ann.client.post("mfa/disable", &disable).await.refused(429, "too_many_requests");
        anonymous.post("password/update", &update).await.refused(429, "too_many_requests");
    }

    async fn guessing_an_enc_key_is_limited(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let guess = json!({"apikey": keys.apikey, "enckey": format!("wke_{}", "A".repeat(43))});
        for _ in 0..10 {
            authenticate(&app.anonymous(), &guess).await.refused(401, "bad_credentials");
        }
        authenticate(&app.anonymous(), &guess).await.refused(429, "too_many_requests");
    }

    async fn calls_listed_without_a_body_accept_none_an_empty_one_and_an_object(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let json = Some("application/json");
        for path in ["logout", "logoutall", "user/delete"] {
            for (kind, body) in [(None, ""), (json, ""), (json, "{}"), (None, "{}")] {
                let again = ann.log_in(&app.anonymous()).await;
                let user = match path {
                    "user/delete" => again.colleague(&app.anonymous(), "bob@example.com").await,
                    _ => again,
                };
                user.client.raw(Method::POST, path, kind, body).await.ok();
                assert!(!user.client.is_authenticated().await, "{path}");
            }
        }
    }
}
