//! audit/streams, audit/stream/…: a team's audit log arrives at its webhooks completely and in
//! order, whatever happens to them.

use data_encoding::{BASE64, HEXLOWER};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use std::time::Duration;
use wakeful_core::notifications::notifier::SigningSecret;
use wakeful_outbound::net::guard::Policy;
use wakeful_testkit::{App, Hook, Receiver, Setup, User, both_databases, until};

use crate::every_route::UNKNOWN;

/// Longer than the longest wait between two attempts, with its jitter.
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 3600);

/// A service that checks for new entries often.
async fn start(mut setup: Setup) -> App {
    setup.settings.poll_interval = Duration::from_millis(20);
    setup.start().await
}

async fn add(user: &User, url: &str) -> Value {
    user.client.post("audit/stream/save", &json!({"url": url})).await.ok()
}

async fn stream(user: &User) -> Value {
    user.client.get("audit/streams").await.ok()["streams"][0].clone()
}

/// The stream, once it is in a state.
async fn stream_with(user: &User, what: &str, is: impl Fn(&Value) -> bool) -> Value {
    until(what, async || Some(stream(user).await).filter(&is)).await
}

/// The team's newest entry.
async fn head(user: &User) -> i64 {
    user.client.get("audit?limit=1").await.ok()["entries"][0]["seq"].as_i64().unwrap()
}

/// Makes changes, each with an entry.
async fn change(user: &User, count: usize) {
    for number in 0..count {
        let body = json!({"type": "api", "name": format!("job {number}"),
            "heartbeat_interval": 86400, "isactive": true, "upside_down_mode": false});
        user.client.post("monitor/save", &body).await.ok();
    }
}

fn entries(hook: &Hook) -> Vec<Value> {
    hook.json()["data"]["entries"].as_array().unwrap().clone()
}

/// The numbers of the entries of all requests.
fn numbers(hooks: &[Hook]) -> Vec<i64> {
    hooks.iter().flat_map(entries).map(|entry| entry["seq"].as_i64().unwrap()).collect()
}

/// The requests, once the stream has sent everything.
async fn all_sent(user: &User, receiver: &Receiver) -> Vec<Hook> {
    let head = head(user).await;
    stream_with(user, "everything to be sent", |stream| stream["cursor"] == head).await;
    receiver.hooks()
}

fn assert_signed(hook: &Hook, secret: &str) {
    let key = SigningSecret::parse(secret).unwrap().key();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    let (id, time) = (hook.header("webhook-id"), hook.header("webhook-timestamp"));
    mac.update(format!("{id}.{time}.{}", hook.body).as_bytes());
    let expected = format!("v1,{}", BASE64.encode(&mac.finalize().into_bytes()));
    assert_eq!(hook.header("webhook-signature"), expected);
}

/// Asserts the hashes of consecutive entries, except for that of the first.
fn assert_chained(entries: &[Value]) {
    use sha2::Digest as _;
    for pair in entries.windows(2) {
        let mut entry = pair[1].clone();
        let fields = entry.as_object_mut().unwrap();
        let hash = fields.remove("hash").unwrap();
        fields.remove("person");
        fields.remove("salt");
        let before = HEXLOWER.decode(pair[0]["hash"].as_str().unwrap().as_bytes()).unwrap();
        let canonical = entry.to_string();
        let bytes = [b"wakeful-audit-1", &before[..], canonical.as_bytes()].concat();
        assert_eq!(hash, HEXLOWER.encode(&Sha256::digest(bytes)));
    }
}

both_databases! {
    async fn a_stream_begins_with_its_own_creation_and_sends_the_lines_of_an_export(setup: Setup) {
        let app = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        change(&ann, 3).await;
        let receiver = Receiver::start().await;
        let saved = add(&ann, &receiver.url).await;
        let secret = saved["secret"].as_str().unwrap();
        change(&ann, 5).await;
        let hooks = all_sent(&ann, &receiver).await;
        assert_eq!(numbers(&hooks), (5..=10).collect::<Vec<_>>());
        for hook in &hooks {
            assert_signed(hook, secret);
            let body = hook.json();
            assert_eq!((&body["type"], &body["data"]["groupid"]), (&json!("audit.recorded"), &json!(ann.team)));
            assert!(body["timestamp"].is_string(), "{body}");
            assert_eq!(hook.header("content-type"), "application/json");
        }
        let sent: Vec<Value> = hooks.iter().flat_map(entries).collect();
        assert_eq!(sent[0]["action"], "audit.stream");
        assert_chained(&sent);
        let export = ann.client.get("audit/export").await.text;
        let exported: Vec<Value> =
            export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(sent, exported[4..10]);
        let listed = stream_with(&ann, "the export", |stream| stream["cursor"] == 11).await;
        assert_eq!((&listed["url"], &listed["disabled"]), (&json!(receiver.url), &json!(false)));
        assert_eq!((&listed["failing_since"], &listed["last_error"]), (&Value::Null, &json!("")));
    }

    async fn a_failed_request_is_repeated_as_it_was_before_later_entries_are_sent(setup: Setup) {
        let app = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        receiver.answer_with(503, "", "later");
        add(&ann, &receiver.url).await;
        let failing = stream_with(&ann, "a failure", |stream| stream["failing_since"].is_string()).await;
        assert_eq!(failing["last_error"], "503 Service Unavailable: later");
        change(&ann, 4).await;
        assert_eq!(receiver.count(), 1, "it waits for its next attempt");
        // The second attempt fails too, then the service is restarted.
        app.clock.advance(Duration::from_secs(7));
        receiver.wait_for_hooks(2).await;
        until("two failures", async || {
            (app.database.number("select attempts from audit_streams").await == 2).then_some(())
        }).await;
        let app = app.restart().await;
        let ann = ann.log_in(&app.anonymous()).await;
        receiver.answer_with(200, "", "");
        app.clock.advance(Duration::from_secs(40));
        let hooks = all_sent(&ann, &receiver).await;
        assert_eq!(hooks[0].id(), hooks[1].id());
        assert_eq!(hooks[1].id(), hooks[2].id());
        assert_ne!(hooks[2].id(), hooks[3].id());
        assert_eq!(numbers(&hooks[..3]), [2, 2, 2]);
        assert_eq!(numbers(&hooks[3..]), (3..=7).collect::<Vec<_>>(), "in order, each once");
        let listed = stream(&ann).await;
        assert_eq!((&listed["failing_since"], &listed["last_error"]), (&Value::Null, &json!("")));
    }

    async fn the_retries_follow_the_schedule_until_the_stream_is_disabled(setup: Setup) {
        let app = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        receiver.answer_with(500, "", "");
        add(&ann, &receiver.url).await;
        for attempt in 1..=10 {
            receiver.wait_for_hooks(attempt).await;
            let sql = "select attempts from audit_streams";
            until("the attempt", async || {
                (usize::try_from(app.database.number(sql).await) == Ok(attempt)).then_some(())
            }).await;
            if attempt == 9 {
                // Between the two last attempts are 12 hours, and up to a fifth less.
                app.clock.advance(Duration::from_secs(9 * 3600));
                change(&ann, 1).await;
                assert_eq!(receiver.count(), 9);
            }
            app.clock.advance(LONGEST_WAIT);
        }
        let listed = stream_with(&ann, "the end", |stream| stream["disabled"] == true).await;
        assert_eq!(listed["last_error"], "500 Internal Server Error");
        assert_eq!(listed["cursor"], 1, "nothing was delivered");
        let mails = app.mails("ann@example.com", 2).await;
        let mail = mails.iter().find(|mail| mail.contains("stream of the audit log was turned off"));
        assert!(mail.unwrap().contains("/team/audit"), "{mails:?}");
        // It continues where it stopped.
        receiver.answer_with(200, "", "");
        let on = json!({"streamid": listed["streamid"], "isactive": true});
        ann.reauthenticate().await;
        let saved = ann.client.post("audit/stream/save", &on).await.ok();
        assert_eq!(saved.get("secret"), None, "it is not new");
        let hooks = all_sent(&ann, &receiver).await;
        assert_eq!(numbers(&hooks[10..]), (2..=4).collect::<Vec<_>>());
    }

    async fn a_receiver_that_is_gone_disables_the_stream_at_once(setup: Setup) {
        let app = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        receiver.answer_with(410, "", "moved away");
        add(&ann, &receiver.url).await;
        let listed = stream_with(&ann, "the end", |stream| stream["disabled"] == true).await;
        assert_eq!(listed["last_error"], "410 Gone: moved away");
        app.clock.advance(LONGEST_WAIT);
        change(&ann, 1).await;
        let mails = app.mails("ann@example.com", 2).await;
        assert!(mails.iter().any(|mail| mail.contains("410 Gone")), "{mails:?}");
        assert_eq!(receiver.count(), 1);
    }

    async fn long_backlogs_are_sent_in_batches_of_100(setup: Setup) {
        let app = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let saved = ann.client.post("audit/stream/save", &json!({"url": receiver.url, "isactive": false})).await.ok();
        change(&ann, 230).await;
        assert_eq!(receiver.count(), 0, "it is off");
        let on = json!({"streamid": saved["streamid"], "isactive": true});
        ann.client.post("audit/stream/save", &on).await.ok();
        let hooks = all_sent(&ann, &receiver).await;
        assert_eq!(numbers(&hooks), (2..=233).collect::<Vec<_>>());
        let sizes: Vec<usize> = hooks.iter().map(|hook| entries(hook).len()).collect();
        assert_eq!(sizes, [100, 100, 32]);
        assert_eq!(receiver.most_at_once(), 1);
    }

    async fn hanging_receivers_of_a_team_do_not_delay_another(setup: Setup) {
        let app = start(setup).await;
        let (ann, eve) = (app.sign_up("ann@example.com").await, app.sign_up("eve@example.com").await);
        let (hanging, receiver) = (Receiver::start().await, Receiver::start().await);
        hanging.answer_after(Duration::from_secs(60));
        for _ in 0..5 {
            add(&eve, &hanging.url).await;
        }
        hanging.wait_for_hooks(2).await;
        add(&ann, &receiver.url).await;
        change(&ann, 3).await;
        let hooks = all_sent(&ann, &receiver).await;
        assert_eq!(numbers(&hooks), (2..=5).collect::<Vec<_>>());
        let listed = eve.client.get("audit/streams").await.ok();
        let waiting = listed["streams"].as_array().unwrap().iter();
        assert!(waiting.clone().all(|stream| stream["failing_since"].is_null()), "they still wait");
    }

    async fn entries_that_expired_before_they_were_sent_are_skipped(setup: Setup) {
        let app = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let body = json!({"url": receiver.url, "isactive": false});
        let saved = ann.client.post("audit/stream/save", &body).await.ok();
        change(&ann, 3).await;
        app.clock.advance(Duration::from_secs(366 * 86_400));
        app.sweep().await;
        let ann = ann.log_in(&app.anonymous()).await;
        let on = json!({"streamid": saved["streamid"], "isactive": true});
        ann.client.post("audit/stream/save", &on).await.ok();
        let hooks = all_sent(&ann, &receiver).await;
        assert_eq!(numbers(&hooks), [6, 7]);
    }

    async fn a_stream_whose_entries_have_all_expired_is_not_due(setup: Setup) {
        let app = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        receiver.answer_with(500, "", "");
        add(&ann, &receiver.url).await;
        stream_with(&ann, "a failure", |stream| stream["failing_since"].is_string()).await;
        app.clock.advance(Duration::from_secs(366 * 86_400));
        app.sweep().await;
        // It may have been tried again before the sweep.
        app.clock.advance(Duration::from_secs(3_600));
        let moved = "select cursor from audit_streams";
        until("the cursor", async || (app.database.number(moved).await == 2).then_some(())).await;
        assert_eq!(app.database.number("select count(*) from audit_streams where batch_end is not null").await, 0);
    }

    async fn with_public_egress_a_private_receiver_is_refused_and_never_called(setup: Setup) {
        let app = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let body = json!({"url": receiver.url, "isactive": false});
        let saved = ann.client.post("audit/stream/save", &body).await.ok();
        let app = app.restart_with(|setup| setup.egress = Policy::Public).await;
        let ann = ann.log_in(&app.anonymous()).await;
        for path in ["audit/stream/save", "audit/stream/test"] {
            let refused = ann.client.post(path, &json!({"url": receiver.url})).await;
            assert_eq!(refused.wrong_fields(), ["url"], "{path}");
        }
        // One that was saved under another policy.
        let on = json!({"streamid": saved["streamid"], "isactive": true});
        ann.client.post("audit/stream/save", &on).await.ok();
        let listed = stream_with(&ann, "a failure", |stream| stream["failing_since"].is_string()).await;
        assert!(listed["last_error"].as_str().unwrap().contains("policy"), "{listed}");
        assert_eq!(receiver.count(), 0);
    }

    async fn a_test_returns_the_response_of_the_receiver(setup: Setup) {
        let app = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let test = async |body: Value| ann.client.post("audit/stream/test", &body).await;
        let tested = test(json!({"url": receiver.url})).await.ok();
        assert_eq!(tested["message"], "taken");
        let secret = SigningSecret::issue([9; 32]);
        test(json!({"url": receiver.url, "secret": secret.expose()})).await.ok();
        let hooks = receiver.hooks();
        assert_signed(&hooks[1], secret.expose());
        let body = hooks[1].json();
        assert_eq!((&body["type"], &body["data"]), (&json!("audit.test"), &json!({"groupid": ann.team, "entries": []})));
        let saved = add(&ann, &receiver.url).await;
        all_sent(&ann, &receiver).await;
        test(json!({"streamid": saved["streamid"]})).await.ok();
        assert_signed(&receiver.hooks()[3], saved["secret"].as_str().unwrap());
        receiver.answer_with(302, "location: http://127.0.0.1:1/\r\n", "");
        let refused = test(json!({"streamid": saved["streamid"]})).await.refused(502, "not_delivered");
        assert!(refused["message"].as_str().unwrap().contains("redirects are not followed"), "{refused}");
        assert_eq!(test(json!({})).await.wrong_fields(), ["url"]);
        for _ in 0..6 {
            test(json!({"streamid": saved["streamid"]})).await.refused(502, "not_delivered");
        }
        test(json!({"streamid": saved["streamid"]})).await.refused(429, "too_many_requests");
    }

    async fn settings_are_validated_and_secrets_shown_only_when_they_are_new(setup: Setup) {
        let app = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        let save = async |body: Value| ann.client.post("audit/stream/save", &body).await;
        let wrong = json!({"url": "https://u:p@siem.example/", "secret": "whsec_x", "isactive": 1});
        assert_eq!(save(wrong).await.wrong_fields(), ["url", "secret", "isactive"]);
        assert_eq!(save(json!({})).await.wrong_fields(), ["url"]);
        assert_eq!(save(json!({"url": "ftp://siem.example/"})).await.wrong_fields(), ["url"]);
        let own = SigningSecret::issue([9; 32]);
        let off = json!({"url": "http://127.0.0.1:1/", "secret": own.expose(), "isactive": false});
        let saved = save(off).await.ok();
        assert_eq!(saved["secret"], own.expose());
        let id = &saved["streamid"];
        assert_eq!(save(json!({"streamid": id, "secret": own.expose()})).await.ok().get("secret"), None);
        let other = SigningSecret::issue([8; 32]);
        let changed = save(json!({"streamid": id, "secret": other.expose()})).await.ok();
        assert_eq!(changed["secret"], other.expose());
        let listed = ann.client.get("audit/streams").await;
        assert!(!listed.text.contains("whsec_"), "{}", listed.text);
        for _ in 0..4 {
            save(json!({"url": "http://127.0.0.1:1/", "isactive": false})).await.ok();
        }
        save(json!({"url": "http://127.0.0.1:1/"})).await.refused(409, "limit_reached");
        ann.client.delete(&format!("audit/stream/{}/delete", id.as_str().unwrap())).await.ok();
        save(json!({"url": "http://127.0.0.1:1/", "isactive": false})).await.ok();
    }

    async fn only_owners_manage_the_streams_of_their_own_team(setup: Setup) {
        let app = start(setup).await;
        let (ann, eve) = (app.sign_up("ann@example.com").await, app.sign_up("eve@example.com").await);
        let receiver = Receiver::start().await;
        let id = add(&ann, &receiver.url).await["streamid"].clone();
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        ann.client.post("member/save", &json!({"userid": bob.userid, "role": "admin"})).await.ok();
        bob.client.get("audit/streams").await.refused(403, "forbidden");
        bob.client.post("audit/stream/save", &json!({"url": receiver.url})).await.refused(403, "forbidden");
        let path = format!("audit/stream/{}/delete", id.as_str().unwrap());
        bob.client.delete(&path).await.refused(403, "forbidden");
        let none = eve.client.get("audit/streams").await.ok();
        assert_eq!(none["streams"], json!([]));
        for id in [id.as_str().unwrap(), UNKNOWN, "x"] {
            let of = json!({"streamid": id});
            eve.client.post("audit/stream/save", &of).await.refused(404, "not_found");
            eve.client.post("audit/stream/test", &of).await.refused(404, "not_found");
            eve.client.delete(&format!("audit/stream/{id}/delete")).await.refused(404, "not_found");
        }
    }

    async fn a_stream_that_is_changed_while_it_fails_starts_again(setup: Setup) {
        let app = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        let (broken, receiver) = (Receiver::start().await, Receiver::start().await);
        broken.answer_with(500, "", "");
        let id = add(&ann, &broken.url).await["streamid"].clone();
        stream_with(&ann, "a failure", |stream| stream["failing_since"].is_string()).await;
        let change = json!({"streamid": id, "url": receiver.url});
        ann.client.post("audit/stream/save", &change).await.ok();
        let hooks = all_sent(&ann, &receiver).await;
        assert_eq!(numbers(&hooks), [2, 3]);
        assert_eq!(broken.count(), 1);
    }

    async fn streams_are_deleted_with_their_team(setup: Setup) {
        let app = start(setup).await;
        let (ann, eve) = (app.sign_up("ann@example.com").await, app.sign_up("eve@example.com").await);
        let receiver = Receiver::start().await;
        add(&ann, &receiver.url).await;
        add(&eve, &receiver.url).await;
        let body = json!({"password": ann.password});
        ann.client.post("user/delete", &body).await.ok();
        assert_eq!(app.database.rows("audit_streams").await, 1);
        change(&eve, 1).await;
        all_sent(&eve, &receiver).await;
    }

    async fn only_the_leader_sends_and_each_batch_once(setup: Setup) {
        let app = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let other = app.second_node().await;
        add(&ann, &receiver.url).await;
        change(&ann, 20).await;
        let hooks = all_sent(&ann, &receiver).await;
        assert_eq!(numbers(&hooks), (2..=22).collect::<Vec<_>>());
        // Another node continues.
        app.stop().await;
        let ann = ann.log_in(&other.anonymous()).await;
        change(&ann, 1).await;
        let hooks = all_sent(&ann, &receiver).await;
        assert_eq!(numbers(&hooks), (2..=24).collect::<Vec<_>>());
    }

    async fn the_secret_of_a_stream_survives_key_rotation(setup: Setup) {
        let app = start(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        let receiver = Receiver::start().await;
        let saved = add(&ann, &receiver.url).await;
        all_sent(&ann, &receiver).await;
        let database = app.database.clone();
        let rotated = database.keyring().rotated();
        rotated.replace(&database.key_file()).unwrap();
        let app = app.restart().await;
        assert!(app.store.reseal().await.unwrap().0 > 0);
        database.keyring().pruned().replace(&database.key_file()).unwrap();
        let app = app.restart().await;
        let ann = ann.log_in(&app.anonymous()).await;
        let hooks = all_sent(&ann, &receiver).await;
        assert_signed(hooks.last().unwrap(), saved["secret"].as_str().unwrap());
        assert_eq!(numbers(&hooks), [2, 3]);
    }
}
