//! team/get, save, revoke, delete: the users of a team.

use serde_json::{Value, json};
use wakeful_testkit::{PASSWORD, User, both_databases};

const NEW: &str = "battery staple 7";

async fn members(user: &User) -> Value {
    user.client.get("team/get").await.ok()["message"].clone()
}

fn member(user: &User) -> Value {
    json!({"email": user.email, "userid": user.userid})
}

both_databases! {
    async fn the_list_contains_only_email_and_userid_of_each_user(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        app.clock.advance(std::time::Duration::from_secs(1));
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        app.sign_up("eve@example.com").await;
        for user in [&ann, &bob] {
            let answer = user.client.get("team/get").await;
            assert_eq!(answer.keys(), ["message", "success"]);
            assert_eq!(answer.ok()["message"], json!([member(&ann), member(&bob)]));
        }
    }

    async fn a_user_is_added_to_the_callers_team(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let body = json!({"email": " Bob@example.com", "password1": PASSWORD, "password2": PASSWORD,
            "userid": null, "groupid": "elsewhere"});
        let answer = ann.client.post("team/save", &body).await;
        let json = answer.ok();
        assert_eq!(answer.keys(), ["message", "success", "userid"]);
        let bob = app.anonymous().log_in("bob@example.com", PASSWORD).await.ok();
        assert_eq!(bob["user"], json!({"groupid": ann.team, "userid": json["userid"], "email": "Bob@example.com"}));
    }

    async fn a_colleague_may_be_changed_without_a_password(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let body = json!({"userid": bob.userid, "email": "robert@example.com"});
        let json = ann.client.post("team/save", &body).await.ok();
        assert_eq!(json["userid"], bob.userid.as_str());
        assert_eq!(bob.client.get("users/me").await.ok()["email"], "robert@example.com");
        app.anonymous().log_in("robert@example.com", PASSWORD).await.ok();
    }

    async fn saving_a_listed_user_unchanged_changes_nothing(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let before = members(&ann).await;
        for listed in before.as_array().unwrap() {
            ann.client.post("team/save", listed).await.ok();
        }
        assert_eq!(members(&ann).await, before);
        assert!(bob.client.is_authenticated().await);
        bob.log_in(&app.anonymous()).await;
    }

    async fn a_password_set_by_a_colleague_ends_all_tokens_of_the_user(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let again = bob.log_in(&app.anonymous()).await;
        let body = json!({"userid": bob.userid, "email": bob.email, "password1": NEW, "password2": NEW});
        ann.client.post("team/save", &body).await.ok();
        assert!(!bob.client.is_authenticated().await);
        assert!(!again.client.is_authenticated().await);
        assert!(ann.client.is_authenticated().await);
        app.anonymous().log_in(&bob.email, PASSWORD).await.refused(401, "bad_credentials");
        app.anonymous().log_in(&bob.email, NEW).await.ok();
    }

    async fn a_token_that_sets_its_own_users_password_remains_valid(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let again = ann.log_in(&app.anonymous()).await;
        let body = json!({"userid": ann.userid, "email": ann.email, "password1": NEW, "password2": NEW});
        ann.client.post("team/save", &body).await.ok();
        assert!(ann.client.is_authenticated().await);
        assert!(!again.client.is_authenticated().await);
    }

    async fn an_email_in_use_in_any_team_is_rejected(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        app.sign_up("eve@example.com").await;
        let before = members(&ann).await;
        for email in ["Ann@example.com", "EVE@example.com"] {
            let add = json!({"email": email, "password1": NEW, "password2": NEW});
            ann.client.post("team/save", &add).await.refused(409, "email_taken");
            let change = json!({"userid": bob.userid, "email": email, "password1": NEW, "password2": NEW});
            ann.client.post("team/save", &change).await.refused(409, "email_taken");
        }
        assert_eq!(members(&ann).await, before);
        assert!(bob.client.is_authenticated().await);
        bob.log_in(&app.anonymous()).await;
    }

    async fn all_invalid_fields_of_a_user_are_reported_at_once(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for (body, wrong) in [
            (json!({}), vec!["email", "password1", "password2"]),
            (json!({"email": "bob@example.com"}), vec!["password1", "password2"]),
            (json!({"email": "bob@example.com", "password1": NEW, "password2": PASSWORD}), vec!["password2"]),
            (json!({"email": "bob", "password1": "short", "password2": 1}), vec!["email", "password1", "password2"]),
            (json!({"userid": 7, "email": 7}), vec!["userid", "email"]),
            (json!({"userid": ann.userid, "email": ann.email, "password1": NEW}), vec!["password2"]),
        ] {
            let answer = ann.client.post("team/save", &body).await;
            assert_eq!(answer.wrong_fields(), wrong, "{body}");
        }
    }

    async fn revoking_ends_tokens_and_deletes_api_keys_of_the_listed_users(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let eve = ann.colleague(&app.anonymous(), "eve@example.com").await;
        let keys = [ann.new_keys(&app.anonymous()).await, bob.new_keys(&app.anonymous()).await];
        let opened = keys[1].client.get("authenticated").await.ok();
        let opened = app.anonymous().with_token(opened["token"].as_str().unwrap());
        let body = json!({"userids": [bob.userid, eve.userid, bob.userid]});
        let answer = ann.client.post("team/revoke", &body).await;
        answer.ok();
        assert_eq!(answer.keys(), ["message", "success"]);
        for client in [&bob.client, &eve.client, &keys[1].client, &opened] {
            assert!(!client.is_authenticated().await);
        }
        assert!(ann.client.is_authenticated().await);
        assert!(keys[0].client.is_authenticated().await);
        let bob = bob.log_in(&app.anonymous()).await;
        assert_eq!(bob.client.get("integrations/apikeys").await.ok()["apikeys"], json!([]));
    }

    async fn a_user_may_revoke_themselves(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        ann.client.post("team/revoke", &json!({"userids": [ann.userid]})).await.ok();
        assert!(!ann.client.is_authenticated().await);
    }

    async fn deleting_deletes_the_listed_users(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let eve = ann.colleague(&app.anonymous(), "eve@example.com").await;
        let body = json!({"userids": [ann.userid, eve.userid, ann.userid]});
        let answer = bob.client.post("team/delete", &body).await;
        answer.ok();
        assert_eq!(answer.keys(), ["message", "success"]);
        assert_eq!(members(&bob).await, json!([member(&bob)]));
        assert!(!ann.client.is_authenticated().await);
        app.anonymous().log_in(&ann.email, PASSWORD).await.refused(401, "bad_credentials");
    }

    async fn deleting_all_users_deletes_the_team(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        ann.client.post("team/delete", &json!({"userids": [ann.userid, bob.userid]})).await.ok();
        assert_eq!(app.database.tables_with_accounts().await, Vec::<String>::new());
    }

    async fn with_one_unknown_id_no_user_is_revoked_or_deleted(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let eve = app.sign_up("eve@example.com").await;
        let keys = bob.new_keys(&app.anonymous()).await;
        let before = members(&ann).await;
        let unknown = uuid::Uuid::now_v7().to_string();
        for stranger in [&eve.userid, &unknown, &ann.team, "x", ""] {
            for path in ["team/revoke", "team/delete"] {
                let body = json!({"userids": [bob.userid, stranger]});
                ann.client.post(path, &body).await.refused(404, "not_found");
                let body = json!({"userids": [stranger, bob.userid, ann.userid]});
                ann.client.post(path, &body).await.refused(404, "not_found");
            }
        }
        assert_eq!(members(&ann).await, before);
        for client in [&ann.client, &bob.client, &keys.client, &eve.client] {
            assert!(client.is_authenticated().await);
        }
    }

    async fn the_ids_must_be_a_valid_list(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let many: Vec<&str> = vec![&ann.userid; 101];
        for path in ["team/revoke", "team/delete"] {
            for body in [
                json!({}),
                json!({"userids": null}),
                json!({"userids": []}),
                json!({"userids": ann.userid}),
                json!({"userids": [7]}),
                json!({"userids": [ann.userid, null]}),
                json!({"userids": many}),
            ] {
                let answer = ann.client.post(path, &body).await;
                assert_eq!(answer.wrong_fields(), ["userids"], "{body}");
            }
        }
        assert!(ann.client.is_authenticated().await);
    }

    async fn a_user_of_another_team_is_not_found(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let eve = app.sign_up("eve@example.com").await;
        let unknown = uuid::Uuid::now_v7().to_string();
        let save = |id: &str| json!({"userid": id, "email": "taken.over@example.com", "password1": NEW, "password2": NEW});
        let list = |id: &str| json!({"userids": [id]});
        for (path, foreign, unknown) in [
            ("team/save", save(&eve.userid), save(&unknown)),
            ("team/revoke", list(&eve.userid), list(&unknown)),
            ("team/delete", list(&eve.userid), list(&unknown)),
        ] {
            let foreign = ann.client.post(path, &foreign).await;
            let unknown = ann.client.post(path, &unknown).await;
            foreign.refused(404, "not_found");
            assert_eq!(foreign.shape(), unknown.shape(), "{path}");
        }
        assert_eq!(members(&eve).await, json!([member(&eve)]));
        eve.log_in(&app.anonymous()).await;
    }
}
