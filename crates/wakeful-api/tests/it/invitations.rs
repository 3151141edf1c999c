//! invitations, invitation/save, invitation/read, invitation/accept: how people join a team.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_testkit::{App, PASSWORD, User, both_databases, invitation_token};

use crate::membership::limited;

/// Invites a user to the team of another and accepts; their session then acts there.
pub(crate) async fn join(owner: &User, user: &User, role: &str) {
    let token = invite(owner, &user.email, role).await;
    user.client.post("invitation/accept", &json!({"token": token})).await.ok();
}

/// The token of a link that the inviter passes on.
async fn invite(owner: &User, email: &str, role: &str) -> String {
    let body = json!({"email": email, "role": role, "mail": false});
    let saved = owner.client.post("invitation/save", &body).await.ok();
    token_of(&saved["link"])
}

fn token_of(link: &Value) -> String {
    link.as_str().unwrap().rsplit_once("/join#token=").unwrap().1.to_owned()
}

async fn accept_as_new(app: &App, token: &str) -> wakeful_testkit::Answer {
    let body = json!({"token": token, "password": PASSWORD, "name": "Bob"});
    app.anonymous().post("invitation/accept", &body).await
}

both_databases! {
    async fn someone_without_an_account_accepts_a_mailed_invitation(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        ann.client.post("team/settings", &json!({"name": "Shop"})).await.ok();
        let body = json!({"email": "bob@example.com", "role": "editor"});
        let saved = ann.client.post("invitation/save", &body).await.ok();
        assert_eq!(saved.get("link"), None, "only the invited person sees it");
        let mails = app.mails("bob@example.com", 1).await;
        assert!(mails[0].contains("Subject: Join Shop on Wakeful"), "{}", mails[0]);
        let token = invitation_token(&mails[0]);

        let anonymous = app.anonymous();
        let opened = anonymous.post("invitation/read", &json!({"token": token})).await.ok();
        let expected = json!({"success": true, "team": "Shop", "email": "bob@example.com",
            "role": "editor", "invited_by": "ann@example.com", "account": "new"});
        assert_eq!(opened, expected);
        let answer = anonymous.post("invitation/accept", &json!({"token": token})).await;
        assert_eq!(answer.wrong_fields(), ["password"]);
        let weak = json!({"token": token, "password": "password"});
        assert_eq!(anonymous.post("invitation/accept", &weak).await.wrong_fields(), ["password"]);
        let joined = accept_as_new(&app, &token).await.ok();
        assert_eq!(joined["user"]["groupid"], json!(ann.team));
        let bob = anonymous.with_token(joined["token"].as_str().unwrap());
        let me = bob.get("users/me").await.ok();
        assert_eq!((&me["role"], &me["name"], &me["groupname"]), (&json!("editor"), &json!("Bob"), &json!("Shop")));
        assert_eq!(me["email_verified"], true, "the mail has verified the address");
        accept_as_new(&app, &token).await.refused(401, "bad_invitation");
        assert_eq!(ann.client.get("invitations").await.ok()["invitations"], json!([]));
        // Nobody manages the account but its holder.
        let takeover = json!({"userid": joined["user"]["userid"], "email": "bob@example.com",
            "password1": "known to ann 7", "password2": "known to ann 7"});
        ann.client.post("team/save", &takeover).await.refused(403, "account_not_managed");
    }

    async fn a_link_that_was_passed_on_does_not_verify_the_address(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let token = invite(&ann, "bob@example.com", "viewer").await;
        let joined = accept_as_new(&app, &token).await.ok();
        let bob = app.anonymous().with_token(joined["token"].as_str().unwrap());
        assert_eq!(bob.get("users/me").await.ok()["email_verified"], false);
        assert!(app.mails_now("bob@example.com").is_empty());
    }

    async fn a_mailed_link_verifies_the_address_of_an_account(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let verified = async |user: &User| user.client.get("users/me").await.ok()["email_verified"].clone();
        for (email, mail) in [("bob@example.com", false), ("cem@example.com", true)] {
            let user = app.sign_up(email).await;
            let body = json!({"email": email, "role": "viewer", "mail": mail});
            let saved = ann.client.post("invitation/save", &body).await.ok();
            let token = if mail {
                let mails = app.mails(email, 2).await;
                invitation_token(mails.iter().find(|mail| mail.contains("Subject: Join")).unwrap())
            } else {
                token_of(&saved["link"])
            };
            assert_eq!(verified(&user).await, false);
            user.client.post("invitation/accept", &json!({"token": token})).await.ok();
            assert_eq!(verified(&user).await, mail, "{email}");
        }
    }

    async fn the_holder_of_an_account_logs_in_to_accept(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("Bob@example.com").await;
        let eve = app.sign_up("eve@example.com").await;
        let token = invite(&ann, "bob@EXAMPLE.com", "viewer").await;
        let body = json!({"token": token});
        let state = async |client: &wakeful_testkit::Client| {
            client.post("invitation/read", &body).await.ok()["account"].clone()
        };
        assert_eq!(state(&app.anonymous()).await, "exists");
        assert_eq!(state(&eve.client).await, "exists");
        assert_eq!(state(&bob.client).await, "yours");
        accept_as_new(&app, &token).await.refused(401, "login_needed");
        eve.client.post("invitation/accept", &body).await.refused(409, "other_account");
        let keys = bob.new_keys(&app.anonymous()).await;
        keys.client.post("invitation/accept", &body).await.refused(403, "key_scope");
        let joined = bob.client.post("invitation/accept", &body).await.ok();
        assert_eq!((&joined["user"]["groupid"], &joined["token"]), (&json!(ann.team), &json!(bob.token)));
        assert_eq!(bob.client.get("users/me").await.ok()["role"], "viewer");
        bob.client.post("invitation/accept", &body).await.refused(401, "bad_invitation");
        // A member is not invited again.
        let again = json!({"email": "bob@example.com", "role": "editor"});
        ann.client.post("invitation/save", &again).await.refused(409, "already_member");
    }

    async fn an_invited_address_cannot_be_taken_over_by_signing_up_with_it(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let body = json!({"email": "bob@example.com", "role": "owner"});
        ann.client.post("invitation/save", &body).await.ok();
        let token = invitation_token(&app.mails("bob@example.com", 1).await[0]);
        let squatter = app.sign_up("bob@example.com").await;
        // Signing up gives no access to the team: the link was mailed to the address.
        assert_eq!(squatter.client.get("teams").await.ok()["teams"].as_array().unwrap().len(), 1);
        squatter.client.with("x-wakeful-team", &ann.team).get("monitors").await.refused(404, "not_found");
        accept_as_new(&app, &token).await.refused(401, "login_needed");
    }

    async fn a_link_works_for_a_week_and_a_new_one_replaces_it(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let body = json!({"email": "bob@example.com", "role": "viewer", "mail": false});
        let saved = ann.client.post("invitation/save", &body).await.ok();
        let (first, id) = (token_of(&saved["link"]), saved["invitationid"].clone());
        let renew = json!({"invitationid": id, "mail": false});
        let second = token_of(&ann.client.post("invitation/save", &renew).await.ok()["link"]);
        accept_as_new(&app, &first).await.refused(401, "bad_invitation");
        app.clock.advance(Duration::from_secs(7 * 86_400));
        let listed = ann.log_in(&app.anonymous()).await.client.get("invitations").await.ok();
        assert_eq!(listed["invitations"], json!([]));
        accept_as_new(&app, &second).await.refused(401, "bad_invitation");
        app.sweep().await;
        // Another invitation to the same address replaces the first.
        let ann = ann.log_in(&app.anonymous()).await;
        let first = invite(&ann, "bob@example.com", "viewer").await;
        let second = invite(&ann, "bob@example.com", "editor").await;
        accept_as_new(&app, &first).await.refused(401, "bad_invitation");
        let joined = accept_as_new(&app, &second).await.ok();
        let bob = app.anonymous().with_token(joined["token"].as_str().unwrap());
        assert_eq!(bob.get("users/me").await.ok()["role"], "editor");
    }

    async fn an_invitation_works_only_while_its_sender_could_give_the_role(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let token = invite(&bob, "eve@example.com", "owner").await;
        let change = async |body: Value| ann.client.post("member/save", &body).await.ok();
        let open = async || app.anonymous().post("invitation/read", &json!({"token": token})).await;
        open().await.ok();
        change(json!({"userid": bob.userid, "role": "admin"})).await;
        open().await.refused(401, "bad_invitation");
        accept_as_new(&app, &token).await.refused(401, "bad_invitation");
        change(json!({"userid": bob.userid, "role": "owner", "suspended": true})).await;
        open().await.refused(401, "bad_invitation");
        change(json!({"userid": bob.userid, "suspended": false})).await;
        open().await.ok();
        ann.client.post("team/delete", &json!({"userids": [bob.userid]})).await.ok();
        open().await.refused(401, "bad_invitation");
        let listed = ann.client.get("invitations").await.ok();
        assert_eq!(listed["invitations"][0]["invited_by"], Value::Null);
    }

    async fn nobody_invites_above_their_own_role(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let admin = ann.colleague(&app.anonymous(), "admin@example.com").await;
        ann.client.post("member/save", &json!({"userid": admin.userid, "role": "admin"})).await.ok();
        for role in ["owner", "billing"] {
            let body = json!({"email": "x@example.com", "role": role});
            admin.client.post("invitation/save", &body).await.refused(403, "forbidden");
        }
        let owner = json!({"email": "x@example.com", "role": "owner", "mail": false});
        let saved = ann.client.post("invitation/save", &owner).await.ok();
        let renew = json!({"invitationid": saved["invitationid"]});
        admin.client.post("invitation/save", &renew).await.refused(403, "forbidden");
        let fields = ann.client.post("invitation/save", &json!({"email": "x", "role": "boss"})).await;
        assert_eq!(fields.wrong_fields(), ["email", "role"]);
    }

    async fn the_monitor_filter_of_an_invitation_applies_to_the_member(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for (name, tag) in [("till", "shop"), ("press", "print")] {
            let body = json!({"type": "tcp", "name": name, "hostname": "127.0.0.1", "port": "1", "tags": tag,
                "heartbeat_interval": 60, "isactive": false, "upside_down_mode": false});
            ann.client.post("monitor/save", &body).await.ok();
        }
        let body = json!({"email": "bob@example.com", "role": "viewer", "tags": "shop", "mail": false});
        let saved = ann.client.post("invitation/save", &body).await.ok();
        let listed = ann.client.get("invitations").await.ok()["invitations"][0].clone();
        assert_eq!(listed["monitor_filter"]["tags"], json!(["shop"]));
        let joined = accept_as_new(&app, &token_of(&saved["link"])).await.ok();
        let bob = app.anonymous().with_token(joined["token"].as_str().unwrap());
        let list = bob.get("monitors").await.ok();
        assert_eq!(list["monitors"].as_array().unwrap().len(), 1, "{list}");
        assert_eq!(list["monitors"][0]["name"], "till");
        let wrong = json!({"email": "cem@example.com", "role": "editor", "tags": "shop"});
        assert_eq!(ann.client.post("invitation/save", &wrong).await.wrong_fields(), ["role"]);
    }

    async fn invitations_are_limited_in_number_and_by_the_hour(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.invitations_per_hour = 102;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for number in 0..100 {
            invite(&ann, &format!("u{number}@example.com"), "viewer").await;
        }
        let body = json!({"email": "more@example.com", "role": "viewer"});
        ann.client.post("invitation/save", &body).await.refused(409, "limit_reached");
        // In place of an earlier one.
        invite(&ann, "u7@example.com", "editor").await;
        ann.client.post("invitation/save", &body).await.refused(429, "too_many_requests");
        // Another team does not help.
        let other = ann.client.post("team/new", &json!({"name": "Other"})).await.ok();
        let there = ann.client.with("x-wakeful-team", other["groupid"].as_str().unwrap());
        there.post("invitation/save", &body).await.refused(429, "too_many_requests");
        assert!(app.mails_now("more@example.com").is_empty());
    }

    async fn the_plan_limits_who_can_accept(setup: Setup) {
        let app = limited(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        ann.colleague(&app.anonymous(), "dora@example.com").await;
        let tokens = [invite(&ann, "bob@example.com", "viewer").await,
            invite(&ann, "cem@example.com", "viewer").await];
        let (first, second) = tokio::join!(accept_as_new(&app, &tokens[0]), accept_as_new(&app, &tokens[1]));
        let mut statuses = [first.status, second.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 403], "{} {}", first.text, second.text);
    }

    async fn two_accept_the_same_link_at_the_same_time(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let token = invite(&ann, "bob@example.com", "viewer").await;
        let (first, second) = tokio::join!(accept_as_new(&app, &token), accept_as_new(&app, &token));
        let mut statuses = [first.status, second.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 401], "{} {}", first.text, second.text);
        assert_eq!(ann.client.get("team/get").await.ok()["message"].as_array().unwrap().len(), 2);
    }

    async fn guesses_at_invitations_count_as_failed_logins(setup: Setup) {
        let app = setup.start().await;
        let guess = "wki_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        for _ in 0..10 {
            app.anonymous().post("invitation/read", &json!({"token": guess})).await.refused(401, "bad_invitation");
        }
        app.anonymous().post("invitation/read", &json!({"token": guess})).await.refused(429, "too_many_requests");
    }
}
