//! settings/save and user/delete: the caller's own account.

use serde_json::json;
use wakeful_testkit::{PASSWORD, both_databases};

const NEW: &str = "battery staple 7";

both_databases! {
    async fn saving_settings_changes_the_email(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let answer = ann.client.post("settings/save", &json!({"email": " Ann@new.example "})).await;
        let json = answer.ok();
        assert_eq!(answer.keys(), ["message", "success", "userid"]);
        assert_eq!(json["userid"], ann.userid.as_str());
        assert_eq!(ann.client.get("users/me").await.ok()["email"], "Ann@new.example");
        app.anonymous().log_in("ann@new.example", PASSWORD).await.ok();
        app.anonymous().log_in("ann@example.com", PASSWORD).await.refused(401, "bad_credentials");
        app.sign_up("ann@example.com").await;
    }

    async fn saving_unchanged_settings_changes_nothing(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let again = ann.log_in(&app.anonymous()).await;
        let me = ann.client.get("users/me").await.ok();
        ann.client.post("settings/save", &me).await.ok();
        assert_eq!(ann.client.get("users/me").await.ok(), me);
        assert!(again.client.is_authenticated().await);
        app.anonymous().log_in("ann@example.com", PASSWORD).await.ok();
    }

    async fn the_case_of_ones_own_email_may_change(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        ann.client.post("settings/save", &json!({"email": "ANN@example.com"})).await.ok();
        assert_eq!(ann.client.get("users/me").await.ok()["email"], "ANN@example.com");
    }

    async fn a_new_password_ends_every_token_but_the_one_that_set_it(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let again = ann.log_in(&app.anonymous()).await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let body = json!({"email": ann.email, "password1": NEW, "password2": NEW});
        ann.client.post("settings/save", &body).await.ok();
        assert!(ann.client.is_authenticated().await);
        assert!(!again.client.is_authenticated().await);
        assert!(keys.client.is_authenticated().await);
        assert!(bob.client.is_authenticated().await);
        app.anonymous().log_in(&ann.email, PASSWORD).await.refused(401, "bad_credentials");
        app.anonymous().log_in(&ann.email, NEW).await.ok();
    }

    async fn a_new_password_set_with_api_keys_ends_every_token(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let body = json!({"email": ann.email, "password1": NEW, "password2": NEW});
        keys.client.post("settings/save", &body).await.ok();
        assert!(!ann.client.is_authenticated().await);
        assert!(keys.client.is_authenticated().await);
    }

    async fn a_new_password_invalidates_a_pending_reset_link(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let token = app.request_password_reset(&ann, 0).await;
        let body = json!({"email": ann.email, "password1": NEW, "password2": NEW});
        ann.client.post("settings/save", &body).await.ok();
        let body = json!({"email": ann.email, "password1": PASSWORD, "password2": PASSWORD, "tokenid": token});
        app.anonymous().post("password/update", &body).await.refused(401, "bad_token");
    }

    async fn an_email_in_use_is_rejected_and_nothing_changes(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        app.sign_up("bob@example.com").await;
        let again = ann.log_in(&app.anonymous()).await;
        let body = json!({"email": "BOB@example.com", "password1": NEW, "password2": NEW});
        ann.client.post("settings/save", &body).await.refused(409, "email_taken");
        assert_eq!(ann.client.get("users/me").await.ok()["email"], "ann@example.com");
        assert!(again.client.is_authenticated().await);
        app.anonymous().log_in("ann@example.com", PASSWORD).await.ok();
    }

    async fn all_invalid_fields_of_the_settings_are_reported_at_once(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for (body, wrong) in [
            (json!({}), vec!["email"]),
            (json!({"email": ann.email, "password1": NEW}), vec!["password2"]),
            (json!({"email": ann.email, "password2": NEW}), vec!["password1"]),
            (json!({"email": ann.email, "password1": NEW, "password2": PASSWORD}), vec!["password2"]),
            (json!({"email": ann.email, "password1": "short", "password2": "short"}), vec!["password1"]),
            (json!({"email": "ann", "password1": "short", "password2": "other"}),
                vec!["email", "password1", "password2"]),
            (json!({"email": "new@example.com", "password1": "new@example.com", "password2": "new@example.com"}),
                vec!["password1"]),
        ] {
            let answer = ann.client.post("settings/save", &body).await;
            assert_eq!(answer.wrong_fields(), wrong, "{body}");
        }
        let unchanged = json!({"email": ann.email, "password1": null, "password2": null});
        ann.client.post("settings/save", &unchanged).await.ok();
        app.anonymous().log_in(&ann.email, PASSWORD).await.ok();
    }

    async fn deleting_ones_account_deletes_all_its_credentials(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let keys = bob.new_keys(&app.anonymous()).await;
        let answer = bob.client.post_nothing("user/delete").await;
        answer.ok();
        assert_eq!(answer.keys(), ["message", "success"]);
        assert!(!bob.client.is_authenticated().await);
        assert!(!keys.client.is_authenticated().await);
        app.anonymous().log_in(&bob.email, PASSWORD).await.refused(401, "bad_credentials");
        let team = ann.client.get("team/get").await.ok();
        assert_eq!(team["message"], json!([{"email": ann.email, "userid": ann.userid}]));
        app.sign_up("bob@example.com").await;
    }

    async fn an_account_can_be_deleted_with_the_method_delete_too(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        ann.client.delete("user/delete").await.ok();
        assert!(!ann.client.is_authenticated().await);
        ann.client.delete("user/delete").await.refused(401, "not_authenticated");
        assert_eq!(app.database.rows("users").await, 0);
    }

    async fn deleting_the_last_user_deletes_the_team_and_all_its_rows(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        for user in [&ann, &bob] {
            user.new_keys(&app.anonymous()).await;
            wakeful_testkit::Authenticator::enable(user, &app.clock).await;
        }
        app.request_password_reset(&ann, 0).await;
        let monitor = json!({"type": "api", "name": "job", "heartbeat_interval": 60,
            "isactive": true, "upside_down_mode": false});
        ann.client.post("monitor/save", &monitor).await.ok();
        app.database
            .execute(
                "insert into notifiers (id, team_id, name, kind, config, created, modified)
                 select id, team_id, 'hook', 'webhook', '{}', 0, 0 from monitors",
            )
            .await;
        app.database
            .execute("insert into monitor_notifiers select id, id, 0 from monitors")
            .await;
        let all = ["api_keys", "monitors", "notifiers", "recovery_codes", "resets", "sessions", "teams", "users"];
        let tables = app.database.tables_with_accounts().await;
        for table in all {
            assert!(tables.contains(&table.to_owned()), "{tables:?}");
        }
        bob.client.post_nothing("user/delete").await.ok();
        assert_eq!(app.database.rows("teams").await, 1);
        ann.client.post_nothing("user/delete").await.ok();
        assert_eq!(app.database.tables_with_accounts().await, Vec::<String>::new());
        assert_eq!(app.database.rows("monitor_notifiers").await, 0);
    }
}
