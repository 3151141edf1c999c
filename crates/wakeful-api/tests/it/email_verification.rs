//! email/send and email/verify.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_testkit::{Answer, App, Client, PASSWORD, User, both_databases, verification_token};

const HOUR: Duration = Duration::from_secs(3600);
const WEEK: Duration = Duration::from_secs(7 * 86_400);

async fn is_verified(client: &Client) -> bool {
    client.get("users/me").await.ok()["email_verified"] == true
}

async fn verify(app: &App, token: &str) -> Answer {
    app.anonymous().post("email/verify", &json!({"token": token})).await
}

/// The token in the welcome mail of a user.
async fn welcome_token(app: &App, user: &User) -> String {
    verification_token(&app.mails(&user.email, 1).await[0])
}

/// Requests a link when there are `earlier` mails to the address; returns its token. Advances
/// the clock by a second, so that the newest mail is the last one.
async fn new_token(app: &App, client: &Client, email: &str, earlier: usize) -> String {
    app.clock.advance(Duration::from_secs(1));
    client.post_nothing("email/send").await.ok();
    verification_token(app.mails(email, earlier + 1).await.last().unwrap())
}

async fn change_address(user: &User, call: &str, email: &str) {
    user.client.post(call, &json!({"userid": user.userid, "email": email})).await.ok();
}

both_databases! {
    async fn the_link_in_the_welcome_mail_verifies_the_address_once(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        assert!(!is_verified(&ann.client).await);
        let mail = app.mails(&ann.email, 1).await.remove(0);
        assert!(mail.contains(&format!("{}/verify#token=wkv_", app.url)), "{mail}");
        let token = verification_token(&mail);
        let answer = verify(&app, &token).await;
        answer.ok();
        assert_eq!(answer.keys(), ["message", "success"]);
        assert!(is_verified(&ann.client).await);
        assert!(!is_verified(&bob.client).await);
        verify(&app, &token).await.refused(401, "bad_token");
        assert!(is_verified(&ann.client).await);
    }

    async fn a_link_is_valid_for_seven_days(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let first = welcome_token(&app, &ann).await;
        app.clock.advance(WEEK);
        verify(&app, &first).await.refused(401, "bad_token");
        assert_eq!(app.database.rows("verifications").await, 1);
        app.sweep().await;
        assert_eq!(app.database.rows("verifications").await, 0);
        let second = new_token(&app, &ann.client, &ann.email, 1).await;
        app.clock.advance(WEEK - Duration::from_secs(1));
        app.sweep().await;
        assert!(!is_verified(&ann.client).await);
        verify(&app, &second).await.ok();
        assert!(is_verified(&ann.client).await);
    }

    async fn every_link_is_valid_until_one_is_used(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let first = welcome_token(&app, &ann).await;
        let second = new_token(&app, &ann.client, &ann.email, 1).await;
        assert_ne!(first, second);
        verify(&app, &first).await.ok();
        verify(&app, &second).await.refused(401, "bad_token");
        assert_eq!(app.database.rows("verifications").await, 0);
    }

    async fn an_invalid_token_is_rejected(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let reset = app.request_password_reset(&ann, 0).await;
        let unknown = format!("wkv_{}", "A".repeat(43));
        for token in ["x", "wkv_", &unknown, &reset, &ann.token, &keys.apikey, &keys.enckey] {
            verify(&app, token).await.refused(401, "bad_token");
        }
        for body in [json!({}), json!({"token": ""}), json!({"token": 7}), json!({"token": null})] {
            let answer = app.anonymous().post("email/verify", &body).await;
            assert_eq!(answer.wrong_fields(), ["token"]);
        }
        assert!(!is_verified(&ann.client).await);
        // The token of a verification link is not one that sets a password.
        let token = welcome_token(&app, &ann).await;
        let body = json!({"email": ann.email, "password1": PASSWORD, "password2": PASSWORD, "tokenid": token});
        app.anonymous().post("password/update", &body).await.refused(401, "bad_token");
    }

    async fn a_link_sent_to_an_earlier_address_is_invalid(setup: Setup) {
        let app = setup.start().await;
        for (at, call) in ["settings/save", "team/save"].iter().enumerate() {
            let old = format!("old{at}@example.com");
            let ann = app.sign_up(&old).await;
            let token = welcome_token(&app, &ann).await;
            change_address(&ann, call, &format!("new{at}@example.com")).await;
            verify(&app, &token).await.refused(401, "bad_token");
            // Also after the account has changed back to the earlier address.
            change_address(&ann, call, &old).await;
            verify(&app, &token).await.refused(401, "bad_token");
            assert!(!is_verified(&ann.client).await);
        }
        assert_eq!(app.database.rows("verifications").await, 0);
    }

    async fn another_address_is_not_verified_and_another_spelling_is(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for call in ["settings/save", "team/save"] {
            let key = ann.client.get("users/me").await.ok()["email"].as_str().unwrap().to_owned();
            let mails = app.mails_now(&key).len();
            let token = match mails {
                1 => welcome_token(&app, &ann).await,
                _ => new_token(&app, &ann.client, &key, mails).await,
            };
            verify(&app, &token).await.ok();
            change_address(&ann, call, &key.to_uppercase()).await;
            assert!(is_verified(&ann.client).await, "{call}: another spelling");
            change_address(&ann, call, &format!("{}@example.net", call.replace('/', "."))).await;
            assert!(!is_verified(&ann.client).await, "{call}");
        }
    }

    async fn a_mailed_reset_link_verifies_the_address_and_the_operators_does_not(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let reset = async |tokenid: &str| {
            let body = json!({"email": ann.email, "password1": PASSWORD, "password2": PASSWORD, "tokenid": tokenid});
            app.anonymous().post("password/update", &body).await.ok();
            ann.log_in(&app.anonymous()).await
        };
        let link = app.engine.reset_link_for(&ann.email).await.unwrap();
        let again = reset(link.split_once("#tokenid=").unwrap().1).await;
        assert!(!is_verified(&again.client).await, "the operator may have given it to anyone");
        let token = app.request_password_reset(&ann, 0).await;
        let again = reset(&token).await;
        assert!(is_verified(&again.client).await);
        assert_eq!(app.database.rows("verifications").await, 0);
    }

    async fn a_verified_address_gets_no_more_links(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        app.verify(&ann).await;
        let answer = keys.client.post_nothing("email/send").await;
        assert_eq!(answer.ok()["message"], "Your address is already verified; no link was sent.");
        let bob = app.sign_up("bob@example.com").await;
        new_token(&app, &bob.client, &bob.email, 1).await;
        // Bob's mail comes after any of Ann's.
        assert_eq!(app.mails_now(&ann.email).len(), 1);
    }

    async fn links_are_limited_per_user_address_and_network(setup: Setup) {
        let app = setup.start_behind_proxy().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let from = |user: &User, address: &str| user.client.with("x-forwarded-for", address);
        for at in 0..3 {
            change_address(&ann, "settings/save", &format!("victim{at}@example.com")).await;
            from(&ann, &format!("10.0.{at}.1")).post_nothing("email/send").await.ok();
        }
        // Another address and another network do not reset the limit of the user.
        change_address(&ann, "settings/save", "victim3@example.com").await;
        let refused = from(&ann, "10.0.9.1").post_nothing("email/send").await;
        refused.refused(429, "too_many_requests");
        // Nor does another user reset the limit of the address.
        for _ in 0..2 {
            from(&bob, "10.1.0.1").post_nothing("email/send").await.ok();
        }
        ann.client.post("team/delete", &json!({"userids": [bob.userid]})).await.ok();
        let again = ann.colleague(&app.anonymous(), "bob@example.com").await;
        from(&again, "10.1.1.1").post_nothing("email/send").await.ok();
        from(&again, "10.1.2.1").post_nothing("email/send").await.refused(429, "too_many_requests");
        app.clock.advance(HOUR);
        from(&again, "10.1.2.1").post_nothing("email/send").await.ok();
        app.mails("bob@example.com", 4).await;
        assert_eq!(app.mails_now("victim3@example.com").len(), 0);
    }

    async fn a_network_sends_at_most_twenty_links_an_hour(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let mut last = ann.clone();
        for at in 0..20 {
            last = ann.colleague(&app.anonymous(), &format!("u{at}@example.com")).await;
            last.client.post_nothing("email/send").await.ok();
        }
        last.client.post_nothing("email/send").await.refused(429, "too_many_requests");
        ann.client.post_nothing("email/send").await.refused(429, "too_many_requests");
    }

    async fn wrong_tokens_are_limited_as_failed_logins_are(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.failed_logins_per_network = 5;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let token = welcome_token(&app, &ann).await;
        for at in 0..5 {
            verify(&app, &format!("wkv_{at}")).await.refused(401, "bad_token");
        }
        verify(&app, &token).await.refused(429, "too_many_requests");
        app.clock.advance(Duration::from_secs(600));
        verify(&app, &token).await.ok();
    }

    async fn opening_the_link_does_not_use_it_up(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let token = welcome_token(&app, &ann).await;
        for path in [format!("/verify#token={token}"), format!("/verify?token={token}")] {
            app.anonymous().get(&path).await;
        }
        app.anonymous().get(&format!("email/verify?token={token}")).await.refused(405, "method_not_allowed");
        assert!(!is_verified(&ann.client).await);
        verify(&app, &token).await.ok();
    }

    async fn accounts_of_the_previous_version_are_kept_and_not_verified(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": "http://127.0.0.1:1/"}});
        assert_eq!(ann.client.post("notifier/save", &hook).await.status, 200);
        let reset = app.request_password_reset(&ann, 0).await;
        // Undoes the migration by hand.
        for sql in [
            "drop index notifiers_user",
            "alter table notifiers drop column user_id",
            "alter table resets drop column mailed",
            "drop table verifications",
            "alter table users drop column email_verified",
            "delete from schema_migrations where name = '0024_verified_email'",
        ] {
            app.database.execute(sql).await;
        }
        let app = app.restart().await;
        let client = app.anonymous().with_token(&ann.token);
        assert!(!is_verified(&client).await);
        let list = client.get("notifiers").await.ok();
        assert_eq!(list["notifiers"][0]["name"], "hook");
        // An earlier version did not record whether the link was mailed.
        let body = json!({"email": ann.email, "password1": PASSWORD, "password2": PASSWORD, "tokenid": reset});
        app.anonymous().post("password/update", &body).await.ok();
        let again = ann.log_in(&app.anonymous()).await;
        assert!(!is_verified(&again.client).await);
        let token = new_token(&app, &again.client, &ann.email, 2).await;
        verify(&app, &token).await.ok();
        assert!(is_verified(&again.client).await);
    }

    async fn the_links_of_a_deleted_user_are_deleted(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let token = welcome_token(&app, &ann).await;
        ann.client.post("user/delete", &Value::Null).await.ok();
        assert_eq!(app.database.rows("verifications").await, 0);
        verify(&app, &token).await.refused(401, "bad_token");
    }
}
