//! password/lost and password/update.

use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use wakeful_testkit::{Authenticator, PASSWORD, User, both_databases};

const NEW: &str = "battery staple 7";
const HOUR: Duration = Duration::from_secs(3600);

fn update(user: &User, tokenid: &str) -> Value {
    json!({"email": user.email, "password1": NEW, "password2": NEW, "tokenid": tokenid})
}

both_databases! {
    async fn requesting_a_reset_gets_the_same_response_for_every_address(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let known = app.anonymous().post("password/lost", &json!({"email": ann.email})).await;
        known.ok();
        assert_eq!(known.keys(), ["message", "success"]);
        for email in ["nobody@example.com", "no address", "' or 1=1 --"] {
            let unknown = app.anonymous().post("password/lost", &json!({"email": email})).await;
            assert_eq!(unknown.shape(), known.shape());
        }
        app.mails(&ann.email, 2).await;
        let answer = app.anonymous().post("password/lost", &json!({"email": null})).await;
        assert_eq!(answer.wrong_fields(), ["email"]);
    }

    async fn the_emailed_token_sets_a_password_once_and_ends_every_session(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let token = app.request_password_reset(&ann, 0).await;
        assert!(ann.client.is_authenticated().await);
        let answer = app.anonymous().post("password/update", &update(&ann, &token)).await;
        answer.ok();
        assert_eq!(answer.keys(), ["message", "success"]);
        assert!(!ann.client.is_authenticated().await);
        assert!(!keys.client.is_authenticated().await);
        app.anonymous().log_in(&ann.email, PASSWORD).await.refused(401, "bad_credentials");
        app.anonymous().log_in(&ann.email, NEW).await.ok();
        app.anonymous().post("password/update", &update(&ann, &token)).await.refused(401, "bad_token");
    }

    async fn a_reset_revokes_all_access_of_an_impostor_with_the_same_address(setup: Setup) {
        let app = setup.start().await;
        let squatter = app.sign_up("ann@example.com").await;
        let keys = squatter.new_keys(&app.anonymous()).await;
        let by_get = keys.client.get("authenticated").await.ok();
        let pair = json!({"apikey": keys.apikey, "enckey": keys.enckey});
        let by_post = app.anonymous().post("authenticated", &pair).await.ok();
        let tokens = [by_get, by_post].map(|answer| answer["token"].as_str().unwrap().to_owned());
        squatter.colleague(&app.anonymous(), "eve@example.com").await;
        let feed = squatter.client.post_nothing("contacts/feed").await.ok()["url"].clone();
        let feed = feed.as_str().unwrap();
        let feed = &feed[feed.find("/api/").unwrap()..];
        let read = async || app.anonymous().call(reqwest::Method::GET, feed, None).await;
        assert_eq!(read().await.status, 200);
        let reset = app.request_password_reset(&squatter, 0).await;
        let mails = app.mails(&squatter.email, 2).await;
        let mail = mails.iter().find(|mail| mail.contains("#tokenid=")).unwrap();
        assert!(mail.contains("deletes all API keys"), "{mail}");
        app.anonymous().post("password/update", &update(&squatter, &reset)).await.ok();
        assert!(!squatter.client.is_authenticated().await);
        assert!(!keys.client.is_authenticated().await);
        for token in tokens {
            assert!(!app.anonymous().with_token(&token).is_authenticated().await);
        }
        app.anonymous().post("authenticated", &pair).await.refused(401, "bad_credentials");
        read().await.refused(404, "not_found");
        let ann = app.anonymous().log_in("ann@example.com", NEW).await.ok();
        let ann = app.anonymous().with_token(ann["token"].as_str().unwrap());
        assert_eq!(ann.get("integrations/apikeys").await.ok()["apikeys"], json!([]));
        let team = ann.get("team/get").await.ok();
        assert_eq!(team["message"].as_array().unwrap().len(), 2, "the members are shown, not deleted");
    }

    async fn a_link_sent_to_an_earlier_address_is_invalid(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("old@example.com").await;
        let token = app.request_password_reset(&ann, 0).await;
        let change = |email: &str| json!({"userid": ann.userid, "email": email});
        ann.client.post("team/save", &change("new@example.com")).await.ok();
        let moved = User { email: "new@example.com".into(), ..ann.clone() };
        for user in [&ann, &moved] {
            app.anonymous().post("password/update", &update(user, &token)).await.refused(401, "bad_token");
        }
        // Also after the account has changed back to the earlier address.
        ann.client.post("settings/save", &change("old@example.com")).await.ok();
        app.anonymous().post("password/update", &update(&ann, &token)).await.refused(401, "bad_token");
        assert!(ann.client.is_authenticated().await);
    }

    async fn another_spelling_of_the_same_address_leaves_the_link_valid(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let token = app.request_password_reset(&ann, 0).await;
        ann.client.post("settings/save", &json!({"email": "Ann@Example.com"})).await.ok();
        app.anonymous().post("password/update", &update(&ann, &token)).await.ok();
    }

    async fn reset_links_are_limited_per_hour_and_address_known_or_not(setup: Setup) {
        let app = setup.start_behind_proxy().await;
        let ann = app.sign_up("ann@example.com").await;
        let here = app.caller_from("2001:db8:1:2::1");
        for at in 0..20 {
            here.post("password/lost", &json!({"email": format!("a{at}@example.com")})).await.ok();
        }
        let known = here.post("password/lost", &json!({"email": ann.email})).await;
        known.refused(429, "too_many_requests");
        let neighbor = app.caller_from("2001:db8:1:2:ffff::2");
        let unknown = neighbor.post("password/lost", &json!({"email": "nobody@example.com"})).await;
        assert_eq!(known.shape(), unknown.shape());
        app.caller_from("2001:db8:1:3::1").post("password/lost", &json!({"email": ann.email})).await.ok();
        app.mails(&ann.email, 2).await;
    }

    async fn the_link_does_not_depend_on_the_host_header(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let lost = json!({"email": ann.email});
        let spoofed = app.anonymous().with("x-forwarded-host", "evil.example");
        spoofed.post("password/lost", &lost).await.ok();
        let spoofed = spoofed.with("host", "evil.example");
        spoofed.post("password/lost", &lost).await.refused(421, "misdirected_request");
        let mails = app.mails(&ann.email, 2).await;
        let mail = mails.iter().find(|mail| mail.contains("#tokenid=")).unwrap();
        assert!(mail.contains(&format!("{}/password#tokenid=wkr_", app.url)), "{mail}");
        assert!(!mail.contains("evil.example"), "{mail}");
    }

    async fn opening_the_link_does_not_use_up_the_token(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let token = app.request_password_reset(&ann, 0).await;
        for path in [format!("/password#tokenid={token}"), format!("/password?tokenid={token}")] {
            app.anonymous().get(&path).await;
            app.anonymous().call(Method::HEAD, &path, None).await;
        }
        let path = format!("password/update?tokenid={token}");
        app.anonymous().get(&path).await.refused(405, "method_not_allowed");
        app.anonymous().post("password/update", &update(&ann, &token)).await.ok();
    }

    async fn only_the_newest_token_is_valid(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let first = app.request_password_reset(&ann, 0).await;
        let second = app.request_password_reset(&ann, 1).await;
        assert_ne!(first, second);
        app.anonymous().post("password/update", &update(&ann, &first)).await.refused(401, "bad_token");
        app.anonymous().post("password/update", &update(&ann, &second)).await.ok();
    }

    async fn a_token_is_valid_for_an_hour(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let token = app.request_password_reset(&ann, 0).await;
        app.clock.advance(HOUR);
        app.anonymous().post("password/update", &update(&ann, &token)).await.refused(401, "bad_token");
        app.sweep().await;
        assert_eq!(app.database.rows("resets").await, 0);
        let token = app.request_password_reset(&ann, 1).await;
        app.clock.advance(HOUR - Duration::from_secs(1));
        app.sweep().await;
        app.anonymous().post("password/update", &update(&ann, &token)).await.ok();
    }

    async fn the_email_must_be_that_of_the_token(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        let token = app.request_password_reset(&ann, 0).await;
        for tokenid in [&token, &ann.token] {
            app.anonymous().post("password/update", &update(&bob, tokenid)).await.refused(401, "bad_token");
        }
        assert!(bob.client.is_authenticated().await);
        bob.log_in(&app.anonymous()).await;
        let shouted = User { email: " ANN@Example.com ".into(), ..ann };
        app.anonymous().post("password/update", &update(&shouted, &token)).await.ok();
    }

    async fn a_valid_bearer_token_sets_a_password_and_ends_all_other_tokens(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let again = ann.log_in(&app.anonymous()).await;
        let waiting = app.request_password_reset(&ann, 0).await;
        app.anonymous().post("password/update", &update(&ann, &ann.token)).await.ok();
        assert!(ann.client.is_authenticated().await);
        assert!(!again.client.is_authenticated().await);
        app.anonymous().log_in(&ann.email, NEW).await.ok();
        app.anonymous().post("password/update", &update(&ann, &waiting)).await.refused(401, "bad_token");
        let ended = json!({"email": ann.email, "password1": PASSWORD, "password2": PASSWORD, "tokenid": again.token});
        app.anonymous().post("password/update", &ended).await.refused(401, "bad_token");
    }

    async fn an_invalid_token_is_rejected(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        for tokenid in ["x", "wkr_", "wk_", &keys.apikey, &keys.enckey, &format!("wkr_{}", "A".repeat(43))] {
            let answer = app.anonymous().post("password/update", &update(&ann, tokenid)).await;
            answer.refused(401, "bad_token");
        }
        assert!(ann.client.is_authenticated().await);
    }

    async fn an_invalid_new_password_does_not_use_up_the_token(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let token = app.request_password_reset(&ann, 0).await;
        for (body, wrong) in [
            (json!({}), vec!["email", "password1", "password2", "tokenid"]),
            (json!({"email": "ann", "password1": "short", "password2": "other", "tokenid": 1}),
                vec!["email", "password1", "password2", "tokenid"]),
            (json!({"email": ann.email, "password1": NEW, "password2": PASSWORD, "tokenid": token}), vec!["password2"]),
            (json!({"email": ann.email, "password1": ann.email, "password2": ann.email, "tokenid": token}),
                vec!["password1"]),
        ] {
            let answer = app.anonymous().post("password/update", &body).await;
            assert_eq!(answer.wrong_fields(), wrong, "{body}");
        }
        app.anonymous().post("password/update", &update(&ann, &token)).await.ok();
    }

    async fn an_account_gets_at_most_three_links_an_hour(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        let mut newest = String::new();
        for earlier in 0..3 {
            newest = app.request_password_reset(&ann, earlier).await;
        }
        for _ in 0..3 {
            let body = json!({"email": ann.email});
            app.anonymous().post("password/lost", &body).await.ok();
        }
        // Bob's mail comes after all of Ann's, so a fourth one would have arrived by then.
        app.request_password_reset(&bob, 0).await;
        app.engine.drain().await;
        assert_eq!(app.mails_now(&ann.email).len(), 1 + 3);
        app.anonymous().post("password/update", &update(&ann, &newest)).await.ok();
        app.clock.advance(HOUR);
        app.request_password_reset(&ann, 3).await;
    }

    async fn a_reset_does_not_turn_mfa_off(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (authenticator, _) = Authenticator::enable(&ann, &app.clock).await;
        let token = app.request_password_reset(&ann, 0).await;
        app.anonymous().post("password/update", &update(&ann, &token)).await.ok();
        app.anonymous().log_in(&ann.email, NEW).await.refused(401, "mfa_required");
        let body = json!({"email": ann.email, "password": NEW, "mfacode": authenticator.code(&app.clock)});
        app.anonymous().post("login", &body).await.ok();
    }
}
