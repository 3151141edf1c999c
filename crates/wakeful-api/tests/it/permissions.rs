//! Roles, scopes and permissions: who may call which operation, and what they see.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;
use wakeful_core::access::{Permission, Permissions, Role, Scope};
use wakeful_testkit::{
    App, Client, DatabaseKind, PASSWORD, User, both_databases, send_raw_in_parts, until,
};

use crate::events::Stream;
use crate::every_route::{Operation, UNKNOWN, operations};
use crate::services;

/// Operations that a caller with the permission cannot be tried with: a stream that does not
/// end, and those after which the caller is gone.
pub(crate) const NOT_TRIED: &[&str] = &[
    "GET /api/v1/events",
    "POST /api/v1/team/leave",
    "POST /api/v1/user/delete",
    "DELETE /api/v1/user/delete",
];

/// Operations that no API key is enough for; see reauthentication.rs.
fn is_for_people(operation: &Operation) -> bool {
    operation.reauthentication == "always" || operation.path == "/api/v1/reauthenticate/start"
}

fn permission(operation: &Operation) -> Permission {
    let name = operation.permission.as_str();
    let found = Permission::ALL.iter().find(|permission| permission.as_str() == name);
    *found.unwrap_or_else(|| panic!("{} has no permission: {name:?}", operation.name()))
}

/// Calls every operation with an API key and checks that exactly those are refused, before the
/// body is read, whose permission it lacks or that no key is enough for.
async fn sweep(client: &Client, permissions: Permissions, code: &str, who: &str) {
    for operation in operations().iter().filter(|operation| operation.protected) {
        let (method, path) = (operation.method.clone(), operation.path_with(UNKNOWN));
        let name = operation.name();
        if !permissions.contains(permission(operation)) {
            let answer = client.raw(method, &path, Some("application/json"), "{").await;
            assert_eq!(answer.status, 403, "{who}: {name}: {}", answer.text);
            // No scope includes the administration of the installation, even if an administrator holds the key.
            let operates = permission(operation) == Permission::Operate;
            answer.refused(403, if operates { "forbidden" } else { code });
        } else if is_for_people(operation) {
            let answer = client.raw(method, &path, Some("application/json"), "{").await;
            assert_eq!(answer.status, 403, "{who}: {name}: {}", answer.text);
            answer.refused(403, "key_scope");
        } else if !NOT_TRIED.contains(&name.as_str()) {
            let answer = client.call(method, &path, Some(&json!({}))).await;
            // An export is not JSON.
            let code = (answer.status == 403).then(|| answer.json()["code"].clone());
            let refused = code.is_some_and(|code| code == "forbidden" || code == "key_scope");
            assert!(!refused, "{who}: {name}: {}", answer.text);
        }
    }
}

pub(crate) async fn member(app: &App, owner: &User, role: Role) -> User {
    let email = format!("{}@example.com", role.as_str());
    let body = json!({"email": email, "password1": PASSWORD, "password2": PASSWORD, "role": role.as_str()});
    owner.client.post("team/save", &body).await.ok();
    User::logged_in(&app.anonymous(), &email).await
}

pub(crate) async fn key(app: &App, user: &User, scope: Scope) -> Client {
    let body = json!({"name": scope.as_str(), "scope": scope.as_str()});
    let pair = user.client.post("integrations/apikey/save", &body).await.ok();
    let text = |field: &str| pair[field].as_str().unwrap().to_owned();
    app.anonymous().with_keys(&text("apikey"), &text("enckey"))
}

async fn set_role(by: &User, user: &User, role: &str) -> wakeful_testkit::Answer {
    let body = json!({"userid": user.userid, "email": user.email, "role": role});
    by.client.post("team/save", &body).await
}

/// As if a node of an earlier version were running.
async fn start_old_node(app: &App) {
    let id = match app.database.kind() {
        DatabaseKind::Sqlite => "x'0123456789abcdef0123456789abcdef'",
        DatabaseKind::Postgres => "'01234567-89ab-cdef-0123-456789abcdef'",
    };
    app.database
        .execute(&format!(
            "insert into nodes (id, name, home, version, started, expires)
        values ({id}, 'old', '/old', '0.1.0', 0, 9000000000000000)"
        ))
        .await;
}

both_databases! {
    async fn every_operation_is_refused_exactly_for_roles_without_its_permission(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for role in Role::ALL {
            let user = member(&app, &ann, *role).await;
            // A key remains valid when the sweep logs out.
            let client = key(&app, &user, Scope::Full).await;
            sweep(&client, role.permissions(), "forbidden", role.as_str()).await;
        }
    }

    async fn every_operation_is_refused_exactly_for_scopes_without_its_permission(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for scope in Scope::ALL.iter().filter(|scope| **scope != Scope::Full) {
            let client = key(&app, &ann, *scope).await;
            let permissions = Role::Owner.permissions().and(scope.permissions());
            sweep(&client, permissions, "key_scope", scope.as_str()).await;
            // A token that the key is exchanged for can do no more.
            let token = client.get("authenticated").await.ok()["token"].as_str().unwrap().to_owned();
            let client = app.anonymous().with_token(&token);
            assert_eq!(client.get("users/me").await.ok()["scope"], scope.as_str());
            client.post("integrations/apikey/save", &json!({"name": "more"})).await.refused(403, "key_scope");
            let body = json!({"email": "ann@example.com", "password1": "another horse 7",
                "password2": "another horse 7", "tokenid": token});
            client.post("password/update", &body).await.refused(403, "key_scope");
        }
    }

    async fn every_operation_is_refused_for_callers_who_may_not_act(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let suspended = member(&app, &ann, Role::Editor).await;
        ann.client.post("member/save", &json!({"userid": suspended.userid, "suspended": true})).await.ok();
        let former = member(&app, &ann, Role::Admin).await;
        let former_key = key(&app, &former, Scope::Full).await;
        ann.client.post("team/delete", &json!({"userids": [former.userid]})).await.ok();
        let body = json!({"name": "short", "expires": 1});
        let pair = ann.client.post("integrations/apikey/save", &body).await.ok();
        let text = |field: &str| pair[field].as_str().unwrap().to_owned();
        let expired = app.anonymous().with_keys(&text("apikey"), &text("enckey"));
        expired.get("monitors").await.ok();
        app.clock.advance(Duration::from_secs(86_400));
        let eve = app.sign_up("eve@example.com").await;
        let stranger = eve.client.with("x-wakeful-team", &ann.team);
        let foreign_key = key(&app, &eve, Scope::Full).await.with("x-wakeful-team", &ann.team);
        for (who, client, status, code) in [
            ("a stranger who names the team", &stranger, 404, "not_found"),
            ("the key of another team", &foreign_key, 404, "not_found"),
            ("a suspended member", &suspended.client, 403, "suspended"),
            ("a former member", &former.client, 401, "not_authenticated"),
            ("the key of a former member", &former_key, 401, "not_authenticated"),
            ("an expired key", &expired, 401, "not_authenticated"),
        ] {
            for operation in operations().iter().filter(|operation| operation.protected) {
                let path = operation.path_with(UNKNOWN);
                let answer =
                    client.raw(operation.method.clone(), &path, Some("application/json"), "{").await;
                assert_eq!(answer.status, status, "{who}: {}: {}", operation.name(), answer.text);
                answer.refused(status, code);
            }
        }
    }

    async fn every_operation_is_refused_exactly_for_service_accounts_without_its_permission(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for role in Role::ALL.iter().filter(|role| role.may_be_service()) {
            let client = services::client(&app, &ann, role.as_str()).await;
            let permissions = role.permissions().without(Permission::Myself);
            sweep(&client, permissions, "forbidden", &format!("service account: {}", role.as_str())).await;
        }
    }

    async fn a_key_has_no_more_permissions_than_the_role_of_its_holder(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = member(&app, &ann, Role::Viewer).await;
        let client = key(&app, &bob, Scope::Editor).await;
        client.get("monitors").await.ok();
        client.post("monitors/delete", &json!({})).await.refused(403, "forbidden");
        let me = client.get("users/me").await.ok();
        assert_eq!((&me["role"], &me["scope"]), (&json!("viewer"), &json!("editor")));
        assert_eq!(me["permissions"], json!(["view"]));
        // A change of the role takes effect at once, for keys and sessions.
        set_role(&ann, &bob, "editor").await.ok();
        client.post("monitors/delete", &json!({})).await.refused(422, "invalid_fields");
        set_role(&ann, &bob, "billing").await.ok();
        client.get("monitors").await.refused(403, "forbidden");
        bob.client.get("monitors").await.refused(403, "forbidden");
        let listed = bob.client.get("integrations/apikeys").await.ok();
        assert_eq!(listed["apikeys"][0]["scope"], "editor");
    }

    async fn an_event_stream_ends_when_the_role_may_no_longer_view(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = member(&app, &ann, Role::Viewer).await;
        let team = bob.client.post("team/new", &json!({"name": "Bob's own"})).await.ok();
        let own = format!("events?team={}", team["groupid"].as_str().unwrap());
        let mut stream = Stream::open(&app, &bob).await;
        set_role(&ann, &bob, "billing").await.ok();
        // Streams of the same session in another team, where the user may view, do not prolong it.
        let others = async {
            loop {
                drop(Stream::send_to(&app, &own, |get| get.bearer_auth(&bob.token)).await);
            }
        };
        tokio::select! {
            () = stream.ends_within_a_second() => {}
            () = others => unreachable!("they are opened again and again"),
        }
        bob.client.get("events").await.refused(403, "forbidden");
    }

    async fn the_event_streams_of_a_suspended_or_removed_member_end(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = member(&app, &ann, Role::Viewer).await;
        let (mut first, mut second) = (Stream::open(&app, &bob).await, Stream::open(&app, &bob).await);
        let suspended = |suspended: bool| json!({"userid": bob.userid, "suspended": suspended});
        ann.client.post("member/save", &suspended(true)).await.ok();
        tokio::join!(first.ends_within_a_second(), second.ends_within_a_second());
        ann.client.post("member/save", &suspended(false)).await.ok();
        let bob = bob.log_in(&app.anonymous()).await;
        let mut stream = Stream::open(&app, &bob).await;
        ann.client.post("team/delete", &json!({"userids": [bob.userid]})).await.ok();
        stream.ends_within_a_second().await;
    }

    async fn new_members_get_the_default_role_and_never_more_than_the_caller_has(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let me = bob.client.get("users/me").await.ok();
        assert_eq!(me["role"], "owner");
        assert_eq!(me["permissions"].as_array().unwrap().len(), Permission::ALL.len() - 2);
        let admin = member(&app, &ann, Role::Admin).await;
        let eve = admin.colleague(&app.anonymous(), "eve@example.com").await;
        assert_eq!(eve.client.get("users/me").await.ok()["role"], "admin");
        let list = eve.client.get("team/members").await.ok();
        let members = list["members"].as_array().unwrap();
        assert!(members.iter().all(|member| member["last_seen"].is_string()), "{list}");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let mut roles: Vec<(String, String)> =
            members.iter().map(|member| (text(&member["email"]), text(&member["role"]))).collect();
        roles.sort();
        let expected = [("admin@example.com", "admin"), ("ann@example.com", "owner"),
            ("bob@example.com", "owner"), ("eve@example.com", "admin")];
        assert_eq!(roles, expected.map(|(email, role)| (email.to_owned(), role.to_owned())));
        for role in ["owner", "billing"] {
            let body = json!({"email": "x@example.com", "password1": PASSWORD,
                "password2": PASSWORD, "role": role});
            admin.client.post("team/save", &body).await.refused(403, "forbidden");
            set_role(&admin, &admin, role).await.refused(403, "forbidden");
        }
        let body = json!({"email": "x@example.com", "password1": PASSWORD, "password2": PASSWORD,
            "role": "boss"});
        assert_eq!(ann.client.post("team/save", &body).await.wrong_fields(), ["role"]);
    }

    async fn nobody_changes_a_member_with_a_role_above_their_own(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let admin = member(&app, &ann, Role::Admin).await;
        let takeover = json!({"userid": ann.userid, "email": ann.email,
            "password1": "another horse 7", "password2": "another horse 7"});
        admin.client.post("team/save", &takeover).await.refused(403, "forbidden");
        set_role(&admin, &ann, "viewer").await.refused(403, "forbidden");
        let ids = json!({"userids": [ann.userid]});
        admin.client.post("team/revoke", &ids).await.refused(403, "forbidden");
        admin.client.post("team/delete", &ids).await.refused(403, "forbidden");
        assert!(ann.client.is_authenticated().await);
        app.anonymous().log_in(&ann.email, PASSWORD).await.ok();
        // The other way round, all of it works.
        ann.client.post("team/revoke", &json!({"userids": [admin.userid]})).await.ok();
        assert!(!admin.client.is_authenticated().await);
        ann.client.post("team/delete", &json!({"userids": [admin.userid]})).await.ok();
    }

    async fn a_team_keeps_an_owner_until_its_last_member_leaves(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = member(&app, &ann, Role::Viewer).await;
        set_role(&ann, &ann, "admin").await.refused(409, "last_owner");
        ann.client.post_nothing("user/delete").await.refused(409, "last_owner");
        ann.client.post("team/delete", &json!({"userids": [ann.userid]})).await.refused(409, "last_owner");
        assert_eq!(ann.client.get("users/me").await.ok()["role"], "owner");
        set_role(&ann, &bob, "owner").await.ok();
        set_role(&ann, &ann, "editor").await.ok();
        set_role(&ann, &ann, "owner").await.refused(403, "forbidden");
        bob.client.post_nothing("user/delete").await.refused(409, "last_owner");
        let both = json!({"userids": [ann.userid, bob.userid]});
        bob.client.post("team/delete", &both).await.ok();
        app.anonymous().log_in(&ann.email, PASSWORD).await.refused(401, "bad_credentials");
    }

    async fn the_last_two_owners_cannot_leave_at_the_same_time(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let eve = member(&app, &ann, Role::Viewer).await;
        let (one, two) = tokio::join!(
            ann.client.post_nothing("user/delete"), bob.client.post_nothing("user/delete"));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
        assert_eq!(eve.client.get("team/get").await.ok()["message"].as_array().unwrap().len(), 2);
    }

    async fn secrets_are_shown_only_to_those_who_may_edit(setup: Setup) {
        const SECRET: &str = "the-secret-marker";
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let common = json!({"name": "site", "heartbeat_interval": 86400, "isactive": false,
            "upside_down_mode": false, "notifiers": ""});
        let with = |fields: Value| {
            let mut body = common.clone();
            body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            body
        };
        let http = with(json!({"type": "http", "http": {"url": "http://127.0.0.1:9/",
            "method": "POST", "username": SECRET, "password": SECRET, "body": SECRET,
            "headers": format!("X-Token: {SECRET}")}}));
        let saved = ann.client.post("monitor/save", &http).await.ok();
        let id = saved["monitor"]["monitorid"].as_str().unwrap().to_owned();
        let push = ann.client.post("monitor/save", &with(json!({"type": "api"}))).await.ok();
        let push_url = push["monitor"]["push_url"].as_str().unwrap().to_owned();
        let token = push_url.rsplit('/').next().unwrap();
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {
            "url": format!("http://127.0.0.1:9/{SECRET}"), "headers": format!("X-Token: {SECRET}")}});
        let notifier = ann.client.post("notifier/save", &hook).await.json();
        let mail = json!({"name": "mail", "type": "email", "email": {"hostname": "127.0.0.1",
            "port": 9, "security": "none", "username": SECRET, "password": SECRET,
            "from_email": "a@example.com", "to_email": "b@example.com"}});
        ann.client.post("notifier/save", &mail).await;
        // Everyone who knows the topic of a public server can read and write there.
        let ntfy = json!({"name": "phone", "type": "ntfy", "ntfy": {"topic": SECRET}});
        ann.client.post("notifier/save", &ntfy).await;

        let viewer = member(&app, &ann, Role::Viewer).await;
        let responder = member(&app, &ann, Role::Responder).await;
        let scoped = key(&app, &ann, Scope::Viewer).await;
        for client in [&viewer.client, &responder.client, &scoped] {
            for path in ["monitors", "monitors/rows", "notifiers", "report",
                &format!("monitor/{id}/get")] {
                let answer = client.get(path).await;
                assert_eq!(answer.status, 200, "{path}: {}", answer.text);
                assert!(!answer.text.contains(SECRET), "{path}: {}", answer.text);
                assert!(!answer.text.contains(token), "{path}: {}", answer.text);
            }
            let monitor = &client.get(&format!("monitor/{id}/get")).await.ok()["monitor"];
            assert_eq!(monitor["redacted"], true);
            assert_eq!(monitor["http"]["username"], "");
            assert_eq!(monitor["http"]["headers"], "");
            assert_eq!(monitor["http"]["body"], "");
            let list = client.get("notifiers").await.ok();
            let of_type = |kind: &str| {
                let mut notifiers = list["notifiers"].as_array().unwrap().iter();
                notifiers.find(|notifier| notifier["type"] == kind).unwrap()
            };
            let (webhook, email) = (of_type("webhook"), of_type("email"));
            assert_eq!((&webhook["redacted"], &email["redacted"]), (&json!(true), &json!(true)));
            assert_eq!(webhook["webhook"]["url"], "http://127.0.0.1:9");
            assert_eq!(webhook["webhook"]["headers"], Value::Null);
            assert_eq!(email["email"]["password"], "");
            let ntfy = of_type("ntfy");
            assert_eq!((&ntfy["redacted"], &ntfy["ntfy"]["topic"]), (&json!(true), &json!("")));
        }
        let editor = member(&app, &ann, Role::Editor).await;
        for client in [&ann.client, &editor.client] {
            let monitor = &client.get(&format!("monitor/{id}/get")).await.ok()["monitor"];
            assert_eq!(monitor["http"]["username"], SECRET);
            assert_eq!(monitor.get("redacted"), None);
            let list = client.get("notifiers").await;
            assert!(list.text.contains(SECRET) && !list.text.contains("redacted"), "{}", list.text);
        }
        // Changed settings would send the stored password to another server.
        let elsewhere = json!({"notifierid": notifier["notifierid"], "type": "webhook",
            "webhook": {"url": "http://127.0.0.1:9/elsewhere"}});
        responder.client.post("notifier/test", &elsewhere).await.refused(403, "forbidden");
        let test = json!({"notifierid": notifier["notifierid"]});
        responder.client.post("notifier/test", &test).await.refused(502, "not_delivered");
    }

    async fn restrictions_wait_until_no_old_node_would_ignore_them(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        start_old_node(&app).await;
        let new = json!({"email": "eve@example.com", "password1": PASSWORD, "password2": PASSWORD, "role": "viewer"});
        let restrictions = [
            ("team/save", new),
            ("member/save", json!({"userid": bob.userid, "role": "viewer"})),
            ("integrations/apikey/save", json!({"name": "k", "scope": "viewer"})),
            ("integrations/apikey/save", json!({"name": "k", "expires": 30})),
            ("service/save", json!({"name": "s", "role": "viewer"})),
            ("team/settings", json!({"default_role": "viewer"})),
            ("team/settings", json!({"key_days": 30})),
            ("team/settings", json!({"personal_keys": false})),
            ("team/settings", json!({"mfa": "required"})),
        ];
        for (path, body) in &restrictions {
            ann.client.post(path, body).await.refused(409, "nodes_too_old");
        }
        // Nor is a role assigned because it is that of new members.
        app.database.execute("update teams set default_role = 'viewer'").await;
        let new = json!({"email": "joe@example.com", "password1": PASSWORD, "password2": PASSWORD});
        ann.client.post("team/save", &new).await.refused(409, "nodes_too_old");
        app.database.execute("update teams set default_role = 'owner'").await;
        // What an old node does as well is not refused.
        let open = json!({"name": "Shop", "default_role": "owner", "mfa": "optional", "key_days": 0,
            "personal_keys": true});
        ann.client.post("team/settings", &open).await.ok();
        ann.client.post("integrations/apikey/save", &json!({"name": "full"})).await.ok();
        ann.colleague(&app.anonymous(), "joe@example.com").await;
        app.database.execute("delete from nodes where name = 'old'").await;
        for (path, body) in &restrictions {
            ann.client.post(path, body).await.ok();
        }
    }

    async fn monitors_with_new_settings_wait_until_no_old_node_would_ignore_them(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        start_old_node(&app).await;
        let monitor = |more: Value| {
            let mut body = json!({"type": "http", "name": "shop", "heartbeat_interval": 3600,
                "isactive": false, "upside_down_mode": false, "http": {"url": "http://127.0.0.1:9/"}});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            body
        };
        let new = monitor(json!({"degraded": {"slow": 500}}));
        let refused = ann.client.post("monitor/save", &new).await;
        refused.refused(409, "older_node");
        assert!(refused.text.contains("The node old runs version 0.1.0"), "{}", refused.text);
        let plain = ann.client.post("monitor/save", &monitor(json!({}))).await.ok();
        app.database.execute("delete from nodes where name = 'old'").await;
        ann.client.post("monitor/save", &new).await.ok();
        // A monitor that a later version has saved does not hide the others.
        let id = plain["monitor"]["monitorid"].clone();
        app.database.execute("update monitors set spec = '{\"type\": \"quantum\"}' where degraded is null").await;
        let list = ann.client.get("monitors").await.ok()["monitors"].clone();
        assert_eq!(list.as_array().unwrap().len(), 2);
        let stub = json!({"monitorid": id, "name": "shop", "unreadable": true});
        assert!(list.as_array().unwrap().contains(&stub), "{list}");
        let rows = ann.client.get("monitors/rows").await.ok()["monitors"].clone();
        assert_eq!(rows.as_array().unwrap().iter().filter(|row| row["unreadable"] == true).count(), 1);
        ann.client.delete(&format!("monitor/{}/delete", id.as_str().unwrap())).await.ok();
    }

    async fn a_body_that_arrives_after_its_sender_was_removed_changes_nothing(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = member(&app, &ann, Role::Editor).await;
        let body = json!({"type": "tcp", "name": "late", "hostname": "127.0.0.1", "port": "1",
            "heartbeat_interval": 60, "isactive": true, "upside_down_mode": false}).to_string();
        let (first, rest) = body.split_at(body.len() / 2);
        let head = format!("POST /api/v1/monitor/save HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {}\r\n\
            Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{first}", bob.token, body.len());
        // The token is used for the first time in a while, which the service notes.
        app.clock.advance(Duration::from_secs(600));
        let last_used = format!("select last_used from sessions where user_id = (select id from users where email = '{}')", bob.email);
        let before = app.database.number(&last_used).await;
        let remove = async || {
            until("the request is authorized", async || {
                (app.database.number(&last_used).await > before).then_some(())
            }).await;
            ann.client.post("team/delete", &json!({"userids": [bob.userid]})).await.ok();
            // Long enough that the authorization is confirmed.
            tokio::time::sleep(Duration::from_millis(250)).await;
        };
        let answer = send_raw_in_parts(&app.url, head.as_bytes(), remove, rest.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
        assert_eq!(app.database.rows("monitors").await, 0);
    }
}

#[test]
fn every_operation_names_its_permission() {
    for operation in operations() {
        if operation.protected {
            permission(&operation);
        } else {
            assert_eq!(operation.permission, "public", "{}", operation.name());
        }
    }
}

#[test]
fn the_committed_list_of_permissions_matches_the_document() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/permissions.md");
    let current = permissions_page();
    if std::env::var_os("WAKEFUL_UPDATE").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(&path).unwrap_or_default(),
        current,
        "renew docs/permissions.md with `WAKEFUL_UPDATE=1 cargo nextest run -p wakeful-api permissions`"
    );
}

fn permissions_page() -> String {
    let mut page = String::from(
        "# Roles and permissions\n\n\
         Every member of a team has one role. An API key can be limited to a scope. It then has only the\n\
         permissions that both the user's role and the scope include. A call without the permission is\n\
         refused with 403: `forbidden` because of the role, `key_scope` because of the scope. This page is\n\
         generated from the code and from [openapi.json](openapi.json), where each call names its permission\n\
         as `x-wakeful-permission`.\n\n\
         ## Permissions\n\n| permission | meaning |\n|---|---|\n",
    );
    for permission in granted() {
        writeln!(page, "| `{}` | {} |", permission.as_str(), permission.meaning()).unwrap();
    }
    page.push_str("\n## Roles\n\n");
    let columns: Vec<(&str, Permissions)> =
        Role::ALL.iter().map(|role| (role.as_str(), role.permissions())).collect();
    write_table(&mut page, &columns);
    page.push_str("\n## Scopes of API keys\n\n");
    let columns: Vec<(&str, Permissions)> =
        Scope::ALL.iter().map(|scope| (scope.as_str(), scope.permissions())).collect();
    write_table(&mut page, &columns);
    page.push_str(
        "\nA scope never gives more than the role: `pay` with a `full` key needs a role that may pay.\n\n\
         ## Calls\n\n| permission | calls |\n|---|---|\n",
    );
    let mut calls: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for operation in operations() {
        calls.entry(operation.permission.clone()).or_default().push(operation.name());
    }
    let known = Permission::ALL.iter().map(|permission| permission.as_str());
    for permission in std::iter::once("public").chain(known) {
        if let Some(calls) = calls.get(permission) {
            write_calls(&mut page, permission, calls);
        }
    }
    page.push_str(
        "\n## Reauthentication\n\n\
         These calls need a session whose user has logged in or reauthenticated within the last 15 minutes\n\
         ([api.md](api.md#reauthentication)): `page` for the web app only, `always` for every client; API keys\n\
         cannot make the latter. So do `POST /api/v1/member/save` and `POST /api/v1/invitation/save` with the\n\
         role `owner`, which also need the permission `own`.\n\n\
         | sessions | calls |\n|---|---|\n",
    );
    for which in ["always", "page"] {
        let operations = operations();
        let marked = operations.iter().filter(|operation| operation.reauthentication == which);
        write_calls(&mut page, which, &marked.map(Operation::name).collect::<Vec<_>>());
    }
    page
}

fn write_calls(page: &mut String, what: &str, calls: &[String]) {
    let calls: Vec<String> = calls.iter().map(|call| format!("`{call}`")).collect();
    writeln!(page, "| `{what}` | {} |", calls.join("<br>")).unwrap();
}

/// One row for each permission that one of the columns has.
fn write_table(page: &mut String, columns: &[(&str, Permissions)]) {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    writeln!(page, "| permission | {} |", names.join(" | ")).unwrap();
    writeln!(page, "|---|{}", "---|".repeat(columns.len())).unwrap();
    for permission in granted() {
        let cells: Vec<&str> = columns
            .iter()
            .map(|(_, set)| if set.contains(permission) { "yes" } else { "" })
            .collect();
        writeln!(page, "| `{}` | {} |", permission.as_str(), cells.join(" | ")).unwrap();
    }
}

/// The permissions of roles and scopes. The administration of the installation comes with the
/// account.
fn granted() -> impl Iterator<Item = Permission> {
    Permission::ALL.iter().copied().filter(|permission| *permission != Permission::Operate)
}
