//! Concurrent calls, and the timing of logins.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use wakeful_testkit::{
    Answer, App, Authenticator, Client, PASSWORD, Setup, both_databases, concurrently,
};

const CALLERS: usize = 50;

/// Sends the same body from many addresses at once; returns the number of each status.
async fn all_send(app: &App, path: &'static str, body: &Value) -> BTreeMap<u16, usize> {
    let clients = (0..CALLERS).map(|at| app.caller_from(&format!("198.51.100.{at}")));
    send_by(clients, path, body).await
}

async fn send_by(
    clients: impl Iterator<Item = Client>,
    path: &'static str,
    body: &Value,
) -> BTreeMap<u16, usize> {
    let calls = clients.map(|client| (client, path, body.clone()));
    let answers =
        concurrently(calls, |(client, path, body)| async move { client.post(path, &body).await });
    count_by_status(&answers.await)
}

fn count_by_status(answers: &[Answer]) -> BTreeMap<u16, usize> {
    let mut tally = BTreeMap::new();
    for answer in answers {
        assert!(answer.status < 500, "{}", answer.text);
        *tally.entry(answer.status).or_default() += 1;
    }
    tally
}

/// The limits on guesses would get in the way of these tests.
fn without_limits(mut setup: Setup) -> Setup {
    setup.settings.limits.failed_logins_per_minute = 100_000;
    setup.settings.limits.failed_logins_per_network = 100_000;
    setup
}

/// Stores PASSWORD as an earlier version did, with weaker parameters.
const OUTDATED: &str = "update users set password_hash =
    '$argon2id$v=19$m=12288,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$Bb3yyAurJsJciT2Bbj37HKW1YjWZAnHHz+KZU8Qd8Qk'";

both_databases! {
    async fn concurrent_sign_ups_with_one_email_create_one_user(setup: Setup) {
        let app = setup.start_behind_proxy().await;
        let body = json!({"email": "ann@example.com", "password": PASSWORD});
        let tally = all_send(&app, "signup", &body).await;
        assert_eq!(tally, BTreeMap::from([(200, 1), (409, CALLERS - 1)]));
        assert_eq!(app.database.rows("users").await, 1);
        assert_eq!(app.database.rows("teams").await, 1);
        assert_eq!(app.database.rows("sessions").await, 1);
    }

    async fn a_reset_token_is_used_once_even_concurrently(setup: Setup) {
        let app = without_limits(setup).start_behind_proxy().await;
        let ann = app.sign_up("ann@example.com").await;
        let token = app.request_password_reset(&ann, 0).await;
        let body = json!({"email": ann.email, "password1": PASSWORD, "password2": PASSWORD, "tokenid": token});
        let tally = all_send(&app, "password/update", &body).await;
        assert_eq!(tally, BTreeMap::from([(200, 1), (401, CALLERS - 1)]));
    }

    async fn an_mfa_code_is_used_once_even_concurrently(setup: Setup) {
        let app = without_limits(setup).start_behind_proxy().await;
        let ann = app.sign_up("ann@example.com").await;
        let (authenticator, _) = Authenticator::enable(&ann, &app.clock).await;
        let body = json!({"email": ann.email, "password": PASSWORD, "mfacode": authenticator.code(&app.clock)});
        let tally = all_send(&app, "login", &body).await;
        assert_eq!(tally, BTreeMap::from([(200, 1), (401, CALLERS - 1)]));
    }

    async fn a_recovery_code_is_used_once_even_concurrently(setup: Setup) {
        let app = without_limits(setup).start_behind_proxy().await;
        let ann = app.sign_up("ann@example.com").await;
        let (_, codes) = Authenticator::enable(&ann, &app.clock).await;
        let body = json!({"email": ann.email, "password": PASSWORD, "mfacode": codes[0]});
        let tally = all_send(&app, "login", &body).await;
        // The other calls count as wrong codes, and five of those lock the user.
        assert_eq!(tally.get(&200), Some(&1), "{tally:?}");
        assert_eq!(tally.values().sum::<usize>(), CALLERS);
        assert!(tally.keys().all(|status| [200, 401, 429].contains(status)), "{tally:?}");
        assert_eq!(app.database.rows("recovery_codes").await, 9);
    }

    async fn five_wrong_codes_are_allowed_even_concurrently(setup: Setup) {
        let app = without_limits(setup).start_behind_proxy().await;
        let ann = app.sign_up("ann@example.com").await;
        let (authenticator, _) = Authenticator::enable(&ann, &app.clock).await;
        let body = json!({"email": ann.email, "password": PASSWORD, "mfacode": authenticator.wrong_code(&app.clock)});
        let tally = all_send(&app, "login", &body).await;
        assert_eq!(tally, BTreeMap::from([(401, 5), (429, CALLERS - 5)]));
    }

    async fn ten_wrong_passwords_are_allowed_even_concurrently(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let body = json!({"email": ann.email, "password": "a guess"});
        let tally = send_by((0..CALLERS).map(|_| app.anonymous()), "login", &body).await;
        assert_eq!(tally, BTreeMap::from([(401, 10), (429, CALLERS - 10)]));
    }

    async fn mfa_is_enabled_once_even_concurrently(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let authenticator = Authenticator::scan(&ann.client.post_nothing("mfa/setup").await.ok());
        let body = json!({"mfacode": authenticator.code(&app.clock)});
        let calls = (0..CALLERS).map(|_| (ann.client.clone(), body.clone()));
        let answers = concurrently(calls, |(client, body)| async move { client.post("mfa/enable", &body).await });
        assert_eq!(count_by_status(&answers.await), BTreeMap::from([(200, 1), (409, CALLERS - 1)]));
        assert_eq!(app.database.rows("recovery_codes").await, 10);
    }

    async fn the_last_two_users_deleted_at_once_leave_nothing_behind(setup: Setup) {
        let app = setup.start().await;
        let mut callers = Vec::new();
        for team in 0..CALLERS / 2 {
            let ann = app.sign_up(&format!("ann{team}@example.com")).await;
            let bob = ann.colleague(&app.anonymous(), &format!("bob{team}@example.com")).await;
            callers.extend([ann.client, bob.client]);
        }
        assert_eq!(app.database.rows("teams").await, 25);
        let answers = concurrently(callers, |client| async move { client.post_nothing("user/delete").await });
        assert_eq!(count_by_status(&answers.await), BTreeMap::from([(200, CALLERS)]));
        // What the calls have left is deleted in the background.
        app.sweep().await;
        assert_eq!(app.database.tables_with_accounts().await, Vec::<String>::new());
    }

    async fn a_user_added_while_the_team_is_deleted_leaves_no_orphans(setup: Setup) {
        let app = setup.start().await;
        for round in 0..5 {
            let ann = app.sign_up(&format!("ann{round}@example.com")).await;
            let calls = (0..10).map(|at| (ann.client.clone(), round, at));
            let answers = concurrently(calls, |(client, round, at)| async move {
                if at == 5 {
                    return client.post_nothing("user/delete").await;
                }
                let email = format!("bob{round}.{at}@example.com");
                let body = json!({"email": email, "password1": PASSWORD, "password2": PASSWORD});
                client.post("team/save", &body).await
            });
            count_by_status(&answers.await);
        }
        let orphans = "select count(*) from users where team_id not in (select id from teams)";
        assert_eq!(app.database.number(orphans).await, 0);
        let empty = "select count(*) from teams where id not in (select team_id from users)";
        assert_eq!(app.database.number(empty).await, 0);
    }

    async fn a_user_removed_while_schedules_are_saved_is_in_none_of_them(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for round in 0..4 {
            let bob = ann.colleague(&app.anonymous(), &format!("bob{round}@example.com")).await;
            let calls = (0..10).map(|at| (ann.client.clone(), bob.userid.clone(), round, at));
            let answers = concurrently(calls, |(client, bob, round, at)| async move {
                if at == 5 {
                    return client.post("team/delete", &json!({"userids": [bob]})).await;
                }
                let body = json!({"name": format!("ops {round}.{at}"), "time_zone": "UTC",
                    "layers": [{"users": [bob], "starts": "2026-01-05T09:00"}]});
                client.post("schedule/save", &body).await
            });
            let statuses = count_by_status(&answers.await);
            assert!(statuses.keys().all(|status| [200, 422].contains(status)), "{statuses:?}");
            let schedules = ann.client.get("schedules").await.text;
            assert!(!schedules.contains(&bob.userid), "{schedules}");
        }
    }

    async fn a_login_while_the_account_is_deleted_is_no_server_error(setup: Setup) {
        let app = setup.start().await;
        for round in 0..5 {
            let ann = app.sign_up(&format!("ann{round}@example.com")).await;
            let calls = (0..12).map(|at| (ann.clone(), app.anonymous(), at));
            let answers = concurrently(calls, |(ann, anonymous, at)| async move {
                match at % 3 {
                    0 if at == 9 => ann.client.post_nothing("user/delete").await,
                    0 => ann.client.post("integrations/apikey/save", &json!({"name": "x"})).await,
                    _ => anonymous.log_in(&ann.email, PASSWORD).await,
                }
            });
            count_by_status(&answers.await);
        }
        assert_eq!(app.database.tables_with_accounts().await, Vec::<String>::new());
    }

    async fn a_login_that_overlaps_a_password_change_leaves_no_session(setup: Setup) {
        let app = without_limits(setup).start().await;
        let ann = app.sign_up("ann@example.com").await;
        let mut current = PASSWORD.to_owned();
        for round in 0..5 {
            let next = format!("battery staple {round}");
            let change = json!({"email": ann.email, "password1": next, "password2": next});
            let calls = (0..4).map(|at| (ann.clone(), app.anonymous(), current.clone(), change.clone(), at));
            let answers = concurrently(calls, |(ann, anonymous, password, change, at)| async move {
                match at {
                    0 => ann.client.post("settings/save", &change).await,
                    _ => anonymous.log_in(&ann.email, &password).await,
                }
            });
            for answer in answers.await {
                assert!([200, 401].contains(&answer.status), "{}", answer.text);
            }
            assert_eq!(app.database.rows("sessions").await, 1, "round {round}");
            assert!(ann.client.is_authenticated().await);
            current = next;
        }
    }

    async fn an_api_key_made_while_its_user_is_revoked_is_revoked_as_well(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        for round in 0..8 {
            let bob = bob.log_in(&app.anonymous()).await;
            let keys = bob.new_keys(&app.anonymous()).await;
            let calls = (0..12).map(|at| (ann.clone(), bob.clone(), keys.clone(), at));
            let answers = concurrently(calls, |(ann, bob, keys, at)| async move {
                let name = json!({"name": "x"});
                match at % 4 {
                    0 if at == 4 => ann.client.post("team/revoke", &json!({"userids": [bob.userid]})).await,
                    0 | 1 => bob.client.post("integrations/apikey/save", &name).await,
                    2 => keys.client.post("integrations/apikey/save", &name).await,
                    _ => keys.client.get("authenticated").await,
                }
            });
            for answer in answers.await {
                assert!([200, 401].contains(&answer.status), "{}", answer.text);
            }
            assert_eq!(app.database.rows("api_keys").await, 0, "round {round}");
            assert_eq!(app.database.rows("sessions").await, 1, "round {round}: only ann's");
        }
    }

    async fn of_two_sessions_that_set_a_password_at_once_one_ends(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let mut password = PASSWORD.to_owned();
        for round in 0..5 {
            let log_in = app.anonymous().log_in(&ann.email, &password).await.ok();
            let both = [ann.token.clone(), log_in["token"].as_str().unwrap().to_owned()];
            let [one, other] = ["one", "other"].map(|who| format!("battery staple {who} {round}"));
            let calls = both.iter().zip([&one, &other]).map(|(token, password)| {
                let body = json!({"email": ann.email, "password1": password, "password2": password,
                    "tokenid": token});
                (app.anonymous(), body)
            });
            let answers =
                concurrently(calls, |(client, body)| async move { client.post("password/update", &body).await });
            assert_eq!(count_by_status(&answers.await), BTreeMap::from([(200, 1), (401, 1)]));
            assert_eq!(app.database.rows("sessions").await, 1);
            if !ann.client.is_authenticated().await {
                return; // The other session has won, and Ann is logged out, as expected.
            }
            password = one;
        }
    }

    async fn logins_at_once_renew_an_outdated_hash_and_all_succeed(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        app.database.execute(OUTDATED).await;
        let calls = (0..6).map(|_| (app.anonymous(), ann.email.clone()));
        let answers =
            concurrently(calls, |(client, email)| async move { client.log_in(&email, PASSWORD).await });
        assert_eq!(count_by_status(&answers.await), BTreeMap::from([(200, 6)]));
        let renewed = "select count(*) from users where password_hash like '%$m=19456,t=2,p=1$%'";
        assert_eq!(app.database.number(renewed).await, 1);
    }

    async fn parallel_guesses_do_not_exceed_the_limit(setup: Setup) {
        let app = setup.start().await;
        app.sign_up("ann@example.com").await;
        let body = json!({"email": "ann@example.com", "password": "a guess"});
        let clients = (0..CALLERS).map(|_| app.anonymous());
        let tally = send_by(clients, "login", &body).await;
        // Ten, and those that were being checked when the tenth was counted.
        assert!((10..=20).contains(&tally[&401]), "{tally:?}");
        assert_eq!(tally[&401] + tally[&429], CALLERS, "{tally:?}");
    }
}

/// Checks that two calls take about as long: the medians of some calls in turns. Other work
/// on the machine can make one of them slower for a while, a difference between the calls does
/// so every time.
async fn take_as_long(
    calls: usize,
    first: impl AsyncFn() -> Answer,
    second: impl AsyncFn() -> Answer,
    alike: impl Fn(Duration, Duration) -> bool,
) {
    let mut measured = Vec::new();
    for _ in 0..4 {
        let [one, two] = medians(calls, &first, &second).await;
        if alike(one, two) {
            return;
        }
        measured.push((one, two));
    }
    panic!("they do not take as long: {measured:?}");
}

/// The median durations of two calls, made in turns.
async fn medians(
    calls: usize,
    first: impl AsyncFn() -> Answer,
    second: impl AsyncFn() -> Answer,
) -> [Duration; 2] {
    let mut spent = [Vec::new(), Vec::new()];
    for _ in 0..calls {
        let begun = Instant::now();
        first().await;
        spent[0].push(begun.elapsed());
        let begun = Instant::now();
        second().await;
        spent[1].push(begun.elapsed());
    }
    spent.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    })
}

async fn login_status(client: &Client, email: &str) -> Answer {
    let answer = client.log_in(email, "not the password").await;
    answer.refused(401, "bad_credentials");
    answer
}

both_databases! {
    async fn a_login_takes_as_long_for_an_unknown_email_as_for_a_known_one(setup: Setup) {
        let app = without_limits(setup).start().await;
        app.sign_up("ann@example.com").await;
        let client = app.anonymous();
        take_as_long(
            15,
            async || login_status(&client, "ann@example.com").await,
            async || login_status(&client, "nobody@example.com").await,
            // Without the hash an unknown email would take a tenth of the time.
            |known, unknown| (0.6..1.7).contains(&(unknown.as_secs_f64() / known.as_secs_f64())),
        )
        .await;
    }

    async fn requesting_a_reset_takes_as_long_for_an_unknown_email_as_for_a_known_one(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.resets_per_hour = 1000;
        setup.settings.limits.reset_requests_per_hour = 1000;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let client = app.anonymous();
        let lose = async |email: &str| {
            let answer = client.post("password/lost", &json!({"email": email})).await;
            answer.ok();
            answer
        };
        take_as_long(
            40,
            async || lose(&ann.email).await,
            async || lose("nobody@example.com").await,
            // Encrypting, writing and committing before the response would take milliseconds
            // more, and more still on a machine that is busy with other tests.
            |known, unknown| {
                known.abs_diff(unknown) < (known.max(unknown) / 3).max(Duration::from_millis(3))
            },
        )
        .await;
    }

    async fn logins_from_many_sites_wait_and_none_is_refused(setup: Setup) {
        let app = setup.start_behind_proxy().await;
        app.sign_up("ann@example.com").await;
        let client = |at: usize| app.caller_from(&format!("198.51.{at}.7"));
        let calls = (0..100).map(|at| (client(at), format!("nobody{at}@example.com")));
        let guesses = concurrently(calls, |(client, email)| async move { client.log_in(&email, "a guess").await });
        let ann = app.anonymous();
        let (guesses, login) = tokio::join!(guesses, ann.log_in("ann@example.com", PASSWORD));
        login.ok();
        for guess in &guesses {
            assert_eq!(guess.status, 401, "{}", guess.text);
        }
    }
}
