//! The regions of monitors and heartbeats, also in packed blocks, and revoked
//! probes.

use std::time::Duration;
use wakeful_core::heartbeat::{Beat, RegionBeat};
use wakeful_core::monitors::Monitor;
use wakeful_core::region::{ProbeName, Quorum, Region, Regions};
use wakeful_core::time::Millis;
use wakeful_store::Store;
use wakeful_testkit::{system, whole};

use crate::fixture::{NOW, monitor, passing, stored, team};
use crate::heartbeats::everything;
use crate::on_both;

on_both! {
    a_revoked_probe_stays_revoked_until_it_is_readmitted => revokes;
    regions_are_stored_with_monitors_and_counted => regions;
    results_of_regions_are_read_back_recent_and_compacted => beats;
}

async fn revokes(store: Store) {
    let name = ProbeName::parse("eu-1").expect("a name");
    assert_eq!(store.revoked_probes().await.expect("read"), []);
    for is_new in [true, false] {
        assert_eq!(store.revoke_probe(&name, NOW).await.expect("revoked"), is_new);
    }
    assert_eq!(store.revoked_probes().await.expect("read"), std::slice::from_ref(&name));
    assert!(store.restore_probe(&name).await.expect("readmitted"));
    assert!(!store.restore_probe(&name).await.expect("nothing to do"));
    assert_eq!(store.revoked_probes().await.expect("read"), []);
}

async fn regions(store: Store) {
    let team = team(&store).await;
    let eu = Regions::of(["eu", "us"]).expect("regions");
    for (name, isactive) in [("a", true), ("b", true), ("c", false)] {
        let saved_monitor = Monitor {
            regions: eu.clone(),
            quorum: Quorum::Count(2),
            isactive,
            ..monitor(team, name)
        };
        store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
        let (read, _) =
            store.team(&whole(team)).monitor(saved_monitor.id).await.expect("read").expect("there");
        assert_eq!(read.monitor, saved_monitor);
        let changed = Monitor { quorum: Quorum::Any, ..saved_monitor };
        store
            .team(&whole(team))
            .change_monitor(&stored(&changed, 1), &changed, &system())
            .await
            .expect("changed");
        let (read, _) =
            store.team(&whole(team)).monitor(changed.id).await.expect("read").expect("there");
        assert_eq!(read.monitor, changed);
    }
    store.team(&whole(team)).add_monitor(&monitor(team, "d"), &system()).await.expect("saved");
    let mut used = store.team(&whole(team)).regions_in_use().await.expect("read");
    used.sort_by_key(|(_, count)| *count);
    assert_eq!(used, [(Regions::default(), 1), (eu, 2)]);
}

async fn beats(store: Store) {
    let team = team(&store).await;
    let saved_monitor = monitor(team, "site");
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    let beat = |name: &str, status, message: &str| RegionBeat {
        region: Region::parse(name).expect("a region"),
        status,
        load_time: (status == Beat::Up).then_some(Duration::from_micros(1_234)),
        message: message.to_owned(),
    };
    let mut records = Vec::new();
    for seq in 1..=40 {
        let mut record = passing(saved_monitor.id, seq, Millis(NOW.0 + seq * 60_000));
        if seq % 3 != 0 {
            record.heartbeat.regions =
                vec![beat("eu", Beat::Up, ""), beat("us", Beat::Down, "503 ☂")];
        }
        records.push(record);
    }
    store.record(&records).await.expect("recorded");
    let recent =
        store.team(&whole(team)).heartbeats(saved_monitor.id, &everything()).await.expect("read");
    let recent = recent.expect("a monitor");
    for (key, heartbeat) in &recent {
        let written = records.iter().find(|record| record.seq == key.seq).expect("written");
        assert_eq!(heartbeat, &written.heartbeat);
    }
    let done = store
        .compact(saved_monitor.id, Millis(i64::MAX), Millis(0), 1_000)
        .await
        .expect("compacted");
    assert!(done.heartbeats > 0, "{done:?}");
    let compacted =
        store.team(&whole(team)).heartbeats(saved_monitor.id, &everything()).await.expect("read");
    assert_eq!(compacted.expect("a monitor"), recent);
}
