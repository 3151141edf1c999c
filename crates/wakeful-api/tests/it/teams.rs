//! teams, team/new, team/switch, team/leave, team/settings, team/remove, and the header
//! X-Wakeful-Team: a person in several teams.

use serde_json::{Value, json};
use wakeful_testkit::{App, Client, PASSWORD, User, both_databases, until};

use crate::events::Stream;
use crate::invitations::join;

fn monitor(name: &str) -> Value {
    json!({"type": "tcp", "name": name, "hostname": "127.0.0.1", "port": "1",
        "heartbeat_interval": 60, "isactive": false, "upside_down_mode": false})
}

async fn monitors(client: &Client) -> Vec<String> {
    let list = client.get("monitors").await.ok();
    let names = list["monitors"].as_array().unwrap().iter();
    names.map(|monitor| monitor["name"].as_str().unwrap().to_owned()).collect()
}

/// The caller's teams as name, role, and whether the call acts in it.
async fn teams(client: &Client) -> Vec<(String, String, bool)> {
    let list = client.get("teams").await.ok();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let teams = list["teams"].as_array().unwrap().iter();
    teams.map(|team| (text(&team["name"]), text(&team["role"]), team["current"] == true)).collect()
}

fn team(name: &str, role: &str, current: bool) -> (String, String, bool) {
    (name.to_owned(), role.to_owned(), current)
}

async fn new_team(user: &User, name: &str) -> String {
    let created = user.client.post("team/new", &json!({"name": name})).await.ok();
    created["groupid"].as_str().unwrap().to_owned()
}

/// A member of ann's team who has a team of their own.
async fn joined(app: &App, ann: &User, email: &str, role: &str) -> User {
    let user = app.sign_up(email).await;
    join(ann, &user, role).await;
    user
}

both_databases! {
    async fn a_session_acts_in_one_team_and_the_header_chooses_another(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        assert_eq!(teams(&ann.client).await, [team("ann", "owner", true)]);
        let shop = new_team(&ann, "Shop").await;
        ann.client.post("monitor/save", &monitor("home")).await.ok();
        let in_shop = ann.client.with("x-wakeful-team", &shop);
        in_shop.post("monitor/save", &monitor("till")).await.ok();
        assert_eq!(monitors(&ann.client).await, ["home"]);
        assert_eq!(monitors(&in_shop).await, ["till"]);
        assert_eq!(teams(&in_shop).await, [team("ann", "owner", false), team("Shop", "owner", true)]);
        let me = in_shop.get("users/me").await.ok();
        assert_eq!((&me["groupid"], &me["groupname"]), (&json!(shop), &json!("Shop")));

        let switched = ann.client.post("team/switch", &json!({"groupid": shop})).await.ok();
        assert_eq!((&switched["user"]["groupid"], &switched["role"]), (&json!(shop), &json!("owner")));
        assert_eq!(monitors(&ann.client).await, ["till"]);
        assert_eq!(ann.client.get("sessions").await.ok()["sessions"][0]["groupid"], json!(shop));
        // Another session is not affected, and the next login starts where it always did.
        let again = ann.log_in(&app.anonymous()).await;
        assert_eq!((again.team.as_str(), monitors(&again.client).await), (ann.team.as_str(), vec!["home".to_owned()]));
        for wrong in ["", "rubbish", "01997b1e-0000-7000-8000-000000000000"] {
            ann.client.with("x-wakeful-team", wrong).get("monitors").await.refused(404, "not_found");
        }
        assert_eq!(ann.client.post("team/new", &json!({"name": " "})).await.wrong_fields(), ["name"]);
        let long = json!({"name": "x".repeat(101)});
        assert_eq!(ann.client.post("team/new", &long).await.wrong_fields(), ["name"]);
    }

    async fn an_event_stream_is_opened_for_a_team_in_the_query(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let shop = new_team(&ann, "Shop").await;
        let path = format!("events?team={shop}");
        let mut stream = Stream::send_to(&app, &path, |get| get.bearer_auth(&ann.token)).await;
        ann.client.post("monitor/save", &monitor("home")).await.ok();
        let in_shop = ann.client.with("x-wakeful-team", &shop);
        let till = in_shop.post("monitor/save", &monitor("till")).await.ok();
        let (event, data) = stream.next().await.unwrap();
        assert_eq!(event, "saved");
        assert_eq!(data["monitorid"], till["monitor"]["monitorid"], "{data}");
        let eve = app.sign_up("eve@example.com").await;
        eve.client.get(&format!("events?team={shop}")).await.refused(404, "not_found");
    }

    async fn a_key_acts_in_the_team_it_was_created_in(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let shop = new_team(&ann, "Shop").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        ann.client.post("team/switch", &json!({"groupid": shop})).await.ok();
        assert_eq!(keys.client.get("users/me").await.ok()["groupid"], json!(ann.team));
        keys.client.with("x-wakeful-team", &ann.team).get("monitors").await.ok();
        keys.client.with("x-wakeful-team", &shop).get("monitors").await.refused(404, "not_found");
        keys.client.post("team/switch", &json!({"groupid": shop})).await.refused(404, "not_found");
        let token = keys.client.get("authenticated").await.ok()["token"].as_str().unwrap().to_owned();
        let client = app.anonymous().with_token(&token);
        assert_eq!(client.get("users/me").await.ok()["groupid"], json!(ann.team));
        client.with("x-wakeful-team", &shop).get("monitors").await.refused(404, "not_found");
        client.post("team/switch", &json!({"groupid": shop})).await.refused(404, "not_found");
        // Each team lists the keys that act in it.
        let home = ann.client.with("x-wakeful-team", &ann.team);
        assert_eq!(home.get("team/keys").await.ok()["apikeys"].as_array().unwrap().len(), 1);
        assert_eq!(ann.client.get("team/keys").await.ok()["apikeys"], json!([]));
    }

    async fn permissions_are_those_of_the_team_that_is_chosen(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = joined(&app, &ann, "bob@example.com", "viewer").await;
        let in_ann = bob.client.with("x-wakeful-team", &ann.team);
        in_ann.get("monitors").await.ok();
        in_ann.post("monitor/save", &monitor("x")).await.refused(403, "forbidden");
        let home = bob.client.with("x-wakeful-team", &bob.team);
        home.post("monitor/save", &monitor("x")).await.ok();
        // Suspended in one team, active in the other; a login then starts there.
        let suspend = json!({"userid": bob.userid, "suspended": true});
        ann.client.post("member/save", &suspend).await.ok();
        in_ann.get("monitors").await.refused(403, "suspended");
        home.get("monitors").await.ok();
        bob.client.with("x-wakeful-team", &bob.team).post("team/switch", &json!({"groupid": ann.team})).await
            .refused(404, "not_found");
        assert_eq!(bob.log_in(&app.anonymous()).await.team, bob.team);
    }

    async fn only_its_holder_changes_an_account_that_is_in_another_team(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = joined(&app, &ann, "bob@example.com", "viewer").await;
        let takeover = json!({"userid": bob.userid, "email": bob.email,
            "password1": "known to ann 7", "password2": "known to ann 7"});
        ann.client.post("team/save", &takeover).await.refused(403, "account_not_managed");
        let rename = json!({"userid": bob.userid, "email": "ann+bob@example.com"});
        ann.client.post("team/save", &rename).await.refused(403, "account_not_managed");
        // The role is the team's to decide.
        let promote = json!({"userid": bob.userid, "email": bob.email, "role": "editor"});
        ann.client.post("team/save", &promote).await.ok();
        bob.log_in(&app.anonymous()).await;

        // An account that the team has created is its own, until it joins another team.
        let cem = ann.colleague(&app.anonymous(), "cem@example.com").await;
        let reset = json!({"userid": cem.userid, "email": cem.email, "password1": PASSWORD, "password2": PASSWORD});
        ann.client.post("team/save", &reset).await.ok();
        let cem = cem.log_in(&app.anonymous()).await;
        let own = new_team(&cem, "Own").await;
        ann.client.post("team/save", &reset).await.refused(403, "account_not_managed");
        cem.client.with("x-wakeful-team", &own).post("team/remove", &json!({"name": "Own"})).await.ok();
        ann.client.post("team/save", &reset).await.ok();
    }

    async fn a_removed_member_keeps_the_account_unless_the_team_manages_it(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = joined(&app, &ann, "bob@example.com", "editor").await;
        let cem = ann.colleague(&app.anonymous(), "cem@example.com").await;
        let body = json!({"email": "dora@example.com", "role": "viewer", "mail": false});
        let link = ann.client.post("invitation/save", &body).await.ok()["link"].clone();
        let token = link.as_str().unwrap().rsplit_once('=').unwrap().1.to_owned();
        let body = json!({"token": token, "password": PASSWORD, "name": "Dora"});
        let dora = app.anonymous().post("invitation/accept", &body).await.ok();
        let ids = json!({"userids": [bob.userid, cem.userid, dora["user"]["userid"]]});
        // Bob's session acts in ann's team.
        assert_eq!(bob.client.get("users/me").await.ok()["groupid"], json!(ann.team));
        let key = bob.new_keys(&app.anonymous()).await;
        ann.client.post("team/delete", &ids).await.ok();

        assert!(!key.client.is_authenticated().await, "a key of the team");
        assert_eq!(teams(&bob.client).await, [team("bob", "owner", true)]);
        bob.client.with("x-wakeful-team", &ann.team).get("monitors").await.refused(404, "not_found");
        app.anonymous().log_in("cem@example.com", PASSWORD).await.refused(401, "bad_credentials");
        // Dora was invited: she gets a team of her own.
        let dora = app.anonymous().with_token(dora["token"].as_str().unwrap());
        assert_eq!(teams(&dora).await, [team("Dora", "owner", true)]);
        assert_eq!(monitors(&dora).await, Vec::<String>::new());
    }

    async fn the_last_owner_cannot_leave(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        ann.client.post_nothing("team/leave").await.refused(409, "last_owner");
        let bob = joined(&app, &ann, "bob@example.com", "editor").await;
        ann.client.post_nothing("team/leave").await.refused(409, "last_owner");
        ann.client.post("member/save", &json!({"userid": bob.userid, "role": "owner"})).await.ok();
        let in_ann = bob.client.with("x-wakeful-team", &ann.team);
        // Both owners leave at the same time: one of them stays.
        let (first, second) =
            tokio::join!(ann.client.post_nothing("team/leave"), in_ann.post_nothing("team/leave"));
        let mut statuses = [first.status, second.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{} {}", first.text, second.text);
    }

    async fn a_person_who_leaves_their_only_team_gets_one_of_their_own(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        ann.client.post("monitor/save", &monitor("home")).await.ok();
        let cem = ann.colleague(&app.anonymous(), "cem@example.com").await;
        let key = cem.new_keys(&app.anonymous()).await;
        cem.client.post_nothing("team/leave").await.ok();
        assert!(!key.client.is_authenticated().await);
        assert_eq!(teams(&cem.client).await, [team("cem", "owner", true)]);
        assert_eq!(monitors(&cem.client).await, Vec::<String>::new());
        assert_eq!(ann.client.get("team/get").await.ok()["message"].as_array().unwrap().len(), 1);
    }

    async fn a_team_is_removed_with_its_data_and_its_managed_accounts(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let shop = new_team(&ann, "Shop").await;
        let in_shop = ann.client.with("x-wakeful-team", &shop);
        in_shop.post("monitor/save", &monitor("till")).await.ok();
        let keys = json!({"name": "ci"});
        in_shop.post("integrations/apikey/save", &keys).await.ok();
        let body = json!({"email": "cem@example.com", "password1": PASSWORD, "password2": PASSWORD});
        in_shop.post("team/save", &body).await.ok();
        let cem = User::logged_in(&app.anonymous(), "cem@example.com").await;
        assert_eq!(cem.team, shop);
        ann.client.post("team/switch", &json!({"groupid": shop})).await.ok();
        assert_eq!(ann.client.post("team/remove", &json!({"name": "shop"})).await.wrong_fields(), ["name"]);
        let admin = json!({"userid": cem.userid, "role": "admin"});
        in_shop.post("member/save", &admin).await.ok();
        cem.client.post("team/remove", &json!({"name": "Shop"})).await.refused(403, "forbidden");
        ann.client.post("team/remove", &json!({"name": "Shop"})).await.ok();
        // The session continues in the other team.
        assert_eq!(teams(&ann.client).await, [team("ann", "owner", true)]);
        in_shop.get("monitors").await.refused(404, "not_found");
        assert!(!cem.client.is_authenticated().await, "deleted with the team");
        // The address can be used again.
        app.sign_up("cem@example.com").await;
    }

    async fn an_account_is_deleted_from_all_its_teams(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = joined(&app, &ann, "bob@example.com", "owner").await;
        let shop = new_team(&bob, "Shop").await;
        let cem = app.sign_up("cem@example.com").await;
        let in_shop = User { client: bob.client.with("x-wakeful-team", &shop), ..bob.clone() };
        join(&in_shop, &cem, "editor").await;
        // Cem would be left without an owner. Nothing is deleted, not even waiting messages.
        let own = bob.client.with("x-wakeful-team", &bob.team);
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": "http://127.0.0.1:1/"}});
        let notifier = own.post("notifier/save", &hook).await.json()["notifierid"].clone();
        let job = json!({"type": "api", "name": "job", "heartbeat_interval": 86400, "isactive": true,
            "upside_down_mode": false, "notifiers": notifier});
        let job = own.post("monitor/save", &job).await.ok()["monitor"]["monitorid"].clone();
        let notify = format!("monitor/notify/{}", job.as_str().unwrap());
        own.post(&notify, &json!({"status": "down"})).await.ok();
        until("a delivery", async || (app.database.rows("deliveries").await == 1).then_some(())).await;
        bob.client.post_nothing("user/delete").await.refused(409, "last_owner");
        assert_eq!(app.database.rows("deliveries").await, 1);
        in_shop.client.post("member/save", &json!({"userid": cem.userid, "role": "owner"})).await.ok();
        bob.client.post_nothing("user/delete").await.ok();
        for (client, left) in [(&ann.client, 1), (&cem.client.with("x-wakeful-team", &shop), 1)] {
            let list = client.get("team/get").await.ok();
            assert_eq!(list["message"].as_array().unwrap().len(), left, "{list}");
            let entry = client.get("audit?limit=1").await.ok()["entries"][0].clone();
            assert_eq!((&entry["action"], &entry["object"]["name"]), (&json!("member.leave"), &Value::Null));
            assert_eq!(client.get("audit/verify").await.ok()["ok"], true);
        }
    }

    async fn a_person_is_in_at_most_fifty_teams(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for number in 1..50 {
            new_team(&ann, &format!("Team {number}")).await;
        }
        ann.client.post("team/new", &json!({"name": "More"})).await.refused(409, "limit_reached");
        let bob = app.sign_up("bob@example.com").await;
        let body = json!({"email": ann.email, "role": "viewer", "mail": false});
        let link = bob.client.post("invitation/save", &body).await.ok()["link"].clone();
        let token = link.as_str().unwrap().rsplit_once('=').unwrap().1.to_owned();
        ann.client.post("invitation/accept", &json!({"token": token})).await.refused(409, "limit_reached");
    }

    async fn a_second_factor_is_recorded_in_each_team(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = joined(&app, &ann, "bob@example.com", "editor").await;
        let setup = bob.client.post_nothing("mfa/setup").await.ok();
        let code = wakeful_testkit::Authenticator::scan(&setup).code(&app.clock);
        bob.client.post("mfa/enable", &json!({"mfacode": code})).await.ok();
        for client in [&ann.client, &bob.client.with("x-wakeful-team", &bob.team)] {
            let entry = client.get("audit?limit=1").await.ok()["entries"][0].clone();
            assert_eq!(entry["action"], "mfa.enable");
            assert_eq!(client.get("audit/verify").await.ok()["ok"], true);
        }
    }

    async fn what_a_person_has_in_all_teams_is_listed_and_recorded_there(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let shop = new_team(&ann, "Shop").await;
        let in_shop = ann.client.with("x-wakeful-team", &shop);
        let home = ann.new_keys(&app.anonymous()).await;
        let till = in_shop.post("integrations/apikey/save", &json!({"name": "till"})).await.ok();
        let till = till["apikeyid"].as_str().unwrap();
        let keys = async |client: &Client| {
            let list = client.get("integrations/apikeys").await.ok();
            let of = |key: &Value| (key["name"].clone(), key["groupid"].clone());
            let mut keys: Vec<_> = list["apikeys"].as_array().unwrap().iter().map(of).collect();
            // Created in the same millisecond.
            keys.sort_by_key(|(name, _)| name.to_string());
            keys
        };
        let [of_home, of_till] = [("build server", &ann.team), ("till", &shop)]
            .map(|(name, team)| (json!(name), json!(team)));
        assert_eq!(keys(&ann.client).await, [of_home.clone(), of_till.clone()]);
        assert_eq!(keys(&in_shop).await, [of_home.clone(), of_till]);
        // A key sees and changes nothing of other teams.
        assert_eq!(keys(&home.client).await, [of_home]);
        home.client.delete(&format!("integrations/apikey/{till}/delete")).await.refused(404, "not_found");
        let newest = async |client: &Client| client.get("audit?limit=1").await.ok()["entries"][0]["action"].clone();
        ann.client.delete(&format!("integrations/apikey/{till}/delete")).await.ok();
        assert_eq!((newest(&in_shop).await, newest(&ann.client).await), (json!("key.delete"), json!("key.create")));

        ann.client.post("settings/save", &json!({"email": "anna@example.com"})).await.ok();
        for client in [&ann.client, &in_shop] {
            assert_eq!(newest(client).await, "member.update");
            assert_eq!(client.get("audit/verify").await.ok()["ok"], true);
        }

        // Browsers open these without a header.
        in_shop.post("monitor/save", &monitor("till")).await.ok();
        for path in ["report?format=csv&", "audit/export?"] {
            let text = async |team: &str| ann.client.get(&format!("{path}team={team}")).await.text;
            assert!(text(&shop).await.contains("till"), "{path}");
            assert!(!text(&ann.team).await.contains("till"), "{path}");
            let unknown = ann.client.get(&format!("{path}team={}", home.id)).await;
            unknown.refused(404, "not_found");
        }
    }
}
