//! The past outlives kill -9: whenever the process dies while it folds or lets
//! go, counts and uptime are what a plain model says.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use wakeful_core::alert::{Alert, AlertKind};
use wakeful_core::history::rollup::Rollup;
use wakeful_core::history::tally::Tally;
use wakeful_core::history::{Entry, Outage, Standing};
use wakeful_core::id::{AlertId, MonitorId, TeamId};
use wakeful_core::observation::Phases;
use wakeful_core::time::Millis;
use wakeful_core::verdict::{Beat, Heartbeat, State, Status};
use wakeful_store::{Record, Store};
use wakeful_testkit::{Engine, User};

use crate::durability::integrity;
use crate::home::{Home, random_below};

const MONITORS: usize = 4;
const BEATS: i64 = 1_500;
const MINUTES: i64 = 10;
const MOST_ROUNDS: usize = 60;
const DAY: i64 = 86_400_000;

#[tokio::test]
async fn no_heartbeat_is_lost_or_doubled_by_kill_9_while_folding_and_letting_go() {
    let home = Home::new(Engine::Sqlite).await.without_limits();
    let server = home.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let mut monitors = Vec::new();
    for number in 0..MONITORS {
        let body = json!({"name": format!("site {number}"), "type": "api", "isactive": false,
            "heartbeat_interval": MINUTES * 60, "upside_down_mode": false});
        let made = ann.client.post("monitor/save", &body).await.ok();
        monitors.push(MonitorId::parse(made["monitor"]["monitorid"].as_str().unwrap()).unwrap());
    }
    server.stop().await;

    let store = home.store().await;
    let now = home.number("select unixepoch() * 1000").await;
    let end = Millis(now / DAY * DAY - DAY / 2);
    let team = TeamId::parse(&ann.team).unwrap();
    let mut models = BTreeMap::new();
    for (number, monitor) in (0..).zip(&monitors) {
        models.insert(*monitor, fill(&store, team, *monitor, end, number).await);
    }
    store.close().await;

    let all = MONITORS as i64 * BEATS;
    let mut rounds = 0;
    while home.number("select count(*) from heartbeats").await > 0 {
        let server = home.serve().await;
        tokio::time::sleep(Duration::from_millis(random_below(400))).await;
        server.kill().await;
        let fresh = home.number("select count(*) from heartbeats").await;
        let packed = home.number("select coalesce(sum(count), 0) from blocks").await;
        assert_eq!(fresh + packed, all, "after {rounds} rounds");
        rounds += 1;
        assert!(rounds < MOST_ROUNDS, "{fresh} are still fresh");
    }
    assert_eq!(integrity(&home.file()).await, "ok");
    let server = home.serve().await;
    let ann = ann.log_in(&server.anonymous()).await;
    let first = Millis(end.0 - BEATS * MINUTES * 60_000);
    for (monitor, entries) in &models {
        let beats = ann
            .client
            .get(&format!(
                "monitor/{monitor}/heartbeats?from={}&to={end}&limit=1000",
                Millis(end.0 - 7 * DAY)
            ))
            .await
            .ok();
        assert_eq!(beats["heartbeats"].as_array().unwrap().len(), 1_000);
        assert_figures(&ann, *monitor, entries, first, end).await;
    }
    server.stop().await;

    // From now on only two days of single heartbeats are kept.
    let home = home.set("HISTORY_RAW_DAYS", "2").set("HISTORY_PHASE_DAYS", "2");
    let home = home.set("HISTORY_HOUR_DAYS", "3");
    let old = format!("select count(*) from blocks where to_at < {}", now - 2 * DAY);
    let mut rounds = 0;
    while home.number(&old).await > 0 {
        let server = home.serve().await;
        tokio::time::sleep(Duration::from_millis(random_below(120))).await;
        server.kill().await;
        rounds += 1;
        assert!(rounds < MOST_ROUNDS);
    }
    assert_eq!(integrity(&home.file()).await, "ok");
    let server = home.serve().await;
    let ann = ann.log_in(&server.anonymous()).await;
    for (monitor, entries) in &models {
        // Whole days, because nothing smaller is left.
        let from = Millis((first.0 / DAY + 1) * DAY);
        let to = Millis(end.0 / DAY * DAY);
        assert_figures(&ann, *monitor, entries, from, to).await;
    }
    let told = home.run(&["doctor"]).await;
    assert!(told.stdout.contains("every block and roll-up is whole"), "{told:?}");
    assert!(told.stdout.contains("heartbeats for 2 days"), "{told:?}");
    server.stop().await;
    home.execute("update blocks set data = zeroblob(50)").await;
    let told = home.run(&["doctor"]).await;
    assert_eq!(told.code, Some(2), "{told:?}");
    assert!(told.stdout.contains("WRONG damaged"), "{told:?}");
}

/// Ten days of heartbeats with two outages and lone failures in between.
async fn fill(
    store: &Store,
    team: TeamId,
    monitor: MonitorId,
    end: Millis,
    number: i64,
) -> Vec<Entry> {
    let at = |beat: i64| Millis(end.0 - (BEATS - beat) * MINUTES * 60_000 + number * 1_000);
    let outages = [300 + number, 900 + 2 * number]
        .map(|beat| Outage { started: at(beat), ended: Some(at(beat + 7)) });
    let mut records = Vec::new();
    let mut entries = Vec::new();
    for beat in 0..BEATS {
        let within = outages
            .iter()
            .position(|outage| outage.started <= at(beat) && Some(at(beat)) < outage.ended);
        let failed = within.is_some() || beat % 97 == 5;
        let took = Duration::from_micros(40_000 + (beat * 7_919 % 9_000) as u64 * 10);
        let heartbeat = Heartbeat {
            at: at(beat),
            status: if failed { Beat::Down } else { Beat::Up },
            message: if failed { "503 Service Unavailable" } else { "200 OK" }.to_owned(),
            load_time: Some(took),
            phases: Phases { first_byte: Some(took), ..Phases::default() },
            regions: Vec::new(),
        };
        entries.push(Entry::of(beat + 1, heartbeat.clone(), (MINUTES * 60) as u32, &outages));
        let opens =
            outages.iter().filter(|outage| outage.started == at(beat)).map(|outage| Alert {
                id: AlertId::new(at(beat), [number as u8; 10]),
                team,
                monitor,
                kind: AlertKind::Outage,
                cause: "503".into(),
                started: outage.started,
                ended: outage.ended,
            });
        records.push(Record {
            monitor,
            seq: beat + 1,
            opens: opens.collect(),
            closes: None,
            events: Vec::new(),
            state: State { status: Status::Up, last_check: Some(at(beat)), ..State::default() },
            heartbeat,
            certificate: None,
            grant: None,
        });
    }
    for batch in records.chunks(500) {
        store.record(batch).await.unwrap();
    }
    entries
}

async fn assert_figures(
    ann: &User,
    monitor: MonitorId,
    entries: &[Entry],
    from: Millis,
    to: Millis,
) {
    let path = format!("monitor/{monitor}/stats?from={from}&to={to}");
    let told: Value = ann.client.get(&path).await.ok()["spans"][0].clone();
    let before = entries.iter().rev().find(|entry| entry.heartbeat.at < from);
    let mut tally = Tally::new(from, to, before.map(wakeful_core::history::rollup::Last::of));
    let within =
        entries.iter().filter(|entry| from <= entry.heartbeat.at && entry.heartbeat.at < to);
    tally.add(&Rollup::of(within).unwrap());
    let tally = tally.finish();
    let seconds = |standing| (tally.millis[standing] + 500) / 1_000;
    assert_eq!(told["from"], from.to_string());
    assert_eq!(told["checks"]["up"], tally.checks[Standing::Up]);
    assert_eq!(told["checks"]["down"], tally.checks[Standing::Down]);
    assert_eq!(told["checks"]["pending"], tally.checks[Standing::Pending]);
    assert_eq!(told["seconds"]["up"], seconds(Standing::Up));
    assert_eq!(told["seconds"]["down"], seconds(Standing::Down));
    assert_eq!(told["seconds"]["pending"], seconds(Standing::Pending));
    let uptime = tally.millis.uptime().unwrap();
    assert!((told["uptime"].as_f64().unwrap() - uptime).abs() <= 1e-4, "{told}");
    let p99 = tally.times.percentile(0.99).unwrap() / 1e3;
    assert!((told["load_time"]["p99"].as_f64().unwrap() - p99).abs() <= 1e-3, "{told}");
}
