//! push: the limits of reports and guesses.

use futures_util::StreamExt as _;
use futures_util::future::{join, try_join_all};
use futures_util::stream::FuturesUnordered;
use serde_json::json;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};
use tokio::time::timeout;
use wakeful_testkit::{App, Client, User, both_databases, concurrently, until};

/// The path of a new monitor's push URL.
async fn push_path(app: &App, user: &User) -> String {
    let body = json!({"type": "api", "name": "job", "heartbeat_interval": 60, "isactive": true,
        "upside_down_mode": false});
    let saved = user.client.post("monitor/save", &body).await.ok();
    saved["monitor"]["push_url"].as_str().unwrap().strip_prefix(&app.url).unwrap().to_owned()
}

/// How many send guesses at the same time.
const GUESSERS: usize = 8;

/// Guesses on several connections; returns how many were looked up and how many rejected.
async fn guess(client: &Client, count: usize) -> (usize, usize) {
    let guessers = (0..GUESSERS).map(|number| (client.clone(), number, count / GUESSERS));
    let statuses = concurrently(guessers, |(client, number, count)| async move {
        let mut statuses = Vec::new();
        for guess in 0..count {
            statuses.push(client.get(&format!("/api/push/guess-{number}-{guess}")).await.status);
        }
        statuses
    });
    let statuses = statuses.await.concat();
    let of = |wanted: u16| statuses.iter().filter(|status| **status == wanted).count();
    (of(404), of(429))
}

both_databases! {
    async fn guesses_from_one_network_are_limited_and_reports_pass(setup: Setup) {
        let app = setup.start_behind_proxy().await;
        let ann = app.sign_up("ann@example.com").await;
        let job = push_path(&app, &ann).await;
        let guesser = app.caller_from("2001:db8:1:2::1");
        // Requests in progress at the limit are looked up, and 10 more are allowed each second.
        let started = Instant::now();
        let (looked_up, refused) = guess(&guesser, 1_000).await;
        let allowed = 600 + GUESSERS + 10 * (started.elapsed().as_secs() as usize + 1);
        assert!((600..=allowed).contains(&looked_up), "{looked_up} of {allowed}");
        assert_eq!(refused, 1_000 - looked_up);
        let neighbor = app.caller_from("2001:db8:1:2::2");
        let refused = until("the same network to be refused", || async {
            let response = neighbor.get("/api/push/guess").await;
            (response.status != 404).then_some(response)
        });
        let refused = refused.await;
        refused.refused(429, "too_many_requests");
        assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
        assert_eq!(app.caller_from("2001:db8:1:3::1").get("/api/push/guess").await.status, 404);
        // A monitor behind the same address can still report, even for the first time.
        assert_eq!(guesser.get(&job).await.status, 200);
    }

    async fn reports_from_one_network_are_limited_whichever_monitors_they_are_for(setup: Setup) {
        let mut setup = setup;
        setup.api.pushes_per_minute = NonZeroU32::new(10).unwrap();
        let app = setup.start_behind_proxy().await;
        let ann = app.sign_up("ann@example.com").await;
        let jobs = [push_path(&app, &ann).await, push_path(&app, &ann).await];
        let host = app.caller_from("2001:db8:1:2::1");
        // One more is allowed every six seconds.
        let mut statuses = Vec::new();
        let refused = loop {
            let answer = host.get(&jobs[statuses.len() % 2]).await;
            if answer.status != 200 {
                break answer;
            }
            statuses.push(answer.status);
            assert!(statuses.len() < 100, "there is no limit");
        };
        assert!(statuses.len() >= 10, "{statuses:?}");
        let error = refused.refused(429, "too_many_requests");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("reports from this address"), "{message}");
        assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
        // Every address of the network, and every way to report.
        let neighbor = app.caller_from("2001:db8:1:2::2");
        let ping = format!("/ping/{}", uuid::Uuid::nil());
        for path in [jobs[0].as_str(), "/api/push/guess", &ping] {
            until("the same network to be refused", || async {
                (neighbor.get(path).await.status == 429).then_some(())
            })
            .await;
        }
        assert_eq!(app.caller_from("2001:db8:1:3::1").get(&jobs[0]).await.status, 200);
    }

    async fn strangers_take_turns_before_anything_is_looked_up_for_them(setup: Setup) {
        let app = setup.start_behind_proxy().await;
        let ann = app.sign_up("ann@example.com").await;
        let job = push_path(&app, &ann).await;
        let held = (1..=4).map(|host| app.engine.lookup_turn(IpAddr::from([192, 0, 2, host])));
        let held: Vec<_> = try_join_all(held).await.expect("all turns");
        let bad = format!("Bearer wk_{}", "A".repeat(43));
        let reset = json!({"email": "eve@example.com", "password1": "a quiet night 7",
            "password2": "a quiet night 7", "tokenid": format!("wkr_{}", "A".repeat(43))});
        let (app, bad, reset) = (&app, &bad, &reset);
        let mut strangers: FuturesUnordered<_> = (0..40)
            .map(|host| async move {
                let client = app.caller_from(&format!("198.51.100.{host}"));
                match host % 4 {
                    0 => client.with("authorization", bad).post_nothing("logout").await,
                    1 => client.get("/api/push/unknown").await,
                    2 => client.get("/ping/00000000-0000-4000-8000-000000000000").await,
                    _ => client.post("password/update", reset).await,
                }
            })
            .collect();
        let waited = timeout(Duration::from_millis(300), strangers.next()).await;
        assert!(waited.is_err(), "{waited:?}");
        drop(held);
        let reporter = app.caller_from("203.0.113.1");
        let (reported, strangers) = join(reporter.get(&job), strangers.collect::<Vec<_>>()).await;
        assert_eq!(reported.status, 200);
        assert_eq!(strangers.len(), 40);
        assert!(strangers.iter().all(|one| (400..500).contains(&one.status)), "{strangers:?}");
    }

    async fn one_monitor_may_report_once_a_second(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (job, other) = (push_path(&app, &ann).await, push_path(&app, &ann).await);
        let mut statuses = Vec::new();
        for _ in 0..70 {
            statuses.push(app.anonymous().get(&job).await.status);
        }
        assert_eq!(&statuses[..60], &[200; 60]);
        assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
        app.anonymous().get(&job).await.refused(429, "too_many_requests");
        assert_eq!(app.anonymous().get(&other).await.status, 200);
    }
}
