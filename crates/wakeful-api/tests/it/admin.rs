//! admin/…: who administers the installation, what they see and do, and suspended users and teams.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_api::{EffectiveSetting, SettingSource};
use wakeful_testkit::{App, Client, PASSWORD, Receiver, User, both_databases, until};

use crate::events::Stream;
use crate::every_route::{Operation, UNKNOWN, operations};
use crate::services;

/// Stands for every secret, target and message of a team.
const SENTINEL: &str = "Sentinel-51d0a7";

fn of_administrators() -> Vec<Operation> {
    let mut found = operations();
    found.retain(|operation| operation.permission == "operate");
    assert_eq!(found.len(), 14);
    found
}

async fn is_admin(client: &Client) -> bool {
    client.get("users/me").await.ok()["admin"].as_bool().unwrap()
}

/// The entries of the installation's log, newest first.
async fn actions(ann: &User) -> Vec<String> {
    let log = ann.client.get("admin/audit").await.ok();
    let entries = log["entries"].as_array().unwrap().iter();
    entries.map(|entry| entry["action"].as_str().unwrap().to_owned()).collect()
}

async fn grant(ann: &User, user: &User, admin: bool) -> wakeful_testkit::Answer {
    ann.client.post("admin/user", &json!({"userid": user.userid, "admin": admin})).await
}

async fn suspend(ann: &User, user: &User, suspended: bool) {
    let body = json!({"userid": user.userid, "suspended": suspended});
    ann.client.post("admin/user", &body).await.ok();
}

async fn suspend_team(ann: &User, team: &str, suspended: bool) {
    ann.client.post("admin/team", &json!({"groupid": team, "suspended": suspended})).await.ok();
}

fn push_monitor(name: &str) -> Value {
    json!({"type": "api", "name": name, "heartbeat_interval": 60, "isactive": true,
        "upside_down_mode": false})
}

/// Waits for a mail to this address with the words in its subject.
async fn mailed(app: &App, to: &str, words: &str) {
    until(&format!("a mail to {to}: {words}"), async || {
        let mails = app.mails_now(to);
        let mut lines = mails.iter().flat_map(|mail| mail.lines());
        lines.any(|line| line.starts_with("Subject: ") && line.contains(words)).then_some(())
    })
    .await;
}

both_databases! {
    async fn the_first_person_administers_the_installation(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        assert!(is_admin(&ann.client).await && !is_admin(&bob.client).await);
        let me = ann.client.get("users/me").await.ok();
        assert!(me["permissions"].as_array().unwrap().contains(&json!("operate")));
        assert_eq!(actions(&ann).await, ["admin.grant"]);
        // The last one may leave; the next one on an empty installation is the first again.
        bob.client.post_nothing("user/delete").await.ok();
        ann.client.post_nothing("user/delete").await.ok();
        let eve = app.sign_up("eve@example.com").await;
        assert!(is_admin(&eve.client).await);
    }

    async fn of_two_people_who_sign_up_first_one_administers_the_installation(setup: Setup) {
        let app = setup.start().await;
        let (ann, bob) = tokio::join!(app.sign_up("ann@example.com"), app.sign_up("bob@example.com"));
        assert_ne!(is_admin(&ann.client).await, is_admin(&bob.client).await);
        // Even if those who left before did so at the same time, and neither was the last one.
        let _ = tokio::join!(ann.client.post_nothing("user/delete"), bob.client.post_nothing("user/delete"));
        app.database.execute("delete from meta where name = 'first_admin'").await;
        app.database.execute("insert into meta (name, value) select 'first_admin', value from meta where name = 'keyring'").await;
        let (eve, joe) = tokio::join!(app.sign_up("eve@example.com"), app.sign_up("joe@example.com"));
        assert_ne!(is_admin(&eve.client).await, is_admin(&joe.client).await);
    }

    async fn the_last_two_administrators_cannot_revoke_each_other(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        grant(&ann, &ann, false).await.refused(409, "last_admin");
        grant(&ann, &bob, true).await.ok();
        let (one, two) = tokio::join!(grant(&ann, &bob, false), grant(&bob, &ann, false));
        let refused: Vec<u16> = [one.status, two.status].into_iter().filter(|status| *status != 200).collect();
        assert!(matches!(refused[..], [401 | 403 | 409]), "{refused:?}");
        let (last, former) = if is_admin(&ann.client).await { (ann, bob) } else { (bob, ann) };
        assert!(!is_admin(&former.client).await);
        former.client.get("admin/overview").await.refused(403, "forbidden");
        let body = json!({"userid": last.userid, "suspended": true});
        last.client.post("admin/user", &body).await.refused(409, "last_admin");
        let body = json!({"userid": last.userid});
        last.client.post("admin/user/delete", &body).await.refused(409, "last_admin");
        mailed(&app, &former.email, "no longer administer").await;
    }

    async fn only_people_in_their_own_sessions_administer_the_installation(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let token = keys.client.get("authenticated").await.ok()["token"].as_str().unwrap().to_owned();
        let of_key = app.anonymous().with_token(&token);
        let service = services::client(&app, &ann, "admin").await;
        for operation in of_administrators() {
            for client in [&bob.client, &keys.client, &of_key, &service] {
                let path = operation.path_with(UNKNOWN);
                let answer = client.raw(operation.method.clone(), &path, Some("application/json"), "{").await;
                answer.refused(403, "forbidden");
            }
            let answer = ann.client.call(operation.method.clone(), &operation.path, Some(&json!({}))).await;
            assert!([200, 422].contains(&answer.status), "{}: {}", operation.name(), answer.text);
        }
        assert!(!is_admin(&keys.client).await && !is_admin(&of_key).await);
    }

    async fn unknown_users_and_teams_are_404_for_administrators(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let service = json!({"name": "deploy", "role": "editor"});
        let service = ann.client.post("service/save", &service).await.ok()["serviceid"].clone();
        for id in [json!(UNKNOWN), json!("rubbish"), service] {
            for (path, body) in [
                ("admin/user", json!({"userid": id, "suspended": true})),
                ("admin/user", json!({"userid": id, "admin": true})),
                ("admin/user/reset", json!({"userid": id})),
                ("admin/user/mfareset", json!({"userid": id})),
                ("admin/user/delete", json!({"userid": id})),
                ("admin/team", json!({"groupid": id, "suspended": true})),
                ("admin/team/owner", json!({"groupid": id, "userid": ann.userid})),
                ("admin/team/owner", json!({"groupid": ann.team, "userid": id})),
                ("admin/team/delete", json!({"groupid": id, "name": "x"})),
                ("admin/retry", json!({"notifierid": id})),
            ] {
                let answer = ann.client.post(path, &body).await;
                assert_eq!(answer.status, 404, "{path}: {}", answer.text);
            }
        }
    }

    async fn a_suspended_user_is_refused_at_once(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        let keys = bob.new_keys(&app.anonymous()).await;
        let mut stream = Stream::open(&app, &bob).await;
        suspend(&ann, &bob, true).await;
        stream.ends_within_a_second().await;
        bob.client.get("users/me").await.refused(401, "not_authenticated");
        keys.client.get("users/me").await.refused(403, "suspended");
        app.anonymous().log_in(&bob.email, PASSWORD).await.refused(403, "suspended");
        app.anonymous().log_in(&bob.email, "a guess").await.refused(401, "bad_credentials");
        let pair = json!({"apikey": keys.apikey, "enckey": keys.enckey});
        app.anonymous().post("authenticated", &pair).await.refused(403, "suspended");
        let listed = ann.client.get("admin/users?suspended=true").await.ok();
        assert_eq!(listed["users"][0]["email"], "bob@example.com");
        assert_eq!(listed["users"].as_array().unwrap().len(), 1);
        // It is recorded once, in both chains.
        suspend(&ann, &bob, true).await;
        assert_eq!(actions(&ann).await, ["admin.suspend", "admin.grant"]);
        suspend(&ann, &bob, false).await;
        keys.client.get("users/me").await.ok();
        let bob = bob.log_in(&app.anonymous()).await;
        let log = bob.client.get("audit?action=admin").await.ok();
        let entries = log["entries"].as_array().unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!((&entries[0]["action"], &entries[0]["actor"]["name"]),
            (&json!("admin.resume"), &json!("ann@example.com")));
        mailed(&app, &bob.email, "account was suspended").await;
        mailed(&app, &bob.email, "account was resumed").await;
    }

    async fn a_suspended_team_can_be_read_but_not_changed(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        let saved = bob.client.post("monitor/save", &push_monitor("job")).await.ok();
        let id = saved["monitor"]["monitorid"].as_str().unwrap().to_owned();
        let push = saved["monitor"]["push_url"].as_str().unwrap().rsplit_once("/api/").unwrap().1.to_owned();
        let invitation = json!({"email": "eve@example.com", "role": "viewer", "mail": false});
        let link = bob.client.post("invitation/save", &invitation).await.ok()["link"].clone();
        let token = link.as_str().unwrap().rsplit_once('=').unwrap().1.to_owned();
        let keys = bob.new_keys(&app.anonymous()).await;
        suspend_team(&ann, &bob.team, true).await;
        assert_eq!(bob.client.get("users/me").await.ok()["team_suspended"], true);
        for operation in operations().iter().filter(|operation| operation.protected) {
            let changes = ["report", "respond", "edit", "people", "pay", "own"];
            let refused = operation.method != "GET" && changes.contains(&operation.permission.as_str());
            let path = operation.path_with(UNKNOWN);
            if refused {
                for client in [&bob.client, &keys.client] {
                    client.raw(operation.method.clone(), &path, Some("application/json"), "{").await
                        .refused(403, "suspended");
                }
            } else if operation.method == "GET" && operation.path != "/api/v1/events" && operation.permission != "operate" {
                let answer = bob.client.get(&path).await;
                assert_ne!(answer.status, 403, "{}: {}", operation.name(), answer.text);
            }
        }
        let notify = format!("monitor/notify/{id}");
        bob.client.post(&notify, &json!({"status": "down"})).await.refused(403, "suspended");
        let pushed = app.anonymous().get(&format!("/api/{push}?status=down")).await;
        assert_eq!((pushed.status, &pushed.json()["ok"]), (404, &json!(false)));
        let accept = json!({"token": token, "password": PASSWORD, "name": "Eve"});
        app.anonymous().post("invitation/accept", &accept).await.refused(403, "suspended");
        assert_eq!(bob.client.get("monitors").await.ok()["monitors"][0]["status"], "pending");
        let listed = ann.client.get("admin/teams?suspended=true").await.ok();
        assert_eq!(listed["teams"][0]["groupid"], bob.team.as_str());
        suspend_team(&ann, &bob.team, false).await;
        bob.client.post(&notify, &json!({"status": "up"})).await.ok();
        let pushed = app.anonymous().get(&format!("/api/{push}?status=up")).await;
        assert_eq!(pushed.status, 200, "{}", pushed.text);
        app.anonymous().post("invitation/accept", &accept).await.ok();
        mailed(&app, &bob.email, "bob was suspended").await;
        mailed(&app, &bob.email, "bob was resumed").await;
        let log = bob.client.get("audit?action=admin").await.ok();
        assert_eq!(log["entries"].as_array().unwrap().len(), 2);
    }

    async fn administrators_help_users_and_teams(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        let eve = bob.colleague(&app.anonymous(), "eve@example.com").await;
        bob.client.post("member/save", &json!({"userid": eve.userid, "role": "viewer"})).await.ok();
        let of = |user: &User| json!({"userid": user.userid});
        ann.client.post("admin/user/reset", &of(&bob)).await.ok();
        let mails = app.mails(&bob.email, 2).await;
        assert!(mails.iter().any(|mail| mail.contains("#tokenid=")));
        // Nothing happens where there is none: neither a mail nor an entry in the audit log.
        ann.client.post("admin/user/mfareset", &of(&eve)).await.ok();
        app.database.execute("update users set mfa_enabled = true where email = 'bob@example.com'").await;
        app.anonymous().log_in(&bob.email, PASSWORD).await.refused(401, "mfa_required");
        ann.client.post("admin/user/mfareset", &of(&bob)).await.ok();
        bob.log_in(&app.anonymous()).await;
        // An owner who can act decides.
        let owner = json!({"groupid": bob.team, "userid": eve.userid});
        ann.client.post("admin/team/owner", &owner).await.refused(409, "has_owner");
        suspend(&ann, &bob, true).await;
        let listed = ann.client.get("admin/teams?q=BOB").await.ok();
        assert_eq!((&listed["teams"][0]["has_owner"], &listed["teams"][0]["members"]), (&json!(false), &json!(2)));
        ann.client.post("admin/team/owner", &owner).await.ok();
        assert_eq!(eve.client.get("users/me").await.ok()["role"], "owner");
        ann.client.post("admin/user/delete", &of(&bob)).await.ok();
        app.anonymous().log_in(&bob.email, PASSWORD).await.refused(401, "bad_credentials");
        let log = eve.client.get("audit?limit=5").await.ok();
        let in_team: Vec<&str> = log["entries"].as_array().unwrap().iter()
            .map(|entry| entry["action"].as_str().unwrap()).collect();
        assert_eq!(in_team, ["member.remove", "admin.owner", "admin.suspend", "login.ok", "mfa.reset"]);
        let wrong = json!({"groupid": bob.team, "name": "another"});
        assert_eq!(ann.client.post("admin/team/delete", &wrong).await.wrong_fields(), ["name"]);
        let name = eve.client.get("users/me").await.ok()["groupname"].clone();
        ann.client.post("admin/team/delete", &json!({"groupid": bob.team, "name": name})).await.ok();
        app.anonymous().log_in(&eve.email, PASSWORD).await.refused(401, "bad_credentials");
        let expected = ["admin.delete", "team.remove", "admin.delete", "admin.owner", "admin.suspend",
            "mfa.reset", "password.link", "admin.grant"];
        assert_eq!(actions(&ann).await, expected);
        mailed(&app, &bob.email, "account was deleted").await;
        mailed(&app, &bob.email, "second factor was removed").await;
        mailed(&app, &eve.email, "You own the team bob").await;
        mailed(&app, &eve.email, "bob was deleted").await;
        let chain = ann.client.get("audit/verify").await.ok();
        assert_eq!(chain["ok"], true);
    }

    async fn everyone_concerned_is_mailed_and_every_team_records_it(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        let dora = bob.colleague(&app.anonymous(), "dora@example.com").await;
        bob.client.post("member/save", &json!({"userid": dora.userid, "role": "viewer"})).await.ok();
        let eve = app.sign_up("eve@example.com").await;
        crate::invitations::join(&bob, &eve, "viewer").await;
        ann.client.post("admin/user/reset", &json!({"userid": eve.userid})).await.ok();
        let of_eve = eve.client.with("x-wakeful-team", &eve.team);
        for client in [&of_eve, &bob.client] {
            let log = client.get("audit?action=password.link").await.ok();
            assert_eq!(log["entries"].as_array().unwrap().len(), 1, "{log}");
        }
        let name = bob.client.get("users/me").await.ok()["groupname"].clone();
        ann.client.post("admin/team/delete", &json!({"groupid": bob.team, "name": name})).await.ok();
        for (user, ends) in [(&bob, true), (&dora, true), (&eve, false)] {
            mailed(&app, &user.email, "bob was deleted").await;
            let mails = app.mails_now(&user.email);
            let mail = mails.iter().find(|mail| mail.contains("bob was deleted")).unwrap();
            assert_eq!(mail.contains("Your account belonged to the team"), ends, "{mail}");
        }
        app.anonymous().log_in(&eve.email, PASSWORD).await.ok();
    }

    async fn waiting_messages_are_listed_and_become_due(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        let receiver = Receiver::start().await;
        receiver.answer_with(503, "", "");
        let hook = json!({"name": SENTINEL, "type": "webhook", "webhook": {"url": receiver.url}});
        let other = bob.client.post("notifier/save", &hook).await.json()["notifierid"].clone();
        let hook = bob.client.post("notifier/save", &hook).await.json()["notifierid"].clone();
        let mut body = push_monitor(SENTINEL);
        body["notifiers"] = json!([hook, other]);
        let saved = bob.client.post("monitor/save", &body).await.ok();
        let id = saved["monitor"]["monitorid"].as_str().unwrap().to_owned();
        let down = json!({"status": "down", "message": SENTINEL});
        bob.client.post(&format!("monitor/notify/{id}"), &down).await.ok();
        until("a failed attempt of both", async || {
            let failed = "select count(*) from deliveries where attempts > 0 and lease_until = 0";
            (app.database.number(failed).await == 2).then_some(())
        }).await;
        assert_eq!(ann.client.get("admin/deliveries").await.ok()["deliveries"], json!([]));
        // Not due when the clock is advanced.
        app.database.execute("update deliveries set next_try = next_try + 86400000").await;
        app.clock.advance(Duration::from_secs(61));
        let stuck = ann.client.get("admin/deliveries").await.ok();
        assert_eq!(stuck["deliveries"].as_array().unwrap().len(), 2, "{stuck}");
        let first = ann.client.get("admin/deliveries?limit=1").await.ok();
        let next = first["next_cursor"].as_str().unwrap();
        let second = ann.client.get(&format!("admin/deliveries?limit=1&cursor={next}")).await.ok();
        assert_eq!(second["next_cursor"], Value::Null);
        let pages = json!([first["deliveries"][0], second["deliveries"][0]]);
        assert_eq!(pages, stuck["deliveries"]);
        ann.client.get("admin/deliveries?cursor=x").await.refused(422, "invalid_fields");
        let one = if pages[0]["notifierid"] == hook { &pages[0] } else { &pages[1] };
        assert_eq!((&one["groupid"], &one["notifierid"], &one["type"], &one["waiting"]),
            (&json!(bob.team), &hook, &json!("webhook"), &json!(1)));
        let overview = ann.client.get("admin/overview").await.ok();
        assert_eq!(overview["deliveries"]["failing"], 2, "{overview}");
        receiver.answer_with(200, "", "");
        let retried = ann.client.post("admin/retry", &json!({"notifierid": hook})).await.ok();
        assert_eq!((&retried["deliveries"], &retried["mails"], &retried["more"]), (&json!(1), &json!(0), &json!(false)));
        until("the delivery", async || {
            let list = ann.client.get("admin/deliveries").await.ok();
            (list["deliveries"].as_array().unwrap().len() == 1).then_some(())
        }).await;
        ann.client.post("admin/retry", &json!({})).await.ok();
        assert_eq!(actions(&ann).await, ["admin.retry", "admin.retry", "admin.grant"]);
        let log = bob.client.get("audit?action=admin").await.ok();
        assert_eq!(log["entries"].as_array().unwrap().len(), 1);
        // Nothing of the team is shown: neither names, targets, messages nor secrets.
        for operation in of_administrators().iter().filter(|operation| operation.method == "GET") {
            let answer = ann.client.get(&operation.path).await;
            assert_eq!(answer.status, 200);
            assert!(!answer.text.contains(SENTINEL), "{}: {}", operation.name(), answer.text);
            assert!(!answer.text.contains(&receiver.url), "{}", operation.name());
        }
    }

    async fn the_overview_counts_what_there_is(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        bob.client.post("monitor/save", &push_monitor("job")).await.ok();
        suspend_team(&ann, &bob.team, true).await;
        let overview = ann.client.get("admin/overview").await.ok();
        let counts = json!({"teams": 2, "suspended_teams": 1, "users": 2, "suspended_users": 0,
            "admins": 1, "monitors": 1});
        assert_eq!(overview["counts"], counts);
        assert!(overview["database"]["bytes"].as_i64() > Some(0));
        let tables = overview["database"]["tables"].as_array().unwrap();
        assert!(tables.iter().any(|table| table["name"] == "users"), "{overview}");
        assert_eq!(overview["regions"][0]["region"], "local");
        let failed: Vec<&Value> = overview["health"].as_array().unwrap().iter()
            // The clock of the test is not that of the database.
            .filter(|finding| finding["ok"] == false && finding["check"] != "clock").collect();
        assert!(failed.is_empty(), "{failed:?}");
        let user = &ann.client.get("admin/users?q=bob@").await.ok()["users"][0];
        assert_eq!((&user["email"], &user["mfa"], &user["teams"][0]["role"]),
            (&json!("bob@example.com"), &json!(false), &json!("owner")));
        assert!(user["last_seen"].is_string(), "{user}");
    }

    async fn the_settings_are_listed_with_their_sources(setup: Setup) {
        let mut setup = setup;
        let setting = |key: &str, value: &str, source, origin: &str| EffectiveSetting {
            key: key.into(), value: value.into(), source, origin: origin.into(),
        };
        setup.api.effective_settings = [
            setting("mail.host", "\"mail.example.com\"", SettingSource::File, "/etc/wakeful.toml"),
            setting("mail.password", "(set)", SettingSource::Environment, "WAKEFUL_MAIL_PASSWORD"),
            setting("mail.port", "587", SettingSource::Default, ""),
        ].into();
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let all = ann.client.get("admin/settings").await.ok();
        let secret = json!({"key": "mail.password", "value": "(set)", "source": "environment",
            "origin": "WAKEFUL_MAIL_PASSWORD"});
        assert_eq!((&all["settings"][1], all.get("next_cursor")), (&secret, None));
        let page = ann.client.get("admin/settings?limit=1&cursor=mail.host").await.ok();
        assert_eq!((&page["settings"], &page["next_cursor"]), (&json!([secret]), &json!("mail.password")));
        ann.client.get("admin/settings?limit=0").await.refused(422, "invalid_fields");
    }

    async fn actions_need_a_recent_reauthentication(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        app.clock.advance(Duration::from_secs(16 * 60));
        for operation in of_administrators() {
            let answer = ann.client.call(operation.method.clone(), &operation.path, Some(&json!({}))).await;
            if operation.method == "GET" {
                answer.ok();
            } else {
                answer.refused(403, "reauthentication_required");
            }
        }
        ann.client.get("user/export").await.refused(403, "reauthentication_required");
    }

    async fn nothing_is_suspended_while_an_old_node_would_ignore_it(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        let id = match app.database.kind() {
            wakeful_testkit::DatabaseKind::Sqlite => "x'0123456789abcdef0123456789abcdef'",
            wakeful_testkit::DatabaseKind::Postgres => "'01234567-89ab-cdef-0123-456789abcdef'",
        };
        app.database.execute(&format!("insert into nodes (id, name, home, version, started, expires)
            values ({id}, 'old', '/old', '0.1.0', 0, 9000000000000000)")).await;
        let user = json!({"userid": bob.userid, "suspended": true});
        ann.client.post("admin/user", &user).await.refused(409, "nodes_too_old");
        let team = json!({"groupid": bob.team, "suspended": true});
        ann.client.post("admin/team", &team).await.refused(409, "nodes_too_old");
    }

    async fn a_person_exports_what_is_stored_about_them(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        let keys = bob.new_keys(&app.anonymous()).await;
        bob.client.post("monitor/save", &push_monitor(SENTINEL)).await.ok();
        let message = json!({"contact-name": "Bob", "contact-email": "BOB@example.com",
            "contact-subject": "hello", "contact-message": "a question"});
        app.anonymous().post("contactus", &message).await.ok();
        let own = json!({"name": "phone", "type": "ntfy", "personal": true,
            "ntfy": {"topic": "s3cret-topic", "token": "tk_s3cret"}});
        let own = bob.client.post("notifier/save", &own).await.json();
        let rules = json!({"rules": [{"notifierid": own["notifierid"], "after": 60}]});
        bob.client.post("contacts/save", &rules).await.ok();
        let answer = bob.client.get("user/export").await;
        let export = answer.ok();
        assert!(answer.header("content-disposition").contains("attachment"));
        assert_eq!((&export["account"]["email"], &export["account"]["admin"]), (&json!("bob@example.com"), &json!(false)));
        assert_eq!(export["memberships"][0]["role"], "owner");
        assert_eq!(export["sessions"].as_array().unwrap().len(), 1);
        assert_eq!(export["keys"][0]["apikeyid"], keys.id.as_str());
        // Anyone could have signed up with the address.
        assert_eq!(export["contact_messages"], json!([]));
        let phone = &export["notifiers"][0];
        assert_eq!((&phone["groupid"], &phone["notifier"]["name"]), (&json!(bob.team), &json!("phone")));
        assert_eq!(export["contacts"][0]["rules"], json!([{"notifierid": own["notifierid"], "after": 60, "min_severity": "info"}]));
        let done: Vec<&str> = export["audit"].as_array().unwrap().iter()
            .map(|one| one["entry"]["action"].as_str().unwrap()).collect();
        assert_eq!(done, ["team.create", "key.create", "monitor.create", "notifier.create", "member.contacts", "account.export"]);
        for secret in [&bob.token, &keys.apikey, &keys.enckey, "argon2", "s3cret"] {
            assert!(!answer.text.contains(secret), "{}", answer.text);
        }
        let others = ann.client.get("user/export").await.ok();
        assert_eq!(others["account"]["admin"], true);
        assert!(others["audit"].as_array().unwrap().iter().any(|one| one["groupid"].is_null()), "{others}");
        let log = bob.client.get("audit?limit=1").await.ok();
        assert_eq!(log["entries"][0]["action"], "account.export");
        app.verify(&bob).await;
        let export = bob.client.get("user/export").await.ok();
        assert_eq!(export["contact_messages"][0]["message"], "a question");
    }
}
