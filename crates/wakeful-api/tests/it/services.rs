//! Service accounts, and the API keys of a team.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_testkit::{App, Client, PASSWORD, User, both_databases, until};

async fn service(user: &User, name: &str, role: &str) -> String {
    let saved = user.client.post("service/save", &json!({"name": name, "role": role})).await.ok();
    saved["serviceid"].as_str().unwrap().to_owned()
}

/// A client with a new API key of a service account.
async fn key(app: &App, user: &User, serviceid: &str, body: &Value) -> Client {
    let pair = user.client.post(&format!("service/{serviceid}/key/save"), body).await.ok();
    let text = |field: &str| pair[field].as_str().unwrap().to_owned();
    app.anonymous().with_keys(&text("apikey"), &text("enckey"))
}

/// A client with a key of a new service account with this role.
pub(crate) async fn client(app: &App, user: &User, role: &str) -> Client {
    let serviceid = service(user, &format!("service {role}"), role).await;
    key(app, user, &serviceid, &json!({"name": "key"})).await
}

async fn admin(app: &App, owner: &User) -> User {
    let body = json!({"email": "admin@example.com", "password1": PASSWORD, "password2": PASSWORD, "role": "admin"});
    owner.client.post("team/save", &body).await.ok();
    User::logged_in(&app.anonymous(), "admin@example.com").await
}

both_databases! {
    async fn a_service_account_acts_with_its_keys_until_it_is_suspended_or_deleted(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = service(&ann, "terraform", "editor").await;
        let deploy = key(&app, &ann, &id, &json!({"name": "ci"})).await;
        let me = deploy.get("users/me").await.ok();
        assert_eq!((&me["kind"], &me["name"], &me["email"]), (&json!("service"), &json!("terraform"), &json!("")));
        assert_eq!((&me["userid"], &me["role"]), (&json!(id), &json!("editor")));
        assert_eq!(me["permissions"], json!(["view", "report", "respond", "edit"]));
        assert_eq!(ann.client.get("users/me").await.ok()["kind"], "person");
        deploy.post("monitor/save", &json!({"type": "tcp", "name": "port", "hostname": "127.0.0.1", "port": "1",
            "heartbeat_interval": 60, "isactive": false, "upside_down_mode": false})).await.ok();
        let refused = deploy.post("integrations/apikey/save", &json!({"name": "x"})).await;
        assert_eq!(refused.json()["message"], "A service account may not do this; log in as a person.");
        refused.refused(403, "forbidden");
        // A token of the key is as limited as the key.
        let token = deploy.get("authenticated").await.ok()["token"].as_str().unwrap().to_owned();
        let session = app.anonymous().with_token(&token);
        session.get("monitors").await.ok();
        session.get("sessions").await.refused(403, "forbidden");

        let listed = ann.client.get("services").await.ok();
        let listed = &listed["services"][0];
        assert_eq!((&listed["serviceid"], &listed["name"], &listed["role"]), (&json!(id), &json!("terraform"), &json!("editor")));
        assert_eq!((&listed["suspended"], &listed["keys"]), (&json!(false), &json!(1)));
        assert!(listed["last_used"].is_string(), "{listed}");

        ann.client.post("service/save", &json!({"serviceid": id, "role": "viewer"})).await.ok();
        deploy.post("monitors/delete", &json!({})).await.refused(403, "forbidden");
        ann.client.post("service/save", &json!({"serviceid": id, "suspended": true})).await.ok();
        deploy.get("monitors").await.refused(403, "suspended");
        session.get("monitors").await.refused(403, "suspended");
        let body = json!({"serviceid": id, "suspended": false, "name": "robot"});
        ann.client.post("service/save", &body).await.ok();
        assert_eq!(deploy.get("users/me").await.ok()["name"], "robot");
        assert_eq!(deploy.get("users/me").await.ok()["role"], "viewer", "unchanged");
        ann.client.delete(&format!("service/{id}/delete")).await.ok();
        deploy.get("monitors").await.refused(401, "not_authenticated");
        session.get("monitors").await.refused(401, "not_authenticated");
        assert_eq!(ann.client.get("services").await.ok()["services"], json!([]));
        assert_eq!(app.database.rows("api_keys").await, 0);
    }

    async fn a_service_account_is_not_a_member_of_the_reference(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let id = service(&ann, "robot", "admin").await;
        for (path, list) in [("team/get", "message"), ("team/members", "members")] {
            assert_eq!(ann.client.get(path).await.ok()[list].as_array().unwrap().len(), 1, "{path}");
        }
        for (path, body) in [
            ("team/save", json!({"userid": id, "email": "eve@example.com", "password1": PASSWORD, "password2": PASSWORD})),
            ("team/revoke", json!({"userids": [id]})),
            ("team/delete", json!({"userids": [id]})),
            ("member/save", json!({"userid": id, "role": "owner"})),
        ] {
            ann.client.post(path, &body).await.refused(404, "not_found");
        }
        // Neither its id nor an empty password logs it in, and nothing is mailed to it.
        for email in [String::new(), format!("service:{id}")] {
            for password in ["", PASSWORD] {
                let answer = app.anonymous().log_in(&email, password).await;
                assert!(matches!(answer.status, 401 | 422), "{}", answer.text);
            }
        }
        let before = app.database.rows("resets").await;
        app.anonymous().post("password/lost", &json!({"email": format!("service:{id}")})).await;
        assert_eq!(app.database.rows("resets").await, before);
        // The id of a person names no service account.
        for path in [format!("service/{}/delete", ann.userid), format!("service/{id}x/delete")] {
            ann.client.delete(&path).await.refused(404, "not_found");
        }
        ann.client.post(&format!("service/{}/key/save", ann.userid), &json!({"name": "k"})).await
            .refused(404, "not_found");
        ann.client.post("service/save", &json!({"serviceid": ann.userid, "name": "x"})).await
            .refused(404, "not_found");
        // It does not keep the team when the last person leaves.
        ann.client.post_nothing("user/delete").await.ok();
        assert_eq!((app.database.rows("teams").await, app.database.rows("users").await), (0, 0));
    }

    async fn nobody_creates_a_service_account_above_their_own_role(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let admin = admin(&app, &ann).await;
        let high = service(&admin, "high", "admin").await;
        for role in ["owner", "billing", "boss"] {
            let answer = ann.client.post("service/save", &json!({"name": "x", "role": role})).await;
            assert_eq!(answer.wrong_fields(), ["role"]);
        }
        let missing = ann.client.post("service/save", &json!({})).await;
        assert_eq!(missing.wrong_fields(), ["name", "role"]);
        assert_eq!(ann.client.post("service/save", &json!({"serviceid": high, "name": " "})).await.wrong_fields(), ["name"]);
        // A service account that manages people is bound by its role as well.
        let robot = key(&app, &ann, &high, &json!({"name": "full"})).await;
        let body = json!({"email": "eve@example.com", "password1": PASSWORD, "password2": PASSWORD, "role": "owner"});
        robot.post("team/save", &body).await.refused(403, "forbidden");
        let takeover = json!({"userid": ann.userid, "email": ann.email, "password1": "another horse 7", "password2": "another horse 7"});
        robot.post("team/save", &takeover).await.refused(403, "forbidden");
        robot.post("team/delete", &json!({"userids": [ann.userid]})).await.refused(403, "forbidden");
    }

    async fn the_keys_of_a_team_are_listed_and_deleted_by_those_who_manage_people(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let admin = admin(&app, &ann).await;
        let id = service(&ann, "robot", "viewer").await;
        let robot = key(&app, &ann, &id, &json!({"name": "robot's", "tags": "web", "scope": "viewer", "expires": 30})).await;
        robot.get("monitors").await.ok();
        ann.client.post("integrations/apikey/save", &json!({"name": "ann's"})).await.ok();
        let listed = admin.client.get("team/keys").await.ok();
        let keys = listed["apikeys"].as_array().unwrap();
        assert_eq!(keys.len(), 2);
        let of = |kind: &str| keys.iter().find(|key| key["holder"]["kind"] == kind).unwrap();
        let (of_robot, of_ann) = (of("service"), of("person"));
        assert_eq!(of_robot["holder"], json!({"userid": id, "kind": "service", "email": "", "name": "robot"}));
        assert_eq!(of_robot["monitor_filter"], json!({"tags": ["web"]}));
        assert_eq!((&of_robot["scope"], &of_robot["last_address"]), (&json!("viewer"), &json!("127.0.0.1")));
        assert_eq!((&of_ann["holder"]["email"], &of_ann["holder"]["kind"]), (&json!("ann@example.com"), &json!("person")));
        assert_eq!((&of_ann["last_used"], &of_ann["last_address"]), (&Value::Null, &json!("")));
        assert!(!listed.to_string().contains("wke_"), "{listed}");

        let path = |key: &Value| format!("team/key/{}/delete", key["apikeyid"].as_str().unwrap());
        admin.client.delete(&path(of_ann)).await.refused(403, "forbidden");
        admin.client.delete(&path(of_robot)).await.ok();
        admin.client.delete(&path(of_robot)).await.refused(404, "not_found");
        robot.get("monitors").await.refused(401, "not_authenticated");
        ann.client.delete(&path(of_ann)).await.ok();
        assert_eq!(ann.client.get("team/keys").await.ok()["apikeys"], json!([]));
    }

    async fn those_who_manage_people_are_reminded_of_expiring_keys_of_service_accounts(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        admin(&app, &ann).await;
        let id = service(&ann, "robot", "viewer").await;
        key(&app, &ann, &id, &json!({"name": "nightly", "expires": 8})).await;
        app.clock.advance(Duration::from_secs(36 * 3600));
        app.sweep().await;
        for email in ["ann@example.com", "admin@example.com"] {
            let mail = until("the reminder", || async {
                app.mails_now(email).into_iter().find(|mail| mail.contains("nightly"))
            })
            .await;
            assert!(mail.contains("Subject: API key nightly expires in 7 days"), "{mail}");
        }
    }

    async fn a_team_has_at_most_100_service_accounts(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for number in 0..100 {
            service(&ann, &format!("robot {number}"), "viewer").await;
        }
        let refused = ann.client.post("service/save", &json!({"name": "more", "role": "viewer"})).await;
        refused.refused(409, "limit_reached");
    }
}
