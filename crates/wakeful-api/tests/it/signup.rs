//! signup.

use serde_json::json;
use std::time::{Duration, Instant};
use wakeful_engine::SignupMode;
use wakeful_testkit::{PASSWORD, User, both_databases, verification_token};

both_databases! {
    async fn signing_up_creates_a_user_a_team_and_a_token(setup: Setup) {
        let app = setup.start().await;
        let body = json!({"email": "ann@example.com", "password": PASSWORD, "name": "Ann"});
        let answer = app.anonymous().post("signup", &body).await;
        let json = answer.ok();
        assert_eq!(answer.keys(), ["success", "token", "user"]);
        let user = json["user"].as_object().unwrap();
        assert_eq!(user.keys().collect::<Vec<_>>(), ["email", "groupid", "userid"]);
        assert_eq!(user["email"], "ann@example.com");
        for id in ["groupid", "userid"] {
            let text = user[id].as_str().unwrap();
            let parsed = uuid::Uuid::try_parse(text).unwrap();
            assert_eq!(parsed.get_version_num(), 7);
            assert_eq!(parsed.hyphenated().to_string(), text);
        }
        let token = json["token"].as_str().unwrap();
        assert!(token.starts_with("wk_") && token.len() == 46, "{token}");
        let me = app.anonymous().with_token(token).get("users/me").await.ok();
        assert_eq!((&me["name"], &me["userid"]), (&json!("Ann"), &user["userid"]));
    }

    async fn every_sign_up_creates_a_separate_team(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        assert_ne!(ann.team, bob.team);
        let team = ann.client.get("team/get").await.ok();
        assert_eq!(team["message"], json!([{"email": ann.email, "userid": ann.userid}]));
    }

    async fn a_new_user_is_welcomed_by_mail(setup: Setup) {
        let app = setup.start().await;
        app.sign_up("ann@example.com").await;
        let mails = app.mails("ann@example.com", 1).await;
        assert!(mails[0].contains("Subject: Welcome to Wakeful\r\n"), "{}", mails[0]);
        assert!(mails[0].contains(&app.url), "{}", mails[0]);
    }

    async fn an_email_is_trimmed_stored_as_written_and_unique_regardless_of_case(setup: Setup) {
        let app = setup.start().await;
        let body = json!({"email": "  Ann@Example.com ", "password": PASSWORD});
        let json = app.anonymous().post("signup", &body).await.ok();
        assert_eq!(json["user"]["email"], "Ann@Example.com");
        for again in ["Ann@Example.com", "ann@example.com", " ANN@EXAMPLE.COM"] {
            let body = json!({"email": again, "password": PASSWORD});
            app.anonymous().post("signup", &body).await.refused(409, "email_taken");
        }
        assert_eq!(app.database.rows("teams").await, 1);
        app.anonymous().log_in("ann@EXAMPLE.com", PASSWORD).await.ok();
    }

    async fn all_invalid_fields_are_reported_at_once(setup: Setup) {
        let app = setup.start().await;
        let long = "x".repeat(256);
        for (body, wrong) in [
            (json!({}), vec!["email", "password"]),
            (json!({"email": null, "password": null, "name": null}), vec!["email", "password"]),
            (json!({"email": 1, "password": [], "name": {}}), vec!["email", "password", "name"]),
            (json!({"email": "ann", "password": "short"}), vec!["email", "password"]),
            (json!({"email": "", "password": " ", "name": long}), vec!["email", "password", "name"]),
            (json!({"email": "a@b.example", "password": PASSWORD, "name": "\u{0}"}), vec!["name"]),
        ] {
            let answer = app.anonymous().post("signup", &body).await;
            assert_eq!(answer.wrong_fields(), wrong, "{body}");
        }
        assert_eq!(app.database.rows("users").await, 0);
    }

    async fn unknown_fields_are_ignored_and_null_counts_as_omitted(setup: Setup) {
        let app = setup.start().await;
        let body = json!({"email": "ann@example.com", "password": PASSWORD, "name": null,
            "plan": "pro", "isadmin": true, "userid": 7});
        app.anonymous().post("signup", &body).await.ok();
    }

    async fn passwords_have_8_to_256_characters_and_are_not_common(setup: Setup) {
        let app = setup.start().await;
        let long = "k9#vT2qz".repeat(32);
        for refused in
            ["k9#vT2q", &format!("{long}!"), "password", "12345678", "ann@example.com", "ANN@example.com"]
        {
            let body = json!({"email": "ann@example.com", "password": refused});
            let answer = app.anonymous().post("signup", &body).await;
            assert_eq!(answer.wrong_fields(), ["password"], "{refused}");
            assert!(!answer.text.contains(refused) || refused == "password", "{}", answer.text);
        }
        for (at, taken) in ["k9#vT2qz", &long, "ключ от квартиры", "  spaces  around  "].iter().enumerate() {
            let email = format!("ann{at}@example.com");
            let body = json!({"email": email, "password": taken});
            app.anonymous().post("signup", &body).await.ok();
            app.anonymous().log_in(&email, taken).await.ok();
            let almost = taken.strip_suffix(|_: char| true).unwrap();
            app.anonymous().log_in(&email, almost).await.refused(401, "bad_credentials");
        }
    }

    async fn no_password_is_estimated_for_an_address_over_its_limit(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.signups_per_hour = 1;
        let app = setup.start().await;
        let body = json!({"email": "ann@example.com", "password": "password"});
        assert_eq!(app.anonymous().post("signup", &body).await.wrong_fields(), ["password"]);
        app.anonymous().post("signup", &body).await.refused(429, "too_many_requests");
    }

    async fn passwords_that_are_slow_to_estimate_do_not_delay_other_calls(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let symbols = "4@8({[<369!1|7057$+%2";
        let attacks = [symbols.repeat(12), symbols.to_owned(), format!("{symbols}4@8({{[<369!1")];
        let sender = |at: usize| {
            let (client, token) = (app.anonymous(), ann.token.clone());
            let password = attacks[at % attacks.len()].clone();
            async move {
                for round in 0..3 {
                    let email = format!("ann{at}.{round}@example.com");
                    client.post("signup", &json!({"email": email, "password": password})).await.ok();
                    let update = json!({"email": email, "password1": password, "password2": password,
                        "tokenid": token});
                    client.post("password/update", &update).await.refused(401, "bad_token");
                }
            }
        };
        let sending = async { tokio::join!(sender(0), sender(1), sender(2), sender(3), sender(4), sender(5)) };
        let slowest = async {
            let mut slowest = Duration::ZERO;
            for _ in 0..10 {
                let started = Instant::now();
                assert_eq!(app.anonymous().get("/healthz").await.status, 200);
                slowest = slowest.max(started.elapsed());
            }
            slowest
        };
        let (_, slowest) = tokio::join!(sending, slowest);
        assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    }

    async fn a_closed_sign_up_is_reported(setup: Setup) {
        let mut setup = setup;
        setup.settings.signup = SignupMode::Closed;
        let app = setup.start().await;
        let body = json!({"email": "ann@example.com", "password": PASSWORD});
        app.anonymous().post("signup", &body).await.refused(403, "signup_closed");
        assert_eq!(app.database.rows("users").await, 0);
    }

    async fn the_addresses_of_one_ipv6_network_share_its_sign_ups(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.signups_per_hour = 3;
        let app = setup.start_behind_proxy().await;
        let sign_up = async |address: &str| {
            let body = json!({"email": "ann@example.com", "password": "password"});
            app.caller_from(address).post("signup", &body).await
        };
        for host in 1..4 {
            let answer = sign_up(&format!("2001:db8:1:2:{host}::{host}")).await;
            assert_eq!(answer.wrong_fields(), ["password"]);
        }
        sign_up("2001:db8:1:2::99").await.refused(429, "too_many_requests");
        assert_eq!(sign_up("2001:db8:1:3::1").await.wrong_fields(), ["password"]);
    }

    async fn the_addresses_of_one_site_have_four_times_the_sign_ups_of_one(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.signups_per_hour = 2;
        let app = setup.start_behind_proxy().await;
        let sign_up = async |address: &str| {
            let body = json!({"email": "ann@example.com", "password": "password"});
            app.caller_from(address).post("signup", &body).await
        };
        for host in 1..=8 {
            let answer = sign_up(&format!("198.51.100.{host}")).await;
            assert_eq!(answer.wrong_fields(), ["password"]);
        }
        sign_up("198.51.100.99").await.refused(429, "too_many_requests");
        assert_eq!(sign_up("198.51.101.1").await.wrong_fields(), ["password"]);
    }

    async fn sign_ups_are_limited_per_hour_and_address(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.signups_per_hour = 3;
        let app = setup.start_behind_proxy().await;
        let body = json!({"email": "ann@example.com", "password": PASSWORD});
        let here = app.caller_from("198.51.100.1");
        here.post("signup", &body).await.ok();
        here.post("signup", &body).await.refused(409, "email_taken");
        here.post("signup", &body).await.refused(409, "email_taken");
        let limited = here.post("signup", &body).await;
        limited.refused(429, "too_many_requests");
        assert_eq!(limited.header("retry-after"), "3600");
        for _ in 0..5 {
            here.post("signup", &body).await.refused(429, "too_many_requests");
        }
        let hits = app.database.number("select max(hits) from limits").await;
        assert_eq!(hits, 4, "refused attempts are not written");
        let elsewhere = app.caller_from("198.51.100.2");
        elsewhere.post("signup", &body).await.refused(409, "email_taken");
        app.clock.advance(Duration::from_secs(3599));
        here.post("signup", &body).await.refused(429, "too_many_requests");
        app.clock.advance(Duration::from_secs(1));
        here.post("signup", &body).await.refused(409, "email_taken");
    }

    async fn with_invitations_only_nobody_signs_up_alone(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let app = app.restart_with(|setup| setup.settings.signup = SignupMode::Invite).await;
        let body = json!({"email": "bob@example.com", "password": PASSWORD});
        let refused = app.anonymous().post("signup", &body).await.refused(403, "signup_closed");
        assert!(refused["message"].as_str().unwrap().contains("invitation"), "{refused}");
        let ann = ann.log_in(&app.anonymous()).await;
        ann.client.post("team/new", &json!({"name": "More"})).await.refused(403, "signup_closed");
        let invitation = json!({"email": "bob@example.com", "role": "viewer", "mail": false});
        let saved = ann.client.post("invitation/save", &invitation).await.ok();
        let token = saved["link"].as_str().unwrap().rsplit_once('=').unwrap().1.to_owned();
        let join = json!({"token": token, "password": PASSWORD});
        // Nobody gets an account if sign-up is closed, but those who have one can join.
        let app = app.restart_with(|setup| setup.settings.signup = SignupMode::Closed).await;
        app.anonymous().post("invitation/accept", &join).await.refused(403, "signup_closed");
        let app = app.restart_with(|setup| setup.settings.signup = SignupMode::Invite).await;
        app.anonymous().post("invitation/accept", &join).await.ok();
        User::logged_in(&app.anonymous(), "bob@example.com").await;
    }

    async fn people_of_a_domain_confirm_their_address_first(setup: Setup) {
        let mut setup = setup;
        setup.settings.signup = SignupMode::Domains(vec!["example.com".into(), "example.org".into()]);
        let app = setup.start().await;
        let anonymous = app.anonymous();
        for stranger in ["eve@example.net", "eve@sub.example.com", "eve@example.com.evil.example"] {
            let body = json!({"email": stranger, "password": PASSWORD});
            let refused = anonymous.post("signup", &body).await.refused(403, "signup_closed");
            assert!(refused["message"].as_str().unwrap().contains("example.org"), "{refused}");
        }
        let body = json!({"email": "Ann@EXAMPLE.com", "password": PASSWORD, "name": "Ann"});
        anonymous.post("signup", &body).await.refused(403, "confirm_email");
        anonymous.log_in("ann@example.com", PASSWORD).await.refused(401, "bad_credentials");
        let first = verification_token(&app.mails("Ann@EXAMPLE.com", 1).await[0]);
        // Someone else signs up with the address: Ann's own link works, and then theirs does not.
        app.clock.advance(Duration::from_secs(1));
        let squatter = json!({"email": "ann@example.com", "password": "known to eve 7"});
        anonymous.post("signup", &squatter).await.refused(403, "confirm_email");
        let second = verification_token(&app.mails("ann@example.com", 1).await[0]);
        anonymous.post("email/verify", &json!({"token": first})).await.ok();
        for used in [&first, &second] {
            anonymous.post("email/verify", &json!({"token": used})).await.refused(401, "bad_token");
        }
        let ann = User::logged_in(&anonymous, "ann@example.com").await;
        let me = ann.client.get("users/me").await.ok();
        assert_eq!((&me["email_verified"], &me["groupname"]), (&json!(true), &json!("Ann")));
        ann.client.post("team/new", &json!({"name": "More"})).await.ok();
        // The response does not tell whether the address has an account.
        anonymous.post("signup", &body).await.refused(403, "confirm_email");
        // The same after a few attempts, with an account and without one.
        anonymous.post("signup", &body).await.refused(429, "too_many_requests");
        let dora = json!({"email": "dora@example.com", "password": PASSWORD});
        for _ in 0..3 {
            anonymous.post("signup", &dora).await.refused(403, "confirm_email");
        }
        anonymous.post("signup", &dora).await.refused(429, "too_many_requests");
        app.mails("dora@example.com", 3).await;
        assert_eq!(app.mails_now("Ann@EXAMPLE.com").len(), 1, "no mail to the holder of an account");
        // A link that is not used expires.
        let body = json!({"email": "cem@example.org", "password": PASSWORD});
        anonymous.post("signup", &body).await.refused(403, "confirm_email");
        let token = verification_token(&app.mails("cem@example.org", 1).await[0]);
        app.clock.advance(Duration::from_secs(7 * 86_400));
        anonymous.post("email/verify", &json!({"token": token})).await.refused(401, "bad_token");
        app.sweep().await;
        assert_eq!(app.database.rows("pending_signups").await, 0);
    }
}
