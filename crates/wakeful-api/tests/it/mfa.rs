//! mfa/setup, enable, disable, and logins with a code.

use reqwest::Url;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;
use wakeful_testkit::{Answer, App, Authenticator, PASSWORD, User, both_databases, until};

const STEP: Duration = Duration::from_secs(30);

async fn log_in(app: &App, user: &User, code: impl Into<Value>) -> Answer {
    let body = json!({"email": user.email, "password": user.password, "mfacode": code.into()});
    app.anonymous().post("login", &body).await
}

both_databases! {
    async fn setup_returns_the_secret_for_an_app_and_enables_nothing(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let answer = ann.client.post_nothing("mfa/setup").await;
        let json = answer.ok();
        assert_eq!(answer.keys(), ["message", "qr", "secret", "success", "uri"]);
        let secret = json["secret"].as_str().unwrap();
        assert_eq!(secret.len(), 32, "20 bytes in base32");
        let uri = Url::parse(json["uri"].as_str().unwrap()).unwrap();
        assert_eq!((uri.scheme(), uri.host_str()), ("otpauth", Some("totp")));
        assert_eq!(uri.path(), "/Wakeful:ann%40example.com");
        let query: Vec<_> = uri.query_pairs().collect();
        assert!(query.contains(&("secret".into(), secret.into())), "{query:?}");
        assert!(query.contains(&("issuer".into(), "Wakeful".into())), "{query:?}");
        let qr = json["qr"].as_str().unwrap();
        assert!(qr.starts_with("<?xml") && qr.contains("<svg") && qr.ends_with("</svg>"), "{qr}");
        ann.log_in(&app.anonymous()).await;
    }

    async fn enabling_requires_a_setup_and_a_valid_code(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let enable = async |code: &str| ann.client.post("mfa/enable", &json!({"mfacode": code})).await;
        enable("000000").await.refused(409, "mfa_not_set_up");
        let authenticator = Authenticator::scan(&ann.client.post_nothing("mfa/setup").await.ok());
        enable(&authenticator.wrong_code(&app.clock)).await.refused(401, "mfa_invalid");
        assert_eq!(enable("").await.wrong_fields(), ["mfacode"]);
        ann.log_in(&app.anonymous()).await;
        let answer = enable(&authenticator.code(&app.clock)).await;
        assert_eq!(answer.keys(), ["message", "recovery_codes", "success"]);
        let codes = answer.ok()["recovery_codes"].as_array().unwrap().clone();
        assert_eq!(codes.iter().map(Value::to_string).collect::<HashSet<_>>().len(), 10);
        log_in(&app, &ann, Value::Null).await.refused(401, "mfa_required");
        assert_eq!(ann.client.get("users/me").await.ok()["mfa"], true);
    }

    async fn enabling_or_setting_up_twice_is_a_conflict(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (authenticator, _) = Authenticator::enable(&ann, &app.clock).await;
        ann.client.post_nothing("mfa/setup").await.refused(409, "mfa_already_on");
        let body = json!({"mfacode": authenticator.code(&app.clock)});
        ann.client.post("mfa/enable", &body).await.refused(409, "mfa_already_on");
        log_in(&app, &ann, authenticator.code(&app.clock)).await.ok();
        assert_eq!(app.database.rows("recovery_codes").await, 10);
    }

    async fn a_second_setup_replaces_the_first(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let first = Authenticator::scan(&ann.client.post_nothing("mfa/setup").await.ok());
        let (second, _) = Authenticator::enable(&ann, &app.clock).await;
        assert_ne!(first.seed(), second.seed());
        log_in(&app, &ann, first.code(&app.clock)).await.refused(401, "mfa_invalid");
        log_in(&app, &ann, second.code(&app.clock)).await.ok();
    }

    async fn login_and_authenticated_require_the_code(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (authenticator, _) = Authenticator::enable(&ann, &app.clock).await;
        app.anonymous().log_in(&ann.email, PASSWORD).await.refused(401, "mfa_required");
        log_in(&app, &ann, authenticator.wrong_code(&app.clock)).await.refused(401, "mfa_invalid");
        log_in(&app, &ann, authenticator.code(&app.clock)).await.ok();
        app.clock.advance(STEP);
        let mut body = json!({"username": ann.email, "password": PASSWORD});
        app.anonymous().post("authenticated", &body).await.refused(401, "mfa_required");
        body["mfacode"] = authenticator.wrong_code(&app.clock).into();
        app.anonymous().post("authenticated", &body).await.refused(401, "mfa_invalid");
        body["mfacode"] = authenticator.code(&app.clock).into();
        app.anonymous().post("authenticated", &body).await.ok();
    }

    async fn an_empty_code_counts_as_missing_and_not_as_wrong(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (authenticator, _) = Authenticator::enable(&ann, &app.clock).await;
        // Five wrong codes would lock the user.
        for code in ["", " ", "", "\t", "", "  "] {
            log_in(&app, &ann, code).await.refused(401, "mfa_required");
            let body = json!({"username": ann.email, "password": PASSWORD, "mfacode": code});
            app.anonymous().post("authenticated", &body).await.refused(401, "mfa_required");
            app.clock.advance(STEP);
        }
        log_in(&app, &ann, authenticator.code(&app.clock)).await.ok();
    }

    async fn the_password_is_checked_before_the_code(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (authenticator, codes) = Authenticator::enable(&ann, &app.clock).await;
        let guesser = User { password: "a guess".into(), ..ann.clone() };
        for code in [json!(null), json!(authenticator.code(&app.clock)), json!(codes[0])] {
            log_in(&app, &guesser, code).await.refused(401, "bad_credentials");
        }
        // The attempts did not use up the code.
        log_in(&app, &ann, authenticator.code(&app.clock)).await.ok();
        log_in(&app, &ann, codes[0].as_str()).await.ok();
    }

    async fn a_code_works_once(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let authenticator = Authenticator::scan(&ann.client.post_nothing("mfa/setup").await.ok());
        let code = authenticator.code(&app.clock);
        ann.client.post("mfa/enable", &json!({"mfacode": code})).await.ok();
        log_in(&app, &ann, code).await.refused(401, "mfa_invalid");
        app.clock.advance(STEP);
        let code = authenticator.code(&app.clock);
        log_in(&app, &ann, code.as_str()).await.ok();
        log_in(&app, &ann, code.as_str()).await.refused(401, "mfa_invalid");
        let other = app.second_node().await;
        log_in(&other, &ann, code.as_str()).await.refused(401, "mfa_invalid");
        let disable = json!({"password": PASSWORD, "mfacode": code});
        ann.client.post("mfa/disable", &disable).await.refused(401, "mfa_invalid");
    }

    async fn a_code_may_be_one_step_early_or_late(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (authenticator, _) = Authenticator::enable(&ann, &app.clock).await;
        app.clock.advance(2 * STEP);
        let code = authenticator.code(&app.clock);
        app.clock.advance(2 * STEP);
        log_in(&app, &ann, code).await.refused(401, "mfa_invalid");
        let code = authenticator.code(&app.clock);
        app.clock.advance(STEP);
        log_in(&app, &ann, code).await.ok();
        let ahead = wakeful_testkit::TestClock::default();
        ahead.advance(7 * STEP);
        log_in(&app, &ann, authenticator.code(&ahead)).await.ok();
        // After a later step was used, an earlier one is no longer accepted.
        log_in(&app, &ann, authenticator.code(&app.clock)).await.refused(401, "mfa_invalid");
    }

    async fn a_code_may_be_a_number_and_have_spaces_around_it(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (authenticator, _) = Authenticator::enable(&ann, &app.clock).await;
        let number: u64 = authenticator.code(&app.clock).parse().unwrap();
        log_in(&app, &ann, number).await.ok();
        app.clock.advance(STEP);
        log_in(&app, &ann, format!(" {} ", authenticator.code(&app.clock))).await.ok();
    }

    async fn a_recovery_code_works_once_in_place_of_a_code(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (_, codes) = Authenticator::enable(&ann, &app.clock).await;
        log_in(&app, &ann, codes[0].as_str()).await.ok();
        log_in(&app, &ann, codes[0].as_str()).await.refused(401, "mfa_invalid");
        log_in(&app, &ann, codes[1].to_uppercase().replace('-', " ")).await.ok();
        log_in(&app, &ann, codes[1].as_str()).await.refused(401, "mfa_invalid");
        let body = json!({"password": PASSWORD, "mfacode": codes[2]});
        ann.client.post("mfa/disable", &body).await.ok();
        ann.log_in(&app.anonymous()).await;
    }

    async fn the_codes_of_another_user_are_wrong(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let (_, _) = Authenticator::enable(&ann, &app.clock).await;
        let (_, codes) = Authenticator::enable(&bob, &app.clock).await;
        log_in(&app, &ann, codes[0].as_str()).await.refused(401, "mfa_invalid");
        log_in(&app, &bob, codes[0].as_str()).await.ok();
    }

    async fn disabling_requires_password_and_code(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let disable = async |body: Value| ann.client.post("mfa/disable", &body).await;
        disable(json!({"password": PASSWORD, "mfacode": "000000"})).await.refused(409, "mfa_not_set_up");
        let (authenticator, _) = Authenticator::enable(&ann, &app.clock).await;
        let code = authenticator.code(&app.clock);
        assert_eq!(disable(json!({})).await.wrong_fields(), ["password", "mfacode"]);
        disable(json!({"password": "wrong", "mfacode": code})).await.refused(401, "bad_credentials");
        let wrong = authenticator.wrong_code(&app.clock);
        disable(json!({"password": PASSWORD, "mfacode": wrong})).await.refused(401, "mfa_invalid");
        // Both failures are recorded.
        until("the entries", async || {
            let log = ann.client.get("audit?action=reauthentication.failed").await.ok();
            (log["entries"].as_array().unwrap().len() == 2).then_some(())
        }).await;
        log_in(&app, &ann, Value::Null).await.refused(401, "mfa_required");
        disable(json!({"password": PASSWORD, "mfacode": code})).await.ok();
        ann.log_in(&app.anonymous()).await;
        assert_eq!(app.database.rows("recovery_codes").await, 0);
        Authenticator::enable(&ann, &app.clock).await;
    }

    async fn five_wrong_codes_lock_that_user_for_15_minutes(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let (authenticator, codes) = Authenticator::enable(&ann, &app.clock).await;
        let (bobs, _) = Authenticator::enable(&bob, &app.clock).await;
        for _ in 0..5 {
            log_in(&app, &ann, authenticator.wrong_code(&app.clock)).await.refused(401, "mfa_invalid");
        }
        let locked = log_in(&app, &ann, authenticator.code(&app.clock)).await;
        locked.refused(429, "too_many_requests");
        assert_eq!(locked.header("retry-after"), "900");
        log_in(&app, &ann, codes[0].as_str()).await.refused(429, "too_many_requests");
        log_in(&app, &bob, bobs.code(&app.clock)).await.ok();
        assert!(ann.client.is_authenticated().await);
        app.clock.advance(Duration::from_secs(899));
        log_in(&app, &ann, authenticator.code(&app.clock)).await.refused(429, "too_many_requests");
        app.clock.advance(Duration::from_secs(1));
        log_in(&app, &ann, authenticator.code(&app.clock)).await.ok();
        log_in(&app, &ann, codes[0].as_str()).await.ok();
    }

    async fn a_valid_code_resets_the_count_of_wrong_ones(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (authenticator, codes) = Authenticator::enable(&ann, &app.clock).await;
        for right in [None, Some(&codes[0]), None] {
            for _ in 0..4 {
                log_in(&app, &ann, authenticator.wrong_code(&app.clock)).await.refused(401, "mfa_invalid");
            }
            app.clock.advance(Duration::from_secs(60));
            let code = right.cloned().unwrap_or_else(|| authenticator.code(&app.clock));
            log_in(&app, &ann, code).await.ok();
        }
    }

    async fn a_user_cannot_be_locked_without_the_password(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (authenticator, _) = Authenticator::enable(&ann, &app.clock).await;
        let guesser = User { password: "a guess".into(), ..ann.clone() };
        for _ in 0..6 {
            log_in(&app, &guesser, authenticator.wrong_code(&app.clock)).await.refused(401, "bad_credentials");
        }
        log_in(&app, &ann, authenticator.code(&app.clock)).await.ok();
    }

    async fn a_key_pair_needs_no_code(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        Authenticator::enable(&ann, &app.clock).await;
        assert!(keys.client.is_authenticated().await);
        let body = json!({"apikey": keys.apikey, "enckey": keys.enckey});
        app.anonymous().post("authenticated", &body).await.ok();
    }
}
