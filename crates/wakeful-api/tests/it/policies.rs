//! The policies of a team: a second factor for everybody, API keys that expire, and no API keys of
//! people.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::access::{Permission, Permissions, Role, Scope};
use wakeful_core::time::{Clock as _, Millis};
use wakeful_testkit::{App, Authenticator, Client, PASSWORD, User, both_databases};

use crate::events::Stream;
use crate::invitations::join;
use crate::permissions::{key, member};
use crate::services;

async fn set(user: &User, settings: Value) {
    user.client.post("team/settings", &settings).await.ok();
}

async fn new_key(client: &Client, body: Value) -> wakeful_testkit::Answer {
    client.post("integrations/apikey/save", &body).await
}

/// In how many days the caller's key with this name expires.
async fn days_left(app: &App, client: &Client, name: &str) -> Option<u64> {
    let listed = client.get("integrations/apikeys").await.ok();
    let mut keys = listed["apikeys"].as_array().unwrap().iter();
    let expires = keys.find(|key| key["name"] == name).unwrap()["expires"].as_str()?.to_owned();
    Some(Millis::parse(&expires).unwrap().since(app.clock.now()).as_secs() / 86_400)
}

both_databases! {
    async fn without_the_required_factor_only_setting_it_up_is_allowed(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = member(&app, &ann, Role::Editor).await;
        let his_key = key(&app, &bob, Scope::Full).await;
        let his_viewer = key(&app, &bob, Scope::Viewer).await;
        let service = services::client(&app, &ann, "editor").await;
        Authenticator::enable(&ann, &app.clock).await;
        let mut stream = Stream::open(&app, &bob).await;
        set(&ann, json!({"mfa": "required"})).await;
        assert_eq!(stream.next().await, None, "an open stream ends");
        ann.client.get("monitors").await.ok();
        // A service account is not a person; its keys are what the team has decided on.
        service.get("monitors").await.ok();

        bob.client.get("monitors").await.refused(403, "mfa_setup_required");
        let me = bob.client.get("users/me").await.ok();
        assert_eq!((&me["mfa_setup_required"], &me["role"]), (&json!(true), &json!("editor")));
        assert_eq!(me["permissions"], json!(["myself"]));
        // The same for a key, or it would be the way around the policy.
        let allowed = Permissions::of(&[Permission::Myself, Permission::Known]);
        sweep_without_factor(&his_key, allowed).await;
        his_viewer.get("monitors").await.refused(403, "mfa_setup_required");
        let token = his_key.get("authenticated").await.ok()["token"].as_str().unwrap().to_owned();
        app.anonymous().with_token(&token).get("monitors").await.refused(403, "mfa_setup_required");
        // In a team of his own he may do everything.
        let own = bob.client.post("team/new", &json!({"name": "Own"})).await.ok();
        let there = bob.client.with("x-wakeful-team", own["groupid"].as_str().unwrap());
        there.get("monitors").await.ok();

        let (authenticator, _) = Authenticator::enable(&bob, &app.clock).await;
        bob.client.get("monitors").await.ok();
        his_key.get("monitors").await.ok();
        let me = bob.client.get("users/me").await.ok();
        assert_eq!(me["mfa_setup_required"], false);
        // The last factor stays as long as one of his teams requires it, whichever he acts in.
        let turn_off = async |client: &Client| {
            let body = json!({"password": PASSWORD, "mfacode": authenticator.code(&app.clock)});
            let answer = client.post("mfa/disable", &body).await;
            app.clock.advance(Duration::from_secs(30));
            answer
        };
        turn_off(&bob.client).await.refused(409, "last_factor");
        turn_off(&there).await.refused(409, "last_factor");
        set(&ann, json!({"mfa": "optional"})).await;
        turn_off(&bob.client).await.ok();
        bob.client.get("monitors").await.ok();
    }

    async fn a_team_limits_the_lifetime_of_new_keys(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        new_key(&ann.client, json!({"name": "before"})).await.ok();
        set(&ann, json!({"key_days": 30})).await;
        assert_eq!(days_left(&app, &ann.client, "before").await, None, "existing keys do not change");
        new_key(&ann.client, json!({"name": "default"})).await.ok();
        assert_eq!(days_left(&app, &ann.client, "default").await, Some(30));
        new_key(&ann.client, json!({"name": "short", "expires": 7})).await.ok();
        assert_eq!(days_left(&app, &ann.client, "short").await, Some(7));
        for expires in [json!(31), json!("2026-12-15T09:30:01Z")] {
            let answer = new_key(&ann.client, json!({"name": "long", "expires": expires})).await;
            assert_eq!(answer.wrong_fields(), ["expires"]);
        }
        let service = ann.client.post("service/save", &json!({"name": "s", "role": "viewer"})).await.ok();
        let path = format!("service/{}/key/save", service["serviceid"].as_str().unwrap());
        let answer = ann.client.post(&path, &json!({"name": "long", "expires": 31})).await;
        assert_eq!(answer.wrong_fields(), ["expires"]);
        ann.client.post(&path, &json!({"name": "of the service"})).await.ok();
        let keys = ann.client.get("team/keys").await.ok();
        let mut keys = keys["apikeys"].as_array().unwrap().iter();
        let of_service = keys.find(|key| key["name"] == "of the service").unwrap();
        assert_eq!(of_service["expires"], "2026-12-15T09:30:00.000Z");
        set(&ann, json!({"key_days": 0})).await;
        new_key(&ann.client, json!({"name": "forever"})).await.ok();
        assert_eq!(days_left(&app, &ann.client, "forever").await, None);
    }

    async fn a_team_can_refuse_the_keys_of_people(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let token = keys.client.get("authenticated").await.ok()["token"].as_str().unwrap().to_owned();
        let session = app.anonymous().with_token(&token);
        let service = services::client(&app, &ann, "editor").await;
        set(&ann, json!({"personal_keys": false})).await;
        for path in ["users/me", "monitors", "authenticated"] {
            keys.client.get(path).await.refused(403, "key_scope");
            session.get(path).await.refused(403, "key_scope");
            service.get(path).await.ok();
        }
        let exchange = json!({"apikey": keys.apikey, "enckey": keys.enckey});
        app.anonymous().post("authenticated", &exchange).await.refused(403, "key_scope");
        new_key(&ann.client, json!({"name": "k"})).await.refused(403, "key_scope");
        services::client(&app, &ann, "viewer").await.get("monitors").await.ok();
        // It is the policy of this team only.
        let other = ann.client.post("team/new", &json!({"name": "Other"})).await.ok();
        let there = ann.client.with("x-wakeful-team", other["groupid"].as_str().unwrap());
        new_key(&there, json!({"name": "k"})).await.ok();
        set(&ann, json!({"personal_keys": true})).await;
        keys.client.get("monitors").await.ok();
        session.get("monitors").await.ok();
    }

    async fn owners_set_the_policies_and_members_see_them(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let listed = async |client: &Client| client.get("teams").await.ok()["teams"][0].clone();
        let expected = json!({"groupid": ann.team, "name": "ann", "role": "owner", "current": true,
            "suspended": false, "default_role": "owner", "mfa": "optional", "key_days": 0,
            "personal_keys": true});
        assert_eq!(listed(&ann.client).await, expected);
        for (field, wrong) in [("mfa", json!("maybe")), ("mfa", json!(true)), ("key_days", json!(3651)),
            ("key_days", json!(-1)), ("key_days", json!("x")), ("personal_keys", json!("no")),
            ("default_role", json!("boss"))]
        {
            let answer = ann.client.post("team/settings", &json!({field: wrong})).await;
            assert_eq!(answer.wrong_fields(), [field], "{wrong}");
        }
        let admin = member(&app, &ann, Role::Admin).await;
        admin.client.post("team/settings", &json!({"key_days": 1})).await.refused(403, "forbidden");
        set(&ann, json!({"default_role": "viewer", "key_days": 90, "personal_keys": false})).await;
        let shown = listed(&admin.client).await;
        assert_eq!((&shown["default_role"], &shown["key_days"], &shown["personal_keys"], &shown["mfa"]),
            (&json!("viewer"), &json!(90), &json!(false), &json!("optional")));
        let entry = ann.client.get("audit?action=team.update").await.ok()["entries"][0].clone();
        let expected = json!([{"field": "default_role", "from": "owner", "to": "viewer"},
            {"field": "key_days", "from": 0, "to": 90},
            {"field": "personal_keys", "from": true, "to": false}]);
        assert_eq!(entry["changes"], expected);
    }

    async fn a_person_who_joins_must_set_up_the_factor_first(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        Authenticator::enable(&ann, &app.clock).await;
        set(&ann, json!({"mfa": "required"})).await;
        let eve = app.sign_up("eve@example.com").await;
        join(&ann, &eve, "viewer").await;
        eve.client.get("monitors").await.refused(403, "mfa_setup_required");
        Authenticator::enable(&eve, &app.clock).await;
        eve.client.get("monitors").await.ok();
        // Who has lost the factor has to set it up again.
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        Authenticator::enable(&bob, &app.clock).await;
        ann.client.post("member/mfareset", &json!({"userid": bob.userid})).await.ok();
        bob.client.get("monitors").await.refused(403, "mfa_setup_required");
    }
}

async fn sweep_without_factor(client: &Client, allowed: Permissions) {
    // Those that the role does not include are refused for that reason.
    let role = Role::Editor.permissions();
    for operation in crate::every_route::operations() {
        let permission = Permission::ALL.iter().find(|one| one.as_str() == operation.permission);
        let Some(permission) = permission else { continue };
        if allowed.contains(*permission) {
            continue;
        }
        let path = operation.path_with(crate::every_route::UNKNOWN);
        let answer =
            client.raw(operation.method.clone(), &path, Some("application/json"), "{").await;
        let code = if role.contains(*permission) { "mfa_setup_required" } else { "forbidden" };
        assert_eq!(answer.status, 403, "{}: {}", operation.name(), answer.text);
        answer.refused(403, code);
    }
}
