//! Members and API keys that are limited to some monitors, and keys that expire.

use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::id::MonitorId;
use wakeful_core::verdict::Report;
use wakeful_engine::Event;
use wakeful_testkit::{App, Client, PASSWORD, User, both_databases};

use crate::events::Stream;

const DAY: Duration = Duration::from_secs(86_400);

/// A client with a new API key pair of this user.
pub(crate) async fn key(app: &App, user: &User, body: &Value) -> Client {
    let pair = user.client.post("integrations/apikey/save", body).await.ok();
    let text = |field: &str| pair[field].as_str().unwrap().to_owned();
    app.anonymous().with_keys(&text("apikey"), &text("enckey"))
}

/// A new viewer in the user's team, limited to some monitors.
pub(crate) async fn viewer(app: &App, owner: &User, limit: &Value) -> User {
    let viewer = owner.colleague(&app.anonymous(), "viewer@example.com").await;
    let mut body = limit.clone();
    body["userid"] = json!(viewer.userid);
    body["role"] = json!("viewer");
    owner.client.post("member/save", &body).await.ok();
    viewer
}

/// No list mentions a monitor.
pub(crate) async fn sees_nothing(client: &Client) {
    for (path, list) in [
        ("monitors", "monitors"),
        ("monitors/rows", "monitors"),
        ("alerts", "alerts"),
        ("report?month=2026-01", "monitors"),
    ] {
        let answer = client.get(path).await.ok();
        let list = answer.get(list).unwrap_or_else(|| panic!("{path}: {answer}"));
        assert_eq!(list, &json!([]), "{path}");
    }
    let notifiers = client.get("notifiers").await.ok();
    for notifier in notifiers["notifiers"].as_array().unwrap() {
        let path = format!("notifier/{}/deliveries", notifier["notifierid"].as_str().unwrap());
        assert_eq!(client.get(&path).await.ok()["deliveries"], json!([]));
    }
}

/// Saves a push monitor with these tags and returns its id.
async fn job(client: &Client, name: &str, tags: &str) -> String {
    let body = json!({"type": "api", "name": name, "heartbeat_interval": 60, "isactive": true,
        "upside_down_mode": false, "tags": tags});
    let saved = client.post("monitor/save", &body).await.ok();
    saved["monitor"]["monitorid"].as_str().unwrap().to_owned()
}

async fn names(client: &Client) -> Vec<String> {
    let list = client.get("monitors").await.ok();
    let mut names: Vec<String> = list["monitors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|monitor| monitor["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

both_databases! {
    async fn a_key_sees_the_monitors_with_one_of_its_tags(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let web = job(&ann.client, "web", "web,eu").await;
        job(&ann.client, "mail", "mx").await;
        job(&ann.client, "backup", "").await;
        let reader = key(&app, &ann, &json!({"name": "k", "scope": "viewer", "tags": ["web", "dns"]})).await;
        assert_eq!(names(&reader).await, ["web"]);
        // The tags of a monitor count as they are now.
        job(&ann.client, "dns", "dns").await;
        ann.client.post("monitor/save", &json!({"monitorid": web, "tags": "eu"})).await.ok();
        assert_eq!(names(&reader).await, ["dns"]);
        ann.client.post("monitors/change", &json!({"ids": [web], "tags_add": "web"})).await.ok();
        assert_eq!(names(&reader).await, ["dns", "web"]);
        assert_eq!(names(&ann.client).await.len(), 4, "the owner sees all");
        let list = ann.client.get("integrations/apikeys").await.ok();
        assert_eq!(list["apikeys"][0]["monitor_filter"], json!({"tags": ["dns", "web"]}));
        assert_eq!(list["apikeys"][0]["groupid"], json!(ann.team));
    }

    async fn a_key_with_named_monitors_sees_nothing_once_they_are_deleted(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let one = job(&ann.client, "one", "").await;
        job(&ann.client, "two", "").await;
        let pusher = key(&app, &ann, &json!({"name": "k", "scope": "responder", "monitors": [one]})).await;
        assert_eq!(names(&pusher).await, ["one"]);
        pusher.post(&format!("monitor/notify/{one}"), &json!({"status": "up"})).await.ok();
        ann.client.delete(&format!("monitor/{one}/delete")).await.ok();
        assert_eq!(names(&pusher).await, Vec::<String>::new());
        let list = ann.client.get("integrations/apikeys").await.ok();
        assert_eq!(list["apikeys"][0]["monitor_filter"], json!({"monitors": []}));
    }

    async fn an_editor_key_saves_only_monitors_with_its_tags(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let editor = key(&app, &ann, &json!({"name": "k", "scope": "editor", "tags": "web"})).await;
        let own = job(&editor, "own", "web,eu").await;
        let body = json!({"type": "api", "name": "other", "heartbeat_interval": 60, "isactive": true,
            "upside_down_mode": false, "tags": "mx"});
        let refused = editor.post("monitor/save", &body).await;
        refused.refused(422, "invalid_fields");
        assert_eq!(refused.wrong_fields(), ["tags"]);
        let refused = editor.post("monitor/save", &json!({"monitorid": own, "tags": "mx"})).await;
        assert_eq!(refused.wrong_fields(), ["tags"]);
        let refused = editor.post("monitors/change", &json!({"ids": [own], "tags_remove": "web"})).await;
        assert_eq!(refused.wrong_fields(), ["tags_remove"]);
        editor.post("monitor/save", &json!({"monitorid": own, "tags": "web", "name": "renamed"})).await.ok();
        // A key of named monitors changes them and creates none.
        let named = key(&app, &ann, &json!({"name": "k", "scope": "editor", "monitors": [own]})).await;
        named.post("monitor/save", &json!({"monitorid": own, "tags": "", "name": "again"})).await.ok();
        named.post("monitor/save", &body).await.refused(403, "key_scope");
        assert_eq!(names(&ann.client).await, ["again"]);
    }

    async fn a_limited_editor_key_changes_no_notifier_and_sees_no_secret(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let hook = json!({"name": "ops", "type": "webhook", "webhook":
            {"url": "https://hooks.example/token", "headers": "Authorization: Bearer opssecret"}});
        let saved = ann.client.post("notifier/save", &hook).await.json();
        let id = saved["notifierid"].as_str().unwrap();
        let limited = key(&app, &ann, &json!({"name": "k", "scope": "editor", "tags": "web"})).await;
        let listed = limited.get("notifiers").await;
        assert!(listed.text.contains("ops") && !listed.text.contains("opssecret"), "{}", listed.text);
        let mut stolen = hook.clone();
        stolen["notifierid"] = json!(id);
        stolen["webhook"] = json!({"url": "https://elsewhere.example/"});
        limited.post("notifier/save", &stolen).await.refused(403, "key_scope");
        limited.post("notifier/save", &hook).await.refused(403, "key_scope");
        limited.post_nothing(&format!("notifier/{id}/rotate")).await.refused(403, "key_scope");
        limited.delete(&format!("notifier/{id}/delete")).await.refused(403, "key_scope");
        // The secrets that are stored cannot be sent elsewhere either.
        limited.post("notifier/preview", &stolen).await.refused(403, "key_scope");
        let all = key(&app, &ann, &json!({"name": "all", "scope": "editor"})).await;
        all.post("notifier/save", &stolen).await.json();
    }

    async fn filters_that_say_nothing_too_much_or_something_unknown_are_rejected(setup: Setup) {
        let app = setup.start().await;
        let (ann, eve) = (app.sign_up("ann@example.com").await, app.sign_up("eve@example.com").await);
        let hers = job(&eve.client, "hers", "").await;
        let many: Vec<String> = (0..101).map(|_| hers.clone()).collect();
        let tags: Vec<String> = (0..21).map(|at| format!("t{at}")).collect();
        for (limit, field) in [
            (json!({"tags": []}), "tags"),
            (json!({"tags": tags}), "tags"),
            (json!({"monitors": []}), "monitors"),
            (json!({"monitors": ["x"]}), "monitors"),
            (json!({"monitors": [hers]}), "monitors"),
            (json!({"monitors": many, "tags": "a"}), "monitors"),
            (json!({"tags": "a", "scope": "full"}), "scope"),
            (json!({"tags": "a", "scope": "audit"}), "scope"),
            (json!({"expires": 0}), "expires"),
            (json!({"expires": "2001-01-01T00:00:00Z"}), "expires"),
            (json!({"expires": "soon"}), "expires"),
        ] {
            let mut body = json!({"name": "k", "scope": "viewer"});
            body.as_object_mut().unwrap().extend(limit.as_object().unwrap().clone());
            let refused = ann.client.post("integrations/apikey/save", &body).await;
            refused.refused(422, "invalid_fields");
            assert_eq!(refused.wrong_fields(), [field], "{limit}");
        }
        assert_eq!(app.database.rows("api_keys").await, 0);
        assert_eq!(app.database.rows("monitor_filters").await, 0);
    }

    async fn a_key_expires_with_its_tokens(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let expiring = key(&app, &ann, &json!({"name": "k", "expires": 2})).await;
        let token = expiring.get("authenticated").await.ok();
        let by_token = app.anonymous().with_token(token["token"].as_str().unwrap());
        app.clock.advance(2 * DAY - Duration::from_secs(1));
        assert!(expiring.is_authenticated().await && by_token.is_authenticated().await);
        app.clock.advance(Duration::from_secs(1));
        expiring.get("users/me").await.refused(401, "not_authenticated");
        by_token.get("users/me").await.refused(401, "not_authenticated");
        let ann = ann.log_in(&app.anonymous()).await;
        let list = ann.client.get("integrations/apikeys").await.ok();
        assert!(list["apikeys"][0]["expires"].is_string(), "still listed");
    }

    async fn a_changed_expiry_or_filter_in_the_row_makes_the_key_invalid(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let body = json!({"name": "k", "scope": "viewer", "tags": "web", "expires": 2});
        let first = key(&app, &ann, &body).await;
        assert!(first.is_authenticated().await);
        app.database.execute("update api_keys set expires = expires + 1").await;
        first.get("users/me").await.refused(401, "not_authenticated");
        app.database.execute("update api_keys set expires = expires - 1").await;
        assert!(first.is_authenticated().await);
        app.database.execute("update api_keys set filter_id = null").await;
        first.get("users/me").await.refused(401, "not_authenticated");
    }

    async fn a_member_with_a_filter_and_all_their_keys_see_only_its_monitors(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        job(&ann.client, "web", "web").await;
        job(&ann.client, "mail", "mx").await;
        let bob = viewer(&app, &ann, &json!({"tags": ["web"]})).await;
        assert_eq!(names(&bob.client).await, ["web"]);
        let members = ann.client.get("team/members").await.ok();
        let members = members["members"].as_array().unwrap();
        let listed = members.iter().find(|member| member["userid"] == bob.userid.as_str()).unwrap();
        assert_eq!(listed["monitor_filter"], json!({"tags": ["web"]}));
        for (client, expected) in [(&bob.client, Some(&listed["monitor_filter"])), (&ann.client, None)] {
            assert_eq!(client.get("users/me").await.ok().get("monitor_filter"), expected);
            assert_eq!(client.get("session").await.ok()["user"].get("monitor_filter"), expected);
        }
        // Neither a key nor a second filter extends that.
        let full = key(&app, &bob, &json!({"name": "k"})).await;
        assert_eq!(names(&full).await, ["web"]);
        let body = json!({"name": "k", "scope": "viewer", "tags": "mx"});
        bob.client.post("integrations/apikey/save", &body).await.refused(422, "invalid_fields");
        let own = json!({"userid": bob.userid, "monitor_filter": null});
        bob.client.post("member/save", &own).await.refused(403, "forbidden");

        ann.client.post("member/save", &own).await.ok();
        assert_eq!(names(&full).await, ["mail", "web"]);
        let limited = key(&app, &bob, &body).await;
        assert_eq!(names(&limited).await, ["mail"]);
        // A key with its own filter is refused while its holder has one.
        ann.client.post("member/save", &json!({"userid": bob.userid, "tags": "web"})).await.ok();
        limited.get("monitors").await.refused(403, "key_scope");
        assert_eq!(app.database.rows("monitor_filters").await, 2);
        ann.client.post("team/delete", &json!({"userids": [bob.userid]})).await.ok();
        assert_eq!(app.database.rows("monitor_filters").await, 0, "filters are deleted with their owners");
    }

    async fn a_member_is_added_and_changed_together_with_the_limit_or_not_at_all(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let web = job(&ann.client, "web", "web").await;
        job(&ann.client, "mail", "mx").await;
        let add = |limit: Value| {
            let mut body = json!({"email": "bob@example.com", "password1": PASSWORD, "password2": PASSWORD, "role": "viewer"});
            body.as_object_mut().unwrap().extend(limit.as_object().unwrap().clone());
            body
        };
        for (limit, field) in [
            (json!({"monitors": [ann.userid]}), "monitors"),
            (json!({"monitors": [web], "tags": "web"}), "monitors"),
            (json!({"tags": "web", "role": "editor"}), "role"),
            (json!({"monitor_filter": {}}), "monitor_filter"),
            (json!({"monitor_filter": {"tag": ["web"]}}), "monitor_filter"),
            (json!({"monitor_filter": {"tags": null}}), "monitor_filter"),
            (json!({"monitor_filter": {"tags": ["web"]}, "tags": "web"}), "monitor_filter"),
            (json!({"monitor_filter": "web"}), "monitor_filter"),
            (json!({"monitor_filter": {"tags": []}}), "monitor_filter.tags"),
        ] {
            let refused = ann.client.post("team/save", &add(limit.clone())).await;
            assert_eq!(refused.wrong_fields(), [field], "{limit}");
        }
        assert_eq!((app.database.rows("users").await, app.database.rows("monitor_filters").await), (1, 0));

        ann.client.post("team/save", &add(json!({"monitors": [web]}))).await.ok();
        let bob = User::logged_in(&app.anonymous(), "bob@example.com").await;
        assert_eq!(names(&bob.client).await, ["web"]);
        let members = ann.client.get("team/members").await.ok()["members"].clone();
        let is_bob = |member: &&Value| member["userid"] == bob.userid.as_str();
        let listed = members.as_array().unwrap().iter().find(is_bob).unwrap();
        for path in ["team/save", "member/save"] {
            ann.client.post(path, listed).await.ok();
            assert_eq!(names(&bob.client).await, ["web"], "{path}, sent back unchanged");
        }
        let change = |email: &str, limit: Value| {
            let mut body = limit;
            body["userid"] = json!(bob.userid);
            body["email"] = json!(email);
            body
        };
        let wrong = change("robert@example.com", json!({"monitors": [ann.userid]}));
        assert_eq!(ann.client.post("team/save", &wrong).await.wrong_fields(), ["monitors"]);
        assert_eq!(bob.client.get("users/me").await.ok()["email"], "bob@example.com");
        let tags = change(&bob.email, json!({"role": "responder", "tags": "mx"}));
        ann.client.post("team/save", &tags).await.ok();
        assert_eq!(names(&bob.client).await, ["mail"]);
        ann.client.post("team/save", &change(&bob.email, json!({}))).await.ok();
        assert_eq!(names(&bob.client).await, ["mail"], "unchanged if omitted");
        ann.client.post("team/save", &change(&bob.email, json!({"monitor_filter": null}))).await.ok();
        assert_eq!(names(&bob.client).await, ["mail", "web"]);
        assert_eq!(app.database.rows("monitor_filters").await, 0);
    }

    async fn only_viewers_and_responders_can_be_limited(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = viewer(&app, &ann, &json!({"tags": ["web"]})).await;
        for role in ["editor", "admin", "owner", "billing"] {
            let body = json!({"userid": bob.userid, "role": role, "tags": "web"});
            let refused = ann.client.post("member/save", &body).await;
            refused.refused(422, "invalid_fields");
            assert_eq!(refused.wrong_fields(), ["role"]);
        }
        // Another role without a new limit removes the old one.
        job(&ann.client, "mail", "mx").await;
        ann.client.post("member/save", &json!({"userid": bob.userid, "role": "responder"})).await.ok();
        assert_eq!(names(&bob.client).await, Vec::<String>::new());
        // What concerns the whole team is refused in words that are true for a person.
        let refused = bob.client.post("incident/save", &json!({"title": "Down"})).await;
        let why = refused.refused(403, "key_scope")["message"].clone();
        assert_eq!(
            why,
            "Your access is limited to some monitors, and this concerns all monitors of the team."
        );
        ann.client.post("member/save", &json!({"userid": bob.userid, "role": "editor"})).await.ok();
        assert_eq!(names(&bob.client).await, ["mail"]);
        assert_eq!(app.database.rows("monitor_filters").await, 0);
    }

    async fn a_suspended_member_can_do_nothing_until_the_suspension_ends(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let keys = key(&app, &bob, &json!({"name": "k"})).await;
        let mut stream = Stream::open(&app, &bob).await;
        ann.client.post("member/save", &json!({"userid": bob.userid, "suspended": true})).await.ok();
        bob.client.get("monitors").await.refused(403, "suspended");
        keys.get("monitors").await.refused(403, "suspended");
        assert_eq!(stream.next().await, None, "the stream ends");
        ann.client.post("member/save", &json!({"userid": ann.userid, "suspended": true})).await
            .refused(409, "last_owner");
        ann.client.post("member/save", &json!({"userid": bob.userid, "suspended": false})).await.ok();
        bob.client.get("monitors").await.ok();
    }

    async fn an_admin_cannot_change_or_appoint_an_owner(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let body = json!({"email": "eve@example.com", "password1": PASSWORD, "password2": PASSWORD, "role": "admin"});
        let eve = ann.client.post("team/save", &body).await.ok()["userid"].clone();
        let eve = User { email: "eve@example.com".into(), userid: eve.as_str().unwrap().into(), ..ann.clone() };
        let eve = eve.log_in(&app.anonymous()).await;
        for body in [json!({"userid": ann.userid, "suspended": true}), json!({"userid": ann.userid, "role": "viewer"}),
            json!({"userid": eve.userid, "role": "owner"})] {
            eve.client.post("member/save", &body).await.refused(403, "forbidden");
        }
    }

    async fn events_concern_the_monitors_of_the_filter_only(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let hidden = job(&ann.client, "mail", "mx").await;
        let pair = json!({"name": "k", "scope": "viewer", "tags": "web"});
        let pair = ann.client.post("integrations/apikey/save", &pair).await.ok();
        let text = |field: &str| pair[field].as_str().unwrap().to_owned();
        let mut stream = Stream::send(&app, |request| {
            request.header("x-api-key", text("apikey")).header("x-enc-key", text("enckey"))
        })
        .await;
        ann.client.post(&format!("monitor/notify/{hidden}"), &json!({"status": "up"})).await.ok();
        let shown = job(&ann.client, "web", "web").await;
        ann.client.post(&format!("monitor/notify/{shown}"), &json!({"status": "up"})).await.ok();
        ann.client.post("monitor/save", &json!({"monitorid": hidden, "name": "still hidden"})).await.ok();
        // A monitor that leaves the filter is deleted as far as the key can see.
        ann.client.post("monitor/save", &json!({"monitorid": shown, "tags": "mx"})).await.ok();
        ann.client.delete(&format!("monitor/{hidden}/delete")).await.ok();
        ann.client.post("monitor/save", &json!({"monitorid": shown, "tags": "web"})).await.ok();
        for expected in ["saved", "heartbeat", "deleted", "saved"] {
            let (kind, data) = stream.next().await.unwrap();
            assert_eq!((kind.as_str(), &data["monitorid"]), (expected, &json!(shown)));
        }
    }

    async fn a_monitor_that_left_the_filter_among_missed_events_stays_hidden(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let other = MonitorId::parse(&job(&ann.client, "mail", "mx").await).unwrap();
        let left = MonitorId::parse(&job(&ann.client, "web", "web").await).unwrap();
        let viewer = viewer(&app, &ann, &json!({"tags": "web"})).await;
        let caller = app.engine.caller_by_token(&viewer.token, None).await.unwrap();
        let mut events = app.engine.subscribe(&caller.authorize().unwrap()).await.unwrap();
        ann.client.post("monitor/save", &json!({"monitorid": left, "tags": "mx"})).await.ok();
        // More than are kept for a client that does not read.
        let caller = app.engine.caller_by_token(&ann.token, None).await.unwrap();
        let caller = caller.authorize().unwrap();
        let report = |id| {
            let report = Report { up: true, degraded: false, message: String::new(), load_time: None, reason: None };
            app.engine.report_status(&caller, id, report, None)
        };
        stream::iter(0..1_100).map(|_| report(other)).buffer_unordered(200).try_collect::<Vec<_>>().await.unwrap();
        report(left).await.unwrap();
        let shown = job(&ann.client, "new", "web").await;
        assert!(matches!(events.next().await, Some(Event::Missed)));
        let next = events.next().await;
        assert!(matches!(next, Some(Event::Saved(id)) if id.to_string() == shown), "{next:?}");
    }
}
