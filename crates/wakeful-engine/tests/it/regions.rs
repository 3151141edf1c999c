//! Tests of a series split by region: the result is the same before and after compaction,
//! and empty where only hours and days are left.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::heartbeat::{Beat, Heartbeat, Phases, RegionBeat};
use wakeful_core::id::MonitorId;
use wakeful_core::region::Region;
use wakeful_core::time::{Clock as _, Millis};
use wakeful_core::verdict::{State, Status};
use wakeful_store::Record;
use wakeful_testkit::{Client, both_databases};

fn region_beat(name: &str, status: Beat, millis: u64) -> RegionBeat {
    RegionBeat {
        region: Region::parse(name).unwrap(),
        status,
        load_time: (status == Beat::Up).then(|| Duration::from_millis(millis)),
        message: String::new(),
    }
}

/// The record of one check from several regions.
fn record(monitor: MonitorId, seq: i64, at: Millis, regions: Vec<RegionBeat>) -> Record {
    let heartbeat = Heartbeat {
        at,
        status: Beat::Up,
        message: "200 OK".into(),
        load_time: Some(Duration::from_millis(10)),
        phases: Phases::default(),
        regions,
        readings: Default::default(),
    };
    Record {
        monitor,
        seq,
        heartbeat,
        state: State { status: Status::Up, last_check: Some(at), ..State::default() },
        opens: Vec::new(),
        closes: None,
        events: Vec::new(),
        certificate: None,
        evidence: Vec::new(),
        grant: None,
    }
}

async fn monitor(client: &Client) -> String {
    let body = json!({"name": "site", "type": "tcp", "hostname": "127.0.0.1", "port": 9,
        "heartbeat_interval": 60, "isactive": false, "upside_down_mode": false,
        "regions": "eu,us"});
    let saved = client.post("monitor/save", &body).await.ok();
    saved["monitor"]["monitorid"].as_str().unwrap().to_owned()
}

both_databases! {
    async fn a_series_is_split_by_region_before_and_after_compaction(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let path = monitor(&ann.client).await;
        let id = MonitorId::parse(&path).unwrap();
        let begun = app.clock.now();
        let at = |seconds: u64| begun.after(Duration::from_secs(seconds));
        let checks = [
            record(id, 1, at(0), vec![region_beat("eu", Beat::Up, 10), region_beat("us", Beat::Up, 90)]),
            record(id, 2, at(60), vec![region_beat("eu", Beat::Up, 12), region_beat("us", Beat::Down, 0)]),
            record(id, 3, at(120), vec![region_beat("eu", Beat::Up, 14), region_beat("us", Beat::Unknown, 0)]),
        ];
        app.store.record(&checks).await.unwrap();
        app.clock.advance(Duration::from_secs(3600));

        let span = format!("from={}&to={}", at(0), at(180));
        let client = &ann.client;
        let get = |more: String| {
            let path = format!("monitor/{path}/series?{more}");
            async move { client.get(&path).await.ok() }
        };
        assert!(get(span.clone()).await.get("regions").is_none(), "not requested");
        let split = get(format!("{span}&points=3&by=region")).await;
        assert_eq!((&split["step"], &split["source"]), (&json!(60), &json!("raw")));
        let point = |at: Millis, counts: [u64; 3], took: Value| json!({"at": at, "up": counts[0],
            "down": counts[1], "unknown": counts[2], "p50": took, "max": took});
        let expected = json!([
            {"region": "eu", "points": [point(at(0), [1, 0, 0], json!(10.0)),
                point(at(60), [1, 0, 0], json!(12.0)), point(at(120), [1, 0, 0], json!(14.0))]},
            {"region": "us", "points": [point(at(0), [1, 0, 0], json!(90.0)),
                point(at(60), [0, 1, 0], Value::Null), point(at(120), [0, 0, 1], Value::Null)]},
        ]);
        assert_eq!(split["regions"], expected);
        let together = get(format!("{span}&points=1&by=region")).await["regions"].clone();
        assert_eq!(together[0]["points"].as_array().unwrap().len(), 1);
        assert_eq!((&together[0]["points"][0]["p50"], &together[0]["points"][0]["max"]),
            (&json!(12.0), &json!(14.0)));

        let compacted = app.store.compact(id, app.clock.now(), Millis(0), 100).await.unwrap();
        assert_eq!(compacted.heartbeats, 3);
        let again = get(format!("{span}&points=3&by=region")).await;
        assert_eq!(again["regions"], expected, "compacted heartbeats contain their regions");
        let week = format!("from={}&to={}", begun.before(Duration::from_secs(7 * 86_400)), at(0));
        let long = get(format!("{week}&points=7&by=region")).await;
        assert_eq!((&long["source"], &long["regions"]), (&json!("day"), &json!([])));
        let wrong = ann.client.get(&format!("monitor/{path}/series?by=planet")).await;
        assert_eq!(wrong.wrong_fields(), ["by"]);
    }
}
