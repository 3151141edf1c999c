//! History survives kill -9: whenever the process is killed while it compacts
//! heartbeats, joins blocks or deletes expired data, counts and uptime match a simple
//! model. Checks are not delayed by it.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::{Instant, timeout_at};
use wakeful_core::alerting::alert::{Alert, AlertKind};
use wakeful_core::heartbeat::{Beat, Heartbeat, Phases};
use wakeful_core::id::{AlertId, MonitorId, TeamId};
use wakeful_core::time::Millis;
use wakeful_core::verdict::{State, Status};
use wakeful_store::{Record, Store};
use wakeful_testkit::{DatabaseKind, User, both_databases};

use crate::durability::integrity;
use crate::process::{Installation, random_below};

const MONITORS: usize = 4;
const BEATS: i64 = 1_500;
const MINUTES: i64 = 10;
const MAX_ROUNDS: u64 = 60;
const DAY: i64 = 86_400_000;

both_databases! {
    async fn no_heartbeat_is_lost_or_doubled_by_kill_9_during_compaction_and_retention(setup: Setup) {
        let installation = Installation::new(setup.database_kind).await.without_limits();
        let (ann, models, end) = create_history(&installation).await;
        compact_under_kills(&installation).await;
        let server = installation.serve().await;
        let ann = ann.log_in(&server.anonymous()).await;
        let first = Millis(end.0 - BEATS * MINUTES * 60_000);
        for (monitor, entries) in &models {
            let from = Millis(end.0 - 7 * DAY);
            let path = format!("monitor/{monitor}/heartbeats?from={from}&to={end}&limit=1000");
            let beats = ann.client.get(&path).await.ok();
            assert_eq!(beats["heartbeats"].as_array().unwrap().len(), 1_000);
            assert_stats(&ann, *monitor, entries, first, end).await;
        }
        server.stop().await;

        // From now on only two days of individual heartbeats are retained.
        let installation = installation.set("HISTORY_RAW_DAYS", "2").set("HISTORY_PHASE_DAYS", "2");
        let installation = installation.set("HISTORY_HOUR_DAYS", "3");
        delete_expired_under_kills(&installation).await;
        let server = installation.serve().await;
        let ann = ann.log_in(&server.anonymous()).await;
        for (monitor, entries) in &models {
            // Whole days, because only daily roll-ups are left.
            let from = Millis((first.0 / DAY + 1) * DAY);
            let to = Millis(end.0 / DAY * DAY);
            assert_stats(&ann, *monitor, entries, from, to).await;
        }
        let output = installation.run(&["doctor"]).await;
        assert!(output.stdout.contains("every block and roll-up is intact"), "{output:?}");
        assert!(output.stdout.contains("heartbeats for 2 days"), "{output:?}");
        server.stop().await;
        let zeros = match setup.database_kind {
            DatabaseKind::Sqlite => "zeroblob(50)",
            DatabaseKind::Postgres => "decode(repeat('00', 50), 'hex')",
        };
        installation.execute(&format!("update blocks set data = {zeros}")).await;
        let output = installation.run(&["doctor"]).await;
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stdout.contains("FAIL  damaged"), "{output:?}");
    }

    async fn checks_continue_while_old_heartbeats_are_deleted(setup: Setup) {
        let installation = Installation::new(setup.database_kind).await.without_limits();
        let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = target.local_addr().unwrap().port();
        let server = installation.serve().await;
        let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
        for number in 0..MONITORS_EVERY_SECOND {
            let body = json!({"name": format!("port {number}"), "type": "tcp",
                "hostname": "127.0.0.1", "port": port, "heartbeat_interval": 1, "timeout": 1,
                "maxretries": 9, "isactive": true, "upside_down_mode": false});
            ann.client.post("monitor/save", &body).await.ok();
        }
        server.stop().await;
        add_old_history(&installation).await;

        let server = installation.serve().await;
        let old = "select (select count(*) from blocks) + (select count(*) from rollups)";
        let mut seen = Instant::now();
        let (mut longest, mut rounds) = (Duration::ZERO, 0);
        while installation.number(old).await > 0 {
            rounds += 1;
            assert!(rounds < 600, "they are not deleted");
            let deadline = Instant::now() + Duration::from_millis(100);
            while let Ok(Ok(_)) = timeout_at(deadline, target.accept()).await {
                longest = longest.max(seen.elapsed());
                seen = Instant::now();
            }
        }
        longest = longest.max(seen.elapsed());
        assert!(rounds > 5, "deleted after {rounds} rounds: too soon to notice a pause");
        assert!(longest < Duration::from_secs(3), "no check for {longest:?}");
        server.stop().await;
        let missing = "select count(*) from monitor_states where last_check is null";
        assert_eq!(installation.number(missing).await, 0);
    }
}

/// Monitors that check a port every second.
const MONITORS_EVERY_SECOND: usize = 20;

/// Adds hundreds of blocks and days from half a century ago to every monitor.
async fn add_old_history(installation: &Installation) {
    let (empty, number) = match installation.database_kind() {
        DatabaseKind::Sqlite => ("x'00'", "integer"),
        DatabaseKind::Postgres => ("decode('00', 'hex')", "bigint"),
    };
    for insert in [
        format!(
            "insert into blocks (monitor_id, from_at, to_at, count, data)
             select m.id, i.at, i.at + 1, 1, {empty}"
        ),
        format!("insert into rollups (monitor_id, grain, at, data) select m.id, 2, i.at, {empty}"),
    ] {
        installation
            .execute(&format!(
                "with recursive i (at) as (
                 select cast(0 as {number}) union all
                 select at + 86400000 from i where at < 499 * cast(86400000 as {number})
             ) {insert} from monitors m cross join i"
            ))
            .await;
    }
}

/// A heartbeat as docs/history.md defines it: the model knows nothing of blocks, roll-ups
/// or sketches.
struct Plain {
    at: i64,
    counts_as: &'static str,
    /// Milliseconds.
    took: f64,
}

/// Creates monitors with ten days of heartbeats, most of them not compacted. Returns the
/// model of each, and when they end.
async fn create_history(
    installation: &Installation,
) -> (User, BTreeMap<MonitorId, Vec<Plain>>, Millis) {
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let mut monitors = Vec::new();
    for number in 0..MONITORS {
        let body = json!({"name": format!("site {number}"), "type": "api", "isactive": false,
            "heartbeat_interval": MINUTES * 60, "upside_down_mode": false});
        let made = ann.client.post("monitor/save", &body).await.ok();
        monitors.push(MonitorId::parse(made["monitor"]["monitorid"].as_str().unwrap()).unwrap());
    }
    server.stop().await;

    let store = installation.store().await;
    let end = Millis(now(installation).await / DAY * DAY - DAY / 2);
    let team = TeamId::parse(&ann.team).unwrap();
    let mut models = BTreeMap::new();
    for (number, monitor) in (0..).zip(&monitors) {
        models.insert(*monitor, fill(&store, team, *monitor, end, number).await);
        // Fifteen short blocks: the next compaction joins them.
        for _ in 0..15 {
            let compacted = store.compact(*monitor, end, Millis(i64::MIN), 40).await.unwrap();
            assert_eq!(compacted.heartbeats, 40);
        }
    }
    store.close().await;
    (ann, models, end)
}

async fn now(installation: &Installation) -> i64 {
    let sql = match installation.database_kind() {
        DatabaseKind::Sqlite => "select unixepoch() * 1000",
        DatabaseKind::Postgres => "select cast(extract(epoch from now()) * 1000 as bigint)",
    };
    installation.number(sql).await
}

/// One statement reads both counts: PostgreSQL may still commit work of the killed process.
async fn compact_under_kills(installation: &Installation) {
    let counted = "select cast((select count(*) from heartbeats)
                             + (select coalesce(sum(count), 0) from blocks) as bigint)";
    let mut rounds = 0_u64;
    loop {
        assert_eq!(
            installation.number(counted).await,
            MONITORS as i64 * BEATS,
            "after {rounds} rounds"
        );
        let recent = installation.number("select count(*) from heartbeats").await;
        if recent == 0 {
            break;
        }
        assert!(rounds < MAX_ROUNDS, "{recent} are not compacted");
        rounds += 1;
        // Ever longer: the first runs are killed early, and the last one finishes.
        live_for(installation, random_below(60 + 60 * rounds)).await;
    }
    assert_sound(installation).await;
}

async fn delete_expired_under_kills(installation: &Installation) {
    let old = now(installation).await - 2 * DAY;
    let old = format!("select count(*) from blocks where to_at < {old}");
    let mut rounds = 0;
    while installation.number(&old).await > 0 {
        assert!(rounds < MAX_ROUNDS);
        rounds += 1;
        live_for(installation, random_below(120)).await;
    }
    assert_sound(installation).await;
}

async fn live_for(installation: &Installation, millis: u64) {
    let server = installation.serve().await;
    tokio::time::sleep(Duration::from_millis(millis)).await;
    server.kill().await;
}

async fn assert_sound(installation: &Installation) {
    if installation.database_kind() == DatabaseKind::Sqlite {
        assert_eq!(integrity(&installation.file()).await, "ok");
    }
}

/// Ten days of heartbeats with two outages and single failures in between.
async fn fill(
    store: &Store,
    team: TeamId,
    monitor: MonitorId,
    end: Millis,
    number: i64,
) -> Vec<Plain> {
    let at = |beat: i64| Millis(end.0 - (BEATS - beat) * MINUTES * 60_000 + number * 1_000);
    let outages = [300 + number, 900 + 2 * number].map(|beat| beat..beat + 7);
    let mut records = Vec::new();
    let mut model = Vec::new();
    for beat in 0..BEATS {
        let counts_as = match () {
            () if outages.iter().any(|outage| outage.contains(&beat)) => "down",
            () if beat % 97 == 5 => "pending",
            () => "up",
        };
        let failed = counts_as != "up";
        let took = Duration::from_micros(40_000 + (beat * 7_919 % 9_000) as u64 * 10);
        let heartbeat = Heartbeat {
            at: at(beat),
            status: if failed { Beat::Down } else { Beat::Up },
            message: if failed { "503 Service Unavailable" } else { "200 OK" }.to_owned(),
            load_time: Some(took),
            phases: Phases { first_byte: Some(took), ..Phases::default() },
            regions: Vec::new(),
            readings: Default::default(),
        };
        model.push(Plain { at: at(beat).0, counts_as, took: took.as_secs_f64() * 1e3 });
        let opens = outages.iter().filter(|outage| outage.start == beat).map(|outage| Alert {
            id: AlertId::new(at(beat), [number as u8; 10]),
            team,
            monitor,
            kind: AlertKind::Outage,
            severity: Default::default(),
            cause: "503".into(),
            reason: None,
            started: at(outage.start),
            ended: Some(at(outage.end)),
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
            evidence: Vec::new(),
            grant: None,
        });
    }
    for batch in records.chunks(500) {
        store.record(batch).await.unwrap();
    }
    model
}

async fn assert_stats(ann: &User, monitor: MonitorId, model: &[Plain], from: Millis, to: Millis) {
    let path = format!("monitor/{monitor}/stats?from={from}&to={to}");
    let span: Value = ann.client.get(&path).await.ok()["spans"][0].clone();
    assert_eq!(span["from"], from.to_string());
    let mut millis: BTreeMap<&str, i64> = BTreeMap::new();
    for (place, beat) in model.iter().enumerate() {
        let next = model.get(place + 1).map_or(i64::MAX, |next| next.at);
        let until = next.min(beat.at + 2 * MINUTES * 60_000).min(to.0);
        *millis.entry(beat.counts_as).or_default() += (until - beat.at.max(from.0)).max(0);
    }
    let within: Vec<&Plain> =
        model.iter().filter(|beat| (from.0..to.0).contains(&beat.at)).collect();
    for kind in ["up", "down", "pending"] {
        let checks = within.iter().filter(|beat| beat.counts_as == kind).count();
        assert_eq!(span["checks"][kind], checks, "{kind}: {span}");
        assert_eq!(span["seconds"][kind], (millis[kind] + 500) / 1_000, "{kind}: {span}");
    }
    let uptime = 100.0 * millis["up"] as f64 / (millis["up"] + millis["down"]) as f64;
    let short = uptime - span["uptime"].as_f64().unwrap();
    assert!((0.0..1e-4).contains(&short), "{uptime}: {span}");
    let ups = within.iter().filter(|beat| beat.counts_as == "up");
    let mut took: Vec<f64> = ups.map(|beat| beat.took).collect();
    took.sort_by(f64::total_cmp);
    let load = &span["load_time"];
    let mean = took.iter().sum::<f64>() / took.len() as f64;
    let p99 = took[(took.len() * 99).div_ceil(100) - 1];
    for (name, exact, error) in [("min", took[0], 1e-6), ("mean", mean, 1e-3), ("p99", p99, 0.01)] {
        let value = load[name].as_f64().unwrap();
        assert!((value - exact).abs() <= exact * error, "{name}: {value}, exactly {exact}");
    }
}
