//! Notifiers of type account: the service's own mail to the address of a user.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_testkit::{
    App, Client, ReceivedMail, Setup, SmtpSecurity, SmtpServer, User, both_databases, concurrently,
    until, verification_token,
};

const UNVERIFIED: &str = "The address is not verified yet. Open the link that was mailed to it.";

/// The service with a mail server.
async fn start(setup: Setup) -> (App, SmtpServer) {
    let inbox = SmtpServer::start(SmtpSecurity::Plain).await;
    let app = Setup { mail_port: Some(inbox.port), ..setup }.start().await;
    (app, inbox)
}

async fn save(client: &Client, body: Value) -> Value {
    let answer = client.post("notifier/save", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

async fn account_notifier(user: &User) -> Value {
    save(&user.client, json!({"type": "account"})).await
}

async fn monitor(client: &Client, name: &str, notifier: &Value) -> String {
    let body = json!({"name": name, "type": "api", "heartbeat_interval": 2_592_000,
        "isactive": true, "upside_down_mode": false, "notifiers": notifier["notifierid"]});
    let json = client.post("monitor/save", &body).await.ok();
    json["monitor"]["monitorid"].as_str().unwrap().to_owned()
}

async fn report(client: &Client, monitor: &str, status: &str) {
    client.post(&format!("monitor/notify/{monitor}"), &json!({"status": status})).await.ok();
}

async fn deliveries(client: &Client, notifier: &Value) -> Vec<Value> {
    let id = notifier["notifierid"].as_str().unwrap();
    let json = client.get(&format!("notifier/{id}/deliveries")).await.ok();
    json["deliveries"].as_array().unwrap().clone()
}

/// The deliveries, once there are `count` and all have this state.
async fn all_are(client: &Client, notifier: &Value, count: usize, state: &str) -> Vec<Value> {
    until(&format!("{count} to be {state}"), || async {
        let all = deliveries(client, notifier).await;
        let done = all.len() == count && all.iter().all(|one| one["state"] == state);
        done.then_some(all)
    })
    .await
}

/// The deliveries, once there are `count`, each was tried and waits for its next attempt.
async fn all_wait(app: &App, client: &Client, notifier: &Value, count: usize) -> Vec<Value> {
    until(&format!("{count} to wait"), || async {
        let (all, now) = (deliveries(client, notifier).await, app.engine.now().to_string());
        let waits = |one: &Value| {
            let ahead = one["next_try"].as_str().is_some_and(|next| next > now.as_str());
            one["state"] == "waiting" && one["last_answer"] != "" && ahead
        };
        (all.len() == count && all.iter().all(waits)).then_some(all)
    })
    .await
}

/// The mails to this address, once there are `count`.
async fn mails_to(inbox: &SmtpServer, to: &str, count: usize) -> Vec<ReceivedMail> {
    until(&format!("{count} mails to {to}"), || async {
        let mails = mails_now(inbox, to);
        (mails.len() >= count).then_some(mails)
    })
    .await
}

fn mails_now(inbox: &SmtpServer, to: &str) -> Vec<ReceivedMail> {
    inbox.mails().into_iter().filter(|mail| mail.to == [to]).collect()
}

fn is_link(mail: &ReceivedMail) -> bool {
    ["Welcome to Wakeful", "Verify your email address"].contains(&mail.header("subject").as_str())
}

/// Verifies an address with the newest link that was mailed to it.
async fn verify(app: &App, inbox: &SmtpServer, email: &str) {
    let mails = mails_to(inbox, email, 1).await;
    let newest = mails.iter().rfind(|mail| is_link(mail)).unwrap();
    let body = json!({"token": verification_token(&newest.text)});
    app.anonymous().post("email/verify", &body).await.ok();
}

both_databases! {
    async fn a_user_has_one_personal_notifier(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("Ann@example.com").await;
        let made = account_notifier(&ann).await;
        assert_eq!((&made["name"], &made["type"]), (&json!("Ann@example.com"), &json!("account")));
        assert_eq!((&made["isactive"], &made["isdefault"]), (&json!(true), &json!(false)));
        let expected = json!({"userid": ann.userid, "email": ann.email, "email_verified": false});
        assert_eq!(made["account"], expected);
        assert_eq!(account_notifier(&ann).await, made, "the same one");
        let changed = save(&ann.client, json!({"type": "account", "name": "me", "isdefault": true})).await;
        assert_eq!((&changed["notifierid"], &changed["name"]), (&made["notifierid"], &json!("me")));
        let id = &made["notifierid"];
        let changed = save(&ann.client, json!({"notifierid": id, "isactive": false})).await;
        assert_eq!((&changed["name"], &changed["isdefault"]), (&json!("me"), &json!(true)));
        assert_eq!(changed["isactive"], false);
        let list = ann.client.get("notifiers").await.ok();
        assert_eq!(list["notifiers"], json!([changed]));
        app.verify(&ann).await;
        let list = ann.client.get("notifiers").await.ok();
        assert_eq!(list["notifiers"][0]["account"]["email_verified"], true);
        let id = id.as_str().unwrap();
        ann.client.delete(&format!("notifier/{id}/delete")).await.ok();
        assert_ne!(account_notifier(&ann).await["notifierid"], *id);
    }

    async fn concurrent_requests_create_one_notifier(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let made = concurrently((0..8).map(|_| ann.clone()), |ann| async move {
            account_notifier(&ann).await["notifierid"].clone()
        }).await;
        assert!(made.iter().all(|id| *id == made[0]), "{made:?}");
        assert_eq!(app.database.rows("notifiers").await, 1);
    }

    async fn creating_it_sends_the_link_unless_the_address_is_verified(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        app.verify(&ann).await;
        app.clock.advance(Duration::from_secs(1));
        account_notifier(&ann).await;
        account_notifier(&bob).await;
        account_notifier(&bob).await;
        let mails = app.mails(&bob.email, 2).await;
        assert!(mails[1].contains("Subject: Verify your email address\r\n"), "{}", mails[1]);
        let body = json!({"token": verification_token(&mails[1])});
        app.anonymous().post("email/verify", &body).await.ok();
        // Eve's mail comes after any of the others.
        let eve = app.sign_up("eve@example.com").await;
        app.mails(&eve.email, 1).await;
        assert_eq!((app.mails_now(&ann.email).len(), app.mails_now(&bob.email).len()), (1, 2));
    }

    async fn outages_are_mailed_to_the_user_by_the_service(setup: Setup) {
        let mut setup = setup;
        setup.settings.mail_from = "Wakeful <alerts@wakeful.example>".into();
        let (app, inbox) = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        assert_eq!(ann.client.get("users/me").await.ok()["mail_server"], true);
        verify(&app, &inbox, &ann.email).await;
        let notifier = account_notifier(&ann).await;
        let site = monitor(&ann.client, "site", &notifier).await;
        report(&ann.client, &site, "down").await;
        let sent = all_are(&ann.client, &notifier, 1, "delivered").await;
        assert_eq!(sent[0]["last_answer"], "250 2.0.0 taken as 2");
        assert_eq!(sent[0]["recipients"], json!({"accepted": 1, "total": 1, "refused": []}));
        report(&ann.client, &site, "up").await;
        let mails = mails_to(&inbox, &ann.email, 3).await;
        let [_, down, up] = mails.as_slice() else { panic!("{mails:?}") };
        assert_eq!(down.from, "alerts@wakeful.example");
        assert!(down.header("subject").starts_with("[Down] site"), "{}", down.text);
        assert!(up.header("subject").starts_with("[Up] site"), "{}", up.text);
        assert_eq!(up.header("in-reply-to"), down.header("message-id"));
        all_are(&ann.client, &notifier, 2, "delivered").await;
        let list = ann.client.get("notifiers").await.ok();
        assert_eq!(list["notifiers"][0]["health"]["state"], "healthy");
    }

    async fn it_can_be_tested_and_previewed(setup: Setup) {
        let (app, inbox) = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        verify(&app, &inbox, &ann.email).await;
        let unsaved = ann.client.post("notifier/test", &json!({"type": "account"})).await.ok();
        assert_eq!(unsaved["recipients"]["accepted"], 1);
        let notifier = account_notifier(&ann).await;
        let id = &notifier["notifierid"];
        ann.client.post("notifier/test", &json!({"notifierid": id})).await.ok();
        assert_eq!(mails_to(&inbox, &ann.email, 3).await.len(), 3);
        for body in [json!({"notifierid": id}), json!({"type": "account"})] {
            let preview = ann.client.post("notifier/preview", &body).await.ok();
            assert!(preview["subject"].as_str().unwrap().starts_with("[Down]"), "{preview}");
        }
        let id = id.as_str().unwrap();
        ann.client.post_nothing(&format!("notifier/{id}/rotate")).await.refused(409, "notifier_unsigned");
    }

    async fn more_events_than_six_a_minute_are_one_mail(setup: Setup) {
        let (app, inbox) = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        verify(&app, &inbox, &ann.email).await;
        let notifier = account_notifier(&ann).await;
        let mut jobs = Vec::new();
        for number in 0..20 {
            jobs.push(monitor(&ann.client, &format!("job-{number:02}"), &notifier).await);
        }
        for job in &jobs {
            report(&ann.client, job, "down").await;
        }
        until("all to be delivered", || async {
            app.clock.advance(Duration::from_secs(61));
            let all = deliveries(&ann.client, &notifier).await;
            (all.len() == 20 && all.iter().all(|one| one["state"] == "delivered")).then_some(())
        }).await;
        let mails: Vec<_> = mails_now(&inbox, &ann.email).into_iter().filter(|mail| !is_link(mail)).collect();
        assert!(mails.len() < 20, "{}", mails.len());
        for number in 0..20 {
            let name = format!("job-{number:02}");
            let count = mails.iter().filter(|mail| mail.text.contains(&name)).count();
            assert_eq!(count, 1, "{name}");
        }
    }

    async fn a_stranger_cannot_send_anything_but_links_to_an_address(setup: Setup) {
        let (app, inbox) = start(setup).await;
        let eve = app.sign_up("victim@example.com").await;
        let notifier = save(&eve.client, json!({"type": "account", "name": "Buy now"})).await;
        let id = &notifier["notifierid"];
        for number in 0..8 {
            let job = monitor(&eve.client, &format!("Buy now {number}"), &notifier).await;
            report(&eve.client, &job, "down").await;
        }
        for body in [json!({"notifierid": id}), json!({"type": "account"}), json!({"notifierid": id, "type": "account"})] {
            let refused = eve.client.post("notifier/test", &body).await.refused(502, "not_delivered");
            assert_eq!(refused["message"], format!("The message was not delivered: {UNVERIFIED}"));
        }
        let tried = all_wait(&app, &eve.client, &notifier, 8).await;
        for one in &tried {
            assert_eq!(one["last_answer"], UNVERIFIED);
        }
        let again = tried[0]["deliveryid"].as_str().unwrap();
        eve.client.post_nothing(&format!("delivery/{again}/resend")).await.ok();
        for _ in 0..5 {
            let _ = eve.client.post_nothing("email/send").await;
        }
        // Another address, and a user for another person.
        eve.client.post("settings/save", &json!({"email": "second@example.com"})).await.ok();
        let bob = eve.colleague(&app.anonymous(), "third@example.com").await;
        account_notifier(&bob).await;
        app.clock.advance(Duration::from_secs(700));
        all_wait(&app, &eve.client, &notifier, 8).await;
        // A mail that comes after all others.
        let ann = app.sign_up("ann@example.com").await;
        mails_to(&inbox, &ann.email, 1).await;
        let mails = inbox.mails();
        for mail in &mails {
            assert!(is_link(mail) && !mail.text.contains("Buy now"), "{}", mail.text);
        }
        let counts = ["victim@example.com", "second@example.com", "third@example.com"]
            .map(|to| mails_now(&inbox, to).len());
        assert_eq!(counts, [1 + 3, 0, 1], "the welcome mail and at most three links an hour");
    }

    async fn messages_that_waited_are_sent_when_the_address_is_verified(setup: Setup) {
        let (app, inbox) = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        let notifier = account_notifier(&ann).await;
        let site = monitor(&ann.client, "site", &notifier).await;
        report(&ann.client, &site, "down").await;
        all_wait(&app, &ann.client, &notifier, 1).await;
        let list = ann.client.get("notifiers").await.ok();
        assert_eq!(list["notifiers"][0]["health"]["error"], UNVERIFIED);
        // The clock stands still: it is due because of the verification.
        verify(&app, &inbox, &ann.email).await;
        all_are(&ann.client, &notifier, 1, "delivered").await;
        let mails = mails_to(&inbox, &ann.email, 3).await;
        assert!(mails[2].header("subject").starts_with("[Down] site"), "{}", mails[2].text);
    }

    async fn a_reset_link_also_releases_messages_that_waited(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let notifier = account_notifier(&ann).await;
        let site = monitor(&ann.client, "site", &notifier).await;
        report(&ann.client, &site, "down").await;
        all_wait(&app, &ann.client, &notifier, 1).await;
        let token = app.request_password_reset(&ann, 1).await;
        let new = "battery staple 7";
        let body = json!({"email": ann.email, "password1": new, "password2": new, "tokenid": token});
        app.anonymous().post("password/update", &body).await.ok();
        let again = User { password: new.into(), ..ann }.log_in(&app.anonymous()).await;
        all_are(&again.client, &notifier, 1, "delivered").await;
    }

    async fn a_new_address_gets_the_messages_once_it_is_verified(setup: Setup) {
        let (app, inbox) = start(setup).await;
        let ann = app.sign_up("old@example.com").await;
        verify(&app, &inbox, "old@example.com").await;
        let notifier = account_notifier(&ann).await;
        let site = monitor(&ann.client, "site", &notifier).await;
        ann.client.post("settings/save", &json!({"email": "new@example.com"})).await.ok();
        report(&ann.client, &site, "down").await;
        all_wait(&app, &ann.client, &notifier, 1).await;
        let list = ann.client.get("notifiers").await.ok();
        let listed = &list["notifiers"][0];
        assert_eq!(listed["name"], "new@example.com", "it was named after its address");
        assert_eq!((&listed["account"]["email"], &listed["account"]["email_verified"]),
            (&json!("new@example.com"), &json!(false)));
        ann.client.post_nothing("email/send").await.ok();
        verify(&app, &inbox, "new@example.com").await;
        all_are(&ann.client, &notifier, 1, "delivered").await;
        let mails = mails_to(&inbox, "new@example.com", 2).await;
        assert!(mails[1].header("subject").starts_with("[Down] site"), "{}", mails[1].text);
        assert_eq!(mails_now(&inbox, "old@example.com").len(), 1, "only the welcome mail");
    }

    async fn a_suspended_member_or_user_gets_no_mail(setup: Setup) {
        let (app, inbox) = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        verify(&app, &inbox, &bob.email).await;
        crate::invitations::join(&ann, &bob, "editor").await;
        let notifier = account_notifier(&bob).await;
        let site = monitor(&ann.client, "site", &notifier).await;
        let suspend = async |call: &str, suspended: bool| {
            let body = json!({"userid": bob.userid, "suspended": suspended});
            ann.client.post(call, &body).await.ok();
        };
        // The answers to all messages so far.
        let answers = async |count: usize| {
            let all = until("all to be tried", async || {
                let all = deliveries(&ann.client, &notifier).await;
                let done = all.len() == count && all.iter().all(|one| one["state"] != "waiting");
                done.then_some(all)
            }).await;
            let mut all: Vec<String> =
                all.iter().map(|one| one["last_answer"].as_str().unwrap().to_owned()).collect();
            all.retain(|answer| answer == "the user is suspended or no longer a member of the team");
            all.len()
        };
        suspend("member/save", true).await;
        report(&ann.client, &site, "down").await;
        assert_eq!(answers(1).await, 1);
        suspend("member/save", false).await;
        report(&ann.client, &site, "up").await;
        assert_eq!(answers(2).await, 1);
        suspend("admin/user", true).await;
        app.clock.advance(Duration::from_secs(60));
        report(&ann.client, &site, "down").await;
        assert_eq!(answers(3).await, 2);
        let subjects: Vec<String> =
            mails_now(&inbox, &bob.email).iter().map(|mail| mail.header("subject")).collect();
        let alerts = subjects.iter().filter(|subject| subject.starts_with('['));
        assert_eq!(alerts.count(), 1, "{subjects:?}");
    }

    async fn only_its_user_can_change_or_delete_it(setup: Setup) {
        let (app, inbox) = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        verify(&app, &inbox, &ann.email).await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let eve = app.sign_up("eve@example.com").await;
        let notifier = account_notifier(&ann).await;
        let id = notifier["notifierid"].as_str().unwrap();
        for body in [json!({"notifierid": id, "name": "x"}), json!({"notifierid": id, "isactive": false}),
            json!({"notifierid": id, "type": "account"})] {
            bob.client.post("notifier/save", &body).await.refused(403, "personal_notifier");
            eve.client.post("notifier/save", &body).await.refused(404, "not_found");
        }
        let draft = json!({"notifierid": id, "type": "account", "name": "x"});
        bob.client.post("notifier/test", &draft).await.refused(403, "personal_notifier");
        let delete = format!("notifier/{id}/delete");
        bob.client.delete(&delete).await.refused(403, "personal_notifier");
        eve.client.delete(&delete).await.refused(404, "not_found");
        // No field of a request names another user.
        let own = save(&bob.client, json!({"type": "account", "account": {"userid": ann.userid, "email": ann.email},
            "userid": ann.userid})).await;
        assert_eq!(own["account"]["userid"], bob.userid.as_str());
        // The team sees it, links it and can test it.
        let list = bob.client.get("notifiers").await.ok();
        assert!(list["notifiers"].as_array().unwrap().contains(&notifier), "{list}");
        let site = monitor(&bob.client, "site", &notifier).await;
        report(&bob.client, &site, "down").await;
        all_are(&bob.client, &notifier, 1, "delivered").await;
        bob.client.post("notifier/test", &json!({"notifierid": id})).await.ok();
        assert_eq!(mails_to(&inbox, &ann.email, 3).await.len(), 3);
    }

    async fn the_type_cannot_change_to_or_from_account(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": "http://127.0.0.1:1/"}});
        let webhook = save(&ann.client, hook.clone()).await;
        let notifier = account_notifier(&ann).await;
        let mut body = hook;
        body["notifierid"] = notifier["notifierid"].clone();
        assert_eq!(ann.client.post("notifier/save", &body).await.wrong_fields(), ["type"]);
        let body = json!({"notifierid": webhook["notifierid"], "type": "account"});
        assert_eq!(ann.client.post("notifier/save", &body).await.wrong_fields(), ["type"]);
        let list = ann.client.get("notifiers").await.ok();
        assert_eq!(list["notifiers"].as_array().unwrap().len(), 2);
    }

    async fn it_is_deleted_with_its_user(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let own = account_notifier(&ann).await;
        let notifier = account_notifier(&bob).await;
        let site = monitor(&ann.client, "site", &notifier).await;
        let body = json!({"monitorid": site, "notifiers": [notifier["notifierid"], own["notifierid"]]});
        ann.client.post("monitor/save", &body).await.ok();
        report(&ann.client, &site, "down").await;
        all_wait(&app, &ann.client, &notifier, 1).await;
        ann.client.post("team/delete", &json!({"userids": [bob.userid]})).await.ok();
        let list = ann.client.get("notifiers").await.ok();
        assert_eq!(list["notifiers"].as_array().unwrap().len(), 1);
        let shown = ann.client.get(&format!("monitor/{site}/get")).await.ok();
        let linked = shown["monitor"]["notifiers"].as_array().unwrap();
        assert_eq!(linked.len(), 1, "{linked:?}");
        assert_eq!(linked[0]["notifierid"], own["notifierid"]);
        // The last user, whose notifier is linked too, with the whole team.
        ann.client.post("user/delete", &Value::Null).await.ok();
        assert_eq!(app.database.rows("notifiers").await, 0);
        assert_eq!(app.database.rows("deliveries").await, 0);
    }

    async fn users_are_deleted_while_their_notifiers_are_linked(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": "http://127.0.0.1:1/"}});
        let hook = save(&ann.client, hook).await;
        for round in 0..5 {
            let bob = ann.colleague(&app.anonymous(), &format!("bob{round}@example.com")).await;
            let notifier = account_notifier(&bob).await;
            let mut sites = Vec::new();
            for number in 0..4 {
                sites.push(monitor(&ann.client, &format!("site {number}"), &hook).await);
            }
            let id = &notifier["notifierid"];
            let links = sites.iter().map(|site| json!({"monitorid": site, "notifiers": [id]}));
            let callers = links.map(|body| (ann.client.clone(), body));
            let linking = concurrently(callers, |(client, body)| async move {
                client.post("monitor/save", &body).await.status
            });
            let body = json!({"userids": [bob.userid]});
            let deleting = ann.client.post("team/delete", &body);
            let (linked, deleted) = tokio::join!(linking, deleting);
            deleted.ok();
            assert!(linked.iter().all(|status| [200, 401, 422].contains(status)), "{linked:?}");
        }
        assert_eq!(app.database.rows("notifiers").await, 1);
    }

    async fn failures_of_the_mail_server_are_retried_and_do_not_reveal_it(setup: Setup) {
        let (app, inbox) = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        verify(&app, &inbox, &ann.email).await;
        let notifier = account_notifier(&ann).await;
        let site = monitor(&ann.client, "site", &notifier).await;
        inbox.refuse_with(Some("451 4.7.1 greylisted, try again"));
        report(&ann.client, &site, "down").await;
        let waits = all_wait(&app, &ann.client, &notifier, 1).await;
        let answer = waits[0]["last_answer"].as_str().unwrap();
        assert!(answer.contains("greylisted") && !answer.contains("127.0.0.1"), "{answer}");
        inbox.refuse_with(None);
        app.clock.advance(Duration::from_secs(10));
        all_are(&ann.client, &notifier, 1, "delivered").await;
        // Without a server, there is no reply to show.
        drop(inbox);
        report(&ann.client, &site, "up").await;
        until("the failed attempt", || async {
            let newest = deliveries(&ann.client, &notifier).await.remove(0);
            let answer = newest["last_answer"].as_str().unwrap().to_owned();
            (newest["state"] == "waiting" && !answer.is_empty()).then_some(answer)
        }).await;
        let newest = deliveries(&ann.client, &notifier).await.remove(0);
        assert_eq!(newest["last_answer"], "the service's mail server cannot be used at the moment");
    }

    async fn without_a_mail_server_every_user_gets_a_file(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        assert_eq!(ann.client.get("users/me").await.ok()["mail_server"], false);
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        app.verify(&ann).await;
        let mine = account_notifier(&ann).await;
        let his = account_notifier(&bob).await;
        app.verify(&bob).await;
        let site = monitor(&ann.client, "site", &mine).await;
        let body = json!({"monitorid": site, "notifiers": [mine["notifierid"], his["notifierid"]]});
        ann.client.post("monitor/save", &body).await.ok();
        report(&ann.client, &site, "down").await;
        for (user, notifier) in [(&ann, &mine), (&bob, &his)] {
            let sent = all_are(&user.client, notifier, 1, "delivered").await;
            assert_eq!(sent[0]["last_answer"], "written to a file: the service has no mail server");
            let mails = app.mails(&user.email, 2).await;
            let about = mails.iter().filter(|mail| mail.contains("Subject: [Down] site")).count();
            assert_eq!(about, 1, "{}", user.email);
        }
    }
}
